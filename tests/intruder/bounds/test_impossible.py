"""Combinations that nobody can have: every method against brute force."""

import math
from collections import Counter
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.intruder.bounds.bounder import Bounder, bounds
from discreet.intruder.bounds.part import Proof
from discreet.intruder.bounds.reduce import reduce_tied
from discreet.intruder.bounds.shuttle.shuttle import Shuttle
from discreet.intruder.posterior.chains.chains import chain_posterior
from discreet.intruder.posterior.exact.decomposable import decomposable_posterior
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.tables.count import count
from discreet.intruder.tables.enumerate import enumerate_tables
from discreet.intruder.witness.search import witnesses
from discreet.intruder.witness.slices import slice_witnesses
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.table import Table
from oracle import fibre, named, released_tables, releases


def test_two_codings_of_one_variable():
    """Ages cut at 50 and at 51: subtraction gives those who are 50."""
    table = Table.of(
        [[[100, 80], [0, 0]], [[1, 1], [90, 70]]],
        Age50=["<50", "50+"], Age51=["<51", "51+"], Region=["N", "S"],
    )  # fmt: skip
    ages = "Age50*Region + Age51*Region"
    assert bounds(Release.margins(table, ages), table.small()).width.min() > 50
    table = table.excluding([{"Age50": "<50", "Age51": "51+"}])
    for method in ("auto", "shuttle", "linear", "integer"):
        found = bounds(Release.margins(table, ages), table.small(), method=method)
        assert found.lower.tolist() == found.upper.tolist() == [1, 1]
    with pytest.raises(DataError, match="no closed form"):
        bounds(Release.margins(table, ages), table.small(), method="closed")


@given(released_tables(most_cells=24))
@settings(max_examples=150)
def test_bounds_are_those_of_brute_force(case):
    _, release, tables = case
    least, most = tables.min(0).ravel(), tables.max(0).ravel()
    for method in ("auto", "integer"):
        found = bounds(release, method=method)
        assert np.array_equal(found.lower, least)
        assert np.array_equal(found.upper, most)
        assert found.sharp
    for method in ("shuttle", "linear"):
        found = bounds(release, method=method)
        assert (found.lower <= least).all()
        assert (found.upper >= most).all()
        seen = found.seen_low <= found.seen_high
        assert (found.seen_low >= least)[seen].all()
        assert (found.seen_high <= most)[seen].all()


@given(st.data(), released_tables(most_cells=24))
@settings(max_examples=150)
def test_bounds_of_margins_are_those_of_brute_force(data, case):
    """A question about some variables leaves out parts of the release, never what matters."""
    table, release, tables = case
    axes = data.draw(
        st.lists(st.sampled_from(range(len(table.shape))), min_size=1, unique=True).map(sorted)
    )
    rest = tuple(1 + a for a in range(len(table.shape)) if a not in axes)
    sums = tables.sum(rest)
    cells = table.margin([table.names[a] for a in axes]).all()
    for method in ("auto", "integer"):
        found = Bounder(release, method=method).bounds(cells)
        assert np.array_equal(found.lower, sums.min(0).ravel())
        assert np.array_equal(found.upper, sums.max(0).ravel())
    for method in ("shuttle", "linear"):
        found = Bounder(release, method=method).bounds(cells)
        assert (found.lower <= sums.min(0).ravel()).all()
        assert (found.upper >= sums.max(0).ravel()).all()


@given(released_tables(most_cells=24))
@settings(max_examples=60)
def test_margins_alone_hold_every_table(case):
    table, release, tables = case
    part = Bounder(release)._part(release.names, release.formula.sets)
    found = part.by_margins(release.names, table.all().codes)
    assert (found.lower <= tables.min(0).ravel()).all()
    assert (found.upper >= tables.max(0).ravel()).all()
    assert not found.upper[release.closed(table.all().codes)].any()


@given(st.data(), released_tables(most_cells=24))
@settings(max_examples=100)
def test_a_shuttle_that_is_given_more_and_less_knows_the_zeros(data, case):
    table, release, _ = case
    shuttle, closed = Shuttle(release, droppable=True), np.zeros(table.shape, bool)
    for zero in _zeros(table):
        closed[tuple(zero.get(axis, slice(None)) for axis in range(closed.ndim))] = True
    more = data.draw(releases(len(table.shape)))
    fresh = [m for m in more if not release.formula.contains([table.names[a] for a in m])]
    shuttle.add([table.margin([table.names[a] for a in m]) for m in fresh])
    shuttle.commit()
    margins = {tuple(map(release.names.index, t.names)) for t in release.tables}
    both = fibre(table.dense(), margins | set(fresh), _zeros(table))
    _holds(shuttle, table, both, closed)
    added = Formula.of([[table.names[a] for a in m] for m in more], table.names)
    dropped = [t for t in release.tables if not added.contains(t.names)]
    shuttle.drop(dropped)
    parts = {m for t in dropped for m in combinations(t.names, len(t.names) - 1) if m}
    left = {tuple(map(table.names.index, m)) for m in parts} | set(more)
    _holds(shuttle, table, fibre(table.dense(), left, _zeros(table)), closed)


def test_a_dropped_margin_leaves_its_zeros():
    """While it is out, the margin shows them, and the release need not say them."""
    array = np.array([[[6, 3], [0, 0]], [[2, 1], [5, 4]]])
    table = named(array).excluding([{"A": 0, "B": 1}])
    release = Release.margins(table, [("A", "B"), ("A", "C"), ("B", "C")])
    assert release.known == ()
    shuttle = Shuttle(release, droppable=True)
    shuttle.drop([table.margin("A*B")])
    _, upper = shuttle.bounds(("A", "B"), np.array([[0, 1]], np.uint8))
    assert upper.tolist() == [0]


