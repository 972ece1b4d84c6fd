"""Which margins of a table a mask has kept exactly, and so which log-linear models.

The margins of a log-linear model are its sufficient statistics (Birch 1963): where they are kept,
every estimate, test and odds ratio of the model is what it would be from the true table.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table import lattice
from discreet.table.cells import frame
from discreet.table.formula import Formula, as_formula
from discreet.table.table import Table
from discreet.utility.counted import Counted, merged
from discreet.utility.distances import aligned, written

CLOSE = 1e-9  # of the total: differences of estimated counts below it are rounding
MOST = 100_000  # margins that are looked at


@dataclass(frozen=True, eq=False)
class KeptMargins(Result):
    """The margins that are the same in both tables: those of `formula`, and all within them.

    `complete` is False where too many were left to look at: those named are kept, and larger ones
    may be.

    >>> import discreet as dc
    >>> import numpy as np
    >>> table = dc.load("example:tract")
    >>> found = dc.worth.margins_kept(table, table)
    >>> found.formula, found.complete
    (Formula(Gender*Race*Income: 1 margin of 3 variables), True)
    """

    formula: Formula
    total: bool
    complete: bool

    def keeps(self, model: str | Formula | Iterable[Iterable[str]]) -> bool:
        """Whether a log-linear model is estimated as from the true table.

        False may mean not known, where the list is not `complete`.
        """
        wanted = as_formula(model, self.formula.names)
        return self.total and all(self.formula.contains(margin) for margin in wanted.margins)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a maximal margin."""
        margins = self.formula.margins or ((),)
        columns = {
            "margin": [written(m) if m else "(total)" if self.total else "(none)" for m in margins],
            "order": [len(margin) for margin in margins],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "formula": str(self.formula),
            "total": self.total,
            "by_order": {str(k): n for k, n in self.formula.by_order().items()},
            "complete": self.complete,
        }

    def __repr__(self) -> str:
        shown = str(self.formula) or ("the total" if self.total else "nothing")
        shown = shown if len(shown) <= 80 else f"{shown[:77]}..."
        number = sum(self.formula.by_order().values())
        note = "" if self.complete else ", maybe more"
        return f"KeptMargins({shown}: {plural(number, 'margin')} kept{note})"


def margins_kept(true: Table, other: Table | ArrayLike, *, most: int = MOST) -> KeptMargins:
    """The maximal margins that another table, or estimates of all cells, share with the true one.

    At most about `most` margins are looked at.

    >>> from discreet.models.loglinear import LogLinear
    >>> from discreet.table.load import load
    >>> tract = load("example:tract")
    >>> fit = LogLinear(Formula.parse("Race*Income + Income*Gender", tract.names)).fit(tract)
    >>> kept = margins_kept(tract, fit.expected_array())
    >>> kept
    KeptMargins(Gender*Income + Race*Income: 5 margins kept)
    >>> kept.keeps("Race + Income"), kept.keeps("Race*Gender")
    (True, False)
    """
    if most < 1:
        raise DataError(f"most={most}; look at 1 margin or more.")
    names, (mine, theirs) = true.names, aligned(true, other)
    apart = _Apart.of(mine, theirs)
    limit = 0.0 if isinstance(other, Table) else CLOSE * max(1, true.total)
    if not apart.cancels(0, limit):
        return KeptMargins(Formula(names, ()), False, True)
    kept, complete = _maximal(lambda margin: apart.cancels(margin, limit), len(names), most)
    return KeptMargins(Formula(names, lattice.maximal(m for m in kept if m)), True, complete)


def _maximal(is_kept: Callable[[int], bool], k: int, most: int) -> tuple[list[int], bool]:
    """The maximal sets of `k` variables that are kept, and whether none can be missing.

    A set within no known one meets the complements of all: the least such sets are tried, and
    those that are kept are grown (Gunopulos et al. 2003, Dualize and Advance).
    """
    everything, looked = (1 << k) - 1, 0
    tops, least, lost = list[int](), {0}, set[int]()
    while left := least - lost:
        margin = min(left, key=lambda s: (s.bit_count(), s))
        if looked >= most or len(least) > most:
            return tops, False
        looked += 1
        if not is_kept(margin):
            lost.add(margin)
            continue
        for parent in lattice.parents(margin, k):
            looked += 1
            if is_kept(margin | parent):
                margin |= parent
        tops.append(margin)
        others = everything ^ margin
        met = {s for s in least if s & others}
        longer = {s | 1 << p for s in least - met for p in lattice.bits(others)}
        least = met | {s for s in longer if not any(not m & ~s for m in met)}
    return tops, True


@dataclass(frozen=True, eq=False)
class _Apart:
    """The cells where two tables differ, and by how much."""

    codes: NDArray[np.int64]
    amounts: NDArray[np.float64]
    sizes: tuple[int, ...]

    @classmethod
    def of(cls, mine: Counted, theirs: Counted) -> _Apart:
        codes = np.concatenate([mine.codes, theirs.codes])
        amounts = np.concatenate([mine.weights, -theirs.weights])
        codes, amounts = merged(codes, amounts, mine.sizes)
        at = np.flatnonzero(amounts)
        return cls(codes[at], amounts[at], mine.sizes)

    def cancels(self, margin: int, limit: float) -> bool:
        """Whether the differences add up to nothing in every cell of a margin."""
        if not len(self.amounts):
            return True
        places = list(lattice.bits(margin))
        _, left = merged(self.codes[:, places], self.amounts, [self.sizes[p] for p in places])
        return bool((np.abs(left) <= limit).all())
