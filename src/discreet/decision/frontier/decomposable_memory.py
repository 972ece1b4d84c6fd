"""What the search for a decomposable frontier remembers, and what margins are worth to it."""

from __future__ import annotations

from collections.abc import Mapping
from math import isfinite
from typing import TYPE_CHECKING

import numpy as np

from discreet.errors import DisclosureError

if TYPE_CHECKING:
    from discreet._kernels.watched_counts import Extra, Guess, Memory, Rows, Search

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


def no_guess() -> Guess:
    """For a search whose rows are all here."""
    from discreet._kernels.watched_counts import Guess

    reals, sets = np.empty(0), np.empty(0, np.int64)
    square = np.empty((0, 0))
    return Guess(reals, square, square.astype(np.int64), sets, sets, reals, reals, 0.0)


def memory_of(search: Search) -> int:
    """Bytes that a restart takes for itself."""
    return sum(array.nbytes for array in search.memory)


def known_of(search: Search) -> Search:
    """The same for others, who need what is known of sets but none of its room."""
    empty = {name: array[:0] for name, array in search.memory._asdict().items()}
    kept = {name: getattr(search.memory, name) for name in ("keys", "least", "used")}
    return search._replace(memory=type(search.memory)(**empty | kept))


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
