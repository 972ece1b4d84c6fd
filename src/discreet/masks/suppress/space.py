"""How far targets can move while published cells stay: one program for many questions."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.intruder.sums.protection import target_sums
from discreet.masks.suppress.problem import Problem
from discreet.masks.suppress.witnesses import Witnesses
from discreet.solver import Ended, Limit, Program, Sums

if TYPE_CHECKING:
    from scipy.sparse import csc_matrix

NEAR = 1e-6  # a whole number, and an end that is reached


class Space:
    """Changes z of the fine cells, within bounds, that leave every published cell as it is.

    Only cells of `universe` can be hidden. Every change that is found is a witness for all targets:
    of whole numbers if the problem counts, or of fractions where these are `enough`.
    """

    def __init__(self, problem: Problem, universe: Bools, *, fractions: bool) -> None:
        from scipy.sparse import csr_matrix, vstack

        system, values = problem.system, problem.values
        self.problem, self.universe, self.fractions = problem, universe.copy(), fractions
        sums = system.sums
        open_ = (problem.printed < 0) | universe[problem.printed]
        self.columns = np.flatnonzero(open_)
        self.row_of = problem.printed[self.columns]  # -1 where no sheet prints a fine cell
        rest = np.flatnonzero(~problem.single)
        matrix = csr_matrix(vstack([sums[rest], system.agree], format="csr")[:, self.columns])
        rows = np.r_[rest, np.full(system.agree.shape[0], -1)]
        kept = np.diff(matrix.indptr) > 0
        self.matrix, self.rows = csr_matrix(matrix[kept]), rows[kept]
        self.by_column = self.matrix.tocsc()
        base = problem.fine[self.columns]
        shown = self.row_of >= 0
        cap = problem.cap
        self.below = base - problem.least
        self.above = np.minimum(problem.most_of(self.columns) - base, cap)
        at = self.row_of[shown]
        self.below[shown] = np.minimum(self.below[shown], values[at] - problem.floor[at])
        self.above[shown] = np.minimum(self.above[shown], problem.ceiling[at] - values[at])
        at = np.maximum(self.rows, 0)
        self.row_below = np.where(self.rows >= 0, values[at] - problem.floor[at], 0.0)
        self.row_above = np.where(self.rows >= 0, problem.ceiling[at] - values[at], 0.0)
        self.shares = csr_matrix(target_sums(system, problem.targets.rows)[:, self.columns])
        self.share_by_column = self.shares.tocsc()
        self.hidden = np.zeros(system.cells, bool)
        self.work = 0  # iterations of the simplex
        none = np.zeros(len(self.rows))
        self.program = Program(
            len(self.columns),
            Sums.of(self.matrix, none, none),
            lower=np.where(shown, 0.0, -self.below),
            upper=np.where(shown, 0.0, self.above),
            primal=True,
            presolve=False,
        )
        self._integer: Program | None = None
        self._slim: Program | None = None
        self.place = np.full(system.cells, -1, np.int64)
        self.place[self.row_of[shown]] = np.flatnonzero(shown)
        self.row_place = np.full(system.cells, -1, np.int64)
        own = self.rows >= 0
        self.row_place[self.rows[own]] = np.flatnonzero(own)

    def show(self, hidden: Bools) -> None:
        """Publish every cell but these."""
        for row in np.flatnonzero(hidden != self.hidden):
            self.turn(int(row), bool(hidden[row]))

    def turn(self, row: int, hide: bool) -> None:
        """Hide or publish one cell."""
        self.hidden[row] = hide
        self._integer = None
        if (at := self.place[row]) >= 0:
            self.program.bound([at], -hide * self.below[[at]], hide * self.above[[at]] + 0.0)
            if self._slim is not None:
                two = np.array([self.above[at], self.below[at]]) * hide
                self._slim.bound([at, len(self.columns) + at], np.zeros(2), two)
        elif (at := self.row_place[row]) >= 0:
            low, high = (self.row_below[at], self.row_above[at]) if hide else (0.0, 0.0)
            for program in filter(None, (self.program, self._slim)):
                program.range(at, -low, high)

    def push(self, targets: Ints, weights: Floats, limit: Limit, into: Witnesses) -> float | None:
        """The change that lowers a weighted sum of targets most: by so much, none if unknown."""
        cost = self._of_targets(targets, weights)
        columns = np.flatnonzero(cost)
        if not len(columns):
            return 0.0
        found = self.program.least(columns, cost[columns], limit)
        self.work += found.iterations + 1
        if found.values is not None:
            self.take(found.values, into)
        return found.bound if found.ended is Ended.BEST else None

    def slide(self, target: int, up: bool, level: float, limit: Limit, into: Witnesses) -> None:
        """A change that moves a target by so much and little else: mostly of whole numbers.

        min price (p + n), p, n >= 0, z = p - n: it begins at z = 0, best but for the target.
        """
        if not len(self.columns):
            return  # nothing can move
        if self._slim is None:
            self._slim = self._small_changes()
        size = len(self.columns)
        at, line = self._column[target], self._line[target]
        if at >= 0:
            ends = np.array([self.above[at], self.below[at]]) * self._open[at]
            if ends[0 if up else 1] < level:
                return
            low = np.array([level, 0.0] if up else [0.0, level])
            self._slim.bound([at, size + at], low, np.where(low > 0, ends, 0.0))
        else:
            self._slim.range(line, level if up else -np.inf, np.inf if up else -level)
        self._slim.forget()
        found = self._slim.solve(limit)
        self.work += found.iterations + 1
        if found.values is not None and found.ended is Ended.BEST:
            self.take(found.values[:size] - found.values[size:], into)
        if at >= 0:
            self._slim.bound([at, size + at], np.zeros(2), ends)
        else:
            self._slim.range(line, -np.inf, np.inf)

    def _small_changes(self) -> Program:
        from scipy.sparse import csr_matrix, hstack, vstack

        alone = np.diff(self.shares.indptr) == 1
        alone[alone] = self.shares.data[self.shares.indptr[:-1][alone]] == 1
        self._column = np.full(len(alone), -1, np.int64)
        self._column[alone] = self.shares.indices[self.shares.indptr[:-1][alone]]
        self._line = len(self.rows) + np.cumsum(~alone) - 1
        half = csr_matrix(vstack([self.matrix, self.shares[~alone]], format="csr"))
        free = np.full(int((~alone).sum()), np.inf)
        ends = [np.r_[end, side * free] for end, side in zip(self._row_range, (-1, 1), strict=True)]
        price = np.where(self.row_of >= 0, self.problem.costs[self.row_of], 0.0)
        price = 1.0 + 2.0 * price / max(1e-9, price[np.isfinite(price)].max(initial=0.0))
        open_ = self._open
        return Program(
            2 * len(self.columns),
            Sums.of(csr_matrix(hstack([half, -half], format="csr")), *ends),
            cost=np.tile(np.where(np.isfinite(price), price, 1.0), 2),
            upper=np.maximum(np.r_[self.above * open_, self.below * open_], 0.0),
            presolve=False,
        )

    @property
    def _row_range(self) -> tuple[Floats, Floats]:
        hidden = (self.rows >= 0) & self.hidden[np.maximum(self.rows, 0)]
        low = np.where(hidden, -self.row_below, 0.0)
        return low, np.where(hidden, self.row_above, 0.0)

    def push_whole(
        self, target: int, up: bool, enough: float, limit: Limit, into: Witnesses
    ) -> bool:
        """The same in whole numbers, for one target; true unless the limit ended it."""
        if not len(self.columns):
            return True  # nothing can move
        if self._integer is None:
            self._integer = Program(
                len(self.columns),
                Sums.of(self.matrix, *self._row_range),
                lower=np.where(self._open, -self.below, 0.0),
                upper=np.where(self._open, self.above, 0.0),
                gap=0.999,
            )
            self._integer.whole(np.arange(len(self.columns)))
        part = slice(self.shares.indptr[target], self.shares.indptr[target + 1])
        columns, cost = self.shares.indices[part], self.shares.data[part]
        found = self._integer.least(columns, -cost if up else cost, limit, enough=-enough)
        self.work += found.iterations + 10
        if found.values is not None:
            self.take(found.values, into)
        return found.ended is not Ended.LIMIT

    @property
    def _open(self) -> Bools:
        return np.asarray((self.row_of < 0) | self.hidden[np.maximum(self.row_of, 0)])

    def take(self, z: Floats, into: Witnesses) -> None:
        """Note a change: each part of it that hangs together is a change by itself."""
        z = np.where(np.abs(z) < NEAR, 0.0, z)
        support = np.flatnonzero(z)
        if not len(support):
            return
        for part in self._components(support):
            x = z[part]
            nearest = np.round(x)
            if self.problem.exact:
                if np.abs(x - nearest).max() < NEAR:
                    x = nearest
                elif not self.fractions:
                    continue
            if self.fits(part, x):
                self.note(part, x, into)

    def fits(self, part: Ints, x: Floats) -> bool:
        """Is this a change within all bounds, of hidden cells alone?"""
        near = 0.0 if self.problem.exact and (x == np.round(x)).all() else NEAR
        rows = self.row_of[part]
        if not (self.hidden[rows] | (rows < 0)).all():
            return False
        if (x < -self.below[part] - near).any() or (x > self.above[part] + near).any():
            return False
        moved = self._of_columns(self.by_column, part, x)
        at = np.flatnonzero(np.abs(moved) > near)
        own = self.rows[at]
        if not ((own >= 0) & self.hidden[np.maximum(own, 0)]).all():
            return False
        within = (moved[at] >= -self.row_below[at] - near) & (
            moved[at] <= self.row_above[at] + near
        )
        return bool(within.all())

    def note(self, part: Ints, x: Floats, into: Witnesses) -> None:
        rows = self.row_of[part]
        moved = self._of_columns(self.by_column, part, x)
        inner = self.rows[np.abs(moved) > NEAR]
        shift = self._of_columns(self.share_by_column, part, x)
        targets = np.flatnonzero(np.abs(shift) > NEAR)
        whole = self.problem.exact and bool((x == np.round(x)).all())
        into.add(np.r_[rows[rows >= 0], inner[inner >= 0]], targets, shift[targets], whole)

    def _of_columns(self, matrix: csc_matrix, part: Ints, x: Floats) -> Floats:
        from discreet._kernels.suppression import weighed

        found: Floats = weighed(
            matrix.indptr, matrix.indices, matrix.data, part, x, matrix.shape[0]
        )
        return found

    def _of_targets(self, targets: Ints, weights: Floats) -> Floats:
        from discreet._kernels.suppression import weighed

        shares = self.shares
        found: Floats = weighed(
            shares.indptr, shares.indices, shares.data, targets, weights, shares.shape[1]
        )
        return found

    def _components(self, support: Ints) -> list[Ints]:
        from discreet._kernels.suppression import hanging_together

        matrix = self.by_column
        label = hanging_together(matrix.indptr, matrix.indices, support, matrix.shape[0])
        order = np.argsort(label, kind="stable")
        cuts = np.flatnonzero(np.diff(label[order])) + 1
        return [support[part] for part in np.split(order, cuts)]
