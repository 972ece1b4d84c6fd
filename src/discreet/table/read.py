"""Tables from files of cells, and back to files."""

from __future__ import annotations

from collections.abc import Iterable
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.codebook import Codebook
from discreet.data.count import Counted, check_rows, choose_columns, read_cells
from discreet.data.crosstab import as_cells
from discreet.data.files import whole
from discreet.data.sources import open_source
from discreet.errors import DataError, OutputError, WrongKind
from discreet.table.codings import with_impossible
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
    count: str | None = None,
    columns: str | Iterable[str] | None = None,
    codebook: Codebook | str | Path | None = None,
    table: str | None = None,
    crosstab: str | None = None,
    totals: str | None = None,
    impossible: object = None,
) -> Table:
    """Cells, one a row, or a cross-tab, whose columns are the categories of `crosstab`.

    Columns left out are summed over, a cell that stands twice is refused, and so are rows that are
    totals of others, unless `totals` is "drop" or "keep".
    """
    from discreet.table.table import Table, margin_names

    stated = the_codebook(codebook)
    source = open_source(data, table=table)
    book = stated.over(source.codebook)
    if crosstab is not None:
        if count is not None:
            raise WrongKind(
                lambda say: (
                    f"{say('count', count)} is for cells and {say('crosstab', crosstab)} for a "
                    "cross-tab; say one."
                )
            )
        named = () if columns is None or isinstance(columns, str) else columns
        source, count = as_cells(source, crosstab, known={*stated.entries, *named})
    if count is None:
        raise DataError(f"{source.name} has no count; name its column, as in count='n'.")
    every = choose_columns(source, None, book, count)
    if isinstance(columns, str):
        columns = margin_names(columns, every)
    wanted = every if columns is None else choose_columns(source, columns, book, count)
    if set(wanted) < set(every):
        check_rows(source, every)
    summed = [name for name in every if name not in wanted]
    cells = read_cells(source, wanted, count, book, totals=totals, summed=summed)
    if set(wanted) == set(every):
        _check_cells(cells, source.name)
    made = Table.from_cells(
        cells.variables,
        cells.codes,
        cells.counts,
        dropped=cells.dropped,
        sampling_fraction=book.sampling_fraction,
    )
    return with_impossible(made, book, impossible, every)


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
