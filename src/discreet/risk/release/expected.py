"""What a release leads one to expect of a margin that it does not contain."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from operator import or_

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.reduce import reduce_sets
from discreet.models.ipf import MOST_CELLS, ipf
from discreet.release.release import Release
from discreet.table.lattice import bits

CLOSE = 1e-6  # of the total: what a fit may be off where it does not converge


@dataclass(frozen=True, eq=False)
class Expected:
    """Counts over the named variables, and how far they may be off."""

    counts: NDArray[np.float64]
    gap: float

    @property
    def close(self) -> bool:
        return self.gap <= CLOSE


def expected(
    release: Release, names: Sequence[str], weights: Mapping[str, Sequence[float]] | None = None
) -> Expected | None:
    """The margin over `names` of the table of largest entropy that fits; None if out of reach.

    Within what is released, nothing else is assumed: the fit of the log-linear model with the
    released margins, zero where a combination is impossible. What is released itself is exact.
    With `weights` of the categories of variables among `names`, the table nearest to them.

    >>> from discreet.table.table import Table
    >>> table = Table.of([[[45, 5], [45, 5]], [[25, 25], [25, 25]]], A="ab", B="cd", S="yn")
    >>> expected(Release.margins(table, "A*S"), ["A", "B", "S"]).counts[0].tolist()
    [[45.0, 5.0], [45.0, 5.0]]
    """
    if any(known.upper > 0 for known in release.known):
        return None  # a range of a single cell is no margin
    if release.formula.contains(names):
        return Expected(release.table(names).dense().astype(np.float64), 0.0)
    held = release.axes.set_of(name for known in release.known for name, _ in known.cell)
    asked = release.axes.set_of(names)
    sets = [s for s in reduce_sets(release.formula.sets, asked, held) if s]
    axes = list(bits(reduce(or_, sets, asked | held)))
    shape = [release.axes.sizes[place] for place in axes]
    if math.prod(shape) > MOST_CELLS:
        return None
    start = np.ones(shape)
    for known in release.known:
        at = dict(known.cell)
        variables = [release.variables[place] for place in axes]
        start[tuple(v.code(at[v.name]) if v.name in at else slice(None) for v in variables)] = 0.0
    for name, given in (weights or {}).items():
        line = [1] * len(axes)
        line[axes.index(release.axes.place[name])] = -1
        start *= np.reshape(np.asarray(given, np.float64), line)
    margins = {
        tuple(axes.index(place) for place in bits(s)): release.table(
            release.axes.names_of(s)
        ).dense()
        for s in sets
    }
    fitted = ipf(start, margins or {(): np.float64(release.total or 0)})
    kept = [axes.index(place) for place in release.axes.places(names)]
    rest = tuple(axis for axis in range(len(axes)) if axis not in kept)
    summed = fitted.array.sum(rest)
    order = np.argsort(np.argsort(kept))
    return Expected(summed.transpose(order), 0.0 if fitted.converged else fitted.gap)
