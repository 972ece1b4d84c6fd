"""The one seam to the solver: linear and integer programs (HiGHS)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from enum import StrEnum
from typing import TYPE_CHECKING, Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import SolverError

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

MOST = 2**31 - 1


class Limit(NamedTuple):
    """What one program may cost: nodes and simplex iterations decide, seconds only stop."""

    nodes: int = MOST
    iterations: int = MOST
    seconds: float = math.inf

    @property
    def finite(self) -> bool:
        return min(self.nodes, self.iterations) < MOST or math.isfinite(self.seconds)

    def within(self, seconds: float) -> Limit:
        return self._replace(seconds=min(self.seconds, seconds))


UNLIMITED = Limit()


class Ended(StrEnum):
    """How a program ended."""

    BEST = "best"
    REACHED = "reached"  # what was enough
    LIMIT = "limit"
    IMPOSSIBLE = "impossible"
    ENDLESS = "endless"  # the cost falls without limit


@dataclass(frozen=True, eq=False)
class Solution:
    """How a program ended; the least cost, or a bound below it; a solution if there is one.

    `iterations` of the simplex it took, so far as they are known. `duals` of the rows and
    `reduced` costs of the columns of a linear program that was asked for them.
    """

    ended: Ended
    bound: float
    values: Floats | None
    iterations: int = 0
    duals: Floats | None = None
    reduced: Floats | None = None


@dataclass(frozen=True, eq=False)
class Sums:
    """Column j is in rows `row[start[j]:start[j + 1]]`, within floor and ceiling.

    Once each, or with the coefficients `value`.
    """

    start: Ints
    row: Ints
    floor: NDArray[Any]
    ceiling: NDArray[Any]
    value: Floats | None = None

    @classmethod
    def of(cls, matrix: csr_matrix, floor: NDArray[Any], ceiling: NDArray[Any]) -> Sums:
        by_column = matrix.tocsc()
        return cls(by_column.indptr, by_column.indices, floor, ceiling, by_column.data)


class Program:
    """min cost x over lower <= x <= upper whose sums lie in their ranges.

    With `primal` the next objective begins at the last vertex; without `presolve` a series of small
    programs is quicker, and one whose cost falls without limit is known as such. Values of `whole`
    columns are whole numbers; `gap` is how far the solution of an integer program may lie above the
    best.

    >>> program = Program(2, cost=[-1.0, -2.0], upper=3.0)
    >>> program.row([0, 1], [1.0, 1.0], most=4)
    >>> found = program.solve()
    >>> found.ended, found.bound, found.values.tolist()
    (<Ended.BEST: 'best'>, -7.0, [1.0, 3.0])
    """

    def __init__(
        self,
        columns: int,
        sums: Sums | None = None,
        *,
        cost: Any = 0.0,
        lower: Any = 0.0,
        upper: Any = math.inf,
        primal: bool = False,
        gap: float = 0.0,
        duals: bool = False,
        presolve: bool = True,
    ) -> None:
        import highspy

        self.columns, self._integer, self._duals = columns, False, duals
        lp = highspy.HighsLp()
        lp.num_col_ = columns
        lp.col_cost_ = np.broadcast_to(np.asarray(cost, np.float64), columns)
        lp.col_lower_ = np.broadcast_to(np.asarray(lower, np.float64), columns)
        lp.col_upper_ = np.broadcast_to(np.asarray(upper, np.float64), columns)
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.num_row_ = 0 if sums is None else len(sums.floor)
        lp.a_matrix_.start_ = np.zeros(columns + 1, np.int32)
        if sums is not None:
            lp.row_lower_, lp.row_upper_ = sums.floor.astype(float), sums.ceiling.astype(float)
            lp.a_matrix_.start_ = sums.start.astype(np.int32)
            lp.a_matrix_.index_ = sums.row.astype(np.int32)
            lp.a_matrix_.value_ = np.ones(len(sums.row)) if sums.value is None else sums.value
        self._model: Any = highspy.Highs()  # type: ignore[no-untyped-call]
        self._model.silent()
        self._model.setOptionValue("threads", 1)
        if primal:
            self._model.setOptionValue("simplex_strategy", 4)
        if not presolve:
            self._model.setOptionValue("presolve", "off")
        self._model.setOptionValue("mip_rel_gap", 0.0)
        self._model.setOptionValue("mip_abs_gap", gap)
        self._model.passModel(lp)

    def row(
        self, columns: Any, values: Any, *, least: float = -math.inf, most: float = math.inf
    ) -> None:
        places = np.asarray(columns, np.int32)
        self._model.addRow(least, most, len(places), places, np.asarray(values, np.float64))

    def whole(self, columns: Any) -> None:
        """These columns are whole numbers from now on."""
        import highspy

        places = np.asarray(columns, np.int32)
        kinds = np.full(len(places), int(highspy.HighsVarType.kInteger), np.uint8)
        self._model.changeColsIntegrality(len(places), places, kinds)
        self._integer = True

    def fix(self, columns: Any, values: Floats) -> None:
        self.bound(columns, values, values)

    def bound(self, columns: Any, lower: Floats, upper: Floats) -> None:
        """Other bounds of these columns."""
        places = np.asarray(columns, np.int32)
        self._model.changeColsBounds(len(places), places, lower, upper)

    def range(self, row: int, least: float, most: float) -> None:
        """Other bounds of a row."""
        self._model.changeRowBounds(int(row), float(least), float(most))

    def price(self, columns: Any, cost: Any) -> None:
        """Other costs of these columns."""
        places = np.asarray(columns, np.int32)
        self._model.changeColsCost(len(places), places, np.asarray(cost, np.float64))

    def least(
        self, columns: Any, cost: Any, limit: Limit = UNLIMITED, *, enough: float | None = None
    ) -> Solution:
        """The least cost of these columns alone; the others, and the next program, begin at 0."""
        self.price(columns, cost)
        found = self.solve(limit, enough=enough)
        self.price(columns, np.zeros(len(columns)))
        return found

    def forget(self) -> None:
        """The next program begins anew: quicker where its solution is near the start."""
        self._model.clearSolver()

    def solve(self, limit: Limit = UNLIMITED, *, enough: float | None = None) -> Solution:
        """The least cost, or with `enough` the first solution of an integer program as good."""
        import highspy

        model, status = self._model, highspy.HighsModelStatus
        # the clock of linear programs goes on from run to run
        begun = 0.0 if self._integer else model.getRunTime()
        model.setOptionValue("time_limit", min(begun + limit.seconds, 1e9))
        model.setOptionValue("mip_max_nodes", limit.nodes)
        model.setOptionValue("simplex_iteration_limit", limit.iterations)
        model.setOptionValue("objective_target", -math.inf if enough is None else float(enough))
        model.run()
        ways = {
            status.kOptimal: Ended.BEST,
            status.kObjectiveTarget: Ended.REACHED,
            status.kTimeLimit: Ended.LIMIT,
            status.kSolutionLimit: Ended.LIMIT,
            status.kIterationLimit: Ended.LIMIT,
            status.kInfeasible: Ended.IMPOSSIBLE,
            status.kUnbounded: Ended.ENDLESS,
        }
        if (found := model.getModelStatus()) not in ways:
            raise SolverError(
                f"a program ended with {model.modelStatusToString(found)!r}; release fewer margins."
            )
        ended, info = ways[found], model.getInfo()
        values = None
        if info.primal_solution_status == 2 and ended is not Ended.IMPOSSIBLE:
            values = np.asarray(model.getSolution().col_value)
        took = max(0, int(info.simplex_iteration_count))
        if self._integer:
            return Solution(ended, float(info.mip_dual_bound), values, took)
        bound = float(info.objective_function_value) if ended is Ended.BEST else -math.inf
        if not self._duals or ended is not Ended.BEST:
            return Solution(ended, bound, values, took)
        solution = model.getSolution()
        duals, reduced = np.asarray(solution.row_dual), np.asarray(solution.col_dual)
        return Solution(ended, bound, values, took, duals, reduced)
