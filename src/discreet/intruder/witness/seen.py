"""Tables that fit a release, found quickly from one that does: what they show needs no program."""

from __future__ import annotations

import math
from collections.abc import Iterator
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.intruder.bounds.opencells import possible
from discreet.intruder.witness.walk import Walks
from discreet.release.release import Release
from discreet.table.keys import Codes, keys
from discreet.table.sums import Lattice
from discreet.table.table import Table

MOST_CELLS, MOST_SUMS = 1 << 12, 1 << 16  # of a table
MOST_PEOPLE = 1 << 40  # a million times as many is a whole number still
NOTED, LEARNED = 512, 64  # tables of the first walk, and of one from a table that was told
APART = 2  # tries for each cell from one of them to the next
TRIES = 50  # for each cell, to reach a goal
BLOCK = 1 << 19  # sums at once


class Seen:
    """Tables of whole numbers that fit a release; each was checked to give every released count.

    They are those of a walk from `start`, and are the same whenever they are looked for: how far is
    walked is counted in tries, not in seconds.
    """

    def __init__(self, release: Release, start: Table) -> None:
        self.release = release
        self.shape = release.axes.sizes
        self.lattice = Lattice(self.shape)
        self.tables = np.zeros((0, math.prod(self.shape)), np.int64)
        self._walks = Walks(release)
        self._closed = np.flatnonzero(~possible(release))
        x = start.margin(release.names).dense().ravel().astype(np.int64)
        self._add(x[None])
        if len(self.tables):
            every = APART * len(x)
            self._add(self._walks.stride(x, NOTED * every, 0, every=every))

    @classmethod
    def of(cls, release: Release, start: Table) -> Seen | None:
        """None where the table is too large, more is known than zeros, or `start` does not fit."""
        shape = release.axes.sizes
        large = math.prod(shape) > MOST_CELLS or Lattice(shape).size > MOST_SUMS
        if large or release.ranges or start.total > MOST_PEOPLE:
            return None
        found = cls(release, start)
        return found if len(found.tables) else None

    def sums(self) -> Iterator[Ints]:
        """Every sum of the tables, some tables at a time."""
        size = max(1, BLOCK // self.lattice.size)
        for first in range(0, len(self.tables), size):
            yield self.lattice.sums(self.tables[first : first + size])

    def ends(self, names: tuple[str, ...], codes: Codes) -> tuple[Ints, Ints]:
        """The least and the greatest count of cells of a margin."""
        axes = self.release.axes.places(names)
        others = tuple(1 + a for a in range(len(self.shape)) if a not in axes)
        margin = self.tables.reshape(len(self.tables), *self.shape).sum(others)
        order = np.argsort(axes)
        at = keys(codes[:, order], [self.shape[axes[a]] for a in order])
        found = margin.reshape(len(self.tables), -1)[:, at]
        return found.min(0), found.max(0)

    def inside(self, names: tuple[str, ...], code: Codes) -> NDArray[np.bool_]:
        """The cells that a cell of a margin is the sum of."""
        found = np.zeros(self.shape, bool)
        at = {self.release.names.index(name): int(c) for name, c in zip(names, code, strict=True)}
        found[tuple(at.get(axis, slice(None)) for axis in range(len(self.shape)))] = True
        return found.ravel()

    def reach(self, cost: Ints, goal: int, effort: int = 1) -> bool:
        """Has a table costs of at most `goal`? One is looked for by steps that lead there."""
        value = self.tables @ cost
        if value.min() <= goal:
            return True
        tries, nearest = TRIES * len(cost), np.argsort(value, kind="stable")
        for turn in range(effort):
            x = self.tables[nearest[turn % len(nearest)]]
            if self._add(self._walks.stride(x, tries << turn, turn, cost=cost, goal=goal)):
                return True
            if self._add(self._walks.dip(x, tries << turn, turn, cost=cost, goal=goal)):
                return True
        return False

    def learn(self, codes: Codes, counts: Ints) -> None:
        """A table that was found otherwise, by its cells, and those around it."""
        x = np.zeros(self.tables.shape[1], np.int64)
        x[keys(codes, self.shape)] = counts
        if self._add(x[None]):
            every, seed = APART * len(x), len(self.tables)
            self._add(self._walks.stride(x, LEARNED * every, seed, every=every))

    def _add(self, tables: Ints) -> int:
        """Keep those that fit; how many do?"""
        if not len(tables):
            return 0
        good = self._fit(tables)
        self.tables = np.concatenate([self.tables, tables[good]])
        return int(good.sum())

    def _fit(self, tables: Ints) -> NDArray[np.bool_]:
        good = (tables >= 0).all(1) & (tables[:, self._closed] == 0).all(1)
        arrays = tables.reshape(len(tables), *self.shape)
        for others, counts in self._published:
            good &= (arrays.sum(others).reshape(len(tables), -1) == counts).all(1)
        return np.asarray(good)

    @cached_property
    def _published(self) -> list[tuple[tuple[int, ...], Ints]]:
        """Of each released table the axes that it is summed over, and its counts."""
        found = []
        for table in self.release.tables:
            axes = self.release.axes.places(table.names)
            others = tuple(1 + a for a in range(len(self.shape)) if a not in axes)
            found.append((others, table.dense().transpose(np.argsort(axes)).ravel()))
        return found
