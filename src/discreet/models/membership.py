"""The grade of membership model: everybody is partly in each of a few extreme profiles.

    p(x) = E_g prod_j sum_k g_k lambda_kj(x_j),   g ~ Dirichlet(alpha)

(Woodbury, Clive & Garson 1978; Erosheva 2002; Dobra, Erosheva & Fienberg 2002, section 1.2).
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property
from importlib import import_module
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.look.progress import track
from discreet.look.result import Result
from discreet.models.categories import Categories, check_at_least, check_fit
from discreet.models.compositions import MixedCells
from discreet.models.membershipchain import MembershipChain
from discreet.spreading import spread
from discreet.table.table import Table

STILL = 50  # sweeps with the parameters of the maximum, so that assignments fit them
SETTLE, THIN = 50, 5  # sweeps before the first draw, and from one to the next
SURE = 1e-4  # the climb starts with no response less likely
ALPHA = np.log(1e-6), np.log(1e6)
FAR = 100.0  # logs of responses go no further from 0
MEMORY = 20  # steps that the climb remembers
GAIN = 1e-9  # of the log-likelihood in one step, below which the climb is at its end


@dataclass(frozen=True, eq=False)
class GradeOfMembership(Result):
    """A grade of membership model at the best maximum of its exact likelihood that was found.

    `alpha` has one number a profile, largest first; `responses` a row for each category of each
    variable and a column a profile. `maxima` are the log-likelihoods to which the chains climbed
    apart from each other, `draws` (chains x draws) those of the draws around them. The maximum is
    the best that was found: there may be a higher one.

    >>> from discreet.table.load import load
    >>> table, rng = load("example:czech"), np.random.default_rng(1)
    >>> model = GradeOfMembership.fit(table, 2, rng=rng, chains=2, warmup=20, draws=4)
    >>> model
    GradeOfMembership(2 profiles, 14 parameters: log-likelihood -6,698.50, best of 2 chains)
    >>> round(float(model.probabilities.sum()), 9)
    1.0
    """

    table: Table
    alpha: Floats = field(repr=False)
    responses: Floats = field(repr=False)
    log_likelihood: float
    maxima: Floats = field(repr=False)
    draws: Floats = field(repr=False)
    converged: bool

    @classmethod
    def fit(
        cls,
        table: Table,
        profiles: int,
        *,
        rng: np.random.Generator,
        chains: int = 4,
        warmup: int = 200,
        climb: int = 500,
        draws: int = 100,
    ) -> GradeOfMembership:
        """Maximum likelihood from the best of several chains.

        Each chain has `warmup` sweeps of Gibbs sampling from a random start, climbs to a maximum
        of the exact likelihood in at most `climb` steps (L-BFGS), and samples again from there:
        `draws` draws, as `posterior` gives them. Chains that climb to different maxima show in
        `maxima` and in `r_hat`. What the table rules out as impossible is a cell like any other.
        """
        check_fit(table, "profiles", profiles, 2)
        check_at_least(1, chains=chains, warmup=warmup, climb=climb)
        check_at_least(4, draws=draws)
        given = table, _Likelihood.of(table, profiles), profiles, warmup, climb, draws
        every = list(track(spread(_climbed, rng.spawn(chains), given=given), "chains"))
        found, logs = [peak for peak, _ in every], np.array([values for _, values in every])
        best = max(found, key=lambda peak: peak.log_likelihood)
        order = np.argsort(-best.alpha, kind="stable")
        return cls(
            table,
            best.alpha[order],
            np.ascontiguousarray(best.responses[:, order]),
            best.log_likelihood,
            np.array([peak.log_likelihood for peak in found]),
            logs,
            best.converged,
        )

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.table.shape

    @property
    def profiles(self) -> int:
        return len(self.alpha)

    @property
    def parameters(self) -> int:
        """Free responses of every profile, and alpha."""
        return self.profiles * sum(size - 1 for size in self.sizes) + self.profiles

    @cached_property
    def probabilities(self) -> Floats:
        """Of all cells, in row-major order: exact, given the parameters."""
        cells = MixedCells.of(self.sizes, self.profiles)
        return cells.probabilities(self.responses, self.alpha)

    def posterior(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """Cell probabilities from the posterior, by Gibbs sampling from the maximum on.

        The prior is uniform for the responses of each profile and variable, Dirichlet(1, ..., 1),
        and exponential with mean 1 for each alpha. A draw is `THIN` sweeps after the one before,
        and draws depend on each other: `effective` says how much. The chain stays near its start
        if there are other maxima far away.
        """
        check_at_least(1, draws=draws)
        return self._draw(draws, rng)

    def _draw(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        cells = MixedCells.of(self.sizes, self.profiles)
        chain = MembershipChain.of(self.table, self.responses, self.alpha, rng)
        for _ in _every(chain, draws):
            yield cells.probabilities(chain.responses, chain.alpha)

    # How the chains went, by the log-likelihood of their draws

    @cached_property
    def r_hat(self) -> float:
        """Between the chains and within (Vehtari et al. 2021); 1 if they agree; nan for one."""
        return _diagnose("rhat", self.draws) if len(self.draws) > 1 else float("nan")

    @cached_property
    def effective(self) -> float:
        """What the draws are worth, in independent draws (bulk)."""
        return _diagnose("ess", self.draws, method="bulk")

    @cached_property
    def effective_tail(self) -> float:
        """What they are worth for their 5% and 95% quantiles."""
        return _diagnose("ess", self.draws, method="tail", prob=(0.05, 0.95))

    def __repr__(self) -> str:
        note = "" if self.converged else ", not converged"
        chains = len(self.maxima)
        best = f", best of {chains} chains" if chains > 1 else ""
        return (
            f"GradeOfMembership({self.profiles} profiles, {self.parameters:,} parameters: "
            f"log-likelihood {self.log_likelihood:,.2f}{best}{note})"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a profile and category; the share is that of all responses."""
        of, share = Categories(self.sizes), self.alpha / self.alpha.sum()
        return of.to_frame(self.table, self.responses, "profile", share, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "model": "grade of membership",
            "profiles": self.profiles,
            "parameters": self.parameters,
            "log_likelihood": self.log_likelihood,
            "maxima": self.maxima.tolist(),
            "draws": self.draws.size,
            "r_hat": None if len(self.draws) == 1 else self.r_hat,
            "bulk_effective": self.effective,
            "tail_effective": self.effective_tail,
            "converged": self.converged,
        }


