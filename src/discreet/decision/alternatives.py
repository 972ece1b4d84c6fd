"""What could be released instead: less detail, each offer assessed before it is made."""

from __future__ import annotations

import heapq
import itertools
import time
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from typing import Any

from discreet.decision.decide import Decision, decide
from discreet.decision.policy import Policy
from discreet.decision.verdict import Verdict
from discreet.release.release import as_formula
from discreet.table.formula import Formula
from discreet.table.lattice import children, count_by_order, maximal
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Alternative:
    """A release that passes: which margins, which categories merged, and what it is worth."""

    how: str
    formula: Formula
    merged: dict[str, dict[str, str]]
    decision: Decision

    def to_json(self) -> dict[str, Any]:
        return {
            "how": self.how,
            "release": str(self.formula),
            "margins": [list(margin) for margin in self.formula.margins],
            "merged": self.merged,
            "verdict": str(self.decision.verdict),
            "utility": self.decision.utility.released,
        }


def alternatives(
    table: Table,
    formula: str | Formula,
    policy: Policy | None = None,
    *,
    released: str | Formula | None = None,
) -> tuple[Alternative, ...]:
    """Releases close to `formula` that pass: categories merged, or margins left out.

    >>> from discreet.table.load import load
    >>> [offer.how for offer in alternatives(load("example:blond"), "Hair*Income")]
    ['merge Hair to Black; Red or blond', 'leave out Hair*Income, keep Hair + Income']
    """
    policy = policy or Policy()
    end = time.monotonic() + policy.alternatives.seconds
    wanted = as_formula(formula, table.names)
    out = as_formula(released, table.names) if released is not None else None
    most = policy.alternatives.number
    merging = () if out else itertools.islice(_merged(table, wanted, policy, end), most)
    fewer = itertools.islice(_fewer(table, wanted, out, policy, end), most)
    return (*merging, *fewer)


def _merged(table: Table, wanted: Formula, policy: Policy, end: float) -> Iterator[Alternative]:
    """The same margins with categories merged by the hierarchies, finest first.

    Nothing may be out yet: what was published in full detail cannot be taken back.
    """
    choices: list[list[tuple[str, ...] | None]] = []
    named = {name for margin in wanted.margins for name in margin}
    for variable in table.variables:
        levels = variable.hierarchy.levels(variable.categories) if variable.hierarchy else ()
        choices.append([None, *(levels if variable.name in named else ())])
    heights = itertools.product(*(range(len(levels)) for levels in choices))
    passed: list[tuple[int, ...]] = []
    for height in sorted(heights, key=lambda h: (sum(h), h))[1:]:
        if time.monotonic() > end:
            return
        if any(all(a >= b for a, b in zip(height, safe, strict=True)) for safe in passed):
            continue
        coarse, merged = table, {}
        for variable, levels, level in zip(table.variables, choices, height, strict=True):
            if (groups := levels[level]) is not None:
                coarse = coarse.merge(variable.name, groups)
                merged[variable.name] = dict(zip(variable.categories, groups, strict=True))
        decision = decide(coarse, wanted, policy)
        if decision.verdict is Verdict.PASS:
            passed.append(height)
            how = " and ".join(
                f"{name} to {'; '.join(dict.fromkeys(groups.values()))}"
                for name, groups in merged.items()
            )
            yield Alternative(f"merge {how}", wanted, merged, decision)


def _fewer(
    table: Table, wanted: Formula, out: Formula | None, policy: Policy, end: float
) -> Iterator[Alternative]:
    """The largest sets of sub-margins that pass, by best-first search.

    Fewer margins never narrow a bound, so nothing below a set that passes needs a look.
    """
    names, held = wanted.names, out.sets if out else ()
    worth: Callable[[tuple[int, ...]], int] = lambda s: sum(
        count_by_order(maximal((*s, *held))).values()
    )
    start = maximal(wanted.sets)
    queue = [(-worth(start), start)]
    seen, passed = {start}, []
    while queue and time.monotonic() < end:
        _, sets = heapq.heappop(queue)
        if any(_within(sets, safe) for safe in passed):
            continue
        formula = Formula(names, sets)
        decision = decide(table, formula, policy, released=out)
        if decision.verdict is Verdict.PASS:
            passed.append(sets)
            if sets != start:
                yield Alternative(_left_out(wanted, formula), formula, {}, decision)
            continue
        for margin in sets:
            if any(margin & ~other == 0 for other in held):
                continue
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
