"""Counting inside the engine: one GROUP BY gives the sparse cells, and only they come out."""

from __future__ import annotations

import decimal
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.checkpoint import Checkpoint
from discreet.data.codebook import Codebook, Missing, Variable
from discreet.data.encode import encode, places
from discreet.data.figures import hint, thousands
from discreet.data.fingerprint import free_name
from discreet.data.grouping import grouped
from discreet.data.order import NUMBER
from discreet.data.source import Source, engine_errors
from discreet.data.totals import Found, Totals, find_totals
from discreet.errors import DataError, near

LARGEST_COUNT = 2**53


@dataclass(frozen=True)
class Counted:
    """Sparse cells: codes (cells x variables), counts, and how many records were dropped."""

    variables: tuple[Variable, ...]
    codes: NDArray[np.unsignedinteger[Any]]
    counts: NDArray[np.int64]
    dropped: int = 0


def count_records(
    source: Source,
    columns: Sequence[str],
    codebook: Codebook,
    checkpoint: Checkpoint | None = None,
) -> Counted:
    """The full cross-classification of `columns`; missing values as the codebook says."""
    name = free_name(columns)
    cells = grouped(
        source, source.records, columns, lambda rows: {name: rows.count()}, checkpoint
    )  # fmt: skip
    if cells.num_rows == 0:
        raise DataError(f"{source.name} has no records; it needs at least one below its header.")
    counts = cells.column(len(columns)).to_numpy().astype(np.int64)
    return encode_cells(source, cells.select(range(len(columns))), counts, codebook)


def read_cells(
    source: Source,
    columns: Sequence[str],
    count: str,
    codebook: Codebook,
    *,
    totals: str | None = None,
    summed: Sequence[str] = (),
) -> Counted:
    """Cells as they stand in a file, one a row, with the count in column `count`.

    `totals` says what becomes of rows that are sums of others, by these columns and those that are
    `summed` over.
    """
    names = [*columns, *summed]
    with engine_errors(source.name):
        cells = source.records.select([*names, count]).to_pyarrow()
    if cells.num_rows == 0:
        raise DataError(f"{source.name} has no cells; it needs at least one below its header.")
    counts = _exact_counts(cells.column(len(names)), count, source.name)
    own = cells.select(range(len(columns)))
    found = None
    if totals != Totals.KEEP:
        every = encode_cells(source, own, counts, replace(codebook, missing=Missing.CATEGORY))
        beside = cells.select(range(len(columns), len(names)))
        found = find_totals(*_beside(source, every, beside, codebook), totals, source.name)
        if found is None and codebook.missing is Missing.CATEGORY:
            return every
    if found is not None:
        own, counts = own.filter(~found.rows), counts[~found.rows]
    kept = encode_cells(source, own, counts, codebook)
    return kept if found is None else _without(kept, found)


def _beside(
    source: Source, cells: Counted, more: Any, codebook: Codebook
) -> tuple[tuple[Variable, ...], NDArray[np.unsignedinteger[Any]], NDArray[np.int64]]:
    """Cells by further columns, whatever these hold."""
    import pyarrow as pa

    book = Codebook(missing_values=codebook.missing_values)
    columns = [
        encode(field.name, more[field.name], book, (), source.name, most=None, asking=False)
        for field in more.schema
        if not pa.types.is_nested(field.type)
    ]
    codes = np.column_stack([cells.codes, *(column.codes for column in columns)])
    return (*cells.variables, *(column.variable for column in columns)), codes, cells.counts


def _without(cells: Counted, found: Found) -> Counted:
    """Cells whose variables no longer have the categories of totals."""
    variables = tuple(map(found.forget, cells.variables))
    codes = cells.codes.copy()
    for place, (old, new) in enumerate(zip(cells.variables, variables, strict=True)):
        places_of = {label: code for code, label in enumerate(new.categories)}
        codes[:, place] = np.array([places_of.get(c, 0) for c in old.categories])[codes[:, place]]
    return replace(cells, variables=variables, codes=codes)


def check_rows(source: Source, columns: Sequence[str]) -> None:
    """Refuse two rows with the same values in all `columns`."""
    number = free_name(columns)
    with engine_errors(source.name):
        rows = source.records.group_by(list(columns)).aggregate(**{number: source.records.count()})
        found = rows.filter(rows[number] > 1).limit(1).to_pyarrow().to_pylist()
    for row in found:
        cell = ", ".join(f"{name}={row[name]}" for name in columns)
        raise DataError(
            f"{source.name} has the cell {cell} {row[number]} times; add its rows up first."
        )


