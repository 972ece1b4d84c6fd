"""Harm from a category that is inferred, or believed in part."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.errors import DataError
from discreet.intruder.linkage.records import Records, numbers, texts
from discreet.risk.linkage.harm.costs import OUTCOMES, Costs
from discreet.risk.linkage.harm.felt import Harm
from discreet.risk.linkage.harm.own import amount
from discreet.risk.linkage.harm.told import ToldCategory
from discreet.risk.linkage.identification import Identification
from discreet.risk.linkage.inference import (
    Covariate,
    Logistic,
    logistic,
    misclassified,
    mixed,
    prior_shares,
    record_beliefs,
)

Groups = Mapping[str, NDArray[np.object_]]


def harm_of_category(
    records: Records,
    found: Identification,
    costs: Costs,
    best: Ints,
    right: NDArray[np.bool_],
    groups: Groups,
) -> Harm:
    """A table of costs, or sum over categories of P[y] c(y) for a Bayesian intruder."""
    true, seen, categories = _categories(records, costs)
    table = misclassified(len(categories), costs.q)
    counts = np.bincount(seen, minlength=len(categories))
    prior = prior_shares(counts.astype(float), table)
    model = _predicted(records, costs, seen, categories) if costs.predict else None
    beliefs = record_beliefs(seen, table, prior[None] if model is None else model.prior)
    mixture = mixed(found.links, beliefs, prior)[found.links.source.of]
    linked = best >= 0
    held = mixture
    if costs.belief == "record":
        held = np.where(linked[:, None], beliefs[best], mixture)
    inferred = np.where(linked, _inferred(held, costs, categories), -1)
    said = np.where(inferred < 0, 1 + right, 3 + (inferred == true) + 2 * right)
    outcome = np.where(linked, said, 0).astype(np.int64)
    unlinked = ~linked & ((guess := _inferred(mixture, costs, categories)) >= 0)
    quiet = (int(unlinked.sum()), int((unlinked & (guess == true)).sum()))
    if costs.bayes:
        felt = _bayes(records, costs, categories, held, right) * linked
    else:
        prices = [amount(costs.costs[name], records, name, least=0) for name in OUTCOMES[1:]]
        felt = np.choose(outcome, [np.zeros(len(outcome)), *prices])
    felt = felt * amount(costs.times, records, "times", least=0)
    means = [np.bincount(seen, column, len(categories)) for column in beliefs.T]
    by_value = np.column_stack(means) / np.maximum(counts, 1)[:, None]
    told = ToldCategory(
        tuple(categories), true, held, inferred, right, prior, counts, by_value, model
    )
    return Harm(costs, outcome, np.asarray(felt), groups, quiet, told)


def covariates(records: Records, costs: Costs) -> list[Covariate]:
    """The columns to predict from."""
    return [_covariate(records, name, costs.errors.get(name, {})) for name in costs.predict]


def _bayes(
    records: Records, costs: Costs, categories: list[str], held: Floats, right: NDArray[np.bool_]
) -> Floats:
    sums = {}
    for side, row in costs.bayes.items():
        if odd := [name for name in categories if name not in row]:
            raise DataError(f"{side} in [bayes] has no cost for {odd[0]!r}; write 0 if none.")
        parts: list[Any] = [
            held[:, k] * amount(row[name], records, f"{side}.{name}")
            for k, name in enumerate(categories)
        ]
        sums[side] = np.sum(parts, axis=0)
    return np.asarray(np.where(right, sums["T"], sums["F"]))


def _categories(records: Records, costs: Costs) -> tuple[Ints, Ints, list[str]]:
    import pandas as pd

    name = costs.sensitive
    source, released = texts(records.source[name]), texts(records.released[name])
    for values, where in ((source, 0), (released, 1)):
        if (values == "").any():
            row = int(np.argmax(values == "")) + 1
            raise DataError(f"row {row} of {records.names[where]} has no {name!r}; fill it in.")
    codes, found = pd.factorize(np.concatenate([source, released]), sort=True)
    if isinstance(costs.infer, Mapping) and (odd := set(costs.infer) - set(found)):
        raise DataError(f"infer has {min(odd)!r}, which is no value of {name!r}.")
    return codes[: len(source)], codes[len(source) :], [str(value) for value in found]


def _inferred(beliefs: Floats, costs: Costs, categories: list[str]) -> Ints:
    """The category that is believed firmly enough, else -1."""
    if isinstance(costs.infer, Mapping):
        cuts = np.array([costs.infer.get(name, 1.0) for name in categories])
    else:
        cuts = np.full(len(categories), costs.infer)
    enough = beliefs >= cuts - 1e-12
    guess = np.where(enough, beliefs, -1).argmax(1)
    return np.where(enough.any(1), guess, -1)


def _predicted(records: Records, costs: Costs, seen: Ints, categories: list[str]) -> Logistic:
    if len(categories) != 2:
        raise DataError(
            f"{costs.sensitive!r} has {len(categories)} values; predict needs a sensitive column "
            "of two."
        )
    return logistic(seen, covariates(records, costs), costs.q)


def _covariate(records: Records, name: str, error: Mapping[str, float]) -> Covariate:
    """Numbers, if all values are and none is said to be a category that may be wrong."""
    column = records.released[name]
    if "keep" in error:
        return Covariate.category(name, texts(column), error["keep"])
    try:
        values = numbers(column, name, records.names[1])
    except DataError:
        if "spread" in error:
            raise
        return Covariate.category(name, texts(column))
    if np.isnan(values).any():
        raise DataError(f"{name!r} has missing values; predict from others.")
    return Covariate.number(name, values, error.get("spread", 0.0))
