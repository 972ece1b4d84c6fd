"""Decomposable models chosen by their posterior probability, or averaged over.

All decomposable graphs are alike before; given the table, the log of their probability is

    sum_C h(C) - sum_S h(S),   h(T) = log of the Dirichlet-multinomial of the margin on T

cliques C, separators S, with `weight` people spread evenly as prior (Dawid & Lauritzen 1993). An
edge uv with the common neighbours S is worth h(S+u+v) + h(S) - h(S+u) - h(S+v).
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.progress import working
from discreet.look.result import Unpublished
from discreet.models.decomposed import WEIGHT, LogLinearCells
from discreet.models.space import neighbours
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.keys import keys
from discreet.table.lattice import bits
from discreet.table.table import Table

STEPS = 2_000
MOST = 100  # models that an average keeps
ROUNDS = 10  # of walks and climbs
CLOSE = 1e-9  # a gain that is none


@dataclass(frozen=True, eq=False)
class Scores:
    """The heights h(T) of a table's margins, each computed when first asked for."""

    table: Table
    weight: float = WEIGHT
    known: dict[int, float] = field(default_factory=dict, repr=False)

    def height(self, s: int) -> float:
        """The log probability of the records' categories in the bit set `s`."""
        if s not in self.known:
            self.known[s] = self._height(s)
        return self.known[s]

    def gain(self, graph: Graph, new: Graph) -> float:
        """How much more probable, in logarithm, `new` is: it differs by one edge."""
        u, v = (p for p, (a, b) in enumerate(_pairs(graph, new)) if a != b)
        shared, a, b = graph.neighbours[u] & graph.neighbours[v], 1 << u, 1 << v
        worth = (
            self.height(shared | a | b) + self.height(shared)
            - self.height(shared | a) - self.height(shared | b)
        )  # fmt: skip
        return worth if new.neighbours[u] >> v & 1 else -worth

    def of(self, graph: Graph) -> float:
        """The log of the posterior probability of a chordal graph, up to a constant."""
        tree = graph.junction_tree()
        return sum(map(self.height, tree.nodes)) - sum(map(self.height, tree.separators))

    def _height(self, s: int) -> float:
        from scipy.special import gammaln

        places = list(bits(s))
        sizes = [self.table.shape[p] for p in places]
        key = keys(self.table.codes[:, places], sizes)
        _, place = np.unique(key, return_inverse=True)
        n, each = np.bincount(place, self.table.counts), self.weight / math.prod(sizes)
        within = float(np.sum(gammaln(n + each) - gammaln(each)))
        return within + math.lgamma(self.weight) - math.lgamma(self.weight + self.table.total)


def best_graph(scores: Scores, rng: np.random.Generator, *, steps: int = STEPS) -> Graph:
    """The most probable decomposable graph that was found; no proof that there is no better.

    A climb from no edge on, each step the edge that gains most; then walks of `steps` steps from
    the best so far and a climb from the best that they saw, as long as that helps.
    """
    best = _climb(Graph((0,) * len(scores.table.names)), scores)
    with working("searching for a model"):
        for _ in range(ROUNDS):
            seen = _walk(best, scores, steps, rng)
            new = _climb(max(seen, key=seen.__getitem__), scores)
            if scores.of(new) <= scores.of(best) + CLOSE:
                break
            best = new
    return best


def graphical(
    table: Table,
    *,
    weight: float = WEIGHT,
    score: float | None = None,
    rng: np.random.Generator | None = None,
) -> LogLinearCells:
    """The most probable decomposable model that a search finds.

    Models are compared under a prior of `score` people, by default the square root of their
    number and at most half a person a cell (Steinhaus 1957); with hardly any prior people every
    edge would look improbable. The model found is fitted with a prior of `weight` people.

    >>> from discreet.table.load import load
    >>> graphical(load("example:czech"))
    LogLinearCells(A*C*E + A*D*E + B*C + B*F: 15 parameters, prior of 1 person)
    """
    scores = _scores(table, score)
    graph = best_graph(scores, np.random.default_rng(0) if rng is None else rng)
    return LogLinearCells.fit(table, _formula(graph, table), weight=weight)


