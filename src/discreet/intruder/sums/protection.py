"""What an intruder's interval of each cell must be, so that the cell is safe."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.look.result import Unpublished
from discreet.sheets.system import System

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix


@dataclass(frozen=True, eq=False)
class Protection(Unpublished):
    """Each target's interval reaches down to `low`, up to `high`, and is `width` wide or wider.

    `rows` are printed cells of a system, and from `system.cells` on its fine cells.

    >>> Protection.widths([4, 7], [1, 2], 3)
    Protection(2 targets)
    >>> Protection.of([4], [100], lower=10, upper=20).high.tolist()
    [120.0]
    """

    rows: Ints
    low: Floats
    high: Floats
    width: Floats

    @classmethod
    def of(
        cls,
        rows: ArrayLike,
        values: ArrayLike,
        *,
        lower: ArrayLike = 0.0,
        upper: ArrayLike = 0.0,
        sliding: ArrayLike = 0.0,
    ) -> Protection:
        """Lower, upper and sliding protection levels of targets with these values."""
        places = np.atleast_1d(np.asarray(rows, np.int64))
        value = np.broadcast_to(np.asarray(values, np.float64), places.shape)
        levels = [np.broadcast_to(np.asarray(x, float), places.shape) for x in (lower, upper)]
        for level in (*levels, np.asarray(sliding, float)):
            if not (level >= 0).all():
                raise DataError(f"a protection level is {level.min():g}; give 0 or more.")
        width = np.broadcast_to(np.asarray(sliding, np.float64), places.shape).copy()
        return cls(places, value - levels[0], value + levels[1], width)

    @classmethod
    def widths(cls, rows: ArrayLike, values: ArrayLike, width: ArrayLike) -> Protection:
        """Intervals of this width, wherever they lie."""
        return cls.of(rows, values, sliding=width)

    def sums(self, system: System) -> csr_matrix:
        """The targets as sums of fine cells: targets x columns."""
        return target_sums(system, self.rows)

    def needs(self) -> Floats:
        """The least width that follows."""
        return np.maximum(self.width, self.high - self.low)

    def given(self, low: Floats, high: Floats, slack: float = 0.0) -> NDArray[np.bool_]:
        """Which targets have what is asked, if their intervals reach from low to high."""
        wide = (high >= low + self.width - slack) | (self.width <= 0)
        return np.asarray((low <= self.low + slack) & (high >= self.high - slack) & wide)

    def take(self, chosen: NDArray[np.bool_] | Ints) -> Protection:
        return Protection(
            self.rows[chosen], self.low[chosen], self.high[chosen], self.width[chosen]
        )

    def __add__(self, other: Protection) -> Protection:
        return Protection(
            np.r_[self.rows, other.rows],
            np.r_[self.low, other.low],
            np.r_[self.high, other.high],
            np.r_[self.width, other.width],
        )

    def __len__(self) -> int:
        return len(self.rows)

    def __repr__(self) -> str:
        return f"Protection({len(self):,} target{'s' * (len(self) != 1)})"


def target_sums(system: System, rows: ArrayLike) -> csr_matrix:
    """Rows of a system, and fine cells by their numbers from `system.cells` on, as sums."""
    from scipy.sparse import csr_matrix, identity, vstack

    places = np.atleast_1d(np.asarray(rows, np.int64))
    most = system.cells + system.columns
    if len(places) and not 0 <= places.min() <= places.max() < most:
        wrong = places[(places < 0) | (places >= most)][0]
        raise DataError(f"there is no row {wrong} in {system}; name one of 0 to {most - 1}.")
    if (places < system.cells).all():
        return csr_matrix(system.sums[places])
    fine = identity(system.columns, format="csr")
    return csr_matrix(vstack([system.sums, fine], format="csr")[places])
