"""A k-d tree from which points are taken out: who is nearest, who is farthest, the centroid.

Boxes and sums are kept for what is left, so that answers stay quick and exact to the end. Bounds
are computed in the same order as distances; rounding is monotone, so that no point that could be
an answer is passed over.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from discreet.arrays import Floats, Ints

LEAF = 12  # points of a leaf, at most
DEPTH = 128  # twice the levels of any tree
CAREFUL = 1 + 1e-9  # for rounding
PATIENCE = 4096
NONE = np.iinfo(np.int64).max


class Tree(NamedTuple):
    """Node v has the children 2v and 2v + 1, and its points from `start[v]` to `end[v]`.

    `points` are in the tree's order, with their `rows`, their `leaf` and whether they are `left`;
    `low`, `high`, `sums`, `counts` and the `lowest` row are those of the points of a node that are
    left.
    """

    points: Floats
    rows: Ints
    left: Any
    start: Ints
    end: Ints
    low: Floats
    high: Floats
    sums: Floats
    counts: Ints
    lowest: Ints
    leaf: Ints


def planted(points: Floats) -> Tree:
    """The tree of some points, a row each; nodes are halved across their widest column."""
    many, columns = points.shape
    rows, bounds = np.arange(many), np.array([0, many])
    starts, ends = [np.zeros(1, np.int64)], [np.zeros(1, np.int64)]
    while True:
        starts.append(bounds[:-1])
        ends.append(bounds[1:])
        if np.diff(bounds).max() <= LEAF:
            break
        sizes, first = np.diff(bounds), bounds[:-1]
        there = points[rows]
        width = np.maximum.reduceat(there, first) - np.minimum.reduceat(there, first)
        across = np.repeat(width.argmax(1), sizes)
        node = np.repeat(np.arange(len(sizes)), sizes)
        rows = rows[np.lexsort((there[np.arange(many), across], node))]
        bounds = np.sort(np.concatenate([bounds, (bounds[:-1] + bounds[1:]) // 2]))
    leaves = len(bounds) - 1
    tree = Tree(
        np.ascontiguousarray(points[rows]),
        rows,
        np.ones(many, np.bool_),
        np.concatenate(starts),
        np.concatenate(ends),
        np.empty((2 * leaves, columns)),
        np.empty((2 * leaves, columns)),
        np.empty((2 * leaves, columns)),
        np.empty(2 * leaves, np.int64),
        np.empty(2 * leaves, np.int64),
        leaves + np.repeat(np.arange(leaves), np.diff(bounds)),
    )
    _fill(tree)
    return tree


@njit(cache=True, nogil=True)
def _fill(tree: Any) -> None:
    for v in range(len(tree.start) - 1, 0, -1):
        if 2 * v >= len(tree.start):
            _of_leaf(tree, v)
        else:
            _of_children(tree, v)


@njit(cache=True, nogil=True)
def _of_leaf(tree: Any, v: int) -> None:
    for d in range(tree.points.shape[1]):
        tree.low[v, d], tree.high[v, d], tree.sums[v, d] = np.inf, -np.inf, 0.0
    tree.counts[v], tree.lowest[v] = 0, NONE
    for i in range(tree.start[v], tree.end[v]):
        if tree.left[i]:
            tree.counts[v] += 1
            tree.lowest[v] = min(tree.lowest[v], tree.rows[i])
            for d in range(tree.points.shape[1]):
                value = tree.points[i, d]
                tree.low[v, d] = min(tree.low[v, d], value)
                tree.high[v, d] = max(tree.high[v, d], value)
                tree.sums[v, d] += value


@njit(cache=True, nogil=True)
def _of_children(tree: Any, v: int) -> None:
    a, b = 2 * v, 2 * v + 1
    tree.counts[v] = tree.counts[a] + tree.counts[b]
    tree.lowest[v] = min(tree.lowest[a], tree.lowest[b])
    for d in range(tree.points.shape[1]):
        tree.low[v, d] = min(tree.low[a, d], tree.low[b, d])
        tree.high[v, d] = max(tree.high[a, d], tree.high[b, d])
        tree.sums[v, d] = tree.sums[a, d] + tree.sums[b, d]


@njit(cache=True, nogil=True)
def take(tree: Any, place: int) -> None:
    """Take a point out."""
    tree.left[place] = False
    v = tree.leaf[place]
    _of_leaf(tree, v)
    while v > 1:
        v //= 2
        _of_children(tree, v)


@njit(cache=True, nogil=True, inline="always")
def _gap(tree: Any, i: int, of: Any) -> float:
    total = 0.0
    for d in range(len(of)):
        gap = tree.points[i, d] - of[d]
        total += gap * gap
    return total


@njit(cache=True, nogil=True, inline="always")
def _least(tree: Any, v: int, of: Any) -> float:
    """No point of a node is nearer."""
    if tree.counts[v] == 0:
        return np.inf
    total = 0.0
    for d in range(len(of)):
        gap = max(0.0, max(tree.low[v, d] - of[d], of[d] - tree.high[v, d]))
        total += gap * gap
    return total


@njit(cache=True, nogil=True, inline="always")
def _most(tree: Any, v: int, of: Any) -> float:
    """No point of a node is farther."""
    if tree.counts[v] == 0:
        return -1.0
    total = 0.0
    for d in range(len(of)):
        gap = max(of[d] - tree.low[v, d], tree.high[v, d] - of[d])
        total += gap * gap
    return total


@njit(cache=True, nogil=True)
def farthest(tree: Any, of: Any) -> int:
    """The place of the point farthest from another; of several, the lowest row."""
    leaves = len(tree.start) // 2
    stack, bounds = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    best, row, place = -1.0, NONE, -1
    stack[0], bounds[0], depth = 1, np.inf, 1
    while depth:
        depth -= 1
        v = stack[depth]
        if bounds[depth] < best or (bounds[depth] == best and tree.lowest[v] > row):
            continue
        if v >= leaves:
            for i in range(tree.start[v], tree.end[v]):
                if tree.left[i]:
                    gap = _gap(tree, i, of)
                    if gap > best or (gap == best and tree.rows[i] < row):
                        best, row, place = gap, tree.rows[i], i
            continue
        a, b = 2 * v, 2 * v + 1
        one, other = _most(tree, a, of), _most(tree, b, of)
        if one > other or (one == other and tree.lowest[a] < tree.lowest[b]):
            a, b, one, other = b, a, other, one
        stack[depth], bounds[depth] = a, one
        stack[depth + 1], bounds[depth + 1] = b, other
        depth += 2
    return place


@njit(cache=True, nogil=True)
def nearest(tree: Any, of: Any, near: Any) -> None:
    """The places of the nearest points, as many as `near` holds; of equal ones, the lowest rows."""
    leaves, last = len(tree.start) // 2, len(near) - 1
    stack, bounds = np.empty(DEPTH, np.int64), np.empty(DEPTH)
    gaps, rows = np.full(len(near), np.inf), np.full(len(near), NONE)
    stack[0], bounds[0], depth = 1, 0.0, 1
    while depth:
        depth -= 1
        v = stack[depth]
        if bounds[depth] > gaps[last] or (
            bounds[depth] == gaps[last] and tree.lowest[v] > rows[last]
        ):
            continue
        if v >= leaves:
            for i in range(tree.start[v], tree.end[v]):
                if tree.left[i]:
                    _insert(_gap(tree, i, of), tree.rows[i], i, gaps, rows, near)
            continue
        a, b = 2 * v, 2 * v + 1
        one, other = _least(tree, a, of), _least(tree, b, of)
        if one < other or (one == other and tree.lowest[a] < tree.lowest[b]):
            a, b, one, other = b, a, other, one
        stack[depth], bounds[depth] = a, one
        stack[depth + 1], bounds[depth + 1] = b, other
        depth += 2


@njit(cache=True, nogil=True)
def _insert(gap: float, row: int, place: int, gaps: Any, rows: Any, near: Any) -> None:
    """Into the sorted list of the nearest, if it belongs there."""
    at = len(near)
    while at > 0 and (gap < gaps[at - 1] or (gap == gaps[at - 1] and row < rows[at - 1])):
        at -= 1
        if at + 1 < len(near):
            gaps[at + 1], rows[at + 1], near[at + 1] = gaps[at], rows[at], near[at]
    if at < len(near):
        gaps[at], rows[at], near[at] = gap, row, place


@njit(cache=True, nogil=True)
def outermost(tree: Any, of: Any) -> tuple[Any, Any]:
    """Places of the points that are left, the farthest first, and how far they are."""
    places, gaps = np.empty(tree.counts[1], np.int64), np.empty(tree.counts[1])
    at = 0
    for i in range(len(tree.left)):
        if tree.left[i]:
            places[at], gaps[at] = i, -np.sqrt(_gap(tree, i, of))
            at += 1
    order = np.argsort(gaps)
    return places[order], -gaps[order]


@njit(cache=True, nogil=True)
def farthest_listed(
    tree: Any, of: Any, places: Any, gaps: Any, start: int, shift: float
) -> tuple[int, int]:
    """`farthest`, for a point `shift` away from that of the list, and how many were looked at.

    A point is no farther than its listed distance and the shift: the rest of the list cannot be
    farther than the best so far. Where that does not help soon, the tree is asked.
    """
    best, row, place, looked = -1.0, NONE, -1, 0
    for at in range(start, len(places)):
        looked += 1
        i = places[at]
        if (gaps[at] + shift) * CAREFUL < np.sqrt(max(best, 0.0)):
            break
        if looked > PATIENCE:
            return farthest(tree, of), looked
        if tree.left[i]:
            gap = _gap(tree, i, of)
            if gap > best or (gap == best and tree.rows[i] < row):
                best, row, place = gap, tree.rows[i], i
    return place, looked
