"""Bounds at many cells, narrowed by one margin after the other.

A margin is a dense array of numbers in row-major order, all of them one after the other in a flat
array. Its variables are a row of `members`, filled up with -1; `codes` is variables x cells.
"""

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.parallel import spread

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


@njit(cache=True, nogil=True)
def _margin_counts(first, last, codes, sizes, counts, members, starts, out):
    rows, keys = len(counts), np.empty(BLOCK, np.uint32)
    for m in range(first, last):
        for start in range(0, rows, BLOCK):
            end = min(start + BLOCK, rows)
            _place(codes, sizes, members[m], start, end, keys)
            _count(keys, counts[start:end], out[starts[m] : starts[m + 1]])


def margin_counts(codes: Any, sizes: Any, counts: Any, members: Any, starts: Any, out: Any) -> None:
    """The counts of margins of a table, each into `out` from its start on."""
    given = (codes, sizes, counts, members, starts, out)
    spread(_margin_counts, len(members), *given, each=3 * len(counts))


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


@njit(cache=True, nogil=True)
def _tighten(
    first, last, codes, sizes, members, starts, values, upper, losses, floor, parts, narrowest
):
    rows, steps = codes.shape[1], len(members)
    keys = np.empty(BLOCK, np.uint32)
    for part in range(first, last):
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


def tighten(
    codes: Any,
    sizes: Any,
    members: Any,
    starts: Any,
    values: Any,
    upper: Any,
    losses: Any,
    floor: Any,
    parts: Any,
) -> Any:
    """Take margins in one by one; the narrowest width after each.

    `values` has for each number of a margin a limit from above, and a loss with its variable.
    `losses` (variables x cells) keeps the least loss of each variable, `floor` the total less all
    of them.
    """
    narrowest = np.full((parts, len(members)), LARGEST, np.int64)
    given = (codes, sizes, members, starts, values, upper, losses, floor, parts, narrowest)
    spread(_tighten, parts, *given, each=5 * len(members) * codes.shape[1] / parts)
    return narrowest


@njit(cache=True, nogil=True)
def _take_upper(keys, high, upper):
    least = np.int64(LARGEST)
    for i in range(len(upper)):
        upper[i] = min(upper[i], high[keys[i]])
        least = min(least, np.int64(upper[i]))
    return least


@njit(cache=True, nogil=True)
def _tighten_upper(first, last, codes, sizes, members, starts, high, upper, parts, least):
    rows, steps = codes.shape[1], len(members)
    keys = np.empty(BLOCK, np.uint32)
    for part in range(first, last):
        stop = rows * (part + 1) // parts
        for start in range(rows * part // parts, stop, BLOCK):
            end = min(start + BLOCK, stop)
            for s in range(steps):
                _place(codes, sizes, members[s], start, end, keys)
                here = _take_upper(keys, high[starts[s] : starts[s + 1]], upper[start:end])
                least[part, s] = min(least[part, s], here)


def tighten_upper(
    codes: Any, sizes: Any, members: Any, starts: Any, high: Any, upper: Any, parts: Any
) -> Any:
    """Take the limits from above in, margin by margin; the least after each."""
    least = np.full((parts, len(members)), LARGEST, np.int64)
    given = (codes, sizes, members, starts, high, upper, parts, least)
    spread(_tighten_upper, parts, *given, each=3 * len(members) * codes.shape[1] / parts)
    return least


@njit(cache=True, nogil=True)
def _variables(members):
    """How many variables a margin has: they come first."""
    number = 0
    while number < len(members) and members[number] >= 0:
        number += 1
    return number


@njit(cache=True, nogil=True)
def _losses_of(first, last, sizes, members, starts, ones, store, faces, low, high, values):
    for m in range(first, last):
        variables, number = members[m], _variables(members[m])
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


def losses_of(
    sizes: Any,
    members: Any,
    starts: Any,
    ones: Any,
    store: Any,
    faces: Any,
    low: Any,
    high: Any,
    values: Any,
) -> None:
    """For each number of a margin: its limit from above, and its loss with the variable.

    The variable is the one whose category has the largest count, `ones`; the loss, how many at most
    agree with the cell on all others of the margin but not on it.
    """
    given = (sizes, members, starts, ones, store, faces, low, high, values)
    spread(_losses_of, len(members), *given, each=20 * len(values) / max(1, len(members)))


@njit(cache=True, nogil=True)
def _sweep(store, faces, sizes, variables, number, low, high):
    """Every line of cells once: each is its face less the others; whether anything changed."""
    changed, inner = False, len(low)
    for d in range(number):
        size = sizes[variables[d]]
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


@njit(cache=True, nogil=True)
def _least_face(store, faces, sizes, variables, number, at, size):
    """The least count of the faces of a cell."""
    inner, found = size, np.int64(LARGEST)
    for d in range(number):
        shape = sizes[variables[d]]
        inner //= shape
        face = at // (inner * shape) * inner + at % inner
        found = min(found, store[faces[d] + face])
    return found


@njit(cache=True, nogil=True)
def _line_bounds(first, last, store, faces, members, sizes, starts, low, high, least, most, told):
    for m in range(first, last):
        variables, number = members[m], _variables(members[m])
        lows, highs = low[starts[m] : starts[m + 1]], high[starts[m] : starts[m + 1]]
        size = len(lows)
        for at in range(size):
            lows[at] = 0
            highs[at] = _least_face(store, faces[m], sizes, variables, number, at, size)
        before = highs.copy()
        for _ in range(SWEEPS):
            if not _sweep(store, faces[m], sizes, variables, number, lows, highs):
                break
        for at in range(size):
            if highs[at] < before[at] and least <= highs[at] < most:
                told[m] = True


def line_bounds(
    store: Any,
    faces: Any,
    members: Any,
    sizes: Any,
    starts: Any,
    low: Any,
    high: Any,
    least: Any,
    most: Any,
) -> Any:
    """Bounds of tables all of whose faces (one variable summed out) are known.

    Which tables have a number from `least` to below `most` that is under all of its faces.
    """
    told = np.zeros(len(members), np.bool_)
    given = (store, faces, members, sizes, starts, low, high, least, most, told)
    spread(_line_bounds, len(members), *given, each=100 * len(low) / len(members))
    return told
