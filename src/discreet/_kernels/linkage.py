"""Links between released and source records: permanents, balancing, candidates."""

from __future__ import annotations

import math
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


@njit(cache=True)
def kept_mass(tables: Any, sizes: Any, codes: Any, least: float) -> float:
    """The probability that a masked combination has probability at least `least`; smallest over
    the rows of `codes`. tables[v, y, x]; sizes[v] outcomes x.
    """
    count, variables = codes.shape
    smallest = 1.0
    at = np.zeros(variables + 1, np.int64)
    chance = np.ones(variables + 1)
    for c in range(count):
        total, depth = 0.0, 0
        at[0] = 0
        while depth >= 0:
            if depth == variables:
                total += chance[depth]
                depth -= 1
                continue
            x = at[depth]
            if x >= sizes[depth]:
                depth -= 1
                continue
            at[depth] += 1
            value = chance[depth] * tables[depth, codes[c, depth], x]
            if value >= least:
                depth += 1
                chance[depth] = value
                at[depth] = 0
        smallest = min(smallest, total)
    return smallest


@njit(cache=True, parallel=True)
def near_combinations(
    tables: Any, seen: Any, codes: Any, least: float, starts: Any, out: Any
) -> None:
    """Source combinations that may have been masked to each released one, with probabilities.

    With an empty `out` it only counts, into starts[1:].
    """
    places, chances = out
    fill = places.size > 0
    for r in prange(seen.shape[0]):
        found = 0
        for c in range(codes.shape[0]):
            value = 1.0
            for v in range(codes.shape[1]):
                value *= tables[v, codes[c, v], seen[r, v]]
                if value < least or value == 0:
                    break
            if value >= least and value > 0:
                if fill:
                    places[starts[r] + found] = c
                    chances[starts[r] + found] = value
                found += 1
        if not fill:
            starts[r + 1] = found


@njit(cache=True, inline="always")
def _log_density(x: Any, y: Any, unknown: Any, ratios: Any, shares: Any) -> Any:
    """Of a masked record around a source record, and their squared distance in widest spreads."""
    total, distance = 0.0, 0.0
    for d in range(x.size):
        if math.isnan(x[d]):
            continue
        if math.isnan(y[d]):
            total += unknown[d]
            continue
        square = (x[d] - y[d]) ** 2
        distance += square
        if ratios.shape[1] == 1:
            total -= square / 2
        else:
            value = 0.0
            for t in range(ratios.shape[1]):
                if shares[d, t] > 0:
                    s = ratios[d, t]
                    value += shares[d, t] / s * math.exp(-square / (2 * s * s))
            total += math.log(value) if value > 0 else -np.inf
    return total, distance


@njit(cache=True, inline="always")
def _push(heap: Any, who: Any, size: int, value: float, name: int) -> Any:
    """Into a heap with the smallest on top; its size, and the value and name that fall out."""
    if size == heap.size:
        if value <= heap[0]:
            return size, value, name
        lost, loser = heap[0], who[0]
        place = 0
        while True:
            child = 2 * place + 1
            if child >= size:
                break
            if child + 1 < size and heap[child + 1] < heap[child]:
                child += 1
            if heap[child] >= value:
                break
            heap[place], who[place] = heap[child], who[child]
            place = child
        heap[place], who[place] = value, name
        return size, lost, loser
    place = size
    while place > 0 and heap[(place - 1) // 2] > value:
        up = (place - 1) // 2
        heap[place], who[place] = heap[up], who[up]
        place = up
    heap[place], who[place] = value, name
    return size + 1, 0.0, name


@njit(cache=True, parallel=True)
def candidates(
    x: Any, combination: Any, unknown: Any, near: Any, blocks: Any, y: Any, times: Any,
    radius: float, ratios: Any, shares: Any, top: Any, who: Any, sizes: Any, dropped: Any,
) -> None:  # fmt: skip
    """The sources of largest weight for each released record, and the weight of the others.

    near: starts, places and chances of `near_combinations`. blocks: starts of strips of sources,
    one row a combination and a last strip for missing values, and the lowest edge and width of a
    strip; within a strip, sources are sorted by the second coordinate.
    """
    near_starts, places, chances = near
    strips, low, width = blocks
    last = strips.shape[1] - 2
    dims = x.shape[1]
    for i in prange(x.shape[0]):
        size, lost = 0, 0.0
        first, end = 0, last - 1
        anywhere = dims == 0 or math.isnan(x[i, 0])
        if not anywhere:
            first = int(max(0.0, min(last - 1.0, math.floor((x[i, 0] - radius - low) / width))))
            end = int(max(0.0, min(last - 1.0, math.floor((x[i, 0] + radius - low) / width))))
        for k in range(near_starts[combination[i]], near_starts[combination[i] + 1]):
            c, chance = places[k], chances[k]
            for turn in range(first, end + 2):
                strip = last if turn == end + 1 else turn
                begin, finish = strips[c, strip], strips[c, strip + 1]
                sort = strip < last and dims > 1
                if sort and not math.isnan(x[i, 1]):
                    inside = y[begin:finish, 1]
                    finish = begin + np.searchsorted(inside, x[i, 1] + radius, side="right")
                    begin += np.searchsorted(inside, x[i, 1] - radius)
                for j in range(begin, finish):
                    total, distance = _log_density(x[i], y[j], unknown[i], ratios, shares)
                    if distance > radius * radius:
                        continue
                    value = math.exp(total) * chance
                    if value > 0:
                        size, out, name = _push(top[i], who[i], size, value, j)
                        lost += out * times[name]
        sizes[i], dropped[i] = size, lost


@njit(cache=True)
def log_weights(
    x: Any, seen: Any, unknown: Any, y: Any, combination: Any, codes: Any, tables: Any,
    ratios: Any, shares: Any,
) -> Any:  # fmt: skip
    """Log weight of one released record with every source record."""
    chances = np.ones(codes.shape[0])
    for c in range(codes.shape[0]):
        for v in range(codes.shape[1]):
            chances[c] *= tables[v, codes[c, v], seen[v]]
    out = np.empty(y.shape[0])
    for j in range(y.shape[0]):
        chance = chances[combination[j]]
        out[j] = -np.inf
        if chance > 0:
            out[j] = _log_density(x, y[j], unknown, ratios, shares)[0] + math.log(chance)
    return out
