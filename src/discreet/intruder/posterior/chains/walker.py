"""Chains over one block of cells that hang together: their weights, moves and states."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.effort import UNLIMITED, Clock
from discreet.errors import DataError, InconsistentRelease, SolverError
from discreet.intruder.posterior.chains.basis import markov_basis
from discreet.intruder.posterior.chains.table_moves import (
    MOST_COLUMNS,
    Kernel,
    cubes,
    edges,
    fills,
    kept,
)
from discreet.intruder.posterior.exact.decomposable import draw_tables
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.split import NOTHING_FITS, Split, System
from discreet.look.words import plural
from discreet.release.release import Release
from discreet.table.keys import Codes
from discreet.table.table import Table

if TYPE_CHECKING:
    from discreet._kernels.chains import Edges, Fills, Moves, Space

EXCLUDED = -1e9  # the log weight of what has none, so that a chain can leave it
MOST_LOGS = 1 << 26
CHUNK = 1 << 20
TRIES = 300
AT_ONCE = 10_000_000  # numbers looked at between two looks at the clock
CIRCUITS = 200
LEAST = 16  # slides between two draws
STUCK = 0.02  # share of slides that change something, below which fills have to do it
SLIDE, FILL, NARROW = 0.15, 10.0, 0.05  # what a slide, a fill and a sum in it cost, about
LOOK = 0.0015  # what each column of a fill takes for each sum, in the worst case
MOST_NODES = 100_000  # of the program that finds a first table


@dataclass(eq=False)
class Walker:
    """Chains over a block: `states` and `rngs` one a chain."""

    space: Space
    how: tuple[Moves, Fills] | Edges
    slides: int
    refills: float
    states: list[Ints]
    rngs: list[np.random.Generator]
    times: int = 1
    capped: Ints = field(default_factory=lambda: np.zeros(0, np.int64))  # columns known as a range
    wanted: Ints = field(default_factory=lambda: np.zeros(0, np.int64))
    tally: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.tally = np.zeros((len(self.states), 4), np.int64)

    def state(self, chain: int) -> tuple[Any, ...]:
        """All that a run of the chain changes."""
        return self.states[chain], self.rngs[chain], self.tally[chain]

    def resume(self, chain: int, state: tuple[Any, ...]) -> None:
        """From where it stood, maybe elsewhere."""
        self.states[chain], self.rngs[chain], self.tally[chain] = state

    def run(self, chain: int, draws: int) -> NDArray[np.int32]:
        """The wanted columns after each of so many draws."""
        from discreet._kernels.chains import Edges, run_edges, run_moves

        out = np.empty((draws, len(self.wanted)), np.int32)
        x, rng, tally = self.states[chain], self.rngs[chain], self.tally[chain]
        slides = self.slides * self.times
        if isinstance(self.how, Edges):
            run_edges(self.space, self.how, x, self.wanted, slides, rng, out, tally)
        else:
            run_moves(
                self.space, *self.how, x, self.wanted, slides, self.refills * self.times,
                rng, out, tally,
            )  # fmt: skip
        return out

    @property
    def cost(self) -> float:
        """What a draw of one chain takes."""
        return self.times * (SLIDE * self.slides + self.refills * self.fill_cost)

    @property
    def fill_cost(self) -> float:
        from discreet._kernels.chains import Edges

        sums = 0 if isinstance(self.how, Edges) else len(self.how[1].net.members)
        return FILL + (NARROW + LOOK * self.space.columns) * sums

    def adapt(self) -> None:
        """Fill more often if hardly any slide changes anything; before the draws that count."""
        self.refills = self.adapted(self.refills, self.tally)

    @staticmethod
    def adapted(refills: float, tally: Ints) -> float:
        tried, made = tally[:, :2].sum(0).tolist()
        return max(1.0, refills) if refills and made < STUCK * tried else refills

    @property
    def excluded(self) -> bool:
        """Is a chain at a table of weight 0?"""
        n = self.space.columns
        logs = [self.space.logs[self.space.kind[:n], x[:n]] for x in self.states]
        return any(bool((log <= EXCLUDED).any()) for log in logs)


def walkers(
    release: Release, codes: Codes, parts: Split, asked: Ints, weights: CellWeights,
    start: Table | None, chains: int, seed: int, moves: str, clock: Clock = UNLIMITED,
) -> Iterator[tuple[Walker, Ints]]:  # fmt: skip
    """Chains for each block with a cell that is asked about, and the block's columns."""
    seeds = np.random.SeedSequence(seed)
    if moves == "auto" and release.formula.is_decomposable and not release.known:
        if parts.columns:
            members = np.concatenate(parts.columns)
            order = np.argsort(members)
            rngs = [np.random.default_rng(s) for s in seeds.spawn(chains)]
            yield _separable(release, codes, parts, order, weights, start, rngs), members[order]
        return
    for system, members in zip(parts.blocks, parts.columns, strict=True):
        first, *rest = seeds.spawn(chains + 1)
        if np.isin(members, asked).any():
            rngs = [np.random.default_rng(s) for s in rest]
            space, sizes = space_of(release, system, weights)
            begin = None if start is None else start.lookup(_named(release, start, system.codes))
            yield (
                _walker(release, system, space, sizes, begin, np.random.default_rng(first), rngs,
                        moves == "basis", clock),
                members,
            )  # fmt: skip


