"""Dominance, p% and pq as limits on knowledge of a total's largest values.

A cell has the values x1 >= x2 >= ... and their total T is published. Whoever knows some of them,
and each smaller one to within a share q, has the remainder R between (1 - q) R and (1 + q) R, so
the target t lies between t - q R and t + q R. The best guess is then wrong by up to

    U = min over d, max over x of |d - x| / x = q R / t

and "release if U is at least p" is the p% rule (q = 1) or the pq rule for t = x1, known x2; with
nothing known, t = x1 + ... + xn and p = (1 - k) / k it is (n, k)-dominance (after Duncan & Lambert
1986, sections 5.3 and 5.4).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from discreet.errors import DataError
from discreet.intruder.belief.atoms import numeric
from discreet.intruder.belief.belief import Belief, Kind
from discreet.intruder.posterior.whole_table import Held
from discreet.intruder.predictive.incidence import dominance_bound, incidents
from discreet.look.result import Shown
from discreet.risk.knowledge.knowledge import KnowledgeRule, Learned
from discreet.risk.uncertainty import Best, Uncertainty, Variance
from discreet.risk.uncertainty.base import one_value

CLOSE = 1e-9


@dataclass(frozen=True)
class WorstRelative(Uncertainty):
    """How wrong, relative to the truth, the best guess is at worst: (b - a) / (b + a).

    a and b are the least and the largest value that are possible; the guess is 2ab / (a + b).

    >>> import discreet as dc
    >>> dc.uncertainty.WorstRelative().best(dc.Belief.discrete([80, 120], [0.5, 0.5]))
    Best(estimate=96.0, uncertainty=0.2, exact=True)
    """

    said: str = field(default="the largest relative error", init=False)

    def best(self, belief: Held) -> Best:
        held = one_value(belief, self.said)
        values, some = held.values, np.flatnonzero(held.mass > 0)
        if held.kind is Kind.DENSITY:  # linear between points: it reaches to the next one
            some = np.array([max(some[0] - 1, 0), min(some[-1] + 1, len(values) - 1)])
        if not numeric(values):
            raise DataError(f"a relative error needs numbers, and {values[0]} is among the values.")
        low, high = float(values[some].min()), float(values[some].max())
        if low < 0:
            raise DataError(f"a relative error needs values from 0 on, and {low:g} is possible.")
        if not high > 0:
            return Best(0.0, 0.0, held.exact)
        return Best(2 * low * high / (low + high), (high - low) / (high + low), held.exact)


@dataclass(frozen=True)
class LargestRule(Shown):
    """An office's rule on the largest values of a cell, and the knowledge rule that it is.

    The sum of the `group` largest is the target; the intruder knows the `known` next ones, and
    every smaller value to within the share `within`. The limit is on the largest relative error.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.p_rule(0.1)
    >>> rule.judge([70, 20], 100)
    Learned(the largest value: uncertainty 0.1429, within the limit)
    >>> print(rule)
    p% rule, 10%
    >>> rule.prior
    'knows the second largest, and each smaller value to within 100%'
    """

    name: str
    group: int
    known: int
    within: float
    limit: float

    @property
    def rule(self) -> KnowledgeRule:
        """Release if the best guess may be wrong by at least the limit."""
        return KnowledgeRule(WorstRelative(), self.limit)

    @property
    def variation(self) -> float:
        """The same as a limit on the coefficient of variation: it is U / sqrt(3) if the prior of
        the remainder is uniform."""
        return self.limit / math.sqrt(3)

    @property
    def target(self) -> str:
        return "the largest value" if self.group == 1 else f"the sum of the {self.group} largest"

    @property
    def prior(self) -> str:
        """What the intruder knows before the total is out."""
        smaller = f"each smaller value to within {_percent(self.within)}"
        if self.known == 0:
            return f"knows {smaller}"
        which = "the second largest" if self.known == 1 else f"the next {self.known} largest"
        return f"knows {which}, and {smaller}"

    def belief(self, largest: Sequence[float], total: float) -> Belief:
        """Of the target, when the total is out: uniform where it may lie."""
        target, rest = self._split(largest, total)
        low, high = max(0.0, target - self.within * rest), target + self.within * rest
        if not low < high:
            return Belief.discrete([target], [1.0])
        return Belief.density([low, high], [1 / (high - low)] * 2)

    def judge(self, largest: Sequence[float], total: float, *, label: str = "") -> Learned:
        """Is the total within the rule? `largest` are the largest values, the largest first."""
        belief = self.belief(largest, total)
        low, high = float(belief.values[0]), float(belief.values[-1])
        label = label or self.target
        return self.rule.judge(belief, label=label, low=low, high=high)

    def words(self, learned: Learned) -> str:
        """The verdict with its equivalent prior."""
        low, high = learned.figures["low"], learned.figures["high"]
        said = "PASS" if learned.within else "FAIL"
        return (
            f"{said} {self.name}: who {self.prior}, has {self.target} between {low:,.6g} and "
            f"{high:,.6g}; a best guess is wrong by up to {_percent(learned.after)}, and at least "
            f"{_percent(self.limit)} is asked."
        )

    def _split(self, largest: Sequence[float], total: float) -> tuple[float, float]:
        """The target, and what is left when the intruder's own is taken off too."""
        values = check_largest(largest, total)
        need = self.group + self.known
        if len(values) < need and abs(sum(values) - total) > CLOSE * total:
            raise DataError(
                f"the {self.name} needs the {need} largest values, and there are {len(values)}; "
                "give more of them."
            )
        target = sum(values[: self.group])
        return target, max(0.0, total - sum(values[:need]))

    def __str__(self) -> str:
        return self.name


