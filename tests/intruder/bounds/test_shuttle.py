"""The shuttle against a plain one, against brute force, and against itself step by step."""

from itertools import product

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.bounds.shuttle.lattice_layout import Layout
from discreet.intruder.bounds.shuttle.shuttle import Shuttle
from discreet.release.release import Release
from oracle import fibre, letters, named, releases, small_tables


def plain_shuttle(array, margins):
    """Every node by its codes, the sum being the last; swept until nothing changes."""
    full = array
    for axis in range(array.ndim):
        full = np.concatenate([full, full.sum(axis, keepdims=True)], axis)
    lower, upper = np.zeros_like(full), np.full_like(full, array.sum())
    for axes in margins:
        known = tuple(
            slice(None) if axis in axes else slice(array.shape[axis], None)
            for axis in range(array.ndim)
        )
        lower[known] = upper[known] = full[known]
    before = None
    while before is None or not np.array_equal(before, (lower, upper)):
        before = np.array([lower, upper])
        for axis, size in enumerate(array.shape):
            low, high = np.moveaxis(lower, axis, 0), np.moveaxis(upper, axis, 0)
            low[size] = np.maximum(low[size], low[:size].sum(0))
            high[size] = np.minimum(high[size], high[:size].sum(0))
            lows, highs = low[:size].copy(), high[:size].copy()
            high[:size] = np.minimum(highs, high[size] - (lows.sum(0) - lows))
            low[:size] = np.maximum(lows, low[size] - (highs.sum(0) - highs))
    return lower, upper


@given(st.data(), small_tables(most_people=30, most_cells=36))
@settings(max_examples=60)
def test_it_is_the_plain_shuttle(data, array):
    margins = data.draw(releases(array.ndim))
    found = Shuttle(Release.margins(named(array), letters(margins))).arrays()
    assert np.array_equal(found, plain_shuttle(array, margins))


@pytest.mark.parametrize(
    "shape", [(2,) * 9, (3, 4, 5, 6), (40, 2, 3), (2, 3, 2, 3, 2, 3), (70, 35), (1, 2, 1, 3), (5,)]
)
@pytest.mark.parametrize("people", [300, 200_000])
def test_shapes_and_sizes(shape, people):
    """Records, chunks and tiles of all kinds; narrow and wide integers."""
    rng = np.random.default_rng(len(shape))
    size = int(np.prod(shape))
    array = rng.multinomial(people, rng.dirichlet(np.full(size, 0.3))).reshape(shape)
    axes = range(len(shape))
    margins = [(a, b) for a in axes for b in axes if a < b] or [(0,)]
    release = Release.margins(named(array), letters(margins))
    shuttle = Shuttle(release)
    assert shuttle.data.dtype == (np.uint16 if people < 1 << 15 else np.uint32)
    assert np.array_equal(shuttle.arrays(), plain_shuttle(array, margins))


@given(st.data(), small_tables())
@settings(max_examples=60)
def test_it_holds_every_table_that_fits(data, array):
    margins = data.draw(releases(array.ndim))
    lower, upper = Shuttle(Release.margins(named(array), letters(margins))).arrays()
    inside = tuple(slice(0, n) for n in array.shape)
    tables = fibre(array, margins)
    assert (lower[inside] <= tables.min(0)).all()
    assert (upper[inside] >= tables.max(0)).all()


@given(st.data(), small_tables(most_people=30, most_cells=36))
@settings(max_examples=60)
def test_margins_added_one_by_one_and_taken_back(data, array):
    table = named(array)
    margins, more = data.draw(releases(array.ndim)), data.draw(releases(array.ndim))
    shuttle = Shuttle(Release.margins(table, letters(margins)))
    before = shuttle.data.copy()
    tables = [table.margin(names) for names in letters(more)]
    for margin in tables:
        assert shuttle.add([margin])
    together = Shuttle(Release.margins(table, letters([*margins, *more])))
    assert np.array_equal(shuttle.arrays(), together.arrays())
    shuttle.roll_back()
    assert np.array_equal(shuttle.data, before)
    shuttle.add(tables)
    shuttle.commit()
    shuttle.roll_back()
    assert np.array_equal(shuttle.arrays(), together.arrays())


