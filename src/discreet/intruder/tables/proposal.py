"""Where the cells of a random table lie, given the sums: what to draw them from."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.intruder.tables.split import System

BROAD = 2.0  # somewhat wider than the normal approximation, so that no weight is very large
EVEN = 0.05
STEPS = 80


@dataclass(frozen=True, eq=False)
class Proposal:
    """The mean of each column, and how those drawn before move it and leave it a variance.

    Uniform tables are independent geometric counts, of parameters that fit the sums in
    expectation, given the sums (maximum entropy; Barvinok & Hartigan 2010). Near their means they
    are close to normal, and then the next count given those before is a regression.
    """

    mean: Floats
    gains: Floats
    variance: Floats
    even: float

    @classmethod
    def of(cls, system: System, order: Ints) -> Proposal:
        n = len(system.sizes)
        try:
            mean, spread = _moments(system)
        except np.linalg.LinAlgError:
            return cls(np.zeros(n), np.zeros((n, 0)), np.zeros(n), 1.0)
        gains, variance = _regressions(spread[np.ix_(order, order)])
        return cls(mean, gains, BROAD * variance, EVEN)


def _moments(system: System) -> tuple[Floats, Floats]:
    """The means of geometric counts with the sums as expectations, and their covariance given
    the sums.

    Maximum of sum (z + m) log(z + m) - z log z, by Newton steps that stay positive; a column of
    m cells is negative binomial, of variance z (z + m) / m.
    """
    matrix, sums = _independent(system)
    m = np.array(system.sizes, float)
    z = np.maximum((system.low + system.high) / 2.0, 0.5)
    for _ in range(STEPS):
        v = z * (z + m) / m
        slope = np.log(z / (z + m))
        right = matrix @ z - sums - matrix @ (v * slope)
        move = -v * (slope + matrix.T @ _solve(matrix, v, right))
        down = move < 0
        step = min(1.0, 0.9 * np.min(-z[down] / move[down], initial=2.0))
        z = np.maximum(z + step * move, 1e-9)
        if step == 1 and np.abs(move).max() <= 1e-7 * (1 + z.max()):
            break
    v = z * (z + m) / m
    scaled = matrix * v
    spread = np.diag(v) - scaled.T @ _solve(matrix, v, scaled)
    if not (np.isfinite(z).all() and np.isfinite(spread).all()):
        raise np.linalg.LinAlgError
    return z, spread


def _solve(matrix: Floats, v: Floats, right: Floats) -> Floats:
    inner = (matrix * v) @ matrix.T
    inner[np.diag_indices(len(inner))] *= 1 + 1e-12
    return np.asarray(np.linalg.solve(inner, right), float)


def _independent(system: System) -> tuple[Floats, Floats]:
    """Published sums that do not follow from each other."""
    from scipy.linalg import qr

    matrix = system.matrix().astype(float)
    triangle, chosen = qr(matrix.T, mode="r", pivoting=True)
    size = np.abs(np.diag(triangle))
    kept = np.sort(chosen[: int((size > 1e-9 * size.max(initial=1)).sum())])
    return matrix[kept], system.floors[system.exact_rows][kept].astype(float)


def _regressions(spread: Floats) -> tuple[Floats, Floats]:
    """Gains and variances of each variable on those before it, by elimination.

    Only variables that those before do not determine have gains, a column each.
    """
    left, whole = spread.copy(), np.diag(spread).copy()
    variance, gains = np.zeros(len(left)), []
    for k in range(len(left)):
        if left[k, k] > 1e-7 * whole[k]:
            variance[k] = left[k, k]
            gain = left[:, k] / left[k, k]
            left -= np.outer(gain, left[k])
            gains.append(gain)
    return np.ascontiguousarray(np.array(gains).reshape(-1, len(left)).T), variance
