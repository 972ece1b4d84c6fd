"""Bounds that integer reasoning proves, narrower than the shuttle's."""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from discreet.effort import Clock, Effort, Seconds
from discreet.intruder.bounds.shuttle.shuttle import Shuttle
from discreet.look.progress import track
from discreet.table.cells import Cells

SUPPOSED = 20_000  # ends of intervals that are tried
Ints = NDArray[np.int64]


def proven_bounds(
    shuttle: Shuttle,
    cells: Cells,
    *,
    low: Ints | None = None,
    high: Ints | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> tuple[Ints, Ints]:
    """lower and upper of cells, cut where supposing an end leads to a contradiction.

    The cell is fixed at an end of its interval, and the shuttle follows what that implies for every
    node. If some node is left with no value, no table has that end, and the next value is tried.
    `low` and `high` are values that witnesses attain: they need no trial. What is not tried, the
    narrowest intervals first, keeps the shuttle's bound. The shuttle is left as it was.
    """
    lower, upper = shuttle.bounds(cells.names, cells.codes)
    attained_low = upper if low is None else low
    attained_high = lower if high is None else high
    left, clock = Effort(effort).of(SUPPOSED), Clock.of(seconds)

    def refuted(cell: int, value: int) -> bool:
        nonlocal left
        if not left or clock.over():
            return False
        left -= 1
        return not shuttle.suppose(cells.names, cells.codes[cell], value)

    shuttle.commit()
    for cell in track(np.argsort(upper - lower, kind="stable").tolist(), "proofs"):
        while (
            lower[cell] < upper[cell]
            and upper[cell] > attained_high[cell]
            and refuted(cell, int(upper[cell]))
        ):
            upper[cell] -= 1
        while (
            lower[cell] < upper[cell]
            and lower[cell] < attained_low[cell]
            and refuted(cell, int(lower[cell]))
        ):
            lower[cell] += 1
    return lower, upper
