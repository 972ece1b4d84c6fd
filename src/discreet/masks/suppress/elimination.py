"""Gaussian elimination suppression: no secret cell is a combination of published ones.

The costliest cells are published first; a cell stays hidden where publishing it would determine a
secret one (Langsrud 2024, GaussSuppression). Exact modulo 2^31 - 1: what is determined there and
not in the rationals is left hidden, never the other way round.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Ints
from discreet.errors import DisclosureError
from discreet.sheets.system import System

MOST = 60_000_000  # numbers of one matrix


@dataclass(frozen=True, eq=False)
class Unknowns:
    """What is not published: fine cells that are open, and hidden sums of several.

    `rows[i]` is the printed cell that unknown i is, -1 for a fine cell that no sheet prints;
    `matrix` says which of them add up to what is known, modulo PRIME.
    """

    rows: Ints
    matrix: NDArray[np.uint64]

    @classmethod
    def of(cls, system: System, hidden: Bools) -> Unknowns:
        from scipy.sparse import csr_matrix, hstack, vstack

        from discreet._kernels.modular import PRIME

        sums = system.sums.tocsr()
        single = np.diff(sums.indptr) == 1
        printed = np.full(system.columns, -1, np.int64)
        alone = np.flatnonzero(single)
        printed[sums.indices[sums.indptr[alone]]] = alone
        open_ = (printed < 0) | hidden[printed]
        inner = np.flatnonzero(hidden & ~single)
        rest = np.flatnonzero(~single)
        size = open_.sum() + len(inner)
        equations = csr_matrix(vstack([sums[rest], system.agree])[:, open_])
        own = csr_matrix(
            (-np.ones(len(inner)), (np.searchsorted(rest, inner), np.arange(len(inner)))),
            shape=(equations.shape[0], len(inner)),
        )
        whole = csr_matrix(hstack([equations, own]))
        whole.eliminate_zeros()
        whole = whole[np.diff(whole.indptr) > 0]
        if whole.shape[0] * size > MOST:
            raise DisclosureError(
                f"{size:,} hidden or unprinted cells are too many for elimination; take "
                "guarantee='width'."
            )
        dense = (whole.toarray().astype(np.int64) % PRIME).astype(np.uint64)
        return cls(np.concatenate([printed[open_], inner]), dense)


def eliminates(system: System, hidden: Bools) -> bool:
    """Is the system small enough for elimination?"""
    inner = np.flatnonzero(np.diff(system.sums.indptr) > 1)
    printed = system.cells - len(inner)
    columns = system.columns - printed + int(hidden.sum())
    return bool((len(inner) + system.agree.shape[0]) * columns <= MOST)


def determined(system: System, hidden: Bools) -> Bools:
    """Hidden cells that follow from the published ones by sums and differences."""
    from discreet._kernels.modular import echelon

    unknowns = Unknowns.of(system, hidden)
    pivot = echelon(unknowns.matrix)
    found = np.zeros(system.cells, bool)
    for row in np.flatnonzero(pivot >= 0):
        if np.count_nonzero(unknowns.matrix[row]) == 1 and unknowns.rows[pivot[row]] >= 0:
            found[unknowns.rows[pivot[row]]] = True
    return found


def eliminate(
    system: System, hidden: Bools, primary: Bools, kept: Bools, costs: NDArray[np.float64]
) -> Bools:
    """Publish hidden cells, the costliest first, so long as no primary cell is determined.

    `kept` stay hidden. Returns what is hidden then.
    """
    from discreet._kernels.modular import echelon, publish

    unknowns = Unknowns.of(system, hidden)
    rows, matrix = unknowns.rows, unknowns.matrix
    pivot = echelon(matrix)
    used = np.flatnonzero(pivot >= 0)
    shown = rows >= 0
    secondary = np.flatnonzero(shown & ~kept[rows] & ~primary[rows])
    order = secondary[np.argsort(-costs[rows[secondary]], kind="stable")]
    out = publish(
        np.ascontiguousarray(matrix[used]), pivot[used].copy(), shown & primary[rows], order
    )
    left = hidden.copy()
    left[rows[out]] = False
    return left
