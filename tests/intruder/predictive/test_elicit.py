"""Priors from shares, comparable tables and quantiles, against searches that share no code."""

import json

import numpy as np
import pytest
from scipy import stats

import discreet as dc
from discreet.errors import DataError
from discreet.intruder.predictive.dispersion import dispersion
from discreet.intruder.predictive.elicit import elicit_shares, elicit_table
from discreet.intruder.predictive.quantiles import NAMED, elicit_quantiles

TOWNS = np.array([[30, 12, 8], [22, 22, 6], [41, 5, 4], [18, 20, 12], [33, 9, 8]], float)


def likelihood(weights, lines):
    """By scipy's Dirichlet-multinomial, up to how many ways people can be ordered."""
    laws = [stats.dirichlet_multinomial(weights, int(line.sum())) for line in lines]
    return sum(law.logpmf(line.astype(int)) for law, line in zip(laws, lines, strict=True))


def test_shares_and_their_worth():
    found = elicit_shares({"a": 0.5, "b": 0.3, "c": 0.2}, worth=40)
    assert found.prior.weights == pytest.approx((20, 12, 8))
    assert found.worth == pytest.approx(40)
    rng = np.random.default_rng(0)
    shares = rng.dirichlet([20, 12, 8], 200_000)
    ends = np.quantile(shares[:, 1], [0.05, 0.95])
    assert found.interval("b") == pytest.approx(tuple(ends), abs=2e-3)
    counts = rng.binomial(60, shares[:, 2])
    low, high = found.foresees(60)["c"]
    assert (counts <= low).mean() >= 0.05 > (counts < low - 1).mean() - 0.01
    assert (counts <= high).mean() >= 0.95 - 0.002
    assert (counts < high).mean() < 0.952


def test_one_comparable_table_is_discounted_or_is_worth_what_is_said():
    estates = dc.load("example:estates")
    assert elicit_table(estates, "Estate").prior.weights == (163, 31, 30)
    assert elicit_table(estates, "Estate", discount=0.5).prior.weights == (81.5, 15.5, 15)
    stated = elicit_table(estates, "Estate", by="Region", worth=22.4)
    assert stated.prior.weights == pytest.approx((16.3, 3.1, 3))
    gone = elicit_table({"a": 3, "b": 0})
    assert gone.interval("b") == (0, 0)
    assert gone.foresees(9) == {"a": (9, 9), "b": (0, 0)}
    assert "believes it impossible" in gone.notes[0]


@pytest.mark.parametrize("factor", [1.0, 0.4])
def test_weights_of_several_tables_are_those_of_greatest_likelihood(factor):
    """No weights nearby or far away are likelier; errors by second differences."""
    lines = np.ceil(TOWNS * factor)
    found = dispersion(lines)
    top = likelihood(found.weights, lines)
    rng = np.random.default_rng(1)
    for scale in (0.01, 0.1, 1.0):
        for _ in range(60):
            other = found.weights * np.exp(scale * rng.normal(size=3))
            assert likelihood(other, lines) <= top + 1e-9
    step, k = 1e-3 * found.weights, len(found.weights)
    curve = np.zeros((k, k))
    for i in range(k):
        for j in range(k):
            ends = [
                a
                * b
                * likelihood(found.weights + a * step * unit(k, i) + b * step * unit(k, j), lines)
                for a in (1, -1)
                for b in (1, -1)
            ]
            curve[i, j] = sum(ends) / (4 * step[i] * step[j])
    spread = np.linalg.inv(-curve)
    assert found.errors == pytest.approx(np.sqrt(np.diag(spread)), rel=2e-2)
    assert found.worth_error == pytest.approx(np.sqrt(spread.sum()), rel=2e-2)


def unit(k, i):
    return np.eye(k)[i]


def test_the_estimate_comes_back_from_tables_that_were_drawn():
    rng = np.random.default_rng(5)
    shares = rng.dirichlet([6, 3, 1], 400)
    lines = np.array([rng.multinomial(80, p) for p in shares], float)
    found = dispersion(lines)
    assert np.abs(found.weights - [6, 3, 1]) / found.errors == pytest.approx([0, 0, 0], abs=3)
    assert abs(found.weights.sum() - 10) < 3 * found.worth_error < 3


def test_tables_that_do_not_differ_have_no_worth_that_can_be_estimated():
    with pytest.raises(DataError, match=r"no more than by chance.*state the worth"):
        elicit_table([{"a": 20, "b": 20}, {"a": 21, "b": 19}, {"a": 20, "b": 20}])


