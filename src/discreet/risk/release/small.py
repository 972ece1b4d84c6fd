"""Identification: small counts and how narrowly a release pins them down."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.part import Proof
from discreet.intruder.bounds.result import CellBounds
from discreet.table.cells import Cells
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class SmallCells:
    """The small counts of what can be observed, with their feasible intervals."""

    cells: Cells
    bounds: CellBounds

    @property
    def narrowest(self) -> int | None:
        """The narrowest width; minus it is the disclosure risk (3) of the 2003 paper."""
        return self.bounds.narrowest

    def below(self, width: int) -> NDArray[np.intp]:
        """Rows of the cells that keep less than `width`, narrowest first."""
        rows = np.flatnonzero(self.bounds.width < width)
        return rows[np.lexsort((rows, self.cells.counts[rows], self.bounds.width[rows]))]

    def __repr__(self) -> str:
        return f"SmallCells({len(self.cells):,} cells, narrowest width {self.narrowest})"


def observable(table: Table) -> Table:
    """The table over the identifying variables: what somebody could know of a person."""
    return table.margin(table.axes.names_of(table.axes.identifying))


def small_cells(
    table: Table,
    bounder: Bounder,
    at_most: int = 2,
    proof: Proof | None = None,
    cells: Cells | None = None,
    width: int | None = None,
) -> SmallCells:
    """Cells with counts from 1 to `at_most` in the table of the identifying variables.

    A small count of what nobody can observe is no identification: without an identifying
    variable there is none. `proof` asks for tables that prove the widths; `cells` are those to
    guard if not all, `width` what they must keep.
    """
    seen = observable(table)
    cells = seen.small(at_most) if cells is None else cells
    if not seen.variables:
        cells = cells.take(slice(0, 0))
    return SmallCells(cells, bounder.bounds(cells, proof, width=width))
