"""Ends of the intervals of one component's targets: bounds that hold, and tables found."""

from __future__ import annotations

import math
from collections.abc import Callable
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.intruder.sums.propagate import rounded
from discreet.intruder.sums.reduced import Component
from discreet.solver import UNLIMITED, Ended, Limit, Program, Solution, Sums

NEAR = 1e-6  # a whole number, and an end that is reached


class Ends:
    """Of each target's share: `lower`, `upper` bound it in every table; `fit_*` were reached by
    tables of fractions, `seen_*` by tables of whole numbers; `linear` ends need no more programs.
    """

    def __init__(self, component: Component, whole: bool, slack: float = 0.0) -> None:
        self.component, self.whole = component, whole
        targets = len(component.targets)
        shares = component.shares
        self.lower: Floats = shares @ component.lower
        self.upper: Floats = shares @ component.upper
        self.fit_low, self.seen_low = np.full((2, targets), math.inf)
        self.fit_high, self.seen_high = np.full((2, targets), -math.inf)
        self.linear = np.full((2, targets), component.matrix.shape[0] == 0)
        self.unit = 1.0 if whole else _unit(component, slack)
        self.base: Floats | None = None
        self.whole_base: Floats | None = None
        self.check: Callable[[Floats, float], bool] = component.holds

    def begin(self, limit: Limit = UNLIMITED, first: Floats | None = None) -> bool:
        """Finds a first table, unless one is known; false if there is none."""
        component = self.component
        if first is not None and self.take(first) is None:
            return False
        if not component.matrix.shape[0]:
            start = np.where(np.isfinite(component.lower), component.lower, component.upper)
            start = np.where(np.isfinite(start), start, 0.0)
            self.take(start)
            for at, ends in ((component.lower, "low"), (component.upper, "high")):
                for name in ("fit_", "seen_") if self.whole else ("fit_",):
                    setattr(self, name + ends, component.shares @ at)
            return True
        if first is not None:
            return True
        found = self._program.solve(limit)
        if found.values is not None:
            self.take(found.values * self.unit)
        if self.whole and self.whole_base is None and found.ended is not Ended.IMPOSSIBLE:
            found = self._integer.solve(limit)
            if found.values is not None:
                self.take(found.values)
        return found.ended is not Ended.IMPOSSIBLE

    def take(self, x: Floats) -> Floats | None:
        """Notes what a solution shows of every target; gives it back if it is of whole numbers."""
        component = self.component
        nearest = np.round(x)
        if self.whole and np.abs(x - nearest).max(initial=0.0) < NEAR and self.check(nearest, 0.0):
            shares = component.shares @ nearest
            self.seen_low = np.minimum(self.seen_low, shares)
            self.seen_high = np.maximum(self.seen_high, shares)
            self.whole_base = nearest if self.whole_base is None else self.whole_base
            x = nearest
        elif not self.fits(x):
            return None
        else:
            shares = component.shares @ x
        self.base = x if self.base is None else self.base
        self.fit_low = np.minimum(self.fit_low, shares)
        self.fit_high = np.maximum(self.fit_high, shares)
        return x

    def fits(self, x: Floats) -> bool:
        """Is this a table of fractions? Every printed cell is looked at if they are what counts."""
        near = NEAR * self.unit
        return self.component.holds(x, near) if self.whole else self.check(x, near)

    def solve(self, target: int, up: bool, limit: Limit = UNLIMITED) -> Solution:
        """The linear end of a target, which all others learn from."""
        columns, cost = self._objective(target, up)
        found = self._program.least(columns, cost, limit)
        if found.values is not None:
            self.take(found.values * self.unit)
        if found.ended in (Ended.BEST, Ended.ENDLESS):
            self._bound(target, up, found.bound * self.unit)
            self.linear[int(up), target] = True
            if found.ended is Ended.ENDLESS:
                self._endless(target, up)
        return found

    def solve_whole(
        self, target: int, up: bool, limit: Limit = UNLIMITED, *, enough: float | None = None
    ) -> Solution:
        """The end in whole numbers; `enough` is a share that need not be passed."""
        columns, cost = self._objective(target, up)
        wanted = None if enough is None else -enough if up else enough
        found = self._integer.least(columns, cost, limit, enough=wanted)
        if found.values is not None:
            self.take(found.values)
        if found.ended in (Ended.BEST, Ended.LIMIT, Ended.REACHED):
            self._bound(target, up, found.bound)
        return found

    def open(self, up: bool) -> np.ndarray:
        """Targets whose end is not reached by a table of the kind that counts."""
        reached = (self.seen_high, self.seen_low) if self.whole else (self.fit_high, self.fit_low)
        near = 0.0 if self.whole else NEAR * self.unit
        return reached[0] < self.upper - near if up else reached[1] > self.lower + near

    def _objective(self, target: int, up: bool) -> tuple[np.ndarray, Floats]:
        shares = self.component.shares
        part = slice(shares.indptr[target], shares.indptr[target + 1])
        return shares.indices[part], shares.data[part] * (-1.0 if up else 1.0)

    def _bound(self, target: int, up: bool, least: float) -> None:
        end = rounded(
            np.array([-least if up else least]), np.array([-least if up else least]), self.whole
        )
        if up:
            self.upper[target] = min(self.upper[target], end[1][0])
        else:
            self.lower[target] = max(self.lower[target], end[0][0])

    def _endless(self, target: int, up: bool) -> None:
        """A direction without end is one of whole numbers, too: sums have whole coefficients."""
        fit, seen = (self.fit_high, self.seen_high) if up else (self.fit_low, self.seen_low)
        fit[target] = math.inf if up else -math.inf
        if self.whole_base is not None:
            seen[target] = fit[target]

    @cached_property
    def _program(self) -> Program:
        return self._make(primal=True, presolve=False)

    @cached_property
    def _integer(self) -> Program:
        program = self._make(gap=0.999)
        program.whole(np.arange(program.columns))
        return program

    def _make(self, *, primal: bool = False, presolve: bool = True, gap: float = 0.0) -> Program:
        component, unit = self.component, self.unit
        return Program(
            len(component.columns),
            Sums.of(component.matrix, component.floor / unit, component.ceiling / unit),
            lower=component.lower / unit,
            upper=component.upper / unit,
            primal=primal,
            presolve=presolve,
            gap=gap,
        )


def _unit(component: Component, slack: float) -> float:
    """A power of two that brings the largest value near a million, if sums are as exact as that."""
    sides = (component.floor, component.ceiling, component.lower, component.upper)
    most = max(float(np.abs(side[np.isfinite(side)]).max(initial=0.0)) for side in sides)
    least = max(most / 2**20, slack / NEAR)
    return float(2.0 ** math.ceil(math.log2(least))) if least > 0 else 1.0
