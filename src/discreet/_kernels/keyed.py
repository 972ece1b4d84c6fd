"""A walk over arrays and the keys of their cells, whose sums are seen through noise by keys."""

import numpy as np
from numba import njit

from discreet._kernels.copies import put

FULL = 2.0**-53


@njit(cache=True, nogil=True)
def _off(n, key, seen, first, upper, move):
    """How far a sum with this key is from what is seen."""
    i = min(n, len(first) - 2)
    k = first[i]
    at = (key >> np.uint64(11)) * FULL
    while k < first[i + 1] - 1 and at >= upper[k]:
        k += 1
    return abs(n + move[k] - seen)


@njit(cache=True, nogil=True)
def _shift(start, row, c, step, key, sums, keys, seen, first, upper, move):
    """Adds a step and a key to the sums of a cell; the change of how far they are off."""
    change = 0
    for k in range(start[c], start[c + 1]):
        r = row[k]
        change -= _off(sums[r], keys[r], seen[r], first, upper, move)
        sums[r] += step
        keys[r] += key
        change += _off(sums[r], keys[r], seen[r], first, upper, move)
    return change


@njit(cache=True, nogil=True)
def _plus(x, step, key):
    """What the key of a cell adds when its count goes from x to x + step."""
    nothing = np.uint64(0)
    if x == 0 and step > 0:
        return key
    if x + step == 0 and step < 0:
        return nothing - key
    return nothing


@njit(cache=True, nogil=True)
def walk_keys(
    x, key, most, prior, total, start, row, seen, first, upper, move, cold, picks, dice, fresh, out
):
    """Counts and keys with weight prior * exp(-cold * off); `out` takes x, or -1 where it is off.

    Where nothing is off the weight is the prior, so that those are draws of what is seen. Picks are
    two cells and a kind of step: a new key, a key near by, one up or down, one up and another down.
    """
    rows = len(seen)
    sums, keys = np.zeros(rows, np.int64), np.zeros(rows, np.uint64)
    for c in range(len(x)):
        for k in range(start[c], start[c + 1]):
            sums[row[k]] += x[c]
            if x[c] > 0:
                keys[row[k]] += key[c]
    off = 0
    for r in range(rows):
        off += _off(sums[r], keys[r], seen[r], first, upper, move)
    turns = len(picks)
    every = turns // len(out)
    nothing, still = np.uint64(0), np.int64(0)
    for turn in range(turns):
        c, d, kind = picks[turn, 0], picks[turn, 1], picks[turn, 2]
        level = np.log(dice[turn])
        if kind < 2:
            new = fresh[turn] if kind == 0 else key[c] + (fresh[turn] >> np.uint64(4))
            if kind == 1 and dice[turn] * 1e6 % 2 < 1:
                new = key[c] - (fresh[turn] >> np.uint64(4))
            if x[c] == 0:
                key[c] = new
            else:
                change = _shift(
                    start, row, c, still, new - key[c], sums, keys, seen, first, upper, move
                )
                if level < -cold * change:
                    key[c] = new
                    off += change
                else:
                    _shift(start, row, c, still, key[c] - new, sums, keys, seen, first, upper, move)
        else:
            step = 1 if kind % 2 == 0 else -1
            pair = kind >= 4 or total >= 0
            good = 0 <= x[c] + step <= most[c]
            if pair:
                good = good and c != d and 0 <= x[d] - step <= most[d]
            if good:
                here = _plus(x[c], step, key[c])
                gain = prior[c, x[c] + step] - prior[c, x[c]]
                change = _shift(start, row, c, step, here, sums, keys, seen, first, upper, move)
                there = nothing
                if pair:
                    there = _plus(x[d], -step, key[d])
                    gain += prior[d, x[d] - step] - prior[d, x[d]]
                    change += _shift(
                        start, row, d, -step, there, sums, keys, seen, first, upper, move
                    )
                if level < gain - cold * change:
                    x[c] += step
                    if pair:
                        x[d] -= step
                    off += change
                else:
                    _shift(
                        start, row, c, -step, nothing - here, sums, keys, seen, first, upper, move
                    )
                    if pair:
                        _shift(
                            start,
                            row,
                            d,
                            step,
                            nothing - there,
                            sums,
                            keys,
                            seen,
                            first,
                            upper,
                            move,
                        )
        if (turn + 1) % every == 0 and (turn + 1) // every <= len(out):
            place = (turn + 1) // every - 1
            if off == 0:
                put(out[place], x)
            else:
                out[place] = -1
    return off
