"""Link probabilities of each source record, as they were found."""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.intruder.linkage.blocking import Classes
from discreet.intruder.linkage.shelf import BLOCK, blocks, forget
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.cells import frame

TIE = 1e-9
RARE = 1e-3


@dataclass(frozen=True, eq=False)
class Links(Result):
    """For each source record, how probably each candidate released record is its own.

    Records that no key tells apart share one class, and one row here: `places` are released
    classes, by source class from `starts` on, and `chances` the probability of one pair of them.
    `exact`: share of released records whose probabilities are exact, which none is that pruning or
    strangers tie to others; `change`: how far beliefs still moved in the last of `rounds`. `bound`:
    at most this share of true pairs was not weighed; `left_out`: believed share of pairs that were
    weighed and left out. `plain`: where not all is exact, the same by messages alone.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 50]})
    >>> masked = pd.DataFrame({"id": [1, 2, 3], "age": [33, 46, 52]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, masked, intruder, id="id")
    >>> links = dc.linkage.link(records, intruder)
    >>> links
    Links(3 released records of 3: exact)
    >>> links.dense().round(3)
    array([[1.   , 0.   , 0.   ],
           [0.   , 0.989, 0.011],
           [0.   , 0.011, 0.989]])
    """

    source: Classes
    released: Classes
    starts: Ints
    places: NDArray[Any]  # int32
    chances: Floats
    exact: float
    change: float
    rounds: int
    bound: float
    left_out: float
    plain: Floats | None = None

    def __repr__(self) -> str:
        how = "exact" if self.exact == 1 else f"{self.exact:.0%} exact, else approximate"
        sources, released = len(self.source.of), len(self.released.of)
        return f"Links({plural(released, 'released record')} of {sources:,}: {how})"

    @property
    def error(self) -> float:
        """About how far a probability may be off: by how much two approximations differ at most."""
        if self.plain is None:
            return 0.0
        return float(np.abs(self.chances - self.plain).max(initial=0.0))

    @property
    def by_messages(self) -> Links | None:
        """The rougher approximation, without exact sums among few; None if all is exact."""
        return None if self.plain is None else replace(self, chances=self.plain, plain=None)

    @property
    def lost(self) -> float:
        """Expected share of true pairs that pruning left out; chance can make it more."""
        return self.bound + self.left_out

    @property
    def lost_at_most(self) -> int:
        """True pairs that pruning left out are more with probability 0.1% at most, if the model is
        true: those not weighed, and those weighed and left out, with half of that each.
        """
        many = len(self.released.of)
        parts = [most_events(share * many, RARE / 2) for share in (self.bound, self.left_out)]
        return min(many, sum(parts))

    @cached_property
    def _sums(self) -> tuple[Floats, Floats, Ints, Floats]:
        """Of each source class: total and largest probability, its edge, and how many tie."""
        many = len(self.source.first)
        total, best, tied = (np.zeros(many) for _ in range(3))
        edge = np.full(many, -1, np.int64)
        for first, end in blocks(self.starts, BLOCK):
            span = slice(self.starts[first], self.starts[end])
            chances, places = self.chances[span], self.places[span]
            rows = np.repeat(np.arange(end - first), np.diff(self.starts[first : end + 1]))
            copies = self.released.times[places]
            total[first:end] = np.bincount(rows, chances * copies, end - first)
            order = np.lexsort([-places, chances])
            edge[first + rows[order]] = span.start + order  # the last, largest, stays
            largest = np.maximum(edge[first:end] - span.start, 0)
            best[first:end] = (
                np.where(edge[first:end] >= 0, chances[largest], 0.0) if len(chances) else 0.0
            )
            near = chances >= best[first:end][rows] * (1 - TIE)
            tied[first:end] = np.bincount(rows, near * copies, end - first)
            forget()
        return total, best, edge, tied

    @property
    def perceived(self) -> Floats:
        """Risk of perceived identification of each source record: its most probable link."""
        return np.asarray(self._sums[1][self.source.of])

    @property
    def null(self) -> Floats:
        """Probability that the source record was not released."""
        return np.asarray(np.clip(1 - self._sums[0], 0, 1)[self.source.of])

    @property
    def ties(self) -> Floats:
        """How many released records are equally most probable."""
        return np.asarray(self._sums[3][self.source.of])

    @property
    def best(self) -> Ints:
        """The released row that is most probable for each source record; -1 if none is."""
        edge = self._sums[2]
        row = np.where(edge >= 0, self.released.first[self.places[edge]], -1)
        return np.asarray(row[self.source.of])

    def pairs(self, sources: Ints, released: Ints) -> Floats:
        """Probabilities of pairs of rows."""
        at, wanted = self.source.of[sources], self.released.of[released]
        low, end = self.starts[at].copy(), self.starts[at + 1]
        high = end.copy()
        while (open_ := np.flatnonzero(low < high)).size:  # places of a source rise
            middle = (low[open_] + high[open_]) // 2
            less = self.places[middle] < wanted[open_]
            low[open_[less]] = middle[less] + 1
            high[open_[~less]] = middle[~less]
        there = np.flatnonzero(low < end)
        there = there[self.places[low[there]] == wanted[there]]
        found = np.zeros(len(at))
        found[there] = self.chances[low[there]]
        forget()
        return found

    def of(self, source: int) -> tuple[Ints, Floats]:
        """Candidate released rows of one source record and their probabilities."""
        j = self.source.of[source]
        span = slice(self.starts[j], self.starts[j + 1])
        rows = [np.flatnonzero(self.released.of == i) for i in self.places[span]]
        chances = np.repeat(self.chances[span], [len(r) for r in rows])
        return np.concatenate([np.zeros(0, np.int64), *rows]), chances

    def dense(self) -> Floats:
        """Sources x released; for small files."""
        table = np.zeros((len(self.source.first), len(self.released.first)))
        table[np.repeat(np.arange(len(table)), np.diff(self.starts)), self.places] = self.chances
        return np.asarray(table[self.source.of][:, self.released.of])

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a source record."""
        columns = {
            "perceived": self.perceived,
            "released_row": self.best + 1,
            "not_released": self.null,
        }
        return frame(columns, kind)


def most_events(expected: float, rare: float) -> int:
    """So many of independent events happen, or fewer, except with probability `rare` at most.

        P(X >= k) <= exp(k - m) (m / k)^k,   k >= m expected    (Chernoff 1952)

    >>> most_events(0.5, 0.001)
    4
    """
    if not expected > 0:
        return 0
    k = math.floor(expected) + 1
    while k * math.log(k / expected) - k + expected < -math.log(rare):
        k += 1
    return k - 1
