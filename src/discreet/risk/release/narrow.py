"""Do small counts keep a width? By tables that were seen, and by programs where these are few."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from discreet.arrays import Ints
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.linear import EFFORT, PATIENCE
from discreet.intruder.bounds.methods.linear import LARGE
from discreet.intruder.bounds.part import Part
from discreet.intruder.bounds.result import CellBounds, Rung
from discreet.intruder.witness.seen import Seen
from discreet.solver import Limit
from discreet.table.cells import Cells

FIRST = 2  # cells that are bounded first; then twice as many


def kept_width(cells: Cells, bounder: Bounder, seen: Seen, width: int) -> Rung | None:
    """What shows that all cells keep the width; None if one does not.

    The narrowest first: steps that lead there, then linear programs. What these leave open is
    looked for longer, and by integer programs, only when no cell is known to be too narrow.
    """
    low, high = seen.ends(cells.names, cells.codes)
    rows = np.flatnonzero(high - low < width)
    rows = rows[np.argsort((high - low)[rows], kind="stable")]
    part = bounder.part(cells.names)
    linear = bounder.rung is Rung.LINEAR and part.possible >= LARGE
    if linear or not bounder.programs(part, len(rows), len(rows)):
        found = bounder.bounds(cells.take(rows), width=width)
        return None if (found.width < width).any() else _rung(found, width)
    open_ = []
    for some in _growing(rows):
        spreads = [_Spread(cells.take(slice(row, row + 1)), seen, width) for row in some.tolist()]
        spreads = [spread for spread in spreads if not spread.walked(1)]
        if not spreads:
            continue
        codes = np.concatenate([spread.cell.codes for spread in spreads])
        counts = np.zeros(len(codes), np.int64)
        found = bounder.bounds(Cells(cells.variables, codes, counts), among=len(rows))
        if (found.width < width).any():
            return None
        for row, spread in enumerate(spreads):
            spread.bounded(found, row)
        open_ += spreads
    return _settled(bounder, part, open_)


def _growing(rows: Ints) -> Iterator[Ints]:
    first, size = 0, FIRST
    while first < len(rows):
        yield rows[first : first + size]
        first, size = first + size, 2 * size


def _rung(found: CellBounds, width: int) -> Rung:
    for rung in (Rung.INTEGER, Rung.LINEAR):
        if found.proven(rung, width).all():
            return rung
    return Rung.OUTER


def _settled(bounder: Bounder, part: Part, spreads: list[_Spread]) -> Rung | None:
    """Of cells that linear bounds leave wide enough."""
    spreads = [spread for spread in spreads if not spread.walked(EFFORT)]
    weakest, patience = Rung.INTEGER, PATIENCE
    for spread in spreads:
        kept = spread.branched(part, bounder.branch(part)) if patience else False
        if kept is None:
            return None
        patience = PATIENCE if kept else max(patience - 1, 0)
        if not kept and not spread.fits.reaches(weakest):
            weakest = spread.fits
    return weakest


class _Spread:
    """How far one cell is seen to go, and what bounds it."""

    def __init__(self, cell: Cells, seen: Seen, width: int) -> None:
        self.cell, self.seen, self.width = cell, seen, width
        self.low, self.high = (int(end[0]) for end in seen.ends(cell.names, cell.codes))
        self.lower, self.upper, self.fits = 0, self.high + width, Rung.OUTER

    def _short(self) -> bool:
        return self.high - self.low < self.width

    def _note(self, low: int, high: int) -> None:
        self.low, self.high = min(self.low, low), max(self.high, high)

    def bounded(self, found: CellBounds, row: int) -> None:
        """By linear programs, whose vertices may be tables."""
        self.lower, self.upper = int(found.lower[row]), int(found.upper[row])
        if found.seen_low[row] <= found.seen_high[row]:
            self._note(int(found.seen_low[row]), int(found.seen_high[row]))
        if found.proven(Rung.LINEAR, self.width)[row]:
            self.fits = Rung.LINEAR

    def walked(self, effort: int) -> bool:
        """Does it keep the width, by one person more or less at a time?"""
        seen, cell = self.seen, self.cell
        self._note(*(int(end[0]) for end in seen.ends(cell.names, cell.codes)))
        cost = seen.inside(cell.names, cell.codes[0]).astype(np.int64)
        while self._short() and self.low > self.lower and seen.reach(cost, self.low - 1, effort):
            self.low -= 1
        while self._short() and self.high < self.upper:
            if not seen.reach(-cost, -self.high - 1, effort):
                break
            self.high += 1
        return not self._short()

    def branched(self, part: Part, limit: Limit | None) -> bool | None:
        """Does it, by integer programs? None if it does not, False if that stays open."""
        program, cell = part.program, self.cell
        if self.walked(1):  # what was found for another cell may show it
            return True
        if limit is None:
            return False
        member = np.flatnonzero(program.cells.group(cell.names, cell.codes) == 0)
        for sign in (1, -1):
            enough = self.low + self.width if sign > 0 else self.high - self.width
            solver = program.integer_program()
            end, table = solver.optimum(member, sign, limit, enough=max(enough, 0))
            if sign > 0:
                self.upper = min(self.upper, end)
            else:
                self.lower = max(self.lower, end)
            if table is not None:
                self._note(value := int(table[member].sum()), value)
                if part.release.names == self.seen.release.names:
                    self.seen.learn(program.cells.codes, table)
            if self.upper - self.lower < self.width:
                return None
            if not self._short():
                return True
        return False
