"""Bounds at many cells, narrowed by one margin after the other.

A margin is a dense array of numbers in row-major order, all of them one after the other in a flat
array. Its variables are a row of `members`, filled up with -1; `codes` is variables x cells.
"""

import numpy as np
from numba import njit, prange

BLOCK = 1_024  # cells whose codes and losses stay in cache
SWEEPS = 12
LARGEST = 2**62
HIGH, LOSS, LAST = 0, 1, 2


@njit(cache=True, nogil=True)
def _place(codes, sizes, members, start, end, keys):
    """The place of the cells from `start` to `end` in a margin, into `keys`."""
    column, keys = codes[members[0]][start:end], keys[: end - start]
    for i in range(len(keys)):
        keys[i] = np.uint32(column[i])
    for v in members[1:]:
        if v >= 0:
            column, size = codes[v][start:end], np.uint32(sizes[v])
            for i in range(len(keys)):
                keys[i] = keys[i] * size + np.uint32(column[i])


@njit(cache=True, nogil=True)
def _count(keys, counts, bins):
    for i in range(len(counts)):
        bins[keys[i]] += counts[i]


@njit(cache=True, nogil=True, parallel=True)
def margin_counts(codes, sizes, counts, members, starts, out):
    """The counts of margins of a table, each into `out` from its start on."""
    rows = len(counts)
    for m in prange(len(members)):
        keys = np.empty(BLOCK, np.uint32)
        for start in range(0, rows, BLOCK):
            end = min(start + BLOCK, rows)
            _place(codes, sizes, members[m], start, end, keys)
            _count(keys, counts[start:end], out[starts[m] : starts[m + 1]])


@njit(cache=True, nogil=True)
def _take_in(keys, values, losses, upper, floor):
    """One margin's numbers at some cells; the narrowest width of these."""
    width = np.int64(LARGEST)
    for i in range(len(upper)):
        key = keys[i]
        loss, v = values[key, LOSS], np.uint32(values[key, LAST])
        old = losses[v, i]
        if loss < old:
            losses[v, i] = loss
            floor[i] += old - loss
        upper[i] = min(upper[i], values[key, HIGH])
        width = min(width, upper[i] - max(floor[i], 0))
    return width


@njit(cache=True, nogil=True, parallel=True)
def tighten(codes, sizes, members, starts, values, upper, losses, floor, parts):
    """Take margins in one by one; the narrowest width after each.

    `values` has for each number of a margin a limit from above, and a loss with its variable.
    `losses` (variables x cells) keeps the least loss of each variable, `floor` the total less all
    of them.
    """
    rows, steps = codes.shape[1], len(members)
    narrowest = np.full((parts, steps), LARGEST, np.int64)
    for part in prange(parts):
        keys = np.empty(BLOCK, np.uint32)
        stop = rows * (part + 1) // parts
        for start in range(rows * part // parts, stop, BLOCK):
            end = min(start + BLOCK, stop)
            for s in range(steps):
                _place(codes, sizes, members[s], start, end, keys)
                width = _take_in(
                    keys,
                    values[starts[s] : starts[s + 1]],
                    losses[:, start:end],
                    upper[start:end],
                    floor[start:end],
                )
                narrowest[part, s] = min(narrowest[part, s], width)
    return narrowest


@njit(cache=True, nogil=True)
def _take_upper(keys, high, upper):
    least = np.int64(LARGEST)
    for i in range(len(upper)):
        upper[i] = min(upper[i], high[keys[i]])
        least = min(least, np.int64(upper[i]))
    return least


@njit(cache=True, nogil=True, parallel=True)
def tighten_upper(codes, sizes, members, starts, high, upper, parts):
    """Take the limits from above in, margin by margin; the least after each."""
    rows, steps = codes.shape[1], len(members)
    least = np.full((parts, steps), LARGEST, np.int64)
    for part in prange(parts):
        keys = np.empty(BLOCK, np.uint32)
        stop = rows * (part + 1) // parts
        for start in range(rows * part // parts, stop, BLOCK):
            end = min(start + BLOCK, stop)
            for s in range(steps):
                _place(codes, sizes, members[s], start, end, keys)
                here = _take_upper(keys, high[starts[s] : starts[s + 1]], upper[start:end])
                least[part, s] = min(least[part, s], here)
    return least


@njit(cache=True, nogil=True, parallel=True)
def losses_of(sizes, members, starts, ones, store, faces, low, high, values):
    """For each number of a margin: its limit from above, and its loss with the variable.

    The variable is the one whose category has the largest count, `ones`; the loss, how many at most
    agree with the cell on all others of the margin but not on it.
    """
    for m in prange(len(members)):
        variables = members[m][members[m] >= 0]
        number = len(variables)
        code = np.zeros(number, np.int64)
        steps = np.ones(number, np.int64)
        for d in range(number - 2, -1, -1):
            steps[d] = steps[d + 1] * sizes[variables[d + 1]]
        for cell in range(starts[m + 1] - starts[m]):
            rest, best = cell, 0
            for d in range(number):
                code[d], rest = rest // steps[d], rest % steps[d]
                if ones[variables[d], code[d]] >= ones[variables[best], code[best]]:
                    best = d
            step = steps[best]
            without = cell // (step * sizes[variables[best]]) * step + cell % step
            at = starts[m] + cell
            values[at, HIGH] = high[at]
            values[at, LOSS] = store[faces[m, best] + without] - low[at]
            values[at, LAST] = variables[best]


@njit(cache=True, nogil=True)
def _sweep(store, faces, sizes, low, high):
    """Every line of cells once: each is its face less the others; whether anything changed."""
    changed, inner = False, len(low)
    for d in range(len(sizes)):
        size = sizes[d]
        inner //= size
        for outer in range(len(low) // (size * inner)):
            for r in range(inner):
                face = store[faces[d] + outer * inner + r]
                first = outer * size * inner + r
                lows = highs = 0
                for c in range(size):
                    lows += low[first + c * inner]
                    highs += high[first + c * inner]
                for c in range(size):
                    at = first + c * inner
                    most = face - (lows - low[at])
                    least = face - (highs - high[at])
                    if most < high[at]:
                        high[at], changed = most, True
                    if least > low[at]:
                        low[at], changed = least, True
    return changed


@njit(cache=True, nogil=True, parallel=True)
def line_bounds(store, faces, members, sizes, starts, low, high, least, most):
    """Bounds of tables all of whose faces (one variable summed out) are known.

    Which tables have a number from `least` to below `most` that is under all of its faces.
    """
    told = np.zeros(len(members), np.bool_)
    for m in prange(len(members)):
        variables = members[m][members[m] >= 0]
        shape = sizes[variables]
        lows, highs = low[starts[m] : starts[m + 1]], high[starts[m] : starts[m + 1]]
        lows[:], highs[:] = 0, LARGEST
        inner = len(lows)
        for d in range(len(shape)):
            inner //= shape[d]
            for at in range(len(lows)):
                face = at // (inner * shape[d]) * inner + at % inner
                highs[at] = min(highs[at], store[faces[m, d] + face])
        before = highs.copy()
        for _ in range(SWEEPS):
            if not _sweep(store, faces[m], shape, lows, highs):
                break
        for at in range(len(lows)):
            if highs[at] < before[at] and least <= highs[at] < most:
                told[m] = True
    return told
