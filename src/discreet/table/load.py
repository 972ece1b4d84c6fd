"""A table from whatever the user names: records, cells, an example, a database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from discreet.data.codebook import Codebook
from discreet.data.examples import PREFIX, find_example
from discreet.errors import DataError, WrongKind
from discreet.table.microdata import Microdata
from discreet.table.read import read_table
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
) -> Table:
    """The table behind DATA: cells if `count` names their column, else records to be counted.

    What looks like something else is refused: `records` says that each row is a person, `crosstab`
    names what stands across a cross-tab, `totals` says what becomes of rows that are sums of
    others: "drop" or "keep". `impossible` are combinations that nobody can have, as in a codebook,
    or "none" if those that look so can occur.

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
    if count is not None or crosstab is not None:
        return read_table(
            data,
            count=count,
            columns=variables,
            codebook=codebook,
            table=table,
            crosstab=crosstab,
            totals=totals,
            impossible=impossible,
        )
    people = Microdata.read(data, codebook=codebook, table=table, records=records, totals=totals)
    return people.table(variables, impossible=impossible)
