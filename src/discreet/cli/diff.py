"""`discreet diff`: what changed between two assessments."""

from __future__ import annotations

import click

from discreet.cli.options import json_option, print_json


@click.command("diff", epilog="Example: discreet diff last-year.json this-year.json")
@click.argument("old")
@click.argument("new")
@json_option
def diff_command(old: str, new: str, as_json: bool) -> None:
    """Compare two assessments, OLD and NEW, as written by assess --json."""
    from discreet.report.compare import compare_reports, read_report

    comparison = compare_reports(read_report(old), read_report(new))
    if as_json:
        print_json(comparison.to_json())
    else:
        click.echo(str(comparison))
