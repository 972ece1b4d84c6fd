"""`discreet diff`: what changed between two assessments."""

from __future__ import annotations

import click

from discreet.cli.again import again
from discreet.cli.options import print_json
from discreet.cli.showing import page_options


@click.command("diff", epilog="Example: discreet diff last-year.json this-year.json")
@click.argument("old")
@click.argument("new")
@page_options
@click.pass_context
def diff_command(
    ctx: click.Context, /, old: str, new: str, html: str | None, as_json: bool
) -> None:
    """What changed between two assessments.

    OLD and NEW are files as written by assess --json.
    """
    from discreet.report.compare import diff

    comparison, how = diff(old, new), again(ctx)
    if html:
        from discreet.report.html import write_html

        write_html(comparison, html, files={"New": new, "Old": old}, again=how)
    if as_json:
        print_json(comparison.to_json() | ({"again": how} if how else {}))
    else:
        click.echo(str(comparison))
        if html:
            click.echo(f"Report: {html}")
