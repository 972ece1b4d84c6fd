"""Laws of the error in a number: normal, double exponential, uniform, or written on a grid."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats

ROOT = float(np.sqrt(2))
EDGE = 1 + 1e-9  # an error at the end of its range is within it, whatever the rounding
NODES = 12  # of Gauss and Legendre, between two breaks
PIECE = 4_096  # persons at a time
PARTS = 8  # equal ones of the range, beside the breaks
NORMAL_BREAKS = np.array([-10.0, -6.5, -4, -2.2, -1, 0, 1, 2.2, 4, 6.5, 10])
LAPLACE_BREAKS = np.array([-30.0, -12, -5, -2, -0.7, 0, 0.7, 2, 5, 12, 30])


@dataclass(frozen=True)
class Law:
    """The density of an error in units of its spread, symmetric unless it is written.

    normal       exp(-z^2 / 2) / sqrt(2 pi)      spread: the standard deviation
    laplace      exp(-sqrt(2) |z|) / sqrt(2)     spread: the standard deviation
    uniform      1 / 2 for |z| <= 1              spread: half the width
    written      linear between points           spread: a factor that stretches them

    >>> law = Law("written", ((-1.0, 0.0, 1.0), (0.0, 5.0, 0.0)))
    >>> law.log_density([0.0, 0.5], 1.0).round(3)
    array([ 0.   , -0.693])
    """

    kind: str
    grid: tuple[tuple[float, ...], tuple[float, ...]] | None = None

    def log_density(self, away: ArrayLike, spread: ArrayLike) -> Floats:
        """Of errors so far from none, for these spreads."""
        away, spread = np.asarray(away, np.float64), np.asarray(spread, np.float64)
        z = away / spread
        if self.kind == "normal":
            shape = -(z**2) / 2 - np.log(2 * np.pi) / 2
        elif self.kind == "laplace":
            shape = -ROOT * np.abs(z) - np.log(ROOT)
        elif self.kind == "uniform":
            shape = np.where(np.abs(z) <= EDGE, -np.log(2), -np.inf)
        else:
            at, heights = self._scaled
            with np.errstate(divide="ignore"):
                shape = np.log(np.interp(z, at, heights, left=0.0, right=0.0))
        return np.asarray(shape - np.log(spread))

    @cached_property
    def _scaled(self) -> tuple[Floats, Floats]:
        """Points and heights, of area 1."""
        assert self.grid is not None
        at, heights = (np.array(part, np.float64) for part in self.grid)
        return at, heights / np.trapezoid(heights, at)

    @property
    def breaks(self) -> Floats:
        """Where the density bends, in spreads; the first and last are its range, or nearly so."""
        if self.kind == "written":
            return self._scaled[0]
        return {
            "normal": NORMAL_BREAKS,
            "laplace": LAPLACE_BREAKS,
            "uniform": np.array([-1.0, 1.0]),
        }[self.kind]

    @property
    def bounded(self) -> bool:
        return self.kind in ("uniform", "written")

    @cached_property
    def deviation(self) -> float:
        """The root of the mean square error, in spreads."""
        if self.kind == "written":
            at, heights = self._scaled
            fine = np.linspace(at[0], at[-1], 10_001)
            return float(np.sqrt(np.trapezoid(fine**2 * np.interp(fine, at, heights), fine)))
        return 1 / np.sqrt(3) if self.kind == "uniform" else 1.0

    def draw(self, spread: Floats, rng: np.random.Generator) -> Floats:
        """One error for each spread."""
        many = len(spread)
        if self.kind == "normal":
            return spread * rng.normal(size=many)
        if self.kind == "laplace":
            return spread * rng.laplace(0, 1 / ROOT, many)
        if self.kind == "uniform":
            return spread * rng.uniform(-1, 1, many)
        at, heights = self._scaled
        fine = np.union1d(at, np.linspace(at[0], at[-1], 4_001))
        there = np.interp(fine, at, heights)
        upto = np.concatenate([[0], np.cumsum((there[1:] + there[:-1]) / 2 * np.diff(fine))])
        return np.asarray(spread * np.interp(rng.random(many) * upto[-1], upto, fine))


Factor = tuple[Law, Floats, Floats]  # a law, what is stated of each person, spreads


def log_product(factors: list[Factor], true: Floats) -> Floats:
    """Log of the product of the densities of stated - true; who states nothing is left out."""
    total = np.zeros(true.shape)
    for law, stated, spread in factors:
        rows = (slice(None), *[None] * (true.ndim - 1))
        with np.errstate(invalid="ignore"):
            one = law.log_density(stated[rows] - true, spread[rows])
        total += np.where(np.isnan(stated)[rows], 0.0, one)
    return total


def spread_out(factors: list[Factor], nodes: int = NODES) -> tuple[Floats, Floats]:
    """True values and log weights of each person, whose sums are integrals of the product.

    Gauss and Legendre between all points at which a factor bends, and where normal errors, shifted
    by the slopes of double exponential ones, have their peaks.
    """
    bends, low, high = _points(factors)
    even = low[:, None] + (high - low)[:, None] * np.linspace(0, 1, PARTS + 1)
    points = np.hstack([*bends, even])
    points = np.sort(np.clip(np.where(np.isnan(points), low[:, None], points), low[:, None],
                             high[:, None]), axis=1)  # fmt: skip
    places, shares = np.polynomial.legendre.leggauss(nodes)
    wide = np.diff(points, axis=1)[:, :, None]
    true = points[:, :-1, None] + wide * (places + 1) / 2
    true = true.reshape(len(low), -1)
    with np.errstate(divide="ignore"):
        logs = np.log(wide * shares / 2).reshape(len(low), -1)
    return true, logs + log_product(factors, true)


def _points(factors: list[Factor]) -> tuple[list[Floats], Floats, Floats]:
    """Points, and the lowest and highest true value that need be looked at."""
    many = len(factors[0][1])
    low, high = np.full(many, -np.inf), np.full(many, np.inf)
    ends = np.full(many, np.inf), np.full(many, -np.inf)
    points, precision, weighted = [], np.zeros(many), np.zeros(many)
    slopes = np.zeros((many, 1))
    for law, stated, spread in factors:
        there = ~np.isnan(stated)
        here = stated[:, None] - spread[:, None] * law.breaks
        points.append(here)
        first, last = np.nanmin(here, 1, initial=np.inf), np.nanmax(here, 1, initial=-np.inf)
        if law.bounded:
            low = np.where(there, np.maximum(low, first), low)
            high = np.where(there, np.minimum(high, last), high)
        else:
            ends = np.minimum(ends[0], first), np.maximum(ends[1], last)
        if law.kind == "normal":
            precision += np.where(there, spread**-2.0, 0.0)
            weighted += np.where(there, stated * spread**-2.0, 0.0)
        if law.kind == "laplace":
            slope = np.where(there, ROOT / spread, 0.0)[:, None]
            slopes = np.hstack([slopes - slope, slopes + slope])
    with np.errstate(divide="ignore", invalid="ignore"):
        variance = 1 / precision
        peaks = (weighted / precision)[:, None] + variance[:, None] * slopes
        near = peaks[:, :, None] + np.sqrt(variance)[:, None, None] * NORMAL_BREAKS
    near = np.where(precision[:, None] > 0, near.reshape(many, -1), np.nan)
    points.append(near)
    some = precision > 0
    first = np.where(some, np.nanmin(near, 1, initial=np.inf), ends[0])
    last = np.where(some, np.nanmax(near, 1, initial=-np.inf), ends[1])
    low = np.maximum(low, np.where(np.isfinite(first), first, -np.inf))
    high = np.minimum(high, np.where(np.isfinite(last), last, np.inf))
    high = np.maximum(low, high)  # they exclude each other: nothing is left
    return points, low, high


def log_integral(factors: list[Factor], nodes: int = NODES) -> Floats:
    """Log of the integral of the product over the true value; -inf if the factors exclude it."""
    from scipy.special import logsumexp

    found = np.empty(len(factors[0][1]))
    for first in range(0, len(found), PIECE):
        here = slice(first, first + PIECE)
        some = [(law, stated[here], spread[here]) for law, stated, spread in factors]
        found[here] = logsumexp(spread_out(some, nodes)[1], axis=1)
    return found
