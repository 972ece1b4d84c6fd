"""A batch behind a mask: made, and judged by who knows the mask."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property
from inspect import signature
from pathlib import Path
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.classes import told_by_classes
from discreet.decision.batch.judge import check_sheets
from discreet.decision.batch.judged import Judged
from discreet.decision.batch.larger import told_by_larger
from discreet.decision.batch.makers import MAKERS
from discreet.decision.batch.masked_verdict import Work
from discreet.decision.batch.measures import doubts, said_of
from discreet.decision.batch.out import Out, unknown
from discreet.decision.batch.reasons import Looked
from discreet.decision.batch.sums_that_tell import measures_that_tell
from discreet.decision.batch.unsafe import UnsafeCells, unsafe_cells
from discreet.decision.law.assess import Provenance, provenance_of
from discreet.decision.law.names import absent, names_in_doubt
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.effort import Clock, Seconds
from discreet.errors import DataError
from discreet.look.result import Paged
from discreet.look.words import plural
from discreet.masks.masked import Masked
from discreet.masks.suppress.problem import Unprotectable
from discreet.release.printed import Printed
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Sheet, Status


@dataclass(frozen=True, eq=False)
class MaskedBatch(Paged):
    """Sheets as they can be printed, how they were made, and the verdict on them.

    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    >>> found = mask(records, sheets)
    >>> print(found.to_frame()[["table", "cells", "hidden"]])
               table  cells  hidden
    0    Gender*Race     15       4
    1  Gender*Income     15       0
    >>> found.said
    ('1 cell is proven by whole tables.',)
    """

    sheets: tuple[Sheet, ...]
    masked: tuple[Masked, ...]
    method: str
    policy: Policy
    judged: Judged
    primary: tuple[int, ...]
    provenance: Provenance
    said: tuple[str, ...] = ()
    stopped: str | None = None
    cases: tuple[SheetCase, ...] = field(default=(), repr=False)
    looks: tuple[Looked, ...] = field(default=(), repr=False)

    @cached_property
    def unsafe(self) -> UnsafeCells:
        """The cells that rules forbid to print and those hidden for them; confidential."""
        return unsafe_cells(self.looks, self.judged.reasons, hiding=True)

    @property
    def verdict(self) -> Verdict:
        return self.judged.verdict

    @property
    def hidden(self) -> int:
        """Cells of all sheets that are not printed."""
        return sum(int(np.isnan(values).sum()) for _, values in self.shown())

    def shown(self) -> list[tuple[Sheet, Floats]]:
        """Every wanted sheet and what it prints, nan where nothing is."""
        found = {
            sheet.name: (sheet, masked.shown(sheet))
            for masked in self.masked
            for sheet in masked.system.sheets
            if sheet.status is Status.WANTED
        }
        return [found[sheet.name] for sheet in self.sheets if sheet.name in found]

    def __repr__(self) -> str:
        cells = sum(sheet.cells for sheet, _ in self.shown())
        hidden = f", {self.hidden:,} hidden" if self.hidden else ""
        tables = plural(len(self.shown()), "table")
        return f"MaskedBatch({self.verdict}: {self.method}, {tables}, {cells:,} cells{hidden})"

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a table: cells, hidden cells, what is printed of the sum of its inner cells."""
        from discreet.table.cells import frame

        rows = self.shown()
        columns: dict[str, Any] = {
            "table": [sheet.name for sheet, _ in rows],
            "title": [sheet.title for sheet, _ in rows],
            "cells": [sheet.cells for sheet, _ in rows],
            "hidden": [int(np.isnan(values).sum()) for _, values in rows],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet mask --json` prints; for the office, not for the public."""
        return {
            "verdict": str(self.verdict),
            "method": self.method,
            "stopped": self.stopped,
            "tables": [
                {
                    "name": sheet.name,
                    "title": sheet.title,
                    "cells": sheet.cells,
                    "hidden": int(np.isnan(values).sum()),
                }
                for sheet, values in self.shown()
            ],
            "hidden": self.hidden,
            "unsafe": self.unsafe.to_json(),
            "judged": self.judged.to_json(),
            "said": list(self.said),
            "parameters": [dict(masked.parameters) for masked in self.masked],
            "policy": {"name": self.policy.name} | self.policy.to_dict(),
            "provenance": vars(self.provenance),
        }

    def write(self, out: str | Path, **options: Any) -> list[Path]:
        """Write what can be published, and nothing else; see `discreet mask --out`."""
        from importlib import import_module

        return list(import_module("discreet.report.written").write(self.masked, out, **options))


def _made(
    work: Work, method: str, sheets: Sequence[Sheet], measure: Measure, options: Mapping[str, Any]
) -> tuple[SheetCase, Masked, list[Reason]]:
    """A mask against who knows what was found, or, if that has a better verdict, who does not."""
    best: tuple[SheetCase, Masked, list[Reason], list[Looked]] | None = None
    refused: Unprotectable | None = None
    depends = method == "suppress" and bool(work.found)
    for records in (work.records, work.stated)[: 1 + depends]:
        detail = tuple(sheets) if method == "merge" else ()
        own = dataclasses.replace(work, records=records, looks=[], detail=detail)
        try:
            case, masked = MAKERS[method](own, sheets, measure, **options)
        except Unprotectable as error:
            refused = refused or error
            continue
        reasons = own.judge(case, masked)
        verdict = worst(reason.verdict for reason in reasons)
        if best is None or verdict.rank < worst(r.verdict for r in best[2]).rank:
            best = case, masked, reasons, own.looks
        if verdict is Verdict.PASS:
            break
    if best is None:
        assert refused is not None
        raise refused
    work.looks += best[3]
    return best[:3]


def mask(
    records: Records,
    sheets: Iterable[Sheet],
    policy: Policy | None = None,
    *,
    method: str = "suppress",
    out: Out | None = None,
    data: str | Path | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    **options: Any,
) -> MaskedBatch:
    """Sheets behind a mask, together with those that are out.

    `out` says what is printed of sheets that are out behind a mask of their own: values, nan where
    nothing is, or what is known of them (`Behind`). The options are those of the method, as in
    `MAKERS`.

    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    >>> mask(records, sheets)
    MaskedBatch(PASS: suppress, 2 tables, 30 cells, 4 hidden)
    >>> mask(records, sheets, method="merge")
    MaskedBatch(PASS: merge, 2 tables, 24 cells)
    """
    sheets, policy, clock = tuple(sheets), policy or Policy(), Clock.of(seconds)
    if method not in MAKERS:
        raise DataError(f"method is {method!r}; choose one of {', '.join(MAKERS)}.")
    known = {name for maker in MAKERS.values() for name in signature(maker).parameters}
    if strange := [name for name in options if name not in known]:
        raise DataError(f"no mask has an option {strange[0]!r}; leave it out.")
    check_sheets(sheets)
    work = Work.of(records, sheets, policy, dict(out or {}), effort, clock)
    made, cases, reasons = [], [], []
    shown: list[tuple[SheetCase, Printed]] = []
    guarded = set[Measure]()
    for measure in dict.fromkeys(s.measure for s in sheets):
        own = [sheet for sheet in sheets if sheet.measure == measure]
        if all(sheet.status is Status.OUT for sheet in own):
            case = work.case(own, measure)
            guarded |= {measure} if case.demands else set()
            shown.append((case, work.out_as_it_is(case)))
            continue
        case, masked, judged = _made(work, method, own, measure, options)
        made.append(masked)
        cases.append(case)
        reasons += judged
        if masked.printed is not None:
            shown.append((case, masked.printed))
    reasons = [*names_in_doubt(policy, records.table, records.unread), *reasons, *unknown(work.out)]
    guarded |= {case.cells.measure for case in cases if case.demands}
    reasons += doubts(records, sheets, guarded, policy=policy, effort=effort, seconds=clock)
    if worst(reason.verdict for reason in reasons) is Verdict.PASS:
        reasons += measures_that_tell(work.stated, policy, shown) or (
            measures_that_tell(work.records, policy, shown) if work.found else []
        )
        reasons += told_by_larger(work.stated, shown)
        reasons += told_by_classes(work.stated, shown)
    names = tuple(sheet.name for sheet in sheets)
    missing = records.missing(sheet.measure for sheet in sheets)
    missing = (*missing, *absent(policy, records.table, records.unread))
    told = (text for one in made for text in one.said)
    said = tuple(dict.fromkeys((*missing, *told, *said_of(records))))
    if method == "merge":
        every = (sheet for masked in made for sheet in masked.system.sheets)
        sheets = tuple(sheet for sheet in every if sheet.status is Status.WANTED)
    return MaskedBatch(
        sheets,
        tuple(made),
        method,
        policy,
        Judged(names, tuple(reasons)),
        tuple(int(case.primary.sum()) for case in cases),
        provenance_of(records.table, data),
        tuple(said),
        clock.sentence("what was not looked at is in doubt", "Allow more seconds."),
        tuple(cases),
        tuple(work.looks),
    )
