"""The request desk: one table, one policy, all that is out; each request gets an answer."""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from functools import cached_property
from itertools import combinations

from discreet.decision.answering.answer import Answer, Outcome, Standing, Status, Why
from discreet.decision.answering.gate import opening
from discreet.decision.answering.simulated_refusals import Simulated
from discreet.decision.answering.space import QuerySpace, nearest, within
from discreet.decision.answering.trial import Trial, trial
from discreet.decision.answering.vintage import Vintage, VintageTrial, judges
from discreet.decision.frontier.brief import Brief, Sets
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules import asked
from discreet.decision.law.verdict import Verdict
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import PolicyError
from discreet.look.result import Shown, Unpublished
from discreet.table.lattice import maximal
from discreet.table.table import Table

NEAR = 6  # margins offered instead
TRIALS = 1_000  # of a survey of what is possible
WHATEVER_THE_DATA = (Why.FRONTIER, Why.ORDER, Why.CELLS, Why.REJECTED)  # then a margin is gone


@dataclass(frozen=True)
class Cost(Shown):
    """What a release would close off: of the margins that are possible now, how many are gone.

    `narrowest`: the least width of a small count after it, where the data decide. Not `complete`:
    at least so many, the time was too short to look at all.
    """

    possible: int
    gone: int
    narrowest: int | None
    complete: bool


