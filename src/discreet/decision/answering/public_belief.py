"""What the public takes for the table: all tables that fit what is out, or draws of them."""

from __future__ import annotations

import hashlib
import math
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.errors import DataError
from discreet.intruder.belief.effective import error_of_mean
from discreet.intruder.posterior.chains.walker import walkers
from discreet.intruder.posterior.exact.decomposable import draw
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.enumerate import enumerate_tables
from discreet.intruder.tables.split import open_cells, separate, split
from discreet.release.release import Release
from discreet.table.keys import keys

LISTED = 4_000  # tables that fit, up to which all are listed
CHAINS, WARM, APART = 4, 100, 8


@dataclass(frozen=True, eq=False)
class PublicBelief:
    """Tables, one a row of counts in row-major order, and the probability of each.

    `exact`: these are all that fit. `chains` says of which chain each draw is.
    """

    tables: Ints
    mass: Floats
    exact: bool = False
    chains: Ints | None = None

    def probability(self, holds: Bools) -> tuple[float, float]:
        """That something holds, and the Monte Carlo error of it."""
        chance = 1.0 if holds.all() else min(1.0, float(self.mass[holds].sum()))
        if self.exact:
            return chance, 0.0
        n = len(self.mass)
        if holds.all() or not holds.any():
            share = 0.5 / (n + 1)  # as if half a draw did otherwise
            return chance, math.sqrt(share * (1 - share) / n)
        return chance, error_of_mean(holds.astype(np.float64), self.mass, self.chains)


def public_belief(release: Release, draws: int) -> PublicBelief:
    """The belief of whoever knows the release, under the log-linear model of its margins.

    Given the margins, a table has a probability in proportion to 1 / prod n!, whatever the
    parameters of the model. All that fit if they are few, independent draws if the release is
    decomposable, else draws of Markov chains. Nothing but the release decides what is drawn, and
    no clock.
    """
    spoken = {name for table in release.tables for name in table.names}
    known = tuple(v for v in release.variables if v.name in spoken)
    seed = public_seed(release)
    if not known:
        found = PublicBelief(np.full((draws, 1), release.total or 0), np.full(draws, 1 / draws))
    else:
        part = Release(known, release.tables)
        found = _of_known(part, draws, seed)
    if len(known) == len(release.variables):
        return found
    rng = np.random.default_rng([seed, 1])
    return _spread(found, release, tuple(v.name for v in known), draws, rng)


def public_seed(release: Release) -> int:
    """From the counts that are out, and nothing else."""
    said = hashlib.sha256()
    for table in release.tables:
        said.update("*".join(table.names).encode())
        said.update(np.ascontiguousarray(table.dense(), "<i8").tobytes())
    return int.from_bytes(said.digest()[:8], "little")


def _of_known(release: Release, draws: int, seed: int) -> PublicBelief:
    try:
        return _listed(release)
    except DataError:
        pass
    if release.formula.is_decomposable:
        return PublicBelief(
            draw(release, draws=draws, seed=seed).astype(np.int64), np.full(draws, 1 / draws)
        )
    return _walked(release, draws, seed)


def _listed(release: Release) -> PublicBelief:
    cells, found = enumerate_tables(release, limit=LISTED, seconds=math.inf)
    tables = np.zeros((len(found), release.axes.cells), np.int64)
    tables[:, keys(cells.codes, cells.shape).astype(np.int64)] = found
    rows = np.lexsort(tables.T)  # the order does not tell how they were found
    log = -_log_factorials(int(tables.max(initial=0)))[tables[rows]].sum(1)
    mass = np.exp(log - log.max())
    return PublicBelief(tables[rows], mass / mass.sum(), exact=True)


def _log_factorials(most: int) -> Floats:
    from scipy.special import gammaln

    return np.asarray(gammaln(np.arange(most + 1) + 1.0))


def _walked(release: Release, draws: int, seed: int) -> PublicBelief:
    """Draws of chains that begin at tables found from the release alone."""
    opened, _ = open_cells(release, every_variable=True)
    parts = split(separate(opened))
    each = -(-draws // CHAINS)
    shape = release.axes.sizes
    place = keys(opened.codes, shape).astype(np.int64)
    tables = np.zeros((CHAINS, each, math.prod(shape)), np.int64)
    tables[:, :, place] = parts.low
    every: Any = np.arange(len(opened.codes))
    for walker, members in walkers(
        release, opened.codes, parts, every, CellWeights.multinomial(), None, CHAINS, seed, "auto"
    ):
        walker.wanted = np.arange(len(members))
        for _ in range(2):  # a warm-up, that is forgotten
            for chain in range(CHAINS):
                walker.run(chain, WARM)
            walker.adapt()
        walker.times = APART
        for chain in range(CHAINS):
            tables[chain][:, place[members]] = walker.run(chain, each)
    flat = tables.reshape(CHAINS * each, -1)
    mass = np.full(len(flat), 1 / len(flat))
    return PublicBelief(flat, mass, chains=np.repeat(np.arange(CHAINS), each))


def _spread(
    found: PublicBelief,
    release: Release,
    known: tuple[str, ...],
    draws: int,
    rng: np.random.Generator,
) -> PublicBelief:
    """Everybody has any category of what no margin has, each as likely."""
    rows: Any = slice(None)
    if found.exact:
        rows = rng.choice(len(found.mass), draws, p=found.mass)
    shape = [v.size for v in release.variables if v.name in known]
    others = [v.size for v in release.variables if v.name not in known]
    cells = math.prod(others)
    tables = rng.multinomial(found.tables[rows], np.full(cells, 1 / cells))
    order = [v.name for v in release.variables]
    now = [*known, *(name for name in order if name not in known)]
    tables = tables.reshape(-1, *shape, *others)
    tables = tables.transpose(0, *(1 + now.index(name) for name in order))
    flat = np.ascontiguousarray(tables.reshape(len(tables), -1))
    return PublicBelief(flat, np.full(len(flat), 1 / len(flat)), chains=found.chains)
