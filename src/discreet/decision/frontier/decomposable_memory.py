"""What the search for a decomposable frontier remembers, and what margins are worth to it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DisclosureError

if TYPE_CHECKING:
    from discreet._kernels.watched_counts import Extra, Memory, Rows, Search

MOST_BYTES = 1 << 30  # of counts that one restart keeps


def fresh_memory(rows: Rows) -> Memory:
    """Room for the counts of as many sets as memory allows."""
    from discreet._kernels.watched_counts import EMPTY, Memory

    kind = rows.counts.dtype
    per_set = max(len(rows.watched), 1) * kind.itemsize
    number = min(max(MOST_BYTES // per_set, 8), 1 << 16)
    buckets = 1 << (18 if len(rows.sizes) <= 18 else 20)
    bins = 1 << max(2 * len(rows.counts), 2).bit_length()
    return Memory(
        keys=np.full(buckets, EMPTY, np.int64),
        least=np.zeros(buckets, np.int64),
        slots=np.full(buckets, EMPTY, np.int64),
        values=np.zeros((number, len(rows.watched)), kind),
        owners=np.zeros(number, np.int64),
        used=np.zeros(3, np.int64),
        row_keys=np.zeros(len(rows.counts), np.int64),
        bins=np.zeros(bins, np.int64),
        sums=np.zeros(bins, np.int64),
    )


def with_own_memory(search: Search) -> Search:
    """The same with a memory of its own, which knows what sets are wide but not their counts."""
    known = search.memory
    memory = fresh_memory(search.rows)
    memory.keys[:], memory.least[:] = known.keys, known.least
    memory.used[0] = known.used[0]
    return search._replace(memory=memory)


def worths(weights: Mapping[int, float], k: int) -> Extra:
    """The margins, as bit sets, whose worth is not 1."""
    from discreet._kernels.watched_counts import EMPTY, Extra, place

    for s, weight in weights.items():
        if not 0 < s < 1 << k:
            raise DisclosureError(
                f"weights has the bit set {s}, which is no margin of {k} variables; "
                "bit p stands for variable p."
            )
        if not (isfinite(weight) and weight >= 0):
            raise DisclosureError(f"the weight of the bit set {s} is {weight}; give 0 or more.")
    size = 1 << max(2 * len(weights), 1).bit_length()
    keys, worth = np.full(size, EMPTY, np.int64), np.zeros(size)
    for s, weight in weights.items():
        i = place(keys, s)
        keys[i], worth[i] = s, weight - 1
    return Extra(keys, worth, np.array(list(weights), np.int64))
