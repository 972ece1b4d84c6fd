"""Population counts given a sample: Bayes' rule by enumeration, calibration, published numbers."""

import dataclasses

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from scipy import integrate, optimize, stats

from discreet.errors import DataError, FormulaError
from discreet.intruder.population.population import population_beliefs, rehearse
from discreet.intruder.population.superpopulation import (
    BetaBinomial,
    GammaPoisson,
    poisson_variance,
)
from discreet.models.loglinear import LogLinear
from discreet.table.formula import as_formula
from discreet.table.table import Table

FRACTIONS = (0.01, 0.1, 0.5)
SAMPLE = Table.of([[1, 4, 0], [2, 1, 0]], A=range(2), B=range(3))


def wide(counts, *shape):
    """Counts as a table with axes A, B, ..."""
    return Table.of(counts.reshape(shape), **{chr(65 + i): range(n) for i, n in enumerate(shape)})


def bayes(prior, f, fraction, most=600):
    """P(F | f) by enumeration: a prior of F, each of them sampled with probability `fraction`."""
    people = np.arange(most + 1)
    joint = prior(people) * stats.binom.pmf(f, people, fraction)
    return joint / joint.sum()


def same(belief, wanted):
    found = np.zeros(len(wanted))
    inside = belief.values < len(wanted)
    found[belief.values[inside]] = belief.mass[inside]
    assert found == pytest.approx(wanted, abs=1e-9)


@settings(max_examples=40)
@given(
    shape=st.floats(0.1, 4),
    rate=st.floats(0.2, 3),
    fraction=st.floats(0.02, 1.0),
    row=st.integers(0, 5),
)
def test_negative_binomial_by_enumeration(shape, rate, fraction, row):
    found = population_beliefs(
        SAMPLE, SAMPLE.all(), fraction=fraction, model=GammaPoisson(shape, rate)
    )
    f = int(SAMPLE.dense().ravel()[row])
    wanted = bayes(lambda F: stats.nbinom.pmf(F, shape, rate / (rate + 1)), f, fraction)
    same(found.belief(row), wanted)
    assert found.unique[row] == pytest.approx(wanted[1], abs=1e-9)
    assert found.mean[row] == pytest.approx(wanted @ np.arange(len(wanted)), rel=1e-6)
    assert found.at_most(3)[row] == pytest.approx(wanted[:4].sum(), abs=1e-9)


@pytest.mark.parametrize("fraction", [0.1, 0.7, 1.0])
def test_log_linear_by_enumeration(fraction):
    """F ~ Poisson(m / pi), m the fitted counts."""
    found = population_beliefs(SAMPLE, SAMPLE.all(), fraction=fraction, model="A + B")
    fitted = LogLinear(as_formula("A + B", SAMPLE.names)).fit(SAMPLE).expected_array().ravel()
    for row, (f, m) in enumerate(zip(SAMPLE.dense().ravel(), fitted, strict=True)):
        wanted = bayes(lambda F, m=m: stats.poisson.pmf(F, m / fraction), int(f), fraction)
        same(found.belief(row), wanted)
    ones = SAMPLE.dense().ravel() == 1
    assert found.unique[ones] == pytest.approx(
        np.exp(-fitted[ones] * (1 - fraction) / fraction), abs=1e-12
    )


def test_beta_binomial_by_quadrature():
    model = BetaBinomial(0.7, 5.0, SAMPLE.total, 30)
    found = population_beliefs(SAMPLE, SAMPLE.all(), model=model)
    for row, f in enumerate(SAMPLE.dense().ravel()):
        wanted = np.array(
            [
                integrate.quad(
                    lambda t, f=f, more=more: (
                        stats.beta.pdf(t, 0.7 + f, 5 + 8 - f) * stats.binom.pmf(more, 22, t)
                    ),
                    0,
                    1,
                )[0]
                for more in range(23)
            ]
        )
        same(found.belief(row), np.concatenate([np.zeros(f), wanted]))


PRINTED = [
    [0.722, 0.212, 0.053, 0.011, 0.002, 0.000],
    [0.510, 0.319, 0.127, 0.036, 0.007, 0.001],
    [0.350, 0.350, 0.200, 0.077, 0.019, 0.002],
    [0.234, 0.334, 0.257, 0.128, 0.041, 0.007],
]


def test_zaslavsky_and_horton_1998_table_1():
    """P(Y | y) for Y = y, ..., y + 5: alpha = 1, beta = 10, 3 of 8 people sampled."""
    domains = Table.of([0, 1, 2, 3], A=range(4))
    found = population_beliefs(domains, domains.all(), model=BetaBinomial(1, 10, 3, 8))
    for y, printed in enumerate(PRINTED):
        assert found.belief(y).values.tolist() == list(range(y, y + 6))
        assert found.belief(y).mass == pytest.approx(printed, abs=5e-4)
    assert found.mean == pytest.approx([y + 5 * (1 + y) / 14 for y in range(4)])  # section 2


