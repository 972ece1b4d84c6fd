"""A scientist's own target: what the masked data are worth for it.

    DU = - [ Pr(goes on) E loss(estimate, truth)  +  Pr(gives up) idle ]

Equation (2) of Dobra, Fienberg & Trottini 2003 (BS7), the mean taken over masked copies: a
scientist gives up, and loses what it costs to know nothing, if the uncertainty that comes with
the estimate is above a threshold.
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.cells import frame

Loss = Callable[[Any, Any], float]  # of: estimate, truth
CLOSE = 1e-9

LOSSES: dict[str, Loss] = {
    "squared": lambda estimate, truth: float(np.sum((estimate - truth) ** 2)),
    "absolute": lambda estimate, truth: float(np.sum(np.abs(estimate - truth))),
    "zero-one": lambda estimate, truth: float(
        not np.allclose(estimate, truth, rtol=CLOSE, atol=CLOSE)
    ),
}


@dataclass(frozen=True, eq=False)
class TargetLoss(Result):
    """What a scientist loses with each masked copy; `goes_on` is the probability of going on.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> true = pd.DataFrame({"age": [31, 47, 50, 64], "sex": ["f", "m", "f", "m"]})
    >>> masked = true.assign(age=[33, 45, 52, 61])
    >>> dc.worth.target_loss(true, masked, lambda frame: frame["age"].mean())
    TargetLoss(1 masked copy: utility -0.0625, goes on with probability 1)
    """

    losses: Floats
    uncertainty: Floats
    goes_on: Floats
    idle: float

    @property
    def utility(self) -> float:
        """DU: minus the expected loss."""
        tried = np.where(self.goes_on > 0, self.losses, 0.0)
        idle = np.where(self.goes_on < 1, self.idle, 0.0)
        return -float(np.mean(self.goes_on * tried + (1 - self.goes_on) * idle)) + 0.0

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a masked copy."""
        columns = {
            "copy": np.arange(1, len(self.losses) + 1),
            "loss": self.losses,
            "uncertainty": self.uncertainty,
            "goes on": self.goes_on,
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "utility": self.utility,
            "goes_on": float(self.goes_on.mean()),
            "copies": len(self.losses),
        }

    def __repr__(self) -> str:
        copies = plural(len(self.losses), "masked copy", "masked copies")
        return (
            f"TargetLoss({copies}: utility {self.utility:.6g}, goes on with probability "
            f"{self.goes_on.mean():.4g})"
        )


def target_loss(
    true: Any,
    masked: Any,
    target: Callable[[Any], Any],
    *,
    loss: str | Loss = "squared",
    uncertainty: Callable[[Any], float] | None = None,
    threshold: float | Sequence[float] | Callable[[float], float] | None = None,
    idle: float | None = None,
) -> TargetLoss:
    """The expected loss of who estimates `target`, a function of a file or table to numbers.

    `masked` is a file or table like the true one, or a list of them, equally likely. `loss` is
    "squared", "absolute", "zero-one" or a function of estimate and truth. With a `threshold`, a
    number, draws of it, or Pr(threshold >= u) as a function, the scientist gives up where
    `uncertainty`, a function of the file, is above it, and loses `idle`.

    >>> import pandas as pd
    >>> true = pd.DataFrame({"age": [31, 47, 25, 60]})
    >>> masked = [true.assign(age=[30, 45, 25, 60]), true.assign(age=[35, 50, 25, 60])]
    >>> target_loss(true, masked, lambda file: file["age"].mean(), loss="absolute")
    TargetLoss(2 masked copies: utility -1.25, goes on with probability 1)
    >>> error = lambda file: file["age"].sem()
    >>> target_loss(true, masked, lambda file: file["age"].mean(), loss="absolute",
    ...             uncertainty=error, threshold=7.8, idle=3).goes_on
    array([0., 1.])
    """
    if isinstance(loss, str) and loss not in LOSSES:
        raise DataError(f"there is no loss {loss!r}; choose one of {', '.join(LOSSES)}.")
    measured = LOSSES[loss] if isinstance(loss, str) else loss
    copies = list(masked) if isinstance(masked, (list, tuple)) else [masked]
    if not copies:
        raise DataError("there is no masked file; give at least one.")
    if threshold is not None and (uncertainty is None or idle is None):
        raise DataError(
            "a threshold needs uncertainty and idle: when to give up, and at what cost."
        )
    truth = _numbers(target(true))
    losses, unsure, chances = np.zeros(len(copies)), np.zeros(len(copies)), np.ones(len(copies))
    for place, copy in enumerate(copies):
        estimate = _numbers(target(copy))
        if np.shape(estimate) != np.shape(truth):
            raise DataError(
                f"the target is of shape {np.shape(estimate)} in a masked file and "
                f"{np.shape(truth)} in the true one; let it give the same numbers of both."
            )
        losses[place] = measured(estimate, truth)
        unsure[place] = np.nan if uncertainty is None else float(uncertainty(copy))
        if threshold is not None:
            chances[place] = _chance(threshold, unsure[place])
    return TargetLoss(losses, unsure, chances, float("nan") if idle is None else float(idle))


def _numbers(found: Any) -> Any:
    """The target's value: an array, or a number."""
    array = np.asarray(found, np.float64)
    return array if array.ndim else float(array)


def _chance(threshold: Any, unsure: float) -> float:
    """The probability that the scientist goes on."""
    if callable(threshold):
        found = float(threshold(unsure))
    else:
        found = float(np.mean(unsure <= np.asarray(threshold, np.float64) * (1 + CLOSE)))
    if not 0 <= found <= 1:
        raise DataError(
            f"the threshold is above {unsure:g} with probability {found:g}; give a function with "
            "values from 0 to 1."
        )
    return found
