"""What one intruder believes of the cells of a table behind any mask.

Before the release every table of the known total is alike (Dirichlet-multinomial with 1 for each
cell). He knows the mask and its parameters, and none of its random numbers:

    p(n | shown)  ~  p(shown | n)   over the tables n of the total

`fitting` where a mask says which tables are possible and no more, `apart` where it speaks of sums
that share no cell.
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.errors import ConvergenceWarning, DataError
from discreet.intruder.posterior.chains.chains import chain_posterior
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.result import Posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.impossible import holds
from discreet.table.keys import keys
from discreet.table.table import Table

ERROR = 0.003  # standard error of a probability that chains go on for
LIMIT, EXACT_EFFORT, CHAIN_EFFORT = 200_000, 0.1, 0.5
MOST_TERMS, MOST_HELD = 4e9, 2e7  # of sums over the total
FARTHEST, HALVINGS = 1e6, 60  # of the search for a tilt
ON_AVERAGE = "the known total is met on average only: the sums over it are too many"


@dataclass(frozen=True, eq=False)
class Asked:
    """A table, and its cells that are guarded: those that count 1 to `most`."""

    table: Table
    most: int

    @cached_property
    def cells(self) -> Cells:
        """Every cell, row-major."""
        return self.table.all()

    @cached_property
    def guarded(self) -> Ints:
        counts = self.cells.counts
        return np.flatnonzero((counts >= 1) & (counts <= self.most)).astype(np.int64)

    @cached_property
    def possible(self) -> Bools:
        """The cells where somebody can be."""
        return ~np.asarray(holds(self.table.ruled_out, self.table.variables, self.cells.codes))

    def place(self, names: Sequence[str]) -> Ints:
        """The cell of a margin that each cell is in."""
        axes = self.table.axes.places(names)
        sizes = [self.table.shape[axis] for axis in axes]
        return np.asarray(keys(self.cells.codes[:, axes], sizes), np.int64)


@dataclass(frozen=True, eq=False)
class Believed:
    """The counts expected in all cells, and the probabilities of 0, 1, ... in the guarded ones.

    `error` is the largest standard error of the latter, 0 if they are `exact`.
    """

    mean: Floats
    beliefs: tuple[Floats, ...]
    exact: bool = True
    error: float = 0.0
    said: tuple[str, ...] = ()

    def saying(self, *said: str) -> Believed:
        return replace(self, said=(*self.said, *said))


def certain(asked: Asked) -> Believed:
    """The table itself is known."""
    counts = asked.cells.counts
    known = [np.eye(int(n) + 1)[-1] for n in counts[asked.guarded]]
    return Believed(counts.astype(np.float64), tuple(known))


def fitting(release: Release, asked: Asked, rng: np.random.Generator) -> Believed:
    """Every table that fits a release is alike: a sum over them, or chains where that is too long.

    The release may have further variables, such as groups of categories.
    """
    found = summed(release, asked)
    if found is not None:
        return found
    seeds = rng.integers(2**62, size=2).tolist()
    chains: dict[str, Any] = {"weights": CellWeights.uniform(), "effort": CHAIN_EFFORT}
    with warnings.catch_warnings(record=True):
        warnings.simplefilter("always", ConvergenceWarning)
        mean = chain_posterior(release, asked.cells, seed=seeds[0], **chains).mean
        if not len(asked.guarded):
            return Believed(mean, (), False)
        guarded = asked.cells.take(asked.guarded)
        drawn = chain_posterior(release, guarded, standard_error=ERROR, seed=seeds[1], **chains)
    error = float(drawn.diagnostics()["largest_standard_error"])
    return Believed(mean, _from_zero(drawn), False, error, (f"tables are drawn: {drawn.method}",))


def summed(release: Release, asked: Asked) -> Believed | None:
    """The same, exact; None if it is too much work."""
    try:
        found = exact_posterior(
            release, asked.cells, weights=CellWeights.uniform(), limit=LIMIT, effort=EXACT_EFFORT
        )
    except DataError:
        return None
    return Believed(found.mean, _from_zero(found.take(asked.guarded)))


def _from_zero(posterior: Posterior) -> tuple[Floats, ...]:
    found = []
    for row in range(len(posterior)):
        chances = posterior.mass[posterior.starts[row] : posterior.starts[row + 1]]
        found.append(np.concatenate([np.zeros(posterior.low[row]), chances]))
    return tuple(found)


def apart(asked: Asked, group: Ints, kind: Ints, logs: Floats) -> Believed:
    """From what is seen of sums of cells, of which no two share a cell.

    `group` is the sum that each cell is in; logs[kind[g], m] is the log-likelihood of what is seen
    of sum g if it is m. A sum of k cells is m in C(m + k - 1, k - 1) ways, and the table has its
    total N:

        p(m_g)  ~  w_g(m_g) (*_h w_h)(N - m_g),   w_g(m) = C(m + k - 1, k - 1) exp logs[kind[g], m]
    """
    total, sizes = asked.table.total, np.bincount(group[asked.possible], minlength=len(kind))
    alike, first, of, times = np.unique(
        np.column_stack([kind, sizes]), axis=0, return_index=True, return_inverse=True,
        return_counts=True,
    )  # fmt: skip
    of, size = of.ravel(), alike[:, 1]
    chances = _tilted(logs[alike[:, 0], : total + 1] + _ways(total, size), times, total)
    said: tuple[str, ...] = ()
    many = float(len(kind)) * (total + 1)
    if many > MOST_HELD or many * (total + 1) > MOST_TERMS:
        said = (ON_AVERAGE,)
    else:
        chances = _given_total(chances[of], total)[first]
    mean = np.divide(chances @ np.arange(total + 1), size, out=np.zeros(len(size)), where=size > 0)
    believed = {
        c: _shared(chances[c], int(size[c])) for c in set(of[group[asked.guarded]].tolist())
    }
    beliefs = [believed[c] for c in of[group[asked.guarded]].tolist()]
    expected = np.where(asked.possible, mean[of[group]], 0.0)
    return Believed(expected, tuple(beliefs), not said, 0.0, said)


def _ways(total: int, sizes: Ints) -> Floats:
    """log C(m + k - 1, k - 1) for m = 0..total and each size k; no cell holds nobody."""
    from scipy.special import gammaln

    m, k = np.arange(total + 1.0), np.maximum(sizes, 1)[:, None].astype(np.float64)
    found = gammaln(m + k) - gammaln(k) - gammaln(m + 1)
    found[sizes == 0, 1:] = -np.inf
    return np.asarray(found)


def _tilted(logs: Floats, times: Ints, total: int) -> Floats:
    """Rows times e^(t m), each of sum 1, t such that all together expect the total.

    Given the total t changes nothing; without it sums near the total could be too small to hold.
    """
    m = np.arange(logs.shape[1])

    def at(t: float) -> Floats:
        tilted = logs + t * m
        with np.errstate(under="ignore"):
            found = np.exp(tilted - tilted.max(1, keepdims=True))
        return np.asarray(found / found.sum(1, keepdims=True))

    def below(t: float) -> bool:
        return float(times @ (at(t) @ m)) < total

    low, high = -1.0, 1.0
    while not below(low) and low > -FARTHEST:
        low *= 4
    while below(high) and high < FARTHEST:
        high *= 4
    for _ in range(HALVINGS):
        middle = (low + high) / 2
        low, high = (middle, high) if below(middle) else (low, middle)
    return at((low + high) / 2)


def _given_total(weights: Floats, total: int) -> Floats:
    """The distribution of each row if all add up to the total."""
    number, width = weights.shape
    before, after = np.zeros((number + 1, width)), np.zeros((number + 1, width))
    before[0, 0] = after[-1, 0] = 1.0
    for g in range(number):
        before[g + 1] = _scaled(np.convolve(before[g], weights[g])[:width])
        back = number - 1 - g
        after[back] = _scaled(np.convolve(after[back + 1], weights[back])[:width])
    chances = np.empty_like(weights)
    for g in range(number):
        others = np.convolve(before[g], after[g + 1])[:width]
        found = weights[g] * others[::-1]
        if not found.sum() > 0:
            raise DataError(f"no table of {total:,} people shows this; correct the mask.")
        chances[g] = found / found.sum()
    return chances


def _scaled(values: Floats) -> Floats:
    return np.asarray(values / values.max()) if values.max() > 0 else values


def _shared(chances: Floats, size: int) -> Floats:
    """Of one of `size` cells that are alike and sum to m by `chances`."""
    from scipy.special import gammaln

    if size == 1:
        return chances
    found, k = np.zeros(len(chances)), float(size)
    for m in np.flatnonzero(chances):
        left = m - np.arange(m + 1.0)
        ways = gammaln(left + k - 1) - gammaln(k - 1) - gammaln(left + 1)
        whole = gammaln(m + k) - gammaln(k) - gammaln(m + 1.0)
        found[: m + 1] += chances[m] * np.exp(ways - whole)
    return found
