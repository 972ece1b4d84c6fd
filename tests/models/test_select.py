"""Model search: every step is what refitting says, and brute force is never beaten."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from clocks import set_clock
from discreet.data.codebook import Variable
from discreet.errors import DataError, DisclosureError, Stopped
from discreet.models.loglinear import LogLinear
from discreet.models.neighbours import Decomposable, toggle
from discreet.models.select import fitting_model
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.load import load
from discreet.table.table import Table
from oracle import named, small_tables


def anything(margin):
    return True


def graphs(k):
    pairs = list(combinations(range(k), 2))
    for chosen in range(1 << len(pairs)):
        sets = [1 << u | 1 << v for i, (u, v) in enumerate(pairs) if chosen >> i & 1]
        yield Graph.of(sets, k)


def refit(table, graph):
    return LogLinear(Formula(table.names, graph.cliques())).fit(table)


def random_table(seed, k=4, people=200):
    """Some variables depend on others; sizes 2 and 3."""
    rng = np.random.default_rng(seed)
    shape = rng.integers(2, 4, k)
    chances = rng.gamma(0.7, size=shape)
    return named(rng.multinomial(people, (chances / chances.sum()).ravel()).reshape(shape))


ALL = [Graph((0,) * 4), *[graph for graph in graphs(4) if any(graph.neighbours)]]
CHORDAL = [graph for graph in ALL if graph.is_chordal]


# Moves


def test_legal_changes_are_those_between_chordal_graphs():
    """61 of the 64 graphs on four vertices are chordal."""
    table = named(np.ones((2, 2, 2, 2), int))
    models = Decomposable(table, anything, Graph((0,) * 4))
    assert len(CHORDAL) == 61
    for graph in CHORDAL:
        for adding in (True, False):
            found = {change.on(graph) for change in models.changes(graph, adding=adding)}
            next_to = {toggle(graph, u, v) for u, v in combinations(range(4), 2)}
            edges = sum(near.bit_count() for near in graph.neighbours)
            wanted = {
                other
                for other in next_to & set(CHORDAL)
                if (sum(near.bit_count() for near in other.neighbours) > edges) == adding
            }
            assert found == wanted


@settings(max_examples=30)
@given(small_tables(), st.data())
def test_a_local_change_is_what_refitting_says(array, data):
    table, k = named(array), array.ndim
    chordal = [graph for graph in graphs(k) if graph.is_chordal]
    graph = data.draw(st.sampled_from(chordal))
    models = Decomposable(table, anything, Graph((0,) * k))
    here = refit(table, graph)
    for adding in (True, False):
        for change in models.changes(graph, adding=adding):
            there = refit(table, change.on(graph))
            sign = 1 if adding else -1
            assert sign * (here.deviance - there.deviance) == pytest.approx(
                change.statistic, abs=1e-8
            )
            assert sign * (there.parameters - here.parameters) == change.parameters
            u, v = change.edge
            clique = [*(p for p in range(k) if change.given >> p & 1), u, v]
            margin = table.margin([table.names[p] for p in sorted(clique)])
            without = [[table.names[p] for p in clique if p != out] for out in (u, v)]
            alone = LogLinear(Formula.of(without, margin.names)).fit(margin)
            assert alone.deviance == pytest.approx(change.statistic, abs=1e-8)
            assert alone.adjusted_df == change.df


# Searches against brute force


@pytest.mark.parametrize("criterion", ["bic", "aic"])
def test_never_better_than_every_decomposable_model_and_mostly_as_good(criterion):
    reached = 0
    for seed in range(20):
        table = random_table(seed)
        best = min(getattr(refit(table, graph), criterion) for graph in CHORDAL)
        found = fitting_model(table, criterion=criterion)
        assert found.value == pytest.approx(getattr(found.fit, criterion))
        assert found.value >= best - 1e-6
        reached += found.value <= best + 1e-6
    assert reached >= 19


def test_graphical_search_against_every_graph():
    reached = 0
    for seed in range(6):
        table = random_table(seed, people=400)
        best = min(refit(table, graph).bic for graph in ALL)
        found = fitting_model(table, search="graphical")
        assert found.value >= best - 1e-6
        assert found.formula.is_graphical
        reached += found.value <= best + 1e-6
    assert reached >= 5


def test_the_best_decomposable_model_of_the_czech_table():
    """The best by BIC of all 18,154 decomposable models on six variables, listed once."""
    found = fitting_model(load("example:czech"))
    assert set(found.formula.margins) == set(map(tuple, ["ACE", "ADE", "BC", "F"]))
    assert found.fit.deviance == pytest.approx(62.08, abs=0.006)
    assert found.fit.df == 49
    assert found.fits


def test_the_graphical_model_of_the_czech_table():
    """Better than any decomposable one: a cycle A, C, B, E without a chord."""
    found = fitting_model(load("example:czech"), search="graphical")
    assert set(found.formula.margins) == set(map(tuple, ["AC", "ADE", "BC", "BE", "F"]))
    assert not found.formula.is_decomposable
    assert found.fit.iterations > 0
    assert found.fits


# Laws of a search


@settings(max_examples=25)
@given(
    small_tables(most_people=30),
    st.sampled_from(["bic", "aic", "test"]),
    st.sampled_from(["forward", "backward", "both"]),
)
def test_a_search_ends_where_no_change_helps(array, criterion, direction):
    assume(array.ndim > 1)
    table = named(array)
    found = fitting_model(table, criterion=criterion, direction=direction)
    assert found.formula.is_decomposable
    assert found.finished
    ways = {"forward": [True], "backward": [False], "both": [True, False]}[direction]
    models, graph = Decomposable(table, anything, Graph((0,) * array.ndim)), found.formula.graph
    for adding in ways:
        for change in models.changes(graph, adding=adding):
            if criterion == "test" and direction == "both":
                continue  # a change may lead back to where it was
            if criterion == "test":
                assert (change.p_value < 0.05) != adding
            else:
                there = refit(table, change.on(graph))
                assert getattr(there, criterion) >= found.value - 1e-5


@pytest.mark.parametrize("criterion", ["bic", "aic", "test"])
@pytest.mark.parametrize("search", ["decomposable", "graphical"])
def test_steps_lead_from_the_start_to_the_model(criterion, search):
    table = random_table(5)
    found = fitting_model(table, criterion=criterion, search=search, direction="backward")
    graph = Graph.of([0b1111], 4)
    for step in found.steps:
        graph = toggle(graph, *(table.names.index(name) for name in step.edge))
        fit = refit(table, graph)
        value = fit.deviance if criterion == "test" else getattr(fit, criterion)
        assert step.action == "remove"
        assert step.value == pytest.approx(value, abs=1e-4)
    assert set(graph.cliques()) == set(found.formula.sets)


def test_forward_tests_stop_at_the_level():
    table = load("example:czech")
    found = fitting_model(table, criterion="test", direction="forward", level=0.001)
    assert all(step.action == "add" and step.p_value < 0.001 for step in found.steps)
    more = fitting_model(table, criterion="test", direction="forward", level=0.05)
    assert more.steps[: len(found.steps)] == found.steps
    assert len(more.steps) > len(found.steps)


def test_the_same_answer_every_time():
    table = load("example:czech")
    assert fitting_model(table).steps == fitting_model(table).steps


# What the caller asks for


@pytest.mark.parametrize("search", ["decomposable", "graphical"])
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
def test_margins_to_keep_are_inside(search, direction):
    table = load("example:czech")
    first = "A*B*F + C*D + D*F"
    found = fitting_model(table, search=search, direction=direction, first=first)
    assert found.formula.contains(first)
    assert found.formula.is_decomposable or search == "graphical"
    again = fitting_model(table, direction=direction, first=Formula.parse("B*F", table.names))
    assert again.formula.contains("B*F")


@pytest.mark.parametrize("search", ["decomposable", "graphical"])
@pytest.mark.parametrize("direction", ["forward", "backward", "both"])
@pytest.mark.parametrize("order", [1, 2, 3])
def test_no_margin_has_more_than_max_order_variables(search, direction, order):
    table = random_table(11, people=2_000)
    found = fitting_model(table, search=search, direction=direction, max_order=order)
    assert max(map(len, found.formula.margins)) <= order


def test_max_order_and_margins_to_keep():
    table = load("example:czech")
    cycle = "A*B + B*C + C*D + D*E + E*A"
    found = fitting_model(table, direction="backward", first=cycle, max_order=3)
    assert found.formula.contains(cycle)
    assert max(map(len, found.formula.margins)) == 3
    with pytest.raises(DisclosureError, match=r"need .* together, 3 variables, and max_order is 2"):
        fitting_model(table, first=cycle, max_order=2)
    assert fitting_model(table, search="graphical", first=cycle, max_order=2).finished


def test_only_allowed_margins_are_in():
    table = load("example:czech")
    free = fitting_model(table)
    banned = free.formula.sets[0]
    found = fitting_model(table, allows=lambda s: banned & ~s != 0)
    assert not any(banned & ~s == 0 for s in found.formula.sets)
    assert found.value >= free.value


def test_no_time_is_said():
    table = load("example:czech")
    found = fitting_model(table, seconds=1e-9)
    assert not found.finished
    assert ", stopped;" in repr(found)
    assert "limit of 1e-09 seconds: a model after 0 steps. Allow more" in found.stopped
    with pytest.raises(Stopped, match="while removing margins that are not allowed"):
        fitting_model(table, seconds=1e-9, direction="backward", max_order=2)


def test_little_effort_is_said():
    table = load("example:czech")
    found = fitting_model(table, effort=1e-9)
    assert (found.finished, found.stopped) == (False, None)
    assert ", not finished;" in repr(found)
    with pytest.raises(DisclosureError, match="used up before every margin was allowed"):
        fitting_model(table, effort=1e-9, direction="backward", max_order=2)


@pytest.mark.parametrize("step", [0.0, 1e6])
def test_the_clock_does_not_choose_the_model(step, monkeypatch):
    table = load("example:czech")
    first = fitting_model(table)
    set_clock(monkeypatch, step)
    again = fitting_model(table)
    assert again.finished
    assert again.steps == first.steps


def test_one_variable():
    found = fitting_model(named(np.array([6, 8])))
    assert repr(found) == "ModelSearch(A: 1 margin, BIC 21.76 after 0 steps; p = 1)"


def test_a_frame_of_steps():
    found = fitting_model(load("example:czech"), direction="forward")
    frame = found.to_frame()
    assert list(frame["edge"]) == ["B*C", "A*C", "B*E", "D*E"]
    assert frame["bic"].is_monotonic_decreasing
    assert frame["statistic"][0] == pytest.approx(685.97, abs=0.006)
    tests = fitting_model(load("example:czech"), criterion="test").to_frame("arrow")
    assert "deviance" in tests.column_names


def test_a_search_says_whether_the_model_fits():
    found = fitting_model(load("example:czech"), direction="forward")
    assert not found.fits
    assert "does not fit, p = 0.00011" in repr(found)
    sparse = fitting_model(named(np.eye(4, dtype=int)))
    assert "in a sparse table is no guide" in repr(sparse)


@pytest.mark.parametrize(
    ("options", "says"),
    [
        ({"criterion": "BIC"}, "criterion is 'BIC'; choose bic, aic or test"),
        ({"search": "all"}, "search is 'all'; choose decomposable or graphical"),
        ({"direction": "up"}, "direction is 'up'; choose forward, backward or both"),
        ({"level": 5}, "level is 5; give a number between 0 and 1"),
        ({"max_order": 0}, "max_order is 0"),
        ({"seconds": 0}, "seconds is 0"),
    ],
)
def test_wrong_options_are_named(options, says):
    with pytest.raises(DisclosureError, match=says):
        fitting_model(load("example:czech"), **options)


def test_wrong_tables_are_named():
    with pytest.raises(DataError, match="counts nobody"):
        fitting_model(named(np.zeros((2, 2), int)))
    variables = [Variable(f"v{p}", ("a", "b")) for p in range(17)]
    table = Table.from_cells(variables, np.zeros((1, 17), np.uint8), np.ones(1, np.int64))
    with pytest.raises(DataError, match="131,072 are too many; the most is 65,536"):
        fitting_model(table, search="graphical")
    assert fitting_model(table).formula.by_order() == {1: 17}


@pytest.mark.nltcs
def test_sixteen_variables(nltcs):
    """2^16 cells, 3,152 of them not zero: a second or so."""
    found = fitting_model(nltcs)
    assert found.finished
    assert found.seconds < 20
    assert found.value == pytest.approx(found.fit.bic)
    assert found.value == pytest.approx(found.steps[-1].value)
    assert found.value < 263_756
    assert found.formula.is_decomposable
