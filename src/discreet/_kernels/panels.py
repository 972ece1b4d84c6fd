"""Long beta-binomial sums of (1 + Y / scale)^-power up to a limit, from few of their terms.

A panel of 2^k terms is summed by a rule; where a shorter rule disagrees it is halved. A panel is
left out if a bound on its terms is negligible: away from the mode the probabilities are greatest at
its ends, and the function at its start.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.betabinomial import EXACT, _ways
from discreet._kernels.parallel import spread

EACH = 20_000  # steps of a cell
ROOM = 512  # panels of one cell
NEGLIGIBLE = 1e-14
CLOSE, CLOSER = 1e-8, 1e-11  # where the probabilities are smooth, and where they have a pole


@njit(cache=True, nogil=True)
def _chance(t, rest, a, b, constant):
    return math.exp(_ways(t, a) + _ways(rest - t, b) - constant)


@njit(cache=True, nogil=True)
def _panel(start, k, limit, rest, a, b, constant, y, scale, power, nodes, weights, fewer):
    """Sums of probabilities and of the function times them, each with the shorter rule's error."""
    chance, value, less, short = 0.0, 0.0, 0.0, 0.0
    if k == EXACT:
        for t in range(start, min(start + (1 << k), limit + 1)):
            p = _chance(float(t), rest, a, b, constant)
            chance += p
            value += p * math.exp(-power * math.log1p((y + t) / scale))
        return chance, value, 0.0, 0.0
    for j in range(nodes.shape[1]):
        t = float(start + nodes[k, j])
        p = _chance(t, rest, a, b, constant)
        f = p * math.exp(-power * math.log1p((y + t) / scale))
        chance += weights[k, j] * p
        value += weights[k, j] * f
        less += fewer[k, j] * p
        short += fewer[k, j] * f
    return chance, value, abs(chance - less), abs(value - short)


@njit(cache=True, nogil=True)
def _power_mean(
    begin, past, rest, a, b, y, upto, scale, power, nodes, weights, fewer, mode, wide, out
):
    for i in range(begin, past):
        m, c, d = rest[i], a[i], b[i]
        constant = _ways(m, c + d)
        limit, near = min(upto[i], int(m)), min(mode[i], upto[i])
        # by Jensen the mean is no less than this, and a part of it no less than its last term
        least = math.exp(-power * math.log1p((y[i] + m * c / (c + d)) / scale))
        if limit < m:
            least = _chance(float(limit), m, c, d, constant)
            least *= math.exp(-power * math.log1p((y[i] + limit) / scale))
        close = CLOSE if c >= 1 and d >= 1 else CLOSER
        sums = np.empty((ROOM, 4))
        starts, powers = np.empty(ROOM, np.int64), np.empty(ROOM, np.int64)
        many, at = 0, 0
        while at <= limit:
            far = (near - at) // 2 if at < near else at - near
            size = min(max(1 << EXACT, at), max(wide[i], far), limit - at + 1)
            k = EXACT
            while (1 << (k + 1)) <= size:
                k += 1
            end = min(at + (1 << k) - 1, limit)
            skip = not at <= near + 1 <= end + 2
            if skip:
                first = _chance(float(at), m, c, d, constant)
                last = _chance(float(end), m, c, d, constant)
                bound = (1 << k) * max(first, last)
                top = math.exp(-power * math.log1p((y[i] + at) / scale))
                skip = bound < NEGLIGIBLE and bound * top < NEGLIGIBLE * least
            if not skip:
                starts[many], powers[many] = at, k
                sums[many, 0] = -1.0
                many += 1
            at += 1 << k
        while True:
            chance, value = 0.0, 0.0
            for j in range(many):
                if sums[j, 0] < 0:
                    found = _panel(
                        starts[j], powers[j], limit, m, c, d, constant, y[i], scale, power,
                        nodes, weights, fewer,
                    )  # fmt: skip
                    sums[j, 0], sums[j, 1], sums[j, 2], sums[j, 3] = found
                chance += sums[j, 0]
                value += sums[j, 1]
            fresh = many
            for j in range(many):
                wrong = sums[j, 2] > close * chance or sums[j, 3] > close * value
                if wrong and powers[j] > EXACT and fresh < ROOM:
                    powers[j] -= 1
                    sums[j, 0] = -1.0
                    starts[fresh], powers[fresh] = starts[j] + (1 << powers[j]), powers[j]
                    sums[fresh, 0] = -1.0
                    fresh += 1
            if fresh == many:
                break
            many = fresh
        out[i] = value / chance if limit == m else value


def power_mean(
    rest: Any,
    a: Any,
    b: Any,
    y: Any,
    upto: Any,
    scale: Any,
    power: Any,
    nodes: Any,
    weights: Any,
    fewer: Any,
    mode: Any,
    wide: Any,
) -> Any:
    """E (1 + (y + T) / scale)^-power over T <= upto; rows of `nodes` and of weights are by k."""
    out = np.empty(len(rest))
    spread(
        _power_mean,
        len(rest),
        rest,
        a,
        b,
        y,
        upto,
        scale,
        power,
        nodes,
        weights,
        fewer,
        mode,
        wide,
        out,
        each=EACH,
    )
    return out
