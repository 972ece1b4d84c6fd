"""Integrals over parameters: importance sampling from t distributions that adapt to the target."""

from __future__ import annotations

import math
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.effort import UNLIMITED, Clock
from discreet.errors import DataError

LogDensity = Callable[[Floats], Floats]
FREEDOM = 5.0
WIDE = 0.15  # share of the draws from a wider distribution, so that no tail is missed
PILOT = 2_000
ROUNDS = 8
ENOUGH = 0.5  # of the points count: no need to adapt further
BATCH = 4_096


@dataclass(frozen=True, eq=False)
class Proposal:
    """A t distribution, mixed with one of twice its width."""

    mean: Floats
    root: Floats  # lower triangular: its square is the scale

    @classmethod
    def of(cls, mean: Floats, covariance: Floats) -> Proposal:
        d = len(mean)
        values, vectors = np.linalg.eigh(covariance.reshape(d, d))
        values = np.maximum(values, 1e-12 * max(1e-6, values.max(initial=0)))
        return cls(mean, np.linalg.cholesky((vectors * values) @ vectors.T))

    def draw(self, n: int, rng: np.random.Generator) -> Floats:
        d = len(self.mean)
        width = np.where(rng.random(n) < WIDE, 2.0, 1.0)
        stretch = width * np.sqrt(FREEDOM / rng.chisquare(FREEDOM, n))
        return np.asarray(
            self.mean + stretch[:, None] * (rng.standard_normal((n, d)) @ self.root.T)
        )

    def log(self, points: Floats) -> Floats:
        d = len(self.mean)
        z = np.linalg.solve(self.root, (points - self.mean).T)
        square = (z**2).sum(0)
        base = (
            math.lgamma((FREEDOM + d) / 2) - math.lgamma(FREEDOM / 2)
            - d / 2 * math.log(FREEDOM * math.pi) - float(np.log(np.diag(self.root)).sum())
        )  # fmt: skip
        shape = (FREEDOM + d) / 2
        narrow = math.log1p(-WIDE) - shape * np.log1p(square / FREEDOM)
        wide = math.log(WIDE) - d * math.log(2) - shape * np.log1p(square / 4 / FREEDOM)
        return np.asarray(base + np.logaddexp(narrow, wide))


@dataclass(frozen=True, eq=False)
class Points:
    """Points with weights; `log_integral` of the target, `error` its standard error."""

    points: Floats
    log_weights: Floats
    proposal: Proposal

    @property
    def shares(self) -> Floats:
        """The weights, that sum to one."""
        with np.errstate(under="ignore"):
            found = np.exp(self.log_weights - self.log_weights.max())
        return np.asarray(found / found.sum())

    @property
    def log_integral(self) -> float:
        top = float(self.log_weights.max())
        with np.errstate(under="ignore"):
            return top + math.log(float(np.exp(self.log_weights - top).mean()))

    @property
    def error(self) -> float:
        """Of the log of the integral, by the delta method."""
        shares = self.shares
        return float(np.sqrt(np.maximum((shares**2).sum() - 1 / len(shares), 0.0)))

    @property
    def effective(self) -> float:
        return float(1 / (self.shares**2).sum())

    def join(self, other: Points) -> Points:
        return Points(
            np.concatenate([self.points, other.points]),
            np.concatenate([self.log_weights, other.log_weights]),
            self.proposal,
        )


def adapt(
    log_density: LogDensity,
    mean: Floats,
    covariance: Floats,
    rng: np.random.Generator,
    *,
    pilot: int = PILOT,
    clock: Clock = UNLIMITED,
) -> Proposal:
    """Moments of the target, found in rounds (Oh & Berger 1992).

    While few points count, they count for more than their weights say.
    """
    proposal, best, least = Proposal.of(mean, covariance), Proposal.of(mean, covariance), 0.0
    n = max(pilot, 20 * len(mean))
    for _ in range(ROUNDS if len(mean) else 0):
        found = sample(log_density, proposal, n, rng, clock)
        if found.effective <= 1.1 * least:
            break
        best, least = proposal, found.effective
        if least >= ENOUGH * n:
            break
        shares = _tempered(found.log_weights, max(20.0, 5.0 * len(mean)))
        middle = shares @ found.points
        away = found.points - middle
        proposal = Proposal.of(middle, (shares[:, None] * away).T @ away)
    return best


