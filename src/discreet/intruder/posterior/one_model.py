"""Beliefs under one model, by whatever way is exact or else quick."""

from __future__ import annotations

import dataclasses
import time
import warnings
from importlib import import_module
from importlib.util import find_spec
from typing import Any

from numpy.typing import ArrayLike

from discreet.errors import ConvergenceWarning, DataError
from discreet.intruder.posterior.average.parameters import importance_posterior
from discreet.intruder.posterior.chains.augment import augment_posterior, containing
from discreet.intruder.posterior.chains.augment_walk import walk_posterior
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.exact.decomposable import (
    MODEL,
    Matching,
    decomposable_posterior,
    without_leaves,
)
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.exact.jointree import Join
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.sampled import Sampled
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.lattice import closure

CHAINS = "discreet.intruder.posterior.chains.chains"
QUICK = 15.0  # seconds in which a sum over tables is quick


def under_weights(
    release: Release,
    cells: Cells | None,
    weights: CellWeights,
    *,
    standard_error: float | None,
    seconds: float,
    seed: int,
) -> Posterior:
    """A sum over the tables that fit where that is quick, else chains."""
    begun = time.monotonic()
    try:
        return exact_posterior(release, cells, weights=weights, seconds=min(QUICK, seconds / 2))
    except DataError:
        if find_spec(CHAINS) is None:
            raise
    chains = import_module(CHAINS).chain_posterior
    left = max(seconds / 2, seconds - (time.monotonic() - begun))
    found: Posterior = chains(
        release, cells, weights=weights, standard_error=standard_error, seconds=left, seed=seed
    )
    return found


def under_model(
    release: Release,
    formula: str | Formula,
    cells: Cells | None = None,
    *,
    prior: ArrayLike = 0.5,
    draws: int | None = None,
    standard_error: float | None = 0.002,
    seconds: float = 60.0,
    seed: int = 0,
    blocks: Blocks | None = None,
) -> Posterior:
    """Beliefs under a hierarchical model that contains the release.

    Closed form if it is the release itself and decomposable; a sum over tables for the saturated
    model and for any that is the release itself; else importance sampling of its parameters, or
    data augmentation if these are many; with chains where the tables that fit are too many to
    list.
    """
    model = containing(release, formula)
    limits: dict[str, Any] = {"standard_error": standard_error, "seconds": seconds, "seed": seed}
    own = closure(model.sets) == closure(release.formula.sets)
    closed = own and model.is_decomposable and not release.known
    covered = all(model.contains([name]) for name in release.names)
    if closed and covered:
        return _closed(release, cells, draws, limits)
    if draws is not None:
        raise DataError(
            f"{draws!r} independent draws are possible only under the decomposable model of the "
            "release; give a standard error instead."
        )
    if own:
        return under_weights(release, cells, CellWeights.multinomial(), **limits)
    if (1 << len(release.names)) - 1 in model.sets:
        return under_weights(release, cells, CellWeights.dirichlet(prior), **limits)
    try:
        blocks = Blocks.of(release) if blocks is None else blocks
    except DataError:  # too many tables to list
        return walk_posterior(release, model, cells, prior=prior, **limits)
    with warnings.catch_warnings(record=True) as caught:
        warnings.simplefilter("always", ConvergenceWarning)
        half = limits | {"seconds": seconds / 2}
        found = importance_posterior(release, model, cells, prior=prior, blocks=blocks, **half)
    if not _thin(found):
        for warning in caught:
            warnings.warn(warning.message, stacklevel=2)
        return found
    return augment_posterior(release, model, cells, prior=prior, blocks=blocks, **limits)


def _closed(
    release: Release, cells: Cells | None, draws: int | None, limits: dict[str, Any]
) -> Posterior:
    """The decomposable model of the release; by chains what has no closed form or quick sum."""
    seconds, seed = limits["seconds"], limits["seed"]
    try:
        return decomposable_posterior(release, cells, draws=draws, seconds=seconds, seed=seed)
    except DataError:
        if draws is not None:
            raise
    part = release if cells is None else without_leaves(release, cells.names)
    found = under_weights(part, cells, CellWeights.multinomial(), **limits)
    return dataclasses.replace(
        found, model=MODEL, whole=Matching(release, Join.of(release), seconds)
    )


def _thin(found: Sampled) -> bool:
    """Do a few points carry most of the weight, so that the errors cannot be trusted?"""
    return bool(found.notes["effective_points"] < 0.01 * found.notes["points"])
