"""How many people of the population are behind a sample cell (Zaslavsky & Horton 1998).

    Y - y | y  ~  beta-binomial(N - n; alpha + y, beta + n - y)

y of n sampled people of a domain are in the class, Y of all N.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, fields
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.population.panels import expectations, power_means
from discreet.look.result import Result
from discreet.models.domain_shares import LEAST, MOST
from discreet.table.cells import frame

LARGEST = 2**53
FEW = 4096  # terms that are added one by one
TAIL = 1e-13  # of a belief that is cut off
MOST_VALUES = 1 << 22
ROUNDED = 1e-12  # a prior is kept as mean and size


@dataclass(frozen=True, eq=False)
class PopulationCounts(Result):
    """Beliefs about the population counts Y of domains, one row each.

    >>> counts = PopulationCounts.of(n=[3, 3], N=[8, 8], y=[1, 2], alpha=1, beta=10)
    >>> counts
    PopulationCounts(2 domains: 3 counted in samples of 6 from 16, expected 4.786)
    >>> counts.laplace(0.1).round(3), counts.below(2).round(3)
    (array([0.935, 0.903]), array([0.51, 0.  ]))
    """

    n: Ints
    N: Ints
    y: Ints
    alpha: Floats
    beta: Floats

    @classmethod
    def of(
        cls, *, n: ArrayLike, N: ArrayLike, y: ArrayLike, alpha: ArrayLike, beta: ArrayLike
    ) -> PopulationCounts:
        """From numbers, or arrays of one length; `alpha` and `beta` may differ by domain."""
        names = {"sample size": n, "population": N, "count": y}
        whole = {name: _whole(name, values) for name, values in names.items()}
        length = max(len(values) for values in whole.values())
        real = {"alpha": alpha, "beta": beta}
        positive = {name: _positive(name, values) for name, values in real.items()}
        columns: dict[str, Any] = {}
        for name, values in {**whole, **positive}.items():
            if len(values) not in (1, length):
                raise DataError(
                    f"the {name} has {len(values):,} values for {length:,} domains; give one each."
                )
            columns[name] = np.broadcast_to(values, (length,))
        found = cls(*columns.values())
        found._check()
        return found

    def _check(self) -> None:
        for wrong, says in (
            (self.y > self.n, "{y:,} people of the class in a sample of {n:,}"),
            (self.n > self.N, "a sample of {n:,} from a population of {N:,}"),
        ):
            if wrong.any():
                row = int(np.argmax(wrong))
                what = says.format(y=int(self.y[row]), n=int(self.n[row]), N=int(self.N[row]))
                raise DataError(f"row {row + 1} has {what}; y <= n <= N must hold. Correct it.")

    @property
    def rest(self) -> Floats:
        """N - n, people outside the sample."""
        return np.asarray(self.N - self.n, np.float64)

    @property
    def shape(self) -> tuple[Floats, Floats]:
        """Parameters of the beta posterior of the share."""
        return self.alpha + self.y, self.beta + (self.n - self.y)

    @property
    def mean(self) -> Floats:
        """E Y = y + (N - n) (alpha + y) / (alpha + beta + n)."""
        a, b = self.shape
        return np.asarray(self.y + self.rest * a / (a + b))

    @property
    def variance(self) -> Floats:
        a, b = self.shape
        whole, rest = a + b, self.rest
        return np.asarray(rest * (a / whole) * (b / whole) * (whole + rest) / (whole + 1))

    def laplace(self, s: float | Floats) -> Floats:
        """E exp(-s (Y - y)): by quadrature over the share, some 30 to 150 terms for any N."""
        from discreet._kernels.betabinomial import log_laplace

        rates = np.broadcast_to(np.asarray(s, np.float64), self.y.shape)
        if not (rates >= 0).all():
            raise DataError(f"the rate {float(rates.min())!r} is no number from 0 on.")
        return np.asarray(np.exp(log_laplace(self.rest, *self.shape, np.ascontiguousarray(rates))))

    def power(self, scale: float, power: float) -> Floats:
        """E (1 + Y / scale)^-power."""
        y = self.y.astype(np.float64)
        every = self.N - self.n
        return power_means(self.rest, *self.shape, y, every, float(scale), float(power))

    def below(self, count: int | Ints) -> Floats:
        """P(Y < count)."""
        from discreet._kernels.betabinomial import below

        most = np.broadcast_to(np.asarray(count, np.int64), self.y.shape) - 1 - self.y
        found, many = np.zeros(len(self)), (most > FEW) & (most < self.rest)
        few = np.flatnonzero(~many)
        a, b = self.shape
        found[few] = below(most[few], self.rest[few], a[few], b[few])
        if many.any():
            some = self.take(many)
            y = some.y.astype(np.float64)
            found[many] = power_means(some.rest, *some.shape, y, most[many], 1.0, 0.0)
        return found

    def chance(self, Y: ArrayLike) -> Floats:
        """P(Y), one value a domain."""
        from discreet._kernels.betabinomial import log_chance

        more = np.broadcast_to(np.asarray(Y, np.float64), self.y.shape) - self.y
        return np.asarray(np.exp(log_chance(more, self.rest, *self.shape)))

    def expect(self, function: Callable[[Ints, Ints], Floats]) -> Floats:
        """E f(row, Y), for f that takes arrays of rows and of whole numbers Y; see `panels`."""
        a, b = self.shape
        return expectations(lambda row, t: function(row, t + self.y[row]), self.rest, a, b)

    def belief(self, row: int) -> Belief:
        """About the count of one domain; tails of 1e-13 are cut off."""
        row = range(len(self))[row]
        one = self.take(np.array([row]))
        rest = int(one.rest[0])
        low, high = 0, rest
        if rest >= FEW:
            low, high = one._reach()
        if high - low >= MOST_VALUES:
            raise DataError(
                f"the belief about row {row + 1} spreads over {high - low:,} values; ask for "
                "below, mean or expect."
            )
        t = np.arange(low, high + 1)
        every = one.take(np.zeros(len(t), np.int64))
        with np.errstate(under="ignore"):
            mass = every.chance(t + every.y)
        return Belief.discrete(t + int(one.y[0]), mass / mass.sum())

    def _reach(self) -> tuple[int, int]:
        """Where all but the tails of one domain's distribution lies, by bisection."""
        rest, y = int(self.rest[0]), int(self.y[0])
        ends = []
        for share in (TAIL, 1 - TAIL):
            low, high = -1, rest
            while high - low > 1:
                middle = (low + high) // 2
                if float(self.below(y + middle + 1)[0]) < share:
                    low = middle
                else:
                    high = middle
            ends.append(high)
        return ends[0], ends[1]

    def take(self, rows: Any) -> PopulationCounts:
        """The domains at `rows` (indices or a mask)."""
        return PopulationCounts(*(getattr(self, field.name)[rows] for field in fields(self)))

    def __len__(self) -> int:
        return len(self.y)

    def __repr__(self) -> str:
        return (
            f"PopulationCounts({len(self):,} domains: {self.y.sum():,} counted in samples of "
            f"{self.n.sum():,} from {self.N.sum():,}, expected {self.mean.sum():,.4g})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a domain: n, N, y, the expected count and its standard deviation."""
        columns: Mapping[str, Any] = {
            "n": self.n,
            "N": self.N,
            "y": self.y,
            "mean": self.mean,
            "deviation": np.sqrt(self.variance),
        }
        return frame(columns, kind)


def _whole(name: str, values: ArrayLike) -> Ints:
    """Counts as whole numbers; the first that is none is named."""
    given = np.atleast_1d(np.asarray(values))
    if given.ndim != 1 or not len(given) or given.dtype.kind not in "iuf":
        raise DataError(f"the {name} is {given.dtype} of {given.ndim} dimensions; give numbers.")
    wrong = ~np.isfinite(given) | (given < 0) | (given > LARGEST)
    if given.dtype.kind == "f":
        wrong |= given != np.floor(np.where(np.isfinite(given), given, 0.5))
    if wrong.any():
        row = int(np.argmax(wrong))
        raise DataError(
            f"row {row + 1} has the {name} {given[row]}; give a whole number from 0 to 2^53."
        )
    return given.astype(np.int64)


def _positive(name: str, values: ArrayLike) -> Floats:
    given = np.atleast_1d(np.asarray(values, np.float64))
    wrong = ~((given >= LEAST * (1 - ROUNDED)) & (given <= MOST * (1 + ROUNDED)))
    if given.ndim != 1 or wrong.any():
        shown = given.ravel()[int(np.argmax(wrong.ravel()))]
        raise DataError(f"{name} is {float(shown)!r}; give a number from {LEAST:g} to {MOST:g}.")
    return given