def test_the_rule_of_mu_argus():
    """Benedetti & Franconi 1998: P(F = 1 | f = 1) = pi where only the fraction is known."""
    found = population_beliefs(SAMPLE, fraction=0.2, model=GammaPoisson(0, 0))
    assert found.unique == pytest.approx([0.2, 0.2])
    with pytest.raises(DataError, match="empty in the sample"):
        population_beliefs(SAMPLE, SAMPLE.all(), fraction=0.2, model=GammaPoisson(0, 0))


# Calibration


@pytest.mark.parametrize("fraction", FRACTIONS)
@pytest.mark.parametrize("shape", [0.1, 0.5, 2.0])
def test_negative_binomial_is_calibrated(shape, fraction):
    """100,000 cells with 3 people each on average; parameters from the sample."""
    rng = np.random.default_rng(int(100 * shape))
    people = rng.poisson(rng.gamma(shape, 3 / shape, 100_000))
    seen = rng.binomial(people, fraction)
    found = population_beliefs(wide(seen, 250, 400), fraction=fraction)
    unique = people[seen == 1] == 1
    assert found.unique.mean() == pytest.approx(unique.mean(), abs=0.02)
    assert abs(found.expected - unique.sum()) < 4 * found.standard_error
    assert found.sample_uniques == len(unique)


def structured(seed, people):
    """A population whose four variables are independent, 11,340 cells of very different sizes."""
    rng = np.random.default_rng(seed)
    cells = np.ones(1)
    for size in (14, 10, 9, 9):
        cells = np.outer(cells, rng.dirichlet(np.full(size, 0.7))).ravel()
    return rng.poisson(people * cells), rng


@pytest.mark.parametrize("fraction", FRACTIONS)
def test_log_linear_is_calibrated_in_every_bin(fraction):
    people, rng = structured(3, 400_000)
    seen = rng.binomial(people, fraction)
    found = population_beliefs(wide(seen, 14, 10, 9, 9), fraction=fraction, model="A + B + C + D")
    chances, unique = found.unique, people[seen == 1] == 1
    assert chances.mean() == pytest.approx(unique.mean(), abs=0.02)
    assert abs(found.expected - unique.sum()) < 4 * found.standard_error
    for low, high in ((0, 0.25), (0.25, 0.5), (0.5, 0.75), (0.75, 1.01)):
        there = (chances >= low) & (chances < high)
        if there.sum() >= 20:
            error = np.sqrt(np.sum(chances[there] * (1 - chances[there]))) / there.sum()
            apart = abs(chances[there].mean() - unique[there].mean())
            assert apart < max(0.02, 4 * error)


def test_an_overfitted_model_calls_uniques_too_safe():
    people, rng = structured(3, 400_000)
    seen = rng.binomial(people, 0.1)
    table = wide(seen, 14, 10, 9, 9)
    saturated = population_beliefs(table, fraction=0.1, model="A*B*C*D")
    assert saturated.unique == pytest.approx(np.exp(-9))
    assert (people[seen == 1] == 1).mean() > 0.05
    rehearsal = rehearse(table, fraction=0.1, model="A*B*C*D")
    assert rehearsal.score < -20
    assert "does not agree" in repr(rehearsal)
    assert rehearse(table, fraction=0.1, model="A + B + C + D").agrees


def test_a_wrong_model_does_not_agree_with_a_sample_of_the_sample():
    """Log-normal cells: a negative binomial calls uniques too safe, and the rehearsal says so."""
    rng = np.random.default_rng(0)
    people = rng.poisson(np.exp(rng.normal(0, 1.5, 50_000)))
    seen = rng.binomial(people, 0.1)
    table = wide(seen, 200, 250)
    found = population_beliefs(table, fraction=0.1)
    assert found.unique.mean() < (people[seen == 1] == 1).mean() - 0.03
    assert rehearse(table).score < -5
    gamma = rng.binomial(rng.poisson(rng.gamma(0.3, 10, 50_000)), 0.1)
    assert rehearse(wide(gamma, 200, 250)).agrees
    with pytest.raises(DataError, match="nothing to rehearse"):
        rehearse(table, model=GammaPoisson(1, 1))


def test_nothing_to_see_in_a_sample_of_the_sample():
    rehearsal = rehearse(wide(np.array([1, 40, 50, 60]), 2, 2))
    assert not rehearsal.checked
    assert not rehearsal.agrees
    assert "not checked" in repr(rehearsal)


# Parameters and their errors


def test_the_fit_is_of_greatest_likelihood():
    """A second maximiser, over the shape alone: the mean is that of the sample."""
    rng = np.random.default_rng(8)
    seen = rng.binomial(rng.poisson(rng.gamma(0.4, 5, 2_000)), 0.3)
    found = population_beliefs(wide(seen, 40, 50), fraction=0.3)

    def loss(log):
        shape = np.exp(log)
        return -stats.nbinom.logpmf(seen, shape, shape / (shape + seen.mean())).sum()

    shape = np.exp(optimize.minimize_scalar(loss, bounds=(-5, 5), options={"xatol": 1e-8}).x)
    share = (shape / (seen.mean() / 0.3) + 0.3) / (shape / (seen.mean() / 0.3) + 1)
    assert found.unique == pytest.approx(share ** (shape + 1), rel=1e-5)


