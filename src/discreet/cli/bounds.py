"""`discreet bounds`: what a release says for certain about each cell."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import (
    Number,
    cells_option,
    data_options,
    effort_options,
    large_option,
    read_data,
    release_option,
    small_option,
    workers_option,
)
from discreet.cli.showing import page_options, show, writable
from discreet.intruder.bounds.methods import METHODS


@click.command(
    "bounds",
    epilog='Example: discreet bounds example:tract --release "Race*Income" --cells all',
)
@data_options
@release_option
@large_option
@click.option(
    "--method",
    type=click.Choice(METHODS),
    default="auto",
    show_default=True,
    help="How: auto splits the release and takes what is best for each part.",
)
@cells_option
@small_option
@effort_options
@workers_option
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
    help="Look for tables that prove a width, starting from DATA, and stop after so long.",
)
@click.option(
    "--out",
    metavar="FILE",
    callback=writable,
    help="Write the intervals (.csv, .parquet) or their chart (.png, .svg, .html).",
)
@page_options
def bounds_command(
    release: str,
    large: int | None,
    method: Any,
    cells: str,
    small: int,
    effort: float,
    seconds: float,
    beta: int,
    proof: str,
    witness: float,
    out: str | None,
    html: str | None,
    as_json: bool,
    **data: Any,
) -> None:
    """Feasible intervals of cells, given the released margins."""
    from discreet.effort import Clock
    from discreet.intruder.bounds.bounder import bounds
    from discreet.intruder.bounds.part import Proof
    from discreet.look.progress import working
    from discreet.release.release import Release

    table = read_data(**data)
    public, said = Release.margins(table.supposing(), release), release
    if large is not None:
        public = public.with_large(table, large)
        said = f"{release} and counts of {large:,} or more"
    chosen = {"small": lambda: table.small(small), "nonzero": table.nonzero, "all": table.all}
    targets = chosen[cells]()
    clock = Clock(seconds)
    with working("bounding"):
        found = bounds(
            public,
            targets,
            method=method,
            effort=effort,
            seconds=clock,
            proof=Proof(table, beta, effort, Clock(witness, within=clock)) if witness else None,
            width=beta if proof == "linear" else None,
        )
    if out:
        _write(found, targets, out)
    show(
        found,
        html=html,
        document=_document(found, targets, beta, public) if as_json else None,
        counts=targets.counts,
        beta=beta,
        release=said,
        data=data["data"],
    )
    if large is not None and not as_json:
        shown = sum(map(len, public.single_cells))
        click.echo(
            f"Known too: {shown:,} counts of {large:,} or more, and that all others are below it."
        )
    if out and not as_json:
        click.echo(f"Written: {out}")


def _document(found: Any, targets: Any, beta: int, public: Any) -> dict[str, Any]:
    from discreet.decision.law.assess import large_cells

    document: dict[str, Any] = found.to_json(targets.counts, beta)
    return document | {"large": large_cells(public)}


def _write(found: Any, targets: Any, out: str) -> None:
    from discreet.report.export import save_chart, save_frame

    if out.endswith((".csv", ".parquet")):
        save_frame(found.to_frame(counts=targets.counts), out)
    else:
        save_chart(found.plot(counts=targets.counts), out)
