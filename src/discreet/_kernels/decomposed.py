"""Margins of a decomposable release added up, and the widths that they leave to small cells."""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numba import njit
from numpy.typing import NDArray

from discreet._kernels.parallel import spread
from discreet.arrays import Ints

BLOCK = 1_024  # rows whose keys stay in cache


class Margins(NamedTuple):
    """Margins side by side: those of members[starts[t] : starts[t + 1]], at tables[begins[t]] on.

    `sign` is 1 for a clique and -1 for a separator.
    """

    members: Ints
    starts: Ints
    sizes: Ints
    begins: Ints
    sign: Ints
    tables: NDArray[Any]


@njit(cache=True, nogil=True)
def _keys(columns, margins, t, start, end, keys):
    """The row-major keys of the rows from `start` to `end` in margin t."""
    keys[: end - start] = 0
    for m in range(margins.starts[t], margins.starts[t + 1]):
        column = columns[margins.members[m]][start:end]
        size = np.uint32(margins.sizes[margins.members[m]])
        for r in range(len(column)):
            keys[r] = keys[r] * size + np.uint32(column[r])


@njit(cache=True, nogil=True)
def _tally(first, end, columns, counts, margins):
    keys = np.empty(BLOCK, np.uint32)
    for t in range(first, end):
        table = margins.tables[margins.begins[t] :]
        for start in range(0, len(counts), BLOCK):
            stop = min(start + BLOCK, len(counts))
            _keys(columns, margins, t, start, stop, keys)
            for r in range(stop - start):
                table[keys[r]] += counts[start + r]


def tally(columns: Any, counts: Any, margins: Margins) -> None:
    """Add rows up in every margin."""
    spread(_tally, len(margins.begins), columns, counts, margins, each=len(counts))


@njit(cache=True, nogil=True)
def _narrowest(first, end, columns, counts, small, margins, least):
    keys = np.empty(BLOCK, np.uint32)
    floor, ceiling = np.empty(BLOCK, np.int64), np.empty(BLOCK, np.int64)
    for block in range(first, end):
        start = block * BLOCK
        stop = min(start + BLOCK, len(counts))
        floor[:], ceiling[:] = 0, 2**62
        for t in range(len(margins.begins)):
            _keys(columns, margins, t, start, stop, keys)
            table = margins.tables[margins.begins[t] :]
            if margins.sign[t] > 0:
                for r in range(stop - start):
                    held = np.int64(table[keys[r]])
                    floor[r] += held
                    ceiling[r] = min(ceiling[r], held)
            else:
                for r in range(stop - start):
                    floor[r] -= np.int64(table[keys[r]])
        for r in range(stop - start):
            if counts[start + r] <= small:
                least[block] = min(least[block], ceiling[r] - max(0, floor[r]))


def narrowest(columns: Any, counts: Any, small: int, margins: Margins) -> int:
    """The least of min_C n_C - max(0, sum_C n_C - sum_S n_S) over the rows that count few."""
    blocks = -(-len(counts) // BLOCK)
    least = np.full(max(blocks, 1), 2**62, np.int64)
    each = BLOCK * len(margins.begins)
    spread(_narrowest, blocks, columns, counts, small, margins, least, each=each)
    return int(least.min())
