"""A table that stays on disk: cells in a folder, counted part by part."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.data.codebook import Variable
from discreet.data.stored import StoredCells
from discreet.data.storing import CellsWriter
from discreet.errors import DataError
from discreet.look.notebook import Rows
from discreet.look.result import Unpublished
from discreet.table.axes import OverAxes
from discreet.table.codings import Coding, find_codings, of_variables, stated_ties
from discreet.table.formula import margin_names
from discreet.table.impossible import Combination, Groups, Ties, by_names
from discreet.table.keys import keys, merge, unravel
from discreet.table.table import Table

MOST_BYTES = 1 << 30  # of codes and counts, for a table that is held in memory
MOST_CELLS = 1 << 24  # of a margin, added up in one array
PART = 1 << 22  # cells that `store` writes to one part

Columns = list[NDArray[Any]]


@dataclass(frozen=True, eq=False)
class StoredTable(Unpublished, OverAxes):
    """A cross-classification in a folder of cells: its margins are counted where it lies.

    >>> import tempfile
    >>> from discreet.table.load import load
    >>> with tempfile.TemporaryDirectory() as place:
    ...     stored = load("example:czech").store(f"{place}/czech.cells")
    ...     print(stored, stored.margin("A*B").counts)
    StoredTable(6 variables: 1,841 in 63 cells) [522 439 541 339]
    """

    cells: StoredCells

    @classmethod
    def open(cls, folder: str | Path) -> StoredTable:
        """The table of a folder that `store` or a count on an engine wrote to its end."""
        return cls(StoredCells.open(folder))

    @property
    def variables(self) -> tuple[Variable, ...]:  # type: ignore[override]
        return self.cells.variables

    @property
    def total(self) -> int:
        return self.cells.total

    @property
    def dropped(self) -> int:
        return self.cells.dropped

    @property
    def sampling_fraction(self) -> float | None:
        return self.cells.sampling_fraction

    @property
    def impossible(self) -> tuple[Combination, ...]:
        """The combinations that nobody can have, as they were stated."""
        return self.cells.impossible or ()

    @property
    def nestings(self) -> tuple[tuple[str, str], ...]:
        return self.cells.nestings

    @cached_property
    def codings(self) -> tuple[Coding, ...]:
        """Pairs of variables that look like codings of one thing.

        The first cells rule out most pairs; the others are counted.
        """
        if self.cells.impossible is not None:
            return tuple(
                Coding((a, b), number, group, denied)
                for a, b, number, group, denied in self.cells.codings
            )
        columns, _ = next(self.batches())
        codings: list[Coding] = []
        for i, j in combinations(range(len(columns)), 2):
            pairs = columns[i].astype(np.int64) * self.shape[j] + columns[j]
            if len(np.unique(pairs)) < self.shape[i] + self.shape[j]:
                cells = self._added_up((self.variables[i], self.variables[j]))
                codings += find_codings((self.variables[i], self.variables[j]), *cells)
        return tuple(codings)

    @cached_property
    def ruled_out(self) -> Groups:
        """The impossible combinations by their variables."""
        return by_names(self.impossible)

    @cached_property
    def _ties(self) -> Ties:
        """What stated pairs say of others, through variables that are left out."""
        return stated_ties(self)

    @property
    def found(self) -> tuple[str, ...]:
        """What looks impossible without being stated, in words."""
        return tuple(map(str, self.codings))

    def __len__(self) -> int:
        return len(self.cells)

    def __repr__(self) -> str:
        return f"StoredTable({len(self.names)} variables: {self.total:,} in {len(self):,} cells)"

    def _shown_rows(self, most: int) -> Rows:
        shown = self.variables[:most]
        columns = {"variable": [v.name for v in shown], "categories": [v.size for v in shown]}
        return Rows(columns, len(self.variables))

    def batches(
        self, names: Iterable[str] | None = None
    ) -> Iterator[tuple[Columns, NDArray[np.int64]]]:
        """Columns of codes and the counts, about a million cells at a time."""
        return self.cells.batches(None if names is None else list(names))

    @cached_property
    def _by_count(self) -> NDArray[np.int64]:
        """How many cells have each count up to 255; the last also those with more."""
        number = np.zeros(256, np.int64)
        for _, counts in self.batches([]):
            number += np.bincount(np.minimum(counts, 255), minlength=256)
        return number

    def small_cells(self, at_most: int = 2) -> int:
        """How many cells have a count from 1 to `at_most`."""
        if at_most < 255:
            return int(self._by_count[: at_most + 1].sum())
        return sum(int((counts <= at_most).sum()) for _, counts in self.batches([]))

    def margin(self, names: str | Iterable[str]) -> Table:
        """The table over some of the variables, in memory."""
        if isinstance(names, str):
            names = margin_names(names, self.names)
        chosen = list(names)
        places = self.axes.places(chosen)
        if len(set(places)) < len(places):
            twice = next(name for name in chosen if chosen.count(name) > 1)
            raise DataError(f"the margin names {twice!r} twice; name it once.")
        variables = tuple(self.variables[place] for place in places)
        codes, counts = self._added_up(variables)
        return Table(
            variables,
            codes,
            counts,
            dropped=self.dropped,
            sampling_fraction=self.sampling_fraction,
            **of_variables(self, chosen),
        )

    def _added_up(self, variables: tuple[Variable, ...]) -> tuple[Any, NDArray[np.int64]]:
        shape = [variable.size for variable in variables]
        size = Table(variables, np.empty((0, len(shape)), np.uint8), np.empty(0, np.int64)).size
        names = [variable.name for variable in variables]
        if size <= MOST_CELLS:
            dense = np.zeros(size, np.int64)
            for columns, counts in self.batches(names):
                key = keys(_stacked(columns, len(counts)), shape)
                dense += np.bincount(key, counts, size).astype(np.int64)  # exact below 2^53
            there = np.flatnonzero(dense)
            return unravel(there, shape), dense[there]
        held = np.empty((0, len(shape)), np.min_scalar_type(max(shape) - 1))
        people = np.empty(0, np.int64)
        for columns, counts in self.batches(names):
            fresh, more = merge(_stacked(columns, len(counts)), counts, shape)
            held, people = merge(
                np.concatenate([held, fresh.astype(held.dtype)]), np.append(people, more), shape
            )
            if _bytes(len(people), held) > MOST_BYTES:
                raise DataError(
                    f"the margin of {', '.join(names[:5])} has too many cells to be held in "
                    "memory; name fewer variables."
                )
        return held, people

    @property
    def fits(self) -> bool:
        """Can the whole table be held in memory, as the program counts it?"""
        widest = np.min_scalar_type(max(self.shape) - 1).itemsize
        return len(self) * (8 + widest * len(self.shape)) <= MOST_BYTES

    def loaded(self) -> Table:
        """The whole table in memory, if it fits."""
        if not self.fits:
            raise DataError(
                f"a table of {len(self):,} cells by {len(self.names)} variables is too large to be "
                "held in memory; name some of its variables (--variables), or ask for widths or a "
                "decomposable frontier, which leave it on disk."
            )
        return self.margin(self.names)


def store(table: Table, folder: str | Path) -> StoredTable:
    """Write the cells of a table to a new folder, a part at a time."""
    writer = CellsWriter(
        folder,
        table.variables,
        sampling_fraction=table.sampling_fraction,
        impossible=table.impossible,
        codings=[(*c.names, c.impossible, c.combinations, c.denied) for c in table.codings],
        nestings=table.nestings,
    )
    for number, start in enumerate(range(0, len(table), PART)):
        if not writer.has(number):
            part = slice(start, start + PART)
            columns = dict(zip(table.names, table.codes[part].T, strict=True))
            writer.write(number, columns, table.counts[part])
    return StoredTable(writer.finish(dropped=table.dropped))


def _stacked(columns: Columns, rows: int) -> Any:
    if not columns:
        return np.empty((rows, 0), np.uint8)
    return np.stack(columns, 1)


def _bytes(rows: int, codes: NDArray[Any]) -> int:
    return int(rows * (8 + codes.itemsize * codes.shape[1]))