@given(st.data(), small_tables(most_people=30, most_cells=36))
@settings(max_examples=60)
def test_margins_dropped_again(data, array):
    """Dropping a maximal margin leaves what it contains; the same as to begin without it."""
    table = named(array)
    release = Release.margins(table, letters(data.draw(releases(array.ndim))))
    shuttle = Shuttle(release, droppable=True)
    before = shuttle.save()
    drop = data.draw(st.sampled_from(release.formula.margins))
    rest = [m for m in release.formula.margins if m != drop]
    rest += [[n for n in drop if n != name] for name in drop if len(drop) > 1]
    if rest:
        shuttle.drop([table.margin(drop)])
        less = Shuttle(Release.margins(table, rest))
        assert np.array_equal(shuttle.arrays(), less.arrays())
        shuttle.add([table.margin(drop)])
        shuttle.commit()
        shuttle.drop([])
        assert np.array_equal(shuttle.arrays(), Shuttle(release).arrays())
    shuttle.load(before)
    assert np.array_equal(shuttle.arrays(), Shuttle(release).arrays())


@given(st.data(), small_tables(most_people=30, most_cells=36), st.integers(1, 4))
@settings(max_examples=60)
def test_a_floor_says_whether_a_margin_can_be_added(data, array, floor):
    table = named(array)
    margins, more = data.draw(releases(array.ndim)), data.draw(releases(array.ndim))
    small = table.small(5)
    together = Shuttle(Release.margins(table, letters([*margins, *more])))
    low, high = together.bounds(small.names, small.codes)
    shuttle = Shuttle(Release.margins(table, letters(margins)))
    shuttle.watch(small)
    held = shuttle.add([table.margin(names) for names in letters(more)], floor=floor)
    low0, high0 = Shuttle(Release.margins(table, letters(margins))).bounds(small.names, small.codes)
    if ((high0 - low0) >= floor).all():
        assert held == bool(((high - low) >= floor).all())
    elif held:
        assert np.array_equal(high - low, high0 - low0)


def test_what_is_known_is_fixed():
    table = named(np.arange(8).reshape(2, 2, 2))
    release = Release.margins(table, "A*B + B*C + A*C")
    known = release.between({"A": 0, "B": 0, "C": 0}, 0, 0)
    low, high = Shuttle(known).arrays()
    assert np.array_equal(low[:2, :2, :2], table.dense())
    assert np.array_equal(high[:2, :2, :2], table.dense())
    with pytest.raises(InconsistentRelease):
        Shuttle(release.insider({"A": 0, "B": 0, "C": 0}, 1).insider({"A": 1, "B": 1, "C": 1}, 7))


def test_a_margin_of_another_table_is_refused():
    one, other = named(np.array([[3, 1], [1, 3]])), named(np.array([[1, 3], [3, 1]]))
    shuttle = Shuttle(Release.margins(one, "A*B"))
    with pytest.raises(InconsistentRelease, match="no table fits: A\\*B has"):
        shuttle.add([other])
    triangle = named(np.arange(8).reshape(2, 2, 2))
    turned = named(np.arange(8)[::-1].reshape(2, 2, 2).copy())
    wide = Shuttle(Release.margins(triangle, "A*B"))
    before = wide.data.copy()
    with pytest.raises(InconsistentRelease):
        wide.add([turned.margin("B*C")])
    wide.roll_back()
    assert np.array_equal(wide.data, before)


def test_it_refuses_before_it_allocates():
    table = named(np.ones((2,) * 10, int))
    with pytest.raises(DataError, match="GiB for 59,049 sums"):
        Shuttle(Release.margins(table, "A*B + B*C + A*C"), most_bytes=1000)


def test_the_layout_finds_every_node_once():
    for shape in [(2,) * 6, (3, 4, 5), (40,), (2, 50, 3)]:
        layout = Layout.of(shape)
        places = {
            layout.place(dict(enumerate(node))) for node in product(*(range(n + 1) for n in shape))
        }
        assert len(places) == layout.nodes
        assert max(lane for _, lane in places) < layout.size <= 32
        assert max(record for record, _ in places) == layout.records - 1


def test_auto_takes_the_shuttle_where_programs_are_slow():
    rng = np.random.default_rng(5)
    array = rng.poisson(0.4, (2,) * 12)
    table = named(array)
    names = table.names
    ring = [[names[i], names[(i + 1) % 12], names[(i + 2) % 12]] for i in range(12)]
    small = table.small()
    found = bounds(Release.margins(table, ring), small)
    assert found.method == "shuttle"
    assert (found.lower <= small.counts).all()
    assert (found.upper >= small.counts).all()
