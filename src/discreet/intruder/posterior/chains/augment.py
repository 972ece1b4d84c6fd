"""Data augmentation: tables and cell probabilities in turn, many chains at once.

    n ~ P(n | release, theta)         exactly, block by block
    theta ~ P(theta | n, model)       one sweep of Bayesian proportional fitting

(Dobra, Fienberg & Trottini 2003, section 5.1; Tanner & Wong 1987). Probabilities are averages of
those given theta, not of drawn counts (Rao & Blackwell), and errors those of the mean over chains.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError
from discreet.intruder.posterior.exact.asked_counts import Watch
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.result import MORE, chosen
from discreet.intruder.posterior.sampled import Draws, Sampled, warn_unless
from discreet.look.progress import working
from discreet.models.bayes import bipf, checked_hyper, margins_of
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula, as_formula

CHAINS = 256
BURN = 200
R_HAT, SETTLED = 1.05, 1.1
ROUND = 100  # steps between two looks at the errors
MOST_WORK = 8_000_000_000  # numbers made in all steps, half of them to settle
EVERY = 10  # of which parameters are kept
MOST_NUMBERS = 20_000_000
MOST_AT_ONCE = 2_000_000


def augment_posterior(
    release: Release,
    formula: str | Formula,
    cells: Cells | None = None,
    *,
    prior: ArrayLike = 0.5,
    chains: int | None = None,
    standard_error: float | None = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    blocks: Blocks | None = None,
) -> Sampled:
    """The distribution of each cell, of the table or a margin, under a model with the release.

    Ends when every probability has the standard error and R-hat is at most 1.05, or warns that
    `effort` times the usual work was too little. `seconds` only stop.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> augment_posterior(release, "Race*Income + Income*Gender", chains=64, standard_error=0.05)
    Posterior(18 cells over Gender, Race, Income: Race*Income + Gender*Income, prior 0.5; data
    augmentation, 64 chains of ...)
    """
    if chains is not None and chains < 4:
        raise DataError(f"chains is {chains}; take at least 4, so that they can be compared.")
    model = containing(release, formula)
    cells = chosen(release, cells)
    clock = Clock.of(seconds)
    blocks = Blocks.of(release, clock=clock) if blocks is None else blocks
    chains = max(32, min(CHAINS, MOST_AT_ONCE // blocks.width)) if chains is None else chains
    run = _Run.of(release, model, prior, blocks, Watch.of(blocks, cells), chains, seed, clock)
    most = Effort(effort).of(MOST_WORK) // run.cost
    with working("augmenting"):
        run.settle(most // 2)
        while True:
            run.go(ROUND)
            if not run.steps:
                clock.check("augmenting")
            found = run.estimate()
            largest = max((float(e.max(initial=0)) for _, e in found), default=0.0)
            together = run.convergence()["r_hat"] <= R_HAT
            reached = together and (standard_error is None or largest <= standard_error)
            if reached or clock.stopped or run.steps >= most // 2:
                break
    method = f"data augmentation, {chains:,} chains of {run.steps:,}"
    method += warn_unless(reached, standard_error, largest, str(model), clock)
    return Sampled.made(
        cells, [m for m, _ in found], [e for _, e in found], low=run.watch.low,
        model=str(model), prior=shown(prior), method=method, whole=run.whole(),
        stopped=clock.sentence(f"{chains:,} chains of {run.steps:,} draws", MORE),
        notes={"reached": reached, "chains": chains, "draws": run.steps} | run.convergence()
        | {"log_predictive": run.predictive()[0], "log_predictive_error": run.predictive()[1]},
    )  # fmt: skip


@dataclass
class _Run:
    """The state of the chains and what is summed over their steps."""

    blocks: Blocks
    watch: Watch
    margins: tuple[tuple[int, ...], ...]
    prior: Floats
    theta: Floats
    rng: np.random.Generator
    clock: Clock
    steps: int = 0
    sums: list[Floats] = field(default_factory=list)
    moments: Floats = field(default_factory=lambda: np.zeros(0))
    kept: list[Floats] = field(default_factory=list)
    logs: list[Floats] = field(default_factory=list)

    @classmethod
    def of(
        cls, release: Release, model: Formula, prior: ArrayLike, blocks: Blocks, watch: Watch,
        chains: int, seed: int, clock: Clock,
    ) -> _Run:  # fmt: skip
        """From draws of the prior, which are wider than the posterior."""
        shape = release.axes.sizes
        a = np.broadcast_to(checked_hyper(prior), shape).astype(np.float64)
        margins, rng = margins_of(model.sets), np.random.default_rng(seed)
        theta = np.ones((chains, *shape)) / a.size
        for _ in range(10):
            theta = bipf(theta, a, margins, rng)
        return cls(blocks, watch, margins, a, theta, rng, clock)

    @property
    def cost(self) -> int:
        """Numbers that a step makes."""
        return len(self.theta) * (self.blocks.width + 4 * len(self.margins) * self.prior.size)

    def start(self) -> None:
        """Forget what was drawn so far."""
        chains = len(self.theta)
        self.sums = [np.zeros((chains, len(block.tables))) for block in self.blocks.blocks]
        if self.watch.joint:
            self.sums = [np.zeros((chains, self.watch.width))]
        self.moments = np.zeros((2, chains, len(self.blocks.codes)))
        self.steps = 0

    def settle(self, most: int) -> None:
        """Run in, twice as long each time, until the chains agree about where they are."""
        steps = BURN
        while True:
            self.start()
            self.go(steps)
            self.clock.check("augmenting")
            if self.convergence()["r_hat"] <= SETTLED or 3 * steps > most:
                break
            steps *= 2
        self.kept, self.logs = [], []
        self.start()

    def go(self, steps: int) -> None:
        """So many steps more, or those that time allows."""
        chains, places = len(self.theta), self.blocks.places
        for step in range(steps):
            if self.clock.over():
                return
            flat = np.maximum(self.theta.reshape(chains, -1)[:, places], 1e-300)
            log_theta = np.log(flat)
            chances = self.blocks.chances(log_theta)
            drawn = self.blocks.draw(chances, self.rng)
            seen = [self.watch.spread(chances)] if self.watch.joint else chances
            for total, each in zip(self.sums, seen, strict=True):
                total += each
            self.moments[0] += drawn
            self.moments[1] += drawn.astype(np.float64) ** 2
            if step % EVERY == 0 and len(self.kept) * log_theta.size < MOST_NUMBERS:
                self.kept.append(log_theta)
                self.logs.append(self.blocks.log_sum(log_theta))
            counts = np.zeros((chains, self.prior.size))
            counts[:, places] = drawn
            hyper = counts.reshape(self.theta.shape) + self.prior
            self.theta = bipf(self.theta, hyper, self.margins, self.rng)
            self.steps += 1

    def estimate(self) -> list[tuple[Floats, Floats]]:
        """Of each cell the probabilities and their errors, by the means of the chains."""
        means = [total / self.steps for total in self.sums]
        found = means[0] if self.watch.joint else self.watch.spread(means)
        error = np.zeros(found.shape[1])
        if len(found) > 1:
            error = found.std(0, ddof=1) / np.sqrt(len(self.theta))
        return list(zip(self.watch.cells(found.mean(0)), self.watch.cells(error), strict=True))

    def convergence(self) -> dict[str, float]:
        """R-hat of the counts (Gelman & Rubin 1992), and the fewest effective draws of any cell."""
        mean = self.moments[0] / self.steps
        within = np.maximum(self.moments[1] / self.steps - mean**2, 0).mean(0)
        between = mean.var(0, ddof=1)
        open_ = within + between > 1e-12
        if not open_.any():
            return {"r_hat": 1.0, "effective_counts": float(self.steps * len(mean))}
        w, b = within[open_], between[open_]
        most = float(self.steps * len(mean))
        worth = np.minimum((w + b) / np.maximum(b / len(mean), 1e-300), most)
        return {
            "r_hat": float(np.sqrt(((w + b) / np.maximum(w, 1e-300)).max())),
            "effective_counts": float(worth.min()),
        }

    def predictive(self) -> tuple[float, float]:
        """The log of the mean of P(release | theta) over draws of theta, with its error."""
        from scipy.special import gammaln

        logs = np.array(self.logs)
        top = float(logs.max())
        with np.errstate(under="ignore"):
            each = np.exp(logs - top).mean(0)
        mean = float(each.mean())
        total = int(self.blocks.release.total or 0)
        error = float(each.std(ddof=1) / np.sqrt(len(each)) / mean)
        return float(gammaln(total + 1.0)) + top + float(np.log(mean)), error

    def whole(self) -> Draws:
        draws = np.concatenate(self.kept)
        return Draws.of(self.blocks, draws, np.full(len(draws), 1 / len(draws)), self.rng)


def containing(release: Release, formula: str | Formula) -> Formula:
    """The maximal margins of a model, which must contain the release."""
    model = as_formula(formula, release.names).frontier
    for margin in release.formula.margins:
        if not model.contains(margin):
            raise DataError(
                f"the model {model} does not contain the released margin {'*'.join(margin)}; add "
                "it, since what is released is known."
            )
    return model


def shown(prior: ArrayLike) -> str:
    """A prior in words."""
    a = np.asarray(prior, np.float64)
    return f"{float(a):g}" if a.ndim == 0 else f"{a.size:,} numbers"
