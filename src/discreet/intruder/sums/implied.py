"""Rows that are sums of other rows, and so say nothing new."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


def implied(matrix: csr_matrix, floor: Floats, ceiling: Floats, slack: float) -> NDArray[np.bool_]:
    """Rows of ones that smaller rows with one value divide among them, as lines do a plane.

    Each such division is exact, and as its rows are smaller nothing is implied in a circle; some
    rows that others imply are not found.
    """
    start, columns = matrix.indptr, matrix.indices
    size = np.diff(start)
    dropped = np.zeros(len(size), bool)
    if not len(size):
        return dropped
    ones = np.minimum.reduceat(matrix.data == 1.0, start[:-1])
    single = np.flatnonzero(ones & (floor == ceiling))
    meet = (matrix @ matrix[single].T).tocsr()
    sets = {row: columns[start[row] : start[row + 1]].tolist() for row in single.tolist()}
    for row in np.flatnonzero(ones & (size > 2)).tolist():
        part = slice(meet.indptr[row], meet.indptr[row + 1])
        inner = single[meet.indices[part]]
        inner = inner[(meet.data[part] == size[inner]) & (size[inner] < size[row])]
        if size[inner].sum() < size[row]:
            continue
        own = columns[start[row] : start[row + 1]].tolist()
        for order in (
            np.argsort(size[inner], kind="stable"),
            np.argsort(-size[inner], kind="stable"),
        ):
            pieces = _division(own, inner[order].tolist(), sets)
            if pieces and floor[row] - slack <= floor[pieces].sum() <= ceiling[row] + slack:
                dropped[row] = True
                break
    return dropped


def _division(own: list[int], rows: list[int], sets: dict[int, list[int]]) -> list[int]:
    """Disjoint rows that together are the columns, or none."""
    holding: dict[int, list[int]] = {}
    for row in rows:
        for column in sets[row]:
            holding.setdefault(column, []).append(row)
    covered: set[int] = set()
    chosen = []
    for column in own:
        if column in covered:
            continue
        fitting = [r for r in holding.get(column, ()) if covered.isdisjoint(sets[r])]
        if not fitting:
            return []
        covered.update(sets[fitting[0]])
        chosen.append(fitting[0])
    return chosen
