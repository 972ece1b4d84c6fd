"""The verdict on sheets behind a mask, by who knows the mask."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np

from discreet.arrays import Bools
from discreet.decision.batch.bylaw import joined, judge_by_law, unjudged
from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.out import Out, as_it_is, check_out, ends
from discreet.decision.batch.reasons import Looked
from discreet.decision.batch.sums_that_tell import sums_that_tell
from discreet.decision.batch.suspected import Suspicion, stricter, supposing, suspicions, worlds
from discreet.decision.batch.unions import with_unions
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules.categories import NAME as HIDDEN
from discreet.decision.law.rules.categories import hidden_categories
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.effort import Clock
from discreet.look.words import plural
from discreet.masks.masked import Masked
from discreet.release.printed import Printed
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet, Status


@dataclass
class Work:
    """What a mask is made of and judged by.

    `records` are those where what was `found` is known to everybody, so that a mask holds against
    an intruder who knows it; `stated` are those where it is not. `detail` are sheets before their
    lines were merged: who is in a cell of them is guarded as before.
    """

    records: Records
    stated: Records
    found: tuple[Suspicion, ...]
    sheets: tuple[Sheet, ...]
    policy: Policy
    out: Out
    effort: float
    clock: Clock
    looks: list[Looked] = field(default_factory=list)
    detail: tuple[Sheet, ...] = ()

    @classmethod
    def of(
        cls,
        records: Records,
        sheets: tuple[Sheet, ...],
        policy: Policy,
        out: Out,
        effort: float,
        clock: Clock,
    ) -> Work:
        """With what the data look like."""
        found = suspicions(records, sheets, hidden_categories(policy))
        known = supposing(records, found) if found else records
        return cls(known, records, found, sheets, policy, out, effort, clock)

    def case(self, sheets: Sequence[Sheet], measure: Measure) -> SheetCase:
        case = SheetCase.of(self.records, sheets, measure, self.policy, self.detail)
        check_out(case, self.out)
        return case

    def already(self, case: SheetCase) -> Bools:
        """Rows that are printed already, as they are."""
        found = np.zeros(case.cells.printed, bool)
        for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
            if sheet.status is Status.OUT:
                found[rows[as_it_is(self.out.get(sheet.name), sheet.shape)]] = True
        return found

    def out_as_it_is(self, case: SheetCase) -> Printed:
        """What everybody knows of sheets that are all out."""
        shown, (low, high) = self.already(case), ends(case, self.out)
        lower, upper = np.where(shown, case.values, low), np.where(shown, case.values, high)
        most = np.where(case.closed, 0.0, math.inf)
        return Printed(case.system, lower, upper, case.whole, 0.0, most)

    def gaps(self, case: SheetCase) -> Bools:
        """Rows that a sheet which is out hides, and no other prints."""
        found, printed = np.zeros((2, case.cells.printed), bool)
        for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
            if sheet.status is Status.WANTED:
                printed[rows.ravel()] = True
            elif sheet.status is Status.OUT and sheet.name in self.out:
                found[rows[~as_it_is(self.out[sheet.name], sheet.shape)]] = True
        return np.asarray(found & ~printed & ~self.already(case))

    # The verdict

    def judge(self, case: SheetCase, masked: Masked) -> list[Reason]:
        """By who knows what was stated, and by who knows what was found, too."""
        sheets = _printed(case)
        known = worlds(self.found, sheets, hidden_categories(self.policy))
        if not known:
            return self._judge(case, masked)
        reasons: list[Reason] = []
        for found in ((), *known):
            records = supposing(self.stated, found)
            own = SheetCase.of(records, sheets, case.cells.measure, self.policy, self.detail)
            own = dataclasses.replace(own, spared=_moved_rows(case, own))
            looks = [] if found else self.looks
            work = dataclasses.replace(self, records=records, looks=looks)
            other = work._judge(own, _moved(masked, own))
            reasons = stricter(reasons, other, found) if found else other
        return reasons

    def _judge(self, case: SheetCase, masked: Masked) -> list[Reason]:
        """By cells, and by the law where all cells can be told to it one by one."""
        if lines := _hidden_lines(case, masked):
            return lines
        printed = masked.printed
        if printed is None:
            return self._perturbed(case, masked)
        whole, shown = with_unions(case, printed)
        cells = whole.judge(shown, effort=self.effort, seconds=self.clock, looks=self.looks)
        cells = cells or [Reason("cells", Verdict.PASS, "no cell is one that a rule asks about.")]
        if case.cells.measure.value is not None:
            return [*cells, *sums_that_tell(case, printed)]
        if worst(reason.verdict for reason in cells) is Verdict.FAIL:
            return cells
        sheets = _printed(case)
        places = [i for i, s in enumerate(case.system.sheets) if s in sheets]
        law = judge_by_law(
            self.records.behind(case.cells.measure), sheets, case.people(printed), places,
            self.policy, behind=[sheet.name for sheet in sheets], detail=self.detail,
            effort=self.effort, clock=self.clock,
        )  # fmt: skip
        if isinstance(law, str):
            return [*cells, *unjudged(sheets, self.policy, law)]
        return joined(law, cells)

    def _perturbed(self, case: SheetCase, masked: Masked) -> list[Reason]:
        if masked.parameters.get("silent") is True:
            text = "it is drawn from what is out, and tells no more than that."
            return [Reason(masked.method, Verdict.PASS, text)]
        text = (
            "nothing follows for sure from perturbed cells; what they let an intruder believe is "
            "not limited by a rule."
        )
        return [Reason(masked.method, Verdict.REVIEW, text)]


def _hidden_lines(case: SheetCase, masked: Masked) -> list[Reason]:
    """No mask prints a line of a hidden category, whatever number it shows."""
    for demand in case.demands:
        if demand.rule == HIDDEN:
            rows = demand.cells[demand.cells < case.cells.printed]
            bare = rows[np.isfinite(masked.values[rows]) & case.rows_of()[rows]]
            if len(bare):
                more = f", and {plural(len(bare) - 1, 'more cell')} like it" * (len(bare) > 1)
                text = f"{case.named(int(bare[0]))} is printed{more}: {demand.why}."
                return [Reason(HIDDEN, Verdict.FAIL, text, case.listed(bare))]
    return []


def _moved(masked: Masked, case: SheetCase) -> Masked:
    """The same tables as a mask of another system of them."""
    values, own = np.full(case.cells.printed, np.nan), masked.printed
    lower, upper = np.zeros(len(values)), np.full(len(values), math.inf)
    for sheet, rows in zip(masked.system.sheets, masked.system.places, strict=True):
        if sheet.status is not Status.WATCHED:
            there = case.system.places[case.system.sheets.index(sheet)]
            values[there] = masked.values[rows]
            if own is not None:
                lower[there], upper[there] = own.lower[rows], own.upper[rows]
    if own is not None:
        most = np.where(case.closed, 0.0, math.inf)
        own = Printed(case.system, lower, upper, own.whole, 0.0, most)
    return dataclasses.replace(masked, system=case.system, values=values, printed=own)


def _moved_rows(case: SheetCase, other: SheetCase) -> frozenset[int]:
    """The cells that were spared, in another system of the same sheets."""
    found: set[int] = set()
    for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
        if sheet.status is not Status.WATCHED:
            there = other.system.places[other.system.sheets.index(sheet)]
            found.update(there[np.isin(rows, [*case.spared])].tolist())
    return frozenset(found)


def _printed(case: SheetCase) -> list[Sheet]:
    return [sheet for sheet in case.system.sheets if sheet.status is not Status.WATCHED]
