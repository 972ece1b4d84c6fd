"""The page of a frontier: what can be released, what users get of it, how it was found."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Any

from discreet.decision.law.assess import provenance_of
from discreet.look.boundscharts import bounds_chart, width_histogram
from discreet.look.frontiercharts import order_chart, served_chart, trace_chart, variable_chart
from discreet.look.words import number, percent, plural, sentence, shortened
from discreet.report import frontier_words as say
from discreet.report import sheets, words
from discreet.report.assessment import (
    MOST_BARS,
    MOST_LETTERS,
    MOST_NAMES,
    MOST_ROWS,
    SHORT_LETTERS,
    assumed,
    assumptions,
    judged_view,
    reasons,
    small_chart,
    small_table,
)
from discreet.report.page import Chart, Facts, Page, Part, Points, Rows, Say, Section

if TYPE_CHECKING:
    from discreet.decision.frontier.frontier import Frontier

MOST_MARGINS = 2000
MOST_CELLS = 20
SHORT, SHORT_VARIABLES = 10, 60  # lines of a list in a terminal


def frontier_page(
    frontier: Frontier, *, data: str | Path | None = None, short: int = SHORT
) -> Page:
    """Verdict and headline, orders, variables, the narrowest small counts, users, margins.

    `data` is the file that the table came from, for its hash. In a terminal, cells, users and
    margins are cut after `short`.
    """
    decision, table = frontier.decision, frontier.decision.case.table
    maximal = plural(len(frontier.formula), "maximal margin")
    return Page(
        "Release frontier",
        f"{say.headline(frontier)}, in {maximal} ({decision.basis})",
        _sections(frontier, short),
        verdict=decision.verdict,
        size=f"total {number(table.total)}",
        said=[
            *([Say(frontier.stopped, "grave")] if frontier.stopped else []),
            *(Say(f"{about.lower()}: {text}", "quiet") for about, text in say.facts(frontier)),
        ],
        figures=_figures(frontier),
        assumed=assumptions(frontier),
        template="frontier.html.j2",
        view=lambda: _view(frontier, data),
        provenance=lambda: provenance_of(table, data),
    )


def _sections(frontier: Frontier, short: int) -> list[Section]:
    """What a terminal shows."""
    formula = frontier.formula
    margins = sorted(formula.margins, key=len, reverse=True)
    texts = [shortened(say.written(margin), SHORT_LETTERS) for margin in margins]
    title = f"{plural(len(formula), 'maximal margin')}, those of most variables first"
    cells: list[Part] = [_cells(frontier, short)] if len(frontier.decision.case.small.cells) else []
    return [
        reasons(frontier),
        Section("Released margins by number of variables", _orders(frontier)),
        Section("Variables: in how many released margins", [_variables(frontier)]),
        Section("Small counts", cells, words.narrowing(frontier)),
        *([Section(say.USERS, [_users(frontier, short)])] if frontier.users else []),
        Section(title, [Points(texts, short)]),
        assumed(frontier),
    ]


def _orders(frontier: Frontier) -> list[Part]:
    orders = sheets.order_rows(frontier)
    top = max((order for order, n, _ in orders if n), default=0)
    shown = orders[: top + 1]
    table = Rows(
        "Released margins by their number of variables",
        ["variables"],
        [[number(order)] for order, _, _ in shown],
        ["released", "possible", "percent"],
        [[number(n), number(of), percent(n / of, 2)] for _, n, of in shown],
        short=len(shown),
    )
    none = Say(f"none of {plural(top + 2, 'variable')} or more", "quiet")
    return [table, none] if len(orders) > len(shown) else [table]


def _variables(frontier: Frontier) -> Rows:
    rows = say.variable_rows(frontier)
    possible = 2 ** (len(rows) - 1)
    return Rows(
        f"Released margins with each variable, of {number(possible)} that could have it",
        ["variable"],
        [[name] for name, _ in rows],
        ["margins", f"of {number(possible)}"],
        [[number(n), percent(n / possible, 2)] for _, n in rows],
        short=SHORT_VARIABLES,
        folded=True,
    )


def _cells(frontier: Frontier, short: int) -> Rows:
    """The narrowest small counts, with what reaches their ends."""
    small = frontier.decision.case.small
    rows = sheets.small_rows(frontier, max(short, 0))
    return Rows(
        "Small counts, narrowest interval first",
        list(small.cells.names),
        [list(row.cell.values()) for row in rows],
        ["count", "lower", "upper", "status"],
        [[number(r.count), number(r.lower), number(r.upper), str(r.status)] for r in rows],
        len(small.cells),
        short=short,
    )


def _users(frontier: Frontier, short: int = SHORT) -> Rows:
    """What each user gets, least served first."""
    rows = say.user_rows(frontier)
    heads = ["margins asked for", "served"] + ["first come"] * bool(frontier.first_come)
    return Rows(
        "Users, least served first",
        ["user", "missed"],
        [[name, missed or "nothing"] for name, *_, missed in rows],
        heads,
        [list(row[1 : 1 + len(heads)]) for row in rows],
        short=short,
    )


def frontier_charts(frontier: Frontier) -> dict[str, Any]:
    """What draws each chart of the frontier; `width`, `title` and `source` are options."""
    small, beta = frontier.decision.case.small, frontier.beta
    orders = sheets.order_rows(frontier)
    variables = say.variable_rows(frontier)
    first = {user.name: user.share for user in frontier.first_come}
    charts: dict[str, Any] = {
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
            limit=beta, proven=words.reached(frontier), kind="small count", **options,
        )  # fmt: skip
        charts["widths"] = lambda **options: width_histogram(
            small.bounds.width, limit=beta, kind="small count", **options
        )
    if frontier.users:
        charts["users"] = lambda **options: served_chart(
            [(user.name, user.share, first.get(user.name)) for user in frontier.users], **options
        )
    if len({worth for _, worth in frontier.trace}) > 1:
        charts["trace"] = lambda **options: trace_chart(
            [frontier.trace], unit="second", measure="worth" if frontier.users else "margins",
            at_most=frontier.at_most if frontier.optimal else None, **options,
        )  # fmt: skip
    return charts


def _view(frontier: Frontier, data: str | Path | None) -> dict[str, Any]:
    """Everything else that the template shows."""
    table = frontier.decision.case.table
    name = provenance_of(table, data).data
    margins = sorted(frontier.formula.margins, key=len, reverse=True)
    folded = [say.written(margin) for margin in margins[MOST_NAMES : MOST_NAMES + MOST_MARGINS]]
    captions = dict.fromkeys(("orders", "variables"), f"Source: {name}.")
    captions["bounds"] = words.interval_words(frontier, name)
    return judged_view(frontier) | {
        "frontier": frontier,
        "headline": say.headline(frontier),
        "facts": Facts([(about, sentence(text)) for about, text in say.facts(frontier)]),
        "margins": margins[:MOST_NAMES],
        "folded": folded,
        "more_margins": max(0, len(margins) - MOST_NAMES - MOST_MARGINS),
        "formula": shortened(str(frontier.formula), MOST_LETTERS),
        "variables": _variables(frontier),
        "users": say.user_rows(frontier)[:MOST_ROWS],
        "more_users": max(0, len(frontier.users) - MOST_ROWS),
        "cells": small_table(frontier, MOST_CELLS),
        "charts": {
            each: Chart(each, draw, DESCRIPTIONS[each], captions.get(each, ""))
            for each, draw in frontier_charts(frontier).items()
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
