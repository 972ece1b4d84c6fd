"""The bounds of any cells, by the method that fits the release."""

from __future__ import annotations

import math
from collections.abc import Iterable
from functools import reduce
from operator import or_
from typing import Literal, get_args

import numpy as np

from discreet.errors import DataError
from discreet.intruder.bounds.frechet import frechet_bounds, upper_bounds
from discreet.intruder.bounds.linear import Program
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.bounds.reduce import reduce_sets
from discreet.intruder.bounds.result import CellBounds
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.keys import unravel

Method = Literal["auto", "closed", "linear"]
MOST_LISTED = 1 << 22


class Bounder:
    """Bounds under one release; what it built for one question serves the next."""

    def __init__(
        self, release: Release, *, method: Method = "auto", seconds: float = math.inf
    ) -> None:
        if method not in get_args(Method):
            raise DataError(f"there is no method {method!r}; choose {', '.join(get_args(Method))}.")
        self.release, self.method, self.seconds = release, method, seconds
        self._programs: dict[tuple[tuple[str, ...], tuple[int, ...]], Program] = {}
        self._index = {name: place for place, name in enumerate(release.names)}
        self._held = self._bits(name for known in release.known for name, _ in known.cell)

    def _bits(self, names: Iterable[str]) -> int:
        return sum({1 << self._index[name] for name in names})

    def bounds(self, cells: Cells) -> CellBounds:
        """Intervals of the given cells, of the table or of any margin of it."""
        if strange := [name for name in cells.names if name not in self._index]:
            raise DataError(f"the release has no variable {strange[0]!r}.")
        target = self._bits(cells.names)
        sets = reduce_sets(self.release.formula.sets, target, self._held)
        covered = reduce(or_, sets, self._held)
        formula = self._formula(sets, covered)
        shared = tuple(name for name in cells.names if covered >> self._index[name] & 1)
        codes = cells.project(shared)
        sizes = dict(zip(cells.names, cells.shape, strict=True))
        # nothing is known of a variable in no margin: all may be in another category of it
        loose = any(sizes[name] > 1 for name in cells.names if name not in shared)
        closed = (
            not self.release.known and set(shared) == set(formula.names) and formula.is_decomposable
        )
        if self.method == "closed" and not closed:
            raise DataError(
                f"{self.release.formula} is not decomposable over {'*'.join(cells.names)}, so it "
                "has no closed form; use the method auto or linear."
            )
        if closed and self.method != "linear":
            lower, upper = frechet_bounds(self.release, formula, cells.project(formula.names))
            attained, method = np.ones(len(codes), bool), "closed form"
        elif len(cells) == 0 or not shared:
            lower = upper = np.full(len(cells), self.release.total or 0, np.int64)
            attained, method = np.ones(len(cells), bool), "closed form"
        else:
            program = self._program(formula)
            most = upper_bounds(self.release, self._within(formula, shared), codes)
            lower, upper, attained = program.bounds(shared, codes, most, seconds=self.seconds)
            method = "linear"
        if loose:
            lower = np.zeros_like(lower)
        return CellBounds(cells.variables, cells.codes, lower, upper, attained, method)

    def _formula(self, sets: tuple[int, ...], covered: int) -> Formula:
        names = tuple(name for name in self.release.names if covered >> self._index[name] & 1)
        margins = [[n for n in names if margin >> self._index[n] & 1] for margin in sets]
        return Formula.of([margin for margin in margins if margin], names)

    def _within(self, formula: Formula, names: tuple[str, ...]) -> Formula:
        """The margins as far as they speak of `names`."""
        inside = [[name for name in margin if name in names] for margin in formula.margins]
        return Formula.of([margin for margin in inside if margin], names)

    def _program(self, formula: Formula) -> Program:
        key = (formula.names, formula.sets)
        if key not in self._programs:
            self._programs[key] = Program.build(OpenCells.of(self.release, formula))
        return self._programs[key]


def bounds(
    release: Release,
    cells: Cells | None = None,
    *,
    method: Method = "auto",
    seconds: float = math.inf,
) -> CellBounds:
    """The feasible interval of every cell, or of `cells`, given what is released.

    Closed form where the release is decomposable (Theorem 1 of the 2002 paper), linear programs
    otherwise; `attained` says which intervals are proven tight for integer tables.

    >>> from discreet.table.load import load
    >>> bounds(Release.margins(load("example:tract"), "Race*Income + Income*Gender"))
    CellBounds(2x3x3 cells over Gender, Race, Income: closed form, sharp, narrowest width 1)
    """
    if cells is None:
        shape = [variable.size for variable in release.variables]
        if math.prod(shape) > MOST_LISTED:
            raise DataError(
                f"the table has {math.prod(shape):,} cells; say which to bound, for instance "
                "cells=table.small()."
            )
        codes = unravel(np.arange(math.prod(shape)), shape)
        cells = Cells(release.variables, codes, np.zeros(len(codes), np.int64))
    return Bounder(release, method=method, seconds=seconds).bounds(cells)
