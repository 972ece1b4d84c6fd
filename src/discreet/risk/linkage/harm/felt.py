"""Harm to every respondent, by outcome and by group."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.look.result import Result
from discreet.look.words import plural
from discreet.risk.linkage.harm.costs import OUTCOMES, SAID, Costs
from discreet.risk.linkage.harm.told import ToldCategory, ToldNumber
from discreet.table.cells import frame


@dataclass(frozen=True, eq=False)
class Harm(Result):
    """Outcome and harm of every respondent; of a number, expected over the whole belief.

    `without_link`: respondents whose category is inferred from candidates that agree, though no
    record is linked, and how many rightly. `told`: what is believed of each, and the model.
    `rough`: where links are not exact, the harm by a rougher approximation of them.

    >>> import discreet as dc
    >>> import pandas as pd
    >>> people = pd.DataFrame({"id": [1, 2, 3], "age": [31, 47, 62], "ill": ["no", "yes", "no"]})
    >>> intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    >>> records = dc.linkage.read_records(people, people, intruder, id="id", also=["ill"])
    >>> costs = dc.linkage.Costs("ill", {"FN": 0, "TN": 1, "FF": 2, "FT": 3, "TF": 2, "TT": 10})
    >>> found = dc.linkage.harm(records, dc.identify(records, intruder), costs)
    >>> found.by_outcome
    {'none': 0, 'FN': 0, 'TN': 0, 'FF': 0, 'FT': 0, 'TF': 0, 'TT': 3}
    >>> found.inferences
    {'right': 3, 'wrong': 0, 'nothing': 0}
    """

    costs: Costs
    outcome: Ints
    harm: Floats
    groups: Mapping[str, NDArray[np.object_]]
    without_link: tuple[int, int] | None = None
    told: ToldCategory | ToldNumber | None = None
    rough: Floats | None = None

    def __repr__(self) -> str:
        return f"Harm({self.words.split(' (')[0]} to {plural(len(self.harm), 'respondent')})"

    @property
    def total(self) -> float:
        return float(self.harm.sum())

    @property
    def error(self) -> float:
        """About how far the total may be off, where the links are not exact."""
        return 0.0 if self.rough is None else float(np.abs(self.harm - self.rough).sum())

    @property
    def words(self) -> str:
        """The sum, whether it is exact, and about how far it may be off."""
        close = self.error > 0 or (isinstance(self.told, ToldNumber) and not self.told.exact)
        off = f" (two approximations differ by {self.error:.2g})" if self.error > 0 else ""
        return f"{'about ' if close else ''}{self.total:,.6g}{off}"

    @property
    def by_outcome(self) -> dict[str, int]:
        """How many respondents have each outcome; they sum to all of them."""
        counts = np.bincount(self.outcome, minlength=len(OUTCOMES))
        return dict(zip(OUTCOMES, counts.tolist(), strict=True))

    @property
    def harm_by_outcome(self) -> dict[str, float]:
        """The sum of harm of each outcome."""
        sums = np.bincount(self.outcome, self.harm, len(OUTCOMES))
        return dict(zip(OUTCOMES, sums.tolist(), strict=True))

    @property
    def inferences(self) -> dict[str, int]:
        """Respondents with a link of whom something right, wrong, or nothing is inferred."""
        many = self.by_outcome
        pairs = {"right": ("FT", "TT"), "wrong": ("FF", "TF"), "nothing": ("FN", "TN")}
        return {said: sum(many[name] for name in names) for said, names in pairs.items()}

    def by_group(self) -> list[dict[str, Any]]:
        found = []
        for name, labels in self.groups.items():
            values, place = np.unique(labels.astype(str), return_inverse=True)
            many, sums = np.bincount(place), np.bincount(place, self.harm)
            linked = np.bincount(place, self.outcome > 0)
            for k, value in enumerate(values.tolist()):
                row = {"group": name, "value": value, "respondents": int(many[k])}
                found.append(row | {"linked": int(linked[k]), "harm": float(sums[k])})
        return found

    def plot(self, **options: Any) -> Any:
        """Bars: the harm of each outcome."""
        from discreet.look.linkcharts import outcome_chart

        many, sums = self.by_outcome, self.harm_by_outcome
        rows = [(SAID[name], many[name], sums[name]) for name in OUTCOMES]
        return outcome_chart(rows, **options)

    def plot_groups(self, **options: Any) -> Any:
        """Bars: the harm to a respondent of each group."""
        from discreet.look.linkcharts import group_chart

        rows = [
            (f"{row['group']} {row['value'] or 'missing'}", row["respondents"], row["harm"])
            for row in self.by_group()
        ]
        return group_chart(rows, **options)

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a respondent: the outcome, the harm, and what is believed."""
        names = np.array(OUTCOMES)[self.outcome]
        told = {} if self.told is None else self.told.columns()
        return frame({"outcome": names, "harm": self.harm, **told, **self.groups}, kind)

    def to_json(self) -> dict[str, Any]:
        known = {"sensitive": self.costs.sensitive, "total": self.total}
        known |= {"error": self.error}
        known |= {"average": float(self.harm.mean()), "outcomes": self.by_outcome}
        known |= {"inferences": self.inferences}
        if self.without_link is not None:
            inferred, right = self.without_link
            known["without_link"] = {"inferred": inferred, "right": right}
        told = {} if self.told is None else self.told.to_json()
        return known | told | {"groups": self.by_group()}
