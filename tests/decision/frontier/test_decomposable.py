"""The search for decomposable frontiers: against brute force, and laws of its moves."""

import itertools
import json

import numpy as np
import pytest

from discreet._kernels import chordal, watched_counts
from discreet.data.codebook import Variable
from discreet.decision.frontier import decomposable, decomposable_most
from discreet.decision.frontier.decomposable import decomposable_frontier
from discreet.errors import DataError, DisclosureError
from discreet.intruder.bounds.bounder import bounds
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.lattice import closure
from discreet.table.load import load
from discreet.table.table import Table


def random_table(shape, seed, total):
    """Counts that lean to the first categories, so that some cells are small and some large."""
    rng = np.random.default_rng(seed)
    chance = 1.0
    for axis, size in enumerate(shape):
        share = np.sort(rng.dirichlet(np.ones(size)))[::-1]
        chance = chance * share.reshape([-1 if i == axis else 1 for i in range(len(shape))])
    counts = rng.multinomial(total, np.ravel(chance)).reshape(shape)
    return Table.of(counts, **{f"v{i}": range(size) for i, size in enumerate(shape)})


def width(table, cliques, small=2):
    release = Release.margins(table, Formula(table.names, tuple(cliques)))
    narrowest = bounds(release, table.small(small), method="closed").narrowest
    return np.inf if narrowest is None else narrowest


def chordal_graphs(k):
    pairs = [1 << a | 1 << b for a, b in itertools.combinations(range(k), 2)]
    for chosen in itertools.product([False, True], repeat=len(pairs)):
        graph = Graph.of(itertools.compress(pairs, chosen), k)
        if graph.is_chordal:
            yield graph.cliques()


ALL_FOUR = list(chordal_graphs(4))


def brute_force(table, beta, worth=lambda s: 1):
    safe = [cliques for cliques in ALL_FOUR if width(table, cliques) >= beta]
    return max((sum(map(worth, closure(cliques))) for cliques in safe), default=None)


def test_there_are_61_decomposable_graphs_on_four_vertices():
    assert len(ALL_FOUR) == 61


@pytest.mark.parametrize("order", [1, 2, 3])
def test_a_limited_order_limits_every_table(order, monkeypatch):
    monkeypatch.setattr(decomposable_most, "MOST_WORK", 0)
    short = [cliques for cliques in ALL_FOUR if max(map(int.bit_count, cliques)) <= order]
    found = decomposable_frontier(random_table((2, 2, 2, 2), 1, 3000), beta=1, max_order=order)
    assert found.at_most == max(len(closure(cliques)) for cliques in short)
    assert found.released <= found.at_most


