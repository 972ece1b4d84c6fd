"""Fine cells, and what follows of their sums from what is printed, by linear programs of HiGHS."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from functools import cached_property
from itertools import product
from typing import Any

import highspy
import numpy as np
from nested_batches import FAMILIES, FAMILY, Batch

CLOSE = 1e-6
Cell = Mapping[str, frozenset[str]]  # whom it holds: categories by column


class Space:
    """Fine cells: what the columns in use can say of somebody, at a step of knowledge."""

    def __init__(self, batch: Batch, columns: tuple[str, ...], step: str) -> None:
        self.batch, self.columns = batch, columns
        self.dims = [self._atoms([c for c in columns if FAMILY[c] == f], step) for f in FAMILIES]
        self.dims = [dim for dim in self.dims if dim]
        self.shape = tuple(len(dim) for dim in self.dims)
        self.size = int(np.prod(self.shape))

    def _atoms(self, columns: list[str], step: str) -> list[dict[str, str]]:
        if not columns:
            return []
        seen = {
            c: sorted({self.batch.called(c, one) for one in self.batch.seen(c)}) for c in columns
        }
        every = [dict(zip(columns, one, strict=True)) for one in product(*seen.values())]
        if step == "plain":
            return every
        roots = self.batch.roots[FAMILY[columns[0]]]
        roots = [{c: self.batch.called(c, root[c]) for c in columns} for root in roots]
        if step == "stated":
            pairs = [(a, b) for a in columns for b in self._around(a) if b in columns]
            known = {(a, b): {(r[a], r[b]) for r in roots} for a, b in pairs}
            return [one for one in every if all((one[a], one[b]) in known[a, b] for a, b in pairs)]
        own = {tuple(root[c] for c in columns) for root in roots}
        return [one for one in every if tuple(one.values()) in own]

    def _around(self, column: str) -> Iterator[str]:
        while column in self.batch.within:
            column = self.batch.within[column]
            yield column

    def mask(self, cell: Cell) -> np.ndarray:
        """The fine cells in a cell."""
        found = np.ones(self.shape, bool)
        for axis, dim in enumerate(self.dims):
            own = [all(one[c] in cell[c] for c in one if c in cell) for one in dim]
            found &= np.reshape(own, [-1 if a == axis else 1 for a in range(len(self.dims))])
        return found.ravel()

    @cached_property
    def of_record(self) -> np.ndarray:
        found = np.zeros(len(self.batch.data), np.int64)
        for dim in self.dims:
            names = list(dim[0])
            place = {tuple(one.values()): i for i, one in enumerate(dim)}
            called = ([self.batch.called(c, one) for one in self.batch.text[c]] for c in names)
            rows = zip(*called, strict=True)
            found = found * len(dim) + np.array([place[row] for row in rows])
        return found


class Program:
    """lower <= rows @ x <= upper, 0 <= x <= most: least and greatest of sums, and tables seen."""

    def __init__(self, rows, lower, upper, most, truth, whole: np.ndarray) -> None:
        self.rows, self.lower, self.upper, self.most = rows, lower, upper, most
        self.whole, self.truth = whole, truth
        self.scale = max(1.0, float(np.abs(truth).max(initial=1.0)))
        inside = rows @ truth
        slack = CLOSE * self.scale
        assert (inside >= lower - slack).all(), "what is printed is not true"
        assert (inside <= upper + slack).all(), "what is printed is not true"
        assert (truth <= most + slack).all(), "somebody is where nobody can be"
        self.seen, self.seen_whole = [truth], [truth]
        self.programs = 0
        self._linear = self._model(False)

    def _model(self, whole: bool) -> Any:
        model = highspy.Highs()
        model.setOptionValue("output_flag", False)
        model.setOptionValue("threads", 1)
        many = self.rows.shape[1]
        model.addVars(
            many, np.zeros(many), np.where(np.isinf(self.most), highspy.kHighsInf, self.most)
        )
        for row, low, high in zip(self.rows, self.lower, self.upper, strict=True):
            at = np.flatnonzero(row)
            high = highspy.kHighsInf if np.isinf(high) else high
            model.addRow(low, high, len(at), at.astype(np.int32), row[at].astype(float))
        if whole:
            at = np.flatnonzero(self.whole).astype(np.int32)
            model.changeColsIntegrality(
                len(at), at, np.full(len(at), highspy.HighsVarType.kInteger)
            )
            model.setOptionValue("time_limit", 10.0)
        else:
            model.setOptionValue("presolve", "off")
        return model

    def best(self, cost: np.ndarray, up: bool, whole: bool) -> float | None:
        """The greatest or least of a sum; None if that was not settled."""
        model = self._model(True) if whole else self._linear
        many = len(cost)
        sign = -1.0 if up else 1.0
        model.changeColsCost(many, np.arange(many, dtype=np.int32), sign * cost.astype(float))
        model.run()
        self.programs += 1
        status = model.getModelStatus()
        if status in (
            highspy.HighsModelStatus.kUnbounded,
            highspy.HighsModelStatus.kUnboundedOrInfeasible,
        ):
            return np.inf if up else -np.inf
        if status != highspy.HighsModelStatus.kOptimal:
            return None
        x = np.array(model.getSolution().col_value)
        self.seen.append(x)
        if np.abs(x[self.whole] - np.rint(x[self.whole])).max(initial=0.0) < 1e-7:
            x = np.where(self.whole, np.rint(x), x)
            inside = self.rows @ x
            slack = CLOSE * self.scale
            if (inside >= self.lower - slack).all() and (inside <= self.upper + slack).all():
                self.seen_whole.append(x)
        value = float(sign * model.getInfo().objective_function_value)
        return value if not whole else float(np.rint(value)) if self.whole.all() else value

    def ends(
        self, cost: np.ndarray, low: float, high: float, whole: bool
    ) -> tuple[float, float] | None:
        """The interval of a sum, as far as it has to be known to show that it reaches both ends."""
        seen = np.array(self.seen_whole if whole else self.seen) @ cost
        slack = CLOSE * max(
            1.0, abs(low) if np.isfinite(low) else 1.0, abs(high) if np.isfinite(high) else 1.0
        )
        least, most = float(seen.min()), float(seen.max())
        for whole_now in (False, True) if whole else (False,):
            if least > low + slack:
                found = self.best(cost, False, whole_now)
                if found is None:
                    return None
                if whole_now or not whole:
                    least = found
                elif found > low + slack:
                    return found, self._other(cost, True, most)
                seen = np.array(self.seen_whole if whole else self.seen) @ cost
                least, most = min(least, float(seen.min())), max(most, float(seen.max()))
            if most < high - slack:
                found = self.best(cost, True, whole_now)
                if found is None:
                    return None
                if whole_now or not whole:
                    most = found
                elif found < high - slack:
                    return self._other(cost, False, least), found
                seen = np.array(self.seen_whole if whole else self.seen) @ cost
                least, most = min(least, float(seen.min())), max(most, float(seen.max()))
        return least, most

    def _other(self, cost: np.ndarray, up: bool, known: float) -> float:
        found = self.best(cost, up, False)
        return known if found is None else found

    def width(self, cost: np.ndarray, wanted: float, whole: bool) -> tuple[float, float] | None:
        """The interval of a sum, or a part of it that is as wide as wanted."""
        seen = np.array(self.seen_whole if whole else self.seen) @ cost
        if seen.max() - seen.min() >= wanted - CLOSE:
            return float(seen.min()), float(seen.max())
        ends = [self.best(cost, up, False) for up in (False, True)]
        if None in ends:
            return None
        low, high = ends
        if whole:
            low, high = np.ceil(low - CLOSE), np.floor(high + CLOSE)
            if high - low < wanted - CLOSE:
                return float(low), float(high)
            seen = np.array(self.seen_whole) @ cost
            if seen.max() - seen.min() >= wanted - CLOSE:
                return float(seen.min()), float(seen.max())
            ends = [self.best(cost, up, True) for up in (False, True)]
            if None in ends:
                return None
            low, high = ends
        return float(low), float(high)
