"""What is to be hidden, what may be, and what it costs."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Bools, Floats, Ints
from discreet.errors import DataError, DisclosureError, OptionError
from discreet.intruder.sums.protection import Protection, target_sums
from discreet.sheets.grouping import TOTAL
from discreet.sheets.system import System
from discreet.solver import Limit, Program, Sums
from discreet.table.words import spoken

NODES = 2_000
SLACK = 1e-6  # by which a move may fall short of what is asked


class Unprotectable(DisclosureError):
    """A cell that no suppression can protect; `known` are the rows of him from whom it cannot be
    kept, if that is not everybody.
    """

    def __init__(self, text: str, row: int = -1, known: Sequence[int] = ()) -> None:
        super().__init__(text)
        self.row, self.known = row, tuple(known)


@dataclass(frozen=True, eq=False)
class Problem:
    """Cells with their costs, infinite where a cell must be published, 0 where it is hidden anyway.

    `fine` is a table with these values; where a fine cell is not printed, any one of them. All of
    this in a `unit` in which amounts are of a size that a solver is good at.
    """

    system: System
    values: Floats
    fine: Floats
    targets: Protection
    primary: Bools
    costs: Floats
    floor: Floats
    ceiling: Floats
    intruders: tuple[Ints, ...] = ()
    whole: bool = True
    least: float = 0.0
    most: Floats | float = math.inf
    unit: float = 1.0

    def scaled(self) -> Problem:
        """Amounts in a power of two, so that the largest change is near 100,000."""
        if self.whole:
            return self
        unit = 2.0 ** round(math.log2(self.cap / 1e5))
        asked = self.targets
        return dataclasses.replace(
            self,
            values=self.values / unit,
            fine=self.fine / unit,
            targets=Protection(asked.rows, asked.low / unit, asked.high / unit, asked.width / unit),
            floor=self.floor / unit,
            ceiling=self.ceiling / unit,
            unit=unit,
        )

    @cached_property
    def single(self) -> Bools:
        """Rows that are one fine cell."""
        return np.asarray(np.diff(self.system.sums.indptr) == 1)

    @cached_property
    def printed(self) -> Ints:
        """The row that each fine cell is, -1 where it is not printed."""
        return printed_alone(self.system)

    @cached_property
    def base(self) -> Floats:
        """The targets' values."""
        return np.asarray(target_sums(self.system, self.targets.rows) @ self.fine)

    @cached_property
    def needs(self) -> Floats:
        """How far each target must go up, down, and both together: targets x 3."""
        up = np.maximum(self.targets.high - self.base, 0.0)
        down = np.maximum(self.base - self.targets.low, 0.0)
        return np.stack([up, down, np.maximum(self.targets.width, 0.0)], 1)

    @cached_property
    def cap(self) -> float:
        """A change beyond this is never needed."""
        needs = self.needs[np.isfinite(self.needs)]
        return 8.0 * (float(needs.max(initial=0.0)) or 1.0)

    @cached_property
    def exact(self) -> bool:
        """Is the table, and with it each whole change of it, one of whole numbers?"""
        return self.whole and bool((self.fine == np.round(self.fine)).all())

    @property
    def direct(self) -> bool:
        """Is every fine cell printed?"""
        return bool((self.printed >= 0).all())

    @property
    def below(self) -> Floats:
        """How far each hidden cell may fall."""
        return self.values - self.floor

    @property
    def above(self) -> Floats:
        return np.minimum(self.ceiling - self.values, self.cap)

    def most_of(self, columns: Ints) -> Floats:
        """What some fine cells can be at most."""
        return np.broadcast_to(np.asarray(self.most, float), (self.system.columns,))[columns]

    def lacking(self, reach: Floats) -> Bools:
        """Targets that the moves down and up so far leave without what is asked."""
        given = self.targets.given(self.base + reach[0], self.base + reach[1], SLACK)
        return np.asarray(~given)

    def name(self, row: int) -> str:
        """How a sentence names a row."""
        variables = self.system.variables.values()
        if row >= self.system.cells:
            label = self.system.column_label(row - self.system.cells)
            return f"{spoken(label, variables)}, which no table prints,"
        sheet, cell = self.system.home(row)
        label = {name: one for name, one in sheet.label(cell).items() if one != TOTAL}
        return f"{spoken(label, variables) or 'the total'} of table {sheet.name}"


def printed_alone(system: System) -> Ints:
    """The row that each fine cell is, -1 where it is not printed."""
    sums = system.sums
    alone = np.flatnonzero(np.diff(sums.indptr) == 1)
    found = np.full(system.columns, -1, np.int64)
    found[sums.indices[sums.indptr[alone]]] = alone
    return found


def priced(values: Floats, costs: str | ArrayLike) -> Floats:
    """What hiding each cell costs: its value, 1, the logarithm, or as given; never 0."""
    if isinstance(costs, str):
        size = np.abs(values)
        kinds = {
            "value": np.maximum(size, 1.0),
            "one": np.ones(len(values)),
            "log": 1.0 + np.log1p(size),
        }
        if costs not in kinds:
            raise OptionError(f"costs is {costs!r}; say {', '.join(kinds)}, or give an array.")
        return kinds[costs]
    found = np.asarray(costs, np.float64)
    if found.shape != values.shape:
        raise DataError(f"there are {len(values):,} cells and {found.size:,} costs; give as many.")
    if not (found >= 0).all():
        raise DataError(f"a cost is {found[~(found >= 0)][0]:g}; give 0 or more.")
    least = found[found > 0].min(initial=1.0)
    return np.asarray(np.maximum(found, 1e-6 * least))


def some_table(system: System, values: Floats, whole: bool, least: float, most: Any) -> Floats:
    """Fine cells that add up to the values: theirs where they are printed, else any.

    Not of whole numbers where no such table was found within the limit.
    """
    from scipy.sparse import vstack

    printed = printed_alone(system)
    if (printed >= 0).all():
        return np.asarray(values[printed], np.float64)
    matrix = vstack([system.sums, system.agree], format="csr")
    sides = np.r_[values, np.zeros(system.agree.shape[0])]
    program = Program(system.columns, Sums.of(matrix, sides, sides), lower=least, upper=most)
    found = program.solve().values
    if found is None:
        raise DataError("no table has these values; take them from one table.")
    nearest = np.round(found)
    if whole and not np.array_equal(matrix @ nearest, sides):
        program.whole(np.arange(system.columns))
        better = program.solve(Limit(nodes=NODES)).values
        if better is not None and np.array_equal(matrix @ np.round(better), sides):
            return np.round(better)
        return found
    return nearest if whole else found
