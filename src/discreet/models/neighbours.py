"""The models next to a model: one edge more, or one edge less.

In a chordal graph with the common neighbours S of u and v, the edge uv can be added if S separates
u from v, and removed if S is complete, which is to say that uv lies in one clique only; the graph
stays chordal (Frydenberg & Lauritzen 1989; Giudici & Green 1999). Any chordal graph is reached
from any other in this way.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import combinations

from discreet.errors import DataError
from discreet.models.entropy import Entropies
from discreet.models.loglinear import Fit, LogLinear, p_value
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.lattice import bits
from discreet.table.table import Table

MOST_GRAPHICAL = 1 << 16
Allows = Callable[[int], bool]  # which margins may be in: with one, all that it contains


@dataclass(frozen=True, slots=True)
class Change:
    """An edge to add or to remove, and the test of the two models against each other.

    `given` are the common neighbours of the edge. `statistic` is the difference in deviance,
    `parameters` that in parameters, and `df` the same without what zero margins fix.
    """

    adds: bool
    edge: tuple[int, int]
    given: int
    statistic: float
    parameters: int
    df: int

    @property
    def p_value(self) -> float:
        return p_value(self.statistic, self.df)

    def on(self, graph: Graph) -> Graph:
        """The graph after the change."""
        return toggle(graph, *self.edge)


class Models(ABC):
    """The graphs of a search: cliques that are allowed, with the edges of `kept`."""

    def __init__(self, table: Table, allows: Allows, kept: Graph) -> None:
        self.table, self.allows, self.kept = table, allows, kept

    @property
    def smallest(self) -> Graph:
        return self.kept

    @property
    def largest(self) -> Graph:
        k = len(self.table.names)
        return Graph.of([(1 << k) - 1], k)

    def fit(self, graph: Graph) -> Fit:
        return LogLinear(Formula(self.table.names, graph.cliques())).fit(self.table)

    def changes(self, graph: Graph, *, adding: bool) -> Iterator[Change]:
        """What can be added, or removed, edge by edge in the order of the variables.

        Where a clique is too large, only edges of such cliques are removed, if there are any.
        """
        pairs = [pair for pair in self._pairs(graph) if self.is_edge(graph, *pair) != adding]
        if not adding:
            pairs = [pair for pair in pairs if not self.is_edge(self.kept, *pair)]
            over = self.oversized(graph)
            pairs = [pair for pair in pairs if any(_within(pair, s) for s in over)] or pairs
        for pair in pairs:
            if self.is_legal(graph, *pair, adding=adding):
                yield self.change(graph, *pair, adding=adding)

    def oversized(self, graph: Graph) -> list[int]:
        """The cliques that are not allowed."""
        return [s for s in graph.cliques() if not self.allows(s)]

    @staticmethod
    def _pairs(graph: Graph) -> Iterator[tuple[int, int]]:
        return combinations(range(len(graph.neighbours)), 2)

    @staticmethod
    def is_edge(graph: Graph, u: int, v: int) -> bool:
        return bool(graph.neighbours[u] >> v & 1)

    @abstractmethod
    def is_legal(self, graph: Graph, u: int, v: int, *, adding: bool) -> bool:
        """Whether the edge can be added, or removed."""

    @abstractmethod
    def change(self, graph: Graph, u: int, v: int, *, adding: bool) -> Change:
        """What the edge is worth."""


class Decomposable(Models):
    """Chordal graphs; what an edge is worth depends on its common neighbours only."""

    def __init__(self, table: Table, allows: Allows, kept: Graph) -> None:
        super().__init__(table, allows, kept)
        self.entropies = Entropies(table)
        self.known: dict[tuple[bool, int, int, int], Change] = {}

    def is_legal(self, graph: Graph, u: int, v: int, *, adding: bool) -> bool:
        shared = graph.neighbours[u] & graph.neighbours[v]
        if adding:
            return self.allows(shared | 1 << u | 1 << v) and separates(graph, shared, u, v)
        return graph.is_complete(shared)

    def change(self, graph: Graph, u: int, v: int, *, adding: bool) -> Change:
        shared = graph.neighbours[u] & graph.neighbours[v]
        if (key := (adding, u, v, shared)) not in self.known:
            of = self.entropies
            numbers = of.statistic(u, v, shared), of.parameters(u, v, shared), of.df(u, v, shared)
            self.known[key] = Change(adding, (u, v), shared, *numbers)
        return self.known[key]


class Graphical(Models):
    """Any graph; both models are fitted, by proportional fitting where they are not chordal."""

    def __init__(self, table: Table, allows: Allows, kept: Graph) -> None:
        if table.size > MOST_GRAPHICAL:
            raise DataError(
                f"a search of graphical models fits every cell again and again, and {table.size:,} "
                f"are too many; the most is {MOST_GRAPHICAL:,}. Search decomposable models."
            )
        super().__init__(table, allows, kept)
        self.known: dict[Graph, Fit] = {}

    def fit(self, graph: Graph) -> Fit:
        if graph not in self.known:
            self.known[graph] = super().fit(graph)
        return self.known[graph]

    def is_legal(self, graph: Graph, u: int, v: int, *, adding: bool) -> bool:
        return not adding or not any(
            _within((u, v), s) for s in self.oversized(toggle(graph, u, v))
        )

    def change(self, graph: Graph, u: int, v: int, *, adding: bool) -> Change:
        """Zeros in margins are not allowed for: models that are not nested in one clique share no
        simple count of them."""
        here, there = self.fit(graph), self.fit(toggle(graph, u, v))
        parameters = abs(here.parameters - there.parameters)
        statistic = abs(here.deviance - there.deviance)
        shared = graph.neighbours[u] & graph.neighbours[v]
        return Change(adding, (u, v), shared, statistic, parameters, parameters)


def toggle(graph: Graph, u: int, v: int) -> Graph:
    """The graph with the edge uv added, or removed if it is there."""
    near = list(graph.neighbours)
    near[u] ^= 1 << v
    near[v] ^= 1 << u
    return Graph(tuple(near))


def separates(graph: Graph, s: int, u: int, v: int) -> bool:
    """Whether every path from u to v passes through the set `s`.

    >>> path = Graph.of([0b011, 0b110], 3)
    >>> separates(path, 0b010, 0, 2), separates(path, 0, 0, 2)
    (True, False)
    """
    reached = fresh = 1 << u
    while fresh:
        near = 0
        for p in bits(fresh):
            near |= graph.neighbours[p]
        fresh = near & ~s & ~reached
        reached |= fresh
        if reached >> v & 1:
            return False
    return True


def _within(pair: tuple[int, int], s: int) -> bool:
    return bool(s >> pair[0] & s >> pair[1] & 1)
