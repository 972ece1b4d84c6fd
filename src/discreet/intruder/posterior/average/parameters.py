"""Beliefs by importance sampling over a model's parameters, and how well it predicts the release.

With C a released margin, and DM the Dirichlet-multinomial distribution,

    P(release | model)  =  DM(n_C; a_C)  E[ P(release | n_C, theta(i | i_C)) ]

the mean over the prior of the parameters outside C, since those within are integrated in closed
form; the sum over all tables that fit is exact at every point. The tract table's model without
second-order interaction has 5 parameters left of 13.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.effort import UNLIMITED, Clock, Effort, Seconds
from discreet.errors import Stopped
from discreet.intruder.posterior.chains.augment import containing, shown
from discreet.intruder.posterior.exact.asked_counts import Watch
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.result import MORE, chosen
from discreet.intruder.posterior.sampled import Draws, Sampled, warn_unless
from discreet.look.progress import working
from discreet.models.bayes import bipf, checked_hyper, margins_of
from discreet.models.conditionals import Conditionals, indicators
from discreet.models.importance import PILOT, Points, adapt, bridge, integrate, sample
from discreet.models.ipf import ipf
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.lattice import bits

KEPT = 32_768
PACE = 10_000_000  # numbers that a pilot takes
AT_ONCE = 2_000_000  # between two looks at the clock
MOST = 1 << 20
MOST_WORK = 1_000_000_000  # numbers that all points take
EVIDENCE_WORK = 300_000_000  # and those of one integral
CHAIN_WORK = 100_000_000  # and the chains of one


@dataclass(frozen=True, eq=False)
class Target:
    """The density of the parameters outside the largest released margin, before and after it."""

    release: Release
    model: Formula
    blocks: Blocks
    conditionals: Conditionals
    prior: Floats  # in the table's shape
    margin: int

    @classmethod
    def of(
        cls, release: Release, model: Formula, prior: ArrayLike, blocks: Blocks | None = None,
        clock: Clock = UNLIMITED,
    ) -> Target:  # fmt: skip
        shape = release.axes.sizes
        a = np.broadcast_to(checked_hyper(prior), shape).astype(np.float64)
        largest = max(release.formula.sets, key=lambda s: math.prod(shape[p] for p in bits(s)))
        rows = Blocks.of(release, clock=clock) if blocks is None else blocks
        return cls(release, model, rows, Conditionals.of(shape, model.sets, largest), a, largest)

    def log_prior(self, phi: Floats) -> Floats:
        """Not normalised."""
        return np.asarray(self.conditionals.log(phi) @ self.prior.reshape(-1))

    def log_posterior(self, phi: Floats) -> Floats:
        """Not normalised."""
        rows, found = max(16, 4_000_000 // self.blocks.width), []
        for part in np.array_split(phi, 1 + len(phi) // rows):
            log_theta = self.conditionals.log(part)
            told = self.blocks.log_sum(log_theta[:, self.blocks.places])
            found.append(log_theta @ self.prior.reshape(-1) + told)
        return np.concatenate(found)

    @property
    def pilot(self) -> int:
        """Points to look at first: fewer where each is a sum over many tables."""
        return max(400, min(PILOT, PACE // self.blocks.width))

    def points(self, work: int) -> int:
        """How many take so many numbers."""
        return max(self.pilot, min(MOST, work // self.blocks.width))

    @cached_property
    def start(self) -> tuple[Floats, Floats]:
        """About where the posterior is: mode and covariance at the fit to the release.

        What the release says of the parameters is the covariance of the model's sufficient
        statistics that its margins explain.
        """
        of = self.conditionals
        margins = {
            tuple(bits(s)): self.release.table(self.release.axes.names_of(s)).dense()
            for s in self.release.formula.sets
        }
        fitted = ipf(np.ones(of.shape), margins, tolerance=1e-6, iterations=200).array
        phi = of.mode(self.prior + fitted)
        known = indicators(of.shape, self.release.formula.sets)
        cross = of.covariance(phi, fitted, known, of.design)
        both = of.covariance(phi, fitted, known, known)
        told = cross.T @ np.linalg.pinv(both, rcond=1e-9, hermitian=True) @ cross
        own = of.covariance(phi, self.prior, of.design, of.design)
        return phi, _inverse(told + own)

    @property
    def before(self) -> tuple[Floats, Floats]:
        """Where the prior is."""
        phi = self.conditionals.mode(self.prior)
        design = self.conditionals.design
        return phi, _inverse(self.conditionals.covariance(phi, self.prior, design, design))

    @property
    def log_margin(self) -> float:
        """log DM(n_C; a_C) prod n_C!."""
        return self.log_margin_of()

    def log_margin_of(self, *, twice: bool = False) -> float:
        """The same; `twice`, after it was seen once."""
        from scipy.special import gammaln

        names = self.release.axes.names_of(self.margin)
        n = self.release.table(names).dense().astype(np.float64)
        rest = tuple(p for p in range(self.prior.ndim) if not self.margin >> p & 1)
        a = self.prior.sum(rest) + (n if twice else 0.0)
        total, whole = float(n.sum()), float(a.sum())
        ends = gammaln(total + 1) + gammaln(whole) - gammaln(total + whole)
        return float(ends + (gammaln(a + n) - gammaln(a)).sum())


def importance_posterior(
    release: Release,
    formula: str | Formula,
    cells: Cells | None = None,
    *,
    prior: ArrayLike = 0.5,
    standard_error: float | None = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    blocks: Blocks | None = None,
) -> Sampled:
    """The distribution of each cell, of the table or a margin, under a model with the release.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> found = importance_posterior(release, "Race*Income + Income*Gender + Race*Gender")
    >>> np.abs(found.matrix()[6] - [0.609, 0.391, 0]).max() < 0.006
    np.True_
    """
    model = containing(release, formula)
    cells = chosen(release, cells)
    clock, rng = Clock.of(seconds), np.random.default_rng(seed)
    target = Target.of(release, model, prior, blocks, clock)
    most = target.points(Effort(effort).of(MOST_WORK))
    with working("weighing parameters"):
        proposal = adapt(target.log_posterior, *target.start, rng, pilot=target.pilot, clock=clock)
        run = _Sums(target, Watch.of(target.blocks, cells))
        points = sample(target.log_posterior, proposal, target.pilot, rng, clock)
        run.add(points)
        while True:
            found = run.estimate(points)
            largest = max((float(e.max(initial=0)) for _, e in found), default=0.0)
            reached = standard_error is None or largest <= standard_error
            n = len(points.points)
            if reached or n >= most:
                break
            wanted = n * (largest / (standard_error or largest)) ** 2 * 1.1
            size = int(min(wanted, 3 * n, most)) - n + 512
            size = min(size, max(target.pilot, AT_ONCE // target.blocks.width))
            try:
                more = sample(target.log_posterior, proposal, size, rng, clock)
            except Stopped:
                break
            run.add(more)
            points = points.join(more)
    method = f"importance sampling of {target.conditionals.parameters} parameters, {n:,} points"
    method += warn_unless(reached, standard_error, largest, str(model), clock)
    return Sampled.made(
        cells, [m for m, _ in found], [e for _, e in found], low=run.watch.low,
        model=str(model), prior=shown(prior), method=method, whole=run.whole(points, rng),
        stopped=clock.sentence(f"{n:,} points", MORE),
        notes={"reached": reached, "points": n, "effective_points": points.effective,
               "parameters": target.conditionals.parameters, "log_integral": points.log_integral,
               "log_integral_error": points.error},
    )  # fmt: skip


class _Sums:
    """Weighted sums over points, w P, (w P)^2, w^2 P, kept up to one common factor."""

    def __init__(self, target: Target, watch: Watch) -> None:
        self.target, self.watch = target, watch
        self.top: float | None = None
        self.sums = np.zeros((3, watch.width))

    def add(self, points: Points) -> None:
        blocks = self.target.blocks
        rows = max(64, 4_000_000 // (blocks.width + self.watch.width))
        if self.top is None:
            self.top = float(points.log_weights.max())
        for part in np.array_split(np.arange(len(points.points)), 1 + len(points.points) // rows):
            log_theta = self.target.conditionals.log(points.points[part])[:, blocks.places]
            with np.errstate(under="ignore"):
                w = np.exp(points.log_weights[part] - self.top)
            p = self.watch.spread(blocks.chances(log_theta))
            p = np.broadcast_to(p, (len(w), p.shape[1]))
            self.sums += np.stack([w @ p, w**2 @ p**2, w**2 @ p])

    def estimate(self, points: Points) -> list[tuple[Floats, Floats]]:
        """Ratio estimates and their errors by the delta method: sum w^2 (p - mean)^2."""
        with np.errstate(under="ignore"):
            w = np.exp(points.log_weights - (self.top or 0.0))
        total, square = float(w.sum()), float((w**2).sum())
        first, second, cross = self.sums
        mean = first / total
        left = np.maximum(second - 2 * mean * cross + mean**2 * square, 0)
        error = np.sqrt(left) / total * (mean < 1)
        return list(zip(self.watch.cells(mean), self.watch.cells(error), strict=True))

    def whole(self, points: Points, rng: np.random.Generator) -> Draws:
        blocks = self.target.blocks
        shares = points.shares
        most = KEPT
        if len(shares) > most:
            at = np.searchsorted(np.cumsum(shares), (np.arange(most) + rng.random()) / most)
            chosen_, shares = np.minimum(at, len(shares) - 1), np.full(most, 1 / most)
        else:
            chosen_ = np.arange(len(shares))
        log_theta = self.target.conditionals.log(points.points[chosen_])[:, blocks.places]
        return Draws.of(blocks, log_theta, shares, rng)


def log_release(
    target: Target, *, error: float = 0.01, effort: float = 1.0, seconds: Seconds = math.inf,
    seed: int = 0,
) -> tuple[float, float]:  # fmt: skip
    """log P(release | model), and its standard error.

    Importance sampling; where its error stays too large, as with many parameters, bridge sampling
    between chains and a proposal.
    """
    each, clock = error / math.sqrt(2), Clock.of(seconds)
    most = target.points(Effort(effort).of(EVIDENCE_WORK))
    log, total = target.log_margin, 0.0
    for sign, density, start in (
        (1, target.log_posterior, target.start),
        (-1, target.log_prior, target.before),
    ):
        found = integrate(
            density, *start, error=each, seed=2 * seed + (sign > 0), most=most, clock=clock,
            pilot=target.pilot if sign > 0 else PILOT,
        )  # fmt: skip
        value, off = found.log_integral, found.error
        if off > each and found.effective < 0.02 * len(found.points):
            draws = chain_draws(target, after=sign > 0, effort=effort, seconds=clock, seed=seed)
            value, off = bridge(density, draws, seed=seed)
        log, total = log + sign * value, math.hypot(total, off)
    return log, total


def chain_draws(
    target: Target, *, after: bool, effort: float = 1.0, seconds: Seconds = math.inf, seed: int = 0
) -> Floats:
    """Chains x draws x parameters by data augmentation, of the posterior or the prior."""
    chains = max(16, min(128, 300_000 // target.blocks.width)) if after else 128
    rng, clock = np.random.default_rng(seed), Clock.of(seconds)
    margins = margins_of(target.model.sets)
    theta = np.ones((chains, *target.prior.shape)) / target.prior.size
    kept: list[Floats] = []
    step = 0
    each = chains * ((target.blocks.width if after else 0) + 4 * len(margins) * target.prior.size)
    wanted = max(40, min(400, Effort(effort).of(CHAIN_WORK) // (5 * each)))
    while len(kept) < wanted:
        clock.check("weighing models")
        hyper = target.prior
        if after:
            flat = np.log(np.maximum(theta.reshape(chains, -1)[:, target.blocks.places], 1e-300))
            counts = np.zeros((chains, target.prior.size))
            blocks = target.blocks
            counts[:, blocks.places] = blocks.draw(blocks.chances(flat), rng)
            hyper = counts.reshape(theta.shape) + target.prior
        theta = bipf(theta, hyper, margins, rng)
        step += 1
        if step > 100 and step % 5 == 0:
            kept.append(target.conditionals.parameters_of(theta.reshape(chains, -1)))
    return np.stack(kept, 1)


def log_predictive(
    target: Target, *, error: float = 0.01, effort: float = 1.0, seconds: Seconds = math.inf,
    seed: int = 0,
) -> tuple[float, float]:  # fmt: skip
    """The log of the mean of P(release | theta) over the posterior of theta, and its error.

    That of the margin C, DM(n_C; a_C + n_C), is in closed form.
    """
    found = integrate(
        target.log_posterior,
        *target.start,
        error=error / 2,
        seed=seed,
        most=min(1 << 16, target.points(Effort(effort).of(EVIDENCE_WORK))),
        pilot=target.pilot,
        clock=Clock.of(seconds),
    )
    shares, rows = found.shares, max(64, 4_000_000 // target.blocks.width)
    parts = np.array_split(found.points, 1 + len(shares) // rows)
    places = target.blocks.places
    logs = np.concatenate(
        [target.blocks.log_sum(target.conditionals.log(part)[:, places]) for part in parts]
    )
    top = float(logs.max())
    with np.errstate(under="ignore"):
        each = np.exp(logs - top)
    mean = float(shares @ each)
    off = float(np.sqrt((shares**2 * (each - mean) ** 2).sum())) / mean
    return target.log_margin_of(twice=True) + top + math.log(mean), off


def _inverse(matrix: Floats) -> Floats:
    if not len(matrix):
        return matrix
    return np.asarray(np.linalg.pinv(matrix, rcond=1e-10, hermitian=True))
