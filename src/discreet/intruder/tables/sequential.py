"""How many solutions a block has, by sequential importance sampling."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.effort import UNLIMITED, Clock
from discreet.intruder.tables.net import Search
from discreet.intruder.tables.proposal import Proposal
from discreet.intruder.tables.split import System

PILOT = 500
LEAST = 2_000
FEW = 16  # draws at least, however much each takes
PILOT_LOOKED = 200_000_000
AT_ONCE = 10_000_000  # numbers looked at between two looks at the clock


@dataclass(frozen=True)
class Estimate:
    """The logarithm of the number, its relative standard error, and the draws behind it."""

    log: float
    relative_error: float
    draws: int
    effective: float

    @property
    def spread(self) -> float:
        """The standard deviation of a weight as a share of the mean."""
        return self.relative_error * math.sqrt(self.draws)

    @classmethod
    def of(cls, weights: NDArray[np.float64]) -> Estimate:
        """The mean of the weights; one without a solution is zero and counts."""
        n, top = len(weights), weights.max(initial=-math.inf)
        if top == -math.inf:
            return cls(-math.inf, math.inf, n, 0.0)
        scaled = np.exp(weights - top)
        mean = scaled.mean()
        error = scaled.std(ddof=1) / mean / math.sqrt(n) if n > 1 else math.inf
        effective = float(scaled.sum() ** 2 / (scaled**2).sum())
        return cls(float(top + math.log(mean)), float(error), n, effective)


class Sampler:
    """Random solutions of one block: cells one after the other, each within its interval given
    those before; weights are one over the probability (Chen, Dinwoodie & Sullivant 2006)."""

    def __init__(
        self, system: System, search: Search, rng: np.random.Generator, clock: Clock = UNLIMITED
    ) -> None:
        self.search, self._clock = search, clock
        self._first, self._rng = rng.spawn(2)
        self._sizes = np.array([float(size) for size in system.sizes])
        self._proposal = Proposal.of(system, search.order)
        self._last = search.last if max(system.sizes) == 1 else -1

    @classmethod
    def best(
        cls, system: System, search: Search, rng: np.random.Generator, clock: Clock = UNLIMITED
    ) -> Sampler:
        """With the partial sums of `search`, or without, whichever promises more for the work."""
        samplers = [cls(system, search, rng, clock)]
        if len(search.low) > 2 * (len(system.sizes) + len(system.rows)):
            samplers.append(cls(system, Search.of(system, partial=False), rng, clock))
        return min(samplers, key=lambda sampler: sampler.pilot.spread**2 * sampler.work)

    @property
    def work(self) -> int:
        """Numbers that a draw looks at: every sum, for each column."""
        return max(1, len(self.search.order) * len(self.search.net.members))

    @cached_property
    def pilot(self) -> Estimate:
        """A first look, that decides how many draws to make and is then forgotten."""
        return self._drawn(PILOT, PILOT_LOOKED, self._first)

    def estimate(self, *, error: float, draws: int, looked: int) -> Estimate:
        """An unbiased estimate: the pilot sets the number of draws, so that what they show does
        not."""
        wanted = min(draws, max(LEAST, 1.5 * (self.pilot.spread / error) ** 2))
        return self._drawn(math.ceil(wanted), looked, self._rng)

    def _drawn(self, draws: int, looked: int, rng: np.random.Generator) -> Estimate:
        """What so many draws say, or those that look at so many numbers, or that time allows."""
        parts: list[NDArray[np.float64]] = []
        left, size = min(draws, max(FEW, looked // self.work)), max(1, AT_ONCE // self.work)
        while left and not self._clock.over():
            parts.append(self._draw(min(size, left), rng))
            left -= len(parts[-1])
        if sum(map(len, parts)) < min(draws, FEW):
            self._clock.check("drawing tables")
        return Estimate.of(np.concatenate(parts))

    def _draw(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        from discreet._kernels.draws import draw

        search, p = self.search, self._proposal
        return draw(
            search.net, search.order, self._last, search.low, search.high, self._sizes,
            p.mean, p.gains, p.variance, p.even, rng, count,
        )  # fmt: skip
