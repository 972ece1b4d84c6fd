"""`discreet look`: what the program sees in data."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import data_options, reading_of
from discreet.cli.showing import page_options, show, writable


@click.command("look", epilog="Example: discreet look people.csv --write people.toml")
@data_options
@click.option(
    "--write",
    "out",
    metavar="FILE",
    callback=writable,
    help="A codebook to edit, for --codebook; guesses are comments.",
)
@page_options
def look_command(out: str | None, html: str | None, as_json: bool, **data: Any) -> None:
    """What is in DATA, before anything is counted.

    Its kind, columns, categories, missing values, and what would stop other commands. What is shown
    is confidential. Roles are guesses by names and values; nothing is decided by
    them.
    """
    from discreet.data.database import hidden
    from discreet.look.progress import working
    from discreet.table.described import look

    name = data.pop("data")
    with working(f"reading {hidden(name)}"):
        found = look(name, reading_of(data))
    if out:
        found.write_codebook(out)
    show(found, html=html, document=found.to_json() if as_json else None, data=name)
    if out and not as_json:
        click.echo(f"Codebook: {out}")
