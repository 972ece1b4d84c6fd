"""Tables that fit a release and show how far its cells can vary."""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, InconsistentRelease, SolverError
from discreet.intruder.witness.program import Moves, matches
from discreet.intruder.witness.support import Supports
from discreet.intruder.witness.walk import Walks
from discreet.look.progress import track
from discreet.release.release import Release
from discreet.solver import Limit
from discreet.table.cells import Cells
from discreet.table.keys import Codes
from discreet.table.table import Table

LADDER = (30, 100, 300, 1_000, 1_500)  # how many positive cells may move
ROUNDS = 3  # each with other people
MOST_SUPPORT = 8  # times as many cells may take part
ITERATIONS = 60_000  # of the simplex, in all programs together
EACH = 100  # that a program counts for besides, since it must be written
FIRST_WALK, WALK, LONGEST_WALK = 10_000, 150, 1_500  # tries for each positive cell
ASIDE = 0.1  # what the other targets weigh beside the one in question
NEW = 1e-3  # what a person in an empty cell costs: keeps moves small, and vertices whole


@dataclass(frozen=True, eq=False)
class Witnesses:
    """The least and the greatest value of each target cell in the tables that were found.

    Every one of the `tables` was checked in integers to fit the release. Between two of them a walk
    may pass others: there each step is a move on an unreleased set, which keeps every margin, and
    is made only if no count falls below zero. So the true interval of a cell holds low..high;
    nothing here says that it ends there.
    """

    low: Ints
    high: Ints
    tables: int
    method: str

    @property
    def spread(self) -> Ints:
        return self.high - self.low

    def __len__(self) -> int:
        return len(self.low)

    def __repr__(self) -> str:
        least = f", least spread {int(self.spread.min())}" if len(self) else ""
        return f"Witnesses({len(self):,} cells in {self.tables:,} tables{least}: {self.method})"


