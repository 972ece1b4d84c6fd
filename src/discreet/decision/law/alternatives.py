"""What could be released instead: less detail, each offer assessed before it is made."""

from __future__ import annotations

import heapq
import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from functools import partial
from typing import Any

from discreet.decision.law.decide import Decision, decide, passing
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules import asked
from discreet.decision.law.rules.categories import hidden_categories
from discreet.decision.law.verdict import Verdict
from discreet.effort import UNLIMITED, Clock, Effort, Seconds
from discreet.look.result import Unpublished
from discreet.look.words import shortened
from discreet.release.doors import margins_alone, of_table
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.lattice import children, count_by_order, maximal
from discreet.table.table import Table
from discreet.utility.margins import margin_utility

JUDGED, LEAST = 50_000, 8  # cells of the tables that are judged, of each kind; releases
FEW = 2  # releases, where one is more than the usual work
PROOF = 1 / 4  # of the usual work on tables that prove a width


@dataclass(frozen=True, eq=False)
class Alternative(Unpublished):
    """A release that passes: which margins, which categories merged, and what it is worth.

    `decision` is on what is known of the original categories when the merged ones are published.

    >>> import discreet as dc
    >>> first = dc.alternatives(dc.load("example:blond"), "Hair*Income")[0]
    >>> first.how, first.merged
    ('merge Hair to Black; Red or blond', {'Hair': {'Black': 'Black', 'Red': 'Red or blond',
        'Blond': 'Red or blond'}})
    >>> first.decision.verdict.value
    'PASS'
    """

    how: str
    formula: Formula
    merged: dict[str, dict[str, str]]
    decision: Decision

    @property
    def verdict(self) -> Verdict:
        return self.decision.verdict

    def __repr__(self) -> str:
        return f"Alternative({self.verdict}: {self.how}: {shortened(str(self.formula), 80)})"

    def to_json(self) -> dict[str, Any]:
        return {
            "how": self.how,
            "release": str(self.formula),
            "margins": [list(margin) for margin in self.formula.margins],
            "merged": self.merged,
            "verdict": str(self.decision.verdict),
            "utility": self.decision.utility.released,
        }


