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

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.effort import UNLIMITED, Clock
from discreet.intruder.bounds.projection.arraylanes import ArrayLanes, accelerator, most_lanes
from discreet.intruder.bounds.projection.coordinates import Coordinates, dot
from discreet.intruder.bounds.projection.lanes import CoreLanes, Lanes, Program
from discreet.intruder.bounds.projection.restarts import EVERY, Pace
from discreet.intruder.bounds.projection.run import FITS, Run
from discreet.intruder.bounds.projection.tasks import Reached, Task
from discreet.intruder.bounds.work import Work
from discreet.release.release import Release
from discreet.spreading import in_threads
from discreet.table.table import Table

LANES = 16
LEAST_CELLS = 4096  # of a table that is worth an accelerator
FIRST_STEP = 5.0
MOST_STEPS = 20_000
CENTER_STEPS = 20_000
STREAMS, MANY_STREAMS = 4, 16
LARGE = 1 << 20  # cells of a table


class Projection:
    """The tables that fit a release, and that lie within a box known to hold all of them."""

    def __init__(
        self,
        coordinates: Coordinates,
        known: Ints,
        low: Ints,
        high: Ints,
        start: Floats | None = None,
        pace: float = FIRST_STEP,
        steps: int = CENTER_STEPS,
    ) -> None:
        c, self.pace = coordinates, pace
        self.coordinates, self.known = coordinates, known
        self.low, self.high = np.ascontiguousarray(low), np.ascontiguousarray(high)
        self._device = accelerator() if low.size >= LEAST_CELLS else None
        start = (low + high) / 2 if start is None else start
        self.center: Floats = c.composed(known / c.norms) + start - c.kept(start)
        self._settle_center(steps)

    @classmethod
    def of(cls, release: Release, low: Ints, high: Ints, steps: int = CENTER_STEPS) -> Projection:
        coordinates = Coordinates.of(release)
        return cls(coordinates, coordinates.told(release), low, high, steps=steps)

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

    def _settle_center(self, steps: int) -> None:
        """A table that fits, to begin from."""
        lanes, every = self.lanes(1), np.arange(self.center.size)
        lanes.load([None], np.array([0]), np.ones(1), [None])
        pace = Pace(lanes)
        found, seen = lanes.look(every)
        for _ in range(0, steps, EVERY):
            if found.outside[0] <= FITS / 10:
                break
            pace.advance(lanes)
            found, seen = lanes.look(every)
            pace.restart(lanes, found.moved, found.turned, np.ones(1, bool))
        self.center = seen[:, 0].reshape(self.center.shape)

    def lanes(self, count: int) -> Lanes:
        given = self.coordinates, self.center, self.low, self.high, count
        return CoreLanes(*given) if self._device is None else ArrayLanes(*given, *self._device)

    def _streams(self, tasks: int, limited: bool) -> tuple[int, int]:
        """Side by side, and how many lanes each has at most: cores, or the accelerator.

        What one finds serves its own tasks only, and can decide what is left open: they are as many
        on every machine, few where work is limited or memory dear.
        """
        if self._device is not None:
            return 1, most_lanes(self.center.size, self._device[0])
        most = STREAMS if limited or self.center.size > LARGE else MANY_STREAMS
        return max(1, min(most, -(-tasks // LANES))), LANES

    def run(
        self,
        tasks: Sequence[Task],
        watched: Ints,
        steps: int = MOST_STEPS,
        *,
        warm: bool = False,
        clock: Clock = UNLIMITED,
        work: Work | None = None,
        share: float = 1,
    ) -> Reached:
        """Settle the tasks, some at a time on every core; what their tables reach elsewhere.

        With `warm` each task keeps where it ended. A `share` of the `work` that is left is handed
        out evenly: what a task leaves open does not depend on the number of cores.
        """
        tasks, shares = self._shared(tasks, work, share)
        streams, most = self._streams(len(tasks), work is not None)
        how = watched, steps, warm, most, clock
        runs = [Run(self, tasks[i::streams], *how) for i in range(streams)]
        in_threads(Run.settle, runs)
        in_threads(self._prove, (task for run in runs for task in run.reached.tasks))
        if work is not None:
            work.spend(shares, self.coordinates.cost)
        paces = [math.log(s) for run in runs for s in run.paces]
        if paces:
            self.pace = math.exp(float(np.median(paces)))
        low = np.minimum.reduce([run.reached.low for run in runs])
        high = np.maximum.reduce([run.reached.high for run in runs])
        return Reached(low, high, [task for run in runs for task in run.reached.tasks])

    def _shared(
        self, tasks: Sequence[Task], work: Work | None, share: float
    ) -> tuple[Sequence[Task], list[Work]]:
        """With a share of the work each; none where that is too little to look at all."""
        if work is None or not tasks:
            return tasks, []
        shares = work.shares(len(tasks), self.coordinates.cost / share)
        if shares[0].most < EVERY:
            work.short = True
            return [], []
        for task, own in zip(tasks, shares, strict=True):
            task.share = own
        return tasks, shares

    def _prove(self, task: Task) -> None:
        """In whole numbers what the iteration says that no table reaches."""
        if task.force is None or not (task.short or task.exact):
            return
        over, under = self.proven(task.program(self.low, self.high), task.force)
        # cost >= over / under, and the cost is minus the side times the count
        bound = (-over) // under if task.side > 0 else -((-over) // under)
        if task.ends or task.exact:
            task.bound = bound
            task.reached = task.reached and (task.exact or bound == int(task.goals.sum()))
        elif bound * task.side < int(task.goals.sum()) * task.side:
            task.bound = bound
        if task.reached:
            task.force = None

    def proven(self, program: Program, force: Floats) -> tuple[int, int]:
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
