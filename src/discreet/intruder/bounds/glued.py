"""Counts in tables of the whole, from those in tables of its components."""

from __future__ import annotations

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW


class Glued(NamedTuple):
    """Extreme counts in the components' tables, on the way to those of the whole."""

    low: Ints
    high: Ints
    met: NDArray[np.bool_]

    @classmethod
    def none(cls, cells: int, total: int) -> Glued:
        low = np.zeros(cells, np.int64)
        return cls(low, np.full(cells, total, np.int64), np.ones(cells, bool))

    def add(self, low: Ints, high: Ints) -> None:
        self.met[:] &= high >= low
        self.low[:] += np.where(self.met, low, 0)
        np.minimum(self.high, high, out=self.high)

    def ends(self) -> tuple[Ints, Ints]:
        low = np.where(self.met, np.maximum(self.low, 0), NONE_LOW)
        return low, np.where(self.met, self.high, NONE_HIGH)
