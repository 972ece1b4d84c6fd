"""Moves between arrays with the same sums: walks, what a move can touch, what it must keep."""

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.copies import put

LACK, AIM = 4.0, 3.0  # how unlikely it is to lack a person more, to move away from the goal
LEAST = -2  # a cell does not fall further


@njit(cache=True, nogil=True)
def mark(codes, places, steps, offsets, starts, stamp, flags):
    """Stamp the projection of every row of `codes` on every check.

    Check q projects on the columns places[starts[q] : starts[q + 1]] with mixed-radix `steps`.
    """
    for q in range(len(offsets)):
        for i in range(len(codes)):
            key = offsets[q]
            for j in range(starts[q], starts[q + 1]):
                key += codes[i, places[j]] * steps[j]
            flags[key] = stamp


@njit(cache=True, nogil=True)
def mosaics(sizes, levels, places, steps, offsets, starts, stamp, flags, found):
    """Rows all of whose checked projections are stamped; how many, or -1 if `found` is too short.

    A row is built column by column; levels[j] : levels[j + 1] are the checks that end at column j.
    """
    digits = len(sizes)
    row = np.zeros(digits, np.int64)
    row[0] = -1
    level, number = 0, 0
    while level >= 0:
        row[level] += 1
        if row[level] == sizes[level]:
            level -= 1
            continue
        good = True
        for q in range(levels[level], levels[level + 1]):
            key = offsets[q]
            for j in range(starts[q], starts[q + 1]):
                key += row[places[j]] * steps[j]
            if flags[key] != stamp:
                good = False
                break
        if not good:
            continue
        if level + 1 < digits:
            level += 1
            row[level] = -1
            continue
        if number == len(found):
            return -1
        for j in range(digits):
            found[number, j] = row[j]
        number += 1
    return number


@njit(cache=True, nogil=True)
def _holds(sets, wanted):
    low, high = 0, len(sets)
    while low < high:
        middle = (low + high) // 2
        if sets[middle] < wanted:
            low = middle + 1
        else:
            high = middle
    return low < len(sets) and sets[low] == wanted


@njit(cache=True, nogil=True)
def released_parts(codes, reference, steps, sets, dense, rows, starts):
    """For every row of `codes` the sums that it adds to, in coordinates relative to `reference`.

    One sum for each released set T on which the row differs from the reference throughout; its key
    is that of the reference with T changed. `sets` are sorted, `dense` says the same as an array
    (empty when that would be too large). Returns how many there are, or -1 if `rows` is too short.
    """
    number = 0
    part, place = np.empty(len(sets) + 1, np.int64), np.empty(len(sets) + 1, np.int64)
    for i in range(len(codes)):
        starts[i] = number
        part[0], place[0], parts = 0, 0, 1
        for j in range(len(reference)):
            if codes[i, j] == reference[j]:
                continue
            shift = (codes[i, j] - reference[j]) * steps[j]
            for q in range(parts):
                bigger = part[q] | 1 << j
                known = dense[bigger] if len(dense) else _holds(sets, bigger)
                if known:
                    part[parts], place[parts] = bigger, place[q] + shift
                    parts += 1
        if number + parts > len(rows):
            return -1
        for q in range(parts):
            rows[number + q] = place[q]
        number += parts
    starts[len(codes)] = number
    return number


@njit(cache=True, nogil=True)
def keeps_sums(codes, move, places, steps, starts, scratch):
    """Does the move add up to nothing in every projection? `scratch` is zero before and after."""
    kept = True
    for q in range(len(starts) - 1):
        for turn in range(3):  # add up, look, clean
            for i in range(len(codes)):
                key = 0
                for j in range(starts[q], starts[q + 1]):
                    key += codes[i, places[j]] * steps[j]
                if turn == 0:
                    scratch[key] += move[i]
                elif turn == 1:
                    kept = kept and scratch[key] == 0
                else:
                    scratch[key] = 0
        if not kept:
            return False
    return True


