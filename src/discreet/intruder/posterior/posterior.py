"""What an intruder believes about cells, given a release and a model: one entry to all ways."""

from __future__ import annotations

from typing import Any

from numpy.typing import ArrayLike

from discreet.errors import DataError
from discreet.intruder.posterior.average.average import Weights, average_posterior
from discreet.intruder.posterior.one_model import under_model, under_weights
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula


def posterior(
    release: Release,
    cells: Cells | None = None,
    *,
    model: str | Formula = "saturated",
    prior: ArrayLike = 0.5,
    weights: Weights = "proper",
    draws: int | None = None,
    standard_error: float = 0.002,
    seconds: float = 60.0,
    seed: int = 0,
) -> Posterior:
    """The distribution of each cell's count, of all cells by default.

    `model` is saturated, uniform (every table alike), average (over the hierarchical models that
    contain the release, with these `weights`), or the formula of such a model. Exact where that is
    quick; else sampled until every probability has the standard error or the time is over. `draws`
    asks for so many independent tables, under the decomposable model of the release.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> posterior(release, model="Race*Income + Income*Gender")
    Posterior(18 cells over Gender, Race, Income: decomposable model of the release; exact, closed
    form)
    """
    limits: dict[str, Any] = {"standard_error": standard_error, "seconds": seconds, "seed": seed}
    if draws is not None and model in ("average", "saturated", "uniform"):
        raise DataError(
            f"{draws!r} independent draws are possible only under the decomposable model of the "
            f"release, not under {model}; give a standard error instead."
        )
    if model == "average":
        return average_posterior(release, cells, prior=prior, weights=weights, **limits)
    if model == "saturated":
        return under_weights(release, cells, CellWeights.dirichlet(prior), **limits)
    if model == "uniform":
        return under_weights(release, cells, CellWeights.uniform(), **limits)
    return under_model(release, model, cells, prior=prior, draws=draws, **limits)
