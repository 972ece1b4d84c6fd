"""Logistic regression by iterated weighted least squares, over distinct rows with counts."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.errors import DataError

ITERATIONS = 50
TOLERANCE = 1e-9  # of the log-likelihood
FAR = 15.0  # log odds beyond which a fit runs away
TRIFLE = 1e-3  # of the penalty TRIFLE/2 |b|^2, where classes are separated
ALIKE = 1e-9


@dataclass(frozen=True, eq=False)
class Logistic:
    """A fit: coefficients, their covariance, fitted chances, and whether it was regularised."""

    coefficients: Floats
    covariance: Floats
    chances: Floats
    regularised: bool
    converged: bool


def fit_logistic(design: Floats, yes: Floats, number: Floats) -> Logistic:
    """Maximum likelihood of `yes` out of `number` in each row; the first column is of ones.

    Where the rows separate yes from no the estimates run away: then a trifle is added, a normal
    prior of variance 1 / TRIFLE on all but the constant.

    >>> fit = fit_logistic(np.array([[1.0, 0], [1, 1]]), np.array([2.0, 6]), np.array([8.0, 8]))
    >>> fit.coefficients.round(6), fit.chances
    (array([-1.098612, 2.197225]), array([0.25, 0.75]))
    """
    if not 0 < yes.sum() < number.sum():
        raise DataError("a logistic regression needs records of both kinds; there is one only.")
    share = yes.sum() / number.sum()
    start = np.zeros(design.shape[1])
    start[0] = np.log(share / (1 - share))
    plain = _newton(design, yes, number, 0.0, start)
    if plain.converged:
        return plain
    return _newton(design, yes, number, TRIFLE, plain.coefficients)


def independent(design: Floats, number: Floats) -> NDArray[np.int64]:
    """Columns of which none is a combination of those before it."""
    scaled = design * np.sqrt(number)[:, None]
    gram = scaled.T @ scaled
    kept: list[int] = []
    residual = gram.copy()  # Cholesky, column by column in the given order
    for column in range(len(gram)):
        pivot = residual[column, column]
        if pivot > ALIKE * max(gram[column, column], np.finfo(float).tiny):
            row = residual[column] / np.sqrt(pivot)
            residual -= np.outer(row, row)
            kept.append(column)
    return np.array(kept, np.int64)


def _newton(design: Floats, yes: Floats, number: Floats, trifle: float, start: Floats) -> Logistic:
    """From a start; without a trifle it ends, not converged, where the fit runs away."""
    penalty = np.full(design.shape[1], trifle)
    penalty[0] = 0.0
    b = start
    value, converged = _objective(design, yes, number, b, penalty), False
    for _ in range(ITERATIONS):
        chances = _chances(design @ b)
        slope = design.T @ (yes - number * chances) - penalty * b
        inner = _information(design, number, chances, penalty)
        step = np.linalg.lstsq(inner, slope, rcond=None)[0]
        size = 1.0
        while (new := _objective(design, yes, number, b + size * step, penalty)) > value + 1e-9 * (
            1 + abs(value)
        ) and size > 1e-6:
            size /= 2
        b = b + size * step
        if not trifle and np.abs(design @ b).max() > FAR:
            break
        converged = float(slope @ step) <= TOLERANCE  # what a further step would gain
        value = new
        if converged:
            break
    chances = _chances(design @ b)
    inner = _information(design, number, chances, penalty)
    covariance = np.asarray(np.linalg.pinv(inner, hermitian=True), np.float64)
    return Logistic(b, covariance, chances, trifle > 0, converged)


def _chances(odds: Floats) -> Floats:
    return np.asarray(0.5 * (1 + np.tanh(odds / 2)), np.float64)


def _information(design: Floats, number: Floats, chances: Floats, penalty: Floats) -> Floats:
    spread = number * chances * (1 - chances)
    return np.asarray(design.T @ (design * spread[:, None]) + np.diag(penalty), np.float64)


def _objective(design: Floats, yes: Floats, number: Floats, b: Floats, penalty: Floats) -> float:
    odds = design @ b
    loss = number * np.logaddexp(0, odds) - yes * odds
    return float(loss.sum() + 0.5 * (penalty * b) @ b)
