"""Random matching of items along a tree, and the distribution of one cell of the result."""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from discreet._kernels.parallel import spread
from discreet._kernels.tiers import tiered, twin_of
from discreet.arrays import Floats, Ints


class Tree(NamedTuple):
    """Nodes with their cells, one after the other; cells of a node are sorted by group.

    Node j has the cells `cells[j]` to `cells[j + 1]`, each with a count and with what it adds to an
    item's key, and the groups `groups[j]` to `groups[j + 1]`. Group g has the cells from
    `members[g]` on, the most frequent first, and its items begin at `starts[g]`. `group_of` says
    for each edge, from `edges[j]` on, in which group of node j an item of a parent's cell is.
    """

    parents: Ints
    cells: Ints
    counts: Ints
    adds: Ints
    groups: Ints
    members: Ints
    starts: Ints
    edges: Ints
    group_of: Ints


@njit(cache=True, inline="always")
def _next(state: Any) -> Any:
    """The next of a stream of 64 random bits (SplitMix64; Steele, Lea & Flood 2014)."""
    state[0] += np.uint64(0x9E3779B97F4A7C15)
    z = state[0]
    z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return z ^ (z >> np.uint64(31))


@njit(cache=True, nogil=True)
def _below(n: int, state: Any) -> Any:
    """A number from 0 to n - 1, n < 2^32, each as likely as any other (Lemire 2019)."""
    bound, mask = np.uint64(n), np.uint64(0xFFFFFFFF)
    product = (_next(state) >> np.uint64(32)) * bound
    if (product & mask) < bound:
        least = (np.uint64(1) << np.uint64(32)) % bound
        while (product & mask) < least:
            product = (_next(state) >> np.uint64(32)) * bound
    return np.int64(product >> np.uint64(32))


@njit(cache=True, nogil=True)
def _match(tree: Tree, state: Any, key: Ints, at: Any, slots: Any, ends: Ints) -> None:
    """Give every item a cell of every node: at random among items in the same group."""
    n = key.size
    item = 0
    for c in range(tree.cells[0], tree.cells[1]):
        for _ in range(tree.counts[c]):
            at[0, item] = c
            key[item] = tree.adds[c]
            item += 1
    for j in range(1, tree.parents.size):
        parent, first = tree.parents[j], tree.groups[j]
        shift = tree.edges[j] - tree.cells[parent]
        for g in range(first, tree.groups[j + 1]):
            ends[g - first] = tree.starts[g]
        for item in range(n):
            g = tree.group_of[shift + at[parent, item]]
            slots[ends[g]] = item
            ends[g] += 1
        for g in range(first, tree.groups[j + 1]):
            place, end = tree.starts[g], ends[g - first]
            for c in range(tree.members[g] + 1, tree.members[g + 1]):
                for _ in range(tree.counts[c]):
                    other = place + _below(end - place, state)
                    item = slots[other]
                    slots[other] = slots[place]
                    at[j, item] = c
                    key[item] += tree.adds[c]
                    place += 1
            c = tree.members[g]
            for k in range(place, end):
                at[j, slots[k]] = c
                key[slots[k]] += tree.adds[c]


@njit(cache=True, nogil=True)
def _slot(key: int, mask: int) -> Any:
    z = np.uint64(key) * np.uint64(0x9E3779B97F4A7C15)
    return np.int64(z >> np.uint64(32)) & mask


@njit(cache=True, nogil=True)
def _index(watched: Ints) -> tuple[Ints, Ints]:
    size = 4
    while size < 4 * watched.size:
        size *= 2
    keys, places = np.full(size, -1), np.full(size, -1)
    for place in range(watched.size):
        slot = _slot(watched[place], size - 1)
        while keys[slot] >= 0:
            slot = (slot + 1) & (size - 1)
        keys[slot], places[slot] = watched[place], place
    return keys, places


_indexed = tiered(lambda watched: 100 + 20 * watched.size)(_index)


