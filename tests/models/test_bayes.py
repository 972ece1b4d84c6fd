"""Bayesian proportional fitting and integrals over parameters, against closed forms."""

from itertools import product

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.errors import DataError
from discreet.models.bayes import bipf, checked_hyper, margins_of
from discreet.models.conditionals import Conditionals
from discreet.models.importance import bridge, integrate
from quadrature import log_constant

PAIRS = [0b011, 0b110, 0b101]


def draw_probabilities(hyper, sets, *, draws=100, chains=100, burn=50, seed=0):
    """Chains x draws x table from the constrained Dirichlet distribution of a model."""
    a, margins, rng = checked_hyper(hyper), margins_of(sets), np.random.default_rng(seed)
    theta = np.ones((chains, *a.shape)) / a.size
    kept = np.empty((chains, draws, *a.shape))
    for step in range(burn + draws):
        theta = bipf(theta, a, margins, rng)
        if step >= burn:
            kept[:, step - burn] = theta
    return kept


def close(draws, truth, times=5):
    """The mean over chains x draws is the truth within some standard errors."""
    means = draws.mean(1)
    error = means.std(0, ddof=1) / np.sqrt(len(means))
    return (np.abs(means.mean(0) - truth) <= times * error + 1e-12).all()


@pytest.mark.parametrize("shape", [(2, 2, 2), (2, 3, 3), (3, 2, 4)])
def test_draws_have_no_three_way_interaction(shape):
    rng = np.random.default_rng(0)
    theta = draw_probabilities(rng.gamma(1.0, 3, shape) + 0.1, PAIRS, draws=3, chains=20, burn=5)
    logs = np.log(theta).reshape(-1, *shape)
    assert np.allclose(theta.sum((2, 3, 4)), 1)
    for i, j, k in product(*(range(1, n) for n in shape)):
        corners = [
            (-1) ** (a + b + c) * logs[:, i * a, j * b, k * c]
            for a, b, c in product((0, 1), repeat=3)
        ]
        assert np.abs(sum(corners)).max() < 1e-9


def test_draws_keep_the_interactions_of_four_variables():
    """A*B*C + C*D: D is independent of A and B given C in every draw."""
    hyper = np.random.default_rng(1).gamma(1.0, 3, (2, 2, 2, 3)) + 0.1
    theta = draw_probabilities(hyper, [0b0111, 0b1100], draws=2, chains=10)
    share = theta / theta.sum(-1, keepdims=True)
    assert np.ptp(share, axis=(2, 3)).max() < 1e-12


def test_decomposable_mean_is_the_hyper_dirichlet_one():
    hyper = np.random.default_rng(2).gamma(1.0, 3, (2, 3, 3)) + 0.2
    theta = draw_probabilities(hyper, [0b110, 0b101], draws=200, chains=100)
    both, left, right = hyper.sum((0, 1)), hyper.sum(0), hyper.sum(1)
    mean = left[None] * right[:, None] / both / hyper.sum()
    assert close(theta, mean)


def test_saturated_is_dirichlet():
    hyper = np.array([[0.3, 2.0], [5.0, 1.0]])
    theta = draw_probabilities(hyper, [0b11], draws=100, chains=100)
    mean = hyper / hyper.sum()
    assert close(theta, mean)
    assert close((theta - mean) ** 2, mean * (1 - mean) / (hyper.sum() + 1))


def test_start_of_the_chain_does_not_matter():
    """One sweep from far away in a decomposable model is a draw: margins in order of the tree."""
    rng = np.random.default_rng(3)
    hyper = rng.gamma(1.0, 2, (2, 2)) + 0.5
    start = np.broadcast_to(np.outer([0.99, 0.01], [0.01, 0.99]), (4000, 2, 2))
    theta = bipf(start, hyper, margins_of([0b01, 0b10]), rng)
    mean = np.outer(hyper.sum(1), hyper.sum(0)) / hyper.sum() ** 2
    assert close(theta[:, None], mean)


