"""A loss written as a table: a row for what is said, a column for each true count."""

from __future__ import annotations

import math
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np

from discreet.data.smallfiles import read_matrix
from discreet.errors import DataError
from discreet.risk.uncertainty.written import Loss


@dataclass(frozen=True)
class Counts:
    """One count, or all from one on: 2, 3+.

    >>> Counts.read("3+").holds(5), Counts.read("3").holds(5), Counts.read("none")
    (True, False, None)
    """

    least: int
    open: bool = False

    @classmethod
    def read(cls, text: str) -> Counts | None:
        digits = text.strip().removesuffix("+")
        if not (digits.isascii() and digits.isdigit()):
            return None
        return cls(int(digits), text.strip().endswith("+"))

    def holds(self, count: Any) -> bool:
        return bool(count >= self.least if self.open else count == self.least)


@dataclass(frozen=True)
class WrittenLoss:
    """What each act costs at each true count.

    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "loss.csv").write_text("says,0,1,2+\\n0,0,5,9\\n1+,2,0,0\\n")
    ...     loss = WrittenLoss.read(f"{folder}/loss.csv")
    >>> loss.acts, loss("0", 7), loss.right("1+", 7)
    (('0', '1+'), 9.0, True)
    """

    name: str
    acts: tuple[str, ...]
    columns: tuple[Counts, ...]
    figures: tuple[tuple[float, ...], ...]

    @classmethod
    def read(cls, path: str | Path) -> WrittenLoss:
        acts, heads, figures = read_matrix(path)
        name = repr(Path(path).name)
        columns = []
        for head in heads:
            counts = Counts.read(head)
            if counts is None:
                raise DataError(
                    f"{name} has a column {head!r}; its columns are true counts: 0, 1, 2, 3+."
                )
            columns.append(counts)
        for what, listed in (("column", heads), ("act", acts)):
            if twice := [one for one in listed if listed.count(one) > 1]:
                raise DataError(f"{name} has the {what} {twice[0]!r} twice; list it once.")
        return cls(name, tuple(acts), tuple(columns), tuple(map(tuple, figures)))

    def __call__(self, act: str, count: Any) -> Any:
        """The loss of an act at a count, or at several."""
        if np.ndim(count):
            return np.array([self(act, value) for value in count])
        row = self.figures[self.acts.index(act)]
        for column, figure in zip(self.columns, row, strict=True):
            if column.holds(count):
                return figure
        raise DataError(
            f"{self.name} has no column for a count of {count}; add it, or end with a column such "
            "as 3+."
        )

    @property
    def loss(self) -> Loss:
        """As a user's loss, whose values are numbers from 0."""
        if any(figure < 0 or not math.isfinite(figure) for row in self.figures for figure in row):
            raise DataError(f"{self.name} has a loss below 0; a user's losses are numbers from 0.")
        return Loss(self, self.acts)

    @property
    def guesses(self) -> bool:
        """Is every act the name of a count?"""
        return all(Counts.read(act) is not None for act in self.acts)

    def right(self, act: str, count: Any) -> bool:
        """Does an act that names a count name this one?"""
        counts = Counts.read(act)
        return counts is not None and counts.holds(count)
