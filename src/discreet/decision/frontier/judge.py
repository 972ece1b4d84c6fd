"""Does a set of margins keep the policy? Asked again and again while a set grows."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np

from discreet.arrays import Ints
from discreet.decision.frontier.brief import Brief, Sets
from discreet.decision.law.case import Case
from discreet.decision.law.decide import Decision, decide
from discreet.decision.law.rule import Follower
from discreet.decision.law.rules import asked, small
from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.shuttle.shuttle import Shuttle
from discreet.table.lattice import children, maximal
from discreet.table.table import Table

PROOF = 1 / 12  # of the usual work on tables that prove a width, in one trial of many


class Judge(Protocol):
    """A set of margins that keeps the policy, and grows only if it still does."""

    sets: list[int]

    def add(self, margins: Sequence[int]) -> bool:
        """Take all of them in, or none."""

    def restart(self, sets: Iterable[int]) -> bool:
        """Begin anew with these margins; False, and nothing changed, if they break the policy."""

    def alone(self, margin: int) -> bool:
        """Could the margin go if nothing else went?"""


class WholeJudge:
    """Asks the rules that `assess` asks, each time from scratch: for small tables.

    With `certified` only PASS will do; else REVIEW, for want of proof, is not held against it.
    """

    def __init__(self, brief: Brief) -> None:
        self.brief, self.sets = brief, list[int]()
        most = brief.policy.bounds.witness_effort
        proof = min(most, PROOF) if brief.certified else 0.0
        self.policy = brief.policy.effort(witness_effort=proof)
        self._known: dict[Sets, bool] = {}

    @property
    def asked(self) -> int:
        """How many sets were judged so far."""
        return len(self._known)

    def keeps(self, sets: Iterable[int]) -> bool:
        """Is the release of these margins, and of what must go, within the policy?"""
        top = maximal([*self.brief.must, *sets])
        if top not in self._known:
            self._known[top] = not top or acceptable(
                decide(self.brief.table, self.brief.release(top), self.policy), self.brief
            )
        return self._known[top]

    def alone(self, margin: int) -> bool:
        return self.keeps([margin])

    def add(self, margins: Sequence[int]) -> bool:
        held = self.keeps([*self.sets, *margins])
        if held:
            self.sets = list(maximal([*self.sets, *margins]))
        return held

    def restart(self, sets: Iterable[int]) -> bool:
        held = self.keeps(sets)
        if held:
            self.sets = list(maximal(sets))
        return held


class ShuttleJudge:
    """Asks the shuttle, which follows only what a further margin changes: for large tables.

    Every rule that can follow a growing release does; the others are judged from scratch, each
    time. Bounds of the shuttle are outer: what it passes, `decide` may still fail.
    """

    def __init__(self, brief: Brief) -> None:
        self.brief, self.sets = brief, list[int]()
        self.beta = brief.policy.small.width
        rules = asked(brief.policy)
        self.followers = [rule.follow(brief) for rule in rules if rule.follow]
        self.inside = insiders(brief)
        self.others = [rule for rule in rules if not rule.follow]
        self.shuttle: Shuttle | None = None
        self.blocked: Ints = np.zeros(0, np.int64)

    def alone(self, margin: int) -> bool:
        return not any(follower.inside(margin) for follower in self.inside)

    def restart(self, sets: Iterable[int]) -> bool:
        top = maximal([*self.brief.must, *sets])
        shuttle = Shuttle(
            self.brief.release(top),
            most_bytes=int(self.brief.policy.bounds.gigabytes * 2**30),
            droppable=True,
        )
        shuttle.watch(self.brief.cells)
        if not all(map(self.alone, top)) or not self._keeps(shuttle, top):
            return False
        self.shuttle, self.sets = shuttle, list(top)
        return True

    def add(self, margins: Sequence[int]) -> bool:
        if self.shuttle is None and not self.restart(()):
            return False
        assert self.shuttle is not None
        held = self.holds(margins)
        self.blocked = np.flatnonzero(self._width(self.shuttle) < self.beta)
        if held:
            self.commit(margins)
        else:
            self.roll_back()
        return held

    def holds(self, margins: Sequence[int]) -> bool:
        """With these margins in? They are, until `commit` or `roll_back`."""
        shuttle = self.shuttle
        assert shuttle is not None
        if not all(map(self.alone, maximal(margins))):
            return False
        held = shuttle.add(self._tables(margins), floor=self.beta)
        return held and self._keeps(shuttle, [*self.sets, *margins])

    def commit(self, margins: Sequence[int]) -> None:
        assert self.shuttle is not None
        self.shuttle.commit()
        self.sets.extend(margins)

    def roll_back(self) -> None:
        assert self.shuttle is not None
        self.shuttle.roll_back()

    def bounds(self) -> tuple[Ints, Ints]:
        """Of the small counts that are guarded."""
        assert self.shuttle is not None
        return self.shuttle.bounds(self.brief.cells.names, self.brief.cells.codes)

    def drop(self, margins: Sequence[int]) -> None:
        """Leave out some of the maximal margins, and keep what they contain."""
        assert self.shuttle is not None
        self.shuttle.drop(self._tables(margins))
        rest = [s for s in self.sets if s not in margins]
        self.sets = [*rest, *(child for s in margins for child in children(s) if child)]

    def save(self) -> tuple[Any, list[int]]:
        """The state, to come back to."""
        assert self.shuttle is not None
        return self.shuttle.save(), list(self.sets)

    def load(self, saved: tuple[Any, list[int]]) -> None:
        assert self.shuttle is not None
        self.shuttle.load(saved[0])
        self.sets = list(saved[1])

    def _tables(self, margins: Sequence[int]) -> list[Table]:
        return [self.brief.table.margin(names) for names in self.brief.named(margins)]

    def _width(self, shuttle: Shuttle) -> Ints:
        lower, upper = shuttle.bounds(self.brief.cells.names, self.brief.cells.codes)
        return upper - lower

    def _keeps(self, shuttle: Shuttle, sets: Sequence[int]) -> bool:
        if any(follower.across(shuttle, sets) for follower in self.followers):
            return False
        if not sets or not self.others:
            return True
        policy = self.brief.policy.effort(witness_effort=0.0)
        case = Case(self.brief.table, self.brief.release(sets), policy)
        return all(rule.judge(case).verdict is not Verdict.FAIL for rule in self.others)


def insiders(brief: Brief) -> list[Follower]:
    """Who says whether a margin by itself breaks a rule, without and with what was found."""
    briefs = [brief, brief.stated] if brief.table.codings else [brief]
    return [rule.follow(each) for each in briefs for rule in asked(brief.policy) if rule.follow]


def acceptable(decision: Decision, brief: Brief) -> bool:
    """PASS, or, where no proof is asked for, whatever does not fail.

    Where linear bounds are asked for, small counts pass by them in any case.
    """
    if brief.certified:
        return decision.verdict is Verdict.PASS
    linear = brief.policy.bounds.proof == "linear"
    widths = [r.verdict for r in decision.reasons if r.rule == small.NAME and linear]
    return decision.verdict is not Verdict.FAIL and Verdict.REVIEW not in widths
