"""What a search on disk knows of margins: those that were counted, and a guess at all others."""

from __future__ import annotations

import math
from collections.abc import Iterable, Iterator
from itertools import combinations
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.look.progress import track
from discreet.table.bitmaps import BitMaps
from discreet.table.lattice import bits
from discreet.table.mapped_counts import key_sums

if TYPE_CHECKING:
    from discreet._kernels.watched_counts import Guess

MOST_CELLS = 1 << 21  # of a margin that the search looks at


class Facts:
    """The least counts of margins at the small cells, as bit sets.

    All margins of up to three variables are counted, others when the search comes to them. A margin
    is wide if its least count is `bar` or more; then all within it are, and if it is not, nothing
    that contains it is.
    """

    def __init__(self, maps: BitMaps, bar: int, levels: Iterable[tuple[Ints, Ints]]) -> None:
        self.maps, self.bar, self.variables = maps, bar, len(maps.sizes)
        self.low: dict[int, int] = {}
        for lists, least in levels:
            sets = (1 << lists).sum(1).tolist()
            self.low.update(zip(sets, least.tolist(), strict=True))
        self.counted: dict[int, int] = {}  # of four variables or more
        self.cores: dict[int, int] = {}  # narrow, and no margin within is
        self.hope = 0.0  # how much less than thought a margin may be, in logs

    # What was counted

    def is_wide(self, s: int) -> bool | None:
        """Whether a margin is wide; None if that does not follow from what was counted."""
        if self.cells(s) > MOST_CELLS:
            return False
        known = self.low.get(s, self.counted.get(s))
        if known is not None:
            return known >= self.bar
        if any(self.counted[w] >= self.bar and s & ~w == 0 for w in self.counted):
            return True
        if any(least < self.bar and core & ~s == 0 for core, least in self.cores.items()):
            return False
        small = (sum(1 << p for p in some) for d in (2, 3) for some in combinations(bits(s), d))
        return False if any(self.low[t] < self.bar for t in small) else None

    def count(self, sets: Iterable[int]) -> None:
        """Count margins, a look at the cells each; of narrow ones a least part is kept."""
        for s in track(list(sets), "margins counted on disk"):
            members = list(bits(s))
            ((people, there),) = key_sums(self.maps, members)
            self.counted[s] = int(people[there].min())
            if self.counted[s] < self.bar:
                core, least = self._core(members, people, there)
                self.cores[core] = least

    def _core(self, members: list[int], people: Ints, there: NDArray[np.bool_]) -> tuple[int, int]:
        """A narrow margin within a narrow margin that has none within it, and its least count."""
        shape = [int(self.maps.sizes[v]) for v in members]
        people, there = people.reshape(shape), there.reshape(shape)
        axis = 0
        while axis < len(members):
            fewer, still = people.sum(axis), np.logical_or.reduce(there, axis)
            if len(members) > 1 and fewer[still].min() < self.bar:
                people, there = fewer, still
                del members[axis]
            else:
                axis += 1
        return sum(1 << v for v in members), int(people[there].min())

    def cells(self, s: int) -> int:
        return math.prod(int(self.maps.sizes[v]) for v in bits(s))

    # What is thought of the others

    def guess(self, *, open_mind: bool = True) -> Guess:
        """What the search is told: without an open mind what was not counted is not wide.

        The least count of a margin is about n times the product of what its variables, and its
        pairs of variables, alone say of it; what triples say is told by their mean.
        """
        from discreet._kernels.watched_counts import Guess

        k, n = self.variables, float(self.maps.total)
        alone = np.array([math.log(self.low[1 << v] / n) for v in range(k)])
        together, third = np.zeros((k, k)), np.zeros((k, k), np.int64)
        for s, least in self.low.items():
            u, *rest = bits(s)
            if len(rest) == 1:
                v = rest[0]
                together[u, v] = together[v, u] = math.log(least / n) - alone[u] - alone[v]
                if least < self.bar:
                    third[u, v] = third[v, u] = -1
        for s in (s for s, least in self.low.items() if least < self.bar and s.bit_count() == 3):
            for u, v in combinations(bits(s), 2):
                third[u, v] |= s & ~(1 << u | 1 << v)
                third[v, u] = third[u, v]
        shift = np.full(k + 1, -np.inf)
        if open_mind:
            more = self._of_triples(alone, together) * np.array(
                [math.comb(d, 3) for d in range(k + 1)]
            )
            shift = math.log(n) - math.log(max(self.bar, 1)) + self.hope + more
        wide = [s for s, least in self.counted.items() if least >= self.bar]
        known = self.counted | self.cores
        narrow = [s for s, least in known.items() if least < self.bar and s.bit_count() > 3]
        return Guess(
            alone,
            together,
            third,
            np.array(sorted(_least(narrow)), np.int64),
            np.array(sorted(_largest(wide)), np.int64),
            shift,
            np.log(self.maps.sizes.astype(float)),
            math.log(MOST_CELLS) + 1e-9,
        )

    def _of_triples(self, alone: NDArray[np.float64], together: NDArray[np.float64]) -> float:
        """By how much margins of three variables are wider than thought, on average, in logs."""
        n, more = float(self.maps.total), []
        for s, least in self.low.items():
            if s.bit_count() == 3:
                inside = list(bits(s))
                thought = alone[inside].sum() + together[np.ix_(inside, inside)].sum() / 2
                more.append(math.log(least / n) - thought)
        return float(np.mean(more)) if more else 0.0


def _largest(sets: Iterable[int]) -> Iterator[int]:
    """Those that lie in no other."""
    kept: list[int] = []
    for s in sorted(set(sets), key=lambda s: -s.bit_count()):
        if all(s & ~other for other in kept):
            kept.append(s)
            yield s


def _least(sets: Iterable[int]) -> Iterator[int]:
    """Those that hold no other."""
    kept: list[int] = []
    for s in sorted(set(sets), key=lambda s: s.bit_count()):
        if all(other & ~s for other in kept):
            kept.append(s)
            yield s
