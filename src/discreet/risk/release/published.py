"""Cells of a published table that are too small to be shown."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.table.cells import Cells
from discreet.table.impossible import holds
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class LowCells:
    """The cells below the least count, smallest first."""

    cells: Cells
    least: int


def low_cells(table: Table, least: int, *, zeros: bool = False) -> LowCells | None:
    """Cells with counts from 1 to `least` - 1, or from 0 on; None if there are none.

    A zero that cannot be otherwise tells nothing.

    >>> low_cells(Table.of([7, 2, 1], Race=["a", "b", "c"]), 3).cells
    Cells(2 of Race)
    """
    cells = table.all() if zeros else table.nonzero()
    low = cells.counts < least
    if zeros:
        low |= cells.counts == 0
        low &= ~holds(table.ruled_out, table.variables, cells.codes)
    rows = np.flatnonzero(low)
    rows = rows[np.argsort(cells.counts[rows], kind="stable")]
    return LowCells(cells.take(rows), least) if len(rows) else None