@njit(cache=True, nogil=True)
def _cube(starts):
    """Room for the shifts and corners of the largest move, and which corners lose somebody."""
    largest = 0
    for s in range(len(starts) - 1):
        largest = max(largest, starts[s + 1] - starts[s])
    odd = np.zeros(1 << largest, np.bool_)
    for m in range(1, len(odd)):
        odd[m] = not odd[m & (m - 1)]
    return np.empty(64, np.int64), np.empty(1 << largest, np.int64), odd


@njit(cache=True, nogil=True)
def _nowhere(number):
    """Places in a list, of cells that are not in it."""
    places = np.empty(number, np.int64)
    for c in range(number):
        places[c] = -1
    return places


@njit(cache=True, nogil=True)
def _flip(c, digits, sizes, steps, shift):
    """How far each of the digits of a cell goes to another random value; how many they are."""
    for j in range(len(digits)):
        p = digits[j]
        code = c // steps[p] % sizes[p]
        other = np.random.randint(sizes[p] - 1)
        shift[j] = ((other if other < code else other + 1) - code) * steps[p]
    return len(digits)


@njit(cache=True, nogil=True)
def _refill(e, inside, where, filled, number):
    """A list of cells after cell e went in or out of it; how long it is."""
    if inside and where[e] < 0:
        where[e], filled[number] = number, e
        return number + 1
    if not inside and where[e] >= 0:
        last = filled[number - 1]
        filled[where[e]], where[last] = last, where[e]
        where[e] = -1
        return number - 1
    return number


@njit(cache=True, nogil=True)
def walk(x, sizes, steps, members, starts, urn, tries, seed, low, high):
    """Try random moves with signs by parity; `x`, and the extremes seen, change in place.

    Move s flips the digits members[starts[s] : starts[s + 1]] of a random positive cell, each to
    another random value, and changes the corners of that cube by -1 and 1 in turn. It is made if
    nothing falls below zero and nobody enters a cell of -1, which stays empty. Moves are drawn from
    `urn`. Returns how many were made.
    """
    np.random.seed(seed)
    where, filled = _nowhere(len(x)), np.empty(len(x), np.int64)
    number, made = np.int64(0), 0
    for c in range(len(x)):
        if x[c] > 0:
            where[c], filled[number] = number, c
            number += 1
    shift, corner, odd = _cube(starts)
    for _ in range(tries):
        c = filled[np.random.randint(number)]
        s = urn[np.random.randint(len(urn))]
        digits = _flip(c, members[starts[s] : starts[s + 1]], sizes, steps, shift)
        corner[0], good, j = c, True, -1
        for m in range(1, 1 << digits):
            if m & (m - 1) == 0:
                j += 1
            corner[m] = corner[m ^ 1 << j] + shift[j]
            if x[corner[m]] < (0 if odd[m] else 1):
                good = False
                break
        if not good:
            continue
        made += 1
        for m in range(1 << digits):
            e = corner[m]
            x[e] += 1 if odd[m] else -1
            number = _refill(e, x[e] > 0, where, filled, number)
            low[e], high[e] = min(low[e], x[e]), max(high[e], x[e])
    return made


