"""May these tables be published? The verdict on a release under a policy."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field
from typing import Any

from discreet.decision.law.case import Case
from discreet.decision.law.implied import implied_words
from discreet.decision.law.names import absent, names_in_doubt
from discreet.decision.law.policy import Policy
from discreet.decision.law.rule import Rule
from discreet.decision.law.rules import asked
from discreet.decision.law.supposing import judge_suppositions, suppositions, too_many
from discreet.decision.law.verdict import Reason, Verdict, weakest, worst
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import PolicyError, Stopped
from discreet.intruder.bounds.result import Rung
from discreet.look.result import Result
from discreet.look.words import both, listed
from discreet.release.doors import check_of, of_table, told_of
from discreet.release.release import BELOW, Release
from discreet.table.cells import frame
from discreet.table.formula import Formula
from discreet.table.impossible import spelled
from discreet.table.table import Table
from discreet.utility.margins import MarginUtility, margin_utility

PROVEN = {
    Rung.INTEGER: "proven by tables of whole numbers",
    Rung.LINEAR: "by linear bounds, which tables of fractions reach",
    Rung.OUTER: "by outer bounds, which prove nothing",
}
MOST_NAMED = 20  # known cells
ASKED = {
    Rung.INTEGER: "proof asked: tables of whole numbers",
    Rung.LINEAR: "proof asked: tables of fractions",
    Rung.OUTER: "no proof asked: outer bounds accepted",
}


@dataclass(frozen=True, eq=False)
class Decision(Result):
    """A verdict, the reasons for it, what it rests on, and what the release is worth.

    >>> import discreet as dc
    >>> found = dc.decide(dc.load("example:tract"), "Gender*Income + Race")
    >>> found
    Decision(PASS: Release(Gender*Income + Race: 742 people, 4 of 7 margins))
    >>> found.risk
    {'small_cells': 4, 'narrowest': 5, 'below': 0, 'disclosure_risk': -5, 'method': 'closed form',
        'sharp': True, 'low_published': 0, 'disclosed_groups': 0}
    """

    verdict: Verdict
    reasons: tuple[Reason, ...]
    release: Release
    utility: MarginUtility
    assumptions: tuple[str, ...]
    case: Case = field(repr=False)

    def __repr__(self) -> str:
        return f"Decision({self.verdict}: {self.release!r})"

    def __str__(self) -> str:
        head = f"{self.verdict.symbol} {self.verdict}: {self.release.formula} ({self.basis})"
        return "\n".join([head, *(f"  {reason}" for reason in self.reasons)])

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a rule: what it found."""
        columns = {
            "rule": [reason.rule for reason in self.reasons],
            "verdict": [str(reason.verdict) for reason in self.reasons],
            "finding": [reason.text for reason in self.reasons],
        }
        return frame(columns, kind)

    def _shown_rows(self, most: int) -> None:
        return None  # the reasons are a list

    def plot(self, **options: Any) -> Any:
        """The intervals of the small counts, against the width that they must keep."""
        small, width = self.case.small, self.case.policy.small.width
        return small.bounds.plot(counts=small.cells.counts, **{"limit": width} | options)

    @property
    def rung(self) -> Rung:
        """What reaches the widths that it rests on: the weakest of the reasons'."""
        return weakest(reason.rung for reason in self.reasons)

    @property
    def basis(self) -> str:
        """Under which policy, by which proof, over which variables; the first line says it."""
        case = self.case
        asked = Rung(case.policy.bounds.proof)
        proof = PROVEN[self.rung] if self.verdict is Verdict.PASS else ASKED[asked]
        over = (
            several_names(case.identifying, "identifying and sensitive")
            if case.identifying == case.sensitive
            else f"{several_names(case.identifying, 'identifying')}; "
            f"{several_names(case.sensitive, 'sensitive')}"
        )
        most = self.release.ceiling
        beside = "" if most is None else f"; with counts of {most + 1:,} or more beside the margins"
        late = f"; stopped after {case.clock.seconds:g} seconds" if case.clock.stopped else ""
        implied = implied_words(case.policy)
        means = f"; {implied}" if implied else ""
        return f"policy {case.policy.described}{means}; {proof}; {over}{beside}{late}"

    @property
    def stopped(self) -> str | None:
        """What a limit in seconds left out, and how to get it."""
        return self.case.stopped

    @property
    def risk(self) -> dict[str, Any]:
        """The measures behind the verdict: of every rule that was asked."""
        found: dict[str, Any] = {}
        for rule in asked(self.case.policy):
            with suppress(Stopped):  # what was stopped has no measure
                found |= rule.measures(self.case)
        return found


