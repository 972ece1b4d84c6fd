"""Does a set of margins keep the policy? Asked again and again while a set grows."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Sequence
from typing import Any, Protocol

import numpy as np
from numpy.typing import NDArray

from discreet.decision.brief import Brief, Sets
from discreet.decision.decide import Decision, decide
from discreet.decision.verdict import Verdict
from discreet.intruder.bounds.shuttle import Shuttle
from discreet.risk.small import observable
from discreet.risk.watch import AttributeWatch
from discreet.table.lattice import children, closure, maximal
from discreet.table.table import Table

PROOF_SECONDS = 5.0  # to look for tables, in one trial of many
Ints = NDArray[np.int64]


class Judge(Protocol):
    """A set of margins that keeps the policy, and grows only if it still does."""

    sets: list[int]

    def add(self, margins: Sequence[int]) -> bool:
        """Take all of them in, or none."""

    def restart(self, sets: Iterable[int]) -> bool:
        """Begin anew with these margins; False, and nothing changed, if they break the policy."""


class WholeJudge:
    """Asks the rules that `assess` asks, each time from scratch: for small tables.

    With `certified` only PASS will do; else REVIEW, for want of proof, is not held against it.
    """

    def __init__(self, brief: Brief) -> None:
        self.brief, self.sets = brief, list[int]()
        rule = brief.policy.bounds
        seconds = min(rule.witness_seconds, PROOF_SECONDS) if brief.certified else 0.0
        quick = dataclasses.replace(rule, witness_seconds=seconds)
        self.policy = dataclasses.replace(brief.policy, bounds=quick)
        self._known: dict[Sets, bool] = {}

    def keeps(self, sets: Iterable[int]) -> bool:
        """Is the release of these margins, and of what must go, within the policy?"""
        top = maximal([*self.brief.must, *sets])
        if top not in self._known:
            self._known[top] = not top or acceptable(
                decide(self.brief.table, self.brief.formula(top), self.policy), self.brief
            )
        return self._known[top]

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

    Checks widths, closeness and attribute disclosure; the number of tables is left to the end.
    """

    def __init__(self, brief: Brief) -> None:
        self.brief, self.sets = brief, list[int]()
        policy = brief.policy
        self.beta = policy.small.width
        self.near = observable(brief.table).nonzero() if policy.closeness.share else None
        self.attribute = AttributeWatch.of(brief.table, **vars(policy.attribute))
        self.shuttle: Shuttle | None = None
        self.blocked: Ints = np.zeros(0, np.int64)

    def restart(self, sets: Iterable[int]) -> bool:
        top = maximal([*self.brief.must, *sets])
        shuttle = Shuttle(
            self.brief.release(top),
            most_bytes=int(self.brief.policy.bounds.gigabytes * 2**30),
            droppable=True,
        )
        shuttle.watch(self.brief.cells)
        if any(map(self.attribute.inside, top)) or not self._keeps(shuttle, top):
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
        if any(map(self.attribute.inside, margins)):
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
        if len(self.brief.cells) and self._width(shuttle).min() < self.beta:
            return False
        if self.near is not None:
            lower, upper = shuttle.bounds(self.near.names, self.near.codes)
            n = self.near.counts
            share = self.brief.policy.closeness.share
            if (np.maximum(upper - n, n - lower) / n < share).any():
                return False
        return not self.attribute.across(shuttle, closure(sets) if self.attribute else ())


def acceptable(decision: Decision, brief: Brief) -> bool:
    """PASS, or, where no proof is asked for, whatever does not fail."""
    if brief.certified:
        return decision.verdict is Verdict.PASS
    return decision.verdict is not Verdict.FAIL
