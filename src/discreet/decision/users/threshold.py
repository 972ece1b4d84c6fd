"""When a user gives up: the largest uncertainty at which one goes on, known or not."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief, Kind
from discreet.look.result import Shown

CLOSE = 1e-12
Given = Any  # a number, draws, a Belief, or a survival function


@dataclass(frozen=True, eq=False)
class Threshold(Shown):
    """The largest uncertainty at which a user goes on: known, or a distribution.

    >>> Threshold.of(0.5).chance(0.5), Threshold.of([0.2, 0.4, 0.6, 0.8]).chance(0.5)
    (1.0, 0.5)
    """

    survival: Callable[[float], float]

    @classmethod
    def of(cls, given: Given) -> Threshold:
        """A number, an array of draws, a `Belief`, or Pr(threshold >= u) as a function of u."""
        if isinstance(given, Threshold):
            return given
        if callable(given):
            return cls(given)
        if isinstance(given, Belief):
            return cls(lambda u: _at_least(given, u))
        if np.ndim(given):
            draws = Belief.draws(given)
            return cls(lambda u: _at_least(draws, u))
        known = float(given)
        if math.isnan(known):
            raise DataError("the threshold is not a number; give one, or math.inf.")
        return cls(lambda u: float(u <= known + CLOSE * max(1.0, abs(known))))

    def chance(self, uncertainty: float) -> float:
        """The probability that the user goes on."""
        found = float(self.survival(uncertainty))
        if not -CLOSE <= found <= 1 + CLOSE:
            raise DataError(
                f"the threshold is above {uncertainty:g} with probability {found}; give a function "
                "with values from 0 to 1."
            )
        return min(1.0, max(0.0, found))


def _at_least(belief: Belief, u: float) -> float:
    if math.isinf(u):
        return float(u < 0)
    slack = 0.0 if belief.kind is Kind.DENSITY else CLOSE * max(1.0, abs(u))
    return belief.probability((u - slack, math.inf))