def _holds(shuttle, table, tables, closed):
    lower, upper = shuttle.bounds(table.names, table.all().codes)
    assert (lower <= tables.min(0).ravel()).all()
    assert (upper >= tables.max(0).ravel()).all()
    assert not upper[closed.ravel()].any()


@given(released_tables(most_cells=24))
@settings(max_examples=60, deadline=None)
def test_witnesses_are_tables_that_fit(case):
    table, release, tables = case
    for search in (witnesses, slice_witnesses):
        found = search(release, table, table.all(), beta=3, effort=0.01)
        assert (found.low >= tables.min(0).ravel()).all()
        assert (found.high <= tables.max(0).ravel()).all()
    proven = bounds(release, method="shuttle", proof=Proof(table, effort=0.01))
    assert (proven.seen_low >= tables.min(0).ravel()).all()
    assert (proven.seen_high <= tables.max(0).ravel()).all()


def test_walks_and_slices_find_what_is_possible_beside_the_zeros():
    array = np.random.default_rng(5).poisson(2, (3, 3, 2, 3))
    array[0, 1] = array[2, 0] = 0
    table = named(array).excluding([{"A": 0, "B": 1}, {"A": 2, "B": 0}])
    release = Release.margins(table, [("A", "C"), ("B", "C"), ("D",)])
    true = bounds(release, table.small(), method="integer")
    for search in (witnesses, slice_witnesses):
        found = search(release, table, table.small(), beta=3, seconds=20)
        assert (found.low >= true.lower).all()
        assert (found.high <= true.upper).all()
        assert (found.spread >= np.minimum(true.width, 3)).mean() > 0.5


@given(released_tables())
@settings(max_examples=80, deadline=None)
def test_counting_and_listing_are_brute_force(case):
    table, release, tables = case
    assert count(release).tables == len(tables)
    cells, listed = enumerate_tables(release)
    dense = np.zeros((len(listed), *table.shape), int)
    dense[(slice(None), *cells.codes.T)] = listed
    assert Counter(map(bytes, dense)) == Counter(map(bytes, tables.astype(int)))


@given(released_tables(), st.sampled_from(["saturated", "uniform"]))
@settings(max_examples=60, deadline=None)
def test_exact_beliefs_are_brute_force(case, model):
    table, release, tables = case
    found = posterior(release, model=model)
    logs = np.zeros(len(tables))
    if model == "saturated":
        logs = np.array([sum(_dirichlet(int(n)) for n in t.ravel()) for t in tables])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    for value in range(int(table.total) + 1):
        want = ((tables == value).reshape(len(tables), -1) * chances[:, None]).sum(0)
        assert np.allclose(found.probability(value), want)


def test_no_belief_in_what_is_impossible():
    """Chains, other models and the average; the closed form refuses."""
    array = np.array([[[6, 3], [0, 0]], [[2, 1], [5, 4]]])
    table = named(array).excluding([{"A": 0, "B": 1}])
    release = Release.margins(table, [("A", "C"), ("B", "C")])
    tables = fibre(array, [(0, 2), (1, 2)], [{0: 0, 1: 1}])
    exact = exact_posterior(release)
    drawn = chain_posterior(release, standard_error=0.02, seconds=20)
    models = ["A*C + B*C", "A*B + A*C + B*C", "average"]
    others = [posterior(release, model=m, standard_error=0.02, seconds=20) for m in models]
    for value in range(10):
        possible = (tables == value).any(0).ravel()
        for found in (drawn, *others):
            assert (found.probability(value)[~possible] == 0).all()
        assert np.allclose(exact.probability(value), drawn.probability(value), atol=0.1)
    with pytest.raises(DataError, match="structural zero"):
        decomposable_posterior(release)


def test_parts_that_do_not_matter_are_left_out():
    """A*B + B*C + D*E with a tie of C and D, and one of E and F, where F is in no margin."""
    margins, ties = (0b000011, 0b000110, 0b011000), (0b001100, 0b110000)
    assert reduce_tied(margins, ties, 0b000011, 6) == ((0b000011,), ())
    assert reduce_tied(margins, ties, 0b001100, 6) == ((0b000100, 0b001000), (0b001100,))
    sets, kept = reduce_tied(margins, ties, 0b100000, 6)
    assert (sets, kept) == ((0b010000,), (0b110000,))


def test_thousands_of_zeros_are_quick():
    """400 counties in 10 regions: 3,600 zeros, and the counts of a county are told."""
    rng = np.random.default_rng(0)
    counties, regions = 400, 10
    array = np.zeros((counties, regions, 2, 3), int)
    for county in range(counties):
        array[county, county % regions] = rng.poisson(5, (2, 3))
    table = Table.of(
        array, County=range(counties), Region=range(regions), Sex=range(2), Age=range(3)
    )
    pairs = [
        {"County": c, "Region": [r for r in range(regions) if r != c % regions]}
        for c in range(counties)
    ]
    table = table.excluding(pairs)
    assert len(table.impossible) == counties * (regions - 1)
    release = Release.margins(table, "County*Sex + Region*Age")
    assert len(release.known) == len(table.impossible)
    found = bounds(release, table.small().take(slice(20)), seconds=30)
    assert (found.upper <= found.upper.max()).all()
    assert (found.lower <= table.small().take(slice(20)).counts).all()
    inside = bounds(release, table.margin("County*Region").small(6))
    assert (inside.width == 0).all()


def _zeros(table):
    return [
        {table.names.index(n): table.variable(n).code(c) for n, c in combination}
        for combination in table.impossible
    ]


def _dirichlet(n, a=0.5):
    return math.lgamma(n + a) - math.lgamma(n + 1) - math.lgamma(a)
