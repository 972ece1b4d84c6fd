"""Tables from files of cells, and back to files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.codebook import Codebook
from discreet.data.count import choose_columns, read_cells
from discreet.data.files import whole
from discreet.data.sources import open_source
from discreet.errors import DataError, OutputError
from discreet.table.keys import keys

if TYPE_CHECKING:
    from discreet.table.table import Table


def the_codebook(codebook: Codebook | str | Path | None) -> Codebook:
    if codebook is None:
        return Codebook()
    return codebook if isinstance(codebook, Codebook) else Codebook.read(codebook)


def read_table(
    data: object,
    *,
    count: str,
    columns: Iterable[str] | None = None,
    codebook: Codebook | str | Path | None = None,
    table: str | None = None,
) -> Table:
    """Cells, one a row; a cell that stands twice is refused."""
    from discreet.table.table import Table

    book = the_codebook(codebook)
    source = open_source(data, table=table)
    cells = read_cells(source, choose_columns(source, columns, book, count), count, book)
    key = keys(cells.codes, [variable.size for variable in cells.variables])
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    if (times > 1).any():
        row = int(first[np.argmax(times > 1)])
        cell = ", ".join(
            f"{v.name}={v.categories[c]}"
            for v, c in zip(cells.variables, cells.codes[row], strict=True)
        )
        raise DataError(
            f"{source.name} has the cell {cell} {times.max()} times; add its rows up first, "
            "or read the file as records without a count column."
        )
    return Table.from_cells(
        cells.variables, cells.codes, cells.counts,
        dropped=cells.dropped, sampling_fraction=book.sampling_fraction,
    )


def write_table(table: Table, path: str | Path, *, count: str, zeros: bool) -> None:
    import pyarrow.csv
    import pyarrow.parquet

    if count in table.names:
        raise OutputError(f"{count!r} names a variable already; choose another count column.")
    cells = table.to_frame("arrow", zeros=zeros, count=count)
    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise OutputError(f"cannot write {str(path)!r}: end its name in .csv or .parquet.")
    with whole(path) as temporary:
        if suffix == ".csv":
            pyarrow.csv.write_csv(cells, temporary)
        else:
            pyarrow.parquet.write_table(cells, temporary)
