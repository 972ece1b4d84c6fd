"""Tables that fit a release, each with its probability, and which of them a question holds for."""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Bools, Floats, Ints
from discreet.effort import UNLIMITED, Clock, Seconds
from discreet.errors import DataError, SolverError, TooLarge
from discreet.intruder.belief.atoms import check_lengths, checked_mass
from discreet.intruder.belief.effective import error_of_mean, kish
from discreet.intruder.posterior.exact.decomposable import draw_tables
from discreet.intruder.posterior.exact.jointree import Join
from discreet.intruder.posterior.result import MORE, Posterior, fits, of_table, tallied
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.enumerate import enumerate_tables
from discreet.intruder.tables.split import open_cells
from discreet.look.progress import track, working
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.keys import keys, lookup
from discreet.table.table import Table

Question = Callable[[Table], bool]
MOST_HELD = 1 << 27  # counts of cells in draws


@dataclass(frozen=True, eq=False)
class Judged:
    """Candidates for the true table: all that fit, or draws, and the answer for each.

    `counts` are tables x cells, `mass` the tables' probabilities. `log_weight` is that of each
    table under the model, and `log_total` of all of them, where they are known. `every` lists the
    tables in full, if these are all.
    """

    release: Release
    model: str
    prior: str | None
    cells: Cells
    counts: Ints
    mass: Floats
    holds: Bools
    log_weight: Floats | None = None
    log_total: float = 0.0
    every: tuple[Cells, Ints] | None = None
    stopped: str | None = None

    @property
    def exact(self) -> bool:
        return self.every is not None

    def probability(self) -> tuple[float, float]:
        """That the question holds, and the Monte Carlo error of it."""
        answers = self.holds[self.mass > 0]
        chance = 1.0 if answers.all() else min(1.0, float(self.mass[self.holds].sum()))
        if self.exact:
            return chance, 0.0
        if answers.all() or not answers.any():
            n = kish(self.mass)
            share = 0.5 / (n + 1)  # as if half a draw did otherwise
            return chance, math.sqrt(share * (1 - share) / n)
        return chance, error_of_mean(self.holds.astype(np.float64), self.mass)

    def entropy(self, rows: Bools) -> tuple[float, float] | None:
        """Of the table, in nats, if it is one of `rows`, and its Monte Carlo error.

            log sum w - sum w log w / sum w

        over the weights w of the tables; None if these are known up to a factor only.
        """
        if self.log_weight is None:
            return None
        share = self.mass * rows / self.mass[rows].sum()
        used = share > 0
        mean = float(share[used] @ self.log_weight[used])
        found = self.log_total + math.log(self.mass[rows].sum()) - mean
        found = max(0.0, found)
        if self.exact:
            return found, 0.0
        terms = np.zeros(len(share))
        terms[used] = share[used] * (1 + mean - self.log_weight[used])
        return found, float(np.sqrt(np.sum((terms - 1 / len(terms)) ** 2)))

    def posterior(self, rows: Bools) -> Posterior:
        """The belief about each cell if the table is one of `rows`."""
        used = rows & (self.mass > 0)
        mass = self.mass[used] / self.mass[used].sum()
        low, found = tallied(self.counts[used], mass)
        shown = f"{used.sum():,}" if used.all() else f"{used.sum():,} of {len(used):,}"
        more: dict[str, Any] = {"model": self.model, "prior": self.prior, "low": low}
        more["stopped"] = self.stopped
        if self.every is None:
            method = f"{shown} draws, worth {kish(mass):,.0f}"
            return Posterior.of(self.cells, found, method=method, effective=kish(mass), **more)
        cells, tables = self.every
        whole = Listed(self.release, cells, tables[used], np.log(mass))
        return Posterior.of(self.cells, found, method=f"exact, {shown} tables", whole=whole, **more)


@dataclass(frozen=True, eq=False)
class Listed:
    """The distribution of the whole table over a list of them."""

    release: Release
    cells: Cells
    counts: Ints
    logs: Floats

    @property
    def tables(self) -> int:
        return len(self.logs)

    @property
    def entropy(self) -> float:
        """Of the table, in nats."""
        return max(0.0, -float(np.exp(self.logs) @ self.logs))

    def log_probability(self, table: Table) -> float:
        """Of one table; -inf if it is not in the list."""
        if not fits(self.release, table):
            return -math.inf
        row = table.reorder(self.release.names).lookup(self.cells.codes)
        found = np.flatnonzero((self.counts == row).all(1))
        return float(self.logs[found[0]]) if len(found) else -math.inf


