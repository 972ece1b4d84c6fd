"""What could be released at most: the searches for a frontier under one policy."""

from __future__ import annotations

import dataclasses
import time
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, Literal, get_args

from discreet.decision.brief import Brief, Sets
from discreet.decision.decide import Decision, decide
from discreet.decision.decomposable import decomposable_frontier
from discreet.decision.exact import MOST_MARGINS, best_set
from discreet.decision.exchange import exchange
from discreet.decision.judge import Judge, ShuttleJudge, WholeJudge, acceptable
from discreet.decision.policy import Policy
from discreet.decision.search import grow, longest_start
from discreet.errors import DataError, DisclosureError
from discreet.intruder.bounds.bounder import QUICK
from discreet.intruder.bounds.result import Status
from discreet.models.select import ModelSearch, fitting_model
from discreet.release.release import as_formula
from discreet.table.cells import frame
from discreet.table.formula import Formula
from discreet.table.lattice import closure, count_by_order, maximal
from discreet.table.table import Table
from discreet.utility.requests import Requests, UserShare

FrontierMethod = Literal["best", "greedy", "decomposable"]
EVERY = 0.5  # seconds between two points of the trace
Margins = str | Formula | Iterable[Iterable[str]]


@dataclass(frozen=True, eq=False)
class Frontier:
    """A closed set of margins that keeps a policy: its maximal margins are the `formula`.

    `listed` is where the greedy list was cut; `maximal` says that no single margin can be added,
    if that was found out; `at_most` is proven: no set of more margins, or of more worth to users,
    keeps the policy. `trace` has the seconds and the worth of each better set.
    """

    formula: Formula
    policy: Policy
    method: str
    decision: Decision
    listed: int | None
    maximal: bool | None
    at_most: float | None
    worth: float
    trace: tuple[tuple[float, float], ...]
    users: tuple[UserShare, ...]
    first_come: tuple[UserShare, ...]
    model: ModelSearch | None
    seed: int
    seconds: float

    @property
    def beta(self) -> int:
        return self.policy.small.width

    @cached_property
    def by_order(self) -> dict[int, int]:
        return count_by_order(self.formula.sets)

    @property
    def released(self) -> int:
        """How many margins the closed set has."""
        return sum(self.by_order.values())

    @property
    def min_width(self) -> int | None:
        """The narrowest width of a small count, evaluated from scratch."""
        return self.decision.case.small.narrowest

    @property
    def unproven(self) -> int:
        """How many small counts have a width that rests on outer bounds alone."""
        return self.decision.case.small.bounds.status(self.beta).count(Status.OUTER)

    @property
    def certified(self) -> bool:
        """Is every width proven by tables, not only by outer bounds?"""
        return self.unproven == 0

    @property
    def optimal(self) -> bool:
        """Is it proven that no set is worth more?"""
        return self.at_most is not None and self.worth >= self.at_most - 1e-6

    def __repr__(self) -> str:
        best = ", proven best" if self.optimal else ""
        return (
            f"Frontier({self.released:,} margins, {len(self.formula):,} maximal: {self.method}, "
            f"min width {self.min_width} at beta {self.beta}{best})"
        )

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet frontier --json` prints."""
        return {
            "released": self.released,
            "listed": self.listed,
            "by_order": {str(order): n for order, n in self.by_order.items()},
            "frontier": [list(margin) for margin in self.formula.margins],
            "min_width": self.min_width,
            "certified": self.certified,
            "unproven": self.unproven,
            "maximal": self.maximal,
            "optimal": self.optimal,
            "at_most": self.at_most,
            "worth": self.worth,
            "beta": self.beta,
            "method": self.method,
            "verdict": str(self.decision.verdict),
            "reasons": [
                {"rule": r.rule, "verdict": str(r.verdict), "text": r.text}
                for r in self.decision.reasons
            ],
            "users": [vars(share) for share in self.users],
            "first_come": [vars(share) for share in self.first_come],
            "model": self._model(),
            "policy": {"name": self.policy.name} | self.policy.to_dict(),
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
        }

    def _model(self) -> dict[str, Any] | None:
        if self.model is None:
            return None
        margins = self.model.formula.margins
        return {
            "margins": [list(margin) for margin in margins],
            "released": sum(map(self.formula.contains, margins)),
            "criterion": self.model.criterion,
            "bic": self.model.fit.bic,
        }

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a maximal margin."""
        margins = self.formula.margins
        columns = {"margin": list(map("*".join, margins)), "order": list(map(len, margins))}
        return frame(columns, kind)

    def plot(self, **options: Any) -> Any:
        """Margins released by order, as a share of all."""
        from math import comb

        from discreet.look.frontiercharts import order_chart

        k = len(self.formula.names)
        return order_chart(
            self.by_order, {order: comb(k, order) for order in range(1, k + 1)}, **options
        )


def frontier(
    table: Table,
    *,
    beta: int | None = None,
    small: int | None = None,
    policy: Policy | None = None,
    method: FrontierMethod = "best",
    certified: bool = False,
    first: Margins = (),
    released: Margins = (),
    never: Margins = (),
    max_order: int | None = None,
    weights: Mapping[Any, float] | Requests | None = None,
    seconds: float = 600.0,
    seed: int = 0,
) -> Frontier:
    """A large set of margins that keeps the policy, or just the width beta at every small count.

    `decomposable`: annealing over decomposable releases. `greedy`: the list of margins by critical
    width, cut where the policy breaks (section 1.5 of the 2002 paper). `best`: the better of both,
    then every later margin of the list that still keeps the policy, then exchanges until the time
    is up; small tables are searched to a proof. With `certified` nothing rests on outer bounds.

    `first` must be in, `released` is out already, `never` may not go, nor what contains it.
    `first="fit"` stands for the margins of a log-linear model that fits the table, as far as the
    policy lets them go. `weights` says what margins are worth to users; others only break ties.

    >>> from discreet.table.load import load
    >>> frontier(load("example:tract"), beta=3)
    Frontier(4 margins, 2 maximal: best, min width 5 at beta 3, proven best)
    """
    begun = time.monotonic()
    if method not in get_args(FrontierMethod):
        raise DataError(
            f"there is no method {method!r}; choose {', '.join(get_args(FrontierMethod))}."
        )
    names = table.names
    fit = first == "fit" and "fit" not in names
    requests = Requests.of(weights, names) if isinstance(weights, Mapping) else weights
    brief = Brief(
        table,
        _policy(policy, beta, small, seconds),
        certified,
        must=maximal([*_sets(() if fit else first, names), *_sets(released, names)]),
        never=_sets(never, names),
        max_order=max_order,
        weights=requests.weights() if requests else {},
    )
    brief.check()
    if policy is None and not len(brief.cells):
        most = brief.policy.small.most
        raise DataError(f"the table has no count of 1 to {most}: every margin keeps any width.")
    search = _Search(brief, begun, begun + seconds, seed)
    search.begin()
    if fit:
        search.fit()
    brief = search.brief
    try:
        search.run(method)
    except KeyboardInterrupt:
        search.complete = None  # what was found until now is valid
    decision = search.settle()
    sets = decision.release.formula.sets
    return Frontier(
        brief.formula(sets),
        brief.policy,
        method,
        decision,
        search.listed,
        search.complete,
        search.at_most,
        brief.worth(sets),
        tuple(search.trace),
        requests.served(brief.formula(sets)) if requests else (),
        requests.served(brief.formula(search.first_come(requests))) if requests else (),
        search.model,
        seed,
        time.monotonic() - begun,
    )


def _policy(policy: Policy | None, beta: int | None, small: int | None, seconds: float) -> Policy:
    """The policy; without one the rule of the 2002 paper, widths alone."""
    if policy is None:
        alone = {"attribute.check": False, "bounds.witness_seconds": min(60.0, seconds / 4)}
        policy = Policy().change(alone)
        policy = dataclasses.replace(policy, name="widths alone")
    changes = {"small.width": beta, "small.most": small}
    return policy.change({key: value for key, value in changes.items() if value is not None})


def _sets(margins: Margins, names: tuple[str, ...]) -> Sets:
    return as_formula(margins, names).sets if margins else ()


class _Search:
    """One search: the set so far, always valid, and how it came about."""

    def __init__(self, brief: Brief, begun: float, end: float, seed: int) -> None:
        self.brief, self.begun, self.end, self.seed = brief, begun, end, seed
        self.small = brief.table.size * max(len(brief.cells), 1) <= QUICK
        self.judge = self._judge()
        self.listed: int | None = None
        self.complete: bool | None = None
        self.at_most: float | None = None
        self.trace: list[tuple[float, float]] = []
        self.model: ModelSearch | None = None

    @property
    def _provable(self) -> bool:
        return self.small and len(self.brief.candidates) <= MOST_MARGINS

    def _judge(self) -> Judge:
        whole = self.small or self.brief.certified
        return WholeJudge(self.brief) if whole else ShuttleJudge(self.brief)

    def begin(self) -> None:
        """Nothing but what must be in: the first valid answer."""
        brief = self.brief
        if not self.judge.restart(brief.must):
            what = str(brief.formula(brief.must)) if brief.must else "Even an empty release"
            raise DisclosureError(
                f"{what}, which must be in, does not keep the policy by itself; nothing can be "
                "added to it."
            )
        if not brief.candidates and not brief.must:
            raise DisclosureError(
                f"not even the one-way margins keep a width of {brief.policy.small.width} at every "
                "small count; lower beta, or merge categories."
            )

    def fit(self) -> None:
        """The minimal sufficient statistics of a model that fits must be in, as far as they can.

        Among the models whose margins keep the policy one by one; where they break it together,
        the largest first.
        """
        brief = self.brief
        may = set(brief.candidates)
        seconds = max(1.0, min(60.0, (self.end - time.monotonic()) / 4))
        self.model = fitting_model(
            brief.table,
            max_order=brief.max_order,
            seconds=seconds,
            allows=lambda s: s.bit_count() == 1 or s in may,
        )
        wanted = sorted(closure(self.model.formula.sets), key=lambda s: (-s.bit_count(), s))
        grow(self.judge, [s for s in wanted if s in may], self.end)
        self.brief = dataclasses.replace(brief, must=maximal([*brief.must, *self.judge.sets]))
        self.judge = self._judge()
        self.judge.restart(self.brief.must)

    def run(self, method: FrontierMethod) -> None:
        brief = self.brief
        if method != "decomposable":
            self.listed = longest_start(self.judge, brief.candidates)
            self._tell()
        if method == "decomposable" or (method == "best" and not self._provable):
            self._decomposable(required=method == "decomposable")
        if method != "best":
            return
        self._wishes()
        left = max(0.0, self.end - time.monotonic() - brief.policy.bounds.witness_seconds)
        end = time.monotonic() + left
        grown = grow(self.judge, brief.candidates, end, self._tell)
        self.complete = grown.complete
        if not grown.complete:
            return
        if isinstance(self.judge, ShuttleJudge):
            self.at_most = brief.worth(brief.candidates)
            exchange(self.judge, brief, grown.failed, end, self.seed, self._tell)
        elif isinstance(self.judge, WholeJudge) and self._provable:
            best = best_set(self.judge, brief, end, self._tell)
            self.judge.restart(best.sets)
            self.at_most = best.at_most

    def _decomposable(self, *, required: bool) -> None:
        """The best decomposable set, if it is better than what there is."""
        brief, rule = self.brief, self.brief.policy
        left = self.end - time.monotonic()
        try:
            found = decomposable_frontier(
                brief.table,
                beta=rule.small.width,
                small=rule.small.most,
                seed=self.seed,
                seconds=max(1.0, min(60.0, left / (4 if required else 20))),
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
        grow(self.judge, wished, self.end)
        if self.brief.worth(self.judge.sets) < self.brief.worth(before):
            self.judge.restart(before)
        self._tell()

    def first_come(self, requests: Requests | None) -> Sets:
        """What users get who are served in turn, each if the policy still holds."""
        judge = self._judge()
        judge.restart(self.brief.must)
        wanted = requests.first_come() if requests else ()
        grow(judge, filter(self.brief.allows, wanted), self.end)
        return maximal(judge.sets)

    def _tell(self) -> None:
        now = time.monotonic() - self.begun
        if not self.trace or now - self.trace[-1][0] > EVERY:
            self.trace.append((now, self.brief.worth(self.judge.sets)))

    def settle(self) -> Decision:
        """The verdict on the set by the rules of `assess`; what they do not accept is left out.

        The search may have asked quicker bounds; then the longest start of what was taken in that
        the rules accept is the answer.
        """
        brief, order = self.brief, self.judge.sets
        self.trace.append((time.monotonic() - self.begun, brief.worth(order)))
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
            raise DisclosureError("no margin keeps the policy; relax it, or merge categories.")
        return kept

    def _decide(self, sets: Iterable[int]) -> Decision:
        brief = self.brief
        top = maximal([*brief.must, *sets])
        return decide(brief.table, brief.formula(top), brief.policy)
