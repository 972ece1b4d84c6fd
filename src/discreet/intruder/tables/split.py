"""The tables that fit a release, as independent systems of sums over cells that are still open."""

from __future__ import annotations

import dataclasses
import math
from dataclasses import dataclass
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.errors import DataError, InconsistentRelease, SolverError
from discreet.intruder.bounds.opencells import OpenCells
from discreet.release.release import Release
from discreet.table.keys import Codes

MOST_ENTRIES = 1 << 24
NOTHING_FITS = (
    "no table fits the release: its margins and what is known of single cells contradict each "
    "other."
)


@dataclass(frozen=True, eq=False)
class System:
    """floors <= sums of columns <= ceilings, and low <= column <= high.

    A column stands for `sizes` cells that every published sum holds together, so that only their
    sum x matters: C(x + size - 1, size - 1) tables have it. `held` columns are in a known range.
    """

    codes: Codes
    sizes: tuple[int, ...]
    low: Ints
    high: Ints
    held: NDArray[np.bool_]
    rows: tuple[Ints, ...]
    floors: Ints
    ceilings: Ints

    @property
    def exact_rows(self) -> NDArray[np.bool_]:
        exact: NDArray[np.bool_] = self.floors == self.ceilings
        return exact

    def matrix(self) -> Ints:
        """The published sums, without those known only as a range: ones where a column counts."""
        chosen = np.flatnonzero(self.exact_rows)
        result = np.zeros((len(chosen), len(self.sizes)), np.int64)
        for place, row in enumerate(chosen):
            result[place, self.rows[row]] = 1
        return result

    def take(self, columns: Ints, rows: Ints) -> System:
        """Some columns, under the rows that hold no other."""
        place = np.full(len(self.sizes), -1)
        place[columns] = np.arange(len(columns))
        return System(
            self.codes[columns],
            tuple(self.sizes[c] for c in columns),
            self.low[columns],
            self.high[columns],
            self.held[columns],
            tuple(place[self.rows[row]] for row in rows),
            self.floors[rows],
            self.ceilings[rows],
        )


def open_cells(release: Release, *, every_variable: bool = False) -> tuple[OpenCells, int]:
    """The open cells, and how many cells of the table each stands for.

    Without `every_variable`, those over the variables that something is known of.
    """
    spoken = {name for table in release.tables for name in table.names}
    spoken |= {name for known in release.known for name, _ in known.cell}
    names = tuple(n for n in release.names if every_variable or n in spoken)
    variables = tuple(v for v in release.variables if v.name in names)
    left = math.prod(v.size for v in release.variables if v.name not in names)
    try:
        cells = OpenCells.of(dataclasses.replace(release, variables=variables))
    except DataError:
        cells = None
    if cells is None or len(cells.codes) * len(release.tables) > MOST_ENTRIES:
        raise SolverError(
            f"the release ties together {math.prod(v.size for v in variables):,} cells by "
            f"{len(release.tables):,} margins, too many to count the tables; count those of a "
            "table with fewer variables."
        )
    return cells, left


def merged(cells: OpenCells, size: int) -> System:
    """Cells that are in the same sums become one column."""
    _, key = np.unique(cells.lines, axis=0, return_inverse=True)
    key = key.reshape(-1).astype(np.int64)
    for member in cells.extra:
        key[member] = np.unique(key[member], return_inverse=True)[1] + key.max() + 1
    _, first, times = np.unique(key, return_index=True, return_counts=True)
    return _system(cells, first, tuple(size * int(n) for n in times))


def separate(cells: OpenCells) -> System:
    """Each cell a column."""
    return _system(cells, np.arange(len(cells.codes)), (1,) * len(cells.codes))


def _system(cells: OpenCells, first: Ints, sizes: tuple[int, ...]) -> System:
    """The columns that the cells `first` stand for, under all sums."""
    n, width = len(first), cells.lines.shape[1]
    sums = cells.lines[first].ravel()
    order = np.argsort(sums, kind="stable")
    floors, ceilings = cells.published.floor, cells.published.ceiling
    cuts = np.searchsorted(sums[order], np.arange(len(floors) - len(cells.extra) + 1))
    rows = [order[a:b] // width for a, b in pairwise(cuts)]
    held = np.zeros(n, bool)
    for member in cells.extra:
        rows.append(np.flatnonzero(np.isin(first, member)))
        held[rows[-1]] = True
    high = np.full(n, int(ceilings.max()), np.int64)
    return System(
        cells.codes[first], sizes, np.zeros_like(high), high, held, tuple(rows), floors, ceilings
    )


@dataclass(frozen=True, eq=False)
class Split:
    """What propagation settles, and the independent blocks that it leaves.

    `columns` are the columns of each block; the others have the value `low`.
    """

    low: Ints
    factor: int
    blocks: tuple[System, ...]
    columns: tuple[Ints, ...]


def split(system: System) -> Split:
    """Settle what is forced, and part the rest where no sum ties it together."""
    from discreet._kernels.tables import settle
    from discreet.intruder.tables.net import row_net

    net, low, high = row_net(system)
    if not settle(net, low, high):
        raise InconsistentRelease(NOTHING_FITS)
    n = len(system.sizes)
    low, high = low[:n].copy(), high[:n].copy()
    fixed = low == high
    ways = (
        math.comb(int(low[c]) + system.sizes[c] - 1, int(low[c]))
        for c in np.flatnonzero(fixed)
        if system.sizes[c] > 1
    )
    left = _without(system, low, high, fixed)
    blocks, columns = [], []
    for part, rows in _components(left, np.flatnonzero(~fixed)):
        blocks.append(left.take(part, rows))
        columns.append(part)
    return Split(low, math.prod(ways), tuple(blocks), tuple(columns))


def _without(system: System, low: Ints, high: Ints, fixed: NDArray[np.bool_]) -> System:
    """The rows without the fixed columns; those that the bounds imply are left out."""
    rows, floors, ceilings = [], [], []
    for row, floor, ceiling in zip(system.rows, system.floors, system.ceilings, strict=True):
        gone, stay = row[fixed[row]], row[~fixed[row]]
        floor, ceiling = floor - low[gone].sum(), ceiling - low[gone].sum()
        implied = low[stay].sum() >= floor and high[stay].sum() <= ceiling
        if not implied:
            rows.append(stay)
            floors.append(floor)
            ceilings.append(ceiling)
    return System(
        system.codes,
        system.sizes,
        low,
        high,
        system.held,
        tuple(rows),
        np.array(floors, np.int64),
        np.array(ceilings, np.int64),
    )


def _components(system: System, columns: Ints) -> list[tuple[Ints, Ints]]:
    """Columns and rows that hang together."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    n, m = len(system.sizes), len(system.rows)
    tail = np.concatenate([*system.rows, np.zeros(0, np.int64)])
    head = np.repeat(np.arange(m), [len(row) for row in system.rows]) + n
    graph = coo_array((np.ones(len(tail), bool), (tail, head)), shape=(n + m, n + m))
    _, label = connected_components(graph, directed=False)
    parts: dict[int, list[int]] = {}
    for column in columns:
        parts.setdefault(int(label[column]), []).append(int(column))
    rows: dict[int, list[int]] = {part: [] for part in parts}
    for row in range(m):
        rows[int(label[n + row])].append(row)
    return [(np.array(parts[p], np.int64), np.array(rows[p], np.int64)) for p in parts]