@njit(cache=True, nogil=True)
def stride(x, sizes, steps, members, starts, urn, tries, every, seed, cost, goal, found):
    """Try random moves of `walk` with long steps; `found` gets what was passed, and how many.

    A move goes as far as it leads to lower costs; where it costs nothing, or one time in sixteen,
    to either end or anywhere between. Every so many tries `x` is noted; where its costs are at most
    `goal`, it is noted and the walk ends.
    """
    np.random.seed(seed)
    where, filled = _nowhere(len(x)), np.empty(len(x), np.int64)
    number, noted, value = np.int64(0), 0, np.int64(0)
    for c in range(len(x)):
        if x[c] > 0:
            where[c], filled[number] = number, c
            number += 1
            value += cost[c] * x[c]
    shift, corner, odd = _cube(starts)
    for t in range(1, tries + 1):
        if value <= goal or noted == len(found):
            break
        c = filled[np.random.randint(number)]
        s = urn[np.random.randint(len(urn))]
        digits = _flip(c, members[starts[s] : starts[s + 1]], sizes, steps, shift)
        corner[0], forth, back, slope, j = c, x[c], np.int64(1) << 60, -cost[c], -1
        for m in range(1, 1 << digits):
            if m & (m - 1) == 0:
                j += 1
            e = corner[m ^ 1 << j] + shift[j]
            corner[m] = e
            if x[e] < 0:
                forth, back = np.int64(0), np.int64(0)
            elif odd[m]:
                back = min(back, x[e])
                slope += cost[e]
            else:
                forth = min(forth, x[e])
                slope -= cost[e]
            if forth == 0 and back == 0:
                break
        if forth > 0 or back > 0:
            way = np.random.randint(4)
            free = slope == 0 or (way == 0 and np.random.randint(4) == 0)
            if free and way > 1:
                far = np.random.randint(-back, forth + 1)
            elif free:
                far = forth if np.random.randint(2) == 0 else -back
            else:
                far = forth if slope < 0 else -back
            value += far * slope
            for m in range(1 << digits if far else 0):
                e = corner[m]
                x[e] += far if odd[m] else -far
                number = _refill(e, x[e] > 0, where, filled, number)
        if every and t % every == 0:
            put(found[noted], x)
            noted += 1
    if value <= goal and noted < len(found):
        put(found[noted], x)
        noted += 1
    return noted


def dip(
    x: Any,
    sizes: Any,
    steps: Any,
    members: Any,
    starts: Any,
    urn: Any,
    tries: Any,
    seed: Any,
    cost: Any,
    goal: Any,
    closed: Any,
) -> Any:
    """Try single moves of `walk` on which cells may fall below zero, until the goal is reached.

    A move is made by chance: the less likely, the more people are lacking after it than before, and
    the more it costs. Cells that lack somebody, and cells with a cost, are tried more often than
    others. Returns whether `x` has costs of at most `goal`, and nobody is lacking.
    """
    aims, weight = np.flatnonzero(cost), AIM / max(np.abs(cost).max(), 1)
    given = (x, sizes, steps, members, starts, urn, tries, seed, cost, goal, closed)
    return _dip(*given, aims, weight)


@njit(cache=True, nogil=True)
def _dip(x, sizes, steps, members, starts, urn, tries, seed, cost, goal, closed, aims, weight):
    np.random.seed(seed)
    filled, lacking = np.empty(len(x), np.int64), np.empty(len(x), np.int64)
    place, gap = _nowhere(len(x)), _nowhere(len(x))
    number, gaps, lack, value = np.int64(0), np.int64(0), 0, np.int64(0)
    for c in range(len(x)):
        value += cost[c] * x[c]
        if x[c] > 0:
            place[c], filled[number] = number, c
            number += 1
    shift, corner, odd = _cube(starts)
    for _ in range(tries):
        chance, up = np.random.random(), False
        if gaps > 0 and chance < 0.5:
            c, up = lacking[np.random.randint(gaps)], True
        elif chance > 0.9:
            c = aims[np.random.randint(len(aims))]
            up = cost[c] < 0
        else:
            c = filled[np.random.randint(number)]
        s = urn[np.random.randint(len(urn))]
        digits = _flip(c, members[starts[s] : starts[s + 1]], sizes, steps, shift)
        corner[0], more, dearer, j, good = c, 0, np.int64(0), -1, True
        for m in range(1 << digits):
            if m > 0:
                if m & (m - 1) == 0:
                    j += 1
                corner[m] = corner[m ^ 1 << j] + shift[j]
            e = corner[m]
            if odd[m] != up:
                dearer += cost[e]
                more -= x[e] < 0
            else:
                dearer -= cost[e]
                more += x[e] <= 0
            if closed[e] or x[e] < LEAST:
                good = False
                break
        if not good or LACK * more + weight * dearer > np.random.exponential():
            continue
        lack += more
        value += dearer
        for m in range(1 << digits):
            e = corner[m]
            x[e] += 1 if odd[m] != up else -1
            number = _refill(e, x[e] > 0, place, filled, number)
            gaps = _refill(e, x[e] < 0, gap, lacking, gaps)
        if lack == 0 and value <= goal:
            return True
    return False
