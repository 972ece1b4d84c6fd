"""How many subclasses a class has, seen or not, from the people seen in each of them.

Of m people of the class, c_j are in the j-th of the K subclasses that were seen. If all S
subclasses are of one size (Zaslavsky & Horton 1998, equation 2),

    L(S) = S! / (S - K)! S^-m

and if their sizes have a gamma distribution with parameter a, so that the shares are Dirichlet,

    L(S, a) = S! / (S - K)! prod of (a)_c / (S a)_m,   (x)_c = x (x + 1) ... (x + c - 1)

which is the first as a grows. K is all that equal subclasses leave to know, so that the interval of
their number is exact: every S that neither finds so few subclasses improbable, nor so many. Of more
than 5,000 people, and of gamma sizes, intervals are by profile likelihood. Where everybody seen is
alone in a subclass, or the sizes are very uneven, S has no upper end.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.data.domains import read_rows
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import number, plural
from discreet.table.cells import frame

MOST, LEAST = 1e9, 1e-9  # of S, and of a with 1 / LEAST: beyond, without limit
GRID = 41
EXACT = 2_000  # terms that are added one by one
DRAWN = 5_000  # people whose subclasses are counted exactly
EQUAL, GAMMA = "equal", "gamma"


@dataclass(frozen=True, eq=False)
class SubclassFit(Result):
    """S of equal subclasses, and S and a of gamma sizes, each with an interval at `level`.

    `seen` subclasses of `people`. `uneven` is twice the gain in log likelihood by gamma sizes: far
    above 3 or 4, equal subclasses are refuted, and `uniques` calls cells safer than they are.

    >>> fit_subclasses([9, 4, 3, 2, 1, 1])
    SubclassFit(6 subclasses seen among 20 people: equal 6 (6 to 8), gamma 7.14 (6 to inf), a =
        1.26)
    """

    seen: int
    people: int
    level: float
    S: float
    interval: tuple[float, float]
    S_gamma: float
    gamma_interval: tuple[float, float]
    a: float
    a_interval: tuple[float, float]
    uneven: float
    ends: tuple[tuple[float, float], ...]  # (S, a) at the ends of both gamma intervals

    @property
    def exact(self) -> bool:
        """Is the interval of equal subclasses by the distribution of how many are seen?"""
        return self.people <= DRAWN

    @property
    def equal(self) -> str:
        """The loss of disclosure with the fitted S."""
        return f"uniques:{min(self.S, MOST):.12g}"

    @property
    def gamma(self) -> str:
        """The loss of disclosure with the fitted S and a."""
        return f"gamma-uniques:{min(self.S_gamma, MOST):.12g}:{min(self.a, 1 / LEAST):.12g}"

    def loss(self, kind: str = EQUAL) -> str:
        return self.equal if _equal(kind) else self.gamma

    def losses(self, kind: str = EQUAL) -> list[str]:
        """The losses at the ends of the intervals; a number without limit is 1e9."""
        if _equal(kind):
            return [f"uniques:{min(S, MOST):.12g}" for S in self.interval]
        return [f"gamma-uniques:{S:.12g}:{a:.12g}" for S, a in self.ends]

    def _rows(self) -> list[tuple[str, float, tuple[float, float]]]:
        return [
            ("S, equal", self.S, self.interval),
            ("S, gamma", self.S_gamma, self.gamma_interval),
            ("a, gamma", self.a, self.a_interval),
        ]

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a parameter, with its interval."""
        rows = self._rows()
        columns = {
            "parameter": [name for name, _, _ in rows],
            "estimate": [value for _, value, _ in rows],
            "lower": [ends[0] for _, _, ends in rows],
            "upper": [ends[1] for _, _, ends in rows],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """`seen`, `people`, `level`, `uneven`, and each parameter with its interval."""

        def plain(value: float) -> float | None:
            return value if math.isfinite(value) else None

        fitted = {
            name: {"estimate": plain(value), "interval": [plain(end) for end in ends]}
            for name, (_, value, ends) in zip(("S", "S_gamma", "a"), self._rows(), strict=True)
        }
        found: dict[str, Any] = {"seen": self.seen, "people": self.people, "level": self.level}
        return {**found, "uneven": self.uneven, **fitted}

    def __repr__(self) -> str:
        said = ", ".join(
            f"{kind} {_few(value)} ({_few(ends[0])} to {_few(ends[1])})"
            for kind, value, ends in (
                (EQUAL, self.S, self.interval),
                (GAMMA, self.S_gamma, self.gamma_interval),
            )
        )
        return (
            f"SubclassFit({plural(self.seen, 'subclass', 'subclasses')} seen among "
            f"{plural(self.people, 'person', 'people')}: {said}, a = {_few(self.a)})"
        )


def fit_subclasses(counts: ArrayLike | str | Path, *, level: float = 0.95) -> SubclassFit:
    """S, and a of gamma sizes, from the people seen in each subclass; empty ones say nothing.

    `counts` are numbers, or a file that has them in its last column.

    >>> import discreet as dc
    >>> found = dc.survey.fit_subclasses([3, 2, 2, 1, 1, 1])
    >>> found.S, found.interval, found.loss()
    (8.0, (6.0, 27.0), 'uniques:8')
    """
    if isinstance(counts, str | Path):
        rows = read_rows(Path(counts))
        counts = rows.numbers(rows.table.column_names[-1])
    given = np.asarray(counts, np.float64)
    if given.ndim != 1 or not np.isfinite(given).all() or (given < 0).any():
        raise DataError("counts of subclasses are numbers from 0 on; correct them.")
    if (given != np.floor(given)).any():
        wrong = given[given != np.floor(given)][0]
        raise DataError(f"a subclass counts {wrong:g} people; give whole numbers.")
    if not 0 < level < 1:
        raise DataError(f"the level is {level!r}; give a number between 0 and 1, like 0.95.")
    seen = given[given > 0]
    if seen.sum() < 2:
        raise DataError("fewer than two people are counted, which say nothing of subclasses.")
    return _Fit(seen).found(level)


class _Fit:
    """The two likelihoods; every term is a sum of ln(1 + x), which keeps its digits."""

    def __init__(self, counts: Floats) -> None:
        self.seen, self.people = len(counts), int(counts.sum())
        sizes, times = np.unique(counts, return_counts=True)
        self.sizes, self.times = sizes, times

    def equal(self, S: float) -> float:
        """ln L(S) + (m - K) ln S is the sum of ln(1 - i / S) over the seen."""
        if self.seen - 1 >= S:
            return -math.inf
        spread = _lifted(-S, self.seen)
        return spread - (self.people - self.seen) * math.log(S)

    def at_most(self, seen: int, S: float) -> float:
        """P(K <= seen) of m people in S equal subclasses, person by person."""
        k = np.arange(seen + 1, dtype=np.float64)
        stay, go = k / S, np.maximum(S - k, 0.0)[:-1] / S
        chance = np.zeros(seen + 1)
        chance[0] = 1.0
        for _ in range(self.people):
            came = chance[:-1] * go
            chance *= stay
            chance[1:] += came
        return float(chance.sum())

    def gamma(self, S: float, a: float) -> float:
        parts = math.fsum(
            times * _lifted(a, int(size))
            for size, times in zip(self.sizes.tolist(), self.times.tolist(), strict=True)
        )
        return self.equal(S) + parts - _lifted(S * a, self.people)

    def found(self, level: float) -> SubclassFit:
        from scipy.special import chdtri

        drop = float(chdtri(1, 1 - level)) / 2
        least = float(self.seen)
        S = _whole_top(self.equal, least)
        top = self.equal(S) if S < MOST else 0.0

        def above(s: float) -> float:
            """Within the lower end: so many subclasses are not improbable."""
            if self.people > DRAWN:
                return self.equal(s) - top + drop
            return 1 - self.at_most(self.seen - 1, s) - (1 - level) / 2

        def below(s: float) -> float:
            if self.people > DRAWN:
                return self.equal(s) - top + drop
            return self.at_most(self.seen, s) - (1 - level) / 2

        low, high = _edge(above, S, least, least, True), _edge(below, S, MOST, math.inf, True)

        def with_number(log_S: float) -> tuple[float, float]:
            return _highest(lambda x: self.gamma(math.exp(log_S), math.exp(x)), *FINE)

        def with_shape(log_a: float) -> tuple[float, float]:
            return _highest(lambda x: self.gamma(math.exp(x), math.exp(log_a)), *wide)

        wide = (math.log(least), math.log(MOST))
        log_S, best = _highest(lambda x: with_number(x)[1], *wide)
        log_a = with_number(log_S)[0]
        ends_S = [
            _edge(lambda x: with_number(x)[1] - best + drop, log_S, limit, beyond)
            for limit, beyond in zip(wide, (wide[0], math.inf), strict=True)
        ]
        ends_a = [
            _edge(lambda x: with_shape(x)[1] - best + drop, log_a, limit, beyond)
            for limit, beyond in zip(FINE, (-math.inf, math.inf), strict=True)
        ]
        points = [(end, with_number(end)[0]) for end in np.clip(ends_S, *wide).tolist()]
        points += [(with_shape(end)[0], end) for end in np.clip(ends_a, *FINE).tolist()]
        if points[2][0] > wide[1] - NEAR:  # the less a, the more subclasses: without limit
            ends_a[0] = -math.inf
        return SubclassFit(
            self.seen,
            self.people,
            level,
            S if S < MOST else math.inf,
            (low, high),
            math.exp(log_S) if log_S < wide[1] - NEAR else math.inf,
            (math.exp(ends_S[0]), math.exp(ends_S[1])),
            math.exp(log_a) if log_a < FINE[1] - NEAR else math.inf,
            (math.exp(ends_a[0]), math.exp(ends_a[1])),
            max(0.0, 2 * (best - top)),
            tuple((math.exp(x), math.exp(z)) for x, z in points),
        )


FINE = (math.log(LEAST), math.log(1 / LEAST))
NEAR = 1e-4


def _whole_top(rises: Callable[[float], float], least: float) -> float:
    """The whole number of the largest value; the likelihood has one top."""
    low, high = int(least), int(MOST)
    while low < high:
        middle = (low + high) // 2
        if rises(middle + 1.0) > rises(float(middle)):
            low = middle + 1
        else:
            high = middle
    return float(low)


def _highest(rises: Callable[[float], float], low: float, high: float) -> tuple[float, float]:
    """The top on an interval: a grid, then between its neighbours."""
    from scipy.optimize import minimize_scalar

    grid = np.linspace(low, high, GRID)
    values = [rises(x) for x in grid.tolist()]
    place = int(np.argmax(values))
    ends = (grid[max(place - 1, 0)], grid[min(place + 1, GRID - 1)])
    inner = minimize_scalar(lambda x: -rises(x), bounds=ends, method="bounded")
    if -inner.fun > values[place]:
        return float(inner.x), float(-inner.fun)
    return float(grid[place]), values[place]


def _edge(
    within: Callable[[float], float], top: float, limit: float, beyond: float, whole: bool = False
) -> float:
    """The last value from the top towards the limit that is within; `beyond` if the limit is."""
    from scipy.optimize import brentq

    if limit == top or within(limit) >= 0:
        return beyond
    if not whole:
        return float(brentq(within, top, limit, xtol=1e-8))
    inside, outside = int(top), int(limit)
    while abs(outside - inside) > 1:
        middle = (inside + outside) // 2
        inside, outside = (middle, outside) if within(float(middle)) >= 0 else (inside, middle)
    return float(inside)


def _lifted(x: float, c: int) -> float:
    """The sum of ln(1 + i / x) over i < c, x above 0, or below -c."""
    i = np.arange(min(c, EXACT), dtype=np.float64)
    total = float(np.log1p(i / x).sum())
    if c <= EXACT:
        return total

    def area(t: float) -> float:
        return (x + t) * math.log1p(t / x) - t

    first, last = float(EXACT), float(c)
    ends = math.log1p(last / x) - math.log1p(first / x)
    slopes = 1 / (x + last) - 1 / (x + first)
    return total + area(last) - area(first) - ends / 2 + slopes / 12


def _equal(kind: str) -> bool:
    if kind not in (EQUAL, GAMMA):
        raise DataError(f"there are no {kind!r} subclasses; choose {EQUAL} or {GAMMA}.")
    return kind == EQUAL


def _few(value: float) -> str:
    return "inf" if math.isinf(value) else number(float(f"{value:.3g}"))
