"""Which decisions stand over all that the data leave open."""

import math

import numpy as np
import pytest

from discreet.decision.survey.flips import flips
from discreet.decision.survey.publish import publish
from discreet.errors import DataError
from discreet.models.domain_shares import fit_beta
from discreet.models.subclasses import fit_subclasses

CELLS = (
    np.array([10, 10, 12, 10, 8, 10]),
    np.array([60, 40, 90, 80, 30, 70]),
    np.array([0, 1, 5, 2, 0, 3]),
)


@pytest.fixture(scope="module")
def over():
    return flips(publish(*CELLS, ratio=0.4))


def test_no_point_of_the_region_flips_another_cell(over):
    """Random priors whose likelihood, by scipy, lies in the region; risks term by term."""
    from scipy.stats import betabinom

    n, N, y = CELLS
    fit, rng, seen = fit_beta(y, n), np.random.default_rng(0), 0
    top = betabinom.logpmf(y, n, fit.alpha, fit.beta).sum()
    for _ in range(400):
        share, size = 1 / (1 + math.exp(rng.uniform(0, 4))), math.exp(rng.uniform(0, 7))
        alpha, beta = share * size, (1 - share) * size
        if 2 * (top - betabinom.logpmf(y, n, alpha, beta).sum()) > 5.99:
            continue
        seen += 1
        for row in np.flatnonzero(y > 0):
            t = np.arange(N[row] - n[row] + 1)
            chance = betabinom.pmf(t, t[-1], alpha + y[row], beta + n[row] - y[row])
            ratio = float(chance @ np.exp(-(y[row] + t) / 10))
            assert over.low[row] * 0.995 <= ratio <= over.high[row] * 1.005
            if row not in over.flipping:
                assert (ratio < 0.4) == over.publication.publish[row]
    assert seen > 60


def test_which_cells_flip(over):
    assert over.flipping.tolist() == [1, 3, 5]
    assert over.careful.tolist() == [True, False, True, False, True, False]
    assert over.to_json()["rows"] == [2, 4, 6]
    assert over.to_frame()["flips"].sum() == 3


def test_subclasses_move_the_loss():
    """R1 / R0 rises with S, so that the ends of its interval are the ends of the ratio."""
    found = publish(*CELLS, alpha=1, beta=9, disclosure="uniques:8", ratio=0.6)
    kinds = fit_subclasses([3, 2, 2, 1, 1, 1])
    over = flips(found, subclasses=kinds)
    assert over.points == 2
    for S, ratio in zip(kinds.interval, (over.low, over.high), strict=True):
        assert ratio[1] == pytest.approx(found.under(disclosure=f"uniques:{S:g}").ratio[1])
    gamma = flips(found, subclasses=kinds, kind="gamma")
    assert gamma.points == 4
    assert gamma.high[1] >= gamma.low[1]


def test_covariates_move_with_the_prior():
    n, y, x = [10] * 6, [0, 1, 5, 2, 0, 3], [0.0, 1, 2, 1, 0, 2]
    found = publish(n, [60] * 6, y, covariates={"x": x}, ratio=0.4)
    with pytest.raises(DataError, match="the prior depends on x"):
        flips(found)
    over = flips(found, covariates={"x": x})
    assert over.low[1] < found.ratio[1] < over.high[1]


def test_nothing_fitted_is_nothing_to_move():
    with pytest.raises(DataError, match="given, not fitted"):
        flips(publish(*CELLS, alpha=1, beta=9))
