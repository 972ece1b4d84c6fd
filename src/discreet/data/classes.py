"""Classes of records alike in some columns, counted inside the engine with weights and rows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.data.bands import PLAIN
from discreet.data.checkpoint import Checkpoint
from discreet.data.codebook import MISSING, Codebook, Variable
from discreet.data.count import LARGEST_COUNT, encode_cells, no_column
from discreet.data.encode import MOST_CATEGORIES, places
from discreet.data.fingerprint import free_name
from discreet.data.frames import label, plain
from discreet.data.grouping import grouped
from discreet.data.order import in_order as natural
from discreet.data.reading import Reading
from discreet.data.source import Source, engine_errors, from_arrow
from discreet.data.totals import is_total
from discreet.errors import DataError
from discreet.look.words import plural
from discreet.spreading import in_threads


@dataclass(frozen=True, eq=False)
class Grouped:
    """What the engine found of each class: codes, records, sum of weights, row of the first record.

    Rows are numbered from 1 in the order of the file; tables of a database have no order. Weights
    are in three whole numbers, of which `weight_sums` makes one.
    """

    variables: tuple[Variable, ...]
    codes: NDArray[np.unsignedinteger[Any]]
    counts: Ints
    weights: Ints | None
    first: Ints | None


def check_columns(source: Source, names: Iterable[str]) -> None:
    """Refuse a column that is not there, with the nearest that is."""
    for name in names:
        if name not in source.columns:
            raise DataError(no_column(name, source))


def frame_sizes(data: object, columns: Sequence[str]) -> Ints | None:
    """How many classes of a frame have 0, 1, 2, ... records, in classes that are possible.

    A frame lies in memory already: its columns are coded there, which is quicker than a query.
    None where it is not: columns to be complained of, values that mean the same, many classes.
    """
    records, orders = plain(data)
    if any(records.column_names.count(name) != 1 for name in columns):
        return None
    Reading().open(from_arrow(records, orders, "the frame")).check_people()
    pairs = [(name, records[name]) for name in columns]
    found = in_threads(_coded, pairs)  # Arrow encodes without Python's lock
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


def _coded(named: tuple[str, Any]) -> tuple[NDArray[Any], int] | None:
    """Codes of a column and how many there are; None if two have the same label, or of totals."""
    import pyarrow as pa

    name, column = named
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
    source: Source,
    columns: Sequence[str],
    codebook: Codebook,
    weights: str | None = None,
    checkpoint: Checkpoint | None = None,
) -> Grouped:
    """One GROUP BY; weights are numbers from 1 on, and a wrong one is named with its row.

    A weight w is added up as whole numbers, so that a sum is the same in whatever order:

        w = floor(w) + 2^-26 a + 2^-52 b      0 <= a, b < 2^26
    """
    names = _names(source)
    with engine_errors(source.name):
        records = _numbered(source, names) if source.ordered else source.records

        def found(rows: Any) -> dict[str, Any]:
            asked = {names[1]: rows.count()}
            if source.ordered:
                asked[names[2]] = rows[names[0]].min()
            if weights is not None:
                number = _number(rows, weights)
                right = ((number >= 1) & (number <= LARGEST_COUNT)).fill_null(False)
                wrong = rows[names[0]].min(where=~right) if source.ordered else (~right).sum()
                asked |= dict(zip(names[3:], _pieces(number, right), strict=False))
                asked[names[6]] = wrong
            return asked

        beside = [] if weights is None else [weights]
        cells = grouped(source, records, columns, found, checkpoint, beside)
    if cells.num_rows == 0:
        raise DataError(f"{source.name} has no records; it needs at least one below its header.")
    if weights is not None:
        _check_weights(source, weights, cells[names[6]].drop_null().to_numpy(), names)
    counts = cells[names[1]].to_numpy().astype(np.int64)
    coded = encode_cells(source, cells.select(range(len(columns))), counts, codebook)
    sums = None
    if weights is not None:
        sums = np.stack([cells[name].to_numpy().astype(np.int64) for name in names[3:6]], axis=1)
    first = cells[names[2]].to_numpy().astype(np.int64) + 1 if source.ordered else None
    return Grouped(coded.variables, coded.codes, coded.counts, sums, first)


def weight_sums(pieces: Ints) -> Floats:
    """The sums that the whole numbers of `group_records` stand for, rounded once."""
    whole, upper, lower = pieces.T
    upper = upper + (lower >> 26)
    whole = whole + (upper >> 26)
    behind = (upper % (1 << 26) << 26) + lower % (1 << 26)
    return np.asarray(whole.astype(np.float64) + behind.astype(np.float64) / 2.0**52)


def group_members(
    source: Source, columns: Sequence[str], household: str, codebook: Codebook
) -> tuple[Grouped, NDArray[np.integer[Any]], int]:
    """Classes by keys and household: their records, and the number of the household of each.

    Households are numbered by their first rows where rows have numbers, else by their names.
    """
    names = _names(source)
    with engine_errors(source.name):
        records = _numbered(source, names) if source.ordered else source.records
        records = records.mutate(**{names[3]: records[household]})
        asked = {names[1]: records.count()}
        if source.ordered:
            asked[names[2]] = records[names[0]].min()
        found = records.group_by([*columns, names[3]]).aggregate(**asked).to_pyarrow()
    first = found[names[2]].to_numpy().astype(np.int64) + 1 if source.ordered else None
    number, homes = places(f"{household!r} of {source.name}", found[names[3]])
    said = [None if _no_home(home) else label(home) for home in homes]
    blank = [place for place, home in enumerate(said) if home is None]
    gone = np.isin(number, blank)
    if gone.any():
        where = f"row {first[gone].min():,}" if first is not None else "a record"
        raise DataError(
            f"{where} of {source.name} has no household in {household!r}; give "
            "each record one, also those who live alone."
        )
    distinct = {home: place for place, home in enumerate(natural({str(home) for home in said}))}
    number = np.array([distinct[str(home)] for home in said], np.int64)[number]
    counts = found[names[1]].to_numpy().astype(np.int64)
    coded = encode_cells(source, found.select(range(len(columns))), counts, codebook)
    return Grouped(coded.variables, coded.codes, coded.counts, None, first), number, len(distinct)


def _no_home(value: object) -> bool:
    return value is None or value != value or not str(value).strip()


def _names(source: Source) -> list[str]:
    """Names that no column has."""
    taken = list(source.columns)
    names: list[str] = []
    for _ in range(7):
        names.append(free_name([*taken, *names]))
    return names


def _numbered(source: Source, names: Sequence[str]) -> Any:
    import ibis

    return source.records.mutate(**{names[0]: ibis.row_number()})


def _pieces(number: Any, right: Any) -> list[Any]:
    """Sums of the whole part of right weights, and of two halves of the bits behind it."""
    import ibis

    number = ibis.ifelse(right, number, 0.0)
    half = float(1 << 26)
    whole = number.floor().cast("float64")
    behind = (number - whole) * half
    upper = behind.floor().cast("float64")
    lower = (behind - upper) * half
    return [piece.cast("int64").sum() for piece in (whole, upper, lower)]


def _number(records: Any, column: str) -> Any:
    value = records[column]
    if value.type().is_string() and records.get_backend().name == "duckdb":
        import ibis

        written = value.strip().re_search(PLAIN)  # the engine takes 1_5 for 15
        return ibis.ifelse(written, value.try_cast("float64"), ibis.null("float64"))
    if not value.type().is_numeric():
        raise DataError(f"the weights in {column!r} are {value.type()}; give a column of numbers.")
    return value.cast("float64")


def _check_weights(source: Source, weights: str, wrong: Any, names: Sequence[str]) -> None:
    rule = "a weight is how many people a record stands for, a number from 1 on."
    if source.ordered and len(wrong):
        row = int(wrong.min())
        with engine_errors(source.name):
            records = _numbered(source, names)
            value = records.filter(records[names[0]] == row)[weights].to_pyarrow().to_pylist()[0]
        said = "no weight" if value is None or value != value else f"the weight {value!r}"
        raise DataError(f"row {row + 1:,} of {source.name} has {said} in {weights!r}; {rule}")
    if not source.ordered and wrong.sum():
        raise DataError(
            f"{plural(int(wrong.sum()), 'record')} of {source.name} have no weight in {weights!r}, "
            f"or a wrong one; {rule}"
        )
