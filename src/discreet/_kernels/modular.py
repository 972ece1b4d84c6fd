"""Gauss-Jordan elimination modulo 2^31 - 1, and what is determined after it."""

from __future__ import annotations

import numpy as np
from numba import njit

from discreet._kernels.tiers import tiered

PRIME = 2**31 - 1


@njit(cache=True, nogil=True)
def inverse(x):
    """By Fermat."""
    found, power, e = np.uint64(1), np.uint64(x), PRIME - 2
    while e:
        if e & 1:
            found = found * power % np.uint64(PRIME)
        power = power * power % np.uint64(PRIME)
        e >>= 1
    return found


@njit(cache=True, nogil=True)
def _scale(matrix, row, column):
    p = np.uint64(PRIME)
    by = inverse(matrix[row, column])
    if by != 1:
        for j in range(matrix.shape[1]):
            if matrix[row, j]:
                matrix[row, j] = matrix[row, j] * by % p


def _steps(matrix, *given):
    return matrix.size * (3 + 2 * len(matrix))


@tiered(_steps)
@njit(cache=True, nogil=True)
def echelon(matrix):
    """Gauss-Jordan modulo PRIME in place, short rows first; the pivot of each row, -1 for none."""
    p = np.uint64(PRIME)
    height, width = matrix.shape
    pivot = np.full(height, -1, np.int64)
    length, weight = np.zeros(height, np.int64), np.zeros(width, np.int64)
    for i in range(height):
        for j in range(width):
            if matrix[i, j]:
                length[i] += 1
                weight[j] += 1
    order = np.empty(height, np.int64)
    done = 0
    support = np.empty(width, np.int64)
    open_ = np.ones(height, np.bool_)
    while True:
        row = -1
        for i in range(height):
            if open_[i] and length[i] > 0 and (row < 0 or length[i] < length[row]):
                row = i
        if row < 0:
            break
        at, column = 0, -1
        for j in range(width):
            if matrix[row, j]:
                support[at] = j
                at += 1
                if column < 0 or weight[j] < weight[column]:
                    column = j
        open_[row] = False
        _scale(matrix, row, column)
        for k in range(at):
            weight[support[k]] -= 1
        for i in range(height):
            if not open_[i] or matrix[i, column] == 0:
                continue
            by = p - matrix[i, column]
            for k in range(at):
                j = support[k]
                before = matrix[i, j]
                after = (before + by * matrix[row, j]) % p
                matrix[i, j] = after
                change = int(after != 0) - int(before != 0)
                length[i] += change
                weight[j] += change
        pivot[row] = column
        order[done] = row
        done += 1
    for late in range(done - 1, 0, -1):
        row = order[late]
        column = pivot[row]
        at = 0
        for j in range(width):
            if matrix[row, j]:
                support[at] = j
                at += 1
        for early in range(late):
            i = order[early]
            if matrix[i, column]:
                by = p - matrix[i, column]
                for k in range(at):
                    j = support[k]
                    matrix[i, j] = (matrix[i, j] + by * matrix[row, j]) % p
    return pivot


@tiered(lambda matrix, basic, protected, order: (1 + len(order)) * (matrix.size + 40))
@njit(cache=True, nogil=True)
def publish(matrix, basic, protected, order):
    """Publish unknowns in turn unless a protected one were determined then.

    Rows say that unknown basic[k] is minus the sum of matrix[k, f] times the free unknowns f, so an
    unknown is determined where its row is empty. Returns which unknowns were published.
    """
    p = np.uint64(PRIME)
    height, width = matrix.shape
    row_of = np.full(width, -1, np.int64)
    count = np.zeros(height, np.int64)
    for k in range(height):
        row_of[basic[k]] = k
        matrix[k, basic[k]] = 0
        for j in range(width):
            if matrix[k, j]:
                count[k] += 1
    out = np.zeros(width, np.bool_)
    dead = np.zeros(height, np.bool_)
    weight = np.zeros(width, np.int64)
    for c in order:
        k = row_of[c]
        if k >= 0:
            if count[k] == 0:
                out[c], dead[k] = True, True
                continue
            weight[:] = 0
            free = -1
            for j in range(width):
                if matrix[k, j]:
                    for i in range(height):
                        if matrix[i, j]:
                            weight[j] += 1
                    if free < 0 or weight[j] < weight[free]:
                        free = j
            matrix[k, c] = 1
            _scale(matrix, k, free)
            for i in range(height):
                if i != k and matrix[i, free]:
                    by = p - matrix[i, free]
                    filled = 0
                    for j in range(width):
                        if matrix[k, j]:
                            matrix[i, j] = (matrix[i, j] + by * matrix[k, j]) % p
                        if matrix[i, j]:
                            filled += 1
                    count[i] = filled
            matrix[k, free] = 0
            row_of[c], row_of[free], basic[k] = -1, k, free
            count[k] = 0
            for j in range(width):
                if matrix[k, j]:
                    count[k] += 1
        fits = True
        for i in range(height):
            if matrix[i, c] and count[i] == 1 and protected[basic[i]] and not dead[i]:
                fits = False
                break
        if fits:
            out[c] = True
            for i in range(height):
                if matrix[i, c]:
                    matrix[i, c] = 0
                    count[i] -= 1
    return out
