"""`discreet count`: how many tables fit a release."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import (
    SECONDS,
    data_options,
    json_option,
    print_json,
    read_data,
    release_option,
)


@click.command(
    "count", epilog='Example: discreet count example:tract --release "Race*Income + Income*Gender"'
)
@data_options
@release_option
@click.option(
    "--exact/--estimate", default=None, help="Never estimate, or always; else what the time allows."
)
@click.option(
    "--limit",
    type=SECONDS,
    default=10.0,
    show_default=True,
    metavar="SECONDS",
    help="Time to list tables, and to estimate.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of the estimate.")
@json_option
def count_command(
    release: str, exact: bool | None, limit: float, seed: int, as_json: bool, **data: Any
) -> None:
    """How many tables have the released margins: the intruder's doubt about the whole."""
    from discreet.intruder.tables.count import count
    from discreet.release.release import Release

    public = Release.margins(read_data(**data), release)
    found = count(public, exact=exact, seconds=limit, seed=seed)
    if as_json:
        print_json(found.to_json())
    else:
        click.echo(f"{found} ({found.method})")
