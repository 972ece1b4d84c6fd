"""Tables that fit, given cell probabilities: exact, block by block.

    P(n | release, theta)  =  prod theta^n / n!   /   the same summed over all tables that fit

Blocks of cells that no published sum ties together are independent, and each is listed.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.effort import UNLIMITED, Clock
from discreet.errors import DataError, SolverError
from discreet.intruder.posterior.result import fits
from discreet.intruder.tables.enumerate import listed
from discreet.intruder.tables.split import open_cells, separate, split
from discreet.look.progress import working
from discreet.release.release import Release
from discreet.table.keys import Codes, keys
from discreet.table.table import Table

MOST_NUMBERS = 300_000
MOST_LOOKED = 2_000_000_000  # numbers, to list the tables of a block


@dataclass(frozen=True, eq=False)
class Block:
    """The open cells of a block, its tables, and their log prod 1 / n!."""

    cells: Ints
    tables: Ints
    logs: Floats

    def log_weights(self, log_theta: Floats) -> Floats:
        """Of each table, for each row of log probabilities of the open cells: rows x tables."""
        found = log_theta[:, self.cells] @ self._floats
        found += self.logs
        return np.asarray(found)

    @cached_property
    def _floats(self) -> Floats:
        return np.ascontiguousarray(self.tables.T, np.float64)


@dataclass(frozen=True, eq=False)
class Blocks:
    """Open cells, what is settled, and the blocks that are not."""

    release: Release
    codes: Codes
    places: Ints  # in the whole table, row-major
    low: Ints
    fixed: Ints
    blocks: tuple[Block, ...]

    @classmethod
    def of(cls, release: Release, *, limit: int = MOST_NUMBERS, clock: Clock = UNLIMITED) -> Blocks:
        """Refuses a release with a block whose tables are too many to list."""
        from scipy.special import gammaln

        if not release.total:
            raise DataError("the release counts nobody, and there is nothing to believe.")
        cells, _ = open_cells(release, every_variable=True)
        shape = release.axes.sizes
        parts = split(separate(cells))
        blocks, free = [], np.zeros(len(cells.codes), bool)
        with working("listing tables"):
            for system, columns in zip(parts.blocks, parts.columns, strict=True):
                most = limit // len(columns)
                try:
                    tables = listed(system, most, MOST_LOOKED, clock)
                except SolverError:
                    tables = np.zeros((most + 1, 0), np.int64)
                if len(tables) > most:
                    raise DataError(
                        f"{len(columns):,} open cells of {release.formula} hang together and more "
                        f"than {most:,} tables fit them, too many to list; walk through them "
                        "instead."
                    )
                logs = -gammaln(tables + 1.0).sum(1)
                blocks.append(Block(columns, tables, logs))
                free[columns] = True
        places = keys(cells.codes, shape).astype(np.int64)
        return cls(release, cells.codes, places, parts.low, np.flatnonzero(~free), tuple(blocks))

    @property
    def tables(self) -> int:
        return math.prod(len(block.tables) for block in self.blocks)

    def all_tables(self) -> Ints:
        """Every table that fits, rows x open cells."""
        found = np.tile(self.low, (self.tables, 1))
        each = self.tables
        for block in self.blocks:
            each //= len(block.tables)
            at = np.arange(len(found)) // each % len(block.tables)
            found[:, block.cells] = block.tables[at]
        return found

    @property
    def width(self) -> int:
        """Numbers that a row of parameters takes."""
        return len(self.codes) + sum(len(block.tables) for block in self.blocks)

    def log_sum(self, log_theta: Floats) -> Floats:
        """The log of the sum of prod theta^n / n! over all tables that fit: one for each row."""
        from scipy.special import gammaln

        n = self.low[self.fixed]
        total = log_theta[:, self.fixed] @ n - gammaln(n + 1.0).sum()
        for block in self.blocks:
            total = total + _log_sum(block.log_weights(log_theta))
        return np.asarray(total)

    def chances(self, log_theta: Floats) -> list[Floats]:
        """Of each block, rows x tables: the probability of each table."""
        return [_normal(block.log_weights(log_theta)) for block in self.blocks]

    def draw(self, chances: list[Floats], rng: np.random.Generator) -> Ints:
        """One table for each row: rows x open cells."""
        rows = len(chances[0]) if chances else 1
        found = np.tile(self.low, (rows, 1))
        for block, each in zip(self.blocks, chances, strict=True):
            below = np.cumsum(each, 1)
            at = (below < rng.random((rows, 1)) * below[:, -1:]).sum(1)
            found[:, block.cells] = block.tables[at]
        return found

    def log_probability(self, table: Table, log_theta: Floats) -> Floats:
        """Of one table, for each row of parameters; -inf if it does not fit."""
        if not fits(self.release, table):
            return np.full(len(log_theta), -np.inf)
        at = table.axes.places(self.release.names)
        counts = table.reorder(self.release.names) if at != sorted(at) else table
        n = counts.lookup(self.codes)
        return self.log_chances(n[None], log_theta)[:, 0]

    def log_chances(self, tables: Ints, log_theta: Floats) -> Floats:
        """Of tables that fit, rows x open cells: parameters x tables."""
        from scipy.special import gammaln

        free = np.concatenate([*(block.cells for block in self.blocks), np.zeros(0, np.int64)])
        total = log_theta[:, free] @ tables[:, free].T - gammaln(tables[:, free] + 1.0).sum(1)
        for block in self.blocks:
            total = total - _log_sum(block.log_weights(log_theta))[:, None]
        return np.asarray(total)


def _log_sum(logs: Floats) -> Floats:
    """Over each row; overwrites them."""
    top = logs.max(1)
    logs -= top[:, None]
    with np.errstate(under="ignore"):
        return np.asarray(top + np.log(np.exp(logs, out=logs).sum(1)))


def _normal(logs: Floats) -> Floats:
    """Each row as probabilities; overwrites them."""
    logs -= logs.max(1, keepdims=True)
    with np.errstate(under="ignore"):
        np.exp(logs, out=logs)
    logs /= logs.sum(1, keepdims=True)
    return logs
