"""Risk by what an intruder believes: section 4 of Dobra, Fienberg & Trottini 2003."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.effort import Seconds
from discreet.errors import DataError
from discreet.intruder.posterior.population import PopulationPosterior
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.result import Posterior
from discreet.look.result import Paged
from discreet.release.release import Release
from discreet.risk.limits import Says, breaks
from discreet.risk.release.small import observable
from discreet.table.cells import Cells
from discreet.table.table import Table

MOST_ZEROS = 1_000_000
LEAST_SURPRISE = 10.0  # nats


@dataclass(frozen=True, eq=False)
class BeliefRisk(Paged):
    """What an intruder believes about small counts, held against the truth.

    `cells` are of the table or of a margin of it; `entropy`, `true_table` and `surprise` are about
    the whole table. If this is a sample, `population` has beliefs about the population.
    """

    table: Table
    cells: Cells
    posterior: Posterior
    population: PopulationPosterior | None = None

    @cached_property
    def truth(self) -> Floats:
        """The probability of each true count."""
        return self.posterior.probability(self.cells.counts)

    @cached_property
    def error(self) -> Floats:
        """The Monte Carlo error of `truth`."""
        return self.posterior.standard_error(self.cells.counts)

    @cached_property
    def right(self) -> NDArray[np.bool_]:
        """Where no count is more probable than the true one: tied guesses may be right."""
        best = self.posterior.probability(self.posterior.guess)
        return np.asarray(breaks(self.truth - best, 0, Says.OR_MORE))

    def identified(self, threshold: float = 0.0, errors: float = 0.0) -> float:
        """The fraction of small counts guessed right with at least this probability: (5).

        With `errors`, those too that may be, so many Monte Carlo errors off.
        """
        if not len(self.cells):
            return 0.0
        truth, right = self.truth + errors * self.error, self.right
        if errors:
            guess = self.posterior.guess
            off = errors * self.posterior.standard_error(guess)
            right = right | breaks(truth - self.posterior.probability(guess) + off, 0, Says.OR_MORE)
        return float((right & breaks(truth, threshold, Says.OR_MORE)).mean())

    @property
    def people(self) -> float:
        """The expected number of people in small cells whose count is believed rightly."""
        return float((self.truth * self.cells.counts).sum())

    @property
    def entropy(self) -> float | None:
        """Of the belief about the whole table, in nats, if it is known."""
        return self.posterior.entropy

    @property
    def true_table(self) -> float | None:
        """The probability of the true table: the second measure of section 4."""
        if self.posterior.whole is None:
            return None
        return self.posterior.probability_of(self.table)

    @property
    def true_table_log10(self) -> float | None:
        """Its logarithm to base 10, which says how small it is where the probability itself is 0 to
        a computer; None where it is not known, or is 0 in truth."""
        if self.posterior.whole is None:
            return None
        return _finite(self.posterior.whole.log_probability(self.table) / math.log(10))

    @property
    def surprise(self) -> float | None:
        """How much less probable the true table is than a typical one, in nats.

        Large if the intruder's model fits badly.
        """
        whole, entropy = self.posterior.whole, self.entropy
        if whole is None or entropy is None:
            return None
        return -whole.log_probability(self.table) - entropy

    @property
    def sample_uniques(self) -> int:
        """How many of the cells have one person in the sample."""
        return int((self.cells.counts == 1).sum())

    @cached_property
    def known_sample(self) -> PopulationPosterior | None:
        """Beliefs about the population of somebody who knows the sample's counts."""
        return None if self.population is None else self.population.given(self.cells.counts)

    def population_uniques(self) -> float | None:
        """How many sample uniques are expected to be population uniques."""
        if self.known_sample is None:
            return None
        return float(self.known_sample.unique[self.cells.counts == 1].sum())

    def small_in_population(self, at_most: int = 2) -> float | None:
        """How many of the cells are expected to have so few people, but some, in the population."""
        if self.known_sample is None:
            return None
        counts = range(1, at_most + 1)
        return float(sum(self.known_sample.probability(count).sum() for count in counts))

    @property
    def under(self) -> str:
        """The intruder's model in words: the saturated model."""
        name = self.posterior.model
        return f"the {name}" if "model" in name else f"the {name} model"

    @property
    def fits_badly(self) -> bool:
        """Is the true table far from what the model makes typical?"""
        surprise = self.surprise
        return surprise is not None and surprise > max(LEAST_SURPRISE, 0.1 * (self.entropy or 0))

    def __repr__(self) -> str:
        return (
            f"BeliefRisk({len(self.cells):,} small counts, {int(self.right.sum()):,} guessed "
            f"right, a true count has at most probability {self.truth.max(initial=0):.3f})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a cell: its true count, probabilities of small counts, the best guess."""
        return self.posterior.to_frame(kind, counts=self.cells.counts)

    def plot(self, **options: Any) -> Any:
        """How probable each count of each cell is; the true counts are outlined."""
        return self.posterior.plot(counts=self.cells.counts, **options)

    def to_json(self, *, small: int = 2) -> dict[str, Any]:
        tables = self.posterior.tables
        return {
            "model": self.posterior.model,
            "method": self.posterior.method,
            "stopped": self.posterior.stopped,
            "most": float(self.truth.max(initial=0.0)),
            "right": int(self.right.sum()),
            "identified": self.identified(),
            "people": self.people,
            "entropy": self.entropy,
            "true_table": self.true_table,
            "true_table_log10": self.true_table_log10,
            "tables": None if tables is None else str(tables),
            "surprise": _finite(self.surprise),
            "fits_badly": self.fits_badly,
            **self._of_population(small),
        }

    def _of_population(self, small: int) -> dict[str, Any]:
        if self.population is None:
            return {}
        return {
            "population": {
                "most_unique": float(self.population.unique.max(initial=0.0)),
                "sample_uniques": self.sample_uniques,
                "population_uniques": self.population_uniques(),
                "small": self.small_in_population(small),
            }
        }


def belief_risk(
    table: Table,
    release: Release,
    *,
    at_most: int = 2,
    zeros: bool = False,
    model: str = "saturated",
    prior: float = 0.5,
    standard_error: float = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> BeliefRisk:
    """Beliefs about the counts from 1 to `at_most`, or from 0 on, under a model of the intruder.

    Of the table over the identifying variables: of others, a small count identifies nobody.

    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> belief_risk(table, Release.margins(table, "Race*Income + Income*Gender"), model="uniform")
    BeliefRisk(4 small counts, 4 guessed right, a true count has at most probability 0.500)
    """
    seen = observable(table)
    cells = seen.small(at_most)
    if zeros:
        if seen.size > MOST_ZEROS:
            raise DataError(
                f"the table has {seen.size:,} cells, and zeros are looked at one by one up to "
                f"{MOST_ZEROS:,}; leave zeros out."
            )
        every = seen.all()
        cells = every.take(np.flatnonzero(every.counts <= at_most))
    if not seen.variables:
        cells = cells.take(slice(0, 0))
    found = posterior(
        release,
        cells,
        model=model,
        prior=prior,
        standard_error=standard_error,
        effort=effort,
        seconds=seconds,
        seed=seed,
    )
    return BeliefRisk(table, cells, found)


def _finite(number: float | None) -> float | None:
    return number if number is None or math.isfinite(number) else None
