"""A frontier in a terminal, or as plain text in a file."""

from __future__ import annotations

from typing import TYPE_CHECKING

from discreet.look.palette import number, percent, plural
from discreet.report import frontier_words as say
from discreet.report import sheets, words
from discreet.report.text import MOST_LETTERS, _cells, _head, _item, _more, _say

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.decision.frontier.frontier import Frontier

MOST = 10
MOST_VARIABLES = 60


def print_frontier(frontier: Frontier, console: Console, *, most: int = MOST) -> None:
    """Verdict and headline, orders, variables, the narrowest small counts, users, margins.

    Cells, users and margins are cut after `most`.
    """
    decision, formula = frontier.decision, frontier.formula
    maximal = plural(len(formula), "maximal margin")
    head = f"{say.headline(frontier)}, in {maximal} ({decision.basis})"
    _item(console, decision.verdict, head, bold=True)
    for about, text in say.facts(frontier):
        _say(console, f"{about.lower()}: {text}", style="dim")

    _head(console, "Reasons")
    for reason in decision.reasons:
        _item(console, reason.verdict, f"{reason.rule}: {reason.text}")

    _head(console, "Released margins by number of variables")
    orders = sheets.order_rows(frontier)
    top = max((order for order, n, _ in orders if n), default=0)
    shown = orders[: top + 1]
    _cells(
        console,
        [[number(order)] for order, _, _ in shown],
        ["variables"],
        [[number(n), number(of), percent(n / of, 2)] for _, n, of in shown],
        ["released", "possible", "percent"],
    )
    if len(orders) > len(shown):
        _say(console, f"none of {plural(top + 2, 'variable')} or more", "dim")

    _head(console, "Variables: in how many released margins")
    counts = say.variable_rows(frontier)
    possible = 2 ** (len(counts) - 1)
    _cells(
        console,
        [[name] for name, _ in counts[:MOST_VARIABLES]],
        ["variable"],
        [[number(n), percent(n / possible, 2)] for _, n in counts[:MOST_VARIABLES]],
        ["margins", f"of {number(possible)}"],
    )
    _more(console, len(counts) - MOST_VARIABLES)

    _print_cells(frontier, console, most)
    _print_users(frontier, console, most)

    _head(console, f"{plural(len(formula), 'maximal margin')}, those of most variables first")
    for margin in sorted(formula.margins, key=len, reverse=True)[:most]:
        _say(console, words.shortened(say.written(margin), MOST_LETTERS))
    _more(console, len(formula) - most)

    _head(console, "Assumed")
    for text in decision.assumptions:
        _say(console, words.shortened(text, MOST_LETTERS))


def _print_cells(frontier: Frontier, console: Console, most: int) -> None:
    """The narrowest small counts."""
    _head(console, words.narrowing(frontier))
    rows, small = sheets.small_rows(frontier, most), frontier.decision.case.small
    if not rows:
        return
    _cells(
        console,
        [list(row.cell.values()) for row in rows],
        list(small.cells.names),
        [[number(r.count), number(r.lower), number(r.upper), str(r.status)] for r in rows],
        ["count", "lower", "upper", "status"],
    )
    _more(console, len(small.cells) - len(rows))


def _print_users(frontier: Frontier, console: Console, most: int) -> None:
    """What each user gets, least served first."""
    rows = say.user_rows(frontier)
    if not rows:
        return
    _head(console, "Users: share of what they asked for, least served first")
    heads = ["margins asked for", "served"] + ["first come"] * bool(frontier.first_come)
    _cells(
        console,
        [[name, missed or "nothing"] for name, *_, missed in rows[:most]],
        ["user", "missed"],
        [list(row[1 : 1 + len(heads)]) for row in rows[:most]],
        heads,
    )
    _more(console, len(rows) - most)
