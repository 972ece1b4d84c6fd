"""Who is behind each cell: how many contributors, what they sum to, the largest of them."""

from __future__ import annotations

from dataclasses import dataclass, field, fields
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure
from discreet.sheets.system import System
from discreet.table.table import Table

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

KEPT = 6  # largest contributors of a cell
SPAN = 500_000  # pairs of a cell and a record that are sorted at once


@dataclass(frozen=True, eq=False)
class Contributions:
    """Cells of a system, the printed rows first, then the fine cells that no row prints.

    `values` is what a sheet prints: counts or sums, weighted if the measure says so. `number` are
    the contributors, owners counted once, of the value or of the shadow, whichever are fewer;
    `present` are those with and without a contribution of more than 0; `usual` is an average
    contribution to the value. `largest` and `weights` are those of the largest, each contribution
    unweighted, `judged` what they are part of (the shadow variable's sum, if there is one). `asked`
    is the largest contribution of somebody who asked to be protected, and `alone` the only
    contributor to the value of a cell, -1 if there are others. `sensitive`: the codebook calls the
    value so.
    """

    system: System
    measure: Measure
    fine: Floats
    open_columns: Ints
    values: Floats
    judged: Floats
    number: Ints
    largest: Floats
    weights: Floats
    asked: Floats
    alone: Ints
    present: Ints
    usual: float
    table: Table = field(repr=False)
    sensitive: bool = False

    @classmethod
    def of(
        cls, system: System, records: Records, measure: Measure, *, kept: int = KEPT
    ) -> Contributions:
        """Add up the records' contributions in every cell, and keep the largest of each."""
        amount = _amounts(records, measure)
        weight = records.numbers[measure.weight] if measure.weight else np.ones(len(records))
        fine = system.fine(records.codes, printed_amounts(records, measure))
        openly = open_columns(system)
        values = np.concatenate([system.sums @ fine, fine[openly]])
        cells = len(values)
        if measure.value is None and measure.holding is None:
            there = np.where(records.without(measure), 0, records.people)
            people = system.fine(records.codes, there)
            number = np.rint(np.concatenate([system.sums @ people, people[openly]])).astype(int)
            first = np.arange(kept)[None] < number[:, None]
            ones, none = first.astype(float), np.full(cells, -1, np.int64)
            return cls(
                system, measure, fine, openly, values, values, number, ones, ones,
                np.zeros(cells), none, number, _mean(printed_amounts(records, measure)),
                records.table,
            )  # fmt: skip
        judged, of_value = values, amount
        if measure.shadow:
            amount = _amounts(records, measure, measure.shadow)
            shadow = system.fine(records.codes, amount * weight)
            judged = np.concatenate([system.sums @ shadow, shadow[openly]])
        owner = records.owners[measure.holding] if measure.holding else np.arange(len(records))
        asking = records.asking[measure.request] if measure.request else None
        cell, row = _where(system, records, openly)
        there = ~records.without(measure)[row]
        cell, row = cell[there], row[there]
        found = _Largest.of(cells, cell, row, owner, amount, weight, kept)
        number, alone = found.number, found.alone
        if measure.shadow:  # few of either are few; who alone has the value knows what is printed
            other = _Largest.of(cells, cell, row, owner, of_value, weight, 1)
            fewer = np.minimum(other.number, number)
            number = np.where(fewer > 0, fewer, other.number + number)
            alone = other.alone
        asked = np.zeros(cells)
        if asking is not None:
            some = np.isin(owner, owner[asking])[row]
            own = _Largest.of(cells, cell[some], row[some], owner, amount, weight, 1)
            asked = own.largest[:, 0]
        return cls(
            system, measure, fine, openly, values, judged, number, found.largest,
            found.weights, asked, alone, found.present, _mean(of_value * weight),
            records.table, measure.value in records.sensitive,
        )  # fmt: skip

    @property
    def printed(self) -> int:
        """How many cells are printed rows."""
        return self.system.cells

    @cached_property
    def person(self) -> Floats:
        """What one person adds to the count of each cell: 1, or an average weight of its people."""
        if self.measure.weight is None:
            return np.ones(len(self.values))
        people = np.maximum(self.number, 1)
        return np.where(self.number > 0, self.values / people, self.usual)

    @cached_property
    def possible(self) -> Bools:
        """The cells that somebody can be in."""
        return np.asarray(self.targets @ (~self.system.closed).astype(float) > 0)

    @cached_property
    def targets(self) -> csr_matrix:
        """Every cell as a sum of fine cells."""
        from scipy.sparse import csr_matrix, vstack

        openly = self.open_columns
        shape = (len(openly), self.system.columns)
        own = csr_matrix((np.ones(len(openly)), (np.arange(len(openly)), openly)), shape=shape)
        return csr_matrix(vstack([self.system.sums, own], format="csr"))

    def label(self, cell: int) -> dict[str, str]:
        """The lines or categories of a cell, by variable."""
        if cell < self.printed:
            sheet, place = self.system.home(cell)
            where = {grouping.name: grouping.labels[0] for grouping in sheet.where}
            return sheet.label(place) | where
        return self.system.column_label(int(self.open_columns[cell - self.printed]))


