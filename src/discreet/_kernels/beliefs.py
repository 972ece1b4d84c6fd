"""Belief propagation on links between released and source records.

The Bethe approximation of the permanent (Huang & Jebara 2009; Vontobel 2013): a record tells each
candidate how much is left to it by all other candidates, until nothing changes.
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import Any, NamedTuple

import numpy as np
from numba import njit, prange

from discreet._kernels.parallel import alone
from discreet._kernels.tiers import tiered, twin_of

TINY = 1e-280
STILL = 1e-7  # relative change that tells nothing new
OFTEN, SELDOM = 30, 10  # rounds in which sums over whole groups are taken afresh
STEP = 5.0  # of a logarithm


@njit(cache=True, nogil=True)
def _tell_one(
    k: Any, side: Any, w: Any, heard: Any, rest: Any, told: Any, total: Any, p: Any, wake: Any
) -> float:
    """`_tell` for the ways of one record; how far its shares moved."""
    starts, edges, ends, copies = side
    begin, end = starts[k], starts[k + 1]
    if begin == end:  # most of a source that is much larger than the release
        total[k] = rest[k]
        return 0.0
    ones, others = np.empty(end - begin), np.empty(end - begin)
    before = rest[k]
    for place in range(begin, end):
        e = edges[place] if edges.size else place
        one, ways = w[e] * heard[e], copies[ends[e]]
        ones[place - begin] = one
        others[place - begin] = before + (ways - 1) * one
        before += ways * one
    total[k] = before
    after, most = 0.0, 0.0
    for place in range(end - 1, begin - 1, -1):
        e = edges[place] if edges.size else place
        one = ones[place - begin]
        new = 1 / max(others[place - begin] + after, TINY)
        if abs(new - told[e]) > STILL * new:
            wake[ends[e]] = True
        told[e] = new
        after += copies[ends[e]] * one
        share = one / max(before, TINY)
        most = max(most, abs(share - p[e]))
        p[e] = share
    return most


def _tell_steps(first: int, end: int, side: Any, w: Any, *given: Any) -> int:
    """Whole arrays of edges, and a row for each record."""
    edges = int(side[0][end] - side[0][first])
    return 400 + edges // 10 + 5 * (end - first)


@tiered(_tell_steps)
@njit(cache=True, nogil=True, parallel=True)
def _tell(
    first: int, end: int, side: Any, w: Any, heard: Any, rest: Any, told: Any, total: Any, p: Any,
    last: Any, awake: Any, wake: Any, moved: Any,
) -> None:  # fmt: skip
    """told[e] = 1 / (rest + weights of all other ways at the record times what they `heard`).

    A way is one copy of the record at the far end. `total` of all ways of a record; p becomes each
    way's share of it, and how far it moved is noted. A record that heard nothing new sleeps.
    """
    for k in prange(first, end):
        moved[k] = 0.0
        if awake[k] or not abs(rest[k] - last[k]) <= STILL * total[k]:
            awake[k], last[k] = False, rest[k]
            moved[k] = _tell_one(np.int64(k), side, w, heard, rest, told, total, p, wake)


@twin_of(_tell.kernel)
def _tell_all(
    first: int, end: int, side: Any, w: Any, heard: Any, rest: Any, told: Any, total: Any, p: Any,
    last: Any, awake: Any, wake: Any, moved: Any,
) -> None:  # fmt: skip
    """The same steps on whole arrays, a row for each record."""
    starts, edges, ends, copies = side
    span = slice(first, end)
    moved[span] = 0.0
    new_rest = ~(abs(rest[span] - last[span]) <= STILL * total[span])
    rows = first + np.flatnonzero(awake[span] | new_rest)
    awake[rows], last[rows] = False, rest[rows]
    length = starts[rows + 1] - starts[rows]
    place = np.arange(length.max(initial=0))
    there = place < length[:, None]
    e = np.where(there, starts[rows][:, None] + place, 0)
    e = edges[e] if edges.size else e
    one, ways = w[e] * heard[e], copies[ends[e]]
    added = np.where(there, ways * one, 0.0)
    before = np.add.accumulate(np.column_stack([rest[rows], added]), axis=1)
    total[rows] = before[:, -1]
    none = np.zeros(len(rows))
    after = np.add.accumulate(np.column_stack([none, added[:, ::-1]]), axis=1)[:, -2::-1]
    new = 1 / np.maximum(before[:, :-1] + (ways - 1) * one + after, TINY)
    wake[ends[e[there & (abs(new - told[e]) > STILL * new)]]] = True
    share = one / np.maximum(before[:, -1:], TINY)
    moved[rows] = np.where(there, abs(share - p[e]), 0.0).max(1, initial=0.0)
    told[e[there]], p[e[there]] = new[there], share[there]


@tiered(lambda group, copies, spare, total, null: 10 * total.size)
@njit(cache=True, nogil=True)
def _level(group: Any, copies: Any, spare: Any, total: Any, null: Any) -> None:
    """One Newton step of each group's null weight: so many sources are spare.

    sum_j null / total_j = sources - records
    """
    excess, slope = np.zeros(spare.size), np.zeros(spare.size)
    for g in range(spare.size):
        excess[g] = -spare[g]
    for k in range(total.size):
        g = group[k]
        if g >= 0 and total[k] > 0:
            share = min(null[g] / total[k], 1.0)
            excess[g] += copies[k] * share
            slope[g] += copies[k] * share * (1 - share)
    for g in range(spare.size):
        if null[g] > 0 and slope[g] > 0:
            step = max(-STEP, min(STEP, excess[g] / slope[g]))
            null[g] = max(null[g] * math.exp(-step), TINY)


def _in_order(values: Any) -> float:
    """A sum from the first to the last, as a loop takes it."""
    return float(np.add.accumulate(values)[-1]) if values.size else 0.0


def _mean(values: Any, total: Any, copies: Any) -> float:
    """Of values / total over so many copies."""
    each = copies * values / np.maximum(total, TINY)
    return _in_order(np.where(values > 0, each, 0.0)) / int(copies.sum())


class Side(NamedTuple):
    """Released or source records: where the edges of each start, the edges (none if they are in
    this order already), the record at the far end of each edge, and how many copies there are of
    the records at the far end.
    """

    starts: Any
    edges: Any
    ends: Any
    copies: Any


class Space(NamedTuple):
    """Arrays for every edge (beliefs, messages to sources and to released records), the records of
    either side that are worked on at a time, and what is done after each block and each round.
    """

    p: Any
    to_source: Any
    to_released: Any
    blocks: tuple[list[tuple[int, int]], list[tuple[int, int]]]
    after: Callable[[], None]
    turned: Callable[[], None]


@alone  # `_tell` is parallel
def propagated(
    released: Side, sources: Side, groups: Any, copies: Any, w: Any, outside: Any, each: float,
    strangers: float, close: float, rounds: int, space: Space,
) -> Any:  # fmt: skip
    """Beliefs and messages of all edges, into `space`; and what is said of records.

    `groups`: that of each source, and by how many its sources outnumber its records. What is
    `outside` belongs to any of the sources. The strangers are one more source of so many copies,
    with the weight `each` for every record.
    """
    many, others = released.starts.size - 1, sources.starts.size - 1
    p, to_source, to_released, blocks, done, turned = space
    group, spare = groups
    level = np.where(spare <= 0, 0.0, 1.0)
    null, rest, ones = np.ones(others + 1), outside.copy(), np.ones(others)
    total = (np.ones(many), np.ones(others + 1))
    to_strangers, to_record = np.ones(many), np.ones(many)
    last, moved = ([np.zeros(many), np.zeros(others)] for _ in range(2))
    awake = (np.ones(many, np.bool_), np.ones(others, np.bool_))
    known, everyone = int(copies[1][:others].sum()), int(copies[0].sum())
    change, back, turn, afresh = 0.0, 1.0, 0, True
    for turn in range(rounds + 1):
        more = rest + strangers * each * to_record
        for first, end in blocks[0]:
            _tell(
                first, end, released, w, to_released, more, to_source, total[0], p, last[0],
                awake[0], awake[1], moved[0],
            )  # fmt: skip
            done()
        turned()
        change = float(np.fmax.reduce(moved[0], initial=0.0))
        quiet = afresh and not awake[1].any()  # beliefs may rest while messages still move
        if turn == rounds or (quiet and max(change, back) < close):
            break
        afresh = turn < OFTEN or turn % SELDOM == 0
        if afresh:
            taken = _mean(outside, total[0], copies[0]) * everyone / known
            null = np.where(group >= 0, level[group], 1.0)
            null[:others] += taken
        for first, end in blocks[1]:
            _tell(
                first, end, sources, w, to_source, null, to_released, total[1], p, last[1],
                awake[1], awake[0], moved[1],
            )  # fmt: skip
            done()
        back = float(np.fmax.reduce(moved[1], initial=0.0))
        if strangers > 0:
            to_strangers = 1 / np.maximum(total[0] - each * to_record, TINY)
            held = _in_order(copies[0] * each * to_strangers)
            total[1][others] = null[others] + held
            left = null[others] + np.maximum(held - each * to_strangers, 0.0)
            to_record = 1 / np.maximum(left, TINY)
        if afresh:
            rest = outside * _mean(ones, total[1][:others], copies[1][:others])
        if afresh and turn > 0:
            _level(group, copies[1], spare, total[1], level)
    return (to_strangers, to_record), total, null, rest, turn, max(change, back)


def _scale_steps(first: int, end: int, side: Any, *given: Any) -> int:
    return int(side[0][end] - side[0][first])


@tiered(_scale_steps)
@njit(cache=True, nogil=True, parallel=True)
def _scale(first: int, end: int, side: Any, w: Any, own: Any, other: Any, rest: Any) -> None:
    """own[k] = 1 / (rest[k] + sum of weights at k times `other` at the far end)."""
    starts, edges, ends, copies = side
    for k in prange(first, end):
        total = rest[k]
        for place in range(starts[k], starts[k + 1]):
            e = edges[place] if edges.size else place
            total += copies[ends[e]] * w[e] * other[ends[e]]
        own[k] = 1 / max(total, TINY)


@alone  # `_scale` is parallel
def entangled(
    released: Side, sources: Side, w: Any, total: Any, null: Any, rest: Any, rounds: int, q: Any,
    space: Space,
) -> None:  # fmt: skip
    """Weights balanced to sums of 1 (Sinkhorn & Knopp 1967), starting from beliefs; into q.

    Beliefs hold a pair of look-alikes for settled, one way or the other; balanced weights show
    that it is not.
    """
    alpha, beta = (1 / np.maximum(side, TINY) for side in (total[0], total[1][: null.size - 1]))
    for _ in range(rounds):
        for first, end in space.blocks[1]:
            _scale(first, end, sources, w, beta, alpha, null)
            space.after()
        for first, end in space.blocks[0]:
            _scale(first, end, released, w, alpha, beta, rest)
            space.after()
    starts = released.starts
    for first, end in space.blocks[0]:
        span = slice(starts[first], starts[end])
        own = np.repeat(alpha[first:end], np.diff(starts[first : end + 1]))
        q[span] = w[span] * own * beta[released.ends[span]]
        space.after()
