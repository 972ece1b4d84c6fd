"""The largest decomposable release that keeps small cells wide, by simulated annealing.

A decomposable release is the cliques of a chordal graph on the variables; its bounds have a closed
form, so a move from one graph to the next is judged in microseconds (Dobra, Erosheva & Fienberg
2002, section 1.4.1).
"""

from __future__ import annotations

import os
from collections.abc import Iterable, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass, field
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.decision.frontier.decomposable_memory import fresh_memory, with_own_memory, worths
from discreet.decision.frontier.decomposable_most import most_released
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, DisclosureError
from discreet.intruder.bounds.bounder import bounds
from discreet.look.result import Result
from discreet.release.release import Release
from discreet.table.cells import frame
from discreet.table.formula import Formula, as_formula
from discreet.table.graph import Graph
from discreet.table.lattice import bits
from discreet.table.table import Table

if TYPE_CHECKING:
    from discreet._kernels.chordal import State
    from discreet._kernels.watched_counts import Search

MOST_VARIABLES = 60
SHORT, LONG = 100, 12_800  # steps of the first cooling, for each variable; then twice as many
STEPS = 400_000  # of a restart, for each variable
PATIENCE = 25  # long coolings without a better release before a restart ends
HOT, COLD = 1.0, 0.02  # temperatures, in units of the worth that a variable brings
SHARES = (0.35, 0.9)  # edges, then vertices, the rest swaps
ORDERS = 256
TRIANGULATIONS = 64
FUEL_AT_LEAST = 100


@dataclass(frozen=True)
class Restart:
    """One search: its seed, what it reached, after how many steps, and the best by step."""

    seed: tuple[int, int]
    value: float
    steps: int
    finished: bool
    trace: tuple[tuple[int, float], ...] = field(repr=False)
    near: tuple[int, ...] = field(repr=False)


