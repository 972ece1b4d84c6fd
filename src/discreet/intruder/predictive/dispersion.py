"""How far tables of comparable people differ: Dirichlet weights of greatest likelihood.

    log L(a) = sum_j [ lg G(A) - lg G(A + N_j) + sum_k ( lg G(a_k + n_jk) - lg G(a_k) ) ],
    A = sum a_k

The tables are multinomial, each with shares of its own from one Dirichlet distribution.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.words import number

LEAST = 1e-4  # gain of log-likelihood over tables of one and the same shares
FARTHEST = (-30, 14)  # logarithms of weights that are tried
NOTHING = 1e-4  # of a worth
DROP = 1.920729  # of the log-likelihood within a 95% interval
HALVINGS = 200


@dataclass(frozen=True, eq=False)
class Dispersion:
    """The weights, their standard errors, and that of their sum."""

    weights: Floats
    errors: Floats
    worth_error: float


def dispersion(lines: Floats) -> Dispersion:
    """Of tables as rows of counts, no column empty.

    >>> found = dispersion(np.array([[4.0, 6], [1, 19], [9, 11]]))
    >>> found.weights.round(3), found.errors.round(2)
    (array([1.781, 4.434]), array([1.97, 5.18]))
    """
    from scipy.optimize import minimize

    lines = lines[lines.sum(1) > 0]
    if len(lines) < 2:
        raise DataError("one table does not show how far tables differ; state its worth.")
    pooled = lines.sum(0) / lines.sum()
    best = None
    for worth in (1.0, 10.0, 100.0):
        found = minimize(
            lambda u: _down(u, lines), np.log(worth * pooled), jac=True, method="BFGS",
            options={"gtol": 1e-9, "maxiter": 1000},
        )  # fmt: skip
        best = found if best is None or found.fun < best.fun else best
    assert best is not None
    alike = float((lines * np.log(pooled)).sum())
    weights = np.exp(np.clip(best.x, *FARTHEST))
    if weights.sum() < NOTHING:
        raise DataError(
            "each of the tables has people in one category alone, so that none is worth anything "
            "for another; state the worth."
        )
    known = _information(weights, lines)
    if -best.fun <= alike + LEAST or not np.linalg.eigvalsh(known)[0] > 0:
        least = number(float(f"{_least_worth(lines, pooled, alike):.2g}"))
        raise DataError(
            f"the {len(lines)} tables differ no more than by chance: they go with every worth from "
            f"about {least} people on (95%); state the worth."
        )
    spread = np.linalg.inv(known)
    return Dispersion(weights, np.sqrt(np.diag(spread)), float(np.sqrt(spread.sum())))


def log_likelihood(weights: Floats, lines: Floats) -> float:
    """Of people in their order, as `Dirichlet.log_evidence` of each table."""
    from scipy.special import gammaln

    total, people = weights.sum(), lines.sum(1)
    each = gammaln(weights + lines) - gammaln(weights)
    return float(each.sum() + (gammaln(total) - gammaln(total + people)).sum())


def _down(logs: Floats, lines: Floats) -> tuple[float, Floats]:
    """Minus the log-likelihood and its slope, by the logarithms of the weights."""
    from scipy.special import digamma

    weights = np.exp(np.clip(logs, *FARTHEST))
    total, people = weights.sum(), lines.sum(1)
    slope = (digamma(weights + lines) - digamma(weights)).sum(0)
    slope = slope + (digamma(total) - digamma(total + people)).sum()
    return -log_likelihood(weights, lines), -slope * weights


def _information(weights: Floats, lines: Floats) -> Floats:
    """Minus the second derivatives by the weights."""
    from scipy.special import polygamma

    total, people = weights.sum(), lines.sum(1)
    own = (polygamma(1, weights) - polygamma(1, weights + lines)).sum(0)
    shared = (polygamma(1, total) - polygamma(1, total + people)).sum()
    return np.asarray(np.diag(own) - shared)


def _least_worth(lines: Floats, pooled: Floats, alike: float) -> float:
    """The least worth whose log-likelihood, at the shares of all, is within 95%."""
    low, high = 1e-6, 1e9
    for _ in range(HALVINGS):
        middle = float(np.sqrt(low * high))
        near = log_likelihood(middle * pooled, lines) >= alike - DROP
        low, high = (low, middle) if near else (middle, high)
    return high
