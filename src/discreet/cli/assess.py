"""`discreet assess`: the main job."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import (
    data_file,
    data_options,
    json_option,
    print_json,
    read_data,
    read_policy,
    release_option,
)


@click.command(
    "assess",
    epilog='Example: discreet assess people.csv --release "Sex*Age + Age*Town" --html report.html',
)
@data_options
@release_option
@click.option("--released", metavar="F", help="Margins that are out already; judged together.")
@click.option("--policy", metavar="FILE", help="TOML with the thresholds (discreet policy).")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key.")
@click.option("--html", metavar="OUT", help="Write the report, one self-contained file.")
@click.option(
    "--export", metavar="FOLDER", help="Write report, charts (PNG, SVG), tables (CSV, Excel)."
)
@click.option("--against", metavar="FILE", help="Compare with the JSON of an earlier assessment.")
@json_option
@click.pass_context
def assess_command(
    ctx: click.Context,
    /,
    release: str,
    released: str | None,
    policy: str | None,
    changes: tuple[str, ...],
    html: str | None,
    export: str | None,
    against: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """May these tables be published? If not, what instead?"""
    from discreet.data.files import check_writable
    from discreet.decision.law.assess import assess
    from discreet.decision.law.verdict import Verdict
    from discreet.look.progress import working
    from discreet.report.compare import compare_reports, read_report

    office = read_policy(policy, changes)
    for path in (html, export):
        if path:
            check_writable(path)
    earlier = read_report(against) if against else None
    table = read_data(**data)
    with working("assessing"):
        found = assess(table, release, office, released=released, data=data_file(data["data"]))
    written = _write(found, html, export, earlier)
    comparison = compare_reports(earlier, found.to_json()) if earlier else None
    if as_json:
        more = {"comparison": comparison.to_json()} if comparison else {}
        print_json(found.to_json() | more)
    else:
        from rich.console import Console

        from discreet.report.text import print_assessment

        print_assessment(found, Console(highlight=False))
        if comparison:
            click.echo(f"\nAgainst {against}:\n{comparison}")
        for path in written:
            click.echo(f"Report: {path}")
    ctx.exit(0 if found.verdict is Verdict.PASS else 1)


def _write(found: Any, html: str | None, export: str | None, earlier: Any) -> list[str]:
    if html:
        from discreet.report.html import write_html

        write_html(found, html, against=earlier)
    if export:
        from discreet.report.export import export as export_all

        export_all(found, export, against=earlier)
    return [path for path in (html, export) if path]
