"""The cells that a release leaves open, and the sums of them that it publishes."""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.data.codebook import Variable
from discreet.errors import DataError, InconsistentRelease
from discreet.release.release import Known, Release
from discreet.table.impossible import codes_of
from discreet.table.keys import Codes, lookup, unravel
from discreet.table.lattice import bits, closure
from discreet.table.table import Table

MOST_CELLS = 1 << 26
MOST_OPEN = 250_000


@dataclass(frozen=True)
class Rows:
    """floor <= sum of some cells <= ceiling, for each row; `row`, `cell` are the ones."""

    row: Ints
    cell: Ints
    floor: Ints
    ceiling: Ints

    def hold(self, table: Ints) -> bool:
        """Does the table give every row?"""
        sums = np.bincount(self.row, table[self.cell], len(self.floor)).astype(np.int64)
        return bool(((self.floor <= sums) & (sums <= self.ceiling)).all())


@dataclass(frozen=True, eq=False)
class OpenCells:
    """Cells that no published zero rules out, under the margins and all that is known."""

    variables: tuple[Variable, ...]
    codes: Codes
    release: Release

    @classmethod
    def of(cls, release: Release) -> OpenCells:
        """The open cells over all variables of the release."""
        codes = _open(release)
        for table in release.tables:
            places = release.axes.places(table.names)
            _check_covered(table, lookup(table.codes, table.shape, codes[:, places]), release)
        return cls(release.variables, codes, release)

    @cached_property
    def lines(self) -> Ints:
        """The row of each cell in each maximal margin: cells x margins."""
        found, start = [], 0
        for table in self.release.tables:
            places = self.release.axes.places(table.names)
            found.append(start + lookup(table.codes, table.shape, self.codes[:, places]))
            start += len(table)
        return np.stack(found, axis=1)

    @cached_property
    def extra(self) -> tuple[Ints, ...]:
        """The cells of each known range that is not a zero."""
        whole, sizes = len(self.variables), self.release.axes.sizes
        place = self.release.axes.place
        ranges = self.release.ranges
        cells = [sorted(k.cell, key=lambda pair: place[pair[0]]) for k in ranges]
        every = codes_of(self.variables, [tuple(c) for c in cells if len(c) == whole])
        rows = iter(lookup(self.codes, sizes, every).tolist())
        found = []
        for known in ranges:
            row = next(rows) if len(known.cell) == whole else None
            member = np.flatnonzero(self._matches(known)) if row is None else [row] * (row >= 0)
            found.append(np.asarray(member, np.int64))
        return tuple(found)

    def _matches(self, known: Known) -> NDArray[np.bool_]:
        at = dict(known.cell)
        chosen = np.ones(len(self.codes), bool)
        for place, variable in enumerate(self.variables):
            if variable.name in at:
                chosen &= self.codes[:, place] == variable.code(at[variable.name])
        return chosen

    @cached_property
    def published(self) -> Rows:
        """A row for every positive cell of every maximal margin, and for each known range."""
        cell = np.tile(np.arange(len(self.codes)), self.lines.shape[1])
        values = np.concatenate([table.counts for table in self.release.tables])
        return self._with_known([self.lines.T.ravel()], [cell], values)

    @cached_property
    def independent(self) -> Rows:
        """The same equations without redundancy.

        For every released set T of variables one row for each of its cells in which no variable has
        its reference category; the empty set gives the total. With the most common category as
        reference there are few ones.
        """
        names, sets = self.release.names, self.release.formula.sets
        reference = self._reference()
        away = self.codes != reference
        row, cell, start, values = [], [], 0, []
        for margin in [0, *sorted(closure(sets), key=lambda s: (s.bit_count(), s))]:
            axes = list(bits(margin))
            inside = np.flatnonzero(away[:, axes].all(axis=1))
            shape = [self.variables[axis].size - 1 for axis in axes]
            shifted = self.codes[inside][:, axes].astype(np.int64)
            shifted -= shifted > reference[axes]
            place = np.ravel_multi_index(tuple(shifted.T), shape) if axes else np.zeros_like(inside)
            found, place = np.unique(place, return_inverse=True)
            row.append(start + place)
            cell.append(inside)
            start += len(found)
            codes = unravel(found, shape) if axes else np.zeros((1, 0), np.uint8)
            codes = codes + (codes >= reference[axes])
            table = self.release.table([names[axis] for axis in axes])
            values.append(table.lookup(codes.astype(table.codes.dtype)))
        return self._with_known(row, cell, np.concatenate(values))

    def _reference(self) -> NDArray[np.int64]:
        """The most common category of each variable, by its margin or by the open cells."""
        chosen = []
        for axis, variable in enumerate(self.variables):
            if self.release.formula.contains([variable.name]):
                chosen.append(int(np.argmax(self.release.table([variable.name]).dense())))
            else:
                chosen.append(int(np.argmax(np.bincount(self.codes[:, axis]))))
        return np.array(chosen, np.int64)

    def _with_known(self, row: list[Ints], cell: list[Ints], values: Ints) -> Rows:
        more = [np.full(len(member), len(values) + i) for i, member in enumerate(self.extra)]
        return Rows(
            np.concatenate([*row, *more]),
            np.concatenate([*cell, *self.extra]),
            np.append(values, np.array([known.lower for known in self.release.ranges], np.int64)),
            np.append(values, np.array([known.upper for known in self.release.ranges], np.int64)),
        )

    def group(self, names: tuple[str, ...], targets: Codes) -> Ints:
        """For each open cell the (sorted) target that it is part of, or how many there are."""
        places = self.release.axes.places(names)
        shape = [self.release.axes.sizes[place] for place in places]
        rows = lookup(targets, shape, self.codes[:, places])
        return np.where(rows >= 0, rows, len(targets))

    def as_table(self, solution: NDArray[np.float64]) -> Ints | None:
        """The solution as counts, if they are whole and give every published value."""
        table = np.rint(solution).astype(np.int64)
        if np.abs(solution - table).max(initial=0) > 1e-4 or table.min(initial=0) < 0:
            return None
        return table if self.published.hold(table) else None


def _open(release: Release) -> Codes:
    names, shape = release.names, release.axes.sizes
    if math.prod(shape) > MOST_CELLS:
        raise DataError(
            f"the release ties together {len(names)} variables with {math.prod(shape):,} cells, "
            "too many for linear programs; use the method auto."
        )
    mask = possible(release)
    for table in release.tables:
        axes = [names.index(name) for name in table.names]
        dense = (table.dense() > 0).transpose(np.argsort(axes))
        mask &= dense.reshape([n if i in axes else 1 for i, n in enumerate(shape)])
    places = np.flatnonzero(mask)
    if len(places) > MOST_OPEN:
        raise DataError(
            f"the release leaves {len(places):,} cells open, more than {MOST_OPEN:,}, too many for "
            "linear programs; use the method auto."
        )
    if len(places) == 0:
        raise InconsistentRelease(
            f"no table fits {release.formula}: every cell is zero in some margin or excluded."
        )
    return unravel(places, shape)


def possible(release: Release) -> NDArray[np.bool_]:
    """The cells of the table that no known zero rules out."""
    names, shape = release.names, release.axes.sizes
    mask = np.ones(shape, bool)
    for about, zeros in release.zeros:
        axes = [names.index(name) for name in about]
        dense = np.ones([shape[axis] for axis in axes], bool)
        dense[tuple(zeros.T)] = False
        mask &= dense.reshape([n if i in axes else 1 for i, n in enumerate(shape)])
    return mask


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