@dataclass(frozen=True, eq=False)
class DecomposableFrontier(Result):
    """The maximal margins of the best decomposable release found.

    `at_most` is proven: no decomposable release with these limits has more margins (None where no
    proof was tried). Restarts that are not `finished` were cut by the time limit; the answer to a
    seed is the same every time as long as none is.

    >>> import discreet as dc
    >>> found = dc.frontiers.decomposable_frontier(dc.load("example:czech"), beta=3)
    >>> str(found.formula), found.released, found.optimal
    ('A*B*C*D*E + A*B*C*D*F', 47, True)
    """

    formula: Formula
    released: int
    by_order: dict[int, int]
    min_width: int | None
    beta: int
    seed: int
    value: float
    restarts: tuple[Restart, ...] = field(repr=False)
    at_most: int | None = None

    @property
    def reached(self) -> int:
        """How many restarts reached the best value."""
        return sum(bool(np.isclose(run.value, self.value, rtol=1e-9)) for run in self.restarts)

    @property
    def optimal(self) -> bool:
        """Whether it is proven that no decomposable release has more margins."""
        return self.released == self.at_most

    @property
    def finished(self) -> bool:
        """Whether every restart ended by itself, not by the time limit."""
        return all(run.finished for run in self.restarts)

    @property
    def trace(self) -> tuple[tuple[int, float], ...]:
        """The best value by step, of the restart whose release this is."""
        return max(self.restarts, key=lambda run: run.value).trace

    def __repr__(self) -> str:
        possible = 2 ** len(self.formula.names) - 1
        width = "" if self.min_width is None else f", narrowest width {self.min_width}"
        proof = "proven best, " if self.optimal else ""
        return (
            f"DecomposableFrontier({self.released:,} of {possible:,} margins, "
            f"{len(self.formula)} maximal{width}: {proof}"
            f"{self.reached} of {len(self.restarts)} restarts)"
        )

    def to_frame(self, kind: str = "pandas") -> Any:
        """One row a maximal margin."""
        margins = self.formula.margins
        columns = {"margin": list(map("*".join, margins)), "order": list(map(len, margins))}
        return frame(columns, kind)

    def plot(self, **options: Any) -> Any:
        """The best found by step, a line a restart."""
        from discreet.look.frontiercharts import trace_chart

        measure = "margins" if self.value == self.released else "worth"
        traces = [run.trace for run in self.restarts]
        return trace_chart(traces, **{"measure": measure, "at_most": self.at_most} | options)

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet frontier --json` prints."""
        return {
            "released": self.released,
            "listed": None,
            "by_order": {str(order): n for order, n in self.by_order.items()},
            "frontier": [list(margin) for margin in self.formula.margins],
            "min_width": self.min_width,
            "certified": True,
            "beta": self.beta,
            "at_most": self.at_most,
            "seed": self.seed,
            "restarts": len(self.restarts),
            "reached": self.reached,
            "finished": self.finished,
        }


def decomposable_frontier(
    table: Table,
    *,
    beta: int = 3,
    small: int = 2,
    restarts: int = 5,
    effort: float = 1.0,
    seconds: Seconds = inf,
    seed: int = 0,
    first: str | Formula | Iterable[Iterable[str]] = (),
    weights: Mapping[int, float] | None = None,
    max_order: int | None = None,
) -> DecomposableFrontier:
    """The decomposable release of most margins in which small cells keep a width of `beta`.

    All one-way margins are in, and those of `first`. `weights` gives margins, as bit sets, another
    worth than 1; `max_order` limits the variables of a margin. Each restart cools down again and
    again, and ends when it reaches what is proven to be the most, or finds nothing better for
    long, or has taken so many steps.

    >>> from discreet.table.load import load
    >>> decomposable_frontier(load("example:czech"), beta=3)
    DecomposableFrontier(47 of 63 margins, 2 maximal, narrowest width 3: proven best, 5 of 5
    restarts)
    """
    k = len(table.names)
    order = k if max_order is None else max_order
    _check(k, beta, seed, small=small, restarts=restarts, max_order=order)
    kept = as_formula(first, table.names) if first else Formula(table.names, ())
    if long := [margin for margin in kept.margins if len(margin) > order]:
        raise DisclosureError(
            f"{'*'.join(long[0])} is to be released first, but it has {len(long[0])} variables and "
            f"max_order is {order}; raise max_order or leave it out."
        )
    search = _search(table, small, beta, order, kept, weights)
    _compile(search)
    clock, steps = Clock.of(seconds), Effort(effort).of(STEPS * k)
    start = _start(search, kept, seed)
    at_most = None if weights else most_released(search, k)
    goal = inf if at_most is None else float(at_most)

    def run(i: int) -> Restart:
        return _restart(with_own_memory(search), start, (seed, i), steps, clock, goal)

    with ThreadPoolExecutor(min(restarts, os.cpu_count() or 1)) as pool:
        runs = tuple(pool.map(run, range(restarts)))
    best = max(runs, key=lambda run: run.value)
    formula = Formula(table.names, Graph(best.near).cliques())
    by_order = formula.by_order()
    width = _min_width(search, best.near)
    _confirm(table, formula, small, width, beta)
    return DecomposableFrontier(
        formula, sum(by_order.values()), by_order, width, beta, seed, best.value, runs, at_most
    )


def _check(k: int, beta: int, seed: int, **positive: int) -> None:
    if not 1 <= k <= MOST_VARIABLES:
        raise DataError(
            f"the search takes tables of 1 to {MOST_VARIABLES} variables, not {k}; take a margin."
        )
    for name, value in positive.items():
        if value < 1:
            raise DisclosureError(f"{name} is {value}; give at least 1.")
    for name, value in {"beta": beta, "seed": seed}.items():
        if value < 0:
            raise DisclosureError(f"{name} is {value}; give 0 or more.")


# What the search works on


def _search(
    table: Table,
    small: int,
    beta: int,
    order: int,
    kept: Formula,
    weights: Mapping[int, float] | None,
) -> Search:
    from discreet._kernels.watched_counts import Limits, Rows, Search

    first = np.argsort(table.counts > small, kind="stable")
    rows = Rows(
        np.ascontiguousarray(table.codes[first].T),
        np.array(table.shape, np.int64),
        table.counts[first].astype(np.int32 if table.total < 2**31 else np.int64),
        np.arange((table.counts <= small).sum()),
    )
    fixed = np.array(kept.graph.neighbours, np.int64)
    extra = worths(weights or {}, len(table.names))
    return Search(rows, fresh_memory(rows), extra, Limits(beta, order, fixed))


def _start(search: Search, kept: Formula, seed: int) -> tuple[int, ...]:
    """A safe chordal graph with the margins to keep: no edge if there are none."""
    width = _min_width(search, (0,) * len(kept.names))
    if width is not None and width < search.limits.beta:
        raise DisclosureError(
            f"the one-way margins alone leave a small cell a width of {width}, less than beta = "
            f"{search.limits.beta}; lower beta, or merge categories."
        )
    narrow = -1
    for near in _triangulations(kept.graph, np.random.default_rng(seed)):
        width = _min_width(search, near)
        too_long = any(s.bit_count() > search.limits.order for s in Graph(near).cliques())
        if not too_long and (width is None or width >= search.limits.beta):
            return near
        narrow = max(narrow, -1 if too_long or width is None else width)
    left = f"leaves a small cell a width of {narrow}" if narrow >= 0 else "breaks max_order"
    raise DisclosureError(
        f"the release {kept}, made decomposable, {left}; beta is {search.limits.beta} and "
        f"max_order {search.limits.order}. Release less of it first, or lower beta."
    )


def _triangulations(graph: Graph, rng: np.random.Generator) -> Iterable[tuple[int, ...]]:
    """The graph, if it is chordal; else chordal graphs with few edges more."""
    if graph.is_chordal:
        yield graph.neighbours
        return
    k = len(graph.neighbours)
    for _ in range(TRIANGULATIONS):
        there = rng.permutation(k)
        back = np.argsort(there)
        moved = Graph(tuple(_relabel(graph.neighbours[p], there) for p in back))
        filled = moved.minimal_triangulation().neighbours
        yield tuple(_relabel(filled[there[p]], back) for p in range(k))


def _relabel(s: int, places: Sequence[int] | np.ndarray[Any, Any]) -> int:
    return sum(1 << int(places[p]) for p in bits(s))


# The search


def _state(search: Search, near: Sequence[int]) -> State:
    from discreet._kernels.chordal import State, floor_of

    floor = np.zeros(len(search.rows.watched), np.int64)
    state = State(np.array(near, np.int64), floor, np.zeros_like(floor))
    floor_of(search, state.near, floor)
    return state


def _compile(search: Search) -> None:
    """Have the kernels compiled, once for all, before the clock starts."""
    from discreet._kernels.chordal import anneal, polish
    from discreet._kernels.watched_counts import FUEL, are_wide

    search.memory.used[FUEL] = 0
    state, orders = _state(search, (0,) * len(search.rows.sizes)), np.zeros((1, 1), np.int64)
    are_wide(search, orders[0, :0])
    polish(search, state, orders)
    anneal(search, state, 0.0, 0.0, state.near, np.zeros((1, 5)), orders, 0, 1.0, 1.0, SHARES, inf)


def _restart(
    search: Search,
    start: tuple[int, ...],
    seed: tuple[int, int],
    steps: int,
    clock: Clock,
    goal: float,
) -> Restart:
    from discreet._kernels.chordal import anneal, polish, worth_of
    from discreet._kernels.watched_counts import FUEL

    k, rng = len(start), np.random.default_rng(seed)
    orders = rng.permuted(np.tile(np.arange(k), (ORDERS, 1)), axis=1)
    fuel = max(FUEL_AT_LEAST, 10_000_000 // max(len(search.rows.counts), 1))  # tenths of a second
    search.memory.used[FUEL] = fuel
    state = _state(search, start)
    value = worth_of(search.extra, state.near) + polish(search, state, orders[:1])
    top, best, scale = value, state.near.copy(), max(value, 1.0) / k
    length = SHORT * k
    done, quiet, trace = 0, 0 if k > 1 else PATIENCE, [(0, value)]
    while quiet < PATIENCE and top < goal:
        draws, at, before = rng.random((length, 5)), 0, top
        while at < length and top < goal:
            if done >= steps or clock.over():
                break
            search.memory.used[FUEL] = fuel
            hot, cold = HOT * scale, COLD * scale
            value, higher, after = anneal(
                search, state, value, top, best, draws, orders, at, hot, cold, SHARES, goal
            )
            if higher > top:
                trace.append((done + after - at, higher))
            top, at, done = higher, after, done + after - at
        if at < length and top < goal:
            break
        value = worth_of(search.extra, state.near)  # weights round
        quiet = 0 if top > before or length < LONG * k else quiet + 1
        length = min(2 * length, LONG * k)
    search.memory.used[FUEL] = fuel
    state = _state(search, best.tolist())
    polish(search, state, orders[:4])
    top = worth_of(search.extra, state.near)
    trace.append((done, top))
    finished = quiet >= PATIENCE or top >= goal
    return Restart(seed, top, done, finished, tuple(trace), tuple(map(int, state.near)))


def _min_width(search: Search, near: Sequence[int]) -> int | None:
    """The narrowest width over the small cells, from scratch."""
    from discreet._kernels.chordal import ceiling_of

    state = _state(search, near)
    ceiling_of(search, state.near, state.trial)
    widths = state.trial - np.maximum(state.floor, 0)
    return int(widths.min()) if len(widths) else None


def _confirm(table: Table, formula: Formula, small: int, width: int | None, beta: int) -> None:
    """Bound the small cells another way, from the release alone."""
    found = bounds(Release.margins(table, formula), table.small(small), method="closed")
    if found.narrowest != width or (width is not None and width < beta):
        raise DisclosureError(
            f"the search gives the release {formula} a narrowest width of {width} with beta = "
            f"{beta}, its bounds {found.narrowest}; this is a fault of the search, report it."
        )
