"""How beliefs depend on the prior of the cell probabilities, and on that of the models."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.effort import Clock, Seconds
from discreet.errors import DataError
from discreet.intruder.posterior.average.average import Average, Weights, reweigh
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.result import Posterior, chosen
from discreet.look.progress import track
from discreet.look.result import Paged
from discreet.release.doors import of_release
from discreet.release.release import Release
from discreet.table.cells import Cells, frame, labels
from discreet.table.formula import Formula

PRIORS = (0.1, 0.25, 0.5, 1.0, 2.0)


@dataclass(frozen=True, eq=False)
class PriorSensitivity(Paged):
    """The beliefs under each prior, smallest first; of an average, under each prior of the models.

    `posteriors` are those under the first of the `model_priors`, `others` under the next ones.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> release = dc.Release.margins(table, "Race*Income + Income*Gender")
    >>> found = dc.beliefs.prior_sensitivity(release, table.small(), model="saturated")
    >>> found.ranges(table.small().counts).round(2)
    array([[0.5 , 0.5 ],
           [0.08, 0.4 ],
           [0.3 , 0.45],
           [0.08, 0.4 ]])
    """

    priors: tuple[float, ...]
    posteriors: tuple[Posterior, ...]
    model_priors: tuple[str, ...] = ("model",)
    others: tuple[tuple[Posterior, ...], ...] = field(default=(), repr=False)

    def __repr__(self) -> str:
        first = self.posteriors[0]
        return (
            f"PriorSensitivity({len(first):,} cells under {first.model}, {self.over}: a "
            f"probability moves by up to {self.most():.2f})"
        )

    @property
    def over(self) -> str:
        """Which priors, in words."""
        said = f"priors {self.priors[0]:g} to {self.priors[-1]:g}"
        if len(self.model_priors) > 1:
            said += f", models by {', '.join(self.model_priors)}"
        return said

    @property
    def every(self) -> Iterator[tuple[float, str, Posterior]]:
        """All beliefs, each with its prior and that of the models."""
        rows = (self.posteriors, *self.others)
        for place, prior in enumerate(self.priors):
            for by, found in zip(self.model_priors, rows, strict=True):
                yield prior, by, found[place]

    @property
    def approximate(self) -> bool:
        """Was something sampled?"""
        return any(not found.exact for _, _, found in self.every)

    @property
    def problems(self) -> list[str]:
        """Beliefs that are not reliable, or were stopped."""
        said = []
        for prior, by, found in self.every:
            where = f"prior {prior:g}" + (f", models by {by}" if self.others else "")
            if "NOT" in found.method:
                said.append(f"{where}: {found.method}")
            if found.stopped:
                said.append(f"{where}: {found.stopped}")
        return said

    def ranges(self, counts: Ints | None = None) -> NDArray[np.float64]:
        """Of each cell the smallest and largest probability of one count: cells x 2.

        Of the given counts, or of what is the best guess under the middle prior.
        """
        found = self._chances(counts)
        return np.stack([found.min(0), found.max(0)], 1)

    def most(self, counts: Ints | None = None) -> float:
        """By how much the probability of a count moves, at most."""
        low, high = self.ranges(counts).T
        return float((high - low).max(initial=0.0))

    def _chances(self, counts: Ints | None) -> NDArray[np.float64]:
        """Priors (and priors of models) x cells."""
        asked = self.posteriors[len(self.priors) // 2].guess if counts is None else counts
        return np.stack([found.probability(asked) for _, _, found in self.every])

    def to_frame(self, kind: str = "pandas", *, most: int = 2) -> Any:
        """One row a cell and prior: probabilities, best guess, largest standard error."""
        every = list(self.every)
        n, times, first = len(self.posteriors[0]), len(every), self.posteriors[0]
        rows = np.repeat(np.arange(n), times)
        columns: dict[str, Any] = labels(first.variables, first.codes[rows])
        found: dict[str, Any] = {"prior": np.tile([prior for prior, _, _ in every], n)}
        if self.others:
            found["model_prior"] = np.tile([by for _, by, _ in every], n)
        beliefs = [belief for _, _, belief in every]
        chances = np.stack([p.matrix(most) for p in beliefs], 1).reshape(n * times, most + 1)
        found |= {f"p{count}": chances[:, count] for count in range(most + 1)}
        found["more"] = np.maximum(0.0, 1 - chances.sum(1))
        guess = np.stack([p.guess for p in beliefs], 1)
        found["guess"] = guess.ravel()
        each = [p.probability(guess[:, k]) for k, p in enumerate(beliefs)]
        off = [p.standard_error(guess[:, k]) for k, p in enumerate(beliefs)]
        found["probability"] = np.stack(each, 1).ravel()
        found["standard_error"] = np.stack(off, 1).ravel()
        for name, column in found.items():
            columns[name + "_" * (name in columns)] = column
        return frame(columns, kind)

    def models_frame(self, kind: str = "pandas") -> Any:
        """One row a prior and model of the average: how the weights move."""
        rows = self._weights()
        if not rows:
            raise DataError("one model was asked about; there are no weights to compare.")
        return frame({name: [row[name] for row in rows] for name in rows[0]}, kind)

    def _weights(self) -> list[dict[str, Any]]:
        return [
            {"prior": prior, "model_prior": by, "model": model.formula, "weight": model.weight}
            for prior, by, found in self.every
            if isinstance(found, Average)
            for model in found.models
        ]

    def to_json(self, counts: Ints | None = None) -> dict[str, Any]:
        """What `discreet posterior --sensitivity --json` prints."""
        first = self.posteriors[0]
        listed = Cells(first.variables, first.codes, np.zeros(len(first), np.int64))
        asked = self.posteriors[len(self.priors) // 2].guess if counts is None else counts
        chances, every = self._chances(counts), list(self.every)
        cells = [
            {
                "cell": cell,
                "count": int(asked[row]),
                "low": float(chances[:, row].min()),
                "high": float(chances[:, row].max()),
                "probabilities": [
                    {"prior": prior, "model_prior": by, "probability": float(chances[k, row]),
                     "standard_error": float(found.standard_error(asked)[row]),
                     "guess": int(found.guess[row])}
                    for k, (prior, by, found) in enumerate(every)
                ],
            }
            for row, cell in enumerate(listed)
        ]  # fmt: skip
        return {
            "cells": cells,
            "priors": list(self.priors),
            "model_priors": list(self.model_priors),
            "most": self.most(counts),
            "models": self._weights(),
            "exact": not self.approximate,
            "problems": self.problems,
        }

    def plot(self, *, counts: Ints | None = None, **options: Any) -> Any:
        """Each cell a row: the probability of its true count, or of a guess, under each prior."""
        from discreet.look.beliefcharts import sensitivity_chart

        first = self.posteriors[0]
        listed = Cells(first.variables, first.codes, np.zeros(len(first), np.int64))
        return sensitivity_chart(
            [", ".join(cell.values()) for cell in listed],
            [prior for prior, _, _ in self.every],
            self._chances(counts).T.tolist(),
            true=counts is not None,
            heading=", ".join(variable.name for variable in first.variables),
            **options,
        )


@of_release
def prior_sensitivity(
    release: Release,
    cells: Cells | None = None,
    *,
    priors: Iterable[float] = PRIORS,
    model: str | Formula = "average",
    weights: Weights = "proper",
    standard_error: float = 0.005,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
    model_priors: Iterable[str] = ("model",),
) -> PriorSensitivity:
    """Beliefs under Dirichlet priors with each of these hyper-parameters.

    An average, also under each of the `model_priors` (model, size, parameters).

    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> release = Release.margins(table, "Race*Income + Income*Gender")
    >>> prior_sensitivity(release, table.small(), model="saturated")
    PriorSensitivity(4 cells under saturated, priors 0.1 to 2: a probability moves by up to 0.17)
    """
    listed = sorted({float(prior) for prior in priors})
    if not listed:
        raise DataError("there is no prior to compare; give at least one number above 0.")
    ways = tuple(dict.fromkeys(model_priors))
    if not ways or (len(ways) > 1 and model != "average"):
        raise DataError(f"{model} is one model; give priors of models with model='average'.")
    cells, clock = chosen(release, cells), Clock.of(seconds)
    more: dict[str, Any] = {"weights": weights, "standard_error": standard_error, "effort": effort,
                            "seconds": clock, "seed": seed, "model": model}  # fmt: skip
    found: list[list[Posterior]] = [[] for _ in ways]
    for prior in track(listed, "comparing priors"):
        for place, by in enumerate(ways):
            first = found[0][-1] if place else None
            again: Posterior | None = None
            if isinstance(first, Average):
                again = reweigh(first, release, by, standard_error=standard_error)
            if again is None:
                again = posterior(release, cells, prior=prior, model_prior=by, **more)
            found[place].append(again)
    rows = [tuple(row) for row in found]
    return PriorSensitivity(tuple(listed), rows[0], ways, tuple(rows[1:]))
