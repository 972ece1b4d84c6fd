"""The page of an assessment: may these tables be published, and if not, what instead?"""

from __future__ import annotations

from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from discreet.decision.law.rules import asked, attribute, beliefs, closeness
from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.result import Rung
from discreet.look.boundscharts import interval_chart
from discreet.look.theme import WIDE
from discreet.look.words import listed, named, number, percent, plural, shortened, span
from discreet.report import sheets, words
from discreet.report.compare import diff
from discreet.report.page import Chart, Findings, Page, Part, Points, Rows, Say, Section

if TYPE_CHECKING:
    from discreet.decision.law.assess import Assessment

MOST_BARS = 12
MOST_ROWS = 50
MOST_NAMES = 24
MOST_COLUMNS = 6
MOST_LETTERS, SHORT_LETTERS = 600, 300  # of a formula on a page, in a terminal


def assessment_page(assessment: Assessment, *, against: Mapping[str, Any] | None = None) -> Page:
    """Verdict, reasons, the narrowest small counts, disclosed groups, what to release instead.

    `against` is the JSON document of an earlier assessment.
    """
    decision, table = assessment.decision, assessment.table
    total = f"total {number(table.total)} in {number(len(table))} of {plural(table.size, 'cell')}"
    over = listed(list(table.names), 8)
    said = [f"{assessment.provenance.data}: {total} over {over}"]
    if decision.rung is not Rung.INTEGER:
        said.append(words.proof_words(decision))
    if assessment.released:
        said.append(f"published already: {shortened(str(assessment.released), SHORT_LETTERS)}")
    formula = shortened(str(assessment.requested), SHORT_LETTERS)
    return Page(
        "Disclosure assessment",
        f"{formula} ({decision.basis})",
        _sections(assessment),
        verdict=assessment.verdict,
        size=f"total {number(table.total)}",
        said=[
            *([Say(assessment.stopped, "grave")] if assessment.stopped else []),
            *(Say(text, "quiet") for text in said),
        ],
        figures=_figures(assessment),
        assumed=assumptions(assessment),
        template="assessment.html.j2",
        view=lambda: _view(assessment, against),
        provenance=lambda: assessment.provenance,
    )


def _sections(assessment: Assessment) -> list[Section]:
    """What a terminal shows."""
    decision = assessment.decision
    found = [reasons(assessment)]
    if len(decision.case.small.cells):
        cells = small_table(assessment, MOST_ROWS)
        found.append(Section("Small counts", [cells], words.narrowing(assessment)))
    if groups := sheets.disclosures(assessment):
        title = f"{plural(len(groups), 'group')} with a disclosed category"
        found.append(Section(title, [Points([str(group) for group in groups])]))
    if assessment.verdict is not Verdict.PASS:
        found.append(Section("Instead", [_instead(assessment)]))
    utility = decision.utility
    worth = words.worth_words(utility.released, utility.possible)
    by_order = "; ".join(
        f"{plural(k, 'variable')}: {number(n)} of {number(of)}"
        for k, n, of in sheets.order_rows(assessment)
    )
    found.append(Section("Worth", [Say(by_order)], f"In the release: {worth}"))
    return [*found, assumed(assessment)]


def reasons(judged: words.Judged) -> Section:
    """What each rule found."""
    rows = [(reason.verdict, reason.rule, reason.text) for reason in judged.decision.reasons]
    return Section("Reasons", [Findings(rows)])


def assumed(judged: words.Judged) -> Section:
    """What a terminal shows of the assumptions."""
    texts = [shortened(text, SHORT_LETTERS) for text in judged.decision.assumptions]
    return Section("Assumed", [Points(texts, len(texts))])


def assumptions(judged: words.Judged) -> list[str]:
    return [shortened(text, MOST_LETTERS) for text in judged.decision.assumptions]


def small_table(judged: words.Judged, most: int) -> Rows:
    """The narrowest small counts."""
    caption = f"Counts of {words.small_words(judged)}, narrowest interval first"
    small = judged.decision.case.small
    return cell_table(caption, sheets.small_rows(judged, most), len(small.cells))


def cell_table(caption: str, rows: list[sheets.CellRow], every: int) -> Rows:
    """Cells with their intervals; one column a variable, or one for all if they are many."""
    names = list(rows[0].cell) if rows else []
    labels = [list(row.cell.values()) for row in rows]
    if len(names) > MOST_COLUMNS:
        labels = [[named(row.cell)] for row in rows]
        names = ["Cell"]
    return Rows(
        caption,
        names,
        labels,
        ["count", "interval", "width"],
        [[number(r.count), span(r.lower, r.upper), number(r.width)] for r in rows],
        every,
        [row.verdict for row in rows],
        kind="more cell",
        of_data=True,
    )


def _instead(assessment: Assessment) -> Part:
    possible = assessment.decision.utility.possible
    if not assessment.alternatives:
        return Say("no smaller release that passes was found within the policy's limits")
    return Findings(
        [
            (offer.decision.verdict, offer.how,
             words.worth_words(offer.decision.utility.released, possible))
            for offer in assessment.alternatives
        ]
    )  # fmt: skip


