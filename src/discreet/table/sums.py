"""Every sum of a table over some of its axes, side by side."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Ints


@dataclass(frozen=True, eq=False)
class Lattice:
    """Every sum of a table: on each axis the categories, then their sum."""

    shape: tuple[int, ...]

    @property
    def size(self) -> int:
        return math.prod(n + 1 for n in self.shape)

    @cached_property
    def nodes(self) -> Ints:
        return np.arange(self.size).reshape([n + 1 for n in self.shape])

    def inside(self, margin: int) -> Ints:
        """The nodes of a margin and of all within it."""
        return self.nodes[
            tuple(slice(None) if margin >> a & 1 else n for a, n in enumerate(self.shape))
        ].ravel()

    def cells(self, margin: int) -> Ints:
        """The nodes that are cells of a margin, in its shape."""
        return self.nodes[
            tuple(slice(n) if margin >> a & 1 else n for a, n in enumerate(self.shape))
        ]

    @cached_property
    def lines(self) -> tuple[Ints, Ints, Ints]:
        """Of every sum: its first part, how far apart the parts are, how many they are."""
        starts, strides, sizes = [], [], []
        for axis, n in enumerate(self.shape):
            first = np.take(self.nodes, 0, axis).ravel()
            starts.append(first)
            strides.append(np.full(len(first), self.nodes.strides[axis] // self.nodes.itemsize))
            sizes.append(np.full(len(first), n))
        return np.concatenate(starts), np.concatenate(strides), np.concatenate(sizes)

    def sums(self, tables: Ints) -> Ints:
        """Every node of each table."""
        found = tables.reshape(len(tables), *self.shape)
        for axis in range(1, found.ndim):
            found = np.concatenate([found, found.sum(axis, keepdims=True, dtype=found.dtype)], axis)
        return found.reshape(len(tables), self.size)
