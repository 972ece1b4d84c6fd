"""The page of a choice between releases: the map, every candidate, its users, other limits."""

from __future__ import annotations

import math
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.decision.law.verdict import Verdict
from discreet.look.riskutilitychart import MARKS, text_map
from discreet.look.words import number, plural
from discreet.report.limits import limits_section
from discreet.report.page import (
    HTML,
    TERMINAL,
    Chart,
    Facts,
    Page,
    Part,
    Points,
    Rows,
    Say,
    Section,
    data_file,
)

if TYPE_CHECKING:
    from collections.abc import Sequence

    from discreet.decision.users.choose import Choice
    from discreet.decision.users.mask import Mask
    from discreet.decision.users.outlook import Outlook

SAME = "The table below has the same figures."
SHORT = 60


def choice_page(
    found: Choice, *, data: str | Path | None = None, users: str | Path | None = None
) -> Page:
    """What to release, the map, and what each user does with each candidate."""
    order = [Verdict.PASS, Verdict.REVIEW, Verdict.FAIL]
    ranked = sorted(  # as on the map
        found.masks,
        key=lambda mask: (mask.name != found.best, order.index(mask.verdict), -mask.utility),
    )
    sections = [_map(found, ranked), _masks(ranked)]
    if any(mask.intruders or mask.scientists for mask in found.masks):
        sections.append(_users(found, ranked))
    sections.append(limits_section(found, what="release"))
    files = data_file(data) | ({} if users is None else {"Users": users})
    return Page(
        "A choice of releases",
        str(found).partition(": ")[2],
        sections,
        verdict=found.verdict,
        size=plural(len(found.masks), "release"),
        said=_said(found),
        figures=[
            (number(len(found.masks)), "releases to choose from"),
            (number(sum(mask.within for mask in found.masks)), "within the limit"),
            (_value(found.limit), "risk limit"),
        ],
        assumed=_assumed(found),
        files=files,
    )


def _said(found: Choice) -> list[Say]:
    said = []
    if found.sampled:
        said.append(
            Say("REVIEW: what was sampled keeps the limit; a sample proves nothing.", "grave")
        )
    said += [
        Say(f"{mask.name} is not chosen, for it could not be weighed: {mask.why}")
        for mask in found.masks
        if mask.why
    ]
    said += [
        Say(f"NOT RELIABLE, {mask.name}: {note}", "grave")
        for mask in found.masks
        for note in mask.notes
    ]
    return said


def _map(found: Choice, ranked: Sequence[Mask]) -> Section:
    chart = Chart("map", found.plot, "Risk across, utility up, a point a release. " + SAME)
    letters = text_map([(mask.risk, mask.utility) for mask in ranked], limit=found.limit)
    return Section("Risk and utility", [chart, Points(letters, on=TERMINAL)])


def _masks(ranked: Sequence[Mask]) -> Section:
    sampled = any(not mask.exact for mask in ranked)
    heads = ["risk", "± at most", "utility", "± at most "] if sampled else ["risk", "utility"]
    figures = []
    for mask in ranked:
        risk, worth = "not known" if mask.risk is None else _value(mask.risk), _value(mask.utility)
        errors = _error(mask.risk_error), _error(mask.utility_error)
        figures.append([risk, errors[0], worth, errors[1]] if sampled else [risk, worth])
    parts: list[Part] = [
        _listed(ranked, heads, figures, TERMINAL, marked=True),
        _listed(ranked, heads, figures, HTML, marked=False),
    ]
    if named := [(m.name, m.formula) for m in ranked if m.formula and m.formula != m.name]:
        parts.append(Facts(named))
    if sampled:
        zero = "0 where sampling it again changed nothing"
        parts.append(Say(f"± is the standard error of what was sampled, {zero}.", "quiet"))
    return Section("Release by release", parts)


def _listed(
    ranked: Sequence[Mask],
    heads: list[str],
    figures: list[list[str]],
    on: str,
    *,
    marked: bool,
) -> Rows:
    """Every release; in a terminal with its number on the map."""
    marks = [MARKS[place] if place < len(MARKS) else "." for place in range(len(ranked))]
    names = [
        f"{mark} {mask.name}" if marked else mask.name
        for mark, mask in zip(marks, ranked, strict=True)
    ]
    return Rows(
        "Every release, the choice first, then those within the limit, the most useful first",
        ["release"],
        [[name] for name in names],
        heads,
        figures,
        every=len(ranked),
        verdicts=[mask.verdict for mask in ranked],
        short=SHORT,
        on=on,
    )


def _users(found: Choice, ranked: Sequence[Mask]) -> Section:
    rows = [
        (mask.name, role, outlook)
        for mask in ranked
        for role, outlooks in (("intruder", mask.intruders), ("scientist", mask.scientists))
        for outlook in outlooks
    ]
    table = Rows(
        "What the agency expects to lose by each user",
        ["release", "user"],
        [[name, outlook.user] for name, _, outlook in rows],
        ["goes on", "expected loss", "under"],
        [[number(float(o.chances @ o.tries)), _value(o.loss), _under(o)] for _, _, o in rows],
        every=len(rows),
        words=["under"],
        short=SHORT,
    )
    parts: list[Part] = [Facts(found.said)] if found.said else []
    return Section("User by user", [*parts, table])


def _under(outlook: Outlook) -> str:
    """The prior that counts, and how many there are."""
    if len(outlook.by_prior) < 2:
        return outlook.prior or "-"
    return f"{outlook.prior}, worst of {len(outlook.by_prior)}"


def _assumed(found: Choice) -> list[str]:
    own = any(mask.scientists for mask in found.masks)
    return [
        "Only what these users would do is judged, and they know how many people there are; assess "
        "holds a release against the office's rules.",
        "A user makes the best estimate under the prior, and gives up if more uncertain than the "
        "threshold. Of a class of priors the worst counts, of intruders the worst.",
        "Utility is minus the expected loss by the scientists, by their weights."
        if own
        else "Utility is the number of margins that are released; no scientist is named.",
        "Estimates that are equally good are taken equally often.",
    ]


def _value(value: float) -> str:
    return number(value) if math.isfinite(value) else ("not known" if value < 0 else "unlimited")


def _error(error: float) -> str:
    return "not known" if math.isnan(error) else number(error)
