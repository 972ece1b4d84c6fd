"""Beliefs about population counts: brute force, laws, large populations."""

from fractions import Fraction
from functools import cache
from math import comb, exp

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import DataError
from discreet.intruder.population.panels import LEAST, rule
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.models.domain_shares import BetaFit, fit_beta

LONG = np.longdouble


def exact(n, N, y, alpha, beta):
    """P(Y = y..y + N - n | y) in whole-number arithmetic, for whole alpha and beta."""
    a, b, rest = alpha + y, beta + n - y, N - n

    def rising(x, k):
        product = Fraction(1)
        for j in range(k):
            product *= x + j
        return product

    return [
        comb(rest, t) * rising(a, t) * rising(b, rest - t) / rising(a + b, rest)
        for t in range(rest + 1)
    ]


def summed(counts, function):
    """E f(Y) of one domain, term by term in extended precision."""
    (a,), (b,), rest, y = *counts.shape, int(counts.rest[0]), int(counts.y[0])
    mass = masses(float(a), float(b), rest)
    return float(mass @ function(y + np.arange(rest + 1).astype(LONG)))


@cache
def masses(a, b, rest):
    t = np.arange(rest).astype(LONG)
    steps = np.log((rest - t) * (t + a) / ((t + 1) * (rest - t - 1 + b)))
    logs = np.concatenate([[LONG(0)], np.cumsum(steps)])
    mass = np.exp(logs - logs.max())
    return mass / mass.sum()


def one(n, N, y, alpha=1.0, beta=10.0):
    return PopulationCounts.of(n=n, N=N, y=y, alpha=alpha, beta=beta)


@st.composite
def domains(draw):
    N = draw(st.integers(1, 30))
    n = draw(st.integers(0, N))
    return n, N, draw(st.integers(0, n)), draw(st.integers(1, 9)), draw(st.integers(1, 9))


@given(domains(), st.floats(0.01, 5), st.integers(0, 31))
@settings(max_examples=60)
def test_everything_against_enumeration(domain, rate, limit):
    n, N, y, *_ = domain
    counts, chances = one(*domain), exact(*domain)
    assert sum(chances) == 1
    values = range(y, y + N - n + 1)
    belief = counts.belief(0)
    assert belief.values.tolist() == list(values)
    assert belief.mass == pytest.approx([float(p) for p in chances], rel=1e-11)
    mean = sum(p * Y for p, Y in zip(chances, values, strict=True))
    square = sum(p * Y * Y for p, Y in zip(chances, values, strict=True))
    assert counts.mean[0] == pytest.approx(float(mean), rel=1e-12)
    assert counts.variance[0] == pytest.approx(float(square - mean**2), rel=1e-10, abs=1e-12)
    transform = sum(float(p) * exp(-rate * (Y - y)) for p, Y in zip(chances, values, strict=True))
    assert counts.laplace(rate)[0] == pytest.approx(transform, rel=1e-11)
    below = sum(float(p) for p, Y in zip(chances, values, strict=True) if limit > Y)
    assert counts.below(limit)[0] == pytest.approx(below, rel=1e-11, abs=1e-15)


def test_parameters_far_from_one():
    rng = np.random.default_rng(7)
    for _ in range(200):
        rest = int(10 ** rng.uniform(0, 3))
        a, b = 10 ** rng.uniform(-6, 6, 2)
        rate, scale, share = 10 ** rng.uniform([-8, -3, -1], [3, 5, 1])
        counts = one(0, rest, 0, a, b)
        limit = int(rng.integers(0, rest + 2))
        for value, function in (
            (counts.laplace(rate), lambda Y, r=rate: np.exp(-r * Y)),
            (counts.below(limit), lambda Y, k=limit: 1.0 * (k > Y)),
            (counts.power(scale, share), lambda Y, s=scale, p=share: (1 + Y / s) ** -p),
        ):
            expected = summed(counts, function)
            assert value[0] == pytest.approx(expected, rel=2e-9, abs=1e-300)


