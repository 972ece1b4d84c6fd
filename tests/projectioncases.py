"""Random tables with margins, known cells and zeros, for linear bounds by two methods."""

from itertools import combinations

import numpy as np

from discreet.intruder.bounds.linear import Program
from discreet.intruder.bounds.opencells import OpenCells
from discreet.intruder.bounds.part import Part
from discreet.intruder.bounds.projection.projection import Projection
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.table import Table
from oracle import named


def random_release(seed: int, most: int = 600) -> tuple[Table, Release]:
    """2 to 5 categories, up to `most` cells; some cells known or in a range, some impossible."""
    rng = np.random.default_rng(seed)
    shape: list[int] = []
    size = int(rng.integers(24, most + 1))
    while True:
        further = int(rng.integers(2, 6))
        if np.prod([*shape, further]) > size:
            break
        shape.append(further)
    while len(shape) < 3:
        shape.append(2)
    counts = rng.poisson(rng.choice([0.3, 1.0, 3.0]), shape)
    counts.flat[rng.integers(counts.size)] += 5
    table = named(counts)
    orders = [d for d in (2, 3) if d < len(shape)]
    every = [m for d in orders for m in combinations(table.names, d)]
    chosen = rng.choice(len(every), min(len(every), int(rng.integers(2, 9))), replace=False)
    if rng.random() < 0.3:
        pair = [0, 1]
        empty = np.argwhere(counts.sum(tuple(range(2, len(shape)))) == 0)
        zeros = [
            {table.names[a]: table.variables[a].categories[c] for a, c in zip(pair, e, strict=True)}
            for e in empty
        ]
        table = table.excluding(zeros) if zeros else table
    release = Release.margins(table, [every[i] for i in chosen])
    names = release.names
    seen = table.margin(names)
    for _ in range(int(rng.integers(0, 3))):
        place = tuple(int(rng.integers(size)) for size in seen.shape)
        cell = {v.name: v.categories[c] for v, c in zip(seen.variables, place, strict=True)}
        count = int(seen.dense()[place])
        wide = int(rng.integers(0, 3))
        release = release.between(cell, max(0, count - wide), count + wide)
    return table, release


def both_ways(
    table: Table, release: Release, most: int = 10**6
) -> tuple[Projection, Program, OpenCells, Cells]:
    """The projection, the simplex, and the small cells to ask both about."""
    program = Program(OpenCells.of(release))
    cells = table.margin(release.names).small(2)
    return Part(release).projection(1 << 30), program, program.cells, cells.take(slice(0, most))
