"""Graphs on the variables of a table: cliques, separators, prime components.

The graph of a release joins two variables that share a released margin. Sets of variables are
integers, bit p for variable p.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from functools import reduce
from operator import or_
from typing import Generic, TypeVar

from discreet.errors import DisclosureError
from discreet.look.result import Shown
from discreet.table.lattice import bits, maximal

Set = TypeVar("Set")
Other = TypeVar("Other")


@dataclass(frozen=True, slots=True)
class JunctionTree(Generic[Set]):
    """A tree of sets in which any two share only what every set between them holds.

    Edge (i, j, separator) joins node j to an earlier node i; edge number j - 1 is that of node j.
    """

    nodes: tuple[Set, ...]
    edges: tuple[tuple[int, int, Set], ...]

    @property
    def separators(self) -> tuple[Set, ...]:
        """The separators, each as often as it occurs."""
        return tuple(separator for _, _, separator in self.edges)

    def map(self, name: Callable[[Set], Other]) -> JunctionTree[Other]:
        """The same tree with its sets written another way."""
        return JunctionTree(
            tuple(map(name, self.nodes)), tuple((i, j, name(s)) for i, j, s in self.edges)
        )


@dataclass(frozen=True, slots=True)
class Graph(Shown):
    """An undirected graph: `neighbours[p]` is the set of vertices joined to p.

    >>> path = Graph.of([0b011, 0b110], 3)
    >>> path.is_chordal, path.cliques(), path.separators()
    (True, (3, 6), (2,))
    """

    neighbours: tuple[int, ...]

    @classmethod
    def of(cls, sets: Iterable[int], k: int) -> Graph:
        """The graph on `k` vertices in which every given set is complete."""
        sets = tuple(sets)
        if reduce(or_, sets, 0) >> k:
            raise DisclosureError(
                f"a margin has variable {max(sets).bit_length() - 1}, but the table has only {k} "
                f"variables, 0 to {k - 1}. Number the variables from 0."
            )
        neighbours = [0] * k
        for s in sets:
            for p in bits(s):
                neighbours[p] |= s
        return cls(tuple(near & ~(1 << p) for p, near in enumerate(neighbours)))

    def is_complete(self, s: int) -> bool:
        """Whether all vertices of a set are joined to each other."""
        return all(not s & ~(self.neighbours[p] | 1 << p) for p in bits(s))

    @property
    def is_chordal(self) -> bool:
        """Whether every cycle of four or more has a chord.

        Maximum cardinality search (Tarjan & Yannakakis 1984): a vertex's earlier neighbours must
        all be neighbours of the latest among them.

        >>> Graph.of([0b0011, 0b0110, 0b1100, 0b1001], 4).is_chordal
        False
        """
        return all(
            latest < 0 or not earlier & ~(self.neighbours[latest] | 1 << latest)
            for _, earlier, latest in self._search()
        )

    def _search(self) -> Iterator[tuple[int, int, int]]:
        """Maximum cardinality search: vertex, its earlier neighbours, the latest of these or -1."""
        k = len(self.neighbours)
        levels = [(1 << k) - 1] + [0] * k  # open vertices by number of visited neighbours
        order: list[int] = []
        visited = top = 0
        for _ in range(k):
            while not levels[top]:
                top -= 1
            low = levels[top] & -levels[top]
            v = low.bit_length() - 1
            levels[top] ^= low
            near = self.neighbours[v]
            earlier = near & visited
            yield v, earlier, next(u for u in reversed(order) if near >> u & 1) if earlier else -1
            _raise_levels(levels, near, top)
            visited |= low
            order.append(v)
            top += 1

    def junction_tree(self) -> JunctionTree[int]:
        """The cliques of a chordal graph as a tree (Blair & Peyton 1993)."""
        if not self.is_chordal:
            raise DisclosureError(
                "only a chordal graph has a junction tree of cliques, and this graph has a cycle "
                "without a chord. Use prime_components() or minimal_triangulation()."
            )
        nodes: list[int] = []
        edges: list[tuple[int, int, int]] = []
        home: dict[int, int] = {}  # vertex -> the clique it came with
        for v, earlier, latest in self._search():
            if nodes and earlier == nodes[-1]:
                nodes[-1] |= 1 << v
            else:
                if nodes:
                    edges.append((home.get(latest, 0), len(nodes), earlier))
                nodes.append(earlier | 1 << v)
            home[v] = len(nodes) - 1
        return JunctionTree(tuple(nodes), tuple(edges))

    def cliques(self) -> tuple[int, ...]:
        """The maximal complete sets, largest first, then by value."""
        return tuple(sorted(self._cliques(), key=lambda s: (-s.bit_count(), s)))

    def _cliques(self) -> Iterator[int]:
        if self.is_chordal:
            return iter(self.junction_tree().nodes)
        return self._extend(0, (1 << len(self.neighbours)) - 1, 0)

    def _extend(self, clique: int, candidates: int, seen: int) -> Iterator[int]:
        """Bron & Kerbosch 1973, with the pivot of Tomita, Tanaka & Takahashi 2006."""
        if not candidates:
            if not seen:
                yield clique
            return
        near = self.neighbours
        pivot = max(bits(candidates | seen), key=lambda u: (candidates & near[u]).bit_count())
        for v in bits(candidates & ~near[pivot]):
            yield from self._extend(clique | 1 << v, candidates & near[v], seen & near[v])
            candidates ^= 1 << v
            seen |= 1 << v

    def minimal_triangulation(self) -> Graph:
        """A chordal graph with edges added, none of which could be left out.

        MCS-M (Berry, Blair, Heggernes & Peyton 2004): a vertex also raises those that it reaches
        through open vertices of lower level than theirs.

        >>> square = Graph.of([0b0011, 0b0110, 0b1100, 0b1001], 4)
        >>> square.minimal_triangulation().cliques()
        (11, 14)
        """
        k = len(self.neighbours)
        levels = [(1 << k) - 1] + [0] * k
        filled = list(self.neighbours)
        unvisited, top = (1 << k) - 1, 0
        for _ in range(k):
            while not levels[top]:
                top -= 1
            low = levels[top] & -levels[top]
            v = low.bit_length() - 1
            levels[top] ^= low
            unvisited ^= low
            reached = raised = self.neighbours[v] & unvisited
            lower = passed = 0
            for level in levels[: top + 1]:
                lower |= level
                while through := reached & lower & ~passed:
                    passed |= through
                    for p in bits(through):
                        reached |= self.neighbours[p] & unvisited
                    raised |= reached & ~lower
            filled[v] |= raised
            for p in bits(raised):
                filled[p] |= low
            _raise_levels(levels, raised, top)
            top += 1
        return Graph(tuple(filled))

    def prime_components(self) -> JunctionTree[int]:
        """The maximal subgraphs that no complete set separates (Leimer 1993).

        The cliques of a minimal triangulation, merged where a separator is not complete
        (Olesen & Madsen 2002). Those of a chordal graph are its cliques.
        """
        return _merge(self.minimal_triangulation().junction_tree(), self.is_complete)

    def separators(self) -> tuple[int, ...]:
        """The separators of the prime components, each as often as it occurs, largest first."""
        found = self.prime_components().separators
        return tuple(sorted(found, key=lambda s: (-s.bit_count(), s)))


def is_graphical(frontier: Iterable[int], k: int) -> bool:
    """Whether the frontier is the cliques of its graph, save for variables in no margin.

    >>> is_graphical([0b011, 0b110], 3), is_graphical([0b011, 0b110, 0b101], 3)
    (True, False)
    """
    margins = set(maximal(frontier))
    covered = reduce(or_, margins, 0)
    cliques = Graph.of(margins, k)._cliques()
    return all(clique in margins or not clique & covered for clique in cliques)


def is_decomposable(frontier: Iterable[int], k: int) -> bool:
    """Whether the frontier is the cliques of a chordal graph.

    >>> is_decomposable([0b0011, 0b0110, 0b1100], 4)
    True
    """
    margins = maximal(frontier)
    return Graph.of(margins, k).is_chordal and is_graphical(margins, k)


def components(frontier: Iterable[int], k: int, ties: Iterable[int] = ()) -> JunctionTree[int]:
    """The parts of a release that only released margins separate.

    As `prime_components`, but a separator must lie within one margin: the pairs of three variables
    make them complete in the graph, and yet their three-way margin is unknown. Sets in `ties` stay
    in one part without being a margin.

    >>> pairs = [0b00011, 0b00101, 0b00110]
    >>> components([*pairs, 0b01001, 0b01010, 0b01100, 0b10001, 0b10010, 0b10100], 5).nodes
    (31,)
    >>> components([0b00111, 0b01001, 0b01010, 0b01100, 0b10001, 0b10010, 0b10100], 5).nodes
    (15, 23)
    """
    margins = maximal(frontier)
    tree = Graph.of((*margins, *ties), k).minimal_triangulation().junction_tree()
    return _merge(tree, lambda s: any(not s & ~margin for margin in margins))


def _raise_levels(levels: list[int], raised: int, top: int) -> None:
    for level in range(top, -1, -1):
        moved = levels[level] & raised
        if moved:
            levels[level] ^= moved
            levels[level + 1] |= moved


def _merge(tree: JunctionTree[int], separates: Callable[[int], bool]) -> JunctionTree[int]:
    """The tree with the ends of every edge joined whose separator does not count."""
    nodes = list(tree.nodes[:1])
    edges = []
    home = [0]
    for (i, _, separator), node in zip(tree.edges, tree.nodes[1:], strict=True):
        if separates(separator):
            home.append(len(nodes))
            edges.append((home[i], len(nodes), separator))
            nodes.append(node)
        else:
            home.append(home[i])
            nodes[home[i]] |= node
    return JunctionTree(tuple(nodes), tuple(edges))
