"""Beta-binomial counts: probabilities, transforms and likelihoods, one row at a time.

t of `rest` people, with parameters a and b. Arguments are arrays of one length.
"""

import math
from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.parallel import spread

HALF_LOG_TWO_PI = 0.5 * math.log(2 * math.pi)
LARGE = 256.0  # from here on Stirling's series is exact in double precision
DEEP = 38.0  # e^-38 is below a rounding error
AGREE = 1e-8
LEAST_STEP = 1e-7
EACH = 500  # steps of a row
EXACT = 5  # panels of 2^EXACT terms are summed term by term


@njit(cache=True, nogil=True)
def _stirling(x):
    """ln Gamma(x) less (x - 1/2) ln x - x + ln(2 pi) / 2, for x >= 10."""
    y = 1.0 / (x * x)
    series = 1 / 12 - y * (1 / 360 - y * (1 / 1260 - y * (1 / 1680 - y * (1 / 1188 - y / 527))))
    return series / x


@njit(cache=True, nogil=True)
def _rising(x, c):
    """ln Gamma(x + c) - ln Gamma(x + 1), without cancellation for large x."""
    if x < LARGE:
        return math.lgamma(x + c) - math.lgamma(x + 1)
    d, top = c - 1, x + 1
    return (
        (top - 0.5) * math.log1p(d / top)
        + d * math.log(top + d)
        - d
        + _stirling(top + d)
        - _stirling(top)
    )


@njit(cache=True, nogil=True)
def _excess(a, b):
    """ln B(a, b) less a ln p + b ln(1 - p), p = a / (a + b)."""
    if a > b:
        a, b = b, a
    whole = a + b
    if b < 10:
        return (
            math.lgamma(a)
            + math.lgamma(b)
            - math.lgamma(whole)
            - a * math.log(a / whole)
            - b * math.log(b / whole)
        )
    tail = _stirling(b) - _stirling(whole) - 0.5 * math.log(b / whole)
    if a < 10:
        return math.lgamma(a) + a - a * math.log(a) + tail
    return HALF_LOG_TWO_PI - 0.5 * math.log(a) + _stirling(a) + tail


@njit(cache=True, nogil=True)
def _ways(x, c):
    """ln Gamma(x + c) - ln Gamma(c) - ln Gamma(x + 1), without cancellation."""
    if c < LARGE:
        return _rising(x, c) - math.lgamma(c)
    ends = (c - 0.5) * math.log1p(x / c) + _stirling(c + x) - _stirling(c)
    if x < LARGE:
        return ends + x * math.log(c + x) - x - math.lgamma(x + 1)
    middle = x * math.log1p((c - 1) / (x + 1)) - 0.5 * math.log(x + 1)
    return ends + middle + 1 - HALF_LOG_TWO_PI - _stirling(x + 1)


@njit(cache=True, nogil=True)
def _log_chance(begin, past, t, rest, a, b, out):
    for i in range(begin, past):
        if t[i] < 0 or t[i] > rest[i]:
            out[i] = -np.inf
        else:
            other = _ways(rest[i] - t[i], b[i]) - _ways(rest[i], a[i] + b[i])
            out[i] = _ways(t[i], a[i]) + other


def log_chance(t: Any, rest: Any, a: Any, b: Any) -> Any:
    """ln P(T = t); -inf outside 0..rest."""
    out = np.empty(len(t))
    spread(_log_chance, len(t), t, rest, a, b, out, each=EACH)
    return out


@njit(cache=True, nogil=True)
def _log_plus(u):
    """ln(1 + e^u)."""
    return u + math.log1p(math.exp(-u)) if u > 0 else math.log1p(math.exp(u))


@njit(cache=True, nogil=True)
def _tilted(u, rest, a, b, s, z, low, high):
    """ln of p^a (1-p)^b (1 - p z)^rest at u = logit p, less its first two factors at p = low."""
    no = -_log_plus(u)
    yes = u + no
    part = math.log1p(-z * math.exp(yes)) if s < 1 else _log_plus(u - s) + no
    return a * (yes - low) + b * (no - high) + rest * part


@njit(cache=True, nogil=True)
def _side(u, step, top, decay, limit, rest, a, b, s, z, low, high):
    """Sum of the terms after u; where only e^(-decay |u|) is left of them, as a series."""
    total = 0.0
    ratio, short = math.exp(-decay * abs(step)), -math.expm1(-decay * abs(step))
    while True:
        u += step
        term = math.exp(_tilted(u, rest, a, b, s, z, low, high) - top)
        total += term
        if (step < 0 and u < -limit) or (step > 0 and u > limit):
            return total + term * ratio / short
        if term <= 1e-17 * short * (1 + total):
            return total


@njit(cache=True, nogil=True)
def _log_laplace(begin, past, rest, a, b, s, out):
    for i in range(begin, past):
        m, c, d, z = rest[i], a[i], b[i], -math.expm1(-s[i])
        if m <= 0 or s[i] <= 0:
            out[i] = 0.0
            continue
        # (c+d+m) z p^2 - (c+d+cz+mz) p + c = 0, the smaller root
        half = (c + d + c * z + m * z) / 2
        p = c / (half + math.sqrt(max(half * half - (c + d + m) * z * c, 0.0)))
        p = min(max(p, 1e-300), 1 - 1e-16)
        u = math.log(p) - math.log1p(-p)
        low, high = math.log(c / (c + d)), math.log(d / (c + d))
        top = _tilted(u, m, c, d, s[i], z, low, high)
        bend = p * (1 - p) * (c + d + m * z * (1 - 2 * p + p * p * z) / (1 - p * z) ** 2)
        step = min(0.5, 0.9 / math.sqrt(max(bend, 1e-12)))
        limit = DEEP + math.log(m * z + c + d + 1)
        total = 1 + _side(u, -step, top, c, limit, m, c, d, s[i], z, low, high)
        total += _side(u, step, top, d, limit + s[i], m, c, d, s[i], z, low, high)
        while True:
            off = step / 2
            middle = _side(u + off, -step, top, c, limit, m, c, d, s[i], z, low, high)
            middle += _side(u - off, step, top, d, limit + s[i], m, c, d, s[i], z, low, high)
            apart, total, step = abs(total - middle), total + middle, off
            if apart <= AGREE * total or step < LEAST_STEP:
                break
        out[i] = min(0.0, top + math.log(total * step) - _excess(c, d))


