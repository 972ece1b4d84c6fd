"""Positive values that are alike to an intruder: Pareto, gamma, log-normal, or any density."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.look.result import Shown

TAIL = 1e-12  # of the probability that a grid leaves out
POINTS = 8000


@dataclass(frozen=True)
class Pareto(Shown):
    """Density alpha minimum^alpha / x^(alpha + 1) above the minimum.

    >>> Pareto(1.2765, minimum=10).belief()
    Belief(density on 8,000 points: mean ...)
    """

    alpha: float
    minimum: float

    def __post_init__(self) -> None:
        _check_positive("alpha", self.alpha)
        _check_positive("the minimum", self.minimum)

    def log_density(self, x: Floats) -> Floats:
        start = math.log(self.alpha) + self.alpha * math.log(self.minimum)
        return np.asarray(start - (self.alpha + 1) * np.log(x))

    @property
    def scale(self) -> float:
        """The width of what is finest in the density."""
        return self.minimum / max(1.0, self.alpha)

    @property
    def spread(self) -> bool:
        """Is the variance finite?"""
        return self.alpha > 2

    def belief(self) -> Belief:
        """What is believed before anything is published."""
        grid = np.geomspace(self.minimum, self.minimum * TAIL ** (-1 / self.alpha), POINTS)
        return _on(grid, self.log_density(grid))

    def __str__(self) -> str:
        return f"Pareto({self.alpha:.4g}) from {self.minimum:g}"


@dataclass(frozen=True)
class Gamma(Shown):
    """Values with a density proportional to x^(shape - 1) exp(-rate x), above the minimum.

    >>> import discreet as dc
    >>> belief = dc.uncertainty.Gamma(shape=3, rate=0.5).belief()
    >>> round(belief.mean, 3), round(belief.quantile(0.5), 2)
    (6.0, 5.35)
    """

    shape: float
    rate: float
    minimum: float = 0.0

    def __post_init__(self) -> None:
        _check_positive("the shape", self.shape)
        _check_positive("the rate", self.rate)
        _check_minimum(self.minimum)
        if self.shape < 1 and not self.minimum:
            raise DataError(
                f"a gamma density of shape {self.shape:g} is infinite at 0; give a minimum above 0."
            )

    def log_density(self, x: Floats) -> Floats:
        from scipy.stats import gamma

        law = gamma(self.shape, scale=1 / self.rate)
        return np.asarray(law.logpdf(x) - law.logsf(self.minimum))

    @property
    def scale(self) -> float:
        width = 1 / self.rate
        return min(width, self.minimum) if self.minimum else width / (1 + self.shape)

    @property
    def spread(self) -> bool:
        return True

    def belief(self) -> Belief:
        from scipy.stats import gamma

        law = gamma(self.shape, scale=1 / self.rate)
        top = float(law.isf(TAIL * law.sf(self.minimum)))
        # with a shape up to 2 the mean of 1/x^2 is infinite: the grid then starts at 0 itself
        least = self.minimum or (0.0 if self.shape <= 2 else float(law.ppf(TAIL)))
        return _on(_graded(least, top, self.scale), self.log_density)

    def __str__(self) -> str:
        return _said(f"gamma({self.shape:.4g}, rate {self.rate:.4g})", self.minimum)


@dataclass(frozen=True)
class LogNormal(Shown):
    """Values whose logarithm is normal with mean mu and deviation sigma, above the minimum.

    >>> import discreet as dc
    >>> belief = dc.uncertainty.LogNormal(mu=2, sigma=0.5).belief()
    >>> round(belief.mean, 2), round(belief.quantile(0.5), 2)
    (8.37, 7.39)
    """

    mu: float
    sigma: float
    minimum: float = 0.0

    def __post_init__(self) -> None:
        _check_positive("sigma", self.sigma)
        _check_minimum(self.minimum)
        if not math.isfinite(self.mu):
            raise DataError(f"mu is {self.mu}; give a number.")

    @property
    def _law(self) -> Any:
        from scipy.stats import lognorm

        return lognorm(self.sigma, scale=math.exp(self.mu))

    def log_density(self, x: Floats) -> Floats:
        found = np.full(np.shape(x), -np.inf)
        above = np.asarray(x) > 0
        found[above] = self._law.logpdf(x[above]) - self._law.logsf(self.minimum)
        return found

    @property
    def scale(self) -> float:
        low = math.exp(self.mu - 2 * self.sigma) * min(1.0, self.sigma)
        return max(low, min(self.minimum, math.exp(self.mu)) * min(1.0, self.sigma))

    @property
    def spread(self) -> bool:
        return True

    def belief(self) -> Belief:
        low = self.minimum or float(self._law.ppf(TAIL))
        top = float(self._law.isf(TAIL * self._law.sf(self.minimum)))
        return _on(np.geomspace(low, top, POINTS), self.log_density)

    def __str__(self) -> str:
        return _said(f"log-normal({self.mu:.4g}, {self.sigma:.4g})", self.minimum)


@dataclass(frozen=True)
class AnyFamily(Shown):
    """Values with any log density that is smooth from the minimum on.

    `scale` is the width of its finest part; `top` is needed for a belief before any total is known.

    >>> import discreet as dc
    >>> import numpy as np
    >>> family = dc.uncertainty.AnyFamily(lambda x: np.log(2) - 2 * x, scale=0.5, top=20)
    >>> round(family.belief().mean, 3)
    0.5
    """

    log: Callable[[Floats], Any]
    scale: float
    minimum: float = 0.0
    top: float = math.inf  # where `belief` stops
    spread: bool = True

    def __post_init__(self) -> None:
        _check_positive("the scale", self.scale)
        _check_minimum(self.minimum)

    def log_density(self, x: Floats) -> Floats:
        found = np.asarray(self.log(x), np.float64)
        if found.shape != np.shape(x) or np.isnan(found).any() or (found == np.inf).any():
            raise DataError("the log density gives no number somewhere; it must be finite or -inf.")
        return found

    def belief(self) -> Belief:
        if not math.isfinite(self.top):
            raise DataError("say where the density may be cut off: give a finite `top`.")
        return _on(_graded(self.minimum, self.top, self.scale), self.log_density)

    def __str__(self) -> str:
        return _said("a density of your own", self.minimum)


Family = Pareto | Gamma | LogNormal | AnyFamily


def _on(grid: Floats, density: Floats | Callable[[Floats], Floats]) -> Belief:
    return Belief.density(grid, np.exp(density(grid) if callable(density) else density))


def _graded(low: float, high: float, scale: float) -> Floats:
    return low + scale * np.expm1(np.linspace(0, math.log1p((high - low) / scale), POINTS))


def _said(law: str, minimum: float) -> str:
    return f"{law} from {minimum:g}" if minimum else law


def _check_positive(what: str, number: float) -> None:
    if not (math.isfinite(number) and number > 0):
        raise DataError(f"{what} is {number}; give a number above 0.")


def _check_minimum(number: float) -> None:
    if not (math.isfinite(number) and number >= 0):
        raise DataError(f"the minimum is {number}; give a number from 0 on.")
