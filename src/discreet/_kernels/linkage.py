"""Links between released and source records: permanents, balancing, clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

from discreet._kernels.parallel import alone

SLIGHT = 1e-3  # a balanced weight that entangles nobody


@njit(cache=True, nogil=True)
def balanced(weights: Any, null: Any, outside: Any, rounds: int) -> Any:
    """Scale rows (with their null) and columns (with their outside) in place, towards sums of 1."""
    rows, columns = weights.shape
    for _ in range(rounds):
        for i in range(columns):
            total = outside[i]
            for j in range(rows):
                total += weights[j, i]
            if total > 0:
                outside[i] /= total
                for j in range(rows):
                    weights[j, i] /= total
        for j in range(rows):
            total = null[j]
            for i in range(columns):
                total += weights[j, i]
            null[j] /= total
            for i in range(columns):
                weights[j, i] /= total


@njit(cache=True, nogil=True)
def _elsewhere(outside: Any, strange: Any, strangers: float) -> Any:
    """Ways in which no row holds a set of records, for every set.

    Strangers hold k of them in strangers (strangers - 1) ... (strangers - k + 1) ways, and the
    others are held with replacement. `strange` is the weight of all strangers together.
    """
    full = 1 << outside.size
    ways, fewer, held = np.zeros(full), np.zeros(full), np.zeros(full)
    orders = 1.0
    for k in range(outside.size + 1):
        held[0] = 1.0 if k == 0 else 0.0
        for taken in range(1, full):
            low = 0
            while not (taken >> low) & 1:
                low += 1
            rest = taken ^ (1 << low)
            held[taken] = held[rest] * outside[low] + fewer[rest] * strange[low]
        ways += orders * held
        if strangers <= k:
            break
        orders *= 1 - k / strangers
        fewer, held = held, fewer
    return ways


@njit(cache=True, nogil=True)
def permanent_links(weights: Any, null: Any, outside: Any, strange: Any, strangers: float) -> Any:
    """Link probabilities by dynamic programming over sets of released records, and the permanent.

    before[j, S]: ways in which rows 0..j-1 and all who are no row take S; after[S]: rows j+1..
    take S.
    """
    rows, columns = weights.shape
    full = 1 << columns
    before = np.zeros((rows + 1, full))
    before[0] = _elsewhere(outside, strange, strangers)
    for j in range(rows):
        for taken in range(full):
            value = before[j, taken] * null[j]
            for i in range(columns):
                if (taken >> i) & 1:
                    value += before[j, taken ^ (1 << i)] * weights[j, i]
            before[j + 1, taken] = value
    whole = before[rows, full - 1]
    links = np.zeros((rows, columns))
    after, next_after = np.zeros(full), np.zeros(full)
    after[0] = 1.0
    for j in range(rows - 1, -1, -1):
        for i in range(columns):
            if weights[j, i] > 0 and whole > 0:
                rest = (full - 1) ^ (1 << i)
                value, taken = 0.0, rest
                while True:  # every subset of the rest
                    value += before[j, taken] * after[rest ^ taken]
                    if taken == 0:
                        break
                    taken = (taken - 1) & rest
                links[j, i] = weights[j, i] * value / whole
        for taken in range(full):
            value = after[taken] * null[j]
            for i in range(columns):
                if (taken >> i) & 1:
                    value += after[taken ^ (1 << i)] * weights[j, i]
            next_after[taken] = value
        after, next_after = next_after, after
    return links, whole


@njit(cache=True, nogil=True, parallel=True)
def _scale(
    starts: Any, edges: Any, ends: Any, w: Any, times: Any, own: Any, other: Any, rest: Any
) -> Any:  # fmt: skip
    """own[k] = 1 / (rest[k] + sum of weights at k times `other` at the far end); worst error."""
    moved = np.zeros(starts.size - 1)
    for k in prange(starts.size - 1):
        total = rest[k]
        for place in range(starts[k], starts[k + 1]):
            e = edges[place]
            total += times[e] * w[e] * other[ends[e]]
        if total > 0:
            moved[k] = abs(1 - own[k] * total)
            own[k] = 1 / total
    return moved.max()


@alone  # `_scale` is parallel
@njit(cache=True, nogil=True)
def sinkhorn(
    released: Any, sources: Any, times: Any, w: Any, outside: Any, each: float, strangers: float,
    close: float, rounds: int,
) -> Any:  # fmt: skip
    """Weights scaled until rows with their null and columns with their outside sum to 1.

    `released` and `sources` hold, of each side: where the edges of a record start, the edges, the
    record at the far end of each edge, and how many copies of that record there are. The strangers
    are one more row of so many copies, with the weight `each`. Returns the weights, those of one
    stranger, and how many strangers hold no record.
    """
    alpha, beta = np.ones(released[0].size - 1), np.ones(sources[0].size - 1)
    ones = np.ones(beta.size)
    change, turn, free = 0.0, 0, strangers
    rest = outside + each * free
    for turn in range(rounds):
        change = _scale(released[0], released[1], released[2], w, released[3], alpha, beta, rest)
        _scale(sources[0], sources[1], sources[2], w, sources[3], beta, alpha, ones)
        free = strangers / (1 + each * (times * alpha).sum())
        rest = outside + each * free
        if change < close and turn > 0:
            break
    _scale(released[0], released[1], released[2], w, released[3], alpha, beta, rest)
    p = np.empty(w.size)
    for e in range(w.size):
        p[e] = w[e] * alpha[sources[2][e]] * beta[released[2][e]]
    return p, each * alpha, free, turn + 1, change


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
    which: Any, released: Any, sources: Any, copies: Any, p: Any, others: Any, columns: int,
    rows: int, out: Any,
) -> None:  # fmt: skip
    """Exact sums among the records most entangled with each of `which`, the others balanced.

    A source taken by a record outside the cluster is null to it, and a source outside the cluster
    is an outsider: both by the balanced weights p. `copies` of released and of source records.
    `others` are strangers: the weight of one, how many balanced weights leave free, what share of
    each record they are now believed to hold, which records most, and how many are now believed
    free.
    """
    stranger, spare, held, most_held, free = others
    everyone = max(free + (held * copies[0]).sum(), 1e-300)
    starts, _, place, _ = released
    source_starts, by_source, holder, _ = sources
    for turn in prange(which.size):
        i = which[turn]
        names, sums = np.empty(512, np.int64), np.empty(512)
        size = 0
        for e in range(starts[i], starts[i + 1]):
            if p[e] > SLIGHT:
                j = place[e]
                for k in range(source_starts[j], source_starts[j + 1]):
                    f = by_source[k]
                    if p[f] > SLIGHT and holder[f] != i:
                        size = _add(names, sums, size, holder[f], p[e] * p[f] * copies[1][j])
        for k in most_held:
            if k != i and held[i] * held[k] > SLIGHT * everyone:
                size = _add(names, sums, size, k, held[i] * held[k] / everyone)
        chosen = np.empty(columns, np.int64)
        taken = min(columns, copies[0][i])
        chosen[:taken] = i
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
                if p[e] > SLIGHT:
                    size = _add(names, sums, size, place[e], p[e])
        order = np.argsort(-sums[:size])
        members = np.empty(rows, np.int64)
        many = 0
        for k in range(size):
            j = names[order[k]]
            more = min(rows - many, copies[1][j])
            members[many : many + more] = j
            many += more
        weights, null, rest = np.zeros((many, taken)), np.ones(many), np.ones(taken)
        for c in range(taken):
            for e in range(starts[chosen[c]], starts[chosen[c] + 1]):
                for r in range(many):
                    if members[r] == place[e]:
                        weights[r, c] = p[e]
                        null[r] -= p[e]
                        rest[c] -= p[e]
        null, rest = np.maximum(null, 0.0), np.maximum(rest, 0.0)
        own, strangers = rest[0], free + held[chosen].sum()
        strange = stranger[chosen]
        rest = np.maximum(rest - spare * strange, 0.0)
        links, whole = permanent_links(weights, null, rest, strangers * strange, strangers)
        left = 1 - links[:, 0].sum()
        for e in range(starts[i], starts[i + 1]):
            out[e] = p[e]
            if whole > 0:
                out[e] = min(p[e] * max(0.0, left) / max(own, p[e], 1e-300), 1.0)
                for r in range(many):
                    if members[r] == place[e]:
                        out[e] = links[r, 0]
                        break
