"""`discreet widths`: how far each margin narrows the small counts, and each variable's score."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import data_options, json_option, print_json, read_data, small_option

if TYPE_CHECKING:
    from rich.console import Console

    from discreet.decision.frontier.widths import Widths

MOST = 5
MOST_SCORES = 60


@click.command("widths", epilog="Example: discreet widths example:czech --max-order 3")
@data_options
@click.option(
    "--max-order",
    type=click.IntRange(1),
    metavar="D",
    help="Only margins of up to this many variables; else all.",
)
@small_option
@json_option
def widths_command(max_order: int | None, small: int, as_json: bool, **data: Any) -> None:
    """Critical widths of margins and disclosure scores of variables.

    The critical width of a margin is the narrowest interval that it and all one-way margins leave
    for a small count. A variable's score is the mean over the margins that contain it: the lower,
    the more problematic.
    """
    from discreet.decision.frontier.widths import critical_widths

    found = critical_widths(read_data(**data), small=small, max_order=max_order)
    if as_json:
        print_json(found.to_json())
        return
    from rich.console import Console

    print_widths(found, Console(highlight=False))


def print_widths(widths: Widths, console: Console, *, most: int = MOST) -> None:
    """Scores, then the most problematic margins of each order."""
    from discreet.look.palette import number, plural
    from discreet.report.text import _cells, _head, _more, _say

    least, greatest = number(int(widths.width.min())), number(int(widths.width.max()))
    margins = plural(len(widths), "margin")
    cells = f"at {plural(widths.small_cells, 'small count')} (1 to {number(widths.small)})"
    _head(console, f"{margins}: critical widths from {least} to {greatest} {cells}", gap=False)
    if widths.not_computed:
        _say(console, widths.not_computed, "dim")

    scores = widths.scores()
    _head(console, "Disclosure scores: the lower, the more problematic")
    _say(console, scores.basis, "dim")
    rows = scores.ordered()
    _cells(
        console,
        [[scores.names[p], scores.words(int(scores.group[p]))] for p in rows[:MOST_SCORES]],
        ["variable", "group"],
        [[f"{scores.score[p]:,.2f}"] for p in rows[:MOST_SCORES]],
        ["score"],
    )
    _more(console, len(rows) - MOST_SCORES)

    _head(console, "Most problematic margins")
    for order, spread in widths.by_order().items():
        of = f"{plural(order, 'variable')}, {plural(spread.margins, 'margin')}"
        if spread.least == spread.most:
            _say(console, f"{of}: width {number(spread.least)}")
            continue
        tied = int((widths.width[widths.order == order] == spread.least).sum())
        ends = f"{number(spread.least)} ({plural(tied, 'margin')}) to {number(spread.most)}"
        _say(console, f"{of}: width {ends}")
        shown = widths.worst(order, most)
        _cells(
            console,
            [[f"  {widths.label(s)}"] for s in shown],
            ["  margin"],
            [[number(widths.of(widths.margin(s)))] for s in shown],
            ["width"],
        )
        _more(console, spread.margins - len(shown))
