"""Columns of a true file and of masked copies as codes; what a coarse value may stand for."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.data.frames import label
from discreet.data.hierarchy import Hierarchy
from discreet.errors import DataError
from discreet.utility.counted import Counted
from discreet.utility.records import check_columns, factors, labels, numbers, quantiles, weights

if TYPE_CHECKING:
    import pandas as pd

Within = Mapping[str, Mapping[str, Any]]  # column -> what is released -> fine values; () is all

PARTS = 10


def fine_of(hierarchy: Hierarchy, categories: Iterable[str]) -> dict[str, tuple[str, ...]]:
    """Every coarser code of a hierarchy, with the categories that it may be.

    >>> fine_of(Hierarchy.of({"Bern": "CH", "Basel": "CH", "Bonn": "DE"}), ["Basel", "Bern"])
    {'CH': ('Basel', 'Bern')}
    """
    parents, found = dict(hierarchy.pairs), dict[str, list[str]]()
    for category in categories:
        code = category
        while code in parents:
            code = parents[code]
            found.setdefault(code, []).append(category)
    return {code: tuple(fine) for code, fine in found.items()}


@dataclass(frozen=True, eq=False)
class Column:
    """Codes of a column in the true file and in each copy, and how a copy's codes spread."""

    size: int
    true: Ints
    copies: tuple[Ints, ...]
    spread: tuple[Floats | None, ...]


def category_column(
    true: pd.Series[Any], copies: Sequence[pd.Series[Any]], within: Mapping[str, Any]
) -> Column:
    """A column of categories; a value that neither file nor `within` knows is one of its own."""
    codes, names = labels(true)
    within = {label(coarse): fine for coarse, fine in within.items()}
    read = [labels(copy) for copy in copies]
    listed = (label(n) for more in (*within.values(), *(n for _, n in read)) for n in more)
    known = list(dict.fromkeys([*names, *(n for n in listed if n not in within)]))
    place = {name: code for code, name in enumerate(known)}
    everything = list(range(len(names)))
    found: list[Ints] = []
    matrices: list[Floats | None] = []
    for own, said in read:
        may_be = [
            [place[label(f)] for f in within[name]] or everything if name in within
            else [place[name]]
            for name in said
        ]  # fmt: skip
        if all(len(at) == 1 for at in may_be):
            found.append(np.array([at[0] for at in may_be], np.int64)[own])
            matrices.append(None)
            continue
        matrix = np.zeros((len(said), len(known)))
        for row, at in enumerate(may_be):
            matrix[row, at] = 1 / len(set(at))
        found.append(own)
        matrices.append(matrix)
    return Column(len(known), codes, tuple(found), tuple(matrices))


def number_column(
    true: pd.DataFrame,
    copies: Sequence[pd.DataFrame],
    name: str,
    weight: Floats,
    within: Mapping[str, Any],
    parts: int = PARTS,
) -> Column:
    """A column of numbers, cut into `parts` of equal weight; missing is a part of its own.

    Cuts are half way between a quantile of the true file and its next value. A value of a copy
    that is no number is an interval of pandas, which is spread by length, or in `within`: numbers
    that it may be, an interval, or () for the whole range.
    """
    values = numbers(true, name, "the true file")
    cuts = cuts_of(values, weight, parts)
    low, high = _range(values)
    edges = np.array([low, *cuts, high])
    size = len(cuts) + 2
    within = {label(coarse): fine for coarse, fine in within.items()}
    read = [
        _numeric(copy, name, edges, within) if copy[name].dtype.kind in "iuf"
        else _mixed(copy, name, edges, within)
        for copy in copies
    ]  # fmt: skip
    found, matrices = [codes for codes, _ in read], [matrix for _, matrix in read]
    return _column(size, _parts_of(values, cuts), found, matrices)


def _numeric(
    copy: pd.DataFrame, name: str, edges: Floats, within: Mapping[str, Any]
) -> tuple[Ints, Floats]:
    """Numbers, of which `within` may say that some stand for more, as a top code does."""
    values = numbers(copy, name, "the masked file")
    codes, rows = _parts_of(values, edges[1:-1]), [*np.eye(len(edges))]
    for coarse, fine in within.items():
        at = np.isnan(values) if not coarse else values == _number(coarse, name, strict=False)
        codes[at] = len(rows)
        rows.append(_shares(fine, edges, name))
    return codes, np.array(rows)


def _mixed(
    copy: pd.DataFrame, name: str, edges: Floats, within: Mapping[str, Any]
) -> tuple[Ints, Floats]:
    """Numbers, intervals and what `within` knows."""
    codes, distinct = factors(copy[name])
    distinct.append(None)
    matrix = np.zeros((len(distinct), len(edges)))
    for row, value in enumerate(distinct):
        if label(value) in within:
            matrix[row] = _shares(within[label(value)], edges, name)
        elif hasattr(value, "left"):
            matrix[row] = _shares(value, edges, name)
        else:
            matrix[row, _parts_of(np.array([_number(value, name)]), edges[1:-1])] = 1
    shared, which = np.unique(matrix, axis=0, return_inverse=True)
    return which.ravel()[codes].astype(np.int64), shared


