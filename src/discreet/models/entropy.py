"""What an edge of a decomposable model is worth, from four margins of the table.

Two models that differ by the edge uv, where S are the common neighbours of u and v, differ in
deviance by the statistic for independence of u and v given S,

    G^2 = 2 (h(S+u+v) - h(S+u) - h(S+v) + h(S)),   h(T) = sum n_T log n_T

(Lauritzen 1996, section 4.4). A search asks for the same sets again and again: each is added up
once.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.table.keys import keys
from discreet.table.lattice import bits
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Entropies:
    """The sums h(T) of a table, by bit set, each computed when first asked for.

    >>> table = Table.of([[3, 1], [1, 3]], A="xy", B="xy")
    >>> round(Entropies(table).statistic(0, 1, 0), 4), Entropies(table).df(0, 1, 0)
    (2.093, 1)
    """

    table: Table
    known: dict[int, float] = field(default_factory=dict, repr=False)

    def h(self, s: int) -> float:
        """sum n log n over the margin on the bit set `s`."""
        if s not in self.known:
            n = self._counts(s)
            self.known[s] = float(n @ np.log(n))
        return self.known[s]

    def statistic(self, u: int, v: int, given: int) -> float:
        """G^2 for independence of u and v given a set of others."""
        a, b = 1 << u, 1 << v
        joint = self.h(given | a | b) - self.h(given | a) - self.h(given | b) + self.h(given)
        return max(0.0, 2 * joint)

    def parameters(self, u: int, v: int, given: int) -> int:
        """How many parameters the edge adds: (|u| - 1)(|v| - 1) |given|."""
        sizes = self.table.shape
        return (sizes[u] - 1) * (sizes[v] - 1) * math.prod(sizes[p] for p in bits(given))

    def df(self, u: int, v: int, given: int) -> int:
        """The same without what zero margins fix: sum over cells of `given` of (r - 1)(c - 1).

        r categories of u and c of v occur there.
        """
        _, slices = np.unique(self._keys(given), return_inverse=True)
        rows, columns = self._occur(slices, u), self._occur(slices, v)
        return int(((rows - 1) * (columns - 1)).sum())

    def _keys(self, s: int) -> NDArray[Any]:
        places = list(bits(s))
        return keys(self.table.codes[:, places], [self.table.shape[p] for p in places])

    def _counts(self, s: int) -> NDArray[np.float64]:
        key, size = self._keys(s), math.prod(self.table.shape[p] for p in bits(s))
        if size > max(4 * len(key), 1 << 12):
            _, key = np.unique(key, return_inverse=True)
        n = np.asarray(np.bincount(key, self.table.counts), np.float64)
        return n[n > 0]

    def _occur(self, slices: NDArray[np.int64], v: int) -> NDArray[np.int64]:
        """How many categories of v occur in each slice."""
        pairs = np.unique(slices * self.table.shape[v] + self.table.codes[:, v])
        return np.bincount(pairs // self.table.shape[v])
