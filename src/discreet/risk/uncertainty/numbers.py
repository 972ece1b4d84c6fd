"""Uncertainty about a number: what the best estimate of it costs."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np

from discreet.errors import DataError
from discreet.intruder.belief.atoms import numeric, plain
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.belief.valued import Valued
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

    of_numbers: ClassVar[bool] = True
    said: str = field(default="the variance", init=False)

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            return by_cells(self, belief)
        _check_finite(self.said, belief.variance, 2)
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

    of_numbers: ClassVar[bool] = True
    said: str = field(default="the mean distance from the median", init=False)

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            return by_cells(self, belief)
        middle = belief.quantile(0.5)
        return Best(middle, sum(_missed(belief, middle, self.said)), belief.exact)

    def loss(self, estimate: Any, truth: Any) -> float:
        return float(np.sum(np.abs(np.asarray(estimate) - np.asarray(truth))))


@dataclass(frozen=True)
class OverUnder(Uncertainty):
    """a for each unit that an estimate is too high, b for each that it is too low.

    The best estimate is the quantile b / (a + b); with a = b = 1 it is the median.

    >>> import discreet as dc
    >>> belief = dc.Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3])
    >>> dc.uncertainty.OverUnder(1, 3).best(belief)
    Best(estimate=2, uncertainty=0.9, exact=True)
    """

    of_numbers: ClassVar[bool] = True
    over: float = 1.0
    under: float = 1.0
    said: str = field(default="the cost of the distance above and below", init=False)

    def __post_init__(self) -> None:
        for name, cost in (("above", self.over), ("below", self.under)):
            if not (math.isfinite(cost) and cost > 0):
                raise DataError(f"the cost of an estimate {name} is {cost}; give a number above 0.")

    def best(self, belief: Held) -> Best:
        held = one_value(belief, self.said)
        estimate = held.quantile(self.under / (self.over + self.under))
        above, below = _missed(held, estimate, self.said)
        return Best(estimate, self.over * above + self.under * below, held.exact)

    def loss(self, estimate: Any, truth: Any) -> float:
        return float(max(self.over * (estimate - truth), self.under * (truth - estimate)))


@dataclass(frozen=True)
class Lengths(Uncertainty):
    """The length of an interval, summed over cells, infinite if the truth is outside (BS7, 4.1).

    The best intervals are those of all possible values.

    >>> import discreet as dc
    >>> belief = dc.Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3])
    >>> dc.uncertainty.Lengths().best(belief)
    Best(estimate=(0, 2), uncertainty=2.0, exact=True)
    """

    of_numbers: ClassVar[bool] = True
    said: str = field(default="the length of the interval", init=False)

    def best(self, belief: Held) -> Best:
        if isinstance(belief, TableBelief):
            lower, upper = belief.bounds
            return Best((lower, upper), float(np.sum(upper - lower)))
        if isinstance(belief, Valued):
            _check_finite(self.said, belief.ends[1])
            return Best(belief.ends, belief.ends[1] - belief.ends[0], belief.exact)
        values = belief.values[belief.mass > 0]
        if belief.kind is Kind.DENSITY:
            held = np.pad(belief.mass > 0, 1)
            values = belief.values[held[:-2] | held[1:-1] | held[2:]]
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

    of_numbers: ClassVar[bool] = True
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


def _missed(belief: Belief, estimate: float, said: str) -> tuple[float, float]:
    """How far, on average, the estimate is above the truth, and how far below it."""
    if isinstance(belief, Valued):
        _check_finite(said, belief.mean, 1)
        above = belief.shortfall(estimate)
        return above, max(0.0, above + belief.mean - estimate)
    values, mass = points(belief, estimate)
    return (
        float(mass @ np.maximum(estimate - values, 0)),
        float(mass @ np.maximum(values - estimate, 0)),
    )


def _check_finite(said: str, found: float, alpha: int | None = None) -> None:
    """What is infinite passes every limit, and says nothing."""
    if math.isinf(found):
        finite = f" unless alpha is above {alpha}" if alpha else ""
        raise DataError(
            f"{said} is infinite where a range has a Pareto tail{finite}, so that any limit would "
            "hold; say where the last range ends, or ask for relative."
        )


def inverse_moments(belief: Belief) -> tuple[float, float]:
    """The means of 1/X and 1/X^2.

    >>> import discreet as dc
    >>> dc.uncertainty.inverse_moments(dc.Belief.discrete([10, 20], [0.5, 0.5]))
    (0.07500000000000001, 0.00625)
    """
    least = belief.values.min() if numeric(belief.values) else belief.values[0]
    least = belief.ends[0] if isinstance(belief, Valued) else least
    if not numeric(belief.values) or least <= 0:
        raise DataError(
            f"a relative error needs values above 0, and {least} is among them; use another "
            "uncertainty, or a minimum above 0."
        )
    if isinstance(belief, Valued):
        return belief.moment(-1), belief.moment(-2)
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
