"""Over all beliefs in a polytope: the least and the most uncertainty, and where enough is left.

Every U here is at least quasi-concave, so its least value is at a corner. A concave U is the least
of its estimates' expected losses, each linear in the belief: its largest value is found between
the best belief seen and what all estimates found so far allow (Kelley 1960), to within `TOLERANCE`.
Ends of ranges are beliefs that were judged: on the careful side.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.intruder.belief.belief import Belief
from discreet.risk.knowledge.knowledge import CLOSE
from discreet.risk.uncertainty import Entropy, Loss, OnValues, Uncertainty, Weighted
from discreet.risk.uncertainty.base import points

TOLERANCE = 1e-9
MOST_CUTS, HALVINGS = 300, 60
TINY = 1e-15


@dataclass(eq=False)
class Beliefs:
    """All averages of `corners`, one a row over the `values`; U of them."""

    uncertainty: Uncertainty
    values: Sequence[Any]
    corners: Floats
    _losses: list[Floats] = field(default_factory=list)

    def belief(self, x: Floats) -> Belief:
        return Belief.discrete(list(self.values), np.maximum(x, 0) / np.maximum(x, 0).sum())

    def u(self, x: Floats) -> float:
        return self.uncertainty(self.belief(x))

    def lowest(self) -> tuple[float, Floats]:
        """The least uncertainty, and a belief that has it: a corner."""
        found = [self.u(x) for x in self.corners]
        worst = int(np.argmin(found))
        return found[worst], self.corners[worst]

    def highest(self) -> tuple[float, Floats, float]:
        """A large uncertainty, a belief that has it, and what none exceeds.

        The same for a concave U, to within the tolerance; else what none exceeds is not known.
        """
        centre = self.corners.mean(0)
        best, at, bound = self.u(centre), centre, math.inf
        for x in self.corners:
            if (found := self.u(x)) > best:
                best, at = found, x
        if not self.uncertainty.concave:
            return best, at, math.inf
        self._cut(centre)
        for _ in range(MOST_CUTS if self._losses else 0):
            solved = self._program(None, -math.inf)
            if solved is None:
                break
            x, bound = solved
            found = self.u(x)
            if found > best:
                best, at = found, x
            if bound - best <= TOLERANCE or not self._cut(x):
                break
        return best, at, bound

    def safe(self, limit: float) -> tuple[Floats | None, bool]:
        """A belief with U >= limit, and whether it is certain that there is none if none is found.

        The one that is furthest from the limit, as far as that is known.
        """
        if not self.uncertainty.concave:
            held = self._inside(limit)
            if held is not None:
                x = held[0]
                return (x, True) if x is not None and self.u(x) >= limit - CLOSE else (None, True)
        best, at, bound = self.highest()
        return (at, True) if best >= limit - CLOSE else (None, bound < limit)

    def ends(self, limit: float, direction: Floats) -> tuple[float, float] | None:
        """The least and the most of direction . x over beliefs with U >= limit; None if none has.

        Both are of beliefs that are within the limit.
        """
        centre, _ = self.safe(limit)
        if centre is None:
            return None
        found = []
        for sign in (1.0, -1.0):
            x = self._extreme(limit, sign * direction)
            end = centre if x is None else self._back(limit, x, centre)
            found.append(float(direction @ end))
        return min(found), max(found)

    def _extreme(self, limit: float, direction: Floats) -> Floats | None:
        """A belief near the least of direction . x over those with U >= limit."""
        if not self.uncertainty.concave:
            held = self._inside(limit, direction)
            return None if held is None else held[0]
        x: Floats | None = None
        for _ in range(MOST_CUTS):
            solved = self._program(direction, limit)
            if solved is None:
                return x
            x = solved[0]
            if self.u(x) >= limit - TOLERANCE or not self._cut(x):
                break
        return x

    def _back(self, limit: float, x: Floats, centre: Floats) -> Floats:
        """The first belief on the way from x to the centre that is within the limit."""
        if self.u(x) >= limit - CLOSE:
            return x
        low, high = 0.0, 1.0
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            enough = self.u(x + middle * (centre - x)) >= limit - CLOSE
            low, high = (low, middle) if enough else (middle, high)
        return x + high * (centre - x)

    def _cut(self, x: Floats) -> bool:
        """U <= losses . p for every belief p, with equality at x; was it not known yet?"""
        found = losses(self.uncertainty, self.belief(x), self.values)
        if not np.isfinite(found).all():
            return False
        known = any(np.abs(found - each).max() <= TINY for each in self._losses)
        self._losses.append(found)
        return not known

    def _program(self, direction: Floats | None, limit: float) -> tuple[Floats, float] | None:
        """The least direction . x where all losses are at least the limit; or the largest least."""
        from scipy.optimize import linprog

        m = len(self.corners)
        lines = [self.corners @ each for each in self._losses]
        if direction is None:  # weights of the corners, and the least loss
            cost = np.append(np.zeros(m), -1.0)
            above = np.array([np.append(-line, 1.0) for line in lines])
            ends: list[tuple[float | None, float | None]] = [*[(0, None)] * m, (None, None)]
            level = np.zeros(len(lines))
        else:
            cost, ends = self.corners @ direction, [(0, None)] * m
            above = -np.array(lines).reshape(-1, m)
            level = np.full(len(lines), -limit)
        whole = np.ones((1, len(cost)))
        whole[0, m:] = 0
        solved = linprog(cost, above, level, whole, [1.0], ends, method="highs")
        if solved.status != 0:
            return None
        weights = np.maximum(solved.x[:m], 0)
        return weights / weights.sum() @ self.corners, -float(solved.fun)

    def _inside(self, limit: float, direction: Floats | None = None) -> tuple[Floats | None] | None:
        """Of a U whose limit is one on each share: a belief within it, as deep as can be.

        None where the limit is no limit on shares; (None,) where no belief is within.
        """
        from scipy.optimize import linprog

        bounds = self.uncertainty.shares(limit, list(map(str, self.values)))
        if bounds is None:
            return None
        m = len(self.corners)
        depth = 1.0 if direction is None else 0.0
        cost = np.zeros(m + 1) if direction is None else np.append(self.corners @ direction, 0)
        cost[-1] = -depth
        above = np.vstack(
            [
                np.column_stack([self.corners.T, np.full(len(bounds.upper), depth)]),
                np.column_stack([-self.corners.T, np.full(len(bounds.lower), depth)]),
            ]
        )
        level = np.concatenate([bounds.upper, -bounds.lower])
        whole = np.append(np.ones(m), 0.0)[None]
        ends = [(0, None)] * m + [(-1.0, 1.0) if depth else (0.0, 0.0)]
        solved = linprog(cost, above, level, whole, [1.0], ends, method="highs")
        if solved.status != 0:
            return (None,)
        weights = np.maximum(solved.x[:m], 0)
        return (weights / weights.sum() @ self.corners,)


def losses(uncertainty: Uncertainty, belief: Belief, values: Sequence[Any]) -> Floats:
    """L(best estimate of the belief, value) for each value.

    >>> from discreet.risk.uncertainty import Largest
    >>> losses(Largest(), Belief.discrete(["a", "b"], [0.8, 0.2]), ["a", "b"]).tolist()
    [0.0, 1.0]
    """
    if isinstance(uncertainty, Entropy):
        p = np.array([belief.probability(value) for value in values])
        return np.asarray(-np.log(np.maximum(p, TINY)))
    estimate = uncertainty.best(belief).estimate
    if isinstance(uncertainty, OnValues):
        return np.array([_within(uncertainty, estimate, value) for value in values])
    if isinstance(uncertainty, Weighted):
        return np.array(
            [uncertainty.weights[str(estimate)] * (str(v) != str(estimate)) for v in values]
        )
    if isinstance(uncertainty, Loss) and not callable(uncertainty.given):
        acts = uncertainty.acts
        row = int(estimate) if acts is None else list(acts).index(estimate)
        return np.array(uncertainty.given[row], np.float64)
    return np.array([uncertainty.loss(estimate, value) for value in values])


def _within(uncertainty: OnValues, estimate: Any, value: Any) -> float:
    """The expected loss over the numbers that a category stands for."""
    held = uncertainty.belief(Belief.discrete([value], [1.0]))
    numbers, mass = points(held, *np.ravel(estimate))
    found = [uncertainty.inner.loss(estimate, number) for number in numbers.tolist()]
    return float(mass @ np.array(found))
