"""A chain over decomposable models and their clique margins: probabilities and tables summed over.

Given the whole table, an edge that the release says nothing of is hardly ever dropped, since its
counts tell so much more than the release. So a step knows the clique margins n_C alone, with

    P(model, n_C | release)  ~  P(model) prod_C DM(n_C; a_C) / prod_S DM(n_S; a_S)

An edge uv with common neighbours S draws its margin n_Suv given n_Su and n_Sv, exactly for two
categories each, and so is judged by how well the two predict the rest (Green 1995; Dawid &
Lauritzen 1993; Madigan & York 1995).
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass, field
from functools import lru_cache
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.models.space import neighbours
from discreet.release.release import Release
from discreet.table.graph import Graph
from discreet.table.lattice import bits

LogPrior = Callable[[Graph], float]
TRIES = 4  # edges between two draws
MOST_SLIDES = 500  # the same
MOST_HELD, MOST_NUMBERS = 20_000, 1 << 23  # models whose layout is remembered


@dataclass(frozen=True, eq=False)
class Layout:
    """Where the margins of a model stand in one row: its cliques, then its separators."""

    sets: Ints
    sign: Ints
    offset: Ints
    strides: Ints
    shared: Ints  # of each clique, with those before it
    pairs: Ints  # joined by the model, not by the release
    prior: Floats
    place: dict[int, slice]
    cliques: tuple[int, ...]
    slides: int


@dataclass(eq=False)
class Space:
    """The models that contain a decomposable release of every variable."""

    release: Release
    prior: Floats  # in the table's shape
    kept: Graph = field(init=False)
    apart: Ints = field(init=False)
    shape: Ints = field(init=False)

    def __post_init__(self) -> None:
        self.kept = self.release.formula.graph
        k, near = len(self.kept.neighbours), self.kept.neighbours
        self.apart = np.array([(1 << k) - 1 & ~near[u] & ~(1 << u) for u in range(k)], np.int64)
        self.shape = np.array(self.prior.shape, np.int64)
        held = max(64, min(MOST_HELD, MOST_NUMBERS // self.prior.size))
        self.layout = lru_cache(held)(self._layout)
        self.near = lru_cache(held)(lambda graph: neighbours(graph, self.kept))
        self.hyper = lru_cache(held)(self._hyper)

    def _hyper(self, s: int) -> Floats:
        """The prior of a margin."""
        return np.asarray(self.prior.sum(self.rest(s)))

    def rest(self, s: int) -> tuple[int, ...]:
        return tuple(p for p in range(len(self.shape)) if not s >> p & 1)

    def _layout(self, graph: Graph) -> Layout:
        tree = graph.junction_tree()
        sets = [*tree.nodes, *(s for s in tree.separators if s)]
        sizes = [math.prod(int(self.shape[p]) for p in bits(s)) for s in sets]
        offset = np.cumsum([0, *sizes])
        strides = np.zeros((len(sets), len(self.shape)), np.int64)
        for row, s in enumerate(sets):
            step = 1
            for p in reversed(list(bits(s))):
                strides[row, p] = step
                step *= int(self.shape[p])
        pairs = [
            (u, v) for u, v in combinations(range(len(self.shape)), 2)
            if graph.neighbours[u] >> v & 1 and not self.kept.neighbours[u] >> v & 1
        ]  # fmt: skip
        sign = np.array([1] * len(tree.nodes) + [-1] * (len(sets) - len(tree.nodes)), np.int64)
        return Layout(
            np.array(sets, np.int64), sign, offset[:-1].astype(np.int64), strides,
            np.array([0, *tree.separators], np.int64), np.array(pairs, np.int64).reshape(-1, 2),
            np.concatenate([self.hyper(s).ravel() for s in sets]),
            {s: slice(int(a), int(b)) for s, a, b in zip(sets, offset, offset[1:], strict=False)},
            tree.nodes,
            min(MOST_SLIDES, sum(sizes[: len(tree.nodes)]) // 2 + 1) if pairs else 0,
        )  # fmt: skip


@dataclass(eq=False)
class Chain:
    """One chain: the model that it is in, and the margins of its cliques and separators."""

    space: Space
    log_prior: LogPrior | None
    rng: np.random.Generator
    graph: Graph = field(init=False)
    counts: Ints = field(init=False)
    seen: Counter[Graph] = field(default_factory=Counter)
    tried: int = 0
    taken: int = 0

    def __post_init__(self) -> None:
        space = self.space
        self.graph = space.kept
        axes = space.release.axes
        layout = space.layout(self.graph)
        found = [
            space.release.table(axes.names_of(int(s))).dense().ravel() for s in layout.sets.tolist()
        ]
        self.counts = np.concatenate(found).astype(np.int64)

    @property
    def layout(self) -> Layout:
        return self.space.layout(self.graph)

    def fill(self, share: float) -> None:
        """Adds about this share of all edges that can be added, as they come: a start."""
        space, k = self.space, len(self.space.shape)
        missing = k * (k - 1) // 2 - sum(n.bit_count() for n in self.graph.neighbours) // 2
        for _ in range(round(share * missing)):
            more = [new for new in space.near(self.graph) if _edges(new) > _edges(self.graph)]
            self._try(more[int(self.rng.integers(len(more)))], sure=True)

    def step(self) -> None:
        """Some edges tried, and the margins moved."""
        from discreet._kernels.roaming import slide

        for _ in range(TRIES):
            near = self.space.near(self.graph)
            if not near:
                break
            self._try(near[int(self.rng.integers(len(near)))])
        layout = self.layout
        if layout.slides:
            slide(
                self.counts, layout.prior, layout.offset, layout.strides, layout.sets, layout.sign,
                self.space.shape, layout.pairs, self.space.apart, layout.slides, self.rng,
            )  # fmt: skip
        self.seen[self.graph] += 1

    def table(self) -> Ints:
        """One that has the margins, drawn; flat."""
        from discreet._kernels.roaming import complete

        layout, shape = self.layout, self.space.shape
        found = np.empty(int(shape.prod()), np.int64)
        full = np.cumprod([1, *shape[:0:-1]])[::-1].astype(np.int64)
        cliques = int((layout.sign > 0).sum())
        complete(
            self.counts, layout.offset, layout.strides, layout.sets[:cliques], layout.shared,
            shape, np.ascontiguousarray(full), found, self.rng,
        )  # fmt: skip
        return found

    def margin(self, s: int) -> Ints:
        """Of variables within a clique, in the order of the table."""
        layout = self.layout
        own = layout.place.get(s)
        if own is not None:
            return self.counts[own].reshape([int(self.space.shape[p]) for p in bits(s)])
        home = next(c for c in layout.cliques if not s & ~c)
        return _summed(self.margin(home), home, s)

    def _try(self, new: Graph, *, sure: bool = False) -> None:
        """One edge more or less, by Metropolis, Hastings and Green."""
        from discreet._kernels.roaming import join, log_weight

        both_ways = zip(self.graph.neighbours, new.neighbours, strict=True)
        u, v = (p for p, (old, own) in enumerate(both_ways) if old != own)
        adds = bool(new.neighbours[u] >> v & 1)
        s = self.graph.neighbours[u] & self.graph.neighbours[v]
        every = s | 1 << u | 1 << v
        one, two, both = s | 1 << u, s | 1 << v, self.margin(s)
        rows, columns = self.margin(one), self.margin(two)
        hyper = _last(self.space.hyper(every), every, (u, v))
        if adds:
            found = np.empty(hyper.shape, np.int64)
        else:
            found = _last(self.margin(every), every, (u, v))
        log = -join(_last(rows, one, (u,)), _last(columns, two, (v,)), hyper, found, adds, self.rng)
        log += log_weight(found.ravel(), hyper.ravel())
        for part, counts, sign in ((s, both, 1), (one, rows, -1), (two, columns, -1)):
            log += sign * log_weight(counts.ravel(), self.space.hyper(part).ravel())
        log = log if adds else -log
        log += math.log(len(self.space.near(self.graph)) / len(self.space.near(new)))
        if self.log_prior is not None:
            log += self.log_prior(new) - self.log_prior(self.graph)
        self.tried += 1
        if sure or math.log(self.rng.random()) < log:
            self.taken += 1
            self._enter(new, every, _first(found, every, (u, v), self.space.shape))

    def _enter(self, new: Graph, every: int, joined: Ints) -> None:
        """The margins of another model, of which one may be new."""
        layout, found = self.space.layout(new), dict[int, Ints]()
        for s in layout.sets.tolist():
            if not s & ~every:
                found[s] = _summed(joined, every, s)
            else:
                found[s] = self.margin(s)
        self.counts = np.concatenate([found[s].ravel() for s in layout.sets.tolist()])
        self.graph = new


def _edges(graph: Graph) -> int:
    return sum(n.bit_count() for n in graph.neighbours)


def _summed(counts: Ints, over: int, s: int) -> Ints:
    """The margin s of an array over the variables `over`."""
    return np.asarray(counts.sum(_gone(over, s)))


def _last(counts: NDArray[Any], over: int, wanted: tuple[int, ...]) -> NDArray[Any]:
    """The wanted variables last, all others as one first axis."""
    moved = counts.transpose(_order(over, wanted))
    return np.ascontiguousarray(moved).reshape(-1, *moved.shape[-len(wanted) :])


def _first(counts: Ints, over: int, wanted: tuple[int, ...], shape: Ints) -> Ints:
    """The same undone."""
    order, listed = _order(over, wanted), list(bits(over))
    array = counts.reshape([int(shape[listed[axis]]) for axis in order])
    return array.transpose(np.argsort(order))


@lru_cache(1 << 16)
def _gone(over: int, s: int) -> tuple[int, ...]:
    return tuple(axis for axis, p in enumerate(bits(over)) if not s >> p & 1)


@lru_cache(1 << 16)
def _order(over: int, wanted: tuple[int, ...]) -> tuple[int, ...]:
    listed = list(bits(over))
    others = [axis for axis, p in enumerate(listed) if p not in wanted]
    return (*others, *(listed.index(p) for p in wanted))
