"""Shares of groups: what holds of a category of a group in every table that fits?"""

from __future__ import annotations

import math
from collections.abc import Callable
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.bounder import BRANCH, Bounder
from discreet.intruder.bounds.linear import PATIENCE, Program
from discreet.intruder.bounds.opencells import Ints
from discreet.table.cells import Cells

Bools = NDArray[np.bool_]
Settled = tuple[Bools, Bools, Bools]  # known, settled by whole numbers, refuted by fractions
FINEST = 10**6  # denominator of a share
CLOSE = 1e-9


def known_shares(bounder: Bounder, cells: Cells, share: float, among: int) -> Settled:
    """Of each cell (g, c), the category last: is it known to be `share` of g, is that settled?

    Known if in every table with anybody in g, numerator and denominator both uncertain,

        n(g, c)  >=  s n(g).

    Settled if it is known, or if a table was seen in which it does not hold: of whole numbers, or
    of fractions.
    """
    group = Cells(cells.variables[:-1], cells.codes[:, :-1], np.zeros(len(cells), np.int64))
    part, whole = bounder.bounds(cells, among=among), bounder.bounds(group, among=among)
    known = part.lower >= share * whole.upper - CLOSE
    # where one count was seen at its end, the other is still within its bounds
    safe = part.seen_low < share * whole.lower - CLOSE
    safe |= part.upper < share * whole.seen_high - CLOSE
    # ends are rounded, a lower one in each component: fractions go beyond them by less than that
    exact = bounder.release.formula.contains(group.names)
    beyond = 0 if exact else len(group.names)
    fits = part.fit_low < share * (whole.lower - beyond) - CLOSE
    fits |= part.upper + 1 < share * whole.fit_high - CLOSE
    ratio = Fraction(share).limit_denominator(FINEST)

    def cost(program: Program, row: int) -> Ints:
        """n(g, c) - s n(g), times the denominator of s."""
        codes = cells.codes[row : row + 1]
        has = program.cells.group(cells.names, codes) == 0
        inside = program.cells.group(group.names, codes[:, :-1]) == 0
        return np.asarray(has * ratio.denominator - inside * ratio.numerator)

    return _settled(bounder, cells, (known, safe, fits), cost, among)


def known_absent(bounder: Bounder, cells: Cells, among: int) -> Settled:
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
    found = bounder.bounds(cells, among=among)

    def cost(program: Program, row: int) -> Ints:
        has = program.cells.group(cells.names, cells.codes[row : row + 1]) == 0
        return np.where(has, -1, 0)

    start = (found.upper == 0, found.seen_high > 0, found.fit_high > 0)
    return _settled(bounder, cells, start, cost, among)


def _settled(
    bounder: Bounder,
    cells: Cells,
    start: Settled,
    cost: Callable[[Program, int], Ints],
    among: int,
) -> Settled:
    """Settle by programs what is in doubt: known if no table of whole numbers costs less than 0.

    `start`: what is known, and which cells a table shows not to be, of whole numbers or fractions.
    """
    known, safe, fits = start
    doubtful = np.flatnonzero(~known & ~safe)
    part = bounder.part(cells.names)
    programs = bounder.programs(part, len(doubtful), among)
    if not len(doubtful) or not (programs or part.drawable):
        return known, known | safe, fits
    costs = np.array([cost(part.program, int(row)) for row in doubtful])
    safe[doubtful[(costs @ part.drawn.T < 0).any(1)]] = True
    if not programs:
        return known, known | safe, fits
    branch = math.inf if bounder.method == "integer" else BRANCH
    patience = PATIENCE if math.isfinite(branch) else len(doubtful)
    for row, own in zip(doubtful, costs, strict=True):
        if safe[row]:
            continue
        least, table = part.program.minimum(own)
        fits[row] |= least < 0
        if least < 0 and (table is None or table @ own >= 0) and patience:
            least, table = part.program.integer_program().minimum(own, branch, enough=-1)
            undecided = least < 0 and (table is None or table @ own >= 0)
            patience = patience - 1 if undecided else PATIENCE
        known[row] = least >= 0
        if table is not None:  # what one table shows, it shows for every cell
            safe[doubtful[costs @ table < 0]] = True
    return known, known | safe, fits