def choose_columns(
    source: Source, wanted: Iterable[str] | None, codebook: Codebook, count: str | None = None
) -> tuple[str, ...]:
    """The columns to classify by: those wanted, or all but the count and the weights."""
    codebook.check_columns(source.columns)
    aside = {count: "the count", codebook.weights: "the weight"}
    every = [name for name in source.columns if name not in aside]
    columns = every if wanted is None else list(wanted)
    for name in [*columns, *([count] if count is not None else [])]:
        check_column(source, name)
    for name in columns:
        if name in aside:
            raise DataError(f"column {name!r} is {aside[name]}; leave it out of the variables.")
        if columns.count(name) > 1:
            raise DataError(f"column {name!r} is named twice; name it once.")
    if not columns:
        raise DataError(f"there is no column of {source.name} to classify by; name at least one.")
    return tuple(columns)


def check_column(source: Source, name: str) -> None:
    """Refuse a column that is not there."""
    if name not in source.columns:
        raise DataError(no_column(name, source))


def no_column(name: str, source: Source) -> str:
    return f"{source.name} has no column {name!r}; {near(name, source.columns, 'it has')}"


def whole_numbers(column: Any, name: str, where: str) -> NDArray[np.int64]:
    """Counts as integers; whatever is not a count of people is named with its row."""
    index, values = places(f"{name!r} of {where}", column)
    numbers = [_integer(value) for value in values]
    wrong = [place for place, number in enumerate(numbers) if isinstance(number, str)]
    if wrong:
        row = int(np.isin(index, wrong).argmax())
        value, problem = values[index[row]], numbers[index[row]]
        raise DataError(
            f"row {row + 1} of {where} has the count {value!r} in {name!r}, which is "
            f"{problem}; counts are whole numbers from 0 on.{hint(str(value))}"
        )
    if mixed := thousands(values):
        raise DataError(
            f"{name!r} of {where} has {mixed[0]!r} beside {mixed[1]!r}: is the point a separator "
            "of thousands? Write counts without."
        )
    exact: NDArray[np.int64] = np.array(numbers, np.int64)[index]
    return exact


def _exact_counts(column: Any, name: str, where: str) -> NDArray[np.int64]:
    """Counts whose total is exact too."""
    exact = whole_numbers(column, name, where)
    # in two halves, as the sum may not fit
    total = (int((exact >> 26).sum()) << 26) + int((exact & (1 << 26) - 1).sum())
    if total > LARGEST_COUNT:
        raise DataError(
            f"the counts of {where} sum to {total:,}, which is too large to keep exact; "
            f"the most is {LARGEST_COUNT:,}."
        )
    if total == 0:
        raise DataError(f"all counts of {where} are zero; a table needs at least one record.")
    return exact


def _integer(value: object) -> int | str:
    """The count, or what is wrong with it."""
    text = "" if value is None else str(value).strip()
    if text.lower() in ("", "nan"):
        return "missing"
    if not NUMBER.fullmatch(text):
        return "not a number"
    number = decimal.Decimal(text)
    if number < 0:
        return "negative"
    if number > LARGEST_COUNT:
        return "too large"
    return int(number) if number == number.to_integral_value() else "not whole"


def encode_cells(
    source: Source, cells: Any, counts: NDArray[np.int64], codebook: Codebook
) -> Counted:
    """Cells of values, as codes; missing values as the codebook says."""
    columns = [
        encode(name, cells[name], codebook, source.orders.get(name, ()), source.name)
        for name in cells.column_names
    ]
    variables = tuple(column.variable for column in columns)
    codes = np.stack([column.codes for column in columns], axis=1)
    if codebook.missing is Missing.CATEGORY:
        return Counted(variables, codes, counts)
    kept = ~np.any([column.missing for column in columns], axis=0)
    dropped = int(counts[~kept].sum())
    if not counts[kept].any():
        raise DataError(
            f"every record of {source.name} has a missing value; count them as a category, "
            "or leave out the columns where they are."
        )
    return Counted(variables, codes[kept], counts[kept], dropped)