def log_laplace(rest: Any, a: Any, b: Any, s: Any) -> Any:
    """ln E exp(-s T), with E exp(-s T) = E (1 - p z)^rest, p ~ beta(a, b), z = 1 - e^-s.

    The trapezoid rule in logit p around the only mode of the integrand, which is the root of a
    quadratic in p. The integrand is analytic, so that half the step squares the error: the step is
    halved until the rule and that of the midpoints agree to AGREE.
    """
    out = np.empty(len(rest))
    spread(_log_laplace, len(rest), rest, a, b, s, out, each=EACH)
    return out


@njit(cache=True, nogil=True)
def _below(begin, past, most, rest, a, b, out):
    for i in range(begin, past):
        if most[i] < 0:
            out[i] = 0.0
            continue
        if most[i] >= rest[i]:
            out[i] = 1.0
            continue
        log = _ways(rest[i], b[i]) - _ways(rest[i], a[i] + b[i])
        term, total = 1.0, 1.0
        for t in range(most[i]):
            term *= (rest[i] - t) * (t + a[i]) / ((t + 1) * (rest[i] - t - 1 + b[i]))
            total += term
            if total > 1e250:
                log += math.log(total)
                term /= total
                total = 1.0
        out[i] = min(1.0, math.exp(log + math.log(total)))


def below(most: Any, rest: Any, a: Any, b: Any) -> Any:
    """P(T <= most) by the recurrence of the terms, rescaled before they overflow."""
    out = np.empty(len(rest))
    spread(_below, len(rest), most, rest, a, b, out, each=EACH)
    return out


@njit(cache=True, nogil=True)
def panels(rest, near, wide):
    """Panels of 2^k numbers that cover 0..rest: narrow at 0 and at `near`, never below `wide`."""
    cell, start, power = [], [], []
    for i in range(len(rest)):
        at = 0
        while at <= rest[i]:
            far = (near[i] - at) // 2 if at < near[i] else at - near[i]
            size = min(max(2**EXACT, at), max(wide[i], far))
            k = EXACT
            while 2 ** (k + 1) <= size:
                k += 1
            cell.append(i)
            start.append(at)
            power.append(k)
            at += 2**k
    return np.array(cell), np.array(start), np.array(power)


@njit(cache=True, nogil=True)
def _polygamma(x):
    """Digamma and trigamma."""
    first, second = 0.0, 0.0
    while x < 8:
        first -= 1 / x
        second += 1 / (x * x)
        x += 1
    y = 1 / (x * x)
    first += (
        math.log(x)
        - 0.5 / x
        - y
        * (1 / 12 - y * (1 / 120 - y * (1 / 252 - y * (1 / 240 - y * (1 / 132 - y * 691 / 32760)))))
    )
    bend = 1 / 6 - y * (1 / 30 - y * (1 / 42 - y * (1 / 30 - y * (5 / 66 - y * 691 / 2730))))
    second += 1 / x + y / 2 + y / x * bend
    return first, second


@njit(cache=True, nogil=True)
def _lifted(c, k):
    """ln Gamma(c + k) - ln Gamma(c)."""
    return _rising(c - 1, k + 1) if c - 1 >= LARGE else math.lgamma(c + k) - math.lgamma(c)


@njit(cache=True, nogil=True)
def _risen(c, k):
    """ln Gamma(c + k) - ln Gamma(c), and its two derivatives in c."""
    if k <= 0:
        return 0.0, 0.0, 0.0
    if k < 8:
        value, first, second = 0.0, 0.0, 0.0
        for j in range(int(k)):
            value += math.log(c + j)
            first += 1 / (c + j)
            second -= 1 / (c + j) ** 2
        return value, first, second
    up, low = _polygamma(c + k), _polygamma(c)
    return _lifted(c, k), up[0] - low[0], up[1] - low[1]


@njit(cache=True, nogil=True)
def _likely(y, n, a, b, out):
    yes, no = _risen(a, y), _risen(b, n - y)
    whole = _risen(a + b, n)
    out[0] = yes[0] + no[0] - whole[0]
    out[1] = yes[1] - whole[1]
    out[2] = no[1] - whole[1]
    out[3] = yes[2] - whole[2]
    out[4] = -whole[2]
    out[5] = no[2] - whole[2]


@njit(cache=True, nogil=True)
def _likelihood(begin, past, y, n, a, b, out):
    for i in range(begin, past):
        _likely(y[i], n[i], a[i], b[i], out[i])


def likelihood(y: Any, n: Any, a: Any, b: Any) -> Any:
    """Of y of n: ln likelihood without the binomial coefficient, slopes in a and b, bends."""
    out = np.empty((len(y), 6))
    spread(_likelihood, len(y), y, n, a, b, out, each=EACH)
    return out


@njit(cache=True, nogil=True)
def likelihood_few(y, n, a, b):
    """The same of few domains, without the cost of starting threads."""
    out = np.empty((len(y), 6))
    for i in range(len(y)):
        _likely(y[i], n[i], a[i], b[i], out[i])
    return out
