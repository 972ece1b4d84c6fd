"""Which Pareto priors a published total is within the limit for, and which it is not.

Section 3: only the class of priors that lead to violation of a bound may be important; precise
specification of the prior is then unnecessary (Duncan & Lambert 1986).
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.errors import DataError
from discreet.intruder.predictive.families import Pareto
from discreet.intruder.predictive.totals import value_given_total
from discreet.look.result import Result
from discreet.risk.knowledge.intruders import TRIED, pareto_alphas
from discreet.risk.knowledge.knowledge import KnowledgeRule
from discreet.table.cells import frame

SHOWN = 41  # points of the curve


@dataclass(frozen=True, eq=False)
class AlphaClasses(Result):
    """Intervals of alpha within the limit and beyond it; together they are all of `among`.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.RelativeError(), 0.25)
    >>> found = dc.uncertainty.alpha_classes(rule, 507.862, 11, 10, among=(1, 2))
    >>> [round(end, 3) for end in found.beyond[0]]
    [1.384, 2]
    """

    rule: KnowledgeRule
    total: float
    number: int
    minimum: float
    among: tuple[float, float]
    within: tuple[tuple[float, float], ...]
    beyond: tuple[tuple[float, float], ...]

    def __repr__(self) -> str:
        return f"AlphaClasses(beyond the limit: {_said(self.beyond)}; {self.searched})"

    def __str__(self) -> str:
        return (
            f"Within the limit for alpha {_said(self.within)}; beyond it for alpha "
            f"{_said(self.beyond)} ({self.searched})."
        )

    @property
    def searched(self) -> str:
        """What was looked at: an interval between two points that agree is not seen."""
        low, high = self.among
        return f"searched from {low:g} to {high:g} at {TRIED} points"

    def uncertainty(self, alpha: float) -> float:
        """U of the belief about one value, of this alpha."""
        found = value_given_total(self.total, self.number, Pareto(alpha, self.minimum))
        return self.rule.uncertainty(found.belief)

    def to_frame(self, kind: str = "pandas") -> Any:
        """An interval a row."""
        both = [(*span, True) for span in self.within] + [(*span, False) for span in self.beyond]
        rows = sorted(both)
        columns = {
            "from": [row[0] for row in rows],
            "to": [row[1] for row in rows],
            "within": [row[2] for row in rows],
        }
        return frame(columns, kind)

    def to_json(self) -> dict[str, Any]:
        return {
            "searched": list(self.among),
            "points": TRIED,
            "within": [list(span) for span in self.within],
            "beyond": [list(span) for span in self.beyond],
        }

    def plot(self, **options: Any) -> Any:
        """What is left to know by alpha, and the limit."""
        from discreet.look.knowledgecharts import alphas_chart

        low, high = self.among
        alphas = np.geomspace(low, high, SHOWN).tolist()
        curve = [(alpha, self.uncertainty(alpha)) for alpha in alphas]
        said = str(self.rule.uncertainty)
        return alphas_chart(curve, self.rule.limit, self.beyond, measure=said, **options)


def alpha_classes(
    rule: KnowledgeRule,
    total: float,
    number: int,
    minimum: float,
    *,
    among: tuple[float, float] = (0.2, 10.0),
) -> AlphaClasses:
    """The Pareto priors for which one of `number` values with this total is, and is not, within a
    limit on knowledge.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.RelativeError(), 0.25)
    >>> dc.uncertainty.alpha_classes(rule, 507.862, 11, 10)
    AlphaClasses(beyond the limit: from 1.384 to 10; searched from 0.2 to 10 at 17 points)
    """
    low, high = among
    if not 0 < low < high:
        raise DataError(f"alphas from {low:g} to {high:g}; give 0 < from < to.")
    within = tuple(pareto_alphas(rule, total, number, minimum, among=(low, high)))
    ends = [low, *(end for span in within for end in span), high]
    pairs = zip(ends[::2], ends[1::2], strict=True)
    beyond = tuple((a, b) for a, b in pairs if b - a > 1e-9 * high)
    return AlphaClasses(rule, total, number, minimum, (low, high), within, beyond)


def _said(spans: tuple[tuple[float, float], ...]) -> str:
    return " and ".join(f"from {low:.4g} to {high:.4g}" for low, high in spans) or "nowhere"
