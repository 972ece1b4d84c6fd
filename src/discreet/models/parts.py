"""The parts of a fitted log-linear model along its junction tree.

A model whose margins split the variables is fitted part by part: with parts P and separators S,

    m(i) = prod_P m(i_P) / prod_S n(i_S)

(Haberman 1974, chapter 5; Lauritzen 1996, section 4.4). A part that is a margin is its own fit.
Any other is scaled to its margins.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.models.ipf import ITERATIONS, MOST_CELLS, TOLERANCE, Array, Axes, Scaled, ipf
from discreet.table.keys import LARGEST_KEY, Codes, keys
from discreet.table.lattice import bits, closure, maximal
from discreet.table.table import MOST_AXES, Table

MOST_RANK = 2_000  # margin cells, up to here the rank of a model with zeros is computed


@dataclass(frozen=True, eq=False)
class Part:
    """Some variables of a model (`places` in its table), their margin, and how it was scaled.

    `scaled` is None where the part is one of the model's margins. `margins` are those inside, as
    axes of the part; a variable that the model leaves out has only the total, `()`.
    """

    places: Axes
    margin: Table
    margins: tuple[Axes, ...]
    scaled: Scaled | None

    @classmethod
    def fit(
        cls,
        table: Table,
        node: int,
        sets: Iterable[int],
        *,
        tolerance: float = TOLERANCE,
        iterations: int = ITERATIONS,
    ) -> Part:
        """The part over the bit set `node` of the model with margins `sets`."""
        places = tuple(bits(node))
        margin = table.margin([table.names[place] for place in places])
        inside = maximal(s & node for s in sets) or (0,)
        margins = tuple(tuple(places.index(p) for p in bits(s)) for s in inside)
        if inside == (node,):
            return cls(places, margin, margins, None)
        counts = dense(margin)
        targets = {axes: _sum_to(counts, axes) for axes in margins}
        start = np.ones(margin.shape)
        scaled = ipf(start, targets, tolerance=tolerance, iterations=iterations)
        return cls(places, margin, margins, scaled)

    def at(self, codes: Codes) -> Array:
        """The fitted counts of cells of the part."""
        if self.scaled is None:
            return self.margin.lookup(codes).astype(np.float64)
        found: Array = self.scaled.array[tuple(codes.T)]
        return found

    def array(self) -> Array:
        """The fitted counts of all its cells."""
        return dense(self.margin).astype(np.float64) if self.scaled is None else self.scaled.array

    @property
    def log_likelihood(self) -> float:
        """sum n log m, over the cells of the part's margin."""
        return float(self.margin.counts @ np.log(self.at(self.margin.codes)))

    @property
    def parameters(self) -> int:
        """Free parameters of the part's own model, without the constant."""
        sizes = self.margin.shape
        if self.scaled is None:
            return math.prod(sizes) - 1
        terms = closure(sum(1 << axis for axis in axes) for axes in self.margins if axes)
        return sum(math.prod(sizes[p] - 1 for p in bits(term)) for term in terms)

    @cached_property
    def support(self) -> Codes:
        """The cells with a positive count in every margin: all others are fitted as zero."""
        if self.scaled is None:
            return self.margin.codes
        positive = np.ones(self.margin.shape, bool)
        counts = dense(self.margin)
        for axes in self.margins:
            others = tuple(a for a in range(counts.ndim) if a not in axes)
            positive &= counts.sum(others, keepdims=True) > 0
        return np.argwhere(positive).astype(self.margin.codes.dtype)

    @cached_property
    def estimable(self) -> int | None:
        """Parameters, with the constant, that the margins' non-zero cells determine.

        The rank of the model's matrix at the cells that are not fitted as zero (Fienberg &
        Rinaldo 2012); None where that is too large to compute.
        """
        if self.scaled is None:
            return len(self.margin)
        if len(self.support) == self.margin.size:
            return self.parameters + 1
        shape, columns, n = self.margin.shape, [], 0
        for axes in self.margins:
            sizes = [shape[axis] for axis in axes]
            _, place = np.unique(keys(self.support[:, list(axes)], sizes), return_inverse=True)
            columns.append(place + n)
            n += int(place.max()) + 1
        if n > MOST_RANK:
            return None
        shared = np.zeros((n, n))  # the matrix times its transpose
        for a in columns:
            for b in columns:
                np.add.at(shared, (a, b), 1.0)
        return int(np.linalg.matrix_rank(shared, hermitian=True))


def dense(table: Table) -> NDArray[np.int64]:
    """The table as an array, if it is small enough."""
    check_dense(table)
    return table.dense()


def check_dense(table: Table) -> None:
    """Refuse a table of which not every cell can be fitted at once."""
    if table.size > MOST_CELLS or len(table.shape) > MOST_AXES:
        raise DataError(
            f"{'*'.join(table.names[:6])}{'...' if len(table.names) > 6 else ''} has "
            f"{table.size:,} cells over {len(table.names)} variables, and the fit needs them all; "
            f"the most is {MOST_CELLS:,}. Take a decomposable model, or ask for single cells."
        )


def count_support(parts: Sequence[Part], edges: Iterable[tuple[int, int, int]], size: int) -> int:
    """How many of `size` cells are in the support of every part, without listing them.

    Each part tells its neighbour nearer to the root how many ways a separator's cell goes on.
    """
    kind = np.int64 if size < LARGEST_KEY else object  # whole numbers of any length
    ways = [np.ones(len(part.support), kind) for part in parts]
    for i, j, separator in sorted(edges, key=lambda edge: -edge[1]):
        below, above = (_separator_keys(parts[at], separator) for at in (j, i))
        cells, place = np.unique(below, return_inverse=True)
        sums = np.zeros(len(cells), kind)
        np.add.at(sums, place, ways[j])
        found = np.minimum(np.searchsorted(cells, above), len(cells) - 1)
        ways[i] = ways[i] * np.where(cells[found] == above, sums[found], 0)
    return int(ways[0].sum())


def _separator_keys(part: Part, separator: int) -> NDArray[np.int64]:
    axes = [part.places.index(place) for place in bits(separator)]
    return keys(part.support[:, axes], [part.margin.shape[axis] for axis in axes])


def _sum_to(counts: NDArray[np.int64], axes: Axes) -> NDArray[np.int64]:
    others = tuple(axis for axis in range(counts.ndim) if axis not in axes)
    return np.asarray(counts.sum(others))
