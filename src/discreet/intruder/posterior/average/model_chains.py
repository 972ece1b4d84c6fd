"""Model averaging where models and tables are too many to list: chains that change model too.

Given the whole table, a decomposable model has a closed-form weight, and one edge more or less is
a question of four margins: so each step tries edges, then draws probabilities of the model that it
is in, then a table (Madigan & York 1995; Dobra, Fienberg & Trottini 2003, section 5.3).
"""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError
from discreet.intruder.posterior.chains.augment import shown
from discreet.intruder.posterior.chains.augment_walk import Run, warn_of
from discreet.intruder.posterior.chains.convergence import Convergence
from discreet.intruder.posterior.result import MORE, Ints, chosen, tallied
from discreet.look.progress import working
from discreet.models.bayes import bipf
from discreet.models.space import neighbours
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.lattice import bits

Floats = NDArray[np.float64]
TRIES = 4  # edges in a step
CHAINS = 8


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
    chains: int = CHAINS,
    standard_error: float | None = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> ChainedModels:
    """Over all decomposable models that contain a decomposable release, each alike a priori."""
    formula = release.formula
    if not formula.is_decomposable:
        raise DataError(
            f"{formula} is not decomposable, and its own model has no closed form to be weighed "
            "by; name the models to average, or believe one."
        )
    cells, clock = chosen(release, cells), Clock.of(seconds)
    with working("roaming models"):
        run = _Roam.of(release, formula, cells, prior, chains, seed, clock)
        run.release, run.graphs = formula, [formula.graph] * chains
        kept, found = run.until(standard_error, Effort(effort), clock)
    method = f"{found.chains} chains x {found.draws:,} draws, prior {shown(prior)}"
    low, mass = tallied(kept.reshape(-1, len(cells)))
    said = warn_of(found, "the average", clock)
    stopped = clock.sentence(f"{chains} chains of {found.draws:,} draws", MORE)
    return ChainedModels(low, mass, run.visited(), found, method + said, stopped)


@dataclass(eq=False)
class _Roam(Run):
    """A run whose chains are each in a model of their own."""

    release: Formula | None = None
    graphs: list[Graph] = field(default_factory=list)
    seen: list[Counter[Graph]] = field(default_factory=list)
    near: dict[Graph, list[Graph]] = field(default_factory=dict)

    def forget(self) -> None:
        super().forget()
        self.seen = [Counter() for _ in self.graphs]

    def probabilities(self, hyper: Floats) -> Floats:
        """One sweep from equal probabilities in the order of the junction tree: an exact draw."""
        self.seen = self.seen or [Counter() for _ in self.graphs]
        even = np.full((1, *self.prior.shape), 1 / self.prior.size)
        drawn = []
        for chain, own in enumerate(hyper):
            self.graphs[chain] = self._changed(self.graphs[chain], own)
            self.seen[chain][self.graphs[chain]] += 1
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

    def visited(self) -> dict[Formula, tuple[float, float]]:
        """Most visited first."""
        assert self.release is not None
        steps = max(1, sum(self.seen[0].values()))
        found = {}
        for graph, _ in sum(self.seen, Counter[Graph]()).most_common():
            each = np.array([seen[graph] / steps for seen in self.seen])
            model = Formula(self.release.names, graph.cliques())
            found[model] = float(each.mean()), float(each.std(ddof=1) / math.sqrt(len(each)))
        return found
