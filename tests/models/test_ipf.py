"""Proportional fitting: margins are met, the start's interactions and zeros are kept."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DataError, InconsistentRelease
from discreet.models.ipf import ipf
from oracle import releases, small_tables


def sums(array, axes):
    return array.sum(tuple(a for a in range(array.ndim) if a not in axes))


def odds(array):
    return array[0, 0] * array[1, 1] / (array[0, 1] * array[1, 0])


@given(small_tables(), st.data())
def test_the_margins_are_met(array, data):
    margins = {axes: sums(array, axes) for axes in data.draw(releases(array.ndim))}
    found = ipf(np.ones(array.shape), margins)
    room = 1e-8 if found.converged else found.gap * (1 + 1e-9)
    for axes, target in margins.items():
        assert np.allclose(sums(found.array, axes), target, rtol=0, atol=max(room, 1e-8) * 2)


@given(small_tables())
def test_one_way_margins_give_the_product(array):
    found = ipf(np.ones(array.shape), {(a,): sums(array, (a,)) for a in range(array.ndim)})
    product = array.sum() * np.ones(array.shape)
    for a in range(array.ndim):
        shape = [-1 if b == a else 1 for b in range(array.ndim)]
        product *= sums(array, (a,)).reshape(shape) / array.sum()
    assert found.converged
    assert np.allclose(found.array, product)


def test_the_start_gives_the_interaction():
    start = np.array([[4.0, 1.0], [2.0, 3.0]])
    found = ipf(start, {(0,): [60, 40], (1,): [30, 70]})
    assert found.converged
    assert odds(found.array) == pytest.approx(odds(start))


def test_structural_zeros_stay_and_the_rest_is_a_product():
    """Quasi-independence: row effect times column effect off the diagonal."""
    counts = np.array([[0, 12, 5, 9], [7, 0, 3, 11], [2, 8, 0, 6], [10, 4, 13, 0]])
    found = ipf(counts > 0, {(0,): counts.sum(1), (1,): counts.sum(0)})
    assert found.converged
    assert (np.diag(found.array) == 0).all()
    rows, columns = np.nonzero(counts)
    design = np.hstack([np.eye(4)[rows], np.eye(4)[columns]])
    logs = np.log(found.array[rows, columns])
    effects = np.linalg.lstsq(design, logs, rcond=None)[0]
    assert np.allclose(design @ effects, logs)


def test_a_fit_is_its_own_fit():
    rng = np.random.default_rng(1)
    start = rng.random((3, 2, 4))
    margins = {axes: sums(start, axes) for axes in [(0, 1), (1, 2), (0, 2)]}
    found = ipf(start, margins)
    assert found.iterations == 1
    assert np.allclose(found.array, start)


def test_the_total_alone():
    assert np.allclose(ipf(np.ones((2, 3)), {(): 12}).array, 2)


def test_margins_of_no_table_with_these_zeros_do_not_converge():
    found = ipf(np.eye(2), {(0,): [1, 3], (1,): [2, 2]}, iterations=50)
    assert not found.converged
    assert repr(found) == "Scaled(2x2 cells: not converged after 50 iterations, gap 1)"


def test_the_start_is_left_alone():
    start = np.ones((2, 2))
    ipf(start, {(0,): [1, 3]})
    assert (start == 1).all()


def test_all_zero():
    assert (ipf(np.ones((2, 2)), {(0,): [0, 0], (1,): [0, 0]}).array == 0).all()


@pytest.mark.parametrize(
    ("start", "margins", "options", "error", "says"),
    [
        (np.ones((2, 2)), {}, {}, DataError, "no margin to fit"),
        (np.ones((2, 2)), {(2,): [1, 1]}, {}, DataError, r"margin \(2,\) is not a list of axes"),
        (np.ones((2, 2)), {(1, 0): np.ones((2, 2))}, {}, DataError, "rising order"),
        (np.ones((2, 2)), {(0,): [1, 2, 3]}, {}, DataError, r"shape \(3,\)"),
        (np.ones((2, 2)), {(0,): [1, -2]}, {}, DataError, "value of -2"),
        (np.ones((2, 2)), {(0,): [1, np.nan]}, {}, DataError, "value of nan"),
        ([[1, -1], [1, 1]], {(0,): [1, 1]}, {}, DataError, "cell of the start is -1"),
        (np.ones((2, 2)), {(0,): [1, 1]}, {"tolerance": 0}, DataError, "tolerance is 0"),
        (np.ones((2, 2)), {(0,): [1, 1]}, {"iterations": 0}, DataError, "iterations is 0"),
        (
            np.ones((2, 2)),
            {(0,): [1, 1], (1,): [2, 1]},
            {},
            InconsistentRelease,
            "differ by 1 in what they share",
        ),
        ([[0, 0], [1, 1]], {(0,): [1, 1]}, {}, InconsistentRelease, "only zeros"),
        (np.broadcast_to(1.0, (1 << 13, 1 << 12)), {(): 1}, {}, DataError, "too many"),
    ],
)
def test_wrong_input_is_named(start, margins, options, error, says):
    with pytest.raises(error, match=says):
        ipf(start, margins, **options)
