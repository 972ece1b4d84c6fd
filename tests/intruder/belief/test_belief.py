"""Belief: what is asked of it against brute force, errors, Monte Carlo error, charts."""

import math

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from scipy import stats

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief, Kind

THREE = Belief.discrete([2, 0, 1], [0.3, 0.2, 0.5])
COLOURS = Belief.discrete(["red", "black", "blond"], [0.2, 0.7, 0.1])


@st.composite
def discretes(draw, most=6):
    values = draw(st.lists(st.integers(-5, 20), min_size=1, max_size=most, unique=True))
    masses = draw(
        st.lists(st.integers(0, 9), min_size=len(values), max_size=len(values)).filter(any)
    )
    return Belief.discrete(values, np.array(masses) / sum(masses))


def gamma_belief():
    grid = np.linspace(0, 40, 4001)
    return Belief.density(grid, stats.gamma(3).pdf(grid))


# Discrete


def test_a_discrete_belief():
    assert THREE.exact
    assert THREE.kind is Kind.DISCRETE
    assert THREE.values.tolist() == [0, 1, 2]
    assert THREE.mean == pytest.approx(1.1)
    assert THREE.variance == pytest.approx(0.2 * 1.21 + 0.5 * 0.01 + 0.3 * 0.81)
    assert THREE.mode == 1
    assert THREE.entropy == pytest.approx(stats.entropy([0.2, 0.5, 0.3]))
    assert [THREE.quantile(p) for p in (0, 0.2, 0.21, 0.7, 1)] == [0, 0, 1, 1, 2]
    assert THREE.highest(0.5) == [1]
    assert THREE.highest(0.51) == [1, 2]
    assert THREE.standard_error(1) == 0


@pytest.mark.parametrize(
    ("event", "probability"),
    [(1, 0.5), (7, 0), (0.5, 0), ((1, 9), 0.8), ([0, 2], 0.5), ({0}, 0.2), (lambda n: n > 0, 0.8),
     (lambda n: n in (0, 1), 0.7)],
)  # fmt: skip
def test_probabilities_of_events(event, probability):
    assert THREE.probability(event) == pytest.approx(probability)


def test_labels_keep_their_order_and_have_no_mean():
    assert COLOURS.mode == "black"
    assert COLOURS.probability(["red", "blond"]) == pytest.approx(0.3)
    assert COLOURS.highest(0.9) == ["red", "black"]
    assert COLOURS.to_frame()["value"].tolist() == ["red", "black", "blond"]
    assert repr(COLOURS) == "Belief(3 values: most probable black with 0.7000, exact)"
    for ask in (lambda: COLOURS.mean, lambda: COLOURS.variance, lambda: COLOURS.quantile(0.5)):
        with pytest.raises(DataError, match=r"the values are labels \(red, \.\.\.\)"):
            ask()
    with pytest.raises(DataError, match="no interval of these values"):
        COLOURS.probability(("black", "red"))


@pytest.mark.parametrize(
    ("make", "says"),
    [
        (lambda: Belief.discrete([0, 1], [0.5, 0.4]), "sum to 0.9, not to 1"),
        (lambda: Belief.discrete([0, 1], [1.5, -0.5]), r"a probability is -0\.5"),
        (lambda: Belief.discrete([0, 1], [np.nan, 1]), "a probability is nan"),
        (lambda: Belief.discrete([0, 1], [1.0]), "2 values but 1 numbers"),
        (lambda: Belief.discrete([], []), r"a list of values, not an array of shape \(0,\)"),
        (lambda: Belief.discrete([0, 0], [0.5, 0.5]), "the value 0 is listed twice"),
        (lambda: Belief.discrete([0, np.inf], [0.5, 0.5]), "a value is inf"),
        (lambda: Belief.discrete([0], [1], effective=0), "effective is 0"),
        (lambda: Belief.density([0, 1], [2, 2]), "integrates to 2 on its grid"),
        (lambda: Belief.density([0, 0], [1, 1]), "two or more increasing numbers"),
        (lambda: Belief.density([0, 1], [1, 1, 1]), "2 values but 3 numbers"),
        (lambda: Belief.draws([]), "a list of values"),
        (lambda: Belief.draws([1, 2], [0, 0]), "all weights are 0"),
        (lambda: Belief.draws([1, 2], [1, -1]), r"a weight is -1\.0"),
        (lambda: Belief.draws([1, 2, 3], chains=[0, 0, 1]), "the chains have 2, 1 draws"),
        (lambda: Belief.mixture([THREE], [0.5]), "weights of the mixture sum to 0.5"),
        (lambda: Belief.mixture([THREE, THREE], [1.0]), "2 values but 1 numbers"),
        (lambda: Belief.mixture([THREE, COLOURS], [0.5, 0.5]), "numbers and labels do not mix"),
        (lambda: Belief.mixture([THREE, gamma_belief()], [0.5, 0.5]), "a density does not mix"),
        (lambda: THREE.quantile(1.5), r"1\.5 is no probability"),
        (lambda: THREE.probability("red"), "'red' is a label"),
        (lambda: THREE.to_frame("excel"), "no frame 'excel'"),
    ],
)
def test_errors_say_what_is_wrong(make, says):
    with pytest.raises(DataError, match=says):
        make()


