"""Sixteen chains at once, one a lane: the same move is tried in all, each goes its own way.

A move is chosen without looking at any state, so that it keeps the target in every lane; given the
moves lanes are independent, and once they have the target their draws are uncorrelated.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit

from discreet._kernels.chains import Edges, Fills, Space, _refill
from discreet._kernels.lanes import (
    LANES,
    cut,
    exactly,
    give,
    how_many,
    largest,
    look_up,
    real,
    take,
    uniform,
    where,
    whole,
)
from discreet.arrays import Ints

FAR = 1 << 29
WINDOW = 16  # values looked at in one slide
TOP = 1e250  # a state so much better than another is as good as certain
AWAY = 3.0  # of 4 slides try to leave the state


class Paths(NamedTuple):
    """Move m lowers entries from starts[m] on and raises those from middles[m] on, by `sizes`.

    `unit` if all sizes are 1.
    """

    starts: Any
    middles: Any
    entries: Any
    sizes: Any
    unit: Any


class Ratios(NamedTuple):
    """rise[j, f + y] is the weight of entry value y + 2^j over that of y, fall of y - 2^j.

    In one row for each stride 2^j, `length` long; entry e begins at first[e]. `flat` if all are 1.
    """

    first: Any
    rise: Any
    fall: Any
    length: int
    doublings: int
    flat: bool


class Lane(NamedTuple):
    """What lanes are made of: entry e is a count less low[e].

    The first are the columns and sums of a `Space`; each of the others is what is left below a
    bound of entry `under`, `caps` their bounds.
    """

    low: Any
    under: Any
    caps: Any


@njit(cache=True, nogil=True)
def _least(a: Any, b: Any) -> Any:
    return where(a < b, a, b)


@njit(cache=True, nogil=True)
def _lowered(y: Any, ratios: Ratios, row: int, e: int, t: int, size: int, stride: int) -> Any:
    """How weights change where an entry goes from t to t + 1 steps down."""
    w, none = real(1.0), whole(0)
    for k in range(t * size, t * size + size):
        value = take(y, e * LANES) - whole(k * stride)
        w = w * look_up(ratios.fall, row + ratios.first[e], where(value < none, none, value))
    return w


@njit(cache=True, nogil=True)
def _raised(
    y: Any, ratios: Ratios, row: int, e: int, t: int, size: int, stride: int, inside: Any
) -> Any:
    """The same upwards; outside a lane's way nothing is looked up."""
    w = real(1.0)
    for k in range(t * size, t * size + size):
        value = take(y, e * LANES) + whole(k * stride)
        w = w * look_up(ratios.rise, row + ratios.first[e], where(inside, value, whole(0)))
    return w


@njit(cache=True, nogil=True)
def slide_all(
    y: Any, entries: Any, sizes: Any, start: int, middle: int, end: int, unit: bool, power: int,
    ratios: Ratios, seeds: Any, p: Any,
) -> int:  # fmt: skip
    """Draw in every lane how far to go along a move, 2 ** `power` at a time; how many lanes moved.

    From the exact distribution within a window, mostly to another state, as in `chains._slide`.
    """
    stride, row = 1 << power, power * ratios.length
    none, zero, one = whole(0), real(0.0), real(1.0)
    up = down = whole(FAR)
    if unit and power == 0:
        for i in range(start, middle):
            up = _least(up, take(y, entries[i] * LANES))
        for i in range(middle, end):
            down = _least(down, take(y, entries[i] * LANES))
    else:
        for i in range(start, middle):
            step = real(float(sizes[i] * stride))
            up = _least(up, cut(exactly(take(y, entries[i] * LANES)) / step))
        for i in range(middle, end):
            step = real(float(sizes[i] * stride))
            down = _least(down, cut(exactly(take(y, entries[i] * LANES)) / step))
    span = largest(up + down)
    if span == 0:
        return 0
    if span >= WINDOW:
        before = cut(uniform(seeds) * real(float(WINDOW)))
        wide = whole(WINDOW) <= up + down
        up = where(wide, _least(up, whole(WINDOW - 1) - before), up)
        down = where(wide, _least(down, before), down)
    most, least = largest(up), largest(down)
    total, w = zero, one
    for t in range(most):
        inside = whole(t) < up
        if not ratios.flat:
            for i in range(start, middle):
                w = w * _lowered(y, ratios, row, entries[i], t, sizes[i], stride)
            for i in range(middle, end):
                w = w * _raised(y, ratios, row, entries[i], t, sizes[i], stride, inside)
        w = where(inside, _least(w, real(TOP)), zero)
        give(p, (WINDOW + t + 1) * LANES, w)
        total = total + w
    w = one
    for t in range(least):
        inside = whole(t) < down
        if not ratios.flat:
            for i in range(start, middle):
                w = w * _raised(y, ratios, row, entries[i], t, sizes[i], stride, inside)
            for i in range(middle, end):
                w = w * _lowered(y, ratios, row, entries[i], t, sizes[i], stride)
        w = where(inside, _least(w, real(TOP)), zero)
        give(p, (WINDOW - t - 1) * LANES, w)
        total = total + w
    dice = uniform(seeds) * real(4.0)
    away = dice < real(AWAY)
    stay = where(away, zero, one)
    give(p, WINDOW * LANES, stay)
    left = where(away, dice / real(AWAY), dice - real(AWAY)) * (total + stay)
    passed, weight, rest, far = zero, zero, zero, none
    for t in range(WINDOW - least, WINDOW + most + 1):
        w = take(p, t * LANES)
        here = (passed <= left) & (left < passed + w)
        weight, rest = where(here, w, weight), where(here, left - passed, rest)
        far = where(here, whole(t - WINDOW), far)
        passed = passed + w
    # what is left of a random number, over the weight it fell on, is a random number again
    refused = away & (total * weight <= rest * (total + one - weight))
    far = where(refused, none, far)
    moved = how_many(far != none)
    if moved:
        for i in range(start, middle):
            place = entries[i] * LANES
            give(y, place, take(y, place) - far * whole(sizes[i] * stride))
        for i in range(middle, end):
            place = entries[i] * LANES
            give(y, place, take(y, place) + far * whole(sizes[i] * stride))
    return int(moved)