def witnesses(
    release: Release,
    start: Table,
    cells: Cells,
    *,
    beta: int | None = None,
    lower: Ints | None = None,
    upper: Ints | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Witnesses:
    """How far `cells` are seen to vary over tables with exactly the released margins.

    From `start`, and from each table found, only the people of the nearest positive cells move. A
    small linear program finds where they can go; where it ends at whole numbers it is a new table.
    A cell is left alone when both its outer bounds are attained, or when its spread is `beta`;
    what all programs may cost is counted in steps of the simplex.

    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> release = Release.margins(table, "Race*Income + Income*Gender")
    >>> found = witnesses(release, table, table.small())
    >>> found.low, found.high
    (array([0, 0, 0, 0]), array([1, 2, 2, 2]))
    """
    codes = _full_cells(release, cells)
    start = start.reorder(release.names)
    _check_start(release, start)
    count = len(codes)
    search = _Search(
        release,
        start,
        codes,
        np.zeros(count, np.int64) if lower is None else lower,
        np.full(count, start.total) if upper is None else upper,
        np.iinfo(np.int64).max if beta is None else beta,
        Effort(effort).of(ITERATIONS),
        Clock.of(seconds),
        np.random.default_rng(seed),
    )
    if count:
        search.run()
    return Witnesses(
        search.low,
        search.high,
        len(search.seen),
        f"{search.programs:,} linear programs on up to {search.largest:,} cells, "
        f"{search.steps:,} steps of walks",
    )


@dataclass(eq=False)
class _Search:
    release: Release
    start: Table
    codes: Codes
    lower: Ints
    upper: Ints
    beta: int
    left: int
    clock: Clock
    rng: np.random.Generator
    programs: int = 0
    steps: int = 0
    largest: int = 0
    seen: set[int] = field(default_factory=set)

    def __post_init__(self) -> None:
        self.moves = Moves(self.release)
        self.walks = Walks(self.release)
        self.supports = Supports(self.start.shape, self.release.formula.sets)
        self.upper = np.where(self.release.closed(self.codes), 0, self.upper)
        value = self.start.lookup(self.codes)
        self.low, self.high = value.copy(), value.copy()
        self.at_low = [self.start] * len(value)
        self.at_high = [self.start] * len(value)
        self.seen.add(hash(_key(self.start)))

    def run(self) -> None:
        """Walk, then climb the ladder: more people for the cells that need it."""
        self.walk(self.start, FIRST_WALK * len(self.start))
        most = min(len(self.start), LADDER[-1])
        ladder = [rung for rung in LADDER if most <= 4 * rung < 16 * most] or [most]
        for donors in ladder * ROUNDS:
            todo = self.rng.permutation(np.flatnonzero(self.unfinished()))
            for target in track(todo.tolist(), f"witnesses among {donors:,} cells"):
                for sign in (1, -1):
                    while self.wanted(target, sign) and self.step(target, sign, donors):
                        pass
                if not self.going():
                    return

    def going(self) -> bool:
        return self.left > 0 and bool(self.unfinished().any()) and not self.clock.over()

    def unfinished(self) -> NDArray[np.bool_]:
        ends = (self.low <= self.lower) & (self.high >= self.upper)
        return ~ends & (self.high - self.low < self.beta)

    def wanted(self, target: int, sign: int) -> bool:
        end = (
            self.high[target] < self.upper[target]
            if sign > 0
            else self.low[target] > self.lower[target]
        )
        short = self.high[target] - self.low[target] < self.beta
        return bool(end and short) and self.left > 0 and not self.clock.over()

    def step(self, target: int, sign: int, donors: int) -> bool:
        """One program from the table that has the target furthest; was it moved further?"""
        table = self.at_high[target] if sign > 0 else self.at_low[target]
        code = self.codes[target]
        support = self._support(table, code, donors)
        limit = Limit(iterations=self.left, seconds=self.clock.left)
        aim = self._aim(support, table, target, sign)
        move, took = self.moves.best(support, table, code, *aim, limit=limit)
        self.left -= took + EACH
        self.programs += 1
        self.largest = max(self.largest, len(support))
        new = None if move is None else self.moves.moved(table, support, move)
        if new is None:
            return False
        before = self.high[target] - self.low[target]
        self._record(new)
        self.walk(new, WALK * len(new))
        return bool(self.high[target] - self.low[target] > before)

    def walk(self, table: Table, tries: int) -> None:
        """Go on from a table by the smallest moves, and note what was seen on the way."""
        while tries > 0 and self.walks.possible and self.going():
            part = min(tries, LONGEST_WALK * len(table))
            seed = int(self.rng.integers(1 << 31))
            end, low, high, made = self.walks.walk(table, self.codes, part, seed)
            change = np.concatenate([end.counts, -table.counts])
            checked = self.moves.moved(table, np.concatenate([end.codes, table.codes]), change)
            if checked is None:
                raise SolverError("a walk lost a released margin; report this as a bug.")
            table = checked
            self.steps += made
            np.minimum(self.low, low, out=self.low)
            np.maximum(self.high, high, out=self.high)
            self._record(table)
            tries -= part

    def _support(self, table: Table, code: Codes, donors: int) -> Codes:
        """The cells that the nearest people can be in, the target among them."""
        far = (table.codes != code).sum(axis=1) - 0.3 * np.log(table.counts)
        order = np.argsort(far + self.rng.random(len(far)), kind="stable")
        most = MOST_SUPPORT * donors
        while True:
            chosen = np.concatenate([table.codes[order[:donors]], code[None]])
            support = self.supports.mosaics(chosen, most)
            if support is not None:
                break
            donors = donors * 2 // 3
        return support[~self.release.closed(support)]

    def _aim(
        self, support: Codes, table: Table, target: int, sign: int
    ) -> tuple[NDArray[np.float64], Ints]:
        """The cost of a person more in each cell, and how many the cell may hold."""
        now = table.lookup(support)
        cost = NEW * self.rng.uniform(0.5, 1.5, len(support)) * (now == 0)
        high = np.full(len(support), table.total)
        rows = _rows(self.start.shape, support, self.codes)
        inside = np.flatnonzero(rows >= 0)
        high[rows[inside]] = self.upper[inside]
        value = table.lookup(self.codes[inside])
        toward = np.where(value >= self.high[inside], 1, np.where(value <= self.low[inside], -1, 0))
        both = (value >= self.high[inside]) & (value <= self.low[inside]) | (toward == 0)
        toward = np.where(both, self.rng.choice([-1, 1], len(inside)), toward)
        weight = ASIDE * self.rng.random(len(inside)) * self.unfinished()[inside]
        cost[rows[inside]] -= toward * weight
        cost[rows[target]] = -sign
        return cost, high

    def _record(self, table: Table) -> None:
        self.seen.add(hash(_key(table)))
        value = table.lookup(self.codes)
        for target in np.flatnonzero(value >= self.high):
            self.at_high[target] = table
        for target in np.flatnonzero(value <= self.low):
            self.at_low[target] = table
        np.minimum(self.low, value, out=self.low)
        np.maximum(self.high, value, out=self.high)


def _key(table: Table) -> tuple[bytes, bytes]:
    return table.codes.tobytes(), table.counts.tobytes()


def _rows(shape: tuple[int, ...], codes: Codes, wanted: Codes) -> Ints:
    from discreet.table.keys import lookup

    return lookup(codes, shape, wanted)


def _full_cells(release: Release, cells: Cells) -> Codes:
    if set(cells.names) != set(release.names):
        raise DataError(
            f"witnesses are whole tables; give cells over {', '.join(release.names)}, not over "
            f"{', '.join(cells.names)}."
        )
    return cells.project(release.names)


def _check_start(release: Release, start: Table) -> None:
    for table in release.tables:
        if start.margin(table.names) != table:
            raise InconsistentRelease(
                f"the table to start from has another {'*'.join(table.names)} margin than the "
                "release; start from a table that fits."
            )
    closed = release.closed(start.codes)
    if closed.any():
        where = ", ".join(f"{n}={c}" for n, c in start.nonzero().take(closed).label(0).items())
        raise InconsistentRelease(
            f"the table to start from has somebody in {where}, which the release rules out; start "
            "from a table that fits."
        )
    cells, lower, upper = release.cell_ranges
    values = start.lookup(cells)
    wrong = bool(((values < lower) | (values > upper)).any())
    for known in release.ranges if wrong else release.sum_ranges:
        value = int(start.counts[matches(start.codes, release, known)].sum())
        if not known.lower <= value <= known.upper:
            raise InconsistentRelease(
                f"the table to start from has {value} where the release says {known}; start from "
                "a table that fits."
            )
