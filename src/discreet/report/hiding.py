"""The page of a table with merged or left out categories: what it teaches, under which priors."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.decision.law.verdict import Verdict
from discreet.report.page import MOST_LONG, Chart, Page, Points, Rows, Say, Section, data_file

if TYPE_CHECKING:
    from discreet.risk.knowledge.withheld import Withheld

MEASURES = {"knowledge": "is at least", "gain": "falls by at most"}


def hiding_page(found: Withheld, *, data: str | Path | None = None) -> Page:
    """The verdict, the priors that it is for, and each group, the worst first."""
    rule = found.rule
    measure = MEASURES.get(rule.measure, "falls by a share of at most")
    rows = found.rows[:MOST_LONG]
    table = Rows(
        "Targets, those beyond the limit or nearest to it first",
        ["target"],
        [[row.label] for row in rows],
        ["best guess", "probability", "uncertainty", "within the limit"],
        [
            [
                str(row.worst.mode),
                f"{row.worst.probability(row.worst.mode):.4f}",
                f"{row.lowest:.4f}",
                row.words,
            ]
            for row in rows
        ],
        len(found.rows),
        [Verdict.PASS if row.within else Verdict.FAIL for row in rows],
        words=["best guess", "within the limit"],
        kind="more target",
    )
    chart = Chart("withheld", found.plot, "What is left to know of the first target.")
    sections = [Section("What is believed at worst", [chart, table])]
    if found.notes:
        sections.append(Section("Notes", [Points(found.notes)]))
    return Page(
        "What a table teaches that hides categories",
        f"{found.about}, {found.headline}",
        sections,
        verdict=Verdict.PASS if found.within else Verdict.FAIL,
        said=[
            Say(f"limit: {rule.uncertainty} {measure} {rule.limit:g}", "quiet"),
            Say(f"asked for {found.priors}", "quiet"),
            Say(found.words),
        ],
        files=data_file(data),
    )
