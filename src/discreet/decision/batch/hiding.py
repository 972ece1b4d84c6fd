"""Suppression of the sheets of one measure: at once, or in pairs of sheets where they are many."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.masked_verdict import Work
from discreet.decision.batch.out import ends
from discreet.decision.batch.reasons import Looked
from discreet.errors import DataError, OptionError
from discreet.intruder.sums.protection import Protection
from discreet.masks.masked import Masked
from discreet.masks.suppress.problem import Unprotectable
from discreet.masks.suppress.suppress import Suppression, suppress
from discreet.release.printed import Printed
from discreet.sheets.contributions import printed_amounts
from discreet.sheets.sheet import Measure, Sheet, Status
from discreet.sheets.system import System

NEAR = 1e-6  # of a step
MOST_SPARED = 50  # cells that cannot be kept from who is alone in others
MOST_ROUNDS = 4  # in which more is hidden for what all sheets together tell


def hide(
    work: Work,
    sheets: Sequence[Sheet],
    measure: Measure,
    *,
    optimal: bool = False,
    costs: str | Callable[[SheetCase], Floats] = "value",
    known: float | None = None,
    must: Callable[[SheetCase], Bools] | None = None,
    **unused: Any,
) -> tuple[SheetCase, Masked]:
    """Primary cells by the rules, secondary ones until each keeps what the rules ask.

    `known` is how well an intruder knows every hidden value before, in percent either way.
    """
    case = work.case(sheets, measure)
    already, watched = work.already(case), ~case.rows_of()
    if (told := np.flatnonzero(already & case.primary)).size:
        raise DataError(
            f"{case.named(int(told[0]))} is out already, and no rule lets it be printed; "
            "suppression cannot take it back."
        )
    floor, ceiling = np.where(watched, 0.0, case.floor), np.full(case.cells.printed, math.inf)
    if known is not None:
        if known < 0:
            raise OptionError(f"known is {known:g}; give a percentage from 0 on.")
        floor = np.where(watched, 0.0, np.maximum(floor, case.values * (1 - known / 100)))
        ceiling = np.where(watched, math.inf, case.values * (1 + known / 100))
        if case.step:
            floor = case.step * np.ceil(floor / case.step - NEAR)
            ceiling = case.step * np.floor(ceiling / case.step + NEAR)
    low, high = ends(case, work.out)
    floor, ceiling = np.maximum(floor, low), np.minimum(ceiling, high)
    wanted = already if must is None else already | (must(case) & ~watched)
    task = _Task(
        case, floor, ceiling, costs(case) if callable(costs) else costs,
        wanted & ~case.primary, watched | work.gaps(case), optimal, work,
    )  # fmt: skip
    made = task.in_pairs() if case.rough.any() else task.at_once()
    return dataclasses.replace(case, spared=frozenset(task.spared)), made


@dataclasses.dataclass
class _Task:
    """What is to be suppressed, and how."""

    case: SheetCase
    floor: Floats
    ceiling: Floats
    costs: str | Floats
    must: Bools
    gone: Bools  # hidden anyway
    optimal: bool
    work: Work
    spared: set[int] = dataclasses.field(default_factory=set)

    def at_once(self) -> Masked:
        """In the system of all sheets."""
        case = self.case
        found = self._suppressed(
            case.intruders,
            lambda row: row,
            case.system,
            case.values,
            case.protection,
            case.primary,
            floor=self.floor,
            ceiling=self.ceiling,
            most=np.where(case.closed, 0.0, math.inf),
            whole=case.whole,
            costs=self.costs,
            must=self.must,
            hidden=self.gone,
            method="optimal" if self.optimal else "heuristic",
            fine=case.cells.fine,
            effort=self.work.effort,
            seconds=self.work.clock,
        )
        return self._masked(found.hidden, found.masked.parameters, found.said)

    def in_pairs(self) -> Masked:
        """Sheets that agree in pairs first, then more for what all of them together still tell.

        Below several sheets that none prints lie too many cells to work with. What is hidden is
        proven afterwards, by tables of all of them.
        """
        case = self.case
        real = self._alone()
        plain = System.of(real, impossible=self.work.records.impossible, most_joint=0)
        row = np.zeros(plain.cells, np.int64)  # of the whole system
        for place, sheet in enumerate(real):
            at = case.system.sheets.index(sheet)
            row[plain.places[place].ravel()] = case.system.places[at].ravel()
        back = {whole: own for own, whole in enumerate(row.tolist())}
        amounts = printed_amounts(self.work.records, case.cells.measure)
        back |= _same_columns(case.system, plain)
        there = np.array([whole in back for whole in case.protection.rows.tolist()], bool)
        asked = case.protection.take(there)
        whole_rows = asked.rows
        own = np.array([back[whole] for whole in whole_rows.tolist()], np.int64)
        asked = Protection(own, asked.low, asked.high, asked.width)
        intruders = [[back[r] for r in rows if r in back] for rows in case.intruders]
        wholes = {own: whole for whole, own in back.items()}
        hidden = self.gone[row]
        for _ in range(MOST_ROUNDS):
            found = self._suppressed(
                intruders,
                wholes.__getitem__,
                plain,
                case.values[row],
                asked,
                case.primary[row],
                floor=self.floor[row],
                ceiling=self.ceiling[row],
                most=np.where(plain.closed, 0.0, math.inf),
                whole=case.whole,
                costs=self.costs if isinstance(self.costs, str) else self.costs[row],
                must=self.must[row],
                hidden=hidden,
                fine=plain.fine(self.work.records.codes, amounts),
                effort=self.work.effort,
                seconds=self.work.clock,
            )
            hidden = found.hidden
            whole = ~case.rows_of()
            whole[row[hidden]] = True
            said = [text for text in found.said if "proven" not in text]
            if self.optimal:
                said.append("The cheapest pattern is not sought for so many linked tables.")
            made = self._masked(whole, found.masked.parameters, said)
            assert made.printed is not None
            looked = Looked(case, made.printed, None, self.work.effort, self.work.clock)
            lacking = np.isin(whole_rows, looked.lacking)
            if not lacking.any():
                break
            more = np.where(lacking, 2.0, 1.0)
            value = np.r_[case.values, case.cells.fine][whole_rows]
            asked = Protection(
                asked.rows,
                np.maximum(0.0, value - more * (value - asked.low)),
                value + more * (asked.high - value),
                asked.width * more,
            )
        return made

    def _alone(self) -> list[Sheet]:
        """The sheets, and those to watch that are over the variables of one of them."""
        system = self.case.system
        real = [sheet for sheet in system.sheets if sheet.status is not Status.WATCHED]
        shown = [system.part_names(sheet) for sheet in real]
        return [
            sheet
            for sheet in system.sheets
            if sheet in real or any(system.part_names(sheet) <= names for names in shown)
        ]

    def _suppressed(
        self,
        intruders: Sequence[Sequence[int]],
        row_of: Callable[[int], int],
        *given: Any,
        **options: Any,
    ) -> Suppression:
        """Against the outsider and every intruder, but for cells that cannot be kept from one.

        He is taken to know such a cell, and the verdict names it.
        """
        knowing = [tuple(sorted({*rows})) for rows in intruders]
        while True:
            try:
                return suppress(*given, intruders=knowing, **options)
            except Unprotectable as error:
                if error.known not in knowing:
                    raise
                knowing.remove(error.known)
                self.spared.add(row_of(error.row))
                if error.row < given[0].cells and len(self.spared) < MOST_SPARED:
                    knowing.append(tuple(sorted({*error.known, error.row})))

    def _masked(
        self, hidden: Bools, parameters: Mapping[str, object], said: Sequence[str]
    ) -> Masked:
        case = self.case
        values = np.where(hidden, np.nan, case.values)
        shown = Printed.suppressed(
            case.system, case.values, hidden, floor=self.floor, ceiling=self.ceiling,
            whole=case.whole,
        )  # fmt: skip
        if case.closed.any():
            shown = dataclasses.replace(shown, most=np.where(case.closed, 0.0, math.inf))
        return Masked(
            case.system, values, "suppression", dict(parameters), shown, case.whole, tuple(said)
        )


def _same_columns(one: System, other: System) -> dict[int, int]:
    """Fine cells of parts that two systems share, by their numbers behind the printed rows."""
    found = {}
    for part in one.parts:
        for twin in other.parts:
            same = part.names == twin.names and part.shape == twin.shape
            if same and all(map(np.array_equal, part.atoms, twin.atoms)):
                for i in range(part.size):
                    found[one.cells + part.start + i] = other.cells + twin.start + i
    return found