def several_names(names: Sequence[str], what: str, most: int = 6) -> str:
    """`identifying Sex, Age`; the first few of many."""
    if not names:
        return f"nothing {what.replace(' and ', ' or ')}"
    return f"{what} {listed(names, most)}"


@of_table
def decide(
    table: Table,
    release: Release | str | Formula | Iterable[Iterable[str]],
    policy: Policy | None = None,
    *,
    released: Release | str | Formula | Iterable[Iterable[str]] | None = None,
    large: int | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    named: bool = True,
) -> Decision:
    """The verdict on `release`, judged together with what is `released` already.

    With `large` every cell with so high a count is published too, and an intruder knows that the
    others are below it.

    `effort` is times the work that the policy allows. Work that `seconds` stop leaves REVIEW, never
    PASS; a FAIL that is proven by then stays. With `named` the names in the policy are looked up in
    the table; not where its categories are merged, or some of its variables left out.

    >>> from discreet.table.load import load
    >>> print(decide(load("example:blond"), "Hair*Income"))
    ✗ FAIL: Hair*Income (policy discreet's defaults; proof asked: tables of whole numbers; ...)
      ✓ PASS small counts: the table of Hair, which alone can identify, has no count of 1 or 2.
      ✓ PASS published cells: in 1 published table no count is from 1 to 2.
      ✗ FAIL attribute disclosure: all of the 4 in Blond have Income High; 1 more ...
    """
    policy = policy or Policy()
    rules = _rules(policy)
    case = _case(table, release, policy, released, large, effort, seconds)
    first = names_in_doubt(policy, table) if named else ()
    case, reasons = judge_suppositions(
        case, lambda one: tuple(_judged(rule, one) for rule in rules)
    )
    return _decision(case, (*first, *reasons))


def passing(
    table: Table,
    release: str | Formula,
    policy: Policy,
    *,
    released: str | Formula | None = None,
    large: int | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    doubts: frozenset[str] = frozenset(),
) -> Decision | None:
    """The decision if it is PASS. The first doubt ends it.

    Light rules are asked first, then those that left `doubts` of a similar release.
    """
    rules = _rules(policy)
    whole = _case(table, release, policy, released, large, effort, seconds)
    ordered = sorted(rules, key=lambda rule: (not rule.light, rule.name not in doubts))
    passed: list[tuple[Case, dict[str, Reason]]] = []
    for case in (
        () if any(too_many(whole)) or names_in_doubt(policy, table) else suppositions(whole)
    ):
        passed.append((case, {}))
        for rule in ordered:
            reason = passed[-1][1][rule.name] = _judged(rule, case)
            if reason.verdict is not Verdict.PASS:
                return None
    if not passed:
        return None
    case, found = passed[0]
    return _decision(case, tuple(found[rule.name] for rule in rules))


def _rules(policy: Policy) -> tuple[Rule, ...]:
    if rules := asked(policy):
        return rules
    raise PolicyError(f"the policy {policy.name!r} asks no rule; nothing can be judged by it.")


