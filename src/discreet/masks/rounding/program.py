"""The integer programs of controlled rounding."""

from __future__ import annotations

import math
from typing import NamedTuple

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.effort import Clock, Effort
from discreet.masks.rounding.simple import Steps
from discreet.sheets.system import System
from discreet.solver import Ended, Limit, Program, Solution, Sums

NEAR = 1e-6
SMALL = 1_500  # so many free cells are left to the solver as they are
NODES = 500
CORES = (0.1, 0.0, 0.3, math.inf)  # reduced costs in bases, one after the other until one works
DEAR = 1.2  # cells of a higher reduced cost stay as they are
TURNS = 12


class Rounded(NamedTuple):
    """Printed cells in multiples, a bound below the distance, and what had to be allowed."""

    multiples: Floats
    bound: float
    further: int = 0
    fewest: bool = True
    outer: bool = False


class Model:
    """Fine cells in multiples; a printed cell costs b w (rest + (1 - 2 rest) (x - low))."""

    def __init__(self, system: System, steps: Steps, weight: Floats) -> None:
        self.system, self.steps, self.weight = system, steps, weight
        self.slope = weight * steps.base * (1 - 2 * steps.rest)
        self.constant = float((weight * steps.base * steps.rest - self.slope * steps.low).sum())
        self.cost = np.asarray(system.sums.T @ self.slope)
        self.alone = np.diff(system.sums.indptr) == 1

    def solve(self, effort: Effort, clock: Clock) -> Rounded | None:
        """Neighbouring multiples, or with exceptions if there are none."""
        floor, ceiling = self.steps.low, self.steps.high
        program, lower, upper = self._program(floor, ceiling)
        first = program.solve(Limit(seconds=clock.left))
        if first.ended is Ended.IMPOSSIBLE:
            return self._with_exceptions(effort, clock)
        clock.over()
        if first.values is None or first.reduced is None:
            return None
        bound = first.bound
        z = first.values
        if not _whole(z):
            room = upper - lower
            best, bound = self._integer(
                floor, ceiling, z, first.reduced, bound, room, effort, clock
            )
            if best is None:
                return None if clock.stopped else self._with_exceptions(effort, clock)
            z = best
        multiples = np.asarray(self.system.sums @ np.round(z + lower))
        bound = bound + self.constant + float(self.cost @ lower)
        return Rounded(multiples, bound, outer=self.system.outer)

    def _program(self, floor: Floats, ceiling: Floats) -> tuple[Program, Floats, Floats]:
        """Fine cells above their floors; printed fine cells are bounds of columns."""
        from scipy.sparse import vstack

        sums = self.system.sums
        lower, upper = np.zeros(self.system.columns), np.full(self.system.columns, np.inf)
        column = sums.indices[sums.indptr[:-1][self.alone]]
        np.maximum.at(lower, column, floor[self.alone])
        np.minimum.at(upper, column, ceiling[self.alone])
        upper = np.maximum(upper, lower)
        rows = sums[~self.alone]
        at = rows @ lower
        agree = -(self.system.agree @ lower)
        matrix = vstack([rows, self.system.agree], format="csr")
        program = Program(
            self.system.columns,
            Sums.of(
                matrix,
                np.concatenate([floor[~self.alone] - at, agree]),
                np.concatenate([ceiling[~self.alone] - at, agree]),
            ),
            cost=self.cost,
            lower=0.0,
            upper=upper - lower,
            duals=True,
        )
        return program, lower, upper

    def _integer(
        self,
        floor: Floats,
        ceiling: Floats,
        start: Floats,
        reduced: Floats,
        bound: float,
        room: Floats,
        effort: Effort,
        clock: Clock,
    ) -> tuple[Floats | None, float]:
        """All cells at once if they are few, else a core, then half of the table again and again.

        The core are cells of little reduced cost, the others as in the linear program; afterwards
        half of the categories of one variable are free, the other cells as in the best so far.
        """
        free, dear = room > 0, np.abs(reduced) / self.steps.base
        if int(free.sum()) <= SMALL:
            found = self._fixed(floor, ceiling, start, free, effort.of(NODES), clock)
            return found.values, max(bound, found.bound)
        best = None
        for core in CORES:
            nodes = effort.of(NODES if math.isinf(core) else 1)
            found = self._fixed(floor, ceiling, start, free & (dear <= core + NEAR), nodes, clock)
            best = found.values
            bound = max(bound, found.bound) if math.isinf(core) else bound
            if best is not None or clock.over():
                break
        rng = np.random.default_rng(0)
        for turn in range(effort.of(TURNS)):
            if best is None or clock.over():
                break
            keep = free & (dear <= DEAR) & self._half(turn, rng)
            found = self._fixed(floor, ceiling, best, keep, effort.of(1), clock)
            if found.values is not None and self.cost @ found.values < self.cost @ best:
                best = found.values
        return best, bound

    def _half(self, turn: int, rng: np.random.Generator) -> Bools:
        """Fine cells of half of the categories of a variable, in every part."""
        found = np.zeros(self.system.columns, bool)
        for part in self.system.parts:
            axes = [axis for axis, size in enumerate(part.shape) if size > 1] or [0]
            axis = axes[turn % len(axes)]
            size = part.shape[axis]
            chosen = rng.permutation(size) < max(2, size / 2)
            block = found[part.start : part.start + part.size].reshape(part.shape)
            block |= chosen.reshape([-1 if i == axis else 1 for i in range(len(part.shape))])
        return found

    def _fixed(
        self,
        floor: Floats,
        ceiling: Floats,
        start: Floats,
        keep: Bools,
        nodes: int,
        clock: Clock,
    ) -> Solution:
        """All cells but `keep` as in the linear program."""
        program, _, _ = self._program(floor, ceiling)
        rest = np.flatnonzero(~keep)
        program.fix(rest, np.round(start[rest]))
        program.whole(np.flatnonzero(keep))
        return program.solve(Limit(nodes=nodes, seconds=max(clock.left, 1e-3)))

    def _with_exceptions(self, effort: Effort, clock: Clock) -> Rounded | None:
        """As few cells as possible one multiple further, then the least distance with so few.

        A cell one below its lower neighbour costs 2 (b - r) more than the line through its
        neighbours says, one above its upper neighbour 2 r more.
        """
        from scipy.sparse import csr_matrix, hstack, identity, vstack

        system, steps = self.system, self.steps
        cells, columns = system.cells, system.columns
        floor, ceiling = steps.low, steps.high
        down, up = np.minimum(floor, 1.0), np.ones(cells)
        one = identity(cells, format="csr")
        agree = hstack([system.agree, csr_matrix((system.agree.shape[0], 2 * cells))])
        matrix = vstack([hstack([system.sums, one, -one]), agree], format="csr")
        zeros = np.zeros(system.agree.shape[0])
        extra = np.concatenate(
            [
                2 * self.weight * steps.base * (1 - steps.rest),
                2 * self.weight * steps.base * steps.rest,
            ]
        )
        upper = np.concatenate([np.full(columns, np.inf), down, up])
        sums = Sums.of(matrix, np.concatenate([floor, zeros]), np.concatenate([ceiling, zeros]))
        fewest = Program(
            columns + 2 * cells,
            sums,
            cost=np.concatenate([np.zeros(columns), np.ones(2 * cells)]),
            upper=upper,
        )
        every = np.arange(columns + 2 * cells)
        fewest.whole(every)
        limit = Limit(nodes=effort.of(NODES), seconds=max(clock.left, 1e-3))
        first = fewest.solve(limit)
        clock.over()
        if first.values is None:
            return None
        number = round(float(first.values[columns:].sum()))
        least = Program(
            columns + 2 * cells, sums, cost=np.concatenate([self.cost, extra]), upper=upper
        )
        least.row(every[columns:], np.ones(2 * cells), most=number)
        least.whole(every)
        second = least.solve(limit.within(max(clock.left, 1e-3)))
        clock.over()
        z = first.values if second.values is None else second.values
        multiples = np.asarray(system.sums @ np.round(z[:columns]))
        further = int(((multiples < steps.low) | (multiples > steps.high)).sum())
        bound = -np.inf if second.values is None else second.bound + self.constant
        return Rounded(multiples, bound, further, first.ended is Ended.BEST, system.outer)


def _whole(values: Floats) -> bool:
    return bool((np.abs(values - np.round(values)) < NEAR).all())
