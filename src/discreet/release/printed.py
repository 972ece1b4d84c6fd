"""What an office printed of its sheets: each cell lies between two values, and everybody knows."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.errors import InconsistentRelease
from discreet.look.result import Unpublished
from discreet.sheets.system import System


@dataclass(frozen=True, eq=False)
class Printed(Unpublished):
    """lower <= system.sums @ fine <= upper, least <= fine <= most; whole numbers if they count.

    A printed cell has lower = upper, a suppressed one a floor and no ceiling, a rounded one what
    rounds to it. `Release` is the same for margins that are out as they are.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> values = system.sums @ [1, 7, 5, 6, 4, 9]
    >>> hidden = np.isin(np.arange(system.cells), [5, 6, 9, 10])
    >>> Printed.suppressed(system, values, hidden, floor=1)
    Printed(8 cells shown, 4 hidden)
    """

    system: System
    lower: Floats
    upper: Floats
    whole: bool = True
    least: Floats | float = 0.0
    most: Floats | float = math.inf

    def __post_init__(self) -> None:
        if (self.lower > self.upper).any():
            row = int(np.argmax(self.lower > self.upper))
            sheet, cell = self.system.home(row)
            raise InconsistentRelease(
                f"{sheet.label(cell)} of table {sheet.name!r} would lie between "
                f"{self.lower[row]:g} and {self.upper[row]:g}; correct what is known of it."
            )

    @classmethod
    def exact(cls, system: System, values: ArrayLike, *, whole: bool = True) -> Printed:
        """Every cell as it is."""
        shown = np.asarray(values, np.float64)
        return cls(system, shown, shown, whole)

    @classmethod
    def suppressed(
        cls,
        system: System,
        values: ArrayLike,
        hidden: NDArray[np.bool_],
        *,
        floor: ArrayLike = 0.0,
        ceiling: ArrayLike = math.inf,
        whole: bool = True,
    ) -> Printed:
        """Every cell but the hidden ones, which lie between floor and ceiling.

        Where zeros are printed, whoever sees a gap knows that it is 1 or more: a floor of 1.
        """
        shown = np.asarray(values, np.float64)
        lower = np.where(hidden, np.broadcast_to(floor, shown.shape), shown)
        upper = np.where(hidden, np.broadcast_to(ceiling, shown.shape), shown)
        return cls(system, lower, upper, whole)

    def knowing(self, rows: NDArray[np.integer[Any]], values: Floats) -> Printed:
        """What somebody sees who knows these cells too."""
        lower, upper = self.lower.copy(), self.upper.copy()
        lower[rows], upper[rows] = values, values
        return dataclasses.replace(self, lower=lower, upper=upper)

    @property
    def hidden(self) -> NDArray[np.bool_]:
        """The cells that are not printed as they are."""
        return self.lower < self.upper

    def __add__(self, other: Printed) -> Printed:
        """Two publications of the same system, both public."""
        return dataclasses.replace(
            self,
            lower=np.maximum(self.lower, other.lower),
            upper=np.minimum(self.upper, other.upper),
            least=np.maximum(self.least, other.least),
            most=np.minimum(self.most, other.most),
        )

    def __repr__(self) -> str:
        hidden = int(self.hidden.sum())
        return f"Printed({self.system.cells - hidden:,} cells shown, {hidden:,} hidden)"
