"""What is believed about a whole table, under a model, given a release."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.errors import DataError, SolverError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.posterior.one_model import under_weights
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.enumerate import enumerate_tables
from discreet.look.result import Shown, Unpublished
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.keys import unravel
from discreet.table.table import Table

MOST_COUNTS = 50_000_000  # in a list of tables


@dataclass(frozen=True, eq=False)
class Model(Shown):
    """How a user weighs the tables that fit a release.

    `name` is saturated, uniform, release (the log-linear model of whatever is released), average,
    a formula, or weights of cells; single tables are listed only for the first three and weights.

    >>> import discreet as dc
    >>> table = dc.load("example:blond")
    >>> release = dc.Release.margins(table, "Hair + Income")
    >>> models = [dc.users.Model(name) for name in ("uniform", "release")]
    >>> beliefs = [dc.users.TableBelief(release, model) for model in models]
    >>> [round(belief.probability(table.dense()), 4) for belief in beliefs]
    [0.0286, 0.0389]
    """

    name: str | CellWeights = "saturated"
    prior: float = 0.5
    limit: int = 100_000
    standard_error: float = 0.002
    seconds: float = 60.0

    def cells(self, release: Release, cells: Cells | None = None) -> Posterior:
        """The beliefs about cells, about all of them by default."""
        limits: dict[str, Any] = {"standard_error": self.standard_error, "seconds": self.seconds}
        if isinstance(self.name, CellWeights):
            return under_weights(release, cells, self.name, seed=0, **limits)
        if not release.formula.sets and self.name not in ("saturated", "uniform", "release"):
            raise DataError(
                f"what is believed under {self.name} where nothing is released is not worked out; "
                "choose saturated, uniform or release, or leave that candidate out."
            )
        model = release.formula if self.name == "release" else self.name
        return posterior(release, cells, model=model, prior=self.prior, **limits)

    def weights(self) -> CellWeights:
        if isinstance(self.name, CellWeights):
            return self.name
        if self.name == "saturated":
            return CellWeights.dirichlet(self.prior)
        if self.name not in ("uniform", "release"):
            raise DataError(
                f"under {self.name} single tables are not weighed; choose saturated, uniform or "
                "release, or give CellWeights."
            )
        return CellWeights.uniform() if self.name == "uniform" else CellWeights.multinomial()


@dataclass(frozen=True, eq=False)
class TableBelief(Unpublished):
    """What is believed about a whole table; a table is an array of counts in its shape.

    >>> from discreet.table.load import load
    >>> table = load("example:blond")
    >>> belief = TableBelief(Release.margins(table, "Hair + Income"), Model("uniform"))
    >>> belief.tables.shape, round(belief.probability(table.dense()) * 35, 6)
    ((35, 3, 2), 1.0)
    """

    release: Release
    model: Model

    @property
    def shape(self) -> tuple[int, ...]:
        return self.release.axes.sizes

    @property
    def exact(self) -> bool:
        return self.cells.exact

    @cached_property
    def cells(self) -> Posterior:
        """The beliefs about its cells."""
        return self.model.cells(self.release)

    @cached_property
    def tables(self) -> Ints:
        """Every table that fits."""
        return self._listed[0]

    @cached_property
    def mass(self) -> Floats:
        """The probability of each of `tables`."""
        return self._listed[1]

    @cached_property
    def _listed(self) -> tuple[Ints, Floats]:
        model, shape = self.model, self.shape
        weights = model.weights()
        cells, counts = enumerate_tables(self.release, limit=model.limit, seconds=model.seconds)
        if len(counts) * math.prod(shape) > MOST_COUNTS:
            raise DataError(
                f"{len(counts):,} tables of {math.prod(shape):,} cells fit the release, too many "
                "to list; ask about cells, or give the belief as draws."
            )
        logs = np.zeros(len(counts))
        rows = weights.rows(cells.codes, shape)
        for place, column in enumerate(counts.T):
            low = int(column.min())
            logs += weights.table(rows[place], int(column.max()), low)[column - low]
        if not np.isfinite(logs.max()):
            raise DataError(f"{weights.name} gives every table that fits the weight 0.")
        with np.errstate(under="ignore"):
            mass = np.exp(logs - logs.max())
        tables = np.zeros((len(counts), *shape), np.int64)
        tables[(slice(None), *cells.codes.T)] = counts
        return tables, mass / mass.sum()

    @cached_property
    def bounds(self) -> tuple[Ints, Ints]:
        """The least and the largest possible count of each cell."""
        if isinstance(self.model.name, CellWeights):  # which may rule tables out
            possible = self.tables[self.mass > 0]
            return possible.min(0), possible.max(0)
        codes = unravel(np.arange(math.prod(self.shape)), self.shape)
        cells = Cells(self.release.variables, codes, np.zeros(len(codes), np.int64))
        found = Bounder(self.release).bounds(cells)
        if not found.sharp:
            raise SolverError(
                f"the bounds of {self.release.formula} are not proven to be sharp, and wider ones "
                "would understate what is known; ask about fewer cells, or assess the release."
            )
        return found.lower.reshape(self.shape), found.upper.reshape(self.shape)

    @property
    def entropy(self) -> float:
        """In nats."""
        found = self.cells.entropy
        if found is None:
            raise DataError(f"{self.cells.method} gives no belief about the whole table.")
        return found

    def probability(self, counts: Ints) -> float:
        """Of one table."""
        array = np.asarray(counts)
        if array.shape != self.shape:
            raise DataError(f"the table has the shape {array.shape}, the release {self.shape}.")
        codes = np.argwhere(array > 0).astype(np.uint32)
        table = Table.from_cells(self.release.variables, codes, array[array > 0])
        return self.cells.probability_of(table)


Held = Belief | TableBelief
