"""Bounds by linear programs over the cells that the margins leave open."""

from __future__ import annotations

import math
import time
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, InconsistentRelease, SolverError
from discreet.look.progress import track
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.keys import Codes, keys, lookup, unravel
from discreet.table.table import Table

MOST_CELLS = 1 << 26
MOST_OPEN = 250_000
SLACK = 1e-5
Ints = NDArray[np.int64]


@dataclass(eq=False)
class Program:
    """min and max of sums of cells over all tables that fit a release.

    One HiGHS model over the open cells; only the objective changes, so the primal simplex goes on
    from the last vertex. A vertex that is a table of integers proves whatever bound it attains, for
    every target at once.
    """

    names: tuple[str, ...]
    codes: Codes
    rows: list[tuple[Ints, Ints]]
    floors: NDArray[np.float64]
    ceilings: NDArray[np.float64]
    members: list[Ints]
    model: Any

    @classmethod
    def build(cls, release: Release, formula: Formula) -> Program:
        """The program over the variables of `formula`, with its margins and all that is known."""
        variables = [v for v in release.variables if v.name in formula.names]
        names = tuple(variable.name for variable in variables)
        tables = [release.table(margin) for margin in formula.margins]
        codes = _open_cells(names, [v.size for v in variables], tables, release)
        if len(codes) == 0:
            raise InconsistentRelease(
                f"no table fits {release.formula}: every cell is zero in some margin or excluded."
            )
        rows: list[tuple[Ints, Ints]] = []
        for table in tables:
            part = codes[:, [names.index(name) for name in table.names]]
            rows.append((lookup(table.codes, table.shape, part), table.counts))
            _check_covered(table, rows[-1][0], release)
        members, floors, ceilings = [], [], []
        for known in release.known:
            if known.upper > 0:
                members.append(np.flatnonzero(_matches(codes, names, known.cell, variables)))
                floors.append(float(known.lower))
                ceilings.append(float(known.upper))
        program = cls(names, codes, rows, np.array(floors), np.array(ceilings), members, None)
        program.model = program._highs()
        return program

    def _highs(self) -> Any:
        import highspy

        count, sizes = len(self.codes), [len(counts) for _, counts in self.rows]
        offsets = np.cumsum([0, *sizes])
        values = np.concatenate([counts for _, counts in self.rows]).astype(float)
        cells = np.tile(np.arange(count), len(self.rows))
        lines = np.concatenate(
            [row + start for (row, _), start in zip(self.rows, offsets, strict=False)]
        )
        for place, member in enumerate(self.members):
            cells = np.concatenate([cells, member])
            lines = np.concatenate([lines, np.full(len(member), offsets[-1] + place)])
        order = np.lexsort((lines, cells))
        lp = highspy.HighsLp()
        lp.num_col_ = count
        lp.num_row_ = int(offsets[-1]) + len(self.members)
        lp.col_cost_ = np.zeros(count)
        lp.col_lower_ = np.zeros(count)
        lp.col_upper_ = np.full(count, highspy.kHighsInf)
        lp.row_lower_ = np.concatenate([values, self.floors])
        lp.row_upper_ = np.concatenate([values, self.ceilings])
        lp.a_matrix_.format_ = highspy.MatrixFormat.kColwise
        lp.a_matrix_.start_ = np.searchsorted(cells[order], np.arange(count + 1)).astype(np.int32)
        lp.a_matrix_.index_ = lines[order].astype(np.int32)
        lp.a_matrix_.value_ = np.ones(len(lines))
        model = highspy.Highs()
        model.silent()
        model.setOptionValue("simplex_strategy", 4)
        model.passModel(lp)
        return model

    def bounds(
        self, names: tuple[str, ...], targets: Codes, most: Ints, *, seconds: float = math.inf
    ) -> tuple[Ints, Ints, NDArray[np.bool_]]:
        """lower, upper, attained for the sums of cells that agree with each target.

        `most` are upper bounds that are known to hold. What is not solved within `seconds` keeps
        them, and is not called attained.
        """
        sizes = [
            int(max(self.codes[:, self.names.index(n)].max(), targets[:, i].max())) + 1
            for i, n in enumerate(names)
        ]
        part = self.codes[:, [self.names.index(name) for name in names]]
        key, inverse = np.unique(keys(targets, sizes), return_inverse=True)
        group = np.searchsorted(key, keys(part, sizes))
        group[group == len(key)] = 0
        group = np.where(key[group] == keys(part, sizes), group, len(key))
        cap = np.zeros(len(key), np.int64)
        cap[inverse] = most
        lower, upper, low_seen, high_seen = self._solve(group, cap, seconds)
        attained = (low_seen == lower) & (high_seen == upper)
        return lower[inverse], upper[inverse], attained[inverse]

    def _solve(self, group: Ints, cap: Ints, seconds: float) -> tuple[Ints, Ints, Ints, Ints]:
        count = len(cap)
        member = (
            [np.flatnonzero(group == g) for g in range(count)]
            if count < 64
            else _groups(group, count)
        )
        lower, upper = np.zeros(count, np.int64), cap.copy()
        upper[[len(m) == 0 for m in member]] = 0
        low_seen = np.full(count, np.iinfo(np.int64).max)
        high_seen = np.full(count, -1, np.int64)
        empty = np.array([len(m) == 0 for m in member])
        low_seen[empty] = high_seen[empty] = 0
        end = time.monotonic() + seconds

        def solve(cells: Ints, sign: int) -> int:
            self.model.changeColsCost(
                len(cells), cells.astype(np.int32), np.full(len(cells), -float(sign))
            )
            self.model.run()
            self._check_solved()
            table = self._integer_solution()
            value = sign * -self.model.getInfo().objective_function_value
            self.model.changeColsCost(len(cells), cells.astype(np.int32), np.zeros(len(cells)))
            if table is not None:
                sums = np.bincount(group, table, minlength=count + 1)[:count].astype(np.int64)
                np.minimum(low_seen, sums, out=low_seen)
                np.maximum(high_seen, sums, out=high_seen)
            return math.floor(value + SLACK) if sign > 0 else math.ceil(value - SLACK)

        for g in track(range(count), "linear programs"):
            if time.monotonic() > end:
                break
            if high_seen[g] < upper[g]:
                upper[g] = min(upper[g], solve(member[g], 1))
            if low_seen[g] > lower[g]:
                lower[g] = max(lower[g], solve(member[g], -1))
        return lower, upper, low_seen, high_seen

    def _check_solved(self) -> None:
        import highspy

        status = self.model.getModelStatus()
        if status == highspy.HighsModelStatus.kInfeasible:
            raise InconsistentRelease(
                "no table fits the release: its margins and what is known of single cells "
                "contradict each other."
            )
        if status != highspy.HighsModelStatus.kOptimal:
            raise SolverError(
                f"the linear program ended with {self.model.modelStatusToString(status)!r}; "
                "release fewer margins, or give it more time."
            )

    def _integer_solution(self) -> Ints | None:
        """The vertex as a table, if it is one: whole numbers that give every published value."""
        solution = np.asarray(self.model.getSolution().col_value)
        table = np.rint(solution).astype(np.int64)
        if np.abs(solution - table).max() > 1e-4 or table.min() < 0:
            return None
        for row, counts in self.rows:
            if not np.array_equal(np.bincount(row, table, len(counts)).astype(np.int64), counts):
                return None
        for member, floor, ceiling in zip(self.members, self.floors, self.ceilings, strict=True):
            if not floor <= table[member].sum() <= ceiling:
                return None
        return table


