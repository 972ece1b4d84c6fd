"""Intervals of a fitted beta distribution by profile likelihood, and its likelihood region.

An interval holds every value at which twice the log likelihood, maximised over all else, is within
the chi-square quantile of its maximum: of one degree of freedom for one parameter, of two for the
region of mean and size. An end is open (0 or infinite) if the likelihood never falls so far: that
is so of the size where the domains may differ no more than by chance. There the quantile is on the
careful side, for the parameter lies on the edge of what it can be (Self & Liang 1987).
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.models.likelihood import LEAST_SIZE, MOST_SIZE, Domains, likelihood

if TYPE_CHECKING:
    from discreet.models.domain_shares import BetaFit

Rising = Callable[[float], tuple[float, Floats]]
FAR = 40.0  # of a logit
STRIDE = 0.05  # the first step outwards; each next one is twice as far
SIZES = 24  # of the region's edge, two points each
CLOSE = 1e-7
GRID = 9
STEPS = 100
SMALL = 1e-9  # gain in log likelihood that ends a climb


def profile_intervals(fit: BetaFit, level: float = 0.95) -> dict[str, tuple[float, float]]:
    """Of alpha, beta, mean, size and the covariates, by profile likelihood."""
    search = _Search(fit)
    drop = _quantile(level, 1) / 2
    at = fit.coefficients
    ends: dict[str, tuple[float, float]] = {}
    for name, value in (("alpha", fit.alpha), ("beta", fit.beta)):
        share = math.log(value) - float(at[-1])
        span = (share + LEAST_SIZE + CLOSE, share + MOST_SIZE - CLOSE)
        low, high = search.ends(name, math.log(value), drop, *span)
        ends[name] = (math.exp(low), math.exp(high))
    low, high = search.ends("mean", float(at[0]), drop, -FAR, FAR)
    ends["mean"] = (_expit(low), _expit(high))
    low, high = search.ends("size", float(at[-1]), drop, LEAST_SIZE, MOST_SIZE)
    ends["size"] = (math.exp(low), math.exp(high))
    for place, name in enumerate(fit.names, 1):
        reach = FAR * max(1.0, math.sqrt(max(0.0, float(_covariance(fit)[place, place]))))
        centre = float(at[place])
        ends[name] = search.ends(place, centre, drop, centre - reach, centre + reach)
    return ends


def region(fit: BetaFit, level: float = 0.95) -> list[Floats]:
    """Coefficients along the edge of the joint likelihood region of mean and size.

    Of 24 sizes, from the least to the largest, the least and the largest mean each; covariates at
    the values that fit best. A size that may be without limit ends at 1e8.
    """
    search = _Search(fit)
    drop = _quantile(level, 2) / 2
    low, high = search.ends("size", float(fit.coefficients[-1]), drop, LEAST_SIZE, MOST_SIZE)
    found = []
    for size in np.linspace(max(low, LEAST_SIZE), min(high, MOST_SIZE), SIZES):
        top = search.best("size", float(size), fit.coefficients)[1]

        def at_mean(mean: float, size: float = float(size), top: Floats = top) -> Any:
            return search.slopes(mean, size, top)

        for sign in (-1.0, 1.0):
            end = search.end(at_mean, float(top[0]), drop, sign, sign * FAR)
            found.append(at_mean(min(max(end, -FAR), FAR))[1])
    return found


class _Search:
    """Maxima of the likelihood with one parameter, or mean and size, held."""

    def __init__(self, fit: BetaFit) -> None:
        if fit.fitted_to is None:
            raise DataError("alpha and beta are given, not fitted; there is no interval of them.")
        self.domains: Domains = fit.fitted_to
        self.top = likelihood(fit.coefficients, self.domains)[0]
        self.at = fit.coefficients

    def ends(
        self, held: str | int, centre: float, drop: float, low: float, high: float
    ) -> tuple[float, float]:
        def profile(value: float) -> tuple[float, Floats]:
            return self.best(held, value, self.at)

        return (
            self.end(profile, centre, drop, -1.0, low),
            self.end(profile, centre, drop, 1.0, high),
        )

    def end(self, rises: Rising, centre: float, drop: float, sign: float, limit: float) -> float:
        """The last value on one side that is within the drop; infinite if the limit is."""
        from scipy.optimize import brentq

        def over(value: float) -> float:
            return self.top - drop - rises(value)[0]

        if sign * centre >= sign * limit or over(limit) <= 0:
            return sign * math.inf
        if over(centre) >= 0:  # the end of the region itself
            return centre
        stops, step = [centre], STRIDE
        while step < abs(limit - centre):
            stops.append(centre + sign * step)
            step *= 2
        stops.append(limit)
        outside = len(stops) - 1
        while outside > 1 and over(stops[outside - 1]) > 0:
            outside -= 1
        return float(brentq(over, stops[outside - 1], stops[outside], xtol=CLOSE))

    def best(self, held: str | int, value: float, start: Floats) -> tuple[float, Floats]:
        """The largest likelihood with a parameter held: a grid, then from its top, and `start`."""
        whole, kept, bounds, axis = self._ways(held, value, len(start))
        low, high = bounds[axis]
        if not low < high:
            return -math.inf, start
        grid = np.linspace(max(low, -FAR), min(high, FAR), GRID)
        tried = np.tile(start[kept], (GRID, 1))
        tried[:, axis] = grid
        values = [likelihood(whole(one)[0], self.domains)[0] for one in tried]
        firsts = (start[kept], tried[int(np.argmax(values))])
        return max((self._climb(whole, one, bounds) for one in firsts), key=lambda found: found[0])

    def slopes(self, mean: float, size: float, start: Floats) -> tuple[float, Floats]:
        """With mean and size held, over the covariates."""
        at = start.copy()
        at[0], at[-1] = mean, size
        if len(at) == 2:
            return likelihood(at, self.domains)[0], at
        inner = np.arange(1, len(at) - 1)

        def whole(z: Floats) -> tuple[Floats, Floats]:
            found = at.copy()
            found[inner] = z
            return found, np.eye(len(at))[:, inner]

        return self._climb(whole, at[inner], [(-math.inf, math.inf)] * len(inner))

    def _ways(self, held: str | int, value: float, length: int) -> Any:
        """From the free parameters to all coefficients, with the slope; which are free, within
        which bounds, and the place of the one that is tried on a grid."""
        if held in ("alpha", "beta"):
            sign = 1.0 if held == "alpha" else -1.0

            def whole(z: Floats) -> tuple[Floats, Floats]:
                """ln size = ln alpha - ln mu, of beta the other side."""
                line = sign * z[0]
                at = np.append(z, value + np.logaddexp(0.0, -line))
                slope = np.eye(length)[:, :-1]
                slope[-1, 0] = -sign * _expit(-line)
                return at, slope

            least, most = (_logit_of(end - value) for end in (LEAST_SIZE, MOST_SIZE))
            span = (-most, -least) if sign > 0 else (least, most)
            bounds = [span, *[(-math.inf, math.inf)] * (length - 2)]
            return whole, np.arange(length - 1), bounds, 0
        place = held if isinstance(held, int) else {"mean": 0, "size": length - 1}[held]
        kept = np.array([k for k in range(length) if k != place])

        def others(z: Floats) -> tuple[Floats, Floats]:
            at = np.empty(length)
            at[kept], at[place] = z, value
            return at, np.eye(length)[:, kept]

        bounds = [
            (LEAST_SIZE, MOST_SIZE) if k == length - 1 else (-math.inf, math.inf) for k in kept
        ]
        return others, kept, bounds, 0 if place == length - 1 else -1

    def _climb(self, whole: Any, start: Floats, bounds: Any) -> tuple[float, Floats]:
        """Newton's method within bounds; where the likelihood is not concave, along its slope."""
        low, high = np.array(bounds).T
        z = np.clip(start, low, high)
        at, turn = whole(z)
        value, slope, bends = likelihood(at, self.domains)
        for _ in range(STEPS):
            sizes, axes = np.linalg.eigh(-(turn.T @ bends @ turn))
            sizes = np.maximum(np.abs(sizes), 1e-9 * max(1.0, float(np.abs(sizes).max())))
            step = axes @ ((axes.T @ (slope @ turn)) / sizes)
            step *= min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-300))
            for _ in range(30):
                there = np.clip(z + step, low, high)
                at_there, turn_there = whole(there)
                found = likelihood(at_there, self.domains)
                if found[0] > value:
                    break
                step = step / 2
            else:
                break
            gain = found[0] - value
            z, at, turn = there, at_there, turn_there
            value, slope, bends = found
            if gain <= SMALL:
                break
        return value, at


def _logit_of(excess: float) -> float:
    """x with ln(1 + e^x) = excess, -inf if there is none."""
    if excess <= 0:
        return -math.inf
    return excess + math.log(-math.expm1(-excess))


def _quantile(level: float, freedom: int) -> float:
    from scipy.special import chdtri

    if not 0 < level < 1:
        raise DataError(f"the level is {level!r}; give a number between 0 and 1, like 0.95.")
    return float(chdtri(freedom, 1 - level))


def _covariance(fit: BetaFit) -> Floats:
    assert fit.covariance is not None
    return fit.covariance


def _expit(x: float) -> float:
    if x < 0:
        return math.exp(max(x, -745.0)) / (1 + math.exp(max(x, -745.0)))
    return 1 / (1 + math.exp(-x))
