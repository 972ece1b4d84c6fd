"""What could be released at most: the searches for a frontier under one policy."""

from __future__ import annotations

import dataclasses
import math
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from functools import cached_property
from typing import Any, get_args

from discreet.decision.frontier.brief import Brief, Sets
from discreet.decision.frontier.strategy import FrontierMethod, Strategy
from discreet.decision.frontier.very_large import VeryLargeStrategy, is_very_large
from discreet.decision.law.assess import large_cells
from discreet.decision.law.case import MORE
from discreet.decision.law.decide import Decision
from discreet.decision.law.policy import Policy
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError
from discreet.intruder.bounds.result import Rung
from discreet.look.result import Paged
from discreet.models.select import ModelSearch
from discreet.release.doors import of_table
from discreet.table.cells import frame
from discreet.table.formula import Formula, as_formula
from discreet.table.lattice import count_by_order, maximal
from discreet.table.table import Table
from discreet.utility.requests import Requests, UserShare

MOST_HELD_BACK = 200
Margins = str | Formula | Iterable[Iterable[str]]


@dataclass(frozen=True, eq=False)
class Frontier(Paged):
    """A closed set of margins that keeps a policy: its maximal margins are the `formula`.

    `listed` is where the greedy list was cut; `maximal` says that no single margin can be added,
    if that was found out; `at_most` is proven: no set of more margins, or of more worth to users,
    keeps the policy. `trace` has the seconds and the worth of each better set, `held_back` margins
    that were tried and left out, each with the rows of the small counts that it would narrow.

    >>> import discreet as dc
    >>> found = dc.frontier(dc.load("example:tract"), beta=3)
    >>> str(found.formula), found.by_order, found.min_width
    ('Gender*Income + Race', {1: 3, 2: 1}, 5)
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
    held_back: Mapping[int, tuple[int, ...]]
    seed: int
    seconds: float
    stopped: str | None = None

    @property
    def beta(self) -> int:
        return int(self.policy.small.width)

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
        """How many small counts have a width that does not reach the asked rung."""
        asked = Rung(self.policy.bounds.proof)
        wanted = Rung.INTEGER if asked is Rung.OUTER else asked
        return int((~self.decision.case.small.bounds.proven(wanted, self.beta)).sum())

    @property
    def rung(self) -> Rung:
        """What all widths reach."""
        return self.decision.case.small.bounds.rung(self.beta)

    @property
    def certified(self) -> bool:
        """Is every width proven by tables: of whole numbers, or as the policy asks for?"""
        return self.unproven == 0

    @property
    def optimal(self) -> bool:
        """Is it proven that no set is worth more?"""
        return self.at_most is not None and self.worth >= self.at_most - 1e-6

    def __repr__(self) -> str:
        best = ", proven best" if self.optimal else ""
        return (
            f"Frontier({self.released:,} margins, {len(self.formula):,} maximal: {self.method}, "
            f"min width {self.min_width} at beta {self.beta}{best}; {self.policy.described}"
            f"{self._beside})"
        )

    @property
    def _beside(self) -> str:
        most = self.decision.release.ceiling
        return "" if most is None else f"; with counts of {most + 1:,} or more"

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet frontier --json` prints."""
        return {
            "released": self.released,
            "stopped": self.stopped,
            "listed": self.listed,
            "by_order": {str(order): n for order, n in self.by_order.items()},
            "frontier": [list(margin) for margin in self.formula.margins],
            "frontier_by_order": {
                str(order): n
                for order, n in sorted(Counter(map(len, self.formula.margins)).items())
            },
            "large": large_cells(self.decision.release),
            "min_width": self.min_width,
            "certified": self.certified,
            "unproven": self.unproven,
            "rung": str(self.rung),
            "maximal": self.maximal,
            "optimal": self.optimal,
            "at_most": self.at_most,
            "worth": self.worth,
            "beta": self.beta,
            "method": self.method,
            "verdict": str(self.decision.verdict),
            "basis": self.decision.basis,
            "reasons": [
                {"rule": r.rule, "verdict": str(r.verdict), "text": r.text}
                for r in self.decision.reasons
            ],
            "users": [vars(share) for share in self.users],
            "first_come": [vars(share) for share in self.first_come],
            "held_back": self._held_back(),
            "model": self._model(),
            "policy": {"name": self.policy.name} | self.policy.to_dict(),
            "seed": self.seed,
            "seconds": round(self.seconds, 3),
        }

    def _held_back(self) -> list[dict[str, Any]]:
        """Margins that were left out, and the small count that each would narrow most."""
        cells, names = self.decision.case.small.cells, self.formula.names
        return [
            {
                "margin": [name for place, name in enumerate(names) if margin >> place & 1],
                "cell": cells.label(rows[0]),
                "cells": len(rows),
            }
            for margin, rows in list(self.held_back.items())[:MOST_HELD_BACK]
            if rows
        ]

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


