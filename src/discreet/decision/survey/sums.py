"""Cells, joined cells and totals as one system of sums, as of an office's tables.

`intervals` says what follows of each suppressed cell, `suppress` which further cells, of least
loss, must go.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.data.codebook import Variable
from discreet.errors import DisclosureError
from discreet.intruder.sums.intervals import Proof, intervals
from discreet.intruder.sums.protection import Protection
from discreet.masks.suppress.suppress import suppress
from discreet.release.printed import Printed
from discreet.sheets.grouping import Grouping, Line
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System

PROVEN = 60  # cells up to which the least loss is proven
LARGE = 300  # cells from which on not every published cell may be suppressed for another
CHEAP, OPEN = 80, 20  # those that may: the cheapest, and those with the largest counts


@dataclass(frozen=True, eq=False)
class Guarded:
    """What became of each cell: suppressed besides, given back, in doubt, told by the rule."""

    more: Bools
    back: Bools
    doubt: Bools
    told: Bools
    ends: Floats
    gap: float | None
    stopped: str | None


class Sums:
    """Cells with the sums that are `shown` of them; a hidden cell lies from `floor` to n."""

    def __init__(
        self,
        n: Ints,
        y: Ints,
        cost: Floats,
        primary: Bools,
        hidden: Bools,
        shown: Sequence[frozenset[int]],
        floor: float,
    ) -> None:
        many = len(n)
        self.n, self.y, self.cost, self.floor = n, y, cost, floor
        self.primary, self.hidden = np.flatnonzero(primary), hidden
        lines = [(f"cell {row}", frozenset([row])) for row in range(many)]
        lines += [(f"sum {k}", codes) for k, codes in enumerate(shown) if len(codes) > 1]
        domain = Variable("domain", tuple(str(row) for row in range(many)))
        grouping = Grouping(domain, tuple(Line(name, codes) for name, codes in lines))
        self.system = System.of([Sheet("domains", (grouping,))])
        place = self.system.places[0].ravel()
        self.cells = place[:many]
        alone = [next(iter(codes)) for codes in shown if len(codes) == 1]
        self.own = np.isin(np.arange(many), alone)  # a total of this cell alone
        self.must = np.zeros(self.system.cells, bool)
        self.must[place[many:]] = True
        self.must[self.cells[self.own]] = True
        self.values = np.asarray(self.system.sums @ y.astype(np.float64))

    def guard(self, width: float, secondary: bool, tells: Floats | None) -> Guarded:
        """Further cells suppressed, if that is asked, and what then follows.

        `tells` are the least and largest counts that the rule would suppress.
        """
        reachable = self.hidden | (self.y >= self.floor)
        lower, upper, _ = self.known(reachable, self.primary)
        hopeless = self.primary[upper - lower < width]
        hidden, gap, stopped, failed = self.hidden, None, None, False
        if secondary:
            try:
                targets = np.setdiff1d(self.primary, hopeless)
                hidden, gap, stopped = self.enough(targets, width)
            except DisclosureError as error:
                failed, stopped = True, str(error)
        cells, ends = np.flatnonzero(hidden), np.stack([self.y, self.y]).astype(np.float64)
        ends[0, cells], ends[1, cells], proven = self.known(hidden, cells)
        secret = np.isin(np.arange(len(self.y)), self.primary)
        back = secret & (ends[1] - ends[0] < width)
        unsure = secret & np.isin(np.arange(len(self.y)), cells[~proven])
        told = np.zeros(len(self.y), bool)
        if tells is not None:
            lower, upper, _ = self.known(hidden, self.primary, tells)
            told[self.primary[upper - lower < width]] = True
        more = hidden & ~self.hidden
        doubt = (secret if failed else unsure) & ~back
        return Guarded(more, back, doubt, told & ~back, ends, gap, stopped)

    def known(
        self, hidden: Bools, cells: Ints, tells: Floats | None = None
    ) -> tuple[Floats, Floats, Bools]:
        """What follows of these cells, and whether both ends are proven."""
        low, high = self._ends(tells)
        printed = Printed.suppressed(
            self.system, self.values, self._rows(hidden), floor=low, ceiling=high
        )
        found = intervals(printed, self.cells[cells])
        return found.lower, found.upper, found.proof == str(Proof.WHOLE)

    def enough(self, primary: Ints, width: float) -> tuple[Bools, float | None, str | None]:
        """Hidden cells that keep every primary one open, at the least sum of the costs."""
        if not len(primary):
            return self.hidden, 0.0, None
        low, high = self._ends()
        costs = np.ones(self.system.cells)
        costs[self.cells] = self.cost + 1e-6 * (float(self.cost.max(initial=0.0)) or 1.0)
        targets = np.isin(np.arange(len(self.y)), primary)
        found = suppress(
            self.system,
            self.values,
            Protection.widths(self.cells[primary], self.y[primary], width),
            self.cells[primary],
            floor=low,
            ceiling=high,
            costs=costs,
            must=self.must,
            hidden=self._rows(self.hidden & ~targets),
            method="optimal" if len(self.y) <= PROVEN else "heuristic",
            fine=self.y.astype(np.float64),
        )
        return self.hidden | found.hidden[self.cells], found.gap, found.stopped

    def _rows(self, cells: Bools) -> Bools:
        """Rows of the system that are hidden if these cells are; a total of one cell shows it."""
        found = np.zeros(self.system.cells, bool)
        found[self.cells[cells & ~self.own]] = True
        return found

    def _ends(self, tells: Floats | None = None) -> tuple[Floats, Floats]:
        low, high = np.zeros(self.system.cells), np.full(self.system.cells, np.inf)
        low[self.cells], high[self.cells] = self.floor, self.n
        joined = self.hidden.copy()
        joined[self.primary] = False
        low[self.cells[joined]] = 0.0  # a joined cell may be empty
        if tells is not None:
            rows = self.cells[self.primary]
            low[rows] = np.maximum(low[rows], tells[0, self.primary])
            high[rows] = np.minimum(high[rows], tells[1, self.primary])
        return low, high


def connected(shown: Sequence[frozenset[int]], many: int) -> list[Ints]:
    """Rows that sums tie together."""
    from scipy.sparse import csr_matrix
    from scipy.sparse.csgraph import connected_components

    pairs = [(min(codes), row) for codes in shown for row in codes]
    first, second = np.array(pairs, np.int64).reshape(-1, 2).T
    links = csr_matrix((np.ones(len(first)), (first, second)), shape=(many, many))
    count, label = connected_components(links, directed=False)
    order = np.argsort(label, kind="stable")
    return np.split(order, np.searchsorted(label[order], np.arange(1, count)))


def few(rows: Ints, hidden: Bools, fit: Bools, y: Ints, cost: Floats) -> Ints:
    """The hidden rows, and of many published ones those that may be suppressed besides.

    The others stay published, so that they are a constant in every sum.
    """
    if len(rows) <= LARGE:
        return np.sort(rows)
    spare = rows[~hidden[rows] & fit[rows]]
    cheap = spare[np.argsort(cost[spare], kind="stable")[:CHEAP]]
    wide = spare[np.argsort(-y[spare], kind="stable")[:OPEN]]
    return np.unique(np.concatenate([rows[hidden[rows]], cheap, wide]))
