"""Dobra, Fienberg & Trottini 2003, Tables 2 and 4: what an intruder believes about small cells."""

import numpy as np
import pytest

from discreet.intruder.posterior.decomposable import decomposable_posterior
from discreet.intruder.posterior.exact import exact_posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.load import load

CELLS = [(0, 2, 0), (0, 2, 1), (1, 2, 1), (0, 2, 2)]
SATURATED = [  # Table 2 prints .50 .50; .43 .26 .31; .31 .26 .43; .39 .25 .36, from 500 draws
    [0.4994, 0.5006, 0],
    [0.3739, 0.2500, 0.3761],
    [0.3761, 0.2500, 0.3739],
    [0.3777, 0.2500, 0.3723],
]
INDEPENDENT = [  # Table 4 agrees
    [0.6480, 0.3520, 0],
    [0.3932, 0.4695, 0.1374],
    [0.1374, 0.4695, 0.3932],
    [0.0578, 0.3687, 0.5735],
]
TABLE = load("example:tract")
RELEASE = Release.margins(TABLE, "Race*Income + Income*Gender")


def columns(posterior):
    rows = [int(np.ravel_multi_index(cell, TABLE.shape)) for cell in CELLS]
    return posterior.matrix(2)[rows]


def test_saturated_model_with_dirichlet_prior():
    found = exact_posterior(RELEASE, weights=CellWeights.dirichlet(0.5))
    assert columns(found) == pytest.approx(np.array(SATURATED), abs=5e-5)
    assert found.tables == 44 * 45 * 30
    assert found.probability_of(TABLE) == pytest.approx(4.199e-6, rel=1e-4)


def test_the_best_guess_at_a_count_of_one_is_right_by_a_hair():
    found = exact_posterior(RELEASE, TABLE.small())
    assert found.guess.tolist()[0] == 1
    assert found.probability(1)[0] == pytest.approx(0.5006, abs=5e-5)


def test_alpha_one_is_uniform():
    one = exact_posterior(RELEASE, weights=CellWeights.dirichlet(1))
    uniform = exact_posterior(RELEASE, weights=CellWeights.uniform())
    assert one.matrix(200) == pytest.approx(uniform.matrix(200), abs=1e-12)
    assert uniform.probability_of(TABLE) == pytest.approx(1 / 59_400)
    assert uniform.entropy == pytest.approx(np.log(59_400))


@pytest.mark.parametrize(
    "believe",
    [
        decomposable_posterior,
        lambda release: exact_posterior(release, weights=CellWeights.multinomial()),
    ],
    ids=["closed form", "sum over tables"],
)
def test_conditional_independence(believe):
    found = believe(RELEASE)
    assert columns(found) == pytest.approx(np.array(INDEPENDENT), abs=5.1e-5)
    assert found.probability_of(TABLE) == pytest.approx(2.3952e-4, rel=1e-4)


def test_czech_four_way_margins():
    """705,884 tables: the uniform posterior of the three small cells, within the sharp bounds."""
    from itertools import combinations

    table = load("example:czech")
    release = Release.margins(table, list(combinations("ABCDEF", 4)))
    found = exact_posterior(release, table.small(), weights=CellWeights.uniform())
    assert found.tables == 705_884
    assert found.low.tolist() == [0, 0, 0]
    assert np.diff(found.starts).tolist() == [11, 10, 10]
    assert found.probability_of(table) == pytest.approx(1 / 705_884)
