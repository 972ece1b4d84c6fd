"""The report: one HTML file that needs nothing else and asks nothing of the network."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.files import write_text
from discreet.decision.law.assess import file_hash
from discreet.decision.law.rules import asked, attribute, beliefs, closeness
from discreet.look import palette
from discreet.look.charts import interval_chart
from discreet.look.theme import NARROW, WIDE
from discreet.report import sheets, words
from discreet.report.compare import compare_reports

if TYPE_CHECKING:
    from discreet.decision.law.assess import Assessment, Provenance

TEMPLATE = "report.html.j2"
WIDTHS = (("wide", WIDE), ("phone", NARROW))
MOST_BARS = 12
MOST_ROWS = 50
MOST_NAMES = 24
MOST_COLUMNS = 6
MOST_LETTERS = 600


def html_report(assessment: Assessment, *, against: Mapping[str, Any] | None = None) -> str:
    """The report as HTML; `against` is the JSON document of an earlier assessment."""
    return render(TEMPLATE, _view(assessment, against))


def render(template: str, view: Mapping[str, Any]) -> str:
    """A template of this folder with what it shows; all text is escaped."""
    from jinja2 import Environment, PackageLoader, StrictUndefined

    environment = Environment(
        loader=PackageLoader("discreet.report", ""),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
    )
    for filter_ in (palette.number, palette.percent, words.sentence):
        environment.filters[filter_.__name__] = filter_
    environment.globals |= {"span": palette.span, "plural": palette.plural, "say": words}
    return environment.get_template(template).render(**view)


def write_html(
    assessment: Assessment, path: str | Path, *, against: Mapping[str, Any] | None = None
) -> None:
    """The report as a file, whole or not at all."""
    write_text(path, html_report(assessment, against=against))


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


def page_view(
    subject: str, provenance: Provenance, files: Sequence[tuple[str, str, str]]
) -> dict[str, Any]:
    """What every page shows; a file is what it is, its name and its hash."""
    return {
        "light": palette.LIGHT.to_dict(),
        "dark": palette.DARK.to_dict(),
        "font": palette.FONT,
        "confidential": words.CONFIDENTIAL,
        "subject": subject,
        "provenance": provenance,
        "files": files,
    }


def named_file(file: str | Path) -> tuple[str, str]:
    """The name of a file and its hash; what is no file has none."""
    return (Path(file).name, file_hash(file)) if Path(file).is_file() else (str(file), "")


def base_view(judged: words.Judged, provenance: Provenance, subject: str) -> dict[str, Any]:
    """What the base template shows, less the figures; `subject` is what the page is."""
    decision, policy = judged.decision, judged.policy
    files = [("Data", provenance.data, provenance.sha256)]
    return page_view(subject, provenance, files) | {
        "table": decision.case.table,
        "decision": decision,
        "advice": words.ADVICE[decision.verdict],
        "orders": sheets.order_rows(judged),
        "assumptions": [words.shortened(text, MOST_LETTERS) for text in decision.assumptions],
        "policy": policy,
        "policy_rows": sheets.policy_rows(policy),
    }


def _view(assessment: Assessment, against: Mapping[str, Any] | None) -> dict[str, Any]:
    """Everything that the template shows."""
    small, requested = assessment.decision.case.small, assessment.requested.frontier.margins
    disclosed = sheets.disclosures(assessment)
    cells = sheets.small_rows(assessment, MOST_ROWS)
    charts = {}
    if len(small.cells):
        for name, width in WIDTHS:
            chart = small_chart(assessment, width, title="", most=MOST_BARS)
            charts[name] = inline_svg(chart, f"chart-{name}", *_alternative(assessment, cells))
    already = str(assessment.released) if assessment.released else ""
    comparison = compare_reports(against, assessment.to_json()) if against else None
    return base_view(assessment, assessment.provenance, "Disclosure assessment") | {
        "assessment": assessment,
        "figures": _figures(assessment),
        "formula": words.shortened(str(assessment.requested), MOST_LETTERS),
        "already": words.shortened(already, MOST_LETTERS),
        "margins": requested[:MOST_NAMES],
        "more_margins": max(0, len(requested) - MOST_NAMES),
        "roles": words.role_words(assessment.table, MOST_NAMES),
        "charts": charts,
        "cells": cell_table(cells, len(small.cells)),
        "beliefs": _beliefs(assessment),
        "close": cell_table(sheets.close_rows(assessment, MOST_ROWS), _close(assessment)),
        "findings": [sheets.finding_sheet(reason) for reason in sheets.findings(assessment)],
        "most_rows": MOST_ROWS,
        "groups": disclosed[:MOST_ROWS],
        "group_words": sheets.group_words,
        "more_groups": max(0, len(disclosed) - MOST_ROWS),
        "changes": comparison.lines() if comparison else [],
    }


def _beliefs(assessment: Assessment) -> dict[str, Any]:
    """Probabilities of small counts, the most nearly certain first; nothing if not asked for."""
    case = assessment.decision.case
    if beliefs.RULE not in asked(case.policy) or not len(case.belief.cells):
        return {}
    import numpy as np

    risk, total = case.belief, len(case.belief.cells)
    rows = np.argsort(-risk.truth, kind="stable")[:MOST_BARS]
    shown = risk.posterior.take(rows)
    right = int(risk.right.sum())
    lead = (
        f"The best guess is right for {palette.number(right)} of "
        f"{palette.plural(total, 'small count')}."
    )
    charts = {}
    for name, width in WIDTHS:
        chart = shown.plot(counts=risk.cells.counts[rows], title="", width=width)
        charts[name] = inline_svg(chart, f"beliefs-{name}", "What an intruder believes", lead)
    model = f"Under {risk.under}; {risk.posterior.method}."
    if risk.fits_badly:
        model += f" It fits badly: the true table is {risk.surprise:,.0f} nats from a typical one."
    more = f" The {palette.number(len(rows))} most nearly certain." if total > len(rows) else ""
    return {"lead": lead, "charts": charts, "caption": f"{model}{more} True counts are outlined."}


def _figures(assessment: Assessment) -> list[tuple[str, str]]:
    """The few numbers that a reader wants first, each with what it counts."""
    small, policy = assessment.decision.case.small, assessment.policy
    utility, beta = assessment.decision.utility, policy.small.width
    found = [(palette.number(len(small.cells)), f"counts of {words.small_words(assessment)}")]
    if small.narrowest is not None:
        below = len(small.below(beta))
        found.append((palette.number(below), f"of them with a width below {palette.number(beta)}"))
        found.append((palette.number(small.narrowest), "narrowest width of a small count"))
    if attribute.RULE in asked(policy):
        groups = len(sheets.disclosures(assessment))
        found.append((palette.number(groups), "groups with a disclosed category"))
    worth = f"of {palette.number(utility.possible)} margins in the release"
    return [*found, (palette.number(utility.released), worth)]


def cell_table(rows: list[sheets.CellRow], every: int) -> dict[str, Any]:
    """Rows with one column a variable, or one for all if they are many."""
    names = list(rows[0].cell) if rows else []
    if len(names) > MOST_COLUMNS:
        labels = [[", ".join(f"{n}: {c}" for n, c in row.cell.items())] for row in rows]
        names = ["Cell"]
    else:
        labels = [list(row.cell.values()) for row in rows]
    return {"names": names, "rows": list(zip(labels, rows, strict=True)), "more": every - len(rows)}


def _close(assessment: Assessment) -> int:
    if closeness.RULE not in asked(assessment.policy):
        return 0
    share = assessment.policy.closeness.share
    return len(assessment.decision.case.closeness.below(share))


def _alternative(assessment: Assessment, cells: list[sheets.CellRow]) -> tuple[str, str]:
    """Title and description of the chart for those who cannot see it."""
    first = cells[0]
    return words.narrowing(assessment), (
        "One bar a cell, from the lowest to the highest count that fits the release, narrowest "
        f"first. The narrowest: {', '.join(first.cell.values())}, true count "
        f"{palette.number(first.count)}, interval {palette.span(first.lower, first.upper)}. "
        "The table below has the same figures."
    )


def drawn(name: str, draw: Callable[..., Any], description: str) -> dict[str, Any]:
    """The chart for pages and for phones, without its title, and the title."""
    finding = draw(width=WIDE).description
    found: dict[str, Any] = {"finding": finding}
    for size, width in WIDTHS:
        chart = draw(width=width, title="")
        found[size] = inline_svg(chart, f"{name}-{size}", finding, description)
    return found


def inline_svg(chart: Any, name: str, title: str, description: str) -> Any:
    """The chart as an SVG element: it scales, says what it shows, and refers to nothing."""
    import io

    from markupsafe import Markup, escape

    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    found = re.fullmatch(r"\s*<svg([^>]*)>(.*)</svg>\s*", buffer.getvalue(), re.DOTALL)
    if found is None:
        raise RuntimeError("the chart was not drawn as one SVG element")
    box = re.search(r'viewBox="([\d. -]+)"', found[1])
    size = box[1] if box else f"0 0 {WIDE} {WIDE}"
    head = Markup(
        '<svg role="img" aria-labelledby="{0}-title {0}-desc" viewBox="{1}" width="{2}">'
        '<title id="{0}-title">{3}</title><desc id="{0}-desc">{4}</desc>'
    ).format(name, size, size.split()[2], title, description)
    # ids of clip paths repeat between charts, and links to name spaces are not needed in HTML
    body = re.sub(r'(id="|url\(#)(\w+)', rf"\1{escape(name)}-\2", found[2])
    return head + Markup(re.sub(r'\sxmlns(:\w+)?="[^"]*"', "", body)) + Markup("</svg>")
