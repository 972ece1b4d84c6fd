"""Duncan & Lambert 1986: every number that can be recomputed, and what the paper gets wrong."""

import math

import numpy as np
import pytest
from hypothesis import assume, given
from hypothesis import strategies as st

from discreet import Belief, load
from discreet.uncertainty import (
    ByProbability,
    Entropy,
    Independent,
    KnowledgeRule,
    Largest,
    Measure,
    Pareto,
    RelativeError,
    TwoSided,
    Variance,
    census,
    dominance_bound,
    incidents,
    merged,
    pareto_alpha,
    sampled,
    suppressed,
    value_given_total,
    variation,
)

FIGURE = {
    10: 0.108202804, 15: 0.044363793, 20: 0.023790038, 30: 0.010080697, 40: 0.0055919,
    50: 0.003597227, 75: 0.001698319, 100: 0.001056597, 150: 0.000615439, 200: 0.000477506,
    250: 0.000418802, 300: 0.000336427, 350: 0.0001183,
}  # fmt: skip
QUANTILES = {0.05: 10.4871, 0.25: 13.1115, 0.5: 19.6053, 0.75: 42.0, 0.9: 123.6373, 0.95: 210.8892}


@pytest.fixture(scope="module")
def estate():
    return value_given_total(507.862, 11, Pareto(1.2765, minimum=10))


def two(p):
    return Belief.discrete(["yes", "no"], [p, 1 - p])


def test_section_3_the_estimate_of_alpha():
    assert pareto_alpha(507.862, 11, 10) == pytest.approx(1.2764777737, abs=1e-10)


def test_table_1_and_the_beliefs_of_section_3():
    estates = load("example:estates")
    column = estates.margin("Estate").counts
    assert column.tolist() == [163, 31, 30]
    assert estates.total == 224
    names = estates.variable("Estate").categories
    everywhere = census(dict(zip(names, column.tolist(), strict=True)))
    assert everywhere.mass.round(3).tolist() == [0.728, 0.138, 0.134]
    northeast = estates.slice(Region="Northeast").counts.tolist()
    known = census(dict(zip(names, northeast, strict=True)))
    assert known.mass.round(3).tolist() == [0.732, 0.179, 0.089]


def test_section_3_a_sample_of_estates():
    p, q = np.array([163, 31, 30]) / 224, np.array([0.5, 0.3, 0.2])
    prior = Independent.of(dict(zip("xyz", q.tolist(), strict=True)))
    found = sampled(dict(zip("xyz", [163, 31, 30], strict=True)), 224 / 1000, prior)
    assert found.mass == pytest.approx(0.224 * p + 0.776 * q)


def test_section_4_entropy_and_zero_one_loss():
    p = np.array([163, 31, 30]) / 224
    belief = Belief.discrete(["x", "y", "z"], p)
    assert Entropy()(belief) == pytest.approx(-(p * np.log(p)).sum())
    assert Largest()(belief) == pytest.approx(61 / 224)


def test_figure_1(estate):
    heights = np.interp(list(FIGURE), estate.belief.values, estate.belief.mass)
    assert heights == pytest.approx(list(FIGURE.values()), rel=2e-4, abs=2e-7)
    for share, value in QUANTILES.items():
        assert estate.belief.quantile(share) == pytest.approx(value, rel=3e-5)
    assert estate.belief.mean == pytest.approx(46.169273, abs=1e-5)


def test_the_density_of_the_total(estate):
    """In units of ten million: f_11(50.7862) = .0074384."""
    assert 10 * math.exp(estate.log_evidence) == pytest.approx(0.007438377484, rel=1e-6)


def test_appendix_variation_of_the_reciprocal(estate):
    """The paper prints .529, from 20,000 draws; the exact value is .588755."""
    assert variation(estate.belief) == pytest.approx(0.5887548807742703, abs=5e-8)
    lampman = value_given_total(507.862, 11, Pareto(1.2, minimum=10))
    assert variation(lampman.belief) == pytest.approx(0.596566203595736, abs=5e-8)


def test_appendix_variation_under_the_pareto_distribution():
    """1 / sqrt(alpha (alpha + 2)); the paper's .497 from its draws has an error of its grid."""
    prior = Pareto(1.2765, minimum=10).belief()
    assert variation(prior) == pytest.approx(0.4889725780933361, abs=1e-8)
    assert variation(Pareto(1.2, minimum=10).belief()) == pytest.approx(0.510310, abs=1e-6)


def test_section_5_4_squared_relative_error(estate):
    """The paper prints var(1/X) / E(1/X)^2; its rule needs var(1/X) / E(1/X^2)."""
    cv = variation(estate.belief)
    assert RelativeError()(estate.belief) == pytest.approx(cv**2 / (1 + cv**2))
    assert RelativeError()(estate.belief) == pytest.approx(0.257407, abs=1e-6)
    assert RelativeError().limit_words(0.25) == (
        "the coefficient of variation of 1/X is at least 0.57735"
    )