def cuts_of(values: Floats, weight: Floats, parts: int = PARTS) -> Floats:
    """Half way from each quantile to the next value, so that a trifle of noise moves nobody.

    >>> cuts_of(np.array([1.0, 2, 3, 4]), np.ones(4), 2)
    array([2.5])
    """
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) < 2:
        return np.zeros(0)
    at = quantiles(values, weight, [part / parts for part in range(1, parts)])
    place = np.searchsorted(distinct, np.unique(at))
    place = place[place < len(distinct) - 1]
    return np.asarray((distinct[place] + distinct[place + 1]) / 2, np.float64)


def _range(values: Floats) -> tuple[float, float]:
    """From the least to the largest number, and half a gap further, as values were rounded."""
    distinct = np.unique(values[~np.isnan(values)])
    if len(distinct) < 2:
        return (float(distinct[0]),) * 2 if len(distinct) else (0.0, 0.0)
    first, last = (distinct[1] - distinct[0]) / 2, (distinct[-1] - distinct[-2]) / 2
    return float(distinct[0] - first), float(distinct[-1] + last)


def counted(
    true: pd.DataFrame,
    copies: Sequence[pd.DataFrame],
    *,
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    weight: str | None = None,
    within: Within | None = None,
) -> tuple[Counted, list[Counted]]:
    """The true file and its masked copies as counts over the same fine cells."""
    names, within = [*categories, *numbers], within or {}
    _check(true, copies, names, within)
    own = weights(true, weight, "the true file")
    columns = [
        category_column(true[name], [copy[name] for copy in copies], within.get(name, {}))
        for name in categories
    ] + [number_column(true, copies, name, own, within.get(name, {})) for name in numbers]
    sizes = [column.size for column in columns]
    mine = Counted.of(np.column_stack([column.true for column in columns]), own, sizes)
    theirs = [
        Counted.of(
            np.column_stack([column.copies[place] for column in columns]),
            weights(copy, weight, "the masked file"),
            sizes,
            [column.spread[place] for column in columns],
        )
        for place, copy in enumerate(copies)
    ]
    return mine, theirs


def _check(
    true: pd.DataFrame, copies: Sequence[pd.DataFrame], names: Sequence[str], within: Within
) -> None:
    if not names:
        raise DataError("there is no column to compare; name categories, numbers or both.")
    if len(set(names)) < len(names):
        twice = next(name for name in names if names.count(name) > 1)
        raise DataError(f"{twice!r} is named twice; name it once, as categories or as numbers.")
    if not copies:
        raise DataError("there is no masked file; give at least one.")
    if odd := sorted(set(within) - set(names)):
        raise DataError(f"within has {odd[0]!r}, which is not compared; it knows {names}.")
    for name, coarse in within.items():
        for value, fine in coarse.items():
            if isinstance(fine, str):
                raise DataError(
                    f"within says that {value!r} in {name!r} may be {fine!r}; give a list, as in "
                    f"[{fine!r}]."
                )
    check_columns(true, names, "the true file")
    for copy in copies:
        check_columns(copy, names, "the masked file")


def _column(size: int, true: Ints, codes: list[Ints], matrices: list[Floats]) -> Column:
    """Where every code of a copy is one fine category, it is taken for that and not spread."""
    copies: list[Ints] = []
    spread: list[Floats | None] = []
    for own, matrix in zip(codes, matrices, strict=True):
        single = bool((np.count_nonzero(matrix, axis=1) == 1).all())
        copies.append(matrix.argmax(1)[own] if single else own)
        spread.append(None if single else matrix)
    return Column(size, true, tuple(copies), tuple(spread))


def _parts_of(values: Floats, cuts: Floats) -> Ints:
    """Which part each number is in; the last one is missing."""
    found = np.searchsorted(cuts, values).astype(np.int64)
    return np.where(np.isnan(values), len(cuts) + 1, found)


def _shares(fine: Any, edges: Floats, name: str) -> Floats:
    """How a coarse value spreads over parts and missing."""
    size = len(edges)
    if hasattr(fine, "left"):
        low, high = float(fine.left), float(fine.right)
    elif len(fine) == 0:
        low, high = float(edges[0]), float(edges[-1])
    else:
        at = _parts_of(np.array([_number(f, name) for f in fine]), edges[1:-1])
        return np.bincount(at, minlength=size) / len(at)
    low, high = max(low, float(edges[0])), min(high, float(edges[-1]))
    if not low < high:  # all on one side of the true file's range, or a point of it
        at = _parts_of(np.array([min(max(low, edges[0]), edges[-1])]), edges[1:-1])
        return np.bincount(at, minlength=size).astype(np.float64)
    overlap = np.minimum(high, edges[1:]) - np.maximum(low, edges[:-1])
    return np.append(np.maximum(overlap, 0) / (high - low), 0.0)


def _number(value: Any, name: str, *, strict: bool = True) -> float:
    if not label(value):
        return np.nan
    try:
        return float(value)
    except (TypeError, ValueError):
        if not strict:
            return np.nan
        raise DataError(
            f"{label(value)!r} in {name!r} is no number; say what it may be, as in "
            f"within={{{name!r}: {{{label(value)!r}: range(20, 30)}}}}."
        ) from None
