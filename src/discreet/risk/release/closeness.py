"""Bounds that come too close to the true count, whatever its size."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.result import CellBounds
from discreet.risk.limits import Says, breaks
from discreet.risk.release.small import observable
from discreet.table.cells import Cells
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Closeness:
    """How far the interval of each non-zero cell reaches from its count, as a share of it."""

    cells: Cells
    bounds: CellBounds

    @property
    def reach(self) -> NDArray[np.float64]:
        """max(upper - n, n - lower) / n."""
        n = self.cells.counts
        return np.asarray(np.maximum(self.bounds.upper - n, n - self.bounds.lower) / n)

    def below(self, share: float) -> NDArray[np.intp]:
        """Rows of the cells whose interval stays within `share` of the count, closest first."""
        rows = np.flatnonzero(breaks(self.reach, share, Says.AT_LEAST))
        return rows[np.argsort(self.reach[rows], kind="stable")]


def closeness(table: Table, bounder: Bounder) -> Closeness:
    """The reach of the intervals of all non-zero cells of what can be observed."""
    cells = observable(table).nonzero()
    return Closeness(cells, bounder.bounds(cells))
