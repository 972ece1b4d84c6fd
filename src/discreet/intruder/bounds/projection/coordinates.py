"""Tables in a basis where a set of released margins is a set of coordinates."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from operator import mul
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.release.release import Release
from discreet.table.lattice import closure
from discreet.table.table import Table

Reals = NDArray[Any]


def helmert(size: int) -> Ints:
    """Whole, orthogonal rows, the first of them constant.

    >>> helmert(3)
    array([[ 1,  1,  1],
           [ 1, -1,  0],
           [ 1,  1, -2]])
    """
    rows = np.ones((size, size), np.int64)
    for k in range(1, size):
        rows[k, k], rows[k, k + 1 :] = -k, 0
    return rows


@dataclass(frozen=True, eq=False)
class Coordinates:
    """Products of one row of a Helmert matrix an axis; margins are sets of axes.

    A table's coordinate depends on the margin over the axes with a row that is not constant, and
    on nothing else. So the tables with given margins are those with given coordinates there, and
    the nearest of them to any table has its other coordinates.
    """

    shape: tuple[int, ...]
    margins: tuple[tuple[int, ...], ...]

    @classmethod
    def of(cls, release: Release) -> Coordinates:
        names = release.names
        margins = (tuple(names.index(name) for name in table.names) for table in release.tables)
        return cls(release.axes.sizes, tuple(margins))

    @cached_property
    def split(self) -> int:
        """How many axes number the rows; the others number the columns."""
        split = 0
        while math.prod(self.shape[:split]) ** 2 < math.prod(self.shape):
            split += 1
        return split

    @property
    def rows(self) -> int:
        return math.prod(self.shape[: self.split])

    @property
    def columns(self) -> int:
        return math.prod(self.shape[self.split :])

    @property
    def cost(self) -> int:
        """Multiplications of a step."""
        return math.prod(self.shape) * (self.rows + self.columns)

    @cached_property
    def released(self) -> NDArray[np.bool_]:
        """Which coordinates the margins tell."""
        inside = np.zeros(1 << len(self.shape), bool)
        inside[[0, *closure(sum(1 << axis for axis in margin) for margin in self.margins)]] = True
        return inside[self._axes]

    @cached_property
    def _axes(self) -> Ints:
        """Of each coordinate, the axes whose row is not constant."""
        axes = np.zeros(self.shape, np.int64)
        for axis, size in enumerate(self.shape):
            axes |= self._beside((np.arange(size) > 0).astype(np.int64) << axis, axis)
        return axes

    @cached_property
    def norms(self) -> NDArray[np.float64]:
        """The squared length of each product."""
        found = np.ones(self.shape)
        for axis, size in enumerate(self.shape):
            found *= self._beside((helmert(size) ** 2).sum(1), axis)
        return found

    def _beside(self, values: Reals, axis: int) -> Reals:
        return values.reshape([-1 if a == axis else 1 for a in range(len(self.shape))])

    def normal(self, axes: Sequence[int]) -> Reals:
        """The rows of some axes at length 1, padded to the largest."""
        most = max((self.shape[axis] for axis in axes), default=1)
        found = np.zeros((max(len(axes), 1), most, most))
        for i, axis in enumerate(axes):
            rows = helmert(self.shape[axis]).astype(float)
            found[i, : len(rows), : len(rows)] = rows / np.linalg.norm(rows, axis=1)[:, None]
        return found

    def analysed(self, table: Reals) -> Reals:
        """The coordinates of a table."""
        return along(table, [helmert(size) for size in self.shape])

    def composed(self, weights: Reals) -> Reals:
        """The sum of the products, each with its weight."""
        return along(weights, [helmert(size).T for size in self.shape])

    def kept(self, table: Reals) -> Reals:
        """The part of a table that its margins tell."""
        return self.composed(np.where(self.released, self.analysed(table) / self.norms, 0.0))

    def told(self, release: Release) -> Ints:
        """The coordinates that a release tells, and 0 for the others."""
        known = np.zeros(self.shape, np.int64)
        for table, axes in zip(release.tables, self.margins, strict=True):
            self._tell(table, axes, known)
        return known

    def _tell(self, table: Table, axes: tuple[int, ...], known: Ints) -> None:
        dense = np.asarray(table.dense(), np.int64).transpose(np.argsort(axes))
        places = tuple(slice(None) if a in axes else 0 for a in range(len(self.shape)))
        known[places] = along(dense, [helmert(size) for size in dense.shape])

    def grown(
        self, tables: Sequence[Table], names: Sequence[str], known: Ints
    ) -> tuple[Coordinates, Ints]:
        """With further margins; `names` are those of the axes."""
        margins = [tuple(names.index(name) for name in table.names) for table in tables]
        more, known = Coordinates(self.shape, (*self.margins, *margins)), known.copy()
        for table, axes in zip(tables, margins, strict=True):
            self._tell(table, axes, known)
        return more, known

    def by_margin(self, weights: Reals) -> dict[int, float]:
        """How much of a sum of products lies in each released set of axes: squared length."""
        size = np.bincount(
            self._axes.ravel(), (weights**2 * self.norms).ravel(), 1 << len(self.shape)
        )
        return {int(s): float(size[s]) for s in np.flatnonzero(size)}


def along(values: Reals, matrices: Sequence[Ints]) -> Reals:
    """Multiply each axis by its matrix."""
    for axis, matrix in enumerate(matrices):
        parts = np.moveaxis(values, axis, 0)
        if len(matrix) == 2:
            turned = np.stack([parts[0] + parts[1], parts[0] - parts[1]])
        else:
            turned = np.tensordot(matrix, parts, 1)
        values = np.moveaxis(turned, 0, axis)
    return np.ascontiguousarray(values).reshape(values.shape)


def dot(left: Ints, right: Ints) -> int:
    """The sum of products of whole numbers, exactly."""
    some = np.flatnonzero(left)
    left, right = left.ravel()[some], right.ravel()[some]
    # pieces of the left numbers, so small that no sum of products overflows
    bits = 62 - int(np.abs(right).max(initial=0)).bit_length() - len(some).bit_length()
    if bits < 8:
        return sum(map(mul, left.tolist(), right.tolist()))
    right, left = np.where(left < 0, -right, right), np.abs(left)
    pieces = (left >> at & ((1 << bits) - 1) for at in range(0, 63, bits))
    return sum(int(piece @ right) << bits * i for i, piece in enumerate(pieces))
