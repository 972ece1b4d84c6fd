"""Dobra, Fienberg & Trottini 2003, Tables 2 and 4: what an intruder believes about small cells."""

import numpy as np
import pytest

from discreet import Release, load
from discreet.beliefs import CellWeights, average_posterior
from discreet.intruder.posterior.average.parameters import importance_posterior
from discreet.intruder.posterior.chains.augment import augment_posterior
from discreet.intruder.posterior.exact.decomposable import decomposable_posterior
from discreet.intruder.posterior.exact.fibre import exact_posterior
from quadrature import given_two_margins

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
NO_SECOND_ORDER = [  # Table 3 prints .64 .36; .44 .36 .20; .20 .36 .44; .14 .34 .52
    [0.6091, 0.3909, 0],
    [0.4151, 0.3568, 0.2281],
    [0.2281, 0.3568, 0.4151],
    [0.1393, 0.3131, 0.5476],
]
PAIRS = "Race*Income + Income*Gender + Race*Gender"
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


def errors(posterior):
    rows = [int(np.ravel_multi_index(cell, TABLE.shape)) for cell in CELLS]
    return np.stack([posterior.standard_error(count) for count in range(3)], 1)[rows]


def test_no_second_order_interaction_by_quadrature():
    """To all digits, over the two parameters that the release leaves open."""
    log, fibres, chances = given_two_margins(TABLE.dense(), 0.5)
    assert log == pytest.approx(-58.90724, abs=1e-4)
    for (i, j, k), row in zip(CELLS, NO_SECOND_ORDER, strict=True):
        found = np.bincount(fibres[k][:, i, j], chances[k], 3)
        assert found == pytest.approx(np.array(row), abs=6e-5)


@pytest.mark.parametrize("route", [augment_posterior, importance_posterior])
def test_no_second_order_interaction(route):
    found = route(RELEASE, PAIRS, standard_error=0.002)
    assert found.diagnostics()["largest_standard_error"] <= 0.002
    off = np.abs(columns(found) - NO_SECOND_ORDER)
    assert (off <= 3 * errors(found) + 5e-5).all()


def test_two_routes_agree():
    """Every probability of every cell, within three standard errors of the difference."""
    chains = augment_posterior(RELEASE, PAIRS, standard_error=0.004, seed=1)
    points = importance_posterior(RELEASE, PAIRS, standard_error=0.002, seed=1)
    assert chains.low.tolist() == points.low.tolist()
    off = np.abs(chains.mass - points.mass) / np.hypot(chains.errors, points.errors)
    assert off.max() <= 4  # 107 probabilities that differ by chance
    assert (off <= 3).mean() >= 0.97


def test_average_with_proper_weights():
    """Marginal likelihoods of the release: -58.3382, -58.9072, -59.6997; equal priors."""
    found = average_posterior(RELEASE)
    logs = np.array([-58.33815, -58.90724, -59.69970])
    weights = np.exp(logs - logs.max()) / np.exp(logs - logs.max()).sum()
    assert [m.weight for m in found.models] == pytest.approx(weights.tolist(), abs=0.005)
    mixed = np.einsum("m,mij->ij", weights, [INDEPENDENT, NO_SECOND_ORDER, SATURATED])
    assert columns(found) == pytest.approx(mixed, abs=0.003)
    assert errors(found).max() <= 0.002


def test_average_with_the_weights_of_the_paper():
    """From .22 .67 .11 (saturated, no second order, independence) the paper prints .18 .72 .10.

    With enough draws its weights, which use the release twice, are .229 .665 .106: they hardly
    move. Means over 500 draws have errors of some ten per cent, which covers the difference. Table
    5 is not the mixture of Tables 2 to 4 by any such weights.
    """
    found = average_posterior(RELEASE, weights="paper", model_prior=[0.11, 0.67, 0.22])
    weights = [m.weight for m in found.models]
    assert weights == pytest.approx([0.106, 0.665, 0.229], abs=0.004)
    mixed = np.einsum("m,mij->ij", weights, [INDEPENDENT, NO_SECOND_ORDER, SATURATED])
    assert columns(found) == pytest.approx(mixed, abs=0.003)


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
