"""A table from whatever the user names: records, cells, an example, a database."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from pathlib import Path

from discreet.data.checkpoint import Checkpoint
from discreet.data.codebook import Codebook
from discreet.data.examples import PREFIX, find_example
from discreet.data.impossible import Impossible
from discreet.data.inhand import in_hand
from discreet.data.stored import is_stored
from discreet.errors import DataError, WrongKind
from discreet.table.microdata import Microdata
from discreet.table.read import read_table
from discreet.table.stored_table import StoredTable
from discreet.table.table import Table


def load(
    data: object,
    *,
    count: str | None = None,
    variables: str | Iterable[str] | None = None,
    codebook: Codebook | str | Path | None = None,
    table: str | None = None,
    records: bool = False,
    crosstab: str | None = None,
    totals: str | None = None,
    impossible: object = None,
    without: str | Iterable[str] | None = None,
    bands: Mapping[str, object] | Iterable[str] | None = None,
    checkpoint: Checkpoint | str | Path | None = None,
) -> Table:
    """The table behind DATA: cells if `count` names their column, else records to be counted.

    What looks like something else is refused: `records` says that each row is a person, `crosstab`
    names what stands across a cross-tab, `totals` says what becomes of rows that are sums of
    others: "drop" or "keep", `without` names columns that classify nobody. `impossible` are
    combinations that nobody can have, as in a codebook, or "none" if those that look so can occur.
    `bands` groups numbers: {"Income": 10000}, {"Income": [0, 10000, 50000]}. `checkpoint` names a
    folder for the parts of records that are counted, which a failure does not lose.

    DATA are a file, a database, or what is in hand: frames, cross-tabs, pivots and counts by an
    index of pandas, frames of polars, Arrow and Spark, relations of DuckDB and ibis, a Spark
    session with `table`, columns in a dictionary, rows in a list, arrays with names, open files, a
    `Table`, a folder of cells that `Table.store` wrote and that fits in memory.

    >>> load("example:tract")
    Table(Gender 2 x Race 3 x Income 3: 742 in 16 of 18 cells)
    """
    if isinstance(data, str) and data.startswith(PREFIX):
        if count or table:
            raise DataError(f"{data} needs no count column and no table name; leave them out.")
        if records or crosstab or totals:
            raise DataError(f"{data} needs no records, crosstab or totals; leave them out.")
        example = find_example(data)
        data, count = example.path, example.count
        codebook = codebook if codebook is not None else example.codebook
    if records and (count is not None or crosstab is not None):
        other, value = ("count", count) if count is not None else ("crosstab", crosstab)
        raise WrongKind(
            lambda say: (
                f"{say('records', True)} says that each row is a person, {say(other, value)} that "
                "it is not; say one."
            )
        )
    if checkpoint is not None and (isinstance(data, Table) or count or crosstab):
        raise DataError("a checkpoint is for records that are counted; leave it out.")
    if is_stored(data):
        said = (count, codebook, table, crosstab, totals, without, bands, checkpoint)
        if records or any(said) or Impossible.of(impossible) != Impossible():
            raise DataError(
                "a folder of cells is counted already; give variables only, or nothing."
            )
        stored = StoredTable.open(str(data))
        return stored.loaded() if variables is None else stored.margin(_named(variables))
    if isinstance(data, Table):
        return _of_table(data, variables, count, codebook, crosstab, totals, without)
    handed = in_hand(data, count=count, crosstab=crosstab)
    if handed.count is not None:
        if records:
            raise DataError("the data in hand count people by cell; leave out records.")
        count, crosstab = handed.count, None
    data = handed.data
    if count is not None or crosstab is not None:
        if bands:
            raise DataError("bands are for records; group the cells before, or leave bands out.")
        return read_table(
            data,
            count=count,
            columns=variables,
            codebook=codebook,
            table=table,
            crosstab=crosstab,
            totals=totals,
            impossible=impossible,
            without=without,
        )
    people = Microdata.read(
        data,
        codebook=codebook,
        table=table,
        records=records,
        totals=totals,
        without=without,
        bands=bands,
    )
    return people.table(variables, impossible=impossible, checkpoint=checkpoint)


def _of_table(data: Table, variables: str | Iterable[str] | None, *said: object) -> Table:
    """A table that is there already, or a margin of it."""
    if any(each is not None for each in said):
        raise DataError("a Table is read already; give variables only, or nothing.")
    if variables is None:
        return data
    return data.margin(_named(variables))


def _named(variables: str | Iterable[str]) -> str | list[str]:
    return variables if isinstance(variables, str) else list(variables)
