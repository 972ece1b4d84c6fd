"""Counts of margins from bit maps: corners, or all cells by their keys."""

from __future__ import annotations

import math
from collections.abc import Iterator, Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.errors import DataError
from discreet.spreading.crew import cores
from discreet.table.bitmaps import BitMaps

MOST_SUMS = 1 << 25  # of a margin, added up in one look at the cells
MOST_KEYS = 2**32


def corner_counts(maps: BitMaps, lists: Ints) -> tuple[Ints, Ints]:
    """People and small cells (rows) in every corner of each margin, and where a margin begins.

    A corner holds one category with a map of each variable; they stand in row-major order.
    """
    from discreet._kernels.bitmaps import add_corners

    wanted, begins = _corner_maps(maps, lists)
    order = np.lexsort(wanted.T[::-1])  # neighbours share all but their last map
    ordered = np.ascontiguousarray(wanted[order])
    found = np.zeros((2, len(ordered)), np.int64)
    for chunk in maps.chunks():
        add_corners(chunk, ordered, found)
    back = np.empty_like(found)
    back[:, order] = found
    return back, begins


def _corner_maps(maps: BitMaps, lists: Ints) -> tuple[NDArray[np.int32], Ints]:
    """The maps of every corner, a row each, and where those of each margin begin."""
    free = maps.sizes[lists] - 1
    number = np.prod(free, 1)
    begins = np.cumsum(number) - number
    margin = np.repeat(np.arange(len(lists)), number)
    place = np.arange(len(margin)) - begins[margin]
    found = np.empty((len(margin), lists.shape[1]), np.int32)
    for i in range(lists.shape[1] - 1, -1, -1):
        found[:, i] = maps.first[lists[margin, i]] + place % free[margin, i]
        place //= free[margin, i]
    return found, begins


def key_sums(
    maps: BitMaps, members: Sequence[int] | Ints
) -> Iterator[tuple[Ints, NDArray[np.bool_]]]:
    """The counts of all cells of a margin in row-major order, and which hold a small cell.

    A large margin comes in several shares, each after a look at all cells.
    """
    from discreet._kernels.bitmaps import add_histogram

    sizes = [int(maps.sizes[v]) for v in members]
    span = math.prod(sizes)
    if span >= MOST_KEYS:
        raise DataError(
            f"a margin of {len(sizes)} variables has {span:,} cells, too many to be added up on "
            "disk; merge categories, or leave a variable out."
        )
    strides = [span // math.prod(sizes[: i + 1]) for i in range(len(sizes))]
    mapped = [(v, s) for v, s in zip(members, strides, strict=True) if maps.first[v] >= 0]
    wide = [(v, s) for v, s in zip(members, strides, strict=True) if maps.first[v] < 0]
    ways = (
        np.array(
            [maps.first[v] + c for v, _ in mapped for c in range(maps.sizes[v] - 1)], np.int64
        ),
        np.array([s * c for v, s in mapped for c in range(1, maps.sizes[v])], np.uint32),
        np.array([maps.column[v] for v, _ in wide], np.int64),
        np.array([s for _, s in wide], np.uint32),
    )
    rows, kind = cores(), np.uint32 if maps.total < 2**32 else np.int64
    for lowest in range(0, span, MOST_SUMS):
        people = np.zeros((rows, 2, min(MOST_SUMS, span - lowest)), kind)
        for chunk in maps.chunks():
            add_histogram(chunk, ways, lowest, people)
        others, small = people.sum(0, dtype=np.int64)
        yield others + small, small > 0
