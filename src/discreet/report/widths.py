"""The page of critical widths and disclosure scores."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING

from discreet.look.words import number, plural
from discreet.report.page import TERMINAL, Chart, Page, Part, Rows, Say, Section, data_file

if TYPE_CHECKING:
    from discreet.decision.frontier.widths import Widths

MOST, MOST_SCORES = 5, 60
MEANING = (
    "critical width of a margin: the narrowest interval of a small count if it is released with "
    "all one-way margins; the smaller, the more it gives away"
)


def widths_page(widths: Widths, *, data: str | Path | None = None) -> Page:
    """Scores, then the most problematic margins of each order."""
    least, greatest = number(int(widths.width.min())), number(int(widths.width.max()))
    margins = plural(len(widths), "margin")
    cells = f"at {plural(widths.small_cells, 'small count')} (1 to {number(widths.small)})"
    spread = Chart("widths", widths.plot, "One box a number of variables: the critical widths.")
    return Page(
        "Critical widths",
        f"{margins}: critical widths from {least} to {greatest} {cells}",
        [_scores(widths), Section("Most problematic margins", [spread, *_worst(widths)])],
        said=[
            Say(MEANING, "quiet"),
            *([Say(widths.not_computed, "quiet")] if widths.not_computed else []),
        ],
        files=data_file(data),
    )


def _scores(widths: Widths) -> Section:
    scores = widths.scores()
    rows = scores.ordered()
    table = Rows(
        f"Score: {scores.basis}",
        ["variable", "group"],
        [[scores.names[p], scores.words(int(scores.group[p]))] for p in rows],
        ["score"],
        [[f"{scores.score[p]:,.2f}"] for p in rows],
        short=MOST_SCORES,
    )
    about = "One bar a variable. The table below has the same figures."
    chart = Chart("scores", scores.plot, about)
    return Section(
        "Disclosure scores: the lower, the more problematic",
        [chart, Say(scores.basis, "quiet", on=TERMINAL), table],
    )


def _worst(widths: Widths) -> list[Part]:
    """The margins of each order, the narrowest few by name."""
    parts: list[Part] = []
    for order, spread in widths.by_order().items():
        of = f"{plural(order, 'variable')}, {plural(spread.margins, 'margin')}"
        if spread.least == spread.most:
            parts.append(Say(f"{of}: width {number(spread.least)}"))
            continue
        tied = int((widths.width[widths.order == order] == spread.least).sum())
        ends = f"{number(spread.least)} ({plural(tied, 'margin')}) to {number(spread.most)}"
        shown = widths.worst(order, MOST)
        figures = [[number(widths.of(widths.margin(s)))] for s in shown]
        said = f"{of}: width {ends}"
        parts += [
            Say(said, on=TERMINAL),
            Rows(
                said,
                ["  margin"],
                [[f"  {widths.label(s)}"] for s in shown],
                ["width"],
                figures,
                spread.margins,
                kind="more margin",
                short=MOST,
            ),
        ]
    return parts