LARGE = [
    (100, 10**6, 3, 0.5, 5.0),
    (500_000, 10**6, 200_000, 1.0, 1.0),
    (10, 10**6, 0, 0.01, 0.02),
    (1_000, 500_000, 999, 1.0, 0.01),
    (20, 10**6, 1, 2.0, 3000.0),
    (0, 30_000, 0, 0.001, 5.0),
]


@pytest.mark.parametrize("domain", LARGE)
@pytest.mark.parametrize("rate", [1e-6, 1e-3, 0.1, 3.0])
def test_the_transform_of_large_populations(domain, rate):
    counts, y = one(*domain), domain[2]
    expected = summed(counts, lambda Y: np.exp(-rate * (Y - y)))
    assert counts.laplace(rate)[0] == pytest.approx(expected, rel=1e-9)


@pytest.mark.parametrize("domain", LARGE)
@pytest.mark.parametrize(
    "function",
    [
        lambda Y: (1 + Y / 50) ** -3.0,
        lambda Y: np.exp(-Y / LONG(10)),
        lambda Y: 1.0 * (Y < 12_345),
        lambda Y: 1.0 * ((Y % 1000) < 500) * (Y < 3000),
        lambda Y: Y,
    ],
)
def test_few_terms_are_enough(domain, function):
    """Also for steps, which are found and summed."""
    counts, evaluated = one(*domain), []

    def counting(row, Y):
        evaluated.append(len(Y))
        return np.asarray(function(Y), np.float64)

    assert counts.expect(counting)[0] == pytest.approx(summed(counts, function), rel=1e-9)
    assert sum(evaluated) < 20_000


@pytest.mark.parametrize("domain", LARGE)
@pytest.mark.parametrize("limit", [4_000, 6_000, 25_000, 400_000])
def test_thresholds_of_large_populations(domain, limit):
    counts = one(*domain)
    expected = summed(counts, lambda Y: 1.0 * (limit > Y))
    assert counts.below(limit)[0] == pytest.approx(expected, rel=1e-8, abs=1e-300)


@pytest.mark.parametrize("domain", LARGE)
@pytest.mark.parametrize(("scale", "power"), [(20, 3), (1e5, 2), (0.1, 9)])
def test_powers_of_large_populations(domain, scale, power):
    counts = one(*domain)
    expected = summed(counts, lambda Y: (1 + Y / LONG(scale)) ** -power)
    assert counts.power(scale, power)[0] == pytest.approx(expected, rel=1e-9)


def test_a_population_of_billions():
    counts = one(1000, 4 * 10**9, 3, 1.0, 1e4)
    assert counts.expect(lambda row, Y: Y.astype(float))[0] == pytest.approx(counts.mean[0])
    # the share times N has nearly a gamma distribution
    gamma = stats.beta(4, 1e4 + 997)
    assert counts.below(10**6)[0] == pytest.approx(gamma.cdf(1e6 / 4e9), rel=1e-2)


@given(domains(), st.floats(0.01, 2), st.floats(0.01, 2))
@settings(max_examples=40)
def test_laws(domain, rate, more):
    """More people outside the sample hide better; so does a greater rate weigh more."""
    n, N, y, alpha, beta = domain
    counts, larger = one(*domain), one(n, N + 5, y, alpha, beta)
    assert larger.laplace(rate)[0] <= counts.laplace(rate)[0] * (1 + 1e-12)
    assert counts.laplace(rate + more)[0] <= counts.laplace(rate)[0] * (1 + 1e-12)
    assert larger.below(7)[0] <= counts.below(7)[0] + 1e-12
    assert counts.laplace(rate)[0] >= np.exp(-rate * (counts.mean[0] - y)) * (1 - 1e-12)  # Jensen


