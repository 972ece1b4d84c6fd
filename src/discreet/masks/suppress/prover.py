"""What protects so far: tables by cubes and programs, against everybody."""

from __future__ import annotations

from functools import cached_property

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.effort import Clock, Effort
from discreet.masks.suppress.cubes import Cubes
from discreet.masks.suppress.problem import Problem
from discreet.masks.suppress.space import Space
from discreet.masks.suppress.witnesses import Witnesses
from discreet.solver import Limit

CUBES = 50_000  # that are all tried for one cell
STARTS = 6  # of a search among more
NODES = 100  # of an integer program for one target
FEW = 12  # targets that are asked about one by one
LARGE = 500  # columns
NEAR = 1e-6


class Prover:
    """A pattern, and the tables that were found to fit it: its witnesses."""

    def __init__(
        self,
        problem: Problem,
        rng: np.random.Generator,
        *,
        fractions: bool,
        effort: Effort,
        clock: Clock,
    ) -> None:
        self.problem, self.rng, self.fractions = problem, rng, fractions
        self.effort, self.clock = effort, clock
        self.price = problem.costs  # that guide the search
        self.hidden = problem.costs == 0
        self.targets = len(problem.targets)
        self.witnesses = Witnesses(self.targets)
        self.fragile = np.zeros(self.targets)
        self.universe = self.hidden.copy()
        self.space: Space | None = None

    @cached_property
    def cubes(self) -> Cubes:
        return Cubes(self.problem.system)

    @cached_property
    def printed(self) -> Ints:
        """The targets that are printed cells."""
        return np.flatnonzero(self.problem.targets.rows < self.problem.system.cells)

    def cover(
        self, targets: Ints, needs: Floats, costs: Floats, note: bool = False
    ) -> tuple[Bools, Ints]:
        """Cheapest cubes through targets: which cells they hide, which targets have none."""
        from discreet._kernels.suppression import cover

        problem = self.problem
        rows = problem.targets.rows[targets]
        first, starts, options = self.cubes.through(rows)
        price = costs.copy()
        variables = starts.shape[1] - 1
        draws = self.rng.integers(0, 2**31, (self.effort.of(STARTS), variables))
        found, lost = cover(
            rows, first, starts, options, self.cubes.layout, price, problem.below, problem.above,
            np.ascontiguousarray(needs), np.zeros((problem.system.cells, 3)),
            self.effort.of(CUBES), draws,
        )  # fmt: skip
        if note and self.space is not None:
            for cube in found[found[:, 0] >= 0]:
                self._note(cube)
        return (price == 0) & (costs > 0) & np.isfinite(costs), targets[lost]

    def _note(self, cube: Ints) -> None:
        """The two tables at the ends of a cube."""
        space, problem = self.space, self.problem
        assert space is not None
        rows, signs = self.cubes.rows(cube)
        place = space.place[rows]
        inner = place < 0
        if not (self.hidden[rows].all() and (space.row_place[rows[inner]] >= 0).all()):
            return
        below, above = problem.below[rows], problem.above[rows]
        columns, z = place[~inner], signs[~inner].astype(float)
        for side in (1, -1):
            far = np.where(signs == side, above, below).min()
            if far > 0:
                part = columns[np.argsort(columns)]
                x = (side * far * z)[np.argsort(columns)]
                if space.fits(part, x):
                    space.note(part, x, self.witnesses)

    def open_space(self) -> Space:
        """The program over what may be hidden by now."""
        if self.space is None or (self.hidden & ~self.space.universe).any():
            self.universe |= self.hidden
            work = 0 if self.space is None else self.space.work
            self.space = Space(self.problem, self.universe, fractions=self.fractions)
            self.space.work = work
        self.space.show(self.hidden)
        return self.space

    def views(self) -> list[Ints]:
        """Nobody's knowledge, and each intruder's."""
        return [np.zeros(0, np.int64), *self.problem.intruders]

    def lacking(self, known: Ints) -> Ints:
        """Targets without a witness against somebody who knows these rows, unless they are his."""
        found = self.problem.lacking(self.witnesses.reach(known.tolist()))
        return np.flatnonzero(found & ~np.isin(self.problem.targets.rows, known))

    def prove(self, known: Ints, *, first: bool = False) -> Ints:
        """Targets that lack protection against somebody who knows these rows.

        Other tables are sought by cubes, by programs for many targets, then for each. With `first`
        one such target is enough.
        """
        lacking = self.lacking(known)
        if not len(lacking):
            return lacking
        space = self.open_space()
        shut = [int(row) for row in known if self.hidden[row]]
        for row in shut:
            space.turn(row, False)
        try:
            return self._prove(known, lacking, first)
        finally:
            for row in shut:
                space.turn(row, True)

    def _prove(self, known: Ints, lacking: Ints, first: bool) -> Ints:
        if self.problem.direct:
            allowed = np.where(self.hidden, 0.0, np.inf)
            allowed[known] = np.inf
            chosen = np.intersect1d(lacking, self.printed)
            self.cover(chosen, self.problem.needs[chosen], allowed, note=True)
            lacking = self.lacking(known)
        bad: list[int] = []
        if first and len(lacking) > FEW:
            worst = lacking[np.argsort(-self.fragile[lacking], kind="stable")][:FEW]
            bad = self._alone(worst, known, first)
            if bad:
                return np.array(bad)
            lacking = self.lacking(known)
        lacking = self._together(known, lacking)
        lacking = lacking[np.argsort(-self.fragile[lacking], kind="stable")]
        return np.array(self._alone(lacking, known, first), np.int64)

    def _together(self, known: Ints, lacking: Ints) -> Ints:
        """Programs that move many targets at once, so long as they help."""
        space = self.space
        assert space is not None
        if not self.fractions and len(space.columns) > LARGE:
            return lacking  # such solutions are hardly ever of whole numbers
        idle = 0
        while len(lacking) > FEW and idle < 2 and not self.clock.over():
            before = len(lacking)
            for side in (-1.0, 1.0):
                weights = side * self.rng.uniform(0.5, 1.5, len(lacking))
                space.push(lacking, weights, Limit(seconds=self.clock.left), self.witnesses)
                lacking = self.lacking(known)
                if not len(lacking):
                    return lacking
            idle = idle + 1 if len(lacking) > 0.9 * before else 0
        return lacking

    def _alone(self, targets: Ints, known: Ints, first: bool) -> list[int]:
        """Those of the targets that no table moves far enough."""
        space, bad = self.space, []
        assert space is not None
        for target in targets.tolist():
            if not self._reaches(space, target, known):
                self.fragile[target] += 1
                bad.append(target)
                if first:
                    break
        return bad

    def _reaches(self, space: Space, target: int, known: Ints) -> bool:
        """Is there a table, or are there two, that show what the target needs?"""
        problem, one, rows = self.problem, np.array([target]), known.tolist()
        up_need, down_need, width = problem.needs[target]
        limit = Limit(seconds=max(self.clock.left, 1e-3))
        into = self.witnesses

        def lacks() -> bool:
            return bool(problem.lacking(into.reach(rows))[target])

        def slides(up: float, down: float) -> bool:
            for side, goal in ((1, up), (0, down)):
                if goal > abs(into.reach(rows)[side, target]) + NEAR:
                    space.slide(target, bool(side), goal, limit, into)
            return not lacks()

        if not lacks():
            return True
        if not self.fractions and slides(max(up_need, width - down_need), down_need):
            return True
        ends = [0.0, 0.0]
        for side in (1, 0):
            found = space.push(one, np.array([-1.0 if side else 1.0]), limit, into)
            if found is None:
                return False
            ends[side] = -found
            if not lacks():
                return True
        up, down = ends[1] + NEAR, ends[0] + NEAR
        if up < up_need or down < down_need or up + down < width or self.fractions:
            return False
        for far_up in dict.fromkeys((min(np.floor(up), width), width - min(np.floor(down), width))):
            if slides(max(up_need, far_up), max(down_need, width - far_up)):
                return True
        limit = limit._replace(nodes=self.effort.of(NODES))
        for side in (1, 0):
            reach = into.reach(rows)[:, target]
            enough = max(up_need, width + reach[0]) if side else max(down_need, width - reach[1])
            space.push_whole(target, bool(side), enough, limit, into)
            if not lacks():
                return True
        return False
