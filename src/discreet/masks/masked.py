"""Sheets as they are to be printed, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.look.result import Unpublished
from discreet.release.printed import Printed
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System

BITS = 128  # of a seed that nobody knows
TRIAL = "not for release: drawn from a seed that was given, which can be found by trying"


@dataclass(frozen=True, eq=False)
class Masked(Unpublished):
    """What is printed in each cell of a system, nan where nothing is.

    `parameters` say how it was made, and nothing of what it was made from: a secret seed stands
    there as a fingerprint. `printed` is what follows from it for sure; none after a perturbation.
    `said` are sentences for the report.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> values = system.sums @ [1, 7, 5, 6, 4, 9]
    >>> masked = Masked(system, np.where(values < 3, np.nan, values), "suppression")
    >>> masked
    Masked(suppression: 12 cells, 1 hidden)
    >>> masked.shown(system.sheets[0])[1].tolist()
    [13.0, nan, 7.0, 5.0]
    """

    system: System
    values: Floats
    method: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    printed: Printed | None = None
    whole: bool = True
    said: tuple[str, ...] = ()

    @property
    def trial(self) -> bool:
        """Whether it is drawn from a seed that somebody gave, and is not for release."""
        return "trial" in self.parameters

    @property
    def hidden(self) -> NDArray[np.bool_]:
        return np.isnan(self.values)

    def shown(self, sheet: Sheet) -> Floats:
        """The cells of a sheet, in its shape."""
        return self.values[self.system.places[self.system.sheets.index(sheet)]]

    def __repr__(self) -> str:
        hidden = int(self.hidden.sum())
        cells = f"{self.system.cells:,} cells"
        return f"Masked({self.method}: {cells}{f', {hidden:,} hidden' if hidden else ''})"
