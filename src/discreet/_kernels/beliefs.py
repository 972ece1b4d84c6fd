"""Belief propagation on links between released and source records.

The Bethe approximation of the permanent (Huang & Jebara 2009; Vontobel 2013): a record tells each
candidate how much is left to it by all other candidates, until nothing changes.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange

from discreet._kernels.parallel import alone
from discreet._kernels.tiers import tiered, twin_of

TINY = 1e-280
STILL = 1e-7  # relative change that tells nothing new
OFTEN, SELDOM = 30, 10  # rounds in which sums over whole groups are taken afresh
STEP = 5.0  # of a logarithm
FEW_ROUNDS = 60  # mostly enough


@njit(cache=True, nogil=True)
def _tell_one(
    k: Any, side: Any, w: Any, heard: Any, rest: Any, told: Any, total: Any, p: Any, wake: Any,
    scratch: Any,
) -> float:  # fmt: skip
    """`_tell` for the ways of one record; how far its shares moved."""
    starts, edges, ends, ways = side
    before = rest[k]
    for place in range(starts[k], starts[k + 1]):
        e = edges[place]
        one = w[e] * heard[e]
        scratch[e] = before + (ways[e] - 1) * one
        before += ways[e] * one
    total[k] = before
    after, most = 0.0, 0.0
    for place in range(starts[k + 1] - 1, starts[k] - 1, -1):
        e = edges[place]
        one = w[e] * heard[e]
        new = 1 / max(scratch[e] + after, TINY)
        if abs(new - told[e]) > STILL * new:
            wake[ends[e]] = True
        told[e] = new
        after += ways[e] * one
        share = one / max(before, TINY)
        most = max(most, abs(share - p[e]))
        p[e] = share
    return most


@njit(cache=True, nogil=True, parallel=True)
def _tell(
    side: Any, w: Any, heard: Any, rest: Any, told: Any, total: Any, p: Any, last: Any, awake: Any,
    wake: Any, scratch: Any, moved: Any,
) -> None:  # fmt: skip
    """told[e] = 1 / (rest + weights of all other ways at the record times what they `heard`).

    A way is one copy of the record at the far end. `total` of all ways of a record; p becomes each
    way's share of it, and how far it moved is noted. A record that heard nothing new sleeps.
    """
    for k in prange(last.size):
        moved[k] = 0.0
        if awake[k] or not abs(rest[k] - last[k]) <= STILL * total[k]:
            awake[k], last[k] = False, rest[k]
            moved[k] = _tell_one(np.int64(k), side, w, heard, rest, told, total, p, wake, scratch)


@twin_of(_tell)
def _tell_all(
    side: Any, w: Any, heard: Any, rest: Any, told: Any, total: Any, p: Any, last: Any, awake: Any,
    wake: Any, scratch: Any, moved: Any,
) -> None:  # fmt: skip
    """The same steps on whole arrays, a row for each record."""
    starts, edges, ends, ways = side
    moved[:] = 0.0
    rows = np.flatnonzero(awake | ~(abs(rest - last) <= STILL * total))
    awake[rows], last[rows] = False, rest[rows]
    length = starts[rows + 1] - starts[rows]
    place = np.arange(length.max(initial=0))
    there = place < length[:, None]
    e = edges[np.where(there, starts[rows][:, None] + place, 0)]
    one = w[e] * heard[e]
    added = np.where(there, ways[e] * one, 0.0)
    before = np.add.accumulate(np.column_stack([rest[rows], added]), axis=1)
    total[rows] = before[:, -1]
    none = np.zeros(len(rows))
    after = np.add.accumulate(np.column_stack([none, added[:, ::-1]]), axis=1)[:, -2::-1]
    new = 1 / np.maximum(before[:, :-1] + (ways[e] - 1) * one + after, TINY)
    wake[ends[e[there & (abs(new - told[e]) > STILL * new)]]] = True
    share = one / np.maximum(before[:, -1:], TINY)
    moved[rows] = np.where(there, abs(share - p[e]), 0.0).max(1, initial=0.0)
    told[e[there]], p[e[there]] = new[there], share[there]


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


@njit(cache=True, nogil=True)
def _mean(values: Any, total: Any, copies: Any) -> float:
    """Of values / total over so many copies."""
    whole, many = 0.0, 0
    for k in range(total.size):
        many += copies[k]
        if values[k] > 0:
            whole += copies[k] * values[k] / max(total[k], TINY)
    return float(whole / many)


@njit(cache=True, nogil=True)
def _greatest(values: Any) -> float:
    """Of values that are at least 0."""
    most = 0.0
    for k in range(values.size):
        most = max(most, values[k])
    return most


def _message_steps(
    released: Any, sources: Any, groups: Any, copies: Any, w: Any, outside: Any, each: float,
    strangers: float, close: float, rounds: int,
) -> int:  # fmt: skip
    """Whole arrays of edges, and loops over records, in the rounds that a small file needs."""
    return int(FEW_ROUNDS * (400 + w.size / 10 + 5 * (sources[0].size + released[0].size)))


@alone  # `_tell` is parallel
@tiered(_message_steps)
@njit(cache=True, nogil=True)
def propagated(
    released: Any, sources: Any, groups: Any, copies: Any, w: Any, outside: Any, each: float,
    strangers: float, close: float, rounds: int,
) -> Any:  # fmt: skip
    """Beliefs p of all edges, and messages.

    `released` and `sources` hold, of each side: where the edges of a record start, the edges, the
    record at the far end of each edge, and how many copies of that record there are. `groups`: that
    of each source, and by how many its sources outnumber its records. What is `outside` belongs to
    any of the sources. The strangers are one more source of so many copies, with the weight `each`
    for every record.
    """
    many, others = released[0].size - 1, sources[0].size - 1
    group, spare = groups
    level = np.ones(spare.size)
    for g in range(spare.size):
        if spare[g] <= 0:
            level[g] = 0.0
    null, rest, ones = np.ones(others + 1), outside.copy(), np.ones(others)
    total = (np.ones(many), np.ones(others + 1))
    to_source, to_released, p = np.ones(w.size), np.ones(w.size), np.zeros(w.size)
    to_strangers, to_record, more = np.ones(many), np.ones(many), np.ones(many)
    last, scratch = (np.zeros(many), np.zeros(others)), np.empty(w.size)
    moved = (np.zeros(many), np.zeros(others))
    awake = (np.ones(many, np.bool_), np.ones(others, np.bool_))
    known, everyone = 0, 0
    for j in range(others):
        known += copies[1][j]
    for i in range(copies[0].size):
        everyone += copies[0][i]
    change, back, turn, afresh = 0.0, 1.0, 0, True
    for turn in range(rounds + 1):
        for i in range(many):
            more[i] = rest[i] + strangers * each * to_record[i]
        _tell(
            released, w, to_released, more, to_source, total[0], p, last[0], awake[0], awake[1],
            scratch, moved[0],
        )  # fmt: skip
        change = _greatest(moved[0])
        quiet = afresh  # beliefs may rest while messages still move
        for j in range(others):
            quiet = quiet and not awake[1][j]
        if turn == rounds or (quiet and max(change, back) < close):
            break
        afresh = turn < OFTEN or turn % SELDOM == 0
        if afresh:
            taken = _mean(outside, total[0], copies[0]) * everyone / known
            for k in range(others + 1):
                null[k] = level[group[k]] if group[k] >= 0 else 1.0
                if k < others:
                    null[k] += taken
        _tell(
            sources, w, to_source, null[:others], to_released, total[1][:others], p, last[1],
            awake[1], awake[0], scratch, moved[1],
        )  # fmt: skip
        back = _greatest(moved[1])
        if strangers > 0:
            held = 0.0
            for i in range(many):
                to_strangers[i] = 1 / max(total[0][i] - each * to_record[i], TINY)
                held += copies[0][i] * each * to_strangers[i]
            total[1][others] = null[others] + held
            for i in range(many):
                left = null[others] + max(held - each * to_strangers[i], 0.0)
                to_record[i] = 1 / max(left, TINY)
        if afresh:
            shown = _mean(ones, total[1][:others], copies[1])
            for i in range(many):
                rest[i] = outside[i] * shown
        if afresh and turn > 0:
            _level(group, copies[1], spare, total[1], level)
    return p, to_source, (to_strangers, to_record), total, null, rest, turn, max(change, back)


@njit(cache=True, nogil=True, parallel=True)
def _scale(
    starts: Any, edges: Any, ends: Any, w: Any, times: Any, own: Any, other: Any, rest: Any
) -> None:  # fmt: skip
    """own[k] = 1 / (rest[k] + sum of weights at k times `other` at the far end)."""
    for k in prange(starts.size - 1):
        total = rest[k]
        for place in range(starts[k], starts[k + 1]):
            e = edges[place]
            total += times[e] * w[e] * other[ends[e]]
        own[k] = 1 / max(total, TINY)


def _scale_steps(released: Any, sources: Any, w: Any, *given: Any) -> int:
    return int(2 * given[-1] * w.size)


@alone  # `_scale` is parallel
@tiered(_scale_steps)
@njit(cache=True, nogil=True)
def entangled(
    released: Any, sources: Any, w: Any, total: Any, null: Any, rest: Any, rounds: int
) -> Any:  # fmt: skip
    """Weights balanced to sums of 1 (Sinkhorn & Knopp 1967), starting from beliefs.

    Beliefs hold a pair of look-alikes for settled, one way or the other; balanced weights show
    that it is not.
    """
    alpha, beta = np.empty(total[0].size), np.empty(null.size - 1)
    for k in range(alpha.size):
        alpha[k] = 1 / max(total[0][k], TINY)
    for k in range(beta.size):
        beta[k] = 1 / max(total[1][k], TINY)
    for _ in range(rounds):
        _scale(sources[0], sources[1], sources[2], w, sources[3], beta, alpha, null)
        _scale(released[0], released[1], released[2], w, released[3], alpha, beta, rest)
    q = np.empty(w.size)
    for e in range(w.size):
        q[e] = w[e] * alpha[sources[2][e]] * beta[released[2][e]]
    return q