@of_table
def frontier(
    table: Table,
    *,
    beta: int | None = None,
    small: int | None = None,
    policy: Policy | None = None,
    proof: str | None = None,
    method: FrontierMethod = "best",
    certified: bool = False,
    first: Margins = (),
    released: Margins = (),
    never: Margins = (),
    max_order: int | None = None,
    weights: Mapping[Any, float] | Requests | None = None,
    large: int | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
    seed: int = 0,
) -> Frontier:
    """A large set of margins that keeps the policy, as `assess` judges it.

    With `beta` and no policy, widths alone: small counts keep a width of beta, and no other rule is
    asked. The result says so in its first line.

    `proof` is the policy's `bounds.proof` for this run. With "linear" every small count of the set
    keeps its width by linear bounds: large tables are grown block by block, and margins that narrow
    a count too far are left out (`held_back`).

    `decomposable`: annealing over decomposable releases. `greedy`: the list of margins by critical
    width, cut where the policy breaks (section 1.5 of the 2002 paper). `best`: the better of both,
    then every later margin of the list that still keeps the policy, then exchanges; small tables
    are searched to a proof. `effort` times the usual work; `seconds` only stop, with the best set
    until then. With `certified` nothing rests on outer bounds.
    Tables of dozens of variables are searched by widths alone, up to `max_order`.

    `first` must be in, `released` is out already, `never` may not go, nor what contains it.
    `first="fit"` stands for the margins of a log-linear model that fits the table, as far as the
    policy lets them go. `weights` says what margins are worth to users; others only break ties.

    Every cell with a count of `large` or more is published beside the set, so that the others are
    known to be smaller; the set is judged with both.

    >>> from discreet.table.load import load
    >>> frontier(load("example:tract"), beta=3)
    Frontier(4 margins, 2 maximal: best, min width 5 at beta 3, proven best; widths alone)
    """
    clock = Clock.of(seconds)
    if method not in get_args(FrontierMethod):
        raise DataError(
            f"there is no method {method!r}; choose {', '.join(get_args(FrontierMethod))}."
        )
    alone = policy is None and beta is not None
    names = table.names
    fit = first == "fit" and "fit" not in names
    rules = widths_alone(beta, small) if alone else _asked_for(policy or Policy(), beta, small)
    if proof is not None:
        rules = rules.for_this_run({"bounds.proof": proof})
    requests = Requests.of(weights, names) if isinstance(weights, Mapping) else weights
    brief = Brief(
        table.supposing(),
        rules,
        certified,
        must=maximal([*_sets(() if fit else first, names), *_sets(released, names)]),
        never=_sets(never, names),
        max_order=max_order,
        weights=requests.weights() if requests else {},
        large=large,
    )
    brief.check()
    if alone and not len(brief.cells):
        most, seen = brief.policy.small.most, table.axes.names_of(table.axes.identifying)
        of = f" of {', '.join(seen)}, which alone can identify," if len(seen) < len(names) else ""
        raise DataError(f"the table{of} has no count of 1 to {most}: every margin keeps any width.")
    if large is not None and is_very_large(brief):
        raise DataError(
            "a table this large is searched by widths alone, without cells beside its margins; "
            "leave out `large`, or merge categories."
        )
    kind = VeryLargeStrategy if is_very_large(brief) else Strategy
    search = kind(brief, Effort(effort), clock, seed)
    search.begin()
    if fit:
        search.fit()
    brief = search.brief
    search.run(method)
    decision = search.settle()
    sets = decision.release.formula.sets
    count = sum(count_by_order(sets).values())
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
        search.held_back,
        seed,
        clock.spent,
        clock.sentence(f"the best set until then has {count:,} margins", MORE),
    )


def widths_alone(beta: int | None = None, small: int | None = None) -> Policy:
    """The rule of the 2002 paper and no other: small counts keep a width."""
    alone = Policy().change({"attribute.check": False, "published.least": 0})
    return _asked_for(dataclasses.replace(alone, name="widths alone"), beta, small)


def _asked_for(policy: Policy, beta: int | None, small: int | None) -> Policy:
    changes = {"small.width": beta, "small.most": small}
    return policy.for_this_run({key: v for key, v in changes.items() if v is not None})


def _sets(margins: Margins, names: tuple[str, ...]) -> Sets:
    return as_formula(margins, names).sets if margins else ()
