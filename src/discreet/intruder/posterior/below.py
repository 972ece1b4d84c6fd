"""What a cell that is asked about is the sum of: of a margin, the table's cells below it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.table.cells import Cells
from discreet.table.keys import Codes, keys


@dataclass(frozen=True, eq=False)
class Below:
    """Pairs of a cell of the table and an asked cell that it counts for, by the latter."""

    cell: Ints
    asked: Ints
    size: int

    @classmethod
    def of(cls, names: Sequence[str], codes: Codes, cells: Cells) -> Below:
        """Of the table's cells with these `codes` over `names`."""
        have = keys(codes[:, [names.index(name) for name in cells.names]], cells.shape)
        want = keys(cells.codes, cells.shape)
        order = np.argsort(have, kind="stable")
        first, last = (np.searchsorted(have[order], want, side) for side in ("left", "right"))
        times = last - first
        step = np.arange(times.sum()) - np.repeat(np.cumsum(times) - times - first, times)
        asked = np.repeat(np.arange(len(want)), times)
        return cls(order[step].astype(np.int64), asked, len(want))

    @cached_property
    def starts(self) -> Ints:
        return np.searchsorted(self.asked, np.arange(self.size + 1))

    def members(self, asked: int) -> Ints:
        """The cells below an asked one."""
        return self.cell[self.starts[asked] : self.starts[asked + 1]]

    def take(self, chosen: NDArray[np.bool_], place: Ints) -> Below:
        """Some of the table's cells, each at a new place."""
        kept = chosen[self.cell]
        return Below(place[self.cell[kept]], self.asked[kept], self.size)

    def sums(self, counts: NDArray[Any]) -> NDArray[Any]:
        """Rows x asked cells, from rows x cells of the table."""
        found = np.zeros((len(counts), self.size), counts.dtype)
        self.add(counts[:, self.cell], found)
        return found

    def add(self, counts: NDArray[Any], found: NDArray[Any]) -> None:
        """The same, added to `found`; `counts` has a column a pair."""
        some, first = np.unique(self.asked, return_index=True)
        if len(some):
            found[:, some] += np.add.reduceat(counts, first, axis=1, dtype=found.dtype)
