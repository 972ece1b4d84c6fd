"""The longest start of a list that keeps beta: against every start by itself, and sharp bounds."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.codebook import Variable
from discreet.decision.frontier import list_start
from discreet.decision.frontier.frontier import frontier
from discreet.decision.frontier.widths import widths
from discreet.decision.law.policy import Policy
from discreet.effort import Clock
from discreet.errors import DataError
from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.bounds.shuttle.growing import GrowingBounds
from discreet.release.release import Release
from discreet.table.lattice import bits
from discreet.table.load import load
from discreet.table.table import Table
from oracle import named, small_tables


def longest_prefix(*case, **how):
    found = list_start.list_start(*case, **how)
    return found.listed, found.width


def named_sets(table, sets):
    return [[table.names[place] for place in bits(s)] for s in sets]


def width(table, sets, cells):
    """The narrowest width under the whole release at once."""
    found = GrowingBounds(table.shape, table.total, cells.codes)
    found.add((s, table.margin(named_sets(table, [s])[0]).dense()) for s in sets)
    return int((found.upper - found.lower).min())


@st.composite
def cases(draw):
    array = draw(small_tables(most_people=30, most_cells=54))
    array.flat[draw(st.integers(0, array.size - 1))] = 1
    margins = [
        sum(1 << a for a in s) for n in (1, 2, 3) for s in combinations(range(array.ndim), n)
    ]
    return named(array), draw(st.permutations(margins))


@given(cases(), st.integers(1, 6))
@settings(max_examples=100)
def test_the_prefix_is_what_each_start_by_itself_says(case, beta):
    table, ordered = case
    cells = table.small()
    listed, narrowest = longest_prefix(table, ordered, cells, beta)
    keeps = [width(table, ordered[:n], cells) >= beta for n in range(1, len(ordered) + 1)]
    assert listed == keeps.index(False) if False in keeps else len(ordered)
    assert narrowest >= beta or not listed
    assert narrowest >= width(table, ordered[:listed], cells)


@given(cases(), st.integers(1, 4))
@settings(max_examples=60)
def test_it_never_stops_before_sharp_bounds_do(case, beta):
    """The bounds are outer ones: what they say breaks, does."""
    table, ordered = case
    cells = table.small()
    listed, _ = longest_prefix(table, ordered, cells, beta)
    if listed < len(ordered):
        release = Release.margins(table, named_sets(table, ordered[: listed + 1]))
        assert bounds(release, cells).narrowest < beta


def test_many_parts_and_the_sets_that_all_faces_imply(monkeypatch):
    table = load("example:czech")
    ordered = widths(table).ordered()
    whole = longest_prefix(table, ordered, table.small(), 3)
    monkeypatch.setattr(list_start, "AT_ONCE", 2)
    assert longest_prefix(table, ordered, table.small(), 3) == whole
    assert width(table, ordered[: whole[0]], table.small()) >= 3
    assert width(table, ordered[: whole[0] + 1], table.small()) < 3


@pytest.mark.parametrize(("beta", "printed", "ours"), [(3, 4011, 4621), (4, 3663, 3663)])
def test_against_the_lists_of_the_2002_paper(nltcs, beta, printed, ours):
    """Dobra, Erosheva & Fienberg 2002, section 1.5.1, cut the list by the shuttle's bounds, which
    are tighter; those of the margins alone would release all 6,559 at beta = 3."""
    found = widths(nltcs, beta=beta)
    wide = {s for s, w in zip(found.sets, found.width, strict=True) if w >= beta}
    ordered = [s for s in found.ordered() if s in wide]
    assert longest_prefix(nltcs, ordered, nltcs.small(), beta) == (ours, beta)
    assert printed <= ours < len(ordered)


def test_no_time_no_cells_no_list():
    table = load("example:czech")
    ordered = widths(table).ordered()
    none = longest_prefix(table, ordered, table.small(), 3, clock=Clock(1e-9))
    assert none == (0, table.total)
    assert longest_prefix(table, [], table.small(), 3) == (0, table.total)
    nothing = table.small().take(slice(0))
    assert longest_prefix(table, ordered, nothing, 3) == (len(ordered), table.total)


def test_a_margin_that_cannot_be_held():
    variables = [Variable(name, tuple(map(str, range(4_000)))) for name in "AB"]
    table = Table.from_cells(variables, np.zeros((1, 2), np.uint16), np.full(1, 9))
    with pytest.raises(DataError, match="lower max_order, or merge"):
        longest_prefix(table, [0b11], table.small(), 3)


def test_a_frontier_of_a_table_that_no_shuttle_holds():
    """40 variables: the list, a decomposable set, and the better of both, with their verdicts."""
    rng = np.random.default_rng(0)
    kinds = rng.integers(0, 3, 800)
    codes = (rng.random((800, 40)) < 0.2 + 0.2 * kinds[:, None]).astype(np.uint8)
    variables = tuple(Variable(f"v{i}", ("no", "yes")) for i in range(40))
    table = Table.from_cells(variables, codes, np.ones(800, np.int64))
    greedy = frontier(table, beta=3, method="greedy", max_order=2)
    assert greedy.decision.verdict == "REVIEW"
    assert greedy.unproven == len(table.small())
    assert greedy.min_width >= 3
    assert max(greedy.by_order) == 2
    sharp = frontier(table, beta=3, method="decomposable", max_order=2)
    assert sharp.decision.verdict == "PASS"
    assert sharp.certified
    best = frontier(table, beta=3, max_order=2)
    assert best.released == max(greedy.released, sharp.released)
    assert best.maximal is None
    with pytest.raises(DataError, match="under the rules attribute disclosure"):
        frontier(table, policy=Policy(), max_order=2)
    with pytest.raises(DataError, match="out of reach"):
        frontier(table, beta=3, certified=True, max_order=2)
