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
STILL = 1e-7  # relative change that tells nothing new
OFTEN, SELDOM = 30, 10  # rounds in which sums over whole groups are taken afresh
STEP = 5.0  # of a logarithm


@njit(cache=True, nogil=True, parallel=True)
def _tell(
    side: Any, w: Any, heard: Any, rest: Any, told: Any, total: Any, p: Any, last: Any, awake: Any,
    wake: Any, scratch: Any,
) -> Any:  # fmt: skip
    """told[e] = 1 / (rest + weights of all other ways at the record times what they `heard`).

    A way is one copy of the record at the far end. `total` of all ways of a record; p becomes each
    way's share of it, and how far it moved is returned. A record that heard nothing new sleeps.
    """
    starts, edges, ends, ways = side
    moved = np.zeros(starts.size - 1)
    for k in prange(starts.size - 1):
        if not awake[k] and abs(rest[k] - last[k]) <= STILL * total[k]:
            continue
        awake[k], last[k] = False, rest[k]
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
        moved[k] = most
    return moved.max()


@njit(cache=True, nogil=True)
def _level(group: Any, copies: Any, spare: Any, total: Any, null: Any) -> None:
    """One Newton step of each group's null weight: so many sources are spare.

    sum_j null / total_j = sources - records
    """
    excess, slope = -spare, np.zeros(spare.size)
    for k in range(total.size):
        g = group[k]
        if g >= 0 and total[k] > 0:
            share = min(null[g] / total[k], 1.0)
            excess[g] += copies[k] * share
            slope[g] += copies[k] * share * (1 - share)
    for g in range(spare.size):
        if null[g] > 0 and slope[g] > 0:
            step = max(-STEP, min(STEP, excess[g] / slope[g]))
            null[g] = max(null[g] * np.exp(-step), TINY)


@njit(cache=True, nogil=True)
def _mean(values: Any, total: Any, copies: Any) -> float:
    """Of values / total over so many copies."""
    whole = 0.0
    for k in range(total.size):
        if values[k] > 0:
            whole += copies[k] * values[k] / max(total[k], TINY)
    return float(whole / copies[: total.size].sum())


