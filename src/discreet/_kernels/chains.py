"""Markov chains over whole-number solutions of sums: slides along moves, and fills of open columns.

Every kernel is chosen without looking at the state and keeps the target by detailed balance.
"""

from __future__ import annotations

import math
from typing import Any, NamedTuple

import numpy as np
from numba import njit

from discreet._kernels.copies import put
from discreet._kernels.draws import _log_beta_binomial, _shape
from discreet._kernels.tables import Net, _line, _note, _set, _settle
from discreet.arrays import Floats, Ints

WINDOW = 16  # values looked at in one slide
AWAY = 0.75  # share of slides that try to leave the state, not all: a chain must not alternate


class Space(NamedTuple):
    """Bounds and log weights of the entries of a state: columns, then sums known as a range.

    Entry c has the log weights logs[kind[c]]; `flat` if all are equal. `ranges` are the columns of
    the sums, from entry `columns` on. Strides are powers of two below 2 ** `doublings`.
    """

    low: Ints
    high: Ints
    kind: Ints
    logs: Any
    flat: bool
    columns: int
    range_starts: Ints
    range_members: Ints
    doublings: int


class Moves(NamedTuple):
    """Move m adds signs[i] to entry cells[i], i from starts[m] on."""

    starts: Ints
    cells: Ints
    signs: Ints


class Edges(NamedTuple):
    """Moves along separators: two columns of one group exchange what is on one side of edge e.

    `side` and `rest` are parts of a cell's key, `place` says which column has a key; the group g
    of column c at edge e holds members[e, bounds[e, g] : bounds[e, g + 1]]. A `shift` moves one
    person within the group.
    """

    side: Any
    rest: Any
    group: Any
    bounds: Any
    members: Any
    shift: Any
    place: Any


class Fills(NamedTuple):
    """Ways to hold the first held[p] columns of orders[p] and to draw the others anew.

    Way 0 holds none. `mean`, `gains` and `variance` are a normal approximation (Proposal); at
    place last[p] one degree of freedom is left.
    """

    net: Net
    low: Ints
    high: Ints
    orders: Any
    held: Ints
    last: Ints
    mean: Floats
    gains: Any
    variance: Any
    even: float


