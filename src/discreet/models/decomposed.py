"""Log-linear models as models of cells, with draws from their posterior.

The prior is the constrained Dirichlet that counts `weight` people in all, spread evenly over the
cells; with the counts n, a = n + weight / cells. Along the junction tree of the model, parts P and
separators S,

    theta(i) = prod_P theta(i_P) / prod_S theta(i_S)

and what a part adds, theta(i_P | i_S), is independent of all before it (Dawid & Lauritzen 1993;
Massam, Liu & Dobra 2009). A part that is a margin is Dirichlet(a_P), so that draws of decomposable
models are exact. Any other part is a chain of Bayesian proportional fitting (see `bayes`), which
forgets as fast as proportional fitting converges, for near its mode they are the same linear
iteration (Roberts & Sahu 1997): a fit to 1e-10 in K rounds has dependence 1e-2 after K / 5 sweeps.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, field
from itertools import groupby

import numpy as np

from discreet.arrays import Floats
from discreet.errors import OptionError
from discreet.look.result import Unpublished
from discreet.models.bayes import LEAST
from discreet.models.ipf import ITERATIONS, TOLERANCE, ipf
from discreet.models.loglinear import Fit, LogLinear
from discreet.models.parts import Part, check_dense, dense
from discreet.table.formula import Formula, as_formula
from discreet.table.lattice import bits
from discreet.table.table import Table

WEIGHT = 1.0
FIRST, APART = 1e-5, 1e-2  # dependence left after the sweeps before the first draw, and between
FEWEST = 5  # sweeps, however fast it converges


@dataclass(frozen=True, eq=False)
class LogLinearCells(Unpublished):
    """A log-linear model of a table's cells; `fitted` is its maximum likelihood fit.

    >>> from discreet.table.load import load
    >>> model = LogLinearCells.fit(load("example:tract"), "Race*Income + Income*Gender")
    >>> model
    LogLinearCells(Race*Income + Gender*Income: 11 parameters, prior of 1 person)
    >>> draw = next(model.posterior(1, np.random.default_rng(1)))
    >>> draw.shape, round(float(draw.sum()), 12)
    ((18,), 1.0)
    """

    fitted: Fit = field(repr=False)
    weight: float = WEIGHT

    @classmethod
    def fit(
        cls,
        table: Table,
        formula: str | Formula | Iterable[Iterable[str]],
        *,
        weight: float = WEIGHT,
    ) -> LogLinearCells:
        """The model whose margins a formula names; the prior counts `weight` people."""
        if not (math.isfinite(weight) and weight > 0):
            raise OptionError(f"the prior weighs {weight} people; give a number above 0.")
        check_dense(table)
        return cls(LogLinear(as_formula(formula, table.names)).fit(table), float(weight))

    def refit(self, table: Table) -> LogLinearCells:
        """The same model of another table."""
        return LogLinearCells.fit(table, self.fitted.formula.margins, weight=self.weight)

    # What it is

    @property
    def formula(self) -> Formula:
        return self.fitted.formula

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.fitted.table.shape

    @property
    def parameters(self) -> int:
        return self.fitted.parameters

    @property
    def log_likelihood(self) -> float:
        return self.fitted.log_likelihood

    @property
    def probabilities(self) -> Floats:
        """Of all cells, at the maximum of the likelihood."""
        fitted = self.fitted.expected_array().ravel()
        return np.asarray(fitted / fitted.sum())

    @property
    def exact(self) -> bool:
        """Are draws independent and exact? So they are in a decomposable model."""
        return all(part.scaled is None or part.margins == ((),) for part in self.fitted.parts)

    @property
    def saturated(self) -> bool:
        return len(self.fitted.parts) == 1 and self.fitted.parts[0].scaled is None

    @property
    def prior(self) -> float:
        """Of each cell."""
        return self.weight / math.prod(self.sizes)

    @property
    def said(self) -> str:
        """How draws are made."""
        prior = f"a prior of {self._people} spread evenly"
        if self.exact:
            return f"log-linear model {self.formula}, {prior}; independent draws of its posterior"
        return (
            f"log-linear model {self.formula}, {prior}; a chain of Bayesian proportional fitting, "
            f"sweeps between draws so that dependence is about {APART:g}"
        )

    def __repr__(self) -> str:
        shown = str(self.formula) or "nothing"
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        return f"LogLinearCells({shown}: {self.parameters:,} parameters, prior of {self._people})"

    @property
    def _people(self) -> str:
        return f"{self.weight:g} {'person' if self.weight == 1 else 'people'}"

    # Draws

    def posterior(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """The probabilities of all cells, `draws` times."""
        parts = [self._draws(part, rng) for part in self.fitted.parts]
        for _ in range(draws):
            yield self._glued([next(part) for part in parts])

    def predictive(self, draws: int, rng: np.random.Generator) -> Floats:
        """The mean of the posterior: in closed form if decomposable, else of `draws` draws."""
        if self.exact:
            return self._glued([self._hyper(part) for part in self.fitted.parts])
        return np.asarray(sum(self.posterior(draws, rng)) / draws)

    def _hyper(self, part: Part) -> Floats:
        if part.margins == ((),):
            return np.ones(part.margin.shape)
        return np.asarray(dense(part.margin) + self.weight / part.margin.size, np.float64)

    def _draws(self, part: Part, rng: np.random.Generator) -> Iterator[Floats]:
        """Weights of a part's cells, draw after draw."""
        hyper = self._hyper(part)
        if part.scaled is None:
            while True:
                yield np.maximum(rng.standard_gamma(hyper), LEAST)
        elif part.margins == ((),):
            while True:
                yield hyper
        start = ipf(np.ones(hyper.shape), {axes: _margin(hyper, axes) for axes in part.margins})
        theta = np.ascontiguousarray(start.array / start.array.sum())
        steps = [_Step.of(hyper, axes) for axes in part.margins]
        sweeps = _sweeps(start.iterations, FIRST)
        while True:
            for _ in range(sweeps):
                for step in steps:
                    step.apply(theta, rng)
                theta /= theta.sum()
            yield theta.copy()
            sweeps = _sweeps(start.iterations, APART)

    def _glued(self, weights: Sequence[Floats]) -> Floats:
        """Each part given what it shares with those before it, multiplied."""
        parts, k = self.fitted.parts, len(self.sizes)
        joint = _spread(weights[0], parts[0].places, k)
        for part, found, edge in zip(parts[1:], weights[1:], self.fitted.tree.edges, strict=True):
            shared = set(bits(edge[2]))
            rest = tuple(axis for axis, place in enumerate(part.places) if place not in shared)
            share = found / found.sum(rest, keepdims=True)
            joint = joint * _spread(share, part.places, k)
        flat = np.broadcast_to(joint, self.sizes).ravel()
        return np.asarray(flat / flat.sum())


