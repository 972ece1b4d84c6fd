"""Counting matrices with given row and column sums, modulo a prime below 2^31."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from discreet.arrays import Ints


@njit(cache=True, nogil=True)
def spread(ways: Any, cap: int, prime: int) -> None:
    """Add 0..cap to both the second and the last axis, in place: ways[a, i, b, q]."""
    before, n, after, m = ways.shape
    for a in range(before):
        for i in range(1, n):
            for b in range(after):
                for q in range(1, m):
                    value = ways[a, i, b, q] + ways[a, i - 1, b, q - 1]
                    ways[a, i, b, q] = value - prime if value >= prime else value
    for a in range(before):
        for i in range(n - 1, cap, -1):
            for b in range(after):
                for q in range(m - 1, cap, -1):
                    value = ways[a, i, b, q] - ways[a, i - cap - 1, b, q - cap - 1]
                    ways[a, i, b, q] = value + prime if value < 0 else value


@njit(cache=True, nogil=True)
def spread_by(ways: Any, weights: Ints, prime: int) -> None:
    """Add s to both the second and the last axis in weights[s] ways, in place; weights[0] is 1."""
    before, n, after, m = ways.shape
    for a in range(before):
        for i in range(n - 1, 0, -1):
            for b in range(after):
                for q in range(m - 1, 0, -1):
                    value = ways[a, i, b, q]
                    for s in range(1, min(i, q, weights.size - 1) + 1):
                        value = (value + weights[s] * ways[a, i - s, b, q - s]) % prime
                    ways[a, i, b, q] = value


@njit(cache=True, nogil=True)
def close(ways: Any, rest: Ints, prime: int) -> Ints:
    """Each row times the ways to take what it leaves."""
    result = np.zeros(ways.shape[0], np.int64)
    for a in range(ways.shape[0]):
        for q in range(ways.shape[1]):
            result[a] = (result[a] + ways[a, q] * rest[q]) % prime
    return result


@njit(cache=True, nogil=True)
def _pair(sums: Ints, caps: Any, first: int, simplex: Ints, scratch: Ints, prime: int) -> int:
    """Matrices of two columns with these row sums, and `first` the sum of the first column.

    Row i gives the first column something from a window of numbers; by inclusion and exclusion
    of the windows' ends.
    """
    rows = sums.size
    left = first
    for i in range(rows):
        begin = max(0, sums[i] - caps[i, 1])
        width = min(caps[i, 0], sums[i]) - begin + 1
        left -= begin
        if width <= 0 or left < 0:
            return 0
        scratch[1 << i] = width
    total = simplex[left]
    for subset in range(1, 1 << rows):
        rest = subset & (subset - 1)
        lowest = subset ^ rest
        if rest:
            scratch[subset] = scratch[rest] + scratch[lowest]
        if scratch[subset] <= left:
            odd, bits = 1, rest
            while bits:
                bits &= bits - 1
                odd ^= 1
            total += -simplex[left - scratch[subset]] if odd else simplex[left - scratch[subset]]
    return int(total % prime)


@njit(cache=True, nogil=True)
def halves(
    rows: Ints, caps: Any, columns: Ints, simplex: Ints, prime: int, sums: Ints, steps: int
) -> tuple[int, bool]:
    """Matrices with four columns: over the row sums of the first two, the product of both pairs.

    `simplex` has the number of vectors of len(rows) numbers with sum 0, 1, 2, ... From `sums` on,
    which are zero at first, for so many steps; and whether these were the last.
    """
    n = rows.size
    others = np.zeros(n, np.int64)
    scratch = np.zeros(1 << n, np.int64)
    whole, total = columns[0] + columns[1], 0
    for _ in range(steps):
        sums[0] = whole - sums[1:].sum()
        if 0 <= sums[0] <= rows[0]:
            ways = _pair(sums, caps[:, :2], columns[0], simplex, scratch, prime)
            if ways:
                for i in range(n):
                    others[i] = rows[i] - sums[i]
                more = _pair(others, caps[:, 2:], columns[2], simplex, scratch, prime)
                total = (total + ways * more) % prime
        place = n - 1
        while place > 0 and (sums[place] == rows[place] or sums[0] <= 0):
            sums[0] += sums[place]  # once the first is used up, more of this one is no use
            sums[place] = 0
            place -= 1
        if place == 0:
            return int(total), True
        sums[place] += 1
    return int(total), False
