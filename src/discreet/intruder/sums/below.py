"""Tables that differ from a known one only below hidden cells: fewer, and enough to prove much."""

from __future__ import annotations

import dataclasses

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.release.printed import Printed

FEW, SHARE = 20, 50  # a hidden cell with more fine cells, and more of its part, frees none of them


def below_hidden(
    printed: Printed, fine: Floats, *, hidden: Bools | None = None, free: Bools | None = None
) -> Printed | None:
    """The same with the other fine cells known; None if that would not be far fewer.

    What such tables show is shown: they are tables that fit. What they do not show is open.
    `hidden` are rows whose fine cells stay free, and `free` further fine cells.
    """
    system = printed.system
    shut = printed.hidden if hidden is None else hidden
    loose = np.zeros(system.columns, bool) if free is None else free.copy()
    sums = system.sums[np.flatnonzero(shut)]
    for part in system.parts:
        own = sums[:, part.start : part.start + part.size]
        size = np.diff(own.indptr)
        small = own[(size > 0) & (size <= max(FEW, part.size // SHARE))]
        loose[part.start : part.start + part.size][small.indices] = True
    if 2 * loose.sum() > system.columns:
        return None
    least = np.where(loose, printed.least, fine)
    return dataclasses.replace(printed, least=least, most=np.where(loose, printed.most, fine))
