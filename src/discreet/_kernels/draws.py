"""Random whole-number solutions of a net, one column after the other, with their weights."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.copies import put
from discreet._kernels.tables import Net, _line, _set
from discreet.arrays import Floats, Ints


@njit(cache=True, nogil=True)
def _log_beta_binomial(k: float, n: float, a: float, b: float) -> float:
    ways = math.lgamma(n + 1) - math.lgamma(k + 1) - math.lgamma(n - k + 1)
    drawn = math.lgamma(k + a) + math.lgamma(n - k + b) - math.lgamma(n + a + b)
    return ways + drawn + math.lgamma(a + b) - math.lgamma(a) - math.lgamma(b)


@njit(cache=True, nogil=True)
def _log_ways(x: float, m: float) -> float:
    """The log of C(x + m - 1, x): how m numbers can sum to x."""
    if m > 1e4:  # Stirling; the difference of two log gammas would lose all digits
        rise = x * math.log(m) + (m + x - 0.5) * math.log1p(x / m) - x
        return rise + (1 / (m + x) - 1 / m) / 12 - math.lgamma(x + 1)
    return math.lgamma(x + m) - math.lgamma(m) - math.lgamma(x + 1)


@njit(cache=True, nogil=True)
def _shape(mean: float, variance: float, width: int) -> tuple[float, float]:
    """The beta-binomial on 0..width with this mean and variance, with one peak at most."""
    share = min(max(mean / width, 0.5 / (width + 1)), 1 - 0.5 / (width + 1))
    excess = 0.0
    if width > 1:
        excess = (variance / (width * share * (1 - share)) - 1) / (width - 1)
    size = 1 / min(max(excess, 1e-8), 0.9) - 1
    size = max(size, 1 / min(share, 1 - share))
    return share * size, (1 - share) * size


@njit(cache=True, nogil=True)
def draw(
    net: Net,
    order: Ints,
    last: int,
    root_low: Ints,
    root_high: Ints,
    sizes: Floats,
    mean: Floats,
    gains: Any,
    variance: Floats,
    even: float,
    rng: Any,
    count: int,
) -> Floats:
    """Log weights of `count` random solutions, one over the probability of each; -inf if none.

    Columns are drawn in `order`, each within its bounds given those before: evenly with
    probability `even`, else from a beta-binomial about its expectation, which `gains` update by
    the surprises so far. A column of size m stands for m numbers of that sum, so that the weight
    is times their number. `last` is the column that fixes the rest, whose values are counted.
    """
    relations = net.starts.size - 1
    queue, queued = np.empty(relations + 1, np.int64), np.zeros(relations, np.bool_)
    ends = np.zeros(2, np.int64)
    low = np.empty((3, root_low.size), np.int64)
    high = np.empty((3, root_low.size), np.int64)
    surprise = np.zeros(gains.shape[1])
    weights = np.empty(count)
    for k in range(count):
        put(low[0], root_low)
        put(high[0], root_high)
        weight, free = 0.0, 0
        for place in range(order.size):
            node = order[place]
            expected = mean[node]
            for i in range(free):
                expected += gains[place, i] * surprise[i]
            lower, width = low[0, node], high[0, node] - low[0, node]
            value = lower
            if width > 0:
                if place == last:
                    length = _line(net, node, low, high, 0, queue, queued, ends)
                    if length > 0:
                        weight += math.log(length + 1.0)
                        break
                a, b = _shape(expected - lower, variance[place], width)
                if rng.random() < even:
                    value = lower + min(int(rng.random() * (width + 1)), width)
                else:
                    value = lower + rng.binomial(width, rng.beta(a, b))
                chance = math.exp(_log_beta_binomial(float(value - lower), float(width), a, b))
                weight -= math.log(even / (width + 1) + (1 - even) * chance)
                if not _set(net, node, value, low[0], high[0], queue, queued, ends):
                    weight = -np.inf
                    break
            if variance[place] > 0:
                surprise[free] = value - expected
                free += 1
        if weight > -np.inf:
            for c in range(net.columns):
                if sizes[c] > 1:
                    weight += _log_ways(float(low[0, c]), sizes[c])
        weights[k] = weight
    return weights