@pytest.mark.parametrize("k", [LEAST + 1, LEAST + 2, 12, 30])
def test_a_rule_sums_polynomials(k):
    nodes, weights, fewer = rule(k)
    size = 2**k
    assert len(set(nodes.tolist())) == len(nodes)
    assert weights.min() > 0
    for degree in (0, 1, 2, 3):
        total = float(_power_sum(size, degree))
        assert nodes.astype(float) ** degree @ weights == pytest.approx(total, rel=1e-12)
        assert nodes.astype(float) ** degree @ fewer == pytest.approx(total, rel=1e-12)


def _power_sum(size, degree):
    """Sum of t^degree over 0..size - 1."""
    m = size - 1
    sums = {
        0: size,
        1: Fraction(m * size, 2),
        2: Fraction(m * size * (2 * m + 1), 6),
        3: Fraction(m * size, 2) ** 2,
    }
    return sums[degree]


@pytest.mark.parametrize(
    ("wrong", "says"),
    [
        ({"n": [3, 3], "N": 8, "y": [1, 4]}, "row 2 has 4 people of the class in a sample of 3"),
        ({"n": [9], "N": [8], "y": [1]}, "row 1 has a sample of 9 from a population of 8"),
        ({"n": [3], "N": [8], "y": [-1]}, "row 1 has the count -1"),
        ({"n": [3.5], "N": [8], "y": [1]}, "row 1 has the sample size 3.5"),
        ({"n": [3], "N": [np.nan], "y": [1]}, "row 1 has the population nan"),
        ({"n": ["a"], "N": [8], "y": [1]}, "give numbers"),
        ({"n": [3, 3], "N": [8, 8, 8], "y": [1]}, "2 values for 3 domains"),
        ({"n": 3, "N": 8, "y": 1, "alpha": 0}, "alpha is 0.0"),
    ],
)
def test_wrong_counts(wrong, says):
    with pytest.raises(DataError, match=says):
        PopulationCounts.of(**{"alpha": 1, "beta": 1, **wrong})


@pytest.mark.parametrize("tiny", [1e-12, 1e-17, 1e-24, 1e-60])
def test_a_share_that_is_almost_surely_0_or_1(tiny):
    """All of a domain are in the class, or none."""
    counts = PopulationCounts.of(n=[0, 4], N=[50, 90], y=[0, 4], alpha=1, beta=tiny)
    whole = np.exp(-0.1 * counts.rest)
    assert counts.laplace(0.1) == pytest.approx(whole, rel=1e-7)
    none = PopulationCounts.of(n=[0, 4], N=[50, 90], y=[0, 0], alpha=tiny, beta=1)
    assert none.laplace(0.1) == pytest.approx(np.ones(2), rel=1e-9)


def simulate(rng, domains=400, alpha=0.8, beta=6.0, most=60):
    n = rng.integers(2, most, domains)
    return rng.binomial(n, rng.beta(alpha, beta, domains)), n


def test_the_fit_is_the_maximum():
    y, n = simulate(np.random.default_rng(3))
    fit = fit_beta(y, n)

    def value(alpha, beta):
        return stats.betabinom.logpmf(y, n, alpha, beta).sum()

    best = value(fit.alpha, fit.beta)
    assert fit.log_likelihood == pytest.approx(best, rel=1e-10)
    for a in (0.99, 1.01):
        for b in (0.99, 1.01):
            assert value(fit.alpha * a, fit.beta * b) < best
    low, high = fit.intervals()["alpha"]
    assert low < fit.alpha < high
    assert fit.intervals(0.5)["alpha"][0] > low
    assert set(fit.to_frame()["parameter"]) == {"alpha", "beta", "mean", "size"}
    assert fit.to_frame("polars").shape == (4, 4)