@alone  # `_tell` is parallel
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
    level[spare <= 0] = 0.0
    null, rest, ones = np.ones(others + 1), outside.copy(), np.ones(others)
    total = (np.ones(many), np.ones(others + 1))
    to_source, to_released, p = np.ones(w.size), np.ones(w.size), np.zeros(w.size)
    to_strangers, to_record = np.ones(many), np.ones(many)
    last, scratch = (np.zeros(many), np.zeros(others)), np.empty(w.size)
    awake = (np.ones(many, np.bool_), np.ones(others, np.bool_))
    known = copies[1][:others].sum()
    change, back, turn, afresh = 0.0, 1.0, 0, True
    for turn in range(rounds + 1):
        change = _tell(
            released, w, to_released, rest + strangers * each * to_record, to_source, total[0], p,
            last[0], awake[0], awake[1], scratch,
        )  # fmt: skip
        quiet = afresh and not awake[1].any()  # beliefs may rest while messages still move
        if turn == rounds or (quiet and max(change, back) < close):
            break
        afresh = turn < OFTEN or turn % SELDOM == 0
        if afresh:
            taken = _mean(outside, total[0], copies[0]) * copies[0].sum() / known
            for k in range(others + 1):
                null[k] = level[group[k]] if group[k] >= 0 else 1.0
                if k < others:
                    null[k] += taken
        back = _tell(
            sources, w, to_source, null[:others], to_released, total[1][:others], p, last[1],
            awake[1], awake[0], scratch,
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
        if afresh:
            rest = outside * _mean(ones, total[1][:others], copies[1])
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


@alone  # `_scale` is parallel
@njit(cache=True, nogil=True)
def entangled(
    released: Any, sources: Any, w: Any, total: Any, null: Any, rest: Any, rounds: int
) -> Any:  # fmt: skip
    """Weights balanced to sums of 1 (Sinkhorn & Knopp 1967), starting from beliefs.

    Beliefs hold a pair of look-alikes for settled, one way or the other; balanced weights show
    that it is not.
    """
    alpha, beta = 1 / np.maximum(total[0], TINY), 1 / np.maximum(total[1][: null.size - 1], TINY)
    for _ in range(rounds):
        _scale(sources[0], sources[1], sources[2], w, sources[3], beta, alpha, null)
        _scale(released[0], released[1], released[2], w, released[3], alpha, beta, rest)
    q = np.empty(w.size)
    for e in range(w.size):
        q[e] = w[e] * alpha[sources[2][e]] * beta[released[2][e]]
    return q


@njit(cache=True, inline="always")
def _add(names: Any, sums: Any, size: int, name: int, value: float) -> Any:
    for k in range(size):
        if names[k] == name:
            sums[k] += value
            return size
    if size < names.size:
        names[size], sums[size] = name, value
        return size + 1
    return size


@alone
@njit(cache=True, nogil=True, parallel=True)
def clustered(
    which: Any, released: Any, sources: Any, copies: Any, w: Any, p: Any, q: Any, told: Any,
    total: Any, null: Any, strange: Any, columns: int, rows: int, out: Any,
) -> None:  # fmt: skip
    """Exact sums among the records most entangled with each of `which`.

    A source that is told of a record outside the cluster is null to it, and a source outside the
    cluster is an outsider: both by the messages, which leave out what the cluster has told them.
    q tells who is entangled. `strange`: the weight and number of strangers, what is told to and by
    them, which records they most probably hold.
    """
    each, strangers, to_strangers, to_record, most_held = strange
    starts, _, place, _ = released
    source_starts, by_source, holder, _ = sources
    for turn in prange(which.size):
        i = which[turn]
        names, sums = np.empty(512, np.int64), np.empty(512)
        chosen = np.empty(columns, np.int64)
        taken, seen = min(columns, copies[0][i]), 0
        chosen[:taken] = i
        held = each * to_record[i] / total[0][i]
        while seen < taken < columns:  # neighbours, then their neighbours
            size = 0
            for c in range(seen, taken):
                if c > seen and chosen[c] == chosen[c - 1]:
                    continue
                for e in range(starts[chosen[c]], starts[chosen[c] + 1]):
                    if q[e] > SLIGHT:
                        j = place[e]
                        for k in range(source_starts[j], source_starts[j + 1]):
                            f = by_source[k]
                            if q[f] > SLIGHT and not (chosen[:taken] == holder[f]).any():
                                both = q[e] * q[f] * copies[1][j]
                                size = _add(names, sums, size, holder[f], both)
            if seen == 0:
                for k in most_held:
                    both = strangers * held * each * to_record[k] / total[0][k]
                    if k != i and both > SLIGHT:
                        size = _add(names, sums, size, k, both)
            seen = taken
            order = np.argsort(-sums[:size])
            for k in range(size):
                other = names[order[k]]
                more = min(columns - taken, copies[0][other])
                chosen[taken : taken + more] = other
                taken += more
        chosen = chosen[:taken]

        size = 0
        for c in range(taken):
            for e in range(starts[chosen[c]], starts[chosen[c] + 1]):
                if q[e] > SLIGHT:
                    size = _add(names, sums, size, place[e], q[e])
        order = np.argsort(-sums[:size])
        members = np.empty(rows, np.int64)
        many = 0
        for k in range(size):
            j = names[order[k]]
            more = min(rows - many, copies[1][j])
            members[many : many + more] = j
            many += more
        weights, empty, rest = np.zeros((many, taken)), np.zeros(many), np.zeros(taken)
        for r in range(many):
            empty[r] = total[1][members[r]]
        alone, own = null[null.size - 1], 0.0
        if strangers > 0:
            alone = total[1][null.size - 1]
        for c in range(taken):
            rest[c] = total[0][chosen[c]] - strangers * each * to_record[chosen[c]]
            alone -= each * to_strangers[chosen[c]]
            for e in range(starts[chosen[c]], starts[chosen[c] + 1]):
                heard = 0.0
                for r in range(many):
                    if members[r] == place[e]:
                        weights[r, c] = w[e]
                        empty[r] -= w[e] * told[e]
                        heard += 1
                rest[c] -= heard * p[e] * total[0][chosen[c]]
        for r in range(many):
            empty[r] = max(empty[r], null[members[r]])
        rest = np.maximum(rest, 0.0)
        own = rest[0] / total[0][i] + strangers * held
        alone = max(alone, null[null.size - 1], TINY)
        for c in range(taken):
            rest[c] /= total[0][chosen[c]]
            weights[:, c] /= total[0][chosen[c]]
        weird = strangers * each / alone / total[0][chosen]
        whole_rest = rest + weird
        balanced(weights, empty, whole_rest, 4)
        for c in range(taken):
            scale = whole_rest[c] / max(rest[c] + weird[c], TINY)
            rest[c] *= scale
            weird[c] *= scale
        links, whole = one_column(weights, empty, rest, weird, strangers)
        left = 1 - links.sum() / max(whole, TINY)
        for e in range(starts[i], starts[i + 1]):
            out[e] = p[e]
            if whole > 0:
                out[e] = min(p[e] * max(0.0, left) / max(own, p[e], TINY), 1.0)
                for r in range(many):
                    if members[r] == place[e]:
                        out[e] = links[r] / whole
                        break
