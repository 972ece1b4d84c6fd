"""Links between released and source records: permanents, balancing, clusters."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit, prange

SLIGHT = 1e-3  # a balanced weight that entangles nobody


@njit(cache=True)
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


@njit(cache=True)
def permanent_links(weights: Any, null: Any, outside: Any) -> Any:
    """Link probabilities by dynamic programming over sets of released records, and the permanent.

    before[j, S]: ways in which rows 0..j-1 and the outside take S; after[S]: rows j+1.. take S.
    """
    rows, columns = weights.shape
    full = 1 << columns
    before = np.zeros((rows + 1, full))
    before[0, 0] = 1.0
    for taken in range(1, full):
        low = 0
        while not (taken >> low) & 1:
            low += 1
        before[0, taken] = before[0, taken ^ (1 << low)] * outside[low]
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


@njit(cache=True, parallel=True)
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


@njit(cache=True)
def sinkhorn(
    released: Any, sources: Any, w: Any, outside: Any, close: float, rounds: int
) -> Any:  # fmt: skip
    """Weights scaled until rows with their null and columns with their outside sum to 1.

    `released` and `sources` hold, of each side: where the edges of a record start, the edges, the
    record at the far end of each edge, and how many copies of that record there are.
    """
    alpha, beta = np.ones(released[0].size - 1), np.ones(sources[0].size - 1)
    ones = np.ones(beta.size)
    change, turn = 0.0, 0
    for turn in range(rounds):
        change = _scale(released[0], released[1], released[2], w, released[3], alpha, beta, outside)
        _scale(sources[0], sources[1], sources[2], w, sources[3], beta, alpha, ones)
        if change < close and turn > 0:
            break
    _scale(released[0], released[1], released[2], w, released[3], alpha, beta, outside)
    p = np.empty(w.size)
    for e in range(w.size):
        p[e] = w[e] * alpha[sources[2][e]] * beta[released[2][e]]
    return p, turn + 1, change


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


@njit(cache=True, parallel=True)
def clustered(
    which: Any, released: Any, sources: Any, copies: Any, p: Any, columns: int, rows: int, out: Any
) -> None:  # fmt: skip
    """Exact sums among the records most entangled with each of `which`, the others balanced.

    A source taken by a record outside the cluster is null to it, and a source outside the cluster
    is an outsider: both by the balanced weights p. `copies` of released and of source records.
    """
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
        links, whole = permanent_links(weights, null, rest)
        left = 1 - links[:, 0].sum()
        for e in range(starts[i], starts[i + 1]):
            out[e] = p[e]
            if whole > 0:
                out[e] = min(p[e] * max(0.0, left) / max(rest[0], p[e]), 1.0)
                for r in range(many):
                    if members[r] == place[e]:
                        out[e] = links[r, 0]
                        break
