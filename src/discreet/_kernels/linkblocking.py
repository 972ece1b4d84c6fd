"""Which source records a released record may come from, and how much they weigh."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.copies import put
from discreet._kernels.parallel import spread
from discreet._kernels.tiers import tiered


@njit(cache=True, nogil=True)
def kept_mass(types: Any, tables: Any, sizes: Any, codes: Any, parts: Any, least: float) -> float:
    """The probability that a masked combination has probability at least `least`; smallest over
    the rows of `codes`. tables[t, v, y, x] of a share types[t] of records; sizes[v] outcomes x.
    parts[c, e]: that label e stays, becomes any other, or is missing.
    """
    count, variables = codes.shape
    depths = variables + parts.shape[1]
    smallest = 1.0
    at = np.zeros(depths + 1, np.int64)
    chance = np.zeros((depths + 1, types.size))
    put(chance[0], types)
    for c in range(count):
        total, depth = 0.0, 0
        at[0] = 0
        while depth >= 0:
            if depth == depths:
                total += chance[depth].sum()
                depth -= 1
                continue
            x = at[depth]
            if x >= (sizes[depth] if depth < variables else 3):
                depth -= 1
                continue
            at[depth] += 1
            value = 0.0
            for t in range(types.size):
                if depth < variables:
                    factor = tables[t, depth, codes[c, depth], x]
                else:
                    factor = parts[c, depth - variables, x]
                chance[depth + 1, t] = chance[depth, t] * factor
                value += chance[depth + 1, t]
            if value >= least and value > 0:
                depth += 1
                at[depth] = 0
        smallest = min(smallest, total)
    return smallest


@njit(cache=True, inline="always")
def _label_chance(code: int, seen: int, same: float, leak: float, gone: float, share: float) -> Any:
    """P[released label | source label]: missing is -1."""
    if seen == -1:
        return gone
    return leak * share + (same if code == seen else 0.0)


@njit(cache=True, nogil=True)
def _near_combinations(
    first: int, end: int, types: Any, tables: Any, seen: Any, codes: Any, labels: Any, asked: Any,
    least: float, starts: Any, out: Any,
) -> None:  # fmt: skip
    """Source combinations that may have been masked to each released one, with probabilities by
    type, in which the share of the type is a factor.

    labels: codes, same, leak, gone of the sources, codes and shares of the released, and parts as
    in `kept_mass`. asked: lists of combinations, and where in them each released one has to look,
    twice. With an empty `out` it only counts, into starts[1:].
    """
    places, chances = out
    own, same, leak, gone, shown, share, parts = labels
    listed, spans = asked
    fill = places.size > 0
    for r in range(first, end):
        found = 0
        part = np.empty(types.size)
        for turn in range(2):
            for at in range(spans[r, 2 * turn], spans[r, 2 * turn + 1]):
                c = listed[at]
                factor, upper = 1.0, 1.0
                for e in range(own.shape[1]):
                    factor *= _label_chance(
                        own[c, e], shown[r, e], same[c, e], leak[c, e], gone[c, e], share[r, e]
                    )
                    kind = 2 if shown[r, e] == -1 else 0 if own[c, e] == shown[r, e] else 1
                    upper *= parts[c, e, kind]
                    if factor <= 0:
                        break
                if factor <= 0 or upper < least:
                    continue
                put(part, types)
                value = 1.0
                for v in range(codes.shape[1]):
                    value = 0.0
                    for t in range(types.size):
                        part[t] *= tables[t, v, codes[c, v], seen[r, v]]
                        value += part[t]
                    if value * upper < least or value == 0:
                        break
                if value * upper >= least and value > 0:
                    if fill:
                        places[starts[r] + found] = c
                        for t in range(types.size):
                            chances[starts[r] + found, t] = part[t] * factor
                    found += 1
        if not fill:
            starts[r + 1] = found


def near_combinations(types: Any, tables: Any, seen: Any, *given: Any) -> None:
    """`_near_combinations` of all released combinations."""
    spread(_near_combinations, seen.shape[0], types, tables, seen, *given)


@njit(cache=True, inline="always")
def _below(table: Any, start: int, reach: int, t: int) -> Any:
    """A sum of the law of rank distances, which `table` has from -reach to reach + 1."""
    return table[start + max(0, min(t + reach, 2 * reach + 1))]


@njit(cache=True, inline="always")
def _rank_chance(x: Any, y: Any, scale: float, k: int, laws: Any) -> Any:
    """P[released value | source value] of rank-swapped number k, each a span of ranks.

    Mean over the ranks of the source value of F(end - r) - F(begin - r), F the law of distances,
    over what of it lies within the file.
    """
    begin, end = x[0], x[1]
    first, last, table = y[0], y[1], y[2]
    reach, sizes, start, once, twice, edge = laws
    if begin < 0:
        return 1.0
    if first < 0:
        return (end - begin) / sizes[k]
    wide, at = reach[k], start[k]
    if begin - (last - 1) > wide or first - (end - 1) > wide:
        return 0.0
    if last - first == 1:
        high = _below(once, at, wide, end - first)
        return scale * (high - _below(once, at, wide, begin - first))
    if table >= 0:  # whose law is cut off at an end of the file
        most = last - first + 2 * wide
        high = edge[table + max(0, min(end - first + wide, most))]
        low = edge[table + max(0, min(begin - first + wide, most))]
        return max(0.0, scale * (high - low))
    total = 0.0
    for bound, sign in ((end, 1.0), (begin, -1.0)):
        for t, turn in ((bound - first + 1, 1.0), (bound - last + 1, -1.0)):
            value = _below(twice, at, wide, t) + max(0, t - wide - 1)
            total += sign * turn * value
    return max(0.0, scale * total)


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


@njit(cache=True, nogil=True)
def _candidates(
    one: int, past: int, x: Any, combination: Any, unknown: Any, near: Any, blocks: Any, y: Any,
    times: Any, radius: float, heights: Any, precisions: Any, whitening: Any, places_of: Any,
    ranks: Any, top: Any, who: Any, sizes: Any, dropped: Any,
) -> None:  # fmt: skip
    """The sources of largest weight for each released record, and the weight of the others.

    near: starts, places and chances by type of `near_combinations`. blocks: starts of strips of
    sources, one row a combination and a last strip for missing values, and the lowest edge and
    width of a strip; within a strip, sources are sorted by the second coordinate. places_of: up to
    two coordinates of released and source records, of which none that belong together are further
    apart than the radius. ranks: spans of released and source, scales, and laws.
    """
    near_starts, places, chances = near
    strips, low, width = blocks
    at_x, at_y = places_of
    spans_x, spans_y, scales, laws = ranks
    last = strips.shape[1] - 2
    dims = at_x.shape[1]
    for i in range(one, past):
        size, lost = 0, 0.0
        first, end = 0, last - 1
        anywhere = dims == 0 or math.isnan(at_x[i, 0])
        if not anywhere:
            first = int(max(0.0, min(last - 1.0, math.floor((at_x[i, 0] - radius - low) / width))))
            end = int(max(0.0, min(last - 1.0, math.floor((at_x[i, 0] + radius - low) / width))))
        for k in range(near_starts[combination[i]], near_starts[combination[i] + 1]):
            c = places[k]
            for turn in range(first, end + 2):
                strip = last if turn == end + 1 else turn
                begin, finish = strips[c, strip], strips[c, strip + 1]
                sort = strip < last and dims > 1
                if sort and not math.isnan(at_x[i, 1]):
                    inside = at_y[begin:finish, 1]
                    finish = begin + np.searchsorted(inside, at_x[i, 1] + radius, side="right")
                    begin += np.searchsorted(inside, at_x[i, 1] - radius)
                for j in range(begin, finish):
                    near_rank = 1.0
                    for r in range(scales.shape[1]):
                        near_rank *= _rank_chance(
                            spans_x[i, r], spans_y[j, r], scales[j, r], r, laws
                        )
                        if near_rank <= 0:
                            break
                    if near_rank <= 0:
                        continue
                    value = 0.0
                    for t in range(heights.shape[0]):
                        total, distance = _log_density(
                            x[i], y[j], unknown[i], heights[t], precisions[t], whitening
                        )
                        if distance > radius * radius:
                            break
                        value += math.exp(total) * chances[k, t]
                    value *= near_rank
                    if value > 0:
                        size, out, name = _push(top[i], who[i], size, value, j)
                        lost += out * times[name]
        sizes[i], dropped[i] = size, lost


def candidates(x: Any, *given: Any) -> None:
    """`_candidates` of all released records."""
    spread(_candidates, x.shape[0], x, *given)


def _weight_steps(x: Any, seen: Any, unknown: Any, y: Any, codes: Any, types: Any, *_: Any) -> int:
    """Every source by type and key."""
    return int(y.shape[0] * types.size * (2 * x.size + seen.size + 2))


@tiered(_weight_steps)
@njit(cache=True, nogil=True)
def log_weights(
    x: Any, seen: Any, unknown: Any, y: Any, codes: Any, types: Any, tables: Any, heights: Any,
    precisions: Any, whitening: Any, shown: Any, share: Any, labels: Any, span: Any, ranks: Any,
) -> Any:  # fmt: skip
    """Log weight of one released record with every source record."""
    out = np.full(y.shape[0], -np.inf)
    own, same, leak, gone = labels
    spans, scales, laws = ranks
    for j in range(y.shape[0]):
        factor = 1.0
        for e in range(own.shape[1]):
            factor *= _label_chance(
                own[j, e], shown[e], same[j, e], leak[j, e], gone[j, e], share[e]
            )
        for r in range(scales.shape[1]):
            if factor > 0:
                factor *= _rank_chance(span[r], spans[j, r], scales[j, r], r, laws)
        if factor <= 0:
            continue
        for t in range(types.size):
            chance = types[t] * factor
            for v in range(codes.shape[1]):
                chance *= tables[t, v, codes[j, v], seen[v]]
            if chance > 0:
                total = _log_density(x, y[j], unknown, heights[t], precisions[t], whitening)[0]
                out[j] = np.logaddexp(out[j], total + math.log(chance))
    return out


@njit(cache=True, nogil=True)
def rank_chances(span: Any, spans: Any, scales: Any, k: int, laws: Any) -> Any:
    """P[released value | source value] of one rank-swapped number, for every source record."""
    out = np.empty(scales.size)
    for j in range(scales.size):
        out[j] = _rank_chance(span, spans[j], scales[j], k, laws)
    return out
