"""Large cells published beside margins (Dobra, Erosheva & Fienberg 2002, section 1.7).

That every count from a number on is published tells that the others are below it: each cell that
is not shown has a ceiling. Where the published counts above a cell leave less room than that, the
margins say so already.
"""

from __future__ import annotations

import math
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.table.keys import Codes, keys, lookup, unravel

if TYPE_CHECKING:
    from discreet.release.release import Release
    from discreet.table.table import Table

MOST_CELLS = 1 << 22


def threshold(table: Table, number: int) -> int:
    """The smallest of the `number` largest counts."""
    counts = np.sort(table.counts)[::-1]
    if not 1 <= number <= len(counts):
        raise DataError(
            f"the {number} largest of {len(counts)} cells that are not empty; give a number from 1 "
            "to that."
        )
    return int(counts[number - 1])


def open_to(release: Release, codes: Codes, counts: NDArray[np.int64], ceiling: int) -> Codes:
    """Cells that are not published and that the margins, less the published cells, let be larger.

    `codes` and `counts` are the published cells.
    """
    shape = release.axes.sizes
    if math.prod(shape) > MOST_CELLS:
        raise DataError(
            f"the table has {math.prod(shape):,} cells, too many to say of each that it is not "
            f"published (at most {MOST_CELLS:,}); merge categories, or publish listed cells."
        )
    hidden = np.ones(math.prod(shape), bool)
    hidden[keys(codes, shape).astype(np.int64)] = False
    found = unravel(np.flatnonzero(hidden), shape)
    if not release.total:
        found = found[:0]
    for table in sorted(release.tables, key=len, reverse=True):
        if not len(found):
            break
        places = release.axes.places(table.names)
        left = table.counts.astype(np.int64)
        rows = lookup(table.codes, table.shape, codes[:, places])
        np.subtract.at(left, rows, counts)
        at = lookup(table.codes, table.shape, found[:, places])
        found = found[(at >= 0) & (left[at] > ceiling)]
    return found[~release.closed(found)]
