"""Linear bounds at any size: projections in turn on the margins and on a box.

x keeps the released margins, z keeps the box; a program's state y moves by their difference
(Halpern's iteration of the Douglas-Rachford operator, with restarts):

    x = project(y - s c),   z = clamp(2x - y),
    y <- anchor / (k + 2) + (y + 1.98 (z - x)) (k + 1) / (k + 2)

At any step r = (y - x) / s is the cost c plus a combination of released sums, so that
r.x >= sum of r times the nearer end of the box bounds the cost of every table that fits.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from operator import mul

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.arraylanes import ArrayLanes, accelerator, most_lanes
from discreet.intruder.bounds.coordinates import Coordinates
from discreet.intruder.bounds.lanes import CoreLanes, Lanes, Program
from discreet.intruder.bounds.opencells import Ints
from discreet.release.release import Release
from discreet.table.table import Table

Reals = NDArray[np.float64]
FITS = 1e-8  # how far outside the box a table may be that counts as one that fits
CLOSE = 1e-6  # how near to a number counts as reaching it
LANES = 16
LEAST_CELLS = 4096  # of a table that is worth an accelerator
EVERY = 25  # steps between two looks
FIRST_STEP = 5.0
MOST_STEPS = 20_000
CENTER_STEPS = 20_000
PATIENCE = 500  # steps before a group of cells is split
NEARLY = 1e-2  # of those, cells that lack no more stay together


@dataclass(eq=False)
class Task:
    """How far cells rise (side 1) or fall (-1): to their goals, one by one or, `joined`, in sum.

    With `ends` a goal that no table reaches gives way to the next whole number; with `exact` the
    value itself is wanted. `bound` is proven: no table goes beyond; `force` is what proves it, or,
    where it was given up, what stood in the way. `start` is where the iteration begins, and ends,
    with the step `pace`.
    """

    cells: Ints
    side: int
    goals: Ints
    joined: bool = False
    ends: bool = False
    exact: bool = False
    bound: int | None = None
    value: float = math.nan
    reached: bool = False
    steps: int = 0
    start: Reals | None = field(default=None, repr=False)
    pace: float | None = None
    force: Reals | None = field(default=None, repr=False)

    @property
    def goal(self) -> float:
        """In terms of the cost, which is to be small."""
        return -self.side * float(self.goals.sum())


class Projection:
    """The tables that fit a release, and that lie within a box known to hold all of them."""

    def __init__(
        self,
        coordinates: Coordinates,
        known: Ints,
        low: Ints,
        high: Ints,
        start: Reals | None = None,
        pace: float = FIRST_STEP,
    ) -> None:
        c, self.pace = coordinates, pace
        self.coordinates, self.known = coordinates, known
        self.low, self.high = np.ascontiguousarray(low), np.ascontiguousarray(high)
        self._device = accelerator() if low.size >= LEAST_CELLS else None
        start = (low + high) / 2 if start is None else start
        self.center: Reals = c.composed(known / c.norms) + start - c.kept(start)
        self._settle_center()

    @classmethod
    def of(cls, release: Release, low: Ints, high: Ints) -> Projection:
        coordinates = Coordinates.of(release)
        return cls(coordinates, coordinates.told(release), low, high)

    def moved(self, release: Release, low: Ints, high: Ints) -> Projection:
        """Of another release, from here."""
        coordinates = Coordinates.of(release)
        known = coordinates.told(release)
        return Projection(coordinates, known, low, high, self.center, self.pace)

    def grown(
        self, tables: Sequence[Table], names: Sequence[str], low: Ints, high: Ints
    ) -> Projection:
        """With further margins, and the box that they leave."""
        coordinates, known = self.coordinates.grown(tables, names, self.known)
        return Projection(coordinates, known, low, high, self.center, self.pace)

    def _settle_center(self) -> None:
        """A table that fits, to begin from."""
        lanes, every = self.lanes(1), np.arange(self.center.size)
        lanes.load([None], np.array([0]), np.ones(1), [None])
        pace = _Pace(lanes)
        found, seen = lanes.look(every)
        for _ in range(0, CENTER_STEPS, EVERY):
            if found.outside[0] <= FITS / 10:
                break
            pace.advance(lanes)
            found, seen = lanes.look(every)
            pace.restart(lanes, found.moved, found.turned, np.ones(1, bool))
        self.center = seen[:, 0].reshape(self.center.shape)

    def lanes(self, count: int) -> Lanes:
        given = self.coordinates, self.center, self.low, self.high, count
        return CoreLanes(*given) if self._device is None else ArrayLanes(*given, *self._device)

    def _streams(self, tasks: int) -> tuple[int, int]:
        """Side by side, and how many lanes each has at most: cores, or the accelerator."""
        if self._device is not None:
            return 1, most_lanes(self.center.size, self._device[0])
        from numba import get_num_threads

        return max(1, min(get_num_threads(), -(-tasks // LANES))), LANES

    def run(
        self, tasks: Sequence[Task], watched: Ints, steps: int = MOST_STEPS, *, warm: bool = False
    ) -> Reached:
        """Settle the tasks, some at a time on every core; what their tables reach elsewhere.

        With `warm` each task keeps where it ended.
        """
        streams, most = self._streams(len(tasks))
        runs = [_Run(self, tasks[i::streams], watched, steps, warm, most) for i in range(streams)]
        with ThreadPoolExecutor(streams) as pool:
            list(pool.map(_Run.settle, runs))
        paces = [math.log(s) for run in runs for s in run.paces]
        if paces:
            self.pace = math.exp(float(np.median(paces)))
        low = np.minimum.reduce([run.reached.low for run in runs])
        high = np.maximum.reduce([run.reached.high for run in runs])
        return Reached(low, high, [task for run in runs for task in run.reached.tasks])

    def proven(self, program: Program, force: Reals) -> tuple[int, int]:
        """A bound on the cost of every table that fits, as a fraction of whole numbers.

        A combination f of released sums has the same value f.x for all of them, so that

            c.x = f.x + (c - f).x >= f.x + sum of (c - f) times the nearer end of the box

        f is what the iteration suggests, rounded; the rest is exact.
        """
        c = self.coordinates
        cost = np.zeros(self.center.size)
        np.add.at(cost, program.cells, program.cost)
        parts = c.analysed((cost - force).reshape(c.shape)) / c.norms
        parts = np.where(c.released, parts, 0.0)
        entries = np.prod([max(size - 1, 1) for size in c.shape], dtype=float)
        most = float(np.abs(parts).sum()) * entries + float(np.abs(cost).max()) + 1
        scale = min(40, 61 - math.ceil(math.log2(most)))
        weights = np.rint(np.ldexp(parts, scale)).astype(np.int64)
        rest = np.rint(np.ldexp(cost, scale)).astype(np.int64).reshape(c.shape)
        rest -= c.composed(weights)
        ends = np.where(rest > 0, self.low, self.high)
        return dot(weights, self.known) + dot(rest, ends), 1 << scale


@dataclass(eq=False)
class Reached:
    """The least and the greatest value of the watched cells in tables that fit, and the tasks."""

    low: Reals
    high: Reals
    tasks: list[Task] = field(default_factory=list)

    def add(self, seen: Reals) -> None:
        np.minimum(self.low, seen.min(1), out=self.low)
        np.maximum(self.high, seen.max(1), out=self.high)


class _Pace:
    """When lanes begin anew, and with which step."""

    def __init__(self, lanes: Lanes) -> None:
        self.last = np.full(lanes.count, np.inf)
        self.before = np.full(lanes.count, np.inf)
        self.total = np.zeros(lanes.count, np.int64)
        self.since = np.zeros(lanes.count, np.int64)

    def fresh(self, lanes: Ints) -> None:
        self.last[lanes] = self.before[lanes] = np.inf
        self.total[lanes] = self.since[lanes] = 0

    def advance(self, lanes: Lanes) -> None:
        self.now = lanes.advance(EVERY)
        self.total += EVERY
        self.since += EVERY

    def restart(self, lanes: Lanes, moved: Reals, turned: Reals, may: NDArray[np.bool_]) -> bool:
        """Where the distance has fallen enough, or grows again, or it takes too long."""
        now, last = self.now, self.last
        again = (now <= 0.5 * last) | ((now <= 0.8 * last) & (now > self.before))
        again = may & (again | (self.since >= self.total / 5))
        self.before = np.where(again, np.inf, now)
        if not again.any():
            return False
        step = lanes.step
        ratio = np.sqrt(moved / np.maximum(turned, 1e-300))
        fine = (ratio > 0) & np.isfinite(ratio)
        lanes.restart(
            again, np.where(fine, np.sqrt(step * np.clip(ratio, step / 10, step * 10)), step)
        )
        self.last = np.where(again, now, last)
        self.since[again] = 0
        return True

    def keep(self, lanes: Ints) -> None:
        self.last, self.before = self.last[lanes], self.before[lanes]
        self.total, self.since = self.total[lanes], self.since[lanes]


class _Run:
    """Tasks in turn through the lanes of one core."""

    def __init__(
        self,
        projection: Projection,
        tasks: Sequence[Task],
        watched: Ints,
        steps: int,
        warm: bool,
        most: int,
    ) -> None:
        self.projection, self.watched, self.steps, self.warm = projection, watched, steps, warm
        self.most = most
        self.base, self.changed = np.zeros(0), False
        self.todo = list(reversed(tasks))
        self.reached = Reached(np.full(len(watched), np.inf), np.full(len(watched), -np.inf))
        self.row = np.full(projection.center.size, -1)
        self.row[watched] = np.arange(len(watched))
        self.paces: list[float] = []

    def settle(self) -> None:
        count = min(self.most, len(self.todo))
        if not count:
            return
        lanes = self.projection.lanes(count)
        self.lanes, self.pace = lanes, _Pace(lanes)
        self.tasks: list[Task | None] = [None] * count
        self.best = np.full(count, -np.inf)
        self._fill(np.arange(count))
        while any(self.tasks):
            self.pace.advance(lanes)
            found, self.seen = lanes.look(self.watched)
            fits = found.outside <= FITS
            if fits.any():
                self.reached.add(self.seen[:, fits])
            self._note(found.proven + self.base, found.spent + self.base, fits)
            busy = np.array([task is not None for task in self.tasks])
            done = np.flatnonzero(self.done & busy)
            self.pace.restart(lanes, found.moved, found.turned, busy & ~self.done)
            if len(done):
                self.paces += lanes.step[done].tolist()
                self._finish(done)
                self._fill(done)
            elif self.changed:
                self._load(np.zeros(0, np.int64))

    def _finish(self, done: Ints) -> None:
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
        self.best[free] = -np.inf
        self.pace.fresh(free)
        self._load(free)
        busy = np.flatnonzero([task is not None for task in self.tasks])
        if 0 < len(busy) <= len(self.tasks) // 2:
            self.lanes.keep(busy)
            self.pace.keep(busy)
            self.best = self.best[busy]
            self.tasks = [self.tasks[lane] for lane in busy]
            self._load(np.zeros(0, np.int64))

    def _next(self) -> Task | None:
        """The first that no table has answered yet."""
        while self.todo:
            task = self.todo.pop()
            if not self._known(task):
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
        programs = [None if task is None else self._program(task) for task in self.tasks]
        center = self.projection.center.ravel()
        self.base = np.array([0.0 if p is None else p.cost @ center[p.cells] for p in programs])
        self.programs = programs
        begun = [self.tasks[lane] for lane in fresh]
        pace = self.projection.pace
        step = np.array([pace if t is None or t.pace is None else t.pace for t in begun])
        starts = [None if task is None else task.start for task in begun]
        self.lanes.load(programs, fresh, step, starts)
        self.changed = False

    def _program(self, task: Task) -> Program:
        low = self.projection.low.ravel()[task.cells].astype(float)
        high = self.projection.high.ravel()[task.cells].astype(float)
        if not task.joined and not task.exact:
            low = np.maximum(low, task.goals) if task.side < 0 else low
            high = np.minimum(high, task.goals) if task.side > 0 else high
        return Program(task.cells, np.full(len(task.cells), -float(task.side)), low, high)

    def _note(self, proven: Reals, spent: Reals, fits: NDArray[np.bool_]) -> None:
        """What the lanes say of their tasks."""
        self.done = np.zeros(len(self.tasks), bool)
        for lane, task in enumerate(self.tasks):
            if task is None:
                continue
            task.steps += EVERY
            self.best[lane] = max(self.best[lane], proven[lane])
            if task.exact:
                if fits[lane]:
                    task.value = -task.side * float(spent[lane])
                done = fits[lane] and spent[lane] - self.best[lane] <= CLOSE
                if done or task.steps >= self.steps:
                    task.reached = bool(done)
                    self._prove(lane, task)
                    self.done[lane] = True
                continue
            if task.joined:
                task.reached = bool(fits[lane] and spent[lane] <= task.goal + CLOSE)
            if task.reached or self._known(task):
                self.done[lane] = True
            elif proven[lane] > task.goal + CLOSE:
                self._short(lane, task)
            elif task.steps >= (self.steps if self._single(task) else PATIENCE):
                self._split(lane, task)

    def _single(self, task: Task) -> bool:
        return task.joined or len(task.cells) == 1

    def _short(self, lane: int, task: Task) -> None:
        """No table reaches the goal."""
        if not self._single(task):
            self._split(lane, task)
        elif self._prove(lane, task):
            self.done[lane] = not task.ends
            if task.ends:
                task.goals = np.array([task.bound])
                self.changed = True

    def _prove(self, lane: int, task: Task) -> bool:
        """In whole numbers; is it better than what was known?"""
        program, force = self.programs[lane], self.lanes.forces(np.array([lane]))[0]
        assert program is not None
        task.force = force
        over, under = self.projection.proven(program, force)
        # cost >= over / under, and the cost is minus the side times the count
        bound = (-over) // under if task.side > 0 else -((-over) // under)
        better = bound * task.side < int(task.goals.sum()) * task.side
        if better or task.exact:
            task.bound = bound
        return better

    def _split(self, lane: int, task: Task) -> None:
        """Those that are nearly there, and the others, or halves; a single cell is given up."""
        self.done[lane] = True
        if self._single(task):
            task.force = self.lanes.forces(np.array([lane]))[0]
            return
        lacking = task.side * (task.goals - self.seen[self.row[task.cells], lane])
        near = lacking <= NEARLY
        if near.all() or not near.any():
            near = np.arange(len(near)) < len(near) // 2
        start, pace = self.lanes.states(np.array([lane]))[0], float(self.lanes.step[lane])
        for part in (~near, near):
            cells, goals = task.cells[part], task.goals[part]
            self.todo.append(Task(cells, task.side, goals, ends=task.ends, start=start, pace=pace))


def dot(left: Ints, right: Ints) -> int:
    """The sum of products of whole numbers, exactly."""
    some = np.flatnonzero(left)
    left, right = left.ravel()[some], right.ravel()[some]
    # pieces of the left numbers, so small that no sum of products overflows
    bits = 62 - int(np.abs(right).max(initial=0)).bit_length() - len(some).bit_length()
    if bits < 8:
        return sum(map(mul, left.tolist(), right.tolist()))
    right, left = np.where(left < 0, -right, right), np.abs(left)
    pieces = (left >> at & ((1 << bits) - 1) for at in range(0, 63, bits))
    return sum(int(piece @ right) << bits * i for i, piece in enumerate(pieces))
