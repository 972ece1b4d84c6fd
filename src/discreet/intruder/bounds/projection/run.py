"""Tasks in turn through the lanes of one core, or of one accelerator."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.effort import UNLIMITED, Clock
from discreet.intruder.bounds.projection.lanes import WIDE
from discreet.intruder.bounds.projection.restarts import EVERY, Pace
from discreet.intruder.bounds.projection.tasks import Reached, Task

if TYPE_CHECKING:
    from discreet.intruder.bounds.projection.projection import Projection

FITS = 1e-8  # how far outside the box a table may be that counts as one that fits
CLOSE = 1e-6  # how near to a number counts as reaching it
PATIENCE = 1_500  # steps before a group of cells is split
NEARLY = 1e-2  # of those, cells that lack no more stay together


class Run:
    """Lanes that are filled with tasks until all are done."""

    def __init__(
        self,
        projection: Projection,
        tasks: Sequence[Task],
        watched: Ints,
        steps: int,
        warm: bool,
        most: int,
        clock: Clock = UNLIMITED,
    ) -> None:
        self.projection, self.watched, self.steps, self.warm = projection, watched, steps, warm
        self.todo, self.most, self.clock = list(reversed(tasks)), most, clock
        self.reached = Reached(np.full(len(watched), np.inf), np.full(len(watched), -np.inf))
        self.row = np.full(projection.center.size, -1)
        self.row[watched] = np.arange(len(watched))
        self.paces: list[float] = []

    def settle(self) -> None:
        """Until no task is left; what a clock stops is left open."""
        if not self.todo:
            return
        count = min(self.most, _padded(len(self.todo)))
        lanes = self.lanes = self.projection.lanes(count)
        self.pace = Pace(lanes)
        self.tasks: list[Task | None] = [None] * count
        self._fill(np.arange(count))
        while any(self.tasks) and not self.clock.over():
            self.pace.advance(lanes)
            found, self.seen = lanes.look(self.watched)
            fits = found.outside <= FITS
            if fits.any():
                self.reached.add(self.seen[:, fits])
            self.done, self.changed = np.zeros(lanes.count, bool), False
            for lane, task in enumerate(self.tasks):
                if task is not None:
                    proven = found.proven if task.single else found.capped
                    base, spent = self.base[lane], found.spent[lane]
                    self._note(lane, task, proven[lane] + base, spent + base, bool(fits[lane]))
            busy = np.array([task is not None for task in self.tasks])
            self.pace.restart(lanes, found.moved, found.turned, busy & ~self.done)
            if self.done.any():
                free = np.flatnonzero(self.done)
                self._finish(free)
                self._fill(free)
            elif self.changed:
                self._load(np.zeros(0, np.int64))

    def _finish(self, done: Ints) -> None:
        self.paces += self.lanes.step[done].tolist()
        states = self.lanes.states(done) if self.warm else [None] * len(done)
        for lane, state in zip(done, states, strict=True):
            task = self.tasks[lane]
            assert task is not None
            task.start, task.pace = state, float(self.lanes.step[lane])
            self.reached.tasks.append(task)

    def _fill(self, free: Ints) -> None:
        """The next tasks; where there are none, fewer lanes."""
        for lane in free:
            self.tasks[lane] = self._next()
        self.pace.fresh(free)
        self._load(free)
        busy = [lane for lane, task in enumerate(self.tasks) if task is not None]
        count = _padded(len(busy))
        if busy and count <= len(self.tasks) // 2:
            idle = [lane for lane, task in enumerate(self.tasks) if task is None]
            kept = np.array(busy + idle[: count - len(busy)])
            self.lanes.keep(kept)
            self.pace.keep(kept)
            self.tasks = [self.tasks[lane] for lane in kept]
            self._load(np.zeros(0, np.int64))

    def _next(self) -> Task | None:
        """The first that no table has answered yet."""
        while self.todo:
            task = self.todo.pop()
            if not self._known(task) and not (task.share and task.share.short):
                return task
        return None

    def _known(self, task: Task) -> bool:
        """Have tables reached all its goals, be it for another task?"""
        if task.joined or task.exact:
            return False
        rows = self.row[task.cells]
        if task.side > 0:
            near = self.reached.high[rows] >= task.goals - CLOSE
        else:
            near = self.reached.low[rows] <= task.goals + CLOSE
        task.reached = bool(near.all())
        return task.reached

    def _load(self, fresh: Ints) -> None:
        projection = self.projection
        low, high, center = projection.low, projection.high, projection.center.ravel()
        programs = [None if task is None else task.program(low, high) for task in self.tasks]
        self.base = np.array([0.0 if p is None else p.cost @ center[p.cells] for p in programs])
        begun = [self.tasks[lane] for lane in fresh]
        step = [projection.pace if t is None or t.pace is None else t.pace for t in begun]
        starts = [None if task is None else task.start for task in begun]
        self.lanes.load(programs, fresh, np.array(step), starts)

    def _note(self, lane: int, task: Task, proven: float, spent: float, fits: bool) -> None:
        """What a lane says of its task."""
        task.steps += EVERY
        if task.share is not None and not task.share.take(EVERY):
            self.done[lane] = True  # unless it has come to something, it is left open
        if task.exact:
            task.value = -task.side * spent if fits else task.value
            task.reached = bool(fits and spent - proven <= CLOSE)
            if task.reached or task.steps >= self.steps:
                task.force = self._force(lane)
                self.done[lane] = True
            return
        if task.joined:
            task.reached = bool(fits and spent <= task.goal + CLOSE)
        if task.reached or self._known(task):
            self.done[lane] = True
        elif proven > task.goal + CLOSE:
            self._short(lane, task, proven)
        elif task.steps >= (self.steps if task.single else PATIENCE):
            self._split(lane, task)

    def _force(self, lane: int) -> Floats:
        return np.asarray(self.lanes.forces(np.array([lane]))[0])

    def _short(self, lane: int, task: Task, proven: float) -> None:
        """No table reaches the goal; the next whole number may be reached."""
        if not task.single:
            self._split(lane, task)
            return
        end = -task.side * proven
        next_goal = math.floor(end + CLOSE) if task.side > 0 else math.ceil(end - CLOSE)
        if next_goal * task.side >= int(task.goals.sum()) * task.side:
            if task.steps >= self.steps:
                self._split(lane, task)
            return
        task.force, task.short = self._force(lane), True
        if task.ends:
            task.goals, self.changed = np.array([next_goal]), True
        else:
            self.done[lane] = True

    def _split(self, lane: int, task: Task) -> None:
        """Those that are nearly there, and the others, or halves; a single cell is given up."""
        self.done[lane] = True
        if task.single:
            task.force = self._force(lane) if task.force is None else task.force
            return
        lacking = task.side * (task.goals - self.seen[self.row[task.cells], lane])
        near = lacking <= NEARLY
        if near.all() or not near.any():
            near = np.arange(len(near)) < len(near) // 2
        start, pace = self.lanes.states(np.array([lane]))[0], float(self.lanes.step[lane])
        given: Any = {"ends": task.ends, "start": start, "pace": pace, "share": task.share}
        for part in (~near, near):
            self.todo.append(Task(task.cells[part], task.side, task.goals[part], **given))


def _padded(count: int) -> int:
    """Lanes fill whole vectors."""
    return -(-count // WIDE) * WIDE
