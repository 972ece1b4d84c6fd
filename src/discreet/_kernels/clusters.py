"""Exact sums among the few records that are most entangled with one, within a larger group."""

from __future__ import annotations

from typing import Any

import numpy as np
from numba import njit

from discreet._kernels.beliefs import TINY
from discreet._kernels.linkage import balanced, one_column
from discreet._kernels.parallel import spread
from discreet._kernels.tiers import tiered

SLIGHT = 1e-3  # a belief that entangles nobody
MOST, SLOTS = 512, 2048  # neighbours that are told apart, and a hash table for them
SPREADING = 0x9E3779B1


@njit(cache=True, inline="always")
def _add(found: Any, size: int, name: int, value: float) -> Any:
    """Add to the sum of a name, of the first MOST that come; `slots` has the place of each."""
    names, sums, slots = found
    slot = (np.int64(name) * SPREADING) & (SLOTS - 1)
    while slots[slot] >= 0:
        if names[slots[slot]] == name:
            sums[slots[slot]] += value
            return size
        slot = (slot + 1) & (SLOTS - 1)
    if size == MOST:
        return size
    names[size], sums[size], slots[slot] = name, value, size
    return size + 1


@njit(cache=True, inline="always")
def _place(found: Any, name: int) -> Any:
    """Of a name among those that were added, -1 if it was not."""
    names, _, slots = found
    slot = (np.int64(name) * SPREADING) & (SLOTS - 1)
    while slots[slot] >= 0 and names[slots[slot]] != name:
        slot = (slot + 1) & (SLOTS - 1)
    return slots[slot]


@njit(cache=True, nogil=True)
def _among(names: Any, size: int, name: int) -> bool:
    k = 0
    while k < size and names[k] != name:
        k += 1
    return k < size


@njit(cache=True, nogil=True)
def _falling(sums: Any, size: int) -> Any:
    """Places, from the largest sum down."""
    turned = np.empty(size)
    for k in range(size):
        turned[k] = -sums[k]
    return np.argsort(turned)


