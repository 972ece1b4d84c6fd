"""A belief about categories that are ranges of numbers, as a belief about the number."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from itertools import pairwise
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.atoms import check_share, gathered, judged
from discreet.intruder.belief.belief import Belief, Event, Kind
from discreet.intruder.belief.effective import kish
from discreet.look.result import Shown

UNIFORM = -1.0  # alpha of a density that is level
SHOWN = 200  # points of a range in a picture
TAIL_SHOWN = 1e-4
FAR = 230.0  # log of how far beyond its start an open range is followed
PANELS = 32
NODES, SHARES = np.polynomial.legendre.leggauss(5)
HALVINGS = 200
SLIVER = 1e-7  # of the width of everything: how a single value is drawn among ranges


@dataclass(frozen=True)
class Within(Shown):
    """What is believed within a range: its midpoint, or a density.

    The density is proportional to x^(-alpha - 1): of a Pareto distribution, level with alpha -1.
    An open range may have a `tail` of its own.

    >>> Within.named("midpoint"), Within.named("pareto:1.5")
    (Within(alpha=None, tail=None), Within(alpha=1.5, tail=None))
    >>> print(Within.named("uniform+pareto:1.5"))
    uniform within its range, Pareto(1.5) if it is open
    """

    alpha: float | None = None
    tail: float | None = None

    @classmethod
    def named(cls, text: str | Within) -> Within:
        if isinstance(text, Within):
            return text
        name, _, rest = str(text).partition(":")
        if name in ("midpoint", "uniform") and not rest:
            return cls(None if name == "midpoint" else UNIFORM)
        if name in ("pareto", "uniform+pareto"):
            try:
                alpha = float(rest)
            except ValueError:
                alpha = math.nan
            if math.isfinite(alpha) and alpha > 0:
                return cls(alpha) if name == "pareto" else cls(UNIFORM, alpha)
            raise DataError(f"{text!r} has no alpha above 0; write pareto:1.5, for example.")
        raise DataError(
            f"within is {text!r}; write midpoint, uniform, pareto:ALPHA or uniform+pareto:ALPHA."
        )

    def __str__(self) -> str:
        if self.alpha is None:
            return "at its midpoint"
        if self.alpha == UNIFORM:
            more = "" if self.tail is None else f", Pareto({self.tail:g}) if it is open"
            return f"uniform within its range{more}"
        return f"Pareto({self.alpha:g}) within its range"


@dataclass(frozen=True)
class Piece:
    """A density proportional to x^(-alpha - 1) from low to high; one value if these are the same.

    >>> half = Piece(10, 20)
    >>> half.moment(1), round(half.moment(-1), 5), half.below(15), half.shortfall(15)
    (15.0, 0.06931, 0.5, 1.25)
    """

    low: float
    high: float
    alpha: float = UNIFORM

    @property
    def point(self) -> bool:
        return self.low == self.high

    def _power(self, q: float, high: float) -> float:
        """The integral of x^(q - 1) from low to `high`, in units of the scale."""
        a, b = self.low / self._scale, high / self._scale
        if math.isinf(b):
            return math.inf if q >= 0 else -float(a**q) / q
        if a > 0:
            span = math.log(b / a)
            start = float(a**q)
            return start * (span if abs(q * span) < 1e-12 else math.expm1(q * span) / q)
        if q <= 0:
            return math.inf
        return float(b**q - a**q) / q  # of a level density alone, where q is whole

    @property
    def _scale(self) -> float:
        return self.low if self.low > 0 else max(abs(self.low), abs(self.high))

    def moment(self, power: int) -> float:
        """The mean of x^power; infinite where it is."""
        if self.point:
            return math.inf if self.low == 0 and power < 0 else self.low**power
        if self.alpha == UNIFORM and power > 0:  # exact, also below 0
            a, b = self.low, self.high
            return (a + b) / 2 if power == 1 else (a * a + a * b + b * b) / 3
        top = self._power(power - self.alpha, self.high)
        return top / self._power(-self.alpha, self.high) * self._scale**power

    @property
    def variance(self) -> float:
        if self.alpha == UNIFORM:
            return (self.high - self.low) ** 2 / 12
        second = self.moment(2)
        return second if math.isinf(second) else max(0.0, second - self.moment(1) ** 2)

    def below(self, x: float) -> float:
        """The probability of at most x."""
        if x < self.low or (x <= self.low and not self.point):
            return 0.0
        if x >= self.high:
            return 1.0
        if self.alpha == UNIFORM:
            return (x - self.low) / (self.high - self.low)
        return self._power(-self.alpha, x) / self._power(-self.alpha, self.high)

    def shortfall(self, x: float) -> float:
        """The mean of x - X where X is below x, else 0."""
        if x <= self.low:
            return 0.0
        if x >= self.high:
            return x - self.moment(1)
        if self.alpha == UNIFORM:
            return (x - self.low) ** 2 / (2 * (self.high - self.low))
        part = self._power(1 - self.alpha, x) / self._power(-self.alpha, self.high) * self._scale
        return max(0.0, x * self.below(x) - part)

    def at(self, p: Floats) -> Floats:
        """Quantiles."""
        if self.point:
            return np.full(np.shape(p), self.low)
        if self.alpha == UNIFORM:
            return np.asarray(self.low + p * (self.high - self.low))
        left = 0.0 if math.isinf(self.high) else (self.high / self.low) ** -self.alpha
        with np.errstate(divide="ignore"):
            return np.asarray(self.low * (1 - p * (1 - left)) ** (-1 / self.alpha))

    def nodes(self, cuts: tuple[float, ...]) -> tuple[Floats, Floats]:
        """Points and weights that integrate over the range, piece by piece between cuts."""
        if self.point:
            return np.array([self.low]), np.ones(1)
        log = self.alpha != UNIFORM
        far = self.low * math.exp(FAR) if math.isinf(self.high) else self.high
        ends = sorted({self.low, far, *(cut for cut in cuts if self.low < cut < far)})
        grid = np.log(ends) if log else np.array(ends)
        panels = [
            np.linspace(a, b, PANELS + 1)
            if b - a < FAR / 4 or not log
            else a + np.expm1(np.linspace(0, math.log1p(b - a), 8 * PANELS + 1))
            for a, b in pairwise(grid)
        ]
        edges = np.unique(np.concatenate(panels))
        half = np.diff(edges)[:, None] / 2
        u = ((edges[1:] + edges[:-1])[:, None] / 2 + half * NODES).ravel()
        weight = (half * SHARES).ravel() * (np.exp(-self.alpha * (u - u[0])) if log else 1.0)
        return np.exp(u) if log else u, weight / weight.sum()


@dataclass(frozen=True, eq=False, repr=False)
class Valued(Belief):
    """A number that lies in one of several ranges, each with a probability; moments are exact.

    >>> belief = Valued.of([(0.75, Piece(10, 20)), (0.25, Piece(20, 40))])
    >>> belief.mean, round(belief.variance, 3), belief.quantile(0.5)
    (18.75, 56.771, 16.666666666666668)
    """

    pieces: tuple[tuple[float, Piece], ...] = ()

    @classmethod
    def of(cls, pieces: list[tuple[float, Piece]]) -> Valued:
        """Its picture is drawn on a grid, an open range up to a far quantile."""
        held = tuple((w, piece) for w, piece in pieces if w > 0)
        tops = [p.high if math.isfinite(p.high) else _far(p) for _, p in held]
        width = max(tops) - min(p.low for _, p in held)
        parts = [_drawn(p, top, width) for (_, p), top in zip(held, tops, strict=True)]
        drawn = Belief.mixture(parts, [w for w, _ in held])
        return cls(Kind.DENSITY, drawn.values, drawn.mass, pieces=held)

    @property
    def open(self) -> bool:
        return any(math.isinf(piece.high) for _, piece in self.pieces)

    @property
    def ends(self) -> tuple[float, float]:
        lows, highs = zip(*((p.low, p.high) for _, p in self.pieces), strict=True)
        return min(lows), max(highs)

    def moment(self, power: int) -> float:
        return float(sum(w * piece.moment(power) for w, piece in self.pieces))

    @property
    def mean(self) -> float:
        return self.moment(1)

    @property
    def variance(self) -> float:
        middle = self.mean
        if math.isinf(middle):
            return math.inf
        each = (w * (p.variance + (p.moment(1) - middle) ** 2) for w, p in self.pieces)
        return float(sum(each))

    def shortfall(self, x: float) -> float:
        """The mean of x - X where X is below x, else 0."""
        return float(sum(w * piece.shortfall(x) for w, piece in self.pieces))

    def _below(self, x: float) -> float:
        return float(sum(w * piece.below(x) for w, piece in self.pieces))

    def probability(self, event: Event) -> float:
        if isinstance(event, tuple):
            low, high = event
            atoms = sum(w for w, p in self.pieces if p.point and p.low == low)
            return max(0.0, self._below(high) - self._below(low) + atoms)
        if callable(event):
            values, mass = self.nodes()
            return min(1.0, float(mass @ judged(event, values)))
        return float(sum(w for w, p in self.pieces if p.point and p.low == event))

    def quantile(self, p: float) -> float:
        check_share(p)
        low, high = self.ends
        if p >= 1 or low == high:
            return high if p >= 1 else low
        if math.isinf(high):
            high = max(p.low for _, p in self.pieces)
            while self._below(high) < p:
                high *= 2
        corners = sorted({e for _, piece in self.pieces for e in (piece.low, piece.high)})
        for a in corners:  # narrowed to where the distribution function is smooth
            if low <= a <= high:
                low, high = (a, high) if self._below(a) < p else (low, a)
        for _ in range(HALVINGS):
            middle = (low + high) / 2
            if middle in (low, high):
                break
            low, high = (middle, high) if self._below(middle) < p else (low, middle)
        return float(high)

    def sample(self, n: int, rng: np.random.Generator | int) -> NDArray[Any]:
        rng = np.random.default_rng(rng)
        shares = np.array([w for w, _ in self.pieces])
        chosen, p = rng.choice(len(shares), n, p=shares / shares.sum()), rng.random(n)
        found = np.empty(n)
        for i, (_, piece) in enumerate(self.pieces):
            found[chosen == i] = piece.at(p[chosen == i])
        return found

    def nodes(self, *cuts: float) -> tuple[Floats, Floats]:
        """Values and probabilities that stand for the whole, for expectations of a function."""
        found = [(piece.nodes(cuts), w) for w, piece in self.pieces]
        values = np.concatenate([x for (x, _), _ in found])
        return values, np.concatenate([w * each for (_, each), w in found])

    @cached_property
    def far(self) -> float:
        """Beyond it an expected loss must have settled, where a range is open."""
        return max((p.low for _, p in self.pieces if math.isinf(p.high)), default=math.inf) * (
            math.exp(FAR / 2)
        )


def in_numbers(
    belief: Belief, ranges: Mapping[str, tuple[float, float]], within: Within, name: str = "target"
) -> Belief:
    """A belief about categories as one about their numbers.

    >>> belief = Belief.discrete(["10-19", "20-29"], [0.75, 0.25])
    >>> in_numbers(belief, {"10-19": (10, 20), "20-29": (20, 30)}, Within()).variance
    18.75
    """
    drawn = None if belief.exact else belief.effective or kish(belief.mass)
    pieces = []
    for category, share in zip(*gathered(belief.values, belief.mass), strict=True):
        if not share > 0:
            continue
        low, high = ranges[str(category)]
        alpha = within.alpha
        if math.isinf(high) and within.tail is not None:
            alpha = within.tail
        if low == high:
            pieces.append((float(share), Piece(low, high)))
        elif math.isinf(high) and alpha in (None, UNIFORM):
            raise DataError(
                f"{str(category)!r} of {name!r} has no end; say where it ends (--top, or its range "
                "in --values or the codebook), or take a Pareto tail: --within pareto:ALPHA or "
                "uniform+pareto:ALPHA."
            )
        elif alpha is None:
            middle = (low + high) / 2
            pieces.append((float(share), Piece(middle, middle)))
        elif alpha > 0 and low <= 0:
            raise DataError(
                f"{str(category)!r} of {name!r} starts at {low:g}, and a Pareto distribution above "
                "0; give its range, or take --within uniform+pareto:ALPHA."
            )
        else:
            pieces.append((float(share), Piece(low, high, alpha)))
    if all(piece.point for _, piece in pieces):
        values, mass = gathered(
            np.array([p.low for _, p in pieces]), np.array([w for w, _ in pieces])
        )
        return Belief.discrete(values, mass, effective=drawn)
    return replace(Valued.of(pieces), effective=drawn)


def _far(piece: Piece) -> float:
    return float(piece.at(np.array([1 - TAIL_SHOWN]))[0])


def _drawn(piece: Piece, top: float, width: float) -> Belief:
    if piece.point:
        half = max(width, abs(piece.low) * 1e-3, 1e-6) * SLIVER
        return Belief.density([piece.low - half, piece.low + half], [0.5 / half, 0.5 / half])
    if piece.alpha == UNIFORM:
        grid = np.array([piece.low, np.nextafter(top, -math.inf)])
        return Belief.density(grid, np.full(2, 1 / (top - piece.low)))
    grid = np.geomspace(piece.low, np.nextafter(top, -math.inf), SHOWN)
    heights = (grid / piece.low) ** (-piece.alpha - 1)
    return Belief.density(grid, heights / np.trapezoid(heights, grid))
