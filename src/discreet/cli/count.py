"""`discreet count`: how many tables fit a release."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import data_options, effort_options, read_data, release_option
from discreet.cli.showing import page_options, show


@click.command(
    "count", epilog='Example: discreet count example:tract --release "Race*Income + Income*Gender"'
)
@data_options
@release_option
@click.option(
    "--exact/--estimate",
    default=None,
    help="Never estimate, or always; else what the effort allows.",
)
@effort_options
@click.option("--seed", type=int, default=0, show_default=True, help="Of the estimate.")
@page_options
def count_command(
    release: str,
    exact: bool | None,
    effort: float,
    seconds: float,
    seed: int,
    html: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """How many tables have the released margins.

    It measures an intruder's doubt about the whole table.
    """
    from discreet.intruder.tables.count import count
    from discreet.release.release import Release

    public = Release.margins(read_data(**data).supposing(), release)
    found = count(public, exact=exact, effort=effort, seconds=seconds, seed=seed)
    show(
        found,
        html=html,
        document=found.to_json() if as_json else None,
        release=release,
        data=data["data"],
    )
