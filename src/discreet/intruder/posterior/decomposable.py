"""Beliefs under the decomposable model of the release: exact, and exact independent draws.

Given its clique margins, whatever the model's parameters, a table has the probability

    prod n_C! / (prod n_S! prod n!)

C cliques, S separators: that of a random matching, in which people of two cliques with the same
value of their separator are put together at random. So every table is drawn afresh, without a
chain, and the count of one cell is a chain of hypergeometric variables along the junction tree.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.errors import DataError
from discreet.intruder.posterior.jointree import Join
from discreet.intruder.posterior.result import Posterior, chosen, fits
from discreet.look.progress import track
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.keys import unravel
from discreet.table.table import Table

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
MODEL = "decomposable model of the release"
BATCH = 1 << 22  # counts held at once


def decomposable_posterior(
    release: Release, cells: Cells | None = None, *, draws: int | None = None, seed: int = 0
) -> Posterior:
    """The distribution of each cell under the model whose cliques are the released margins.

    Exact, or from `draws` independent tables.

    >>> from discreet.table.load import load
    >>> release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    >>> decomposable_posterior(release).matrix()[[6, 7]].round(4)
    array([[0.648 , 0.352 , 0.    ],
           [0.3932, 0.4695, 0.1374]])
    """
    join, cells = Join.of(release), chosen(release, cells)
    low, starts = join.support(cells.codes)
    more: dict[str, Any] = {"model": MODEL, "prior": None, "whole": Matching(release, join)}
    if draws is None:
        mass = join.distributions(cells.codes)
        return Posterior(
            cells.variables, cells.codes, low, starts, mass, method="exact, closed form", **more
        )
    seen = np.zeros(starts[-1], np.int64)
    offset = starts[:-1] - low
    for counts in _batches(join, cells, draws, seed):
        seen += np.bincount((counts + offset).ravel(), minlength=len(seen))
    return Posterior(
        cells.variables, cells.codes, low, starts, seen / draws,
        method=f"{draws:,} independent draws", effective=float(draws), **more,
    )  # fmt: skip


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
        keys, counts = np.unique(match_keys(join.tree, join.items, one), return_counts=True)
        yield Table(release.variables, unravel(keys, join.shape), counts.astype(np.int64))


def _seeds(draws: int, seed: int) -> NDArray[np.uint64]:
    if draws < 1:
        raise DataError(f"draws is {draws!r}; draw at least one table.")
    return np.random.default_rng(seed).integers(0, 1 << 64, draws, np.uint64, endpoint=False)


def _batches(join: Join, cells: Cells, draws: int, seed: int) -> Iterator[NDArray[np.int32]]:
    """Counts of the cells, some draws at a time."""
    from discreet._kernels.matching import index, match_counts

    wanted, place = np.unique(join.keys(cells.codes), return_inverse=True)
    table = index(wanted)
    seeds = _seeds(draws, seed)
    parts = math.ceil(draws / max(1, min(500, BATCH // max(1, len(wanted)))))
    for part in track(np.array_split(seeds, parts), "drawing tables"):
        counts = np.zeros((len(part), len(wanted)), np.int32)
        match_counts(join.tree, join.items, part, *table, counts)
        yield counts[:, place]


@dataclass(frozen=True, eq=False)
class Matching:
    """The distribution of the whole table: prod n_C! / (prod n_S! prod n!)."""

    release: Release
    join: Join

    @property
    def tables(self) -> int | None:
        """Not counted; see `count`."""
        return None

    @cached_property
    def entropy(self) -> float:
        """Of the table, in nats."""
        return self.join.expected_log_factorials() - self.join.log_ways

    def log_probability(self, table: Table) -> float:
        """Of one table; -inf if it does not fit."""
        if not fits(self.release, table):
            return -math.inf
        return self.join.log_ways - float(self.join.logs[table.counts].sum())
