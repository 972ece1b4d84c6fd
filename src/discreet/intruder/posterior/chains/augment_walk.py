"""Data augmentation where the tables that fit are too many to list: they are walked through.

Given cell probabilities, a table has the weight prod theta^n / n!, and chains step from table to
table; given the table, probabilities are drawn by Bayesian proportional fitting.
"""

from __future__ import annotations

import math
import warnings
from dataclasses import dataclass
from typing import Any, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats, Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import ConvergenceWarning, DataError
from discreet.intruder.posterior.below import Below
from discreet.intruder.posterior.chains.augment import containing, shown
from discreet.intruder.posterior.chains.convergence import LEAST, Convergence, judge_in_time
from discreet.intruder.posterior.chains.walker import Walker, walkers
from discreet.intruder.posterior.result import MORE, NO_CELL, Posterior, chosen, counted, tallied
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.split import open_cells, separate, split
from discreet.look.progress import working
from discreet.models.bayes import bipf, checked_hyper, margins_of
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.keys import Codes, keys

CHAINS = 8
FIRST = 200
MOST_WORK = 50_000_000  # of all chains, in the units of a walker's cost
STEP, DRAWN = 20, 0.1  # what a step and a new probability take
MOST_COUNTS = 1 << 27
MOST_LOGS = 1 << 22  # weights that are made anew in every step


