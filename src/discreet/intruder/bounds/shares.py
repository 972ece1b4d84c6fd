"""Shares of groups: what holds of a category of a group in every table that fits?"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.bounder import Bounder
from discreet.intruder.bounds.linear import EFFORT, PATIENCE, Program
from discreet.intruder.bounds.opencells import Ints
from discreet.intruder.witness.seen import Seen
from discreet.table.cells import Cells

Bools = NDArray[np.bool_]
Settled = tuple[Bools, Bools, Bools]  # known, settled by whole numbers, refuted by fractions
FINEST = 10**6  # denominator of a share
CLOSE = 1e-9


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

    def cost(has: Bools, inside: Bools) -> Ints:
        """n(g, c) - s n(g), times the denominator of s."""
        return np.asarray(has * ratio.denominator - inside * ratio.numerator)

    def own(program: Program, row: int) -> Ints:
        codes, under = cells.codes[row : row + 1], program.cells
        return cost(
            under.group(cells.names, codes) == 0, under.group(group.names, codes[:, :-1]) == 0
        )

    def shown(tables: Seen, row: int, effort: int) -> bool:
        code = cells.codes[row]
        has, inside = tables.inside(cells.names, code), tables.inside(group.names, code[:-1])
        return tables.reach(cost(has, inside), -1, effort)

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

    return _Doubts(bounder, cells, own, shown, bounded, among).settle(seen, first)


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

    def own(program: Program, row: int) -> Ints:
        has = program.cells.group(cells.names, cells.codes[row : row + 1]) == 0
        return np.where(has, -1, 0)

    def shown(tables: Seen, row: int, effort: int) -> bool:
        inside = tables.inside(cells.names, cells.codes[row])
        return tables.reach(np.where(inside, -1, 0), -1, effort)

    def bounded(rows: Ints) -> Settled:
        found = bounder.bounds(cells.take(rows), among=among)
        return found.upper == 0, found.seen_high > 0, found.fit_high > 0

    return _Doubts(bounder, cells, own, shown, bounded, among).settle(seen, first)


@dataclass(eq=False)
class _Doubts:
    """Cells of which something may be known: if no table of whole numbers costs less than 0.

    `own` are the costs of a cell in a program, `shown` says whether a table with less was found;
    `bounded` what bounds say: what is known, and which cells a table shows not to be.
    """

    bounder: Bounder
    cells: Cells
    own: Callable[[Program, int], Ints]
    shown: Callable[[Seen, int, int], bool]
    bounded: Callable[[Ints], Settled]
    among: int

    def settle(self, seen: Seen | None, first: bool) -> Settled:
        """By programs alone where tables are looked for; what is left by bounds, then programs."""
        known, safe, fits = np.zeros((3, len(self.cells)), bool)
        rows = np.arange(len(self.cells))
        if seen is not None:
            self._programs(rows, known, safe, fits, seen, first)
            rows = np.flatnonzero(~known & ~safe)
        if len(rows) and not (first and known.any()):
            known[rows], safe[rows], more = self.bounded(rows)
            fits[rows] |= more
            self._programs(rows, known, safe, fits, None, first)
        return known, known | safe, fits

    def _programs(
        self, rows: Ints, known: Bools, safe: Bools, fits: Bools, seen: Seen | None, first: bool
    ) -> None:
        """Settle what is in doubt among the rows."""
        doubtful = rows[~known[rows] & ~safe[rows]]
        part = self.bounder.part(self.cells.names)
        programs = self.bounder.programs(part, len(doubtful), self.among)
        if not len(doubtful) or not (programs or (part.drawable and seen is None)):
            return
        costs = np.array([self.own(part.program, int(row)) for row in doubtful])
        if seen is None:
            safe[doubtful[(costs @ part.drawn.T < 0).any(1)]] = True
        if not programs:
            return
        patience = PATIENCE if self.bounder.method != "integer" else len(doubtful)
        for row, own in zip(doubtful, costs, strict=True):
            if safe[row]:
                continue
            if self.bounder.clock.over():
                return
            if seen is not None and self.shown(seen, int(row), 1):
                safe[row] = True
                continue
            least, table = part.program.minimum(own)
            fits[row] |= least < 0
            undecided = least < 0 and (table is None or table @ own >= 0)
            if undecided and seen is not None and self.shown(seen, int(row), EFFORT):
                safe[row] = True
                continue
            limit = self.bounder.branch(part)
            if undecided and patience and limit:
                least, table = part.program.integer_program().minimum(own, limit, enough=-1)
                undecided = least < 0 and (table is None or table @ own >= 0)
                patience = patience - 1 if undecided else PATIENCE
            known[row] = least >= 0
            if known[row] and first:
                return
            if table is not None:  # what one table shows, it shows for every cell
                safe[doubtful[costs @ table < 0]] = True
