"""The number of tables: the release leaves the intruder in doubt about the whole table."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.decision.law.case import Case
from discreet.decision.law.policy import DAY, Policy, key
from discreet.decision.law.rule import Rule, always
from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import number

NAME = "number of tables"
SURE = 3  # standard errors: nearer to the limit, nothing is decided


@dataclass(frozen=True)
class Tables:
    """The number of tables that fit: the intruder's doubt about the whole table."""

    least: int = key(0, "at least so many tables must fit the release; 0 switches it off")
    effort: float = key(1.0, "times the usual work to count them", least=0.001)
    seconds: float = key(DAY, "stop counting after so long")


def judge(case: Case) -> Reason:
    """At least so many tables fit: 1 / M(T) of the 2003 paper, section 4.2."""
    least, found = case.policy.tables.least, case.count
    text = f"{found} fit the release, and the policy asks for {least:,}"
    if found.exact:
        verdict = Verdict.PASS if found.tables >= least else Verdict.FAIL
    else:
        low = found.tables * (1 - SURE * found.relative_error)
        high = found.tables * (1 + SURE * found.relative_error)
        sure = found.reliable and not low < least <= high
        verdict = Verdict.REVIEW if not sure else Verdict.PASS if low >= least else Verdict.FAIL
    return Reason(NAME, verdict, f"{text}.")


def measures(case: Case) -> dict[str, Any]:
    return {"tables": case.count.to_json()}


def promises(policy: Policy) -> Iterable[str]:
    yield f"At least {number(policy.tables.least)} tables must fit all that is out."


RULE = Rule(
    NAME,
    judge,
    section="tables",
    keys=Tables,
    asked=lambda policy: policy.tables.least > 0,
    monotone=always,
    measures=measures,
    promises=promises,
    place=50,
)