def _case(
    table: Table,
    release: Release | str | Formula | Iterable[Iterable[str]],
    policy: Policy,
    released: Release | str | Formula | Iterable[Iterable[str]] | None,
    large: int | None,
    effort: float,
    seconds: Seconds,
) -> Case:
    """The release with all that is out, before the custodian."""
    if isinstance(release, Release):
        check_of(table, release)
        release = release.excluding(table)
    else:
        release = Release.margins(table, release)
    if released is not None:
        release = release + told_of(table, released)
    if large is not None:
        release = release.with_large(table, large)
    return Case(table, release, policy, Clock.of(seconds), Effort(effort).times)


def _decision(case: Case, reasons: tuple[Reason, ...]) -> Decision:
    verdict = worst(reason.verdict for reason in reasons)
    utility = margin_utility(case.release)
    return Decision(verdict, reasons, case.release, utility, assumptions(case), case)


def _judged(rule: Rule, case: Case) -> Reason:
    """What a rule says; nothing passes by what was not looked at."""
    try:
        reason = rule.judge(case)
    except Stopped as error:
        return Reason(rule.name, Verdict.REVIEW, str(error))
    if reason.verdict is Verdict.PASS and case.doubtful:
        text = f"{reason.text} But the work was {case.stopped}"
        return dataclasses.replace(reason, verdict=Verdict.REVIEW, text=text)
    return reason


def _ruled(rule: Rule, case: Case) -> Verdict:
    if rule.ruling is None:
        return _judged(rule, case).verdict
    try:
        return rule.ruling(case)
    except Stopped:
        return Verdict.REVIEW


def ruling(table: Table, release: Release, policy: Policy) -> Verdict:
    """The verdict alone: that of `decide`, or PASS where tables show what it leaves in doubt.

    Light rules are asked first, and the first FAIL ends it.
    """
    whole = Case(table, release, policy)
    found = worst(r.verdict for r in (*too_many(whole), *names_in_doubt(policy, table)))
    for case in suppositions(whole):
        for rule in sorted(_rules(policy), key=lambda rule: not rule.light):
            own = _ruled(rule, case)
            found = worst((found, Verdict.REVIEW if case.doubtful else Verdict.PASS, own))
            if found is Verdict.FAIL:
                return found
    return found


def assumptions(case: Case) -> tuple[str, ...]:
    """What the verdict takes for granted."""
    table, said = case.table, []
    said.append(f"An intruder knows the {case.release.formula} margins and nothing else.")
    ranges = case.release.ranges
    if known := [str(each) for each in ranges if each.why != BELOW]:
        more = f"; and {len(known) - MOST_NAMED:,} more" if len(known) > MOST_NAMED else ""
        said[-1] = "An intruder knows the margins and: " + "; ".join(known[:MOST_NAMED]) + more
    if (most := case.release.ceiling) is not None:
        said.append(
            f"All counts of {most + 1:,} or more are published, so that every other cell is known "
            f"to have at most {most:,}."
        )
    stated = list(_stated(table))
    rest = [f"And {len(stated) - MOST_NAMED:,} more."] if len(stated) > MOST_NAMED else []
    said += [*stated[:MOST_NAMED], *rest]
    if unstated := [v.name for v in table.variables if v.role == "unstated"]:
        more = f" and {len(unstated) - 6:,} more" if len(unstated) > 6 else ""
        names = ", ".join(unstated[:6]) + more
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
    said += table.found
    said += absent(case.policy, table)
    for rule in asked(case.policy):
        with suppress(Stopped):
            said += rule.assumes(case)
    said.append("Categories and their order are public.")
    return tuple(said)


def _stated(table: Table) -> Iterator[str]:
    """What a person or the codebook says that nobody can be."""
    nested = {frozenset(names) for names in table.nestings}
    for inner, outer in table.nestings:
        yield f"By the codebook, {inner} lies within {outer}."
    for names, group in table.supposing(()).ruled_out.items():
        if frozenset(names) not in nested:
            more = f", and {len(group) - 1:,} more of {both(names)}" if len(group) > 1 else ""
            yield f"It is public that nobody can have {spelled(group[0])}{more}."
