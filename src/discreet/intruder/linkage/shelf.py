"""Where the pairs of a large file lie: in memory while they fit, else in files on disk.

The files have no name: nobody else can open them, and they are gone when the program ends, however
it ends. What lies on disk is read and written through the system's cache, block by block, and its
pages are given back after each: the answer is that of the same loops in memory, to the last bit.
"""

from __future__ import annotations

import mmap
import os
import tempfile
from itertools import pairwise
from typing import Any
from weakref import WeakSet

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.errors import DataError
from discreet.spreading.crew import crew
from discreet.spreading.memory import for_tasks

SHARE = 0.5  # of the memory that the program may take, for pairs
BLOCK = 1 << 20  # pairs that are worked on at a time, at most
SMALLEST = 1 << 16  # so that threads seldom wait for each other

_maps: WeakSet[mmap.mmap] = WeakSet()


class Shelf:
    """Room for pairs: so many bytes of memory, then disk.

    >>> shelf = Shelf(memory=16)
    >>> shelf.empty(2).size, shelf.on_disk
    (2, False)
    >>> shelf.empty(2).size, shelf.on_disk
    (2, True)
    """

    def __init__(self, memory: int | None = None, *, block: int | None = None) -> None:
        self.memory = room() if memory is None else memory
        self.block = block or min(max(self.memory >> 10, SMALLEST), BLOCK)
        self.on_disk = False
        self._held = 0

    def empty(self, size: int, kind: Any = np.float64) -> NDArray[Any]:
        """An array that is not filled yet."""
        need = size * np.dtype(kind).itemsize
        if self._held + need <= self.memory or not need:
            self._held += need
            return np.empty(size, kind)
        self.on_disk = True
        return np.frombuffer(_mapped(need), kind)

    def kept(self, values: NDArray[Any]) -> NDArray[Any]:
        """The same values, in memory or on disk."""
        if self._held + values.nbytes <= self.memory:
            self._held += values.nbytes
            return values
        found = self.empty(values.size, values.dtype)
        found[:] = values
        return found

    def blocks(self, starts: Ints) -> list[tuple[int, int]]:
        """Records whose pairs are worked on at a time."""
        return blocks(starts, self.block)

    def whole(self, starts: Ints) -> list[tuple[int, int]]:
        """The same for loops that take no memory of their own: all at once if all is there."""
        return self.blocks(starts) if self.on_disk else [(0, len(starts) - 1)]


def room() -> int:
    """Bytes of memory for pairs: a share of what `workers(memory=)` or DISCREET_MEMORY allows, or
    else of what the machine has.
    """
    return int(SHARE * (crew().memory or for_tasks()))


def blocks(starts: Ints, most: int) -> list[tuple[int, int]]:
    """Consecutive records with up to `most` pairs together, or one record each.

    >>> blocks(np.array([0, 2, 3, 9]), 4)
    [(0, 2), (2, 3)]
    """
    cuts = [0]
    while cuts[-1] < len(starts) - 1:
        end = int(np.searchsorted(starts, starts[cuts[-1]] + most, side="right")) - 1
        cuts.append(max(cuts[-1] + 1, end))
    return list(pairwise(cuts))


def forget() -> None:
    """Give back the memory of pages that lie on disk; what they hold stays."""
    for one in list(_maps):
        if hasattr(one, "madvise") and hasattr(mmap, "MADV_DONTNEED"):
            one.madvise(mmap.MADV_DONTNEED)


def _mapped(size: int) -> mmap.mmap:
    """A file of its own in the temporary folder, without a name where the system can do that."""
    try:
        with tempfile.TemporaryFile(prefix="discreet-") as file:  # mode 600
            if hasattr(os, "posix_fallocate"):
                os.posix_fallocate(file.fileno(), 0, size)
            else:
                file.truncate(size)
            found = mmap.mmap(file.fileno(), size)
    except OSError as error:
        raise DataError(
            f"{size / 2**30:,.1f} GiB of pairs find no room in {tempfile.gettempdir()!r} "
            f"({(error.strerror or str(error)).lower()}); allow more memory with DISCREET_MEMORY, "
            "name a larger folder in TMPDIR, or set a smaller `top` in the intruder file."
        ) from None
    _maps.add(found)
    return found
