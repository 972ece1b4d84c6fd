"""Counts of sets of vertices at watched rows, worked out when they are asked for, and kept.

A set is an int64, bit p for vertex p, so there are at most 60 vertices. Its count at a row is how
much of the table agrees with the row on the set.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from discreet.arrays import Ints

EMPTY = -1
LARGEST = 2**62
GOLDEN = -7046029254386353131  # 2^64 over the golden ratio, wrapped: spreads the keys
KEYS, SLOTS, FUEL = 0, 1, 2
BLOCK = 1_024  # rows whose keys stay in cache


class Rows(NamedTuple):
    """Cells with their counts, a column a vertex; those that are watched, `watched`, come first."""

    columns: Any
    sizes: Ints
    counts: Any
    watched: Ints


class Memory(NamedTuple):
    """What is known of sets: a limit on the least count over the watched rows, maybe all counts.

    `keys` is an open hash table of sets; the counts of `keys[i]` are `values[slots[i]]`, and
    `owners` leads back. `used` has the keys and slots taken, and how many sets may still be
    counted before the search comes back. The rest is scratch.
    """

    keys: Ints
    least: Ints
    slots: Ints
    values: Any
    owners: Ints
    used: Ints
    row_keys: Ints
    bins: Ints
    sums: Ints


class Extra(NamedTuple):
    """Sets whose worth is not 1, by how much it differs: an open hash table, and the sets."""

    keys: Ints
    worth: NDArray[np.float64]
    listed: Ints


class Limits(NamedTuple):
    """The least width, the most vertices in a complete set, and the edges that stay, by vertex."""

    beta: int
    order: int
    fixed: Ints


class Guess(NamedTuple):
    """What is known of sets whose counts are on disk, and what is thought of all others.

    Counted are all sets of up to three vertices (`third[u, v]` are those that are not wide with u
    and v), the sets that are `narrow`, with all that hold them, and `wide`, with all within them.
    Any other is taken for wide if shift[order] + sum_v alone[v] + sum_uv together[u, v], about the
    log of its least count over what it must be, is 0 or more. None has more than exp(most) cells.
    """

    alone: NDArray[np.float64]
    together: NDArray[np.float64]
    third: Ints
    narrow: Ints
    wide: Ints
    shift: NDArray[np.float64]
    cells: NDArray[np.float64]
    most: float


class Search(NamedTuple):
    """All that stays the same from move to move; the guess has no vertices if rows are here."""

    rows: Rows
    memory: Memory
    extra: Extra
    limits: Limits
    guess: Guess


@njit(cache=True, inline="always")
def _size(s):
    s = s - ((s >> 1) & 0x5555555555555555)
    s = (s & 0x3333333333333333) + ((s >> 2) & 0x3333333333333333)
    s = (s + (s >> 4)) & 0x0F0F0F0F0F0F0F0F
    return (s * 0x0101010101010101) >> 56


@njit(cache=True, inline="always")
def _lowest(s):
    return _size((s & -s) - 1)


@njit(cache=True, nogil=True)
def place(keys, key):
    """Where a key is in an open hash table, or would go; the table's length is a power of 2."""
    i = ((key * GOLDEN) >> 20) & (len(keys) - 1)
    while keys[i] != EMPTY and keys[i] != key:
        i = (i + 1) & (len(keys) - 1)
    return i


@njit(cache=True, nogil=True)
def _renumber(memory):
    """Make the row keys small numbers; returns how many there are."""
    memory.bins[:] = EMPTY
    number = 0
    for r in range(len(memory.row_keys)):
        i = place(memory.bins, memory.row_keys[r])
        if memory.bins[i] == EMPTY:
            memory.bins[i] = memory.row_keys[r]
            memory.sums[i] = number
            number += 1
        memory.row_keys[r] = memory.sums[i]
    return number


@njit(cache=True, nogil=True)
def _block_keys(rows, s, start, end, keys):
    """The mixed-radix keys of the rows from `start` to `end`."""
    keys = keys[: end - start]
    keys[:] = 0
    rest = s
    while rest:
        p = _lowest(rest)
        rest &= rest - 1
        column, size = rows.columns[p][start:end], np.uint32(rows.sizes[p])
        for r in range(len(keys)):
            keys[r] = keys[r] * size + np.uint32(column[r])


@njit(cache=True, nogil=True)
def _count_few(rows, s, span, out):
    """The counts of a set with few keys, block by block."""
    keys, number = np.empty(BLOCK, np.uint32), len(rows.counts)
    sums = np.zeros(span, rows.counts.dtype)
    for start in range(0, number, BLOCK):
        end = min(start + BLOCK, number)
        _block_keys(rows, s, start, end, keys)
        counts = rows.counts[start:end]
        for r in range(len(counts)):
            sums[keys[r]] += counts[r]
    for start in range(0, len(out), BLOCK):
        end = min(start + BLOCK, len(out))
        _block_keys(rows, s, start, end, keys)
        some = out[start:end]
        for r in range(len(some)):
            some[r] = sums[keys[r]]


