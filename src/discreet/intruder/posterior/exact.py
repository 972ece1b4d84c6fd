"""Exact beliefs about cells: a sum over all tables that fit the release.

Cells that no published sum ties together are independent, since the weight of a table is a product
over its cells: each block is a small problem of its own. `Race*Income + Income*Gender` is one
problem for each income.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.posterior.listing import listed
from discreet.intruder.posterior.result import Posterior, chosen, fits
from discreet.intruder.posterior.transfer import Transfer
from discreet.intruder.posterior.weights import CellWeights, Floats
from discreet.intruder.tables.split import Ints, System, _system, open_cells, split
from discreet.look.progress import working
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.keys import Codes, lookup
from discreet.table.table import Table

MOST_COLUMNS = 2_000


def exact_posterior(
    release: Release,
    cells: Cells | None = None,
    *,
    weights: CellWeights | None = None,
    limit: int = 5_000_000,
    seconds: float = 60.0,
) -> Posterior:
    """The distribution of each cell, of all of them by default, over the tables that fit.

    `weights` are those of the saturated model with Dirichlet prior 1/2 by default. Refuses if a
    block is too large for both ways to sum over its tables: state by state, or one by one with at
    most `limit` tables in `seconds`.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> found = exact_posterior(release)
    >>> found
    Posterior(18 cells over Gender, Race, Income: saturated, prior 0.5; exact, 59,400 tables)
    >>> found.matrix()[6].round(4)
    array([0.4994, 0.5006, 0.    ])
    """
    weights = CellWeights.dirichlet() if weights is None else weights
    cells = chosen(release, cells)
    fibre = Fibre.of(release, weights, limit=limit, seconds=seconds)
    rows = lookup(fibre.codes, cells.shape, cells.codes)
    return Posterior.of(
        cells,
        [fibre.distribution(int(row)) if row >= 0 else np.ones(1) for row in rows],
        model=weights.name,
        prior=weights.prior,
        method=f"exact, {fibre.tables:,} tables",
        whole=fibre,
    )


@dataclass(frozen=True, eq=False)
class Fibre:
    """All tables that fit, weighted: how many there are, and how probable each is.

    A column is a cell, or the sum of cells that every published sum holds together; `column` says
    which one each open cell belongs to, `mass` how its value is distributed.
    """

    release: Release
    weights: CellWeights
    codes: Codes
    rows: NDArray[np.generic]
    column: Ints
    totals: NDArray[np.generic]
    mass: tuple[Floats, ...]
    tables: int
    log_total: float

    @classmethod
    def of(cls, release: Release, weights: CellWeights, *, limit: int, seconds: float) -> Fibre:
        """Sum over the tables of each block."""
        if not release.total:
            return cls._empty(release, weights)
        cells, _ = open_cells(release, every_variable=True)
        rows = weights.rows(cells.codes, tuple(v.size for v in release.variables))
        column, system = _columns(cells, merge=weights.additive)
        totals = rows
        if weights.additive:
            totals = np.bincount(column, rows[:, 0].astype(np.float64))[:, None]
        parts = split(system)
        mass = [np.append(np.zeros(int(n)), 1.0) for n in parts.low]
        free = set(np.concatenate([*parts.columns, np.zeros(0, np.int64)]).tolist())
        fixed = [c for c in range(len(mass)) if c not in free]
        log_total = sum(float(weights.table(totals[c], int(parts.low[c]))[-1]) for c in fixed)
        tables = parts.factor
        with working("summing over tables"):
            for block, members in zip(parts.blocks, parts.columns, strict=True):
                logs = [
                    weights.table(totals[c], int(high))
                    for c, high in zip(members, block.high, strict=True)
                ]
                log, number, found = _sum_over(block, logs, limit=limit, seconds=seconds)
                tables, log_total = tables * number, log_total + log
                for c, chances in zip(members, found, strict=True):
                    mass[c] = chances
        if not np.isfinite(log_total):
            raise DataError(f"{weights.name} gives every table that fits the weight 0.")
        return cls(
            release, weights, cells.codes, rows, column, totals, tuple(mass), tables, log_total
        )

    @classmethod
    def _empty(cls, release: Release, weights: CellWeights) -> Fibre:
        """Of nobody there is one table."""
        codes = np.zeros((0, len(release.variables)), np.uint8)
        none, row = np.zeros(0, np.int64), np.zeros((0, 1))
        return cls(release, weights, codes, row, none, row, (), 1, 0.0)

    def distribution(self, cell: int) -> Floats:
        """The probabilities of the counts 0, 1, 2, ... of an open cell.

        Of a sum x of cells together, a cell gets k with probability w(k) w'(x - k) / w''(x), w'
        the weight of the others' sum and w'' that of all.
        """
        column = int(self.column[cell])
        mass = self.mass[column]
        if self._sizes[column] == 1:
            return mass
        row, total = self.rows[cell], self.totals[column]
        key = (column, row.tobytes())
        if key not in self._shared:
            highest = len(mass) - 1
            others = np.asarray(total, np.float64) - np.asarray(row, np.float64)
            one, rest, both = (self.weights.table(r, highest) for r in (row, others, total))
            found = np.zeros_like(mass)
            for x in np.flatnonzero(mass):
                with np.errstate(under="ignore"):
                    found[: x + 1] += mass[x] * np.exp(one[: x + 1] + rest[x::-1] - both[x])
            self._shared[key] = found / found.sum()
        return self._shared[key]

    @cached_property
    def _sizes(self) -> Ints:
        return np.bincount(self.column)

    @cached_property
    def _shared(self) -> dict[tuple[int, bytes], Floats]:
        return {}

    @cached_property
    def entropy(self) -> float:
        """Of the table, in nats: the log of the total weight less the expected log weight."""
        expected = 0.0
        for cell in range(len(self.codes)):
            mass = self.distribution(cell)
            log = self.weights.table(self.rows[cell], len(mass) - 1)
            expected += float(mass[mass > 0] @ log[mass > 0])
        return max(0.0, self.log_total - expected)

    def log_probability(self, table: Table) -> float:
        """Of one table; -inf if it does not fit."""
        if not fits(self.release, table):
            return -math.inf
        if not len(self.codes):
            return 0.0
        places = [self.release.names.index(name) for name in table.names]
        counts = table.lookup(self.codes[:, places])
        return float(np.sum(self.weights.log(self.rows, counts))) - self.log_total


def _columns(cells: OpenCells, *, merge: bool) -> tuple[Ints, System]:
    """The column of each cell, and the system; `merge` joins cells that are in the same sums."""
    key = np.arange(len(cells.codes))
    if merge:
        key = np.unique(cells.lines, axis=0, return_inverse=True)[1].reshape(-1).astype(np.int64)
        for member in cells.extra:
            key[member] = np.unique(key[member], return_inverse=True)[1] + key.max() + 1
    _, first, column, sizes = np.unique(
        key, return_index=True, return_inverse=True, return_counts=True
    )
    return column, _system(cells, first, tuple(sizes.tolist()))


def _sum_over(
    block: System, logs: list[Floats], *, limit: int, seconds: float
) -> tuple[float, int, list[Floats]]:
    """The log of a block's total weight, how many tables it has, and its columns' distributions."""
    if len(block.sizes) > MOST_COLUMNS:
        raise DataError(
            f"{len(block.sizes):,} open cells of the release hang together, more than "
            f"{MOST_COLUMNS:,}, too many to sum over the tables; draw them instead."
        )
    transfer = Transfer.of(block)
    if transfer is None:
        return listed(block, logs, limit=limit, seconds=seconds)
    ways = [
        [math.comb(x + size - 1, x) for x in range(len(log))]
        for size, log in zip(block.sizes, logs, strict=True)
    ]
    log, found = transfer.distributions(logs)
    return log, transfer.count(ways), found
