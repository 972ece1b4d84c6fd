"""Cells as sortable keys, so that sparse tables can be merged and looked up."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

Codes = NDArray[np.unsignedinteger[Any]]
Counts = NDArray[np.int64]

LARGEST_KEY = 2**62
DENSE = 1 << 22  # places that are counted one by one


def keys(codes: Codes, shape: Sequence[int]) -> NDArray[Any]:
    """One key a row, in row-major order of the cells.

    Mixed radix where it fits in 62 bits, else the row's bytes, which compare the same way.
    """
    if codes.shape[1] == 0:
        return np.zeros(len(codes), np.int64)
    if math.prod(shape) < LARGEST_KEY:
        result = codes[:, 0].astype(np.int64)
        for column, size in enumerate(shape[1:], 1):
            result *= size
            result += codes[:, column]
        return result
    width = 1 if max(shape) <= 256 else 2 if max(shape) <= 65_536 else 4
    rows = np.ascontiguousarray(codes.astype(f">u{width}"))
    return rows.view(np.dtype((np.void, width * codes.shape[1]))).ravel()


def unravel(places: NDArray[np.int64], shape: Sequence[int]) -> Codes:
    """The codes of mixed-radix keys."""
    codes = np.empty((len(places), len(shape)), np.min_scalar_type(max(shape, default=1) - 1))
    for column in range(len(shape) - 1, -1, -1):  # numpy's own stops at 64 axes
        places, codes[:, column] = np.divmod(places, shape[column])
    return codes


def merge(codes: Codes, counts: Counts, shape: Sequence[int]) -> tuple[Codes, Counts]:
    """Distinct rows in row-major order with their counts added up; zeros are left out."""
    size = math.prod(shape)
    if size <= max(4 * len(codes), 1 << 16) and counts.sum() < 2**53:
        # float weights are exact below 2^53
        dense = np.bincount(keys(codes, shape), counts, minlength=size).astype(np.int64)
        places = np.flatnonzero(dense)
        return unravel(places, shape), dense[places]
    order = np.argsort(key := keys(codes, shape))
    key = key[order]
    first = np.ones(len(key), bool)
    first[1:] = key[1:] != key[:-1]
    starts = np.flatnonzero(first)
    total = np.add.reduceat(counts[order], starts) if len(starts) else counts[:0]
    kept = total != 0
    return codes[order[starts[kept]]], total[kept]


def lookup(codes: Codes, shape: Sequence[int], wanted: Codes) -> NDArray[np.int64]:
    """The row of each wanted cell in sorted `codes`, or -1."""
    if len(codes) == 0:
        return np.full(len(wanted), -1, np.int64)
    have, want = keys(codes, shape), keys(wanted, shape)
    places = np.minimum(np.searchsorted(have, want), len(have) - 1)
    return np.where(have[places] == want, places, -1).astype(np.int64)


def grouped(codes: NDArray[np.int64]) -> tuple[NDArray[np.int64], NDArray[np.int64]]:
    """The group of each column of codes from 0 on, and a member of each, in order of the codes.

    >>> grouped(np.array([[1, 0, 1], [2, 0, 2]]))
    (array([1, 0, 1]), array([1, 2]))
    """
    sizes = codes.max(1, initial=0).tolist()
    key, space = codes[0].astype(np.int64), sizes[0] + 1
    for row, last in zip(codes[1:], sizes[1:], strict=True):
        if space > LARGEST_KEY // (last + 1):
            known, key = np.unique(key, return_inverse=True)
            space = len(known)
        key, space = key * (last + 1) + row, space * (last + 1)
    if space <= min(DENSE, 16 * len(key) + 1024):  # counted in place
        member = np.full(space, -1, np.int64)
        member[key] = np.arange(len(key))
        there = np.flatnonzero(member >= 0)
        place = np.empty(space, np.int64)
        place[there] = np.arange(len(there))
        return place[key], member[there]
    _, first, of = np.unique(key, return_index=True, return_inverse=True)
    return of, first
