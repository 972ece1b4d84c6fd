"""Bounds that integer reasoning proves, narrower than the shuttle's."""

from __future__ import annotations

import time

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.shuttle import Shuttle
from discreet.look.progress import track
from discreet.table.cells import Cells

Ints = NDArray[np.int64]


def proven_bounds(
    shuttle: Shuttle,
    cells: Cells,
    *,
    low: Ints | None = None,
    high: Ints | None = None,
    seconds: float = 60.0,
) -> tuple[Ints, Ints]:
    """lower and upper of cells, cut where supposing an end leads to a contradiction.

    The cell is fixed at an end of its interval, and the shuttle follows what that implies for every
    node. If some node is left with no value, no table has that end, and the next value is tried.
    `low` and `high` are values that witnesses attain: they need no trial. What is not tried within
    `seconds` keeps the shuttle's bound. The shuttle is left as it was.
    """
    lower, upper = shuttle.bounds(cells.names, cells.codes)
    records, lanes = shuttle._places(cells.names, cells.codes)
    attained_low = upper if low is None else low
    attained_high = lower if high is None else high
    end = time.monotonic() + seconds
    watched = shuttle._targets.copy()
    shuttle._targets[:] = (1 << shuttle.layout.size) - 1
    try:
        for cell in track(np.argsort(upper - lower, kind="stable").tolist(), "proofs"):
            node = int(records[cell]), int(lanes[cell])
            while (
                time.monotonic() < end
                and lower[cell] < upper[cell]
                and upper[cell] > attained_high[cell]
                and not _possible(shuttle, node, int(upper[cell]))
            ):
                upper[cell] -= 1
            while (
                time.monotonic() < end
                and lower[cell] < upper[cell]
                and lower[cell] < attained_low[cell]
                and not _possible(shuttle, node, int(lower[cell]))
            ):
                lower[cell] += 1
    finally:
        shuttle._targets[:] = watched
    return lower, upper


def _possible(shuttle: Shuttle, node: tuple[int, int], value: int) -> bool:
    """Whether the shuttle, told that the node has this value, finds no contradiction."""
    from discreet._kernels.worklist import propagate

    shuttle.commit()
    work = shuttle._undo or shuttle._make_undo()
    record, lane = node
    work["epochs"][record] = shuttle._epoch
    work["places"][0] = record
    work["saved"][0] = shuttle.data[record]
    shuttle.data[record, :, lane] = value
    layout = shuttle.layout
    shuttle._saved, held = propagate(
        shuttle.data,
        shuttle.data.view(np.uint64),
        np.array([record], np.int64),
        layout.steps(layout.outer),
        layout.counts(layout.outer),
        layout.steps(layout.inner),
        layout.counts(layout.inner),
        layout.size,
        work["queue"],
        work["waiting"],
        work["pending"],
        work["saved"],
        work["places"],
        work["epochs"],
        shuttle._epoch,
        1,
        shuttle._targets,
        0,
    )
    shuttle.roll_back()
    return bool(held)
