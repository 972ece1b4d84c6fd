"""Chordal graphs on bit sets: moves that keep them chordal, and sums over cells that follow.

A set of vertices is an int64, bit p for vertex p, so there are at most 60; `near[p]` are the
neighbours of p. Every set has a count n at each watched row: how much of the table agrees with the
row on the set. Of a graph with perfect order v1, v2, ..., where Q_v are the neighbours of v before
it,

    floor = total + sum_v (n(Q_v + v) - n(Q_v)),    ceiling = min_v n(Q_v + v)

and the graph is safe if ceiling - max(0, floor) >= beta at every watched row. An edge uv with
S = near[u] & near[v] can be added if S separates u from v, and deleted if S is complete (Giudici &
Green 1999); it changes the floor by n(S + u + v) - n(S + u) - n(S + v) + n(S).
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numba import njit

from discreet._kernels.copies import put
from discreet._kernels.watched_counts import (
    EMPTY,
    FUEL,
    _counts,
    _lowest,
    _make_room,
    _size,
    is_wide,
    place,
)
from discreet.arrays import Ints

ROUNDING = 1e-9  # worth that is less than this apart, relatively, is the same


class State(NamedTuple):
    """A graph and its floor; `trial` is scratch."""

    near: Ints
    floor: Ints
    trial: Ints


@njit(cache=True, nogil=True)
def is_complete(near, s):
    rest = s
    while rest:
        p = _lowest(rest)
        rest &= rest - 1
        if s & ~near[p] != 1 << p:
            return False
    return True


@njit(cache=True, nogil=True)
def separates(near, s, u, v):
    """Whether every path from u to v passes through s."""
    reached, fresh = 1 << u, 1 << u
    while fresh:
        p = _lowest(fresh)
        fresh &= fresh - 1
        new = near[p] & ~s & ~reached
        if new >> v & 1:
            return False
        reached |= new
        fresh |= new
    return True


@njit(cache=True, nogil=True)
def perfect_order(near):
    """Maximum cardinality search: the vertices in order, and the neighbours before each."""
    k = len(near)
    order, before = np.empty(k, np.int64), np.empty(k, np.int64)
    visited = 0
    for i in range(k):
        best, most = -1, -1
        for v in range(k):
            if not visited >> v & 1:
                number = _size(near[v] & visited)
                if number > most:
                    best, most = v, number
        order[i], before[i] = best, near[best] & visited
        visited |= 1 << best
    return order, before


@njit(cache=True, nogil=True)
def floor_of(search, near, out):
    """The floor from scratch, into `out`."""
    order, before = perfect_order(near)
    out[:] = search.rows.counts.sum()
    for v, earlier in zip(order, before):  # noqa: B905 (numba has no strict)
        _make_room(search.memory, np.int64(2))
        above, below = _counts(search, earlier | 1 << v), _counts(search, earlier)
        for j in range(len(out)):
            out[j] += above[j] - below[j]


@njit(cache=True, nogil=True)
def ceiling_of(search, near, out):
    """The ceiling from scratch, into `out`."""
    order, before = perfect_order(near)
    out[:] = search.rows.counts.sum()
    for v, earlier in zip(order, before):  # noqa: B905
        _make_room(search.memory, np.int64(1))
        counts = _counts(search, earlier | 1 << v)
        for j in range(len(out)):
            out[j] = min(out[j], counts[j])


@njit(cache=True, nogil=True)
def _is_safe(search, near, floor, highest):
    """Whether a graph with wide complete sets keeps every width: only a raised floor matters."""
    if highest <= 0:
        return True
    order, before = perfect_order(near)
    for v, earlier in zip(order, before):  # noqa: B905
        _make_room(search.memory, np.int64(1))
        counts = _counts(search, earlier | 1 << v)
        for j in range(len(floor)):
            if floor[j] > 0 and counts[j] - floor[j] < search.limits.beta:
                return False
    return True


@njit(cache=True, nogil=True)
def _worth(extra, inside, held):
    """The worth of all sets of `held` and any part of `inside`."""
    total = 2.0 ** _size(inside)
    if not len(extra.listed):
        return total
    if total > len(extra.listed):
        for s in extra.listed:
            if s & held == held and s & ~(inside | held) == 0:
                total += extra.worth[place(extra.keys, s)]
        return total
    part = inside
    while True:
        i = place(extra.keys, part | held)
        if extra.keys[i] != EMPTY:
            total += extra.worth[i]
        if not part:
            return total
        part = (part - 1) & inside


@njit(cache=True, nogil=True)
def worth_of(extra, near):
    """The worth of all complete sets but the empty one."""
    order, before = perfect_order(near)
    total = 0.0
    for v, earlier in zip(order, before):  # noqa: B905
        total += _worth(extra, earlier, 1 << v)
    return total


# Moves: each returns the change in worth, or nan if it is refused; it may cost at most `budget`


@njit(cache=True, nogil=True)
def _shift(search, state, plus, plus_too, minus, minus_too):
    """The floor after a move, into `trial`: two sets' counts added, two subtracted; its highest."""
    _make_room(search.memory, np.int64(4))
    a, b = _counts(search, plus), _counts(search, plus_too)
    c, d = _counts(search, minus), _counts(search, minus_too)
    floor, trial, highest = state.floor, state.trial, np.int64(0)
    for j in range(len(floor)):
        trial[j] = floor[j] + (a[j] + b[j] - c[j] - d[j])
        highest = max(highest, trial[j])
    return highest


