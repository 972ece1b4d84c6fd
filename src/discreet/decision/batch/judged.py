"""Verdicts on sheets, one by one and together."""

from __future__ import annotations

from dataclasses import dataclass, field
from functools import cached_property
from typing import Any

from discreet.decision.batch.case import SheetCase
from discreet.decision.batch.reasons import Looked
from discreet.decision.batch.unsafe import UnsafeCells, unsafe_cells
from discreet.decision.law.assess import Provenance
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.look.result import Paged
from discreet.look.words import plural
from discreet.sheets.sheet import Sheet, Status
from discreet.table.cells import frame


@dataclass(frozen=True)
class Judged:
    """A sheet, or several: the verdict, and what each rule found."""

    names: tuple[str, ...]
    reasons: tuple[Reason, ...]

    @property
    def verdict(self) -> Verdict:
        return worst(reason.verdict for reason in self.reasons)

    def to_json(self) -> dict[str, Any]:
        return {
            "tables": list(self.names),
            "verdict": str(self.verdict),
            "reasons": [
                {"rule": r.rule, "verdict": str(r.verdict), "text": r.text, "cells": list(r.cells)}
                for r in self.reasons
            ],
        }


@dataclass(frozen=True)
class Blame:
    """The fewest sheets that tell something together which none of them tells alone."""

    names: tuple[str, ...]
    text: str


@dataclass(frozen=True, eq=False)
class Batch(Paged):
    """Verdicts for sheets one by one and together with what is out, and the part that can go.

    `proven`: no larger part can go, by the rules that were asked.

    >>> from discreet.decision.batch.judge import judge_batch
    >>> from discreet.sheets.reading import formula_sheets
    >>> from discreet.table.load import load
    >>> records, sheets = formula_sheets(load("example:tract"), "Race*Gender + Gender*Income")
    >>> print(judge_batch(records, sheets).to_frame()[["table", "verdict", "goes"]])
               table verdict   goes
    0    Gender*Race    FAIL  False
    1  Gender*Income    PASS   True
    """

    sheets: tuple[Sheet, ...]
    policy: Policy
    each: tuple[Judged, ...]
    together: Judged
    blames: tuple[Blame, ...]
    part: tuple[str, ...]
    part_judged: Judged
    proven: bool
    provenance: Provenance
    said: tuple[str, ...] = ()
    stopped: str | None = None
    cases: tuple[SheetCase, ...] = field(default=(), repr=False)
    looks: tuple[Looked, ...] = field(default=(), repr=False)

    @cached_property
    def unsafe(self) -> UnsafeCells:
        """The cells that rules forbid to print, and those that follow; confidential."""
        return unsafe_cells(self.looks, self.together.reasons)

    @property
    def verdict(self) -> Verdict:
        """Of all wanted sheets, with what is out."""
        return worst((self.together.verdict, *(judged.verdict for judged in self.each)))

    def __repr__(self) -> str:
        safe = sum(judged.verdict is Verdict.PASS for judged in self.each)
        return (
            f"Batch({self.verdict}: {safe} of {plural(len(self.each), 'table')} pass by "
            f"themselves, {len(self.part)} can go together)"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a table: its verdict, and the first reason against it."""
        columns: dict[str, Any] = {
            "table": [judged.names[0] for judged in self.each],
            "title": [sheet.title for sheet in self.wanted],
            "verdict": [str(judged.verdict) for judged in self.each],
            "goes": [judged.names[0] in self.part for judged in self.each],
            "reason": [first_reason(judged) for judged in self.each],
        }
        return frame(columns, kind)

    @property
    def wanted(self) -> tuple[Sheet, ...]:
        return tuple(sheet for sheet in self.sheets if sheet.status is Status.WANTED)

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet assess --tables ... --json` prints."""
        titles = {sheet.name: sheet.title for sheet in self.sheets}
        return {
            "verdict": str(self.verdict),
            "stopped": self.stopped,
            "tables": [
                judged.to_json()
                | {"name": judged.names[0], "title": titles[judged.names[0]],
                   "goes": judged.names[0] in self.part}
                for judged in self.each
            ],
            "together": self.together.to_json(),
            "blame": [{"tables": list(b.names), "text": b.text} for b in self.blames],
            "part": {"tables": list(self.part), "largest": self.proven} | {
                "verdict": str(self.part_judged.verdict)},
            "unsafe": self.unsafe.to_json(),
            "out": [s.name for s in self.sheets if s.status is Status.OUT],
            "assumptions": list(self.said),
            "policy": {"name": self.policy.name} | self.policy.to_dict(),
            "provenance": vars(self.provenance),
        }  # fmt: skip


def first_reason(judged: Judged) -> str:
    """The gravest reason's text, if it is one against."""
    against = [r for r in judged.reasons if r.verdict is judged.verdict is not Verdict.PASS]
    return against[0].text if against else ""
