"""How far cells go by linear bounds: both ends, or only whether they keep a width."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NamedTuple

import numpy as np

from discreet.intruder.bounds.opencells import Ints
from discreet.intruder.bounds.projection import CLOSE, MOST_STEPS, Projection, Reals, Task
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW

FALLING = 128  # cells that are sent down together
RISING = 8  # up


class Linear(NamedTuple):
    """Proven ends, and the whole numbers within what tables of fractions reach."""

    lower: Ints
    upper: Ints
    fit_low: Ints
    fit_high: Ints


def reach(
    projection: Projection,
    cells: Ints,
    lower: Ints,
    upper: Ints,
    beta: int | None = None,
    steps: int = MOST_STEPS,
) -> Linear:
    """Of cells of the table, at their places in it, within ends that are known to hold.

    With `beta` only whether the ends are so far apart: then several cells rise in one program, each
    to the width and no further, and what one table reaches counts for every cell.
    """
    lower, upper = lower.copy(), upper.copy()
    rows = {int(cell): row for row, cell in enumerate(cells)}
    least = np.full(len(cells), np.inf)
    most = np.full(len(cells), -np.inf)

    def send(side: int, goals: Ints, at: Ints, size: int) -> None:
        ends = side < 0 or beta is None
        groups = [at[i : i + size] for i in range(0, len(at), size)]
        tasks = [Task(cells[group], side, goals[group], ends=ends) for group in groups]
        found = projection.run(tasks, cells, steps)
        np.minimum(least, found.low, out=least)
        np.maximum(most, found.high, out=most)
        for task in found.tasks:
            if task.bound is not None:
                end, row = (upper if side > 0 else lower), rows[int(task.cells[0])]
                end[row] = task.bound

    send(-1, lower, np.flatnonzero(upper > lower), FALLING)
    goals = upper if beta is None else np.minimum(lower + beta, upper)
    rising = np.flatnonzero((upper > lower) & (most < goals - CLOSE))
    if beta is not None:
        rising = rising[upper[rising] - lower[rising] >= beta]
        rising = rising[np.argsort(-(upper - lower)[rising], kind="stable")]
    send(1, goals, rising, 1 if beta is None else RISING)
    return Linear(lower, upper, *inwards(least, most, lower, upper))


def reach_sums(
    projection: Projection, group: Ints, lower: Ints, upper: Ints, beta: int | None = None
) -> Linear:
    """The same of sums of cells: `group` has for each cell the sum that it is in, or -1."""
    lower, upper = lower.copy(), upper.copy()
    order = np.argsort(group, kind="stable")
    cuts = np.searchsorted(group[order], np.arange(len(lower) + 1))
    members = [order[cuts[i] : cuts[i + 1]] for i in range(len(lower))]
    least, most = np.full(len(lower), np.inf), np.full(len(lower), -np.inf)
    for side, end, seen in ((-1, lower, least), (1, upper, most)):
        asked = np.flatnonzero(upper > lower)
        goals = end if side < 0 or beta is None else np.minimum(lower + beta, upper)
        ends = side < 0 or beta is None
        tasks = [Task(members[i], side, goals[[i]], joined=True, ends=ends) for i in asked]
        projection.run(tasks, np.zeros(0, np.int64))
        for row, task in zip(asked, tasks, strict=True):
            if task.bound is not None:
                end[row] = task.bound
            if task.reached:
                seen[row] = task.goals[0]
    return Linear(lower, upper, *inwards(least, most, lower, upper))


def inwards(least: Reals, most: Reals, lower: Ints, upper: Ints) -> tuple[Ints, Ints]:
    """Whole numbers between what was reached; a single value that is left is that of all tables."""
    met = np.isfinite(least) & np.isfinite(most)
    low, high = np.full(len(lower), NONE_LOW), np.full(len(upper), NONE_HIGH)
    low[met] = np.ceil(least[met] - CLOSE).astype(np.int64)
    high[met] = np.floor(most[met] + CLOSE).astype(np.int64)
    sure = lower == upper
    return np.where(sure, lower, low), np.where(sure, upper, high)


def values(projection: Projection, cells: Iterable[Ints], steps: int = MOST_STEPS) -> list[Task]:
    """The least and the greatest sum of each group of cells, to six digits, and its proof."""
    tasks = []
    for group in cells:
        for side in (-1, 1):
            end = projection.low if side < 0 else projection.high
            goal = np.array([end.ravel()[group].sum()])
            tasks.append(Task(group, side, goal, joined=True, exact=True))
    projection.run(tasks, np.zeros(0, np.int64), steps)
    return tasks


