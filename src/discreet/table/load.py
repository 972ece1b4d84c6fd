"""A table from whatever the user names: records, cells, an example, a database."""

from __future__ import annotations

from typing import Unpack

from discreet.data.reading import How, Reading
from discreet.data.stored import is_stored
from discreet.errors import DataError
from discreet.table.microdata import Microdata
from discreet.table.read import table_of
from discreet.table.stored_table import StoredTable
from discreet.table.table import Table


def load(data: object, **how: Unpack[How]) -> Table:
    """The table behind DATA: cells if `count` names their column, else records to be counted.

    Arguments, all by name: `count`, `codebook`, `table`, `variables`, `records`, `crosstab`,
    `totals`, `impossible`, `without`, `bands`, `checkpoint`.

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
    return read(data, Reading.of(how))


def read(data: object, how: Reading) -> Table:
    """The table behind DATA, read as `how` says."""
    if is_stored(data):
        if how.beside("variables"):
            raise DataError(
                "a folder of cells is counted already; give variables only, or nothing."
            )
        stored = StoredTable.open(str(data))
        return stored.loaded() if how.variables is None else stored.margin(_named(how.variables))
    if isinstance(data, Table):
        if how.beside("variables"):
            raise DataError("a Table is read already; give variables only, or nothing.")
        return data if how.variables is None else data.margin(_named(how.variables))
    opened = how.open(data)
    if opened.count is None:
        people = Microdata.of(opened)
        return people.table(how.variables, impossible=how.impossible, checkpoint=how.checkpoint)
    return table_of(opened, how.variables)


def _named(variables: str | tuple[str, ...]) -> str | list[str]:
    return variables if isinstance(variables, str) else list(variables)
