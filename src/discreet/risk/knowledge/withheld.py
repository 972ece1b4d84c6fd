"""The answer to what a table teaches that hides categories: under which priors it is safe."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from discreet.intruder.belief.belief import Belief
from discreet.look.result import Paged
from discreet.risk.knowledge.knowledge import KnowledgeRule
from discreet.table.cells import frame

EVERY, SOME, NONE, OPEN = "every prior", "some priors", "no prior", "not known"
THIS, BEYOND = "this prior", "not this prior"


@dataclass(frozen=True, eq=False)
class Outcome:
    """What is believed of somebody in one group, under the priors: at worst, and at best.

    `shares` are, of each category that is merged or left out, the prior shares for which some
    belief is within the limit: of those merged together, or of everybody.
    """

    label: str
    people: int
    holds: str
    worst: Belief
    lowest: float
    best: Belief | None
    highest: float | None
    words: str
    shares: Mapping[str, tuple[float, float]] = field(default_factory=dict)
    before: float | None = None

    @property
    def within(self) -> bool:
        return self.holds in (EVERY, THIS)

    def __repr__(self) -> str:
        return f"Outcome({self.label}: {self.words})"

    def to_json(self) -> dict[str, Any]:
        return {
            "target": self.label,
            "people": self.people,
            "holds_for": self.holds,
            "words": self.words,
            "before": self.before,
            "knowledge": self.lowest,
            "posterior": _told(self.worst),
            "highest": self.highest,
            "best": None if self.best is None else _told(self.best),
            "shares": {name: list(ends) for name, ends in self.shares.items()},
            "verdict": "PASS" if self.within else "FAIL",
        }


@dataclass(frozen=True, eq=False)
class Withheld(Paged):
    """A table with merged or left out categories, judged on the original ones.

    >>> import discreet as dc
    >>> found = dc.uncertainty.withheld(
    ...     {"flu": 6, "cold": 2, "none": 2}, merge={"ill": ["flu", "cold"]}, limit=0.4)
    >>> found
    Withheld(flu and cold merged: within the limit for some priors)
    >>> found.rows[0].words
    'for priors whose share of flu, among flu and cold, is 25% to 75%'
    """

    about: str
    how: str
    priors: str
    rule: KnowledgeRule
    rows: tuple[Outcome, ...]
    words: str
    notes: tuple[str, ...] = ()
    curves: Sequence[tuple[float, float]] = field(default=(), repr=False)
    outer: bool = False
    axis: str = ""

    @property
    def within(self) -> bool:
        return all(row.within for row in self.rows)

    @property
    def headline(self) -> str:
        """For which priors; of several groups, how many are within the limit for all of them."""
        how = self.how + ", an outer bound" * self.outer
        if len(self.rows) == 1:
            if self.rows[0].holds == BEYOND:
                return f"{how}: beyond the limit for {THIS}"
            return f"{how}: within the limit for {self.rows[0].holds}"
        safe = sum(row.within for row in self.rows)
        who = EVERY if self.priors == EVERY else "every prior of the class"
        who = THIS if self.rows[0].holds in (THIS, BEYOND) else who
        return f"{how}: {safe:,} of {len(self.rows):,} groups within the limit for {who}"

    def __repr__(self) -> str:
        return f"Withheld({self.headline})"

    def plot(self, **options: Any) -> Any:
        """The uncertainty of the first group over the prior share, if one share says it all."""
        from discreet.look.knowledgecharts import shares_chart, split_chart

        row = self.rows[0]
        if not self.curves:
            values, mass = row.worst.values.tolist(), row.worst.mass.tolist()
            return shares_chart(values, None, mass, label=row.label, **options)
        limit = self.rule.limit
        return split_chart(self.curves, limit, name=self.axis, label=row.label, **options)

    def to_frame(self, kind: str = "pandas") -> Any:
        columns: dict[str, list[Any]] = {
            "target": [row.label for row in self.rows],
            "people": [row.people for row in self.rows],
            "holds_for": [row.holds for row in self.rows],
            "knowledge": [row.lowest for row in self.rows],
            "highest": [row.highest for row in self.rows],
            "words": [row.words for row in self.rows],
            "within": [row.within for row in self.rows],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "verdict": "PASS" if self.within else "FAIL",
            "about": self.about,
            "how": self.how,
            "priors": self.priors,
            "uncertainty": str(self.rule.uncertainty),
            "measure": str(self.rule.measure),
            "limit": self.rule.limit,
            "rule": self.words,
            "targets": [row.to_json() for row in self.rows],
            "outer": self.outer,
            "notes": list(self.notes),
        }


def _told(belief: Belief) -> dict[str, dict[str, float]]:
    pairs = zip(belief.values.tolist(), belief.mass.tolist(), strict=True)
    return {"probabilities": {str(value): p for value, p in pairs}}
