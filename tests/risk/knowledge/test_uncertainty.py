"""Uncertainty functions: the best guess under a loss, concave where they say so."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.families import LogNormal, Pareto
from discreet.risk.uncertainty import (
    ByProbability,
    Entropy,
    Largest,
    Lengths,
    Loss,
    RelativeError,
    TwoSided,
    Variance,
    Weighted,
    inverse_moments,
    variation,
)
from discreet.risk.uncertainty.named import NAMES, uncertainty_named
from discreet.risk.uncertainty.shares import everywhere

LABELS = ["a", "b", "c"]
NUMBERS = [1, 2, 4]
WEIGHTS = {"a": 1.0, "b": 2.0, "c": 5.0}
OF_LABELS = [
    Entropy(), Largest(), Weighted(WEIGHTS), ByProbability(), TwoSided(1.5, 2.0),
    Loss([[0, 1, 3], [2, 0, 1], [1, 1, 0]]), Loss(lambda act, truth: float(truth != act)),
]  # fmt: skip
OF_NUMBERS = [Variance(), RelativeError(), Loss(lambda act, truth: abs(truth - act))]
shares = st.lists(st.floats(0.001, 1), min_size=3, max_size=3).map(lambda w: np.array(w) / sum(w))


def belief(p, values=LABELS):
    return Belief.discrete(values, p)


def name(u):
    return type(u).__name__


@pytest.mark.parametrize("u", OF_LABELS, ids=name)
@given(shares, shares, st.floats(0, 1))
def test_concave_or_at_least_quasi_concave(u, p, q, f):
    mixed, a, b = u(belief(f * p + (1 - f) * q)), u(belief(p)), u(belief(q))
    assert mixed >= min(a, b) - 1e-9
    if u.concave:
        assert mixed >= f * a + (1 - f) * b - 1e-9


@pytest.mark.parametrize("u", OF_NUMBERS, ids=name)
@given(shares, shares, st.floats(0, 1))
def test_concave_for_numbers(u, p, q, f):
    mixed = u(belief(f * p + (1 - f) * q, NUMBERS))
    assert mixed >= f * u(belief(p, NUMBERS)) + (1 - f) * u(belief(q, NUMBERS)) - 1e-9


@pytest.mark.parametrize("u", OF_LABELS, ids=name)
def test_certainty_leaves_no_uncertainty(u):
    assert u(belief([0, 1, 0])) == 0
    assert u(belief([1 / 3, 1 / 3, 1 / 3])) > 0


@settings(max_examples=15)
@given(shares)
def test_each_is_the_risk_of_the_best_guess(p):
    error = Loss(1 - np.eye(3))
    assert error(belief(p)) == pytest.approx(Largest()(belief(p)))
    weighted = Loss([[w * (i != j) for j in range(3)] for i, w in enumerate(WEIGHTS.values())])
    assert weighted(belief(p)) == pytest.approx(Weighted(WEIGHTS)(belief(p)))
    numbers = belief(p, NUMBERS)
    guesses = np.linspace(0.5, 5, 1501)
    squared = Loss(lambda d, x: (x - d) ** 2, guesses)(numbers)
    assert squared == pytest.approx(Variance()(numbers), abs=1e-5)
    relative = Loss(lambda d, x: (d / x - 1) ** 2, guesses)(numbers)
    assert relative == pytest.approx(RelativeError()(numbers), abs=1e-5)
    two = Loss([[min(1.5 * w, 2 * (1 - w)) * (i != j) for j in range(3)] for i, w in enumerate(p)])
    assert two(belief(p)) == pytest.approx(TwoSided(1.5, 2)(belief(p)))


def test_losses_of_a_density():
    prior = LogNormal(1, 0.4).belief()
    assert Loss(lambda d, x: (x - d) ** 2)(prior) == pytest.approx(prior.variance, rel=1e-3)
    middle = Loss(lambda d, x: np.abs(x - d))(prior)
    at = abs(prior.values - prior.quantile(0.5))
    step = np.append(np.diff(prior.values), 0)
    assert middle == pytest.approx(float((at * prior.mass * step).sum()), rel=1e-3)
    assert variation(prior) == pytest.approx(math.sqrt(math.exp(0.16) - 1), rel=1e-4)
    assert variation(Pareto(1.2765, 10).belief()) == pytest.approx(0.488973, abs=1e-6)


def test_of_draws():
    draws = Belief.draws(["a", "b", "b", "b"])
    assert Largest()(draws) == 0.25
    assert TwoSided()(draws) == pytest.approx(0.0625)
    assert inverse_moments(Belief.draws([1.0, 2.0])) == (0.75, 0.625)


@pytest.mark.parametrize(
    "u", [Largest(), Weighted(WEIGHTS), ByProbability(), TwoSided(2, 1), TwoSided(1, 0.3)]
)
@given(p=shares, limit=st.floats(0.001, 1.2))
def test_a_limit_is_a_limit_on_shares(u, p, limit):
    assume(abs(u(belief(p)) - limit) > 1e-9)
    assert (u(belief(p)) >= limit) == u.shares(limit, LABELS).hold(belief(p))


@given(st.floats(0.001, 0.999), st.floats(0.001, 0.7))
def test_a_limit_on_the_entropy_of_two_categories(p, limit):
    two = Belief.discrete(["a", "b"], [p, 1 - p])
    assume(abs(Entropy()(two) - limit) > 1e-9)
    assert (Entropy()(two) >= limit) == Entropy().shares(limit, ["a", "b"]).hold(two)


@given(shares, st.floats(0.01, 1.09))
def test_what_the_words_for_entropy_say_is_true(p, limit):
    words = Entropy().limit_words(limit, LABELS)
    yes, no = (float(w.rstrip("%,")) / 100 for w in words.split() if "%" in w)
    if p.max() < yes - 0.001:
        assert Entropy()(belief(p)) >= limit
    if p.max() > no + 0.001:
        assert Entropy()(belief(p)) < limit


@pytest.mark.parametrize(
    ("u", "limit", "words"),
    [
        (Largest(), 0.25, "no category has more than 75%"),
        (Largest(), 0.7, "no table of 3 categories has such shares"),
        (Largest(), 0, "every table"),
        (ByProbability(), 0.25, "no category has more than 80%"),
        (TwoSided(1, 1), 0.09, "every category has 10% to 70%"),
        (TwoSided(1, 1), 0.3, "no table of 3 categories has such shares"),
        (Weighted(WEIGHTS), 0.5, "a has at most 50%; b has at most 75%; c has at most 90%"),
        (Entropy(), 2, "no table: 3 categories have at most 1.099"),
        (Variance(), 4, "the standard deviation of what is believed is at least 2"),
        (RelativeError(), 0.2, "the coefficient of variation of 1/X is at least 0.5"),
        (RelativeError(), 1, "no release: the squared relative error of a best guess is below 1"),
        (Loss(np.eye(3)), 0.2, "the least expected loss is at least 0.2"),
    ],
)
def test_limits_in_words(u, limit, words):
    assert u.limit_words(limit, LABELS) == words


def test_words_of_shares():
    assert str(everywhere(LABELS, 0.2, 1.0)) == "every category has at least 20%"
    assert everywhere(LABELS, 0.2, 0.5).to_json()["a"] == [0.2, 0.5]


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: Largest()(Pareto(1, 1).belief()), "a density has no largest probability"),
        (lambda: Entropy()(Pareto(1, 1).belief()), "a density has no entropy"),
        (lambda: Variance()(belief([0.2, 0.3, 0.5])), "labels"),
        (lambda: RelativeError()(Belief.discrete([0, 1], [0.5, 0.5])), "0 is among them"),
        (lambda: RelativeError()(belief([0.2, 0.3, 0.5])), "values above 0"),
        (lambda: Weighted({"a": 0}), "'a' is 0"),
        (lambda: Weighted({"a": 1})(belief([0.2, 0.3, 0.5])), "'b' has no sensitivity"),
        (lambda: TwoSided(-1), "two-sided loss is -1"),
        (lambda: ByProbability(lambda p: p)(belief([0.2, 0.3, 0.5])), "gamma increases"),
        (lambda: ByProbability(lambda p: -1)(belief([0.2, 0.3, 0.5])), "gamma is -1"),
        (lambda: Loss([[0, 1], [1, 0]])(belief([0.2, 0.3, 0.5])), "3 columns"),
        (lambda: Loss([[0, -1, 0]])(belief([0.2, 0.3, 0.5])), "-1.0 at place 1, 2"),
        (lambda: Loss([[0, math.nan, 0]])(belief([0.2, 0.3, 0.5])), "nan at place 1, 2"),
        (lambda: Loss(lambda d, x: -1.0)(belief([0.2, 0.3, 0.5])), "loss of a is -1"),
        (lambda: Loss(lambda d, x: math.nan)(belief([0.2, 0.3, 0.5])), "loss of a is nan"),
        (lambda: Loss(lambda d, x: 1.0, [])(belief([0.2, 0.3, 0.5])), "no acts"),
        (lambda: uncertainty_named("entropie"), "no uncertainty 'entropie'"),
        (lambda: uncertainty_named("entropy:2"), "no uncertainty"),
        (lambda: uncertainty_named("two-sided:1:x"), "'x' in 'two-sided:1:x'"),
        (lambda: uncertainty_named("two-sided:1:2:3"), "more than two"),
        (lambda: uncertainty_named("weighted:1,2", LABELS), "2 weights for 3 categories"),
        (lambda: uncertainty_named("loss:nowhere.csv", LABELS), "no such file"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(DataError, match=message):
        wrong()


def test_every_name_stands_for_a_function(tmp_path):
    matrix = tmp_path / "loss.csv"
    matrix.write_text("act,c,a,b\nsay a,3,0,1\nsay nothing,1,1,1\n")
    weights = tmp_path / "weights.csv"
    weights.write_text("category,weight\nb,2\na,1\nc,5\n")
    given = {
        "weighted:NUMBERS|FILE": f"weighted:{weights}",
        "two-sided:A:B": "two-sided:2:1",
        "over-under:A:B": "over-under:1:3",
        "loss:FILE": f"loss:{matrix}",
    }
    for text in NAMES:
        assert uncertainty_named(given.get(text, text), LABELS).said
    p = belief([0.2, 0.3, 0.5])
    assert uncertainty_named(f"loss:{matrix}", LABELS)(p) == pytest.approx(1.0)
    assert uncertainty_named("weighted:1,2,5", LABELS)(p) == Weighted(WEIGHTS)(p)
    assert uncertainty_named(f"weighted:{weights}", LABELS)(p) == Weighted(WEIGHTS)(p)
    matrix.write_text("act,c,a\nsay a,3,0\n")
    with pytest.raises(DataError, match="see 'b'"):
        uncertainty_named(f"loss:{matrix}", LABELS)


def test_the_length_of_a_density_of_two_points():
    assert Lengths()(Belief.density([0.0, 1.0], [1.0, 1.0])) == 1
    assert Lengths()(Belief.density([0.0, 1.0, 2.0, 3.0, 4.0], [0.0, 0.0, 1.0, 0.0, 0.0])) == 2
