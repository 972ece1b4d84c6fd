"""`discreet diff`: what changed between two assessments."""

from __future__ import annotations

import click

from discreet.cli.options import print_json
from discreet.cli.showing import page_options


@click.command("diff", epilog="Example: discreet diff last-year.json this-year.json")
@click.argument("old")
@click.argument("new")
@page_options
def diff_command(old: str, new: str, html: str | None, as_json: bool) -> None:
    """Compare two assessments, OLD and NEW, as written by assess --json."""
    from discreet.report.compare import diff

    comparison = diff(old, new)
    if html:
        from discreet.report.html import write_html

        write_html(comparison, html, files={"New": new, "Old": old})
    if as_json:
        print_json(comparison.to_json())
    else:
        click.echo(str(comparison))
        if html:
            click.echo(f"Report: {html}")
