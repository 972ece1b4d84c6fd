"""Bounds at given cells that narrow as margins are released one by one, for very large tables."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations
from math import prod

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.errors import DataError, InconsistentRelease
from discreet.table.keys import Codes
from discreet.table.lattice import bits

LARGEST_INT32 = 2**31 - 1
MOST_CELLS = 1 << 22  # of one margin
MOST_IMPLIED = 1 << 14  # cells of a margin that is bounded from its faces
SHARE = 1 << 23  # such cells at once
FIRST = 1 << 16


class GrowingBounds:
    """Outer bounds of the given cells, from the total and the margins added so far.

    `upper` is the least of the released counts above a cell. Where a margin T is not released but
    all margins with one variable fewer are, its counts have bounds too: along each line of cells,
    one count is the released sum less what the others are at least or at most. This is repeated
    until nothing changes, and `upper` is at most the upper bound of T. With `sought`, these margins
    are looked at only where they bring a number in that range, and `lower` stays 0: quick, to find
    the cells that are worth more.

    `lower` takes the variables in a fixed order, those in which the cell's category is rarer first.
    In every table with the released margins, who is not in the cell differs from it first in some
    variable v, and so agrees with it on any set Q of variables before v, of which there are
    n(Q) - n(Q + v). So

        lower = n - sum_v min_Q (n(Q) - n(Q + v)),    Q before v, Q + v released

    holds whatever sets Q are taken; n for a variable in no margin. Those with the cliques' own Q in
    a perfect order are the closed form of a decomposable release (Dobra & Fienberg 2000). For
    Q + v = T as above, n(T) is replaced by its lower bound. Both ends are monotone: a further
    margin adds a choice.

    >>> bounds = GrowingBounds((2, 2), 10, np.array([[0, 0], [1, 1]]))
    >>> bounds.add([(0b01, np.array([9, 1])), (0b10, np.array([8, 2]))])
    array([1, 1])
    >>> bounds.lower, bounds.upper
    (array([7, 0]), array([8, 1]))
    """

    def __init__(
        self, shape: Sequence[int], total: int, codes: Codes, *, sought: range | None = None
    ) -> None:
        whole = np.int32 if total <= LARGEST_INT32 else np.int64
        self.shape, self.total, self.sought = tuple(shape), total, sought
        self._sizes = np.array(shape, np.int64)
        self._codes = np.ascontiguousarray(codes.T)
        self._upper = np.full(len(codes), total, whole)
        losses = np.where((self._sizes > 1) | (sought is not None), total, 0)
        cells = len(codes) if sought is None else 0
        self._losses = np.repeat(losses.astype(whole)[:, None], cells, 1)
        self._floor = np.full(len(codes), total - losses.sum(), np.int64)
        self._narrowest = min(total, int(losses.sum()))
        self._ones = np.zeros((len(shape), max(shape, default=1)), np.int64)
        self._store = np.zeros(FIRST, np.int64)
        self._store[0] = total
        self._filled, self._at = 1, {0: 0}  # where in the store each released margin starts

    def __len__(self) -> int:
        return len(self._upper)

    def __repr__(self) -> str:
        return f"GrowingBounds({len(self):,} cells under {len(self._at) - 1:,} margins)"

    @property
    def lower(self) -> Ints:
        return np.maximum(self._floor, 0)

    @property
    def upper(self) -> Ints:
        return self._upper.astype(np.int64)

    def add(self, margins: Iterable[tuple[int, NDArray[np.integer]]]) -> Ints:
        """Release margins in turn; the narrowest width of a cell after each.

        A margin is a set of variables and its counts, in row-major order of the variables. What
        follows from it by adding up is released with it.
        """
        sets: list[int] = []
        implied: list[bool] = []
        ends = []
        for margin, counts in margins:
            self._release(margin, counts, sets, implied)
            ends.append(len(sets))
        narrowest = np.full(len(sets) + 1, self._narrowest, np.int64)
        if len(self):
            for rows, found in self._narrowed(sets, np.array(implied, bool)):
                narrowest[rows + 1] = found
        narrowest = np.minimum.accumulate(narrowest)
        self._narrowest = int(narrowest[-1])
        return narrowest[ends]

    def _release(
        self, margin: int, counts: NDArray[np.integer], sets: list[int], implied: list[bool]
    ) -> None:
        """Store a margin and all below it; list the sets that are known from now on."""
        places = list(bits(margin))
        sizes = [self.shape[place] for place in places]
        if prod(sizes) > MOST_CELLS:
            raise DataError(
                f"a margin has {prod(sizes):,} cells, more than the {MOST_CELLS:,} that can be "
                "held; leave it out, or merge categories."
            )
        if margin in self._at:
            return
        dense = np.asarray(counts).reshape(sizes)
        if int(dense.sum()) != self.total:
            raise InconsistentRelease(
                f"a margin sums to {int(dense.sum()):,}, the total is {self.total:,}; "
                "release margins of the same table."
            )
        for order in range(1, len(places) + 1):
            for axes in combinations(range(len(places)), order):
                part = sum(1 << places[axis] for axis in axes)
                if part not in self._at:
                    rest = tuple(axis for axis in range(len(places)) if axis not in axes)
                    self._keep(part, dense.sum(rest))
                    sets.append(part)
                    implied.append(False)
                    above = list(self._completed(part, margin))
                    sets += above
                    implied += [True] * len(above)

    def _keep(self, margin: int, dense: Ints) -> None:
        end = self._filled + dense.size
        if end > len(self._store):
            self._store = np.concatenate([self._store, np.zeros(end, np.int64)])
        self._store[self._filled : end] = dense.ravel()
        self._at[margin], self._filled = self._filled, end
        if margin.bit_count() == 1:
            self._ones[margin.bit_length() - 1, : dense.size] = dense

    def _completed(self, margin: int, inside: int) -> Iterator[int]:
        """The sets, not in a margin that is being released, whose last face this margin is."""
        known, places = self._at, list(bits(margin))
        if len(places) < 2:
            return  # of two variables nothing follows that their counts do not say
        cells = self._size(margin)
        for v, size in enumerate(self.shape):
            above = margin | 1 << v
            if above == margin or above in known or above & ~inside == 0:
                continue
            if cells * size <= MOST_IMPLIED and all(above ^ 1 << p in known for p in places):
                yield above

    def _narrowed(self, sets: list[int], implied: NDArray[np.bool_]) -> Iterator[tuple[Ints, Ints]]:
        """Take the sets in, some at a time: which they are, and the narrowest width after each."""
        from numba import get_num_threads

        from discreet._kernels.growing import losses_of, tighten, tighten_upper

        share = np.cumsum([self._size(s) for s in sets]) // SHARE
        for rows in np.split(np.arange(len(sets)), np.flatnonzero(np.diff(share)) + 1):
            above = rows[implied[rows]]
            limits = dict(self._implied(above, [sets[row] for row in above]))
            rows = rows[[not implied[row] or row in limits for row in rows]]
            members, faces, starts = self._laid_out([sets[row] for row in rows])
            low, high = np.empty((2, starts[-1]), np.int64)
            for i, row in enumerate(rows):
                here = slice(starts[i], starts[i + 1])
                known = limits[row] if implied[row] else (self._known(sets[row]),) * 2
                low[here], high[here] = known
            parts = min(4 * get_num_threads(), len(self))
            if self.sought is not None:
                limits_above = high.astype(self._upper.dtype)
                found = tighten_upper(
                    self._codes, self._sizes, members, starts, limits_above, self._upper, parts
                )
                yield rows, found.min(0)
                continue
            values = np.empty((starts[-1], 3), self._upper.dtype)
            losses_of(
                self._sizes, members, starts, self._ones, self._store, faces, low, high, values
            )
            found = tighten(
                self._codes, self._sizes, members, starts, values, self._upper, self._losses,
                self._floor, parts,
            )  # fmt: skip
            yield rows, found.min(0)

    def _implied(self, rows: Ints, sets: list[int]) -> Iterator[tuple[int, tuple[Ints, Ints]]]:
        """Bounds of margins all of whose faces are released, where they say more than the faces."""
        from discreet._kernels.growing import line_bounds

        if not sets:
            return
        sought = range(self.total + 1) if self.sought is None else self.sought
        members, faces, starts = self._laid_out(sets)
        low, high = np.empty((2, starts[-1]), np.int64)
        told = line_bounds(
            self._store, faces, members, self._sizes, starts, low, high, sought.start, sought.stop
        )
        for i in np.flatnonzero(told):
            here = slice(starts[i], starts[i + 1])
            yield int(rows[i]), (low[here], high[here])

    def _laid_out(self, sets: list[int]) -> tuple[Ints, Ints, Ints]:
        """The variables of sets, where their faces are stored, and where their own numbers go."""
        wide = max((s.bit_count() for s in sets), default=0)
        members = np.full((len(sets), wide), -1, np.int64)
        faces = np.zeros_like(members)
        starts = np.zeros(len(sets) + 1, np.int64)
        for i, s in enumerate(sets):
            for d, place in enumerate(bits(s)):
                members[i, d], faces[i, d] = place, self._at[s ^ 1 << place]
            starts[i + 1] = starts[i] + self._size(s)
        return members, faces, starts

    def _size(self, s: int) -> int:
        return prod(self.shape[place] for place in bits(s))

    def _known(self, s: int) -> Ints:
        return self._store[self._at[s] :][: self._size(s)]
