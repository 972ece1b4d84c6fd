"""Do small counts keep a width by linear bounds? Once more, by code of its own.

The steps are those of `ArrayLanes` on numpy, not of the kernels; and the table that comes out is
checked by adding up: every released margin, and every cell within what it may be.
"""

import numpy as np

from discreet.intruder.bounds.projection.arraylanes import ArrayLanes
from discreet.intruder.bounds.projection.coordinates import Coordinates
from discreet.intruder.bounds.projection.restarts import Pace
from discreet.intruder.bounds.projection.tasks import Task
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.table import Table

GROUP = 6


def reached_by_another(
    table: Table, formula: Formula, rows: np.ndarray, beta: int, steps: int = 6_000
) -> np.ndarray:
    """Which of the small counts are 0 in one table that fits, and `beta` in another."""
    release = Release.margins(table, formula)
    coordinates = Coordinates.of(release)
    truth = table.dense().astype(float)
    low, high = np.zeros(table.shape, np.int64), np.full(table.shape, table.total)
    for margin in release.tables:
        axes = [table.names.index(name) for name in margin.names]
        dense = margin.dense().transpose(np.argsort(axes))
        high = np.minimum(
            high, dense.reshape([n if a in axes else 1 for a, n in enumerate(table.shape)])
        )
    codes = table.small().codes[rows].astype(np.int64)
    places = np.ravel_multi_index(tuple(codes.T), table.shape)
    groups = [places[i : i + GROUP] for i in range(0, len(places), GROUP)]
    tasks = [Task(g, 1, np.full(len(g), beta)) for g in groups]
    tasks += [Task(g, -1, np.zeros(len(g), np.int64)) for g in groups]
    lanes = ArrayLanes(coordinates, truth, low, high, len(tasks), np, None)
    programs = [task.program(low, high) for task in tasks]
    lanes.load(programs, np.arange(len(tasks)), np.full(len(tasks), 2.0), [None] * len(tasks))
    pace, every = Pace(lanes), np.arange(truth.size)
    reached = [False] * len(tasks)
    for _ in range(0, steps, 25):
        pace.advance(lanes)
        found, seen = lanes.look(every)
        for lane, task in enumerate(tasks):
            counts = seen[:, lane]
            near = task.side * (counts[task.cells] - task.goals) >= -1e-6
            if not reached[lane] and found.outside[lane] <= 1e-7 and near.all():
                fits(release, table, counts.reshape(table.shape))
                reached[lane] = True
        if all(reached):
            break
        pace.restart(lanes, found.moved, found.turned, ~np.array(reached))
    half = len(groups)
    return np.concatenate(
        [np.full(len(g), reached[i] and reached[half + i]) for i, g in enumerate(groups)]
    )


def fits(release: Release, table: Table, counts: np.ndarray) -> None:
    """Every released margin, added up, and no count below zero."""
    assert counts.min() >= -1e-7
    for margin in release.tables:
        axes = [table.names.index(name) for name in margin.names]
        gone = tuple(axis for axis in range(counts.ndim) if axis not in axes)
        dense = margin.dense().transpose(np.argsort(axes))
        assert np.abs(counts.sum(gone) - dense).max() <= 1e-6
