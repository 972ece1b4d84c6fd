"""Shares that differ from domain to domain: a beta distribution fitted by marginal likelihood."""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.models.likelihood import LEAST_SIZE, MOST_SIZE, Domains, likelihood, logistic
from discreet.table.cells import frame

STEPS = 200
SMALL = 1e-10  # gain in log likelihood that ends the search
DECADES = 16  # from the one to the other
LEAST, MOST = 1e-100, 1e10  # of alpha and beta: beyond, sums lose their digits
MEAN = "mean"
VAGUE = 1e8  # an interval from one end to so many times it says nothing


@dataclass(frozen=True, eq=False)
class BetaFit(Result):
    """theta ~ beta(alpha, beta), with logit alpha / (alpha + beta) linear in the covariates.

    `coefficients` are the intercept, those of the covariates (`names`, less their `centre`), and
    ln(alpha + beta); `covariance` is the inverse of the observed information. Given, not fitted,
    parameters have no covariance.

    >>> fit_beta([0, 1, 5, 2, 0, 3], [10, 10, 12, 10, 8, 10])
    BetaFit(alpha 1.69, beta 8, 6 domains, log likelihood -10.3)
    """

    coefficients: Floats
    covariance: Floats | None = None
    names: tuple[str, ...] = ()
    centre: Floats | None = None
    log_likelihood: float | None = None
    domains: int = 0
    fitted_to: Domains | None = None  # domains that are alike once

    @classmethod
    def given(cls, alpha: float, beta: float) -> BetaFit:
        """Known parameters."""
        for name, value in (("alpha", alpha), ("beta", beta)):
            if isinstance(value, bool) or not LEAST <= value <= MOST:
                raise DataError(f"{name} is {value!r}; give a number from {LEAST:g} to {MOST:g}.")
        return cls(np.array([math.log(alpha / beta), math.log(alpha + beta)]))

    @property
    def mean(self) -> float:
        """The expected share, with covariates at their mean."""
        return float(logistic(self.coefficients[:1])[0])

    @property
    def size(self) -> float:
        """alpha + beta: the prior counts as so many people."""
        return math.exp(self.coefficients[-1])

    @property
    def alpha(self) -> float:
        return self.mean * self.size

    @property
    def beta(self) -> float:
        return float(logistic(-self.coefficients[:1])[0]) * self.size

    @property
    def at_limit(self) -> bool:
        """Do the shares differ no more than chance, or as much as they can?"""
        last = self.coefficients[-1]
        return self.covariance is not None and not LEAST_SIZE < last < MOST_SIZE

    def parameters(self, covariates: Mapping[str, ArrayLike] | None = None) -> tuple[Any, Any]:
        """alpha and beta of each domain."""
        if not self.names or self.centre is None:
            return self.alpha, self.beta
        design = _design(covariates, self.names) - self.centre
        line = self.coefficients[0] + design @ self.coefficients[1:-1]
        return logistic(line) * self.size, logistic(-line) * self.size

    def intervals(
        self, level: float = 0.95, *, method: str = "observed"
    ) -> dict[str, tuple[float, float]]:
        """Of alpha, beta, mean, size and the covariates.

        By the `observed` information: Wald, on the log and logit scale; where that says nothing, 0
        to infinity. Or by `profile` likelihood, with an open end where the likelihood stays.

        >>> found = fit_beta([0, 1, 5, 2, 0, 3], [10, 10, 12, 10, 8, 10])
        >>> {k: tuple(round(x, 3) for x in v) for k, v in found.intervals(method="profile").items()}
        {'alpha': (0.2, inf), 'beta': (0.755, inf), 'mean': (0.068, 0.368), 'size': (1.034, inf)}
        """
        if method not in ("observed", "profile"):
            raise DataError(f"method is {method!r}; choose observed or profile.")
        if self.covariance is None:
            return {}
        if method == "profile":
            from discreet.models.share_intervals import profile_intervals

            return profile_intervals(self, level)
        from scipy.special import ndtri

        wide = float(ndtri((1 + level) / 2))
        share = self.mean
        zero = [0.0] * len(self.names)
        slopes = {
            "alpha": (math.log(self.alpha), [1 - share, *zero, 1.0], math.exp),
            "beta": (math.log(self.beta), [-share, *zero, 1.0], math.exp),
            MEAN: (float(self.coefficients[0]), [1.0, *zero, 0.0], _share),
            "size": (float(self.coefficients[-1]), [0.0, *zero, 1.0], math.exp),
        }
        for place, name in enumerate(self.names, 1):
            unit = [float(k == place) for k in range(len(self.names) + 2)]
            slopes[name] = (float(self.coefficients[place]), unit, float)
        found = {}
        for name, (at, slope, back) in slopes.items():
            off = wide * math.sqrt(max(0.0, float(np.array(slope) @ self.covariance @ slope)))
            found[name] = (back(at - off), back(min(at + off, 700)))
        for name in ("alpha", "beta", "size"):
            low, high = found[name]
            if self.at_limit or high > VAGUE * low:
                found[name] = (0.0, math.inf)
        return found

    def to_frame(self, kind: str = "pandas", *, level: float = 0.95) -> Any:
        """One row a parameter, with its interval."""
        estimates = {"alpha": self.alpha, "beta": self.beta, MEAN: self.mean, "size": self.size}
        estimates |= dict(zip(self.names, self.coefficients[1:-1].tolist(), strict=True))
        ends = self.intervals(level)
        none = (math.nan, math.nan)
        columns = {
            "parameter": list(estimates),
            "estimate": list(estimates.values()),
            "lower": [ends.get(name, none)[0] for name in estimates],
            "upper": [ends.get(name, none)[1] for name in estimates],
        }
        return frame(columns, kind)

    def intervals_json(self, level: float = 0.95) -> dict[str, Any]:
        """`level`, and the intervals by both methods; an end without limit is null."""
        found: dict[str, Any] = {"level": level}
        for method in ("profile", "observed"):
            found[method] = {
                name: [low if math.isfinite(low) else None, high if math.isfinite(high) else None]
                for name, (low, high) in self.intervals(level, method=method).items()
            }
        return found

    def to_json(self) -> dict[str, Any]:
        """`alpha` and `beta`; if fitted, the intervals and what was fitted to."""
        found: dict[str, Any] = {"alpha": self.alpha, "beta": self.beta}
        if self.covariance is not None:
            found["intervals"] = {
                name: [low, None if math.isinf(high) else high]
                for name, (low, high) in self.intervals().items()
            }
            found |= {"log_likelihood": self.log_likelihood, "domains": self.domains}
        if self.names:
            slopes = self.coefficients[1:-1].tolist()
            found["covariates"] = dict(zip(self.names, slopes, strict=True))
        return found

    def __repr__(self) -> str:
        said = f"alpha {self.alpha:.3g}, beta {self.beta:.3g}"
        if self.names:
            said += f" at the mean of {', '.join(self.names)}"
        if self.covariance is None:
            return f"BetaFit({said}, given)"
        return (
            f"BetaFit({said}, {self.domains:,} domains, log likelihood {self.log_likelihood:.1f})"
        )


