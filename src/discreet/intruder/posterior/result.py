"""What an intruder believes about the cells of a table, given a release."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any, Protocol, Self

import numpy as np
from numpy.typing import ArrayLike, NDArray

from discreet.arrays import Floats, Ints
from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.posterior.chains.convergence import Convergence
from discreet.intruder.tables.result import digits
from discreet.look.result import Paged
from discreet.look.words import plural
from discreet.release.release import Release
from discreet.table.cells import Cells, frame, labels
from discreet.table.keys import Codes, unravel
from discreet.table.table import Table

MOST_CELLS = 1 << 20
MOST_VALUES = 1 << 25  # probabilities that are held
MOST_WRITTEN = 1 << 21
MORE = "Allow more seconds."
LEAST = 1e-9  # a probability that is still written out
NO_CELL = "no cell was asked about"


class Whole(Protocol):
    """The distribution of the whole table, where it is known."""

    @property
    def tables(self) -> int | None:
        """How many tables fit."""

    @property
    def entropy(self) -> float:
        """Of the table, in nats."""

    def log_probability(self, table: Table) -> float:
        """Of one table; -inf if it does not fit."""


@dataclass(frozen=True, eq=False)
class Posterior(Paged):
    """The distribution of each cell's count, under one model.

    The probabilities of all cells stand in one array: those of cell i from `starts[i]` on, for the
    counts from `low[i]` on. `effective` is how many independent draws they come from, all or each;
    None if they are exact.

    >>> import discreet as dc
    >>> table = dc.load("example:tract")
    >>> found = dc.posterior(table, "Race*Income + Income*Gender", cells=table.small())
    >>> found
    Posterior(4 of 18 cells over Gender, Race, Income: saturated, prior 0.5; exact, 59,400 tables)
    >>> found[0]
    Belief(2 values: most probable 1 with 0.5006, mean 0.5006, exact)
    >>> found.probability(table.small().counts).round(3)
    array([0.501, 0.25 , 0.372, 0.25 ])
    """

    variables: tuple[Variable, ...]
    codes: Codes
    low: Ints
    starts: Ints
    mass: Floats
    model: str
    prior: str | None
    method: str
    effective: float | Floats | None = None
    whole: Whole | None = None
    convergence: Convergence | None = None
    stopped: str | None = None

    @classmethod
    def of(
        cls, cells: Cells, mass: Sequence[Floats], *, low: ArrayLike = 0, **more: Any
    ) -> Posterior:
        """From the probabilities of the counts `low`, `low` + 1, ... of each cell."""
        ends = [np.flatnonzero(chances)[[0, -1]] for chances in mass]
        low = np.array([first for first, _ in ends], np.int64) + np.asarray(low, np.int64)
        kept = [m[first : last + 1] for m, (first, last) in zip(mass, ends, strict=True)]
        starts = np.cumsum([0, *(len(chances) for chances in kept)])
        held(len(kept), float(starts[-1]))
        joined = np.concatenate([*kept, np.zeros(0)])
        return cls(cells.variables, cells.codes, low, starts, joined, **more)

    @property
    def exact(self) -> bool:
        return self.effective is None

    @property
    def tables(self) -> int | None:
        """How many tables fit the release, if that is known."""
        return None if self.whole is None else self.whole.tables

    @property
    def entropy(self) -> float | None:
        """Of the whole table, in nats, if that is known."""
        try:
            return None if self.whole is None else self.whole.entropy
        except DataError:  # too many cells or counts
            return None

    def probability_of(self, table: Table) -> float:
        """The probability of a whole table, such as the true one."""
        if self.whole is None:
            raise DataError(f"{self.method} gives no probability of a whole table.")
        return math.exp(self.whole.log_probability(table))

    # Cell by cell

    def __len__(self) -> int:
        return len(self.codes)

    def __getitem__(self, row: int) -> Belief:
        """The belief about one cell."""
        row = range(len(self))[row]
        chances = self.mass[self.starts[row] : self.starts[row + 1]]
        values = self.low[row] + np.arange(len(chances))
        worth = None if self.effective is None else float(self._worth[row])
        return Belief.discrete(values, chances, effective=worth)

    @property
    def _worth(self) -> Floats:
        """The effective draws of each cell."""
        return np.broadcast_to(np.asarray(self.effective, np.float64), len(self))

    def take(self, rows: Sequence[int] | Ints) -> Self:
        """The beliefs about some of the cells."""
        listed = [int(row) for row in rows]
        kept = [self._of(row) for row in listed]
        return dataclasses.replace(
            self,
            codes=self.codes[listed],
            low=self.low[listed],
            starts=np.cumsum([0, *(len(chances) for chances in kept)]),
            mass=np.concatenate([*kept, np.zeros(0)]),
            effective=None if self.effective is None else self._worth[listed],
        )

    def __iter__(self) -> Iterator[Belief]:
        return (self[row] for row in range(len(self)))

    def probability(self, count: ArrayLike) -> Floats:
        """Of each cell, that its count is this: one number, or one for each cell."""
        at = np.broadcast_to(np.asarray(count, np.int64), len(self)) - self.low
        inside = (at >= 0) & (at < np.diff(self.starts))
        return np.where(inside, self.mass[np.where(inside, self.starts[:-1] + at, 0)], 0.0)

    def matrix(self, most: int = 2) -> Floats:
        """Cells x counts 0..most."""
        columns = [self.probability(count) for count in range(most + 1)]
        return np.stack(columns, axis=1)

    def standard_error(self, count: ArrayLike) -> Floats:
        """Monte Carlo error of `probability(count)`; 0 if exact.

        Where all draws agree, as if half a draw did not.
        """
        if self.effective is None:
            return np.zeros(len(self))
        p = self.probability(count)
        p = np.where(p * (1 - p) > 0, p, 0.5 / (self._worth + 1))
        return np.asarray(np.sqrt(p * (1 - p) / self._worth))

    @property
    def guess(self) -> Ints:
        """The most probable count of each cell."""
        best = [int(np.argmax(self._of(row))) for row in range(len(self))]
        return self.low + np.array(best, np.int64)

    @property
    def mean(self) -> Floats:
        """The expected count of each cell."""
        offset = np.arange(len(self.mass)) - np.repeat(self.starts[:-1], np.diff(self.starts))
        above = np.add.reduceat(self.mass * offset, self.starts[:-1]) if len(self) else self.mass
        return np.asarray(self.low + above)

    def _of(self, row: int) -> Floats:
        return self.mass[self.starts[row] : self.starts[row + 1]]

    # How it is shown

    def __repr__(self) -> str:
        names = ", ".join(variable.name for variable in self.variables)
        if len(self.variables) > 5:
            names = f"{len(self.variables)} variables"
        size = math.prod(variable.size for variable in self.variables)
        cells = f"{len(self):,}{'' if len(self) == size else f' of {size:,}'} cells over {names}"
        prior = "" if self.prior is None else f", prior {self.prior}"
        stopped = ", stopped" if self.stopped else ""
        return f"Posterior({cells}: {self.model}{prior}; {self.method}{stopped})"

    def to_frame(self, kind: str = "pandas", *, counts: Ints | None = None, most: int = 2) -> Any:
        """One row a cell: labels, the count if the custodian gives it, probabilities, best guess.

        `p0` is the probability of a count of 0, and `more` that of a count above `most`.
        """
        columns: dict[str, Any] = labels(self.variables, self.codes)
        found: dict[str, Any] = {} if counts is None else {"count": counts}
        chances = self.matrix(most)
        found |= {f"p{count}": chances[:, count] for count in range(most + 1)}
        guess = self.guess
        found["more"] = np.maximum(0.0, 1 - chances.sum(1))
        found |= {"mean": self.mean, "guess": guess, "probability": self.probability(guess)}
        if not self.exact:
            found["standard_error"] = self.standard_error(guess)
        for name, column in found.items():
            columns[name + "_" * (name in columns)] = column
        return frame(columns, kind)

    def to_json(self, counts: Ints | None = None, *, least: float = LEAST) -> dict[str, Any]:
        """The document that `discreet posterior --json` prints; less than `least` is left out."""
        listed = Cells(self.variables, self.codes, np.zeros(len(self), np.int64))
        if (written := int((self.mass >= least).sum())) > MOST_WRITTEN:
            raise DataError(
                f"{plural(len(self), 'cell')} can have {written:,} counts, more than "
                f"{MOST_WRITTEN:,}, too many to write; ask about cells with smaller counts."
            )
        rows = []
        for row, cell in enumerate(listed):
            said: dict[str, Any] = {"cell": cell}
            if counts is not None:
                said["count"] = int(counts[row])
            chances = enumerate(self._of(row).tolist(), int(self.low[row]))
            rows.append(said | {"probabilities": {str(n): p for n, p in chances if p >= least}})
        return {
            "cells": rows,
            "models": [{"model": self.model, "prior": self.prior, "weight": 1.0}],
            "diagnostics": self.diagnostics(),
            "stopped": self.stopped,
        }

    def diagnostics(self) -> dict[str, Any]:
        """How the beliefs were found, and how far they can be trusted."""
        tables = self.tables
        return {
            "method": self.method,
            "exact": self.exact,
            "tables": None if tables is None else digits(tables),
            "effective_draws": self._fewest_draws(),
            "largest_standard_error": self._largest_error(),
            **({} if self.convergence is None else self.convergence.to_json()),
        }

    def _fewest_draws(self) -> float | None:
        return None if self.effective is None or not len(self) else float(np.min(self.effective))

    def _largest_error(self) -> float:
        if self.effective is None:
            return 0.0
        worth = np.repeat(self._worth, np.diff(self.starts))
        p = np.clip(self.mass, 0.5 / (worth + 1), 1 - 0.5 / (worth + 1))
        return float(np.sqrt(p * (1 - p) / worth).max(initial=0))

    def plot(self, *, counts: Ints | None = None, most: int = 2, **options: Any) -> Any:
        """Each cell's probabilities as a row of boxes; the true count outlined if given."""
        from discreet.look.beliefcharts import cells_chart

        listed = Cells(self.variables, self.codes, np.zeros(len(self), np.int64))
        title = None
        if counts is not None:
            right = int((self.guess == counts).sum())
            title = f"The best guess is right for {right:,} of {len(self):,} cells"
        return cells_chart(
            [", ".join(cell.values()) for cell in listed],
            self.matrix(most).tolist(),
            counts=None if counts is None else counts.tolist(),
            heading=", ".join(variable.name for variable in self.variables),
            **{"title": title, **options},
        )


