"""Log-likelihoods of whole arrays whose sums are seen through noise.

Sum r is over cells[start[r] : start[r + 1]]; sums over the same non-zero cells are seen alike.
`table[r, n]` is the log-probability of what is seen of sum r if it is n.
"""

import numpy as np
from numba import njit

from discreet._kernels.copies import put


@njit(cache=True, nogil=True)
def _seen(x, start, cells, marks, table, seen, sums, prints):
    """Adds up the rows; -inf where two are over the same cells and seen differently."""
    rows = len(start) - 1
    total = 0.0
    for r in range(rows):
        n, mark = 0, np.uint64(0)
        for k in range(start[r], start[r + 1]):
            if x[cells[k]] > 0:
                n += x[cells[k]]
                mark ^= marks[cells[k]]
        if n >= table.shape[1] or table[r, n] == -np.inf:
            return -np.inf
        sums[r], prints[r] = n, mark
        new = True
        for s in range(r):
            if mark != 0 and prints[s] == mark:
                if seen[s] != seen[r]:
                    return -np.inf
                new = False
                break
        if new:
            total += table[r, n]
    return total


@njit(cache=True, nogil=True)
def enumerate_all(lower, upper, prior, total, start, cells, marks, table, seen, chances):
    """Adds up weights by cell and value over all arrays within bounds; the weight, and arrays."""
    size, rows = len(lower), len(start) - 1
    x = lower.copy()
    sums, prints = np.zeros(rows, np.int64), np.zeros(rows, np.uint64)
    weight, number = 0.0, 0
    # weights relative to the largest so far
    top = -np.inf
    while True:
        if total < 0 or x.sum() == total:
            value = _seen(x, start, cells, marks, table, seen, sums, prints)
            if value > -np.inf:
                for j in range(size):
                    value += prior[j, x[j]]
                if value > -np.inf:
                    if value > top:
                        scale = np.exp(top - value) if top > -np.inf else 0.0
                        weight *= scale
                        chances *= scale
                        top = value
                    w = np.exp(value - top)
                    weight += w
                    number += 1
                    for j in range(size):
                        chances[j, x[j]] += w
        j = size - 1
        while j >= 0 and x[j] == upper[j]:
            x[j] = lower[j]
            j -= 1
        if j < 0:
            break
        x[j] += 1
    return weight, number


@njit(cache=True, nogil=True)
def _lacks(x, start, cells, marks, table, seen, low, high, sums, prints):
    """How far sums are from what may be seen, and how many are seen differently but alike."""
    lack = 0
    for r in range(len(start) - 1):
        n, mark = 0, np.uint64(0)
        for k in range(start[r], start[r + 1]):
            if x[cells[k]] > 0:
                n += x[cells[k]]
                mark ^= marks[cells[k]]
        prints[r] = mark
        if n < low[r]:
            lack += low[r] - n
        elif n > high[r]:
            lack += n - high[r]
        elif table[r, n] == -np.inf:
            lack += 1
        for s in range(r):
            if mark != 0 and prints[s] == mark and seen[s] != seen[r]:
                lack += 1
                break
    return lack


@njit(cache=True, nogil=True)
def walk(
    x, lower, upper, prior, total, start, cells, marks, table, seen, low, high, picks, chances, out
):
    """A Metropolis walk by steps of one cell up or down, or one up and another down.

    Begins where nothing lacks, or walks there; picks are two cells and a kind of step for each
    turn. `out` takes the array after every len(picks) / len(out) turns. Accepted steps, -1 if no
    beginning was found.
    """
    rows = len(start) - 1
    sums, prints = np.zeros(rows, np.int64), np.zeros(rows, np.uint64)
    now = _seen(x, start, cells, marks, table, seen, sums, prints)
    lack = _lacks(x, start, cells, marks, table, seen, low, high, sums, prints)
    turns, kept = len(picks), len(out)
    every = turns // kept
    accepted = 0
    begun = now > -np.inf
    first = 0
    for turn in range(turns):
        one, other, kind = picks[turn, 0], picks[turn, 1], picks[turn, 2]
        up = 1 if kind % 2 == 0 else -1
        pair = (kind >= 2 or total >= 0) and one != other
        if total >= 0 and not pair:
            good = False
        else:
            good = lower[one] <= x[one] + up <= upper[one]
            if pair:
                good = good and lower[other] <= x[other] - up <= upper[other]
        if good:
            change = prior[one, x[one] + up] - prior[one, x[one]]
            x[one] += up
            if pair:
                change += prior[other, x[other] - up] - prior[other, x[other]]
                x[other] -= up
            take = False
            if begun:
                then = _seen(x, start, cells, marks, table, seen, sums, prints)
                take = then > -np.inf and np.log(chances[turn]) < change + then - now
                if take:
                    now = then
                    accepted += 1
            else:
                after = _lacks(x, start, cells, marks, table, seen, low, high, sums, prints)
                take = after <= lack or chances[turn] < 0.02
                if take:
                    lack = after
                    now = _seen(x, start, cells, marks, table, seen, sums, prints)
                    if now > -np.inf:
                        begun, first = True, turn
            if not take:
                x[one] -= up
                if pair:
                    x[other] += up
        if (turn + 1) % every == 0 and (turn + 1) // every <= kept:
            put(out[(turn + 1) // every - 1], x)
    return accepted if begun and first < turns // 10 else -1


@njit(cache=True, nogil=True)
def _noise(n, key, first, upper, move):
    i = min(n, len(first) - 2)
    k = first[i]
    while k < first[i + 1] - 1 and key >= upper[k]:
        k += 1
    return move[k]


@njit(cache=True, nogil=True)
def draw(dice, upto, own, total, start, cells, seen, first, lower, upper, move, found):
    """Arrays and keys, cell by cell as its own sum is seen, kept if all sums are; how many.

    A cell's value is drawn by `upto`, its key among those whose noise shows seen[own[c]]; the key
    of a sum is that of its cells added up modulo 1. Noises of i are first[i] : first[i + 1].
    """
    size, number = upto.shape[0], 0
    x, key = np.zeros(size, np.int64), np.zeros(size)
    for turn in range(len(dice)):
        whole = 0
        for c in range(size):
            n = 0
            while n < upto.shape[1] - 1 and dice[turn, c] >= upto[c, n]:
                n += 1
            x[c] = n
            whole += n
        good = total < 0 or whole == total
        for c in range(size if good else 0):
            key[c] = 0.0
            i, at = min(x[c], len(first) - 2), seen[own[c]] - x[c]
            length = 0.0
            for k in range(first[i], first[i + 1]):
                if move[k] == at:
                    length += upper[k] - lower[k]
            left = dice[turn, size + c] * length
            for k in range(first[i], first[i + 1]):
                if move[k] == at and x[c] > 0:
                    key[c] = lower[k] + left
                    if left < upper[k] - lower[k]:
                        break
                    left -= upper[k] - lower[k]
        for r in range(len(start) - 1):
            if not good:
                break
            if start[r + 1] - start[r] < 2:
                continue
            n, sum_key = np.int64(0), 0.0
            for k in range(start[r], start[r + 1]):
                n += x[cells[k]]
                sum_key += key[cells[k]]
            good = n + _noise(n, sum_key % 1.0, first, upper, move) == seen[r]
        if good:
            put(found[number], x)
            number += 1
    return number
