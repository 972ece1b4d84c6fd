"""Walks through the tables that fit a release, by its smallest moves."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np

from discreet.arrays import Ints
from discreet.intruder.bounds.opencells import possible
from discreet.release.release import Release
from discreet.table.keys import Codes, keys, unravel
from discreet.table.lattice import bits, children, closure
from discreet.table.table import Table

MOST_CELLS = 1 << 24
MOST_DIGITS = 20
NO_GOAL = -(1 << 62)


@dataclass(eq=False)
class Walks:
    """Moves on the sets S that are not released while all their parts are.

    A released margin misses a variable of S, and along that variable the signs cancel: every such
    move keeps every margin. No move enters a cell that is known to be empty.
    """

    release: Release
    possible: bool = field(init=False)

    def __post_init__(self) -> None:
        shape = self.release.axes.sizes
        self._shape, self._sets = shape, list[int]()
        if math.prod(shape) <= MOST_CELLS and not self.release.ranges:
            self._sets = [
                s
                for s in unreleased(self.release.formula.sets, len(shape))
                if all(shape[p] > 1 for p in bits(s)) and s.bit_count() <= MOST_DIGITS
            ]
        self.possible = bool(self._sets)
        self._closed = np.zeros(0, np.int64)
        if self.possible and self.release.zeros:
            self._closed = np.flatnonzero(~possible(self.release))
        self._members = np.array([p for s in self._sets for p in bits(s)], np.int64)
        ends = np.cumsum([s.bit_count() for s in self._sets])
        # a larger move asks for more filled cells, and is made less often: try it less often
        largest = max((s.bit_count() for s in self._sets), default=0)
        times = [4 ** min(largest - s.bit_count(), 6) for s in self._sets]
        self._urn = np.repeat(np.arange(len(times)), np.array(times, np.int64))
        self._starts = np.concatenate([[0], ends]).astype(np.int64)

    def walk(
        self, table: Table, cells: Codes, tries: int, seed: int
    ) -> tuple[Table, Ints, Ints, int]:
        """Where a walk ends, the least and greatest values of `cells` on it, and its steps."""
        from discreet._kernels.walks import walk

        x = table.dense().ravel()
        low, high = x.copy(), x.copy()
        x[self._closed] = -1
        made = walk(x, *self._moves(), tries, seed, low, high)
        places, at = np.flatnonzero(x > 0), keys(cells, self._shape)
        end = Table(table.variables, unravel(places, self._shape), x[places])
        return end, low[at], high[at], int(made)

    def stride(
        self,
        x: Ints,
        tries: int,
        seed: int,
        *,
        every: int = 0,
        cost: Ints | None = None,
        goal: int = NO_GOAL,
    ) -> Ints:
        """Tables on a walk with long steps from `x`, one a row: every so many tries, or the one at
        its end that has costs of at most `goal`."""
        from discreet._kernels.walks import stride

        x, found = x.copy(), np.zeros((tries // every if every else 1, len(x)), np.int64)
        if not self.possible or not x.any():
            return found[:0]
        x[self._closed] = -1
        cost = np.zeros_like(x) if cost is None else cost
        number = stride(x, *self._moves(), tries, every, seed, cost, goal, found)
        found[:, self._closed] = 0
        return found[:number]

    def dip(self, x: Ints, tries: int, seed: int, *, cost: Ints, goal: int) -> Ints:
        """The table with costs of at most `goal` at the end of a walk that may fall below zero, as
        a row, if it gets there."""
        from discreet._kernels.walks import dip

        x, closed = x.copy(), np.zeros(len(x), bool)
        if not self.possible or not x.any() or not cost.any():
            return x[None][:0]
        closed[self._closed] = True
        reached = dip(x, *self._moves(), tries, seed, cost, goal, closed)
        return x[None][: int(reached)]

    def _moves(self) -> tuple[Ints, Ints, Ints, Ints, Ints]:
        steps = [math.prod(self._shape[i + 1 :]) for i in range(len(self._shape))]
        return (
            np.array(self._shape, np.int64),
            np.array(steps, np.int64),
            self._members,
            self._starts,
            self._urn,
        )


def unreleased(sets: tuple[int, ...], k: int) -> list[int]:
    """The smallest sets that no margin contains.

    >>> unreleased((0b011, 0b110), 3)
    [5]
    """
    released = closure(sets) | {0}
    above = {s | 1 << p for s in released for p in range(k)} - released
    return sorted(s for s in above if all(child in released for child in children(s)))
