"""Gibbs sampling of the grade of membership model, with the memberships integrated out.

Each response of a person has a profile z; given the person's other responses

    p(z_ij = k | rest)  ~  (n_ik + alpha_k) lambda_kj(x_ij),   n_ik the others of profile k

The responses of each profile are then Dirichlet given the assignments, and each alpha is drawn by
slices (Neal 2003) from its density given how many responses of each profile everybody has:

    prod_t (alpha_k + t)^(people with more than t)  /  prod_t (sum alpha + t)^people  exp(-alpha_k)

Priors: uniform for the responses, exponential with mean 1 for each alpha (Erosheva 2002 has a
gamma prior of their sum and a uniform one of their proportions, which is this for J profiles and
a gamma of shape J).
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.models.categories import Categories
from discreet.table.table import Table

PRIOR = 1.0
WIDE = 0.1  # of a slice of log alpha, before it is stretched
LEAST_ALPHA = 1e-8  # below it a profile has nobody


@dataclass(eq=False)
class MembershipChain:
    """Where a chain is; `sweep` moves it on. People are rows of `places`, one by one."""

    categories: Categories
    places: Ints
    responses: Floats
    alpha: Floats
    profile: NDArray[np.int16]
    counts: Ints
    rng: np.random.Generator

    @classmethod
    def of(
        cls, table: Table, responses: Floats, alpha: Floats, rng: np.random.Generator
    ) -> MembershipChain:
        """From given parameters, everybody in one profile at first."""
        categories = Categories(table.shape)
        distinct = categories.places(table)
        logs = np.log(alpha) + np.log(responses)[distinct].sum(1)
        ends = np.exp(logs - logs.max(1, keepdims=True)).cumsum(1)
        places = np.repeat(distinct, table.counts, axis=0)
        ends = np.repeat(ends, table.counts, axis=0)
        aim = rng.random((len(places), 1)) * ends[:, -1:]
        one = (ends[:, :-1] <= aim).sum(1)
        counts = np.zeros((len(places), len(alpha)), np.int64)
        counts[np.arange(len(places)), one] = places.shape[1]
        profile = np.repeat(one[:, None].astype(np.int16), places.shape[1], axis=1)
        return cls(categories, places, responses, alpha.copy(), profile, counts, rng)

    @classmethod
    def start(cls, table: Table, profiles: int, rng: np.random.Generator) -> MembershipChain:
        """From profiles at random."""
        categories = Categories(table.shape)
        responses = categories.draw(np.ones((categories.rows, profiles)), rng)
        return cls.of(table, responses, np.full(profiles, 1 / profiles), rng)

    def settle(self, sweeps: int) -> None:
        """Assignments alone, so that they fit the parameters."""
        from discreet._kernels.membership import assign

        for _ in range(sweeps):
            luck = self.rng.random(self.places.shape)
            assign(self.places, self.responses, self.alpha, self.profile, self.counts, luck)
            self._exchange()

    def sweep(self) -> None:
        """Assignments, then responses and alpha given them."""
        from discreet._kernels.membership import tally

        self.settle(1)
        rows, profiles = self.responses.shape
        used, more = tally(self.places, self.profile, self.counts, rows, profiles)
        self.responses = self.categories.draw(used + PRIOR, self.rng)
        for k in range(profiles):
            self._slice(k, more[k])

    def _exchange(self) -> None:
        from scipy.special import gammaln

        from discreet._kernels.membership import exchange

        people, items = self.places.shape
        profiles = len(self.alpha)
        first = self.rng.integers(0, profiles, people)
        second = (first + self.rng.integers(1, profiles, people)) % profiles
        rising = gammaln(self.alpha[:, None] + np.arange(items + 1))
        logs, luck = np.log(self.responses), -self.rng.standard_exponential(people)
        exchange(self.places, logs, rising, self.profile, self.counts, first, second, luck)

    def _slice(self, k: int, more: Ints) -> None:
        """A new alpha_k; `more` has the people with more than 0, 1, ... responses of k."""
        people, items = self.places.shape
        others, t = float(np.delete(self.alpha, k).sum()), np.arange(items)

        def density(log: float) -> float:
            a = np.exp(log)
            return float(more @ np.log(a + t) - people * np.log(others + a + t).sum() - a + log)

        now = float(np.log(self.alpha[k]))
        level = density(now) - self.rng.standard_exponential()
        low = now - WIDE * self.rng.random()
        high = low + WIDE
        while density(low) > level:
            low -= WIDE
        while density(high) > level:
            high += WIDE
        while density(drawn := self.rng.uniform(low, high)) < level:
            low, high = (drawn, high) if drawn < now else (low, drawn)
        self.alpha[k] = max(np.exp(drawn), LEAST_ALPHA)