# Densities


def test_a_density_against_scipy():
    belief, truth = gamma_belief(), stats.gamma(3)
    assert belief.exact
    assert belief.mean == pytest.approx(3, abs=1e-4)
    assert belief.variance == pytest.approx(3, abs=1e-3)
    assert belief.mode == pytest.approx(2, abs=0.01)
    assert belief.entropy == pytest.approx(float(truth.entropy()), abs=1e-4)
    assert belief.quantile(0.9) == pytest.approx(truth.ppf(0.9), abs=1e-3)
    assert belief.probability((1, 4)) == pytest.approx(truth.cdf(4) - truth.cdf(1), abs=1e-5)
    assert belief.probability(lambda x: x > 2) == pytest.approx(truth.sf(2), abs=1e-2)
    assert belief.probability(2.0) == 0
    assert belief.probability((4, 1)) == 0
    ((low, high),) = belief.highest(0.8)
    assert truth.cdf(high) - truth.cdf(low) == pytest.approx(0.8, abs=1e-4)
    assert truth.pdf(low) == pytest.approx(truth.pdf(high), abs=1e-4)
    assert "density on 4,001 points: mean 3" in repr(belief)


def test_the_highest_set_of_two_humps_is_two_intervals():
    belief = Belief.density([0, 1, 2, 3, 4], [0, 0.5, 0, 0.5, 0])
    (a, b), (c, d) = belief.highest(0.75)
    assert (a, b, c, d) == pytest.approx((0.5, 1.5, 2.5, 3.5))
    assert Belief.density([0, 1], [1, 1]).highest(0.5) == [(0, 1)]
    assert Belief.density([0, 1], [1, 1]).entropy == pytest.approx(0)
    assert Belief.density([0, 1], [0, 2]).entropy == pytest.approx(0.5 - math.log(2))


# Draws and their error


def test_weighted_draws():
    belief = Belief.draws([0, 1, 1, 5], [2, 1, 1, 0])
    assert not belief.exact
    assert belief.probability(0) == 0.5
    assert (belief.mean, belief.mode) == (0.5, 0)
    assert belief.probability(5) == 0
    assert belief.standard_error(5) > 0
    assert list(belief.to_frame().columns) == ["value", "probability", "standard_error"]
    assert repr(belief) == "Belief(3 values: most probable 0 with 0.5000, mean 0.5, 4 draws)"


def test_the_error_of_draws_is_that_of_repeated_estimates():
    rng, n = np.random.default_rng(1), 400
    found, errors = [], []
    for _ in range(500):
        x = rng.normal(size=n)
        belief = Belief.draws(x, np.exp(0.5 * x))  # tilted to mean 1/2
        found.append([belief.mean, belief.probability((0, 9))])
        errors.append([belief.standard_error(), belief.standard_error((0, 9))])
    assert np.mean(errors, 0) == pytest.approx(np.std(found, 0), rel=0.1)
    assert np.mean(found, 0) == pytest.approx([0.5, stats.norm.cdf(0.5)], abs=0.01)


def test_chains_are_worth_less():
    rng, n, keep = np.random.default_rng(2), 20_000, 0.9
    noise = rng.normal(size=(4, n)) * math.sqrt(1 - keep**2)
    x = np.zeros((4, n))
    for t in range(1, n):
        x[:, t] = keep * x[:, t - 1] + noise[:, t]
    chains, alone = Belief.draws(x), Belief.draws(x.ravel())
    ratio = chains.standard_error() / alone.standard_error()
    assert ratio == pytest.approx(math.sqrt((1 + keep) / (1 - keep)), rel=0.1)
    assert chains.standard_error(lambda v: v > 0) > 2 * alone.standard_error(lambda v: v > 0)
    same = Belief.draws(np.ones((2, 50)))
    assert same.standard_error() == 0


def test_continuous_draws_have_intervals_but_no_most_probable_value():
    belief = Belief.draws(np.random.default_rng(3).normal(size=5_000))
    ((low, high),) = belief.highest(0.95)
    assert (low, high) == pytest.approx((-1.96, 1.96), abs=0.2)
    assert belief.probability((low, high)) >= 0.95 - 1e-9
    for ask in (lambda: belief.mode, lambda: belief.entropy):
        with pytest.raises(DataError, match="hardly a value was drawn twice"):
            ask()
    assert "5,000 values: mean" in repr(belief)


