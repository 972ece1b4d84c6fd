"""How many solutions a block has, by sequential importance sampling."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.tables.net import Search
from discreet.intruder.tables.proposal import Proposal
from discreet.intruder.tables.split import System

PILOT = 500
LEAST = 2_000
PILOT_SECONDS = 1.0
SLICE = 0.2  # seconds between two looks at the clock


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

    def __init__(self, system: System, search: Search, rng: np.random.Generator) -> None:
        self.search = search
        self._first, self._rng = rng.spawn(2)
        self._sizes = np.array([float(size) for size in system.sizes])
        self._proposal = Proposal.of(system, search.order)
        self._last = search.last if max(system.sizes) == 1 else -1
        self._draw(0, rng)  # compiles, which is no part of the draws

    @classmethod
    def best(cls, system: System, search: Search, rng: np.random.Generator) -> Sampler:
        """With the partial sums of `search`, or without, whichever promises more for the work."""
        samplers = [cls(system, search, rng)]
        if len(search.low) > 2 * (len(system.sizes) + len(system.rows)):
            samplers.append(cls(system, Search.of(system, partial=False), rng))
        return min(samplers, key=lambda sampler: sampler.pilot.spread**2 * sampler.work)

    @property
    def work(self) -> int:
        """What a draw costs; not in seconds, so that the same seed gives the same estimate."""
        return len(self.search.net.members)

    @cached_property
    def pilot(self) -> Estimate:
        """A first look, that decides how many draws to make and is then forgotten."""
        return self._draw_until(PILOT, time.monotonic() + PILOT_SECONDS, self._first)

    def estimate(self, *, error: float, draws: int, until: float) -> Estimate:
        """An unbiased estimate: the pilot sets the number of draws, so that what they show does
        not."""
        wanted = min(draws, max(LEAST, 1.5 * (self.pilot.spread / error) ** 2))
        return self._draw_until(math.ceil(wanted), until, self._rng)

    def _draw_until(self, count: int, until: float, rng: np.random.Generator) -> Estimate:
        """What `count` draws say, or those made until the clock says `until`."""
        parts: list[NDArray[np.float64]] = []
        size = 10
        while count and (not parts or time.monotonic() < until):
            begin = time.monotonic()
            parts.append(self._draw(min(size, count), rng))
            count -= len(parts[-1])
            if time.monotonic() - begin < SLICE / 2:
                size *= 2
        return Estimate.of(np.concatenate(parts))

    def _draw(self, count: int, rng: np.random.Generator) -> NDArray[np.float64]:
        from discreet._kernels.draws import draw

        search, p = self.search, self._proposal
        return draw(
            search.net, search.order, self._last, search.low, search.high, self._sizes,
            p.mean, p.gains, p.variance, p.even, rng, count,
        )  # fmt: skip
