"""Beliefs under one model: every way to them, and the first of those that fit."""

from __future__ import annotations

import dataclasses
import math
import warnings
from typing import Any

from numpy.typing import ArrayLike

from discreet.effort import Clock, Effort, Seconds
from discreet.errors import ConvergenceWarning, DataError, SolverError
from discreet.intruder.posterior.average.parameters import importance_posterior
from discreet.intruder.posterior.chains.augment import augment_posterior
from discreet.intruder.posterior.chains.augment_walk import walk_posterior
from discreet.intruder.posterior.chains.chains import chain_posterior
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.exact.decomposable import (
    MODEL,
    Matching,
    decomposable_posterior,
    without_leaves,
)
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.exact.jointree import Join
from discreet.intruder.posterior.method import Question, Way
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula

MOST_MATCHED, LEAST_DRAWS = 2_000_000_000, 1_000  # people times margins of all draws; draws
THIN = 0.01  # of all points; fewer carry so much of the weight that errors cannot be trusted


def _is_closed(question: Question) -> str | None:
    if question.closed:
        return None
    return f"{question.model} is not the decomposable model of the release; believe that one."


def _is_drawn(question: Question) -> str | None:
    if question.closed:
        return None
    return (
        f"{question.draws!r} independent draws are possible only under the decomposable model of "
        f"the release, not under {question.model}; give a standard error instead."
    )


def _is_weighed(question: Question) -> str | None:
    if question.cell_weights is not None:
        return None
    return (
        f"the weight of a table under {question.model} is no product over its cells; believe the "
        "saturated model, or sample parameters."
    )


def _has_parameters(question: Question) -> str | None:
    if question.formula is not None:
        return None
    return f"{question.model} is no formula of a model, whose parameters are sampled; give one."


def _closed(question: Question) -> Posterior:
    return decomposable_posterior(question.release, question.cells, **question.limits)


def _drawn(question: Question) -> Posterior:
    draws = question.draws
    if draws is None:  # as many as the largest standard error takes, or as work allows
        wanted = math.ceil(0.25 / (question.standard_error or 0.01) ** 2)
        matched = max(1, question.release.total or 0) * len(question.release.formula)
        allowed = Effort(question.effort).of(MOST_MATCHED // matched)
        draws = max(LEAST_DRAWS, min(wanted, allowed))
    return decomposable_posterior(
        question.release, question.cells, draws=draws, seed=question.seed, **question.limits
    )


def _summed(question: Question) -> Posterior:
    return _weighed(question, exact_posterior, question.limits)


def _chains(question: Question) -> Posterior:
    return _weighed(question, chain_posterior, question.sampling)


def _weighed(question: Question, way: Any, limits: dict[str, Any]) -> Posterior:
    """Under weights of cells; the release's own model without variables that change nothing."""
    release, cells = question.release, question.cells
    if not question.closed:
        found: Posterior = way(release, cells, weights=question.cell_weights, **limits)
        return found
    part = release if cells is None else without_leaves(release, cells.names)
    found = way(part, cells, weights=question.cell_weights, **limits)
    whole = Matching(release, Join.of(release), question.effort)
    return dataclasses.replace(found, model=MODEL, whole=whole)


def _importance(question: Question) -> Posterior:
    return _sampled(question, importance_posterior, blocks=question.tables())


def _augmented(question: Question) -> Posterior:
    return _sampled(question, augment_posterior, blocks=question.tables())


def _walked(question: Question) -> Posterior:
    return _sampled(question, walk_posterior)


def _sampled(question: Question, way: Any, **more: Any) -> Posterior:
    found: Posterior = way(
        question.release, question.formula, question.cells, prior=question.prior,
        **question.sampling, **more,
    )  # fmt: skip
    return found


CLOSED = Way("closed form", _is_closed, _closed)
DRAWS = Way("independent draws", _is_drawn, _drawn)
SUM = Way("sum over tables", _is_weighed, _summed)
CHAINS = Way("chains", _is_weighed, _chains)
IMPORTANCE = Way("importance sampling", _has_parameters, _importance)
AUGMENTATION = Way("data augmentation", _has_parameters, _augmented)
WALK = Way("data augmentation by chains", _has_parameters, _walked)
WAYS = (CLOSED, DRAWS, SUM, CHAINS, IMPORTANCE, AUGMENTATION, WALK)


def believe(question: Question) -> Posterior:
    """By the first way that fits and is not too much to do: exact ones, then sampling.

    Under the decomposable model of the release that is by independent tables, however many
    variables there are.

    Importance sampling is left for data augmentation where a few points carry most of the weight.
    """
    if question.draws is not None:
        return DRAWS(question)
    if question.closed:
        *others, last = CLOSED, SUM, DRAWS
    elif question.cell_weights is None:
        *others, last = IMPORTANCE, AUGMENTATION, WALK
    else:
        *others, last = SUM, CHAINS
    for way in others:
        with warnings.catch_warnings(record=True) as caught:
            warnings.simplefilter("always", ConvergenceWarning)
            try:
                found = way(question)
            except (DataError, SolverError):
                continue
        if not _thin(found):
            for warning in caught:
                warnings.warn(warning.message, stacklevel=2)
            return found
    return last(question)


def _thin(found: Posterior) -> bool:
    notes = found.diagnostics() if not found.exact else {}
    return bool(notes.get("effective_points", 1) < THIN * notes.get("points", 1))


def under_model(
    release: Release,
    formula: str | Formula,
    cells: Cells | None = None,
    *,
    prior: ArrayLike = 0.5,
    draws: int | None = None,
    standard_error: float | None = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    blocks: Blocks | None = None,
) -> Posterior:
    """Beliefs under a hierarchical model that contains the release.

    Closed form if it is the release itself and decomposable; a sum over tables for the saturated
    model and for any that is the release itself; else importance sampling of its parameters, or
    data augmentation if these are many; with chains where the tables that fit are too many to
    list.
    """
    return believe(
        Question(
            release, cells, formula, prior=prior, draws=draws, standard_error=standard_error,
            effort=effort, clock=Clock.of(seconds), seed=seed, blocks=blocks,
        )
    )  # fmt: skip


def under_weights(
    release: Release,
    cells: Cells | None,
    weights: CellWeights,
    *,
    standard_error: float | None = 0.002,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Posterior:
    """A sum over the tables that fit where that is quick, else chains."""
    limits: dict[str, Any] = {"weights": weights, "effort": effort, "seconds": Clock.of(seconds)}
    try:
        return exact_posterior(release, cells, **limits)
    except DataError:
        return chain_posterior(release, cells, standard_error=standard_error, seed=seed, **limits)
