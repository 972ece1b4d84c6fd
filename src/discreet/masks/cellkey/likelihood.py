"""What an intruder knows who knows the perturbation table: p(shown | true)."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.masks.cellkey.ptable import PTable


def likelihood(ptable: PTable, most: int | None = None) -> Floats:
    """p(shown | true) of true counts 0..most: a row each, shown 0..most + D.

    Unless told up to the largest i, whose noise all larger counts have.

    >>> from discreet.masks.cellkey.ptable import count_ptable
    >>> likelihood(count_ptable(1, 0.5), 2).tolist()
    [[1.0, 0.0, 0.0, 0.0], [0.25, 0.5, 0.25, 0.0], [0.0, 0.25, 0.5, 0.25]]
    """
    if (ptable.v != np.round(ptable.v)).any():
        raise DataError("this perturbation table is for amounts; take one for counts.")
    most = int(ptable.largest) if most is None else most
    found = np.zeros((most + 1, most + int(ptable.reach) + 1))
    for true in range(most + 1):
        row = ptable.i == min(true, ptable.largest)
        shown = (true + ptable.v[row]).astype(int)
        if (shown < 0).any():
            raise DataError(f"this perturbation table shows {true} as {shown.min()}; correct it.")
        np.add.at(found[true], shown, ptable.p[row])
    return found


def of_rows(ptable: PTable, shown: ArrayLike, most: int) -> Floats:
    """p(shown | true) of each printed row, a column for each true count 0..most."""
    matrix = likelihood(ptable, most)
    seen = np.asarray(shown, np.float64)
    if (seen != np.round(seen)).any() or (seen < 0).any():
        raise DataError("a shown count is no whole number of 0 or more; correct it.")
    wide = np.pad(matrix, ((0, 0), (0, 1)))
    place = np.minimum(seen.astype(int), matrix.shape[1])
    return np.asarray(wide[:, place].T)
