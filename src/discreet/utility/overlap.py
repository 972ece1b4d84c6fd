"""Whether a scientist comes to the same estimates: overlap of confidence intervals.

    J = 1/2 [ |A and B| / |A|  +  |A and B| / |B| ]

of the intervals A from the true and B from the masked file (Karr, Kohnen, Oganian, Reiter & Sanil
2006): 1 where they are the same, 0 where they do not meet.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.table.cells import frame as as_frame
from discreet.utility.records import check_columns
from discreet.utility.regression import Estimated, Goal

if TYPE_CHECKING:
    import pandas as pd

Interval = tuple[float, float]


def interval_overlap(a: Interval, b: Interval) -> float:
    """The mean of the shares of two intervals that they have in common.

    >>> interval_overlap((0, 10), (5, 10)), interval_overlap((0, 1), (2, 3))
    (0.75, 0.0)
    """
    for low, high in (a, b):
        if not low <= high:
            raise DataError(f"({low}, {high}) is no interval; give its lower end first.")
    common = min(a[1], b[1]) - max(a[0], b[0])
    if common < 0:
        return 0.0
    shares = [common / (high - low) if high > low else 1.0 for low, high in (a, b)]
    return float(np.mean(shares))


@dataclass(frozen=True, eq=False)
class Overlap(Result):
    """Estimates of a true and a masked file with their intervals, a row each; nan is no estimate.

    `said` tells where the masked file gives no estimate that could be compared, and where a
    regression was held back because its records were separated.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> true = pd.DataFrame({"age": [31, 47, 50, 64], "sex": ["f", "m", "f", "m"]})
    >>> masked = true.assign(age=[33, 45, 52, 61])
    >>> dc.worth.estimates(true, masked, [dc.worth.mean("age")])
    Overlap(1 estimate: mean 0.936, least 0.936 of mean age)
    """

    names: tuple[str, ...]
    true: Floats
    true_error: Floats
    masked: Floats
    masked_error: Floats
    level: float
    said: tuple[str, ...] = ()

    @property
    def reach(self) -> float:
        """Half the width of an interval, in standard errors."""
        from scipy.special import ndtri

        return float(ndtri((1 + self.level) / 2))

    @property
    def overlap(self) -> Floats:
        """The overlap of each pair of intervals; 0 where the masked file gives no estimate."""
        z = self.reach
        rows = zip(self.true, self.true_error, self.masked, self.masked_error, strict=True)
        return np.array([
            0.0 if np.isnan([a, s, b, t]).any()
            else interval_overlap((a - z * s, a + z * s), (b - z * t, b + z * t))
            for a, s, b, t in rows
        ])  # fmt: skip

    @property
    def standardised(self) -> Floats:
        """How far each estimate moved, in standard errors of the true file."""
        moved = self.masked - self.true
        still = np.where(moved == 0, 0.0, np.where(np.isnan(moved), np.nan, np.inf))
        return np.divide(moved, self.true_error, out=still, where=self.true_error > 0)

    @property
    def mean(self) -> float:
        """The mean overlap."""
        return float(self.overlap.mean())

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row an estimate."""
        z = self.reach
        columns = {
            "estimate": list(self.names),
            "true": self.true,
            "true low": self.true - z * self.true_error,
            "true high": self.true + z * self.true_error,
            "masked": self.masked,
            "masked low": self.masked - z * self.masked_error,
            "masked high": self.masked + z * self.masked_error,
            "overlap": self.overlap,
            "standardised": self.standardised,
        }
        return as_frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        rows = [
            {name: None if value != value else value for name, value in row.items()}
            for row in self.to_frame().to_dict("records")
        ]
        return {
            "mean": self.mean, "level": self.level, "estimates": rows, "said": list(self.said),
        }  # fmt: skip

    def __repr__(self) -> str:
        low = int(np.argmin(self.overlap))
        return (
            f"Overlap({plural(len(self.names), 'estimate')}: mean {self.mean:.3f}, least "
            f"{self.overlap[low]:.3f} of {self.names[low]:.60})"
        )


def estimates(
    true: pd.DataFrame,
    masked: pd.DataFrame,
    goals: Iterable[Goal],
    *,
    weight: str | None = None,
    level: float = 0.95,
) -> Overlap:
    """What a scientist estimates from both files: means, proportions, regressions.

    Intervals are normal. With a `weight` column estimates are weighted, and standard errors are
    those of independent records drawn with unequal chances (linearised). Records that miss a
    value are left out of an estimate that needs it.

    >>> import pandas as pd
    >>> from discreet.utility.regression import mean, proportion
    >>> true = pd.DataFrame({"age": [31, 47, 25, 60, 52], "sex": list("fmfmf")})
    >>> masked = true.assign(age=[35, 45, 25, 60, 50])
    >>> estimates(true, masked, [mean("age"), proportion("sex", "f")])
    Overlap(2 estimates: mean 0.981, least 0.962 of mean age)
    """
    if not 0 < level < 1:
        raise DataError(f"level={level:g}; give a share between 0 and 1, such as 0.95.")
    goals = list(goals)
    if not goals:
        raise DataError("there is nothing to estimate; give at least one goal.")
    names, mine, theirs = list[str](), list[Estimated](), list[Estimated]()
    said: list[str] = []
    for goal in goals:
        check_columns(true, goal.columns, "the true file")
        check_columns(masked, goal.columns, "the masked file")
        one = goal.estimate(true, weight, "the true file")
        two = Estimated((), np.zeros(0), np.zeros(0))
        if why := goal.lost(true, masked):
            said.append(why)
        else:
            two = goal.estimate(masked, weight, "the masked file", like=true)
        said += [f"{goal}: records are separated" for e in (one, two) if e.regularised]
        names += one.names
        mine.append(one)
        theirs.append(two.for_names(one.names))
    return Overlap(
        tuple(names),
        np.concatenate([one.values for one in mine]),
        np.concatenate([one.errors for one in mine]),
        np.concatenate([one.values for one in theirs]),
        np.concatenate([one.errors for one in theirs]),
        level,
        tuple(dict.fromkeys(said)),
    )
