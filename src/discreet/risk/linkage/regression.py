"""What a released number with errors tells of the true one: shrunk to what others predict.

    y = b0 + b z + e, e ~ N(0, t^2),   released x = y + u, u ~ N(0, s^2)
    y | x, z ~ N(m, v),   m = f + t^2 / (t^2 + s^2) (x - f),   v = s^2 t^2 / (t^2 + s^2)

f the fit of x on z by least squares, t^2 what its residual variance has beyond s^2. The like of
equation (3) for a number (Lambert 1993, section 6.2; Sullivan & Fuller 1989). Of logarithms for
errors in them.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.risk.linkage.inference import Covariate


@dataclass(frozen=True, eq=False)
class Regression:
    """A fit to the released file: coefficients, the constant first, and their standard errors;
    `residual`: the spread t of true numbers about it; `error`: that of released ones, s;
    `centre` of each record's belief, and its `spread`, both of logarithms if `logs`.
    """

    names: tuple[str, ...]
    coefficients: Floats
    standard_errors: Floats
    residual: float
    error: float
    logs: bool
    centre: Floats
    spread: float

    def __repr__(self) -> str:
        said = ", ".join(f"{b:.4g}" for b in self.coefficients)
        return f"Regression({len(self.centre):,} records: {said})"


def regression(
    values: Floats, covariates: Sequence[Covariate], error: float, *, name: str, logs: bool
) -> Regression:
    """Fit released values whose errors, or whose logarithms' errors, have the spread `error`."""
    if logs and not (values > 0).all():
        row = int(np.argmax(~(values > 0))) + 1
        raise DataError(
            f"row {row} of {name!r} as released is {values[row - 1]:g}, which has no logarithm; "
            "say its spread, not log_spread."
        )
    x = np.log(values) if logs else values
    design = np.column_stack([np.ones(len(x)), *(c.columns for c in covariates)])
    free = len(x) - int(np.linalg.matrix_rank(design))
    if free < 1:
        raise DataError(
            f"{len(x):,} records are too few to predict {name!r} from {design.shape[1] - 1:,} "
            "columns; give fewer."
        )
    inverse = np.linalg.pinv(design)
    beta = inverse @ x
    fit = design @ beta
    variance = float(((x - fit) ** 2).sum()) / free
    if variance <= error**2:
        raise DataError(
            f"{name!r} has a spread of {variance**0.5:.4g} as released, of which {error:g} is said "
            "to be error; give a smaller error."
        )
    true = variance - error**2
    errors = np.sqrt(variance * (inverse**2).sum(1))
    names = ("constant", *(label for c in covariates for label in c.names))
    centre = fit + true / variance * (x - fit)
    spread = error * (true / variance) ** 0.5
    return Regression(names, beta, errors, true**0.5, error, logs, centre, spread)