def open_columns(system: System) -> Ints:
    """Fine cells that can have people, and that no sheet prints."""
    possible = np.flatnonzero(~system.closed)
    sums = system.sums[:, possible]
    single = np.flatnonzero(np.diff(sums.indptr) == 1)
    return np.setdiff1d(possible, possible[sums.indices[sums.indptr[single]]])


def printed_amounts(records: Records, measure: Measure) -> Floats:
    """What each record adds to a printed cell, in steps so small that no sum rounds.

    A step is 2^-50 of the total or less, so that sums of any cells are exact in any order.
    """
    amount = _amounts(records, measure)
    if measure.weight:
        amount = amount * records.numbers[measure.weight]
    if not (total := float(amount.sum())) or (measure.value is None and not measure.weight):
        return amount
    step = 2.0 ** (np.ceil(np.log2(total)) - 50)
    return np.asarray(np.rint(amount / step) * step)


def _amounts(records: Records, measure: Measure, column: str | None = None) -> Floats:
    """What each record adds: its people, its value, or what a column has in place of this."""
    column = column or measure.value
    amount = records.people.astype(float) if column is None else records.numbers[column]
    return np.where(records.without(measure), 0.0, amount)


def _mean(amounts: Floats) -> float:
    """Of those above 0."""
    some = amounts[amounts > 0]
    return float(some.mean()) if len(some) else 1.0


def _where(system: System, records: Records, openly: Ints) -> tuple[Ints, Ints]:
    """Every pair of a cell and a record in it."""
    by_column = system.sums.tocsc()
    place_of_open = np.full(system.columns, -1, np.int32)
    place_of_open[openly] = system.cells + np.arange(len(openly), dtype=np.int32)
    cells, rows = [], []
    codes = system.codes_of(records.codes)
    for part in system.parts:
        column = np.full(len(records), 0, np.int64)
        for name, atom, size in zip(part.names, part.atoms, part.shape, strict=True):
            column = column * size + atom[codes[name]]
        column += part.start
        start, many = by_column.indptr[column], np.diff(by_column.indptr)[column]
        row = np.repeat(np.arange(len(records), dtype=np.int32), many)
        offset = np.arange(len(row)) - np.repeat(np.cumsum(many) - many, many)
        cells.append(by_column.indices[np.repeat(start, many) + offset])
        rows.append(row)
        hidden = place_of_open[column] >= 0
        cells.append(place_of_open[column[hidden]])
        rows.append(np.flatnonzero(hidden).astype(np.int32))
    return np.concatenate(cells), np.concatenate(rows)


@dataclass(frozen=True, eq=False)
class _Largest:
    number: Ints
    largest: Floats
    weights: Floats
    alone: Ints
    present: Ints

    @classmethod
    def of(
        cls, cells: int, cell: Ints, row: Ints, owner: Ints, amount: Floats, weight: Floats,
        kept: int,
    ) -> _Largest:  # fmt: skip
        """One contribution an owner, then the largest of each cell; nothing is no contribution.

        Record `row` is in `cell`; owner, amount and weight are those of each record.
        """
        owner = np.unique(owner, return_inverse=True)[1]
        order = np.argsort(cell, kind="stable")
        ends = np.r_[0, np.cumsum(np.bincount(cell, minlength=cells))]
        found: list[_Largest] = []
        first = 0
        while first < cells or not found:  # so many at a time that what is sorted stays small
            last = int(np.searchsorted(ends, ends[first] + SPAN, "right")) - 1
            last = min(max(first + 1, last), cells)
            there = order[ends[first] : ends[last]]
            found.append(
                cls._of(
                    last - first, cell[there] - first, owner[row[there]], amount[row[there]],
                    weight[row[there]], kept,
                )
            )  # fmt: skip
            first = last
        return cls(*(np.concatenate([getattr(o, f.name) for o in found]) for f in fields(cls)))

    @classmethod
    def _of(
        cls, cells: int, cell: Ints, owner: Ints, amount: Floats, weight: Floats, kept: int
    ) -> _Largest:
        """Of some cells; what each pair of a cell and a record in it has."""
        size = int(owner.max(initial=0)) + 1
        both, place = np.unique(cell.astype(np.int64) * size + owner, return_inverse=True)
        own = np.bincount(place, amount, len(both))
        weighted = np.bincount(place, amount * weight, len(both))
        present = np.bincount(both // size, minlength=cells)
        there = own > 0
        both, own, weighted = both[there], own[there], weighted[there]
        home = both // size
        order = np.lexsort((-own, home))
        home, own, weighted = home[order], own[order], weighted[order]
        who = (both % size)[order]
        number = np.bincount(home, minlength=cells)
        rank = np.arange(len(home)) - np.repeat(np.cumsum(number) - number, number)
        largest, weights = np.zeros((cells, kept)), np.ones((cells, kept))
        some = rank < kept
        largest[home[some], rank[some]] = own[some]
        weights[home[some], rank[some]] = weighted[some] / own[some]
        alone = np.full(cells, -1, np.int64)
        first = rank == 0
        alone[home[first]] = who[first]
        alone[number != 1] = -1
        return cls(number.astype(np.int64), largest, weights, alone, present.astype(np.int64))
