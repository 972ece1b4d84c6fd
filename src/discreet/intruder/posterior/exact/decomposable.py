"""Beliefs under the decomposable model of the release: exact, and exact independent draws.

Given its clique margins, whatever the model's parameters, a table has the probability

    prod n_C! / (prod n_S! prod n!)

C cliques, S separators: that of a random matching, in which people of two cliques with the same
value of their separator are put together at random. So every table is drawn afresh, without a
chain, and the count of one cell is a chain of hypergeometric variables along the junction tree.
"""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property, reduce
from itertools import pairwise
from operator import or_
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError
from discreet.intruder.bounds.reduce import reduce_sets
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.exact.jointree import MOST_TERMS, Join
from discreet.intruder.posterior.result import MORE, MOST_VALUES, Posterior, chosen, fits, tallied
from discreet.intruder.posterior.weights import CellWeights
from discreet.look.progress import track
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.keys import keys, unravel
from discreet.table.table import Table

MODEL = "decomposable model of the release"
BATCH = 1 << 22  # counts held at once
AT_ONCE = 1 << 24  # people matched between two looks at the clock
MOST_KEPT = 1 << 26  # counts kept of all draws
MOST_MATCHED = 1 << 23  # people who are matched one by one
MOST_DEALT = 10**9  # as numpy has it