def walk_posterior(
    release: Release,
    formula: str | Formula,
    cells: Cells | None = None,
    *,
    prior: ArrayLike = 0.5,
    chains: int = CHAINS,
    standard_error: float | None = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Posterior:
    """The distribution of each cell, of the table or a margin, under a model with the release."""
    model, cells = containing(release, formula), chosen(release, cells)
    if chains < 2:
        raise DataError(f"chains is {chains}; take at least 2, so that they can be compared.")
    if not len(cells):
        return Posterior.of(cells, (), model=str(model), prior=shown(prior), method=NO_CELL)
    clock = Clock.of(seconds)
    with working("augmenting"):
        run = Run.of(release, model, cells, prior, chains, seed, clock)
        kept, found = run.until(standard_error, Effort(effort), clock)
    method = f"data augmentation, {found.chains} chains x {found.draws:,} draws"
    low, mass = tallied(kept.reshape(-1, len(cells)))
    return Posterior.of(
        cells, mass, low=low, model=str(model), prior=shown(prior),
        method=method + warn_of(found, str(model), clock), effective=found.effective,
        convergence=found,
        stopped=clock.sentence(f"{chains} chains of {found.draws:,} draws", MORE),
    )  # fmt: skip


def warn_of(found: Convergence, what: str, clock: Clock) -> str:
    """Says loudly what is wrong with chains; the same as words."""
    if found.converged:
        return ""
    said = "; ".join(found.problems)
    warnings.warn(
        f"{what}: the chains have not converged: {said}. Allow more "
        f"{'seconds' if clock.stopped else 'effort'}, or do not use these beliefs.",
        ConvergenceWarning,
        stacklevel=3,
    )
    return f", NOT CONVERGED: {said}"


@dataclass(eq=False)
class Run:
    """Probabilities of each chain, and the walkers that have its table."""

    parts: list[tuple[Walker, Ints]]
    theta: Floats
    prior: Floats
    margins: tuple[tuple[int, ...], ...]
    places: Ints  # of the open cells in the table
    table: Ints  # chains x open cells
    below: Below
    kind: type[np.signedinteger]
    rng: np.random.Generator

    @classmethod
    def of(
        cls, release: Release, model: Formula, cells: Cells, prior: ArrayLike, chains: int,
        seed: int, clock: Clock,
    ) -> Self:  # fmt: skip
        opened, _ = open_cells(release, every_variable=True)
        parts = split(separate(opened))
        shape = release.axes.sizes
        a = np.broadcast_to(checked_hyper(prior), shape).astype(np.float64)
        every = np.arange(len(opened.codes))
        weights = CellWeights.of(_given, str(model))
        found = list(
            walkers(release, opened.codes, parts, every, weights, None, chains, seed, "auto", clock)
        )
        for walker, members in found:
            if walker.space.logs.size > MOST_LOGS:
                raise DataError(
                    f"counts up to {walker.space.logs.shape[1] - 1:,} in {len(members):,} cells "
                    "are too many to weigh anew in every step; believe the saturated model."
                )
            walker.wanted = np.arange(len(members))
            walker.slides = max(1, walker.slides // 2)
        return cls(
            found, np.full((chains, *shape), 1 / a.size), a, margins_of(model.sets),
            np.asarray(keys(opened.codes, shape), np.int64), np.tile(parts.low, (chains, 1)),
            Below.of(release.names, opened.codes, cells), counted(release),
            np.random.default_rng(seed),
        )  # fmt: skip

    def until(
        self, standard_error: float | None, effort: Effort, clock: Clock
    ) -> tuple[NDArray[np.signedinteger], Convergence]:
        """Ever more draws, the earlier ones forgotten, until they are good or enough work is done.

        Once the time is up, the longest run so far.
        """
        wanted, most = FIRST, effort.of(MOST_WORK) // math.ceil(self.cost)
        kept = self.go(wanted, clock)[:, :0]  # a warm-up, that is forgotten
        while True:
            self.forget()
            made = self.go(wanted, clock)
            kept = max(kept, made, key=lambda draws: draws.shape[1])
            if kept.shape[1] < LEAST:
                clock.check("augmenting")
            found = judge_in_time(
                kept, clock, requested=standard_error, accepted=self.accepted, moves=self.moves,
                seconds=clock.spent,
            )  # fmt: skip
            if (
                found.converged or clock.stopped or 4 * wanted > most
                or 4 * kept.size > MOST_COUNTS
            ):  # fmt: skip
                return kept, found
            wanted *= 2

    @property
    def cost(self) -> float:
        """What a step of all chains takes."""
        walks = sum(walker.cost for walker, _ in self.parts)
        made = DRAWN * self.prior.size * len(self.margins)
        return len(self.theta) * (STEP * (1 + len(self.parts)) + made + walks)

    def forget(self) -> None:
        """Start counting anew."""
        for walker, _ in self.parts:
            walker.tally[:] = 0

    def probabilities(self, hyper: Floats) -> Floats:
        """New ones given the tables, chains x table."""
        return bipf(self.theta, hyper, self.margins, self.rng)

    def go(self, steps: int, clock: Clock) -> NDArray[np.signedinteger]:
        """Chains x draws x asked cells; fewer draws if the time is up."""
        from scipy.special import gammaln

        kept: list[NDArray[np.signedinteger]] = []
        chains = len(self.theta)
        most = max((walker.space.logs.shape[1] for walker, _ in self.parts), default=1)
        factorials = gammaln(np.arange(most) + 1.0)
        while len(kept) < steps and not clock.over():
            counts = np.zeros((chains, self.prior.size))
            counts[:, self.places] = self.table
            hyper = counts.reshape(self.theta.shape) + self.prior
            self.theta = self.probabilities(hyper)
            logs = np.log(np.maximum(self.theta.reshape(chains, -1)[:, self.places], 1e-300))
            for walker, members in self.parts:
                for chain in range(chains):
                    _weigh(walker, logs[chain, members], factorials)
                    self.table[chain, members] = walker.run(chain, 1)[0]
            kept.append(self.below.sums(self.table).astype(self.kind))
        if not kept:
            return np.zeros((chains, 0, self.below.size), self.kind)
        return np.stack(kept, 1)

    @property
    def moves(self) -> int:
        """How many were tried."""
        return sum(int(walker.tally[:, [0, 2]].sum()) for walker, _ in self.parts)

    @property
    def accepted(self) -> float:
        taken = sum(int(walker.tally[:, [1, 3]].sum()) for walker, _ in self.parts)
        return taken / max(1, self.moves)


def _given(codes: Codes | NDArray[Any], counts: Ints) -> Floats:
    """log 1 / n!; the probabilities come with every step."""
    from scipy.special import gammaln

    return np.asarray(-gammaln(counts + 1.0))


def _weigh(walker: Walker, logs: Floats, factorials: Floats) -> None:
    """Give the walker the weights n log theta - log n! of its columns."""
    space = walker.space
    n = np.arange(space.logs.shape[1])
    space.logs[space.kind[: len(logs)]] = logs[:, None] * n - factorials[: len(n)]
