"""Tables from files of cells, and back to files."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING

import numpy as np

from discreet.data.bands import check_cells_unbanded
from discreet.data.codebook import Codebook
from discreet.data.count import Counted, check_column, check_rows, choose_columns, read_cells
from discreet.data.crosstab import as_cells
from discreet.data.files import whole
from discreet.data.inhand import in_hand
from discreet.data.roles import check_cell_columns, named
from discreet.data.source import Source
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


def books(codebook: Codebook | str | Path | None, source: Source) -> tuple[Codebook, Source]:
    """What a person states, and the source with what its documentation says of it."""
    stated = the_codebook(codebook)
    if not stated.documents:
        return stated, source
    book = stated.fitted(source.columns).over(source.codebook)
    return Codebook(), replace(source, codebook=book)


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
    without: str | Iterable[str] | None = None,
) -> Table:
    """Cells, one a row, or a cross-tab, whose columns are the categories of `crosstab`.

    Columns left out are summed over, a cell that stands twice is refused, and so are rows that are
    totals of others, unless `totals` is "drop" or "keep". Columns that are no variables, such as
    row numbers and percentages, are refused unless they are named, or left out by `without`.
    """
    from discreet.table.formula import margin_names
    from discreet.table.table import Table

    handed = in_hand(data, count=count, crosstab=crosstab)
    if handed.count is not None:
        count, crosstab = handed.count, None
    stated, source = books(codebook, open_source(handed.data, table=table))
    source = left_out(source, named(without, source.columns))
    if crosstab is not None:
        if count is not None:
            raise WrongKind(
                lambda say: (
                    f"{say('count', count)} is for cells and {say('crosstab', crosstab)} for a "
                    "cross-tab; say one."
                )
            )
        asked = () if columns is None or isinstance(columns, str) else columns
        source, count = as_cells(source, crosstab, known={*stated.entries, *asked})
    book = stated.over(source.codebook)
    check_cells_unbanded(book)
    if count is None:
        raise DataError(f"{source.name} has no count; name its column, as in count='n'.")
    every = choose_columns(source, None, book, count)
    if columns is None:
        check_cell_columns(source, every, accepted=stated.classifying)
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


def left_out(source: Source, names: Sequence[str]) -> Source:
    """A source without some of its columns."""
    for name in names:
        check_column(source, name)
    if not names:
        return source
    if len(names) == len(source.columns):
        raise DataError(f"no column of {source.name} is left; leave out fewer.")
    return replace(source, records=source.records.drop(*names))


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
