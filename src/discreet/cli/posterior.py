"""`discreet posterior`: what an intruder believes about each cell."""

from __future__ import annotations

from typing import Any

import click

from discreet.cli.options import (
    READING,
    Number,
    cells_option,
    data_options,
    effort_options,
    read_data,
    release_option,
    small_option,
)
from discreet.cli.showing import page_options, show


@click.command(
    "posterior",
    epilog='Example: discreet posterior example:tract --release "Race*Income + Income*Gender" '
    "--model average",
)
@data_options
@release_option
@click.option(
    "--model",
    default="saturated",
    show_default=True,
    metavar="M",
    help="Of the intruder: saturated, uniform, average, or a formula.",
)
@click.option(
    "--prior",
    type=Number(0, min_open=True),
    default=0.5,
    show_default=True,
    metavar="A",
    help="Dirichlet parameter of each cell.",
)
@click.option(
    "--weights",
    type=click.Choice(["proper", "paper"]),
    default="proper",
    show_default=True,
    help="Of the models that are averaged: marginal likelihoods, or as the 2003 paper has them.",
)
@cells_option
@small_option
@click.option(
    "--draws",
    type=click.IntRange(1),
    metavar="N",
    help="So many independent tables, under the decomposable model of the release.",
)
@click.option(
    "--error",
    "standard_error",
    type=Number(0, min_open=True),
    default=0.002,
    show_default=True,
    help="Standard error of sampled probabilities.",
)
@click.option("--seed", type=int, default=0, show_default=True, help="Of what is sampled.")
@effort_options
@page_options
def posterior_command(
    release: str, cells: str, small: int, html: str | None, as_json: bool, **options: Any
) -> None:
    """What an intruder believes about each cell, given a release.

    Exact where that is quick, else sampled to a standard error. What is printed holds true counts:
    it is for the custodian.
    """
    from discreet.intruder.posterior.posterior import posterior
    from discreet.look.progress import working
    from discreet.release.release import Release
    from discreet.risk.release.believed_counts import BeliefRisk

    data = {key: options.pop(key) for key in READING}
    table = read_data(**data)
    chosen = {"small": lambda: table.small(small), "nonzero": table.nonzero, "all": table.all}
    listed = chosen[cells]()
    with working("forming beliefs"):
        found = posterior(Release.margins(table, release), listed, **options)
    risk = BeliefRisk(table, listed, found)
    document = found.to_json(listed.counts) | {"risk": risk.to_json()} if as_json else None
    show(risk, html=html, document=document, small=small, data=data["data"])
