"""What an intruder believes about cells, given a release and a model: one entry to all ways."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence

from numpy.typing import ArrayLike

from discreet.effort import Clock, Seconds
from discreet.errors import DataError
from discreet.intruder.posterior.average.average import Weights, average_posterior
from discreet.intruder.posterior.method import Method, Question, Way
from discreet.intruder.posterior.one_model import WAYS, believe
from discreet.intruder.posterior.population import believable, populate, size_of
from discreet.intruder.posterior.result import Posterior
from discreet.release.doors import of_release
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula


def _is_average(question: Question) -> str | None:
    if question.model != "average" or question.draws is not None:
        return f"{question.model} is one model; average models with model='average'."
    return None


def _averaged(question: Question) -> Posterior:
    if question.standard_error is None:
        raise DataError("an average needs a standard error; give one, such as 0.002.")
    return average_posterior(
        question.release, question.cells, prior=question.prior, weights=question.weights,
        models=question.models, model_prior=question.model_prior, **question.sampling,
    )  # fmt: skip


AVERAGE = Way("average", _is_average, _averaged)
METHODS: dict[str, Method] = {way.name: way for way in (*WAYS, AVERAGE)}


@of_release
def posterior(
    release: Release,
    cells: Cells | None = None,
    *,
    model: str | Formula = "saturated",
    prior: ArrayLike = 0.5,
    weights: Weights = "proper",
    method: str = "auto",
    draws: int | None = None,
    standard_error: float = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    fraction: float | None = None,
    model_prior: str | Sequence[float] = "model",
    models: Iterable[str | Formula] | None = None,
) -> Posterior:
    """The distribution of each cell's count, of all cells by default.

    `model` is saturated, uniform (every table alike), average (over the hierarchical models that
    contain the release, with these `weights`), or the formula of such a model. Exact where that
    takes no more than `effort` times the usual work; else sampled until every probability has the
    standard error or as much work is done. `draws` asks for so many independent tables, under the
    decomposable model of the release; `method` for one of `METHODS`. `seconds` only stop: what is
    returned says so then, or there is nothing.

    With a sampling `fraction` the table is a random sample, and a `PopulationPosterior` is
    returned: the counts of the population, under the saturated or uniform model or the
    decomposable model of the release. `models` and `model_prior` are what is averaged, and what is
    believed of it before (see `average_posterior`).

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> posterior(release, model="Race*Income + Income*Gender")
    Posterior(18 cells over Gender, Race, Income: decomposable model of the release; exact, closed
    form)
    """
    question = Question(
        release, cells, model, prior, weights, draws, standard_error, effort, Clock.of(seconds),
        seed, model_prior=model_prior, models=None if models is None else tuple(models),
    )  # fmt: skip
    if method not in ("auto", *METHODS):
        raise DataError(f"there is no method {method!r}; choose auto, {', '.join(METHODS)}.")
    if (models is not None or model_prior != "model") and model != "average":
        raise DataError(f"{model} is one model; priors of models go with model='average'.")
    if fraction is not None:
        if reason := believable(question):
            raise DataError(reason)
        size_of(int(release.total or 0), fraction)
    if method == "auto":
        average = model == "average" and draws is None
        found = AVERAGE(question) if average else believe(question)
    else:
        found = METHODS[method](question)
    return found if fraction is None else populate(question, found, fraction)
