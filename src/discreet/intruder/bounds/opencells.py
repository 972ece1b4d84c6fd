"""The cells that a release leaves open, and the sums of them that it publishes."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.errors import DataError, InconsistentRelease
from discreet.release.release import Known, Release
from discreet.table.formula import Formula
from discreet.table.keys import Codes, lookup, unravel
from discreet.table.table import Table

MOST_CELLS = 1 << 26
MOST_OPEN = 250_000
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class OpenCells:
    """Cells that no published zero rules out, and rows floor <= sum of some cells <= ceiling.

    `lines` has a column for each margin: the row that each cell adds to; `extra` the cells of each
    further row.
    """

    variables: tuple[Variable, ...]
    codes: Codes
    lines: Ints
    extra: tuple[Ints, ...]
    floors: Ints
    ceilings: Ints

    @classmethod
    def of(cls, release: Release, formula: Formula) -> OpenCells:
        """The open cells over the variables of `formula`, under its margins and what is known."""
        variables = tuple(v for v in release.variables if v.name in formula.names)
        tables = [release.table(margin) for margin in formula.margins]
        codes = _open(variables, tables, release)
        lines, counts, start = [], [], 0
        for table in tables:
            places = [formula.names.index(name) for name in table.names]
            rows = lookup(table.codes, table.shape, codes[:, places])
            _check_covered(table, rows, release)
            lines.append(rows + start)
            counts.append(table.counts)
            start += len(table)
        ranges = [known for known in release.known if known.upper > 0]
        values = np.concatenate(counts)
        return cls(
            variables,
            codes,
            np.stack(lines, axis=1),
            tuple(np.flatnonzero(_matches(codes, variables, known)) for known in ranges),
            np.append(values, np.array([known.lower for known in ranges], np.int64)),
            np.append(values, np.array([known.upper for known in ranges], np.int64)),
        )

    def entries(self) -> tuple[Ints, Ints]:
        """Row and column of every one in the constraint matrix."""
        start = len(self.floors) - len(self.extra)
        columns = np.repeat(np.arange(len(self.codes)), self.lines.shape[1])
        rows = [np.full(len(member), start + place) for place, member in enumerate(self.extra)]
        return (
            np.concatenate([self.lines.ravel(), *rows]),
            np.concatenate([columns, *self.extra]),
        )

    def group(self, names: tuple[str, ...], targets: Codes) -> Ints:
        """For each open cell the (sorted) target that it is part of, or the number of targets."""
        mine = [variable.name for variable in self.variables]
        places = [mine.index(name) for name in names]
        shape = [self.variables[place].size for place in places]
        rows = lookup(targets, shape, self.codes[:, places])
        return np.where(rows >= 0, rows, len(targets))

    def as_table(self, solution: NDArray[np.float64]) -> Ints | None:
        """The solution as counts, if they are whole and give every published value."""
        table = np.rint(solution).astype(np.int64)
        if np.abs(solution - table).max(initial=0) > 1e-4 or table.min(initial=0) < 0:
            return None
        rows, columns = self.entries()
        sums = np.bincount(rows, table[columns], len(self.floors)).astype(np.int64)
        return table if ((self.floors <= sums) & (sums <= self.ceilings)).all() else None


def _open(variables: tuple[Variable, ...], tables: list[Table], release: Release) -> Codes:
    names, shape = [v.name for v in variables], [v.size for v in variables]
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
            mask[tuple(v.code(at[v.name]) if v.name in at else slice(None) for v in variables)] = (
                False
            )
    places = np.flatnonzero(mask)
    if len(places) > MOST_OPEN:
        raise DataError(
            f"the release leaves {len(places):,} cells open, more than {MOST_OPEN:,}, too many for "
            "linear programs; release margins that form a decomposable graph."
        )
    return unravel(places, shape)


def _matches(codes: Codes, variables: tuple[Variable, ...], known: Known) -> NDArray[np.bool_]:
    at = dict(known.cell)
    chosen = np.ones(len(codes), bool)
    for place, variable in enumerate(variables):
        if variable.name in at:
            chosen &= codes[:, place] == variable.code(at[variable.name])
    return chosen


def _check_covered(table: Table, rows: Ints, release: Release) -> None:
    """A positive count needs an open cell under it."""
    found = np.zeros(len(table), bool)
    found[rows] = True
    if not found.all():
        lost = int(np.argmin(found))
        where = ", ".join(f"{n}={c}" for n, c in table.nonzero().label(lost).items())
        raise InconsistentRelease(
            f"no table fits {release.formula}: {where} is {int(table.counts[lost])}, but every "
            "cell under it is zero in another margin or excluded."
        )
