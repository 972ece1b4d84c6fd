"""Primitive moves of a table of sums, and which tables with the same sums hang together."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.copies import put
from discreet.arrays import Ints


@njit(cache=True, nogil=True)
def primitives(
    lines: Any, members: Any, first: int, norm: int, found: Any, most: int
) -> tuple[int, int]:
    """Moves that start with +1 at cell `first` and are zero before it, of absolute sum `norm`.

    lines[c] are the sums of cell c, members[r] its cells. The first sum that is not zero gets a
    cell of the opposite sign, in every way: whatever primitive move is under way, one of its cells
    is there. Returns how many there are and the steps that it took; -1 if `found` is too short, -2
    after more than `most` steps.
    """
    cells, width = lines.shape
    x, sums = np.zeros(cells, np.int64), np.zeros(len(members), np.int64)
    at, row = np.zeros(norm + 1, np.int64), np.zeros(norm + 1, np.int64)
    sign = np.zeros(norm + 1, np.int64)
    x[first] = 1
    for k in range(width):
        sums[lines[first, k]] += 1
    off, depth, number, new, steps = width, 1, 0, True, 0
    while depth > 0:
        steps += 1
        if steps > most:
            return -2, steps
        if new:
            new = False
            if off == 0:
                if depth == norm:
                    if number == len(found):
                        return -1, steps
                    put(found[number], x)
                    number += 1
                at[depth] = members.shape[1]
            elif depth == norm or off > width * (norm - depth):
                at[depth] = members.shape[1]
            else:
                r = 0
                while sums[r] == 0:
                    r += 1
                row[depth], at[depth] = r, 0
                sign[depth] = -1 if sums[r] > 0 else 1
        if at[depth] == members.shape[1]:
            depth -= 1
            if depth > 0:
                c, s = members[row[depth], at[depth] - 1], sign[depth]
                x[c] -= s
                for k in range(width):
                    r = lines[c, k]
                    off -= abs(sums[r])
                    sums[r] -= s
                    off += abs(sums[r])
            continue
        c, s = members[row[depth], at[depth]], sign[depth]
        at[depth] += 1
        if c < first or x[c] * s < 0:
            continue
        x[c] += s
        for k in range(width):
            r = lines[c, k]
            off -= abs(sums[r])
            sums[r] += s
            off += abs(sums[r])
        depth += 1
        new = True
    return number, steps


@njit(cache=True, nogil=True)
def shortened(moves: Any, signs: Any, starts: Ints, cells: Ints, keep: Any) -> None:
    """Strike out moves z for which a known, smaller one leads from z+ to a table that meets z-.

    Known move m subtracts 1 at its cells of sign -1 (each as often as listed).
    """
    for i in range(len(moves)):
        z = moves[i]
        for turn in (1, -1):
            for m in range(starts.size - 1):
                fits, meets = True, False
                for j in range(starts[m], starts[m + 1]):
                    c, s = cells[j], signs[j] * turn
                    if s < 0 and z[c] < -s:
                        fits = False
                        break
                    if s > 0 and z[c] < 0:
                        meets = True
                if fits and meets:
                    keep[i] = False
                    break
            if not keep[i]:
                break
