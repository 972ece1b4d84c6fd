"""The page of a batch: a verdict for each table, who is to blame, what can go."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.decision.batch.judged import first_reason
from discreet.decision.law.implied import implied_words
from discreet.decision.law.verdict import Verdict
from discreet.look.words import number, plural
from discreet.report.page import Findings, Page, Points, Rows, Say, Section
from discreet.report.unsafe import unsafe_section

if TYPE_CHECKING:
    from discreet.decision.batch.judged import Batch

MOST = 200


def batch_page(found: Batch) -> Page:
    """Tables with verdicts, all together, blame, the part that can go."""
    safe = sum(judged.verdict is Verdict.PASS for judged in found.each)
    wanted = plural(len(found.each), "table")
    headline = f"{number(safe)} of {wanted} pass by themselves; {_going(found)}"
    means = "; ".join(filter(None, [found.policy.described, implied_words(found.policy)]))
    said = [Say(f"Policy: {means}", "quiet")]
    if found.stopped:
        said.insert(0, Say(found.stopped, "grave"))
    return Page(
        "Assessment of a batch",
        headline,
        [
            _each(found),
            _together(found),
            *unsafe_section(found.unsafe),
            *_blame(found),
            _part(found),
        ],
        verdict=found.verdict,
        size=wanted,
        said=said,
        figures=[
            (number(len(found.each)), "tables wanted"),
            (number(safe), "pass by themselves"),
            (number(len(found.part)), "can go together"),
            (number(len(found.sheets) - len(found.each)), "are out already"),
        ],
        assumed=list(found.said),
        memory="records in memory",
        provenance=lambda: found.provenance,
    )


def _going(found: Batch) -> str:
    if len(found.part) == len(found.each):
        return "all can go" if found.part_judged.verdict is Verdict.PASS else "all may go together"
    return f"{number(len(found.part))} can go together"


def _each(found: Batch) -> Section:
    titles = {sheet.name: sheet.title for sheet in found.sheets}
    rows = Rows(
        "Each table by itself",
        ["table"],
        [[judged.names[0]] for judged in found.each],
        ["title", "goes", "why not"],
        [
            [
                titles[judged.names[0]],
                "yes" if judged.names[0] in found.part else "no",
                first_reason(judged),
            ]
            for judged in found.each
        ],
        every=len(found.each),
        verdicts=[judged.verdict for judged in found.each],
        words=["title", "goes", "why not"],
        short=MOST,
    )
    return Section("Table by table", [rows])


def _together(found: Batch) -> Section:
    rows = [(r.verdict, r.rule, r.text) for r in found.together.reasons]
    return Section("All together, with what is out", [Findings(rows)])


def _blame(found: Batch) -> list[Section]:
    if not found.blames:
        return []
    texts = [f"{' + '.join(blame.names)}: {blame.text}" for blame in found.blames]
    note = Say("Each of these sets tells something that no smaller one of them tells.", "quiet")
    return [Section("Which tables are to blame", [note, Points(texts)])]


def _part(found: Batch) -> Section:
    if not found.part:
        return Section("What can go", [Say("No table can go.", "grave")])
    kind = "No larger part can go." if found.proven else "A larger part may exist."
    verdict = found.part_judged.verdict
    rows = [(r.verdict, r.rule, r.text) for r in found.part_judged.reasons]
    text = f"{verdict.symbol} {verdict}: {', '.join(found.part)}. {kind}"
    return Section("What can go", [Say(text), Findings(rows)])
