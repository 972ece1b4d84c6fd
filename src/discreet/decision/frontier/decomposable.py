"""The largest decomposable release that keeps small cells wide, by simulated annealing.

A decomposable release is the cliques of a chordal graph on the variables; its bounds have a closed
form, so a move from one graph to the next is judged in microseconds (Dobra, Erosheva & Fienberg
2002, section 1.4.1).
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import inf
from typing import TYPE_CHECKING, Any

import numpy as np

from discreet.decision.frontier.decomposable_memory import (
    fresh_memory,
    known_of,
    memory_of,
    no_guess,
    with_own_memory,
    worths,
)
from discreet.decision.frontier.decomposable_most import most_released
from discreet.decision.frontier.decomposable_result import DecomposableFrontier, Restart
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError, DisclosureError
from discreet.intruder.bounds.bounder import bounds
from discreet.release.release import Release
from discreet.spreading import spread
from discreet.table.formula import Formula, as_formula
from discreet.table.graph import Graph
from discreet.table.lattice import bits
from discreet.table.stored_table import StoredTable
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


def decomposable_frontier(
    table: Table | StoredTable,
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
    long, or has taken so many steps. A table on disk is searched there if it is too large to load.

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
    if isinstance(table, StoredTable):
        if not table.fits:
            return _on_disk(
                table, kept, beta, small, restarts, effort, seconds, seed, weights, order
            )
        table = table.loaded()
    search = _search(table, small, beta, order, kept, weights)
    compile_kernels(search)
    clock, steps = Clock.of(seconds), Effort(effort).of(STEPS * k)
    start = _start(search, kept, seed)
    at_most = None if weights else most_released(search, k)
    goal = inf if at_most is None else float(at_most)

    given = (known_of(search), start, steps, clock, goal)
    seeds = [(seed, i) for i in range(restarts)]
    runs = tuple(spread(restart, seeds, given=given, threads=True, memory=memory_of(search)))
    best = max(runs, key=lambda run: run.value)
    formula = Formula(table.names, Graph(best.near).cliques())
    by_order = formula.by_order()
    width = _min_width(search, best.near)
    _confirm(table, formula, small, width, beta)
    return DecomposableFrontier(
        formula, sum(by_order.values()), by_order, width, beta, seed, best.value, runs, at_most
    )


def _on_disk(table: StoredTable, kept: Formula, *rest: Any) -> DecomposableFrontier:
    from discreet.decision.frontier.decomposable_stored import stored_frontier

    beta, small, restarts, effort, seconds, seed, weights, order = rest
    return stored_frontier(
        table,
        kept,
        beta=beta,
        small=small,
        restarts=restarts,
        effort=Effort(effort),
        clock=Clock.of(seconds),
        seed=seed,
        weights=weights,
        order=order,
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
    return Search(rows, fresh_memory(rows), extra, Limits(beta, order, fixed), no_guess())


def _start(search: Search, kept: Formula, seed: int) -> tuple[int, ...]:
    """A safe chordal graph with the margins to keep: no edge if there are none."""
    width = _min_width(search, (0,) * len(kept.names))
    if width is not None and width < search.limits.beta:
        raise DisclosureError(
            f"the one-way margins alone leave a small cell a width of {width}, less than beta = "
            f"{search.limits.beta}; lower beta, or merge categories."
        )
    narrow = -1
    for near in triangulations(kept.graph, np.random.default_rng(seed)):
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


def triangulations(graph: Graph, rng: np.random.Generator) -> Iterable[tuple[int, ...]]:
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


def compile_kernels(search: Search) -> None:
    """Have the kernels compiled, once for all, before the clock starts."""
    from discreet._kernels.chordal import anneal, polish
    from discreet._kernels.watched_counts import FUEL, are_wide

    search.memory.used[FUEL] = 0
    state, orders = _state(search, (0,) * len(search.rows.sizes)), np.zeros((1, 1), np.int64)
    are_wide(search, orders[0, :0])
    polish(search, state, orders)
    anneal(search, state, 0.0, 0.0, state.near, np.zeros((1, 5)), orders, 0, 1.0, 1.0, SHARES, inf)


def restart(
    seed: tuple[int, ...],
    search: Search,
    start: tuple[int, ...],
    steps: int,
    clock: Clock,
    goal: float,
) -> Restart:
    from discreet._kernels.chordal import anneal, polish, worth_of
    from discreet._kernels.watched_counts import FUEL

    search = with_own_memory(search)
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
    public = Release.margins(table.supposing(), formula)
    found = bounds(public, table.small(small), method="closed")
    if found.narrowest != width or (width is not None and width < beta):
        raise DisclosureError(
            f"the search gives the release {formula} a narrowest width of {width} with beta = "
            f"{beta}, its bounds {found.narrowest}; this is a fault of the search, report it."
        )
