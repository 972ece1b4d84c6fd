"""What the intruder infers of every respondent, and the model of the attribute behind it."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.risk.linkage.inference import Logistic
from discreet.risk.linkage.regression import Regression

MOST = 12  # categories whose probabilities are all listed


@dataclass(frozen=True, eq=False)
class ToldCategory:
    """Beliefs about a category: of each respondent in a row, from the linked record or from all
    candidates; without a link always from these.

    `inferred` is -1 where nothing is, or no link is acted on; `right_link` says which links are
    true. `prior`: shares of the true categories; `released`: how many records show each, and
    `by_value`: what is then believed, on average, a row for each released category (equation 3).
    """

    categories: tuple[str, ...]
    truth: Ints
    beliefs: Floats
    inferred: Ints
    right_link: NDArray[np.bool_]
    prior: Floats
    released: Ints
    by_value: Floats
    model: Logistic | None = None

    def inferences(self) -> list[dict[str, Any]]:
        """Of each category: how many are taken to have it, and how many of them have it."""
        found = []
        for k, name in enumerate(self.categories):
            taken = self.inferred == k
            right = int((taken & (self.truth == k)).sum())
            many, linked = int(taken.sum()), int((taken & self.right_link).sum())
            row = {"value": name, "prior": float(self.prior[k]), "released": int(self.released[k])}
            row |= {"believed": float(self.by_value[k, k]) if self.released[k] else None}
            found.append(
                row | {"inferred": many, "right": right, "wrong": many - right, "linked": linked}
            )
        return found

    def columns(self) -> dict[str, Any]:
        labels = np.array([*self.categories, ""], object)
        found = {"inferred": labels[self.inferred]}
        found["believed"] = self.beliefs.max(1)
        if len(self.categories) <= MOST:
            names = (f"P({name})" for name in self.categories)
            found |= dict(zip(names, self.beliefs.T, strict=True))
        return found

    def to_json(self) -> dict[str, Any]:
        found: dict[str, Any] = {"values": self.inferences()}
        if len(self.categories) <= MOST:
            found["posteriors"] = [
                {"released": name, "records": int(self.released[k]),
                 "beliefs": dict(zip(self.categories, self.by_value[k].tolist(), strict=True))}
                for k, name in enumerate(self.categories) if self.released[k]
            ]  # fmt: skip
        model = None
        if self.model is not None:
            of = f"log odds of {self.categories[1]}"
            model = {"of": of, "coefficients": coefficients(self.model)}
        return found | {"model": model}


@dataclass(frozen=True, eq=False)
class ToldNumber:
    """Beliefs about a number: mean and standard deviation for each respondent.

    `of_estimate`: harm of acting on the mean, 0 if no link is acted on; `perceived`: what that
    costs in the intruder's eyes. `exact`: no part of the belief was condensed to be integrated.
    """

    estimate: Floats
    spread: Floats
    of_estimate: Floats
    perceived: Floats
    model: Regression | None = None
    exact: bool = True

    def columns(self) -> dict[str, Any]:
        return {
            "estimate": self.estimate,
            "spread": self.spread,
            "of_estimate": self.of_estimate,
            "perceived": self.perceived,
        }

    def to_json(self) -> dict[str, Any]:
        seen = float(self.perceived.sum())
        model: dict[str, Any] | None = None
        if self.model is not None:
            fit = self.model
            model = {"of": "logarithm" if fit.logs else "value", "residual": fit.residual}
            model |= {"error": fit.error, "coefficients": coefficients(fit)}
        return {
            "of_estimates": float(self.of_estimate.sum()),
            "perceived": seen if np.isfinite(seen) else None,
            "exact": self.exact,
            "model": model,
        }


def coefficients(model: Logistic | Regression) -> list[dict[str, Any]]:
    """Name, estimate and standard error of each."""
    rows: Sequence[tuple[str, float, float]] = list(
        zip(model.names, model.coefficients.tolist(), model.standard_errors.tolist(), strict=True)
    )
    return [{"name": n, "estimate": b, "standard_error": s} for n, b, s in rows]
