"""Beliefs by Markov chains, for any release.

    decomposable     slides along separators, made when they are tried (Dobra 2003)
    any other        slides along moves of the formula and circuits, and fills: some columns are
                     held, the others drawn one after the other within the bounds that these leave,
                     and accepted by Metropolis-Hastings (after Dobra 2012; Chen, Dinwoodie &
                     Sullivant 2006)
    moves="basis"    slides along a minimal Markov basis, with fills where it may not be complete

A slide draws how far to go along a move from its exact distribution. A fill sometimes holds
nothing, and no bound excludes a table that fits: from any table every other can be proposed, so
that no Markov basis is needed.

Each chain is walked by sixteen lanes at once, whose draws it counts as its own (`bundles`).
"""

from __future__ import annotations

import math
import warnings
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import NDArray

from discreet.effort import UNLIMITED, Clock, Effort, Seconds
from discreet.errors import ConvergenceWarning, DataError
from discreet.intruder.posterior.below import Below
from discreet.intruder.posterior.chains.bundles import Bundle
from discreet.intruder.posterior.chains.convergence import LEAST, Convergence, judge, judge_in_time
from discreet.intruder.posterior.chains.walker import Walker, walkers
from discreet.intruder.posterior.result import (
    MORE,
    NO_CELL,
    Posterior,
    chosen,
    counted,
    fits,
    tallied,
)
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.split import open_cells, separate, split
from discreet.look.progress import working
from discreet.release.release import Release
from discreet.spreading import far, spread
from discreet.table.cells import Cells
from discreet.table.table import Table

Steps = Literal["auto", "basis", "dynamic"]
KEPT = 8_192
WARM = 25  # draws of a lane
MOST_WORK = 50_000_000  # of all chains, in the units of a walker's cost
AT_ONCE = 50_000  # of it between two looks at the clock
FAR = 50  # times as much where chains are sent to other machines
JUDGED = 0.5  # work that a draw of a cell takes to be judged
MOST_COUNTS = 1 << 28
MOST_AT_ONCE = 1 << 24


@dataclass(frozen=True, eq=False)
class Drawn:
    """Tables from chains: chains x draws x cells, and how far to trust them."""

    cells: Cells
    counts: NDArray[np.signedinteger]
    convergence: Convergence
    stopped: str | None = None


def chain_posterior(
    release: Release,
    cells: Cells | None = None,
    *,
    weights: CellWeights | None = None,
    start: Table | None = None,
    chains: int = 4,
    draws: int = 1_000,
    standard_error: float | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    moves: Steps = "auto",
) -> Posterior:
    """The distribution of each cell, of the table or a margin, from Markov chains.

    All of the table by default; a margin's cell is added up in every draw.

    `draws` of each chain at least; then on, until R-hat is 1.01 and every probability has the
    `standard_error` asked for, or `effort` times the usual work is done: then with a warning.
    `seconds` only stop.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> chain_posterior(release, standard_error=0.01)
    Posterior(18 cells over Gender, Race, Income: saturated, prior 0.5; 4 chains x 1,008 draws)
    """
    weights = CellWeights.dirichlet() if weights is None else weights
    if not len(asked := chosen(release, cells)):
        return Posterior.of(asked, (), model=weights.name, prior=weights.prior, method=NO_CELL)
    drawn = chain_draws(
        release, cells, weights=weights, start=start, chains=chains, draws=draws,
        standard_error=standard_error, effort=effort, seconds=seconds, seed=seed, moves=moves,
    )  # fmt: skip
    found = drawn.convergence
    method = f"{chains} chains x {drawn.counts.shape[1]:,} draws"
    if found.problems:
        said = "; ".join(found.problems)
        method += f", NOT CONVERGED: {said}"
        warnings.warn(
            f"the chains have not converged: {said}. Allow more "
            f"{'seconds' if drawn.stopped else 'effort'}, or do not use these beliefs.",
            ConvergenceWarning,
            stacklevel=2,
        )
    low, mass = tallied(drawn.counts.reshape(-1, len(drawn.cells)))
    return Posterior.of(
        drawn.cells,
        mass,
        low=low,
        model=weights.name,
        prior=weights.prior,
        method=method,
        effective=found.effective,
        convergence=found,
        stopped=drawn.stopped,
    )