@of_table
def alternatives(
    table: Table,
    formula: str | Formula,
    policy: Policy | None = None,
    *,
    released: str | Formula | None = None,
    large: int | None = None,
    effort: float = 1.0,
    seconds: Seconds | None = None,
    judged: Decision | None = None,
) -> tuple[Alternative, ...]:
    """Releases close to `formula` that pass: categories merged, or margins left out.

    With `large` cells published beside them nothing is merged: these are cells of the whole table.

    Judged are as many as the policy's effort allows, times `effort`; `seconds`, or else its own,
    only stop. `judged` is the decision on `formula`, if there is one: what failed there is asked
    first.

    >>> from discreet.table.load import load
    >>> [offer.how for offer in alternatives(load("example:blond"), "Hair*Income")]
    ['merge Hair to Black; Red or blond', 'leave out Hair*Income, keep Hair + Income']
    """
    policy = policy or Policy()
    wanted = margins_alone(table, formula)
    out = margins_alone(table, released) if released is not None else None
    rule = policy.alternatives
    if not rule.seconds:
        return ()
    clock = Clock.of(rule.seconds if seconds is None else seconds)
    usual = FEW if judged and judged.case.short else max(LEAST, JUDGED // table.size)
    most = Effort(effort * rule.effort).of(usual)
    policy = policy.effort(witness_effort=min(policy.bounds.witness_effort, PROOF))
    found: list[Alternative] = []
    whole = partial(_fewer, large=large, effort=effort, doubts=_doubts(judged))
    for search in (_merged, whole) if large is None else (whole,):
        offers = search(table, wanted, out, policy, most, clock)
        found += itertools.islice(offers, rule.number)
    return tuple(found)


def _doubts(judged: Decision | None) -> frozenset[str]:
    """The rules that a decision does not pass."""
    reasons = judged.reasons if judged else ()
    return frozenset(r.rule for r in reasons if r.verdict is not Verdict.PASS)


def _merged(
    table: Table,
    wanted: Formula,
    out: Formula | None,
    policy: Policy,
    judged: int,
    clock: Clock,
) -> Iterator[Alternative]:
    """The same margins with categories merged by the hierarchies, finest first.

    Nothing may be out yet: what was published in full detail cannot be taken back.
    """
    if out is not None:
        return
    named = {name for margin in wanted.margins for name in margin}
    levels = [
        variable.hierarchy.levels(variable.categories)
        if variable.hierarchy and variable.name in named
        else ()
        for variable in table.variables
    ]
    passed: list[tuple[int, ...]] = []
    for heights in _upwards([len(level) for level in levels]):
        if not judged or clock.over():
            return
        if any(all(a >= b for a, b in zip(heights, safe, strict=True)) for safe in passed):
            continue
        merged = {
            variable.name: dict(zip(variable.categories, level[height - 1], strict=True))
            for variable, level, height in zip(table.variables, levels, heights, strict=True)
            if height
        }
        decision, judged = decide_merged(table, wanted, merged, policy, clock), judged - 1
        if decision.verdict is Verdict.PASS:
            passed.append(heights)
            how = " and ".join(
                f"{name} to {'; '.join(dict.fromkeys(groups.values()))}"
                for name, groups in merged.items()
            )
            how = f"merge {how}{_split_words(policy, merged)}"
            yield Alternative(how, wanted, merged, decision)


def _split_words(policy: Policy, merged: Mapping[str, Any]) -> str:
    """What the offer takes for granted of somebody who spreads the merged counts."""
    rule = policy.knowledge
    if rule.target not in merged or rule.prior in ("known", "any"):
        return ""
    evenly = "evenly" if rule.prior == "uniform" else f"by {rule.prior}"
    return f", if an intruder splits {rule.target} {evenly}"


def decide_merged(
    table: Table,
    wanted: Formula,
    merged: Mapping[str, Mapping[str, str]],
    policy: Policy,
    clock: Clock = UNLIMITED,
) -> Decision:
    """The verdict on margins in which some variables have their categories merged.

    Whoever knows a person's original category knows the merged one too: both are variables of the
    table that is judged, and only the merged one is released. No rule forgets the original counts,
    nor the merged ones; what is known of a target with merged categories is judged on its own ones,
    split by `knowledge.prior` (Duncan & Lambert 1986, section 6).
    """
    coarse = table
    for name, group_of in merged.items():
        coarse = coarse.merge(name, group_of)
    published = Release.margins(coarse, wanted)
    light = _on_merged(policy, merged)
    if asked(light):
        first = decide(coarse, published, light, seconds=clock, named=False)
        if first.verdict is not Verdict.PASS:
            return first
    both, spare = table, {}
    for name, group_of in merged.items():
        spare[name] = f"{name} (merged)"
        both = both.beside(name, spare[name], group_of)
    margins = [[spare.get(name, name) for name in margin] for margin in wanted.margins]
    second = decide(both, margins, policy, seconds=clock)
    return replace(second, utility=margin_utility(published))


def _on_merged(policy: Policy, merged: Mapping[str, Any]) -> Policy:
    """Without what is about original categories: knowledge of a target, and hidden ones."""
    rule = policy.knowledge
    hidden = hidden_categories(policy)
    left = (f"{name}={c}" for name in hidden.keys() - merged for c in sorted(hidden[name]))
    fresh: dict[str, Any] = {"categories": replace(policy.categories, hidden="; ".join(left))}
    if rule.target in merged:
        fresh["knowledge"] = replace(rule, target="")
    return replace(policy, given={**policy.given, **fresh})


def _upwards(tops: list[int]) -> Iterator[tuple[int, ...]]:
    """Every choice of heights but all zero, lowest sum first."""
    start = (0,) * len(tops)
    queue, seen = [(0, start)], {start}
    while queue:
        total, heights = heapq.heappop(queue)
        if total:
            yield heights
        for place, top in enumerate(tops):
            if heights[place] < top:
                higher = (*heights[:place], heights[place] + 1, *heights[place + 1 :])
                if higher not in seen:
                    seen.add(higher)
                    heapq.heappush(queue, (total + 1, higher))


def _fewer(
    table: Table,
    wanted: Formula,
    out: Formula | None,
    policy: Policy,
    judged: int,
    clock: Clock,
    large: int | None = None,
    effort: float = 1.0,
    doubts: frozenset[str] = frozenset(),
) -> Iterator[Alternative]:
    """The largest sets of sub-margins that pass, by best-first search.

    Fewer margins never narrow a bound, so nothing below a set that passes needs a look.
    """
    held = out.sets if out else ()

    def worth(sets: tuple[int, ...]) -> int:
        return sum(count_by_order(maximal((*sets, *held))).values())

    start = maximal(wanted.sets)
    queue, seen = [(-worth(start), start)], {start}
    passed: list[tuple[int, ...]] = []
    while queue and judged and not clock.over():
        _, sets = heapq.heappop(queue)
        if any(_within(sets, safe) for safe in passed):
            continue
        formula = Formula(wanted.names, sets)
        work: Any = {"effort": effort, "seconds": clock, "doubts": doubts}
        known = sets == start and doubts
        decision = (
            None if known else passing(table, formula, policy, released=out, large=large, **work)
        )
        judged -= 1
        if decision is not None:
            passed.append(sets)
            if sets != start:
                yield Alternative(_left_out(wanted, formula), formula, {}, decision)
            continue
        for margin in sets:
            rest = [other for other in sets if other != margin]
            smaller = maximal([*rest, *(child for child in children(margin) if child)])
            if smaller and smaller not in seen:
                seen.add(smaller)
                heapq.heappush(queue, (-worth(smaller), smaller))


def _within(sets: tuple[int, ...], others: tuple[int, ...]) -> bool:
    return all(any(margin & ~other == 0 for other in others) for margin in sets)


def _left_out(wanted: Formula, kept: Formula) -> str:
    gone = [m for m in wanted.frontier.margins if not kept.contains(m)]
    return f"leave out {' + '.join('*'.join(m) for m in gone)}, keep {kept}"
