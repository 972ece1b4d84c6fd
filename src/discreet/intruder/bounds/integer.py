"""Sharp bounds by branch and bound, where linear programs leave a doubt."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InconsistentRelease
from discreet.intruder.bounds.linear import SLACK, highs
from discreet.intruder.bounds.opencells import Ints, OpenCells

SMALL = 1 << 10  # cells up to which nodes are counted, and no clock decides
MOST_NODES = 2**31 - 1


class Limit(NamedTuple):
    """How long one integer program may take."""

    nodes: int = MOST_NODES
    seconds: float = math.inf

    @property
    def finite(self) -> bool:
        return self.nodes < MOST_NODES or math.isfinite(self.seconds)

    def within(self, seconds: float) -> Limit:
        return self._replace(seconds=min(self.seconds, seconds))


UNLIMITED = Limit()
BRANCH = Limit(nodes=300)
BRANCH_LARGE = Limit(seconds=1.0)


def limits(cells: int) -> Limit:
    """What a program over so many cells is allowed where there are many of them."""
    return BRANCH if cells <= SMALL else BRANCH_LARGE


@dataclass(eq=False)
class IntegerProgram:
    """min and max of sums of cells over the integer tables that fit a release (HiGHS)."""

    cells: OpenCells
    model: Any

    @classmethod
    def build(cls, cells: OpenCells) -> IntegerProgram:
        import highspy

        model = highs(cells)
        count = len(cells.codes)
        whole = np.full(count, int(highspy.HighsVarType.kInteger), np.uint8)
        model.changeColsIntegrality(count, np.arange(count, dtype=np.int32), whole)
        model.setOptionValue("mip_rel_gap", 0.0)
        model.setOptionValue("mip_abs_gap", 0.99)
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
        import highspy

        places = columns.astype(np.int32)
        self.model.changeColsCost(len(places), places, cost)
        self.model.setOptionValue("time_limit", min(limit.seconds, 1e9))
        self.model.setOptionValue("mip_max_nodes", limit.nodes)
        target = -math.inf if enough is None else float(enough)
        self.model.setOptionValue("objective_target", target)
        self.model.run()
        if self.model.getModelStatus() == highspy.HighsModelStatus.kInfeasible:
            raise InconsistentRelease("no table of whole numbers fits the release.")
        info = self.model.getInfo()
        table = None
        if info.primal_solution_status == 2:
            table = self.cells.as_table(np.asarray(self.model.getSolution().col_value))
        self.model.changeColsCost(len(places), places, np.zeros(len(places)))
        return float(info.mip_dual_bound), table
