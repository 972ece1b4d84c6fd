"""The cheapest suppression that protects against linear intruders, by cuts."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Bools, Floats
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, Stopped
from discreet.intruder.sums.protection import Protection
from discreet.masks.suppress.attack import Attacker
from discreet.masks.suppress.pattern import Pattern
from discreet.sheets.system import System
from discreet.solver import Ended, Limit, Program

ATTACKS = 20_000  # linear programs
ROUNDS = 200  # integer programs
NODES = 20_000  # of branch and bound, for one of them
NEAR = 1e-6


def optimal(
    system: System,
    values: Floats,
    primary: Bools,
    protection: Protection,
    *,
    floor: ArrayLike = 0.0,
    ceiling: ArrayLike = math.inf,
    costs: ArrayLike | None = None,
    forced: Bools | None = None,
    hidden: Bools | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    start: Bools | None = None,
) -> Pattern:
    """The pattern of least cost with this protection (Fischetti & Salazar 2001).

    min costs @ x, x in {0, 1}, with `primary` and `hidden` suppressed and `forced` printed, under
    the cuts of `Attacker`: first until the linear relaxation violates none, then integer programs
    again and again until their solution does. `costs` are the values unless given; cells below
    their floor are printed, as they would not be believed. `start` is a pattern that protects, and
    nothing dearer is answered. The protection is against linear intruders: `audit` the result.
    """
    return _Search(
        Attacker(system, values, protection, floor, ceiling, clock := Clock.of(seconds)),
        np.asarray(values if costs is None else costs, float) * np.ones(system.cells),
        *_bounds(values, primary, forced, hidden, floor),
        Effort(effort),
        clock,
    ).pattern(start)


def _bounds(
    values: Floats, primary: Bools, forced: Bools | None, hidden: Bools | None, floor: ArrayLike
) -> tuple[Bools, Bools]:
    """Cells that must, and cells that may be suppressed."""
    must = primary if hidden is None else primary | hidden
    may = values >= np.broadcast_to(floor, values.shape)
    if forced is not None:
        may &= ~forced
    if (wrong := must & ~may).any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"row {row} with the value {values[row]:g} is to be suppressed, but it must be printed "
            "or lies below its floor; change one of the two."
        )
    return must, may


class _Search:
    """Patterns from below, which are cut off, and one from above that protects."""

    def __init__(
        self,
        attacker: Attacker,
        costs: Floats,
        must: Bools,
        may: Bools,
        effort: Effort,
        clock: Clock,
    ) -> None:
        self.attacker, self.costs, self.must, self.may = attacker, costs, must, may
        self.effort, self.clock = effort, clock
        self.bound = float(costs[must].sum())
        self.step = 1.0 if (costs == np.round(costs)).all() else 0.0  # between two costs
        self.master = Program(
            len(costs), cost=costs, lower=must.astype(float), upper=may.astype(float)
        )
        self.best = may

    def pattern(self, start: Bools | None) -> Pattern:
        self._begin(start)
        try:
            if self._relax() and not self._met():
                self._whole()
        except Stopped:
            pass
        stopped, cost = None, self._cost(self.best)
        if not self._met():
            gap = f"gap {1 - self.bound / cost:.1%}"
            stopped = self.clock.sentence(gap, "Allow more seconds.") or (
                f"stopped by the limit of work: {gap}. Allow more effort."
            )
        return Pattern(self.best, cost, cost if stopped is None else self.bound, stopped)

    def _begin(self, start: Bools | None) -> None:
        """A first pattern that protects."""
        for pattern, said in ((start, "the pattern to start from"), (self.may, "all of that")):
            if pattern is None:
                continue
            chosen = (pattern | self.must) & self.may
            for target in range(len(self.attacker.protection)):
                self.attacker.against(chosen.astype(float))
                if self.attacker.cuts(target):
                    row = int(self.attacker.protection.rows[target])
                    raise DataError(
                        f"row {row} has not the protection that is asked for even if {said} is "
                        "suppressed; ask for less, or print fewer cells by force."
                    )
            self.best = chosen
            break
        self.master.row(np.arange(len(self.costs)), self.costs, most=self._cost(self.best) + NEAR)

    def _relax(self) -> bool:
        """Cuts of the linear relaxation, whose cells above 0 protect; false if work ran out."""
        while not self._spent():
            found = self.master.solve(self._limit)
            if found.values is None:
                return found.ended is Ended.IMPOSSIBLE
            self._raise(found.bound)
            x = np.clip(found.values, self.must, self.may)
            x = np.where(x < NEAR, 0.0, np.where(x > 1 - NEAR, 1.0, x))
            if not self._cut(x):
                self._better(x > 0)
                return True
        return False

    def _whole(self) -> None:
        """Integer programs, until one violates no cut or shows that nothing is cheaper."""
        self.master.whole(np.arange(len(self.costs)))
        for _ in range(self.effort.of(ROUNDS)):
            self.master.range(0, -math.inf, self._cost(self.best) + NEAR)
            found = self.master.solve(self._limit)
            if found.ended is Ended.IMPOSSIBLE:
                self.bound = self._cost(self.best)
                return
            self._raise(found.bound)
            if found.values is None or self._met() or self._spent():
                return
            x = np.round(found.values)
            if not self._cut(x):
                self.best = x > 0.5
            if self._met() or found.ended is Ended.LIMIT:
                return

    def _cut(self, x: Floats) -> int:
        """Adds what a pattern violates."""
        self.attacker.against(x)
        added = 0
        for target in range(len(self.attacker.protection)):
            for cut in self.attacker.cuts(target):
                places = np.flatnonzero(cut.weights > 1e-9)
                self.master.row(places, cut.weights[places], least=cut.need)
                added += 1
        return added

    def _better(self, pattern: Bools) -> None:
        """Without the cells that this pattern does not need, the dearest first."""
        if not self._protects(pattern):
            return
        for row in np.argsort(-self.costs, kind="stable").tolist():
            if pattern[row] and not self.must[row] and not self._spent(0.5):
                pattern[row] = False
                pattern[row] = not self._protects(pattern)
        if self._cost(pattern) < self._cost(self.best):
            self.best = pattern

    def _protects(self, pattern: Bools) -> bool:
        self.attacker.against(pattern.astype(float))
        return not any(self.attacker.cuts(t) for t in range(len(self.attacker.protection)))

    def _raise(self, bound: float) -> None:
        if math.isfinite(bound):
            self.bound = max(self.bound, math.ceil(bound - NEAR) if self.step else bound)

    def _met(self) -> bool:
        """Can nothing be cheaper than the best?"""
        return self.bound > self._cost(self.best) - max(self.step - NEAR, NEAR)

    def _spent(self, share: float = 1.0) -> bool:
        return self.clock.over() or self.attacker.programs > share * self.effort.of(ATTACKS)

    def _cost(self, pattern: Bools) -> float:
        return float(self.costs[pattern].sum())

    @property
    def _limit(self) -> Limit:
        return Limit(nodes=self.effort.of(NODES), seconds=max(self.clock.left, 1e-3))
