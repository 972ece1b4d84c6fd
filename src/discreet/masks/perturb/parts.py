"""The parts of a release that released margins separate: each is drawn by itself.

Under the log-linear model of the release the margin of a part P has the probability of its own
model, 1 / prod n_P!, and given these margins a table is a random matching of them: summed over the
tables with margins n_P the weights 1 / prod n! are prod n_S! / prod n_P!, S the separators.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence

import numpy as np

from discreet.arrays import Ints
from discreet.intruder.posterior.exact.decomposable import draw_tables
from discreet.release.release import Release
from discreet.table.graph import components
from discreet.table.keys import Codes, keys, lookup
from discreet.table.lattice import maximal
from discreet.table.table import Table


def parts_of(release: Release) -> list[Release]:
    """What is released of each part; known cells lie in one part, and tie it together."""
    known = [release.axes.set_of(name for name, _ in each.cell) for each in release.known]
    sets = release.formula.sets
    nodes = components(sets, len(release.names), known).nodes
    home = [next(i for i, node in enumerate(nodes) if not s & ~node) for s in known]
    found = []
    for place, node in enumerate(nodes):
        margins = maximal(s & node for s in sets)
        names = release.axes.names_of(node)
        found.append(
            Release(
                tuple(v for v in release.variables if v.name in names),
                tuple(release.table(release.axes.names_of(margin)) for margin in margins),
                tuple(e for e, at in zip(release.known, home, strict=True) if at == place),
            )
        )
    return found


def is_told(part: Release) -> bool:
    """Is the part a released margin?"""
    return any(set(table.names) == set(part.names) for table in part.tables)


def matched_tables(
    release: Release, parts: Sequence[Sequence[Table]], rng: np.random.Generator
) -> list[Table]:
    """A random matching of the parts for each draw."""
    whole = dataclasses.replace(release, known=())
    return [
        next(
            draw_tables(dataclasses.replace(whole, tables=tables), seed=int(rng.integers(1 << 62)))
        )
        for tables in zip(*parts, strict=True)
    ]


def together(tables: Sequence[Table], shape: Sequence[int]) -> tuple[Codes, Ints]:
    """The cells that somebody is in, and their counts: a row a table."""
    codes = np.concatenate([table.codes for table in tables])
    codes = codes[np.unique(keys(codes, shape), return_index=True)[1]]
    counts = np.zeros((len(tables), len(codes)), np.int64)
    for row, table in zip(counts, tables, strict=True):
        row[lookup(codes, shape, table.codes)] = table.counts
    return codes, counts