@njit(cache=True, nogil=True)
def _power(ratios: Ratios, rng: Any) -> int:
    if ratios.doublings == 0:
        return 0
    return int(rng.random() * (ratios.doublings + 1))


@njit(cache=True, nogil=True)
def _shuffle(order: Any, rng: Any) -> None:
    for i in range(order.size - 1, 0, -1):
        j = int(rng.random() * (i + 1))
        order[i], order[j] = order[j], order[i]


@njit(cache=True, nogil=True)
def lift(y: Any, lane: Lane, at: int, x: Ints) -> None:
    """The state of a lane, as counts."""
    for e in range(x.size):
        x[e] = y[e * LANES + at] + lane.low[e]


@njit(cache=True, nogil=True)
def lay(y: Any, lane: Lane, at: int, x: Ints) -> None:
    """Counts as the state of a lane."""
    for e in range(x.size):
        y[e * LANES + at] = x[e] - lane.low[e]
    for k in range(lane.under.size):
        y[(x.size + k) * LANES + at] = lane.caps[k] - x[lane.under[k]]


@njit(cache=True, nogil=True)
def _show(y: Any, lane: Lane, wanted: Ints, out: Any) -> None:
    for i in range(wanted.size):
        for at in range(LANES):
            out[at, i] = y[wanted[i] * LANES + at] + lane.low[wanted[i]]


@njit(cache=True, nogil=True)
def run_bundle(
    space: Space, lane: Lane, paths: Paths, ratios: Ratios, fills: Fills, y: Any, order: Any,
    at: Ints, wanted: Ints, slides: int, refills: float, rng: Any, seeds: Any, out: Any,
    tally: Ints,
) -> None:  # fmt: skip
    """out[row, lane] are the wanted columns after so many slides and, on average, fills each.

    Moves take turns in an `order` that is shuffled after each round, at[0] the next, at[1] the
    next lane to be filled. `tally` is as in `chains.run_moves`.
    """
    relations = fills.net.starts.size - 1
    queue, queued = np.empty(relations + 1, np.int64), np.zeros(relations, np.bool_)
    ends = np.zeros(2, np.int64)
    low = np.empty((4, fills.low.size), np.int64)
    high = np.empty_like(low)
    x, new = np.empty(lane.low.size, np.int64), np.empty(lane.low.size, np.int64)
    surprise, q = np.zeros(fills.gains.shape[2]), np.empty(max(WINDOW, space.logs.shape[1]))
    p, ways = np.empty((2 * WINDOW + 1) * LANES), fills.held.size
    for row in range(out.shape[0]):
        for _ in range(slides):
            if at[0] == order.size:
                at[0] = 0
                _shuffle(order, rng)
            m = order[at[0]]
            at[0] += 1
            tally[1] += slide_all(
                y, paths.entries, paths.sizes, paths.starts[m], paths.middles[m],
                paths.starts[m + 1], paths.unit[m], _power(ratios, rng), ratios, seeds, p,
            )  # fmt: skip
        tries = int(refills * LANES + rng.random())
        tally[2] += tries
        for _ in range(tries):
            way = 0
            if ways > 1 and rng.random() < 0.75:
                way = 1 + int(rng.random() * (ways - 1))
            lift(y, lane, at[1], x)
            if _refill(fills, space, way, x, new, low, high, surprise, queue, queued, ends, rng, q):
                lay(y, lane, at[1], x)
                tally[3] += 1
            at[1] = (at[1] + 1) % LANES
        _show(y, lane, wanted, out[row])
    tally[0] += out.shape[0] * slides * LANES


@njit(cache=True, nogil=True)
def run_edge_bundle(
    lane: Lane, edges: Edges, ratios: Ratios, y: Any, wanted: Ints, slides: int, rng: Any,
    seeds: Any, out: Any, tally: Ints,
) -> None:  # fmt: skip
    """The same along the separators of a decomposable release, each move made when it is tried."""
    entries, sizes = np.empty(4, np.int64), np.ones(4, np.int64)
    p, columns = np.empty((2 * WINDOW + 1) * LANES), lane.low.size
    for row in range(out.shape[0]):
        for _ in range(slides):
            e = int(rng.random() * edges.shift.size)
            i = int(rng.random() * columns)
            g = edges.group[e, i]
            first, end = edges.bounds[e, g], edges.bounds[e, g + 1]
            j = edges.members[e, first + int(rng.random() * (end - first))]
            if i == j:
                continue
            entries[0], entries[1], size = i, j, 2
            if not edges.shift[e]:
                size = 4
                entries[2] = edges.place[edges.side[e, i] + edges.rest[e, j]]
                entries[3] = edges.place[edges.side[e, j] + edges.rest[e, i]]
                if entries[2] < 0 or entries[3] < 0 or entries[2] == i or entries[2] == j:
                    continue
            tally[1] += slide_all(
                y, entries, sizes, 0, size // 2, size, True, _power(ratios, rng), ratios, seeds, p
            )
        _show(y, lane, wanted, out[row])
    tally[0] += out.shape[0] * slides * LANES
