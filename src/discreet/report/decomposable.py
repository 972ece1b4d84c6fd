"""The page of a decomposable release found by widths alone."""

from __future__ import annotations

from math import comb
from pathlib import Path
from typing import TYPE_CHECKING

from discreet.look.words import number, percent, plural
from discreet.report.page import Chart, Facts, Page, Points, Rows, Section, data_file

if TYPE_CHECKING:
    from discreet.decision.frontier.decomposable_result import DecomposableFrontier


def decomposable_page(
    found: DecomposableFrontier, *, data: str | Path | None = None, short: int = 10
) -> Page:
    """How many margins, by number of variables, which they are, and how they were found."""
    width = "no small count" if found.min_width is None else number(found.min_width)
    margins = sorted(found.formula.margins, key=len, reverse=True)
    proof = "unknown" if found.at_most is None else number(found.at_most)
    facts = [
        ("Judged by", "widths alone: no other rule was asked"),
        ("Narrowest width", f"{width}, with beta {number(found.beta)}, at every small count"),
        ("Proven limit", f"{proof} margins in any decomposable release with these limits"),
        ("Searches", f"{number(len(found.restarts))}, {number(found.reached)} reached this worth"),
    ]
    return Page(
        "Decomposable release",
        f"{number(found.released)} margins keep a width of {number(found.beta)} at every small "
        f"count, in {plural(len(found.formula), 'maximal margin')} (widths alone)",
        [
            Section("How it was found", [Facts(facts), _trace(found)]),
            Section("Released margins by number of variables", [_orders(found)]),
            Section("Maximal margins", [Points(["*".join(m) for m in margins], short)]),
        ],
        files=data_file(data),
    )


def _orders(found: DecomposableFrontier) -> Rows:
    k = len(found.formula.names)
    shown = [(order, n, comb(k, order)) for order, n in sorted(found.by_order.items())]
    return Rows(
        "Released margins by their number of variables",
        ["variables"],
        [[number(order)] for order, _, _ in shown],
        ["released", "possible", "percent"],
        [[number(n), number(of), percent(n / of, 2)] for _, n, of in shown],
        short=len(shown),
    )


def _trace(found: DecomposableFrontier) -> Chart:
    return Chart("trace", found.plot, "The best worth found by step, a line for each search.")
