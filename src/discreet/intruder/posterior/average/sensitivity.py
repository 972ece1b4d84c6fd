"""How beliefs depend on the prior of the cell probabilities."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.effort import Clock, Seconds
from discreet.errors import DataError
from discreet.intruder.posterior.average.average import Average, Weights
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.result import Posterior, chosen
from discreet.look.progress import track
from discreet.look.result import Result
from discreet.release.doors import of_release
from discreet.release.release import Release
from discreet.table.cells import Cells, frame, labels
from discreet.table.formula import Formula

Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class PriorSensitivity(Result):
    """The beliefs under each prior, smallest first.

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

    def __repr__(self) -> str:
        first = self.posteriors[0]
        low, high = self.ranges().T
        most = float((high - low).max(initial=0.0))
        return (
            f"PriorSensitivity({len(first):,} cells under {first.model}, priors "
            f"{self.priors[0]:g} to {self.priors[-1]:g}: a probability moves by up to {most:.2f})"
        )

    def ranges(self, counts: Ints | None = None) -> NDArray[np.float64]:
        """Of each cell the smallest and largest probability of one count: cells x 2.

        Of the given counts, or of what is the best guess under the middle prior.
        """
        found = self._chances(counts)
        return np.stack([found.min(0), found.max(0)], 1)

    def _chances(self, counts: Ints | None) -> NDArray[np.float64]:
        """Priors x cells."""
        asked = self.posteriors[len(self.priors) // 2].guess if counts is None else counts
        return np.stack([found.probability(asked) for found in self.posteriors])

    def to_frame(self, kind: str = "pandas", *, most: int = 2) -> Any:
        """One row a cell and prior: probabilities, best guess, largest standard error."""
        n, times = len(self.posteriors[0]), len(self.priors)
        first = self.posteriors[0]
        rows = np.repeat(np.arange(n), times)
        columns: dict[str, Any] = labels(first.variables, first.codes[rows])
        found: dict[str, Any] = {"prior": np.tile(self.priors, n)}
        chances = np.stack([p.matrix(most) for p in self.posteriors], 1).reshape(n * times, -1)
        found |= {f"p{count}": chances[:, count] for count in range(most + 1)}
        found["more"] = np.maximum(0.0, 1 - chances.sum(1))
        guess = np.stack([p.guess for p in self.posteriors], 1)
        found["guess"] = guess.ravel()
        each = [p.probability(guess[:, k]) for k, p in enumerate(self.posteriors)]
        off = [p.standard_error(guess[:, k]) for k, p in enumerate(self.posteriors)]
        found["probability"] = np.stack(each, 1).ravel()
        found["standard_error"] = np.stack(off, 1).ravel()
        for name, column in found.items():
            columns[name + "_" * (name in columns)] = column
        return frame(columns, kind)

    def models_frame(self, kind: str = "pandas") -> Any:
        """One row a prior and model of the average: how the weights move."""
        rows = [
            {"prior": prior, "model": model.formula, "weight": model.weight}
            for prior, found in zip(self.priors, self.posteriors, strict=True)
            if isinstance(found, Average)
            for model in found.models
        ]
        if not rows:
            raise DataError("one model was asked about; there are no weights to compare.")
        return frame({name: [row[name] for row in rows] for name in rows[0]}, kind)

    def plot(self, *, counts: Ints | None = None, **options: Any) -> Any:
        """Each cell a row: the probability of its true count, or of a guess, under each prior."""
        from discreet.look.beliefcharts import sensitivity_chart

        first = self.posteriors[0]
        listed = Cells(first.variables, first.codes, np.zeros(len(first), np.int64))
        return sensitivity_chart(
            [", ".join(cell.values()) for cell in listed],
            list(self.priors),
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
    priors: Iterable[float] = (0.1, 0.25, 0.5, 1.0, 2.0),
    model: str | Formula = "average",
    weights: Weights = "proper",
    standard_error: float = 0.005,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> PriorSensitivity:
    """Beliefs under Dirichlet priors with each of these hyper-parameters.

    >>> from discreet.table.load import load
    >>> table = load("example:tract")
    >>> release = Release.margins(table, "Race*Income + Income*Gender")
    >>> prior_sensitivity(release, table.small(), model="saturated")
    PriorSensitivity(4 cells under saturated, priors 0.1 to 2: a probability moves by up to 0.17)
    """
    listed = sorted({float(prior) for prior in priors})
    if not listed:
        raise DataError("there is no prior to compare; give at least one number above 0.")
    cells, clock = chosen(release, cells), Clock.of(seconds)
    found = [
        posterior(
            release, cells, model=model, prior=prior, weights=weights,
            standard_error=standard_error, effort=effort, seconds=clock, seed=seed,
        )
        for prior in track(listed, "comparing priors")
    ]  # fmt: skip
    return PriorSensitivity(tuple(listed), tuple(found))
