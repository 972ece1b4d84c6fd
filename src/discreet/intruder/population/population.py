"""What is believed of the population if the table is a sample of it."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.population.superpopulation import (
    BetaBinomial,
    Fitted,
    GammaPoisson,
    Sampled,
    Unseen,
    poisson_unseen,
    poisson_variance,
)
from discreet.look.result import Result, Unpublished
from discreet.models.loglinear import LogLinear
from discreet.table.cells import Cells
from discreet.table.formula import Formula, as_formula
from discreet.table.table import Table

NEGATIVE_BINOMIAL = "negative-binomial"
TAIL = 1e-12  # of a belief that is cut off
MOST_VALUES = 1 << 22
SURE = 3  # standard errors

Share = Callable[[Cells], Floats]
Model = str | Formula | Iterable[Iterable[str]] | GammaPoisson | BetaBinomial


@dataclass(frozen=True, eq=False)
class PopulationBeliefs(Result):
    """Of each cell, how many people of the population are in it, given the sample.

    `unique` is the probability that the cell has one person in the population. `expected` is how
    many of the `sample_uniques` of the table are population uniques, by expectation;
    `standard_error` counts the luck of the draw and the error of the model's parameters, where
    `parameter_error` is the latter, None if it is not known.

    >>> import discreet as dc
    >>> sample = dc.Table.of([[1, 4, 0], [2, 1, 0]], A=range(2), B=range(3))
    >>> found = dc.survey.population_beliefs(sample, fraction=0.5, model="A + B")
    >>> found.unique.round(3), found.mean.round(3)
    (array([0.153, 0.153]), array([2.875, 2.875]))
    """

    cells: Cells
    fraction: Floats
    model: str
    unseen: Unseen
    sample_uniques: int
    expected: float
    standard_error: float
    parameter_error: float | None

    @property
    def counts(self) -> Ints:
        """The sample counts."""
        return self.cells.counts

    @property
    def unique(self) -> Floats:
        """P(F = 1 | f), which is 0 for f > 1."""
        return self.unseen.chance(1 - self.counts)

    @property
    def mean(self) -> Floats:
        """The expected population counts."""
        return np.asarray(self.counts + self.unseen.at().mean())

    def at_most(self, count: int) -> Floats:
        """P(F <= count | f)."""
        return np.asarray(self.unseen.at().cdf(count - self.counts))

    def __len__(self) -> int:
        return len(self.cells)

    def belief(self, row: int) -> Belief:
        """About the population count of one cell; a tail of 1e-12 is cut off."""
        row = range(len(self))[row]
        law = self.unseen.at(row)
        most = int(law.ppf(1 - TAIL))
        if most >= MOST_VALUES:
            raise DataError(
                f"the belief about cell {row} spreads over {most:,} values; ask for its mean."
            )
        more = np.arange(most + 1)
        with np.errstate(under="ignore"):
            mass = law.pmf(more)
        return Belief.discrete(int(self.counts[row]) + more, mass / mass.sum())

    def __repr__(self) -> str:
        low, high = self.fraction.min(initial=1), self.fraction.max(initial=0)
        share = f"{low:.2%}" if low >= high else f"{low:.2%} to {high:.2%}"
        return (
            f"PopulationBeliefs({len(self):,} cells over {', '.join(self.cells.names)}: "
            f"{self.model}; {share} sampled; {self.expected:,.1f} ± {self.standard_error:,.1f} of "
            f"{self.sample_uniques:,} sample uniques are population uniques)"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a cell: sample count, expected population count, chance to be unique in it."""
        return self.cells.to_frame(kind, population=self.mean, unique=self.unique)

    def plot(self, row: int, **options: Any) -> Any:
        """The belief about one cell."""
        return self.belief(row).plot(**options)


def population_beliefs(
    table: Table,
    cells: Cells | None = None,
    *,
    fraction: float | None = None,
    weighted: Table | None = None,
    model: Model = NEGATIVE_BINOMIAL,
) -> PopulationBeliefs:
    """Beliefs about population counts, given that `table` is a sample whose counts are known.

    About all sample uniques by default. `fraction` is the share of the population in the sample
    (the table's own by default); or `weighted` has the sums of the sampling weights in each cell,
    so that fractions differ from cell to cell. The `model` is a negative binomial with parameters
    by marginal likelihood, one with given parameters (`GammaPoisson`, `BetaBinomial`), or a formula
    of a log-linear model. A wrong model, or a formula that takes chance for structure, calls
    uniques safer than they are: see `rehearse`.

    >>> table = Table.of([[1, 4, 0], [2, 1, 0]], A=range(2), B=range(3))
    >>> found = population_beliefs(table, fraction=0.5, model="A + B")
    >>> found
    PopulationBeliefs(2 cells over A, B: log-linear A + B; 50.00% sampled; 0.3 ± 0.6 of 2 sample
        uniques are population uniques)
    >>> found.belief(0)
    Belief(19 values: most probable 2 with 0.2875, mean 2.875, exact)
    """
    if not table.total:
        raise DataError("the sample counts nobody; give a table with people in it.")
    if isinstance(model, BetaBinomial) and fraction is None and weighted is None:
        fraction = model.sampled / model.population
    asked, ones = _asked(table, cells), table.small(1)
    overall, share = _fractions(table, fraction, weighted)
    name, law, error = _law(table, model, overall, share, ones)
    chances = law(ones).chance(0 * ones.counts)
    luck = float(np.sum(chances * (1 - chances)))
    return PopulationBeliefs(
        asked,
        share(asked),
        name,
        law(asked),
        len(ones),
        float(chances.sum()),
        math.hypot(math.sqrt(luck), error or 0.0),
        error,
    )