def fit_beta(
    y: ArrayLike, n: ArrayLike, *, covariates: Mapping[str, ArrayLike] | None = None
) -> BetaFit:
    """Empirical Bayes: alpha and beta that maximise the marginal likelihood of y of n.

        y ~ beta-binomial(n; mu s, (1 - mu) s),   logit mu = g0 + x g

    by Newton's method in g and ln s, from every top of a coarse grid of ln s: the likelihood can
    have several, and is flat where domains do not differ.

    >>> import discreet as dc
    >>> found = dc.survey.fit_beta([0, 1, 5, 2, 0, 3], [10, 10, 12, 10, 8, 10])
    >>> found
    BetaFit(alpha 1.69, beta 8, 6 domains, log likelihood -10.3)
    >>> alpha, beta = found.parameters()
    >>> round(alpha / (alpha + beta), 3)
    0.175
    """
    seen, sampled = np.asarray(y, np.float64), np.asarray(n, np.float64)
    _check(seen, sampled)
    names = tuple(covariates or ())
    design = _design(covariates, names, len(seen))
    centre = design.mean(axis=0)
    rows = np.column_stack([np.ones(len(seen)), design - centre])
    if np.linalg.matrix_rank(rows) < rows.shape[1]:
        raise DataError(
            f"the covariates {', '.join(names)} determine one another or do not vary; leave "
            "one out."
        )
    distinct = _distinct(rows, seen, sampled)
    climbs = [_climb(at, distinct) for at in _starts(distinct)]
    at, value, bends = max(climbs, key=lambda climb: climb[1])
    inverse: Floats = np.linalg.pinv(-bends).astype(np.float64)
    ways = _log_ways(seen, sampled)
    return BetaFit(at, inverse, names, centre, value + ways, len(seen), distinct)


