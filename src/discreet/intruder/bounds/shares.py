"""Shares of groups: what holds of a category of a group in every table that fits?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np

from discreet.arrays import Bools, Ints
from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.linear import EFFORT, LEAST, PATIENCE
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.bounds.part import Part
from discreet.intruder.bounds.work import BRANCHED
from discreet.intruder.witness.seen import Seen
from discreet.table.cells import Cells

Settled = tuple[Bools, Bools, Bools]  # known, settled by whole numbers, refuted by fractions
FINEST = 10**6  # denominator of a share
CLOSE = 1e-9
TOGETHER = 16  # tables that are looked at at once


def known_shares(
    bounder: Bounder,
    cells: Cells,
    share: float,
    among: int,
    seen: Seen | None = None,
    *,
    first: bool = False,
) -> Settled:
    """Of each cell (g, c), the category last: is it known to be `share` of g, is that settled?

    Known if in every table with anybody in g, numerator and denominator both uncertain,

        n(g, c)  >=  s n(g).

    Settled if it is known, or if a table was seen in which it does not hold: of whole numbers, or
    of fractions. With `seen` tables are looked for, too, from those that were; with `first` the
    rest is left open where one is known.
    """
    group = Cells(cells.variables[:-1], cells.codes[:, :-1], np.zeros(len(cells), np.int64))
    ratio = Fraction(share).limit_denominator(FINEST)
    prices = ratio.denominator, -ratio.numerator  # n(g, c) - s n(g), times the denominator of s

    def bounded(rows: Ints) -> Settled:
        some = cells.take(rows), group.take(rows)
        part, whole = (bounder.bounds(each, among=among) for each in some)
        known = part.lower >= share * whole.upper - CLOSE
        # where one count was seen at its end, the other is still within its bounds
        safe = part.seen_low < share * whole.lower - CLOSE
        safe |= part.upper < share * whole.seen_high - CLOSE
        # ends are rounded, a lower one in each component: fractions go beyond them by less than
        # that
        exact = bounder.release.formula.contains(group.names)
        beyond = 0 if exact else len(group.names)
        fits = part.fit_low < share * (whole.lower - beyond) - CLOSE
        fits |= part.upper + 1 < share * whole.fit_high - CLOSE
        return known, safe, fits

    return _Doubts(bounder, cells, prices, bounded, among).settle(seen, first)


def known_absent(
    bounder: Bounder,
    cells: Cells,
    among: int,
    seen: Seen | None = None,
    *,
    first: bool = False,
) -> Settled:
    """Of each cell: is it zero in every table that fits, is that settled?

    The upper bound of a decomposable release, the least of its counts, is reached by some table
    (Theorem 1 of the 2002 paper): there a cell can be filled if one below it has no zero above.
    """
    part = bounder.part(cells.names)
    if part.drawable:
        order = np.lexsort(cells.codes.T[::-1])
        under = part.program.cells.group(cells.names, cells.codes[order])
        filled = np.zeros(len(cells) + 1, bool)
        filled[under] = True
        absent = np.empty(len(cells), bool)
        absent[order] = ~filled[:-1]
        return absent, np.ones(len(cells), bool), np.ones(len(cells), bool)

    def bounded(rows: Ints) -> Settled:
        found = bounder.bounds(cells.take(rows), among=among)
        return found.upper == 0, found.seen_high > 0, found.fit_high > 0

    return _Doubts(bounder, cells, (-1, 0), bounded, among).settle(seen, first)


@dataclass(eq=False)
class _Doubts:
    """Cells of which something may be known: if no table of whole numbers costs less than 0.

    `prices` are those of a person in the cell (g, c), and of one in the group g; `bounded` is what
    bounds say: what is known, and which cells a table shows not to be.
    """

    bounder: Bounder
    cells: Cells
    prices: tuple[int, int]
    bounded: Callable[[Ints], Settled]
    among: int

    def settle(self, seen: Seen | None, first: bool) -> Settled:
        """By programs alone where tables are looked for; what is left by bounds, then programs."""
        known, safe, fits = np.zeros((3, len(self.cells)), bool)
        rows = np.arange(len(self.cells))
        part = self.bounder.part(self.cells.names)
        if seen is not None:
            self._programs(part, rows, known, safe, fits, seen, first)
        elif len(rows) and part.drawable:
            safe[:] = _Priced(part.program.cells, self.cells, self.prices).below(part.drawn)
        rows = np.flatnonzero(~known & ~safe)
        if len(rows) and not (first and known.any()):
            known[rows], safe[rows], more = self.bounded(rows)
            fits[rows] |= more
            self._programs(part, rows, known, safe, fits, None, first)
        return known, known | safe, fits

    def _programs(
        self,
        part: Part,
        rows: Ints,
        known: Bools,
        safe: Bools,
        fits: Bools,
        seen: Seen | None,
        first: bool,
    ) -> None:
        """Settle what is in doubt among the rows."""
        doubtful = rows[~known[rows] & ~safe[rows]]
        if not len(doubtful) or not self.bounder.programs(part, len(doubtful), self.among):
            return
        priced = _Priced(part.program.cells, self.cells.take(doubtful), self.prices)
        patience = PATIENCE if self.bounder.method != "integer" else len(doubtful)
        for place, row in enumerate(doubtful.tolist()):
            if safe[row]:
                continue
            if self.bounder.clock.over() or not self.bounder.work.take(len(part.program)):
                return
            if seen is not None and self._shown(seen, row, 1):
                safe[row] = True
                continue
            own = priced.of(place)
            least, table = part.program.minimum(own, self.bounder.clock)
            fits[row] |= LEAST < least < 0
            undecided = least < 0 and (table is None or table @ own >= 0)
            if undecided and seen is not None and self._shown(seen, row, EFFORT):
                safe[row] = True
                continue
            limit = self.bounder.branch(part)
            if undecided and patience and limit and self._branches(part):
                least, table = part.program.integer_program().minimum(own, limit, enough=-1)
                undecided = least < 0 and (table is None or table @ own >= 0)
                patience = patience - 1 if undecided else PATIENCE
            known[row] = least >= 0
            if known[row] and first:
                return
            if table is not None:  # what one table shows, it shows for every cell
                safe[doubtful[priced.costs(table[None])[0] < 0]] = True

    def _branches(self, part: Part) -> bool:
        return self.bounder.work.take(BRANCHED * len(part.program))

    def _shown(self, seen: Seen, row: int, effort: int) -> bool:
        """Was a table found that costs less than 0?"""
        code, names = self.cells.codes[row], self.cells.names
        cost = self.prices[0] * seen.inside(names, code)
        cost = cost + self.prices[1] * seen.inside(names[:-1], code[:-1])
        return seen.reach(cost, -1, effort)


class _Priced:
    """What tables cost for each of some cells, by sums over the open cells."""

    def __init__(self, under: OpenCells, cells: Cells, prices: tuple[int, int]) -> None:
        self.prices, self._sums = prices, []
        for width in (len(cells.names), len(cells.names) - 1):
            codes, place = np.unique(cells.codes[:, :width], axis=0, return_inverse=True)
            self._sums.append((under.group(cells.names[:width], codes), place.ravel(), len(codes)))

    def of(self, row: int) -> Ints:
        """The cost of a person in each open cell."""
        one, group = (inside == place[row] for inside, place, _ in self._sums)
        return np.asarray(self.prices[0] * one + self.prices[1] * group)

    def costs(self, tables: Ints) -> Ints:
        """Tables x cells."""
        found = np.zeros((len(tables), len(self._sums[0][1])), np.int64)
        for price, (inside, place, number) in zip(self.prices, self._sums, strict=True):
            if price:
                found += price * _added(tables, inside, number)[:, place]
        return found

    def below(self, tables: Ints) -> Bools:
        """Of which cells does a table cost less than 0?"""
        found = np.zeros(len(self._sums[0][1]), bool)
        for start in range(0, len(tables), TOGETHER):
            found |= (self.costs(tables[start : start + TOGETHER]) < 0).any(0)
            if found.all():
                break
        return found


def _added(tables: Ints, inside: Ints, number: int) -> Ints:
    """The sum of every group of cells, of each table; cells of no group come last."""
    order = np.argsort(inside, kind="stable")
    starts = np.searchsorted(inside[order], np.arange(number + 1))
    total = np.zeros((len(tables), starts[-1] + 1), np.int64)
    np.cumsum(tables[:, order[: starts[-1]]], axis=1, out=total[:, 1:])
    return np.asarray(total[:, starts[1:]] - total[:, starts[:-1]])
