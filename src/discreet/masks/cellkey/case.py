"""The question that a posterior answers, as arrays, and its answer."""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from discreet.arrays import Floats, Ints
from discreet.errors import DataError, InconsistentRelease
from discreet.masks.cellkey.likelihood import of_rows
from discreet.masks.cellkey.ptable import PTable
from discreet.sheets.system import System


@dataclass(frozen=True, eq=False)
class Beliefs:
    """chances[c, n]: that fine cell c counts n; `error` their standard errors, 0 if exact.

    `tables` are those gone through or drawn, `ess` how many independent draws these are worth.
    """

    system: System
    chances: Floats
    error: Floats
    method: str
    tables: int
    ess: float = math.inf
    said: tuple[str, ...] = ()

    @property
    def mean(self) -> Floats:
        return np.asarray(self.chances @ np.arange(self.chances.shape[1]))

    def __repr__(self) -> str:
        worth = "" if math.isinf(self.ess) else f", worth {self.ess:,.0f} draws"
        return f"Beliefs({len(self.chances)} cells, {self.method}, {self.tables:,} tables{worth})"


class Case:
    """The printed rows, what each may be, and the prior, as arrays."""

    def __init__(
        self,
        system: System,
        shown: ArrayLike,
        ptable: PTable,
        means: ArrayLike | None,
        total: int | None,
    ) -> None:
        if len(system.parts) > 1:
            raise DataError("these tables share only some variables; take those of one table.")
        self.system = system
        self.seen = np.asarray(shown, np.int64)
        if self.seen.shape != (system.cells,):
            raise DataError(
                f"{self.seen.size:,} counts for {system.cells:,} printed cells; give one for each."
            )
        self.total = -1 if total is None else int(total)
        self.start = system.sums.indptr.astype(np.int64)
        self.cells = system.sums.indices.astype(np.int64)
        most = int(self.seen.max() + ptable.reach)
        self.chances = of_rows(ptable, shown, most)
        possible = self.chances > 0
        if not possible.any(1).all():
            row = int(np.argmin(possible.any(1)))
            raise InconsistentRelease(
                f"the perturbation table never shows {self.seen[row]}; correct the table or it."
            )
        self.low = np.argmax(possible, 1).astype(np.int64)
        self.high = (most - np.argmax(possible[:, ::-1], 1)).astype(np.int64)
        self.lower = np.zeros(system.columns, np.int64)
        self.upper = np.full(system.columns, most, np.int64)
        for row in range(system.cells):
            within = self.cells[self.start[row] : self.start[row + 1]]
            self.upper[within] = np.minimum(self.upper[within], self.high[row])
            if len(within) == 1:
                self.lower[within] = np.maximum(self.lower[within], self.low[row])
        if (self.lower > self.upper).any():
            raise InconsistentRelease("no counts show these values; correct them.")
        self.widest = int(self.upper.max())
        self.prior = np.zeros((system.columns, self.widest + 1))
        if means is not None:
            given = np.broadcast_to(np.asarray(means, float), system.columns)
            if not (given > 0).all():
                raise DataError(f"a mean is {given.min():g}; means are above 0.")
            n = np.arange(self.widest + 1)
            self.prior = n * np.log(given)[:, None] - np.array([math.lgamma(k + 1) for k in n])
        # cells are told apart by numbers whose sums without carry differ
        self.marks = np.random.default_rng(0).integers(1, 2**63, system.columns).astype(np.uint64)
        with np.errstate(divide="ignore"):
            self.logs = np.log(self.chances)

    @property
    def number(self) -> float:
        return float(np.prod((self.upper - self.lower + 1).astype(float)))


def filled(case: Case, rng: np.random.Generator) -> Ints:
    """Some table with the known total."""
    x = case.lower.copy()
    left = case.total - int(x.sum())
    while left > 0 and (room := np.flatnonzero(x < case.upper)).size:
        x[rng.choice(room)] += 1
        left -= 1
    if left:
        raise InconsistentRelease(f"no table of {case.total} people shows these counts.")
    return x


def shares(tables: Ints, widest: int) -> Floats:
    return np.stack([(tables == n).mean(0) for n in range(widest + 1)], 1)
