"""Classes of records alike in some columns, counted inside the engine with weights and rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.bands import PLAIN
from discreet.data.codebook import MISSING, Codebook, Variable
from discreet.data.count import _encode, _free_name, _no_column
from discreet.data.encode import MOST_CATEGORIES, places
from discreet.data.frames import label, plain
from discreet.data.kind import check_records
from discreet.data.source import Source, engine_errors, from_arrow
from discreet.data.totals import is_total
from discreet.errors import DataError

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class Grouped:
    """What the engine found of each class: codes, records, sum of weights, row of the first record.

    Rows are numbered from 1 in the order of the file.
    """

    variables: tuple[Variable, ...]
    codes: NDArray[np.unsignedinteger[Any]]
    counts: Ints
    weights: Floats | None
    first: Ints


def check_columns(source: Source, names: Iterable[str]) -> None:
    """Refuse a column that is not there, with the nearest that is."""
    for name in names:
        if name not in source.columns:
            raise DataError(_no_column(name, source))


def frame_sizes(data: object, columns: Sequence[str]) -> Ints | None:
    """How many classes of a frame have 0, 1, 2, ... records, in classes that are possible.

    A frame lies in memory already: its columns are coded there, which is quicker than a query.
    None where it is not: columns to be complained of, values that mean the same, many classes.
    """
    records, orders = plain(data)
    if any(records.column_names.count(name) != 1 for name in columns):
        return None
    check_records(from_arrow(records, orders, "the frame"), known=())
    with ThreadPoolExecutor() as pool:  # Arrow encodes without Python's lock
        found = list(pool.map(lambda name: _coded(name, records[name]), columns))
    if len(set(columns)) < len(columns) or not all(found):
        return None
    key, size = np.zeros(records.num_rows, np.int64), 1
    for codes, number in filter(None, found):
        size *= number
        if size > max(4 * records.num_rows, 1 << 16):
            return None
        key *= number
        key += codes
    return np.bincount(np.bincount(key, minlength=size))


def _coded(name: str, column: Any) -> tuple[NDArray[Any], int] | None:
    """Codes of a column and how many there are; None if two have the same label, or of totals."""
    import pyarrow as pa

    if pa.types.is_integer(column.type) and not column.null_count:
        values = column.to_numpy()
        least, most = int(values.min()), int(values.max())
        if most - least < MOST_CATEGORIES:
            return values - least, most - least + 1
    codes, distinct = places(f"{name!r} of the frame", column)
    if len(distinct) > MOST_CATEGORIES:
        return None
    labels = {label(value) or MISSING for value in distinct}
    if len(labels) < len(distinct) or any(map(is_total, labels)):
        return None
    return codes, len(distinct)


def group_records(
    source: Source, columns: Sequence[str], codebook: Codebook, weights: str | None = None
) -> Grouped:
    """One GROUP BY; weights are numbers from 1 on, and a wrong one is named with its row."""
    names = _names(source)
    with engine_errors(source.name):
        records = _numbered(source, names)
        row = records[names[0]]
        found = {names[1]: records.count(), names[2]: row.min()}
        if weights is not None:
            number = _number(records, weights)
            right = ((number >= 1) & (number < float("inf"))).fill_null(False)
            found |= {names[3]: number.sum(), names[4]: row.min(where=~right)}
        cells = records.group_by(list(columns)).aggregate(**found).to_pyarrow()
    if cells.num_rows == 0:
        raise DataError(f"{source.name} has no records; it needs at least one below its header.")
    if weights is not None:
        wrong = cells[names[4]].drop_null().to_numpy()
        if len(wrong):
            _refuse_weight(source, weights, int(wrong.min()), names)
    counts = cells[names[1]].to_numpy().astype(np.int64)
    coded = _encode(source, cells.select(range(len(columns))), counts, codebook)
    sums = None if weights is None else cells[names[3]].to_numpy().astype(np.float64)
    first = cells[names[2]].to_numpy().astype(np.int64) + 1
    return Grouped(coded.variables, coded.codes, coded.counts, sums, first)


def group_members(
    source: Source, columns: Sequence[str], household: str
) -> tuple[Ints, NDArray[np.integer[Any]], Ints]:
    """Of each record: the first row of its class, its household's number, its own row."""
    names = _names(source)
    with engine_errors(source.name):
        import ibis

        records = _numbered(source, names)
        first = records[names[0]].min().over(ibis.window(group_by=list(columns)))
        chosen = {names[1]: first, names[2]: records[household], names[3]: records[names[0]]}
        found = records.select(**chosen).to_pyarrow()
    row = found[names[3]].to_numpy().astype(np.int64) + 1
    number, homes = places(f"{household!r} of {source.name}", found[names[2]])
    blank = [place for place, home in enumerate(homes) if _no_home(home)]
    gone = np.isin(number, blank) if blank else np.zeros(len(number), bool)
    if gone.any():
        raise DataError(
            f"row {row[gone].min():,} of {source.name} has no household in {household!r}; give "
            "each record one, also those who live alone."
        )
    return found[names[1]].to_numpy().astype(np.int64) + 1, number, row


def _no_home(value: object) -> bool:
    return value is None or value != value or not str(value).strip()


def _names(source: Source) -> list[str]:
    """Names that no column has."""
    taken = list(source.columns)
    names: list[str] = []
    for _ in range(5):
        names.append(_free_name([*taken, *names]))
    return names


def _numbered(source: Source, names: Sequence[str]) -> Any:
    import ibis

    return source.records.mutate(**{names[0]: ibis.row_number()})


def _number(records: Any, column: str) -> Any:
    value = records[column]
    if value.type().is_string() and records.get_backend().name == "duckdb":
        import ibis

        written = value.strip().re_search(PLAIN)  # the engine takes 1_5 for 15
        return ibis.ifelse(written, value.try_cast("float64"), ibis.null("float64"))
    if not value.type().is_numeric():
        raise DataError(f"the weights in {column!r} are {value.type()}; give a column of numbers.")
    return value.cast("float64")


def _refuse_weight(source: Source, weights: str, row: int, names: Sequence[str]) -> None:
    with engine_errors(source.name):
        records = _numbered(source, names)
        value = records.filter(records[names[0]] == row)[weights].to_pyarrow().to_pylist()[0]
    said = "no weight" if value is None or value != value else f"the weight {value!r}"
    raise DataError(
        f"row {row + 1:,} of {source.name} has {said} in {weights!r}; a weight is how many people "
        "a record stands for, a number from 1 on."
    )