def dominance_rule(n: int, k: float) -> LargestRule:
    """(n, k)-dominance: a cell is sensitive if its n largest values are more than k of the total.

    That is U < (1 - k) / k for the sum of the n largest and somebody who knows none of them, and
    each smaller one to within 100%; below k = 1/2, to within k / (1 - k), and U < 1.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.dominance_rule(1, 0.8)
    >>> rule.limit, rule.judge([70, 20], 100)
    (0.25, Learned(the largest value: uncertainty 0.4286, within the limit))
    """
    if n != int(n) or n < 1:
        raise DataError(f"dominance of {n} values; give a whole number from 1 on.")
    _check_share("the share of the largest", k)
    within = min(1.0, k / (1 - k))
    limit = min(1.0, round((1 - k) / k, 15))
    return LargestRule(f"({int(n)}, {_percent(k)}) dominance", int(n), 0, within, limit)


def p_rule(p: float, q: float = 1.0, *, coalition: int = 1) -> LargestRule:
    """The p% rule: nobody may tell the largest value to within p from the total and their own.

    A cell is sensitive if T - x1 - x2 < p / q x1: the pq rule, where each smaller value is known to
    within q before. `coalition` next largest work together.

    >>> import discreet as dc
    >>> dc.uncertainty.p_rule(0.1, 0.5).judge([70, 20], 100)
    Learned(the largest value: uncertainty 0.07143, beyond the limit)
    """
    _check_share("p", p, whole=True)
    _check_share("q", q, whole=True)
    if coalition != int(coalition) or coalition < 1:
        raise DataError(f"a coalition of {coalition}; give a whole number from 1 on.")
    name = f"p% rule, {_percent(p)}" if q == 1 else f"pq rule, {_percent(p)} and {_percent(q)}"
    if coalition > 1:
        name += f", {int(coalition)} together"
    return LargestRule(name, 1, int(coalition), float(q), float(p))


