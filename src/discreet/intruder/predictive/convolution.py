"""Densities of sums on [0, L], by convolution of high order on a uniform grid.

Densities that are smooth on [0, L] stay so when they are convolved, so the trapezoidal rule with
Gregory's corrections at both ends gains nine orders a step; near 0, where the ends meet,
interpolating polynomials are convolved exactly.
"""

from __future__ import annotations

import math
from functools import cache

import numpy as np

from discreet.arrays import Floats

ORDER = 8


def integral(f: Floats, h: float) -> float:
    """Of a smooth function on a uniform grid of more than 16 points."""
    c = _corrections()
    ends = f[: ORDER + 1] + f[: -ORDER - 2 : -1]
    return float(h * (f.sum() - c @ ends))


def convolve(f: Floats, g: Floats, h: float) -> Floats:
    """The convolution of two smooth functions on [0, L], on their grid."""
    from scipy.fft import irfft, next_fast_len, rfft

    room = next_fast_len(2 * len(f) - 1, real=True)
    found = np.asarray(irfft(rfft(f, room) * rfft(g, room), room)[: len(f)], np.float64)
    for lag, c in enumerate(_corrections()):
        found[lag:] -= c * (f[lag] * g[: len(g) - lag] + g[lag] * f[: len(f) - lag])
    few = ORDER + 1
    found[:ORDER] = np.einsum("jab,a,b->j", _start(), f[:few], g[:few])
    return found * h


def power(f: Floats, times: int, h: float) -> Floats:
    """f convolved with itself: the density of a sum of `times` independent values."""
    found: Floats | None = None
    while True:
        if times & 1:
            found = f if found is None else convolve(found, f, h)
        times >>= 1
        if not times:
            assert found is not None
            return found
        f = convolve(f, f, h)


def interpolate(f: Floats, h: float, at: Floats) -> Floats:
    """A smooth function between the points of its grid: polynomials through six of them."""
    first = np.clip((at / h).astype(np.int64) - 2, 0, len(f) - 6)
    u = at / h - first
    return np.asarray((f[first[None] + np.arange(6)[:, None]] * _basis(u, np.arange(6.0))).sum(0))


@cache
def _corrections() -> Floats:
    """c with sum_l c_l l^d = B_(d+1) terms of Euler and Maclaurin; Gregory's weights are 1 - c."""
    moments = [1 / 2, -1 / 12, 0, 1 / 120, 0, -1 / 252, 0, 1 / 240, 0]
    powers = np.array([[float(i) ** d for i in range(ORDER + 1)] for d in range(ORDER + 1)])
    return np.asarray(np.linalg.solve(powers, moments))


@cache
def _start() -> Floats:
    """How values at 0..8 give the convolution at 0..7: integrals of Lagrange polynomials."""
    points = np.arange(ORDER + 1.0)
    nodes, weights = np.polynomial.legendre.leggauss(ORDER + 1)
    found = np.zeros((ORDER, ORDER + 1, ORDER + 1))
    for j in range(1, ORDER):
        u = j * (nodes + 1) / 2
        left, right = _basis(u, points), _basis(j - u, points)
        found[j] = np.einsum("n,an,bn->ab", j * weights / 2, left, right)
    return found


def _basis(u: Floats, points: Floats) -> Floats:
    rows = []
    for a in points:
        others = points[points != a]
        rows.append(np.prod((u[None] - others[:, None]) / (a - others)[:, None], axis=0))
    return np.array(rows)


def log_sum(values: Floats) -> float:
    """log of a sum of exponentials."""
    top = float(values.max())
    return top + math.log(float(np.exp(values - top).sum()))