class Desk(Unpublished):
    """Answers requests for margins of a table, as the policy's section `server` says.

    `others` are other vintages of the table, and what is out of each. `out` is what is out; if it
    is not given, what the rule opens with: it is taken for granted, and judged by `gate.check`.

    Nothing changes by asking: `take` says what went out. The same request has the same answer
    until then.

    >>> from discreet.table.load import load
    >>> policy = Policy.of({"server.rule": "myopic"})
    >>> desk = Desk(load("example:tract"), policy)
    >>> desk.ask("Gender*Income").outcome, desk.ask("Gender*Race*Income").outcome
    (<Outcome.GRANTED: 'granted'>, <Outcome.REFUSED: 'refused'>)
    """

    def __init__(
        self,
        table: Table,
        policy: Policy,
        *,
        frontier: Iterable[int] | None = None,
        listed: Iterable[int] | None = None,
        others: Iterable[Vintage] = (),
        out: Iterable[int] | None = None,
    ) -> None:
        self.table, self.policy, self.rule = table, policy, policy.server
        self.others = tuple(others)
        self.listed = None if listed is None else maximal(listed)
        self.out: Sets = ()
        self.rejected: Sets = ()  # by a custodian: neither they nor what holds them
        if self.rule.rule == "static" and frontier is None:
            raise PolicyError(
                "the static rule needs a frontier that was chosen before; find one with "
                "`discreet frontier`."
            )
        self.space = QuerySpace(
            len(table.names),
            self._trial,
            first=self._first(frontier),
            monotone=self._monotone,
            rejects=self._rejects,
        )
        if self.others and self.rule.rule == "simulatable":
            raise PolicyError(
                "the simulatable rule cannot judge a table together with an older vintage of it; "
                "use the static rule."
            )
        self.take(opening(table, policy, frontier) if out is None else out)

    # What is asked of it

    def margin(self, names: str | Iterable[str]) -> int:
        """A margin as a set of variables."""
        listed = names.split("*") if isinstance(names, str) else list(names)
        return sum(1 << self.table.names.index(name.strip()) for name in dict.fromkeys(listed))

    def ask(self, margin: int | str, *, received: int = 0) -> Answer:
        """The answer to a user who `received` so many new tables today."""
        s = self.margin(margin) if isinstance(margin, str) else margin
        if within(s, self.out):
            return Answer(s, Outcome.GRANTED, Why.OUT)
        if (barred := self.barred(s)) is not None:
            return self._refused(s, barred)
        if self.rule.quota and received >= self.rule.quota:
            return self._refused(s, Why.QUOTA)
        verdict, probability = self._verdict([s])
        if verdict is Verdict.FAIL or (verdict is Verdict.REVIEW and self.rule.approval == "never"):
            return self._refused(s, Why.UNSAFE, probability)
        if verdict is Verdict.REVIEW:
            return Answer(s, Outcome.PENDING, Why.DOUBT, probability=probability)
        if self.rule.approval == "always":
            return Answer(s, Outcome.PENDING, Why.APPROVAL, probability=probability)
        return Answer(s, Outcome.GRANTED, Why.SAFE, probability=probability)

    def standing(self, margin: int) -> Standing:
        """Released, possible or gone, and whether it can be asked for now."""
        if within(margin, self.out):
            return Standing(Status.RELEASED, False, Why.OUT)
        barred = self.barred(margin)
        if barred in WHATEVER_THE_DATA:
            return Standing(Status.GONE, False, barred)
        if self.space.status(margin) is Status.GONE:
            return Standing(Status.GONE, False, Why.UNSAFE)
        return Standing(Status.POSSIBLE, barred is None, barred or Why.SAFE)

    def is_known(self, margin: int) -> bool:
        """Does `standing` look at nothing that is not known?"""
        if within(margin, self.out) or self.barred(margin) in WHATEVER_THE_DATA:
            return True
        return self.space.known(margin) is not None

    def take(self, margins: Iterable[int]) -> None:
        """Some margins went out."""
        margins = [m for m in margins if not within(m, self.out)]
        if not margins:
            return
        if "trial" in vars(self):
            self.trial.take(margins)
        self.out = maximal([*self.out, *margins])
        self.space.release(margins)

    def added(self, frontier: Iterable[int] | None) -> Sets:
        """What the rule has out before anybody asks, and is not out."""
        wanted = opening(self.table, self.policy, frontier)
        return tuple(margin for margin in wanted if not within(margin, self.out))

    def keeps(self) -> bool:
        """Does what is out keep the policy, by the data?"""
        return self.trial.verdict(()) is not Verdict.FAIL

    def near(self, margin: int) -> tuple[int, ...]:
        """The largest margins within it that are out."""
        return tuple(nearest(margin, self.out))[:NEAR]

    def cost(self, margin: int, *, effort: float = 1.0, seconds: Seconds = math.inf) -> Cost:
        """What the release of a margin would close off, as far as so much work finds it out."""
        trials = Effort(effort).of(TRIALS)
        before = self.space.counts()
        with self.trial.supposing([margin]) as narrowest:
            space = self.space.copy()
            space.release([margin])
            complete = space.survey(trials, Clock.of(seconds)) and self.space.surveyed
        after = space.counts()
        gone = sum(after["gone"].values()) - sum(before["gone"].values())
        return Cost(sum(before["possible"].values()), gone, narrowest, complete)

    # How it decides

    @cached_property
    def trial(self) -> Trial:
        """Judges by the data."""
        own = trial(self.table, self.policy)
        if self.others:
            own = VintageTrial(own, judges(self.table, self.others, self.policy))
        own.take(self.out)
        return own

    @cached_property
    def simulated(self) -> Simulated:
        """Judges by what is public."""
        return Simulated(self.table, self.policy)

    def _verdict(self, margins: Sequence[int]) -> tuple[Verdict, float | None]:
        if self.rule.rule == "simulatable":
            found = self.simulated.refusal(self.out, margins[0])
            if found.refuses or not self.rule.gate:
                return (Verdict.FAIL if found.refuses else Verdict.PASS), found.probability
            return self.trial.verdict(margins), found.probability
        if any(self.space.known(margin) is Status.GONE for margin in margins):
            return Verdict.FAIL, None
        return self.trial.verdict(margins), None

    def _trial(self, margins: Sequence[int]) -> bool:
        """Could all of them be released now?"""
        if self.rule.rule == "static":
            return False
        verdict, _ = self._verdict(margins)
        doubt = verdict is Verdict.REVIEW and self.rule.approval == "never"
        return verdict is not Verdict.FAIL and not doubt

    def _rejects(self, margin: int) -> bool:
        return self.rule.rule == "myopic" and self.trial.rejects(margin)

    @property
    def _monotone(self) -> bool:
        """Does a further margin never make another one safe again?"""
        if self.rule.rule == "simulatable":
            return False
        return all(rule.monotone(self.policy) for rule in asked(self.policy))

    def _first(self, frontier: Iterable[int] | None) -> Sets:
        """The margins beyond which nothing is possible."""
        k, most = len(self.table.names), self.rule.max_order
        if self.rule.rule == "static":
            return maximal(frontier or ())
        if self.rule.rule == "simulatable":  # what is possible may not depend on the data
            if not most or most >= k:
                return ((1 << k) - 1,)
            return tuple(sum(1 << p for p in chosen) for chosen in combinations(range(k), most))
        brief = Brief(self.table, self.policy, max_order=most or None)
        return maximal(brief.candidates)

    def _cells(self, margin: int) -> int:
        return math.prod(self.table.axes.sizes_of(margin))

    def barred(self, margin: int) -> Why | None:
        """What the public rules say against a margin, whatever the data."""
        rule, size = self.rule, self._cells(margin)
        if rule.rule == "static":
            return Why.FRONTIER
        if any(s & ~margin == 0 for s in self.rejected):
            return Why.REJECTED
        if rule.max_order and margin.bit_count() > rule.max_order:
            return Why.ORDER
        if size > rule.cells:
            return Why.CELLS
        if rule.curated and not within(margin, self.listed or ()):
            return Why.UNLISTED
        known = max((m.bit_count() for m in nearest(margin, self.out)), default=0)
        if rule.step_variables and margin.bit_count() - known > rule.step_variables:
            return Why.STEP
        if rule.step_cells and size > rule.step_cells:
            return Why.STEP
        return None

    def _refused(self, margin: int, why: Why, probability: float | None = None) -> Answer:
        return Answer(margin, Outcome.REFUSED, why, self.near(margin), probability)
