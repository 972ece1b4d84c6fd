"""Tables from files of cells, and back to files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.codebook import Codebook
from discreet.data.count import Counted, check_rows, choose_columns, read_cells
from discreet.data.files import whole
from discreet.data.reading import Opened
from discreet.data.roles import check_cell_columns
from discreet.errors import DataError, OutputError
from discreet.table.codings import with_impossible
from discreet.table.keys import keys

if TYPE_CHECKING:
    from discreet.table.table import Table


def table_of(opened: Opened, columns: str | Iterable[str] | None) -> Table:
    """Cells, one a row: by `columns`, or by all that are not left out.

    Cells are added up over the columns that are left out. A cell that stands twice is refused, and
    so are rows that are totals of others, unless `totals` is "drop" or "keep". Columns that are no
    variables, such as row numbers and percentages, are refused unless they are named, or left out.
    """
    from discreet.table.formula import margin_names
    from discreet.table.table import Table

    source, book, count, how = opened.source, opened.book, opened.count, opened.how
    if count is None:
        raise DataError(f"{source.name} has no count; name its column, as in count='n'.")
    every = choose_columns(source, None, book, count)
    left = [name for name in every if name not in opened.without]
    if not left:
        raise DataError(f"no column of {source.name} is left; leave out fewer.")
    accepted = {*opened.stated.classifying, *opened.without}
    figures = check_cell_columns(source, every, accepted=accepted, named=columns is not None)
    if isinstance(columns, str):
        columns = margin_names(columns, left)
    wanted = left if columns is None else choose_columns(source, columns, book, count)
    if both := [name for name in wanted if name in opened.without]:
        raise DataError(f"column {both[0]!r} is named, and left out; say one.")
    if set(wanted) < set(every):
        check_rows(source, [name for name in every if name in wanted or name not in figures.rows])
    summed = [name for name in every if name not in wanted and name not in figures.names]
    cells = read_cells(source, wanted, count, book, totals=how.totals, summed=summed)
    if set(wanted) == set(every):
        _check_cells(cells, source.name)
    made = Table.from_cells(
        cells.variables,
        cells.codes,
        cells.counts,
        dropped=cells.dropped,
        sampling_fraction=book.sampling_fraction,
    )

    def counted(columns: Sequence[str], book: Codebook) -> Table:
        others = [name for name in (*wanted, *summed) if name not in columns]
        cells = read_cells(source, columns, count, book, totals=how.totals, summed=others)
        return Table.from_cells(cells.variables, cells.codes, cells.counts)

    return with_impossible(made, book, how.impossible, every, counted)


def _check_cells(cells: Counted, where: str) -> None:
    key = keys(cells.codes, [variable.size for variable in cells.variables])
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    if (times > 1).any():
        place = int(np.argmax(times > 1))
        cell = ", ".join(
            f"{v.name}={v.categories[c]}"
            for v, c in zip(cells.variables, cells.codes[first[place]], strict=True)
        )
        raise DataError(
            f"{where} has the cell {cell} {times[place]} times; add its rows up first, "
            "or read the file as records without a count column."
        )


def write_table(table: Table, path: str | Path, *, count: str, zeros: bool) -> None:
    """Cells to a file, by its suffix; Parquet also keeps the order of the categories."""
    import pyarrow as pa
    import pyarrow.csv
    import pyarrow.parquet

    suffix = Path(path).suffix.lower()
    if suffix not in (".csv", ".parquet"):
        raise OutputError(f"cannot write {str(path)!r}: end its name in .csv or .parquet.")
    cells = table.to_frame("arrow", zeros=zeros, count=count)
    with whole(path) as temporary:
        if suffix == ".csv":
            plain = [pa.field(name, pa.string()) for name in table.names]
            plain.append(pa.field(count, pa.int64()))
            pyarrow.csv.write_csv(cells.cast(pa.schema(plain)), temporary)
        else:
            pyarrow.parquet.write_table(cells, temporary)
