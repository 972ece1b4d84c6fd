"""What a masked file is worth, in one object and one number."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.errors import DataError
from discreet.look.result import Result
from discreet.look.theme import WIDE
from discreet.table.cells import frame as as_frame
from discreet.utility.coarse import Within, counted
from discreet.utility.distances import MEASURES, MOST, ORDERS, ByOrder, over_margins
from discreet.utility.moments import Moments, moments
from discreet.utility.propensity import Propensity, pmse

if TYPE_CHECKING:
    import pandas as pd


@dataclass(frozen=True, eq=False)
class Worth(Result):
    """What masked copies of a file are worth.

    `by_order` has the distances of margins, the mean over copies. `moments` and `propensity` are
    by copy: of numbers that are still numbers, and where it was asked for.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> true = pd.DataFrame({"age": [31, 47, 50, 64], "sex": ["f", "m", "f", "m"]})
    >>> masked = true.assign(age=[33, 45, 52, 61])
    >>> found = dc.worth.worth(true, masked, categories=["sex"], numbers=["age"])
    >>> found.score, len(found.moments)
    (1.0, 1)
    """

    by_order: ByOrder
    scores: tuple[float, ...]
    measure: str
    moments: tuple[Moments, ...] = ()
    propensity: tuple[Propensity, ...] = ()
    said: tuple[str, ...] = ()

    @property
    def score(self) -> float:
        """From 0 to 1: 1 - mean over orders 1 to 3 of the mean distance of margins, over copies.

        Margins are over categories and over numbers cut at the true file's deciles; missing is a
        category. 1 if every margin is as it was.
        """
        return float(np.mean(self.scores))

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a measure."""
        rows = [("score", "", self.score)]
        for order in self.by_order.orders:
            rows.append((f"{self.measure} distance", f"{order}-way", self._mean(order)))
        for what in ("mean", "deviation", "correlation") if self.moments else ():
            found = [one.greatest(what) for one in self.moments]
            name, value = max(found, key=lambda each: np.nan_to_num(each[1], nan=-1))
            rows += [(f"greatest difference of a {what}", name, value)] if name else []
        if self.propensity:
            ratio = float(np.mean([one.ratio for one in self.propensity]))
            rows.append(("pMSE ratio", self.propensity[0].null, ratio))
        columns = zip(*rows, strict=True)
        names = ("measure", "of", "value")
        return as_frame(dict(zip(names, map(list, columns), strict=True)), kind)

    def _mean(self, order: int) -> float:
        return self.by_order.mean(order, self.measure)

    def to_json(self) -> dict[str, Any]:
        return {
            "score": self.score,
            "measure": self.measure,
            "copies": len(self.scores),
            "scores": list(self.scores),
            "by_order": self.by_order.to_json(),
            "moments": [one.to_json() for one in self.moments],
            "propensity": [one.to_json() for one in self.propensity],
            "said": list(self.said),
        }

    def plot(self, *, title: str | None = None, width: int = WIDE) -> Any:
        """Distances of margins by order."""
        return self.by_order.plot(measure=self.measure, title=title, width=width)

    def __repr__(self) -> str:
        means = ", ".join(f"{self._mean(order):.4f}" for order in self.by_order.orders)
        copies = f" of {len(self.scores)} copies" if len(self.scores) > 1 else ""
        note = ", a sample of margins" if self.by_order.sampled else ""
        return f"Worth({self.score:.4f}{copies}: {self.measure} by order {means}{note})"


def worth(
    true: pd.DataFrame,
    masked: pd.DataFrame | Sequence[pd.DataFrame],
    *,
    categories: Sequence[str] = (),
    numbers: Sequence[str] = (),
    weight: str | None = None,
    measure: str = "hellinger",
    within: Within | None = None,
    propensity: bool = False,
    null: str = "independent",
    most: int = MOST,
) -> Worth:
    """What a masked file, or several synthetic copies, are worth beside the true one.

    `score`, from 0 to 1, is for a risk-utility map. `within` says what a coarse value may be, by
    column: `{"town": {"CH": ("Bern", "Basel"), "*": ()}}`, where () is all that the true file
    has; a user spreads it evenly over these. Of numbers it lists numbers, `range(20, 30)`, or has
    an interval of pandas, and () is the true file's range, by length. "" stands for a missing
    value; it is a category like any other if it is not listed. `propensity` adds the pMSE over
    all columns.

    >>> import pandas as pd
    >>> true = pd.DataFrame({"town": ["Bern", "Bern", "Basel", "Bonn"], "age": [31, 47, 25, 60]})
    >>> worth(true, true, categories=["town"], numbers=["age"])
    Worth(1.0000: hellinger by order 0.0000, 0.0000)
    >>> coarse = true.assign(town=["CH", "CH", "CH", "Bonn"])
    >>> round(worth(true, coarse, categories=["town"]).score, 4)
    0.134
    >>> within = {"town": {"CH": ("Bern", "Basel")}}
    >>> round(worth(true, coarse, categories=["town"], within=within).score, 4)
    0.8961
    """
    if measure not in MEASURES:
        raise DataError(f"there is no measure {measure!r}; choose {' or '.join(MEASURES)}.")
    copies = list(masked) if isinstance(masked, (list, tuple)) else [masked]
    within = within or {}
    mine, theirs = counted(
        true, copies, categories=categories, numbers=numbers, weight=weight, within=within
    )
    names = [*categories, *numbers]
    found = over_margins(mine, theirs, names, orders=ORDERS, most=most)
    scores = tuple(one.score(measure) for one in found)
    every = ByOrder(
        found[0].margins,
        np.mean([one.hellinger for one in found], axis=0),
        np.mean([one.total_variation for one in found], axis=0),
        found[0].possible,
    )
    said = []
    plain = [n for n in numbers if all(_numeric(copy, n) for copy in (true, *copies))]
    if coarse := sorted(set(numbers) - set(plain)):
        said.append(f"no moments of {', '.join(coarse)}: not numbers any more.")
    apart: tuple[Moments, ...] = ()
    if plain:
        apart = tuple(moments(true, copy, plain, weight=weight) for copy in copies)
    tell: tuple[Propensity, ...] = ()
    if propensity:
        tell = tuple(pmse(true, copy, columns=names, null=null) for copy in copies)
        said += [text for one in tell for text in one.said]
        if weight is not None:
            said.append("the pMSE is of records, not weighted.")
    return Worth(every, scores, measure, apart, tell, tuple(dict.fromkeys(said)))


def _numeric(frame: pd.DataFrame, name: str) -> bool:
    return frame[name].dtype.kind in "iuf"
