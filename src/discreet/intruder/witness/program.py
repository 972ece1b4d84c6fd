"""Moves that keep every released margin, from small linear programs."""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet import solver
from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.release.release import Known, Release
from discreet.solver import Limit
from discreet.table.keys import Codes, lookup
from discreet.table.lattice import closure
from discreet.table.table import Table

MOST_VARIABLES = 62
MOST_DENSE = 22
MOST_ENTRIES = 4_000_000
MOST_SCRATCH = 1 << 22
SLACK = 1e-5
MOST_BROKEN = 1_000  # values that are not whole, up to which these are branched on
NODES = 100


@dataclass(eq=False)
class Moves:
    """Changes of a table that fits a release, within given cells, that leave it fitting.

    The margins are written relative to a reference cell: one row for each released set T and each
    way to differ from the reference on all of T. These rows are independent, and a cell that
    differs from the reference on few variables is in few of them.
    """

    release: Release
    _steps: Ints = field(init=False)
    _sets: Ints = field(init=False)
    _dense: NDArray[np.bool_] = field(init=False)

    def __post_init__(self) -> None:
        shape = self.release.axes.sizes
        if len(shape) > MOST_VARIABLES or math.prod(shape) >= 1 << MOST_VARIABLES:
            raise DataError(
                f"the release has {len(shape)} variables; witnesses are sought in tables of fewer "
                "than 2^62 cells: ask for a release over fewer variables."
            )
        self._steps = np.array([math.prod(shape[i + 1 :]) for i in range(len(shape))], np.int64)
        self._sets = np.array(sorted(closure(self.release.formula.sets)), np.int64)
        self._dense = np.zeros(0, bool)
        if len(shape) <= MOST_DENSE:
            self._dense = np.zeros(1 << len(shape), bool)
            self._dense[self._sets] = True

    def best(
        self,
        codes: Codes,
        table: Table,
        reference: Codes,
        cost: Floats,
        high: Ints,
        *,
        limit: Limit,
    ) -> tuple[Ints | None, int]:
        """The cheapest change of `codes` up to `high`, if the solver ends at whole numbers.

        Also how many steps of the simplex it took.
        """
        entries = self._entries(codes, reference)
        if entries is None:
            return None, 0
        rows, starts = entries
        names, rows = np.unique(rows, return_inverse=True)
        now, nothing = table.lookup(codes), np.zeros(len(names))
        least, most = self._ends(codes, high)
        sums = solver.Sums(starts, rows, nothing, nothing)
        program = solver.Program(len(codes), sums, cost=cost, lower=least - now, upper=most - now)
        for known in self.release.sum_ranges:
            member = np.flatnonzero(matches(codes, self.release, known))
            if len(member):
                s = _sum(table, self.release, known)
                ones = np.ones(len(member))
                program.row(member, ones, least=known.lower - s, most=known.upper - s)
        solution, took = _whole(program, limit)
        if solution is None:
            return None, took
        move = np.rint(solution).astype(np.int64)
        return (move if move.any() else None), took

    def _ends(self, codes: Codes, high: Ints) -> tuple[Ints, Ints]:
        """Of each cell the least count, and the most, up to `high`, by what is known of it."""
        least, most = np.zeros(len(codes), np.int64), np.array(high)
        cells, lower, upper = self.release.cell_ranges
        rows = lookup(cells, self.release.axes.sizes, codes)
        known = rows >= 0
        least[known] = lower[rows[known]]
        most[known] = np.minimum(most[known], upper[rows[known]])
        return least, np.maximum(least, most)

    def _entries(self, codes: Codes, reference: Codes) -> tuple[Ints, Ints] | None:
        from discreet._kernels.walks import released_parts

        starts = np.empty(len(codes) + 1, np.int64)
        rows = np.empty(MOST_ENTRIES, np.int64)
        number = released_parts(
            codes.astype(np.int64),
            reference.astype(np.int64),
            self._steps,
            self._sets,
            self._dense,
            rows,
            starts,
        )
        return None if number < 0 else (rows[:number], starts)

    def moved(self, table: Table, codes: Codes, move: Ints) -> Table | None:
        """The changed table, if it is one: not negative, every margin kept, all known respected."""
        chosen = np.flatnonzero(move)
        codes, move = codes[chosen], move[chosen]
        if not self._keeps_margins(codes, move):
            return None
        if (table.lookup(codes) + move < 0).any():
            return None
        new = Table.from_cells(
            table.variables,
            np.concatenate([table.codes, codes]),
            np.concatenate([table.counts, move]),
        )
        cells, least, most = self.release.cell_ranges
        values = new.lookup(cells)
        fits = bool(((least <= values) & (values <= most)).all()) and all(
            known.lower <= _sum(new, self.release, known) <= known.upper
            for known in self.release.sum_ranges
        )
        return new if fits and not self.release.closed(new.codes).any() else None

    def _keeps_margins(self, codes: Codes, move: Ints) -> bool:
        """Does the move add up to nothing in every cell of every maximal margin?"""
        from discreet._kernels.walks import keeps_sums

        small, large = self._projections
        if not keeps_sums(codes, move, *small):
            return False
        return not any(_margin_changes(codes[:, columns], move) for columns in large)

    @cached_property
    def _projections(self) -> tuple[tuple[Ints, Ints, Ints, Ints], list[list[int]]]:
        """The columns of each maximal margin, with steps and room for its cells; the huge ones."""
        names, shape = self.release.names, self.release.axes.sizes
        places: list[int] = []
        steps: list[int] = []
        large: list[list[int]] = []
        starts, room = [0], 1
        for margin in self.release.formula.margins:
            columns = [names.index(name) for name in margin]
            sizes = [shape[column] for column in columns]
            if math.prod(sizes) > MOST_SCRATCH:
                large.append(columns)
                continue
            places += columns
            steps += [math.prod(sizes[i + 1 :]) for i in range(len(sizes))]
            starts.append(len(places))
            room = max(room, math.prod(sizes))
        arrays = tuple(np.array(a, np.int64) for a in (places, steps, starts))
        return (*arrays, np.zeros(room, np.int64)), large  # type: ignore[return-value]