def _named(release: Release, table: Table, codes: Codes) -> Codes:
    return codes[:, release.axes.places(table.names)]


def space_of(release: Release, system: System, weights: CellWeights) -> tuple[Space, Floats]:
    """Bounds and log weights, and the spread that the weights give a count.

    The parameter a of a negative binomial count with these weights: w(1)^2 / (w(0) w(2)) is
    2 a / (a + 1).
    """
    from discreet._kernels.chains import Space

    n = len(system.sizes)
    ranges = np.flatnonzero(~system.exact_rows)
    low = np.concatenate([system.low, system.floors[ranges]])
    high = np.concatenate([system.high, system.ceilings[ranges]])
    most = max(2, int(high.max()))
    shape = release.axes.sizes
    rows, kind = np.unique(weights.rows(system.codes, shape), axis=0, return_inverse=True)
    if (len(rows) + 1) * most > MOST_LOGS:
        raise DataError(
            f"counts up to {most:,} in {plural(len(rows), 'kind')} of cells are too many to "
            "weigh; ask about a table with fewer cells or smaller counts."
        )
    logs = np.zeros((len(rows) + 1, most + 1))
    for place, row in enumerate(rows):
        for first in range(0, most + 1, CHUNK):
            last = min(first + CHUNK, most + 1)
            logs[place, first:last] = np.maximum(weights.table(row, last - 1, first), EXCLUDED)
    ratio = np.exp(np.clip(2 * logs[:-1, 1] - logs[:-1, 0] - logs[:-1, 2], -3, 3))
    spread = np.where(ratio < 1.999, ratio / np.maximum(2 - ratio, 1e-3), 1e6)
    kind = kind.reshape(-1).astype(np.int64)
    listed = [system.rows[r] for r in ranges]
    space = Space(
        low, high, np.append(kind, np.full(len(ranges), len(rows))), logs,
        bool(np.ptp(logs) < 1e-12), n, np.cumsum([0, *map(len, listed)]),
        np.concatenate([*listed, np.zeros(0, np.int64)]).astype(np.int64),
        max(0, int(np.log2(max(1, int((high - low)[:n].max()) / 8)))),
    )  # fmt: skip
    return space, np.maximum(spread[kind], 0.05)


