"""The lattice of margins: every set of variables, ordered by inclusion.

A margin is a set of variables, held as an integer: bit p is variable p. A release is closed under
taking sub-margins, so its maximal margins, the frontier, say all of it
(Dobra, Erosheva & Fienberg 2002, section 1.4).
"""

from collections import Counter
from collections.abc import Iterable, Iterator
from functools import reduce
from math import comb
from operator import and_, or_

import numpy as np

from discreet.errors import DisclosureError

CLOSURE_LIMIT = 5_000_000
DENSE_VARIABLES = 18  # up to here an array over all subsets is small and quick
SPARSE_SUBSETS = 1 << 17  # up to here a plain listing is quick


def bits(s: int) -> Iterator[int]:
    """The variables in a set.

    >>> list(bits(0b1011))
    [0, 1, 3]
    """
    while s:
        low = s & -s
        yield low.bit_length() - 1
        s ^= low


def children(s: int) -> tuple[int, ...]:
    """The margins with one variable fewer.

    >>> [bin(child) for child in children(0b111)]
    ['0b110', '0b101', '0b11']
    """
    return tuple(s ^ 1 << p for p in bits(s))


def parents(s: int, k: int) -> tuple[int, ...]:
    """The margins of a `k`-way table with one variable more.

    >>> [bin(parent) for parent in parents(0b101, 4)]
    ['0b111', '0b1101']
    """
    return tuple(s | 1 << p for p in range(k) if not s >> p & 1)


def maximal(sets: Iterable[int]) -> tuple[int, ...]:
    """The frontier: the sets that no other set contains, largest first, then by value.

    >>> maximal([0b001, 0b011, 0b110, 0b011])
    (3, 6)
    """
    frontier: list[int] = []
    holders: dict[int, int] = {}  # variable -> which members of the frontier hold it
    for s in sorted(set(sets), key=lambda s: (-s.bit_count(), s)):
        new = 1 << len(frontier)
        above = new - 1
        for p in bits(s):
            above &= holders.get(p, 0)
            if not above:
                break
        if not above:
            frontier.append(s)
            for p in bits(s):
                holders[p] = holders.get(p, 0) | new
    return tuple(frontier)


def closure(frontier: Iterable[int]) -> set[int]:
    """The released set: every non-empty subset of a margin in the frontier.

    >>> sorted(closure([0b011, 0b110]))
    [1, 2, 3, 4, 6]
    """
    released = set(maximal(frontier))
    most = sum(1 << s.bit_count() for s in released)  # an upper limit, and cheap
    if most > CLOSURE_LIMIT and _exceeds(released, CLOSURE_LIMIT):
        raise DisclosureError(
            f"the release has more than {CLOSURE_LIMIT:,} margins, too many to list one by one. "
            "Count them by order, or release margins of fewer variables."
        )
    for p in bits(reduce(or_, released, 0)):
        released |= {s ^ 1 << p for s in released if s >> p & 1}
    released.discard(0)
    return released


def _exceeds(sets: set[int], limit: int) -> bool:
    largest = max(s.bit_count() for s in sets)
    return (1 << largest) - 1 > limit or sum(count_by_order(sets).values()) > limit


def count_by_order(frontier: Iterable[int]) -> dict[int, int]:
    """How many margins of each order are released, without listing them.

    >>> count_by_order([0b0111, 0b1100])
    {1: 4, 2: 4, 3: 1}
    >>> sum(count_by_order([(1 << 60) - 1]).values()) == 2**60 - 1
    True
    """
    sets = maximal(frontier)
    counts = _count(sets, {}) if sets else []
    return {order: n for order, n in enumerate(counts) if order and n}


def _count(sets: tuple[int, ...], memo: dict[tuple[int, ...], list[int]]) -> list[int]:
    """Subsets by order, the empty one too: the variables in all sets only multiply by binomials."""
    common = reduce(and_, sets)
    core = tuple(s ^ common for s in sets)
    if core not in memo:
        memo[core] = _count_core(core, memo)
    counts, c = memo[core], common.bit_count()
    total = [0] * (len(counts) + c)
    for i, n in enumerate(counts):
        for j in range(c + 1):
            total[i + j] += n * comb(c, j)
    return total


def _count_core(sets: tuple[int, ...], memo: dict[tuple[int, ...], list[int]]) -> list[int]:
    if len(sets) == 1:
        return [1]
    union = reduce(or_, sets)
    top = sets[0].bit_count()
    if union.bit_count() <= DENSE_VARIABLES:
        return _count_dense(sets, union)
    if sum(1 << s.bit_count() for s in sets) <= SPARSE_SUBSETS:
        orders = Counter(map(int.bit_count, closure(sets)))
        return [1, *(orders[order] for order in range(1, top + 1))]
    # What a margin adds: its subsets, less those it shares with the margins before it.
    total = [0] * (top + 1)
    for i, s in enumerate(sets):
        for order in range(s.bit_count() + 1):
            total[order] += comb(s.bit_count(), order)
        if i:
            for order, n in enumerate(_count(maximal(s & t for t in sets[:i]), memo)):
                total[order] -= n
    return total


def _count_dense(sets: tuple[int, ...], union: int) -> list[int]:
    place = {p: i for i, p in enumerate(bits(union))}
    released = np.zeros(1 << len(place), dtype=bool)
    released[[sum(1 << place[p] for p in bits(s)) for s in sets]] = True
    for i in range(len(place)):
        halves = released.reshape(-1, 2, 1 << i)
        halves[:, 0] |= halves[:, 1]
    counts: list[int] = np.bincount(np.bitwise_count(np.flatnonzero(released))).tolist()
    return counts
