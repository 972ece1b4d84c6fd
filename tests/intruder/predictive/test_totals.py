"""One of N values given their total: exact, against simulation and closed forms."""

import math

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import DataError, SolverError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.convolution import convolve, integral, interpolate, power
from discreet.intruder.predictive.families import AnyFamily, Gamma, LogNormal, Pareto
from discreet.intruder.predictive.totals import (
    pareto_alpha,
    pareto_prior,
    value_given_total,
    value_under_prior,
)
from discreet.risk.uncertainty import variation

MEAN = 507.862 / 11
ESTATES = Pareto(1.2765, minimum=10)


def simulated(number, alpha, mean, draws, seed):
    """The variation of 1/X: all but one are drawn, weighted by the density of the last."""
    rng = np.random.default_rng(seed)
    y = np.exp(rng.standard_exponential((draws, number - 1)) / alpha)
    last = number * mean - y.sum(1)
    weight = np.where(last >= 1, alpha * np.maximum(last, 1) ** (-alpha - 1), 0)
    first, second = ((1 / y**r).mean(1) @ weight / weight.sum() for r in (1, 2))
    return math.sqrt(second / first**2 - 1)


def test_six_digits():
    found = value_given_total(507.862, 11, ESTATES)
    assert f"{variation(found.belief):.6f}" == "0.588755"


@pytest.mark.parametrize(
    ("number", "draws"),
    [(2, 100_000), (3, 100_000), (5, 50_000), (11, 50_000), (30, 20_000), (100, 8000), (200, 4000)],
)
def test_any_number_of_values_with_the_mean_held_fixed(number, draws):
    """Within four standard errors of ten simulations."""
    found = value_given_total(number * MEAN, number, ESTATES)
    assert found.belief.mean == pytest.approx(MEAN, rel=1e-6)
    runs = [simulated(number, 1.2765, MEAN / 10, draws, seed) for seed in range(10)]
    error = np.std(runs, ddof=1) / math.sqrt(10)
    assert error < 0.003
    assert abs(variation(found.belief) - np.mean(runs)) < 4 * error


def test_two_values_by_quadrature():
    from scipy.integrate import quad

    total = 2 * MEAN / 10

    def moment(r):
        law = lambda y: y**-r * (y * (total - y)) ** -2.2765  # noqa: E731
        return quad(law, 1, total - 1, epsabs=0, epsrel=1e-12, limit=200)[0]

    exact = math.sqrt(moment(2) * moment(0) / moment(1) ** 2 - 1)
    assert variation(value_given_total(2 * MEAN, 2, ESTATES).belief) == pytest.approx(
        exact, abs=5e-7
    )


def test_more_values_tell_less_about_one_of_them():
    cvs = [variation(value_given_total(n * MEAN, n, ESTATES).belief) for n in (2, 5, 20, 80, 200)]
    assert cvs == sorted(cvs, reverse=True)
    assert cvs[-1] > variation(ESTATES.belief())


def test_two_values_are_a_product_of_densities():
    belief = value_given_total(60.0, 2, ESTATES).belief
    x = np.array([10.0, 20, 30, 50])
    product = (x * (60 - x)) ** -2.2765
    found = np.interp(x, belief.values, belief.mass)
    assert found / found[0] == pytest.approx(product / product[0], rel=1e-5)


@pytest.mark.parametrize("number", [2, 3, 10, 60])
@pytest.mark.parametrize("shape", [1.0, 3.0])
def test_gamma_values_have_beta_shares(number, shape):
    """X / total is beta(shape, (N - 1) shape), whatever the rate."""
    found = value_given_total(100.0, number, Gamma(shape, rate=0.3))
    law = stats.beta(shape, (number - 1) * shape, scale=100)
    assert found.belief.mean == pytest.approx(law.mean(), rel=1e-5)
    assert found.belief.variance == pytest.approx(law.var(), rel=1e-4)
    sums = stats.gamma(number * shape, scale=1 / 0.3)
    assert found.log_evidence == pytest.approx(sums.logpdf(100.0), abs=1e-5)


def test_log_normal_and_truncated_values_against_simulation():
    rng = np.random.default_rng(5)
    y = rng.lognormal(1, 0.5, (400_000, 4))
    last = 20 - y.sum(1)
    law = stats.lognorm(0.5, scale=math.e)
    weight = np.where(last > 0, law.pdf(np.maximum(last, 1e-9)), 0)
    belief = value_given_total(20.0, 5, LogNormal(1, 0.5)).belief
    assert belief.mean == pytest.approx(4, rel=1e-6)
    spread = ((y**2).mean(1) @ weight) / weight.sum() - 16
    assert belief.variance == pytest.approx(spread, rel=0.01)
    assert value_given_total(100.0, 10, Gamma(0.5, 1.0, minimum=1)).belief.mean == pytest.approx(10)


