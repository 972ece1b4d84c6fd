"""Attribute disclosure: no group's members are known to have, or not to have, a category."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet._kernels.sides import FALL, RISE
from discreet.decision.law.case import Case
from discreet.decision.law.findings import ACCEPTED, MOST_NAMED
from discreet.decision.law.policy import Policy, key
from discreet.decision.law.rule import Rule, always
from discreet.decision.law.verdict import Reason, Verdict
from discreet.intruder.bounds.result import Rung
from discreet.look.words import percent, plural
from discreet.risk.release.attribute import disclosed
from discreet.risk.release.growing_attribute import AttributeWatch

if TYPE_CHECKING:
    from discreet.decision.answering.many_tables import ManyJudged, ManyTables
    from discreet.decision.frontier.brief import Brief

NAME = "attribute disclosure"
CLOSE = 1e-9


@dataclass(frozen=True)
class Attribute:
    """Attribute disclosure: what is learned of every member of a group."""

    check: bool = key(True, "is attribute disclosure checked?")
    share: float = key(
        0.95, "a lower bound of this share of a group tells the category of its members", most=1
    )
    exclusion: bool = key(True, "does it count that a category is ruled out for a group?")
    order: int = key(4, "groups by up to this many variables are checked across margins", least=1)


def judge(case: Case) -> Reason:
    """No category is known to be, or not to be, that of a group's members."""
    risk, rule = case.attribute, case.policy.attribute
    if not any(variable.sensitive_codes for variable in case.table.variables):
        return Reason(NAME, Verdict.PASS, "no variable is sensitive.")
    if risk.disclosures:
        first, more = risk.disclosures[0], len(risk.disclosures) - 1
        tail = f"; {plural(more, 'more group is', 'more groups are')} disclosed" if more else ""
        cells = tuple(
            {
                "cell": d.group | {d.variable: d.category},
                "group": d.group,
                "size": d.size,
                "lower": d.lower,
                "upper": d.upper,
            }
            for d in risk.disclosures[:MOST_NAMED]
        )
        return Reason(NAME, Verdict.FAIL, f"{first}{tail}.", cells)
    if risk.unchecked:
        return Reason(
            NAME,
            Verdict.REVIEW,
            f"groups by more than {rule.order} variables were not checked across margins "
            f"({risk.unchecked:,} combinations); raise attribute.order to check them.",
        )
    if not risk.rung.reaches(Rung(case.policy.bounds.proof)):
        text = (
            "tables of fractions show that nothing is disclosed, but tables of whole numbers that "
            "show it of every group were not found."
            if risk.rung is Rung.LINEAR
            else "nothing is disclosed by outer bounds, but tables that show it of every group "
            "were not found."
        )
        return Reason(NAME, Verdict.REVIEW, f"{text}{_more(case)}", rung=risk.rung)
    return Reason(
        NAME,
        Verdict.PASS,
        f"no group by up to {plural(rule.order, 'variable')} is known to have or not to have a "
        f"sensitive category (limit {rule.share:.0%} of a group){ACCEPTED[risk.rung]}.",
        rung=risk.rung,
    )


def _more(case: Case) -> str:
    """What more work would do."""
    if not case.told.bounder.work.short:
        return ""
    times = 10 * case.policy.bounds.effort
    return (
        " The usual work did not come to all groups: with --effort or bounds.effort "
        f"= {times:g} ten times as many are looked at."
    )


def ruling(case: Case) -> Verdict:
    rule = case.policy.attribute
    table, bounder, seen = case.told
    if seen is None or not any(v.sensitive_codes for v in table.variables):
        return judge(case).verdict
    risk = disclosed(
        table,
        bounder,
        seen,
        share=rule.share,
        exclusion=rule.exclusion,
        order=rule.order,
    )
    if risk is None:
        return Verdict.FAIL
    proven = risk.rung.reaches(Rung(case.policy.bounds.proof))
    return Verdict.PASS if proven and not risk.unchecked else Verdict.REVIEW


def measures(case: Case) -> dict[str, Any]:
    return {"disclosed_groups": len(case.attribute.disclosures)}


def assumes(case: Case) -> Iterable[str]:
    order = case.policy.attribute.order
    yield (
        f"Across margins, an intruder knows up to {plural(order, 'identifying variable')} of a "
        "person; larger groups were checked inside the published tables."
    )


def promises(policy: Policy) -> Iterable[str]:
    rule = policy.attribute
    tail = ", or that one is ruled out for a whole group." if rule.exclusion else "."
    yield (
        f"Nobody may learn that at least {percent(rule.share)} of a group, or of everybody, share "
        f"a sensitive category{tail} Groups by more than {plural(rule.order, 'variable')} are "
        "looked at within each table."
    )


def follow(brief: Brief) -> AttributeWatch:
    rule = brief.policy.attribute
    return AttributeWatch(brief.table, rule.share, rule.exclusion, rule.order)


def many_tables(tables: ManyTables, found: ManyJudged) -> None:
    """Of each table, the groups whose nodes tell a category, or are not proven not to."""
    rule, sums = tables.policy.attribute, tables.sums
    group, joint = tables.groups(found.top)
    size, count = sums[:, group], sums[:, joint]
    some = size > 0
    known = found.low[:, joint] >= rule.share * found.high[:, group] - CLOSE
    if found.least is not None:  # all tables are there: numerator and denominator together
        known = found.least(count - rule.share * size) >= -CLOSE
    found.unsafe |= (some & known).any(1)
    if rule.exclusion:
        found.unsafe |= (some & (found.high[:, joint] == 0)).any(1)
        rows, at = np.nonzero(some & (count == 0))
        found.doubt(rows, joint[at], RISE, np.ones(len(rows), np.int64))
    rows, at = np.nonzero(some & (count >= rule.share * size - CLOSE))
    # a count below the share of the least that the group can be shows it
    enough = np.ceil(rule.share * found.low[:, group][rows, at] - CLOSE).astype(np.int64)
    found.doubt(rows, joint[at], FALL, count[rows, at] - enough + 1)


RULE = Rule(
    NAME,
    judge,
    section="attribute",
    keys=Attribute,
    asked=lambda policy: policy.attribute.check,
    monotone=always,
    measures=measures,
    assumes=assumes,
    promises=promises,
    follow=follow,
    many_tables=many_tables,
    ruling=ruling,
    place=30,
    drawn=True,
)
