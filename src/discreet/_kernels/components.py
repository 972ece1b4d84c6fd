"""Pairs of records by either end: which hang together, and the same pairs in the other order.

Both go over the pairs once, block by block, and keep a number for each record.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.tiers import tiered, twin_of


def _pairs(first: int, end: int, starts: Any, *given: Any) -> int:
    return int(20 * (starts[end] - starts[first]))


@njit(cache=True, nogil=True)
def _root(parent: Any, k: Any) -> Any:
    """The first record that hangs together with k, on shorter and shorter ways."""
    while parent[k] != k:
        parent[k] = parent[parent[k]]
        k = parent[k]
    return k


@tiered(_pairs)
@njit(cache=True, nogil=True)
def join(first: int, end: int, starts: Any, places: Any, parent: Any) -> None:
    """Records first..end hang together with their places, which are numbered after all records.

    Union by the smaller number (Tarjan 1975): a root is the first of its component.
    """
    many = starts.size - 1
    for i in range(first, end):
        a = _root(parent, np.int64(i))
        for e in range(starts[i], starts[i + 1]):
            b = _root(parent, np.int64(many + places[e]))
            if a < b:
                parent[b] = a
            elif b < a:
                parent[a] = b
                a = b


def components(parent: Any) -> Any:
    """How many there are, and that of each record, by the first record of each."""
    while True:
        above = parent[parent]
        if (above == parent).all():
            break
        parent = above
    roots = parent == np.arange(parent.size)
    return int(roots.sum()), (np.cumsum(roots) - 1)[parent]


@tiered(_pairs)
@njit(cache=True, nogil=True)
def turn(first: int, end: int, starts: Any, places: Any, ends: Any, edges: Any) -> None:
    """Pairs of the records first..end behind those before, by place; ends[j]: where next."""
    for e in range(starts[first], starts[end]):
        edges[ends[places[e]]] = e
        ends[places[e]] += 1


@twin_of(turn.kernel)
def _turn(first: int, end: int, starts: Any, places: Any, ends: Any, edges: Any) -> None:
    here = places[starts[first] : starts[end]]
    order = np.argsort(here, kind="stable")
    many = np.bincount(here, minlength=ends.size)
    within = np.arange(here.size) - np.repeat(np.cumsum(many) - many, many)
    edges[np.repeat(ends, many) + within] = starts[first] + order
    ends += many
