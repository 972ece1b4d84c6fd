"""Shares of groups: does a category have a share of a group in every table that fits?"""

from __future__ import annotations

import math
from fractions import Fraction

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.bounder import BRANCH, Bounder, Part
from discreet.table.cells import Cells

Bools = NDArray[np.bool_]
FINEST = 10**6  # denominator of a share
CLOSE = 1e-9


def known_shares(bounder: Bounder, cells: Cells, share: float) -> tuple[Bools, Bools]:
    """Of each cell (g, c), the category last: is it known to be `share` of g, is that settled?

    Known if in every table with anybody in g, numerator and denominator both uncertain,

        n(g, c)  >=  s n(g).

    Settled if it is known, or if a table of whole numbers was seen in which it does not hold.
    """
    group = Cells(cells.variables[:-1], cells.codes[:, :-1], np.zeros(len(cells), np.int64))
    part, whole = bounder.bounds(cells), bounder.bounds(group)
    known = part.lower >= share * whole.upper - CLOSE
    # where one count was seen at its end, the other is still within its bounds
    safe = part.seen_low < share * whole.lower - CLOSE
    safe |= part.upper < share * whole.seen_high - CLOSE
    doubtful = np.flatnonzero(~known & ~safe)
    tied = bounder.part(cells.names)
    if len(doubtful) and bounder.programs(tied, len(doubtful)):
        branch = math.inf if bounder.method == "integer" else BRANCH
        for row in doubtful:
            known[row], safe[row] = _settled(tied, cells, int(row), share, branch)
    return known, known | safe


def _settled(
    part: Part, cells: Cells, row: int, share: float, branch: float
) -> tuple[bool, bool]:
    """Known, or seen not to hold, by programs: min n(g, c) - s n(g) in integers."""
    ratio = Fraction(share).limit_denominator(FINEST)
    names, codes = cells.names[:-1], cells.codes[row : row + 1]
    program = part.program
    inside = program.cells.group(names, codes[:, :-1]) == 0
    has = program.cells.group(cells.names, codes) == 0
    cost = np.where(has, ratio.denominator - ratio.numerator, -ratio.numerator) * inside
    least, table = program.minimum(cost)
    if least >= 0:
        return True, False
    if table is None or table @ cost >= 0:
        least, table = program.integer_program().minimum(cost, branch, enough=-1)
    return least >= 0, table is not None and bool(table @ cost < 0)