def decomposable_posterior(
    release: Release,
    cells: Cells | None = None,
    *,
    draws: int | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Posterior:
    """The distribution of each cell under the model whose cliques are the released margins.

    Exact, or from `draws` independent tables. Variables that a margin's cells are not asked by are
    left out where that changes nothing; where one of them ties cliques together, a margin's cell
    is a sum over tables.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> decomposable_posterior(release).matrix()[[6, 7]].round(4)
    array([[0.648 , 0.352 , 0.    ],
           [0.3932, 0.4695, 0.1374]])
    """
    join, cells = Join.of(release), chosen(release, cells)
    whole, clock = Matching(release, join, effort), Clock.of(seconds)
    more: dict[str, Any] = {"model": MODEL, "prior": None, "whole": whole}
    if draws is not None:
        made, low, seen = _tallied(join, cells, draws, seed, clock)
        return Posterior.of(
            cells, seen, low=low, method=f"{made:,} independent draws", effective=float(made),
            stopped=clock.sentence(f"{made:,} of {draws:,} tables were drawn", MORE), **more,
        )  # fmt: skip
    part = without_leaves(release, cells.names)
    if set(part.names) != set(cells.names):
        weights = CellWeights.multinomial()
        summed = exact_posterior(part, cells, weights=weights, effort=effort, seconds=clock)
        return dataclasses.replace(summed, method="exact, sum over tables", **more)
    own, codes = Join.of(part), cells.project(part.names)
    low, starts = own.support(codes)
    mass = own.distributions(codes, most=Effort(effort).of(MOST_TERMS), clock=clock)
    return Posterior(
        cells.variables, cells.codes, low, starts, mass, method="exact, closed form", **more
    )


def without_leaves(release: Release, names: tuple[str, ...]) -> Release:
    """A release in which the cells over `names` have the same distribution.

    A variable that stands in one clique only is one more thing that is told of people who are
    matched by others: without it, they are matched just the same.
    """
    index = release.axes.place
    sets = reduce_sets(release.formula.sets, sum(1 << index[name] for name in names))
    left = reduce(or_, sets, 0)
    if not left:
        return release
    variables = [v for v in release.variables if left >> index[v.name] & 1]
    tables = [release.table(release.axes.names_of(s)) for s in sets if s]
    return Release.of(tables, variables)


def _tallied(
    join: Join, cells: Cells, draws: int, seed: int, clock: Clock
) -> tuple[int, Ints, list[Floats]]:
    """How many draws time allowed; how often each cell had each count, from its lowest on."""
    high = np.full(len(cells), join.items, np.int64)
    for clique in join.cliques:
        inside = [name for name in clique.names if name in cells.names]
        np.minimum(high, clique.margin(inside).lookup(cells.project(inside)), out=high)
    batches = _in_time(_batches(join, cells, draws, seed), draws, clock)
    if float(high.sum()) > MOST_VALUES:
        if draws * len(cells) > MOST_KEPT:
            raise DataError(
                f"{draws:,} draws of {len(cells):,} cells are too many to keep; ask about fewer "
                "cells, or draw fewer tables."
            )
        kept = np.concatenate(list(batches))
        return len(kept), *tallied(kept)
    starts = np.append(0, np.cumsum(high + 1))
    seen = np.zeros(starts[-1], np.int64)
    made = 0
    for counts in batches:
        made += len(counts)
        seen += np.bincount((counts + starts[:-1]).ravel(), minlength=len(seen))
    return made, np.zeros(len(cells), np.int64), [seen[a:b] / made for a, b in pairwise(starts)]


def _in_time(
    batches: Iterator[NDArray[np.int32]], draws: int, clock: Clock
) -> Iterator[NDArray[np.int32]]:
    """Until the time is up; at least one."""
    for counts in batches:
        yield counts
        draws -= len(counts)
        if draws > 0 and clock.over():
            return


def draw(
    release: Release, cells: Cells | None = None, *, draws: int = 1, seed: int = 0
) -> NDArray[np.int32]:
    """Independent tables under the decomposable model: draws x cells, all cells by default."""
    cells = chosen(release, cells)
    return np.concatenate(list(_batches(Join.of(release), cells, draws, seed)))


def draw_tables(release: Release, *, draws: int = 1, seed: int = 0) -> Iterator[Table]:
    """Independent tables under the decomposable model, one after the other, kept sparse."""
    from discreet._kernels.matching import match_keys

    join = Join.of(release)
    for one in _seeds(draws, seed):
        if join.items > MOST_MATCHED:
            yield _dealt(join, one).reorder(release.names)
            continue
        places, counts = np.unique(match_keys(join.tree, join.items, one), return_counts=True)
        yield Table(release.variables, unravel(places, join.shape), counts.astype(np.int64))


def _dealt(join: Join, seed: np.uint64) -> Table:
    """A random matching by how many of each kind are put together, not one by one."""
    if join.items >= MOST_DEALT:
        raise DataError(
            f"{join.items:,} people are too many to draw tables of, {MOST_DEALT:,} or more; ask "
            "for exact beliefs."
        )
    rng, table = np.random.default_rng(int(seed)), join.cliques[0]
    for clique in join.cliques[1:]:
        shared = [name for name in clique.names if name in table.names]
        here, there = (
            keys(t.codes[:, t.axes.places(shared)], t.margin(shared).shape) for t in (table, clique)
        )
        rows, columns, counts = [], [], []
        for group in np.unique(here):
            left, found = np.flatnonzero(there == group), np.flatnonzero(here == group)
            colors = clique.counts[left].copy()
            for row in found:
                taken = rng.multivariate_hypergeometric(
                    colors, int(table.counts[row]), method="marginals"
                )
                colors -= taken
                some = np.flatnonzero(taken)
                rows.append(np.full(len(some), row))
                columns.append(left[some])
                counts.append(taken[some])
        new = [place for place, name in enumerate(clique.names) if name not in shared]
        codes = np.column_stack(
            [table.codes[np.concatenate(rows)], clique.codes[np.concatenate(columns)][:, new]]
        )
        variables = (*table.variables, *(clique.variables[place] for place in new))
        table = Table.from_cells(variables, codes, np.concatenate(counts))
    return table


def _seeds(draws: int, seed: int) -> NDArray[np.uint64]:
    if draws < 1:
        raise DataError(f"draws is {draws!r}; draw at least one table.")
    return np.random.default_rng(seed).integers(0, 1 << 64, draws, np.uint64, endpoint=False)


def _batches(join: Join, cells: Cells, draws: int, seed: int) -> Iterator[NDArray[np.int32]]:
    """Counts of the cells, some draws at a time."""
    from discreet._kernels.matching import index, match_counts

    seeds = _seeds(draws, seed)
    if join.items > MOST_MATCHED:
        for one in track(list(seeds), "drawing tables"):
            yield _dealt(join, one).margin(cells.names).lookup(cells.codes)[None].astype(np.int32)
        return
    join = join.over(cells.variables)
    wanted, place = np.unique(join.keys(cells.codes), return_inverse=True)
    table = index(wanted)
    most = min(500, BATCH // max(1, len(wanted)), AT_ONCE // max(1, join.items))
    parts = math.ceil(draws / max(1, most))
    for part in track(np.array_split(seeds, parts), "drawing tables"):
        counts = np.zeros((len(part), len(wanted)), np.int32)
        match_counts(join.tree, join.items, part, *table, counts)
        yield counts[:, place]


@dataclass(frozen=True, eq=False)
class Matching:
    """The distribution of the whole table: prod n_C! / (prod n_S! prod n!)."""

    release: Release
    join: Join
    effort: float = 1.0  # for the entropy

    @property
    def tables(self) -> int | None:
        """Not counted; see `count`."""
        return None

    @cached_property
    def entropy(self) -> float:
        """Of the table, in nats."""
        return self.join.expected_log_factorials(Effort(self.effort)) - self.join.log_ways

    def log_probability(self, table: Table) -> float:
        """Of one table; -inf if it does not fit."""
        if not fits(self.release, table):
            return -math.inf
        return self.join.log_ways - self.join.log_factorials(table.counts)
