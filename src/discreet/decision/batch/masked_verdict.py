"""The verdict on sheets behind a mask, by who knows the mask."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.coded import Coded
from discreet.decision.batch.judge import SOON, joined, too_large, unjudged
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.effort import Clock, Effort
from discreet.masks.masked import Masked
from discreet.release.printed import Printed
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet, Status

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
MOST_KNOWN = 5_000  # cells that the law is told one by one


@dataclass
class Work:
    records: Records
    sheets: tuple[Sheet, ...]
    policy: Policy
    out: Mapping[str, Floats]
    effort: float
    clock: Clock

    def case(self, sheets: Sequence[Sheet], measure: Measure) -> SheetCase:
        return SheetCase.of(self.records, sheets, measure, self.policy)

    def already(self, case: SheetCase) -> Bools:
        """Rows that are printed already, as they are."""
        found = np.zeros(case.cells.printed, bool)
        for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
            if sheet.status is Status.OUT:
                values = self.out.get(sheet.name)
                shown = np.ones(rows.size, bool) if values is None else ~np.isnan(values.ravel())
                found[rows.ravel()[shown]] = True
        return found

    def gaps(self, case: SheetCase) -> Bools:
        """Rows that a sheet which is out hides, and no other prints."""
        found, printed = np.zeros((2, case.cells.printed), bool)
        for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
            if sheet.status is Status.WANTED:
                printed[rows.ravel()] = True
            elif sheet.status is Status.OUT and sheet.name in self.out:
                found[rows.ravel()[np.isnan(self.out[sheet.name].ravel())]] = True
        return np.asarray(found & ~printed & ~self.already(case))

    # The verdict

    def judge(self, case: SheetCase, masked: Masked) -> list[Reason]:
        """By cells, and by the law where all cells can be told to it one by one."""
        printed = masked.printed
        if printed is None:
            return self._perturbed(case, masked)
        cells = case.judge(printed, effort=self.effort, seconds=self.clock)
        cells = cells or [Reason("cells", Verdict.PASS, "no cell is one that a rule asks about.")]
        if case.cells.measure.value is not None:
            return cells
        if worst(reason.verdict for reason in cells) is Verdict.FAIL:
            return cells
        law = self._law(case, printed) if case.whole else None
        if law is None:
            return [*cells, *unjudged(_printed(case), self.policy)]
        return joined(law, cells)

    def _law(self, case: SheetCase, printed: Printed) -> tuple[Reason, ...] | None:
        shown = [i for i, s in enumerate(case.system.sheets) if s.status is not Status.WATCHED]
        coded = Coded.of(self.records, [case.system.sheets[i] for i in shown])
        release = coded.release(printed, shown)
        if release is None or too_large(coded, self.policy, self.effort):
            return None
        if len(release.known) > Effort(self.effort).of(MOST_KNOWN):
            return None
        return decide(coded.table, release, self.policy, seconds=max(self.clock.left, SOON)).reasons

    def _perturbed(self, case: SheetCase, masked: Masked) -> list[Reason]:
        if masked.parameters.get("silent") is True:
            text = "it is drawn from what is out, and tells no more than that."
            return [Reason(masked.method, Verdict.PASS, text)]
        text = (
            "nothing follows for sure from perturbed cells; what they let an intruder believe is "
            "not limited by a rule."
        )
        return [Reason(masked.method, Verdict.REVIEW, text)]


def _printed(case: SheetCase) -> list[Sheet]:
    return [sheet for sheet in case.system.sheets if sheet.status is not Status.WATCHED]