@dataclass(frozen=True, eq=False)
class _Step:
    """One margin of `bipf`, with neighbouring axes taken together: longer axes add up faster."""

    shape: tuple[int, ...]
    others: tuple[int, ...]
    hyper: Floats

    @classmethod
    def of(cls, hyper: Floats, axes: tuple[int, ...]) -> _Step:
        runs = [list(run) for _, run in groupby(range(hyper.ndim), key=set(axes).__contains__)]
        shape = tuple(math.prod(hyper.shape[axis] for axis in run) for run in runs)
        others = tuple(place for place, run in enumerate(runs) if run[0] not in axes)
        return cls(shape, others, hyper.reshape(shape).sum(others, keepdims=True))

    def apply(self, theta: Floats, rng: np.random.Generator) -> None:
        """New probabilities of the margin, in place; what is within its cells stays."""
        view = theta.reshape(self.shape)
        found = np.maximum(view.sum(self.others, keepdims=True), LEAST)
        view *= np.maximum(rng.standard_gamma(self.hyper), LEAST) / found


def _sweeps(iterations: int, dependence: float) -> int:
    """Until so much dependence is left, if `iterations` leave the tolerance of the fit."""
    rounds = min(iterations, ITERATIONS) * math.log(dependence) / math.log(TOLERANCE)
    return max(FEWEST, math.ceil(rounds))


def _margin(array: Floats, axes: tuple[int, ...]) -> Floats:
    return np.asarray(array.sum(tuple(axis for axis in range(array.ndim) if axis not in axes)))


def _spread(array: Floats, places: tuple[int, ...], k: int) -> Floats:
    """With an axis of length 1 for every other variable."""
    sizes = dict(zip(places, array.shape, strict=True))
    return array.reshape([sizes.get(place, 1) for place in range(k)])
