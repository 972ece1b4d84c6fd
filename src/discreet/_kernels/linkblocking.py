"""Which source records a released record may come from, and how much they weigh."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit, prange


@njit(cache=True, nogil=True)
def kept_mass(types: Any, tables: Any, sizes: Any, codes: Any, least: float) -> float:
    """The probability that a masked combination has probability at least `least`; smallest over
    the rows of `codes`. tables[t, v, y, x] of a share types[t] of records; sizes[v] outcomes x.
    """
    count, variables = codes.shape
    smallest = 1.0
    at = np.zeros(variables + 1, np.int64)
    chance = np.zeros((variables + 1, types.size))
    chance[0] = types
    for c in range(count):
        total, depth = 0.0, 0
        at[0] = 0
        while depth >= 0:
            if depth == variables:
                total += chance[depth].sum()
                depth -= 1
                continue
            x = at[depth]
            if x >= sizes[depth]:
                depth -= 1
                continue
            at[depth] += 1
            value = 0.0
            for t in range(types.size):
                chance[depth + 1, t] = chance[depth, t] * tables[t, depth, codes[c, depth], x]
                value += chance[depth + 1, t]
            if value >= least:
                depth += 1
                at[depth] = 0
        smallest = min(smallest, total)
    return smallest


@njit(cache=True, nogil=True, parallel=True)
def near_combinations(
    types: Any, tables: Any, seen: Any, codes: Any, least: float, starts: Any, out: Any
) -> None:  # fmt: skip
    """Source combinations that may have been masked to each released one, with probabilities by
    type, in which the share of the type is a factor.

    With an empty `out` it only counts, into starts[1:].
    """
    places, chances = out
    fill = places.size > 0
    for r in prange(seen.shape[0]):
        found = 0
        part = np.empty(types.size)
        for c in range(codes.shape[0]):
            part[:] = types
            value = 1.0
            for v in range(codes.shape[1]):
                value = 0.0
                for t in range(types.size):
                    part[t] *= tables[t, v, codes[c, v], seen[r, v]]
                    value += part[t]
                if value < least or value == 0:
                    break
            if value >= least and value > 0:
                if fill:
                    places[starts[r] + found] = c
                    chances[starts[r] + found] = part
                found += 1
        if not fill:
            starts[r + 1] = found


@njit(cache=True, inline="always")
def _log_density(
    x: Any, y: Any, unknown: Any, heights: Any, precisions: Any, whitening: Any
) -> Any:  # fmt: skip
    """Of a masked record around a source record, and their squared distance in widest spreads.

    whitening[m]: lower triangular, makes noise independent if the numbers m (bits) are missing.
    """
    total, distance = 0.0, 0.0
    correlated, missing = whitening.shape[0] > 0, 0
    if correlated:
        for d in range(x.size):
            if math.isnan(x[d]) or math.isnan(y[d]):
                missing += 1 << d
    for d in range(x.size):
        if math.isnan(x[d]):
            continue
        if math.isnan(y[d]):
            total += unknown[d]
            continue
        away = x[d] - y[d]
        if correlated:
            total += math.log(whitening[missing, d, d])
            away *= whitening[missing, d, d]
            for k in range(d):
                if not (missing >> k) & 1:
                    away += whitening[missing, d, k] * (x[k] - y[k])
        square = away * away
        distance += square
        if heights.shape[1] == 1:
            total += heights[d, 0] - precisions[d, 0] * square / 2
        else:
            value = 0.0
            for m in range(heights.shape[1]):
                value += math.exp(heights[d, m] - precisions[d, m] * square / 2)
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


@njit(cache=True, nogil=True, parallel=True)
def candidates(
    x: Any, combination: Any, unknown: Any, near: Any, blocks: Any, y: Any, times: Any,
    radius: float, heights: Any, precisions: Any, whitening: Any, top: Any, who: Any,
    sizes: Any, dropped: Any,
) -> None:  # fmt: skip
    """The sources of largest weight for each released record, and the weight of the others.

    near: starts, places and chances by type of `near_combinations`. blocks: starts of strips of
    sources, one row a combination and a last strip for missing values, and the lowest edge and
    width of a strip; within a strip, sources are sorted by the second coordinate.
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
            c = places[k]
            for turn in range(first, end + 2):
                strip = last if turn == end + 1 else turn
                begin, finish = strips[c, strip], strips[c, strip + 1]
                sort = strip < last and dims > 1
                if sort and not math.isnan(x[i, 1]):
                    inside = y[begin:finish, 1]
                    finish = begin + np.searchsorted(inside, x[i, 1] + radius, side="right")
                    begin += np.searchsorted(inside, x[i, 1] - radius)
                for j in range(begin, finish):
                    value = 0.0
                    for t in range(heights.shape[0]):
                        total, distance = _log_density(
                            x[i], y[j], unknown[i], heights[t], precisions[t], whitening
                        )
                        if distance > radius * radius:
                            break
                        value += math.exp(total) * chances[k, t]
                    if value > 0:
                        size, out, name = _push(top[i], who[i], size, value, j)
                        lost += out * times[name]
        sizes[i], dropped[i] = size, lost


@njit(cache=True, nogil=True)
def log_weights(
    x: Any, seen: Any, unknown: Any, y: Any, codes: Any, types: Any, tables: Any, heights: Any,
    precisions: Any, whitening: Any,
) -> Any:  # fmt: skip
    """Log weight of one released record with every source record."""
    out = np.full(y.shape[0], -np.inf)
    for j in range(y.shape[0]):
        for t in range(types.size):
            chance = types[t]
            for v in range(codes.shape[1]):
                chance *= tables[t, v, codes[j, v], seen[v]]
            if chance > 0:
                total = _log_density(x, y[j], unknown, heights[t], precisions[t], whitening)[0]
                out[j] = np.logaddexp(out[j], total + math.log(chance))
    return out