def small_chart(judged: words.Judged, width: int = WIDE, **options: Any) -> Any:
    """The chart of the small counts' intervals, with the policy's limit."""
    small = judged.decision.case.small
    return interval_chart(
        small.bounds.to_frame(counts=small.cells.counts, beta=judged.policy.small.width),
        limit=judged.policy.small.width,
        proven=words.reached(judged),
        width=width,
        **{"title": words.narrowing(judged)} | options,
    )


def judged_view(judged: words.Judged) -> dict[str, Any]:
    """What the templates of assessments and frontiers show."""
    decision, policy = judged.decision, judged.policy
    return {
        "table": decision.case.table,
        "decision": decision,
        "reasons": [(reason.verdict, reason.rule, reason.text) for reason in decision.reasons],
        "advice": words.ADVICE[decision.verdict],
        "orders": sheets.order_rows(judged),
        "policy": policy,
        "policy_rows": sheets.policy_rows(policy),
        "roles": words.role_words(decision.case.table, MOST_NAMES),
    }


def _view(assessment: Assessment, against: Mapping[str, Any] | None) -> dict[str, Any]:
    """Everything else that the template shows."""
    small, requested = assessment.decision.case.small, assessment.requested.frontier.margins
    disclosed = sheets.disclosures(assessment)
    charts = {}
    if len(small.cells):
        charts["cells"] = Chart(
            "chart",
            lambda **options: small_chart(assessment, **{"most": MOST_BARS} | options),
            _alternative(assessment),
            words.interval_words(assessment, assessment.provenance.data),
        )
    if believed := _beliefs(assessment):
        charts["beliefs"] = believed
    already = str(assessment.released) if assessment.released else ""
    comparison = diff(against, assessment.to_json()) if against else None
    share = percent(assessment.policy.closeness.share)
    return judged_view(assessment) | {
        "assessment": assessment,
        "formula": shortened(str(assessment.requested), MOST_LETTERS),
        "already": shortened(already, MOST_LETTERS),
        "margins": requested[:MOST_NAMES],
        "more_margins": max(0, len(requested) - MOST_NAMES),
        "charts": charts,
        "cells": small_table(assessment, MOST_ROWS),
        "close": cell_table(
            f"Counts whose interval stays within {share} of them",
            sheets.close_rows(assessment, MOST_ROWS),
            _close(assessment),
        ),
        "findings": [sheets.finding_sheet(reason) for reason in sheets.findings(assessment)],
        "most_rows": MOST_ROWS,
        "groups": disclosed[:MOST_ROWS],
        "group_words": sheets.group_words,
        "more_groups": max(0, len(disclosed) - MOST_ROWS),
        "changes": comparison.lines() if comparison else [],
    }


def _beliefs(assessment: Assessment) -> Chart | None:
    """Probabilities of small counts, the most nearly certain first; nothing if not asked for."""
    case = assessment.decision.case
    if beliefs.RULE not in asked(case.policy) or not len(case.belief.cells):
        return None
    import numpy as np

    risk, total = case.belief, len(case.belief.cells)
    rows = np.argsort(-risk.truth, kind="stable")[:MOST_BARS]
    shown = risk.posterior.take(rows)
    right = number(int(risk.right.sum()))
    lead = f"The best guess is right for {right} of {plural(total, 'small count')}"
    model = f"Under {risk.under}; {risk.posterior.method}."
    if risk.fits_badly:
        model += f" It fits badly: the true table is {risk.surprise:,.0f} nats from a typical one."
    more = f" The {number(len(rows))} most nearly certain." if total > len(rows) else ""
    return Chart(
        "beliefs",
        lambda **options: shown.plot(
            counts=risk.cells.counts[rows], **{"title": lead} | options
        ),
        lead,
        f"{model}{more} True counts are outlined.",
    )  # fmt: skip


def _figures(assessment: Assessment) -> list[tuple[str, str]]:
    """The few numbers that a reader wants first, each with what it counts."""
    small, policy = assessment.decision.case.small, assessment.policy
    utility, beta = assessment.decision.utility, policy.small.width
    counts = f"counts of {words.small_words(assessment)}{words.looked_at(assessment)}"
    found = [(number(len(small.cells)), counts)]
    if small.narrowest is not None:
        below = len(small.below(beta))
        found.append((number(below), f"of them with a width below {number(beta)}"))
        found.append((number(small.narrowest), "narrowest width of a small count"))
    if attribute.RULE in asked(policy):
        groups = len(sheets.disclosures(assessment))
        found.append((number(groups), "groups with a disclosed category"))
    worth = f"of {number(utility.possible)} margins in the release"
    return [*found, (number(utility.released), worth)]


def _close(assessment: Assessment) -> int:
    if closeness.RULE not in asked(assessment.policy):
        return 0
    share = assessment.policy.closeness.share
    return len(assessment.decision.case.closeness.below(share))


def _alternative(assessment: Assessment) -> str:
    """The chart for those who cannot see it."""
    first = sheets.small_rows(assessment, 1)[0]
    return (
        "One bar a cell, from the lowest to the highest count that fits the release, narrowest "
        f"first. The narrowest: {named(first.cell)}, true count "
        f"{number(first.count)}, interval {span(first.lower, first.upper)}. "
        "The table below has the same figures."
    )
