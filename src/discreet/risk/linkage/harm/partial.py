"""Moments of a belief about a number between two ends, and of one over it.

    m_k = integral from low to high of (y - about)^k p(y) dy,   k = 0, 1, 2

Closed forms; of a density on a grid, of its pieces, which are cubics.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.atoms import numeric
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.predictive.families import AnyFamily, Gamma, LogNormal, Pareto
from discreet.look.result import Shown

Moments = tuple[Floats, Floats, Floats]
NODES, WEIGHTS = np.polynomial.legendre.leggauss(2)


@dataclass(frozen=True)
class Normal(Shown):
    """A number that is believed to be normal.

    >>> import discreet as dc
    >>> dc.linkage.Normal(mean=100, spread=20)
    Normal(mean=100, spread=20)
    """

    mean: float
    spread: float

    def __post_init__(self) -> None:
        if not (math.isfinite(self.mean) and math.isfinite(self.spread) and self.spread > 0):
            raise DataError(
                f"a normal belief has the mean {self.mean} and the spread {self.spread}; give "
                "numbers, the spread above 0."
            )


Single = Belief | Normal | LogNormal | Pareto | Gamma | AnyFamily
Number = Single | Sequence[tuple[float, Single]]


def parts_of(belief: Number) -> list[tuple[float, Single]]:
    """Shares and what is believed with each; densities of one's own are taken on their grid."""
    parts = [(1.0, belief)] if isinstance(belief, Single) else list(belief)
    shares = [share for share, _ in parts]
    if not parts or min(shares) < 0 or not math.isclose(sum(shares), 1, abs_tol=1e-9):
        raise DataError(f"the shares of a mixture sum to {sum(shares):.9g}, not to 1.")
    found: list[tuple[float, Single]] = []
    for share, part in parts:
        held = part.belief() if isinstance(part, AnyFamily) else part
        if isinstance(held, Belief) and not numeric(held.values):
            raise DataError(
                f"the values are labels ({held.values[0]!s}, ...); harm of a number needs numbers."
            )
        found.append((float(share), held))
    return found


def is_atoms(part: Single) -> bool:
    """Single values with probabilities?"""
    return isinstance(part, Belief) and part.kind is not Kind.DENSITY


def partial(part: Single, low: Any, high: Any, about: Any) -> Moments:
    """m0, m1, m2 of a belief with a density."""
    if isinstance(part, Normal):
        return of_normal(part.mean, part.spread, low, high, about)
    if isinstance(part, LogNormal):
        low = np.maximum(low, part.minimum)
        whole = _raw(part, part.minimum, math.inf)[0]
        return _about([m / whole for m in _raw(part, low, np.maximum(low, high))], about)
    if isinstance(part, Pareto | Gamma):
        low = np.maximum(low, part.minimum)
        high = np.maximum(low, high)
        if isinstance(part, Pareto):
            return _about(_pareto(part, low, high), about)
        return _about(_gamma(part, low, high), about)
    assert isinstance(part, Belief)
    return _on_grid(part, float(low), float(high), float(about))


def of_normal(mean: Any, spread: Any, low: Any, high: Any, about: Any) -> Moments:
    """Of normal beliefs, element by element."""
    a, b = (np.asarray((end - mean) / spread, np.float64) for end in (low, high))
    share, fa, fb = _between(a, b), _phi(a), _phi(b)
    first, second = fa - fb, share + _times(a, fa) - _times(b, fb)
    away = np.asarray(mean - about, np.float64)
    return (
        share,
        away * share + spread * first,
        away**2 * share + 2 * away * spread * first + spread**2 * second,
    )


def of_lognormal(mu: Any, sigma: Any, low: Any, high: Any, about: Any) -> Moments:
    """Of numbers whose logarithm is normal, element by element."""
    return _about(_lognormal(mu, sigma, low, high), about)


def inverse_moments(part: Single) -> tuple[float, float]:
    """The means of 1/X and 1/X^2, infinite where the density reaches 0."""
    if is_atoms(part):
        assert isinstance(part, Belief)
        x = part.values.astype(np.float64)[part.mass > 0]
        mass = part.mass[part.mass > 0]
        if (x == 0).any():
            return math.inf, math.inf
        return float(mass @ (1 / x)), float(mass @ (1 / x**2))
    if isinstance(part, LogNormal):
        whole = _raw(part, part.minimum, math.inf)[0]
        low = _log(part.minimum)
        first, second = (
            math.exp(-k * part.mu + (k * part.sigma) ** 2 / 2)
            * _between((low - part.mu) / part.sigma + k * part.sigma, np.asarray(math.inf))
            for k in (1, 2)
        )
        return float(first / whole), float(second / whole)
    if isinstance(part, Pareto):
        a, m = part.alpha, part.minimum
        return a / (a + 1) / m, a / (a + 2) / m**2
    if isinstance(part, Gamma) and part.minimum == 0:
        if part.shape <= 2:
            return math.inf, math.inf
        k, r = part.shape, part.rate
        return r / (k - 1), r**2 / ((k - 1) * (k - 2))
    if isinstance(part, Normal):
        return math.inf, math.inf
    return _inverse_on_grid(part if isinstance(part, Belief) else part.belief())


