"""Witnesses inside slices: most variables held at the target's categories, a few let go."""

from __future__ import annotations

import itertools
import math
from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from discreet.arrays import Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.intruder.bounds.integer import NODES, IntegerProgram
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.witness.search import Witnesses
from discreet.release.release import STRUCTURAL, Known, Release
from discreet.solver import Limit
from discreet.table.cells import Cells
from discreet.table.keys import Codes
from discreet.table.lattice import maximal
from discreet.table.table import Table

LEAST_CELLS, MOST_CELLS = 64, 512
TRIES = 4
SLICES = 2_000  # that are tried


def slice_witnesses(
    release: Release,
    start: Table,
    cells: Cells,
    *,
    beta: int,
    lower: Ints | None = None,
    upper: Ints | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Witnesses:
    """How far `cells` vary over tables that differ from `start` in one slice.

    If only cells that share the target's categories on some variables move, a released margin keeps
    its values when its part over the other variables does. So a slice is a small table with a small
    release, and integer programs settle it. Slices grow until the cell spreads by `beta`, or from
    `lower` to `upper`.
    """
    rng, left, clock = np.random.default_rng(seed), Effort(effort).of(SLICES), Clock.of(seconds)
    here = start.lookup(cells.project(start.names))
    low, high, tables = here.copy(), here.copy(), 0
    wanted = np.full(len(cells), beta) if lower is None or upper is None else upper - lower
    wanted = np.minimum(wanted, beta)
    sizes = start.axes.sizes
    trials = [] if release.ranges else _growing(math.prod(sizes))
    for least, _ in itertools.product(trials, range(TRIES)):
        for row in np.flatnonzero(high - low < wanted):
            if not left or clock.over():
                break
            left, free = left - 1, _choose(sizes, least, rng)
            limit = Limit(nodes=NODES, seconds=clock.left)
            tables += _search(
                release, start, cells, int(row), free, low, high, int(wanted[row]), limit
            )
    return Witnesses(low, high, tables, "integer programs in slices")


def _growing(size: int) -> list[int]:
    """Sizes of slices, each twice the one before, up to the whole table or what is quick."""
    found, least = [], LEAST_CELLS
    while least <= min(size, MOST_CELLS):
        found.append(least)
        least *= 2
    return found or [size]


def _choose(sizes: Sequence[int], least: int, rng: np.random.Generator) -> list[int]:
    """Variables in random order until the slice has `least` cells."""
    free: list[int] = []
    for axis in rng.permutation(len(sizes)):
        if math.prod(sizes[a] for a in free) >= least:
            break
        free.append(int(axis))
    return sorted(free)


def _search(
    release: Release,
    start: Table,
    cells: Cells,
    row: int,
    free: list[int],
    low: Ints,
    high: Ints,
    beta: int,
    limit: Limit,
) -> int:
    """Integer programs for one target in one slice; every target in the slice learns from it."""
    names, codes = start.names, cells.project(start.names)
    held = [axis for axis in range(len(names)) if axis not in free]
    part = start.slice(**{names[a]: start.variables[a].categories[codes[row, a]] for a in held})
    if not free or not len(part):
        return 0
    let_go = release.axes.set_of(part.names)
    sets = maximal({s & let_go for s in release.formula.sets} - {0})
    sliced = Release.margins(part, [release.axes.names_of(s) for s in sets] or [part.names[:1]])
    inside = OpenCells.of(replace(sliced, known=_inside(release, start, codes[row], held)))
    same = np.flatnonzero((codes[:, held] == codes[row, held]).all(axis=1))
    group = inside.group(part.names, np.unique(codes[same][:, free], axis=0))
    places = np.unique(codes[same][:, free], axis=0, return_inverse=True)[1]
    mine = int(places[np.flatnonzero(same == row)[0]])
    program = IntegerProgram.build(inside)
    found = 0
    for sign in (1, -1):
        if high[row] - low[row] >= beta or not (group == mine).any():
            return found
        enough = int(low[row] + beta if sign > 0 else high[row] - beta)
        member = np.flatnonzero(group == mine)
        _, table = program.optimum(member, sign, limit, enough=max(enough, 0))
        if table is not None:
            sums = np.bincount(group, table, len(same) + 1)[places].astype(np.int64)
            low[same] = np.minimum(low[same], sums)
            high[same] = np.maximum(high[same], sums)
            found += 1
    return found


def _inside(release: Release, start: Table, code: Codes, held: list[int]) -> tuple[Known, ...]:
    """The known zeros that lie in a slice, without the variables that it holds."""
    at = {start.names[axis]: int(code[axis]) for axis in held}
    axes = {variable.name: variable for variable in start.variables}
    found = []
    for about, zeros in release.zeros:
        free = [i for i, name in enumerate(about) if name not in at]
        same = [zeros[:, i] == at[name] for i, name in enumerate(about) if name in at]
        for zero in zeros[np.all(same, axis=0)] if same else zeros:
            cell = tuple((about[i], axes[about[i]].categories[zero[i]]) for i in free)
            found.append(Known(cell, 0, 0, STRUCTURAL))
    return tuple(known for known in found if known.cell)
