"""`discreet widths`: how far each margin narrows the small counts, and each variable's score."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import (
    checkpoint_option,
    data_options,
    read_data,
    small_option,
    workers_option,
)
from discreet.cli.showing import page_options, show
from discreet.cli.stored import left_on_disk


@click.command("widths", epilog="Example: discreet widths example:czech --max-order 3")
@data_options
@checkpoint_option
@click.option(
    "--max-order",
    type=click.IntRange(1),
    metavar="D",
    help="Only margins of up to this many variables; else all.",
)
@small_option
@workers_option
@page_options
def widths_command(
    max_order: int | None, small: int, html: str | None, as_json: bool, **data: Any
) -> None:
    """Critical widths of margins and disclosure scores of variables.

    The critical width of a margin is the narrowest interval that it and all one-way margins leave
    for a small count. A variable's score is the mean over the margins that contain it: the lower,
    the more problematic.
    """
    from discreet.decision.frontier.widths import widths

    found = widths(left_on_disk(**data) or read_data(**data), small=small, max_order=max_order)
    document = found.to_json() if as_json else None
    show(found, html=html, document=document, data=data["data"])