def _lognormal(mu: Any, sigma: Any, low: Any, high: Any) -> list[Floats]:
    a, b = ((_log(end) - mu) / sigma for end in (low, high))
    return [
        np.exp(k * mu + (k * sigma) ** 2 / 2) * _between(a - k * sigma, b - k * sigma)
        for k in range(3)
    ]


def _raw(part: LogNormal, low: Any, high: Any) -> list[Floats]:
    return _lognormal(part.mu, part.sigma, low, high)


def _pareto(part: Pareto, low: Any, high: Any) -> list[Floats]:
    """alpha m^alpha [y^(k - alpha) / (k - alpha)], of y in units of the minimum m."""
    alpha, m, found = part.alpha, part.minimum, []
    a, b = (np.asarray(end, np.float64) / m for end in (low, high))
    for k in range(3):
        if math.isclose(alpha, k, rel_tol=1e-12):
            found.append(alpha * m**k * (np.log(b) - np.log(a)))
            continue
        with np.errstate(invalid="ignore"):
            ends = a ** (k - alpha) - b ** (k - alpha)
        found.append(alpha * m**k / (alpha - k) * np.where(a == b, 0.0, ends))
    return found


def _gamma(part: Gamma, low: Any, high: Any) -> list[Floats]:
    from scipy.special import gammainc, gammaincc

    shape, rate = part.shape, part.rate
    a, b = (np.asarray(end, np.float64) * rate for end in (low, high))
    whole = float(gammaincc(shape, part.minimum * rate))
    found, factor = [], 1.0
    for k in range(3):
        far = a > shape + k  # from the nearer side, so that tails keep their digits
        upper = gammaincc(shape + k, a) - gammaincc(shape + k, b)
        lower = gammainc(shape + k, b) - gammainc(shape + k, a)
        found.append(factor / whole * np.where(far, upper, lower))
        factor *= (shape + k) / rate
    return found


def _on_grid(belief: Belief, low: float, high: float, about: float) -> Moments:
    x, f = belief.values, belief.mass
    a, b = np.clip(x[:-1], low, high), np.clip(x[1:], low, high)
    found = [np.zeros(()) for _ in range(3)]
    for node, weight in zip(NODES, WEIGHTS, strict=True):
        y = a + (b - a) * (node + 1) / 2
        mass = (b - a) * weight / 2 * np.interp(y, x, f)
        for k in range(3):
            found[k] = found[k] + mass @ (y - about) ** k
    return found[0], found[1], found[2]


def _inverse_on_grid(belief: Belief) -> tuple[float, float]:
    """Of f = p + q x on each piece: p log x + q x, and -p / x + q log x, between its ends."""
    x, f = belief.values, belief.mass
    there = (f[:-1] > 0) | (f[1:] > 0)
    a, b, fa, fb = (each[there] for each in (x[:-1], x[1:], f[:-1], f[1:]))
    if ((a <= 0) & (b >= 0)).any():
        return math.inf, math.inf
    slope = (fb - fa) / (b - a)
    level, logs = fa - slope * a, np.log(np.abs(b / a))
    first = level * logs + slope * (b - a)
    return float(first.sum()), float((level * (1 / a - 1 / b) + slope * logs).sum())


def _about(raw: Sequence[Floats], about: Any) -> Moments:
    m0, m1, m2 = (np.asarray(m, np.float64) for m in raw)
    c = np.asarray(about, np.float64)
    first = m1 - c * m0
    with np.errstate(invalid="ignore"):
        second = np.where(np.isinf(m2), math.inf, m2 - 2 * c * m1 + c**2 * m0)
    return m0, first, second


def _between(a: Any, b: Any) -> Floats:
    """Phi(b) - Phi(a), to full precision in either tail."""
    from scipy.special import ndtr

    a, b = np.asarray(a), np.asarray(b)
    return np.asarray(np.where(a > 0, ndtr(-a) - ndtr(-b), ndtr(b) - ndtr(a)))


def _phi(z: Floats) -> Floats:
    return np.asarray(np.exp(-np.minimum(z * z, 1500) / 2) / math.sqrt(2 * math.pi))


def _times(z: Floats, phi: Floats) -> Floats:
    return np.where(np.isfinite(z), np.where(np.isfinite(z), z, 0.0) * phi, 0.0)


def _log(x: Any) -> Floats:
    x = np.asarray(x, np.float64)
    return np.where(x > 0, np.log(np.where(x > 0, x, 1.0)), -math.inf)