@given(st.floats(0.001, 0.999), st.floats(0, 0.499))
def test_section_5_a_limit_on_the_gain_under_zero_one_loss(p, limit):
    assume(abs(min(p, 1 - p) - (0.5 - limit)) > 1e-9)
    rule = KnowledgeRule(Largest(), limit, Measure.GAIN)
    assert rule.judge(two(p), two(0.5)).within == (min(p, 1 - p) >= 0.5 - limit)


@given(st.floats(0.001, 0.999), st.floats(0.001, 2))
def test_section_5_1_first_rule(p, limit):
    assume(abs(max(p, 1 - p) - 1 / (1 + limit)) > 1e-9)
    assert (ByProbability()(two(p)) >= limit) == (max(p, 1 - p) <= 1 / (1 + limit))


@given(st.floats(0.001, 0.999), st.floats(0.01, 5), st.floats(0.001, 0.99))
def test_section_5_1_second_rule(p, b, part):
    limit = part * min(b / 4, 1)  # beyond, no table passes
    half = math.sqrt(0.25 - limit / b)
    low, high = 0.5 - half, min(0.5 + half, 1 - math.sqrt(limit))
    shares = (p, 1 - p)
    assume(all(abs(s - end) > 1e-9 for s in shares for end in (low, high)))
    passes = all(low <= s <= high for s in shares)
    assert (TwoSided(b, 1)(two(p)) >= limit) == passes


def test_sections_5_1_and_5_2_losses_that_depend_on_p_are_not_concave():
    """The paper claims it: p = (.9, .1), q = (.5, .5), f = 1/2."""
    for u, mixture, average in (
        (ByProbability(), 0.428571, 0.555556),
        (TwoSided(1, 1), 0.09, 0.13),
    ):
        assert u(two(0.7)) == pytest.approx(mixture, abs=1e-6)
        assert (u(two(0.9)) + u(two(0.5))) / 2 == pytest.approx(average, abs=1e-6)
        assert not u.concave


def test_section_5_2_which_intruder_the_census_standard_protects_from_most():
    """Not the one who believes all alike outside: the mixture must be even."""
    counts = {"yes": 9, "no": 1}
    for u, even, opposite in ((Largest(), 0.3, 0.5), (Entropy(), 0.6109, 0.6931)):
        assert u(sampled(counts, 0.5, two(0.5))) == pytest.approx(even, abs=5e-5)
        assert u(sampled(counts, 0.5, two(0.1))) == pytest.approx(opposite, abs=5e-5)


@given(st.integers(1, 400), st.integers(3, 30), st.integers(0, 400))
def test_section_5_3_variances(total, companies, known):
    assume(known <= total)
    rate = total / companies  # m_2 p_2
    assert Variance()(incidents(total, companies)) == pytest.approx(rate * (1 - 1 / companies))
    inside = (total - known) / (companies - 1) * (1 - 1 / (companies - 1))
    assert Variance()(incidents(total, companies, insider=[known])) == pytest.approx(
        inside, abs=1e-9
    )


def test_section_5_3_dominance():
    """a* = (1 - f)(1 - 1 / (N* - 1)^2), reached at N_2 = N* and x = f m_2 N_2 p_2."""
    assert dominance_bound(4, 0.5) == pytest.approx(0.5 * (1 - 1 / 9))
    total, companies = 40, 4
    insider = Variance()(incidents(total, companies, insider=[20]))
    assert insider == pytest.approx(total / companies * dominance_bound(4, 0.5))


@given(st.floats(0.1, 4), st.floats(0.1, 4), st.floats(0.01, 0.99), st.floats(0.001, 0.999))
def test_section_6_the_loss_uses_the_posterior(a, b, part, r):
    """c1 = 1/2 - (1/4 - t/a)^(1/2), c2 = min(1/2 + (1/4 - t/a)^(1/2), 1 - (t/b)^(1/2))."""
    limit = part * min(a / 4, b)
    half = math.sqrt(0.25 - limit / a)
    bounds = TwoSided(a, b).shares(limit, ["yes", "no"])
    assert bounds.lower[0] == pytest.approx(0.5 - half)
    assert bounds.upper[0] == pytest.approx(min(0.5 + half, 1 - math.sqrt(limit / b)))
    assume(abs(TwoSided(a, b)(two(r)) - limit) > 1e-9)
    assert bounds.hold(two(r)) == (TwoSided(a, b)(two(r)) >= limit)


def test_section_6_merged_and_suppressed_categories():
    prior = Independent.of({"1": 0.1, "2": 0.3, "3": 0.6})
    r = np.array([2, 3, 5]) / 10
    both = merged({"1 or 2": 5, "3": 5}, {"1 or 2": ["1", "2"]}, prior)
    assert both.mass == pytest.approx([0.5 * 0.25, 0.5 * 0.75, 0.5])
    out = suppressed({"2": 3, "3": 5}, ["1"], prior)
    assert out.mass[1:] == pytest.approx(r[1:] * 0.9 / 0.8)  # category 2 too
