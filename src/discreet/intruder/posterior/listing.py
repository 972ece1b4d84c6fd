"""Sums over all solutions of a system, one by one."""

from __future__ import annotations

import time
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.tables.enumerate import Walk, tables_on, weigh
from discreet.intruder.tables.net import Search
from discreet.intruder.tables.split import NOTHING_FITS, System

Floats = NDArray[np.float64]
BATCH = 100_000


def listed(
    system: System, logs: Sequence[Floats], *, limit: int, seconds: float
) -> tuple[float, int, list[Floats]]:
    """The log of the total weight, how many tables, the probabilities of each column's values."""
    walk = Walk(system, Search.of(system))
    top, total, tables, solutions = -np.inf, 0.0, 0, 0
    mass = [np.zeros(len(log)) for log in logs]
    for lines in walk.lines(time.monotonic() + seconds):
        solutions += int((lines[:, -1] + 1).sum())
        if solutions > limit:
            break
        tables += weigh(lines, system.sizes) or 0
        for part in np.array_split(lines, 1 + int((lines[:, -1] + 1).sum()) // BATCH):
            rows = tables_on(part)
            if not len(rows):
                continue
            terms = sum((log[rows[:, c]] for c, log in enumerate(logs)), np.zeros(len(rows)))
            if terms.max() > top:
                with np.errstate(under="ignore"):
                    scale = float(np.exp(top - terms.max())) if total else 0.0
                total, mass = total * scale, [m * scale for m in mass]
                top = float(terms.max())
            if not np.isfinite(top):
                continue
            with np.errstate(under="ignore"):
                weights = np.exp(terms - top)
            total += float(weights.sum())
            for column, found in enumerate(mass):
                found += np.bincount(rows[:, column], weights, len(found))
    if solutions > limit or not walk.done:
        raise DataError(
            f"more than {solutions:,} tables fit {len(system.sizes):,} open cells of the release "
            f"that hang together, too many to list (limit {limit:,}, {seconds:g} seconds); raise "
            "the limit, or draw tables instead."
        )
    if not solutions:
        raise InconsistentRelease(NOTHING_FITS)
    if not total:
        return -np.inf, tables, mass
    return top + float(np.log(total)), tables, [m / total for m in mass]
