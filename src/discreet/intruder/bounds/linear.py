"""Bounds by linear programs over the cells that the margins leave open."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import InconsistentRelease, SolverError
from discreet.intruder.bounds.opencells import OpenCells
from discreet.look.progress import track
from discreet.table.keys import Codes

SLACK = 1e-5
Ints = NDArray[np.int64]


@dataclass(eq=False)
class Program:
    """min and max of sums of cells over all tables that fit a release.

    One HiGHS model over the open cells; only the objective changes, so the primal simplex goes on
    from the last vertex. A vertex that is a table of integers proves whatever bound it attains, for
    every target at once.
    """

    cells: OpenCells
    model: Any

    @classmethod
    def build(cls, cells: OpenCells) -> Program:
        return cls(cells, _highs(cells))

    def bounds(
        self, names: tuple[str, ...], targets: Codes, most: Ints, *, seconds: float = math.inf
    ) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """lower, upper, attained for the sum of the cells that agree with each target.

        `most` are upper bounds that are known to hold. What is not solved within `seconds` keeps
        them, and is not called attained.
        """
        targets, inverse = np.unique(targets, axis=0, return_inverse=True)
        cap = np.empty(len(targets), np.int64)
        cap[inverse] = most
        group = self.cells.group(names, targets)
        members = _members(group, len(targets))
        empty = np.array([len(member) == 0 for member in members])
        lower, upper = np.zeros(len(targets), np.int64), np.where(empty, 0, cap)
        seen_low = np.where(empty, 0, np.iinfo(np.int64).max)
        seen_high = np.where(empty, 0, -1)
        end = time.monotonic() + seconds
        for place in track(range(len(targets)), "linear programs"):
            if time.monotonic() > end:
                break
            for sign in (1, -1):
                done = (
                    seen_high[place] >= upper[place]
                    if sign > 0
                    else seen_low[place] <= lower[place]
                )
                if done:
                    continue
                value, table = self._optimum(members[place], sign)
                if sign > 0:
                    upper[place] = min(upper[place], math.floor(value + SLACK))
                else:
                    lower[place] = max(lower[place], math.ceil(value - SLACK))
                if table is not None:
                    sums = np.bincount(group, table, len(targets) + 1)[:-1].astype(np.int64)
                    np.minimum(seen_low, sums, out=seen_low)
                    np.maximum(seen_high, sums, out=seen_high)
        attained = (seen_low == lower) & (seen_high == upper)
        return lower[inverse], upper[inverse], attained[inverse]

    def _optimum(self, member: Ints, sign: int) -> tuple[float, Ints | None]:
        """Largest (sign 1) or smallest (-1) sum of the cells, and the vertex if it is a table."""
        import highspy

        columns = member.astype(np.int32)
        self.model.changeColsCost(len(columns), columns, np.full(len(columns), -float(sign)))
        self.model.run()
        status = self.model.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            raise InconsistentRelease(
                "no table fits the release: its margins and what is known of single cells "
                "contradict each other."
            )
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverError(
                f"the linear program ended with {self.model.modelStatusToString(status)!r}; "
                "release fewer margins."
            )
        value = -sign * float(self.model.getInfo().objective_function_value)
        solution = np.asarray(self.model.getSolution().col_value)
        self.model.changeColsCost(len(columns), columns, np.zeros(len(columns)))
        return value, self.cells.as_table(solution)


def _highs(cells: OpenCells) -> Any:
    import highspy

    rows, columns = cells.entries()
    order = np.lexsort((rows, columns))
    lp = highspy.HighsLp()
    lp.num_col_ = len(cells.codes)
    lp.num_row_ = len(cells.floors)
    lp.col_cost_ = np.zeros(lp.num_col_)
    lp.col_lower_ = np.zeros(lp.num_col_)
    lp.col_upper_ = np.full(lp.num_col_, highspy.kHighsInf)
    lp.row_lower_ = cells.floors.astype(float)
    lp.row_upper_ = cells.ceilings.astype(float)
    lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
    lp.a_matrix_.start_ = np.searchsorted(columns[order], np.arange(lp.num_col_ + 1)).astype(
        np.int32
    )
    lp.a_matrix_.index_ = rows[order].astype(np.int32)
    lp.a_matrix_.value_ = np.ones(len(rows))
    model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
    model.silent()
    model.setOptionValue("simplex_strategy", 4)
    model.passModel(lp)
    return model


def _members(group: Ints, count: int) -> list[Ints]:
    """The cells of each group; group `count` is none."""
    order = np.argsort(group, kind="stable")
    cuts = np.searchsorted(group[order], np.arange(count + 1))
    return [order[cuts[g] : cuts[g + 1]] for g in range(count)]
