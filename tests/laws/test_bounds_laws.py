"""Laws that every method for bounds keeps, for every table and every release."""

import numpy as np
import pytest
from hypothesis import given, reject, settings
from hypothesis import strategies as st
from scipy.optimize import linprog

from discreet.errors import DataError
from discreet.intruder.bounds.bounder import Bounder, bounds
from discreet.intruder.bounds.methods import METHODS, find_method
from discreet.release.release import Release
from discreet.table.cells import Cells
from oracle import letters, named, released_tables, releases, small_tables

every_method = pytest.mark.parametrize("method", METHODS)
NEAR = 1e-6


def asked(release, method, cells=None):
    """The intervals; a method may say that it cannot bound a release, though not all of them."""
    try:
        return bounds(release, cells, method=method)
    except DataError:
        reject()


def occurs(found, tables):
    """Which of the counts `found`, one a cell, are those of a table, one a row."""
    return (tables == found).any(0)


def fractions(release, table, cell):
    """The ends of a cell's count among all tables, fractions allowed, that fit the release."""
    codes = table.all().codes
    rows, counts = [], []
    for margin in release.tables:
        inside = codes[:, [table.names.index(name) for name in margin.names]]
        for at, count in zip(margin.all().codes, margin.all().counts, strict=True):
            rows.append((inside == at).all(1))
            counts.append(count)
    ends = [(0, 0) if shut else (0, None) for shut in release.closed(codes, table.names)]
    cost = np.eye(len(codes))[cell]
    least, most = (linprog(c, A_eq=rows, b_eq=counts, bounds=ends).fun for c in (cost, -cost))
    return least, -most


@every_method
@given(data=st.data(), case=released_tables(most_cells=24))
@settings(max_examples=80)
def test_intervals_hold_every_table_and_what_was_seen_is_a_table(method, data, case):
    """Of the table, or of a margin of it; with structural zeros, and an insider's range."""
    table, release, tables = case
    cell = tuple(data.draw(st.integers(0, size - 1)) for size in table.shape)
    true, high = int(table.dense()[cell]), data.draw(st.integers(0, 9))
    if high >= true and data.draw(st.booleans()):
        low = data.draw(st.integers(0, true))
        release = release.between(dict(zip(table.names, map(str, cell), strict=True)), low, high)
        values = tables[(slice(None), *cell)]
        tables = tables[(values >= low) & (values <= high)]
    axes = sorted(data.draw(releases(table.dense().ndim))[0])
    rest = tuple(1 + axis for axis in range(len(table.shape)) if axis not in axes)
    sums = tables.sum(rest).reshape(len(tables), -1)
    found = asked(release, method, table.margin([table.names[axis] for axis in axes]).all())
    assert (found.lower <= sums.min(0)).all()
    assert (found.upper >= sums.max(0)).all()
    assert (occurs(found.seen_low, sums) | (found.seen_low > found.seen_high)).all()
    assert (occurs(found.seen_high, sums) | (found.seen_low > found.seen_high)).all()
    assert (found.lower == sums.min(0))[found.attained].all()
    assert (found.upper == sums.max(0))[found.attained].all()
    assert (found.fit_low >= found.lower).all()
    assert (found.fit_high <= found.upper).all()


@every_method
@given(data=st.data(), case=released_tables(most_cells=24))
@settings(max_examples=50)
def test_what_fits_is_a_table_of_fractions(method, data, case):
    table, release, _ = case
    found = asked(release, method)
    row = data.draw(st.integers(0, len(found) - 1))
    if found.fit_low[row] <= found.fit_high[row]:
        least, most = fractions(release, table, row)
        assert found.fit_low[row] >= least - NEAR
        assert found.fit_high[row] <= most + NEAR


@every_method
@given(data=st.data(), array=small_tables(most_people=30, most_cells=36))
@settings(max_examples=60)
def test_a_further_margin_never_widens_an_interval(method, data, array):
    margins, more = (data.draw(releases(array.ndim)) for _ in range(2))
    table = named(array)
    few = asked(Release.margins(table, letters(margins)), method)
    many = asked(Release.margins(table, letters([*margins, *more])), method)
    assert (many.lower >= few.lower).all()
    assert (many.upper <= few.upper).all()
    for found in (few, many):
        assert (found.lower <= array.ravel()).all()
        assert (found.upper >= array.ravel()).all()


@every_method
@given(data=st.data(), array=small_tables(most_people=30, most_cells=36))
@settings(max_examples=50)
def test_the_order_of_variables_categories_and_margins_does_not_matter(method, data, array):
    margins = data.draw(releases(array.ndim))
    order = data.draw(st.permutations(range(array.ndim)))
    flips = [data.draw(st.permutations(range(n))) for n in array.shape]
    turned = array[np.ix_(*flips)].transpose(order)
    moved = [tuple(sorted(order.index(a) for a in axes)) for axes in margins[::-1]]
    here = asked(Release.margins(named(array), letters(margins)), method)
    there = asked(Release.margins(named(turned), letters(moved)), method)
    for side in ("lower", "upper"):
        grid = getattr(here, side).reshape(array.shape)[np.ix_(*flips)].transpose(order)
        assert np.array_equal(grid.ravel(), getattr(there, side))


@every_method
@given(data=st.data(), array=small_tables(most_people=30, most_cells=36))
@settings(max_examples=30)
def test_cells_are_bounded_one_by_one_as_all_at_once(method, data, array):
    """In any order of rows and axes; what was built for one question does not change the next."""
    release = Release.margins(named(array), letters(data.draw(releases(array.ndim))))
    every, cells = asked(release, method), named(array).all()
    rows = data.draw(st.lists(st.integers(0, array.size - 1), min_size=1, max_size=4))
    order = data.draw(st.permutations(range(array.ndim)))
    variables = tuple(cells.variables[axis] for axis in order)
    bounder = Bounder(release, method=method)
    for row in rows:
        one = Cells(variables, cells.codes[[row]][:, order], cells.counts[[row]])
        found = bounder.bounds(one)
        assert (found.lower[0], found.upper[0]) == (every.lower[row], every.upper[row])


@every_method
def test_a_method_says_what_it_does(method):
    assert find_method(method).__doc__
    assert isinstance(find_method(method).SPLITS, bool)


def test_a_method_that_is_not_there_is_named():
    release = Release.margins(named(np.ones((2, 2), int)), "A")
    with pytest.raises(DataError, match="no method 'guess'; choose auto, closed"):
        bounds(release, method="guess")
