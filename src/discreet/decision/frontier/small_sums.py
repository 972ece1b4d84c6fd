"""The least and the greatest count of margins at the small cells of a table.

Two ways to count. A visit of every cell for every margin serves whatever the categories are. Bit
maps count a corner of a margin, the cells without any first category, by a few instructions for
hundreds of cells; the rest of its cells follow from the corners of the margins within it:

    n(first category of v, x) = n(x) - sum of n(c, x) over the other categories c of v
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from itertools import combinations
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.look.progress import Progress, track
from discreet.look.words import plural
from discreet.spreading import far, spread
from discreet.table.bitmaps import BitMaps
from discreet.table.keys import keys
from discreet.table.mapped_counts import MOST_SUMS, corner_counts, key_sums
from discreet.table.stored_table import StoredTable
from discreet.table.table import Table

VISITS = 1 << 30  # of a cell by a margin, between two signs of progress
WORTH_MAPS = 1 << 26  # visits that take longer than making maps
FAR = 1 << 28  # visits that are worth sending
PARTS = 32  # of a level, for others
A_ROW = 64  # bytes of a corner
LARGEST_INT32 = 2**31 - 1
MOST_CORNERS = 1 << 22  # counted in one look at the maps
MOST_KEPT = 1 << 26  # corners of all margins, for those that contain them
MOST_PARTS = 1 << 22  # of margins, looked up at once
# nanoseconds, about
A_VISIT, A_KEY, A_BIT, A_CORNER, A_SUM, A_PART = 1.5, 1.5, 0.2, 1 / 400, 3.0, 100.0


class SmallSums(Protocol):
    """Who knows the counts of margins at the small cells."""

    total: int
    variables: int
    watched: int

    def at(self, lists: Ints, *, last: bool = False) -> tuple[Ints, Ints]:
        """The least and the greatest count of each margin at the small cells.

        The lists of variables are sorted, of one length, and longer than those before.
        """
        ...


@contextmanager
def small_sums(table: Table | StoredTable, small: int, margins: int) -> Iterator[SmallSums]:
    """The way that takes less, for about so many margins; maps on disk go afterwards."""
    visited = None if isinstance(table, StoredTable) else VisitedSums(table, small)
    if visited is not None and len(table) * margins < WORTH_MAPS:
        yield visited
        return
    with BitMaps.of(table, small) as maps:
        yield MappedSums(maps, visited)


class VisitedSums:
    """By a visit of every cell for every margin."""

    def __init__(self, table: Table, small: int) -> None:
        first = np.argsort(table.counts > small, kind="stable")
        whole = np.int32 if table.total <= LARGEST_INT32 else np.int64
        self.codes = np.ascontiguousarray(table.codes[first].T)
        self.counts = table.counts[first].astype(whole)
        self.sizes = np.array(table.shape, np.int64)
        self.watched = int((table.counts <= small).sum())
        self.total, self.variables = table.total, len(table.shape)

    def at(self, lists: Ints, *, last: bool = False) -> tuple[Ints, Ints]:
        share = max(1, (FAR if far() else VISITS) // len(self.counts))
        shares = [lists[start : start + share] for start in range(0, len(lists), share)]
        what = f"margins of {plural(lists.shape[1], 'variable')}, in parts"
        given = self.codes, self.sizes, self.counts, self.watched
        sums = track(spread(_visited, shares, given=given, threads=True), what)
        low, high = (np.concatenate(side) for side in zip(*sums, strict=True))
        return low, high


class MappedSums:
    """By bit maps; where these are too many, by visits, or by sums of keys on disk."""

    def __init__(self, maps: BitMaps, visited: VisitedSums | None = None) -> None:
        self.maps, self.visited = maps, visited
        self.total, self.variables, self.watched = maps.total, len(maps.sizes), maps.small_cells
        self.known = np.array([[maps.total], [maps.small_bits]], np.int64)  # corners, one by one
        self._starts: dict[int, tuple[NDArray[Any], Ints]] = {}  # by order: which, and where

    def at(self, lists: Ints, *, last: bool = False) -> tuple[Ints, Ints]:
        found = np.empty((2, len(lists)), np.int64)
        by_maps = self._by_maps(lists)
        if by_maps.any():
            found[:, by_maps] = self._from_corners(lists[by_maps], last)
        if not by_maps.all():
            rest = lists[~by_maps]
            found[:, ~by_maps] = self.visited.at(rest) if self.visited else self._by_keys(rest)
        return found[0], found[1]

    def _parts(self, lists: Ints) -> Ints:
        """Where the corners of the variables s (bits) of each list begin; -1 if not known."""
        depth = lists.shape[1]
        parts = np.full((len(lists), 1 << depth), -1, np.int64)
        parts[:, 0] = 0
        for order in (order for order in range(1, depth) if order in self._starts):
            known, starts = self._starts[order]
            for chosen in combinations(range(depth), order):
                wanted = self._keys(lists[:, chosen])
                place = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
                there = known[place] == wanted
                parts[:, sum(1 << i for i in chosen)] = np.where(there, starts[place], -1)
        return parts

    def _keys(self, lists: Ints) -> NDArray[Any]:
        return keys(lists.astype(np.uint32), (self.variables,) * lists.shape[1])

    def _by_maps(self, lists: Ints) -> NDArray[np.bool_]:
        """The margins of which corners are cheaper than visits, and those within are known."""
        sizes, cells, depth = self.maps.sizes[lists].astype(float), self.maps.cells, lists.shape[1]
        sums = np.prod(sizes, 1)
        cost = A_CORNER * cells * np.prod(sizes - 1, 1) + A_SUM * depth * sums + A_PART * 2.0**depth
        visits = np.full(len(lists), A_VISIT * cells)
        by_keys = cells * (A_KEY + A_BIT * (sizes - 1).sum(1))
        chosen: NDArray[np.bool_] = cost <= (by_keys if self.visited is None else visits)
        chosen &= (sums <= MOST_SUMS) & (self.maps.first[lists] >= 0).all(1)
        rows = np.flatnonzero(chosen)
        share = max(1, MOST_PARTS >> depth)
        for start in range(0, len(rows), share):
            some = rows[start : start + share]
            chosen[some] = (self._parts(lists[some])[:, :-1] >= 0).all(1)
        return chosen

    def _from_corners(self, lists: Ints, last: bool) -> Ints:
        from discreet._kernels.bitmaps import extremes

        free = self.maps.sizes[lists] - 1
        number = np.prod(free, 1)
        ends = np.cumsum(number)
        keep = not last and int(ends[-1]) + self.known.shape[1] <= MOST_KEPT
        found, kept, starts = [], [self.known], []
        what = f"margins of {plural(lists.shape[1], 'variable')}"
        with Progress(what, len(lists)) as progress:
            work = np.cumsum(np.maximum(number, 1 << lists.shape[1]))
            shares = list(_shares(work, self._at_once(int(ends[-1]))))
            corners = spread(
                _corners, [lists[some] for some in shares], given=(self.maps,), threads=True,
                memory=MOST_CORNERS * A_ROW, stays=self.maps.folder is not None,
            )  # fmt: skip
            for some, (fresh, begins) in zip(shares, corners, strict=True):
                mine = self._parts(lists[some])
                mine[:, -1] = begins
                found.append(extremes(mine, free[some], self.known, fresh))
                if keep:
                    starts.append(begins + sum(each.shape[1] for each in kept))
                    kept.append(fresh)
                progress.step(len(mine))
        if keep:
            self.known = np.concatenate(kept, 1)
            self._starts[lists.shape[1]] = self._keys(lists), np.concatenate(starts)
        return np.concatenate(found, 1)

    def _at_once(self, corners: int) -> int:
        """Corners counted in one look at the maps: fewer, if others look too."""
        if not far() or A_CORNER * corners * self.maps.cells < A_VISIT * FAR:
            return MOST_CORNERS
        return max(1, min(MOST_CORNERS, -(-corners // PARTS)))

    def _by_keys(self, lists: Ints) -> Ints:
        found = []
        for members in track(lists, f"large margins of {plural(lists.shape[1], 'variable')}"):
            sides = [
                (int(people[there].min()), int(people[there].max()))
                for people, there in key_sums(self.maps, members)
                if there.any()
            ]
            found.append((min(low for low, _ in sides), max(high for _, high in sides)))
        return np.array(found, np.int64).T


def _visited(
    lists: Ints, codes: NDArray[Any], sizes: Ints, counts: NDArray[Any], watched: int
) -> tuple[Ints, Ints]:
    from discreet._kernels.widths import extreme_sums

    low, high = extreme_sums(codes, sizes, counts, watched, lists)
    return low, high


def _corners(lists: Ints, maps: BitMaps) -> tuple[Ints, Ints]:
    return corner_counts(maps, lists)


def _shares(ends: Ints, most: int) -> Iterator[slice]:
    """Slices whose sums, that end at `ends`, are about `most` at most."""
    start = 0
    while start < len(ends):
        before = int(ends[start - 1]) if start else 0
        stop = max(int(np.searchsorted(ends, before + most, "right")), start + 1)
        yield slice(start, stop)
        start = stop
