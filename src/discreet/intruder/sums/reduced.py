"""Printed sheets as small programs: what follows at once is fixed, the rest falls apart."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.errors import InconsistentRelease
from discreet.intruder.sums.implied import implied
from discreet.intruder.sums.propagate import propagate, rounded
from discreet.release.printed import Printed

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

NEAR = 1e-11  # of the largest value: sums of fractions are equal


@dataclass(frozen=True, eq=False)
class Component:
    """floor <= matrix @ x <= ceiling, lower <= x <= upper, over columns of `Reduced`.

    `targets` are those it has a share in, `shares @ x` the share.
    """

    columns: Ints
    matrix: csr_matrix
    floor: Floats
    ceiling: Floats
    lower: Floats
    upper: Floats
    targets: Ints
    shares: csr_matrix

    def holds(self, x: Floats, slack: float = 0.0) -> bool:
        """Does x fit?"""
        sums = self.matrix @ x
        rows = (sums >= self.floor - slack) & (sums <= self.ceiling + slack)
        return bool(
            rows.all() and (x >= self.lower - slack).all() and (x <= self.upper + slack).all()
        )


@dataclass(frozen=True, eq=False)
class Merge:
    """Columns that are alike become one, their sum; `of` is -1 for columns that are fixed."""

    of: Ints
    lower: Floats
    upper: Floats

    @cached_property
    def _order(self) -> Ints:
        order = np.argsort(self.of, kind="stable")
        return np.asarray(order[self.of[order] >= 0])

    def sums(self, single: Floats) -> Floats:
        order = self._order
        return _added(self.of[order], single[order], int(self.of.max(initial=-1)) + 1)

    def lift(self, sums: Floats) -> Floats:
        """Some values of the single columns: whole numbers if sums and bounds are."""
        found = self.lower.copy()
        order = self._order
        group = self.of[order]
        rest = sums - np.bincount(group, self.lower[order], minlength=len(sums))
        space = np.minimum(self.upper[order] - self.lower[order], rest.max(initial=0.0) + 1.0)
        before = np.cumsum(space) - space
        first = np.searchsorted(group, np.arange(len(sums)))
        before -= before[np.minimum(first, max(len(before) - 1, 0))][group] if len(group) else 0
        found[order] += np.clip(rest[group] - before, 0.0, space)
        return found


@dataclass(frozen=True, eq=False)
class Reduced:
    """A publication without what is settled: target = constant + sum of the components' shares.

    Cells below a printed zero and sums with one solution are fixed; rows that others add up to are
    left out; fine cells that no remaining
    row and no target tells apart are added up, which loses no whole number as each such sum can be
    divided within the bounds; what shares no row is a component of its own. Exact: the tables that
    fit are those that `table` makes of solutions of the components.
    """

    printed: Printed
    components: tuple[Component, ...]
    constant: Floats
    columns: int
    merges: tuple[Merge, ...]
    slack: float

    def table(self, x: Floats) -> Floats:
        """The fine cells of a solution, all components together."""
        for merge in reversed(self.merges):
            x = merge.lift(x)
        return x

    def solution(self, fine: Floats) -> Floats:
        """The columns of a table."""
        for merge in self.merges:
            fine = merge.sums(fine)
        return fine

    def fits(self, fine: Floats, slack: float | None = None) -> bool:
        """Is this a table that was printed so? Every printed cell is looked at."""
        printed, near = self.printed, self.slack if slack is None else slack
        sums = printed.system.sums @ fine
        agree = printed.system.agree @ fine
        return bool(
            (sums >= printed.lower - near).all()
            and (sums <= printed.upper + near).all()
            and (np.abs(agree) <= near).all()
            and (fine >= np.asarray(printed.least) - near).all()
            and (fine <= np.asarray(printed.most) + near).all()
        )


def reduced(printed: Printed, targets: csr_matrix) -> Reduced:
    """What the programs over a publication are."""
    from scipy.sparse import csr_matrix, vstack

    system = printed.system
    matrix = csr_matrix(vstack([system.sums, system.agree], format="csr"))
    rest = np.zeros(system.agree.shape[0])
    rows = _Rows(matrix, np.r_[printed.lower, rest], np.r_[printed.upper, rest], printed.whole)
    slack = 0.0 if printed.whole else NEAR * _scale(printed.lower, printed.upper)
    lower = np.broadcast_to(np.asarray(printed.least, float), system.columns).copy()
    upper = np.broadcast_to(np.asarray(printed.most, float), system.columns).copy()
    lower, upper = rounded(lower, upper, printed.whole)
    lower, upper = _fixed(rows, lower, upper, slack)
    constant = np.zeros(targets.shape[0])
    merges = []
    while True:
        rows, lower, upper = rows.cleaned(lower, upper, slack)
        rows = rows.without(implied(rows.matrix, rows.floor, rows.ceiling, slack))
        of = _alike(vstack([rows.matrix, targets], format="csc"), lower, upper)
        settled = of < 0
        constant += targets @ np.where(settled, lower, 0.0)
        merges.append(Merge(of, lower, upper))
        done = len(merges) > 1 and of.max(initial=-1) + 1 == len(of)
        rows, targets, lower, upper = _merged(rows, targets, lower, upper, of)
        if done:
            break
    components = _components(rows, targets, lower, upper)
    return Reduced(printed, components, constant, len(lower), tuple(merges), slack)


def _scale(*values: Floats) -> float:
    finite = np.abs(np.concatenate([v[np.isfinite(v)] for v in values] or [np.zeros(1)]))
    return float(finite.max(initial=0.0))


@dataclass(frozen=True, eq=False)
class _Rows:
    matrix: csr_matrix
    floor: Floats
    ceiling: Floats
    whole: bool

    def without(self, dropped: Bools) -> _Rows:
        keep = ~dropped
        return _Rows(self.matrix[keep], self.floor[keep], self.ceiling[keep], self.whole)

    def cleaned(self, lower: Floats, upper: Floats, slack: float) -> tuple[_Rows, Floats, Floats]:
        """Without settled columns, single columns (as bounds), rows twice, and idle rows."""
        matrix = self.matrix.tocsr()
        settled = lower >= upper
        known = matrix @ np.where(settled, lower, 0.0)
        open_ = matrix.copy()
        open_.data = open_.data * ~settled[open_.indices]
        open_.eliminate_zeros()
        open_.sort_indices()
        floor, ceiling = self.floor - known, self.ceiling - known
        if self.whole:
            floor, ceiling = rounded(floor, ceiling, True)
        size = np.diff(open_.indptr)
        if (empty := (size == 0) & ((floor > slack) | (ceiling < -slack))).any():
            raise _impossible(int(np.argmax(empty)))
        lower, upper = lower.copy(), upper.copy()
        single = np.flatnonzero(size == 1)
        column, value = open_.indices[open_.indptr[single]], open_.data[open_.indptr[single]]
        ends = np.sort(np.array([floor[single] / value, ceiling[single] / value]), axis=0)
        np.maximum.at(lower, column, ends[0])
        np.minimum.at(upper, column, ends[1])
        lower, upper = rounded(lower, upper, self.whole)
        lower, upper = _meet(lower, upper, slack)
        first: dict[bytes, int] = {}
        same = np.arange(len(size))
        for row in np.flatnonzero(size > 1).tolist():
            part = slice(open_.indptr[row], open_.indptr[row + 1])
            key = open_.indices[part].tobytes() + open_.data[part].tobytes()
            same[row] = first.setdefault(key, row)
        np.maximum.at(floor, same, floor.copy())
        np.minimum.at(ceiling, same, ceiling.copy())
        if (floor > ceiling + slack).any():
            raise _impossible(int(np.argmax(floor > ceiling + slack)))
        ceiling = np.maximum(floor, ceiling)
        least, most = _activity(open_, lower, upper)
        keep = (size > 1) & (same == np.arange(len(size)))
        keep &= (least < floor) | (most > ceiling)
        return _Rows(open_[keep], floor[keep], ceiling[keep], self.whole), lower, upper


def _fixed(rows: _Rows, lower: Floats, upper: Floats, slack: float) -> tuple[Floats, Floats]:
    """Bounds with every column settled that rows settle one after the other."""
    least, most = propagate(rows.matrix, rows.floor, rows.ceiling, lower, upper, rows.whole, slack)
    if (least > most + slack).any():
        raise _impossible(int(np.argmax(least > most + slack)))
    settled = most - least <= slack
    lower, upper = lower.copy(), upper.copy()
    lower[settled] = upper[settled] = least[settled]
    return lower, upper


def _meet(lower: Floats, upper: Floats, slack: float) -> tuple[Floats, Floats]:
    if (lower > upper + slack).any():
        raise _impossible(int(np.argmax(lower > upper + slack)))
    return lower, np.where(upper - lower <= slack, lower, upper)


def _impossible(number: int) -> InconsistentRelease:
    return InconsistentRelease(
        f"no table has what is printed (row or cell {number} of the system contradicts the rest); "
        "correct the printed values."
    )


def _activity(matrix: csr_matrix, lower: Floats, upper: Floats) -> tuple[Floats, Floats]:
    """The least and the most of each row by the bounds of its columns alone."""
    row = np.repeat(np.arange(matrix.shape[0]), np.diff(matrix.indptr))
    value, column = matrix.data, matrix.indices
    up = value > 0
    least = np.where(up, lower[column], upper[column]) * value
    most = np.where(up, upper[column], lower[column]) * value
    height = matrix.shape[0]
    return _added(row, least, height), _added(row, most, height)


def _added(place: Ints, amounts: Floats, size: int) -> Floats:
    return np.asarray(np.bincount(place, amounts, size), np.float64)


def _alike(matrix: csr_matrix, lower: Floats, upper: Floats) -> Ints:
    """The class of each column with the same entries, -1 where it is settled."""
    by_column = matrix.tocsc()
    by_column.sort_indices()
    start, row, value = by_column.indptr, by_column.indices, by_column.data
    of = np.full(len(lower), -1, np.int64)
    classes: dict[bytes, int] = {}
    for column in np.flatnonzero(lower < upper).tolist():
        part = slice(start[column], start[column + 1])
        key = row[part].tobytes() + value[part].tobytes()
        key += b"" if np.isfinite(lower[column]) else str(column).encode()
        of[column] = classes.setdefault(key, len(classes))
    return of


def _merged(
    rows: _Rows, targets: csr_matrix, lower: Floats, upper: Floats, of: Ints
) -> tuple[_Rows, csr_matrix, Floats, Floats]:
    """One column a class; what is settled moves to the other side."""
    from scipy.sparse import csr_matrix

    left = np.flatnonzero(of >= 0)
    classes = int(of.max(initial=-1)) + 1
    first = np.zeros(classes, np.int64)
    first[of[left][::-1]] = left[::-1]
    known = rows.matrix @ np.where(of < 0, lower, 0.0)
    matrix = csr_matrix(rows.matrix[:, first])
    return (
        _Rows(matrix, rows.floor - known, rows.ceiling - known, rows.whole),
        csr_matrix(targets[:, first]),
        _added(of[left], lower[left], classes),
        _added(of[left], upper[left], classes),
    )


def _components(
    rows: _Rows, targets: csr_matrix, lower: Floats, upper: Floats
) -> tuple[Component, ...]:
    from scipy.sparse import bmat
    from scipy.sparse.csgraph import connected_components

    height, width = rows.matrix.shape
    if not width:
        return ()
    graph = bmat([[None, rows.matrix], [rows.matrix.T, None]], format="csr") if height else None
    label = connected_components(graph, directed=False)[1] if height else np.arange(width)
    of_row, of_column = label[:height], label[height:]
    loose = ~np.isin(of_column, of_row)
    found = []
    if loose.any():
        found.append((np.zeros(0, np.int64), np.flatnonzero(loose)))
    by_row, by_column = np.argsort(of_row, kind="stable"), np.argsort(of_column, kind="stable")
    for number in np.unique(of_row):
        ends = [
            np.searchsorted(of[order], [number, number + 1])
            for of, order in ((of_row, by_row), (of_column, by_column))
        ]
        found.append((by_row[slice(*ends[0])], by_column[slice(*ends[1])]))
    components = []
    by_target = targets.tocsc()
    for row, column in found:
        shares = by_target[:, column].tocsr()
        own = np.flatnonzero(np.diff(shares.indptr))
        components.append(
            Component(
                column,
                rows.matrix[row][:, column].tocsr(),
                rows.floor[row],
                rows.ceiling[row],
                lower[column],
                upper[column],
                own,
                shares[own],
            )
        )
    return tuple(components)
