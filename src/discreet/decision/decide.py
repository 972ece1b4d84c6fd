"""May these tables be published? The verdict on a release under a policy."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from discreet.decision.case import Case
from discreet.decision.policy import Policy
from discreet.decision.rules import RULES
from discreet.decision.verdict import Reason, Verdict, worst
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.table import Table
from discreet.utility.margins import MarginUtility, margin_utility


@dataclass(frozen=True, eq=False)
class Decision:
    """A verdict, the reasons for it, what it rests on, and what the release is worth."""

    verdict: Verdict
    reasons: tuple[Reason, ...]
    release: Release
    utility: MarginUtility
    assumptions: tuple[str, ...]
    case: Case = field(repr=False)

    def __repr__(self) -> str:
        return f"Decision({self.verdict}: {self.release!r})"

    def __str__(self) -> str:
        head = f"{self.verdict.symbol} {self.verdict}: {self.release.formula}"
        return "\n".join([head, *(f"  {reason}" for reason in self.reasons)])

    @property
    def risk(self) -> dict[str, Any]:
        """The measures behind the verdict."""
        small, case = self.case.small, self.case
        found: dict[str, Any] = {
            "small_cells": len(small.cells),
            "narrowest": small.narrowest,
            "below": len(small.below(case.policy.small.width)),
            "disclosure_risk": None if small.narrowest is None else -small.narrowest,
            "method": small.bounds.method,
            "sharp": small.bounds.sharp,
        }
        if case.policy.attribute.check:
            found["disclosed_groups"] = len(case.attribute.disclosures)
        if case.policy.closeness.share:
            found["closest"] = float(case.closeness.reach.min(initial=1))
        if case.policy.tables.least:
            found["tables"] = case.count.to_json()
        if case.policy.belief.asked:
            found["belief"] = case.belief.to_json()
        return found


def decide(
    table: Table,
    release: Release | str | Formula | Iterable[Iterable[str]],
    policy: Policy | None = None,
    *,
    released: str | Formula | Iterable[Iterable[str]] | None = None,
) -> Decision:
    """The verdict on `release`, judged together with what is `released` already.

    >>> from discreet.table.load import load
    >>> print(decide(load("example:blond"), "Hair*Income"))
    ✗ FAIL: Hair*Income
      ✓ PASS small counts: the table has no count of 1 or 2.
      ✗ FAIL attribute disclosure: all of the 4 in Blond have Income High; 1 more ...
    """
    policy = policy or Policy()
    if not isinstance(release, Release):
        release = Release.margins(table, release)
    if released is not None:
        release = release + Release.margins(table, released)
    case = Case(table, release, policy)
    reasons = tuple(reason for rule in RULES if (reason := rule(case)) is not None)
    verdict = worst(reason.verdict for reason in reasons)
    utility = margin_utility(release)
    return Decision(verdict, reasons, release, utility, assumptions(case), case)


def assumptions(case: Case) -> tuple[str, ...]:
    """What the verdict takes for granted."""
    table, said = case.table, []
    said.append(f"An intruder knows the {case.release.formula} margins and nothing else.")
    if case.release.known:
        said[-1] = "An intruder knows the margins and: " + "; ".join(map(str, case.release.known))
    if unstated := [v.name for v in table.variables if v.role == "unstated"]:
        names = ", ".join(unstated[:6]) + (", ..." if len(unstated) > 6 else "")
        said.append(f"Without a stated role, taken as identifying and sensitive: {names}.")
    if table.sampling_fraction not in (None, 1):
        judged = (
            f"and counts of the population follow the {case.policy.sample.model} model"
            if case.policy.sample.check
            else "judged as if they were the population"
        )
        said.append(
            f"The data are a sample ({table.sampling_fraction:.2%} of the population), {judged}."
        )
    else:
        said.append("The counts are those of the whole population.")
    if table.dropped:
        said.append(f"{table.dropped:,} records with a missing value were dropped.")
    if case.policy.attribute.check:
        order = case.policy.attribute.order
        said.append(f"Across margins, groups by up to {order} variables were checked.")
    if case.policy.belief.asked:
        said.append(f"An intruder's beliefs are those of {case.belief.under}.")
    said.append("Categories and their order are public.")
    return tuple(said)
