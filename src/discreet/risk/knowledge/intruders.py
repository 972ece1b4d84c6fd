"""Rules turned round: against which intruders a release stays within the limit."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from discreet.arrays import Floats
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.categories import census, check_fraction, sampled
from discreet.intruder.predictive.families import Pareto
from discreet.intruder.predictive.priors import Counts, Prior
from discreet.intruder.predictive.totals import value_given_total
from discreet.look.result import Shown
from discreet.risk.knowledge.knowledge import KnowledgeRule, Measure
from discreet.risk.knowledge.reach import Priors, Reach, merged_reach, suppressed_reach
from discreet.risk.knowledge.safest import Beliefs
from discreet.risk.uncertainty.shares import Shares

Intruder = TypeVar("Intruder")
TRIED, HALVINGS = 17, 20


@dataclass(frozen=True, eq=False)
class Outsiders(Shown):
    """Beliefs q about those outside a sample with U(f p + (1 - f) q) >= limit.

    `shares` is all of them where the rule is a limit on shares; `enough` is the U(q) that is
    enough for a concave U.
    """

    rule: KnowledgeRule
    shares: Shares | None
    enough: float | None

    def __str__(self) -> str:
        if self.shares is not None:
            if not self.shares.possible:
                return "no intruder: the sample alone is beyond the limit"
            return f"intruders who believe of those outside the sample that {self.shares}"
        if self.enough is None:
            return "not known in general; judge each intruder"
        if self.enough <= 0 or math.isinf(self.enough):
            return "every intruder" if self.enough <= 0 else "no intruder"
        said = self.rule.uncertainty
        return f"at least all for whom {said} outside the sample is {self.enough:.4g} or more"


def outsiders(rule: KnowledgeRule, counts: Counts, fraction: float) -> Outsiders:
    """The class of q for which a sample may be published.

    >>> from discreet.risk.uncertainty import Largest
    >>> print(outsiders(KnowledgeRule(Largest(), 0.2), {"yes": 9, "no": 1}, 0.5))
    intruders who believe of those outside the sample that yes has at most 70%; no has anything
    """
    _needs_knowledge(rule)
    check_fraction(fraction)
    p, f = census(counts), fraction
    bounds = rule.uncertainty.shares(rule.limit, p.values.tolist())
    if f == 1:
        within = rule.uncertainty(p) >= rule.limit
        return Outsiders(rule, None, 0.0 if within else math.inf)
    if bounds is not None:
        low, high = (bounds.lower - f * p.mass) / (1 - f), (bounds.upper - f * p.mass) / (1 - f)
        return Outsiders(rule, Shares(bounds.categories, low, high), None)
    if not rule.uncertainty.concave:
        return Outsiders(rule, None, None)
    return Outsiders(rule, None, max(0.0, (rule.limit - f * rule.uncertainty(p)) / (1 - f)))


@dataclass(frozen=True)
class CensusStandard(Shown):
    """A sample held to the standard of a census: U(p) instead of U(f p + (1 - f) q)."""

    census: float
    outside: float
    real: float

    @property
    def conservative(self) -> bool:
        """Is it sure to be stricter? If less is known of those outside the sample than inside."""
        return self.outside >= self.census

    def __str__(self) -> str:
        if self.conservative:
            return (
                "the census standard is conservative: as little or less is known of those outside "
                "the sample"
            )
        if self.real >= self.census:
            return "the census standard is stricter here, though not for every such intruder"
        return "the census standard is too generous: more is known of those outside the sample"


def census_standard(
    rule: KnowledgeRule, counts: Counts, fraction: float, outside: Belief | Prior
) -> CensusStandard:
    """Does it protect to judge a sample as if it were a census, U(p) for U(f p + (1 - f) q)?

    Every U here is at least quasi-concave, so U(f p + (1 - f) q) >= min(U(p), U(q)): the standard
    protects from all with U(q) >= U(p). For a concave U the margin is (1 - f)(U(q) - U(p)) or more.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.Largest(), 0.2)
    >>> prior = dc.uncertainty.Independent.of({"yes": 0.5, "no": 0.5})
    >>> print(dc.uncertainty.census_standard(rule, {"yes": 9, "no": 1}, 0.5, prior))
    the census standard is conservative: as little or less is known of those outside the sample
    """
    q = outside if isinstance(outside, Belief) else outside.given(counts)
    u = rule.uncertainty
    return CensusStandard(u(census(counts)), u(q), u(sampled(counts, fraction, q)))


def most_before(rule: KnowledgeRule, posterior: Belief) -> float:
    """The largest U(prior) for which what `posterior` teaches is within a limit on the gain.

    Who knew more than that before learns little enough; who knew less learns too much.

    >>> from discreet.risk.uncertainty import Largest
    >>> belief = Belief.discrete(["a", "b"], [0.8, 0.2])
    >>> round(most_before(KnowledgeRule(Largest(), 0.1, Measure.GAIN), belief), 4)
    0.3
    """
    after = rule.uncertainty(posterior)
    if rule.measure is Measure.GAIN:
        return after + rule.limit
    if rule.measure is Measure.RELATIVE:
        return math.inf if rule.limit >= 1 else after / (1 - rule.limit)
    return math.inf if after >= rule.limit else -math.inf


def splits(
    rule: KnowledgeRule, counts: Counts, pair: tuple[str, str]
) -> tuple[float, float] | None:
    """Prior p_1 / (p_1 + p_2), from and to, for which a table that merges the two is safe.

    Safe is within the rule's limit; None if it is for no prior. `counts` are those of the table
    before merging. Where the limit is none on each share, the ends are found to within 1e-9, on
    the safe side. Of more categories, and of classes of priors, see `withheld`.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.Largest(), 0.4)
    >>> low, high = dc.uncertainty.splits(rule, {"flu": 6, "cold": 2, "none": 2}, ("flu", "cold"))
    >>> round(low, 3), round(high, 3)
    (0.25, 0.75)
    """
    bounds, r = _bounds(rule, counts)
    first, second = (_place(counts, name) for name in pair)
    if bounds is None:
        return _found(rule, merged_reach(counts, {"": pair}, Priors()), pair[0])
    others = [i for i in range(len(r)) if i not in (first, second)]
    if any(not bounds.lower[i] - 1e-12 <= r[i] <= bounds.upper[i] + 1e-12 for i in others):
        return None
    whole = float(r[first] + r[second])
    if not whole > 0:
        return (0.0, 1.0) if bounds.lower[[first, second]].max() <= 0 else None
    low = max(0.0, bounds.lower[first] / whole, 1 - bounds.upper[second] / whole)
    high = min(1.0, bounds.upper[first] / whole, 1 - bounds.lower[second] / whole)
    return (float(low), float(high)) if low <= high else None


def suppressed_shares(rule: KnowledgeRule, counts: Counts, name: str) -> tuple[float, float] | None:
    """Prior share of `name`, from and to, for which a table without its count is safe.

    Safe is within the rule's limit; None if it is for no prior. `counts` are those of the whole
    table. Where the limit is none on each share, as for `splits`.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.Largest(), 0.4)
    >>> dc.uncertainty.suppressed_shares(rule, {"flu": 6, "cold": 2, "none": 2}, "flu")
    (0.0, 0.6)
    """
    bounds, r = _bounds(rule, counts)
    out = _place(counts, name)
    if not r[out] < 1:
        raise DataError(f"everybody is in {name!r}; nothing is published if it is suppressed.")
    if bounds is None:
        return _found(rule, suppressed_reach(counts, [name], Priors()), name)
    low, high = max(0.0, float(bounds.lower[out])), min(1.0, float(bounds.upper[out]))
    for i, share in enumerate(r / (1 - r[out])):
        if i == out:
            continue
        if share > 0:
            low, high = (
                max(low, 1 - bounds.upper[i] / share),
                min(high, 1 - bounds.lower[i] / share),
            )
        elif bounds.lower[i] > 0:
            return None
    return (float(low), float(high)) if low <= high else None


def most_inside(limit: float, incidents: int, companies: int) -> int | None:
    """The most incidents of one other company that an insider may know: variance >= limit.

        (T - x) (1 - 1/(N - 1)) / (N - 1) >= limit

    None if even x = 0 is too much.

    >>> most_inside(2.0, 30, 5)
    19
    """
    if companies < 3:
        return None
    left = limit * (companies - 1) ** 2 / (companies - 2)
    most = math.floor(incidents - left + 1e-9)
    return most if most >= 0 else None


def pareto_alphas(
    rule: KnowledgeRule,
    total: float,
    number: int,
    minimum: float,
    *,
    among: tuple[float, float] = (0.2, 10),
) -> list[tuple[float, float]]:
    """Intervals of alpha for which one of `number` Pareto values with this total is protected.

    >>> from discreet.risk.uncertainty import RelativeError
    >>> [(low, high)] = pareto_alphas(KnowledgeRule(RelativeError(), 0.25), 507.862, 11, 10)
    >>> round(low, 3), round(high, 3)
    (0.2, 1.384)
    """

    def within(alpha: float) -> bool:
        found = value_given_total(total, number, Pareto(alpha, minimum))
        return rule.judge(found.belief).within

    def change(low: float, high: float) -> float:
        start = within(low)
        for _ in range(HALVINGS):
            middle = math.sqrt(low * high)
            low, high = (middle, high) if within(middle) == start else (low, middle)
        return math.sqrt(low * high)

    _needs_knowledge(rule)
    tried = np.geomspace(*among, TRIED).tolist()
    states = [within(alpha) for alpha in tried]
    ends = [tried[0]] if states[0] else []
    for i in range(1, TRIED):
        if states[i] != states[i - 1]:
            ends.append(change(tried[i - 1], tried[i]))
    if states[-1]:
        ends.append(tried[-1])
    return list(zip(ends[::2], ends[1::2], strict=True))


def withstood(
    rule: KnowledgeRule, intruders: Mapping[Intruder, tuple[Belief | None, Belief]]
) -> list[Intruder]:
    """Those of the intruders, each with a prior (or None) and a posterior, whom the limit holds.

    >>> import discreet as dc
    >>> rule = dc.uncertainty.KnowledgeRule(dc.uncertainty.Largest(), 0.2)
    >>> neighbour = dc.Belief.discrete(["ill", "well"], [0.9, 0.1])
    >>> stranger = dc.Belief.discrete(["ill", "well"], [0.6, 0.4])
    >>> both = {"neighbour": (None, neighbour), "stranger": (None, stranger)}
    >>> dc.uncertainty.withstood(rule, both)
    ['stranger']
    """
    return [
        name
        for name, (before, after) in intruders.items()
        if rule.judge(after, before, label=str(name)).within
    ]


def _bounds(rule: KnowledgeRule, counts: Counts) -> tuple[Shares | None, Floats]:
    _needs_knowledge(rule)
    p = census(counts)
    return rule.uncertainty.shares(rule.limit, p.values.tolist()), p.mass


def _found(rule: KnowledgeRule, reach: Reach, name: str) -> tuple[float, float] | None:
    """The ends of the prior share, by search."""
    ((_, together),) = reach.hidden
    if together == 0:
        return (0.0, 1.0) if rule.uncertainty(_believed(reach)) >= rule.limit else None
    direction = np.zeros(len(reach.categories))
    direction[reach.categories.index(name)] = 1 / (together or 1)
    found = Beliefs(rule.uncertainty, reach.categories, reach.corners).ends(rule.limit, direction)
    return None if found is None else (max(0.0, found[0]), min(1.0, found[1]))


def _believed(reach: Reach) -> Belief:
    return Belief.discrete(list(reach.categories), reach.corners[0])


def _place(counts: Counts, name: str) -> int:
    if name not in counts:
        raise DataError(f"the table has no category {name!r}; it has {_few(counts)}.")
    return list(counts).index(name)


def _few(names: Iterable[str]) -> str:
    return ", ".join(list(names)[:10])


def _needs_knowledge(rule: KnowledgeRule) -> None:
    if rule.measure is not Measure.KNOWLEDGE:
        raise DataError(f"this needs a limit on knowledge, not on {rule.measure}; see most_before.")
