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

from discreet.arrays import Floats, Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.posterior.below import Below
from discreet.intruder.posterior.exact.listing import listed
from discreet.intruder.posterior.exact.pieces import Tied
from discreet.intruder.posterior.exact.transfer import MOST_ENTRIES, Transfer
from discreet.intruder.posterior.result import Posterior, chosen, fits, held
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.split import Split, System, _system, open_cells, split
from discreet.look.progress import working
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.keys import Codes, keys
from discreet.table.table import Table

MOST_COLUMNS = 2_000
MOST_TERMS = 1e9
MOST_SUMMED = 1 << 23
LIMIT = 5_000_000


def exact_posterior(
    release: Release,
    cells: Cells | None = None,
    *,
    weights: CellWeights | None = None,
    limit: int = LIMIT,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Posterior:
    """The distribution of each cell, of the table or a margin, over the tables that fit.

    All of the table by default; of a margin's cell, that of the sum of the cells below it.
    `weights` are those of the saturated model with Dirichlet prior 1/2 by default. Refuses if a
    block is too large for both ways to sum over its tables: state by state, or one by one with at
    most `limit` tables; `effort` is how many times the usual work both may take.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> found = exact_posterior(release)
    >>> found
    Posterior(18 cells over Gender, Race, Income: saturated, prior 0.5; exact, 59,400 tables)
    >>> found.matrix()[6].round(4)
    array([0.4994, 0.5006, 0.    ])
    """
    weights = CellWeights.dirichlet() if weights is None else weights
    cells, clock = chosen(release, cells), Clock.of(seconds)
    fibre = Fibre.of(release, weights, limit=limit, effort=effort, seconds=clock)
    low, mass = fibre.beliefs(cells, limit=limit, effort=effort, seconds=clock)
    return Posterior.of(
        cells,
        mass,
        low=low,
        model=weights.name,
        prior=weights.prior,
        method=f"exact, {fibre.tables:,} tables",
        whole=fibre,
    )


@dataclass(frozen=True, eq=False)
class Fibre:
    """All tables that fit, weighted: how many there are, and how probable each is.

    A column is a cell, or the sum of cells that every published sum holds together; `column` says
    which one each open cell belongs to, `mass` how its value is distributed, from `parts.low` on.
    """

    release: Release
    weights: CellWeights
    codes: Codes
    rows: NDArray[np.generic]
    column: Ints
    totals: NDArray[np.generic]
    parts: Split
    mass: tuple[Floats, ...]
    tables: int
    log_total: float

    @classmethod
    def of(
        cls, release: Release, weights: CellWeights, *, limit: int = LIMIT, effort: float = 1.0,
        seconds: Seconds = math.inf,
    ) -> Fibre:  # fmt: skip
        """Sum over the tables of each block."""
        if not release.total:
            return cls._empty(release, weights)
        clock = Clock.of(seconds)
        cells, _ = open_cells(release, every_variable=True)
        rows = weights.rows(cells.codes, release.axes.sizes)
        column, system = _columns(cells, merge=weights.additive)
        totals = rows
        if weights.additive:
            totals = np.bincount(column, rows[:, 0].astype(np.float64))[:, None]
        parts = split(system)
        spans = [float((block.high - block.low + 1.0).sum()) for block in parts.blocks]
        held(len(cells.codes), sum(spans), MOST_SUMMED)
        mass = [np.ones(1)] * len(parts.low)
        free = set(np.concatenate([*parts.columns, np.zeros(0, np.int64)]).tolist())
        fixed = [c for c in range(len(mass)) if c not in free]
        log_total = sum(
            float(weights.table(totals[c], int(parts.low[c]), int(parts.low[c]))[0]) for c in fixed
        )
        tables = parts.factor
        with working("summing over tables"):
            for block, members in zip(parts.blocks, parts.columns, strict=True):
                logs = [
                    weights.table(totals[c], int(high), int(low))
                    for c, low, high in zip(members, block.low, block.high, strict=True)
                ]
                log, number, found = _sum_over(block, logs, limit, Effort(effort), clock)
                tables, log_total = tables * number, log_total + log
                for c, chances in zip(members, found, strict=True):
                    mass[c] = chances
        if not np.isfinite(log_total):
            raise DataError(f"{weights.name} gives every table that fits the weight 0.")
        made = cls(
            release, weights, cells.codes, rows, column, totals, parts, tuple(mass), tables,
            log_total,
        )  # fmt: skip
        made._check()
        return made

    @classmethod
    def _empty(cls, release: Release, weights: CellWeights) -> Fibre:
        """Of nobody there is one table."""
        codes = np.zeros((0, len(release.variables)), np.uint8)
        none, row = np.zeros(0, np.int64), np.zeros((0, 1))
        return cls(release, weights, codes, row, none, row, Split(none, 1, (), ()), (), 1, 0.0)

    def _check(self) -> None:
        """Refuses sums of cells together that take too long to share out among them."""
        together = np.flatnonzero(self._sizes > 1)
        terms = 0.0
        for c in together:
            values = self.parts.low[c] + np.flatnonzero(self.mass[c])
            held(int(self._sizes[c]), float(values[-1] + 1), MOST_SUMMED)
            terms += float((values + 1.0).sum())
        if terms > MOST_TERMS:
            raise DataError(
                f"{len(together):,} sums of cells that the release does not tell apart have "
                f"{terms:.1e} ways to be shared out, too many; draw tables instead."
            )

    # What is believed about cells

    def beliefs(
        self, cells: Cells, *, limit: int = LIMIT, effort: float = 1.0, seconds: Seconds = math.inf
    ) -> tuple[Ints, list[Floats]]:
        """The least count of each cell, of the table or a margin, and the chances from it on."""
        if not cells.names or self.release.formula.contains(cells.names):
            counts = self.release.table(cells.names).lookup(cells.codes)
            return counts, [np.ones(1)] * len(cells)
        _, first, place = np.unique(
            keys(cells.codes, cells.shape), return_index=True, return_inverse=True
        )
        clock = Clock.of(seconds)
        below = Below.of(self.release.names, self.codes, cells.take(first))
        found = [_added(terms) for terms in self._terms(below, limit, Effort(effort), clock)]
        return (
            np.array([low for low, _ in found], np.int64)[place],
            [found[row][1] for row in place],
        )

    def _terms(
        self, below: Below, limit: int, effort: Effort, clock: Clock
    ) -> list[list[tuple[int, Floats]]]:
        """Of each asked cell, the independent parts that it is the sum of."""
        terms: list[list[tuple[int, Floats]]] = [[] for _ in range(below.size)]
        tied: dict[int, list[tuple[int, Ints]]] = {}
        for asked, found in enumerate(terms):
            members = below.members(asked)
            columns = self.column[members]
            blocks, count = np.unique(self._block[np.unique(columns)], return_counts=True)
            several = set(blocks[(count > 1) & (blocks >= 0)].tolist())
            for block in several:
                tied.setdefault(block, []).append((asked, members[self._block[columns] == block]))
            for c in np.unique(columns):
                if int(self._block[c]) not in several:
                    found.append(self._part(int(c), members[columns == c]))
        for block, groups in tied.items():
            inside = np.flatnonzero(self._block[self.column] == block)
            local = np.searchsorted(self.parts.columns[block], self.column[inside])
            sums = Tied(
                self.parts.blocks[block], self.codes[inside], local, self.rows[inside],
                lambda row, low, high: self.weights.table(row, high, low),
            ).sums(
                [np.searchsorted(inside, members) for _, members in groups],
                limit=limit, effort=effort, clock=clock,
            )  # fmt: skip
            for (asked, _), part in zip(groups, sums, strict=True):
                terms[asked].append(part)
        return terms

    def distribution(self, cell: int) -> tuple[int, Floats]:
        """The least count of an open cell, and the probabilities from it on."""
        return self._part(int(self.column[cell]), np.array([cell]))

    def _part(self, column: int, members: Ints) -> tuple[int, Floats]:
        """The same of some of the cells of a column.

        Of a sum x of cells together, some get k with probability w(k) w'(x - k) / w''(x), w' the
        weight of the others' sum and w'' that of all.
        """
        low, mass = int(self.parts.low[column]), self.mass[column]
        if self._sizes[column] == len(members):
            return low, mass
        total = self.totals[column]
        row = self.rows[members].astype(np.float64).sum(0)
        key = (column, row.tobytes())
        if key not in self._shared:
            highest = low + len(mass) - 1
            one, rest, both = (self.weights.table(r, highest) for r in (row, total - row, total))
            found = np.zeros(highest + 1)
            for x in low + np.flatnonzero(mass):
                with np.errstate(under="ignore"):
                    found[: x + 1] += mass[x - low] * np.exp(one[: x + 1] + rest[x::-1] - both[x])
            self._shared[key] = found / found.sum()
        return 0, self._shared[key]

    @cached_property
    def _sizes(self) -> Ints:
        return np.bincount(self.column, minlength=len(self.mass))

    @cached_property
    def _block(self) -> Ints:
        """The block of each column, -1 if it is settled."""
        found = np.full(len(self.mass), -1)
        for block, columns in enumerate(self.parts.columns):
            found[columns] = block
        return found

    @cached_property
    def _shared(self) -> dict[tuple[int, bytes], Floats]:
        return {}

    @cached_property
    def entropy(self) -> float:
        """Of the table, in nats: the log of the total weight less the expected log weight."""
        expected = 0.0
        for cell in range(len(self.codes)):
            low, mass = self.distribution(cell)
            log = self.weights.table(self.rows[cell], low + len(mass) - 1, low)
            expected += float(mass[mass > 0] @ log[mass > 0])
        return max(0.0, self.log_total - expected)

    def log_probability(self, table: Table) -> float:
        """Of one table; -inf if it does not fit."""
        if not fits(self.release, table):
            return -math.inf
        if not len(self.codes):
            return 0.0
        places = self.release.axes.places(table.names)
        counts = table.lookup(self.codes[:, places])
        return float(np.sum(self.weights.log(self.rows, counts))) - self.log_total


def _added(parts: list[tuple[int, Floats]]) -> tuple[int, Floats]:
    """The distribution of the sum of independent counts."""
    low, mass = 0, np.ones(1)
    for least, chances in sorted(parts, key=lambda part: len(part[1])):
        if len(mass) * len(chances) > MOST_TERMS:
            raise DataError(
                f"a sum of cells has {len(mass) * len(chances):.1e} terms, too many; draw tables "
                "instead."
            )
        low, mass = low + least, np.convolve(mass, chances)
    return low, mass


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
    block: System, logs: list[Floats], limit: int, effort: Effort, clock: Clock
) -> tuple[float, int, list[Floats]]:
    """The log of a block's total weight, how many tables it has, and its columns' distributions."""
    if len(block.sizes) > MOST_COLUMNS:
        raise DataError(
            f"{len(block.sizes):,} open cells of the release hang together, more than "
            f"{MOST_COLUMNS:,}, too many to sum over the tables; draw them instead."
        )
    transfer = Transfer.of(block, limit=effort.of(MOST_ENTRIES), clock=clock)
    if transfer is None:
        return listed(block, logs, limit=limit, effort=effort, clock=clock)
    ways = [
        [math.comb(int(low) + x + size - 1, size - 1) for x in range(len(log))] if size > 1 else ()
        for size, low, log in zip(block.sizes, block.low, logs, strict=True)
    ]
    log, found = transfer.distributions(logs)
    return log, transfer.count(ways), found
