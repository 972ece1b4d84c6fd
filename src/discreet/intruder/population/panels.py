"""Expectations over long beta-binomial sums from few of their terms.

The numbers 0..rest are cut into panels of 2^k. A panel of 32 is summed term by term; a longer one
by values at 17 whole numbers with the weights that are exact for polynomials up to degree 16. Where
9 of them disagree with all 17 the panel is halved, down to panels that are summed exactly: a loss
with steps costs more terms, not accuracy. Sums are divided by that of the probabilities.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints

Function = Callable[[Ints, Ints], Floats]
LEAST = 5  # log2 of the shortest panel
NODES = 17
CLOSE = 1e-10  # of the shorter rule to the longer one
LONGEST = 54  # log2 of the longest
TOGETHER = 2048  # cells at a time


def expectations(function: Function, rest: Floats, a: Floats, b: Floats) -> Floats:
    """E f(row, T), T ~ beta-binomial(rest, a, b), of each row."""
    found = np.empty(len(rest))
    for start in range(0, len(rest), TOGETHER):
        rows = slice(start, start + TOGETHER)

        def shifted(row: Ints, t: Ints, start: int = start) -> Floats:
            return function(row + start, t)

        found[rows] = _together(shifted, rest[rows], a[rows], b[rows])
    return found


def power_means(
    rest: Floats, a: Floats, b: Floats, y: Floats, upto: Ints, scale: float, power: float
) -> Floats:
    """E (1 + (y + T) / scale)^-power of each row, of T <= upto only; compiled."""
    from discreet._kernels.panels import power_mean

    every = [rule(max(k, LEAST + 1)) for k in range(LONGEST)]
    nodes, weights, fewer = (np.array(column) for column in zip(*every, strict=True))
    rules = (scale, power, nodes, weights, fewer)
    return np.asarray(power_mean(rest, a, b, y, upto, *rules, *_peaks(rest, a, b)))


def _peaks(rest: Floats, a: Floats, b: Floats) -> tuple[Ints, Ints]:
    """The mode of each distribution, and its deviation as the width of panels there."""
    share = a / (a + b)
    wide = np.sqrt(rest * share * (1 - share) * (a + b + rest) / (a + b + 1)).astype(np.int64)
    inner = (a > 1) & (b > 1)
    peak = np.where(inner, (a - 1) / np.where(inner, a + b - 2, 1), a > 1)
    near = np.minimum(((rest + 1) * peak).astype(np.int64), rest.astype(np.int64))
    return near, np.maximum(wide, 1 << LEAST)


def _together(function: Function, rest: Floats, a: Floats, b: Floats) -> Floats:
    from discreet._kernels.betabinomial import panels

    cell, start, power = panels(rest.astype(np.int64), *_peaks(rest, a, b))
    done = [np.zeros(0, np.int64), *(np.zeros(0) for _ in range(4))]  # cell, two sums, two errors
    at = np.zeros((2, 0), np.int64)
    while len(cell):
        fresh = _sums(function, cell, start, power, rest, a, b)
        done = [np.concatenate(pair) for pair in zip(done, [cell, *fresh], strict=True)]
        at = np.concatenate([at, [start, power]], axis=1)
        chance = np.bincount(done[0], done[1], len(rest))
        total = np.abs(np.bincount(done[0], done[2], len(rest)))
        wrong = (done[3] > CLOSE * chance[done[0]]) | (done[4] > CLOSE * total[done[0]])
        wrong &= at[1] > LEAST
        cell = np.repeat(done[0][wrong], 2)
        power = np.repeat(at[1][wrong] - 1, 2)
        start = np.repeat(at[0][wrong], 2)
        start[1::2] += 1 << power[1::2]
        done, at = [column[~wrong] for column in done], at[:, ~wrong]
    return np.asarray(
        np.bincount(done[0], done[2], len(rest)) / np.bincount(done[0], done[1], len(rest))
    )


def _sums(
    function: Function, cell: Ints, start: Ints, power: Ints, rest: Floats, a: Floats, b: Floats
) -> tuple[Floats, ...]:
    """Of each panel: the sum of probabilities, of the function times them, and the two errors."""
    from discreet._kernels.betabinomial import log_chance

    out = tuple(np.zeros(len(cell)) for _ in range(4))
    for k in np.unique(power):
        rows = np.flatnonzero(power == k)
        nodes, weights, fewer = rule(int(k))
        t = (start[rows, None] + nodes).ravel()
        of = np.repeat(cell[rows], len(nodes))
        with np.errstate(under="ignore"):
            chance = np.exp(log_chance(t.astype(np.float64), rest[of], a[of], b[of]))
        inside = t <= rest[of]
        value = np.zeros(len(t))
        value[inside] = function(of[inside], t[inside])
        chance, value = (
            column.reshape(len(rows), len(nodes)) for column in (chance, value * chance)
        )
        for place, column in enumerate((chance, value)):
            out[place][rows] = column @ weights
            out[place + 2][rows] = np.abs(column @ (weights - fewer))
    return out


@cache
def rule(k: int) -> tuple[Ints, Floats, Floats]:
    """Whole numbers in 0..2^k - 1 and weights such that sums of f are those of all 2^k values.

    Exact for polynomials up to degree 16, and with the second weights, of every other number, up to
    degree 8. The moments of a panel are those of its halves.
    """
    size = 1 << k
    if k <= LEAST:
        return np.arange(size), np.ones(size), np.ones(size)
    nodes = np.rint((size - 1) * (1 - np.cos(np.pi * np.arange(NODES) / (NODES - 1))) / 2)
    half, weight, _ = rule(k - 1)
    every = np.concatenate([half, half + size // 2])
    moments = np.concatenate([weight, weight]) @ _basis(every, size)
    weights: Floats = np.linalg.solve(_basis(nodes, size).T, moments).astype(np.float64)
    fewer = np.zeros(NODES)
    few = slice(None, None, 2)
    degree = NODES // 2 + 1
    fewer[few] = np.linalg.solve(_basis(nodes[few], size)[:, :degree].T, moments[:degree])
    return nodes.astype(np.int64), weights, fewer


def _basis(t: NDArray[np.floating] | Ints, size: int) -> Floats:
    """Chebyshev polynomials up to degree 16 on 0..size - 1."""
    x = 2 * np.asarray(t, np.float64) / (size - 1) - 1
    return np.asarray(np.polynomial.chebyshev.chebvander(x, NODES - 1))
