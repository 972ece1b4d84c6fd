"""The rule on what a released table teaches about one person (Duncan & Lambert 1986)."""

from __future__ import annotations

from discreet.decision.case import Case
from discreet.decision.verdict import Reason, Verdict
from discreet.errors import DataError
from discreet.risk.knowledge import Measure, Rule
from discreet.risk.named import uncertainty_named
from discreet.risk.taught import taught_by_table
from discreet.table.words import several

RULE = "knowledge"


def teaching(case: Case) -> Reason | None:
    """The target of everybody in a group stays uncertain enough, if that table is released."""
    rule, names = case.policy.knowledge, case.table.names
    if not rule.target:
        return None
    group = [name.strip() for name in rule.group.split("*")] if rule.group else []
    if strange := [name for name in (*group, rule.target) if name not in names]:
        raise DataError(
            f"the policy's knowledge is about {strange[0]!r}, and the table has "
            f"{', '.join(names)}; change knowledge.target or knowledge.group."
        )
    margin = [*group, rule.target]
    if not case.release.formula.contains(margin):
        return Reason(RULE, Verdict.PASS, f"{'*'.join(margin)} is not released.")
    variable = case.table.variables[names.index(rule.target)]
    limit = Rule(
        uncertainty_named(rule.uncertainty, variable.categories), rule.limit, Measure(rule.measure)
    )
    found = taught_by_table(
        case.table,
        rule.target,
        limit,
        group=group or None,
        fraction=case.table.sampling_fraction or 1.0,
    )
    first = found.rows[0]
    beyond = sum(not row.within for row in found.rows)
    left = f"{found.rule.uncertainty} of {rule.target} in {first.label} is {first.after:.4g}"
    more = (
        f"; {several(beyond - 1, 'more group is', 'more groups are')} beyond" if beyond > 1 else ""
    )
    text = f"{left}, limit {rule.limit:g} on {rule.measure}{more}. {found.words}"
    return Reason(RULE, Verdict.PASS if found.within else Verdict.FAIL, text)
