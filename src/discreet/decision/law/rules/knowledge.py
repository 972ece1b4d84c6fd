"""Knowledge: what a release teaches about one person (Duncan & Lambert 1986)."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from discreet.decision.law.case import Case
from discreet.decision.law.policy import Policy, key
from discreet.decision.law.rule import Rule
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import DataError
from discreet.look.words import plural
from discreet.risk.knowledge import knowledge
from discreet.risk.knowledge.taught import taught_by_table
from discreet.risk.release.expected import expected
from discreet.risk.uncertainty.named import uncertainty_named

NAME = "knowledge"
NEAR = 1e-4  # of a limit: an inexact fit decides nothing there


@dataclass(frozen=True)
class Knowledge:
    """What a table teaches about one person: the uncertainty that must be left."""

    target: str = key("", "the variable that an intruder wants to know; empty switches it off")
    group: str = key("", "what is known of the person: a variable, or A*B")
    uncertainty: str = key("largest", "largest, entropy, variance, weighted:..., two-sided:A:B")
    measure: str = key(
        "knowledge",
        "knowledge: at least the limit is left; gain, relative-gain: at most it is gone",
        choices=("knowledge", "gain", "relative-gain"),
    )
    limit: float = key(0.0, "of what is measured")


def judge(case: Case) -> Reason:
    """The target of everybody in a group stays uncertain enough, from all that is released.

    What somebody believes of the target is its share in the group; where that table is not
    released, the share that the released margins lead one to expect.
    """
    rule, names = case.policy.knowledge, case.table.names
    group = [name.strip() for name in rule.group.split("*")] if rule.group else []
    if strange := [name for name in (*group, rule.target) if name not in names]:
        raise DataError(
            f"the policy's knowledge is about {strange[0]!r}, and the table has "
            f"{', '.join(names)}; change knowledge.target or knowledge.group."
        )
    told = {name for margin in case.release.formula.margins for name in margin}
    told |= {name for known in case.release.known for name, _ in known.cell}
    if rule.target not in told:
        return Reason(NAME, Verdict.PASS, f"{rule.target} is in no released table.")
    believed = expected(case.release, [*group, rule.target])
    if believed is None:
        text = f"what is released of {'*'.join([*group, rule.target])} cannot be worked out."
        return Reason(NAME, Verdict.REVIEW, text)
    exact = case.release.formula.contains([*group, rule.target])
    variable = case.table.variables[names.index(rule.target)]
    limit = knowledge.KnowledgeRule(
        uncertainty_named(rule.uncertainty, variable.categories),
        rule.limit,
        knowledge.Measure(rule.measure),
    )
    found = taught_by_table(
        case.table,
        rule.target,
        limit,
        group=group or None,
        fraction=case.table.sampling_fraction or 1.0,
        believed=None if exact else believed.counts,
    )
    first = found.rows[0]
    beyond = sum(not row.within for row in found.rows)
    so = "is" if exact else "is expected to be"
    left = f"{found.rule.uncertainty} of {rule.target} in {first.label} {so} {first.after:.4g}"
    more = (
        f"; {plural(beyond - 1, 'more group is', 'more groups are')} beyond" if beyond > 1 else ""
    )
    text = f"{left}, limit {rule.limit:g} on {rule.measure}{more}. {found.words}"
    near = abs(first.after - limit.least(first.before)) <= NEAR
    if not believed.close or (near and believed.gap):
        return Reason(NAME, Verdict.REVIEW, f"the expected shares are not exact: {text}")
    return Reason(NAME, Verdict.PASS if found.within else Verdict.FAIL, text)


def assumes(case: Case) -> Iterable[str]:
    yield (
        "Of a table that is not released, an intruder believes what the released margins lead one "
        "to expect, and nothing else."
    )


def promises(policy: Policy) -> Iterable[str]:
    yield f"What the tables teach about a person's {policy.knowledge.target} is limited."


RULE = Rule(
    NAME,
    judge,
    section="knowledge",
    keys=Knowledge,
    asked=lambda policy: bool(policy.knowledge.target),
    assumes=assumes,
    promises=promises,
    place=70,
)