def matches(codes: Codes, release: Release, known: Known) -> NDArray[np.bool_]:
    """The cells that a known cell, of the table or of a margin, is the sum of."""
    at = dict(known.cell)
    chosen = np.ones(len(codes), bool)
    for place, variable in enumerate(release.variables):
        if variable.name in at:
            chosen &= codes[:, place] == variable.code(at[variable.name])
    return chosen


def _margin_changes(codes: Codes, move: Ints) -> bool:
    _, group = np.unique(codes, axis=0, return_inverse=True)
    sums = np.zeros(len(codes), np.int64)
    np.add.at(sums, group, move)
    return bool(sums.any())


def _sum(table: Table, release: Release, known: Known) -> int:
    return int(table.counts[matches(table.codes, release, known)].sum())


def _whole(program: solver.Program, limit: Limit) -> tuple[Floats | None, int]:
    """A best solution in whole numbers: a vertex, or an integer program of what is not whole."""
    found = program.solve(limit)
    solution, took = found.values, found.iterations
    if solution is None:
        return None, took
    broken = np.abs(solution - np.rint(solution)) > SLACK
    if not broken.any():
        return solution, took
    if broken.sum() > MOST_BROKEN:
        return None, took
    program.fix(np.flatnonzero(~broken), np.rint(solution[~broken]))
    program.whole(np.flatnonzero(broken))
    whole = program.solve(Limit(nodes=NODES, seconds=limit.seconds))
    solution, took = whole.values, took + whole.iterations
    if solution is None or np.abs(solution - np.rint(solution)).max(initial=0) > SLACK:
        return None, took
    return solution, took