def test_a_family_of_ones_own():
    """An exponential density, written by hand: shares are beta(1, N - 1)."""
    family = AnyFamily(lambda x: -x, scale=1.0, top=40.0)
    belief = value_given_total(12.0, 4, family).belief
    assert belief.variance == pytest.approx(144 * 3 / (16 * 5), rel=1e-4)
    assert family.belief().mean == pytest.approx(1, rel=1e-4)
    with pytest.raises(DataError, match="no number somewhere"):
        value_given_total(12.0, 4, AnyFamily(lambda x: x * np.nan, scale=1.0))


def test_an_uncertain_parameter_is_weighted_by_its_evidence():
    families = [Pareto(a, 10) for a in (1.0, 1.5, 3.0)]
    found = value_under_prior(507.862, 11, families, [0.3, 0.3, 0.4])
    logs = [value_given_total(507.862, 11, family).log_evidence for family in families]
    weights = np.array([0.3, 0.3, 0.4]) * np.exp(logs)
    assert [w for w, _ in found.belief.parts] == pytest.approx((weights / weights.sum()).tolist())
    assert found.belief.mean == pytest.approx(MEAN, rel=1e-5)
    flat = Belief.density([0.8, 2.0], [1 / 1.2, 1 / 1.2])
    mixed = value_under_prior(507.862, 11, *pareto_prior(flat, 10))
    finer = np.linspace(0.8, 2.0, 61)[1:-1:2]
    even = value_under_prior(
        507.862, 11, [Pareto(a, 10) for a in finer], np.full(len(finer), 1 / len(finer))
    )
    assert variation(mixed.belief) == pytest.approx(variation(even.belief), abs=1e-4)
    point = value_under_prior(507.862, 11, *pareto_prior(Belief.discrete([1.2765], [1.0]), 10))
    assert variation(point.belief) == pytest.approx(0.5887549, abs=1e-6)


def test_one_value_is_its_total():
    assert value_given_total(70.0, 1, ESTATES).belief.values.tolist() == [70]


@settings(max_examples=25)
@given(st.integers(2, 30), st.floats(0.5, 4), st.floats(1.05, 30))
def test_the_mean_is_always_the_total_by_the_number(number, alpha, mean):
    belief = value_given_total(number * mean, number, Pareto(alpha, 1.0)).belief
    assert belief.mean == pytest.approx(mean, rel=1e-5)
    assert belief.values[0] == 1
    assert belief.values[-1] == pytest.approx(number * mean - number + 1)


def test_convolution_of_exponentials_is_erlang():
    z = np.linspace(0, 12, 601)
    h = z[1]
    for n in (1, 2, 5, 12):
        assert power(np.exp(-z), n, h) == pytest.approx(stats.gamma(n).pdf(z), abs=1e-11)
    assert convolve(np.ones(601), z, h) == pytest.approx(z**2 / 2, abs=1e-9)
    assert integral(np.exp(-z), h) == pytest.approx(1 - math.exp(-12), abs=1e-12)
    at = np.array([0.0, 0.013, 3.3333, 12.0])
    assert interpolate(np.exp(-z), h, at) == pytest.approx(np.exp(-at), abs=1e-10)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: value_given_total(100, 11, ESTATES), "sum to more than 110"),
        (lambda: value_given_total(math.nan, 11, ESTATES), "the total is nan"),
        (lambda: value_given_total(500, 2.5, ESTATES), "whole number"),
        (lambda: value_given_total(500, 0, ESTATES), "number of values is 0"),
        (lambda: pareto_alpha(110, 11, 10), "sum to more"),
        (lambda: Pareto(0, 10), "alpha is 0"),
        (lambda: Pareto(1, 0), "minimum is 0"),
        (lambda: Gamma(0.5, 1), "infinite at 0"),
        (lambda: Gamma(1, -1), "rate is -1"),
        (lambda: LogNormal(0, 0), "sigma is 0"),
        (lambda: LogNormal(math.nan, 1), "mu is nan"),
        (lambda: AnyFamily(np.log, 1.0).belief(), "finite `top`"),
        (lambda: value_under_prior(500, 11, [ESTATES], [0.9]), "sum to 0.9"),
        (lambda: value_under_prior(500, 11, [ESTATES], [0.5, 0.5]), "one each"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(DataError, match=message):
        wrong()


def test_what_cannot_be_computed_to_seven_digits_is_refused():
    with pytest.raises(SolverError, match="too improbable"):
        value_given_total(100.0, 10, LogNormal(1, 0.1))