def _tempered(logs: Floats, enough: float) -> Floats:
    """Weights to the largest power at which that many points count."""
    power = 1.0
    while True:
        with np.errstate(under="ignore"):
            shares = np.exp(power * (logs - logs.max()))
        shares = shares / shares.sum()
        if 1 / (shares**2).sum() >= min(enough, len(logs) / 2) or power < 1e-3:
            return np.asarray(shares)
        power *= 0.8


def sample(
    log_density: LogDensity, proposal: Proposal, n: int, rng: np.random.Generator,
    clock: Clock = UNLIMITED,
) -> Points:  # fmt: skip
    """Weighted points, in batches that bound the memory."""
    points, logs = proposal.draw(n, rng), []
    for part in np.array_split(points, math.ceil(n / BATCH)):
        clock.check("weighing parameters")
        logs.append(log_density(part))
    heights = np.concatenate(logs)
    if not np.isfinite(heights).any():
        raise DataError("the density of the parameters is 0 wherever it was looked at.")
    return Points(points, heights - proposal.log(points), proposal)


def integrate(
    log_density: LogDensity,
    mean: Floats,
    covariance: Floats,
    *,
    error: float = 0.005,
    seed: int = 0,
    most: int = 1 << 20,
    pilot: int = PILOT,
    clock: Clock = UNLIMITED,
) -> Points:
    """The integral of exp(log_density), by at most so many points, or fewer for the standard error.

    >>> found = integrate(lambda x: -0.5 * (x**2).sum(1), np.zeros(2), np.eye(2))
    >>> abs(found.log_integral - np.log(2 * np.pi)) < 4 * found.error < 0.03
    True
    """
    rng = np.random.default_rng(seed)
    proposal = adapt(log_density, mean, covariance, rng, pilot=pilot, clock=clock)
    found = sample(log_density, proposal, pilot, rng, clock)
    while found.error > error and len(found.points) < most:
        wanted = len(found.points) * (found.error / error) ** 2 * 1.1
        n = int(min(wanted, 2.0 * len(found.points) + 2 * pilot)) - len(found.points)
        found = found.join(sample(log_density, proposal, max(pilot, n), rng, clock))
    return found


def bridge(
    log_density: LogDensity, draws: Floats, *, seed: int = 0, iterations: int = 200
) -> tuple[float, float]:
    """The log of the integral and its error, from chains x draws x parameters of the target.

    The first half of the draws makes a proposal, the second is compared with draws from it (Meng &
    Wong 1996); errors of the chains are those between them.

    >>> x = np.random.default_rng(1).standard_normal((20, 500, 2))
    >>> log, error = bridge(lambda x: -0.5 * (x**2).sum(1), x)
    >>> abs(log - np.log(2 * np.pi)) < 4 * error < 0.1
    True
    """
    chains, n, d = draws.shape
    if chains < 2 or n < 4:
        raise DataError(f"{chains} chains of {n} draws are too few; draw at least 2 of 4.")
    early, late = draws[:, : n // 2].reshape(-1, d), draws[:, n // 2 :].reshape(-1, d)
    middle = early.mean(0)
    away = early - middle
    proposal = Proposal.of(middle, away.T @ away / len(early))
    new = sample(log_density, proposal, len(late), np.random.default_rng(seed))
    parts = np.array_split(late, math.ceil(len(late) / BATCH))
    old = np.concatenate([log_density(part) for part in parts]) - proposal.log(late)
    base = float(np.median(old))
    with np.errstate(under="ignore", over="ignore"):
        one, two = np.exp(np.clip(old - base, -700, 700)), np.exp(new.log_weights - base)
    ratio, last = 1.0, 0.0
    for _ in range(iterations):
        if abs(ratio - last) <= 1e-10 * ratio:
            break
        last = ratio
        upper, lower = two / (two + ratio), 1 / (one + ratio)
        ratio = float(upper.mean() / lower.mean())
    each = lower.reshape(chains, -1).mean(1)
    spread = upper.var() / len(upper) / upper.mean() ** 2
    spread += each.var(ddof=1) / chains / each.mean() ** 2
    return base + math.log(ratio), float(np.sqrt(spread))