def index(watched: Ints) -> tuple[Ints, Ints]:
    """A hash table from distinct keys to their places."""
    keys, places = _indexed(watched)
    return keys, places


@njit(cache=True, nogil=True)
def _match_counts(
    first: int, end: int, tree: Tree, items: int, seeds: Any, keys: Ints, places: Ints, counts: Any
) -> None:
    nodes, mask = tree.parents.size, keys.size - 1
    most = 0
    for j in range(nodes):
        most = max(most, tree.groups[j + 1] - tree.groups[j])
    for draw in range(first, end):
        key, slots = np.empty(items, np.int64), np.empty(items, np.int32)
        at, ends = np.empty((nodes, items), np.int32), np.empty(most, np.int64)
        state = np.empty(1, np.uint64)
        state[0] = seeds[draw]
        _match(tree, state, key, at, slots, ends)
        for item in range(items):
            slot = _slot(key[item], mask)
            while keys[slot] >= 0 and keys[slot] != key[item]:
                slot = (slot + 1) & mask
            if keys[slot] >= 0:
                counts[draw, places[slot]] += 1


def match_counts(tree: Tree, items: int, seeds: Any, keys: Ints, places: Ints, counts: Any) -> None:
    """For each seed a random matching, and in its row of `counts` how many items have each key."""
    given = (tree, items, seeds, keys, places, counts)
    if _counted.waits(0, seeds.size, *given):
        _counted.by_hand(0, seeds.size, *given)
    else:
        spread(_match_counts, seeds.size, *given, each=50 * items)


@tiered(lambda tree, items, seed: 30 * items * tree.parents.size)
@njit(cache=True, nogil=True)
def match_keys(tree: Tree, items: int, seed: Any) -> Ints:
    """The keys of all items after a random matching."""
    most = 0
    for j in range(tree.parents.size):
        most = max(most, tree.groups[j + 1] - tree.groups[j])
    key, slots = np.empty(items, np.int64), np.empty(items, np.int32)
    at = np.empty((tree.parents.size, items), np.int32)
    state = np.empty(1, np.uint64)
    state[0] = seed
    _match(tree, state, key, at, slots, np.empty(most, np.int64))
    return key


@njit(cache=True, inline="always")
def _log(n: int, logs: Floats) -> Any:
    """log n!, by Stirling's series beyond the given ones."""
    if n < logs.size:
        return logs[n]
    return (n + 0.5) * math.log(n) - n + 0.9189385332046727 + 1 / (12 * n)


@njit(cache=True, nogil=True)
def _chain(
    first: int, end: int, nodes: Any, separators: Any, orders: Any, low: Ints, starts: Ints,
    logs: Floats, mass: Floats,
) -> None:  # fmt: skip
    for i in range(first, end):
        root = np.argmin(nodes[i])
        top = nodes[i, root]
        p, q = np.zeros(top + 1), np.zeros(top + 1)
        p[top] = 1.0
        for step in range(orders.shape[1]):
            total, taken = separators[i, orders[root, step, 0]], nodes[i, orders[root, step, 1]]
            if total == taken:
                continue
            q[:] = 0.0
            for m in range(top + 1):
                if p[m] < 1e-30:
                    continue
                base = _log(m, logs) + _log(total - m, logs) - _log(total, logs)
                base += _log(taken, logs) + _log(total - taken, logs)
                # all but 1e-36 lies this near to the mean (Hoeffding 1963)
                mean, near = m * (taken / total), 1 + int(6.5 * math.sqrt(m))
                least = max(0, m + taken - total, int(mean) - near)
                for x in range(least, min(m, taken, int(mean) + 1 + near) + 1):
                    chance = base - _log(x, logs) - _log(m - x, logs) - _log(taken - x, logs)
                    q[x] += p[m] * math.exp(chance - _log(total - m - taken + x, logs))
            p, q = q, p
        sum_ = 0.0
        for m in range(top + 1):
            sum_ += p[m]
        for k in range(starts[i + 1] - starts[i]):
            mass[starts[i] + k] = p[low[i] + k] / sum_


