"""`discreet assess`: the main job."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import (
    checkpoint_option,
    data_file,
    data_options,
    effort_options,
    large_option,
    read_data,
    read_policy,
    workers_option,
)
from discreet.cli.sheets import (
    MEASURE,
    keep_unsafe,
    measured,
    read_office,
    refuse_unsafe,
    sheet_options,
    unsafe_option,
)
from discreet.cli.showing import page_options, show, writable


@click.command(
    "assess",
    epilog='Example: discreet assess people.csv --release "Sex*Age + Age*Town" --html report.html',
)
@data_options
@checkpoint_option
@click.option(
    "--release",
    metavar="F",
    help='Margins to release: "Race*Income + Income*Gender", or @FILE.',
)
@sheet_options
@click.option(
    "--released",
    multiple=True,
    metavar="F",
    help="Margins that are out already, or folders of releases; judged together.",
)
@large_option
@click.option("--policy", metavar="FILE", help="TOML with the thresholds (discreet policy).")
@click.option("--set", "changes", multiple=True, metavar="KEY=VALUE", help="Change a policy key.")
@unsafe_option
@click.option(
    "--export",
    metavar="FOLDER",
    callback=writable,
    help="Write report, charts (PNG, SVG), tables (CSV, Excel).",
)
@click.option("--against", metavar="FILE", help="Compare with the JSON of an earlier assessment.")
@effort_options
@workers_option
@page_options
@click.pass_context
def assess_command(
    ctx: click.Context,
    /,
    release: str | None,
    tables: str | None,
    released: tuple[str, ...],
    large: int | None,
    policy: str | None,
    changes: tuple[str, ...],
    unsafe: str | None,
    html: str | None,
    export: str | None,
    against: str | None,
    effort: float,
    seconds: float,
    as_json: bool,
    **data: Any,
) -> None:
    """May these tables be published? If not, what instead?

    One of --release and --tables says which. A list of tables is judged one by one and together.
    """
    columns = {name: data.pop(name) for name in MEASURE}
    if tables or measured(**columns):
        if export or against or large:
            raise click.UsageError("--export, --against and --large go with --release.")
        if data.pop("checkpoint") is not None:
            raise click.UsageError("--checkpoint goes with --release.")
        data |= columns | {"effort": effort, "seconds": seconds, "unsafe": unsafe}
        _batch(ctx, release, tables, released, policy, changes, html, as_json, **data)
        return
    if unsafe is not None:
        raise click.UsageError("--unsafe goes with --tables.")
    if release is None:
        raise click.UsageError("Missing option '--release', or '--tables'.")
    from discreet.decision.law.assess import assess
    from discreet.decision.law.verdict import Verdict
    from discreet.look.progress import working
    from discreet.report.compare import diff, read_report

    office = read_policy(policy, changes)
    earlier = read_report(against) if against else None
    table = read_data(**data)
    with working("assessing"):
        out = " + ".join(released) if released else None
        file = data_file(data["data"])
        work: Any = {"effort": effort, "seconds": seconds}
        found = assess(table, release, office, released=out, large=large, data=file, **work)
    if export:
        from discreet.report.export import export as export_all

        export_all(found, export, against=earlier)
    comparison = diff(earlier, found.to_json()) if earlier else None
    more = {"comparison": comparison.to_json()} if comparison else {}
    document = found.to_json() | more if as_json else None
    show(found, html=html, document=document, against=earlier)
    if comparison and not as_json:
        click.echo(f"\nAgainst {against}:\n{comparison}")
    if export and not as_json:
        click.echo(f"Report: {export}")
    ctx.exit(0 if found.verdict is Verdict.PASS else 1)


def _batch(
    ctx: click.Context,
    release: str | None,
    tables: str | None,
    released: tuple[str, ...],
    policy: str | None,
    changes: tuple[str, ...],
    html: str | None,
    as_json: bool,
    effort: float,
    seconds: float,
    unsafe: str | None,
    **data: Any,
) -> None:
    """Sheets with totals, one by one and together."""
    from discreet.decision.batch.judge import judge_batch
    from discreet.decision.law.verdict import Verdict
    from discreet.look.progress import working

    refuse_unsafe(unsafe, html)
    office = read_policy(policy, changes)
    found = read_office(policy=office, tables=tables, release=release, released=released, **data)
    with working("assessing"):
        judged = judge_batch(
            found.records,
            found.sheets,
            office,
            out=found.out,
            data=data_file(data["data"]),
            effort=effort,
            seconds=seconds,
        )
    keep_unsafe(judged.unsafe, unsafe)
    show(judged, html=html, document=judged.to_json() if as_json else None)
    ctx.exit(0 if judged.verdict is Verdict.PASS else 1)
