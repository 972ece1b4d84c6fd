"""Any loss of an estimate and the truth, as a matrix or a function."""

from __future__ import annotations

import contextlib
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.belief.atoms import plain
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.posterior.whole_table import Held, TableBelief
from discreet.look.words import plural
from discreet.risk.uncertainty.base import (
    Best,
    Floats,
    Uncertainty,
    check_losses,
    listed_shares,
    points,
)

GUESSES = 201  # tried for a value with a density
MOST_TRIED = 10_000_000  # acts x values


@dataclass(frozen=True, eq=False)
class Loss(Uncertainty):
    """The least expected loss over acts.

    A matrix has a row for each act and a column for each value; a function takes (estimate,
    truth), and the acts are the possible values themselves unless they are given.

    >>> belief = Belief.discrete(["a", "b"], [0.8, 0.2])
    >>> round(Loss([[0, 10], [1, 0]])(belief), 3)
    0.8
    >>> Loss(lambda e, x: 3 * (x - e) if x > e else e - x).best(
    ...     Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3]))
    Best(estimate=2, uncertainty=0.9, exact=True)
    """

    given: Any
    acts: Sequence[Any] | None = None
    said: str = field(default="the least expected loss", init=False)

    def loss(self, estimate: Any, truth: Any) -> float:
        if not callable(self.given):
            return super().loss(estimate, truth)
        found = float(self.given(estimate, truth))
        check_losses(found, f"the loss of {estimate} at {truth}")
        return found

    def best(self, belief: Held) -> Best:
        exact = isinstance(belief, TableBelief) or belief.exact
        if not callable(self.given):
            return self._of_matrix(belief, exact)
        values, p = points(belief)
        acts = self._acts(belief, values)
        if len(acts) * len(values) > MOST_TRIED:
            raise DataError(
                f"{len(acts):,} acts at {len(values):,} values are too many to try; give fewer "
                "acts."
            )
        risks = [self._risk(values, p, act) for act in acts]
        first = int(np.argmin(risks))
        found = Best(acts[first], risks[first], exact)
        if self.acts is not None or isinstance(belief, TableBelief):
            return found
        return found if belief.kind is not Kind.DENSITY else self._finer(found, values, p, acts)

    def _of_matrix(self, belief: Held, exact: bool) -> Best:
        values, p = listed_shares(belief, "loss matrix")
        matrix = np.asarray(self.given, np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != len(values):
            raise DataError(
                f"the loss matrix has the shape {matrix.shape}; it needs one row an act and "
                f"{plural(len(values), 'column')}, one a value."
            )
        check_losses(matrix, "the loss")
        risks = matrix @ p
        first = int(np.argmin(risks))
        return Best(first if self.acts is None else self.acts[first], float(risks[first]), exact)

    def _acts(self, belief: Held, values: NDArray[Any]) -> list[Any]:
        if self.acts is not None:
            acts = list(self.acts)
        elif isinstance(belief, Belief) and belief.kind is Kind.DENSITY:
            acts = [belief.quantile(p) for p in np.linspace(0, 1, GUESSES)]
        else:
            acts = [plain(value) for value in values]
        if not acts:
            raise DataError("the loss has no acts to choose from; give at least one.")
        return acts

    def _finer(self, found: Best, values: NDArray[Any], p: Floats, acts: list[Any]) -> Best:
        from scipy.optimize import minimize_scalar

        at = acts.index(found.estimate)
        near = (acts[max(0, at - 1)], acts[min(len(acts) - 1, at + 1)])
        fine = minimize_scalar(
            lambda act: self._risk(values, p, act), bounds=near, method="bounded"
        )
        if fine.fun >= found.uncertainty:
            return found
        return Best(float(fine.x), float(fine.fun), found.exact)

    def _risk(self, values: NDArray[Any], p: Floats, act: Any) -> float:
        losses = np.array([])
        if values.ndim == 1:
            with contextlib.suppress(TypeError, ValueError):
                losses = np.asarray(self.given(act, values), np.float64)
        if losses.shape != p.shape:
            losses = np.array([float(self.given(act, plain(v))) for v in values])
        check_losses(losses, f"the loss of {act}")
        return float(p @ losses)
