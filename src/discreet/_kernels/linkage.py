"""Links between released and source records: balancing and permanents."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit


@njit(cache=True, nogil=True)
def balanced(weights: Any, null: Any, outside: Any, rounds: int) -> Any:
    """Scale rows (with their null) and columns (with their outside) in place, towards sums of 1."""
    rows, columns = weights.shape
    for _ in range(rounds):
        for i in range(columns):
            total = outside[i]
            for j in range(rows):
                total += weights[j, i]
            if total > 0:
                outside[i] /= total
                for j in range(rows):
                    weights[j, i] /= total
        for j in range(rows):
            total = null[j]
            for i in range(columns):
                total += weights[j, i]
            if total > 0:
                null[j] /= total
                for i in range(columns):
                    weights[j, i] /= total


@njit(cache=True, nogil=True)
def _elsewhere(outside: Any, strange: Any, strangers: float) -> Any:
    """Ways in which no row holds a set of records, for every set.

    Strangers hold k of them in strangers (strangers - 1) ... (strangers - k + 1) ways, and the
    others are held with replacement. `strange` is the weight of all strangers together.
    """
    full = 1 << outside.size
    ways, fewer, held = np.zeros(full), np.zeros(full), np.zeros(full)
    orders = 1.0
    for k in range(outside.size + 1):
        held[0] = 1.0 if k == 0 else 0.0
        for taken in range(1, full):
            low = 0
            while not (taken >> low) & 1:
                low += 1
            rest = taken ^ (1 << low)
            held[taken] = held[rest] * outside[low] + fewer[rest] * strange[low]
        ways += orders * held
        if strangers <= k:
            break
        orders *= 1 - k / strangers
        fewer, held = held, fewer
    return ways


@njit(cache=True, nogil=True)
def permanent_links(weights: Any, null: Any, outside: Any, strange: Any, strangers: float) -> Any:
    """Link probabilities by dynamic programming over sets of released records, and the permanent.

    before[j, S]: ways in which rows 0..j-1 and all who are no row take S; after[S]: rows j+1..
    take S.
    """
    rows, columns = weights.shape
    full = 1 << columns
    before = np.zeros((rows + 1, full))
    before[0] = _elsewhere(outside, strange, strangers)
    for j in range(rows):
        for taken in range(full):
            value = before[j, taken] * null[j]
            for i in range(columns):
                if (taken >> i) & 1:
                    value += before[j, taken ^ (1 << i)] * weights[j, i]
            before[j + 1, taken] = value
    whole = before[rows, full - 1]
    links = np.zeros((rows, columns))
    after, next_after = np.zeros(full), np.zeros(full)
    after[0] = 1.0
    for j in range(rows - 1, -1, -1):
        for i in range(columns):
            if weights[j, i] > 0 and whole > 0:
                rest = (full - 1) ^ (1 << i)
                value, taken = 0.0, rest
                while True:  # every subset of the rest
                    value += before[j, taken] * after[rest ^ taken]
                    if taken == 0:
                        break
                    taken = (taken - 1) & rest
                links[j, i] = weights[j, i] * value / whole
        for taken in range(full):
            value = after[taken] * null[j]
            for i in range(columns):
                if (taken >> i) & 1:
                    value += after[taken ^ (1 << i)] * weights[j, i]
            next_after[taken] = value
        after, next_after = next_after, after
    return links, whole


@njit(cache=True, nogil=True)
def one_column(weights: Any, null: Any, outside: Any, strange: Any, strangers: float) -> Any:
    """As `permanent_links`, the probabilities of the first released record alone.

    before[j, S]: rows 0..j-1 and all who are no row take the set S of the others.
    """
    rows, columns = weights.shape
    others = columns - 1
    full = 1 << others
    nobody = _elsewhere(outside, strange, strangers)
    before = np.zeros((rows + 1, full))
    for taken in range(full):
        before[0, taken] = nobody[taken << 1]
    for j in range(rows):
        for taken in range(full):
            before[j + 1, taken] = before[j, taken] * null[j]
        for i in range(others):
            w, one = weights[j, i + 1], 1 << i
            if w > 0:
                for taken in range(full):
                    if taken & one:
                        before[j + 1, taken] += before[j, taken ^ one] * w
    links, after = np.zeros(rows), np.zeros(full)
    after[0] = 1.0
    whole = 0.0
    for j in range(rows - 1, -1, -1):
        value = 0.0
        if weights[j, 0] > 0:
            for taken in range(full):
                value += before[j, taken] * after[full - 1 - taken]
        links[j] = weights[j, 0] * value
        whole += links[j]
        for taken in range(full - 1, -1, -1):  # smaller sets are still of the rows after
            value = after[taken] * null[j]
            for i in range(others):
                if (taken >> i) & 1:
                    value += after[taken ^ (1 << i)] * weights[j, i + 1]
            after[taken] = value
    for taken in range(full):
        whole += nobody[taken << 1 | 1] * after[full - 1 - taken]
    return links, whole
