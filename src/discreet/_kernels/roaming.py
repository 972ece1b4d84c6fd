"""Steps between the clique margins of decomposable models, whose tables are summed over.

Given its clique margins, a table under a decomposable model is hypergeometric; so these alone are
walked through, with the weight

    prod_C f(n_C) / prod_S f(n_S),     f(n) = prod Gamma(a + n) / n!

and a table is drawn from them where one is wanted (Dawid & Lauritzen 1993).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from discreet.arrays import Floats, Ints

WINDOW = 256  # places on a line that are weighed at once


@njit(cache=True, nogil=True)
def _rise(n: float, a: float, step: int) -> float:
    """log f(n + step) - log f(n)."""
    if step == 1:
        return math.log((a + n) / (n + 1))
    if step == -1:
        return math.log(n / (a + n - 1))
    more = math.lgamma(a + n + step) - math.lgamma(a + n)
    return more - math.lgamma(n + step + 1) + math.lgamma(n + 1)


@njit(cache=True, nogil=True)
def _along(
    counts: Ints, a: Floats, place: Ints, way: Ints, sign: Ints, size: int, t: int, step: int
) -> float:
    """The log of the weight at t + step along a line, less that at t."""
    if step == 1 or step == -1:
        up, down = 1.0, 1.0
        total = 0.0
        for k in range(size):
            n, own = counts[place[k]] + t * way[k], a[place[k]]
            if way[k] * step > 0:
                above, below = own + n, n + 1.0
            else:
                above, below = float(n), own + n - 1
            if sign[k] > 0:
                up, down = up * above, down * below
            else:
                up, down = up * below, down * above
            if up > 1e200 or down > 1e200 or up < 1e-200 or down < 1e-200:
                total += math.log(up / down)
                up, down = 1.0, 1.0
        return total + math.log(up / down)
    total = 0.0
    for k in range(size):
        n = counts[place[k]] + t * way[k]
        total += sign[k] * _rise(float(n), a[place[k]], step * way[k])
    return total


@njit(cache=True, nogil=True)
def slide(
    counts: Ints, a: Floats, offset: Ints, strides: Ints, sets: Ints, sign: Ints, shape: Ints,
    pairs: Ints, apart: Ints, times: int, rng: Any,
) -> int:  # fmt: skip
    """So many slides along moves that keep the released margins; how many changed something.

    A move takes two cells that differ in variables of two groups which no released margin joins,
    and swaps one group between them. How far it goes is drawn from its exact distribution, on a
    grid of random stride within a random window where the line is long. `counts` are all margins
    of a model in a row, cliques with `sign` 1 and separators with -1; `apart[u]` the variables that
    no released margin has with u; `pairs` such pairs that the model joins.
    """
    k = len(shape)
    x, y = np.zeros(k, np.int64), np.zeros(k, np.int64)
    most = 4 * len(sets)
    place, way, own = np.empty(most, np.int64), np.empty(most, np.int64), np.empty(most, np.int64)
    logs, moved = np.empty(WINDOW + 1), 0
    for _ in range(times):
        pair = int(rng.random() * len(pairs))
        one, two = 1 << pairs[pair, 0], 1 << pairs[pair, 1]
        near_one, near_two = apart[pairs[pair, 0]], apart[pairs[pair, 1]]
        for w in range(k):
            if not (one | two) >> w & 1:
                chance = rng.random()
                if chance < 0.25 and near_two >> w & 1:
                    one, near_one = one | 1 << w, near_one & apart[w]
                elif 0.25 <= chance < 0.5 and near_one >> w & 1:
                    two, near_two = two | 1 << w, near_two & apart[w]
        for w in range(k):
            x[w] = y[w] = int(rng.random() * shape[w])
            if (one | two) >> w & 1:
                y[w] = (x[w] + 1 + int(rng.random() * (shape[w] - 1))) % shape[w]
        size, low, high = 0, -(1 << 62), 1 << 62
        for s in range(len(sets)):
            if not (sets[s] & one and sets[s] & two):
                continue
            for corner in range(4):
                cell = offset[s]
                for w in range(k):
                    swapped = (one >> w & 1 and corner & 1) or (two >> w & 1 and corner & 2)
                    cell += strides[s, w] * (y[w] if swapped else x[w])
                place[size], own[size] = cell, sign[s]
                way[size] = 1 if corner == 0 or corner == 3 else -1
                if sign[s] > 0:
                    if way[size] > 0:
                        low = max(low, -counts[cell])
                    else:
                        high = min(high, counts[cell])
                size += 1
        if size == 0 or low == high:
            continue
        step = 1
        if high - low >= WINDOW:
            doublings = int(math.log2((high - low) / (WINDOW // 4)))
            step = 1 << int(rng.random() * (doublings + 1))
        before, after = -low // step, high // step
        if before + after >= WINDOW:
            back = int(rng.random() * WINDOW)
            before, after = min(before, back), min(after, WINDOW - 1 - back)
        logs[before] = top = 0.0
        for j in range(before, before + after):
            t = (j - before) * step
            logs[j + 1] = logs[j] + _along(counts, a, place, way, own, size, t, step)
            top = max(top, logs[j + 1])
        for j in range(before, 0, -1):
            t = (j - before) * step
            logs[j - 1] = logs[j] + _along(counts, a, place, way, own, size, t, -step)
            top = max(top, logs[j - 1])
        total = 0.0
        for j in range(before + after + 1):
            logs[j] = math.exp(logs[j] - top)
            total += logs[j]
        left, chosen = rng.random() * total, before + after
        for j in range(before + after + 1):
            left -= logs[j]
            if left < 0:
                chosen = j
                break
        t = (chosen - before) * step
        moved += t != 0
        for j in range(size):
            counts[place[j]] += t * way[j]
    return moved


@njit(cache=True, nogil=True)
def _log_f(n: float, a: float) -> float:
    """log Gamma(a + n) / Gamma(a) n!; nothing where there is no cell."""
    if a <= 0:
        return 0.0 if n == 0 else -math.inf
    return math.lgamma(a + n) - math.lgamma(a) - math.lgamma(n + 1)


@njit(cache=True, nogil=True)
def join(rows: Ints, columns: Ints, a: Floats, found: Ints, draw: bool, rng: Any) -> float:
    """A table u x v with given sums for each cell s, cell by cell; the log of its probability.

    `found` is s x u x v: drawn, or, without `draw`, a table whose probability is asked. Each cell
    is drawn as if the rest of its row, of its column and of all others were one cell each, which
    is exact for 2 x 2.
    """
    total = 0.0
    many, r, c = found.shape
    for s in range(many):
        left, down = rows[s].copy(), columns[s].copy()
        people = left.sum()
        if people == 0:
            if draw:
                found[s] = 0
            continue
        logs = np.empty(min(left.max(), down.max()) + 1)
        for i in range(r):
            right = down.sum()
            for j in range(c):
                right -= down[j]  # what the later columns still take
                low = max(0, left[i] - right)
                high = min(left[i], down[j])
                if i == r - 1:
                    low = high = down[j]
                value = found[s, i, j]
                if low < high:
                    beside = a[s, i, j + 1 :].sum()
                    under = a[s, i + 1 :, j].sum()
                    other = a[s, i + 1 :, j + 1 :].sum()
                    logs[0] = top = 0.0
                    for n in range(low, high):
                        up = (a[s, i, j] + n) * (left[i] - n)
                        up *= (down[j] - n) * (other + right - left[i] + n)
                        by = (n + 1.0) * (beside + left[i] - n - 1)
                        by *= (under + down[j] - n - 1) * (right - left[i] + n + 1.0)
                        logs[n + 1 - low] = logs[n - low] + math.log(up / by)
                        top = max(top, logs[n + 1 - low])
                    mass = 0.0
                    for n in range(high - low + 1):
                        mass += math.exp(logs[n] - top)
                    if draw:
                        rest, value = rng.random() * mass, high
                        for n in range(low, high + 1):
                            rest -= math.exp(logs[n - low] - top)
                            if rest < 0:
                                value = n
                                break
                    total += logs[value - low] - top - math.log(mass)
                elif draw:
                    value = low
                if draw:
                    found[s, i, j] = value
                left[i] -= value
                down[j] -= value
    return total


@njit(cache=True, nogil=True)
def log_weight(counts: Ints, a: Floats) -> float:
    """log of a product of Gamma(a + n) / Gamma(a) n!."""
    total = 0.0
    for k in range(len(counts)):
        if counts[k]:
            total += _log_f(float(counts[k]), a[k])
    return total


@njit(cache=True, nogil=True)
def _drawn(good: int, bad: int, sample: int, rng: Any) -> int:
    """A hypergeometric number, outwards from the most probable one."""
    low, high = max(0, sample - bad), min(good, sample)
    if low == high:
        return low
    middle = int((sample + 1.0) * (good + 1.0) / (good + bad + 2.0))
    middle = min(max(middle, low), high)
    log = math.lgamma(good + 1) + math.lgamma(bad + 1) + math.lgamma(sample + 1)
    log += math.lgamma(good + bad - sample + 1) - math.lgamma(good + bad + 1)
    log -= math.lgamma(middle + 1) + math.lgamma(good - middle + 1)
    log -= math.lgamma(sample - middle + 1) + math.lgamma(bad - sample + middle + 1)
    left = rng.random()
    up = down = middle
    over = under = math.exp(log)
    left -= over
    while left >= 0 and (up < high or down > low):
        if up < high:
            over *= (good - up) * (sample - up) / ((up + 1.0) * (bad - sample + up + 1.0))
            up += 1
            left -= over
            if left < 0:
                return up
        if down > low:
            under *= down * (bad - sample + down) / ((good - down + 1.0) * (sample - down + 1.0))
            down -= 1
            left -= under
            if left < 0:
                return down
    return middle


@njit(cache=True, nogil=True)
def complete(
    counts: Ints, offset: Ints, strides: Ints, sets: Ints, shared: Ints, shape: Ints, full: Ints,
    table: Ints, rng: Any,
) -> None:  # fmt: skip
    """A table given the margins of cliques, in the order of their junction tree.

    `shared` are the variables that a clique has with those before it; `full` the strides of the
    table.
    """
    k = len(shape)
    table[:] = 0
    at, many = np.zeros(1, np.int64), np.array([-1])
    for s in range(len(sets)):
        new = sets[s] & ~shared[s]
        cells = 1
        for w in range(k):
            if new >> w & 1:
                cells *= shape[w]
        inner, outer = np.zeros(cells, np.int64), np.zeros(cells, np.int64)
        for j in range(cells):
            left = j
            for w in range(k):
                if new >> w & 1:
                    inner[j] += (left % shape[w]) * strides[s, w]
                    outer[j] += (left % shape[w]) * full[w]
                    left //= shape[w]
        size = 1
        for w in range(k):
            if sets[s] >> w & 1:
                size *= shape[w]
        rest = counts[offset[s] : offset[s] + size].copy()
        if s == 0:
            many[0] = rest.sum()
        next_at = np.empty(len(at) * cells, np.int64)
        next_many = np.empty(len(at) * cells, np.int64)
        number = 0
        for e in range(len(at)):
            base = 0
            for w in range(k):
                if shared[s] >> w & 1:
                    base += (at[e] // full[w] % shape[w]) * strides[s, w]
            left = 0
            for j in range(cells):
                left += rest[base + inner[j]]
            people = many[e]
            for j in range(cells):
                if people == 0:
                    break
                good = rest[base + inner[j]]
                left -= good
                value = _drawn(good, left, people, rng)
                if value:
                    rest[base + inner[j]] -= value
                    people -= value
                    next_at[number], next_many[number] = at[e] + outer[j], value
                    number += 1
        at, many = next_at[:number], next_many[:number]
    for e in range(len(at)):
        table[at[e]] = many[e]
