"""The sheets of one measure before the custodian: what the rules demand, and what is printed."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.data.amounts import step_of
from discreet.decision.batch.demands import Demand, check_asked, demands, zeros_may_be_hidden
from discreet.decision.law.findings import MOST_NAMED
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Reason
from discreet.effort import Clock, Seconds
from discreet.intruder.sums.protection import Protection
from discreet.release.printed import Printed
from discreet.sheets.contributions import Contributions, printed_amounts
from discreet.sheets.grouping import Grouping
from discreet.sheets.joined import over_joined
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet, Status
from discreet.sheets.system import System, atoms_of
from discreet.table.words import spoken

if TYPE_CHECKING:
    from discreet.decision.batch.reasons import Looked

NEAR = 1e-6  # of a person, lost in sums of weights
MOST_LOOKED = 1_000  # fine cells of a part that no sheet prints whole


@dataclass(frozen=True, eq=False)
class SheetCase:
    """Sheets of one measure, their cells, and what the policy demands of them.

    `spared` are rows and fine cells that cannot be kept from who is alone in other cells.
    `detail` are sheets before their lines were merged, whose cells are guarded, too.
    """

    records: Records
    cells: Contributions
    policy: Policy
    spared: frozenset[int] = frozenset()
    detail: tuple[Sheet, ...] = ()

    @classmethod
    def of(
        cls,
        records: Records,
        sheets: Sequence[Sheet],
        measure: Measure,
        policy: Policy,
        detail: Sequence[Sheet] = (),
    ) -> SheetCase:
        """With sheets to watch: those who can be identified in parts that tell more of them, and,
        of sums, those in `detail`.
        """
        check_asked(measure, policy)
        sums = measure.value is not None
        if sums:
            names = {one.name: f"{one.name} in detail" for one in detail}
            below = (replace(d, name=names[d.name], status=Status.WATCHED) for d in detail)
            sheets = [*sheets, *below]
        system = system_of(records, sheets, policy, sums)
        cells = Contributions.of(system, records, measure)
        return cls(records, cells, policy, detail=tuple(detail))

    @property
    def system(self) -> System:
        return self.cells.system

    @property
    def whole(self) -> bool:
        """Are the cells counts, in whole numbers?"""
        return self.cells.measure.value is None and self.cells.measure.weight is None

    @cached_property
    def step(self) -> float:
        """What all amounts are multiples of, as everybody may know; 0 if they are fractions.

        Counts are whole numbers anyway.
        """
        if self.whole:
            return 0.0
        return step_of(printed_amounts(self.records, self.cells.measure))

    @property
    def values(self) -> Floats:
        """Of the printed rows."""
        return self.cells.values[: self.cells.printed]

    @cached_property
    def demands(self) -> tuple[Demand, ...]:
        return demands(self.cells, self.policy)

    @cached_property
    def primary(self) -> Bools:
        """The printed cells that no rule lets be printed."""
        found = np.zeros(self.cells.printed, bool)
        for demand in self.demands:
            found[demand.cells[demand.cells < self.cells.printed]] = True
        return found & self.rows_of()

    @cached_property
    def protection(self) -> Protection:
        """All that is asked of cells that can be looked at closely."""
        every = np.unique(np.concatenate([d.cells for d in self.demands] or [np.zeros(0, int)]))
        return self.asked(every[~self.rough[every]])

    def rows(self, cells: Ints) -> Ints:
        """Cells by their numbers in the system: printed rows, then all fine cells."""
        printed = self.cells.printed
        openly = np.r_[self.cells.open_columns, 0]  # the last is for printed rows
        return np.where(
            cells < printed, cells, printed + openly[np.where(cells < printed, -1, cells - printed)]
        )

    @property
    def closed(self) -> Bools:
        """Fine cells that are impossible."""
        return self.system.closed

    @cached_property
    def floor(self) -> Floats:
        """What an intruder knows of a hidden count: one person at least, unless zeros are hidden
        too."""
        if self.cells.measure.value is not None:
            return np.zeros(self.cells.printed)
        person = self.cells.person[: self.cells.printed]
        return np.where(zeros_may_be_hidden(self.cells, self.policy), 0.0, person)

    @cached_property
    def intruders(self) -> tuple[tuple[int, ...], ...]:
        """Rows that somebody knows who is alone in them."""
        if not self.policy.contributors.alone or self.cells.measure.value is None:
            return ()
        alone = self.cells.alone[: self.cells.printed]
        rows = np.flatnonzero((alone >= 0) & ~self.rough[: self.cells.printed])
        found: dict[int, list[int]] = {}
        for row in rows.tolist():
            found.setdefault(int(alone[row]), []).append(row)
        return tuple(tuple(own) for own in found.values())

    # What is printed

    def rows_of(self, sheets: Iterable[int] | None = None) -> Bools:
        """The rows that some sheets print, or all that are not only watched."""
        shown = np.zeros(self.cells.printed, bool)
        if sheets is None:
            watched = Status.WATCHED
            sheets = (i for i, s in enumerate(self.system.sheets) if s.status is not watched)
        for number in sheets:
            shown[self.system.places[number].ravel()] = True
        return shown

    def printed(self, sheets: Iterable[int] | None = None) -> Printed:
        """Some sheets, or all, as they are."""
        shown = self.rows_of(sheets)
        lower = np.where(shown, self.values, 0.0)
        upper = np.where(shown, self.values, math.inf)
        most = np.where(self.closed, 0.0, math.inf) if self.closed.any() else math.inf
        return Printed(self.system, lower, upper, self.whole, 0.0, most)

    def people(self, printed: Printed) -> Printed:
        """What is printed of counts, in people: a weighted count between two values tells as many
        as these hold of its own average weight, so that those behind one that is shown are known.
        """
        if self.cells.measure.weight is None:
            return printed
        number = self.cells.number[: self.cells.printed].astype(float)
        person = self.cells.person[: self.cells.printed]
        lower = np.minimum(np.ceil(printed.lower / person - NEAR), number)
        upper = np.maximum(np.floor(printed.upper / person + NEAR), number)
        most = np.where(self.closed, 0.0, math.inf) if self.closed.any() else math.inf
        return Printed(self.system, lower, upper, True, 0.0, most)

    @cached_property
    def rough(self) -> Bools:
        """Cells below several sheets that none prints, in parts that are large."""
        column = np.zeros(self.system.columns, bool)
        for part in self.system.parts:
            whole = any(
                set(part.names) == self.system.part_names(s)
                for s, _ in self._sheets
                if s.status is not Status.WATCHED
            )
            column[part.start : part.start + part.size] = part.size > MOST_LOOKED and not whole
        found = np.r_[np.zeros(self.cells.printed, bool), column[self.cells.open_columns]]
        for sheet, rows in self._sheets:
            if sheet.status is Status.WATCHED:
                inner = self.system.sums[rows.ravel()] @ column > 0
                found[rows.ravel()] = inner
        found[: self.cells.printed] &= ~self.rows_of()
        return np.asarray(found)

    @property
    def _sheets(self) -> list[tuple[Sheet, Ints]]:
        return list(zip(self.system.sheets, self.system.places, strict=True))

    def judge(
        self,
        printed: Printed,
        *,
        about: Bools | None = None,
        effort: float = 1.0,
        seconds: Seconds = math.inf,
        looks: list[Looked] | None = None,
    ) -> list[Reason]:
        """What each rule says of what is printed, of all cells or those it is asked about.

        What was looked at for it is added to `looks`.
        """
        from discreet.decision.batch.reasons import Looked

        looked = Looked(self, printed, about, effort, Clock.of(seconds))
        if looks is not None:
            looks.append(looked)
        found = (looked.reason(demand) for demand in self.demands)
        return [reason for reason in found if reason is not None]

    def asked(self, cells: Ints) -> Protection:
        """What all demands together ask of some cells."""
        low, high = (
            np.full(len(self.cells.values), np.inf),
            np.full(len(self.cells.values), -np.inf),
        )
        width = np.zeros(len(self.cells.values))
        for demand in self.demands:
            np.minimum.at(low, demand.cells, demand.low)
            np.maximum.at(high, demand.cells, demand.high)
            np.maximum.at(width, demand.cells, demand.width)
        return Protection(self.rows(cells), low[cells], high[cells], width[cells])

    def named(self, cell: int) -> str:
        """`Sex f, Town A of table 3`."""
        label = {n: c for n, c in self.cells.label(cell).items() if c != "Total"}
        said = spoken(label, self.records.variables) or "the total"
        sheet = self.system.home(cell)[0] if cell < self.cells.printed else None
        if sheet is None or sheet.status is Status.WATCHED:
            return f"{said}, which no table prints,"
        return f"{said} of table {sheet.name}"

    def listed(self, cells: Ints) -> tuple[dict[str, Any], ...]:
        return tuple(
            {
                "cell": self.cells.label(int(cell)),
                "tables": self.tables(int(cell)),
                "count": int(self.cells.number[cell]),
            }
            for cell in cells[:MOST_NAMED]
        )

    def tables(self, cell: int) -> list[str]:
        """The sheets that print a cell."""
        if cell >= self.cells.printed:
            return []
        return [
            sheet.name
            for sheet, rows in self._sheets
            if sheet.status is not Status.WATCHED and (rows == cell).any()
        ]


def system_of(records: Records, sheets: Sequence[Sheet], policy: Policy, sums: bool) -> System:
    """Sheets, and what nobody may work out of them."""
    system = System.of(sheets, impossible=records.impossible)
    if watched := _watched(system, sums, policy.contributors.alone and sums):
        return System.of([*sheets, *watched], impossible=records.impossible)
    return system


def _watched(system: System, sums: bool, alone: bool) -> list[Sheet]:
    """What no sheet prints and nobody may work out: sheets that are never printed.

    Of each part those who can be identified; of each sheet all cells of its variables, such as
    those outside of its filter; and, for those who are `alone` in a cell, the fine cells. Of `sums`
    the cells of all parts together, which the law looks at where people are counted.
    """
    found: dict[tuple[tuple[str, bytes], ...], Sheet] = {}

    def watch(classes: Mapping[str, Ints], total: bool) -> None:
        key = tuple((name, classes[name].tobytes()) for name in sorted(classes))
        if key and key not in found:
            by_name = system.variables
            lines = [Grouping.classes(by_name[n], own, total) for n, own in classes.items()]
            found[key] = Sheet(f"watched {len(found) + 1}", tuple(lines), status=Status.WATCHED)

    for part in system.parts:
        atoms = dict(zip(part.names, part.atoms, strict=True))
        seen = {n: own for n, own in atoms.items() if system.variables[n].role.identifies}
        if len(seen) < len(atoms):
            watch(seen, False)
        if alone and part.size <= MOST_LOOKED:
            watch(atoms, True)
    if sums and len(system.parts) > 1:
        every = _of_all_parts(system)
        if math.prod(int(own.max()) + 1 for own in every.values()) <= MOST_LOOKED:
            watch(every, True)
    for sheet in system.sheets:
        classes = system.classes(sheet)
        if sheet.status is not Status.WATCHED and not _tells_all(
            over_joined(sheet, system.joined), classes
        ):
            watch(classes, True)
    return [*found.values()]


def _of_all_parts(system: System) -> dict[str, Ints]:
    """The classes of each variable that any part tells apart."""
    found: dict[str, Ints] = {}
    for part in system.parts:
        for name, own in zip(part.names, part.atoms, strict=True):
            found[name] = atoms_of(np.array([found.get(name, own), own]))
    return found


def _tells_all(sheet: Sheet, classes: Mapping[str, Ints]) -> bool:
    """Has a sheet lines for the total and for each class of its variables?"""
    for grouping in sheet.groupings:
        every = Grouping.classes(grouping.variable, classes[grouping.name], True)
        if {line.codes for line in every.lines} - {line.codes for line in grouping.lines}:
            return False
    return not sheet.where