def chosen(release: Release, cells: Cells | None) -> Cells:
    """The cells that are asked about, of the table or of a margin, checked; by default all."""
    shape = release.axes.sizes
    if cells is None:
        if math.prod(shape) > MOST_CELLS:
            raise DataError(
                f"the table has {math.prod(shape):,} cells, too many to believe something about "
                "each; name the cells, as in table.small()."
            )
        codes = unravel(np.arange(math.prod(shape)), shape)
        return Cells(release.variables, codes, np.zeros(len(codes), np.int64))
    sizes = dict(zip(release.names, shape, strict=True))
    for name, size in zip(cells.names, cells.shape, strict=True):
        if sizes.get(name) != size:
            raise DataError(
                f"the cells have {name!r} with {size} categories, the release is over "
                f"{', '.join(release.names)}; ask about cells over some of these variables."
            )
    return cells


def of_table(release: Release, cells: Cells | None) -> Cells:
    """The same, refused if they are of a margin."""
    cells = chosen(release, cells)
    if cells.names != release.names:
        raise DataError(
            f"the cells are over {', '.join(cells.names)}, the release over "
            f"{', '.join(release.names)}; ask about cells over all of these variables, in this "
            "order."
        )
    return cells


def held(cells: int, values: float, most: int = MOST_VALUES) -> None:
    """Refuses to hold the probabilities of so many counts."""
    if values > most:
        raise DataError(
            f"{plural(cells, 'cell')} can have {values:,.0f} counts, more than {most:,}, too many "
            "to hold a probability for each; ask about cells with smaller counts."
        )


