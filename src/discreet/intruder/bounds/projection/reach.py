"""How far cells go by linear bounds: both ends, or only whether they keep a width."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.effort import UNLIMITED, Clock
from discreet.intruder.bounds.projection.projection import MOST_STEPS, Projection
from discreet.intruder.bounds.projection.run import CLOSE
from discreet.intruder.bounds.projection.tasks import Reals, Task
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW
from discreet.intruder.bounds.work import Work

FALLING = 128  # cells that are sent down together
RISING = 128  # up, at most
HALF = 0.5  # of work that is limited, for the lower ends


class Linear(NamedTuple):
    """Proven ends, and the whole numbers within what tables of fractions reach.

    `forces` has, of each cell that was not seen to go as far as asked, what stood in the way.
    """

    lower: Ints
    upper: Ints
    fit_low: Ints
    fit_high: Ints
    forces: dict[int, Reals]

    def keep(self, beta: int) -> NDArray[np.bool_]:
        """Which cells are seen to keep a width."""
        return (self.fit_low <= self.fit_high) & (self.fit_high - self.fit_low >= beta)


@dataclass
class Warm:
    """Where the programs for a release ended: where those for a similar one begin."""

    tasks: dict[int, list[Task]] = field(default_factory=dict)

    def begin(self, side: int, cells: Ints, goals: Ints, sizes: Ints, ends: bool) -> list[Task]:
        """The groups of last time as far as they are asked about, then new ones of such sizes."""
        row, found = {int(cell): i for i, cell in enumerate(cells)}, list[Task]()
        for old in self.tasks.get(side, ()):
            inside = [row.pop(c) for c in old.cells.tolist() if c in row]
            if inside:
                task = Task(cells[inside], side, goals[inside], ends=ends)
                task.start, task.pace = old.start, old.pace
                found.append(task)
        rest, at = np.array(list(row.values()), np.int64), 0
        while at < len(rest):
            group = rest[at : at + int(sizes[rest[at]])]
            found.append(Task(cells[group], side, goals[group], ends=ends))
            at += len(group)
        return found

    def end(self, side: int, asked: Ints, tasks: Iterable[Task]) -> None:
        """Remember the groups that went as far as asked, and those that were not asked about."""
        kept = [task for task in tasks if task.start is not None and task.reached]
        others = [old for old in self.tasks.get(side, ()) if not np.isin(old.cells, asked).any()]
        self.tasks[side] = others + list({id(task): task for task in kept}.values())


def reach(
    projection: Projection,
    cells: Ints,
    lower: Ints,
    upper: Ints,
    beta: int | None = None,
    *,
    steps: int = MOST_STEPS,
    warm: Warm | None = None,
    clock: Clock = UNLIMITED,
    work: Work | None = None,
) -> Linear:
    """Of cells of the table, at their places in it, within ends that are known to hold.

    With `beta` only whether the ends are so far apart: then several cells rise in one program, each
    to the width and no further, and what one table reaches counts for every cell.
    """
    lower, upper = lower.copy(), upper.copy()
    rows = {int(cell): row for row, cell in enumerate(cells)}
    least, most = np.full(len(cells), np.inf), np.full(len(cells), -np.inf)
    forces: dict[int, Reals] = {}

    def send(side: int, goals: Ints, at: Ints, sizes: Ints) -> None:
        ends = side < 0 or beta is None
        tasks = (warm or Warm()).begin(side, cells[at], goals[at], sizes, ends)
        how: Any = {"clock": clock, "work": work, "share": HALF if side < 0 else 1}
        found = projection.run(tasks, cells, steps, warm=warm is not None, **how)
        if warm is not None:
            warm.end(side, cells[at], (*tasks, *found.tasks))
        np.minimum(least, found.low, out=least)
        np.maximum(most, found.high, out=most)
        for task in found.tasks:
            row = rows[int(task.cells[0])]
            if task.bound is not None:
                (upper if side > 0 else lower)[row] = task.bound
            if task.force is not None and not task.reached:
                forces[row] = task.force

    open_cells = np.flatnonzero(upper > lower)
    send(-1, lower, open_cells, np.full(len(open_cells), FALLING))
    goals = upper if beta is None else np.minimum(lower + beta, upper)
    rising = np.flatnonzero((upper > lower) & (most < goals - CLOSE))
    sizes = np.ones(len(cells), np.int64)
    if beta is not None:
        # cells that can be far above what they need rise together
        width = upper - lower
        rising = rising[width[rising] >= beta]
        rising = rising[np.argsort(-width[rising], kind="stable")]
        sizes = np.clip(width // max(beta - 1, 1), 1, RISING)
    send(1, goals, rising, sizes[rising])
    return Linear(lower, upper, *inwards(least, most, lower, upper), forces)


def reach_sums(
    projection: Projection,
    group: Ints,
    lower: Ints,
    upper: Ints,
    beta: int | None = None,
    *,
    clock: Clock = UNLIMITED,
    work: Work | None = None,
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
        share = HALF if side < 0 else 1
        projection.run(tasks, np.zeros(0, np.int64), clock=clock, work=work, share=share)
        for row, task in zip(asked, tasks, strict=True):
            if task.bound is not None:
                end[row] = task.bound
            if task.reached:
                seen[row] = task.goals[0]
    return Linear(lower, upper, *inwards(least, most, lower, upper), {})


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
