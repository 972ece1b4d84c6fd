"""How many sample uniques are unique in the population, and how many would be linked rightly."""

from __future__ import annotations

import dataclasses
import itertools
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.intruder.population.population import Rehearsal, rehearse
from discreet.intruder.population.superpopulation import (
    Fitted,
    GammaPoisson,
    Sampled,
    poisson_unseen,
    poisson_variance,
)
from discreet.look.result import Result
from discreet.models.loglinear import LogLinear
from discreet.risk.uniques.classes import KeyClasses
from discreet.risk.uniques.individual import Sampling
from discreet.table.cells import Cells, frame
from discreet.table.formula import as_formula

NEGATIVE_BINOMIAL = "negative-binomial"
TWO_WAY, INDEPENDENCE = "two-way", "independence"
MOST_FITTED = 1 << 18  # cells of a table that is fitted with all pairs of keys
MOST_LETTERS = 60  # of a formula in words
MOST_SURE = 1 << 16  # cells of a table whose fit has a standard error


@dataclass(frozen=True, eq=False)
class PopulationUniques(Result):
    """Risk of a sample's uniques, f = 1 (Skinner & Shlomo 2008):

        tau1 = sum of P(F = 1 | f = 1)      sample uniques that are population uniques
        tau2 = sum of E(1/F | f = 1)        sample uniques that would be linked rightly

    Under a Poisson log-linear model with fitted sample counts m, F - 1 is Poisson with mean
    a = m (1 - pi) / pi, so that the terms are exp(-a) and (1 - exp(-a)) / a.

    `match` is the probability that a unique match is right, without a model (Skinner & Elliot
    2002): pi n1 / (pi n1 + 2 (1 - pi) n2), n1 uniques and n2 pairs. `rehearsal` is how the model
    did on a sample of the sample, where a model was chosen.

    >>> import discreet as dc
    >>> sample = dc.Table.of([[1, 4, 0], [2, 1, 0]], A=range(2), B=range(3))
    >>> classes = dc.anonymity.KeyClasses(sample)
    >>> half = dc.anonymity.Sampling.of(classes, fraction=0.5)
    >>> found = dc.anonymity.population_uniques(classes, half, model="A + B")
    >>> round(found.tau1, 4), round(found.tau2, 4), round(found.match, 4)
    (0.3067, 0.9031, 0.5)
    """

    model: str
    cells: Cells
    chance: Floats
    inverse: Floats
    match: float
    parameter_error: float | None
    rehearsal: Rehearsal | None = None

    @property
    def tau1(self) -> float:
        return float(self.chance.sum())

    @property
    def tau2(self) -> float:
        return float(self.inverse.sum())

    @property
    def standard_error(self) -> float:
        """Of tau1: the luck of the draw, and the model's parameters where their error is known."""
        luck = float(np.sum(self.chance * (1 - self.chance)))
        return math.hypot(math.sqrt(luck), self.parameter_error or 0.0)

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return (
            f"PopulationUniques({len(self):,} sample uniques, {self.model}: tau1 {self.tau1:,.4g} "
            f"± {self.standard_error:,.2g}, tau2 {self.tau2:,.4g})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a sample unique."""
        if not len(self):
            return frame({"unique": self.chance, "inverse": self.inverse}, kind)
        extra = {"unique": self.chance, "inverse": self.inverse}
        return self.cells.to_frame(kind, count="records", **extra)

    def to_json(self) -> dict[str, Any]:
        return {
            "model": self.model, "sample_uniques": len(self), "tau1": self.tau1,
            "standard_error": self.standard_error, "tau2": self.tau2, "match": self.match,
            "agrees": None if self.rehearsal is None else self.rehearsal.agrees,
        }  # fmt: skip


def population_uniques(
    classes: KeyClasses, sampling: Sampling, *, model: str | None = None
) -> PopulationUniques:
    """tau1 and tau2 under a `model`: two-way (all pairs of keys), independence, negative-binomial,
    or a formula of a log-linear model.

    Too many terms take chance for structure and call uniques safer than they are; too few do the
    opposite. By default models are rehearsed, and of those that agree with what is seen the one
    with the highest tau1 is taken; if none does, the nearest.

    >>> from discreet.table.table import Table
    >>> classes = KeyClasses(Table.of([[1, 4, 0], [2, 1, 0]], A=range(2), B=range(3)))
    >>> population_uniques(classes, Sampling.of(classes, fraction=0.5), model="A + B")
    PopulationUniques(2 sample uniques, log-linear A + B: tau1 0.3067 ± 0.55, tau2 0.9031)
    """
    alone = classes.frequency == 1
    if not sampling.known:
        one = np.ones(int(alone.sum()))
        ones = classes.table.nonzero().take(alone)
        return PopulationUniques("the file is the population", ones, one, one, 1.0, 0.0)
    if model is not None or not alone.any():
        return _under(model or NEGATIVE_BINOMIAL, classes, sampling, alone)
    two_way = len(classes.keys) > 1 and classes.table.size <= MOST_FITTED
    names = [INDEPENDENCE, *([TWO_WAY] if two_way else []), NEGATIVE_BINOMIAL]
    tried = [(name, _rehearsed(name, classes)) for name in names]
    agree = [pair for pair in tried if pair[1] is None or pair[1].agrees]
    agree = agree or [min(tried, key=lambda pair: abs(pair[1].score if pair[1] else 0.0))]
    found = [
        dataclasses.replace(_under(name, classes, sampling, alone), rehearsal=rehearsal)
        for name, rehearsal in agree
    ]
    return max(found, key=lambda each: each.tau1)


def _rehearsed(name: str, classes: KeyClasses) -> Rehearsal | None:
    """None where the sample of the sample has no unique."""
    model = name if name == NEGATIVE_BINOMIAL else _margins(classes, name)
    found = rehearse(classes.table, model=model)
    return found if found.checked else None


def _under(
    model: str, classes: KeyClasses, sampling: Sampling, alone: NDArray[np.bool_]
) -> PopulationUniques:
    table, pi = classes.table, sampling.overall
    ones, share = table.nonzero().take(alone), sampling.share[alone]
    n1 = float(alone.sum())
    n2 = float(table.counts[classes.frequency == 2].sum()) / 2
    match = pi * n1 / (pi * n1 + 2 * (1 - pi) * n2) if n1 else 0.0
    if model == NEGATIVE_BINOMIAL:
        seen = Sampled.of(table.counts, sampling.share, table.size - len(table), pi)
        return PopulationUniques(*_negative_binomial(Fitted.of(seen), ones, share, match))
    fit = LogLinear(as_formula(_margins(classes, model), table.names)).fit(table)
    more = poisson_unseen(fit.expected(ones), share).parameters[0]
    error = None
    if table.size <= MOST_SURE and len(ones):
        variance = poisson_variance(fit, ones, -more * np.exp(-more))
        error = None if variance is None else math.sqrt(variance)
    with np.errstate(divide="ignore", invalid="ignore"):
        inverse = np.where(more > 0, -np.expm1(-more) / more, 1.0)
    name = str(fit.formula)
    name = f"log-linear {name if len(name) <= MOST_LETTERS else model}"
    return PopulationUniques(name, ones, np.exp(-more), inverse, match, error)


def _margins(classes: KeyClasses, model: str) -> str | list[tuple[str, ...]]:
    """The margins of a named model; a formula stands for itself."""
    names = classes.keys
    if model == INDEPENDENCE or (model == TWO_WAY and len(names) == 1):
        return [(name,) for name in names]
    return list(itertools.combinations(names, 2)) if model == TWO_WAY else model


def _negative_binomial(
    fitted: Fitted, ones: Cells, share: Floats, match: float
) -> tuple[str, Cells, Floats, Floats, float, float]:
    def chances(model: GammaPoisson) -> Floats:
        return model.unseen(ones.counts, share).chance(0 * ones.counts)

    best = fitted.model
    shape, p = best.unseen(ones.counts, share).parameters
    # E 1/(1 + X) of a negative binomial X is p (1 - p^(shape - 1)) / ((1 - p) (shape - 1))
    logs, more = -np.log(p), shape - 1
    with np.errstate(divide="ignore", invalid="ignore"):
        found = p / (1 - p) * np.where(more * logs > 1e-12, -np.expm1(-more * logs) / more, logs)
    inverse = np.where(p < 1, found, 1.0)
    error = math.sqrt(fitted.variance(lambda model: float(chances(model).sum())))
    return best.name, ones, chances(best), inverse, match, error
