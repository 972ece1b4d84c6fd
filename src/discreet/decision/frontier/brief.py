"""What is asked of a frontier: the rules it must keep, and what each margin is worth."""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations

import numpy as np
from numpy.typing import NDArray

from discreet.decision.frontier.widths import MOST_MARGINS, widths
from discreet.decision.law.policy import Policy
from discreet.errors import DataError, DisclosureError
from discreet.release.release import Release
from discreet.risk.release.sample import watched
from discreet.risk.release.small import observable
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.lattice import count_by_order, maximal
from discreet.table.table import Table

Sets = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Brief:
    """The table, the policy, and the wishes of a search; margins are bit sets.

    Where codings were found, the table is the one that supposes them (`Table.supposing`), whose
    bounds are the narrowest; `decide` judges what comes of it without them, too.

    `must` is in every answer, `never` and what contains it in none. `weights` are the wishes of
    users: margins without one only break ties. Cells with a count of `large` or more are published
    beside every answer.
    """

    table: Table
    policy: Policy
    certified: bool = False
    must: Sets = ()
    never: Sets = ()
    max_order: int | None = None
    weights: Mapping[int, float] = field(default_factory=dict)
    large: int | None = None
    _counts: dict[int, NDArray[np.int32]] = field(default_factory=dict, init=False, repr=False)

    @cached_property
    def cells(self) -> Cells:
        """The small counts to guard, of what can be observed."""
        most, rule = self.policy.small.most, self.policy.sample
        if rule.check:
            return watched(self.table, most, chance=rule.chance, model=rule.model).cells
        seen = observable(self.table)
        return seen.small(most) if seen.variables else seen.small(0)

    @property
    def stated(self) -> Brief:
        """The same where nothing is impossible but what was stated."""
        return replace(self, table=self.table.supposing(()))

    def allows(self, margin: int) -> bool:
        """May the margin go at all?"""
        short = self.max_order is None or margin.bit_count() <= self.max_order
        return short and not any(banned & ~margin == 0 for banned in self.never)

    @cached_property
    def candidates(self) -> Sets:
        """The margins that could keep beta by themselves, in the order of the greedy list.

        Decreasing critical width, among equals the higher order, then the larger bit set. The
        critical width takes all one-way margins for granted, and some of them may never go: it
        orders the list and rules nothing out. What somebody cannot observe adds nothing to the
        width of a margin.
        """
        table, beta = self.table, self.policy.small.width
        seen = observable(table)
        inside = table.axes.places(seen.names)
        width = {0: table.total}
        if len(self.cells):
            # of a sample not every small count is guarded: only the judge knows which margins go
            beta = 0 if self.policy.sample.check else beta
            known = widths(
                seen,
                small=self.policy.small.most,
                max_order=self._order(len(inside)),
                beta=beta or None,
            )
            rows = zip(known.sets, known.width.tolist(), known.alone.tolist(), strict=True)
            for s, w, alone in rows:
                if alone >= beta:
                    width[seen.axes.within(s, table.axes)] = w
        else:
            self._check_number(len(inside))
            width |= dict.fromkeys(_subsets(inside, self.max_order), table.total)
        outside = [p for p in range(len(table.names)) if p not in inside]
        if len(width) << len(outside) > MOST_MARGINS and self.max_order is None:
            raise DataError(
                f"more than {MOST_MARGINS:,} margins would have to be tried; set a highest order."
            )
        extra = (0, *_subsets(outside, self.max_order))
        ranked = [(-w, -(s | t).bit_count(), -(s | t)) for s, w in width.items() for t in extra]
        return tuple(-s for _, _, s in sorted(ranked) if s and self.allows(-s))

    def counts_at_small(self, margin: int) -> NDArray[np.int32]:
        """The counts of a margin at the small cells."""
        if margin not in self._counts:
            cells = self.cells
            names = [name for name in self.named([margin])[0] if name in cells.names]
            codes = cells.codes[:, cells.axes.places(names)]
            self._counts[margin] = self.table.margin(names).lookup(codes).astype(np.int32)
        return self._counts[margin]

    @cached_property
    def gentle_first(self) -> Sets:
        """The candidates by how many people they leave beside each small count.

        The critical width looks at one cell; sum of n_C^-2 over the small cells at all of them.
        Taken in this order, more margins find room.
        """

        def pressure(margin: int) -> float:
            return float((self.counts_at_small(margin).astype(float) ** -2).sum())

        return tuple(sorted(self.candidates, key=lambda s: (pressure(s), -s.bit_count(), -s)))

    def _order(self, variables: int) -> int | None:
        return None if self.max_order is None else min(self.max_order, variables)

    def _check_number(self, variables: int) -> None:
        order = self.max_order or variables
        if sum(math.comb(variables, d) for d in range(order + 1)) > MOST_MARGINS:
            raise DataError(
                f"more than {MOST_MARGINS:,} margins would have to be tried; set a highest order."
            )

    @cached_property
    def value(self) -> dict[int, float]:
        """What margins count that count more than 1: the least wish outweighs all ties."""
        wished = {s: w for s, w in self.weights.items() if w > 0}
        if not wished:
            return {}
        unit = len(self.candidates) / min(wished.values())
        return {s: 1 + w * unit for s, w in wished.items()}

    def worth(self, sets: Iterable[int]) -> float:
        """The worth of a closed set, given by any of its margins that hold the rest."""
        top = maximal(sets)
        wished = sum(v - 1 for s, v in self.value.items() if any(s & ~t == 0 for t in top))
        return sum(count_by_order(top).values()) + wished

    def wished(self) -> Sets:
        """The margins with a weight that may go, heaviest first."""
        may = set(self.candidates)
        ranked = sorted(self.value, key=lambda s: (-self.value[s], s.bit_count(), s))
        return tuple(s for s in ranked if s in may)

    def named(self, sets: Iterable[int]) -> list[list[str]]:
        return [list(self.table.axes.names_of(s)) for s in sets]

    def formula(self, sets: Iterable[int]) -> Formula:
        return Formula(self.table.names, maximal(sets))

    def release(self, sets: Iterable[int]) -> Release:
        """The margins, or the total alone, and the large cells."""
        formula = self.formula(sets)
        if formula.sets:
            found = Release.margins(self.table, formula)
        else:
            total = self.table.margin(())
            found = Release(self.table.variables, (total,)).excluding(self.table)
        return found if self.large is None else found.with_large(self.table, self.large)

    def check(self) -> None:
        """Refuse wishes that contradict each other."""
        for margin in self.must:
            name = str(self.formula([margin]))
            if self.max_order is not None and margin.bit_count() > self.max_order:
                raise DisclosureError(
                    f"{name} must be in, but has more than {self.max_order} variables; raise the "
                    "highest order, or leave it out."
                )
            if not self.allows(margin):
                raise DisclosureError(
                    f"{name} must be in and contains a margin that may never go; drop one of both."
                )


def _subsets(places: Sequence[int], most: int | None) -> list[int]:
    orders = range(1, min(len(places), most or len(places)) + 1)
    return [sum(1 << p for p in chosen) for d in orders for chosen in combinations(places, d)]
