"""Uncertainty about a number: what the best estimate of it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.errors import DataError
from discreet.intruder.belief.atoms import numeric, plain
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.posterior.whole_table import Held, TableBelief
from discreet.risk.uncertainty.base import Best, Uncertainty, by_cells, one_value, points


@dataclass(frozen=True)
class Variance(Uncertainty):
    """Squared error (e - x)^2, summed over cells: the best estimate is the mean, U the variance.

    >>> import discreet as dc
    >>> belief = dc.Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3])
    >>> best = dc.uncertainty.Variance().best(belief)
    >>> round(best.estimate, 2), round(best.uncertainty, 2)
    (1.1, 0.49)
    """

    said: str = field(default="the variance", init=False)

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            return by_cells(self, belief)
        return Best(belief.mean, belief.variance, belief.exact)

    def loss(self, estimate: Any, truth: Any) -> float:
        return float(np.sum((np.asarray(estimate) - np.asarray(truth)) ** 2))

    def limit_words(self, limit: float, categories: Sequence[str] = ()) -> str:
        return (
            f"the standard deviation of what is believed is at least {math.sqrt(max(limit, 0)):.4g}"
        )


@dataclass(frozen=True)
class Absolute(Uncertainty):
    """|e - x|, summed over cells: the best estimate is the median, U the mean distance from it.

    >>> import discreet as dc
    >>> belief = dc.Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3])
    >>> dc.uncertainty.Absolute().best(belief)
    Best(estimate=1, uncertainty=0.5, exact=True)
    """

    said: str = field(default="the mean distance from the median", init=False)

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            return by_cells(self, belief)
        middle = belief.quantile(0.5)
        values, mass = points(belief, middle)
        return Best(middle, float(mass @ np.abs(values - middle)), belief.exact)

    def loss(self, estimate: Any, truth: Any) -> float:
        return float(np.sum(np.abs(np.asarray(estimate) - np.asarray(truth))))


@dataclass(frozen=True)
class Lengths(Uncertainty):
    """The length of an interval, summed over cells, infinite if the truth is outside (BS7, 4.1).

    The best intervals are those of all possible values.

    >>> import discreet as dc
    >>> belief = dc.Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3])
    >>> dc.uncertainty.Lengths().best(belief)
    Best(estimate=(0, 2), uncertainty=2.0, exact=True)
    """

    said: str = field(default="the length of the interval", init=False)

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            lower, upper = belief.bounds
            return Best((lower, upper), float(np.sum(upper - lower)))
        values = belief.values[belief.mass > 0]
        if belief.kind is Kind.DENSITY:
            near = np.convolve(belief.mass > 0, [1, 1, 1], "same") > 0
            values = belief.values[near]
        ends = (plain(values.min()), plain(values.max()))
        return Best(ends, float(ends[1] - ends[0]), belief.exact)

    def loss(self, estimate: Any, truth: Any) -> float:
        lower, upper = (np.asarray(end) for end in estimate)
        held = np.all((lower <= truth) & (np.asarray(truth) <= upper))
        return float(np.sum(upper - lower)) if held else math.inf


@dataclass(frozen=True)
class RelativeError(Uncertainty):
    """Squared relative error (d/x - 1)^2: var(1/X) / E(1/X^2) = CV^2 / (1 + CV^2), CV that of 1/X.

    Section 5.4 prints E(1/X)^2 below the line; that is not the risk of the best guess, and does
    not lead to the rule there.

    >>> import discreet as dc
    >>> belief = dc.Belief.discrete([10, 20], [0.5, 0.5])
    >>> best = dc.uncertainty.RelativeError().best(belief)
    >>> round(best.estimate, 3), round(best.uncertainty, 3)
    (12.0, 0.1)
    """

    said: str = field(default="the squared relative error", init=False)

    def best(self, belief: Held) -> Best:
        held = one_value(belief, self.said)
        first, second = inverse_moments(held)
        return Best(first / second, max(0.0, 1 - first**2 / second), held.exact)

    def loss(self, estimate: Any, truth: Any) -> float:
        return float((estimate / truth - 1) ** 2)

    def limit_words(self, limit: float, categories: Sequence[str] = ()) -> str:
        if limit >= 1:
            return "no release: the squared relative error of a best guess is below 1"
        least = math.sqrt(max(limit, 0) / (1 - limit))
        return f"the coefficient of variation of 1/X is at least {least:.6g}"


def inverse_moments(belief: Belief) -> tuple[float, float]:
    """The means of 1/X and 1/X^2."""
    least = belief.values.min() if numeric(belief.values) else belief.values[0]
    if not numeric(belief.values) or least <= 0:
        raise DataError(
            f"a relative error needs values above 0, and {least} is among them; use another "
            "uncertainty, or a minimum above 0."
        )
    x = belief.values.astype(np.float64)
    if belief.kind is not Kind.DENSITY:
        return float(belief.mass @ (1 / x)), float(belief.mass @ (1 / x**2))
    nodes, weights = np.polynomial.legendre.leggauss(4)
    t, step = (nodes + 1) / 2, np.diff(x)[:, None]
    height = belief.mass[:-1, None] * (1 - t) + belief.mass[1:, None] * t
    at, mass = x[:-1, None] + step * t, height * step * weights / 2
    return float((mass / at).sum()), float((mass / at**2).sum())


def variation(belief: Belief) -> float:
    """The coefficient of variation of 1/X.

    >>> import discreet as dc
    >>> round(dc.uncertainty.variation(dc.Belief.discrete([10, 20], [0.5, 0.5])), 4)
    0.3333
    """
    first, second = inverse_moments(belief)
    return math.sqrt(max(0.0, second / first**2 - 1))
