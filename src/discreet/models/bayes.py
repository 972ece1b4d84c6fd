"""Bayesian iterative proportional fitting: cell probabilities under a hierarchical model.

The constrained Dirichlet distribution has the density

    prod theta(i)^a(i)   in the free log-linear parameters of the model

which for the saturated model is Dirichlet(a), and hyper-Dirichlet for a decomposable one. Given
the distribution within the cells of a margin C, the probabilities of C are Dirichlet(a_C): so

    theta(i)  <-  theta(i) g(i_C) / theta(i_C),   g ~ Gamma(a_C),   C each margin in turn

is a Gibbs sampler (Gelman, Carlin, Stern & Rubin 1995; Schafer 1997, section 8.4).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DataError
from discreet.table.lattice import bits, maximal

Array = NDArray[np.float64]
Axes = tuple[int, ...]
LEAST = 1e-290  # a smaller gamma variate is this


def margins_of(sets: Iterable[int]) -> tuple[Axes, ...]:
    """The axes of the maximal sets; the total where there are none."""
    return tuple(tuple(bits(s)) for s in maximal(sets)) or ((),)


def bipf(theta: Array, hyper: Array, margins: Sequence[Axes], rng: np.random.Generator) -> Array:
    """One sweep over the margins, many chains at once.

    `theta` is chains x table and within the model; `hyper` the same, or one table for all chains.
    """
    others = [
        tuple(axis for axis in range(1, theta.ndim) if axis - 1 not in kept) for kept in margins
    ]
    each = hyper if hyper.ndim == theta.ndim else hyper[None]
    for rest in others:
        found = theta.sum(rest, keepdims=True)
        shape = np.broadcast_to(each.sum(rest, keepdims=True), found.shape)
        theta = theta * (np.maximum(rng.standard_gamma(shape), LEAST) / np.maximum(found, LEAST))
    return np.asarray(theta / theta.sum(tuple(range(1, theta.ndim)), keepdims=True))


def checked_hyper(hyper: ArrayLike) -> Array:
    """Hyper-parameters as an array; all above 0."""
    a = np.asarray(hyper, np.float64)
    if not (np.isfinite(a) & (a > 0)).all():
        wrong = a[~(np.isfinite(a) & (a > 0))].flat[0]
        raise DataError(f"a Dirichlet hyper-parameter is {wrong}; give numbers above 0.")
    return a
