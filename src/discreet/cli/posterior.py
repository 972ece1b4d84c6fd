"""`discreet posterior`: what an intruder believes about each cell."""

from __future__ import annotations

from collections.abc import Callable
from typing import TYPE_CHECKING, Any

import click

from discreet.cli.options import (
    READING,
    Number,
    cells_option,
    data_options,
    effort_options,
    named_cells,
    named_option,
    read_data,
    release_option,
    small_option,
    workers_option,
)
from discreet.cli.showing import page_options, show

if TYPE_CHECKING:
    from discreet.release.release import Release
    from discreet.table.cells import Cells
    from discreet.table.table import Table


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
@click.option(
    "--model-prior",
    default="uniform",
    show_default=True,
    metavar="W",
    help="Of the models that are averaged: uniform, size, parameters, or a FILE of models with "
    "probabilities.",
)
@click.option(
    "--sensitivity",
    is_flag=True,
    help="How far beliefs depend on --prior and --model-prior: the same under several.",
)
@click.option(
    "--sampling-fraction",
    "fraction",
    type=Number(),
    metavar="F",
    help="DATA is a sample: the share of people in it; believe about the population too.",
)
@cells_option
@named_option
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
@workers_option
@page_options
def posterior_command(
    release: str,
    cells: str,
    named: tuple[str, ...],
    small: int,
    html: str | None,
    as_json: bool,
    sensitivity: bool,
    model_prior: str,
    **options: Any,
) -> None:
    """What an intruder believes about each cell, given a release.

    Exact where that is quick, else sampled to a standard error. What is printed holds true counts:
    it is for the custodian.
    """
    from discreet.release.release import Release

    data = {key: options.pop(key) for key in READING}
    table = read_data(**data)
    chosen = {"small": lambda: table.small(small), "nonzero": table.nonzero, "all": table.all}
    listed = named_cells(table, named) if named else chosen[cells]()
    public = Release.margins(table.supposing(), release)
    if sensitivity:
        result, document = _compared(public, listed, model_prior, options)
    else:
        options |= _models_before(model_prior, options["model"])
        result, document = _believed(table, public, listed, small, options)
    more: dict[str, Any] = {"counts": listed.counts} if sensitivity else {}
    show(
        result, html=html, document=document() if as_json else None, small=small, data=data["data"],
        **more,
    )  # fmt: skip


Shown = tuple[Any, Callable[[], dict[str, Any]]]  # a result with a page, and its JSON document


def _believed(
    table: Table, public: Release, listed: Cells, small: int, options: dict[str, Any]
) -> Shown:
    from discreet.intruder.posterior.method import Question
    from discreet.intruder.posterior.population import PopulationPosterior, believable
    from discreet.intruder.posterior.posterior import posterior
    from discreet.look.progress import working
    from discreet.risk.release.believed_counts import BeliefRisk

    if options["fraction"] is None and table.sampling_fraction not in (None, 1):
        asked = Question(public, listed, options["model"], options["prior"])
        options["fraction"] = None if believable(asked) else table.sampling_fraction
    with working("forming beliefs"):
        found = posterior(public, listed, **options)
    if isinstance(found, PopulationPosterior) and found.sample is not None:
        risk = BeliefRisk(table, listed, found.sample, found)
    else:
        risk = BeliefRisk(table, listed, found)

    def document() -> dict[str, Any]:
        return found.to_json(listed.counts) | {"risk": risk.to_json(small=small)}

    return risk, document


def _compared(public: Release, listed: Cells, model_prior: str, options: dict[str, Any]) -> Shown:
    from discreet.errors import DataError
    from discreet.intruder.posterior.average.sensitivity import PRIORS, prior_sensitivity
    from discreet.look.progress import working

    without = {
        "--draws": options.pop("draws"),
        "--sampling-fraction": options.pop("fraction"),
        "--model-prior": None if model_prior == "uniform" else model_prior,
    }
    for name, value in without.items():
        if value is not None:
            raise DataError(f"--sensitivity goes without {name}; leave one of them out.")
    priors = {*PRIORS, options.pop("prior")}
    by = ("model", "size", "parameters") if options["model"] == "average" else ("model",)
    with working("comparing priors"):
        found = prior_sensitivity(public, listed, priors=priors, model_priors=by, **options)
    return found, lambda: found.to_json(listed.counts)


def _models_before(model_prior: str, model: str) -> dict[str, Any]:
    """What is believed of models before, by a word or from a file that names them."""
    from pathlib import Path

    from discreet.errors import DataError
    from discreet.models.space import BY

    if model_prior == "uniform":
        return {}
    if model != "average":
        raise DataError(f"--model-prior goes with --model average, not with {model}; drop it.")
    if model_prior in BY:
        return {"model_prior": model_prior}
    if not Path(model_prior).suffix and not Path(model_prior).exists():
        raise DataError(
            f"--model-prior is {model_prior!r}; choose uniform, size or parameters, or name a file "
            "of models with probabilities."
        )
    from discreet.data.smallfiles import read_pairs

    pairs = read_pairs(model_prior)
    return {"models": list(pairs.numbers), "model_prior": list(pairs.numbers.values())}
