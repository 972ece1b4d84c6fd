"""Fine cells that are 0 in every table that was printed so."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.release.printed import Printed
from discreet.solver import Program, Sums

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST = 100_000  # fine cells of one program


def always_zero(printed: Printed, fine: Floats, about: Bools, near: float) -> tuple[Bools, Bools]:
    """The fine cells, of those in `about`, that are 0 in the true table and in every other, and
    those of which that is not settled.

    `fine` is the true table, and a row that can have less than `near` more, or less, than there
    stands for one that cannot. Tables that fit are convex: a cell can be more than 0 if it can be
    so by the smallest of changes, for which all that counts is what can change which way. Each
    change of a row must be made good by another cell of it; where that leaves cells open, one
    program seeks a change in which as many of them as possible rise. It is not asked of more cells
    than `MOST`, which few systems have, and where it has no answer: these are not settled.
    """
    matrix, falls, rises = _tight(printed, fine, near)
    most = np.broadcast_to(np.asarray(printed.most, float), len(fine))
    up, down = most > fine, fine > np.broadcast_to(np.asarray(printed.least, float), len(fine))
    up, down = _open(matrix, falls, rises, up, down)
    zero, doubt = about & ~up & (fine == 0), about & up & (fine == 0)
    if doubt.any():
        asked = np.flatnonzero(doubt)
        still = _still(matrix, falls, rises, up, down, asked)
        if still is not None:
            zero[still], doubt[:] = True, False
    return zero, doubt


def _tight(printed: Printed, fine: Floats, near: float) -> tuple[csr_matrix, Bools, Bools]:
    """The rows that cannot change freely: which may fall, and which may rise."""
    from scipy.sparse import csr_matrix, vstack

    system = printed.system
    values = system.sums @ fine
    falls = (printed.lower <= 0) | (values >= printed.lower + near)
    rises = values <= printed.upper - near
    kept = ~(falls & rises)
    none = np.zeros(system.agree.shape[0], bool)
    matrix = csr_matrix(vstack([system.sums[kept], system.agree], format="csr"))
    return matrix, np.r_[falls[kept], none], np.r_[rises[kept], none]


def _open(
    matrix: csr_matrix, falls: Bools, rises: Bools, up: Bools, down: Bools
) -> tuple[Bools, Bools]:
    """Which cells may rise and fall, by what each row has to make it good."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    column, plus, height = matrix.indices, matrix.data > 0, matrix.shape[0]
    up, down, before = up.copy(), down.copy(), -1
    while before != (before := int(up.sum() + down.sum())):
        raises = np.where(plus, up[column], down[column])
        lowers = np.where(plus, down[column], up[column])
        shut = raises & ~rises[row] & (np.bincount(row, lowers, height)[row] - lowers == 0)
        low = lowers & ~falls[row] & (np.bincount(row, raises, height)[row] - raises == 0)
        up[column[(shut & plus) | (low & ~plus)]] = False
        down[column[(low & plus) | (shut & ~plus)]] = False
    return up, down


def _still(
    matrix: csr_matrix, falls: Bools, rises: Bools, up: Bools, down: Bools, asked: Ints
) -> Ints | None:
    """Those of the cells asked about that rise in no change of the table; None: not known."""
    from scipy.sparse import csr_matrix, hstack

    free = up | down
    rows, columns = _linked(matrix, free, asked)
    if len(columns) > MOST:
        return None
    # a change can be made larger: what can rise at all rises by 1
    own = csr_matrix(matrix[rows])
    size = len(columns)
    both = csr_matrix(hstack([own[:, columns], own[:, asked]]))
    floor, ceiling = np.where(falls[rows], -np.inf, 0.0), np.where(rises[rows], np.inf, 0.0)
    lower = np.r_[np.where(down[columns], -np.inf, 0.0), np.zeros(len(asked))]
    upper = np.r_[np.where(up[columns], np.inf, 0.0), np.ones(len(asked))]
    cost = np.r_[np.zeros(size), -np.ones(len(asked))]
    program = Program(
        size + len(asked), Sums.of(both, floor, ceiling), cost=cost, lower=lower, upper=upper
    )
    found = program.solve()
    if found.values is None:
        return None
    return asked[found.values[size:] < 0.5]


def _linked(matrix: csr_matrix, free: Bools, asked: Ints) -> tuple[Ints, Ints]:
    """The rows and the free cells that share rows with those asked about."""
    from scipy.sparse import bmat, diags
    from scipy.sparse.csgraph import connected_components

    own = abs(matrix) @ diags(free.astype(float))
    own.eliminate_zeros()
    height = matrix.shape[0]
    label = connected_components(bmat([[None, own], [own.T, None]]), directed=False)[1]
    some = np.isin(label, label[height + asked])
    columns = np.flatnonzero(some[height:] & free)
    return np.flatnonzero(some[:height] & (np.diff(own.tocsr().indptr) > 0)), columns