@pytest.mark.parametrize(
    ("call", "message"),
    [
        (lambda: elicit_shares({"a": 0.5, "b": 0.4}, 3), "sum to 1"),
        (lambda: elicit_shares({"a": 0.5, "b": 0.5}, 0), "the worth is 0"),
        (lambda: elicit_table({"a": 0}), "are empty"),
        (lambda: elicit_table({"a": 1}, worth=1, discount=1), "give one of them"),
        (lambda: elicit_table({"a": 1}, discount=-1), "the discount is -1"),
        (lambda: elicit_table([{"a": 1, "b": 0}, {"a": 3, "b": 0}]), "nobody in any"),
        (lambda: elicit_table([{"a": 1, "b": 0}, {"a": 0, "b": 0}]), "nobody in any"),
        (lambda: elicit_table([{"a": 2, "b": 0}, {"a": 0, "b": 3}]), "one category alone"),
        (lambda: elicit_table({"a": 1}, "a"), "go with a table"),
        (lambda: elicit_table(dc.load("example:estates")), "name the target"),
        (lambda: elicit_table(dc.load("example:estates"), "Estate", by="Estate"), "is the target"),
        (lambda: elicit_shares({"a": 1.0}, 3).foresees(0), "whole number"),
        (lambda: elicit_quantiles({0.5: 0.2}), "two or more"),
        (lambda: elicit_quantiles({0.5: 0.2, 0.9: 0.1}), "that rise"),
        (lambda: elicit_quantiles({0.5: 0.2, 1.0: 0.3}), "between 0 and 1"),
        (lambda: elicit_quantiles({0.5: 0.2, 0.9: 1.3}), "between 0 and 1"),
        (lambda: elicit_quantiles({0.5: 0.2, 0.9: 0.3}, "cauchy"), "no family 'cauchy'"),
        (lambda: elicit_quantiles({0.5: 0.2, 0.9: 0.3}, within=0), "above 0"),
        (lambda: elicit_quantiles({0.5: 2, 0.9: 3}, "gamma").dirichlet("a", "b"), "fit a beta"),
    ],
)
def test_refusals(call, message):
    with pytest.raises(DataError, match=message):
        call()


LAWS = {
    "beta": stats.beta(2.5, 7),
    "gamma": stats.gamma(3, scale=0.5),
    "lognormal": stats.lognorm(0.8, scale=np.exp(1.2)),
    "pareto": stats.pareto(1.7, scale=10),
}
TRUE = {"beta": (2.5, 7), "gamma": (3, 2), "lognormal": (1.2, 0.8), "pareto": (1.7, 10)}


@pytest.mark.parametrize("family", NAMED)
def test_a_member_of_the_family_is_found_again(family):
    stated = {p: float(LAWS[family].ppf(p)) for p in (0.1, 0.4, 0.75, 0.95)}
    found = elicit_quantiles(stated, family)
    assert found.parameters == pytest.approx(TRUE[family], rel=1e-4)
    assert found.distance < 1e-5
    assert found.belief().quantile(0.3) == pytest.approx(LAWS[family].ppf(0.3), rel=1e-3)
    assert found.mean == pytest.approx(LAWS[family].mean(), rel=1e-3)
    assert json.loads(json.dumps(found.to_json()))["family"] == family


@pytest.mark.parametrize("family", NAMED)
def test_nothing_nearby_is_nearer(family):
    """Least squares: of shares as they are, of numbers by their logarithms."""
    stated = {0.1: 0.11, 0.5: 0.22, 0.9: 0.45}
    found = elicit_quantiles(stated, family, within=5)
    p, q = np.array(list(stated)), np.array(list(stated.values()))

    def squares(a, b):
        laws = {
            "beta": lambda: stats.beta(a, b),
            "gamma": lambda: stats.gamma(a, scale=1 / b),
            "lognormal": lambda: stats.lognorm(b, scale=np.exp(a)),
            "pareto": lambda: stats.pareto(a, scale=b),
        }
        x = laws[family]().ppf(p)
        return float(((x - q if family == "beta" else np.log(x / q)) ** 2).sum())

    best, rng = squares(*found.parameters), np.random.default_rng(2)
    for scale in (1e-3, 0.05, 0.5):
        for _ in range(40):
            a, b = np.array(found.parameters) * np.exp(scale * rng.normal(size=2))
            assert squares(a, b) >= best - 1e-12


def test_what_no_member_comes_near_is_refused():
    far = {0.05: 0.1, 0.5: 0.11, 0.95: 0.9}
    with pytest.raises(DataError, match=r"no beta distribution comes within 0\.05.*was stated"):
        elicit_quantiles(far)
    assert elicit_quantiles(far, within=0.9).distance > 0.05


def test_a_fitted_prior_of_a_rate_is_what_gamma_and_poisson_make_of_it():
    """A gamma rate and Poisson incidents: negative binomial."""
    law = stats.gamma(3, scale=1 / 60)
    fitted = elicit_quantiles({p: float(law.ppf(p)) for p in (0.1, 0.5, 0.9)}, "gamma")
    before = dc.uncertainty.incidents_before(100, fitted.belief())
    exact = stats.nbinom(3, 60 / 160)
    assert before.probability(4) == pytest.approx(exact.pmf(4), abs=2e-4)
    assert before.variance == pytest.approx(exact.var(), rel=1e-3)
    mines = dc.uncertainty.Rates("mines", 30, 5, exposure=100)
    found = dc.knowledge(mines, limit=50, prior=fitted, measure="gain")
    assert found.rows[0].gain == pytest.approx(exact.var() - 4.8, rel=1e-3)
    assert found.elicited is fitted
    assert "Prior: gamma" in found.notes[-1]


def test_an_elicited_prior_goes_where_a_prior_goes():
    estates = dc.load("example:estates")
    elicited = elicit_shares({"10-19": 0.5, "20-29": 0.3, "30+": 0.2}, 10)
    asked = {"target": "Estate", "limit": 0.1, "fraction": 0.5}
    found = dc.knowledge(estates, prior=elicited, **asked)
    plain = dc.knowledge(estates, prior=elicited.prior, **asked)
    assert found.rows[0].after == plain.rows[0].after
    assert found.to_json()["elicited"]["worth"] == pytest.approx(10)
    assert plain.to_json()["elicited"] is None
    beta = elicit_quantiles({0.1: 0.2, 0.9: 0.5})
    with pytest.raises(DataError, match="goes with a table"):
        dc.knowledge(estates, prior=beta, **asked)
    assert beta.dirichlet("ill", "well").shares[0] == pytest.approx(beta.mean)
