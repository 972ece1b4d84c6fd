"""Models of how many people of the population are in a cell, and how the sample teaches them.

Of F people in a cell, each is in the sample with probability pi: f of them are. Given f, a model
says how many more there are, F - f.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.models.loglinear import Fit
from discreet.table.cells import Cells
from discreet.table.keys import keys, unravel

SHAPES = (math.log(1e-15), math.log(1e6))  # of a gamma distribution that is fitted
STEP = 1e-3  # of a logarithm, for derivatives
LEAST_BEND = 1e-10  # of the likelihood over a step
MOST_DENSE = 1 << 20


@dataclass(frozen=True)
class Unseen:
    """The distribution of F - f, cell by cell: a family of scipy.stats and its parameters."""

    family: str
    parameters: tuple[Floats, ...]

    def at(self, row: int | slice = slice(None)) -> Any:
        from scipy import stats

        return getattr(stats, self.family)(*(p[row] for p in self.parameters))

    def chance(self, more: Ints) -> Floats:
        """That there are so many more, a number for each cell; 0 for a number below 0."""
        with np.errstate(under="ignore"):
            return np.asarray(np.where(more >= 0, self.at().pmf(np.maximum(more, 0)), 0.0))


@dataclass(frozen=True)
class GammaPoisson:
    """F ~ Poisson(L), L ~ gamma(shape, rate): negative binomial counts (Bethlehem, Keller &
    Pannekoek 1990; Skinner, Marsh, Openshaw & Wymer 1994).

        F - f | f  ~  negative binomial(shape + f, (rate + pi) / (rate + 1))

    Shape and rate 0 give that of Benedetti & Franconi 1998 for non-empty cells, from pi alone.
    """

    shape: float
    rate: float

    def __post_init__(self) -> None:
        for name in ("shape", "rate"):
            if not 0 <= getattr(self, name) < math.inf:
                raise DataError(
                    f"the {name} of a gamma distribution is {getattr(self, name)!r}; give a "
                    "number from 0 on."
                )

    @property
    def name(self) -> str:
        return f"negative binomial, shape {self.shape:.3g}, rate {self.rate:.3g}"

    def unseen(self, counts: Ints, fraction: Floats) -> Unseen:
        if self.shape == 0 and (counts == 0).any():
            raise DataError(
                "a shape of 0 says nothing of cells that are empty in the sample; ask about "
                "non-empty cells, or give a shape above 0."
            )
        share = (self.rate + fraction) / (self.rate + 1)
        return Unseen("nbinom", (counts.astype(np.float64) + self.shape, share))


@dataclass(frozen=True)
class BetaBinomial:
    """A share theta ~ beta(alpha, beta) of `population` people are in a cell, n of them sampled
    (Zaslavsky & Horton 1998, section 2).

        F - f | f  ~  beta-binomial(population - n; alpha + f, beta + n - f)
    """

    alpha: float
    beta: float
    sampled: int
    population: int

    def __post_init__(self) -> None:
        if not (0 < self.alpha < math.inf and 0 < self.beta < math.inf):
            raise DataError(
                f"a beta distribution has alpha {self.alpha!r} and beta {self.beta!r}; give "
                "numbers above 0."
            )
        if not 0 < self.sampled <= self.population:
            raise DataError(
                f"{self.sampled:,} of {self.population:,} people cannot be a sample; give a "
                "population as large as the sample at least."
            )

    @property
    def name(self) -> str:
        return f"beta-binomial, alpha {self.alpha:.3g}, beta {self.beta:.3g}"

    def unseen(self, counts: Ints, fraction: Floats) -> Unseen:
        if (counts > self.sampled).any():
            raise DataError(
                f"a count is {counts.max():,}, but only {self.sampled:,} people are in the sample."
            )
        f = counts.astype(np.float64)
        left = np.full_like(f, self.population - self.sampled)
        return Unseen("betabinom", (left, f + self.alpha, self.sampled - f + self.beta))


@dataclass(frozen=True, eq=False)
class Sampled:
    """What is seen of all cells: the distinct counts with their fractions, and how often each."""

    counts: Ints
    fraction: Floats
    times: Floats

    @classmethod
    def of(cls, counts: Ints, fraction: Floats, empty: int, overall: float) -> Sampled:
        """Non-empty cells, and `empty` ones under the fraction `overall`."""
        pairs = np.column_stack([counts, fraction])
        distinct, times = np.unique(pairs, axis=0, return_counts=True)
        distinct = np.vstack([distinct, [0, overall]])
        return cls(distinct[:, 0].astype(np.int64), distinct[:, 1], np.append(times, float(empty)))

    def log_likelihood(self, logs: Floats) -> float:
        """Of the logarithms of mean and shape: f ~ negative binomial, mean `mean` pi."""
        from scipy.special import gammaln

        mean, shape = math.exp(logs[0]), math.exp(logs[1])
        f, scaled = self.counts, mean * self.fraction
        rising = gammaln(f + shape) - gammaln(shape) - gammaln(f + 1.0)
        terms = rising - shape * np.log1p(scaled / shape) + f * np.log(scaled / (scaled + shape))
        return float(self.times @ terms)


@dataclass(frozen=True, eq=False)
class Fitted:
    """The negative binomial of greatest marginal likelihood, and how sure it is.

    `logs` are those of mean and shape, `spread` their variances by the likelihood's curvature.
    """

    model: GammaPoisson
    logs: Floats
    spread: Floats

    @classmethod
    def of(cls, seen: Sampled) -> Fitted:
        from scipy.optimize import minimize

        people, cells = float(seen.times @ seen.counts), float(seen.times.sum())
        mean = math.log(people / float(seen.times @ seen.fraction))
        found = [
            minimize(
                lambda logs: -seen.log_likelihood(logs) / people,
                [mean, shape],
                method="Nelder-Mead",
                bounds=[(mean - 20, mean + 20), SHAPES],
                options={"xatol": 1e-6, "fatol": 1e-12, "maxiter": 2_000},
            )
            for shape in (0.0, -math.log(cells) / 2)  # two starts: empty cells can be most of all
        ]
        logs = np.asarray(min(found, key=lambda result: float(result.fun)).x)
        steps = STEP * np.eye(2)
        middle = 2 * seen.log_likelihood(logs)
        bends = [
            middle - seen.log_likelihood(logs + s) - seen.log_likelihood(logs - s) for s in steps
        ]
        # mean and shape are orthogonal; a shape at its limit is a Poisson, and sure
        spread = [STEP**2 / bend if bend > LEAST_BEND else 0.0 for bend in bends]
        return cls(cls.at(logs), logs, np.array(spread))

    @staticmethod
    def at(logs: Floats) -> GammaPoisson:
        return GammaPoisson(math.exp(logs[1]), math.exp(logs[1] - logs[0]))

    def variance(self, function: Callable[[GammaPoisson], float]) -> float:
        """Of a function of the model, from the error of its parameters (delta method)."""
        slopes = [
            (function(self.at(self.logs + s)) - function(self.at(self.logs - s))) / (2 * STEP)
            for s in STEP * np.eye(2)
        ]
        return float(np.square(slopes) @ self.spread)


def poisson_unseen(expected: Floats, fraction: Floats) -> Unseen:
    """F - f | f ~ Poisson(lambda (1 - pi)), lambda = m / pi, m the fitted sample counts
    (Skinner & Holmes 1998)."""
    return Unseen("poisson", (expected * (1 - fraction) / fraction,))


def poisson_variance(fit: Fit, cells: Cells, slope: Floats) -> float | None:
    """Of the sum of slope log m over cells, from the error of a fit; None if too large a table.

    log m lies in the model's space, and its covariance is that space's projection under the
    weights m: the variance is the m-length of the projected slope / m (Haberman 1974).
    """
    if fit.table.size > MOST_DENSE:
        return None
    from scipy.sparse import csr_array, hstack
    from scipy.sparse.linalg import lsmr

    shape, names = fit.table.shape, fit.table.names
    root = np.sqrt(fit.expected_array().ravel())
    target = np.zeros(len(root))
    target[keys(cells.codes, shape)] = slope
    inside = np.flatnonzero(root)
    root, target = root[inside], target[inside] / root[inside]
    codes = unravel(inside, shape)
    blocks = []
    for margin in fit.formula.margins or ((),):
        places = [names.index(name) for name in margin]
        sizes = [shape[place] for place in places]
        where = (np.arange(len(inside)), keys(codes[:, places], sizes))
        blocks.append(csr_array((root, where), (len(inside), math.prod(sizes))))
    design = hstack(blocks).tocsr()
    return float(np.sum((design @ lsmr(design, target, atol=1e-8, btol=1e-8)[0]) ** 2))
