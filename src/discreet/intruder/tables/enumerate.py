"""Every table that fits a release, one by one: depth first, with bounds."""

from __future__ import annotations

import math
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.effort import UNLIMITED, Clock, Effort, Seconds
from discreet.errors import DataError, InconsistentRelease, SolverError
from discreet.intruder.tables.net import Search
from discreet.intruder.tables.split import NOTHING_FITS, System, open_cells, separate, split
from discreet.look.progress import working
from discreet.release.release import Release
from discreet.table.cells import Cells

LINES = 4_096
AT_ONCE = 10_000_000  # numbers looked at between two looks at the clock
TRIAL = 300  # numbers, however few there are
MOST_LOOKED = 20_000_000_000
MOST_BOUNDS = 1 << 24
MOST_WEIGHED = 20_000_000


class Walk:
    """Through all solutions of a block; a trial looks at every sum of the net."""

    def __init__(self, system: System, search: Search) -> None:
        n = len(system.sizes)
        self.system, self.search = system, search
        self.feasible = (n + 3) * len(search.low) <= MOST_BOUNDS
        if self.feasible:
            self._low = np.zeros((n + 3, len(search.low)), np.int64)
            self._high = np.zeros_like(self._low)
            self._low[0], self._high[0] = search.low, search.high
            self._stack = np.zeros((n + 3, 2), np.int64)
            self._state = np.array([0, 1, 0])
            self._lines = np.empty((min(LINES, max(16, (1 << 22) // n)), 2 * n + 1), np.int64)

    @property
    def done(self) -> bool:
        return self.feasible and bool(self._state[0] < 0)

    @property
    def looked(self) -> int:
        """At how many numbers so far."""
        return int(self._state[2]) * self._each if self.feasible else 0

    @property
    def _each(self) -> int:
        return TRIAL + len(self.search.net.members)

    def lines(self, most: int, clock: Clock = UNLIMITED) -> Iterator[Ints]:
        """Lines of solutions, until all are found, `most` numbers looked at, or the time is up.

        A line is a solution, a step, and how many steps from it are solutions too.
        """
        trials = max(1, AT_ONCE // self._each)
        while self.feasible and not self.done and self.looked < most and not clock.over():
            yield self._step(trials)

    def _step(self, trials: int) -> Ints:
        from discreet._kernels.tables import walk

        search = self.search
        found = walk(
            search.net, search.order, search.last, self._low, self._high, self._stack,
            self._state, self._lines, trials,
        )  # fmt: skip
        return self._lines[:found]


def tables_on(lines: Ints) -> Ints:
    """Every solution on the lines, one a row."""
    n = lines.shape[1] // 2
    times = lines[:, -1] + 1
    step = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times, times)
    tables: Ints = np.repeat(lines[:, :n], times, 0)
    tables += step[:, None] * np.repeat(lines[:, n:-1], times, 0)
    return tables


def weigh(lines: Ints, sizes: tuple[int, ...], clock: Clock = UNLIMITED) -> int | None:
    """How many tables the lines stand for; None if there are too many to weigh one by one."""
    solutions = int((lines[:, -1] + 1).sum())
    heavy = [c for c, size in enumerate(sizes) if size > 1]
    if not heavy or not solutions:
        return solutions
    if solutions > MOST_WEIGHED or int(lines[:, -1].max()) > MOST_WEIGHED // 16:
        return None
    total = 0
    for part in np.array_split(lines, 1 + solutions // 100_000):
        clock.check("counting tables")
        values = tables_on(part)[:, heavy]
        ways = np.ones(len(values), object)
        for place, column in enumerate(heavy):
            distinct, inverse = np.unique(values[:, place], return_inverse=True)
            size = sizes[column]
            ways *= np.array([math.comb(int(x) + size - 1, int(x)) for x in distinct], object)[
                inverse
            ]
        total += int(ways.sum())
    return total


def enumerate_tables(
    release: Release, *, limit: int = 100_000, effort: float = 1.0, seconds: Seconds = math.inf
) -> tuple[Cells, NDArray[np.int64]]:
    """The open cells, and every table that fits as a row of counts of them.

    All other cells are zero. Raises if more than `limit` tables fit.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:blond"), "Hair + Income")
    >>> cells, tables = enumerate_tables(release)
    >>> cells, tables.shape
    (Cells(6 of Hair x Income), (35, 6))
    """
    if not release.total:
        nowhere = np.zeros((0, len(release.variables)), np.uint8)
        return Cells(release.variables, nowhere, np.zeros(0, np.int64)), np.zeros((1, 0), np.int64)
    cells, _ = open_cells(release, every_variable=True)
    parts = split(separate(cells))
    most, clock = Effort(effort).of(MOST_LOOKED), Clock.of(seconds)
    blocks, total = [], 1
    with working("listing tables"):
        for system in parts.blocks:
            blocks.append(listed(system, limit // total, most, clock))
            total *= len(blocks[-1])
            if total > limit:
                raise DataError(
                    f"more than {limit:,} tables fit {release.formula}; raise the limit, or "
                    "estimate what you need from a sample of them."
                )
    tables = np.tile(parts.low, (total, 1))
    each = total
    for columns, tables_of in zip(parts.columns, blocks, strict=True):
        each //= len(tables_of)
        tables[:, columns] = tables_of[np.arange(total) // each % len(tables_of)]
    counts = np.zeros(len(cells.codes), np.int64)
    return Cells(cells.variables, cells.codes, counts), tables


def listed(system: System, limit: int, most: int, clock: Clock) -> Ints:
    """The solutions of a block; at least one more than the limit if there are more."""
    walk = Walk(system, Search.of(system))
    found, total = [np.zeros((0, 2 * len(system.sizes) + 1), np.int64)], 0
    for lines in walk.lines(most, clock):
        found.append(lines.copy())
        total += int((lines[:, -1] + 1).sum())
        if total > limit:
            break
    if total <= limit and not walk.done:
        if clock.stopped:
            clock.check("listing tables")
        raise SolverError(
            f"{total:,} tables were found and not all could be listed; allow more effort."
        )
    if total == 0:
        raise InconsistentRelease(NOTHING_FITS)
    lines = np.concatenate(found)
    if total > limit:
        ends = np.cumsum(np.minimum(lines[:, -1], limit) + 1)
        lines = lines[: int(np.searchsorted(ends, limit, "right")) + 1]
        lines[:, -1] = np.minimum(lines[:, -1], limit)
    return tables_on(lines)