def _walker(
    release: Release, system: System, space: Space, sizes: Floats, start: Ints | None,
    rng: np.random.Generator, rngs: list[np.random.Generator], basis: bool, clock: Clock,
) -> Walker:  # fmt: skip
    n = len(system.sizes)
    slides, capped = max(LEAST, n), np.flatnonzero(system.held)
    kernel = Kernel(system, clock) if n <= MOST_COLUMNS else None
    ways = fills(system, sizes, None if basis else kernel, rng)
    states = _starts(system, space, ways, start, rngs, clock)
    if basis:
        moves, complete = _basis(release, system)
        if complete:
            how = listed(moves, system), ways
            return Walker(space, how, slides, 0.0, states, rngs, capped=capped)
    else:
        moves = cubes(release, system, rng)
    if kernel is not None and not basis:
        count = min(CIRCUITS, 20_000 // max(1, kernel.freedom))
        moves = np.unique(np.concatenate([moves, kernel.circuits(count, rng)]), axis=0)
    if not len(moves):
        return Walker(space, (listed(moves, system), ways), 0, 1.0, states, rngs, capped=capped)
    rate = min(1.0, SLIDE * slides / 2 / (FILL + NARROW * len(ways.net.members)))
    how = listed(moves, system), ways
    return Walker(space, how, slides, rate, states, rngs, capped=capped)


def listed(moves: Ints, system: System) -> Moves:
    """Moves as lists of entries, with what they do to the sums known as a range."""
    from discreet._kernels.chains import Moves

    ranges = [system.rows[r] for r in np.flatnonzero(~system.exact_rows)]
    sums = [moves[:, row].sum(1)[:, None] for row in ranges]
    moves = np.concatenate([moves, *sums], axis=1)
    row, cell = np.nonzero(moves)
    return Moves(
        np.searchsorted(row, np.arange(len(moves) + 1)),
        np.ascontiguousarray(cell),
        np.ascontiguousarray(moves[row, cell]),
    )


def _basis(release: Release, system: System) -> tuple[Ints, bool]:
    """A minimal Markov basis, the moves within the block, and whether they join all its tables."""
    found = markov_basis(release)
    places = np.ravel_multi_index(tuple(system.codes.T.astype(np.int64)), found.shape)
    inside = np.delete(found.moves, places, axis=1) == 0
    return kept(found.moves[inside.all(1)][:, places], system), found.complete


def _starts(
    system: System, space: Space, ways: Fills, start: Ints | None,
    rngs: list[np.random.Generator], clock: Clock,
) -> list[Ints]:  # fmt: skip
    """A table for each chain: drawn, or the one given, or by an integer program."""
    states = []
    for chain, rng in enumerate(rngs):
        x = np.zeros(len(space.low), np.int64)
        if (chain == 0 and start is not None) or not _begun(ways, space, x, rng, clock):
            found = start if start is not None else _solved(system, rng, clock)
            x[: space.columns] = found
            for r, row in enumerate(np.flatnonzero(~system.exact_rows)):
                x[space.columns + r] = found[system.rows[row]].sum()
        states.append(x)
    return states


def _begun(ways: Fills, space: Space, x: Ints, rng: np.random.Generator, clock: Clock) -> bool:
    """Is a table drawn?"""
    from discreet._kernels.chains import begin

    left, size = TRIES, max(1, AT_ONCE // max(1, space.columns * len(ways.net.members)))
    while left > 0:
        clock.check("looking for tables to start from")
        if begin(ways, space, min(size, left), x, rng):
            return True
        left -= size
    return False


def _solved(system: System, rng: np.random.Generator, clock: Clock) -> Ints:
    """A table of the block that is least by random costs."""
    from scipy.optimize import Bounds, LinearConstraint, milp
    from scipy.sparse import coo_array

    n, m = len(system.sizes), len(system.rows)
    row = np.repeat(np.arange(m), [len(r) for r in system.rows])
    matrix = coo_array((np.ones(len(row)), (row, np.concatenate(system.rows))), shape=(m, n))
    found = milp(
        rng.random(n),
        integrality=np.ones(n),
        bounds=Bounds(system.low, system.high),
        constraints=LinearConstraint(matrix.tocsr(), system.floors, system.ceilings),
        options={"node_limit": MOST_NODES, "time_limit": min(clock.left, 1e9)},
    )
    if found.status == 2:
        raise InconsistentRelease(NOTHING_FITS)
    if found.x is None:
        clock.check("looking for tables to start from")
        raise SolverError("no table to start a chain from was found; give one as start.")
    return np.asarray(np.rint(found.x), np.int64)


def _separable(
    release: Release, codes: Codes, parts: Split, order: Ints, weights: CellWeights,
    start: Table | None, rngs: list[np.random.Generator],
) -> Walker:  # fmt: skip
    """Chains along the separators of a decomposable release."""
    members = np.concatenate(parts.columns)[order]
    whole = System(
        codes[members], (1,) * len(members),
        np.concatenate([b.low for b in parts.blocks])[order],
        np.concatenate([b.high for b in parts.blocks])[order],
        np.zeros(len(members), bool), (), np.zeros(0, np.int64), np.zeros(0, np.int64),
    )  # fmt: skip
    space, _ = space_of(release, whole, weights)
    states = []
    for chain, rng in enumerate(rngs):
        table = start
        if chain or table is None:
            table = _matched(release, rng)
        states.append(table.lookup(_named(release, table, whole.codes)))
    slides = max(LEAST, 2 * len(members))
    return Walker(space, edges(release, whole.codes), slides, 0.0, states, rngs)


def _matched(release: Release, rng: np.random.Generator) -> Table:
    """A table that fits a decomposable release; of what no margin has, any category."""
    covered = {name for table in release.tables for name in table.names}
    spoken = tuple(v for v in release.variables if v.name in covered)
    seed = int(rng.integers(1 << 32))
    table = next(draw_tables(dataclasses.replace(release, variables=spoken), seed=seed))
    others = [v for v in release.variables if v.name not in covered]
    more = [rng.integers(0, v.size, len(table)).astype(table.codes.dtype) for v in others]
    codes = np.column_stack([table.codes, *more])
    return Table.from_cells((*spoken, *others), codes, table.counts).reorder(release.names)