@njit(cache=True, nogil=True)
def _count(rows, memory, s, out):
    """The counts of a set at the watched rows, by mixed-radix keys."""
    span, rest = 1, s
    while rest and span <= len(memory.sums):
        span *= rows.sizes[_lowest(rest)]
        rest &= rest - 1
    if span <= len(memory.sums):
        _count_few(rows, s, span, out)
        return
    keys = memory.row_keys
    keys[:] = 0
    span, rest = 1, s
    while rest:
        p = _lowest(rest)
        rest &= rest - 1
        column, size = rows.columns[p], rows.sizes[p]
        if span > LARGEST // size:
            span = _renumber(memory)
        for r in range(len(keys)):
            keys[r] = keys[r] * size + column[r]
        span *= size
    if span > len(memory.sums):
        _renumber(memory)
    memory.sums[: min(span, len(memory.sums))] = 0
    for r in range(len(keys)):
        memory.sums[keys[r]] += rows.counts[r]
    for j in range(len(out)):
        out[j] = memory.sums[keys[j]]


@njit(cache=True, nogil=True)
def _make_room(memory, number):
    """Forget counts unless `number` more sets fit; slots handed out before are void then."""
    if memory.used[SLOTS] + number > len(memory.values):
        for slot in range(memory.used[SLOTS]):
            memory.slots[memory.owners[slot]] = EMPTY
        memory.used[SLOTS] = 0
    if memory.used[KEYS] + number > len(memory.keys) // 2:
        memory.keys[:] = EMPTY
        memory.slots[:] = EMPTY
        memory.used[KEYS] = memory.used[SLOTS] = 0


@njit(cache=True, nogil=True)
def _counts(search, s):
    """The counts of a set; room must have been made."""
    memory = search.memory
    i = place(memory.keys, s)
    if memory.keys[i] == EMPTY:
        memory.keys[i] = s
        memory.used[KEYS] += 1
    if memory.slots[i] == EMPTY:
        slot = memory.used[SLOTS]
        memory.slots[i], memory.owners[slot] = slot, i
        memory.used[SLOTS] += 1
        memory.used[FUEL] -= 1
        _count(search.rows, memory, s, memory.values[slot])
        least = np.int64(LARGEST)
        for count in memory.values[slot]:
            least = min(least, np.int64(count))
        memory.least[i] = least
    return memory.values[memory.slots[i]]


@njit(cache=True, nogil=True)
def thought_wide(guess, s):
    """Whether a set is wide, as far as its counts are known, else whether it looks so."""
    thought, cells, rest = guess.shift[_size(s)], 0.0, s
    while rest:
        u = _lowest(rest)
        rest &= rest - 1
        thought += guess.alone[u]
        cells += guess.cells[u]
        later = rest
        while later:
            v = _lowest(later)
            later &= later - 1
            if guess.third[u, v] & s:
                return False
            thought += guess.together[u, v]
    if cells > guess.most:
        return False
    if _size(s) <= 3:
        return True
    for other in guess.narrow:
        if other & ~s == 0:
            return False
    for other in guess.wide:
        if s & ~other == 0:
            return True
    return thought >= 0


@njit(cache=True, nogil=True)
def is_wide(search, s):
    """Whether a set has a count of beta or more at every watched row."""
    memory, beta = search.memory, search.limits.beta
    i = place(memory.keys, s)
    if memory.keys[i] != EMPTY:
        return memory.least[i] >= beta
    _make_room(memory, np.int64(1))
    rest = s
    while rest:  # a part that is known not to be wide saves the counting
        part = place(memory.keys, s & ~(rest & -rest))
        rest &= rest - 1
        if memory.keys[part] != EMPTY and memory.least[part] < beta:
            i = place(memory.keys, s)
            memory.keys[i], memory.least[i] = s, memory.least[part]
            memory.used[KEYS] += 1
            return False
    if len(search.guess.alone):
        i = place(memory.keys, s)
        memory.keys[i] = s
        memory.least[i] = LARGEST if thought_wide(search.guess, s) else 0
        memory.used[KEYS] += 1
        return memory.least[i] >= beta
    _counts(search, s)
    i = place(memory.keys, s)
    if memory.least[i] < beta:  # no graph will ask for its counts
        memory.slots[i] = EMPTY
        memory.used[SLOTS] -= 1
    return memory.least[i] >= beta


@njit(cache=True, nogil=True)
def are_wide(search, sets):
    found = np.empty(len(sets), np.bool_)
    for i in range(len(sets)):
        found[i] = is_wide(search, sets[i])
    return found
