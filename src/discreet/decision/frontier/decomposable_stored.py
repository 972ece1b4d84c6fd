"""The search for a decomposable release of a table that stays on disk.

The annealing of `decomposable` asks of a set of variables only whether it is wide. Here most of its
answers are guesses from the margins of up to three variables; what it finds is then counted, and it
searches again with what was learnt, until nothing new is asked or the counting is spent. The last
search takes counted margins alone, and every small cell is judged at the end, from the parts.

At a small cell x the lower bound is never above its count n(x) <= small. So where n_C >= beta +
small at all small cells, for every clique C, the width is kept whatever the lower bounds are: this
is asked if what is found with n_C >= beta turns out to be too narrow.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from math import inf
from typing import TYPE_CHECKING

import numpy as np

from discreet.decision.frontier.decomposable import compile_kernels, restart, triangulations
from discreet.decision.frontier.decomposable_facts import Facts
from discreet.decision.frontier.decomposable_memory import (
    fresh_memory,
    known_of,
    memory_of,
    worths,
)
from discreet.decision.frontier.decomposable_result import DecomposableFrontier, Restart
from discreet.decision.frontier.decomposed_widths import narrowest_width
from discreet.decision.frontier.small_sums import MappedSums
from discreet.decision.frontier.widths import by_level, widths_of
from discreet.effort import Clock, Effort
from discreet.errors import DataError, DisclosureError
from discreet.look.progress import working
from discreet.spreading import spread
from discreet.table.bitmaps import BitMaps
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.impossible import spelled
from discreet.table.stored_table import StoredTable

if TYPE_CHECKING:
    from discreet._kernels.watched_counts import Guess, Search

MARGINS = 600  # counted beyond those of three variables
STEPS, LAST_STEPS = 6_000, 50_000  # of a round, and of the last one, for each variable
ROUNDS = 100
# the least of many cells is some way below what is expected of it: in logs
HOPE, MORE_HOPE, MOST_HOPE = -2.25, 0.25, 0.5

Near = tuple[int, ...]


def stored_frontier(
    table: StoredTable,
    kept: Formula,
    *,
    beta: int,
    small: int,
    restarts: int,
    effort: Effort,
    clock: Clock,
    seed: int,
    weights: Mapping[int, float] | None,
    order: int,
) -> DecomposableFrontier:
    """The best decomposable release found, with its narrowest width as all small cells have it."""
    _check(table)
    with BitMaps.of(table, small) as maps:
        if not maps.small_cells:
            raise DisclosureError(
                f"the table has no count from 1 to {small}: every margin keeps any width."
            )
        facts = _counted(maps, beta)
        rounds = _Rounds(facts, kept, restarts, effort, clock, seed, weights, order)
        for bar in (beta, beta + small):
            facts.bar = bar
            near, runs = rounds.run()
            width = narrowest_width(table, near, small)
            if width >= beta:
                break
        else:
            near = rounds.start
            width = narrowest_width(table, near, small)
    if width < beta:
        raise DisclosureError(
            f"the release {kept}, made decomposable, leaves a small cell a width of {width}, less "
            f"than beta = {beta}. Release less of it first, or lower beta."
        )
    formula = Formula(table.names, Graph(near).cliques())
    by_order = formula.by_order()
    at_most = None if weights else _of_any_table(len(table.names), order)
    value = rounds.worth(near)
    return DecomposableFrontier(
        formula, sum(by_order.values()), by_order, width, beta, seed, value, runs, at_most
    )


def _check(table: StoredTable) -> None:
    """Refuse what widths on disk do not know of."""
    if table.impossible:
        raise DataError(
            f"nobody can have {spelled(table.impossible[0])}, which is out of reach of the search "
            "on disk; leave one of these variables out."
        )
    if found := [coding for coding in table.codings if not coding.denied]:
        raise DataError(
            f"{found[0].seen}, which is out of reach of the search on disk; leave one of these "
            "variables out."
        )
    if other := [v.name for v in table.variables if not v.role.identifies]:
        raise DataError(
            f"{other[0]!r} does not identify, and a table on disk is searched over identifying "
            "variables alone; store the table without the others."
        )


def _counted(maps: BitMaps, beta: int) -> Facts:
    """All margins of up to three variables; refused if the one-way margins alone are too much."""
    sums = MappedSums(maps)
    levels, low, high = by_level(sums, min(3, sums.variables), None)
    width = int(widths_of(sums, low, high, *levels[0]).min())
    if width < beta:
        raise DisclosureError(
            f"the one-way margins alone leave a small cell a width of {width}, less than beta = "
            f"{beta}; lower beta, or merge categories."
        )
    return Facts(maps, beta, [(lists, least) for lists, least, _ in levels])


def _of_any_table(k: int, order: int) -> int | None:
    """No variable has more neighbours before it than the order lets it have."""
    return sum(1 << min(q, order - 1) for q in range(k)) if order < k else None


class _Rounds:
    """Search, count what was found, search again."""

    def __init__(
        self,
        facts: Facts,
        kept: Formula,
        restarts: int,
        effort: Effort,
        clock: Clock,
        seed: int,
        weights: Mapping[int, float] | None,
        order: int,
    ) -> None:
        self.facts, self.kept, self.restarts = facts, kept, restarts
        self.clock, self.seed, self.order = clock, seed, order
        self.left, self.effort = effort.of(MARGINS), effort
        self.extra = worths(weights or {}, facts.variables)
        compile_kernels(self._search(facts.guess()))
        self.start = self._start()

    def run(self) -> tuple[Near, tuple[Restart, ...]]:
        """The best release of counted margins, and the last searches."""
        facts = self.facts
        best = self.start
        facts.hope = HOPE
        for number in range(ROUNDS):
            if self.left <= 0 or self.clock.over():
                break
            runs = self._anneal(best, (self.seed, number), STEPS, facts.guess())
            learnt = self._count(s for run in runs for s in Graph(run.near).cliques())
            best = self._better(best, [run for run in runs if self._is_counted(run.near)])
            narrow = sum(not facts.is_wide(s) for s in learnt)
            if 2 * narrow > len(learnt):
                facts.hope -= MORE_HOPE
            elif 4 * narrow <= len(learnt):
                facts.hope += MORE_HOPE
            if facts.hope > MOST_HOPE:
                break
        runs = self._anneal(best, (self.seed, ROUNDS), LAST_STEPS, facts.guess(open_mind=False))
        runs = tuple(replace(run, finished=not self.clock.stopped) for run in runs)
        return self._better(best, runs), runs

    def _start(self) -> Near:
        """A chordal graph with the margins to keep, of counted wide margins."""
        for near in triangulations(self.kept.graph, np.random.default_rng(self.seed)):
            cliques = Graph(near).cliques()
            if all(s.bit_count() <= self.order for s in cliques):
                self._count(cliques)
                if all(self.facts.is_wide(s) for s in cliques):
                    return near
        raise DisclosureError(
            f"the release {self.kept}, made decomposable, leaves a small cell a width below "
            f"{self.facts.bar} or breaks max_order. Release less of it first, or lower beta."
        )

    def _anneal(
        self, start: Near, seed: tuple[int, int], steps: int, guess: Guess
    ) -> tuple[Restart, ...]:
        search, k = self._search(guess), self.facts.variables
        items = [(*seed, i) for i in range(self.restarts)]
        given = (known_of(search), start, self.effort.of(steps * k), self.clock, inf)
        with working("searching for decomposable releases"):
            memory = memory_of(search)
            return tuple(spread(restart, items, given=given, threads=True, memory=memory))

    def _search(self, guess: Guess) -> Search:
        from discreet._kernels.watched_counts import Limits, Rows, Search

        k = self.facts.variables
        none = np.empty(0, np.int64)
        rows = Rows(np.empty((k, 0), np.uint8), self.facts.maps.sizes, none, none)
        fixed = np.array(self.kept.graph.neighbours, np.int64)
        limits = Limits(max(self.facts.bar, 1), self.order, fixed)
        return Search(rows, fresh_memory(rows), self.extra, limits, guess)

    def _count(self, sets: Iterable[int]) -> list[int]:
        """Count those that are not known, as far as counting goes; which they are."""
        unknown = [s for s in dict.fromkeys(sets) if self.facts.is_wide(s) is None]
        some = unknown[: max(self.left, 0)]
        self.facts.count(some)
        self.left -= len(some)
        return some

    def _is_counted(self, near: Near) -> bool:
        return all(self.facts.is_wide(s) for s in Graph(near).cliques())

    def _better(self, best: Near, runs: Sequence[Restart]) -> Near:
        return max([best, *(run.near for run in runs)], key=self.worth)

    def worth(self, near: Near) -> float:
        from discreet._kernels.chordal import worth_of

        return float(worth_of(self.extra, np.array(near, np.int64)))
