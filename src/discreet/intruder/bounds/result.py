"""Feasible intervals of cells: all that a release says for certain."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.look.result import Paged
from discreet.table.cells import Cells, frame, labels
from discreet.table.keys import Codes

NONE_LOW, NONE_HIGH = np.iinfo(np.int64).max, -1
MOST_ENDS = 10


class Rung(StrEnum):
    """What has reached a width: tables of whole numbers, tables of fractions, or nothing."""

    INTEGER = "integer"
    LINEAR = "linear"
    OUTER = "outer"

    def reaches(self, asked: Rung) -> bool:
        """Is it proof enough where `asked` is asked for?"""
        return list(Rung).index(self) <= list(Rung).index(asked)


class Status(StrEnum):
    """How far an interval is proven."""

    SHARP = "sharp"
    WITNESSED = "witnessed"
    LINEAR = "linear"
    OUTER = "outer only"

    @property
    def rung(self) -> Rung:
        return {"linear": Rung.LINEAR, "outer only": Rung.OUTER}.get(self, Rung.INTEGER)


@dataclass(frozen=True, eq=False)
class CellBounds(Paged):
    """lower <= count <= upper for each cell, and the counts seen in tables that fit.

    `seen_low` and `seen_high` are the least and the greatest count of the cell in integer tables
    that were found; where they are the ends, the interval is proven tight. `fit_low` and `fit_high`
    are the same for tables of fractions, rounded inwards: what linear bounds reach.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> found = dc.bounds(table, "Race*Income + Income*Gender", cells=table.small())
    >>> found.lower, found.upper, found.sharp
    (array([0, 0, 0, 0]), array([1, 2, 2, 2]), True)
    >>> found.to_frame(counts=table.small().counts)[["count", "lower", "upper", "status"]]
       count  lower  upper status
    0      1      0      1  sharp
    1      1      0      2  sharp
    2      2      0      2  sharp
    3      1      0      2  sharp
    """

    variables: tuple[Variable, ...]
    codes: Codes
    lower: NDArray[np.int64]
    upper: NDArray[np.int64]
    seen_low: NDArray[np.int64]
    seen_high: NDArray[np.int64]
    fit_low: NDArray[np.int64]
    fit_high: NDArray[np.int64]
    method: str
    stopped: str | None = None

    @property
    def attained(self) -> NDArray[np.bool_]:
        """Which intervals are proven tight for integer tables."""
        return np.asarray((self.seen_low == self.lower) & (self.seen_high == self.upper))

    @property
    def spread(self) -> NDArray[np.int64]:
        """How far apart the counts are that were seen."""
        return np.where(self.seen_high >= self.seen_low, self.seen_high - self.seen_low, 0)

    def proven(self, rung: Rung, beta: float = np.inf) -> NDArray[np.bool_]:
        """Which intervals, or a width of `beta` in them, tables of that rung reach."""
        if rung is Rung.OUTER:
            return np.ones(len(self), bool)
        if rung is Rung.INTEGER:
            return self.attained | (self.spread >= beta)
        low, high = self.fit_low, self.fit_high
        ends = (low <= self.lower) & (high >= self.upper)
        return np.asarray(ends | (np.where(high >= low, high - low, 0) >= beta))

    def status(self, beta: int = 3) -> list[Status]:
        """Of each cell: both ends attained, or two tables at least `beta` apart, or neither."""
        found = np.where(self.proven(Rung.LINEAR, beta), Status.LINEAR, Status.OUTER)
        found = np.where(self.spread >= beta, Status.WITNESSED, found)
        return [Status(each) for each in np.where(self.attained, Status.SHARP, found)]

    def rung(self, beta: int = 3) -> Rung:
        """The rung that all intervals reach."""
        weakest = max((s.rung for s in self.status(beta)), key=list(Rung).index, default=None)
        return weakest or Rung.INTEGER

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
        fitted = "linear" if self.proven(Rung.LINEAR).all() else "outer"
        tight = "sharp" if self.sharp else fitted
        width = "" if self.narrowest is None else f", narrowest width {self.narrowest}"
        return f"CellBounds({cells}: {self.method}, {tight}{width})"

    def cells(self, counts: NDArray[np.int64]) -> Cells:
        return Cells(self.variables, self.codes, counts)

    def to_frame(
        self, kind: str = "pandas", *, counts: NDArray[np.int64] | None = None, beta: int = 3
    ) -> Any:
        """One row a cell: labels, the count if the custodian gives it, interval and status."""
        columns: dict[str, Any] = labels(self.variables, self.codes)
        found: dict[str, Any] = {} if counts is None else {"count": counts}
        found |= {"lower": self.lower, "upper": self.upper, "width": self.width}
        for name, column in (found | {"status": [str(s) for s in self.status(beta)]}).items():
            columns[name + "_" * (name in columns)] = column
        return frame(columns, kind)

    def summary(self) -> dict[str, Any]:
        """How wide all intervals are together: sections 1.6.1 and 1.6.2 of the 2002 paper.

        `upper` has the smallest upper bounds, and how many cells have each.

        >>> import discreet as dc
        >>> table = dc.load("example:tract")
        >>> release = dc.Release.margins(table, "Race*Income + Income*Gender")
        >>> dc.bounds(release, table.small()).summary()
        {'cells': 4, 'sum_of_widths': 7, 'lower_above_0': 0, 'pinned': 0, 'upper': {'1': 1, '2': 3}}
        """
        ends, cells = np.unique(self.upper, return_counts=True)
        few = zip(ends[:MOST_ENDS].tolist(), cells[:MOST_ENDS].tolist(), strict=True)
        return {
            "cells": len(self),
            "sum_of_widths": int(self.width.sum()),
            "lower_above_0": int((self.lower > 0).sum()),
            "pinned": int((self.width == 0).sum()),
            "upper": {str(end): n for end, n in few},
        }

    def to_json(self, counts: NDArray[np.int64], beta: int = 3) -> dict[str, Any]:
        """The document that `discreet bounds --json` prints."""
        rows = zip(
            self.cells(counts), counts, self.lower, self.upper, self.status(beta), strict=True
        )
        return {
            "method": self.method,
            "stopped": self.stopped,
            "sharp": self.sharp,
            "narrowest": self.narrowest,
            "rung": str(self.rung(beta)),
            "summary": self.summary(),
            "cells": [
                {
                    "cell": c,
                    "count": int(n),
                    "lower": int(a),
                    "upper": int(b),
                    "status": str(s),
                    "rung": str(s.rung),
                }
                for c, n, a, b, s in rows
            ],
        }

    def plot(
        self, *, counts: NDArray[np.int64] | None = None, every: bool = False, **options: Any
    ) -> Any:
        """The intervals as a chart, narrowest first; `every` draws all of them, without labels."""
        from discreet.look.boundscharts import bounds_chart, interval_chart

        if every:
            return bounds_chart(self.lower, self.upper, counts, **options)
        return interval_chart(self.to_frame(counts=counts), **options)