def _every(chain: MembershipChain, draws: int) -> Iterator[None]:
    """Stops at each draw of a chain."""
    chain.settle(STILL)
    for sweep in range(SETTLE + (draws - 1) * THIN + 1):
        chain.sweep()
        if sweep >= SETTLE and (sweep - SETTLE) % THIN == 0:
            yield


def _diagnose(what: str, draws: Floats, **more: Any) -> float:
    array_stats: Any = import_module("arviz_stats.base").array_stats
    with np.errstate(all="ignore"):
        return float(getattr(array_stats, what)(draws, **more))


@dataclass(frozen=True, eq=False)
class _Peak:
    responses: Floats
    alpha: Floats
    log_likelihood: float
    converged: bool


def _climbed(
    rng: np.random.Generator, table: Table, likelihood: _Likelihood, profiles: int, warmup: int,
    climb: int, draws: int,
) -> tuple[_Peak, list[float]]:  # fmt: skip
    """The maximum that a chain from a random start climbs to, and draws from there on."""
    chain = MembershipChain.start(table, profiles, rng)
    for _ in range(warmup):
        chain.sweep()
    peak = likelihood.climb(chain.responses, chain.alpha, climb)
    chain = MembershipChain.of(table, peak.responses, peak.alpha, rng)
    return peak, [likelihood(chain.responses, chain.alpha) for _ in _every(chain, draws)]


@dataclass(frozen=True, eq=False)
class _Likelihood:
    """The exact log-likelihood of a table's non-zero cells."""

    mixed: MixedCells
    cells: Ints
    counts: Floats
    categories: Categories

    @classmethod
    def of(cls, table: Table, profiles: int) -> _Likelihood:
        cells = np.ravel_multi_index(tuple(table.codes.astype(np.int64).T), table.shape)
        mixed = MixedCells.of(table.shape, profiles, len(table))
        return cls(mixed, cells, table.counts.astype(np.float64), Categories(table.shape))

    def __call__(self, responses: Floats, alpha: Floats) -> float:
        return self.mixed.log_likelihood(responses, alpha, self.cells, self.counts)

    def climb(self, responses: Floats, alpha: Floats, steps: int) -> _Peak:
        """A maximum nearby, over the logs of alpha and of the responses up to a factor."""
        from scipy.optimize import minimize

        shape, number = responses.shape, responses.size

        def read(point: Floats) -> tuple[Floats, Floats]:
            weights = np.exp(point)
            return self.categories.shares(weights[:number].reshape(shape)), weights[number:]

        def fall(point: Floats) -> tuple[float, Floats]:
            share, prior = read(point)
            value, slope, steep = self.mixed.slopes(share, prior, self.cells, self.counts)
            used = share * slope  # expected responses of each category and profile
            inner = used - share * self.categories.sums(used)
            return -value, -np.concatenate([inner.reshape(-1), steep * prior])

        start = np.log(np.concatenate([np.maximum(responses, SURE).reshape(-1), alpha]))
        options = {"maxiter": steps, "maxfun": 2 * steps, "maxcor": MEMORY, "ftol": GAIN}
        bounds = [(-FAR, FAR)] * number + [ALPHA] * len(alpha)
        found = minimize(fall, start, jac=True, method="L-BFGS-B", bounds=bounds, options=options)
        share, prior = read(found.x)
        return _Peak(share, prior, float(-found.fun), bool(found.success))
