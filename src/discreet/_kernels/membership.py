"""Mixed membership: sums over compositions with their derivatives, and sweeps over assignments."""

import numpy as np
from numba import njit

ANY_ORDER = {"reassoc", "contract"}  # sums in whatever order is quickest


@njit(cache=True, nogil=True)
def grow(before, origin, responses):
    """Compositions x combinations, with one more item.

    `origin[n, k]` is composition n less one response of profile k, -1 if it has none of it.
    """
    size = len(responses)
    after = np.zeros((len(origin), before.shape[1] * size))
    for n in range(len(origin)):
        for k in range(origin.shape[1]):
            at = origin[n, k]
            if at >= 0:
                for c in range(size):
                    chance = responses[c, k]
                    for b in range(before.shape[1]):
                        after[n, b * size + c] += before[at, b] * chance
    return after


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def shrink(before, origin, responses, after):
    """Derivatives in the responses and in `before`, where `after` has those in what grew of it."""
    size = len(responses)
    slopes, down = np.zeros(responses.shape), np.zeros(before.shape)
    for n in range(len(origin)):
        for k in range(origin.shape[1]):
            at = origin[n, k]
            if at >= 0:
                for c in range(size):
                    chance, slope = responses[c, k], 0.0
                    for b in range(before.shape[1]):
                        slope += after[n, b * size + c] * before[at, b]
                        down[at, b] += after[n, b * size + c] * chance
                    slopes[c, k] += slope
    return slopes, down


@njit(cache=True, nogil=True, fastmath=ANY_ORDER)
def products(left, right, row, column):
    """left[row] . right[column] of every cell."""
    out = np.empty(len(row))
    for i in range(len(row)):
        total = 0.0
        for n in range(left.shape[1]):
            total += left[row[i], n] * right[column[i], n]
        out[i] = total
    return out


@njit(cache=True, nogil=True)
def spread(left, right, row, column, weight):
    """Derivatives of sum weight left[row] . right[column] in left and in right."""
    first, second = np.zeros(left.shape), np.zeros(right.shape)
    for i in range(len(row)):
        for n in range(left.shape[1]):
            first[row[i], n] += weight[i] * right[column[i], n]
            second[column[i], n] += weight[i] * left[row[i], n]
    return first, second


@njit(cache=True, nogil=True)
def assign(places, responses, alpha, profile, counts, luck):
    """One sweep: each response of each person gets a profile, given the others of the person.

        p(z = k | rest) ~ (number of the person's other responses of k + alpha_k) lambda_k

    `places` are rows of `responses`, people x items; `counts` is people x profiles.
    """
    profiles = len(alpha)
    ends = np.empty(profiles)
    for i in range(len(places)):
        for j in range(places.shape[1]):
            counts[i, profile[i, j]] -= 1
            total = 0.0
            for k in range(profiles):
                total += (counts[i, k] + alpha[k]) * responses[places[i, j], k]
                ends[k] = total
            aim, k = luck[i, j] * total, 0
            while k < profiles - 1 and ends[k] <= aim:
                k += 1
            profile[i, j] = k
            counts[i, k] += 1


@njit(cache=True, nogil=True)
def exchange(places, logs, rising, profile, counts, first, second, luck):
    """For each person two profiles change places, if the Metropolis ratio is above `luck`.

    `logs` are those of the responses; `rising[k, t]` is ln Gamma(alpha_k + t). Alpha is small where
    people are near one profile, and single responses then seldom leave it.
    """
    for i in range(len(places)):
        k, m = first[i], second[i]
        a, b = counts[i, k], counts[i, m]
        ratio = rising[k, b] + rising[m, a] - rising[k, a] - rising[m, b]
        for j in range(places.shape[1]):
            if profile[i, j] == k:
                ratio += logs[places[i, j], m] - logs[places[i, j], k]
            elif profile[i, j] == m:
                ratio += logs[places[i, j], k] - logs[places[i, j], m]
        if luck[i] < ratio:
            counts[i, k], counts[i, m] = b, a
            for j in range(places.shape[1]):
                if profile[i, j] == k:
                    profile[i, j] = m
                elif profile[i, j] == m:
                    profile[i, j] = k


@njit(cache=True, nogil=True)
def tally(places, profile, counts, rows, profiles):
    """How often each category had each profile; how many people have more than t of a profile."""
    used = np.zeros((rows, profiles), np.int64)
    more = np.zeros((profiles, places.shape[1]), np.int64)
    for i in range(len(places)):
        for j in range(places.shape[1]):
            used[places[i, j], profile[i, j]] += 1
        for k in range(profiles):
            for t in range(counts[i, k]):
                more[k, t] += 1
    return used, more
