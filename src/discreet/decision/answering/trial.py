"""Would a further margin keep the policy, with all that is out? From scratch, or incrementally."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from contextlib import AbstractContextManager, contextmanager
from functools import lru_cache
from typing import Protocol

from discreet.arrays import Ints
from discreet.decision.answering.space import within
from discreet.decision.frontier.brief import Brief, Sets
from discreet.decision.frontier.judge import ShuttleJudge, insiders
from discreet.decision.frontier.linear_judge import LinearJudge, projectable
from discreet.decision.law.case import Case
from discreet.decision.law.decide import decide, ruling
from discreet.decision.law.names import names_in_doubt
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules.small import Widths
from discreet.decision.law.verdict import Verdict
from discreet.intruder.bounds.part import QUICK
from discreet.table.cells import Cells
from discreet.table.lattice import maximal
from discreet.table.table import Table

FEW = 4  # margins up to which it is quicker to follow what they change
PROOF = 1 / 30  # of the usual work on tables that prove a width, in one request
REMEMBERED = 10_000  # verdicts, so that memory has an end


class Trial(Protocol):
    """What is out, and the verdict on what is asked for besides."""

    out: Sets

    def verdict(self, margins: Sequence[int]) -> Verdict:
        """On all of them together."""

    def rejects(self, margin: int) -> bool:
        """Is it surely unsafe, at a quick look?"""

    def take(self, margins: Iterable[int]) -> None: ...

    def supposing(self, margins: Iterable[int]) -> AbstractContextManager[int | None]:
        """As if they were out too; gives the narrowest width of a small count."""

    def widths(self) -> tuple[Cells, Ints]:
        """The small counts that are guarded, and their widths."""


def trial(table: Table, policy: Policy) -> Trial:
    brief = Brief(table.supposing(), policy)
    small = table.size * max(len(brief.cells), 1) <= QUICK
    return WholeTrial(brief) if small else ShuttleTrial(brief)


class WholeTrial:
    """Asks the rules of `assess`, each time from scratch: for small tables.

    First whether a margin breaks a rule by itself, as far as rules can follow. What passes is the
    same whatever was asked before, and however long that took.
    """

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.out: Sets = ()
        self.policy = brief.policy.effort(
            witness_effort=min(brief.policy.bounds.witness_effort, PROOF)
        )
        self.inside = insiders(brief)
        self._known = lru_cache(REMEMBERED)(self._judge)

    def verdict(self, margins: Sequence[int]) -> Verdict:
        return self._known(maximal([*self.out, *margins]))

    def _judge(self, top: Sets) -> Verdict:
        if any(follower.inside(margin) for margin in top for follower in self.inside):
            return Verdict.FAIL
        return ruling(self.brief.table, self.brief.release(top), self.policy)

    def rejects(self, margin: int) -> bool:
        return False

    def take(self, margins: Iterable[int]) -> None:
        self.out = maximal([*self.out, *margins])

    @contextmanager
    def supposing(self, margins: Iterable[int]) -> Iterator[int | None]:
        before = self.out
        self.take(margins)
        try:
            yield narrowest(self.widths()[1])
        finally:
            self.out = before

    def widths(self) -> tuple[Cells, Ints]:
        small = Case(self.brief.table, self.brief.release(self.out), self.policy).small
        return small.cells, small.bounds.width


class ShuttleTrial:
    """Asks the shuttle, which follows only what a further margin changes: for large tables.

    What it fails is refused. What it does not fail, `decide` is asked about; unless every rule can
    follow, outer bounds are accepted, and `decide` would ask this very shuttle. Where linear bounds
    are asked for and small counts are all that is not exact, they are followed from request to
    request. It is `broken` if what is out does not keep the policy: then nothing more does.
    """

    def __init__(self, brief: Brief) -> None:
        self.brief = brief
        self.out: Sets = ()
        self.judge = ShuttleJudge(brief)
        proof, others = brief.policy.bounds.proof, self.judge.others
        # `decide` judges without what was found, too, and knows which names are in doubt
        found = bool(brief.table.codings or names_in_doubt(brief.policy, brief.table))
        self.follows = proof == "outer" and not others and not found
        followers = self.judge.followers
        exact = all(isinstance(f, Widths) or not getattr(f, "outer", True) for f in followers)
        plain = projectable(brief) and exact and not others and not found
        self.linear = LinearJudge(brief, self.judge) if proof == "linear" and plain else None
        self.broken = not self.judge.restart(())
        self._trial: Sets | None = None
        self._lower: Ints | None = None

    def verdict(self, margins: Sequence[int]) -> Verdict:
        if self.broken or any(map(self.rejects, margins)) or not self._holds(margins):
            return Verdict.FAIL
        release = self.brief.release([*self.out, *margins])
        policy = self.brief.policy.effort(witness_effort=0.0)
        cells = len(self.brief.cells)
        unsure = any(f.unsure(release.formula.sets) for f in self.judge.followers)
        if self.linear is not None and not unsure:
            return self.linear.verdict(release)
        sure = self.follows and not unsure
        if sure and Case(self.brief.table, release, policy).bounder.one_shuttle(cells):
            return Verdict.PASS
        return decide(self.brief.table, release, policy).verdict

    def rejects(self, margin: int) -> bool:
        """A released count, less the lower bound of a small cell in it, is too little already."""
        if self._lower is None:
            self._forget()
            self._lower = self.judge.bounds()[0]
        width = self.brief.counts_at_small(margin) - self._lower
        return len(width) > 0 and bool(width.min() < self.brief.policy.small.width)

    def _holds(self, margins: Sequence[int]) -> bool:
        """A trial, kept until the next one: it may be what is taken next."""
        self._forget()
        held = self.judge.holds(margins)
        self._trial = tuple(margins) if held else None
        if not held:
            self.judge.roll_back()
        return held

    def _forget(self) -> None:
        if self._trial is not None:
            self.judge.roll_back()
            self._trial = None

    def take(self, margins: Iterable[int]) -> None:
        out = self.out
        new = tuple(m for m in margins if not within(m, out))
        if not new:
            return
        if new == self._trial:
            self.judge.commit(new)
        else:
            self._forget()
            grown = self.judge.add(new) if len(new) <= FEW else self.judge.restart([*out, *new])
            self.broken = self.broken or not grown
        self._trial = self._lower = None
        self.out = maximal([*out, *new])

    @contextmanager
    def supposing(self, margins: Iterable[int]) -> Iterator[int | None]:
        self._forget()
        before, saved = self.out, self.judge.save()
        self.take(margins)
        try:
            yield narrowest(self.widths()[1])
        finally:
            self._forget()
            self.judge.load(saved)
            self.out, self._lower = before, None

    def widths(self) -> tuple[Cells, Ints]:
        self._forget()
        lower, upper = self.judge.bounds()
        return self.brief.cells, upper - lower


def narrowest(widths: Ints) -> int | None:
    return int(widths.min()) if len(widths) else None
