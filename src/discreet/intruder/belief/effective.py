"""How much draws are worth: the standard error of a mean of them."""

from __future__ import annotations

from importlib import import_module
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats


def kish(weights: Floats) -> float:
    """As how many equal draws weighted ones count: (sum w)^2 / sum w^2 (Kish 1965)."""
    return float(weights.sum() ** 2 / (weights**2).sum())


def error_of_mean(terms: Floats, weights: Floats, chains: NDArray[np.int64] | None = None) -> float:
    """Standard error of the weighted mean of `terms`; the weights sum to one.

    By the delta method the error is that of the mean of z = n w (h - mean); z of independent draws
    has n effective values, that of chains fewer.
    """
    n = len(terms)
    z = n * weights * (terms - float(weights @ terms))
    spread = float((z**2).mean())
    return float(np.sqrt(spread / (n if chains is None else min(n, effective(z, chains)))))


def effective(terms: Floats, chains: NDArray[np.int64]) -> float:
    """The effective number of draws of chains, for the mean of `terms`."""
    if np.ptp(terms) == 0:
        return float(len(terms))
    array_stats: Any = import_module("arviz_stats.base").array_stats
    return float(array_stats.ess(stacked(terms, chains), method="mean"))


def stacked(terms: Floats, chains: NDArray[np.int64]) -> Floats:
    """One row a chain, in the order drawn."""
    order = np.argsort(chains, kind="stable")
    return terms[order].reshape(len(np.unique(chains)), -1)
