"""Sharp bounds by branch and bound, where linear programs leave a doubt."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet import solver
from discreet.arrays import Ints
from discreet.effort import Effort
from discreet.errors import InconsistentRelease
from discreet.intruder.bounds.linear import SLACK, fitting
from discreet.intruder.bounds.opencells import OpenCells
from discreet.solver import UNLIMITED, Limit

MOST_BRANCHED = 1 << 10  # open cells; of more, the first node may take minutes
NODES = 300


def limits(cells: int, effort: float = 1.0) -> Limit | None:
    """What a program over so many open cells is allowed; None: it is not tried."""
    work = Effort(effort)
    return Limit(nodes=work.of(NODES)) if cells <= work.of(MOST_BRANCHED) else None


@dataclass(eq=False)
class IntegerProgram:
    """min and max of sums of cells over the integer tables that fit a release."""

    cells: OpenCells
    model: solver.Program

    @classmethod
    def build(cls, cells: OpenCells) -> IntegerProgram:
        model = fitting(cells)
        model.whole(np.arange(len(cells.codes)))
        return cls(cells, model)

    def optimum(
        self, member: Ints, sign: int, limit: Limit = UNLIMITED, *, enough: int | None = None
    ) -> tuple[int, Ints | None]:
        """A bound on the largest (sign 1) or smallest (-1) sum of the cells, and a table.

        The bound holds also where the limit is met; it is sharp if the table attains it. With
        `enough` the search ends at the first table that reaches it.
        """
        target = None if enough is None else -sign * enough
        bound, table = self._least(member, np.full(len(member), -float(sign)), limit, target)
        if not math.isfinite(bound):
            return (1 << 62 if sign > 0 else 0), table
        bound *= -sign
        return math.floor(bound + SLACK) if sign > 0 else math.ceil(bound - SLACK), table

    def minimum(
        self, cost: Ints, limit: Limit = UNLIMITED, *, enough: int | None = None
    ) -> tuple[int, Ints | None]:
        """A bound on the least sum of whole costs over all tables, and a table."""
        columns = np.flatnonzero(cost)
        bound, table = self._least(columns, cost[columns].astype(np.float64), limit, enough)
        return (math.ceil(bound - SLACK) if math.isfinite(bound) else -(1 << 62)), table

    def _least(
        self, columns: Ints, cost: NDArray[np.float64], limit: Limit, enough: int | None
    ) -> tuple[float, Ints | None]:
        found = self.model.least(columns, cost, limit, enough=enough)
        if found.ended is solver.Ended.IMPOSSIBLE:
            raise InconsistentRelease("no table of whole numbers fits the release.")
        table = None if found.values is None else self.cells.as_table(found.values)
        return found.bound, table
