"""Feasible intervals of cells: all that a release says for certain."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.table.cells import Cells, frame, labels
from discreet.table.keys import Codes


@dataclass(frozen=True, eq=False)
class CellBounds:
    """lower <= count <= upper for each cell, how it was found, and whether it is proven tight.

    `attained` says for each cell whether integer tables reach both ends.
    """

    variables: tuple[Variable, ...]
    codes: Codes
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    attained: NDArray[np.bool_]
    method: str

    @property
    def sharp(self) -> bool:
        """Is every interval proven tight for integer tables?"""
        return bool(self.attained.all())

    @property
    def width(self) -> NDArray[np.int64]:
        return self.upper - self.lower

    @property
    def narrowest(self) -> int | None:
        return int(self.width.min()) if len(self) else None

    def __len__(self) -> int:
        return len(self.codes)

    def __repr__(self) -> str:
        names = ", ".join(variable.name for variable in self.variables)
        shape = "x".join(str(variable.size) for variable in self.variables)
        cells = f"{len(self):,} of {shape} cells over {names}"
        size = int(np.prod([float(variable.size) for variable in self.variables]))
        if len(self) == size:
            cells = f"{shape} cells over {names}"
        tight = "sharp" if self.sharp else "outer"
        width = "" if self.narrowest is None else f", narrowest width {self.narrowest}"
        return f"CellBounds({cells}: {self.method}, {tight}{width})"

    def _repr_html_(self) -> str:
        return str(self.to_frame().head(20).to_html(index=False))

    def cells(self, counts: NDArray[np.int64]) -> Cells:
        return Cells(self.variables, self.codes, counts)

    def to_frame(self, kind: str = "pandas", *, counts: NDArray[np.int64] | None = None) -> Any:
        """One row a cell: labels, the count if the custodian gives it, lower, upper, width."""
        columns: dict[str, Any] = labels(self.variables, self.codes)
        found: dict[str, Any] = {} if counts is None else {"count": counts}
        found |= {"lower": self.lower, "upper": self.upper, "width": self.width}
        for name, column in (found | {"sharp": self.attained}).items():
            columns[name + "_" * (name in columns)] = column
        return frame(columns, kind)

    def to_json(self, counts: NDArray[np.int64]) -> dict[str, Any]:
        """The document that `discreet bounds --json` prints."""
        cells = self.cells(counts)
        rows = zip(cells, counts, self.lower, self.upper, self.attained, strict=True)
        return {
            "method": self.method,
            "sharp": self.sharp,
            "narrowest": self.narrowest,
            "cells": [
                {"cell": c, "count": int(n), "lower": int(a), "upper": int(b), "sharp": bool(s)}
                for c, n, a, b, s in rows
            ],
        }

    def plot(self, *, counts: NDArray[np.int64] | None = None, **options: Any) -> Any:
        """The intervals as a chart, narrowest first."""
        from discreet.look.charts import interval_chart

        return interval_chart(self.to_frame(counts=counts), **options)