@dataclass(frozen=True)
class Rehearsal(Unpublished):
    """What a model says of the uniques of a sample of the sample, and what is seen there.

    Without a unique nothing is `checked`, and the model does not agree.

    >>> import discreet as dc
    >>> found = dc.survey.rehearse(dc.load("example:tract"), model="Race*Income + Gender")
    >>> found
    Rehearsal(agrees: 0.4 ± 0.6 of 3 uniques expected, 1 seen)
    >>> round(found.score, 2), found.agrees
    (-1.02, True)
    """

    uniques: int
    expected: float
    standard_error: float
    seen: int

    @property
    def score(self) -> float:
        """Expected less seen, in standard errors; far below 0, uniques are called too safe."""
        return (self.expected - self.seen) / max(self.standard_error, 1e-9)

    @property
    def checked(self) -> bool:
        return self.uniques > 0

    @property
    def agrees(self) -> bool:
        return self.checked and abs(self.score) <= SURE

    def __repr__(self) -> str:
        if not self.checked:
            return "Rehearsal(not checked: the sample of the sample has no unique)"
        verdict = "agrees" if self.agrees else "does not agree"
        return (
            f"Rehearsal({verdict}: {self.expected:,.1f} ± {self.standard_error:,.1f} of "
            f"{self.uniques:,} uniques expected, {self.seen:,} seen)"
        )


def rehearse(
    table: Table, *, fraction: float = 0.3, model: Model = NEGATIVE_BINOMIAL, seed: int = 0
) -> Rehearsal:
    """Does the model hold? Draws a sample of the sample, whose uniques can be looked up in it.

    What the sample cannot show, such as cells far rarer than one person in it, is not tested.

    >>> counts = np.random.default_rng(1).poisson(np.outer(np.arange(1, 9), np.arange(8)) / 9)
    >>> rehearse(Table.of(counts, A=range(8), B=range(8)), model="A + B")
    Rehearsal(agrees: 4.2 ± 1.9 of 18 uniques expected, 7 seen)
    """
    if isinstance(model, GammaPoisson | BetaBinomial):
        raise DataError(
            "a model with given parameters has nothing to rehearse; let them be fitted."
        )
    drawn = np.random.default_rng(seed).binomial(table.counts, fraction)
    if not (drawn == 1).any():
        return Rehearsal(0, 0.0, 0.0, 0)
    sub = Table.from_cells(table.variables, table.codes, drawn)
    found = population_beliefs(sub, fraction=fraction, model=model)
    seen = int((table.counts[drawn == 1] == 1).sum())
    return Rehearsal(found.sample_uniques, found.expected, found.standard_error, seen)


def _law(
    table: Table, model: Model, overall: float, share: Share, ones: Cells
) -> tuple[str, Callable[[Cells], Unseen], float | None]:
    """A model's name, what it says of cells, and its error in how many `ones` are unique."""
    if isinstance(model, GammaPoisson | BetaBinomial):
        return model.name, lambda cells: model.unseen(cells.counts, share(cells)), 0.0
    if model == NEGATIVE_BINOMIAL:
        seen = table.nonzero()
        fitted = Fitted.of(Sampled.of(seen.counts, share(seen), table.size - len(table), overall))
        best, shares = fitted.model, share(ones)

        def uniques(model: GammaPoisson) -> float:
            return float(model.unseen(ones.counts, shares).chance(0 * ones.counts).sum())

        error = math.sqrt(fitted.variance(uniques))
        return best.name, lambda cells: best.unseen(cells.counts, share(cells)), error
    fit = LogLinear(as_formula(model, table.names)).fit(table)

    def poisson(cells: Cells) -> Unseen:
        return poisson_unseen(fit.expected(cells), share(cells))

    more = poisson(ones).parameters[0]
    variance = poisson_variance(fit, ones, -more * np.exp(-more))
    return f"log-linear {fit.formula}", poisson, None if variance is None else math.sqrt(variance)


def _asked(table: Table, cells: Cells | None) -> Cells:
    """The cells, with the counts of the sample."""
    if cells is None:
        if not (table.counts == 1).any():
            raise DataError(
                "the sample has no count of 1, so nobody in it can be a population unique; name "
                "the cells that you ask about."
            )
        return table.small(1)
    if cells.names != table.names or cells.shape != table.shape:
        raise DataError(
            f"the cells are over {', '.join(cells.names)}, the sample over "
            f"{', '.join(table.names)}; ask about cells of the sample's table."
        )
    return Cells(cells.variables, cells.codes, table.lookup(cells.codes))


def _fractions(table: Table, fraction: float | None, weighted: Table | None) -> tuple[float, Share]:
    """The sampling fraction, overall and as a function of cells."""
    if weighted is None:
        found = table.sampling_fraction if fraction is None else fraction
        if found is None:
            raise DataError(
                "how large is the sample? Give the fraction of the population that is in it, or "
                "sampling_fraction in the codebook."
            )
        if isinstance(found, bool) or not 0 < found <= 1:
            raise DataError(f"fraction is {found!r}; give a number above 0 and at most 1.")
        overall = float(found)
        return overall, lambda cells: np.full(len(cells), overall)
    if fraction is not None:
        raise DataError("a fraction and weights are given; give one of them.")
    sums = weighted.reorder(table.names)
    if sums.shape != table.shape:
        raise DataError(
            "the weighted table has other categories than the sample; count both alike."
        )
    if (sums.lookup(table.codes) < table.counts).any():
        raise DataError(
            "a cell has more people in the sample than its weights sum to; weights are 1 or more."
        )
    overall = table.total / sums.total

    def share(cells: Cells) -> Floats:
        people, weight = table.lookup(cells.codes), sums.lookup(cells.codes)
        return np.where(people > 0, people / np.maximum(weight, 1), overall)

    return overall, share
