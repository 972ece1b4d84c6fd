"""Sparse counts whose margins are compared; a coarse category is spread over the fine ones.

A user who finds a coarse category takes each fine one that it may be for equally likely:

    m(i_C)  =  sum over coarse j of  n(j_C)  prod over v in C of  T_v(j_v, i_v)

with T_v(j, .) even over the fine categories of j.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.table.keys import LARGEST_KEY, keys
from discreet.table.table import Table

MOST_DENSE = 1 << 20  # cells of a margin that is held as an array


@dataclass(frozen=True, eq=False)
class Counted:
    """Cells by their codes, what each weighs, and what a category may be: `spread` by variable.

    `sizes` are numbers of fine categories; a variable without a spread has its codes among them.
    """

    codes: Ints
    weights: Floats
    sizes: tuple[int, ...]
    spread: tuple[Floats | None, ...]

    def __post_init__(self) -> None:
        if not len(self.weights) or not self.weights.sum() > 0:
            raise DataError("a table counts nobody, and there are no shares to compare; add some.")
        if self.weights.min() < 0:
            raise DataError(
                f"a count is {self.weights.min():g}; shares need counts of 0 or more, so set "
                "negative ones to 0 first."
            )

    @classmethod
    def of(
        cls,
        codes: Ints,
        weights: Floats,
        sizes: Sequence[int],
        spread: Sequence[Floats | None] | None = None,
    ) -> Counted:
        """From records or cells in any order, equal ones added up."""
        spread = tuple(spread or [None] * len(sizes))
        own = _own_sizes(sizes, spread)
        if math.prod(own) < LARGEST_KEY:
            codes, weights = merged(codes, weights, own)
        codes = np.asfortranarray(codes, np.int64)  # columns are read one by one
        return cls(codes, np.asarray(weights, np.float64), tuple(sizes), spread)

    def margin(self, places: Sequence[int], *, dense: bool) -> tuple[Ints, Floats]:
        """Shares of the cells of a margin, by their keys; all keys in order if `dense`."""
        spread = [self.spread[place] for place in places]
        sizes = [self.sizes[place] for place in places]
        own = _own_sizes(sizes, spread)
        if dense:
            key = self.codes[:, places[0]].copy()
            for place, size in zip(places[1:], own[1:], strict=True):
                key *= size
                key += self.codes[:, place]
            array: NDArray[Any] = np.bincount(key, self.weights, math.prod(own)).reshape(own)
            for axis, matrix in enumerate(spread):
                if matrix is not None:
                    array = np.moveaxis(np.tensordot(array, matrix, (axis, 0)), -1, axis)
            return np.arange(array.size), array.ravel() / self.weights.sum()
        codes, weight = self.codes[:, list(places)], self.weights
        for axis, matrix in enumerate(spread):
            if matrix is not None:
                cells, fine = _expanded(codes[:, axis], matrix)
                weight = weight[cells] * matrix[codes[cells, axis], fine]
                codes = codes[cells]
                codes[:, axis] = fine
                own[axis] = sizes[axis]
            codes, weight = merged(codes, weight, own)
        return cell_keys(codes, sizes), weight / self.weights.sum()

    def fits(self, places: Sequence[int]) -> bool:
        """Whether a margin is small enough for an array."""
        sizes = [self.sizes[place] for place in places]
        own = _own_sizes(sizes, [self.spread[place] for place in places])
        return math.prod(map(max, sizes, own)) <= MOST_DENSE


def of_table(table: Table) -> Counted:
    """The cells of a table."""
    codes = table.codes.astype(np.int64)
    return Counted.of(codes, table.counts.astype(np.float64), table.shape)


def of_array(array: object, shape: Sequence[int]) -> Counted:
    """Expected or estimated counts, one for each cell of a table of that shape."""
    found = np.asarray(array, np.float64)
    if found.shape != tuple(shape):
        raise DataError(f"the array has shape {found.shape}, the table {tuple(shape)}; match them.")
    if not np.isfinite(found).all():
        raise DataError("the array has counts that are no finite numbers; replace them.")
    places = np.flatnonzero(found)
    codes = np.column_stack([*np.unravel_index(places, found.shape)]).astype(np.int64)
    return Counted(
        np.asfortranarray(codes), found.ravel()[places], tuple(shape), (None,) * found.ndim
    )


def hellinger(p: Floats, q: Floats) -> float:
    """sqrt(1/2 sum (sqrt p - sqrt q)^2), from 0 to 1, of two distributions over the same cells.

    >>> hellinger(np.array([0.5, 0.5]), np.array([0.5, 0.5]))
    0.0
    >>> round(hellinger(np.array([0.36, 0.64]), np.array([0.64, 0.36])), 6)  # 0.2
    0.2
    """
    return min(1.0, math.sqrt(0.5 * float(((np.sqrt(p) - np.sqrt(q)) ** 2).sum())))


def total_variation(p: Floats, q: Floats) -> float:
    """1/2 sum |p - q|, from 0 to 1: the largest difference in the share of any set of cells.

    >>> round(total_variation(np.array([0.36, 0.64]), np.array([0.64, 0.36])), 6)
    0.28
    """
    return min(1.0, 0.5 * float(np.abs(p - q).sum()))


def compared(true: Counted, other: Counted, places: Sequence[int]) -> tuple[float, float]:
    """Hellinger and total variation distance of one margin."""
    dense = true.fits(places) and other.fits(places)
    at, p = true.margin(places, dense=dense)
    to, q = other.margin(places, dense=dense)
    if not dense:
        union = np.union1d(at, to)
        wide = np.zeros((2, len(union)))
        wide[0, np.searchsorted(union, at)], wide[1, np.searchsorted(union, to)] = p, q
        p, q = wide
    return hellinger(p, q), total_variation(p, q)


def _own_sizes(sizes: Sequence[int], spread: Sequence[Floats | None]) -> list[int]:
    """How many codes each variable has, coarse ones counted."""
    return [n if m is None else len(m) for n, m in zip(sizes, spread, strict=True)]


def _expanded(codes: Ints, matrix: Floats) -> tuple[Ints, Ints]:
    """For each cell and fine category that it may be: which cell, which category."""
    rows, fine = np.nonzero(matrix)
    number = np.bincount(rows, minlength=len(matrix))
    first = np.cumsum(number) - number
    times = number[codes]
    cells = np.repeat(np.arange(len(codes)), times)
    within = np.arange(len(cells)) - np.repeat(np.cumsum(times) - times, times)
    return cells, fine[first[codes[cells]] + within]


def merged(codes: Ints, weight: Floats, sizes: Sequence[int]) -> tuple[Ints, Floats]:
    """Distinct cells, and what each weighs."""
    first, place = alike(codes, sizes)
    return codes[first], np.asarray(np.bincount(place, weight, len(first)), np.float64)


def alike(codes: Ints, sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """A row of each distinct cell, and which of them every row is."""
    key: Any = cell_keys(codes, sizes)
    _, first, place = np.unique(key, return_index=True, return_inverse=True)
    return first, place


def cell_keys(codes: Any, sizes: Sequence[int]) -> NDArray[Any]:
    """One key a row, in row-major order of the cells."""
    return keys(codes, sizes)