def counted(release: Release) -> type[np.signedinteger]:
    """The smallest kind of number that holds every count."""
    return np.int32 if (release.total or 0) < 1 << 31 else np.int64


def tallied(
    counts: NDArray[np.integer[Any]], mass: Floats | None = None
) -> tuple[Ints, list[Floats]]:
    """How often each cell had each count, from its lowest on: from tables x cells.

    `mass` are the tables' probabilities, if they are not all alike.
    """
    low, high = counts.min(0).astype(np.int64), counts.max(0).astype(np.int64)
    held(len(low), float((high - low + 1.0).sum()))
    total = len(counts) if mass is None else 1.0
    return low, [
        np.bincount(column.astype(np.int64) - least, mass) / total
        for column, least in zip(counts.T, low, strict=True)
    ]


def fits(release: Release, table: Table) -> bool:
    """Does the table have every released margin and known cell?"""
    if set(table.names) != set(release.names):
        raise DataError(
            f"the table is over {', '.join(table.names)}, the release over "
            f"{', '.join(release.names)}; give a table over the same variables."
        )
    if release.closed(table.codes, table.names).any():
        return False
    return all(table.margin(t.names) == t for t in release.tables) and all(
        known.lower <= table.slice(**dict(known.cell)).total <= known.upper
        for known in release.ranges
    )
