"""Belief propagation on links between released and source records, and clusters within it.

The Bethe approximation of the permanent (Huang & Jebara 2009; Vontobel 2013): a record tells each
candidate how much is left to it by all other candidates, until nothing changes.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from discreet._kernels.linkage import balanced, one_column
from discreet._kernels.parallel import alone

SLIGHT = 1e-3  # a belief that entangles nobody
TINY = 1e-280
STEP = 5.0  # of a logarithm


@njit(cache=True, nogil=True, parallel=True)
def _tell(
    starts: Any, edges: Any, ways: Any, w: Any, heard: Any, rest: Any, told: Any, total: Any, p: Any
) -> Any:  # fmt: skip
    """told[e] = 1 / (rest + weights of all other ways at the record times what they `heard`).

    A way is one copy of the record at the far end. `total` of all ways of a record; p, where it is
    asked for, is each way's share of it. How far p moved.
    """
    moved = np.zeros(starts.size - 1)
    for k in prange(starts.size - 1):
        before = rest[k]
        for place in range(starts[k], starts[k + 1]):
            e = edges[place]
            one = w[e] * heard[e]
            told[e] = before + (ways[e] - 1) * one
            before += ways[e] * one
        total[k] = before
        after, most = 0.0, 0.0
        for place in range(starts[k + 1] - 1, starts[k] - 1, -1):
            e = edges[place]
            one = w[e] * heard[e]
            told[e] = 1 / max(told[e] + after, TINY)
            after += ways[e] * one
            if p.size:
                share = one / max(before, TINY)
                most = max(most, abs(share - p[e]))
                p[e] = share
        moved[k] = most
    return moved.max()


@njit(cache=True, nogil=True)
def _level(
    groups: Any, copies: Any, total: Any, null: Any, rest: Any, outside: Any, log: Any, spare: Any
) -> None:  # fmt: skip
    """One Newton step of each group's scale: as many sources are null as no record holds.

        sum_j null_j / total_j  =  sources - records + sum_i outside_i / total_i

    The scale divides the weight of null links and multiplies that of outsiders.
    """
    excess, slope = -spare, np.zeros(log.size)
    for side in range(2):
        other = null if side else rest
        for k in range(other.size):
            g = groups[side][k]
            if g >= 0 and total[side][k] > 0:
                share = min(other[k] / total[side][k], 1.0)
                excess[g] += copies[side][k] * (share if side else -share)
                slope[g] += copies[side][k] * share * (1 - share)
    for g in range(log.size):
        if log[g] < np.inf and slope[g] > 0:
            log[g] = min(log[g] + max(-STEP, min(STEP, excess[g] / slope[g])), 500.0)
    for k in range(null.size):
        null[k] = np.exp(-log[groups[1][k]]) if groups[1][k] >= 0 else 1.0
    for k in range(rest.size):
        rest[k] = outside[k] * np.exp(log[groups[0][k]]) if outside[k] > 0 else 0.0


@alone  # `_tell` is parallel
@njit(cache=True, nogil=True)
def propagated(
    released: Any, sources: Any, groups: Any, copies: Any, w: Any, outside: Any, each: float,
    strangers: float, spare: Any, close: float, rounds: int,
) -> Any:  # fmt: skip
    """Beliefs p of all edges, and messages.

    `released` and `sources` hold, of each side: where the edges of a record start, the edges, the
    record at the far end of each edge, and how many copies of that record there are. The strangers
    are one more source of so many copies, with the weight `each` for every record. `spare`: by how
    many the sources of a group outnumber its records; infinite scales where nobody is left over.
    """
    many, others = released[0].size - 1, sources[0].size - 1
    log = np.zeros(spare.size)
    for g in range(spare.size):
        log[g] = 0.0
    tight = np.ones(spare.size, np.bool_)
    for i in range(many):
        if outside[i] > 0:
            tight[groups[0][i]] = False
    for g in range(spare.size):
        if tight[g] and spare[g] <= 0:
            log[g] = np.inf
    null, rest, none = np.ones(others + 1), outside.copy(), np.empty(0)
    total = (np.ones(many), np.ones(others + 1))
    to_source, to_released, p = np.ones(w.size), np.ones(w.size), np.zeros(w.size)
    to_strangers, to_record = np.ones(many), np.ones(many)
    for k in range(others + 1):
        if groups[1][k] >= 0 and log[groups[1][k]] == np.inf:
            null[k] = 0.0
    change, turn = 0.0, 0
    for turn in range(rounds + 1):
        change = _tell(
            released[0], released[1], released[3], w, to_released,
            rest + strangers * each * to_record, to_source, total[0], p,
        )  # fmt: skip
        if turn == rounds or (change < close and turn > 1):
            break
        _tell(
            sources[0], sources[1], sources[3], w, to_source, null[:others], to_released,
            total[1][:others], none,
        )  # fmt: skip
        if strangers > 0:
            held = 0.0
            for i in range(many):
                to_strangers[i] = 1 / max(total[0][i] - each * to_record[i], TINY)
                held += copies[0][i] * each * to_strangers[i]
            total[1][others] = null[others] + held
            for i in range(many):
                left = null[others] + max(held - each * to_strangers[i], 0.0)
                to_record[i] = 1 / max(left, TINY)
        if turn > 0:
            _level(groups, copies, total, null, rest, outside, log, spare)
    return p, to_source, to_strangers, total, null, rest, turn, change
