"""What an intruder learns of cells: the interval of each over all tables that were printed so."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from functools import partial
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats
from discreet.effort import Clock, Effort, Seconds
from discreet.intruder.sums.ends import Ends
from discreet.intruder.sums.protection import target_sums
from discreet.intruder.sums.reduced import reduced
from discreet.intruder.sums.tables import Tables
from discreet.release.printed import Printed
from discreet.spreading import in_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NODES = 200  # of branch and bound, for one end of one target


class Proof(StrEnum):
    """How an interval is known."""

    WHOLE = "whole"  # both ends were seen in tables of whole numbers
    LINEAR = "linear"  # both ends are those of fractions, rounded inwards if the table counts
    NONE = "none"  # every table lies within; the ends may be wide


@dataclass(frozen=True, eq=False)
class Intervals:
    """lower <= target <= upper in every table that fits.

    `seen_low`, `seen_high` are values in tables of whole numbers that were found and fit every
    printed cell, `fit_low`, `fit_high` in tables of fractions: inf, -inf where none was found; and
    an end without limit is infinite. Of a system that is `outer` no table is known. `stopped` if
    seconds left something out.
    """

    lower: Floats
    upper: Floats
    seen_low: Floats
    seen_high: Floats
    fit_low: Floats
    fit_high: Floats
    proof: NDArray[np.str_]
    stopped: str | None = None

    @property
    def width(self) -> Floats:
        """At most so wide."""
        return self.upper - self.lower

    def __repr__(self) -> str:
        kinds = ", ".join(
            f"{int((self.proof == p).sum()):,} {p}" for p in Proof if (self.proof == p).any()
        )
        narrow = f", narrowest {self.width.min():g}" if len(self.lower) else ""
        return f"Intervals({len(self.lower):,} targets: {kinds}{narrow})"


def intervals(
    printed: Printed,
    targets: ArrayLike | csr_matrix,
    *,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Intervals:
    """The interval of each target, a row of the system (or from `cells` on a fine cell), or a sum.

    Linear programs, in which only the objective changes, each of whose solutions serves all
    targets; then integer programs where an end is open. One that ends early leaves its bound.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> from discreet.sheets.system import System
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> values = system.sums @ [1, 7, 5, 6, 4, 9]
    >>> hidden = np.isin(np.arange(system.cells), [5, 6, 9, 10])
    >>> found = intervals(Printed.suppressed(system, values, hidden, floor=1), [5, 6])
    >>> found
    Intervals(2 targets: 2 whole, narrowest 5)
    >>> found.lower.tolist(), found.upper.tolist()
    ([1.0, 2.0], [6.0, 7.0])
    """
    from scipy.sparse import issparse

    clock = Clock.of(seconds)
    sums: csr_matrix = targets if issparse(targets) else target_sums(printed.system, targets)
    tables = Tables(reduced(printed, sums), clock, Effort(effort).of(NODES))
    in_threads(partial(_linear, tables=tables), tables.ends)
    if tables.seen:
        in_threads(partial(_whole, tables=tables), tables.ends)
    return _intervals(tables, sums.shape[0])


def _linear(ends: Ends, tables: Tables) -> None:
    near = 1e-6 * ends.unit
    for target in range(len(ends.component.targets)):
        for up in (False, True):
            if tables.clock.over():
                return
            reached = (
                ends.fit_high[target] >= ends.upper[target] - near
                if up
                else ends.fit_low[target] <= ends.lower[target] + near
            )
            if reached:
                ends.linear[int(up), target] = True
            elif not ends.linear[int(up), target]:
                ends.solve(target, up, tables.limit)


def _whole(ends: Ends, tables: Tables) -> None:
    for target in range(len(ends.component.targets)):
        for up in (False, True):
            if tables.clock.over():
                return
            if ends.open(up)[target]:
                ends.solve_whole(target, up, tables.limit)


def _intervals(tables: Tables, targets: int) -> Intervals:
    nothing = np.full(targets, math.inf)
    linear = np.ones(targets, bool)
    for ends in tables.ends:
        linear[ends.component.targets] &= ends.linear.all(0)
    lower, upper = tables.total("lower"), tables.total("upper")
    seen_low, seen_high = fit_low, fit_high = nothing, -nothing
    real = not tables.reduced.printed.system.outer
    if real and tables.seen:
        seen_low, seen_high = tables.total("seen_low"), tables.total("seen_high")
    if real and tables.fit:
        fit_low, fit_high = tables.total("fit_low"), tables.total("fit_high")
    proof = np.where(linear & real, Proof.LINEAR, Proof.NONE)
    proof = np.where((seen_low == lower) & (seen_high == upper), Proof.WHOLE, proof)
    stopped = tables.clock.sentence("some ends are not the narrowest", "Allow more seconds.")
    return Intervals(
        lower, upper, seen_low, seen_high, fit_low, fit_high, proof.astype(str), stopped
    )
