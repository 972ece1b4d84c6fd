"""A frontier as one HTML file that needs nothing else and asks nothing of the network."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.data.files import write_text
from discreet.decision.law.assess import provenance_of
from discreet.look.boundscharts import bounds_chart, width_histogram
from discreet.look.frontiercharts import order_chart, trace_chart, variable_chart
from discreet.look.palette import number, percent
from discreet.look.requestcharts import served_chart
from discreet.report import frontier_words as say
from discreet.report import sheets, words
from discreet.report.html import (
    MOST_BARS,
    MOST_LETTERS,
    MOST_NAMES,
    MOST_ROWS,
    base_view,
    cell_table,
    drawn,
    render,
    small_chart,
)

if TYPE_CHECKING:
    from discreet.decision.frontier.frontier import Frontier

TEMPLATE = "frontier.html.j2"
MOST_MARGINS = 2000
MOST_CELLS = 20
Draw = Callable[..., Any]


def frontier_report(frontier: Frontier, *, data: str | Path | None = None) -> str:
    """The report as HTML; `data` is the file that the table came from, for its hash."""
    return render(TEMPLATE, _view(frontier, data))


def write_frontier_html(
    frontier: Frontier, path: str | Path, *, data: str | Path | None = None
) -> None:
    """The report as a file, whole or not at all."""
    write_text(path, frontier_report(frontier, data=data))


def frontier_charts(frontier: Frontier) -> dict[str, Draw]:
    """What draws each chart of the frontier; `width`, `title` and `source` are options."""
    small, beta = frontier.decision.case.small, frontier.beta
    orders = sheets.order_rows(frontier)
    variables = say.variable_rows(frontier)
    kind = "small count"
    first = {user.name: user.share for user in frontier.first_come}
    measure = "worth" if frontier.users else "margins"

    charts: dict[str, Draw] = {
        "orders": lambda **options: order_chart(
            {k: n for k, n, _ in orders},
            {k: of for k, _, of in orders},
            **{"title": say.headline(frontier)} | options,
        ),
        "variables": lambda **options: variable_chart(
            [name for name, _ in variables],
            [n for _, n in variables],
            2 ** (len(variables) - 1),
            **options,
        ),
    }
    if 0 < len(small.cells) <= MOST_BARS:
        charts["bounds"] = lambda **options: small_chart(frontier, **options)
    elif len(small.cells):
        charts["bounds"] = lambda **options: bounds_chart(
            small.bounds.lower, small.bounds.upper, small.cells.counts,
            limit=beta, proven=words.reached(frontier), kind=kind, **options,
        )  # fmt: skip
        charts["widths"] = lambda **options: width_histogram(
            small.bounds.width, limit=beta, kind=kind, **options
        )
    if frontier.users:
        charts["users"] = lambda **options: served_chart(
            [(user.name, user.share, first.get(user.name)) for user in frontier.users], **options
        )
    if len({worth for _, worth in frontier.trace}) > 1:
        charts["trace"] = lambda **options: trace_chart(
            [frontier.trace], unit="second", measure=measure,
            at_most=frontier.at_most if frontier.optimal else None, **options,
        )  # fmt: skip
    return charts


def _view(frontier: Frontier, data: str | Path | None) -> dict[str, Any]:
    """Everything that the template shows."""
    small = frontier.decision.case.small
    table = frontier.decision.case.table
    margins = sorted(frontier.formula.margins, key=len, reverse=True)
    folded = [say.written(margin) for margin in margins[MOST_NAMES : MOST_NAMES + MOST_MARGINS]]
    variables = say.variable_rows(frontier)
    cells = sheets.small_rows(frontier, MOST_CELLS)
    return base_view(frontier, provenance_of(table, data), "Release frontier") | {
        "frontier": frontier,
        "headline": say.headline(frontier),
        "figures": _figures(frontier),
        "facts": say.facts(frontier),
        "margins": margins[:MOST_NAMES],
        "folded": folded,
        "more_margins": max(0, len(margins) - MOST_NAMES - MOST_MARGINS),
        "formula": words.shortened(str(frontier.formula), MOST_LETTERS),
        "roles": words.role_words(table, MOST_NAMES),
        "variables": variables,
        "with_variable": 2 ** (len(variables) - 1),
        "users": say.user_rows(frontier)[:MOST_ROWS],
        "more_users": max(0, len(frontier.users) - MOST_ROWS),
        "cells": cell_table(cells, len(small.cells)),
        "charts": {
            name: drawn(name, draw, DESCRIPTIONS[name])
            for name, draw in frontier_charts(frontier).items()
        },
    }


DESCRIPTIONS = {
    "orders": "One bar a number of variables: released margins as a share of all of that many "
    "variables. The table below has the same figures.",
    "variables": "One bar a variable: released margins with it. The table below has the same "
    "figures.",
    "bounds": "The interval of each small count, ordered by its upper bound, with the true count. "
    "The table below lists the narrowest.",
    "widths": "One bar a width: how many small counts have it.",
    "users": "One bar a user: the share of the requests that is served. The table below has the "
    "same figures.",
    "trace": "A line that rises each time the search found more.",
}


def _figures(frontier: Frontier) -> list[tuple[str, str]]:
    """The few numbers that a reader wants first, each with what it counts."""
    small, possible = frontier.decision.case.small, frontier.decision.utility.possible
    found = [
        (number(frontier.released), f"of {number(possible)} margins in the set"),
        (number(len(frontier.formula)), "maximal margins, which say all of it"),
        (number(len(small.cells)), f"counts of {words.small_words(frontier)}"),
    ]
    if frontier.min_width is not None and len(small.cells):
        asked = f"narrowest width of a small count; {number(frontier.beta)} is asked for"
        found.append((number(frontier.min_width), asked))
        loose = "small count not" if frontier.unproven == 1 else "small counts not"
        found.append((number(frontier.unproven), f"{loose} proven to keep the width"))
    if frontier.users:
        least = min(user.share for user in frontier.users)
        found.append((percent(least), "served of what the least served user asked for"))
    return found
