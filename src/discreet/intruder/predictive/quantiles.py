"""A prior from quantiles: the member of a family that comes nearest to what was stated.

Least squares of fitted against stated quantiles: of shares (beta) as they are, of positive
numbers (gamma, log-normal, Pareto) by their logarithms.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.families import Gamma, LogNormal, Pareto
from discreet.intruder.predictive.priors import Dirichlet
from discreet.look.result import Result
from discreet.table.cells import frame

NEAR = {"beta": 0.05, "gamma": 0.1, "lognormal": 0.1, "pareto": 0.1}  # usual distances
NAMED = {
    "beta": ("a", "b"),
    "gamma": ("shape", "rate"),
    "lognormal": ("mu", "sigma"),
    "pareto": ("alpha", "minimum"),
}
POINTS, END = 2000, 1e-7


@dataclass(frozen=True, eq=False)
class FittedPrior(Result):
    """A distribution of a share or a positive number, beside the quantiles that were stated.

    `distance` is the largest miss: of a share in itself, of a number as a share of what was stated.

    >>> import discreet as dc
    >>> found = dc.uncertainty.elicit_quantiles({0.05: 0.1, 0.5: 0.2, 0.95: 0.35})
    >>> found
    FittedPrior(beta: a 5.715, b 21.41; the stated quantiles are missed by at most 0.0035)
    >>> found.to_frame().round(3).values.tolist()[1]
    [0.5, 0.2, 0.203, 0.003]
    """

    family: str
    parameters: tuple[float, float]
    probabilities: tuple[float, ...]
    stated: tuple[float, ...]
    fitted: tuple[float, ...]

    @property
    def residuals(self) -> tuple[float, ...]:
        return tuple(f - s for f, s in zip(self.fitted, self.stated, strict=True))

    @property
    def distance(self) -> float:
        return _distance(self.family, np.array(self.fitted), np.array(self.stated))

    @property
    def law(self) -> Any:
        """The distribution, as scipy has it."""
        return _law(self.family, self.parameters)

    @property
    def mean(self) -> float:
        return float(self.law.mean())

    def belief(self) -> Belief:
        """As a density: a prior of a rate or of alpha, or what is believed of a value."""
        a, b = self.parameters
        if self.family == "lognormal":
            return LogNormal(a, b).belief()
        if self.family == "pareto":
            return Pareto(a, b).belief()
        if self.family == "gamma" and a >= 1:
            return Gamma(a, b).belief()
        u = np.linspace(0, 1, POINTS)
        grid = np.unique(self.law.ppf(END + (1 - 2 * END) * u * u * (3 - 2 * u)))
        grid = grid[grid > 0]
        heights = self.law.pdf(grid)
        return Belief.density(grid, heights / np.trapezoid(heights, grid))

    def dirichlet(self, category: str, other: str) -> Dirichlet:
        """A beta of the share of one category, as the prior of two."""
        if self.family != "beta":
            raise DataError(f"a {self.family} distribution is not of a share; fit a beta.")
        return Dirichlet.of({category: self.parameters[0], other: self.parameters[1]})

    def to_frame(self, kind: str = "pandas") -> Any:
        columns: dict[str, Any] = {
            "probability": list(self.probabilities),
            "stated": list(self.stated),
            "fitted": list(self.fitted),
            "residual": list(self.residuals),
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "family": self.family,
            "parameters": dict(zip(NAMED[self.family], self.parameters, strict=True)),
            "quantiles": self.to_frame().to_dict("records"),
            "distance": self.distance,
        }

    def plot(self, **options: Any) -> Any:
        """The density, with the stated quantiles."""
        from discreet.look.beliefcharts import fitted_chart

        ends = [float(x) for x in self.law.ppf([0.001, 0.995])]
        low = min(ends[0], *self.stated)
        grid = np.linspace(low, max(ends[1], *self.stated), 400)[1:]
        heights = self.law.pdf(grid)
        marks = list(zip(self.probabilities, self.stated, self.fitted, strict=True))
        return fitted_chart(grid.tolist(), heights.tolist(), marks, says=str(self), **options)

    def __str__(self) -> str:
        named = zip(NAMED[self.family], self.parameters, strict=True)
        said = ", ".join(f"{name} {x:.4g}" for name, x in named)
        return f"{self.family}: {said}; {_missed(self.family, self.distance)}"

    def __repr__(self) -> str:
        return f"FittedPrior({self})"


def elicit_quantiles(
    quantiles: Mapping[float, float], family: str = "beta", *, within: float | None = None
) -> FittedPrior:
    """The beta (of a share), gamma, lognormal or pareto (of a positive number) that is nearest.

    `quantiles` maps probabilities to values, two or more. If the nearest misses one by more than
    `within` (of a share 0.05, of a number a tenth of it) that is refused.

    >>> import discreet as dc
    >>> dc.uncertainty.elicit_quantiles({0.5: 2, 0.9: 8}, "lognormal")
    FittedPrior(lognormal: mu 0.6931, sigma 1.082; the stated quantiles are missed by at most 0%)
    """
    if family not in NAMED:
        raise DataError(f"there is no family {family!r}; take {', '.join(NAMED)}.")
    near = NEAR[family] if within is None else within
    if not (math.isfinite(near) and near > 0):
        raise DataError(f"within = {near}; give a distance above 0.")
    p, q = _checked(quantiles, family)
    parameters = _FIT[family](p, q)
    fitted = np.asarray(_law(family, parameters).ppf(p))
    found = FittedPrior(family, parameters, tuple(p), tuple(q), tuple(fitted.tolist()))
    if not found.distance <= near:
        far = int(np.argmax(np.abs(_miss(family, fitted, q))))
        most = f"{near:g}" if family == "beta" else f"{100 * near:g}%"
        raise DataError(
            f"no {family} distribution comes within {most} of the stated quantiles: the nearest "
            f"has {fitted[far]:.4g} at {p[far]:g}, where {q[far]:g} was stated; state others, take "
            f"another family of {', '.join(NAMED)}, or allow a larger distance."
        )
    return found


def _checked(quantiles: Mapping[float, float], family: str) -> tuple[Floats, Floats]:
    try:
        pairs = sorted((float(p), float(q)) for p, q in quantiles.items())
    except (TypeError, ValueError):
        raise DataError(f"{dict(quantiles)} must map probabilities to numbers.") from None
    if len(pairs) < 2:
        raise DataError("give two or more quantiles; one does not settle a distribution.")
    p, q = np.array(pairs).T
    if not ((p > 0) & (p < 1)).all():
        raise DataError(f"the probabilities are {p.tolist()}; give numbers between 0 and 1.")
    top = 1.0 if family == "beta" else math.inf
    if not ((q > 0) & (q < top)).all() or (np.diff(q) <= 0).any():
        ends = "between 0 and 1" if family == "beta" else "above 0"
        raise DataError(f"the quantiles are {q.tolist()}; give numbers {ends} that rise.")
    return p, q


def _law(family: str, parameters: tuple[float, float]) -> Any:
    from scipy import stats

    a, b = parameters
    if family == "beta":
        return stats.beta(a, b)
    if family == "gamma":
        return stats.gamma(a, scale=1 / b)
    return stats.lognorm(b, scale=math.exp(a)) if family == "lognormal" else stats.pareto(a, 0, b)


def _normal(p: Floats, q: Floats) -> tuple[float, float]:
    """log q = mu + sigma z(p), a line."""
    from scipy.stats import norm

    slope, start = np.polyfit(norm.ppf(p), np.log(q), 1)
    return float(start), float(slope)


def _power(p: Floats, q: Floats) -> tuple[float, float]:
    """log q = log minimum - log(1 - p) / alpha, a line."""
    slope, start = np.polyfit(-np.log1p(-p), np.log(q), 1)
    return float(1 / slope), float(math.exp(start))


def _searched(family: str) -> Callable[[Floats, Floats], tuple[float, float]]:
    def fit(p: Floats, q: Floats) -> tuple[float, float]:
        from scipy.optimize import least_squares

        def miss(logs: Floats) -> Floats:
            a, b = np.exp(np.clip(logs, -12, 12))
            found = np.asarray(_law(family, (float(a), float(b))).ppf(p))
            return np.nan_to_num(_logs(family, np.maximum(found, 1e-300), q), posinf=1e3)

        middle = float(np.interp(0.5, p, q))
        starts = []
        for n in (1.0, 5.0, 50.0, 500.0):
            starts.append([n * middle, n * (1 - middle)] if family == "beta" else [n, n / middle])
        runs = [least_squares(miss, np.log(s), xtol=1e-13, ftol=1e-13) for s in starts]
        best = min(runs, key=lambda run: run.cost)
        a, b = np.exp(best.x)
        return float(a), float(b)

    return fit


_FIT: dict[str, Callable[[Floats, Floats], tuple[float, float]]] = {
    "beta": _searched("beta"),
    "gamma": _searched("gamma"),
    "lognormal": _normal,
    "pareto": _power,
}


def _logs(family: str, fitted: Floats, stated: Floats) -> Floats:
    """What is squared and summed."""
    return fitted - stated if family == "beta" else np.log(fitted / stated)


def _miss(family: str, fitted: Floats, stated: Floats) -> Floats:
    return fitted - stated if family == "beta" else fitted / stated - 1


def _distance(family: str, fitted: Floats, stated: Floats) -> float:
    return float(np.abs(_miss(family, fitted, stated)).max())


def _missed(family: str, distance: float) -> str:
    most = f"{distance:.3g}" if family == "beta" else f"{100 * distance:.3g}%"
    return f"the stated quantiles are missed by at most {'0%' if distance < 1e-9 else most}"
