"""Bounds by linear programs over the cells that the margins leave open."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet import solver
from discreet.arrays import Ints
from discreet.effort import UNLIMITED, Clock
from discreet.errors import InconsistentRelease
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW
from discreet.look.progress import track
from discreet.solver import Limit
from discreet.table.keys import Codes, keys

if TYPE_CHECKING:
    from discreet.intruder.bounds.integer import IntegerProgram
    from discreet.intruder.witness.seen import Seen

SLACK = 1e-5
NOTHING = 1e-9
PATIENCE = 5
LEAST = -(1 << 62)  # a bound that says nothing
EFFORT = 3  # walks to where a linear program says that tables might be


@dataclass(eq=False)
class Program:
    """min and max of sums of cells over all tables that fit a release.

    One program over the open cells; only the objective changes, so the primal simplex goes on
    from the last vertex. A vertex that is a table of integers proves whatever bound it attains, for
    every target at once; where it is none, branch and bound decides if asked to.
    """

    cells: OpenCells
    model: solver.Program | None = None
    whole: IntegerProgram | None = field(default=None, repr=False)

    def bounds(
        self,
        names: tuple[str, ...],
        targets: Codes,
        least: Ints,
        most: Ints,
        *,
        branch: Limit | None = None,
        clock: Clock = UNLIMITED,
        seen: Seen | None = None,
    ) -> tuple[Ints, Ints, Ints, Ints, Ints, Ints]:
        """lower, upper, least and most seen, least and most of any vertex, of the sum of the cells
        that agree with each target.

        `least` and `most` are bounds that are known to hold. What is not solved when the clock
        stops keeps them. Where no table was seen at an end, one is looked for from those that were
        `seen` otherwise; then branch and bound gets `branch` for it, and is given up after a few
        in a row that it did not decide.
        """
        targets, first, inverse = np.unique(targets, axis=0, return_index=True, return_inverse=True)
        search = _Search(self, self.cells.group(names, targets), least[first], most[first])
        sides = [(place, sign) for place in range(len(targets)) for sign in (1, -1)]
        for place, sign in track(sides, "linear programs"):
            if not search.known(place, sign) and not clock.over():
                search.relax(place, sign, clock)
        if not branch:
            sides = []
        patience = PATIENCE if branch and branch.finite else len(sides)
        for place, sign in track(sides, "integer programs"):
            if search.proven(place, sign) or clock.over():
                continue
            if seen is not None:
                search.walk(place, sign, seen)
            if branch and not search.proven(place, sign) and patience:
                search.branch(place, sign, branch.within(clock.left))
                patience = PATIENCE if search.proven(place, sign) else patience - 1
        ends = (search.lower, search.upper, search.low_seen, search.high_seen, *search.fitted())
        return tuple(end[inverse] for end in ends)  # type: ignore[return-value]

    def optimum(
        self, member: Ints, sign: int, clock: Clock = UNLIMITED
    ) -> tuple[float, NDArray[np.float64]]:
        """Largest (sign 1) or smallest (-1) sum of the cells, and the vertex; none if stopped."""
        value, vertex = self._least(member, np.full(len(member), -float(sign)), clock)
        return -sign * value, vertex

    def __len__(self) -> int:
        return len(self.cells.codes)

    def minimum(self, cost: Ints, clock: Clock = UNLIMITED) -> tuple[int, Ints | None]:
        """A bound on the least sum of whole costs over all tables, and a table if one was seen.

        `LEAST` and none where the clock stops it.
        """
        columns = np.flatnonzero(cost)
        value, vertex = self._least(columns, cost[columns].astype(np.float64), clock)
        if not math.isfinite(value):
            return LEAST, None
        return math.ceil(value - SLACK), self.cells.as_table(vertex)

    def _least(
        self, columns: Ints, cost: NDArray[np.float64], clock: Clock = UNLIMITED
    ) -> tuple[float, NDArray[np.float64]]:
        if self.model is None:
            self.model = fitting(self.cells)
        found = self.model.least(columns, cost, Limit().within(clock.left))
        if found.values is None and not clock.over():
            # from where the last program ended, the simplex may lose its way: begin anew
            self.model = fitting(self.cells)
            found = self.model.least(columns, cost, Limit().within(clock.left))
        if found.ended is solver.Ended.LIMIT and clock.over():
            return -math.inf, np.zeros(0)
        if found.values is None:
            raise InconsistentRelease(
                "no table fits the release: its margins and what is known of single cells "
                "contradict each other."
            )
        return found.bound, found.values

    def integer_program(self) -> IntegerProgram:
        from discreet.intruder.bounds.integer import IntegerProgram

        if self.whole is None:
            self.whole = IntegerProgram.build(self.cells)
        return self.whole


class _Search:
    """Bounds of the targets so far, and the extreme values seen in tables and in vertices."""

    def __init__(self, program: Program, group: Ints, least: Ints, most: Ints) -> None:
        self.program, self.group, self.count = program, group, len(most)
        order = np.argsort(group, kind="stable")
        cuts = np.searchsorted(group[order], np.arange(self.count + 1))
        self.members = [order[cuts[g] : cuts[g + 1]] for g in range(self.count)]
        empty = np.diff(cuts) == 0
        self.lower, self.upper = np.where(empty, 0, least), np.where(empty, 0, most)
        self.low_seen = np.where(empty, 0, NONE_LOW)
        self.high_seen = np.where(empty, 0, NONE_HIGH)
        self.low_vertex = np.where(empty, 0.0, np.inf)
        self.high_vertex = np.where(empty, 0.0, -np.inf)
        self.noted = 0

    def known(self, place: int, sign: int) -> bool:
        """Can the linear program give no better bound?"""
        if sign > 0:
            return bool(self.high_vertex[place] >= self.upper[place] - NOTHING)
        return bool(self.low_vertex[place] <= self.lower[place] + NOTHING)

    def proven(self, place: int, sign: int) -> bool:
        if self.lower[place] == self.upper[place]:
            return True
        seen, end = (self.high_seen, self.upper) if sign > 0 else (self.low_seen, self.lower)
        return bool(seen[place] == end[place])

    def relax(self, place: int, sign: int, clock: Clock) -> None:
        value, vertex = self.program.optimum(self.members[place], sign, clock)
        if not math.isfinite(value):
            return  # stopped
        sums = np.bincount(self.group, vertex, self.count + 1)[:-1]
        np.minimum(self.low_vertex, sums, out=self.low_vertex)
        np.maximum(self.high_vertex, sums, out=self.high_vertex)
        bound = math.floor(value + SLACK) if sign > 0 else math.ceil(value - SLACK)
        self._note(place, sign, bound, self.program.cells.as_table(vertex))

    def walk(self, place: int, sign: int, seen: Seen) -> None:
        """Tables that were seen, and one at the end of the target if steps lead there."""
        codes = self.program.cells.codes
        at = keys(codes, seen.shape)
        cost = np.zeros(seen.tables.shape[1], np.int64)
        cost[at[self.members[place]]] = -sign
        end = int(self.upper[place] if sign > 0 else self.lower[place])
        seen.reach(cost, -sign * end, EFFORT)
        order = np.argsort(self.group, kind="stable")
        inside = [row for row, members in enumerate(self.members) if len(members)]
        starts = np.searchsorted(self.group[order], inside)
        fresh = seen.tables[self.noted :][:, at[order]]
        self.noted = len(seen.tables)
        if len(fresh) and inside:
            # cells of no target come last
            fresh = fresh[:, : int((self.group < self.count).sum())]
            sums = np.add.reduceat(fresh, starts, axis=1)
            self.low_seen[inside] = np.minimum(self.low_seen[inside], sums.min(0))
            self.high_seen[inside] = np.maximum(self.high_seen[inside], sums.max(0))

    def branch(self, place: int, sign: int, limit: Limit) -> None:
        solver = self.program.integer_program()
        self._note(place, sign, *solver.optimum(self.members[place], sign, limit))

    def fitted(self) -> tuple[Ints, Ints]:
        """The vertices' extreme values, rounded inwards; a table that was seen is one too."""
        low, high = self.low_seen.copy(), self.high_seen.copy()
        met = self.low_vertex <= self.high_vertex
        low[met] = np.minimum(low[met], np.ceil(self.low_vertex[met] - SLACK)).astype(np.int64)
        high[met] = np.maximum(high[met], np.floor(self.high_vertex[met] + SLACK)).astype(np.int64)
        return low, high

    def _note(self, place: int, sign: int, bound: int, table: Ints | None) -> None:
        if sign > 0:
            self.upper[place] = min(self.upper[place], bound)
        else:
            self.lower[place] = max(self.lower[place], bound)
        if self.lower[place] == self.upper[place]:
            # the only value that is left is that of every table
            self.low_seen[place] = self.high_seen[place] = self.lower[place]
        if table is not None:
            sums = np.bincount(self.group, table, self.count + 1)[:-1].astype(np.int64)
            np.minimum(self.low_seen, sums, out=self.low_seen)
            np.maximum(self.high_seen, sums, out=self.high_seen)


def fitting(cells: OpenCells) -> solver.Program:
    """The tables that fit, as a program without an objective."""
    rows = cells.independent
    order = np.lexsort((rows.row, rows.cell))
    start = np.searchsorted(rows.cell[order], np.arange(len(cells.codes) + 1))
    sums = solver.Sums(start, rows.row[order], rows.floor, rows.ceiling)
    return solver.Program(len(cells.codes), sums, primal=True, gap=0.99)