def test_covariates_on_the_logit_scale():
    rng = np.random.default_rng(5)
    n, x = rng.integers(5, 80, 2000), rng.normal(2, 1, 2000)
    mean = 1 / (1 + np.exp(2 - 0.7 * (x - 2)))
    y = rng.binomial(n, rng.beta(mean * 12, (1 - mean) * 12))
    fit = fit_beta(y, n, covariates={"age": x})
    ends = fit.intervals()
    assert ends["age"][0] < 0.7 < ends["age"][1]
    assert ends["size"][0] < 12 < ends["size"][1]
    alpha, beta = fit.parameters({"age": np.array([2.0, 3.0])})
    assert alpha / (alpha + beta) == pytest.approx(1 / (1 + np.exp([2.0, 1.3])), abs=0.02)
    assert fit.to_json()["covariates"]["age"] == pytest.approx(0.7, abs=0.1)
    with pytest.raises(DataError, match="'age' is not given"):
        fit.parameters()
    with pytest.raises(DataError, match="determine one another"):
        fit_beta(y, n, covariates={"a": x, "b": 2 * x})
    with pytest.raises(DataError, match="missing in row 1"):
        fit_beta(y, n, covariates={"a": np.where(x == x[0], np.nan, x)})


def test_domains_that_do_not_differ():
    rng = np.random.default_rng(0)
    n = np.full(300, 40)
    y = np.clip(np.rint(n * 0.2 + rng.normal(0, 1, 300)), 0, n)  # less spread than binomial
    fit = fit_beta(y, n)
    assert fit.at_limit
    assert fit.mean == pytest.approx(0.2, abs=0.01)
    assert fit.intervals()["size"] == (0.0, np.inf)
    assert fit.to_json()["intervals"]["size"] == [0.0, None]


@pytest.mark.parametrize(
    ("y", "n", "says"),
    [
        ([0, 0], [5, 5], "nobody in the samples"),
        ([5, 4], [5, 4], "everybody in the samples"),
        ([1, 0], [1, 1], "do not show how much domains differ"),
        ([2], [5], "do not show how much domains differ"),
        ([6], [5], "above its sample"),
        ([1, 2], [5], "give one of each"),
    ],
)
def test_what_cannot_be_fitted(y, n, says):
    with pytest.raises(DataError, match=says):
        fit_beta(y, n)


def test_given_parameters():
    given = BetaFit.given(2, 8)
    assert (given.alpha, given.beta, given.mean) == pytest.approx((2, 8, 0.2))
    assert given.intervals() == {}
    assert repr(given) == "BetaFit(alpha 2, beta 8, given)"
    with pytest.raises(DataError, match="beta is -1"):
        BetaFit.given(1, -1)


def test_the_fit_is_not_stuck_where_domains_do_not_differ():
    """One large domain hides that the others differ; no variation is 14 below in likelihood."""
    n, y = [3000, *[10] * 6], [300, 0, 0, 0, 5, 9, 1]
    fit = fit_beta(y, n)
    assert (fit.alpha, fit.beta) == pytest.approx((0.282, 0.927), abs=5e-4)
    alike = stats.binom.logpmf(y, n, np.sum(y) / np.sum(n)).sum()
    assert fit.log_likelihood == pytest.approx(alike + 14.1, abs=0.1)
    assert not fit.at_limit


MEANS = stats.logistic.cdf(np.linspace(-8, 8, 33))
PRECISIONS = np.logspace(-6, 6, 37)


@given(st.lists(st.sampled_from([1, 2, 5, 10, 50, 3000]), min_size=2, max_size=6), st.data())
@settings(max_examples=100, deadline=None)
def test_no_mean_and_precision_fit_better(n, data):
    y = [data.draw(st.one_of(st.integers(0, m), st.sampled_from([0, m]))) for m in n]
    assume(0 < sum(y) < sum(n) and max(n) > 1)
    alpha, beta = (np.outer(share, PRECISIONS).ravel() for share in (MEANS, 1 - MEANS))
    grid = sum(stats.betabinom.logpmf(a, b, alpha, beta) for a, b in zip(y, n, strict=True))
    assert fit_beta(y, n).log_likelihood >= grid.max() - 1e-6
