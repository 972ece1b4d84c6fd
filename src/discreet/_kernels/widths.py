"""Sums of rows that agree in some columns, for many lists of columns.

Each list of columns shares its beginning with the one before it, so a row's key, its group among
the rows that agree so far, is kept for every beginning.
"""

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.parallel import spread
from discreet._kernels.tiers import tiered

FEWEST_SUMS = 1 << 16


@njit(cache=True, nogil=True)
def _renumber(keys, groups, codes, size, out):
    """Number the groups of equal (key, code) without gaps; how many there are."""
    starts = np.zeros(groups + 1, np.int64)
    for i in range(len(keys)):
        starts[keys[i] + 1] += 1
    for g in range(groups):
        starts[g + 1] += starts[g]
    rows = np.empty(len(keys), np.int32)
    free = np.empty(groups + 1, np.int64)
    for g in range(groups + 1):
        free[g] = starts[g]
    for i in range(len(keys)):
        rows[free[keys[i]]] = i
        free[keys[i]] += 1
    stamp, number, found = np.empty(size, np.int64), np.empty(size, np.int32), 0
    for code in range(size):
        stamp[code] = -1
    for g in range(groups):
        for q in range(starts[g], starts[g + 1]):
            code = codes[rows[q]]
            if stamp[code] != g:
                stamp[code], number[code] = g, found
                found += 1
            out[rows[q]] = number[code]
    return found


@njit(cache=True, nogil=True)
def _add_up(keys, groups, counts, sums):
    """The sum of the counts of every group; only sums of groups that occur are valid."""
    if groups <= len(keys):
        for g in range(groups):
            sums[g] = 0
    else:
        for i in range(len(keys)):
            sums[keys[i]] = 0
    for i in range(len(keys)):
        sums[keys[i]] += counts[i]


def _steps(first, end, codes, sizes, counts, watched, members, *extremes):
    return (end - first) * (20 + 3 * members.shape[1] * len(counts))


@tiered(_steps)
@njit(cache=True, nogil=True)
def _extreme_sums(first, end, codes, sizes, counts, watched, members, least, greatest):
    length, rows = members.shape[1], len(counts)
    most = max(FEWEST_SUMS, rows)
    for column in range(len(sizes)):
        most = max(most, sizes[column])
    keys = np.empty((length, rows), np.int32)
    groups = np.empty(length, np.int64)
    sums = np.zeros(most, counts.dtype)
    for m in range(first, end):
        level = 0
        while m > first and level < length and members[m, level] == members[m - 1, level]:
            level += 1
        for d in range(level, length):
            column = members[m, d]
            size = sizes[column]
            if d == 0:
                groups[d] = size
                for i in range(rows):
                    keys[d, i] = codes[column, i]
            elif groups[d - 1] * size <= most:
                groups[d] = groups[d - 1] * size
                step = np.int32(size)
                for i in range(rows):
                    keys[d, i] = keys[d - 1, i] * step + np.int32(codes[column, i])
            else:
                groups[d] = _renumber(keys[d - 1], groups[d - 1], codes[column], size, keys[d])
        last = keys[length - 1]
        _add_up(last, groups[length - 1], counts, sums)
        low = high = sums[last[0]]
        for i in range(1, watched):
            low = min(low, sums[last[i]])
            high = max(high, sums[last[i]])
        least[m], greatest[m] = low, high


def extreme_sums(codes: Any, sizes: Any, counts: Any, watched: Any, members: Any) -> Any:
    """The least and the greatest sum among the groups of the first `watched` rows.

    `codes` is columns x rows; each row of `members` lists columns, the lists in sorted order.
    """
    least, greatest = np.empty(len(members), np.int64), np.empty(len(members), np.int64)
    spread(_extreme_sums, len(members), codes, sizes, counts, watched, members, least, greatest)
    return least, greatest
