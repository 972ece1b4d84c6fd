"""Links between released and source records: balancing and permanents.

Small groups take the same steps on whole arrays, in the same order.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.tiers import tiered, twin_of


@njit(cache=True, nogil=True)
def balanced(weights: Any, null: Any, outside: Any, rounds: Any) -> Any:
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


def _permanent_steps(weights: Any, *given: Any) -> int:
    """Whole rows of sets at a time."""
    rows, columns = weights.shape
    return int(30 + rows * columns * (4 + (1 << columns) // 100))


@tiered(_permanent_steps)
@njit(cache=True, nogil=True)
def permanent_links(weights: Any, null: Any, outside: Any, strange: Any, strangers: float) -> Any:
    """Link probabilities by dynamic programming over sets of released records, and the permanent.

    before[j, S]: ways in which rows 0..j-1 and all who are no row take S; after[S]: rows j+1..
    take all but S. Sets with record i stand in blocks, each behind the same sets without it.
    """
    rows, columns = weights.shape
    full = 1 << columns
    before = np.zeros((rows + 1, full))
    before[0] = _elsewhere(outside, strange, float(strangers))
    for j in range(rows):
        here, there = before[j], before[j + 1]
        for taken in range(full):
            there[taken] = here[taken] * null[j]
        for i in range(columns):
            w, one = weights[j, i], 1 << i
            for start in range(0, full if w > 0 else 0, 2 * one):
                for taken in range(start, start + one):
                    there[taken + one] += here[taken] * w
    whole = before[rows, full - 1]
    links = np.zeros((rows, columns))
    after, next_after = np.zeros(full), np.zeros(full)
    after[full - 1] = 1.0
    for j in range(rows - 1, -1, -1):
        here = before[j]
        for taken in range(full):
            next_after[taken] = after[taken] * null[j]
        for i in range(columns):
            w, one, value = weights[j, i], 1 << i, 0.0
            for start in range(0, full if w > 0 else 0, 2 * one):
                for taken in range(start, start + one):
                    value += here[taken] * after[taken + one]
                    next_after[taken] += after[taken + one] * w
            if whole > 0:
                links[j, i] = w * value / whole
        after, next_after = next_after, after
    return links, whole


@njit(cache=True, nogil=True)
def _join(sets: Any, null: float, weights: Any, more: Any) -> None:
    """Into `more`: ways to take every set of all records but the first, with one more row."""
    for taken in range(sets.size):
        more[taken] = sets[taken] * null
    for i in range(1, weights.size):
        w, one = weights[i], 1 << (i - 1)
        if w > 0:
            for start in range(one, sets.size, 2 * one):  # sets with record i
                for taken in range(start, start + one):
                    more[taken] += sets[taken - one] * w


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
        _join(before[j], null[j], weights[j], before[j + 1])
    links, after, more = np.zeros(rows), np.zeros(full), np.zeros(full)
    after[0] = 1.0
    whole = 0.0
    for j in range(rows - 1, -1, -1):
        value = 0.0
        if weights[j, 0] > 0:
            for taken in range(full):
                value += before[j, taken] * after[full - 1 - taken]
        links[j] = weights[j, 0] * value
        whole += links[j]
        _join(after, null[j], weights[j], more)
        after, more = more, after
    for taken in range(full):
        whole += nobody[taken << 1 | 1] * after[full - 1 - taken]
    return links, whole


def _total(first: Any, rest: Any) -> Any:
    """A sum in order, as a loop takes it."""
    return np.add.accumulate(np.concatenate([first[None], rest]))[-1]


@twin_of(balanced)
def _balanced(weights: Any, null: Any, outside: Any, rounds: int) -> None:
    for _ in range(rounds):
        for rest, lines in ((outside, weights), (null, weights.T)):
            total = _total(rest, lines)
            total[~(total > 0)] = 1.0
            rest /= total
            lines /= total


@twin_of(_elsewhere)
def _nowhere(outside: Any, strange: Any, strangers: float) -> Any:
    full = 1 << outside.size
    ways, fewer, held = np.zeros(full), np.zeros(full), np.zeros(full)
    orders = 1.0
    for k in range(outside.size + 1):
        held[0] = 1.0 if k == 0 else 0.0
        for low in range(outside.size - 1, -1, -1):  # all sets whose first record it is
            rest = np.arange(0, full, 2 << low)
            held[rest | 1 << low] = held[rest] * outside[low] + fewer[rest] * strange[low]
        ways += orders * held
        if strangers <= k:
            break
        orders *= 1 - k / strangers
        fewer, held = held, fewer
    return ways


def _joined(sets: Any, null: float, weights: Any, having: Any) -> Any:
    """Ways to take every set, with one more row; having[i]: the sets with record i."""
    more = sets * null
    for i in range(weights.size):
        more[having[i]] += sets[having[i] ^ 1 << i] * weights[i]
    return more


def _having(columns: int) -> Any:
    every = np.arange(1 << columns)
    return [np.flatnonzero(every >> i & 1) for i in range(columns)]


@twin_of(permanent_links.kernel)
def _permanent_links(weights: Any, null: Any, outside: Any, strange: Any, strangers: float) -> Any:
    rows, columns = weights.shape
    full, having = 1 << columns, _having(columns)
    before = np.zeros((rows + 1, full))
    before[0] = _nowhere(outside, strange, strangers)
    for j in range(rows):
        before[j + 1] = _joined(before[j], null[j], weights[j], having)
    whole = before[rows, full - 1]
    links, after = np.zeros((rows, columns)), np.zeros(full)
    after[-1] = 1.0
    for j in range(rows - 1, -1, -1):
        more = after * null[j]
        for i in range(columns):
            if weights[j, i] > 0:
                without = having[i] ^ 1 << i
                value = np.add.accumulate(before[j, without] * after[having[i]])
                links[j, i] = weights[j, i] * value[-1] / whole if whole > 0 else 0.0
                more[without] += after[having[i]] * weights[j, i]
        after = more
    return links, whole


@twin_of(one_column)
def _one_column(weights: Any, null: Any, outside: Any, strange: Any, strangers: float) -> Any:
    rows, columns = weights.shape
    full, having = 1 << columns - 1, _having(columns - 1)
    nobody = _nowhere(outside, strange, strangers)
    before = np.zeros((rows + 1, full))
    before[0] = nobody[::2]
    for j in range(rows):
        before[j + 1] = _joined(before[j], null[j], weights[j, 1:], having)
    links, after, whole = np.zeros(rows), np.zeros(full), np.float64(0.0)
    after[0] = 1.0
    for j in range(rows - 1, -1, -1):
        if weights[j, 0] > 0:
            links[j] = weights[j, 0] * np.add.accumulate(before[j] * after[::-1])[-1]
        whole += links[j]
        after = _joined(after, null[j], weights[j, 1:], having)
    return links, _total(np.asarray(whole), nobody[1::2] * after[::-1])


balance = tiered(lambda weights, null, outside, rounds: 20 * rounds + weights.size)(balanced)
