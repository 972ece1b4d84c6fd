"""Bounds against brute force, closed form against linear programs."""

from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.bounds.bounder import Bounder, bounds
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table
from oracle import letters, named, releases, small_tables


@given(st.data(), small_tables(most_people=30))
@settings(max_examples=100)
def test_decomposable_margins_have_a_closed_form(data, array):
    release = Release.margins(named(array), letters(data.draw(releases(array.ndim))))
    found = bounds(release)
    if release.formula.is_decomposable:
        assert found.method == "closed form"
        assert found.sharp
    exact = bounds(release, method="integer")
    assert np.array_equal(found.lower, exact.lower)
    assert np.array_equal(found.upper, exact.upper)


def test_parts_that_hang_together_through_what_is_not_asked_about():
    """B*C of independent margins: the component A, between them in the tree, is not asked about."""
    table = Table.of(np.full((2, 2, 2), 5), A=[0, 1], B=[0, 1], C=[0, 1])
    found = bounds(Release.margins(table, "A + B + C"), table.margin("B*C").all())
    np.testing.assert_array_equal(found.lower, 0)
    np.testing.assert_array_equal(found.upper, 20)
    rng = np.random.default_rng(0)
    for _ in range(40):
        array = rng.poisson(3, (2, 2, 2, 2))
        table = Table.of(array, A=[0, 1], B=[0, 1], C=[0, 1], D=[0, 1])
        formula = rng.choice(["A + B + C + D", "A*B + C + D", "A*B + C*D", "A*B + B*C + D"])
        release = Release.margins(table, str(formula))
        for names in ("B*C", "B*D", "C*D", "A*C*D"):
            cells = table.margin(names).all()
            quick, exact = bounds(release, cells), bounds(release, cells, method="integer")
            np.testing.assert_array_equal(quick.lower, exact.lower)
            np.testing.assert_array_equal(quick.upper, exact.upper)


def test_structural_zeros_and_insiders_narrow_the_tract_table():
    release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    cell = {"Gender": "Female", "Race": "Chinese", "Income": "up to $10,000"}
    knowing = release.insider({"Gender": "Male", "Race": "Black", "Income": "over $25,000"}, 6)
    found = bounds(knowing.impossible(cell)).to_frame().set_index(["Gender", "Race", "Income"])
    assert found.loc[("Male", "Chinese", "up to $10,000"), "lower"] == 1
    assert found.loc[tuple(cell.values()), "upper"] == 0
    assert found.loc[("Female", "Black", "over $25,000"), "upper"] == 3
    assert found.loc[("Male", "White", "over $25,000"), "upper"] == 163


def test_contradictions_are_refused():
    table = named(np.array([[2, 0], [0, 2]]))
    release = Release.margins(table, "A + B")
    with pytest.raises(InconsistentRelease, match="above its margin"):
        release.insider({"A": 0, "B": 0}, 3)
    with pytest.raises(InconsistentRelease, match="contradict"):
        bounds(release.insider({"A": 0, "B": 0}, 2).insider({"A": 0, "B": 1}, 2))
    with pytest.raises(InconsistentRelease, match="below its margin"):
        release.impossible({"A": 0})
    with pytest.raises(InconsistentRelease, match=r"structural zero.*contradict each other"):
        bounds(release.impossible({"A": 0, "B": 0}).impossible({"A": 0, "B": 1}))


def test_methods_say_what_they_cannot_do():
    table = named(np.ones((2, 2, 2), int))
    square = Release.margins(table, "A*B + B*C + A*C")
    with pytest.raises(DataError, match="not decomposable"):
        bounds(square, method="closed")
    with pytest.raises(DataError, match="no variable 'Z'"):
        Bounder(square).bounds(Table.of([1], Z=["z"]).all())
    wide = Release.margins(Table.of(np.ones((10,) * 4, int), **{c: range(10) for c in "ABCD"}), "A")
    assert wide.total == 10_000


def test_a_time_limit_leaves_outer_bounds_that_are_not_called_sharp():
    table = named(np.arange(27).reshape(3, 3, 3))
    release = Release.margins(table, "A*B + B*C + A*C")
    rushed, full = bounds(release, seconds=1e-9), bounds(release)
    assert rushed.stopped.startswith("stopped by the limit of 1e-09 seconds: ")
    assert full.stopped is None
    assert not rushed.attained.any()
    assert (rushed.upper >= full.upper).all()
    assert (rushed.lower <= full.lower).all()


def test_a_fractional_vertex_is_no_proof():
    """All 3-way margins of this 2^5 table: a cell is [0, 1] by linear programs, 1 in integers."""
    counts = [0, 1, 3, 1, 0, 1, 1, 1, 1, 3, 1, 1, 0, 0, 1, 2, 1, 0, 0, 0, 0, 0, 1, 3, 3, 2, 2, 1]
    array = np.array([*counts, 2, 2, 0, 4]).reshape((2,) * 5)
    release = Release.margins(named(array), list(combinations("ABCDE", 3)))
    cell = named(array).all().take([0b00110])
    linear = bounds(release, cell, method="linear")
    assert (linear.lower[0], linear.upper[0]) == (0, 1)
    assert not linear.sharp
    sharp = bounds(release, cell)
    assert (sharp.lower[0], sharp.upper[0]) == (1, 1)
    assert sharp.sharp
    assert sharp.method == "integer"


def test_results_print_and_export():
    found = bounds(Release.margins(load("example:tract"), "Race*Income + Income*Gender"))
    assert repr(found).endswith("closed form, sharp, narrowest width 1)")
    assert list(found.to_frame("polars").columns)[-4:] == ["lower", "upper", "width", "status"]
    assert found.to_frame("arrow").num_rows == 18
    assert "<table" in found._repr_html_()
