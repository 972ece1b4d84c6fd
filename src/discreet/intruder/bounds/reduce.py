"""Which part of a release matters for some of the variables."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import reduce
from operator import or_

from discreet.table.graph import JunctionTree, components
from discreet.table.lattice import maximal


def reduce_sets(margins: Iterable[int], target: int, held: int = 0) -> tuple[int, ...]:
    """Margins that give the same bounds for the cells of the `target` variables.

    A variable outside the target that stands in one margin only can be summed out of it: any
    table of the others extends to one with that margin (two margins always glue along what they
    share). Variables in `held` are spoken of elsewhere and stay.
    """
    sets = list(maximal(margins))
    while True:
        once = twice = 0
        for margin in sets:
            twice |= once & margin
            once |= margin
        lone = once & ~twice & ~target & ~held
        if not lone:
            return tuple(sets)
        sets = list(maximal(margin & ~lone for margin in sets))


def reduce_tied(
    margins: Iterable[int], ties: Iterable[int], target: int, k: int
) -> tuple[tuple[int, ...], tuple[int, ...]]:
    """Margins and ties that give the same bounds for the cells of the `target` variables.

    A tie is a set of variables that a known cell speaks of. A part of the release that hangs on
    the others by a released separator, and has no target beyond it, is left out with its ties: any
    table of the others glues to the true one of that part.
    """
    sets, ties = tuple(margins), tuple(ties)
    while True:
        fewer = reduce_sets(sets, target, reduce(or_, ties, 0))
        if not ties:
            return fewer, ties
        kept = _near(components(fewer, k, ties), target)
        left = tuple(tie for tie in ties if not tie & ~kept)
        fewer = maximal(margin & kept for margin in fewer)
        if fewer == maximal(sets) and left == ties:
            return fewer, left
        sets, ties = fewer, left


def _near(tree: JunctionTree[int], target: int) -> int:
    """The variables of the tree without the leaves that hold no target beyond their separator."""
    nodes, edges = dict(enumerate(tree.nodes)), list(tree.edges)
    degree = Counter(end for i, j, _ in edges for end in (i, j))

    def idle() -> Iterator[tuple[int, tuple[int, int, int]]]:
        for edge in edges:
            for end in edge[:2]:
                if degree[end] == 1 and not nodes[end] & ~edge[2] & target:
                    yield end, edge

    while found := next(idle(), None):
        leaf, edge = found
        del nodes[leaf]
        edges.remove(edge)
        degree.subtract(edge[:2])
    return reduce(or_, nodes.values(), 0)
