"""The page of what a release teaches about one person, company or value."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.decision.law.verdict import Verdict
from discreet.intruder.belief.belief import Kind
from discreet.look.words import EN_DASH, number, plural
from discreet.report.page import MOST_LONG, Chart, Page, Points, Rows, Say, Section, data_file

if TYPE_CHECKING:
    from discreet.intruder.belief.belief import Belief
    from discreet.risk.knowledge.knowledge import Learned
    from discreet.risk.knowledge.taught import Taught

MEASURES = {"knowledge": "is at least", "gain": "falls by at most"}


def knowledge_page(taught: Taught, *, data: str | Path | None = None) -> Page:
    """The verdict, what the rule asks of the table, and each target, the worst first."""
    beyond, every = sum(not row.within for row in taught.rows), len(taught.rows)
    said = f"{taught.about}: {beyond} of {plural(every, 'target')} beyond the limit"
    measure = MEASURES.get(taught.rule.measure, "falls by a share of at most")
    limit = f"limit: {taught.rule.uncertainty} {measure} {taught.rule.limit:g}"
    sections = [_believed(taught)]
    if taught.notes:
        sections.append(Section("Notes", [Points(taught.notes)]))
    return Page(
        "What a release teaches",
        said if beyond else taught.about,
        sections,
        verdict=_verdict(taught.within),
        said=[Say(limit, "quiet"), Say(taught.words)],
        files=data_file(data),
    )


def _believed(taught: Taught) -> Section:
    rows = taught.rows[:MOST_LONG]
    gains = any(row.before is not None for row in rows)
    labelled = all(row.posterior.kind is not Kind.DENSITY for row in rows)
    heads = ["best guess", "probability"] if labelled else ["median", "90% between"]
    table = Rows(
        "Targets, those beyond the limit or nearest to it first",
        ["target"],
        [[row.label] for row in rows],
        [*heads, "uncertainty", *(["before", "gain"] if gains else [])],
        [_guess(row.posterior) + _figures(row, gains) for row in rows],
        len(taught.rows),
        [_verdict(row.within) for row in rows],
        kind="more target",
    )
    chart = Chart("taught", taught.plot, "What is believed of the first target, before and after.")
    return Section("What is believed", [chart, table])


def _verdict(within: bool) -> Verdict:
    return Verdict.PASS if within else Verdict.FAIL


def _guess(belief: Belief) -> list[str]:
    if belief.kind is not Kind.DENSITY:
        best = belief.mode
        return [_shown(best), f"{belief.probability(best):.4f}"]
    low, middle, high = (belief.quantile(p) for p in (0.05, 0.5, 0.95))
    return [f"{middle:.4g}", f"{low:.4g}{EN_DASH}{high:.4g}"]


def _figures(row: Learned, gains: bool) -> list[str]:
    found = [f"{row.after:.4f}"]
    if not gains:
        return found
    return [*found, *("" if x is None else f"{x:.4f}" for x in (row.before, row.gain))]


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, int | float) else str(value)
