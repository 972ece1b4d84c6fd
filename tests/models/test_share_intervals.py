"""Profile likelihood of a fitted beta distribution, against scipy's beta-binomial on grids."""

import math

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.models.domain_shares import BetaFit, fit_beta
from discreet.models.share_intervals import region

Y, N = np.array([0, 1, 5, 2, 0, 3]), np.array([10, 10, 12, 10, 8, 10])
MANY = np.random.default_rng(1)
SAMPLES = MANY.integers(5, 40, 60)
SEEN = MANY.binomial(SAMPLES, MANY.beta(1, 10, 60))


def log_likelihood(y, n, alpha, beta):
    from scipy.stats import betabinom

    return float(betabinom.logpmf(y, n, alpha, beta).sum())


def profile(y, n, name, value):
    """Over a grid of the other parameter, in logs, and a finer one around its top."""
    pairs = {
        "alpha": lambda z: (value, z),
        "beta": lambda z: (z, value),
        "mean": lambda z: (value * z, (1 - value) * z),
        "size": lambda z: (value / (1 + z), value * z / (1 + z)),
    }

    def highest(grid):
        values = [log_likelihood(y, n, *pairs[name](z)) for z in np.exp(grid)]
        return grid[int(np.argmax(values))], max(values)

    top, _ = highest(np.linspace(-6, 12, 91))
    return highest(np.linspace(top - 0.2, top + 0.2, 81))[1]


@pytest.mark.parametrize(("y", "n"), [(Y, N), (SEEN, SAMPLES)], ids=["few", "many"])
def test_the_ends_are_where_the_profile_has_fallen(y, n):
    fit = fit_beta(y, n)
    ends = fit.intervals(method="profile")
    top = log_likelihood(y, n, fit.alpha, fit.beta)
    assert top == pytest.approx(fit.log_likelihood, rel=1e-9)
    for name, (low, high) in ends.items():
        for end in (low, high):
            if math.isfinite(end) and end > 0:
                assert 2 * (top - profile(y, n, name, end)) == pytest.approx(3.8415, abs=0.003)


def test_domains_that_may_not_differ_have_no_upper_end():
    ends = fit_beta(Y, N).intervals(method="profile")
    assert ends["size"][1] == ends["alpha"][1] == ends["beta"][1] == math.inf
    assert 0 < ends["mean"][0] < ends["mean"][1] < 1
    same = fit_beta([2, 2, 2, 3], [10, 10, 10, 15])
    assert same.at_limit
    assert same.intervals()["size"] == (0.0, math.inf)  # observed information says nothing
    low, high = same.intervals(method="profile")["size"]
    assert low > 1
    assert high == math.inf


def test_both_methods_agree_on_many_domains():
    """At a few hundred domains the likelihood is nearly quadratic."""
    rng = np.random.default_rng(3)
    n = rng.integers(1, 4, 1500) * 15
    fit = fit_beta(rng.binomial(n, rng.beta(2, 6, 1500)), n)
    profiled = fit.intervals(method="profile")
    for name, ends in fit.intervals().items():
        assert profiled[name] == pytest.approx(ends, rel=0.02)
    assert profiled["alpha"][0] < 2 < profiled["alpha"][1]
    assert profiled["mean"][0] < 0.25 < profiled["mean"][1]


def test_a_covariate_has_an_interval_too():
    rng = np.random.default_rng(4)
    x, n = rng.integers(-2, 3, 80), rng.integers(1, 4, 80) * 10
    y = rng.binomial(n, 1 / (1 + np.exp(2 - 0.8 * x)))
    fit = fit_beta(y, n, covariates={"x": x})
    low, high = fit.intervals(method="profile")["x"]
    assert low < 0.8 < high
    assert (low, high) == pytest.approx(fit.intervals()["x"], rel=0.1)


def test_the_edge_of_the_region():
    fit = fit_beta(SEEN, SAMPLES)
    top = log_likelihood(SEEN, SAMPLES, fit.alpha, fit.beta)
    points = region(fit)
    assert len(points) == 48
    for mean, size in points:
        share, whole = 1 / (1 + math.exp(-mean)), math.exp(size)
        fallen = 2 * (top - log_likelihood(SEEN, SAMPLES, share * whole, (1 - share) * whole))
        assert fallen == pytest.approx(5.9915, abs=0.01)


def test_what_was_given_has_no_interval():
    assert BetaFit.given(1, 10).intervals(method="profile") == {}
    with pytest.raises(DataError, match="given, not fitted"):
        region(BetaFit.given(1, 10))
    with pytest.raises(DataError, match="choose observed or profile"):
        fit_beta(Y, N).intervals(method="wald")
    with pytest.raises(DataError, match="the level is 95"):
        fit_beta(Y, N).intervals(95, method="profile")
