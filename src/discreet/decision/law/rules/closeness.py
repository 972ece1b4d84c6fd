"""Closeness: every interval reaches far enough from the true count."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.decision.law.case import Case
from discreet.decision.law.findings import proven, too_narrow
from discreet.decision.law.policy import Policy, key
from discreet.decision.law.rule import Rule, always
from discreet.decision.law.verdict import Reason
from discreet.look.words import percent
from discreet.risk.limits import Says, breaks
from discreet.risk.release.small import observable

if TYPE_CHECKING:
    from discreet.decision.frontier.brief import Brief
    from discreet.intruder.bounds.shuttle.shuttle import Shuttle

NAME = "closeness"


@dataclass(frozen=True)
class Closeness:
    """Bounds too close to the true count, whatever its size."""

    share: float = key(
        0.0, "an interval must reach this share of a count away from it; 0 switches it off", most=1
    )


def judge(case: Case) -> Reason:
    """Every interval reaches a share of its count away from it."""
    share, close = case.policy.closeness.share, case.closeness
    rows = close.below(share)
    if len(rows):
        return too_narrow(
            NAME, close.cells, close.bounds, rows, f", within {share:.0%} of it",
            also="is as close|are as close",
        )  # fmt: skip
    said = f"every interval reaches at least {share:.0%} away from its count"
    return proven(case, NAME, said, close.cells, close.bounds)


def measures(case: Case) -> dict[str, Any]:
    return {"closest": float(case.closeness.reach.min(initial=1))}


def promises(policy: Policy) -> Iterable[str]:
    yield (
        f"The possible values of every count must reach {percent(policy.closeness.share)} of it "
        "away from it."
    )


class Reach:
    """The reach of every interval on a shuttle."""

    outer = True

    def __init__(self, brief: Brief) -> None:
        self.cells, self.share = observable(brief.table).nonzero(), brief.policy.closeness.share

    def inside(self, margin: int) -> bool:
        return False

    def across(self, shuttle: Shuttle, sets: Sequence[int]) -> bool:
        lower, upper = shuttle.bounds(self.cells.names, self.cells.codes)
        n = self.cells.counts
        reach = np.maximum(upper - n, n - lower) / n
        return bool(np.any(breaks(reach, self.share, Says.AT_LEAST)))

    def unsure(self, sets: Sequence[int]) -> bool:
        return False


RULE = Rule(
    NAME,
    judge,
    section="closeness",
    keys=Closeness,
    asked=lambda policy: policy.closeness.share > 0,
    monotone=always,
    measures=measures,
    promises=promises,
    follow=Reach,
    place=40,
    drawn=True,
)
