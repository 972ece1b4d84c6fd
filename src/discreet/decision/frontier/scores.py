"""Disclosure scores: how problematic each variable is."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import combinations
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.cells import frame

GROUPS = ("very problematic", "problematic", "slightly problematic")


@dataclass(frozen=True, eq=False)
class Scores(Result):
    """How problematic each variable is: the mean critical width of the margins that contain it.

    The smaller, the more problematic; `group` puts like scores together, `orders` are those of the
    margins averaged (Dobra, Erosheva & Fienberg 2002, section 1.7).

    >>> import discreet as dc
    >>> scores = dc.widths(dc.load("example:czech")).scores()
    >>> scores
    Scores(6 variables: 52.25 (F) to 89.91 (D); mean critical width of all margins that contain the
        variable)
    >>> scores.groups()
    (('F',), ('B', 'C'), ('A', 'E', 'D'))
    """

    names: tuple[str, ...]
    score: NDArray[np.float64]
    group: NDArray[np.int64]
    orders: tuple[int, ...]

    def __post_init__(self) -> None:
        self.score.flags.writeable = False
        self.group.flags.writeable = False

    @property
    def basis(self) -> str:
        """Which margins the scores are means over, in words."""
        if len(self.orders) == len(self.names):
            return "mean critical width of all margins that contain the variable"
        most = f"up to {plural(self.orders[-1], 'variable')}"
        if self.orders != tuple(range(1, self.orders[-1] + 1)):
            most = f"{', '.join(map(str, self.orders))} variables"
        return f"mean critical width of the margins of {most} that contain the variable"

    def __len__(self) -> int:
        return len(self.names)

    def __getitem__(self, name: str) -> float:
        return self.to_json()[name]

    def __repr__(self) -> str:
        rows = self.ordered()
        ends = " to ".join(f"{self.score[p]:.2f} ({self.names[p]})" for p in (rows[0], rows[-1]))
        return f"Scores({plural(len(self), 'variable')}: {ends}; {self.basis})"

    def ordered(self) -> list[int]:
        """The variables, most problematic first."""
        found: list[int] = np.argsort(self.score, kind="stable").tolist()
        return found

    def words(self, group: int) -> str:
        """What a group is called; one group alone says nothing."""
        return GROUPS[group - 1] if self.group.max() > 1 else "all alike"

    def groups(self) -> tuple[tuple[str, ...], ...]:
        """The names of each group, most problematic first (Table 1.10)."""
        return tuple(
            tuple(self.names[p] for p in self.ordered() if self.group[p] == group)
            for group in range(1, int(self.group.max()) + 1)
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a variable, most problematic first."""
        rows = self.ordered()
        return frame(
            {
                "variable": [self.names[p] for p in rows],
                "score": self.score[rows],
                "group": self.group[rows],
            },
            kind,
        )

    def to_json(self) -> dict[str, float]:
        return {self.names[p]: float(self.score[p]) for p in self.ordered()}

    def plot(self, **options: Any) -> Any:
        """The scores as bars, most problematic first."""
        from discreet.look.widthcharts import score_chart

        rows = [(self.names[p], float(self.score[p]), int(self.group[p])) for p in self.ordered()]
        words = [self.words(group + 1) for group in range(int(self.group.max()))]
        return score_chart(rows, words, **{"basis": self.basis} | options)


def disclosure_scores(
    names: tuple[str, ...],
    inside: NDArray[np.bool_],
    width: NDArray[np.int64],
    orders: tuple[int, ...],
) -> Scores:
    """The mean width of the margins that contain each variable; `inside` is margins x variables.

    Dobra, Erosheva & Fienberg 2002, section 1.7: a low score marks a variable whose margins narrow
    small counts most.
    """
    score = (width @ inside.astype(np.int64)) / inside.sum(0)
    return Scores(names, score, _grouped(score), orders)


def _grouped(score: NDArray[np.float64]) -> NDArray[np.int64]:
    """Up to three groups of neighbours, the widest spanning as little as possible.

    The paper has no rule; this one gives its Table 1.10. Equal scores share a group.
    """
    levels, level = np.unique(score, return_inverse=True)
    last = len(levels)
    if last <= len(GROUPS):
        return level + 1

    def span(cuts: tuple[int, ...]) -> tuple[float, float]:
        ends = zip((0, *cuts), (*cuts, last), strict=True)
        spans = [float(levels[stop - 1] - levels[start]) for start, stop in ends]
        return max(spans), sum(spans)

    cuts = min(combinations(range(1, last), len(GROUPS) - 1), key=span)
    return np.searchsorted(cuts, level, side="right") + 1
