"""Releases that fall apart, large sparse tables, and contradictions that are named."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import InconsistentRelease
from discreet.intruder.bounds.bounder import Bounder, bounds
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables


@given(st.data(), small_tables(most_people=25, most_cells=36))
@settings(max_examples=80)
def test_the_parts_give_what_the_whole_gives(data, array):
    """Theorem 2: split along separators = integer programs over everything."""
    margins = data.draw(releases(array.ndim))
    release = Release.margins(named(array), letters(margins))
    parts, whole = bounds(release), bounds(release, method="integer")
    assert np.array_equal(parts.lower, whole.lower)
    assert np.array_equal(parts.upper, whole.upper)
    assert parts.sharp
    assert whole.sharp


@given(st.data(), small_tables())
@settings(max_examples=60)
def test_integer_bounds_are_those_of_brute_force(data, array):
    margins = data.draw(releases(array.ndim))
    found = bounds(Release.margins(named(array), letters(margins)))
    tables = fibre(array, margins)
    assert np.array_equal(found.lower, tables.min(0).ravel())
    assert np.array_equal(found.upper, tables.max(0).ravel())


@pytest.mark.parametrize("shape", [(2, 3, 2, 2), (3, 2, 2, 2)])
def test_all_two_way_margins_of_a_four_way_table(shape):
    array = np.random.default_rng(sum(shape)).integers(0, 2, shape)
    margins = list(combinations(range(4), 2))
    found = bounds(Release.margins(named(array), letters(margins)))
    tables = fibre(array, margins)
    assert np.array_equal(found.lower, tables.min(0).ravel())
    assert np.array_equal(found.upper, tables.max(0).ravel())


def test_a_3x4x5x6_table():
    """All 2-way margins: the shuttle holds the linear bounds, they hold the integer ones."""
    array = np.random.default_rng(3456).poisson(2, (3, 4, 5, 6))
    table = named(array)
    release = Release.margins(table, list(combinations("ABCD", 2)))
    cells = table.small().take(slice(0, 12))
    wide, linear, sharp = (
        bounds(release, cells, method=method) for method in ("shuttle", "linear", "auto")
    )
    assert (wide.lower <= linear.lower).all()
    assert (wide.upper >= linear.upper).all()
    assert (linear.lower <= sharp.lower).all()
    assert (linear.upper >= sharp.upper).all()
    assert (sharp.lower <= cells.counts).all()
    assert (sharp.upper >= cells.counts).all()


def test_three_prime_components():
    """Two cycles without a chord and a clique, joined by released margins."""
    array = np.random.default_rng(9).poisson(1.5, (2,) * 9)
    table = named(array)
    text = "A*B + B*C + C*D + A*D + D*E + E*F + F*G + D*G + G*H*I"
    release = Release.margins(table, text)
    assert sorted(map(len, release.formula.prime_components)) == [3, 4, 4]
    cells = table.small().take(slice(0, 40))
    parts, whole = bounds(release, cells), bounds(release, cells, method="linear")
    assert parts.method.startswith("reducible")
    assert parts.sharp
    assert (parts.lower >= whole.lower).all()
    assert (parts.upper <= whole.upper).all()
    assert (whole.lower[whole.attained] == parts.lower[whole.attained]).all()


@pytest.fixture(scope="module")
def people():
    """40 variables, 2,000 records: no lattice and no list of cells fits."""
    rng = np.random.default_rng(40)
    kind = rng.integers(0, 3, 2000)
    chances = rng.beta(0.6, 0.6, (3, 40))
    codes = (rng.random((2000, 40)) < chances[kind]).astype(np.uint8)
    variables = named(np.ones((2,) * 2, int)).variables
    from discreet.data.codebook import Variable

    variables = tuple(Variable(f"v{i}", ("0", "1")) for i in range(40))
    return Table.from_cells(variables, codes, np.ones(2000, np.int64))


def test_a_large_sparse_table(people):
    release = Release.margins(people, list(combinations(people.names, 2)))
    small = people.small()
    found = Bounder(release).bounds(small)
    assert found.method == "margins"
    assert (found.lower <= small.counts).all()
    assert (found.upper >= small.counts).all()
    pairs = np.array(
        [people.margin(pair).lookup(small.project(pair)) for pair in combinations(people.names, 2)]
    )
    assert np.array_equal(found.upper, pairs.min(0))


def test_a_large_sparse_table_that_falls_apart(people):
    """A ring over six variables and a chain over the rest: nothing of 40 variables is solved."""
    names = people.names
    ring = [(names[i], names[(i + 1) % 6]) for i in range(6)]
    chain = [(names[i], names[i + 1]) for i in range(5, 39)]
    found = Bounder(Release.margins(people, [*ring, *chain])).bounds(people.small())
    assert found.method.startswith("reducible")
    assert found.sharp


def test_lower_bounds_from_chordal_collections_hold():
    """Dominant categories: the margins alone prove that a cell is not empty."""
    array = np.ones((2,) * 6, int)
    array[0, 0, 0, 0, 0, 0] = 5000
    table = named(array)
    release = Release.margins(table, list(combinations("ABCDEF", 2)))
    from discreet.intruder.bounds.margins import margin_bounds

    lower, upper = margin_bounds(release, release.formula, table.all().codes)
    sharp = bounds(release, method="linear")
    assert (lower <= sharp.lower).all()
    assert (upper >= sharp.upper).all()
    assert lower[0] > 4000


def test_the_conflict_is_named():
    """Three margins that agree in pairs, but no table has them all."""
    diagonal, other = np.array([[4, 0], [0, 4]]), np.array([[0, 4], [4, 0]])
    a = Table.of(diagonal, A=[0, 1], B=[0, 1])
    b = Table.of(diagonal, B=[0, 1], C=[0, 1])
    c = Table.of(other, A=[0, 1], C=[0, 1])
    free = Table.of([[3, 1], [2, 2]], C=[0, 1], D=[0, 1])
    release = Release.of([a, b, c, free])
    with pytest.raises(InconsistentRelease, match=r"A\*B, B\*C, A\*C contradict each other"):
        bounds(release)
    known = Release.of([a, free]).insider({"A": 0, "D": 0}, 0).insider({"A": 0, "D": 1}, 0)
    with pytest.raises(InconsistentRelease, match=r"A=0, D=0: 0 .*A=0, D=1: 0"):
        bounds(known)


def test_a_formula_knows_its_parts():
    formula = Formula.parse("A*B + B*C + C*D + A*D + D*E", "ABCDE")
    assert formula.is_reducible
    assert set(formula.prime_components) == {("A", "B", "C", "D"), ("D", "E")}