@dataclass(frozen=True, eq=False)
class AveragedCells(Unpublished):
    """Decomposable models with their shares: every draw takes its model by them.

    >>> from discreet.table.load import load
    >>> found = AveragedCells.fit(load("example:tract"), rng=np.random.default_rng(1))
    >>> found
    AveragedCells(7 models, the best Gender*Income + Race with 0.81)
    """

    table: Table = field(repr=False)
    formulas: tuple[Formula, ...]
    shares: Floats
    weight: float = WEIGHT

    @classmethod
    def fit(
        cls,
        table: Table,
        *,
        weight: float = WEIGHT,
        score: float | None = None,
        steps: int = STEPS,
        rng: np.random.Generator,
    ) -> AveragedCells:
        """The models that a reversible walk of `steps` steps from the best one visits.

        Their shares are their exact posterior probabilities among those visited, of which the
        best 100 are kept (Madigan & York 1995). `score` as in `graphical`.
        """
        scores = _scores(table, score)
        with working("walking over models"):
            found = _walk(best_graph(scores, rng, steps=steps), scores, steps, rng)
        ranked = sorted(found, key=lambda graph: -found[graph])[:MOST]
        logs = np.array([found[graph] for graph in ranked])
        shares = np.exp(np.maximum(logs - logs[0], -700.0))
        formulas = tuple(_formula(graph, table) for graph in ranked)
        return cls(table, formulas, shares / shares.sum(), weight)

    def refit(self, table: Table) -> AveragedCells:
        """The same models with the same shares, of another table.

        An intruder who sees the copies would weigh the models by them; the shares are known to
        him here.
        """
        return AveragedCells(table, self.formulas, self.shares, self.weight)

    @cached_property
    def models(self) -> tuple[LogLinearCells, ...]:
        return tuple(LogLinearCells.fit(self.table, f, weight=self.weight) for f in self.formulas)

    @property
    def sizes(self) -> tuple[int, ...]:
        return self.table.shape

    @property
    def parameters(self) -> int:
        """Of the model with the largest share."""
        return self.models[int(np.argmax(self.shares))].parameters

    @property
    def log_likelihood(self) -> float:
        """At `probabilities`."""
        chances = self.probabilities[keys(self.table.codes, self.sizes)]
        return float(self.table.counts @ np.log(chances))

    @property
    def probabilities(self) -> Floats:
        """The fits of all models, by their shares."""
        return np.asarray(
            sum(s * m.probabilities for s, m in zip(self.shares, self.models, strict=True))
        )

    @property
    def said(self) -> str:
        return (
            f"{len(self.formulas)} decomposable models that a walk visited, by their posterior "
            f"probabilities, a prior weight of {self.weight:g} spread evenly; independent draws"
        )

    def __repr__(self) -> str:
        best = int(np.argmax(self.shares))
        shown = str(self.formulas[best])
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        return (
            f"AveragedCells({len(self.formulas)} models, the best {shown} with "
            f"{self.shares[best]:.2f})"
        )

    def posterior(self, draws: int, rng: np.random.Generator) -> Iterator[Floats]:
        """For each draw a model by its share, and its probabilities."""
        for place in rng.choice(len(self.shares), draws, p=self.shares):
            yield next(self.models[place].posterior(1, rng))

    def predictive(self, draws: int, rng: np.random.Generator) -> Floats:
        """The mean of the posterior, in closed form."""
        return np.asarray(
            sum(s * m.predictive(draws, rng) for s, m in zip(self.shares, self.models, strict=True))
        )


def _climb(graph: Graph, scores: Scores) -> Graph:
    """Edge by edge, the one that gains most, until none gains."""
    none = Graph((0,) * len(scores.table.names))
    while near := neighbours(graph, none):
        gains = [scores.gain(graph, new) for new in near]
        best = int(np.argmax(gains))
        if gains[best] <= CLOSE:
            break
        graph = near[best]
    return graph


def _walk(start: Graph, scores: Scores, steps: int, rng: np.random.Generator) -> dict[Graph, float]:
    """Metropolis and Hastings over single edges: the graphs visited, with their heights."""
    none = Graph((0,) * len(scores.table.names))
    at, near = start, neighbours(start, none)
    found = {start: 0.0}
    for _ in range(steps if near else 0):
        new = near[int(rng.integers(len(near)))]
        gain, back = scores.gain(at, new), neighbours(new, none)
        found[new] = found[at] + gain
        if math.log(rng.random()) < gain + math.log(len(near) / len(back)):
            at, near = new, back
    return found


def _pairs(graph: Graph, new: Graph) -> Iterator[tuple[int, int]]:
    return zip(graph.neighbours, new.neighbours, strict=True)


def _formula(graph: Graph, table: Table) -> Formula:
    return Formula(table.names, graph.cliques())


def _scores(table: Table, score: float | None) -> Scores:
    if not table.names or not table.total:
        raise DataError("the table has no variable or counts nobody; there is nothing to model.")
    weight = min(math.sqrt(table.total), table.size / 2) if score is None else score
    if not (math.isfinite(weight) and weight > 0):
        raise DataError(f"models are scored by a prior of {score} people; give a number above 0.")
    return Scores(table, weight)