def test_cells_that_do_not_vary_are_poisson():
    seen = np.tile([0, 1, 2, 1], 100)
    found = population_beliefs(wide(seen, 20, 20), fraction=0.5)
    assert found.unique == pytest.approx(np.exp(-1), abs=1e-4)


def test_the_error_of_a_log_linear_fit_by_simulation():
    """The delta method against fits to 400 new samples."""
    rng = np.random.default_rng(2)
    table = wide(np.array([[30, 18, 9, 1], [16, 8, 6, 2], [5, 4, 1, 1]]), 3, 4)
    model, ones = LogLinear(as_formula("A + B", table.names)), table.small(1)
    fit = model.fit(table)
    m = fit.expected(ones)
    sums = [
        np.exp(-model.fit(wide(rng.poisson(fit.expected_array()), 3, 4)).expected(ones)).sum()
        for _ in range(400)
    ]
    found = poisson_variance(fit, ones, -m * np.exp(-m)) ** 0.5
    assert found == pytest.approx(np.std(sums), rel=0.15)


def test_weights_of_one_size_are_a_fraction():
    weighted = dataclasses.replace(SAMPLE, counts=5 * SAMPLE.counts)
    a = population_beliefs(SAMPLE, weighted=weighted)
    b = population_beliefs(SAMPLE, fraction=0.2)
    assert a.unique == pytest.approx(b.unique)
    assert a.expected == pytest.approx(b.expected)


def test_weights_that_differ():
    weighted = Table.of([[2, 8, 0], [4, 10, 0]], A=range(2), B=range(3))
    found = population_beliefs(SAMPLE, weighted=weighted, model=GammaPoisson(0, 0))
    assert found.unique == pytest.approx([0.5, 0.1])
    assert "10.00% to 50.00% sampled" in repr(found)


# Laws


@settings(max_examples=30)
@given(shape=st.floats(0.05, 5), rate=st.floats(0.01, 5))
def test_more_sampled_is_more_known(shape, rate):
    model = GammaPoisson(shape, rate)
    chances = [
        population_beliefs(SAMPLE, fraction=fraction, model=model).unique[0]
        for fraction in (0.01, 0.1, 0.5, 1.0)
    ]
    assert np.all(np.diff(chances) > 0)
    assert chances[-1] == pytest.approx(1)


def test_the_whole_population_is_known():
    for model in ("negative-binomial", "A + B"):
        found = population_beliefs(SAMPLE, SAMPLE.all(), fraction=1, model=model)
        assert found.mean == pytest.approx(SAMPLE.dense().ravel())
        assert found.expected == pytest.approx(2)
        assert found.standard_error == pytest.approx(0)


def test_the_tables_own_fraction_and_how_it_is_shown():
    table = dataclasses.replace(SAMPLE, sampling_fraction=0.5)
    found = population_beliefs(table, model="A + B")
    assert "50.00% sampled; 0.3 ± 0.6 of 2 sample uniques are population uniques" in repr(found)
    assert found.to_frame().columns.tolist() == ["A", "B", "count", "population", "unique"]
    assert found.plot(0) is not None
    assert "<table" in found._repr_html_()
    assert len(found) == 2


@pytest.mark.parametrize("fraction", [0, -0.5, 1.2, float("nan"), True])
def test_a_wrong_fraction(fraction):
    with pytest.raises(DataError, match=r"fraction is .*above 0 and at most 1"):
        population_beliefs(SAMPLE, fraction=fraction)


def test_what_is_wrong():
    with pytest.raises(DataError, match="how large is the sample"):
        population_beliefs(SAMPLE)
    none = Table.of([[2, 3], [4, 0]], A=range(2), B=range(2))
    with pytest.raises(DataError, match="has no count of 1"):
        population_beliefs(none, fraction=0.5)
    assert population_beliefs(none, none.all(), fraction=0.5).expected == 0
    with pytest.raises(DataError, match="counts nobody"):
        population_beliefs(Table.of([0, 0], A=range(2)), fraction=0.5)
    with pytest.raises(DataError, match="cells are over A, B, the sample over A, B"):
        population_beliefs(SAMPLE, none.all(), fraction=0.5)
    with pytest.raises(DataError, match="give one of them"):
        population_beliefs(SAMPLE, fraction=0.5, weighted=SAMPLE)
    with pytest.raises(DataError, match="weights are 1 or more"):
        population_beliefs(
            SAMPLE, weighted=Table.of([[1, 4, 0], [2, 0, 0]], A=range(2), B=range(3))
        )
    with pytest.raises(FormulaError):
        population_beliefs(SAMPLE, fraction=0.5, model="poisson")
    with pytest.raises(DataError, match="shape of a gamma"):
        GammaPoisson(-1, 1)
    with pytest.raises(DataError, match="alpha 0"):
        BetaBinomial(0, 1, 1, 2)
    with pytest.raises(DataError, match="cannot be a sample"):
        BetaBinomial(1, 1, 3, 2)
