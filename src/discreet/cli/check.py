"""`discreet check`: a second look at what was written, before it is published."""

from __future__ import annotations

import dataclasses
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import Number, effort_options, how_to_read, reading_of
from discreet.cli.showing import page_options, show

if TYPE_CHECKING:
    from discreet.sheets.records import Records


@click.command("check", epilog="Example: discreet check release --against people.csv")
@click.argument("folder")
@click.option(
    "--against", "data", required=True, metavar="DATA", help="What the tables were made from."
)
@click.option("--count", metavar="COLUMN", help="DATA has one cell a row, counted here.")
@click.option("--codebook", metavar="FILE", help="TOML: categories, roles, hierarchies.")
@click.option("--table", metavar="NAME", help="Of a database or a file: its table, sheet or frame.")
@click.option(
    "--impossible",
    multiple=True,
    metavar="A=X,B=Y",
    help="Nobody can be in A=X and B=Y; none: those that look so can.",
)
@how_to_read
@click.option(
    "--released",
    multiple=True,
    metavar="FOLDER",
    help="A release that is out already; judged together.",
)
@click.option(
    "--width",
    type=Number(0),
    metavar="W",
    help="A hidden cell must be able to range over so much; counts over 1 at least, sums over "
    "anything.",
)
@click.option(
    "--independent",
    multiple=True,
    metavar="A,B",
    help="Sums of these columns tell nothing of each other; count stands for counts.",
)
@effort_options
@page_options
@click.pass_context
def check_command(
    ctx: click.Context,
    /,
    folder: str,
    released: tuple[str, ...],
    width: float | None,
    independent: tuple[str, ...],
    effort: float,
    seconds: float,
    html: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Does any file of a release give away what was to be hidden?

    FOLDER is what was written, with its manifest.json. Every file in it is read again and compared
    with the manifest, with the other files and with DATA; hidden cells must not follow from
    printed ones.
    """
    from discreet.decision.batch.suspected import supposing, suspicions
    from discreet.decision.law.verdict import Verdict
    from discreet.look.progress import working
    from discreet.report.checked import check, values_from

    apart = tuple(frozenset(map(str.strip, one.split(","))) for one in independent)
    records = _records((folder, *released), **data)
    with working("checking"):
        found = check(
            folder,
            records.variables,
            values_from(records),
            released=released,
            width=width,
            impossible=supposing(records, suspicions(records)).impossible,
            records=dataclasses.replace(records, independent=apart),
            effort=effort,
            seconds=seconds,
        )
    show(found, html=html, document=found.to_json() if as_json else None, data=data["data"])
    ctx.exit(0 if found.verdict is Verdict.PASS else 1)


def _records(folders: tuple[str, ...], data: str, **options: Any) -> Records:
    """The columns of DATA that the tables of a release show."""
    from discreet.data.database import hidden
    from discreet.look.progress import working
    from discreet.sheets.reading import hold, read_records
    from discreet.sheets.released import measures_of, read_manifest, variables_of

    manifests = [read_manifest(folder) for folder in folders]
    names = list(dict.fromkeys(name for one in manifests for name in variables_of(one)))
    measures = measures_of(manifests[0])
    with working(f"reading {hidden(data)}"):
        return read_records(hold(data, measures, reading_of(options)), names, measures)