def _distinct(rows: Floats, y: Floats, n: Floats) -> Domains:
    """Domains that are alike are weighed once."""
    columns = np.column_stack([rows, y, n])
    found, times = np.unique(columns, axis=0, return_counts=True)
    return found[:, :-2], found[:, -2].copy(), found[:, -1].copy(), times.astype(np.float64)


def _climb(at: Floats, domains: Domains) -> tuple[Floats, float, Floats]:
    """Newton's method; where the likelihood is not concave, along the gradient."""
    value, slope, bends = likelihood(at, domains)
    for _ in range(STEPS):
        sizes, axes = np.linalg.eigh(-bends)
        sizes = np.maximum(np.abs(sizes), 1e-9 * max(1.0, float(np.abs(sizes).max())))
        step = axes @ ((axes.T @ slope) / sizes)
        step *= min(1.0, 3.0 / max(float(np.abs(step).max()), 1e-300))
        for _ in range(40):
            there = at + step
            there[-1] = min(max(there[-1], LEAST_SIZE), MOST_SIZE)
            found = likelihood(there, domains)
            if found[0] >= value or not np.any(step):
                break
            step = step / 2
        else:
            break
        gain, at = found[0] - value, there
        value, slope, bends = found
        if gain <= SMALL * max(1.0, abs(value) * 1e-3):
            break
    return at, value, bends


def _starts(domains: Domains) -> list[Floats]:
    """Tops of the likelihood over a grid of ln size, both ends in it.

    The mean is that of all people, or of the domains' shares: they differ if a domain is large.
    """
    rows, y, n, times = domains
    share = float(np.average(y / np.maximum(n, 1), weights=times * (n > 0)))
    means = [math.log((times @ y) / (times @ (n - y))), math.log(share / (1 - share))]
    found = []
    for mean in means:
        grid = np.zeros((DECADES + 1, rows.shape[1] + 1))
        grid[:, 0], grid[:, -1] = mean, np.linspace(LEAST_SIZE, MOST_SIZE, DECADES + 1)
        values = np.array([likelihood(at, domains)[0] for at in grid])
        ends = np.pad(values, 1, constant_values=-math.inf)
        found += list(grid[(values >= ends[:-2]) & (values >= ends[2:])])
    return found


def _log_ways(y: Floats, n: Floats) -> float:
    from scipy.special import gammaln

    return float(np.sum(gammaln(n + 1) - gammaln(y + 1) - gammaln(n - y + 1)))


def _check(y: Floats, n: Floats) -> None:
    if y.shape != n.shape or y.ndim != 1 or not len(y):
        raise DataError(f"there are {y.size:,} counts and {n.size:,} samples; give one of each.")
    if not (np.isfinite(y).all() and np.isfinite(n).all()) or (y < 0).any() or (y > n).any():
        raise DataError("a count lies below 0, above its sample, or is missing; correct it.")
    if y.sum() == 0 or (y == n).all():
        which = "nobody" if y.sum() == 0 else "everybody"
        raise DataError(
            f"{which} in the samples is in the class, so that alpha and beta cannot be estimated; "
            "give them."
        )
    if (n <= 1).all() or (n > 0).sum() < 2:
        raise DataError(
            "one domain, or domains with one person each, do not show how much domains differ; "
            "give alpha and beta."
        )


def _design(
    covariates: Mapping[str, ArrayLike] | None, names: tuple[str, ...], length: int = 0
) -> Floats:
    """The covariates as columns."""
    if not names:
        return np.zeros((length, 0))
    if covariates is None or (lost := [name for name in names if name not in covariates]):
        missing = lost[0] if covariates else names[0]
        raise DataError(f"the covariate {missing!r} is not given; the prior depends on it.")
    columns = []
    for name in names:
        column = np.asarray(covariates[name], np.float64)
        if not np.isfinite(column).all():
            row = int(np.argmin(np.isfinite(column))) + 1
            raise DataError(f"the covariate {name!r} is missing in row {row}; give a number.")
        columns.append(column)
    return np.column_stack(columns)


def _share(x: float) -> float:
    return 1 / (1 + math.exp(-x)) if x > 0 else math.exp(x) / (1 + math.exp(x))