@njit(cache=True, nogil=True)
def _cluster(
    i: int, released: Any, sources: Any, copies: Any, w: Any, p: Any, q: Any, told: Any,
    total: Any, null: Any, strange: Any, columns: int, rows: int, out: Any,
) -> None:  # fmt: skip
    """`clustered` for one record."""
    each, strangers, to_strangers, to_record, most_held = strange
    starts, _, place, _ = released
    source_starts, by_source, holder, _ = sources
    names, sums, slots = np.empty(MOST, np.int64), np.empty(MOST), np.empty(SLOTS, np.int16)
    found = (names, sums, slots)
    chosen = np.empty(columns, np.int64)
    taken, seen = min(columns, copies[0][i]), 0
    for c in range(taken):
        chosen[c] = i
    held = each * to_record[i] / total[0][i]
    while seen < taken < columns:  # neighbours, then their neighbours
        size = 0
        slots[:] = -1
        for c in range(seen, taken):
            if c > seen and chosen[c] == chosen[c - 1]:
                continue
            for e in range(starts[chosen[c]], starts[chosen[c] + 1]):
                if q[e] > SLIGHT:
                    j = place[e]
                    for k in range(source_starts[j], source_starts[j + 1]):
                        f = by_source[k]
                        if q[f] > SLIGHT and not _among(chosen, taken, holder[f]):
                            both = q[e] * q[f] * copies[1][j]
                            size = _add(found, size, holder[f], both)
        if seen == 0:
            for k in most_held:
                both = strangers * held * each * to_record[k] / total[0][k]
                if k != i and both > SLIGHT:
                    size = _add(found, size, k, both)
        seen = taken
        order = _falling(sums, size)
        for k in range(size):
            other = names[order[k]]
            more = min(columns - taken, copies[0][other])
            for c in range(taken, taken + more):
                chosen[c] = other
            taken += more

    size = 0
    slots[:] = -1
    for c in range(taken):
        for e in range(starts[chosen[c]], starts[chosen[c] + 1]):
            if q[e] > SLIGHT:
                size = _add(found, size, place[e], q[e])
    order = _falling(sums, size)
    members, first = np.empty(rows, np.int64), np.full(MOST, rows)
    many = 0
    for k in range(size):
        j = names[order[k]]
        more = min(rows - many, copies[1][j])
        first[order[k]] = many
        for r in range(many, many + more):
            members[r] = j
        many += more
    weights, empty, rest = np.zeros((many, taken)), np.zeros(many), np.zeros(taken)
    weird, whole_rest, rounds = np.zeros(taken), np.zeros(taken), np.int64(4)
    for r in range(many):
        empty[r] = total[1][members[r]]
    alone, own = null[null.size - 1], 0.0
    if strangers > 0:
        alone = total[1][null.size - 1]
    for c in range(taken):
        rest[c] = total[0][chosen[c]] - strangers * each * to_record[chosen[c]]
        alone -= each * to_strangers[chosen[c]]
        for e in range(starts[chosen[c]], starts[chosen[c] + 1]):
            heard, at = 0.0, _place(found, place[e])
            r = first[at] if at >= 0 else rows
            while r < many and members[r] == place[e]:
                weights[r, c] = w[e]
                empty[r] -= w[e] * told[e]
                heard += 1
                r += 1
            rest[c] -= heard * p[e] * total[0][chosen[c]]
    for r in range(many):
        empty[r] = max(empty[r], null[members[r]])
    for c in range(taken):
        rest[c] = max(rest[c], 0.0)
    own = rest[0] / total[0][i] + strangers * held
    alone = max(alone, null[null.size - 1], TINY)
    for c in range(taken):
        rest[c] /= total[0][chosen[c]]
        for r in range(many):
            weights[r, c] /= total[0][chosen[c]]
        weird[c] = strangers * each / alone / total[0][chosen[c]]
        whole_rest[c] = rest[c] + weird[c]
    balanced(weights, empty, whole_rest, rounds)
    for c in range(taken):
        scale = whole_rest[c] / max(rest[c] + weird[c], TINY)
        rest[c] *= scale
        weird[c] *= scale
    links, whole = one_column(weights, empty, rest, weird, strangers)
    linked = 0.0
    for r in range(many):
        linked += links[r]
    left = 1 - linked / max(whole, TINY)
    for e in range(starts[i], starts[i + 1]):
        out[e] = p[e]
        if whole > 0:
            out[e] = min(p[e] * max(0.0, left) / max(own, p[e], TINY), 1.0)
            at = _place(found, place[e])
            r = first[at] if at >= 0 else rows
            if r < many:
                out[e] = links[r] / whole


def _cluster_steps(first: int, end: int, which: Any, released: Any, *given: Any) -> int:
    """Mostly whole rows of `one_column` at a time."""
    return 3_000 * (end - first)


@tiered(_cluster_steps)
@njit(cache=True, nogil=True)
def _clusters(
    first: int, end: int, which: Any, released: Any, sources: Any, copies: Any, w: Any, p: Any,
    q: Any, told: Any, total: Any, null: Any, strange: Any, columns: int, rows: int, out: Any,
) -> None:  # fmt: skip
    for turn in range(first, end):
        _cluster(
            which[turn], released, sources, copies, w, p, q, told, total, null, strange, columns,
            rows, out,
        )  # fmt: skip


def clustered(which: Any, *given: Any) -> None:
    """Exact sums among the records most entangled with each of `which`.

    A source that is told of a record outside the cluster is null to it, and a source outside the
    cluster is an outsider: both by the messages, which leave out what the cluster has told them.
    q tells who is entangled. `strange`: the weight and number of strangers, what is told to and by
    them, which records they most probably hold.
    """
    spread(_clusters, which.size, which, *given)
