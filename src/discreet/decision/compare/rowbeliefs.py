"""Beliefs where a mask speaks of sums that share cells, each in a range or with a likelihood.

    p(n | shown)  ~  prod_r L_r((rows @ n)_r)   over the tables n of the total

All tables one by one where they are few, else chains that begin at tables far apart.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import partial
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.decision.compare.cellbeliefs import ERROR, Asked, Believed
from discreet.errors import DataError
from discreet.intruder.posterior.chains.convergence import judge
from discreet.intruder.posterior.result import tallied
from discreet.solver import Limit, Program, Sums
from discreet.spreading import in_threads

if TYPE_CHECKING:
    from scipy.sparse import csr_matrix

LISTED = 300_000  # tables that are gone through one by one
MOST_HELD = 1 << 25  # log-likelihoods
CHAINS, FIRST, WARM = 4, 1_000, 500  # draws of a chain at first, and before them
APART = 4  # moves for each cell between draws
MOST_MOVES = 24_000_000  # of all chains
AT_ONCE = 250_000  # moves whose random numbers are held
WINDOWS = (4, 48)
ALONE = 0.75  # that a turn has one move, or no further one
ROUNDS = 50  # in which bounds follow from bounds


@dataclass(frozen=True, eq=False)
class Seen:
    """low <= rows @ n <= high, with the log-likelihoods of row r from first[r] on, none if flat."""

    rows: csr_matrix
    low: Ints
    high: Ints
    logs: Floats | None = None

    @property
    def first(self) -> Ints:
        return np.concatenate([[0], np.cumsum(self.high - self.low + 1)[:-1]]).astype(np.int64)

    def log(self, tables: Ints) -> Floats:
        """The log-likelihood of tables, a row each."""
        sums = np.asarray((self.rows @ tables.T).T, np.int64)
        within = ((sums >= self.low) & (sums <= self.high)).all(1)
        if self.logs is None:
            return np.where(within, 0.0, -np.inf)
        at = np.clip(sums, self.low, self.high) - self.low + self.first
        return np.where(within, self.logs[at].sum(1), -np.inf)


def seen_rows(seen: Seen, asked: Asked, rng: np.random.Generator) -> Believed:
    """The beliefs, and the expected counts."""
    if float((seen.high - seen.low + 1.0).sum()) > MOST_HELD:
        raise DataError(
            f"{len(seen.low):,} sums of up to {int(seen.high.max()):,} people are too much to hold "
            "a likelihood for each; mask a smaller table."
        )
    least, most = _bounds(seen, asked)
    total = asked.table.total
    if (least > most).any() or not least.sum() <= total <= most.sum():
        raise DataError(f"no table of {total:,} people shows this; correct the mask.")
    if _number(least, most, asked.table.total) <= LISTED:
        return _listed(seen, asked, least, most)
    return _drawn(seen, asked, least, most, rng)


def _bounds(seen: Seen, asked: Asked) -> tuple[Ints, Ints]:
    """Of every cell, from those of the others in its sums, round after round."""
    total, cells = asked.table.total, len(asked.possible)
    least, most = np.zeros(cells, np.int64), np.where(asked.possible, total, 0)
    start, member = seen.rows.indptr, seen.rows.indices
    rows = [member[start[r] : start[r + 1]] for r in range(len(seen.low))]
    ranges = [*zip(rows, seen.low.tolist(), seen.high.tolist(), strict=True)]
    ranges.append((np.arange(cells), total, total))
    for _ in range(ROUNDS):
        before = int((most - least).sum())
        for own, low, high in ranges:
            down, up = int(least[own].sum()), int(most[own].sum())
            least[own], most[own] = (
                np.maximum(least[own], low - up + most[own]),
                np.minimum(most[own], high - down + least[own]),
            )
        if int((most - least).sum()) == before:
            break
    return least, most


def _number(least: Ints, most: Ints, total: int) -> float:
    """Of tables of the total within bounds."""
    left = total - int(least.sum())
    if left > MOST_HELD:
        return math.inf
    ways = np.zeros(left + 1)
    ways[0] = 1.0
    for width in np.minimum(most - least, left):
        upto = np.cumsum(ways)
        ways = upto - np.concatenate([np.zeros(width + 1), upto])[: left + 1]
        if ways.max() > 1e300:
            return math.inf
    return float(ways[-1])


def _listed(seen: Seen, asked: Asked, least: Ints, most: Ints) -> Believed:
    total = asked.table.total
    tables = np.zeros((1, 0), np.int64)
    for cell in range(len(least)):
        so_far = tables.sum(1)
        low = np.maximum(least[cell], total - so_far - most[cell + 1 :].sum())
        high = np.minimum(most[cell], total - so_far - least[cell + 1 :].sum())
        times = np.maximum(high - low + 1, 0)
        before = np.repeat(np.cumsum(times) - times, times)
        value = np.arange(times.sum()) - before + np.repeat(low, times)
        tables = np.column_stack([np.repeat(tables, times, 0), value])
    log = np.concatenate([seen.log(part) for part in np.array_split(tables, 16)])
    if not log.max(initial=-math.inf) > -math.inf:
        raise DataError(f"no table of {total:,} people shows this; correct the mask.")
    with np.errstate(under="ignore"):
        mass = np.exp(log - log.max())
    mass /= mass.sum()
    beliefs = [np.asarray(np.bincount(tables[:, c], mass), np.float64) for c in asked.guarded]
    return Believed(mass @ tables, tuple(beliefs))


def _drawn(seen: Seen, asked: Asked, least: Ints, most: Ints, rng: np.random.Generator) -> Believed:
    """Chains until R-hat and the errors are good, or as much work is done."""
    walk = _Walk(seen, asked, least, most)
    starts = [walk.start(rng) for _ in range(CHAINS)]
    own = [np.random.default_rng(rng.integers(2**63, size=4)) for _ in starts]
    pairs = list(zip(starts, own, strict=True))
    in_threads(partial(_run, walk, WARM), pairs)
    kept, sums = np.zeros((CHAINS, 0, len(asked.guarded)), np.int64), np.zeros(len(least))
    while True:
        more = max(FIRST, kept.shape[1])
        new = in_threads(partial(_run, walk, more), pairs)
        kept = np.concatenate([kept, np.array([draws for draws, _ in new])], axis=1)
        sums += np.sum([added for _, added in new], axis=0)
        moves = CHAINS * kept.shape[1] * walk.apart
        found = judge(kept, requested=ERROR, accepted=1.0, moves=moves, seconds=0.0)
        if found.converged or moves >= MOST_MOVES:
            break
    draws = CHAINS * kept.shape[1]
    low, mass = tallied(kept.reshape(draws, -1))
    beliefs = [np.concatenate([np.zeros(a), m]) for a, m in zip(low, mass, strict=True)]
    said = f"tables are drawn: {CHAINS} chains x {kept.shape[1]:,} draws"
    if found.problems:
        said += f", NOT CONVERGED: {'; '.join(found.problems)}"
    return Believed(sums / draws, tuple(beliefs), False, found.worst["error"], (said,))


def _run(walk: _Walk, draws: int, chain: tuple[Ints, np.random.Generator]) -> tuple[Ints, Ints]:
    x, rng = chain
    return walk.run(x, draws, rng)


class _Walk:
    """Moves over the tables of a total; see `_kernels.slides`."""

    def __init__(self, seen: Seen, asked: Asked, least: Ints, most: Ints) -> None:
        by_cell = seen.rows.tocsc()
        self.seen, self.asked, self.least, self.most = seen, asked, least, most
        self.begin, self.row = by_cell.indptr.astype(np.int64), by_cell.indices.astype(np.int64)
        shape = asked.table.shape
        self.codes = np.ascontiguousarray(asked.cells.codes, np.int64)
        self.strides = np.array(
            [math.prod(shape[axis + 1 :]) for axis in range(len(shape))], np.int64
        )
        self.open = np.flatnonzero(most > least)
        self.apart = max(10, APART * len(self.open))
        self.logs = np.zeros(1) if seen.logs is None else seen.logs

    def start(self, rng: np.random.Generator) -> Ints:
        """A table that is possible, at the end of some direction; else the true one."""
        from scipy.sparse import csr_matrix, vstack

        truth, total = self.asked.cells.counts.astype(np.int64), self.asked.table.total
        every = csr_matrix(np.ones((1, len(truth))))
        rows = csr_matrix(vstack([self.seen.rows, every], format="csr"))
        low, high = np.append(self.seen.low, total), np.append(self.seen.high, total)
        program = Program(
            len(truth), Sums.of(rows, low, high), cost=rng.normal(size=len(truth)),
            lower=self.least, upper=self.most,
        )  # fmt: skip
        program.whole(np.arange(len(truth)))
        found = program.solve(Limit(nodes=100)).values
        if found is None:
            return truth.copy()
        x = np.round(found).astype(np.int64)
        good = x.sum() == total and self.seen.log(x[None])[0] > -math.inf
        return x if good else truth.copy()

    def run(self, x: Ints, draws: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
        """So many draws more of the guarded cells, and the sum of the tables; x is moved."""
        at_once = max(1, AT_ONCE // self.apart)
        guarded, sums = [], np.zeros(len(x), np.int64)
        for begin in range(0, draws, at_once):
            tables = self._run(x, min(at_once, draws - begin), rng)
            guarded.append(tables[:, self.asked.guarded])
            sums += tables.sum(0)
        return np.concatenate(guarded), sums

    def _run(self, x: Ints, draws: int, rng: np.random.Generator) -> Ints:
        from discreet._kernels.slides import slide

        turns, axes = draws * self.apart, len(self.strides)
        ends = np.cumsum(rng.geometric(ALONE, turns))
        number = int(ends[-1])
        parts = rng.integers(1, 4, number)
        moves = np.column_stack(
            [
                self.open[rng.integers(len(self.open), size=(number, 2))],
                parts,
                rng.integers(parts**axes),
                2 * rng.integers(2, size=number) - 1,
            ]
        )
        window = np.where(rng.random(turns) < 0.5, *WINDOWS)
        out = np.empty((draws, len(x)), np.int64)
        slide(
            x, np.asarray(self.seen.rows @ x, np.int64), self.begin, self.row, self.codes,
            self.strides, self.least, self.most, self.seen.low, self.seen.high, self.logs,
            self.seen.first, self.seen.logs is None, ends, moves,
            np.column_stack([window, rng.integers(window + 1)]), rng.random(turns), out,
        )  # fmt: skip
        return out
