"""A table as bit maps: which cells have a category, one bit each, in blocks of equal counts."""

from __future__ import annotations

import shutil
import tempfile
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.data.files import unfinished
from discreet.look.progress import Progress
from discreet.table.stored_table import Columns, StoredTable
from discreet.table.table import Table

MOST_MAPPED = 16  # categories of a variable that has maps; of others the codes are kept
BLOCK_WORDS = 1 << 16  # of all maps of a block: half a MiB, which stays in a core's cache
CHUNK_BYTES = 1 << 28  # read at a time
GROUP = 1 << 20
FEW = 4  # counts up to this have blocks of their own


class Chunk(NamedTuple):
    """Blocks of cells: maps (blocks x maps x words) and codes (blocks x variables x cells)."""

    blocks: NDArray[np.uint64]
    codes: NDArray[np.uint32]
    cells: Ints
    weights: Ints
    small: NDArray[np.bool_]


@dataclass(eq=False)
class BitMaps:
    """The maps of a table, in memory or in a folder of their own, and what its blocks count.

    The first category of a variable has no map; `first[v]` is the map of its second one, and -1 if
    the variable has too many categories: then `column[v]` says where its codes are.
    """

    sizes: Ints
    total: int
    small: int
    first: Ints = field(init=False)
    column: Ints = field(init=False)
    small_cells: int = 0
    small_bits: int = 0  # of all blocks of small cells: a cell may lie in several
    cells: int = 0
    folder: Path | None = None
    _held: list[tuple[Any, Any]] = field(default_factory=list)
    _about: list[tuple[int, int, bool]] = field(default_factory=list)

    def __post_init__(self) -> None:
        mapped = self.sizes <= MOST_MAPPED
        ends = np.cumsum(np.where(mapped, self.sizes - 1, 0))
        self.first = np.where(mapped, ends - self.sizes + 1, -1)
        self.maps = int(ends[-1])
        self.column = np.where(mapped, -1, np.cumsum(~mapped) - 1)
        self.columns = int((~mapped).sum())
        words = BLOCK_WORDS // max(self.maps, 1) // 8 * 8
        self.words = int(min(max(words, 8), 512))

    @classmethod
    def of(cls, table: Table | StoredTable, small: int) -> BitMaps:
        """The maps of a table; those of a table on disk are on disk, and go with `close`."""
        made = cls(np.array(table.shape, np.int64), table.total, small)
        if isinstance(table, Table):
            number = -(-len(table) // GROUP)
            made._fill(_groups(table), number)
        else:
            made.folder = _scratch(table.cells.folder)
            try:
                made._fill(table.batches(), -(-len(table) // GROUP))
            except BaseException:
                made.close()
                raise
        return made

    def close(self) -> None:
        if self.folder is not None:
            shutil.rmtree(self.folder, ignore_errors=True)

    def __enter__(self) -> BitMaps:
        return self

    def __exit__(self, *error: object) -> None:
        self.close()

    def chunks(self) -> Iterator[Chunk]:
        """The blocks, some at a time; those on disk are mapped while they are looked at."""
        about = np.array(self._about, np.int64).reshape(-1, 3)
        each = 8 * self.words * self.maps + 4 * self.columns * self.words * 64
        share = max(1, CHUNK_BYTES // max(each, 1))
        for start in range(0, len(about), share):
            some = about[start : start + share]
            maps, codes = self._read(start, len(some))
            yield Chunk(
                maps,
                codes,
                np.ascontiguousarray(some[:, 0]),
                np.ascontiguousarray(some[:, 1]),
                some[:, 2].astype(bool),
            )

    def _read(self, start: int, number: int) -> tuple[Any, Any]:
        maps, codes = self._shapes(number)
        if self.folder is None:
            held = self._held[start : start + number]
            return np.stack([a for a, _ in held]), np.stack([b for _, b in held])
        return (
            self._mapped("maps", np.uint64, start, maps),
            self._mapped("codes", np.uint32, start, codes),
        )

    def _mapped(self, name: str, kind: Any, start: int, shape: tuple[int, int, int]) -> Any:
        if 0 in shape:
            return np.empty(shape, kind)
        assert self.folder is not None
        at = start * shape[1] * shape[2] * np.dtype(kind).itemsize
        return np.memmap(self.folder / name, kind, "r", at, shape)

    def _shapes(self, number: int) -> tuple[tuple[int, int, int], tuple[int, int, int]]:
        return (number, self.maps, self.words), (number, self.columns, self.words * 64)

    # Making them

    def _fill(self, batches: Iterable[tuple[Columns, Ints]], number: int) -> None:
        waiting: dict[int, Any] = {}
        progress = Progress("cells as bit maps, in parts", number)
        with progress:
            for columns, counts in batches:
                self._take(columns, counts, waiting)
                progress.step()
            for key, rest in waiting.items():
                self._put(rest, rest[0].shape[1], abs(key), key < 0)

    def _take(self, columns: Columns, counts: Ints, waiting: dict[int, Any]) -> None:
        """Whole blocks of some cells and of those that wait; the rest waits."""
        from discreet._kernels.bitmaps import gather

        room = self.words * 64
        mapped, wide = self.first >= 0, self.first < 0
        parts = [
            _stacked([columns[v] for v in np.flatnonzero(chosen)], len(counts), kind)
            for chosen, kind in ((mapped, np.uint8), (wide, np.uint32))
        ]
        self.cells += len(counts)
        self.small_cells += int((counts <= self.small).sum())
        for weight, is_small, rows in self._classes(counts):
            fresh = [gather(part, rows) for part in parts]
            key = -weight if is_small else weight
            if key in waiting:
                before = waiting.pop(key)
                fresh = [np.concatenate(both, 1) for both in zip(before, fresh, strict=True)]
            whole = fresh[0].shape[1] // room * room
            self._put(fresh, whole, weight, is_small)
            if whole < fresh[0].shape[1]:
                waiting[key] = [part[:, whole:].copy() for part in fresh]

    def _classes(self, counts: Ints) -> Iterator[tuple[int, bool, Any]]:
        """Rows that count the same: a few small counts each by itself, others by their digits."""
        few = min(self.small, FEW)
        for count in range(1, few + 1):
            if len(rows := np.flatnonzero(counts == count)):
                yield count, True, rows
        for is_small in (True, False):
            chosen = np.flatnonzero((counts > few) & ((counts <= self.small) == is_small))
            rest, digit = counts[chosen], 0
            while rest.any():
                if len(rows := chosen[(rest & 1).astype(bool)]):
                    yield 1 << digit, is_small, rows
                rest, digit = rest >> 1, digit + 1

    def _put(self, parts: list[Any], end: int, weight: int, is_small: bool) -> None:
        from discreet._kernels.bitmaps import pack

        mapped, wide = parts
        some = np.flatnonzero(self.first >= 0)
        room = self.words * 64
        for at in range(0, end, room):
            cells = min(room, end - at)
            maps = np.zeros((self.maps, self.words), np.uint64)
            pack(mapped, at, cells, self.first[some], self.sizes[some], maps)
            codes = np.zeros((self.columns, room), np.uint32)
            codes[:, :cells] = wide[:, at : at + cells]
            self._keep(maps, codes)
            self._about.append((cells, weight, is_small))
            self.small_bits += is_small * cells

    def _keep(self, maps: Any, codes: Any) -> None:
        if self.folder is None:
            self._held.append((maps, codes))
            return
        for name, array in (("maps", maps), ("codes", codes)):
            with open(self.folder / name, "ab") as file:
                array.tofile(file)


def _stacked(columns: Columns, cells: int, kind: Any) -> Any:
    if not columns:
        return np.empty((0, cells), kind)
    return np.stack([column.astype(kind, copy=False) for column in columns])


def _groups(table: Table) -> Iterator[tuple[Columns, Ints]]:
    for start in range(0, len(table), GROUP):
        part = slice(start, start + GROUP)
        yield list(table.codes[part].T), table.counts[part]


def _scratch(folder: Path) -> Path:
    """A new folder for its owner alone: beside the cells, or where temporary files go."""
    try:
        made = tempfile.mkdtemp(prefix=".maps-", dir=folder)
    except OSError:
        made = tempfile.mkdtemp(prefix="discreet-")
    return unfinished(Path(made))
