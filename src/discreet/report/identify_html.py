"""Who could be found, as one HTML file: it has row numbers, and no key or id of a person."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.files import write_text
from discreet.decision.law.assess import stamped
from discreet.look.palette import number, percent, plural
from discreet.report import identify_words as say
from discreet.report import words
from discreet.report.html import MOST_NAMES, MOST_ROWS, drawn, named_file, page_view, render
from discreet.report.identify_text import RIGHT, because_words, how_words

if TYPE_CHECKING:
    from discreet.intruder.linkage.model import Intruder
    from discreet.risk.linkage.harm import Harm
    from discreet.risk.linkage.identification import Identification
    from discreet.risk.linkage.matching import Matching

TEMPLATE = "identify.html.j2"
MOST_EXPOSED = 20
DESCRIPTIONS = {
    "risk": "One bar a tenth of probability: how many respondents have their most probable link "
    "there. The table below has the same figures.",
    "reliability": "One point a tenth of probability: the share of best links that are right.",
    "outcomes": "One bar an outcome: its harm. The table below has the same figures.",
    "groups": "One bar a group: harm a respondent. The table below has the same figures.",
}
Files = Mapping[str, str | Path]


def identify_report(
    found: Identification,
    intruder: Intruder,
    near: Matching | None = None,
    felt: Harm | None = None,
    *,
    files: Files | None = None,
) -> str:
    """The report as HTML; `files` are what was read, by what each is: Source, Released, ..."""
    return render(TEMPLATE, _view(found, intruder, near, felt, files or {}))


def write_identify_html(
    path: str | Path,
    found: Identification,
    intruder: Intruder,
    near: Matching | None = None,
    felt: Harm | None = None,
    *,
    files: Files | None = None,
) -> None:
    """The report as a file, whole or not at all."""
    write_text(path, identify_report(found, intruder, near, felt, files=files))


def _view(
    found: Identification,
    intruder: Intruder,
    near: Matching | None,
    felt: Harm | None,
    files: Files,
) -> dict[str, Any]:
    """Everything that the template shows."""
    read = [(what, *named_file(file)) for what, file in files.items()]
    subject = next((name for what, name, _ in read if what == "Released"), "records in memory")
    sources = len(found.linked)
    groups = [] if felt is None else felt.by_group()
    groups.sort(key=lambda row: -row["harm"] / row["respondents"])
    view = page_view("Identification assessment", stamped(subject, ""), read)
    return view | {
        "found": found,
        "near": near,
        "felt": felt,
        "perceived": found.perceived,
        "released": len(found.links.released.of),
        "headline": say.headline(found),
        "said": _said(found, felt),
        "figures": _figures(found, near, felt),
        "keys": words.listed(say.known(intruder), MOST_NAMES),
        "fears": intruder.wrong is not None,
        "risk_rows": [row for row in found.distribution if row[2]],
        "identified": None if found.parents is None else found.true,
        "exposed": [
            row | {"right": RIGHT[row["true"]], "told": because_words(row)}
            for row in found.most_exposed(MOST_EXPOSED)
        ],
        "outcomes": [] if felt is None else _outcomes(felt),
        "without_link": None if felt is None else felt.without_link,
        "groups": groups[:MOST_ROWS],
        "more_groups": max(0, len(groups) - MOST_ROWS),
        "how": how_words(found),
        "assumptions": say.assumed(intruder, sources)
        + ([] if felt is None else say.harm_assumed(felt.costs)),
        "charts": {
            name: drawn(name, draw, DESCRIPTIONS[name])
            for name, draw in _charts(found, felt).items()
        },
    }


def _charts(found: Identification, felt: Harm | None) -> dict[str, Callable[..., Any]]:
    charts: dict[str, Callable[..., Any]] = {"risk": found.plot}
    if found.parents is not None:
        charts["reliability"] = found.plot_reliability
    if felt is not None:
        charts["outcomes"] = felt.plot
        if felt.groups:
            charts["groups"] = felt.plot_groups
    return charts


def _said(found: Identification, felt: Harm | None) -> list[str]:
    """What follows the headline."""
    said = []
    if found.parents is not None:
        said.append(say.true_words(found))
    if felt is not None:
        said.append(say.harm_words(felt))
    return [*said, "No limit is set for this risk: a person has to decide."]


def _figures(
    found: Identification, near: Matching | None, felt: Harm | None
) -> list[tuple[str, str]]:
    """The few numbers that a reader wants first, each with what it counts."""
    seen = found.perceived
    linked = f"of {plural(seen.respondents, 'respondent')} linked at {found.act:g} or more"
    figures = [
        (number(int(found.linked.sum())), linked),
        (f"{seen.pessimistic:.4f}", "highest probability of a link"),
    ]
    if found.parents is not None:
        of = plural(found.true.released, "released record")
        figures.append((f"{found.true.acted:,.4g}", f"of {of} correctly identified"))
    if near is not None:
        figures.append((percent(near.risk, 1), "of released records nearest to their own source"))
    if felt is not None:
        figures.append((f"{felt.total:,.6g}", f"harm from {felt.costs.sensitive}"))
    return figures


def _outcomes(felt: Harm) -> list[tuple[str, int, str, str]]:
    """Each outcome in words: respondents, what it costs one of them, harm."""
    from discreet.risk.linkage.harm import OUTCOMES, SAID

    many, sums, costs = felt.by_outcome, felt.harm_by_outcome, felt.costs.costs
    return [
        (SAID[name], many[name], f"{costs[name]:,.6g}" if name in costs else "",
         f"{sums[name]:,.6g}")
        for name in OUTCOMES
    ]  # fmt: skip