def judge(
    release: Release,
    holds: Question,
    cells: Cells | None = None,
    *,
    weights: CellWeights | None = None,
    sample: Iterable[Table] | None = None,
    sample_weights: ArrayLike | None = None,
    draws: int = 10_000,
    limit: int = 100_000,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Judged:
    """Ask `holds` of every table that fits, if they are at most `limit`; else of draws.

    `weights` are those of the saturated model with Dirichlet prior 1/2 by default. Draws are
    independent ones of the decomposable model of the release, weighted to the model asked for; or
    a `sample` of independent tables, with weights if they are not all worth the same. `effort` is
    how many times the usual work it may take to list the tables; `seconds` only stop.
    """
    cells, clock = of_table(release, cells), Clock.of(seconds)
    if sample is not None:
        if weights is not None:
            raise DataError("a sample has its own weights; leave out `weights`.")
        return _sampled(release, holds, cells, sample, sample_weights, clock)
    if sample_weights is not None:
        raise DataError("sample_weights is given without a sample; give the tables too.")
    weights = CellWeights.dirichlet() if weights is None else weights
    try:
        listed, tables = enumerate_tables(release, limit=limit, effort=effort, seconds=clock)
    except (DataError, SolverError) as many:
        try:
            join = Join.of(release)
        except DataError as error:
            raise TooLarge(
                f"the tables cannot be listed: {many} Nor can they be drawn one by one: {error} "
                "Or give a sample of them."
            ) from None
        return _drawn(join, release, holds, cells, weights, draws, seed, clock)
    return _listed(release, holds, cells, weights, listed, tables, clock)


def _listed(
    release: Release,
    holds: Question,
    cells: Cells,
    weights: CellWeights,
    listed: Cells,
    tables: Ints,
    clock: Clock,
) -> Judged:
    order = np.argsort(keys(listed.codes, listed.shape), kind="stable")
    listed, tables = listed.take(order), tables[:, order]
    rows = weights.rows(listed.codes, listed.shape)
    log = np.zeros(len(tables))
    for column in range(len(rows)):
        values = tables[:, column]
        low = int(values.min())
        log += weights.table(rows[column], int(values.max()), low)[values - low]
    mass, total = _normalised(log, weights.name)
    with working("asking the rule about each table"):
        answers = []
        for row in tables:
            clock.check("asking the rule about each table")
            answers.append(holds(Table(release.variables, listed.codes[row > 0], row[row > 0])))
    place = lookup(listed.codes, listed.shape, cells.codes)
    counts = np.column_stack([tables, np.zeros(len(tables), np.int64)])[:, place]
    return Judged(
        release, weights.name, weights.prior, cells, counts, mass, np.array(answers, bool),
        log, total, (listed, tables),
    )  # fmt: skip


def _drawn(
    join: Join,
    release: Release,
    holds: Question,
    cells: Cells,
    weights: CellWeights,
    draws: int,
    seed: int,
    clock: Clock,
) -> Judged:
    """Draws T of the matching, p(T), each with the weight w(T) / p(T)."""
    if draws < 2:
        raise DataError(f"draws is {draws!r}; draw at least two tables.")
    everywhere = None if weights.parameters is not None else open_cells(release)[0].codes

    def log_weight(table: Table) -> float:
        codes = table.codes if everywhere is None else everywhere
        counts = table.counts if everywhere is None else table.lookup(codes)
        rows = weights.rows(codes, join.shape)
        found = weights.log(rows, counts)
        if everywhere is None:  # relative to a count of 0, which most cells have
            found = found - weights.log(rows, np.zeros_like(counts))
        return float(np.sum(found))

    logs, ratios = np.zeros(draws), np.zeros(draws)

    def weighed() -> Iterator[Table]:
        for row, table in enumerate(draw_tables(release, draws=draws, seed=seed)):
            logs[row] = log_weight(table)
            ratios[row] = logs[row] + join.log_factorials(table.counts) - join.log_ways
            yield table

    counts, answers = _asked(weighed(), draws, holds, cells, clock)
    made = len(answers)
    mass, total = _normalised(ratios[:made], weights.name)
    return Judged(
        release, weights.name, weights.prior, cells, counts, mass, answers,
        logs[:made], total - math.log(made), None, _said(clock, made, draws),
    )  # fmt: skip


def _sampled(
    release: Release,
    holds: Question,
    cells: Cells,
    sample: Iterable[Table],
    sample_weights: ArrayLike | None,
    clock: Clock,
) -> Judged:
    tables = [table.reorder(release.names) for table in sample]
    if not tables:
        raise DataError("the sample has no table; draw at least one.")
    for row, table in enumerate(tables):
        if not fits(release, table):
            raise DataError(
                f"table {row} of the sample does not fit {release.formula}; sample tables that "
                "have every released margin."
            )
    mass = np.ones(len(tables))
    if sample_weights is not None:
        mass = checked_mass(sample_weights, "weight", "weights")
        check_lengths(tables, mass)
        if not mass.sum() > 0:
            raise DataError("all weights are 0; at least one draw must count.")
    counts, answers = _asked(iter(tables), len(tables), holds, cells, clock)
    mass = mass[: len(answers)]
    if not mass.sum() > 0:
        clock.check("asking the rule about each draw")
    return Judged(
        release, "given sample", None, cells, counts, mass / mass.sum(), answers,
        stopped=_said(clock, len(answers), len(tables)),
    )  # fmt: skip


def _said(clock: Clock, made: int, wanted: int) -> str | None:
    return clock.sentence(f"the rule was asked about {made:,} of {wanted:,} draws", MORE)


def _asked(
    tables: Iterator[Table], number: int, holds: Question, cells: Cells, clock: Clock = UNLIMITED
) -> tuple[Ints, Bools]:
    """The counts of the cells in each table, and whether the question holds for it.

    Of fewer tables if the time is up.
    """
    if number * len(cells) > MOST_HELD:
        raise DataError(
            f"{number:,} draws of {len(cells):,} cells are too many to hold; name fewer cells, as "
            "in table.small()."
        )
    counts, answers = np.zeros((number, len(cells)), np.int64), np.zeros(number, bool)
    for row in track(range(number), "asking the rule about each draw"):
        if clock.over():
            if row < 2:
                clock.check("asking the rule about each draw")
            return counts[:row], answers[:row]
        table = next(tables)
        counts[row], answers[row] = table.lookup(cells.codes), holds(table)
    return counts, answers


def _normalised(logs: Floats, name: str) -> tuple[Floats, float]:
    """Probabilities in proportion to the weights, and the log of their sum."""
    top = float(logs.max())
    if not math.isfinite(top):
        raise DataError(f"{name} gives every table that fits the weight 0.")
    with np.errstate(under="ignore"):
        weights = np.exp(logs - top)
    return weights / weights.sum(), top + math.log(weights.sum())
