"""Where each node of the shuttle's lattice lies in memory."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints

LANES = 32
MOST_ROWS = 2_200


@dataclass(frozen=True)
class Layout:
    """Nodes are cells of the table with a further category, the sum, on every axis.

    A few axes, `inner`, lie inside a record of LANES nodes; the others number the records, and the
    last of them, `split` on, lie in one chunk that stays in cache.
    """

    shape: tuple[int, ...]
    inner: tuple[int, ...]
    outer: tuple[int, ...]
    split: int

    @classmethod
    def of(cls, shape: tuple[int, ...]) -> Layout:
        radices = [size + 1 for size in shape]
        inner = _best_product(radices, LANES)
        outer = tuple(axis for axis in range(len(shape)) if axis not in inner)
        split, rows = len(outer), 1
        while split and rows * radices[outer[split - 1]] <= MOST_ROWS:
            split -= 1
            rows *= radices[outer[split]]
        return cls(shape, inner, outer, split)

    @cached_property
    def radices(self) -> tuple[int, ...]:
        return tuple(size + 1 for size in self.shape)

    @property
    def nodes(self) -> int:
        return math.prod(self.radices)

    @cached_property
    def size(self) -> int:
        """Nodes in a record."""
        return math.prod(self.radices[axis] for axis in self.inner)

    @cached_property
    def records(self) -> int:
        return math.prod(self.radices[axis] for axis in self.outer)

    @cached_property
    def chunk(self) -> int:
        """Records in a chunk."""
        return math.prod(self.radices[axis] for axis in self.outer[self.split :])

    def steps(self, axes: tuple[int, ...]) -> Ints:
        """How far apart neighbours along each of `axes` lie, the last axis fastest."""
        radices = [self.radices[axis] for axis in axes]
        return np.array([math.prod(radices[place + 1 :]) for place in range(len(axes))], np.int64)

    def counts(self, axes: tuple[int, ...]) -> Ints:
        return np.array([self.shape[axis] for axis in axes], np.int64)

    @cached_property
    def _step(self) -> dict[int, tuple[int, int]]:
        """Of each axis, how far apart its neighbours lie in records and in lanes."""
        outer, inner = self.steps(self.outer).tolist(), self.steps(self.inner).tolist()
        far = {axis: (step, 0) for axis, step in zip(self.outer, outer, strict=True)}
        return far | {axis: (0, step) for axis, step in zip(self.inner, inner, strict=True)}

    def place(self, nodes: dict[int, Any]) -> tuple[Any, Any]:
        """Record and lane of nodes given by the code on each axis; other axes are summed over."""
        record: Any = self.records - 1
        lane: Any = self.size - 1
        for axis, code in nodes.items():
            below = code - self.shape[axis]
            far, near = self._step[axis]
            if far:
                record = record + below * far
            else:
                lane = lane + below * near
        return record, lane

    def grid(self, side: NDArray[Any]) -> NDArray[Any]:
        """The ends of all nodes, records x lanes, as an array with the table's axes."""
        axes = self.outer + self.inner
        array = side[:, : self.size].reshape([self.radices[axis] for axis in axes])
        return array.transpose(np.argsort(axes))


def _best_product(radices: list[int], most: int) -> tuple[int, ...]:
    """Axes whose radices multiply to as much as possible, at most `most`."""
    best: dict[int, tuple[int, ...]] = {1: ()}
    for axis, radix in enumerate(radices):
        for product, axes in list(best.items()):
            if product * radix <= most:
                best.setdefault(product * radix, (*axes, axis))
    return best[max(best)]