@njit(cache=True, nogil=True)
def _flip(near, u, v):
    near[u] ^= 1 << v
    near[v] ^= 1 << u


@njit(cache=True, nogil=True)
def add_edge(search, state, u, v):
    near, at_u, at_v = state.near, 1 << u, 1 << v
    shared = near[u] & near[v]
    whole = shared | at_u | at_v
    if _size(whole) > search.limits.order or not separates(near, shared, u, v):
        return np.nan
    if not is_wide(search, whole):
        return np.nan
    _flip(near, u, v)
    highest = _shift(search, state, whole, shared, shared | at_u, shared | at_v)
    if not _is_safe(search, near, state.trial, highest):
        _flip(near, u, v)
        return np.nan
    put(state.floor, state.trial)
    return _worth(search.extra, shared, at_u | at_v)


@njit(cache=True, nogil=True)
def delete_edge(search, state, u, v, budget):
    near, at_u, at_v = state.near, 1 << u, 1 << v
    shared = near[u] & near[v]
    cost = _worth(search.extra, shared, at_u | at_v)
    if search.limits.fixed[u] >> v & 1 or cost > budget or not is_complete(near, shared):
        return np.nan
    _flip(near, u, v)
    _shift(search, state, shared | at_u, shared | at_v, shared | at_u | at_v, shared)
    put(state.floor, state.trial)
    return -cost


@njit(cache=True, nogil=True)
def _hang(near, v, old, new):
    """Take v from its neighbours `old` to `new`."""
    rest = old ^ new
    while rest:
        p = _lowest(rest)
        rest &= rest - 1
        near[p] ^= 1 << v
    near[v] = new


@njit(cache=True, nogil=True)
def _home(search, near, v, w, order):
    """A largest set about w that is complete, and wide with v; vertices are tried in `order`."""
    at_v, room = 1 << v, search.limits.order - 1
    home = search.limits.fixed[v] if search.limits.fixed[v] else 1 << w
    if not is_wide(search, home | at_v):
        return 0
    common, rest = ~at_v, home
    while rest:
        common &= near[_lowest(rest)]
        rest &= rest - 1
    for x in order:
        if common >> x & 1 and _size(home) < room and is_wide(search, home | at_v | 1 << x):
            home |= 1 << x
            common &= near[x]
    return home if _size(home) <= room else 0


