"""One mask of a table: made, read by the intruder, and weighed."""

from __future__ import annotations

from discreet.decision.compare.plan import Candidate, Plan
from discreet.decision.compare.tablecandidate import TableCandidate
from discreet.decision.compare.tables import make_table, table_risk, table_worth
from discreet.decision.compare.tried import Tried
from discreet.decision.law.policy import Policy
from discreet.errors import DataError
from discreet.table.table import Table


def try_table(table: Table, candidate: Candidate, plan: Plan, policy: Policy) -> Tried:
    """What a mask of a table risks and is worth."""
    if len(candidate.steps) > 1:
        raise DataError(f"{candidate.name} is a chain; a table has one mask.")
    step = candidate.steps[0]
    options = {name: value for name, value in step.items() if name != "method"}
    made = make_table(table, step["method"], options, policy, candidate.rng(plan.seed))
    risks = table_risk(made, table, act=policy.masks.act)
    return Tried(
        candidate.name,
        candidate.method,
        risks,
        table_worth(table, made.estimate),
        {user.name: table_worth(table, made.estimate, user.columns) for user in plan.readers},
        made.verdict,
        made.exact,
        made.error,
        made.said,
        doubt=_doubt(made, table),
    )


def _doubt(made: TableCandidate, table: Table) -> str | None:
    if found := [coding for coding in table.codings if not coding.denied]:
        return f"{found[0].seen}, and the intruder is not taken to know it: say what cannot occur"
    if made.verdict is None:
        return "no rule of the policy knows this mask, and its risk is one of beliefs"
    return None if made.exact else "its risk is sampled"
