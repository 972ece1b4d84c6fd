"""Beliefs: what an intruder thinks probable (section 4 of Dobra, Fienberg & Trottini 2003)."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np

from discreet.decision.law.case import Case
from discreet.decision.law.findings import MOST_NAMED
from discreet.decision.law.policy import DAY, Policy, key
from discreet.decision.law.rule import Rule
from discreet.decision.law.verdict import Reason, Verdict, worst
from discreet.risk.limits import Says, breaks
from discreet.risk.release.believed_counts import BeliefRisk
from discreet.table.words import spoken

NAME = "beliefs"
SURE = 3  # standard errors: nearer to a limit, nothing is decided


@dataclass(frozen=True)
class Belief:
    """What an intruder believes: an interval can be wide and its true count nearly certain."""

    most: float = key(
        0.0, "no true small count may be this probable or more; 0 switches it off", most=1
    )
    identified: float = key(
        1.0,
        "at most this share of the small counts may be guessed right; 1 switches it off",
        most=1,
    )
    threshold: float = key(0.0, "an intruder acts on a guess of at least this probability", most=1)
    people: float = key(0.0, "at most so many people identified, on average; 0 switches it off")
    true_table: float = key(
        1.0, "the true table may have at most this probability; 1 switches it off", most=1
    )
    attribute: float = key(
        0.0, "no group's true category may be this probable or more; 0 switches it off", most=1
    )
    entropy: float = key(0.0, "nats that the belief about the table must keep; 0 switches it off")
    zeros: bool = key(False, "are zeros small counts too?")
    model: str = key("saturated", "of the intruder: saturated, uniform, average, or a formula")
    prior: float = key(0.5, "Dirichlet parameter of each cell, above 0")
    standard_error: float = key(0.002, "of sampled probabilities")
    effort: float = key(1.0, "times the usual work on the beliefs", least=0.001)
    seconds: float = key(DAY, "stop them after so long")

    @property
    def asked(self) -> bool:
        """Is any of the limits on?"""
        limits = (self.most, self.people, self.entropy, self.attribute)
        return any(limits) or self.identified < 1 or self.true_table < 1


def judge(case: Case) -> Reason:
    """Every limit of the policy on beliefs holds, and the beliefs can be trusted."""
    risk = case.belief
    convergence = risk.posterior.convergence
    if convergence is not None and not convergence.converged:
        return Reason(NAME, Verdict.REVIEW, f"{'; '.join(convergence.problems)}.")
    found = list(_limits(case))
    if not found:
        return Reason(NAME, Verdict.PASS, f"under {risk.under} there is no small count.")
    verdict = worst(reason.verdict for reason in found)
    told = [reason for reason in found if reason.verdict is verdict]
    said = f"under {risk.under} " + "; ".join(reason.text for reason in told)
    return Reason(NAME, verdict, f"{said}.", tuple(c for reason in told for c in reason.cells))


def _limits(case: Case) -> Iterator[Reason]:
    rule, risk = case.policy.belief, case.belief
    if rule.most and len(risk.cells):
        yield _most_probable(risk, rule.most)
    if rule.identified < 1:
        share = risk.identified(rule.threshold)
        text = f"{share:.1%} of the small counts are guessed right, and {rule.identified:.1%} may"
        most = risk.identified(rule.threshold, SURE)
        yield _limited(share, most, rule.identified, Says.AT_MOST, text)
    if rule.attribute:
        yield _attribute(case, rule.attribute)
    if rule.people:
        text = f"{risk.people:,.2f} people are identified on average, and {rule.people:g} may"
        off = SURE * float((risk.error * risk.cells.counts).sum())
        yield _limited(risk.people - off, risk.people + off, rule.people, Says.AT_MOST, text)
    if rule.true_table < 1:
        text = "the true table's probability is {:.4g}, and may be " + f"{rule.true_table:g}"
        yield _whole(risk.true_table, rule.true_table, Says.AT_MOST, text)
    if rule.entropy:
        text = "the belief about the table has {:.4g} nats, and must keep " + f"{rule.entropy:g}"
        yield _whole(risk.entropy, rule.entropy, Says.AT_LEAST, text)


def _limited(low: float, high: float, limit: float, says: Says, text: str) -> Reason:
    """FAIL if the limit is surely broken, REVIEW if it may be, for want of precision."""
    over, doubtful = breaks(low, limit, says), breaks(high, limit, says)
    verdict = Verdict.FAIL if over else Verdict.REVIEW if doubtful else Verdict.PASS
    return Reason(NAME, verdict, text)


def _whole(value: float | None, limit: float, says: Says, text: str) -> Reason:
    """A limit on the belief about the whole table, which is not always known."""
    if value is None:
        return Reason(NAME, Verdict.REVIEW, "the belief about the whole table is not known")
    return _limited(value, value, limit, says, text.format(value))


def _reached(value: Any, limit: float) -> Any:
    return breaks(value, limit, Says.OR_MORE)


def _attribute(case: Case, limit: float) -> Reason:
    """The group whose true category is most nearly certain."""
    found = case.believed
    if found is None:
        text = "beliefs about groups are not known under this model; take saturated or uniform"
        return Reason(NAME, Verdict.REVIEW, text)
    if not found:
        return Reason(NAME, Verdict.PASS, "no group has a sensitive category to be believed")
    over = [b for b in found if _reached(b.probability - SURE * b.standard_error, limit)]
    doubtful = any(_reached(b.probability + SURE * b.standard_error, limit) for b in found)
    verdict = Verdict.FAIL if over else Verdict.REVIEW if doubtful else Verdict.PASS
    cells = tuple(
        {"cell": b.group | {b.variable: b.category}, "size": b.size, "probability": b.probability}
        for b in over[:MOST_NAMED]
    )
    return Reason(NAME, verdict, f"{found[0]}, and the limit is {limit:g}", cells)


def _most_probable(risk: BeliefRisk, limit: float) -> Reason:
    """The small count that is most nearly certain."""
    over = np.flatnonzero(_reached(risk.truth - SURE * risk.error, limit))
    doubtful = _reached(risk.truth + SURE * risk.error, limit).any()
    first = int(np.argmax(risk.truth))
    where = spoken(risk.cells.label(first), risk.cells.variables)
    text = (
        f"a count of {int(risk.cells.counts[first]):,} in {where} has probability "
        f"{risk.truth[first]:.3f}, and the limit is {limit:g}"
    )
    verdict = Verdict.FAIL if over.size else Verdict.REVIEW if doubtful else Verdict.PASS
    cells = tuple(
        {
            "cell": risk.cells.label(row),
            "count": int(risk.cells.counts[row]),
            "probability": float(risk.truth[row]),
        }
        for row in over[np.argsort(-risk.truth[over], kind="stable")][:MOST_NAMED]
    )
    return Reason(NAME, verdict, text, cells)


def measures(case: Case) -> dict[str, Any]:
    return {"belief": case.belief.to_json()}


def assumes(case: Case) -> Iterable[str]:
    yield f"An intruder's beliefs are those of {case.belief.under}."


def promises(policy: Policy) -> Iterable[str]:
    yield "Limits on what an informed reader may believe of a count are kept as well."


RULE = Rule(
    NAME,
    judge,
    section="belief",
    keys=Belief,
    asked=lambda policy: policy.belief.asked,
    measures=measures,
    assumes=assumes,
    promises=promises,
    place=60,
    drawn=True,
)