def _groups(group: Ints, count: int) -> list[Ints]:
    order = np.argsort(group, kind="stable")
    cuts = np.searchsorted(group[order], np.arange(count + 1))
    return [order[cuts[g] : cuts[g + 1]] for g in range(count)]


def _open_cells(
    names: tuple[str, ...], shape: list[int], tables: list[Table], release: Release
) -> Codes:
    """Cells that no released count and no structural zero forces to be empty."""
    if math.prod(shape) > MOST_CELLS:
        raise DataError(
            f"the release ties together {len(names)} variables with {math.prod(shape):,} cells, "
            "too many for linear programs; release margins that form a decomposable graph."
        )
    mask = np.ones(shape, bool)
    for table in tables:
        axes = [names.index(name) for name in table.names]
        dense = (table.dense() > 0).transpose(np.argsort(axes))
        mask &= dense.reshape([n if i in axes else 1 for i, n in enumerate(shape)])
    for known in release.known:
        if known.upper == 0:
            at = dict(known.cell)
            variables = {v.name: v for v in release.variables}
            mask[tuple(variables[n].code(at[n]) if n in at else slice(None) for n in names)] = False
    places = np.flatnonzero(mask)
    if len(places) > MOST_OPEN:
        raise DataError(
            f"the release leaves {len(places):,} cells open, more than {MOST_OPEN:,}, too many for "
            "linear programs; release margins that form a decomposable graph."
        )
    return unravel(places, shape)


def _matches(
    codes: Codes, names: tuple[str, ...], cell: tuple[tuple[str, str], ...], variables: list[Any]
) -> NDArray[np.bool_]:
    chosen = np.ones(len(codes), bool)
    for name, category in cell:
        place = names.index(name)
        chosen &= codes[:, place] == variables[place].code(category)
    return chosen


def _check_covered(table: Table, rows: Ints, release: Release) -> None:
    """A positive count needs an open cell under it."""
    found = np.zeros(len(table), bool)
    found[rows] = True
    if not found.all():
        cell = table.nonzero().label(int(np.argmin(found)))
        where = ", ".join(f"{name}={category}" for name, category in cell.items())
        raise InconsistentRelease(
            f"no table fits {release.formula}: {where} is {int(table.counts[np.argmin(found)])}, "
            "but every cell under it is zero in another margin or excluded."
        )
