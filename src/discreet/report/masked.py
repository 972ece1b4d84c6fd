"""The page of masked sheets: what can be published, how it was made, and what is proven."""

from __future__ import annotations

from typing import TYPE_CHECKING

import numpy as np

from discreet.decision.law.implied import implied_words
from discreet.look.words import number, plural
from discreet.report.page import Facts, Findings, Page, Points, Rows, Say, Section
from discreet.report.unsafe import unsafe_section

if TYPE_CHECKING:
    from discreet.decision.batch.masking import MaskedBatch

MOST = 200


def masked_page(found: MaskedBatch) -> Page:
    """Tables and what is hidden in them, the verdict, how it was made."""
    shown = found.shown()
    cells = sum(sheet.cells for sheet, _ in shown)
    hidden = f", {plural(found.hidden, 'cell')} hidden" if found.hidden else ""
    headline = f"{plural(len(shown), 'table')} behind a mask ({found.method}){hidden}"
    if any(masked.trial for masked in found.masked):
        headline = f"trial, not for release: {headline}"
    means = "; ".join(filter(None, [found.policy.described, implied_words(found.policy)]))
    said = [Say(f"Policy: {means}", "quiet")]
    if found.stopped:
        said.insert(0, Say(found.stopped, "grave"))
    return Page(
        "Tables that can be published",
        headline,
        [_verdict(found), _tables(found), *unsafe_section(found.unsafe), _made(found)],
        verdict=found.verdict,
        size=plural(cells, "cell"),
        said=said,
        figures=[
            (number(len(shown)), "tables"),
            (number(cells), "cells"),
            (number(found.hidden), "hidden in all tables"),
            (number(sum(found.primary)), "different cells that the rules forbid"),
        ],
        memory="records in memory",
        provenance=lambda: found.provenance,
    )


def _verdict(found: MaskedBatch) -> Section:
    rows = [(r.verdict, r.rule, r.text) for r in found.judged.reasons]
    return Section("What an intruder learns who knows the mask", [Findings(rows)])


def _tables(found: MaskedBatch) -> Section:
    shown = found.shown()
    rows = Rows(
        "Each table",
        ["table"],
        [[sheet.name] for sheet, _ in shown],
        ["title", "cells", "hidden"],
        [
            [sheet.title, number(sheet.cells), number(int(np.isnan(values).sum()))]
            for sheet, values in shown
        ],
        every=len(shown),
        words=["title"],
        short=MOST,
    )
    return Section("Table by table", [rows])


def _made(found: MaskedBatch) -> Section:
    facts = [
        (str(masked.system.sheets[0].measure), f"{masked.method}: {_spelled(masked.parameters)}")
        for masked in found.masked
    ]
    parts = [Facts(facts), *([Points(found.said)] if found.said else [])]
    return Section("How it was made", parts)


def _spelled(parameters: object) -> str:
    if not isinstance(parameters, dict) or not parameters:
        return "as the policy says"
    return ", ".join(f"{name} {value}" for name, value in parameters.items())