def chain(
    nodes: Any, separators: Any, orders: Any, low: Ints, starts: Ints, logs: Floats, mass: Floats
) -> None:
    """The distribution of each cell's count along its tree: hypergeometric after hypergeometric.

    Of `nodes[i, c]` items in the smallest node, each further one keeps some:
    m' ~ Hypergeometric(separator, m, node). `orders[r]` lists the edges and nodes in an order that
    starts from node r; `logs` are the first log factorials. Into `mass` from starts[i] on, for
    counts from low[i] on.
    """
    given = (nodes, separators, orders, low, starts, logs, mass)
    if _chained.waits(0, low.size, *given):
        _chained.by_hand(0, low.size, *given)
    else:
        spread(_chain, low.size, *given, each=20_000)


def _chain_steps(
    first: int, end: int, nodes: Any, separators: Any, orders: Any, *given: Any
) -> int:
    top = nodes[first:end].min(1, initial=1 << 20).astype(float)
    terms = (top + 1) * np.minimum(top + 1, 3 + 13 * np.sqrt(top))
    return int(20 * len(top) + 5 * orders.shape[1] * terms.sum())


_chained = tiered(_chain_steps)(_chain)


@twin_of(_match_counts)
def _counts_at_once(
    first: int, end: int, tree: Tree, items: int, seeds: Any, keys: Ints, places: Ints, counts: Any
) -> None:
    """All draws abreast: they differ in who is in a place, never in how many."""
    states, draws = seeds[first:end].copy(), np.arange(end - first)
    at = np.empty((tree.parents.size, draws.size, items), np.int32)
    at[0] = np.repeat(np.arange(tree.cells[1]), tree.counts[: tree.cells[1]])
    key = tree.adds[at[0]]
    for j in range(1, tree.parents.size):
        parent, groups = tree.parents[j], range(tree.groups[j], tree.groups[j + 1])
        group = tree.group_of[tree.edges[j] - tree.cells[parent] + at[parent]]
        slots = np.argsort(group, axis=1, kind="stable")
        sizes = np.bincount(group[0], minlength=len(groups)) if draws.size else [0] * len(groups)
        for g, size in zip(groups, sizes, strict=True):
            place, end_ = tree.starts[g], tree.starts[g] + size
            for c in range(tree.members[g] + 1, tree.members[g + 1]):
                for _ in range(tree.counts[c]):
                    other = place + _all_below(end_ - place, states)
                    item = slots[draws, other]
                    slots[draws, other] = slots[:, place]
                    at[j, draws, item] = c
                    place += 1
            at[j, draws[:, None], slots[:, place:end_]] = tree.members[g]
        key += tree.adds[at[j]]
    known = np.flatnonzero(keys >= 0)
    known = known[np.argsort(keys[known])]
    if known.size:
        spot = known[np.minimum(np.searchsorted(keys[known], key), known.size - 1)]
        draw, item = np.nonzero(keys[spot] == key)
        np.add.at(counts, (first + draw, places[spot[draw, item]]), 1)


def _all_below(n: int, states: Any) -> Ints:
    """`_below` of every state, each of which moves on."""
    bound, half = np.uint64(n), np.uint64(32)
    least, mask = (np.uint64(1) << half) % bound, np.uint64(0xFFFFFFFF)
    product = np.empty_like(states)
    left = np.arange(states.size)
    while left.size:
        states[left] += np.uint64(0x9E3779B97F4A7C15)
        z = states[left]
        z = (z ^ (z >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
        z = (z ^ (z >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
        product[left] = ((z ^ (z >> np.uint64(31))) >> half) * bound
        left = left[(product[left] & mask) < least]
    return np.asarray(product >> half, np.int64)


def _count_steps(first: int, end: int, tree: Tree, items: int, *given: Any) -> int:
    return items * tree.parents.size * (10 + (end - first) // 10)


_counted = tiered(_count_steps)(_match_counts)