@njit(cache=True, nogil=True)
def move_vertex(search, state, v, w, order, budget):
    """Take a vertex whose neighbours are complete to another complete set."""
    near, at_v = state.near, 1 << v
    old = near[v]
    if not is_complete(near, old):
        return np.nan
    new = _home(search, near, v, w, order)
    if new in (0, old):
        return np.nan
    change = _worth(search.extra, new, at_v) - _worth(search.extra, old, at_v)
    if -change > budget:
        return np.nan
    _hang(near, v, old, new)
    highest = _shift(search, state, new | at_v, old, old | at_v, new)
    if not _is_safe(search, near, state.trial, highest):
        _hang(near, v, new, old)
        return np.nan
    put(state.floor, state.trial)
    return change


@njit(cache=True, nogil=True)
def _exchange(near, u, v):
    near[u], near[v] = near[v], near[u]
    for p in range(len(near)):
        if (near[p] >> u ^ near[p] >> v) & 1:
            near[p] ^= 1 << u | 1 << v


@njit(cache=True, nogil=True)
def swap_vertices(search, state, u, v, budget):
    """Let two vertices change places in the graph."""
    near, fixed, both = state.near, search.limits.fixed, 1 << u | 1 << v
    if fixed[u] | fixed[v] or near[u] & ~both == near[v] & ~both:
        return np.nan
    change = 0.0
    if len(search.extra.listed):
        change = -worth_of(search.extra, near)
    _exchange(near, u, v)
    if len(search.extra.listed):
        change += worth_of(search.extra, near)
    order, before = perfect_order(near)
    fits = -change <= budget
    for x, earlier in zip(order, before):  # noqa: B905
        fits = fits and is_wide(search, earlier | 1 << x)
    if fits:
        floor_of(search, near, state.trial)
        highest = np.int64(0)
        for value in state.trial:
            highest = max(highest, value)
        fits = _is_safe(search, near, state.trial, highest)
    if not fits:
        _exchange(near, u, v)
        return np.nan
    put(state.floor, state.trial)
    return change


@njit(cache=True, nogil=True)
def anneal(search, state, value, top, best, draws, orders, start, hot, cold, shares, goal):
    """Steps of one cooling from temperature `hot` to `cold`, from step `start` on.

    A row of `draws` says which move (edges below shares[0], vertices below shares[1], else swaps),
    which two vertices, which order, and the luck of a loss. `best` becomes the best graph of worth
    more than `top`. Returns the value, the best value and the next step; if there is one left, the
    goal was reached or the fuel is spent.
    """
    k = len(state.near)
    cool = (cold / hot) ** (1 / len(draws))
    temperature = hot * cool**start
    for i in range(start, len(draws)):
        if search.memory.used[FUEL] <= 0:
            return value, top, i
        kind = draws[i, 0]
        u, v = int(draws[i, 1] * k), int(draws[i, 2] * (k - 1))
        v += v >= u
        budget = -np.log(1 - draws[i, 4]) * temperature
        if kind >= shares[1]:
            change = swap_vertices(search, state, u, v, budget)
        elif kind >= shares[0]:
            order = orders[int(draws[i, 3] * len(orders))]
            change = move_vertex(search, state, u, v, order, budget)
        elif state.near[u] >> v & 1:
            change = delete_edge(search, state, u, v, budget)
        else:
            change = add_edge(search, state, u, v)
        temperature *= cool
        if change == change:
            value += change
            if value > top * (1 + ROUNDING):
                top = value
                put(best, state.near)
                if top >= goal:
                    return value, top, i + 1
    return value, top, len(draws)


@njit(cache=True, nogil=True)
def polish(search, state, orders):
    """Add edges and move vertices while the worth grows and fuel lasts; by how much it grew."""
    k, gain = len(state.near), 0.0
    again = True
    while again:
        again = False
        for u in range(k):
            for v in range(k):
                if search.memory.used[FUEL] <= 0:
                    return gain
                if u < v and not state.near[u] >> v & 1:
                    change = add_edge(search, state, u, v)
                    if change == change:
                        gain += change
                        again = again or change > 0
                for i in range(len(orders) if u != v else 0):
                    change = move_vertex(search, state, u, v, orders[i], -ROUNDING)
                    if change == change:
                        gain += change
                        again = True
    return gain
