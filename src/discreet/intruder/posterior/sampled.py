"""Beliefs that were sampled: with a standard error for every probability."""

from __future__ import annotations

import warnings
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.effort import Clock
from discreet.errors import ConvergenceWarning
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.result import Posterior
from discreet.table.cells import Cells
from discreet.table.table import Table

MOST_KEPT = 2_000


@dataclass(frozen=True, eq=False, repr=False)
class Sampled(Posterior):
    """A posterior whose probabilities have standard errors: `errors`, one for each in `mass`."""

    errors: Floats = field(default_factory=lambda: np.zeros(0))
    notes: Mapping[str, Any] = field(default_factory=dict)

    @classmethod
    def made(
        cls,
        cells: Cells,
        mass: Sequence[Floats],
        errors: Sequence[Floats],
        *,
        low: ArrayLike = 0,
        **more: Any,
    ) -> Sampled:
        """From probabilities of the counts `low`, `low` + 1, ... of each cell, with errors."""
        plain = Posterior.of(cells, mass, low=low, model="", prior=None, method="")
        first = plain.low - np.asarray(low, np.int64)
        ends = first + np.diff(plain.starts)
        kept = [e[a:b] for e, a, b in zip(errors, first, ends, strict=True)]
        joined = np.concatenate([*kept, np.zeros(0)])
        worth = np.array([_worth(mass[i], errors[i]) for i in range(len(mass))])
        return cls(
            plain.variables, plain.codes, plain.low, plain.starts, plain.mass, errors=joined,
            effective=worth, **more,
        )  # fmt: skip

    def take(self, rows: Sequence[int] | Ints) -> Self:
        """The beliefs about some of the cells."""
        kept = [self.errors[self.starts[row] : self.starts[row + 1]] for row in map(int, rows)]
        return replace(super().take(rows), errors=np.concatenate([*kept, np.zeros(0)]))

    def standard_error(self, count: ArrayLike) -> Floats:
        """Monte Carlo error of `probability(count)`; of an impossible count 0."""
        at = np.broadcast_to(np.asarray(count, np.int64), len(self)) - self.low
        inside = (at >= 0) & (at < np.diff(self.starts))
        return np.where(inside, self.errors[np.where(inside, self.starts[:-1] + at, 0)], 0.0)

    def _largest_error(self) -> float:
        return float(self.errors.max(initial=0.0))

    def diagnostics(self) -> dict[str, Any]:
        return super().diagnostics() | dict(self.notes)


def _worth(mass: Floats, errors: Floats) -> float:
    """As how many independent draws a cell's probabilities count: the fewest of any."""
    p = mass * (1 - mass)
    at = (errors > 0) & (p > 1e-6)
    return float(max(1.0, (p[at] / errors[at] ** 2).min(initial=1e12)))


@dataclass(frozen=True, eq=False)
class Draws:
    """The table itself (equations 8 and 9): a mixture over parameters, normalised in each.

    Dobra, Fienberg & Trottini 2003; `log_theta` is draws x open cells, `shares` sum to one.
    """

    blocks: Blocks
    log_theta: Floats
    shares: Floats

    @classmethod
    def of(
        cls, blocks: Blocks, log_theta: Floats, shares: Floats, rng: np.random.Generator
    ) -> Draws:
        """At most so many draws, by systematic resampling, that a table is quickly weighed."""
        most = max(200, min(MOST_KEPT, 20_000_000 // max(1, blocks.width)))
        if len(shares) <= most:
            return cls(blocks, log_theta, shares)
        at = np.searchsorted(np.cumsum(shares), (np.arange(most) + rng.random()) / most)
        chosen = log_theta[np.minimum(at, len(shares) - 1)]
        return cls(blocks, chosen, np.full(most, 1 / most))

    @property
    def tables(self) -> int:
        return self.blocks.tables

    def log_probability(self, table: Table) -> float:
        logs = self.blocks.log_probability(table, self.log_theta)
        return self._mix(logs[:, None])[0]

    def _mix(self, logs: Floats) -> list[float]:
        """The log of the mean of exp(logs) over the draws, for each column."""
        with np.errstate(divide="ignore", under="ignore", invalid="ignore"):
            top = logs.max(0)
            base = np.where(np.isfinite(top), top, 0.0)
            found: list[float] = (np.log(self.shares @ np.exp(logs - base)) + base).tolist()
        return found

    @cached_property
    def entropy(self) -> float:
        """Estimated: less the mean log probability of a table drawn for each draw."""
        rng = np.random.default_rng(0)
        tables = self.blocks.draw(self.blocks.chances(self.log_theta), rng)
        distinct, place = np.unique(tables, axis=0, return_inverse=True)
        each = self.log_probabilities(distinct)[place.reshape(-1)]
        return max(0.0, -float(self.shares @ each))

    def log_probabilities(self, tables: Ints) -> Floats:
        """Of many tables that fit, rows x open cells."""
        parts = np.array_split(tables, 1 + len(tables) // 500)
        logs = [self._mix(self.blocks.log_chances(part, self.log_theta)) for part in parts]
        return np.concatenate(logs)


def warn_unless(reached: bool, wanted: float | None, found: float, what: str, clock: Clock) -> str:
    """Says loudly that a standard error was not reached; the same as words."""
    if reached or wanted is None:
        return ""
    said = f"standard error {found:.2g}, NOT the {wanted:g} asked for"
    more = "seconds" if clock.stopped else "effort"
    warnings.warn(f"{what}: {said}; allow more {more}.", ConvergenceWarning, stacklevel=3)
    return f", {said}"