@njit(cache=True, nogil=True)
def _slide(space: Space, x: Ints, cells: Ints, signs: Ints, size: int, rng: Any, p: Floats) -> bool:
    """Draw how far to go along a move from its exact conditional distribution.

    Within a window that lies at random about the state, so that it would be as probable from any
    other state in it. Mostly another state is proposed, and accepted so that the distribution stays
    (Liu 1996). Did the state change?
    """
    stride = 1
    if space.doublings > 0:
        stride = 1 << int(rng.random() * (space.doublings + 1))
    least, most = -WINDOW, WINDOW
    for i in range(size):
        c = cells[i]
        s, down, up = signs[i] * stride, x[c] - space.low[c], space.high[c] - x[c]
        if s < 0:
            s, down, up = -s, up, down
        least, most = max(least, -(down // s)), min(most, up // s)
        if least == most:
            return False
    if most - least >= WINDOW:
        before = int(rng.random() * WINDOW)
        least, most = max(least, -before), min(most, WINDOW - 1 - before)
        if least == most:
            return False
    away = rng.random() < AWAY
    if space.flat:
        t = least + int(rng.random() * (most - least + (not away)))
        if away and t >= 0:
            t += 1
    else:
        top = -np.inf
        for t in range(least, most + 1):
            log = 0.0
            for i in range(size):
                log += space.logs[space.kind[cells[i]], x[cells[i]] + t * stride * signs[i]]
            p[t - least] = log
            top = max(top, log)
        total = 0.0
        for t in range(most - least + 1):
            p[t] = math.exp(p[t] - top)
            total += p[t]
        here = p[-least]
        if away:
            p[-least] = 0.0
        others = total - here
        left, t = rng.random() * (others if away else total), 0
        while t < most - least and left >= p[t]:
            left -= p[t]
            t += 1
        if away and rng.random() * (total - p[t]) >= others:
            return False
        t += least
    if t == 0:
        return False
    for i in range(size):
        x[cells[i]] += t * stride * signs[i]
    return True


@njit(cache=True, nogil=True)
def _along(space: Space, low: Any, high: Any, length: int, p: Floats) -> float:
    """Weights of the solutions on a line, relative to the largest, and the log of their sum."""
    for t in range(length + 1):
        p[t] = 0.0
    for c in range(space.columns):
        step = (low[2, c] - low[1, c]) // length
        if step != 0:
            for t in range(length + 1):
                p[t] += space.logs[space.kind[c], low[1, c] + t * step]
    top = -np.inf
    for t in range(length + 1):
        top = max(top, p[t])
    total = 0.0
    for t in range(length + 1):
        p[t] = math.exp(p[t] - top)
        total += p[t]
    return total


@njit(cache=True, nogil=True)
def _fill(
    fills: Fills, space: Space, way: Any, forced: Any, x: Ints, out: Ints, low: Any, high: Any,
    surprise: Floats, free: Any, queue: Ints, queued: Any, ends: Ints, rng: Any, p: Floats,
) -> float:  # fmt: skip
    """Draw the columns that are not held one after the other, into `out`: the log probability.

    `forced` asks for the probability of drawing `x`. Level 0 of the bounds holds what is held.
    """
    order = fills.orders[way]
    chance = 0.0
    for place in range(fills.held[way], order.size):
        node = order[place]
        expected = fills.mean[node]
        for i in range(free):
            expected += fills.gains[way, place, i] * surprise[i]
        lower, width = low[0, node], high[0, node] - low[0, node]
        value = lower
        if width > 0:
            if place == fills.last[way]:
                length = _line(fills.net, node, low, high, np.int64(0), queue, queued, ends)
                if 0 < length < p.size:
                    total = _along(space, low, high, length, p)
                    t = 0
                    if forced:
                        t = x[node] - lower
                    else:
                        left = rng.random() * total
                        while t < length and left >= p[t]:
                            left -= p[t]
                            t += 1
                    for c in range(space.columns):
                        out[c] = low[1, c] + t * ((low[2, c] - low[1, c]) // length)
                    return chance + math.log(max(p[t], 1e-300) / total)
            a, b = _shape(expected - lower, fills.variance[way, place], width)
            if forced:
                value = x[node]
            elif rng.random() < fills.even:
                value = lower + min(int(rng.random() * (width + 1)), width)
            else:
                value = lower + rng.binomial(width, rng.beta(a, b))
            drawn = math.exp(_log_beta_binomial(float(value - lower), float(width), a, b))
            chance += math.log(fills.even / (width + 1) + (1 - fills.even) * drawn)
            if not _set(fills.net, node, value, low[0], high[0], queue, queued, ends):
                return -np.inf
        if fills.variance[way, place] > 0:
            surprise[free] = value - expected
            free += 1
    for c in range(space.columns):
        out[c] = low[0, c]
    return chance


@njit(cache=True, nogil=True)
def _refill(
    fills: Fills, space: Space, way: int, x: Ints, out: Ints, low: Any, high: Any,
    surprise: Floats, queue: Ints, queued: Any, ends: Ints, rng: Any, p: Floats,
) -> bool:  # fmt: skip
    """Hold some columns, draw the others within their bounds, accept by Metropolis-Hastings.

    What is proposed depends on the held columns only, so that the way back has the probability of
    drawing the present values.
    """
    order = fills.orders[way]
    free: Any = np.int64(0)
    put(low[3], fills.low)
    put(high[3], fills.high)
    for place in range(fills.held[way]):
        node = order[place]
        if fills.variance[way, place] > 0:
            expected = fills.mean[node]
            for i in range(free):
                expected += fills.gains[way, place, i] * surprise[i]
            surprise[free] = x[node] - expected
            free += 1
        if low[3, node] != x[node] or high[3, node] != x[node]:
            low[3, node] = high[3, node] = x[node]
            _note(fills.net, node, queue, queued, ends)
    _settle(fills.net, low[3], high[3], queue, queued, ends)
    put(low[0], low[3])
    put(high[0], high[3])
    there = _fill(
        fills, space, way, np.bool_(False), x, out, low, high, surprise, free, queue, queued,
        ends, rng, p,
    )  # fmt: skip
    if there == -np.inf:
        return False
    ratio, same = -there, True
    for c in range(space.columns):
        if out[c] != x[c]:
            same = False
            ratio += space.logs[space.kind[c], out[c]] - space.logs[space.kind[c], x[c]]
    if same:
        return False
    put(low[0], low[3])
    put(high[0], high[3])
    old = np.empty(space.columns, np.int64)
    ratio += _fill(
        fills, space, way, np.bool_(True), x, old, low, high, surprise, free, queue, queued,
        ends, rng, p,
    )  # fmt: skip
    if ratio < 0 and rng.random() >= math.exp(ratio):
        return False
    put(x, out[: space.columns])
    _sum_ranges(space, x)
    return True


@njit(cache=True, nogil=True)
def _sum_ranges(space: Space, x: Ints) -> None:
    for r in range(space.range_starts.size - 1):
        total = 0
        for i in range(space.range_starts[r], space.range_starts[r + 1]):
            total += x[space.range_members[i]]
        x[space.columns + r] = total


@njit(cache=True, nogil=True)
def begin(fills: Fills, space: Space, tries: int, x: Ints, rng: Any) -> bool:
    """A solution drawn column by column, from the first of `tries` that is no dead end."""
    relations = fills.net.starts.size - 1
    queue, queued = np.empty(relations + 1, np.int64), np.zeros(relations, np.bool_)
    ends = np.zeros(2, np.int64)
    low = np.empty((4, fills.low.size), np.int64)
    high = np.empty_like(low)
    surprise, p = np.zeros(fills.gains.shape[2]), np.empty(space.logs.shape[1])
    none = np.int64(0)
    for _ in range(tries):
        put(low[0], fills.low)
        put(high[0], fills.high)
        chance = _fill(
            fills, space, none, np.bool_(False), x, x, low, high, surprise, none, queue, queued,
            ends, rng, p,
        )  # fmt: skip
        if chance > -np.inf:
            _sum_ranges(space, x)
            return True
    return False


@njit(cache=True, nogil=True)
def run_moves(
    space: Space, moves: Moves, fills: Fills, x: Ints, wanted: Ints, slides: int, refills: float,
    rng: Any, out: Any, tally: Ints,
) -> None:  # fmt: skip
    """Rows of `out` are the wanted columns after so many slides and, on average, fills each.

    `tally` counts slides, those that changed the state, fills, and those accepted.
    """
    relations = fills.net.starts.size - 1
    queue, queued = np.empty(relations + 1, np.int64), np.zeros(relations, np.bool_)
    ends = np.zeros(2, np.int64)
    low = np.empty((4, fills.low.size), np.int64)
    high = np.empty_like(low)
    new = np.empty(x.size, np.int64)
    surprise, p = np.zeros(fills.gains.shape[2]), np.empty(max(WINDOW, space.logs.shape[1]))
    count, ways = moves.starts.size - 1, fills.held.size
    for row in range(out.shape[0]):
        for _ in range(slides):
            m = int(rng.random() * count)
            cells = moves.cells[moves.starts[m] : moves.starts[m + 1]]
            signs = moves.signs[moves.starts[m] : moves.starts[m + 1]]
            tally[1] += _slide(space, x, cells, signs, cells.size, rng, p)
        tries = int(refills + rng.random())
        tally[2] += tries
        for _ in range(tries):
            way = 0
            if ways > 1 and rng.random() < 0.75:
                way = 1 + int(rng.random() * (ways - 1))
            tally[3] += _refill(
                fills, space, way, x, new, low, high, surprise, queue, queued, ends, rng, p
            )
        for i in range(wanted.size):
            out[row, i] = x[wanted[i]]
    tally[0] += out.shape[0] * slides


@njit(cache=True, nogil=True)
def run_edges(
    space: Space, edges: Edges, x: Ints, wanted: Ints, slides: int, rng: Any, out: Any, tally: Ints
) -> None:
    """The same along the separators of a decomposable release, each move made when it is tried."""
    cells, signs = np.empty(4, np.int64), np.array([-1, -1, 1, 1])
    p = np.empty(WINDOW)
    for row in range(out.shape[0]):
        for _ in range(slides):
            e = int(rng.random() * edges.shift.size)
            i = int(rng.random() * space.columns)
            g = edges.group[e, i]
            first, end = edges.bounds[e, g], edges.bounds[e, g + 1]
            j = edges.members[e, first + int(rng.random() * (end - first))]
            if i == j:
                continue
            size = 4
            cells[0], cells[1] = i, j
            signs[1] = -1
            if edges.shift[e]:
                size, signs[1] = 2, 1
            else:
                cells[2] = edges.place[edges.side[e, i] + edges.rest[e, j]]
                cells[3] = edges.place[edges.side[e, j] + edges.rest[e, i]]
                if cells[2] < 0 or cells[3] < 0 or cells[2] == i or cells[2] == j:
                    continue
            tally[1] += _slide(space, x, cells, signs, size, rng, p)
        for k in range(wanted.size):
            out[row, k] = x[wanted[k]]
    tally[0] += out.shape[0] * slides
