"""Which records share a combination of codes."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

Ints = NDArray[np.int64]
DENSE = 1 << 22


def grouped(codes: Ints, sizes: Sequence[int]) -> tuple[Ints, Ints]:
    """The group of each column of codes, and a member of each group, in order of the codes.

    Row r of the codes goes from 0 to sizes[r] - 1.

    >>> grouped(np.array([[1, 0, 1], [2, 0, 2]]), [2, 3])
    (array([1, 0, 1]), array([1, 2]))
    """
    key, space = codes[0].astype(np.int64), int(sizes[0])
    for row, size in zip(codes[1:], sizes[1:], strict=True):
        if space > (1 << 62) // size:
            known, key = np.unique(key, return_inverse=True)
            space = len(known)
        key, space = key * size + row, space * size
    if space <= min(DENSE, 16 * len(key) + 1024):  # counted in place
        member = np.full(space, -1, np.int64)
        member[key] = np.arange(len(key))
        there = np.flatnonzero(member >= 0)
        place = np.empty(space, np.int64)
        place[there] = np.arange(len(there))
        return place[key], member[there]
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    return of, first
