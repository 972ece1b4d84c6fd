import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.table.keys import keys, lookup, merge, unravel

NARROW = st.lists(st.integers(1, 5), min_size=1, max_size=5)
WIDE = st.sampled_from([[2] * 63, [300] * 8, [70_000] * 4])


@st.composite
def cells(draw, shapes=NARROW):
    shape = draw(shapes)
    rows = draw(st.lists(st.tuples(*(st.integers(0, size - 1) for size in shape)), max_size=20))
    codes = np.array(rows, np.min_scalar_type(max(shape) - 1)).reshape(len(rows), len(shape))
    counts = draw(st.lists(st.integers(0, 5), min_size=len(rows), max_size=len(rows)))
    return codes, np.array(counts, np.int64), shape


def by_hand(codes, counts):
    total = {}
    for row, count in zip(codes.tolist(), counts.tolist(), strict=True):
        total[tuple(row)] = total.get(tuple(row), 0) + count
    return {row: n for row, n in sorted(total.items()) if n}


@given(cells(NARROW | WIDE))
def test_keys_sort_like_cells(case):
    codes, _, shape = case
    order = np.argsort(keys(codes, shape), kind="stable")
    assert codes[order].tolist() == sorted(codes.tolist())


@given(cells())
def test_unravel_undoes_keys(case):
    codes, _, shape = case
    assert (unravel(keys(codes, shape), shape) == codes).all()


@given(cells(NARROW | WIDE))
def test_merging_adds_up_and_sorts(case):
    codes, counts, shape = case
    rows, total = merge(codes, counts, shape)
    expected = by_hand(codes, counts)
    assert [tuple(row) for row in rows.tolist()] == list(expected)
    assert total.tolist() == list(expected.values())


@given(cells(NARROW | WIDE))
def test_lookup_finds_the_row_or_nothing(case):
    codes, counts, shape = case
    rows, _ = merge(codes, counts, shape)
    listed = rows.tolist()
    expected = [listed.index(row) if row in listed else -1 for row in codes.tolist()]
    assert lookup(rows, shape, codes).tolist() == expected


@given(cells())
def test_wide_and_narrow_keys_agree(case):
    """The same cells behind 62 columns that do not vary need more than 62 bits."""
    codes, counts, shape = case
    rows, total = merge(codes, counts, shape)
    padded = np.hstack([np.zeros((len(codes), 62), np.uint8), codes])
    wide = [2] * 62 + shape
    assert keys(padded, wide).dtype.kind == "V"
    wide_rows, wide_total = merge(padded, counts, wide)
    assert (wide_rows[:, 62:] == rows).all()
    assert (wide_total == total).all()
    assert (lookup(wide_rows, wide, padded) == lookup(rows, shape, codes)).all()


def test_dense_and_sorted_merging_agree():
    """One more axis makes the table too large to be merged as an array."""
    rng = np.random.default_rng(3)
    shape = [7, 5, 11, 3]
    codes = np.stack([rng.integers(0, size, 5000) for size in shape], axis=1).astype(np.uint16)
    counts = rng.integers(0, 9, 5000)
    dense, total = merge(codes, counts, shape)
    padded = np.hstack([codes, np.zeros((5000, 1), np.uint16)])
    sparse, also = merge(padded, counts, [*shape, 60_000])
    assert (sparse[:, :4] == dense).all()
    assert (total == also).all()


def test_counts_above_the_floats_stay_exact():
    _, total = merge(np.zeros((3, 1), np.uint8), np.array([2**53, 1, 1]), [2])
    assert total.tolist() == [2**53 + 2]


def test_more_axes_than_an_array_can_have():
    shape = [1] * 100 + [3, 2]
    codes = unravel(np.arange(6), shape)
    assert codes[:, -2:].tolist() == [[0, 0], [0, 1], [1, 0], [1, 1], [2, 0], [2, 1]]
    rows, total = merge(codes, np.arange(6), shape)
    assert (rows == codes[1:]).all()
    assert total.tolist() == [1, 2, 3, 4, 5]


@pytest.mark.parametrize("rows", [0, 1, 3])
def test_no_variables_at_all(rows):
    codes = np.zeros((rows, 0), np.uint8)
    merged, total = merge(codes, np.ones(rows, np.int64), [])
    assert (merged.shape, total.sum()) == ((min(rows, 1), 0), rows)
    assert lookup(merged, [], codes).tolist() == [0] * rows
