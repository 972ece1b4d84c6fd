"""Any loss of an estimate and the truth, as a matrix or a function."""

from __future__ import annotations

import contextlib
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.atoms import plain
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.belief.valued import Valued
from discreet.intruder.posterior.whole_table import Held, TableBelief
from discreet.look.words import plural
from discreet.risk.uncertainty.base import Best, Uncertainty, check_losses, listed_shares, points

GUESSES = 201  # tried for a value with a density
MOST_TRIED = 10_000_000  # acts x values
UNSETTLED = 1e-3  # of an expected loss that lies in the far half of an open range


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
        values, p = points(belief, *self._cuts)
        acts = self._acts(belief, values)
        if len(acts) * len(values) > MOST_TRIED:
            raise DataError(
                f"{len(acts):,} acts at {len(values):,} values are too many to try; give fewer "
                "acts."
            )

        def risk(act: Any) -> float:
            if isinstance(belief, Valued) and isinstance(act, float):  # a loss may break there
                return self._risk(*belief.nodes(*self._cuts, act), act)
            return self._risk(values, p, act)

        risks = [risk(act) for act in acts]
        first = int(np.argmin(risks))
        found = Best(acts[first], risks[first], exact)
        if isinstance(belief, Valued) and belief.open:
            self._check_settled(belief.far, values, p, found)
        if self.acts is not None or isinstance(belief, TableBelief):
            return found
        return found if belief.kind is not Kind.DENSITY else self._finer(found, risk, acts)

    @property
    def _cuts(self) -> tuple[float, ...]:
        """Where the loss breaks, as a function of the truth."""
        return ()

    def _check_settled(self, far: float, values: NDArray[Any], p: Floats, found: Best) -> None:
        beyond = values > far
        tail = self._risk(values[beyond], p[beyond], found.estimate)
        if tail > UNSETTLED * found.uncertainty:
            raise DataError(
                "the expected loss is infinite, or nearly, in the Pareto tail of an open range; "
                "say where the range ends, or write a loss that stays bounded."
            )

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
            shares = np.linspace(0, 1, GUESSES)
            if isinstance(belief, Valued) and belief.open:
                shares = np.append(shares[:-1], 1 - np.logspace(-3, -9, 13))
            acts = [belief.quantile(p) for p in shares]
        else:
            acts = [plain(value) for value in values]
        if not acts:
            raise DataError("the loss has no acts to choose from; give at least one.")
        return acts

    def _finer(self, found: Best, risk: Callable[[Any], float], acts: list[Any]) -> Best:
        from scipy.optimize import minimize_scalar

        at = acts.index(found.estimate)
        near = (acts[max(0, at - 1)], acts[min(len(acts) - 1, at + 1)])
        fine = minimize_scalar(lambda act: risk(float(act)), bounds=near, method="bounded")
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


@dataclass(frozen=True, eq=False)
class LossAtValues(Loss):
    """A loss written for some true values: linear between them, and beyond them as at the ends.

    A row an act, a column a value.

    >>> loss = LossAtValues([[0, 30], [10, 0]], ["low", "high"], at=[10, 40])
    >>> loss.best(Belief.discrete([15, 25], [0.75, 0.25]))
    Best(estimate='low', uncertainty=7.5, exact=True)
    """

    of_numbers: ClassVar[bool] = True
    at: Sequence[float] = ()

    def __post_init__(self) -> None:
        matrix = np.asarray(self.given, np.float64)
        if matrix.ndim != 2 or matrix.shape[1] != len(self.at):
            raise DataError(
                f"the loss matrix has the shape {matrix.shape}; it needs one row an act and "
                f"{plural(len(self.at), 'column')}, one a value."
            )
        if len(set(self.at)) < len(self.at):
            raise DataError("the loss is written twice for one value; write each value once.")
        check_losses(matrix, "the loss")
        order = np.argsort(self.at)
        places = [float(self.at[i]) for i in order]
        lines = dict(enumerate(matrix[:, order]))
        names = list(range(len(matrix))) if self.acts is None else list(self.acts)
        which = {name: lines[i] for i, name in enumerate(names)}
        object.__setattr__(self, "acts", names)
        object.__setattr__(self, "at", places)
        object.__setattr__(self, "given", lambda act, x: np.interp(x, places, which[act]))

    @property
    def _cuts(self) -> tuple[float, ...]:
        return tuple(self.at)
