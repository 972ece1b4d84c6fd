"""Bounds of columns that follow from one row after the other."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

ROUNDS = 100
NEAR = 1e-6  # a whole number


def rounded(lower: Floats, upper: Floats, whole: bool) -> tuple[Floats, Floats]:
    """The whole numbers within."""
    if not whole:
        return lower, upper
    return np.ceil(lower - NEAR), np.floor(upper + NEAR)


def propagate(
    matrix: csr_matrix,
    floor: Floats,
    ceiling: Floats,
    lower: Floats,
    upper: Floats,
    whole: bool,
    slack: float,
) -> tuple[Floats, Floats]:
    """Tighter bounds: what a row leaves to a column, once the others take least or most.

    Rounds end when no further column is settled; any number of them is right.
    """
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column, value, height = matrix.indices, matrix.data, matrix.shape[0]
    up = value > 0
    lower, upper = lower.copy(), upper.copy()
    settled = -1
    for _ in range(ROUNDS):
        now = int((upper - lower <= slack).sum())
        if now == settled:
            break
        settled = now
        low = np.where(up, lower[column], upper[column]) * value
        high = np.where(up, upper[column], lower[column]) * value
        room = (ceiling[row] - _others(low, row, height)) / value
        need = (floor[row] - _others(high, row, height)) / value
        np.minimum.at(upper, column, np.where(up, room, need))
        np.maximum.at(lower, column, np.where(up, need, room))
        lower, upper = rounded(lower, upper, whole)
        if (lower > upper + slack).any():
            break
    return lower, upper


def _others(ends: Floats, row: np.ndarray, height: int) -> Floats:
    """Of each entry, the sum of the others of its row, infinite where one of them is."""
    endless = np.isinf(ends)
    finite = np.where(endless, 0.0, ends)
    total = np.bincount(row, finite, height)[row] - finite
    number = np.bincount(row, endless, height)[row] - endless
    sign = np.sign(np.where(endless, ends, 0.0))
    side = np.bincount(row, sign, height)[row]
    return np.where(number > 0, np.where(side < 0, -np.inf, np.inf), total)