# Mixtures


def test_a_mixture_of_exact_and_sampled():
    sampled = Belief.draws([0, 1, 1, 1])
    mixed = Belief.mixture([THREE, sampled], [0.25, 0.75])
    assert not mixed.exact
    assert mixed.probability(1) == pytest.approx(0.25 * 0.5 + 0.75 * 0.75)
    assert mixed.standard_error(1) == pytest.approx(0.75 * sampled.standard_error(1))
    assert Belief.mixture([THREE, THREE], [0.5, 0.5]).exact


def test_a_mixture_of_densities():
    one = Belief.density([0, 1], [1, 1])
    two = Belief.density([2, 4], [0.5, 0.5])
    mixed = Belief.mixture([one, two], [0.5, 0.5])
    assert mixed.mean == pytest.approx(1.75)
    assert mixed.probability((0, 1)) == pytest.approx(0.5)
    assert mixed.probability((1, 2)) == pytest.approx(0)
    assert mixed.quantile(0.75) == pytest.approx(3)
    drawn = mixed.sample(1_000, 1)
    assert ((drawn <= 1 + 1e-9) | (drawn >= 2 - 1e-9)).all()
    assert Belief.mixture([gamma_belief(), gamma_belief()], [0.3, 0.7]).mean == pytest.approx(
        gamma_belief().mean
    )


@given(st.lists(discretes(), min_size=1, max_size=4), st.data())
def test_the_laws_of_mixtures(beliefs, data):
    n = len(beliefs)
    shares = data.draw(st.lists(st.integers(1, 9), min_size=n, max_size=n))
    weights = np.array(shares) / sum(shares)
    mixed = Belief.mixture(beliefs, weights)
    assert mixed.mass.sum() == pytest.approx(1)
    assert mixed.mean == pytest.approx(sum(w * b.mean for w, b in zip(weights, beliefs)))  # noqa: B905
    assert mixed.entropy >= sum(w * b.entropy for w, b in zip(weights, beliefs)) - 1e-9  # noqa: B905
    value = beliefs[0].mode
    said = sum(w * b.probability(value) for w, b in zip(weights, beliefs))  # noqa: B905
    assert mixed.probability(value) == pytest.approx(said)


@given(discretes(), st.floats(0, 1))
def test_the_laws_of_a_belief(belief, p):
    assert belief.probability(lambda x: x == x) == pytest.approx(1)
    assert belief.probability((-100, belief.quantile(p))) >= p - 1e-9
    chosen = belief.highest(p)
    assert belief.probability(chosen) >= p - 1e-9
    assert len(chosen) == 1 or belief.probability(chosen[:-1]) < 1
    assert 0 <= belief.entropy <= math.log(len(belief.values)) + 1e-9
    drawn = belief.sample(50, 1)
    assert belief.probability(list(drawn)) > 0
    again = Belief.draws(drawn)
    assert set(again.values) <= set(belief.values.tolist())


def test_samples_agree_with_the_belief():
    for belief in (THREE, gamma_belief()):
        drawn = Belief.draws(belief.sample(20_000, np.random.default_rng(5)))
        assert abs(drawn.mean - belief.mean) < 4 * drawn.standard_error()
        event = (1, 2)
        error = drawn.standard_error(event)
        assert abs(drawn.probability(event) - belief.probability(event)) < 4 * error


def test_counted_draws_keep_their_error():
    belief = Belief.discrete([0, 1], [0.5, 0.5], effective=100)
    assert not belief.exact
    assert belief.standard_error(1) == pytest.approx(0.05)
    assert belief.standard_error() == pytest.approx(0.05)
    assert belief.standard_error(7) > 0
    assert repr(belief).endswith("100 draws)")


# Looks


def test_charts_mark_the_truth():
    bars = THREE.plot(true=2).to_dict()
    assert bars["description"] == "The best guess is 1, with probability 50%; it is 2"
    assert "right" in THREE.plot(true=1).to_dict()["description"]
    assert "density" not in str(COLOURS.plot(true="red").to_dict()["title"])
    area = gamma_belief().plot(true=1.5).to_dict()
    assert "near 2" in area["description"]
    assert Belief.draws(np.random.default_rng(1).normal(size=99)).plot().to_dict()["layer"]
    many = Belief.discrete(range(100), np.full(100, 0.01)).plot(true=99).to_dict()
    assert "69 more values" in str(many)


@pytest.mark.parametrize("kind", ["pandas", "polars", "arrow"])
def test_frames(kind):
    assert len(THREE.to_frame(kind)) == 3
    assert "<code>Belief(3 values" in THREE._repr_html_()
