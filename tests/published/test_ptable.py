"""R's ptable 1.0.0 (Enderle 2023): the numbers that its vignette, tests and manual print."""

import numpy as np
import pytest

from discreet.masks.cellkey import amount_ptable, count_ptable

PRINTED = {
    (2, 1.0, 0): {
        1: [0.36648551, 0.3664855, 0.1675725, 0.09945652],
        2: [0.06382714, 0.2446915, 0.3829628, 0.24469145, 0.06382714],
    },
    (2, 0.9, 0): {
        1: [0.3625, 0.3625, 0.1875, 0.0875],
        2: [0.05154609, 0.24381564, 0.40927654, 0.24381564, 0.05154609],
    },
    (5, 3.0, 2): {
        1: [0.73446954, 0.136720190, 0.07279631, 0.03742956, 0.018584399],
        2: [0.40880704, 0.406643537, 0.14762401, 0.03231882, 0.004266868, 0.0003397188],
        3: [
            *[0.20398618, 0.393662525, 0.24749239, 0.11056847, 0.035102043, 0.0079189055],
            0.001269491,
        ],
        4: [
            *[0.08485487, 0.277921233, 0.27792123, 0.18939369, 0.105125448, 0.0454553570],
            *[0.015310774, 0.004017391],
        ],
        5: [
            *[0.02014749, 0.173347467, 0.22063302, 0.22131828, 0.174967643, 0.1090164652],
            *[0.053532830, 0.020717693, 0.006319113],
        ],
        6: [
            *[0.072029825, 0.13671708, 0.19735138, 0.216652933, 0.1808822561],
            *[0.114850887, 0.055459983, 0.020367237, 0.005688418],
        ],
        7: [
            *[0.018439196, 0.05548389, 0.12162104, 0.194208159, 0.2259140226],
            *[0.191441399, 0.118180404, 0.053146176, 0.017410672, 0.004155049],
        ],
        8: [
            *[0.003791861, 0.01659093, 0.05229263, 0.118730368, 0.1941934608],
            *[0.228801496, 0.194193460, 0.118730371, 0.052292634, 0.016590928, 0.00379186],
        ],
    },
}


@pytest.mark.parametrize("given", PRINTED)
def test_transition_matrices_of_the_vignette(given):
    D, V, js = given
    table = count_ptable(D, V, js=js)
    assert table.largest == max(PRINTED[given])
    for i, row in PRINTED[given].items():
        assert np.abs(table.p[table.i == i] - row).max() < 1e-7
        shown = table.j[table.i == i]
        assert ((shown == 0) | (shown > js)).all()


def test_intervals_of_the_vignette():
    table = count_ptable(2, 0.9)
    upper = [1, 0.3625, 0.725, 0.9125, 1, 0.05154609, 0.29536173, 0.70463827, 0.94845391, 1]
    assert np.abs(table.upper - upper).max() < 1e-7
    assert table.v.tolist() == [0, -1, 0, 1, 2, -2, -1, 0, 1, 2]


def test_the_variance_that_is_reached():
    """V = 1 cannot be had for i = 1: the vignette prints .93188."""
    table = count_ptable(2, 1)
    assert round(float((table.p * table.v**2)[table.i == 1].sum()), 5) == 0.93188


def test_example_of_the_package():
    """`pt_ex_cnts()` in tests/testthat/test-examples.R."""
    table = count_ptable(2, 1.05, js=1, mono=(True, True, False, True))
    printed = [
        *[1.00000000, 0.50833333, 0.47500000, 0.01666667, 0.16155827, 0.55565037, 0.24246618],
        *[0.04032518, 0.41231301, 0.28806097, 0.18693903, 0.11268699, 0.07012498, 0.24450007],
        *[0.37074990, 0.24450007, 0.07012498],
    ]
    assert np.abs(table.p - printed).max() < 1e-7


def test_perturbation_panel():
    table = count_ptable(2, 1.08, js=1, mono=(True, True, False, True))
    assert table.p[table.i == 1].round(4).tolist() == [0.5133, 0.46, 0.0267]


@pytest.mark.parametrize(
    ("V", "pstay", "variance", "stays"),
    [
        (1, 0.5, [1, 1, 1, 1], [0.5, 0.5, 0.5, 0.5]),
        (1, (0.5, 0.5, 0.7, 0.8), [1, 1, 1, 1], [0.5, 0.5, 0.7, 0.8]),
        (1.5, (0.8, 0.9, 0.9, 0.9), [1.22497, 1.5, 1.5, 1.5], [0.38585, 0.6, 0.7, 0.8]),
    ],
)
def test_who_stays(V, pstay, variance, stays):
    """pstay falls until the variance is met; the last are the vignette's troubles."""
    table = count_ptable(4, V, pstay=pstay)
    for i in range(1, 5):
        row = table.i == i
        assert abs((table.p * table.v)[row].sum()) < 1e-7
        assert (table.p * table.v**2)[row].sum() == pytest.approx(variance[i - 1], abs=1e-5)
        assert table.p[row & (table.v == 0)][0] == pytest.approx(stays[i - 1], abs=1e-5)


def test_example_for_amounts():
    """`pt_ex_nums()`: cellKey's tests print 96 rows with mean .042, j up to 20."""
    table = amount_ptable(10, 3, icat=(1, 5, 10), step=2, optim=(4, 1, 1))
    assert len(table.p) == 96
    assert round(table.p.mean(), 3) == 0.042
    assert (table.i.max(), table.j.max()) == (10, 20)
    assert table.p.sum() == pytest.approx(4)
    for i in (1, 5, 10):
        row = table.i == i
        assert (table.p * table.v**2)[row].sum() == pytest.approx(3, abs=1e-5)
