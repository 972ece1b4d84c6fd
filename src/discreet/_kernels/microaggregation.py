"""Groups of near records: MDAV by a tree of those that are left, and the optimum on a line."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.neartree import (
    farthest,
    farthest_listed,
    nearest,
    outermost,
    planted,
    take,
)
from discreet.arrays import Floats, Ints

RENEW = 12  # points looked at for each that is left, before they are sorted anew


def mdav(points: Floats, k: int) -> Ints:
    """The group of each point, a row each (MDAV-generic; Domingo-Ferrer & Torra 2005).

    While 3k points are left: r is the farthest from their centroid and forms a group with its
    k - 1 nearest, then s, the farthest from r, with its own. Of 2k to 3k - 1 the first is formed
    and the others are the last group. The lowest of equal ones is taken.
    """
    return np.asarray(_grouped(planted(points), k))


@njit(cache=True, nogil=True)
def _grouped(tree: Any, k: int) -> Any:
    """MDAV by a tree. The centroid hardly moves: who is farthest is early in an older list."""
    groups, near = np.zeros(len(tree.rows), np.int64), np.empty(k, np.int64)
    centre, anchor = _centroid(tree), _centroid(tree)
    places, gaps = outermost(tree, anchor)
    group: Any = np.int64(0)
    work, start = 0, 0
    while tree.counts[1] >= 2 * k:
        two = tree.counts[1] >= 3 * k
        centre = _centroid(tree)
        if work > RENEW * tree.counts[1]:
            anchor, work, start = centre, 0, 0
            places, gaps = outermost(tree, anchor)
        while start < len(places) and not tree.left[places[start]]:
            start += 1
        shift = 0.0
        for d in range(len(centre)):
            shift += (centre[d] - anchor[d]) ** 2
        first, looked = farthest_listed(tree, centre, places, gaps, start, np.sqrt(shift))
        work += looked
        nearest(tree, tree.points[first], near)
        group = _form(tree, near, groups, group)
        if two:
            nearest(tree, tree.points[farthest(tree, tree.points[first])], near)
            group = _form(tree, near, groups, group)
    for i in range(len(tree.rows)):
        if tree.left[i]:
            groups[tree.rows[i]] = group
    return groups


@njit(cache=True, nogil=True)
def _centroid(tree: Any) -> Any:
    centre = np.empty(tree.points.shape[1])
    for d in range(len(centre)):
        centre[d] = tree.sums[1, d] / tree.counts[1]
    return centre


@njit(cache=True, nogil=True)
def _form(tree: Any, near: Any, groups: Any, group: Any) -> Any:
    """The nearest become a group; the number of the next one."""
    for place in near:
        groups[tree.rows[place]] = group
        take(tree, place)
    return group + 1


@njit(cache=True, nogil=True)
def on_a_line(values: Floats, k: int) -> Ints:
    """Where the groups of sorted values end, with the least sum of squares in groups.

    The shortest path over k to 2k - 1 values a step (Hansen & Mukherjee 2003), O(kn). A group's
    sum of squares grows value by value (Welford 1962), so that nothing cancels.
    """
    many = len(values)
    cost, back = np.full(many + 1, np.inf), np.zeros(many + 1, np.int64)
    cost[0] = 0.0
    for end in range(k, many + 1):
        mean, squares = 0.0, 0.0
        for size in range(1, min(2 * k - 1, end) + 1):
            gap = values[end - size] - mean
            mean += gap / size
            squares += gap * (values[end - size] - mean)
            if size >= k and cost[end - size] + squares < cost[end]:
                cost[end], back[end] = cost[end - size] + squares, end - size
    ends = np.empty(many // k + 1, np.int64)
    place, end = len(ends), many
    while end > 0:
        place -= 1
        ends[place] = end
        end = back[end]
    return ends[place:]
