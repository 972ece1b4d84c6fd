"""How a frontier is searched: which steps, in which order, and what is valid when it stops."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable
from functools import cached_property
from typing import Literal

from discreet.decision.frontier.brief import Brief, Sets
from discreet.decision.frontier.decomposable import decomposable_frontier
from discreet.decision.frontier.exchange import exchange
from discreet.decision.frontier.growing import Grown, grow, longest_start
from discreet.decision.frontier.judge import PROOF, Judge, ShuttleJudge, WholeJudge, acceptable
from discreet.decision.frontier.linear_judge import GROWN, LinearJudge, grow_blocks, projectable
from discreet.decision.frontier.proven import MOST_MARGINS, best_set
from discreet.decision.law.decide import Decision, decide
from discreet.decision.law.rules import asked
from discreet.effort import Clock, Effort
from discreet.errors import DataError, DisclosureError, Stopped
from discreet.intruder.bounds.part import QUICK
from discreet.models.select import ModelSearch, fitting_model
from discreet.table.lattice import closure, maximal
from discreet.utility.requests import Requests

FrontierMethod = Literal["best", "greedy", "decomposable"]
EVERY = 0.5  # seconds between two points of the trace
SEARCHING = 0.8  # of a limit in seconds; what is left is for the verdict
ROUNDS = 200  # of exchanges
JUDGED = 5_000  # sets, on the way to a proof

UNPROVEN = "no set of margins is proven to keep the policy; ask without proof, or relax it."
NOTHING = "no margin keeps the policy by itself; relax the policy, or merge categories."


class Strategy:
    """One search: the set so far, always valid, and how it came about."""

    def __init__(self, brief: Brief, effort: Effort, clock: Clock, seed: int) -> None:
        self.brief, self.effort, self.seed = brief, effort, seed
        self.whole, self.clock = clock, clock.before(SEARCHING)
        self.small = brief.table.size * max(len(brief.cells), 1) <= QUICK
        self.listed: int | None = None
        self.complete: bool | None = None
        self.at_most: float | None = None
        self.trace: list[tuple[float, float]] = []
        self.held_back: dict[int, tuple[int, ...]] = {}
        self.out = Grown()  # of the list, by linear bounds
        self.model: ModelSearch | None = None

    @property
    def _proof_only(self) -> bool:
        """Is the table so large that only decomposable sets have proven bounds?"""
        whole = self.brief.policy.bounds.proof == "integer"
        return self.brief.certified and whole and not self.small

    @property
    def _linear(self) -> bool:
        """Is proof asked for, of a table that is too large to judge from scratch?

        Linear bounds are what can be had there; whole tables keep no width that they do not.
        """
        asked = self.brief.policy.bounds.proof != "outer" and not self._proof_only
        return asked and not self.small and projectable(self.brief)

    @property
    def _provable(self) -> bool:
        return self.small and len(self.brief.candidates) <= MOST_MARGINS

    @property
    def _monotone(self) -> bool:
        """Does what breaks the policy break it with all that contain it? Else nothing is proven."""
        return all(rule.monotone(self.brief.policy) for rule in asked(self.brief.policy))

    @cached_property
    def _list(self) -> Sets:
        """The candidates that can go by themselves."""
        failed: list[int] = []
        for s in sorted(self.brief.candidates, key=int.bit_count):
            below = self._monotone and any(f & ~s == 0 for f in failed)
            if below or not self.judge.alone(s):
                failed += [] if below else [s]
        return tuple(s for s in self.brief.candidates if not any(f & ~s == 0 for f in failed))

    def _judge(self) -> Judge:
        if self._linear:
            return LinearJudge(self.brief)
        whole = self.small or self.brief.certified
        return WholeJudge(self.brief) if whole else ShuttleJudge(self.brief)

    def _grow(self, judge: Judge, ordered: Iterable[int]) -> Grown:
        if isinstance(judge, LinearJudge):
            most = self.effort.of(GROWN)
            return grow_blocks(judge, ordered, self.clock, self._tell, most=most)
        return grow(judge, ordered, self.clock, self._tell)

    def begin(self) -> None:
        """Nothing but what must be in: the first valid answer."""
        brief = self.brief
        self.judge = self._judge()
        if not self.judge.restart(brief.must):
            what = str(brief.formula(brief.must)) if brief.must else "Even an empty release"
            raise DisclosureError(
                f"{what}, which must be in, does not keep the policy by itself; nothing can be "
                "added to it."
            )
        if not brief.candidates and not brief.must:
            raise DisclosureError(
                f"no margin keeps a width of {brief.policy.small.width} at every small count; "
                "lower beta, or merge categories."
            )

    def fit(self) -> None:
        """The minimal sufficient statistics of a model that fits must be in, as far as they can.

        Among the models whose margins keep the policy one by one; where they break it together,
        the largest first.
        """
        brief = self.brief
        may = set(brief.candidates)
        self.model = fitting_model(
            brief.table,
            max_order=brief.max_order,
            effort=self.effort.times,
            seconds=self.clock,
            allows=lambda s: s.bit_count() == 1 or s in may,
        )
        wanted = sorted(closure(self.model.formula.sets), key=lambda s: (-s.bit_count(), s))
        self._grow(self.judge, [s for s in wanted if s in may])
        self.brief = dataclasses.replace(brief, must=maximal([*brief.must, *self.judge.sets]))
        self.judge = self._judge()
        self.judge.restart(self.brief.must)

    def run(self, method: FrontierMethod) -> None:
        brief = self.brief
        if method == "greedy" or (method == "best" and not self._proof_only):
            self._cut_list(method)
            self._tell()
        if method == "decomposable" or (method == "best" and not self._provable):
            self._decomposable(required=method == "decomposable")
        if method != "best" or self._proof_only:
            return
        self._wishes()
        quick = isinstance(self.judge, ShuttleJudge | LinearJudge)
        ordered = self._list
        if quick:
            may = set(self._list)
            ordered = tuple(s for s in brief.gentle_first if s in may)
        grown = self._grow(self.judge, ordered)
        inside = closure(self.judge.sets)
        left_out = self.out.failed | grown.failed
        self.held_back = {m: cells for m, cells in left_out.items() if m not in inside}
        # margins that were tried together may have been blamed for each other
        self.complete = None if isinstance(self.judge, LinearJudge) else grown.complete
        if not grown.complete:
            return
        if isinstance(self.judge, ShuttleJudge):
            if self._monotone:
                self.at_most = brief.worth(brief.candidates)
            rounds = self.effort.of(ROUNDS)
            exchange(self.judge, brief, grown.failed, rounds, self.seed, self.clock, self._tell)
        elif isinstance(self.judge, WholeJudge) and self._provable:
            best = best_set(self.judge, brief, self.effort.of(JUDGED), self.clock, self._tell)
            self.judge.restart(best.sets)
            self.at_most = best.at_most if self._monotone else None

    def _cut_list(self, method: FrontierMethod) -> None:
        """The longest start of the list; by linear bounds at most as long as by the shuttle.

        Unless the list alone is asked for, all of that start goes in but for the margins that stand
        in the way.
        """
        if not isinstance(self.judge, LinearJudge):
            self.listed = longest_start(self.judge, self._list, self.clock)
            return
        low, high = 0, longest_start(ShuttleJudge(self.brief), self._list, self.clock)
        if method == "best":
            self.judge.take(self._list[:high], failed=self.out, clock=self.clock)
            return
        middle = high
        while low < high and not self.clock.over():
            held = self.judge.restart(self._list[:middle])
            low, high = (middle, high) if held else (low, middle - 1)
            middle = (low + high + 1) // 2
        self.listed = low

    def _decomposable(self, *, required: bool) -> None:
        """The best decomposable set, if it is better than what there is."""
        brief, rule = self.brief, self.brief.policy
        try:
            found = decomposable_frontier(
                brief.table,
                beta=rule.small.width,
                small=rule.small.most,
                seed=self.seed,
                effort=self.effort.times,
                seconds=self.clock,
                first=brief.formula(brief.must) if brief.must else (),
                weights=brief.value or None,
                max_order=brief.max_order,
            )
        except (DataError, DisclosureError):
            if required:
                raise
            return
        if not all(map(brief.allows, closure(found.formula.sets))):
            if required:
                raise DataError(
                    "the decomposable search cannot leave out margins; choose the method best."
                )
            return
        before = tuple(self.judge.sets)
        if required or brief.worth(found.formula.sets) > brief.worth(before):
            if self.judge.restart(found.formula.sets):
                self._tell()
            elif required:
                raise DataError(
                    f"the decomposable search knows widths alone, and {found.formula} breaks "
                    "another rule of the policy; choose the method best."
                )

    def _wishes(self) -> None:
        """What users want most first, if that is worth more."""
        wished = self.brief.wished()
        if not wished:
            return
        before = tuple(self.judge.sets)
        self.judge.restart(self.brief.must)
        self._grow(self.judge, wished)
        if self.brief.worth(self.judge.sets) < self.brief.worth(before):
            self.judge.restart(before)
        self._tell()

    def first_come(self, requests: Requests | None) -> Sets:
        """What users get who are served in turn, each if the policy still holds."""
        judge = self._judge()
        judge.restart(self.brief.must)
        wanted = requests.first_come() if requests else ()
        self._grow(judge, filter(self.brief.allows, wanted))
        return maximal(judge.sets)

    def _tell(self) -> None:
        now = self.clock.spent
        if not self.trace or now - self.trace[-1][0] > EVERY:
            self.trace.append((now, self.brief.worth(self.judge.sets)))

    def settle(self) -> Decision:
        """The verdict on the set by the rules of `assess`; what they do not accept is left out.

        The search may have asked quicker bounds; then the longest start of what was taken in that
        the rules accept is the answer.
        """
        brief, order = self.brief, self.judge.sets
        if not order and not brief.must:
            raise self._nothing()
        self.trace.append((self.clock.spent, brief.worth(order)))
        decision = self._decide(order)
        if acceptable(decision, brief):
            return decision
        low, high, self.complete = 0, len(order) - 1, None
        kept: Decision | None = self._decide(()) if brief.must else None
        while low < high:
            middle = (low + high + 1) // 2
            trial = self._decide(order[:middle])
            if acceptable(trial, brief):
                low, kept = middle, trial
            else:
                high = middle - 1
        if kept is None:
            raise self._nothing()
        return kept

    def _nothing(self) -> DisclosureError:
        if self.whole.stopped:
            return Stopped(
                f"stopped by the limit of {self.whole.seconds:g} seconds before there was a set "
                "that keeps the policy; allow more seconds."
            )
        return DisclosureError(UNPROVEN if self.brief.certified else NOTHING)

    def _decide(self, sets: Iterable[int]) -> Decision:
        brief = self.brief
        how = brief.policy.bounds
        if self.whole.over():  # what was judged to be proven on the way can be proven again
            policy = brief.policy.effort(
                witness_effort=min(how.witness_effort, PROOF) if brief.certified else 0.0
            )
        else:
            policy = brief.policy.effort(witness_seconds=min(how.witness_seconds, self.whole.left))
        return decide(brief.table, brief.release([*brief.must, *sets]), policy)
