"""Bounds that grow with the release: valid, monotone, and the closed form where there is one."""

from functools import reduce

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.bounds.margins import margin_bounds
from discreet.intruder.bounds.shuttle.growing import GrowingBounds
from discreet.release.release import Release
from discreet.table.load import load
from oracle import fibre, letters, named, releases, small_tables


def bit_set(axes):
    return sum(1 << axis for axis in axes)


def counts(array, axes):
    return array.sum(tuple(a for a in range(array.ndim) if a not in axes))


def every_cell(array):
    return np.stack(np.unravel_index(np.arange(array.size), array.shape), 1)


def grown(array, margins, **options):
    found = GrowingBounds(array.shape, int(array.sum()), every_cell(array), **options)
    found.add((bit_set(axes), counts(array, axes)) for axes in margins)
    return found


@given(st.data(), small_tables())
@settings(max_examples=150)
def test_every_table_of_the_fibre_is_inside(data, array):
    margins = data.draw(releases(array.ndim))
    found = grown(array, margins)
    tables = fibre(array, [tuple(axes) for axes in margins]).reshape(-1, array.size)
    assert (found.lower <= tables.min(0)).all()
    assert (found.upper >= tables.max(0)).all()


@given(st.data(), small_tables(most_people=30, most_cells=54))
@settings(max_examples=100)
def test_uppers_are_never_above_the_smallest_margin(data, array):
    margins = data.draw(releases(array.ndim))
    release = Release.margins(named(array), letters(margins))
    _, upper = margin_bounds(release, release.formula, every_cell(array).astype(np.uint8))
    assert (grown(array, margins).upper <= upper).all()


@given(st.data(), small_tables(most_people=30, most_cells=54))
@settings(max_examples=100)
def test_a_further_margin_never_widens(data, array):
    margins = data.draw(releases(array.ndim))
    found = GrowingBounds(array.shape, int(array.sum()), every_cell(array))
    lower, upper = found.lower, found.upper
    for axes in margins:
        (narrowest,) = found.add([(bit_set(axes), counts(array, axes))])
        assert (found.lower >= lower).all()
        assert (found.upper <= upper).all()
        lower, upper = found.lower, found.upper
        assert narrowest == (upper - lower).min()


@given(st.data(), small_tables(most_people=30, most_cells=54))
@settings(max_examples=100)
def test_together_is_the_same_as_one_by_one(data, array):
    margins = data.draw(releases(array.ndim))
    pairs = [(bit_set(axes), counts(array, axes)) for axes in margins]
    together, single = (
        GrowingBounds(array.shape, int(array.sum()), every_cell(array)) for _ in range(2)
    )
    widths = together.add(pairs)
    assert widths.tolist() == [int(single.add([pair])[0]) for pair in pairs]
    assert (together.lower == single.lower).all()
    assert (together.upper == single.upper).all()


@given(small_tables(most_people=30, most_cells=54))
@settings(max_examples=100)
def test_one_margin_and_the_one_way_margins_have_the_closed_form(array):
    first, *rest = range(array.ndim)
    margins = [(first, rest[0]), *((axis,) for axis in range(array.ndim))]
    found = grown(array, margins)
    sharp = bounds(Release.margins(named(array), letters(margins)))
    assert (found.upper == sharp.upper).all()
    assert (found.lower == sharp.lower).all()


def test_all_faces_of_a_table_of_two_categories_say_what_programs_say():
    """One number determines such a table, so passing along lines finds its exact range."""
    table = load("example:czech").margin("A*B*C*D")
    array = table.dense()
    faces = [tuple(a for a in range(4) if a != axis) for axis in range(4)]
    found = grown(array, faces)
    release = Release.margins(table, [[table.names[a] for a in face] for face in faces])
    sharp = bounds(release)
    assert found.upper.tolist() == sharp.upper.tolist()
    assert (found.upper < margin_bounds(release, release.formula, table.all().codes)[1]).any()


def test_what_is_not_sought_stays_at_the_smallest_count():
    array = np.array([[[1, 9], [9, 9]], [[9, 9], [9, 2]]])
    faces = [(0, 1), (0, 2), (1, 2)]
    smallest = reduce(np.minimum, [array.sum(axis, keepdims=True) for axis in range(3)])
    everything = grown(array, faces).upper
    assert everything[0] == 3 < smallest.ravel()[0] == 10
    assert (grown(array, faces, sought=range(1, 4)).upper == everything).all()
    quick = grown(array, faces, sought=range(100, 200))
    assert (quick.upper == smallest.ravel()).all()
    assert not quick.lower.any()


def test_totals_beyond_32_bits():
    array = np.array([[2**33, 2**32], [1, 2**32]])
    found = grown(array, [(0,), (1,)])
    sharp = bounds(Release.margins(named(array), [["A"], ["B"]]))
    assert found.lower.tolist() == sharp.lower.tolist()
    assert found.upper.tolist() == sharp.upper.tolist()


def test_no_cells_and_wrong_margins():
    found = GrowingBounds((2, 3), 4, np.zeros((0, 2), np.uint8))
    assert found.add([(0b1, np.array([2, 2]))]).tolist() == [4]
    assert repr(found) == "GrowingBounds(0 cells under 1 margins)"
    with pytest.raises(InconsistentRelease, match="sums to 5, the total is 4"):
        found.add([(0b10, np.array([2, 2, 1]))])
    with pytest.raises(DataError, match="leave it out, or merge"):
        GrowingBounds((4_000, 4_000), 4, np.zeros((1, 2), np.uint16)).add(
            [(0b11, np.zeros((4_000, 4_000)))]
        )
