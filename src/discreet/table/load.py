"""A table from whatever the user names: records, cells, an example, a database."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path

from discreet.data.codebook import Codebook
from discreet.data.examples import PREFIX, find_example
from discreet.errors import DataError
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
) -> Table:
    """The table behind DATA: cells if `count` names their column, else records to be counted.

    >>> load("example:tract")
    Table(Gender 2 x Race 3 x Income 3: 742 in 16 of 18 cells)
    """
    if isinstance(data, str) and data.startswith(PREFIX):
        if count or table:
            raise DataError(f"{data} needs no count column and no table name; leave them out.")
        example = find_example(data)
        data, count = example.path, example.count
        codebook = codebook if codebook is not None else example.codebook
    if count is not None:
        return read_table(data, count=count, columns=variables, codebook=codebook, table=table)
    return Microdata.read(data, codebook=codebook, table=table).table(variables)
