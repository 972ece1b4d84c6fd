"""The expected harm of a belief about a number: over the whole belief, not at its mean.

    H(t) = integral of p(y) c(t, y) dy

t the true value, p what the intruder believes, c a cost (Lambert 1993, section 6.3, H_Bayes).
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.belief.effective import error_of_mean
from discreet.intruder.predictive.families import Gamma, LogNormal, Pareto
from discreet.look.result import Result
from discreet.risk.linkage.harm.losses import NumberLoss, Piece
from discreet.risk.linkage.harm.partial import (
    Normal,
    Number,
    Single,
    inverse_moments,
    is_atoms,
    partial,
    parts_of,
)
from discreet.table.cells import frame

PANELS = 200
ROUGH = 1e-3  # of what is found: a larger error of quadrature is no answer
STEPS = np.arange(-8.0, 9.0)
TAILS = (0.0, 0.5, 0.9, 0.99, 0.999, 0.9999, 0.99999)


@dataclass(frozen=True)
class ExpectedHarm(Result):
    """Harm to a respondent whose number is `truth`.

    `expected`: over what the intruder believes of the number. `of_estimate`: of acting on one
    `estimate`, c(truth, estimate). `perceived`: what acting on it costs in the intruder's eyes,
    the mean of c(x, estimate) over the belief about x. `how` is closed form, sum, draws or
    quadrature, and `error` the standard error of draws, or what quadrature may be off by.

    >>> import discreet as dc
    >>> belief = dc.linkage.Normal(mean=100, spread=20)
    >>> dc.linkage.expected_harm(belief, dc.linkage.NumberLoss("squared"), truth=110)
    ExpectedHarm(500 expected by closed form; 100 by the estimate 100)
    """

    truth: float
    expected: float
    estimate: float
    of_estimate: float
    perceived: float
    how: str
    error: float = 0.0

    def __repr__(self) -> str:
        give = f" +- {self.error:.2g}" if self.error else ""
        return (
            f"ExpectedHarm({self.expected:,.6g}{give} expected by {self.how}; "
            f"{self.of_estimate:,.6g} by the estimate {self.estimate:,.6g})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        return frame({name: [value] for name, value in self.to_json().items()}, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "truth": self.truth,
            "expected": self.expected,
            "estimate": self.estimate,
            "of_estimate": self.of_estimate,
            "perceived": self.perceived,
            "how": self.how,
            "error": self.error,
        }


def expected_harm(
    belief: Number, loss: NumberLoss, truth: float, *, estimate: float | None = None
) -> ExpectedHarm:
    """Harm that follows from a belief about a number, and from its mean or another estimate.

    The belief is a `Belief`, a `Normal`, a `LogNormal`, `Pareto`, `Gamma` or `AnyFamily` of
    `dc.uncertainty`, or a list of shares with these. Infinite where the integral is.

    >>> import discreet as dc
    >>> belief = [(0.5, dc.linkage.Normal(100, 20)), (0.5, dc.Belief.discrete([0], [1]))]
    >>> harm = dc.linkage.expected_harm(belief, dc.linkage.NumberLoss("excess"), truth=100)
    >>> round(harm.expected, 4), harm.of_estimate
    (3.9894, 0.0)
    """
    if not math.isfinite(truth):
        raise DataError(f"the true value is {truth}; give a number.")
    t, parts = np.asarray(float(truth)), parts_of(belief)
    loss.check_truth(np.atleast_1d(t))
    middle = mean_of(parts) if estimate is None else float(estimate)
    if not math.isfinite(middle):
        raise DataError("the belief has no finite mean; give the estimate that is acted on.")
    value, error, hows = 0.0, 0.0, set()
    for share, part in parts:
        found, off, how = _one(part, loss, t)
        value, error = value + (share * found if share else 0.0), math.hypot(error, share * off)
        hows.add(how)
    at = float(loss.cost(t, middle))
    seen = sum(share * _perceived(part, loss, middle) for share, part in parts if share)
    order = ("draws", "quadrature", "closed form", "sum")
    how = next(name for name in order if name in hows)
    return ExpectedHarm(float(truth), value, middle, at, float(seen), how, error)


def mean_of(parts: list[tuple[float, Single]]) -> float:
    """The mean of a mixture."""
    means = [(w, p.mean if isinstance(p, Belief) else _first(p)) for w, p in parts if w]
    return float(sum(w * mean for w, mean in means))


def over(pieces: list[Piece], part: Single, about: Any) -> float:
    """The integral of a cost that is made of lines and parabolas."""
    total = 0.0
    for low, high, *factors in pieces:
        moments = partial(part, low, high, about)
        for factor, moment in zip(factors, moments, strict=True):
            if np.any(factor):
                total += float(factor) * float(moment)
    return math.inf if math.isnan(total) else max(0.0, total)


def _first(part: Single) -> float:
    return float(partial(part, -math.inf, math.inf, 0.0)[1])


def _one(part: Single, loss: NumberLoss, truth: Floats) -> tuple[float, float, str]:
    if is_atoms(part):
        assert isinstance(part, Belief)
        costs = loss.cost(truth, part.values.astype(np.float64))
        value = float(part.mass @ costs)
        if part.exact:
            return value, 0.0, "sum"
        if part.kind is Kind.DRAWS and not part.parts:
            return value, error_of_mean(costs, part.mass, part.chains), "draws"
        spread = float(part.mass @ (costs - value) ** 2)
        many = part.effective or 1 / float((part.mass**2).sum())
        return value, math.sqrt(spread / many), "draws"
    if loss.closed:
        return over(loss.pieces(truth), part, truth), 0.0, "closed form"
    return (*_quadrature(part, lambda y: loss.cost(truth, y), float(truth)), "quadrature")


def _perceived(part: Single, loss: NumberLoss, estimate: float) -> float:
    """The mean of c(x, estimate) over x."""
    if is_atoms(part) and loss.name != "relative":
        assert isinstance(part, Belief)
        return float(part.mass @ loss.cost(part.values.astype(np.float64), estimate))
    if loss.name == "relative":
        first, second = inverse_moments(part)
        return math.inf if math.isinf(second) else estimate**2 * second - 2 * estimate * first + 1
    d = np.asarray(estimate)
    if loss.closed:
        return over(loss.pieces_of_truth(d), part, d)
    return _quadrature(part, lambda x: loss.cost(x, d), estimate)[0]


def _quadrature(part: Single, cost: Any, place: float) -> tuple[float, float]:
    """Adaptive, between places where the density has its bulk; and what it may be off by."""
    from scipy.integrate import quad

    if isinstance(part, Belief):
        fine, rough = (_on_pieces(part, cost, place, many) for many in (24, 16))
        return fine, abs(fine - rough)
    ends = _ends(part, place)
    value = error = 0.0
    for low, high in pairwise(ends):
        found, off, *more = quad(
            lambda y: float(cost(np.asarray(y))) * _density(part, y),
            low,
            high,
            limit=PANELS,
            full_output=1,
        )
        value, error = value + found, error + off
        if len(more) > 1 and off > ROUGH * max(value, 1e-12):
            raise DataError(
                "the integral of the written cost does not converge; it may be infinite for this "
                "belief: bound the cost, or give it as points."
            )
    return value, error


def _on_pieces(belief: Belief, cost: Any, place: float, many: int) -> float:
    grid = np.union1d(belief.values, np.clip(place, belief.values[0], belief.values[-1]))
    nodes, weights = np.polynomial.legendre.leggauss(many)
    y = grid[:-1, None] + np.diff(grid)[:, None] * (nodes + 1) / 2
    heights = np.interp(y, belief.values, belief.mass)
    return float((cost(y) * heights * np.diff(grid)[:, None] * weights / 2).sum())


def _ends(part: Any, place: float) -> list[float]:
    least, top = -math.inf, math.inf
    if isinstance(part, Normal):
        inner = part.mean + part.spread * STEPS
    elif isinstance(part, LogNormal):
        least, inner = part.minimum, np.exp(part.mu + part.sigma * STEPS)
    elif isinstance(part, Pareto):
        least = part.minimum
        inner = part.minimum * (1 - np.array(TAILS)) ** (-1 / part.alpha)
    else:
        assert isinstance(part, Gamma)
        least, scale = part.minimum, math.sqrt(part.shape) / part.rate
        inner = part.shape / part.rate + scale * STEPS
    found = sorted({float(x) for x in (*inner, place) if least < x < top})
    return [least, *found, top]


def _density(part: Any, y: float) -> float:
    if isinstance(part, Normal):
        z = (y - part.mean) / part.spread
        return math.exp(-z * z / 2) / part.spread / math.sqrt(2 * math.pi)
    return float(np.exp(part.log_density(np.array([y]))[0])) if y > 0 else 0.0
