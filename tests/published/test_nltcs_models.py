"""Models of the table of Dobra, Erosheva & Fienberg 2002, whose largest count is 3,853.

The paper prints no fitted counts; the benchmark has all models at their full length.
"""

from itertools import combinations

import numpy as np
import pytest

from discreet.models.latent import LatentClasses
from discreet.models.loglinear import LogLinear
from discreet.models.membership import GradeOfMembership
from discreet.table.formula import Formula

pytestmark = pytest.mark.nltcs


def fitted(nltcs, probabilities):
    """The all-healthy cell, and the chi-square of the 24 cells with at least 100 people."""
    counts, expected = nltcs.dense().ravel(), probabilities * nltcs.total
    large = counts >= 100
    assert large.sum() == 24
    assert counts[0] == counts.max() == 3_853
    return expected[0], (((counts - expected) ** 2 / expected)[large]).sum()


def test_all_pairs_underestimate_the_healthy(nltcs):
    """Section 1.2: log-linear models substantially underestimate the largest count."""
    model = LogLinear(Formula.of(list(combinations(nltcs.names, 2)), nltcs.names))
    fit = model.fit(nltcs, tolerance=1e-4)
    healthy, chi = fitted(nltcs, fit.expected_array().ravel() / nltcs.total)
    assert fit.parameters == 136
    assert fit.log_likelihood == pytest.approx(-129_867, abs=1)
    assert healthy == pytest.approx(3_130, abs=1)
    assert chi == pytest.approx(284, abs=2)


def test_ten_latent_classes_fit_the_healthy(nltcs):
    model = LatentClasses.fit(
        nltcs, 10, rng=np.random.default_rng(1), starts=2, trial=50, tolerance=1
    )
    healthy, chi = fitted(nltcs, model.probabilities)
    assert model.parameters == 169
    assert model.log_likelihood > -131_200
    assert healthy > 3_500
    assert chi < 1_000


def test_three_profiles_do_no_better_than_pairs(nltcs):
    """Grade of membership: the maximum of the exact likelihood, from one short chain."""
    rng = np.random.default_rng(1)
    model = GradeOfMembership.fit(nltcs, 3, rng=rng, chains=1, warmup=30, draws=4)
    healthy, chi = fitted(nltcs, model.probabilities)
    assert model.parameters == 51
    assert model.log_likelihood == pytest.approx(-139_645, abs=4)
    assert healthy == pytest.approx(3_167, abs=15)
    assert chi > 4_000
