"""Sums over all solutions of a system, one by one."""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.effort import Clock, Effort
from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.tables.enumerate import Walk, tables_on, weigh
from discreet.intruder.tables.net import Search
from discreet.intruder.tables.split import NOTHING_FITS, System

BATCH = 100_000
MOST_LOOKED = 5_000_000_000  # numbers, to find the tables
MOST_SUMMED = 100_000_000  # counts, of all tables together


def listed(
    system: System,
    logs: Sequence[Floats],
    sums: Sequence[Ints] = (),
    *,
    limit: int,
    effort: Effort,
    clock: Clock,
) -> tuple[float, int, list[Floats]]:
    """The log of the total weight, how many tables, the probabilities of each column's values.

    Values count from the column's lowest on; after the columns come `sums` of some of them.
    """
    walk = Walk(system, Search.of(system))
    limit = min(limit, effort.of(MOST_SUMMED) // (len(logs) + len(sums)))
    top, total, tables, solutions = -np.inf, 0.0, 0, 0
    mass = [np.zeros(len(log)) for log in logs]
    mass += [np.zeros(1 + sum(len(logs[c]) - 1 for c in members)) for members in sums]
    for lines in walk.lines(effort.of(MOST_LOOKED), clock):
        solutions += int((lines[:, -1] + 1).sum())
        if solutions > limit:
            break
        for part in _batches(lines):
            clock.check("summing over tables")
            rows = tables_on(part)
            tables += weigh(part, system.sizes) or 0
            rows -= system.low
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
                at = column - len(logs)
                values = rows[:, column] if at < 0 else rows[:, sums[at]].sum(1)
                found += np.bincount(values, weights, len(found))
    if solutions > limit or not walk.done:
        if clock.stopped:
            clock.check("summing over tables")
        raise DataError(
            f"more than {solutions:,} tables fit {len(system.sizes):,} open cells of the release "
            f"that hang together, too many to list (limit {limit:,}); raise the limit or the "
            "effort, or draw tables instead."
        )
    if not solutions:
        raise InconsistentRelease(NOTHING_FITS)
    if not total:
        return -np.inf, tables, mass
    return top + float(np.log(total)), tables, [m / total for m in mass]


def _batches(lines: Ints) -> list[Ints]:
    """Lines with few solutions together; a long one is cut."""
    while (lines[:, -1] >= BATCH).any():
        long = lines[:, -1] >= BATCH
        n, rest = lines.shape[1] // 2, lines[long]
        rest[:, :n] += BATCH * rest[:, n:-1]
        rest[:, -1] -= BATCH
        short = lines.copy()
        short[long, -1] = BATCH - 1
        lines = np.concatenate([short, rest])
    ends = np.cumsum(lines[:, -1] + 1)
    cuts = np.searchsorted(ends, np.arange(BATCH, ends[-1] if len(ends) else 0, BATCH))
    return [part for part in np.split(lines, cuts) if len(part)]
