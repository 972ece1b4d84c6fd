"""`discreet bounds`: what a release says for certain about each cell."""

from __future__ import annotations

import math
from typing import Any

import click

from discreet.cli.options import (
    SECONDS,
    Number,
    cells_option,
    data_options,
    json_option,
    print_json,
    read_data,
    release_option,
    small_option,
)


@click.command(
    "bounds",
    epilog='Example: discreet bounds example:tract --release "Race*Income" --cells all',
)
@data_options
@release_option
@click.option(
    "--method",
    type=click.Choice(["auto", "closed", "shuttle", "linear", "integer"]),
    default="auto",
    show_default=True,
    help="How: auto splits the release and takes what is best for each part.",
)
@cells_option
@small_option
@click.option(
    "--limit",
    type=SECONDS,
    metavar="SECONDS",
    help="Time for linear and integer programs; what is left keeps outer bounds.",
)
@click.option(
    "--beta",
    type=click.IntRange(1),
    default=3,
    show_default=True,
    help="The width that is to be proven.",
)
@click.option(
    "--proof",
    type=click.Choice(["linear", "outer"]),
    default="outer",
    show_default=True,
    help="linear: find out whether large parts keep beta by linear bounds.",
)
@click.option(
    "--witness",
    type=Number(0),
    default=0,
    show_default=True,
    metavar="SECONDS",
    help="Time to look for tables that prove a width, starting from DATA.",
)
@click.option(
    "--out",
    metavar="FILE",
    help="Write the intervals (.csv, .parquet) or their chart (.png, .svg, .html).",
)
@json_option
def bounds_command(
    release: str,
    method: Any,
    cells: str,
    small: int,
    limit: float | None,
    beta: int,
    proof: str,
    witness: float,
    out: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Feasible intervals of cells, given the released margins."""
    from discreet.data.files import check_writable
    from discreet.intruder.bounds.bounder import bounds
    from discreet.intruder.bounds.part import Proof
    from discreet.look.progress import working
    from discreet.release.release import Release

    if out:
        check_writable(out)
    table = read_data(**data)
    public = Release.margins(table, release)
    chosen = {"small": lambda: table.small(small), "nonzero": table.nonzero, "all": table.all}
    targets = chosen[cells]()
    with working("bounding"):
        found = bounds(
            public,
            targets,
            method=method,
            seconds=limit or math.inf,
            proof=Proof(table, beta, witness) if witness else None,
            width=beta if proof == "linear" else None,
        )
    if out:
        _write(found, targets, out)
    if as_json:
        print_json(found.to_json(targets.counts, beta))
        return
    from rich.console import Console

    from discreet.report.text import print_bounds

    print_bounds(found, targets.counts, Console(highlight=False), beta=beta)
    if out:
        click.echo(f"Written: {out}")


def _write(found: Any, targets: Any, out: str) -> None:
    from discreet.report.export import save_chart, save_frame

    if out.endswith((".csv", ".parquet")):
        save_frame(found.to_frame(counts=targets.counts), out)
    else:
        save_chart(found.plot(counts=targets.counts), out)