def chain_draws(
    release: Release,
    cells: Cells | None = None,
    *,
    weights: CellWeights,
    start: Table | None = None,
    chains: int = 4,
    draws: int = 1_000,
    standard_error: float | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    moves: Steps = "auto",
) -> Drawn:
    """The tables themselves, dependent within a chain; `chain_posterior` has the arguments."""
    if moves not in get_args(Steps):
        raise DataError(f"there are no moves {moves!r}; choose {', '.join(get_args(Steps))}.")
    if chains < 2 or draws < LEAST:
        raise DataError(
            f"{chains} chains of {draws} draws cannot be compared; give at least 2 chains and "
            f"{LEAST} draws."
        )
    if standard_error is not None and not standard_error > 0:
        raise DataError(f"the standard error asked for is {standard_error!r}; give one above 0.")
    if start is not None and not fits(release, start):
        raise DataError("the table to start from does not fit the release; leave it out.")
    cells = chosen(release, cells)
    if chains * max(draws, KEPT) * len(cells) > MOST_COUNTS:
        raise DataError(
            f"{chains} chains of {len(cells):,} cells are too much to keep; ask about fewer cells, "
            "as in table.small()."
        )
    clock, most = Clock.of(seconds), Effort(effort).of(MOST_WORK)
    with working("running chains"):
        run = _Run.of(release, cells, weights, start, chains, seed, moves, clock)
        for _ in range(2):  # a warm-up, that is forgotten
            run.advance(max(WARM * run.lanes, draws // 8), clock)
            clock.check("warming up chains")
            run.adapt()
        run.check(weights)
        tallied(run.counts.reshape(-1, len(cells)))  # refuses what spreads too wide to be told
        run.forget()
        wanted, doubtful = max(draws, LEAST * run.lanes), list[int]()
        while True:
            run.advance(wanted - run.made, clock)
            if run.made < LEAST:
                clock.check("running chains")
            counts, over = run.counts, clock.over()
            run.work += JUDGED * counts.size
            judged: dict[str, Any] = {
                "lanes": run.lanes, "requested": standard_error, "accepted": run.accepted,
                "moves": run.moves, "seconds": clock.spent,
            }  # fmt: skip
            goes_on = doubtful and not over and run.work < most
            if not (goes_on and judge(counts[:, :, doubtful], **judged).problems):
                found = judge_in_time(counts, clock, **judged)
                doubtful = found.worst_cells
                if found.converged or clock.stopped or run.work >= most:
                    had = f"{chains} chains of {run.made:,} draws"
                    return Drawn(cells, counts, found, clock.sentence(had, MORE))
            if run.made >= max(draws, KEPT):
                run.thin()
            allowed = math.ceil((most - run.work) / run.cost)
            wanted = run.made + min(run.made, allowed)


class _Run:
    """Chains over all blocks of a release, with the draws kept so far.

    `columns` pair what each walker draws with the asked cells that it counts for.
    """

    def __init__(
        self, walkers: list[Walker], fixed: NDArray[np.signedinteger], columns: list[Below]
    ) -> None:
        bundles = [bundle for bundle in map(Bundle.of, walkers) if bundle is not None]
        in_lanes = bool(walkers) and len(bundles) == len(walkers)
        self.parts: list[Walker | Bundle] = [*bundles] if in_lanes else [*walkers]
        self.lanes = bundles[0].lanes if in_lanes else 1
        for part, pairs in zip(self.parts, columns, strict=True):
            part.wanted = pairs.cell
        self._fixed, self._columns = fixed, columns
        self.work = 0.0
        self.forget()

    @classmethod
    def of(
        cls, release: Release, cells: Cells, weights: CellWeights, start: Table | None,
        chains: int, seed: int, moves: Steps, clock: Clock = UNLIMITED,
    ) -> _Run:  # fmt: skip
        fixed = np.zeros((chains, 1, len(cells)), counted(release))
        if not release.total:
            return cls([], fixed, [])
        opened, _ = open_cells(release, every_variable=True)
        parts = split(separate(opened))
        below = Below.of(release.names, opened.codes, cells)
        settled = parts.low.astype(fixed.dtype)
        for members in parts.columns:
            settled[members] = 0
        fixed[:] = below.sums(settled[None])[0]
        found, columns = [], []
        for walker, members in walkers(
            release, opened.codes, parts, below.cell, weights, start, chains, seed, moves, clock
        ):
            place = np.full(len(opened.codes), -1)
            place[members] = np.arange(len(members))
            pairs = below.take(place >= 0, place)
            found.append(walker)
            columns.append(pairs)
        return cls(found, fixed, columns)

    @property
    def counts(self) -> NDArray[np.signedinteger]:
        return np.concatenate(self._kept, axis=1)

    @property
    def accepted(self) -> float:
        tried = sum(int(p.tally[:, [0, 2]].sum()) for p in self.parts)
        return sum(int(p.tally[:, [1, 3]].sum()) for p in self.parts) / max(1, tried)

    @property
    def moves(self) -> int:
        """How many were tried."""
        return sum(int(p.tally[:, [0, 2]].sum()) for p in self.parts)

    @property
    def cost(self) -> float:
        """What a draw of every chain takes, with what it takes to be judged."""
        chains, _, cells = self._fixed.shape
        return float(chains * (JUDGED * cells + sum(part.cost for part in self.parts)) + 1)

    def advance(self, draws: int, clock: Clock = UNLIMITED) -> None:
        """So many draws more, or those made until the time is up."""
        for size in self._sizes(-(-draws // self.lanes), clock):
            block = np.repeat(self._fixed, size * self.lanes, axis=1)
            tasks = [
                (place, chain, size, part.state(chain))
                for place, part in enumerate(self.parts)
                for chain in range(len(block))
            ]
            found = spread(_walked, tasks, given=(self.parts,), threads=True)
            for (place, chain, *_), (drawn, state) in zip(tasks, found, strict=True):
                self.parts[place].resume(chain, state)
                self._columns[place].add(drawn, block[chain])
            self._kept.append(block)
            self.made += size * self.lanes
            self.work += size * self.lanes * len(block) * sum(part.cost for part in self.parts)

    def _sizes(self, draws: int, clock: Clock) -> Iterator[int]:
        most = MOST_AT_ONCE // max(1, sum(len(p.cell) for p in self._columns))
        most = max(1, min(most, int((FAR if far() else 1) * AT_ONCE / self.cost)) // self.lanes)
        while draws > 0 and not clock.over():
            yield min(most, draws)
            draws -= most

    def forget(self) -> None:
        self._kept, self.made = list[NDArray[np.signedinteger]](), 0
        for part in self.parts:
            part.tally[:] = 0

    def adapt(self) -> None:
        for part in self.parts:
            part.adapt()

    def thin(self) -> None:
        """Keep every second draw, and make those to come twice as far apart."""
        counts = self.counts
        apart = counts.reshape(len(counts), -1, self.lanes, counts.shape[2])[:, 1::2]
        self._kept = [np.ascontiguousarray(apart).reshape(len(counts), -1, counts.shape[2])]
        self.made = self._kept[0].shape[1]
        for part in self.parts:
            part.times *= 2

    def check(self, weights: CellWeights) -> None:
        if any(part.excluded for part in self.parts):
            raise DataError(
                f"the chains found no table that {weights.name} gives a weight above 0; start "
                "them from one."
            )


def _walked(
    task: tuple[int, int, int, tuple[Any, ...]], parts: Sequence[Walker | Bundle]
) -> tuple[NDArray[np.int32], tuple[Any, ...]]:
    """So many draws of a chain of a part, and where it stands then."""
    place, chain, draws, state = task
    parts[place].resume(chain, state)
    return parts[place].run(chain, draws), parts[place].state(chain)
