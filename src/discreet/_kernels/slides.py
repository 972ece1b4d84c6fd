"""A walk over tables of a total whose sums are seen through likelihoods.

A move takes two cells a and b and deals their axes out to 1, 2 or 3 parts. With the categories of
b in the parts S and those of a elsewhere, a cell gets (-1)^|S|: a pair, a square or a cube. Several
of them add up to one move, so that every table can be reached from every other. How far it goes is
drawn from its exact distribution within a window around the table, whose place is drawn too, so
that the walk is reversible.
"""

import numpy as np
from numba import njit

from discreet._kernels.copies import put


@njit(cache=True, nogil=True)
def _add(a, b, parts, dealt, sign, codes, strides, step, touched, number):
    """Adds a move to the steps of cells; how many cells are touched then."""
    for chosen in range(1 << parts):
        cell, own, left = 0, sign, dealt
        for axis in range(len(strides)):
            part = left % parts
            left //= parts
            cell += (codes[b, axis] if chosen >> part & 1 else codes[a, axis]) * strides[axis]
        for part in range(parts):
            if chosen >> part & 1:
                own = -own
        new = True
        for k in range(number):
            new = new and touched[k] != cell
        if new:
            touched[number] = cell
            number += 1
        step[cell] += own
    return number


@njit(cache=True, nogil=True)
def _span(at, step, least, most, low, high):
    """What is left of low..high where least <= at + step * far <= most."""
    if step > 0:
        return max(low, -((at - least) // step)), min(high, (most - at) // step)
    return max(low, -((most - at) // -step)), min(high, (at - least) // -step)


@njit(cache=True, nogil=True)
def slide(
    x, sums, start, row, codes, strides, least, most, low, high, logs, first, flat,
    ends, moves, windows, dice, out,
):  # fmt: skip
    """Moves x and the sums of its rows; `out` takes x after every len(ends) / len(out) turns.

    Cell c is in rows row[start[c] : start[c + 1]]. Row r is between low[r] and high[r], with the
    log-likelihood logs[first[r] + sum - low[r]]; all are alike if `flat`. A turn has the moves up
    to ends[turn]: two cells, the number of parts, how axes are dealt out to them, a sign. Its
    window is so wide, and the table at such a place in it.
    """
    step, touched = np.zeros(len(low), np.int64), np.empty(len(low), np.int64)
    seen = np.zeros(len(low), np.bool_)
    by_cell, cells = np.zeros(len(x), np.int64), np.empty(len(x), np.int64)
    weight = np.empty(windows[:, 0].max() + 1)
    every, kept, move = len(ends) // len(out), 0, 0
    for turn in range(len(ends)):
        size, number = 0, 0
        while move < ends[turn]:
            a, b, parts, dealt, sign = moves[move]
            size = _add(a, b, parts, dealt, sign, codes, strides, by_cell, cells, size)
            move += 1
        lowest = -windows[turn, 1]
        highest = windows[turn, 0] - windows[turn, 1]
        for k in range(size):
            c = cells[k]
            if by_cell[c] == 0:
                continue
            lowest, highest = _span(x[c], by_cell[c], least[c], most[c], lowest, highest)
            for j in range(start[c], start[c + 1]):
                if not seen[row[j]]:
                    seen[row[j]] = True
                    touched[number] = row[j]
                    number += 1
                step[row[j]] += by_cell[c]
        for k in range(number):
            r = touched[k]
            if step[r] != 0:
                lowest, highest = _span(sums[r], step[r], low[r], high[r], lowest, highest)
        far = 0
        if flat:
            far = lowest + int(dice[turn] * (highest - lowest + 1))
        elif highest > lowest:
            top = -np.inf
            for at in range(lowest, highest + 1):
                value = 0.0
                for k in range(number):
                    r = touched[k]
                    if step[r] != 0:
                        value += logs[first[r] + sums[r] + step[r] * at - low[r]]
                weight[at - lowest] = value
                top = max(top, value)
            whole = 0.0
            for at in range(highest - lowest + 1):
                whole += np.exp(weight[at] - top)
                weight[at] = whole
            far = lowest
            while far < highest and weight[far - lowest] <= dice[turn] * whole:
                far += 1
        for k in range(number):
            r = touched[k]
            sums[r] += step[r] * far
            step[r], seen[r] = 0, False
        for k in range(size):
            x[cells[k]] += by_cell[cells[k]] * far
            by_cell[cells[k]] = 0
        if (turn + 1) % every == 0 and kept < len(out):
            put(out[kept], x)
            kept += 1
