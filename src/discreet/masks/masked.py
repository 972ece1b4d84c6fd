"""Sheets as they are to be printed, and how they were made."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.release.printed import Printed
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System

Floats = NDArray[np.float64]


@dataclass(frozen=True, eq=False)
class Masked:
    """What is printed in each cell of a system, nan where nothing is.

    `parameters` say how it was made, and nothing of what it was made from: a secret seed stands
    there as a fingerprint. `printed` is what follows from it for sure; none after a perturbation.
    `said` are sentences for the report.
    """

    system: System
    values: Floats
    method: str
    parameters: Mapping[str, object] = field(default_factory=dict)
    printed: Printed | None = None
    whole: bool = True
    said: tuple[str, ...] = ()

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
