"""Model averaging where models and tables are too many to list: chains that change model too.

Chains walk through models and their clique margins, with all else summed over. Where more than
margins is known, or a variable is not released, they walk through whole tables: given one, a
decomposable model has a closed-form weight, and one edge more or less is a question of four
margins; such chains mix badly (Madigan & York 1995; Dobra, Fienberg & Trottini 2003, section 5.3).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats, Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError
from discreet.intruder.posterior.average.clique_margins import TRIES as EDGES
from discreet.intruder.posterior.average.clique_margins import Chain, LogPrior, Space
from discreet.intruder.posterior.below import Below
from discreet.intruder.posterior.chains.augment import shown
from discreet.intruder.posterior.chains.augment_walk import Run, warn_of
from discreet.intruder.posterior.chains.convergence import LEAST, R_HAT, Convergence, judge_in_time
from discreet.intruder.posterior.result import MORE, chosen, counted, tallied
from discreet.look.progress import working
from discreet.models.bayes import bipf, checked_hyper
from discreet.models.space import neighbours
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.keys import unravel
from discreet.table.lattice import bits

TRIES = 4  # edges in a step
CHAINS = 8
FIRST = 100  # draws of a chain
MOST_WORK = 8_000_000  # slides of all chains
EDGE = 10  # slides that an edge takes
MOST_COUNTS = 1 << 27  # that are kept
MOST_PEOPLE, MOST_CELLS = 200_000, 1 << 16


@dataclass(frozen=True, eq=False)
class ChainedModels:
    """Draws over all models: distributions of cells, and how often each model was visited.

    `mass` are the probabilities of each cell's counts from `low` on; `visits` is a share and its
    standard error, between the chains.
    """

    low: Ints
    mass: list[Floats]
    visits: dict[Formula, tuple[float, float]]
    convergence: Convergence
    method: str
    stopped: str | None = None


def chain_models(
    release: Release,
    cells: Cells | None = None,
    *,
    prior: ArrayLike = 0.5,
    log_prior: LogPrior | None = None,
    chains: int = CHAINS,
    standard_error: float | None = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> ChainedModels:
    """Over all decomposable models that contain a decomposable release.

    Each is alike a priori, or has this `log_prior`, by its graph.
    """
    formula = release.formula
    if not formula.is_decomposable:
        raise DataError(
            f"{formula} is not decomposable, and its own model has no closed form to be weighed "
            "by; name the models to average, or believe one."
        )
    cells, clock, limit = chosen(release, cells), Clock.of(seconds), Effort(effort)
    run: _Margins | _Roam
    with working("roaming models"):
        if _summable(release):
            run = _Margins.of(release, cells, prior, log_prior, chains, seed, clock)
        elif log_prior is None:
            run = _Roam.of(release, formula, cells, prior, chains, seed, clock)
            run.release, run.graphs = formula, [formula.graph] * chains
        else:
            raise DataError(
                "models are not alike a priori, and more than margins of every variable is known; "
                "name some models, or take them as alike."
            )
        kept, found = run.until(standard_error, limit, clock)
    method = f"{found.chains} chains x {found.draws:,} draws, prior {shown(prior)}"
    low, mass = tallied(kept.reshape(-1, len(cells)))
    said = warn_of(found, "the average", clock)
    stopped = clock.sentence(f"{chains} chains of {found.draws:,} draws", MORE)
    visits = _visited([chain.seen for chain in run.chains], formula.names)
    return ChainedModels(low, mass, visits, found, method + said, stopped)


def _summable(release: Release) -> bool:
    """Are margins of every variable all that is known, and not too much?"""
    formula = release.formula
    few = (release.total or 0) <= MOST_PEOPLE and math.prod(release.axes.sizes) <= MOST_CELLS
    return few and not release.known and all(formula.contains([name]) for name in formula.names)


def _visited(
    seen: list[Counter[Graph]], names: tuple[str, ...]
) -> dict[Formula, tuple[float, float]]:
    """The share of each model and its standard error, most visited first."""
    steps = max(1, sum(seen[0].values()))
    found = {}
    for graph, _ in sum(seen, Counter[Graph]()).most_common():
        each = np.array([own[graph] / steps for own in seen])
        off = float(each.std(ddof=1) / math.sqrt(len(each)))
        found[Formula(names, graph.cliques())] = float(each.mean()), off
    return found


@dataclass(eq=False)
class _Margins:
    """Chains over models and their clique margins."""

    chains: list[Chain]
    below: Below
    kind: type[np.signedinteger]
    work: float = 0.0

    @classmethod
    def of(
        cls, release: Release, cells: Cells, prior: ArrayLike, log_prior: LogPrior | None,
        chains: int, seed: int, clock: Clock,
    ) -> _Margins:  # fmt: skip
        """From models of ever more edges, the smallest to the largest."""
        shape = release.axes.sizes
        a = np.broadcast_to(checked_hyper(prior), shape).astype(np.float64)
        space = Space(release, a)
        seeds = np.random.SeedSequence(seed).spawn(chains)
        made = [Chain(space, log_prior, np.random.default_rng(own)) for own in seeds]
        for place, chain in enumerate(made):
            clock.check("roaming models")
            chain.fill(place / max(1, chains - 1))
        codes = unravel(np.arange(a.size), shape)
        return cls(made, Below.of(release.names, codes, cells), counted(release))

    def until(
        self, standard_error: float | None, effort: Effort, clock: Clock
    ) -> tuple[NDArray[np.signedinteger], Convergence]:
        """Ever more draws, until they are good or enough work is done.

        As long as the chains differ, what they drew is forgotten.
        """
        most = effort.of(MOST_WORK)
        kept, wanted = self.go(FIRST, clock)[:, :0], 2 * FIRST
        while True:
            if not kept.shape[1]:
                self.forget()
            kept = np.concatenate([kept, self.go(wanted, clock)], axis=1)
            if kept.shape[1] < LEAST:
                clock.check("roaming models")
            found = judge_in_time(
                kept, clock, requested=standard_error, seconds=clock.spent,
                moves=self.tried,
                accepted=sum(chain.taken for chain in self.chains) / max(1, self.tried),
            )  # fmt: skip
            if (
                found.converged or clock.stopped or 2 * self.work > most
                or 2 * kept.size > MOST_COUNTS
            ):  # fmt: skip
                return kept, found
            wanted = kept.shape[1]
            if (found.r_hat > R_HAT).any():
                kept, wanted = kept[:, :0], 2 * wanted

    @property
    def tried(self) -> int:
        return sum(chain.tried for chain in self.chains)

    def forget(self) -> None:
        for chain in self.chains:
            chain.seen.clear()

    def go(self, steps: int, clock: Clock) -> NDArray[np.signedinteger]:
        """Chains x draws x asked cells; fewer draws if the time is up."""
        kept: list[NDArray[np.signedinteger]] = []
        while len(kept) < steps and not clock.over():
            for chain in self.chains:
                chain.step()
                self.work += EDGE * EDGES + chain.layout.slides
            tables = np.stack([chain.table() for chain in self.chains])
            kept.append(self.below.sums(tables).astype(self.kind))
        if not kept:
            return np.zeros((len(self.chains), 0, self.below.size), self.kind)
        return np.stack(kept, 1)


@dataclass(eq=False)
class _Seen:
    seen: Counter[Graph] = field(default_factory=Counter)


@dataclass(eq=False)
class _Roam(Run):
    """A run whose chains are each in a model of their own."""

    release: Formula | None = None
    graphs: list[Graph] = field(default_factory=list)
    chains: list[_Seen] = field(default_factory=list)
    near: dict[Graph, list[Graph]] = field(default_factory=dict)

    def forget(self) -> None:
        super().forget()
        self.chains = [_Seen() for _ in self.graphs]

    def probabilities(self, hyper: Floats) -> Floats:
        """One sweep from equal probabilities in the order of the junction tree: an exact draw."""
        self.chains = self.chains or [_Seen() for _ in self.graphs]
        even = np.full((1, *self.prior.shape), 1 / self.prior.size)
        drawn = []
        for chain, own in enumerate(hyper):
            self.graphs[chain] = self._changed(self.graphs[chain], own)
            self.chains[chain].seen[self.graphs[chain]] += 1
            tree = self.graphs[chain].junction_tree()
            drawn.append(bipf(even, own, [tuple(bits(s)) for s in tree.nodes], self.rng)[0])
        return np.stack(drawn)

    def _changed(self, graph: Graph, hyper: Floats) -> Graph:
        """Some edges tried, by Metropolis and Hastings."""
        heights: dict[int, float] = {}
        for _ in range(TRIES):
            near = self._neighbours(graph)
            if not near:
                return graph
            new = near[int(self.rng.integers(len(near)))]
            log_ratio = self._gain(graph, new, hyper, heights)
            log_ratio += math.log(len(near) / len(self._neighbours(new)))
            if math.log(self.rng.random()) < log_ratio:
                graph = new
        return graph

    def _neighbours(self, graph: Graph) -> list[Graph]:
        assert self.release is not None
        if graph not in self.near:
            self.near[graph] = neighbours(graph, self.release.graph)
        return self.near[graph]

    def _gain(self, old: Graph, new: Graph, hyper: Floats, heights: dict[int, float]) -> float:
        """The log of the ratio of the two models' marginal likelihoods of the table."""
        k = len(old.neighbours)
        u, v = next(
            (u, v) for u, v in combinations(range(k), 2)
            if (old.neighbours[u] ^ new.neighbours[u]) >> v & 1
        )  # fmt: skip
        s, one, two = old.neighbours[u] & old.neighbours[v], 1 << u, 1 << v
        adds = new.neighbours[u] >> v & 1
        terms = [(s | one | two, 1), (s, 1), (s | one, -1), (s | two, -1)]
        rise = sum(sign * self._height(part, hyper, heights) for part, sign in terms)
        return rise if adds else -rise

    def _height(self, s: int, hyper: Floats, heights: dict[int, float]) -> float:
        """sum log Gamma(a + n) - log Gamma(a) of a margin."""
        from scipy.special import gammaln

        if s not in heights:
            rest = tuple(axis for axis in range(hyper.ndim) if not s >> axis & 1)
            after, before = hyper.sum(rest), self.prior.sum(rest)
            heights[s] = float(np.sum(gammaln(after) - gammaln(before)))
        return heights[s]
