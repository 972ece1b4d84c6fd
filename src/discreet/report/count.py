"""The page of a number of tables."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.look.words import number
from discreet.report.page import HTML, Facts, Page, Say, Section, data_file

if TYPE_CHECKING:
    from discreet.intruder.tables.result import TableCount


def count_page(found: TableCount, *, release: str = "", data: str | Path | None = None) -> Page:
    """How many tables fit a release, and how sure that is."""
    facts = [("Release", release)] if release else []
    facts += [("Method", found.method), ("Power of ten", f"10^{found.log10:,.2f}")]
    if found.draws is not None:
        facts.append(("Draws", f"{number(found.draws)}, worth {number(found.effective or 0)}"))
        reliable = "yes" if found.reliable else "no: too few draws agree"
        facts += [("Standard error", f"{found.relative_error:.1%}"), ("Reliable", reliable)]
    return Page(
        "Tables that fit a release",
        f"{found} ({found.method})",
        [Section("How it was counted", [Facts(facts)], on=HTML)],
        said=[Say(found.stopped, "grave")] if found.stopped else [],
        files=data_file(data),
    )
