"""How long a start of a list of margins can be released when no lattice of the table fits."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from math import prod
from typing import TypeVar

import numpy as np

from discreet.arrays import Ints
from discreet.effort import UNLIMITED, Clock
from discreet.errors import DataError
from discreet.intruder.bounds.shuttle.growing import MOST_CELLS, GrowingBounds
from discreet.look.progress import track
from discreet.table.cells import Cells
from discreet.table.lattice import bits
from discreet.table.table import Table

AT_ONCE = 256  # margins between two looks at the clock
FIRST = 0.6  # of a limit in seconds, for the uppers
T = TypeVar("T")


@dataclass(frozen=True, eq=False)
class ListStart:
    """The start of a list that keeps beta, its margins, and outer bounds of all cells.

    `lower` is 0 where the upper alone keeps beta.
    """

    listed: int
    width: int
    margins: tuple[tuple[int, Ints], ...] = field(repr=False)
    lower: Ints = field(repr=False)
    upper: Ints = field(repr=False)


def list_start(
    table: Table, ordered: Sequence[int], cells: Cells, beta: int, *, clock: Clock = UNLIMITED
) -> ListStart:
    """The longest start of a list of margins that keeps every cell a width of `beta`.

    A margin is a bit set over the table's variables. The widths are those of `GrowingBounds`: outer
    bounds, so that an intruder with more patience may know more. If the time is up, the answer is
    how far it came: a shorter start of the list keeps `beta` as well.
    """
    codes = cells.project(table.names)
    # a lower bound is no more than the count: first the uppers alone, then the cells near beta
    highest = beta + int(cells.counts.max(initial=0))
    sought = range(int(cells.counts.min(initial=highest)), highest)
    above = GrowingBounds(table.shape, table.total, codes, sought=sought)
    margins, tables = _Margins(table), list[tuple[int, Ints]]()
    widths, early = [table.total], clock.before(FIRST)
    for some in track(_parts(ordered), "margins, in parts"):
        if widths[-1] < beta or early.over():
            break
        tables += (fresh := list(zip(some, margins.of(some), strict=True)))
        widths += above.add(fresh).tolist()
    upper, kept = above.upper, _wide(widths, beta)
    del above
    rows = np.flatnonzero(upper - cells.counts < min(max(beta, widths[kept]), highest))
    lower = np.zeros(len(cells), np.int64)
    if len(rows):
        both = GrowingBounds(table.shape, table.total, codes[rows])
        narrower = [table.total]
        for known in track(_parts(tables[:kept]), "margins at few cells, in parts"):
            if narrower[-1] < beta or clock.over():
                break
            narrower += both.add(known).tolist()
        kept = _wide(narrower, beta)
        widths = [min(pair) for pair in zip(widths, narrower, strict=False)]
        if kept < len(narrower) - 1:
            both = GrowingBounds(table.shape, table.total, codes[rows])
            both.add(tables[:kept])
        lower[rows], upper[rows] = both.lower, both.upper
    return ListStart(kept, widths[kept], tuple(tables[:kept]), lower, upper)


def _wide(widths: Sequence[int], beta: int) -> int:
    """How many margins were released before the width, which only falls, was below beta."""
    return max(sum(width >= beta for width in widths) - 1, 0)


def _parts(listed: Sequence[T]) -> list[Sequence[T]]:
    return [listed[start : start + AT_ONCE] for start in range(0, len(listed), AT_ONCE)]


class _Margins:
    """Margins of a table as dense arrays."""

    def __init__(self, table: Table) -> None:
        self._codes, self._counts = np.ascontiguousarray(table.codes.T), table.counts
        self._sizes = np.array(table.shape, np.int64)

    def of(self, sets: Sequence[int]) -> Iterator[Ints]:
        from discreet._kernels.growing import margin_counts

        places = [list(bits(s)) for s in sets]
        cells = [prod(self._sizes[row].tolist()) for row in places]
        if max(cells) > MOST_CELLS:
            raise DataError(
                f"a margin in the list has {max(cells):,} cells, more than the {MOST_CELLS:,} that "
                "can be held; lower max_order, or merge categories."
            )
        members = np.full((len(sets), max(map(len, places))), -1, np.int64)
        for row, listed in zip(members, places, strict=True):
            row[: len(listed)] = listed
        starts = np.cumsum([0, *cells])
        dense = np.zeros(starts[-1], np.int64)
        margin_counts(self._codes, self._sizes, self._counts, members, starts, dense)
        yield from np.split(dense, starts[1:-1])
