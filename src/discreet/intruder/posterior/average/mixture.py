"""The table itself under several models (equation 10)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.exact.decomposable import Matching
from discreet.intruder.posterior.exact.fibre import Fibre
from discreet.intruder.posterior.result import Whole
from discreet.intruder.posterior.sampled import Draws
from discreet.table.table import Table

MOST_TABLES = 200_000


@dataclass(frozen=True, eq=False)
class Mixture:
    """Each model's distribution, normalised already, by its weight."""

    shares: tuple[float, ...]
    wholes: tuple[Whole, ...]
    blocks: Blocks | None

    @property
    def tables(self) -> int | None:
        known = [whole.tables for whole in self.wholes if whole.tables is not None]
        return known[0] if known else None

    def log_probability(self, table: Table) -> float:
        """Of one table; -inf if it does not fit."""
        logs = [whole.log_probability(table) for whole in self.wholes]
        return float(_mixed(self.shares, [np.array([log]) for log in logs])[0])

    @cached_property
    def entropy(self) -> float:
        """By a sum over all tables; not a number if they are too many."""
        if len(self.wholes) == 1:
            return self.wholes[0].entropy
        if self.blocks is None or self.blocks.tables > MOST_TABLES:
            return math.nan
        tables = self.blocks.all_tables()
        logs = [_log_probabilities(whole, tables) for whole in self.wholes]
        if any(log is None for log in logs):
            return math.nan
        mixed = _mixed(self.shares, [log for log in logs if log is not None])
        with np.errstate(under="ignore"):
            return max(0.0, -float(np.exp(mixed) @ np.where(np.isfinite(mixed), mixed, 0.0)))


def _mixed(shares: tuple[float, ...], logs: list[Floats]) -> Floats:
    with np.errstate(divide="ignore", invalid="ignore"):
        terms = np.log(np.array(shares))[:, None] + np.stack(logs)
    return np.asarray(np.logaddexp.reduce(terms, axis=0))


def _log_probabilities(whole: Whole, tables: Ints) -> Floats | None:
    """Of many tables that fit, rows x open cells; None if there is no quick way."""
    from scipy.special import gammaln

    if isinstance(whole, Draws):
        return whole.log_probabilities(tables)
    if isinstance(whole, Matching):
        return np.asarray(whole.join.log_ways - gammaln(tables + 1.0).sum(1))
    if isinstance(whole, Fibre):
        rows = np.tile(whole.rows, (len(tables), 1))
        each = whole.weights.log(rows, tables.ravel()).reshape(tables.shape)
        return np.asarray(each.sum(1) - whole.log_total)
    return None