def test_no_margin_is_the_uniform_table():
    theta = draw_probabilities(np.ones((2, 3)), [], draws=2, chains=2)
    assert theta == pytest.approx(1 / 6)


@pytest.mark.parametrize("hyper", [0, -1, np.nan, np.inf])
def test_refuses_a_hyper_parameter(hyper):
    with pytest.raises(DataError, match="above 0"):
        draw_probabilities(np.full((2, 2), float(hyper)), [0b11])


# The constant of the constrained Dirichlet distribution


def ends(hyper, given):
    margin = hyper.sum(tuple(a for a in range(hyper.ndim) if not given >> a & 1))
    return gammaln(margin).sum() - gammaln(margin.sum())


def log_constants(hyper, sets, given, *, by="importance"):
    of = Conditionals.of(hyper.shape, sets, given)
    mode = of.mode(hyper)
    covariance = np.linalg.inv(of.covariance(mode, hyper, of.design, of.design))

    def density(phi):
        return of.log(phi) @ hyper.reshape(-1)

    if by == "bridge":
        draws = draw_probabilities(hyper, sets, draws=300, chains=60)
        flat = draws.reshape(60, 300, -1)
        found = bridge(density, np.stack([of.parameters_of(chain) for chain in flat]))
    else:
        points = integrate(density, mode, covariance, error=0.003)
        found = points.log_integral, points.error
    return ends(hyper, given) + found[0], found[1]


@pytest.mark.parametrize("by", ["importance", "bridge"])
def test_constant_against_quadrature(by):
    """A ratio of two, since the measure of the parameters is up to a factor."""
    rng = np.random.default_rng(4)
    base = np.full((2, 2, 2), 0.5)
    for _ in range(3):
        hyper = base + rng.poisson(5, base.shape)
        exact = log_constant(hyper) - log_constant(base)
        (log, off), (zero, more) = (log_constants(h, PAIRS, 0b110, by=by) for h in (hyper, base))
        assert log - zero == pytest.approx(exact, abs=4 * np.hypot(off, more))
        assert np.hypot(off, more) < 0.02


def test_constant_does_not_depend_on_the_margin():
    rng = np.random.default_rng(5)
    one, two = rng.gamma(1.0, 4, (2, 2, 3, 3)) + 0.2
    found = []
    for given in (0b110, 0b011, 0b101):
        (a, off), (b, more) = (log_constants(h, PAIRS, given) for h in (one, two))
        found.append((a - b, np.hypot(off, more)))
    logs, errors = np.array(found).T
    assert np.ptp(logs) < 4 * errors.max()


def test_constant_of_a_margin_is_closed():
    hyper = np.array([[0.5, 2.0], [3.0, 1.0]])
    log, error = log_constants(hyper, [0b11], 0b11)
    assert error == pytest.approx(0, abs=1e-8)
    assert log == pytest.approx(gammaln(hyper).sum() - gammaln(hyper.sum()))


def test_mode_of_the_conditionals_fits_the_margins():
    counts = np.random.default_rng(6).poisson(6, (2, 3, 3)) + 0.5
    of = Conditionals.of(counts.shape, PAIRS, 0b110)
    fitted = np.exp(of.log(of.mode(counts)[None])[0]).reshape(counts.shape) * counts.sum(0)
    for axis in range(3):
        assert fitted.sum(axis) == pytest.approx(counts.sum(axis), rel=1e-4)


def test_bridge_refuses_one_chain():
    with pytest.raises(DataError, match="too few"):
        bridge(lambda x: x.sum(1), np.zeros((1, 100, 2)))


def test_a_density_of_nothing_is_refused():
    with pytest.raises(DataError, match="is 0 wherever"):
        integrate(lambda x: np.full(len(x), -np.inf), np.zeros(1), np.eye(1))
