"""Laws of bounds that hold for every table and every release."""

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.intruder.bounds.bounder import bounds
from discreet.release.release import Release
from oracle import letters, named, releases, small_tables


@given(st.data(), small_tables(most_people=30, most_cells=36))
@settings(max_examples=100)
def test_a_further_margin_never_widens_an_interval(data, array):
    margins = data.draw(releases(array.ndim))
    more = data.draw(releases(array.ndim))
    table = named(array)
    few = bounds(Release.margins(table, letters(margins)))
    many = bounds(Release.margins(table, letters([*margins, *more])))
    assert (many.lower >= few.lower).all()
    assert (many.upper <= few.upper).all()
    for found in (few, many):
        assert (found.lower <= array.ravel()).all()
        assert (found.upper >= array.ravel()).all()


@given(st.data(), small_tables(most_people=30, most_cells=36))
@settings(max_examples=60)
def test_the_order_of_variables_and_categories_does_not_matter(data, array):
    margins = data.draw(releases(array.ndim))
    order = data.draw(st.permutations(range(array.ndim)))
    flips = [data.draw(st.permutations(range(n))) for n in array.shape]
    turned = array[np.ix_(*flips)].transpose(order)
    moved = [tuple(sorted(order.index(a) for a in axes)) for axes in margins]
    here = bounds(Release.margins(named(array), letters(margins)))
    there = bounds(Release.margins(named(turned), letters(moved)))
    for side in ("lower", "upper"):
        grid = getattr(here, side).reshape(array.shape)[np.ix_(*flips)].transpose(order)
        assert np.array_equal(grid.ravel(), getattr(there, side))