@pytest.mark.parametrize("seed", range(12))
def test_against_brute_force(seed):
    shape = [(2, 2, 2, 2), (3, 2, 2, 2), (2, 3, 4, 2)][seed % 3]
    table = random_table(shape, seed, [60, 200, 1000][seed // 3 % 3])
    beta = 2 + seed % 4
    best = brute_force(table, beta)
    if best is None:
        with pytest.raises(DisclosureError, match="one-way margins alone"):
            decomposable_frontier(table, beta=beta)
        return
    found = decomposable_frontier(table, beta=beta, restarts=2)
    assert found.released == len(closure(found.formula.sets)) == best
    assert found.formula.is_decomposable
    assert width(table, found.formula.sets) == (found.min_width or np.inf) >= beta
    assert found.at_most >= best
    assert found.finished


@pytest.mark.parametrize("seed", range(3))
def test_weights_against_brute_force(seed):
    table = random_table((2, 2, 3, 2), seed, 400)
    weights = dict(enumerate(np.random.default_rng(seed).gamma(0.5, 4, 12).tolist(), 3))
    found = decomposable_frontier(table, beta=3, restarts=1, weights=weights)
    best = brute_force(table, 3, lambda s: weights.get(s, 1))
    assert found.value == pytest.approx(best)
    assert sum(weights.get(s, 1) for s in closure(found.formula.sets)) == pytest.approx(best)
    assert found.at_most is None


def search_on(table, beta, slots=None, weights=None, first=()):
    kept = Formula.of(first, table.names)
    search = decomposable._search(table, 2, beta, len(table.names), kept, weights)
    if slots:
        memory = search.memory
        search = search._replace(
            memory=memory._replace(values=memory.values[:slots], owners=memory.owners[:slots])
        )
    return search


@pytest.mark.parametrize("slots", [None, 4], ids=["all in memory", "four sets in memory"])
@pytest.mark.parametrize("beta", [1, 3])
def test_moves_keep_the_graph_chordal_and_the_sums_right(slots, beta):
    table = random_table((2, 3, 2, 2, 2, 3, 2, 2), 7, 3000)
    weights = {0b11: 3.0, 0b111: 0.25, 0b1100: 0.0}
    search = search_on(table, beta, slots, weights)
    k, rng = 8, np.random.default_rng(3)
    state = decomposable._state(search, (0,) * k)
    value, moved = float(k), np.zeros(4, int)
    for _ in range(600):
        u, v = map(int, rng.choice(k, 2, replace=False))
        budget = -np.log(rng.random()) * 10
        kind = int(rng.choice([0, 1, 3]))
        if kind == 0 and state.near[u] >> v & 1:
            kind, change = 2, chordal.delete_edge(search, state, u, v, budget)
        elif kind == 0:
            change = chordal.add_edge(search, state, u, v)
        elif kind == 1:
            change = chordal.move_vertex(search, state, u, v, rng.permutation(k), budget)
        else:
            change = chordal.swap_vertices(search, state, u, v, budget)
        if np.isnan(change):
            continue
        value += change
        moved[kind] += 1
        graph = Graph(tuple(map(int, state.near)))
        again = decomposable._state(search, graph.neighbours)
        assert graph.is_chordal
        assert np.array_equal(state.floor, again.floor)
        assert value == pytest.approx(
            sum(weights.get(s, 1) for s in closure(graph.cliques())), abs=1e-9
        )
        release = Release.margins(table, Formula(table.names, graph.cliques()))
        true = bounds(release, table.small(), method="closed")
        ceiling = np.empty_like(state.floor)
        chordal.ceiling_of(search, state.near, ceiling)
        assert np.array_equal(np.maximum(state.floor, 0), true.lower)
        assert np.array_equal(ceiling, true.upper)
        assert true.narrowest >= beta
    assert moved.min() >= 5


def test_what_is_refused_is_illegal_or_unsafe():
    """An added edge is refused only if the graph is not chordal or a width falls below beta."""
    table = random_table((2, 3, 2, 2, 3, 2), 2, 1500)
    search = search_on(table, 4)
    rng, k, refused = np.random.default_rng(0), 6, 0
    state = decomposable._state(search, (0,) * k)
    for _ in range(300):
        u, v = map(int, rng.choice(k, 2, replace=False))
        before = Graph(tuple(map(int, state.near)))
        if before.neighbours[u] >> v & 1:
            chordal.delete_edge(search, state, u, v, rng.exponential(8))
        elif np.isnan(chordal.add_edge(search, state, u, v)):
            refused += 1
            pairs = [1 << p | near for p, near in enumerate(before.neighbours)]
            edges = [1 << p | 1 << q for p in range(k) for q in range(k) if pairs[p] >> q & 1]
            after = Graph.of([*edges, 1 << u | 1 << v], k)
            assert tuple(map(int, state.near)) == before.neighbours
            assert not after.is_chordal or width(table, after.cliques()) < 4
    assert refused > 20


def test_counts_where_keys_do_not_fit_in_64_bits():
    rng = np.random.default_rng(5)
    codes = rng.integers(0, 6, (300, 40)).astype(np.uint8)
    codes[100:200] = codes[:100]
    variables = [Variable(f"v{i}", tuple("abcdef")) for i in range(40)]
    table = Table.from_cells(variables, codes, np.ones(300, np.int64))
    search = search_on(table, 1)
    for s in (0, 0b1011, (1 << 40) - 1, ((1 << 40) - 1) ^ 0b111):
        out = np.zeros(len(search.rows.watched), np.int64)
        watched_counts._count(search.rows, search.memory, s, out)
        names = [name for i, name in enumerate(table.names) if s >> i & 1]
        expected = table.margin(names).lookup(table.small().project(names))
        assert np.array_equal(out, expected)


def test_the_same_seed_gives_the_same_answer():
    table = random_table((2, 3, 2, 4, 2, 3, 2), 11, 2000)
    one, two = (decomposable_frontier(table, beta=4, seed=5) for _ in range(2))
    assert one.finished
    assert one.formula == two.formula
    assert [run.trace for run in one.restarts] == [run.trace for run in two.restarts]


def test_what_comes_first_stays_in():
    table = random_table((2, 2, 2, 3, 2), 1, 3000)
    free = decomposable_frontier(table, beta=4, restarts=1)
    pairs = list(itertools.combinations(table.names, 2))
    safe = [p for p in pairs if width(table, Formula.of([p], table.names).sets) >= 4]
    assert any(not free.formula.contains(pair) for pair in safe)
    for pair in safe:
        found = decomposable_frontier(table, beta=4, restarts=1, first=[pair])
        assert found.formula.contains(pair)
        assert found.released <= free.released


def test_a_cycle_that_comes_first_is_filled():
    table = random_table((2, 2, 2, 2, 2), 0, 5000)
    cycle = "v0*v1 + v1*v2 + v2*v3 + v3*v0"
    found = decomposable_frontier(table, beta=1, restarts=1, first=cycle)
    assert found.formula.is_decomposable
    assert all(found.formula.contains(margin) for margin in cycle.split(" + "))
    with pytest.raises(DisclosureError, match="breaks max_order"):
        decomposable_frontier(table, beta=1, first=cycle, max_order=2)


def test_a_first_release_that_is_not_safe_is_refused():
    table = load("example:tract")
    with pytest.raises(DisclosureError, match=r"Race\*Income.*width of 0"):
        decomposable_frontier(table, first=[["Gender", "Race", "Income"]])


def test_max_order_limits_the_margins():
    table = random_table((2, 2, 2, 2, 2, 2), 3, 4000)
    found = decomposable_frontier(table, beta=1, restarts=1, max_order=2)
    assert max(found.by_order) == 2
    assert found.released == found.at_most == 11


def test_without_small_cells_everything_is_released():
    found = decomposable_frontier(
        Table.of(np.full((2, 2, 3), 9), a=range(2), b=range(2), c=range(3))
    )
    assert (found.released, found.min_width, found.optimal) == (7, None, True)


def test_what_it_gives():
    found = decomposable_frontier(load("example:czech"), beta=3)
    assert repr(found) == (
        "DecomposableFrontier(47 of 63 margins, 2 maximal, narrowest width 3: "
        "proven best, 5 of 5 restarts)"
    )
    document = json.loads(json.dumps(found.to_json()))
    assert document["released"] == 47
    assert document["listed"] is None
    assert document["certified"] is True
    assert document["min_width"] == 3
    assert document["by_order"] == {str(order): n for order, n in found.by_order.items()}
    assert document["frontier"] == [list(margin) for margin in found.formula.margins]
    assert list(found.to_frame()["order"]) == [len(m) for m in found.formula.margins]
    assert found.trace[-1][1] == 47


@pytest.mark.parametrize(
    ("options", "message"),
    [
        ({"restarts": 0}, "restarts is 0"),
        ({"seconds": 0}, "seconds is 0"),
        ({"beta": -1}, "beta is -1"),
        ({"seed": -1}, "seed is -1"),
        ({"small": 0}, "small is 0"),
        ({"max_order": 0}, "max_order is 0"),
        ({"weights": {8: 1.0}}, "bit set 8"),
        ({"weights": {3: -1.0}}, "is -1.0"),
        ({"first": "Gender*Race", "max_order": 1}, "max_order is 1"),
    ],
)
def test_wrong_arguments(options, message):
    with pytest.raises(DisclosureError, match=message):
        decomposable_frontier(load("example:tract"), **options)


def test_too_many_variables():
    variables = [Variable(f"v{i}", ("0", "1")) for i in range(61)]
    table = Table.from_cells(variables, np.zeros((1, 61), np.uint8), np.ones(1, np.int64))
    with pytest.raises(DataError, match="1 to 60 variables, not 61"):
        decomposable_frontier(table)


def test_a_wrong_width_is_caught(monkeypatch):
    monkeypatch.setattr(decomposable, "_min_width", lambda search, near: 99)
    with pytest.raises(DisclosureError, match="narrowest width of 99"):
        decomposable_frontier(load("example:czech"), restarts=1)


@pytest.mark.nltcs
@pytest.mark.parametrize(("beta", "most"), [(3, 479), (4, 383), (5, 367)])
def test_the_best_decomposable_frontiers_of_the_nltcs_table(nltcs, beta, most):
    """The paper's release 415, 367 and 335 margins; these are proven to be the most."""
    found = decomposable_frontier(nltcs, beta=beta, restarts=1)
    assert found.released == found.at_most == most
    assert found.min_width == beta