@dataclass(frozen=True)
class CompaniesRule(Shown):
    """Section 5.3's dominance rule: at least `least` companies, none with more than `share` of all
    incidents.

    An insider of one company then has a variance of at least m p a*, with m p the incidents of a
    company on average: whether that is enough depends on the rate p, so the rule is no limit on
    knowledge by itself.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.CompaniesRule(5, 0.5)
    >>> rule.obeyed(30, 5, largest=12), rule.guaranteed(30, 5), rule.left(30, 5, largest=12)
    (True, 2.8125, 3.375)
    >>> rule.enough(2.0)
    4.266666666666667
    """

    least: int
    share: float

    def __post_init__(self) -> None:
        dominance_bound(self.least, self.share)

    @property
    def name(self) -> str:
        return f"companies rule, {self.least:,} or more and none above {_percent(self.share)}"

    def obeyed(self, total: int, companies: int, *, largest: int) -> bool:
        """Are there enough companies, and is none too large?"""
        _check_insider(total, companies, largest)
        return companies >= self.least and largest <= self.share * total + CLOSE

    def guaranteed(self, total: int, companies: int) -> float:
        """m p a*: the variance that is left to an insider, where the rule is obeyed."""
        return total / companies * dominance_bound(self.least, self.share)

    def enough(self, limit: float) -> float:
        """The incidents of a company on average, m p, from which the rule guarantees the limit."""
        bound = dominance_bound(self.least, self.share)
        return limit / bound if bound > 0 else math.inf

    def left(self, total: int, companies: int, *, largest: int) -> float:
        """The variance that is left to an insider of the largest."""
        _check_insider(total, companies, largest)
        return Variance()(incidents(total, companies, insider=[largest]))

    def words(self, total: int, companies: int, largest: int, limit: float) -> str:
        said = "PASS" if self.obeyed(total, companies, largest=largest) else "FAIL"
        left = self.left(total, companies, largest=largest)
        enough = self.enough(limit)
        from_on = (
            "no rate makes that the limit"
            if math.isinf(enough)
            else f"that is {limit:g} from {enough:.4g} incidents a company on"
        )
        return (
            f"{said} {self.name}: an insider of the largest is left a variance of {left:.4g}. The "
            f"rule alone promises {self.guaranteed(total, companies):.4g} here; {from_on}."
        )

    def __str__(self) -> str:
        return self.name


def cell_rule(text: str) -> LargestRule | CompaniesRule:
    """A rule as commands write it: dominance:N:K, p:P, pq:P:Q or companies:N:F.

    >>> import discreet as dc
    >>> print(dc.uncertainty.cell_rule("dominance:2:0.85"))
    (2, 85%) dominance
    """
    makers: dict[str, tuple[int, Any]] = {
        "dominance": (2, lambda n, k: dominance_rule(_whole(n, text), k)),
        "p": (1, p_rule),
        "pq": (2, p_rule),
        "companies": (2, lambda n, f: CompaniesRule(_whole(n, text), f)),
    }
    name, *parts = text.split(":")
    if name not in makers or len(parts) != makers[name][0]:
        raise DataError(
            f"there is no rule {text!r}; write dominance:N:K, p:P, pq:P:Q or companies:N:F, with "
            "shares from 0 to 1."
        )
    try:
        numbers = [float(part) for part in parts]
    except ValueError:
        raise DataError(f"{text!r} has something that is no number; write e.g. p:0.1.") from None
    found: LargestRule | CompaniesRule = makers[name][1](*numbers)
    return found


def check_largest(
    largest: Sequence[float], total: float, number: int | None = None, minimum: float = 0.0
) -> list[float]:
    """The largest values, the largest first, if there can be such a total of so many."""
    values = sorted((float(value) for value in largest), reverse=True)
    if not values or not all(math.isfinite(value) and value >= 0 for value in values):
        raise DataError("the largest values must be numbers from 0 on, and at least one.")
    if not (math.isfinite(total) and total > 0):
        raise DataError(f"the total is {total:g}; give a number above 0.")
    left, slack = total - sum(values), CLOSE * total
    if left < -slack:
        raise DataError(
            f"the largest values sum to {sum(values):g}, more than the total of {total:g}."
        )
    if number is not None:
        more = number - len(values)
        if more < 0 or not more * minimum - slack <= left <= more * values[-1] + slack:
            raise DataError(
                f"{len(values):,} of {number:,} values sum to {sum(values):g}, and the others "
                f"cannot sum to {left:g} between {minimum:g} and {values[-1]:g} each; check the "
                "largest values."
            )
    return values


def _check_insider(total: int, companies: int, largest: int) -> None:
    if companies < 2:
        raise DataError(f"{companies} companies; an insider needs another one as the target.")
    if not 0 <= largest <= total or largest * companies < total:
        raise DataError(
            f"the largest of {companies:,} companies cannot have {largest:,} of {total:,} "
            "incidents."
        )


def _check_share(what: str, share: float, *, whole: bool = False) -> None:
    if not (0 < share < 1 or (whole and share == 1)):
        raise DataError(f"{what} is {share:g}; give a share between 0 and 1, as 0.1 for 10%.")


def _percent(share: float) -> str:
    return f"{100 * share:.4g}%"


def _whole(number: float, text: str) -> int:
    if not number.is_integer():
        raise DataError(f"{number:g} in {text!r} is no whole number.")
    return int(number)
