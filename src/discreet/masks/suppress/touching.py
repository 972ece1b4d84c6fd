"""The general way to hide a cell: a change of the whole system that touches little."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.intruder.sums.protection import target_sums
from discreet.masks.suppress.problem import Problem
from discreet.solver import Ended, Limit, Program, Solution, Sums

NEAR = 1e-6
FREE = 1e-3  # of the least price: what touching a hidden cell costs


class Touched(NamedTuple):
    """Cells to hide so that a target moves as far as asked, and the changes of fine cells."""

    hide: Bools
    changes: list[Floats]


class Touching:
    """Changes z = p - n of all fine cells, and u of printed sums; min price (p + n + |u|).

    y = sums z moves no cell whose price is infinite; a target moves as far as asked (the problem of
    Kelly, Golden & Assad 1992 with capacities, one cell at a time).
    """

    def __init__(self, problem: Problem, prices: Floats) -> None:
        from scipy.sparse import csr_matrix, hstack, identity, vstack

        system = problem.system
        self.problem, self.limited = problem, False  # was a program ended early?
        shut = ~np.isfinite(prices)
        rows = problem.printed
        self.columns = np.flatnonzero((rows < 0) | ~shut[rows])
        rows = rows[self.columns]
        base = problem.fine[self.columns]
        below, above = (
            base - problem.least,
            np.minimum(problem.most_of(self.columns) - base, problem.cap),
        )
        shown = rows >= 0
        below[shown] = np.minimum(below[shown], problem.below[rows[shown]])
        above[shown] = np.minimum(above[shown], problem.above[rows[shown]])
        rest = np.flatnonzero(~problem.single)
        matrix = vstack([system.sums[rest], system.agree], format="csr")[:, self.columns]
        sums = rest[~shut[rest]]
        own = csr_matrix(identity(matrix.shape[0], format="csr")[:, np.flatnonzero(~shut[rest])])
        self.rows = np.r_[np.where(shown, rows, -1), sums]
        low = np.r_[below, problem.below[sums]]
        high = np.r_[above, np.minimum(problem.above[sums], problem.cap)]
        half = hstack([matrix, -own], format="csr")
        none = np.zeros(half.shape[0])
        self.height, self.half = half.shape
        self.program = Program(
            2 * self.half,
            Sums.of(csr_matrix(hstack([half, -half], format="csr")), none, none),
            upper=np.maximum(np.r_[high, low], 0.0),
        )
        least = prices[np.isfinite(prices) & (prices > 0)].min(initial=1.0)
        price = np.where(self.rows >= 0, prices[self.rows], 0.0)
        self.price = np.maximum(price, FREE * least)

    def move(self, target: int, *, whole: bool, nodes: int, seconds: float) -> Touched | None:
        """The cells that a target needs; none if it cannot have what is asked."""
        problem, limit = self.problem, Limit(nodes=nodes, seconds=seconds)
        up_need, down_need, width = problem.needs[target]
        share = target_sums(problem.system, problem.targets.rows[[target]])[:, self.columns]
        share = np.asarray(share.todense()).ravel()
        columns = np.flatnonzero(share)
        both = np.r_[columns, self.half + columns]
        weight = np.r_[share[columns], -share[columns]]
        self.program.row(both, weight, least=-problem.cap, most=problem.cap)
        line = self.height
        self.height += 1
        if whole:
            self.program.whole(np.arange(2 * self.half))
        ends = []
        for side in (-1.0, 1.0):
            found = self.program.least(both, side * weight, limit)
            self.limited |= found.ended is Ended.LIMIT
            if found.values is None:
                return None
            end = abs(float(weight @ found.values[both]))
            ends.append(round(end) if whole else end)
        up, down = ends
        if up + NEAR < up_need or down + NEAR < down_need or up + down + NEAR < width:
            return None
        up_goal = max(up_need, min(up, width - down_need))
        down_goal = max(down_need, width - up_goal)
        hide, changes = np.zeros(problem.system.cells, bool), []
        far = max(up_goal, down_goal, 1e-9)
        self.program.price(np.arange(2 * self.half), np.tile(self.price / far, 2))
        for goal, low, high in (
            (up_goal, up_goal, problem.cap),
            (down_goal, -problem.cap, -down_goal),
        ):
            if goal > 0:
                self.program.range(line, low, high)
                found = self.program.solve(limit)
                self.limited |= found.ended is Ended.LIMIT
                if found.values is None:
                    return None
                touched, change = self._touched(found)
                hide |= touched
                changes.append(change)
        self.program.range(line, -problem.cap, problem.cap)
        return Touched(hide, changes)

    def _touched(self, found: Solution) -> tuple[Bools, Floats]:
        assert found.values is not None
        z = found.values[: self.half] - found.values[self.half :]
        hide = np.zeros(self.problem.system.cells, bool)
        rows = self.rows[np.abs(z) > NEAR]
        hide[rows[rows >= 0]] = True
        change = np.zeros(self.problem.system.columns)
        change[self.columns] = z[: len(self.columns)]
        return hide, change
