"""Expected harm of a belief about a number: by simulation, and where it is known."""

import math

import numpy as np
import pytest
from scipy.integrate import quad
from scipy.stats import norm

import discreet as dc
from discreet.errors import DataError
from discreet.linkage import Normal, NumberLoss, expected_harm
from discreet.uncertainty import AnyFamily, Gamma, LogNormal, Pareto
from harmcases import CONVEX, COSTS, DRAWS, FAMILIES, away, belief

SEED = 19


@pytest.mark.parametrize("family", FAMILIES)
def test_by_a_million_draws(family):
    """Within 3 standard errors, and not the harm of the mean: 7 random beliefs, 12 costs each. Of
    84 such comparisons .2 are expected to fail by chance; with this seed the largest is 1.9."""
    rng = np.random.default_rng([SEED, FAMILIES.index(family)])
    held, draw = belief(family, rng)
    truth = float(rng.uniform(85, 115))
    drawn = draw(DRAWS)
    for name, (loss, cost) in COSTS.items():
        found, costs = expected_harm(held, loss, truth), cost(truth, drawn)
        assert away(found.expected, costs) < 3, name
        assert found.of_estimate == pytest.approx(float(cost(truth, found.estimate)))
        error = costs.std() / DRAWS**0.5
        assert abs(found.expected - found.of_estimate) > 10 * error, name
        assert name not in CONVEX or found.expected > found.of_estimate
        assert found.error <= 1e-6


@pytest.mark.parametrize("family", FAMILIES)
def test_as_the_intruder_sees_it(family):
    """The mean of c(X, d) over the truth X, d the estimate acted on. Largest: 2.1."""
    rng = np.random.default_rng([SEED, 100 + FAMILIES.index(family)])
    held, draw = belief(family, rng)
    drawn = draw(DRAWS // 4)
    for name, (loss, cost) in COSTS.items():
        found = expected_harm(held, loss, 100.0)
        if name == "relative" and family in ("normal", "mixture"):
            continue
        costs = np.broadcast_to(cost(drawn, found.estimate), drawn.shape)
        assert away(found.perceived, costs) < 3, name


LINEAR = [
    (Normal(100, 2), 20.0),
    (LogNormal(4, 0.7), -5.0),
    (Pareto(3, 50), 40.0),
    (Gamma(3, 0.05), 0.0),
    (dc.Belief.discrete([20, 90, 400], [0.5, 0.3, 0.2]), 10.0),
    (dc.Belief.density([10, 20, 50], [0.01, 0.04, 0.01]), 10.0),
    ([(0.4, Normal(100, 2)), (0.6, Pareto(2.5, 60))], 50.0),
]


@pytest.mark.parametrize(("held", "truth"), LINEAR)
def test_where_the_cost_is_a_line_it_is_that_of_the_mean(held, truth):
    """All that is believed is above the truth: what it is overestimated by is y - t."""
    for name in ("excess", "absolute"):
        found = expected_harm(held, NumberLoss(name), truth)
        assert found.expected == pytest.approx(found.of_estimate, rel=1e-12)
    line = NumberLoss("written", points=[(-1e6, 0), (1e6, 20)], of="value")
    found = expected_harm(held, line, truth)
    wide = isinstance(held, (Pareto, list))  # level above a million
    assert found.expected == pytest.approx(found.of_estimate, rel=1e-8 if wide else 1e-12)


def test_known_values():
    """Squared error is bias and variance; a normal half-line is sigma phi + (mu - t) Phi."""
    z = (100 - 95) / 20
    half = 20 * norm.pdf(z) + 5 * norm.cdf(z)
    assert expected_harm(Normal(100, 20), NumberLoss("excess"), 95).expected == pytest.approx(half)
    squared = expected_harm(Normal(100, 20), NumberLoss("squared"), 95)
    assert squared.expected == pytest.approx(25 + 400)
    assert squared.perceived == pytest.approx(400)
    pareto = Pareto(3, 2)  # mean 3, E Y^2 = 12
    assert expected_harm(pareto, NumberLoss("squared"), 1).expected == pytest.approx(12 - 6 + 1)
    seen = expected_harm(pareto, NumberLoss("relative"), 1).perceived
    assert seen == pytest.approx(9 * 3 / 5 / 4 - 2 * 3 * 3 / 4 / 2 + 1)
    assert expected_harm(Pareto(2, 2), NumberLoss("squared"), 1).expected == math.inf
    assert expected_harm(Normal(9, 1), NumberLoss("relative"), 9).perceived == math.inf


def test_tails_keep_their_digits():
    """A number 30 standard deviations below the truth is overestimated by 1e-197 squared."""
    for mean, truth in ((0.0, 30.0), (-1e9, -1e9 + 30)):
        found = expected_harm(Normal(mean, 1), NumberLoss("overestimate"), truth).expected
        exact = quad(lambda u: u**2 * norm.pdf(30 + u), 0, 3, epsabs=0)[0]
        assert found == pytest.approx(exact, rel=0.02)


def test_ends_of_intervals_belong_to_them():
    two = dc.Belief.discrete([10, 20], [0.25, 0.75])
    said = {
        ("inside", 10, 19): 0.25, ("inside", 11, 20): 0.75, ("inside", 10, 20): 1.0,
        ("outside", 10, 19): 0.75, ("outside", 10, 20): 0.0,
    }  # fmt: skip
    for (name, low, high), share in said.items():
        loss = NumberLoss(name, low=low, high=high, loss=1)
        assert expected_harm(two, loss, 0).expected == share
    assert expected_harm(two, NumberLoss("threshold", limit=20, loss=1), 0).expected == 0
    step = NumberLoss("written", points=[(0, 0), (10, 0), (10, 5), (20, 5)], of="value")
    assert expected_harm(two, step, 0).expected == 5


def test_draws_have_a_standard_error():
    drawn = dc.Belief.draws(np.random.default_rng(1).normal(100, 20, 4000))
    found = expected_harm(drawn, NumberLoss("squared"), 100)
    assert found.how == "draws"
    assert abs(found.expected - 400) < 3 * found.error < 40
    assert "+-" in repr(found)


def test_a_density_of_ones_own():
    own = AnyFamily(lambda x: np.log(2) - 2 * x, scale=0.5, top=40)
    found = expected_harm(own, NumberLoss("squared"), 0.5)
    assert found.expected == pytest.approx(0.25, rel=1e-4)
    assert found.to_frame()["how"][0] == "closed form"


@pytest.mark.parametrize(
    ("made", "words"),
    [
        (lambda: NumberLoss("cubed"), "'cubed'; write one of excess"),
        (lambda: NumberLoss("excess", limit=3), "takes no limit; it takes nothing else"),
        (lambda: NumberLoss("threshold", limit=3), "has no loss"),
        (lambda: NumberLoss("inside", loss=1), "needs loss and an interval"),
        (lambda: NumberLoss("inside", loss=1, low=1), "needs loss and an interval"),
        (lambda: NumberLoss("inside", loss=1, low=3, high=1), "from 3 to 1 is empty"),
        (lambda: NumberLoss("outside", loss=1, within=0), "within is 0"),
        (lambda: NumberLoss("outside", loss=1, share=1.5), "share is 1.5"),
        (lambda: NumberLoss("written"), "either points or a function"),
        (lambda: NumberLoss("written", points=[(0, 1)]), "two or more pairs"),
        (lambda: NumberLoss("written", points=[(2, 1), (0, 1)]), "numbers that rise"),
        (lambda: NumberLoss("written", points=[(0, -1), (1, 1)]), "a cost in points is -1"),
        (lambda: NumberLoss("written", points=[(0, 0), (1, 1)], of="ratio"), "'ratio'"),
        (lambda: NumberLoss("written", function=lambda t, y: -1.0).cost(0, [1]), "is -1"),
        (lambda: Normal(3, 0), "the spread 0"),
        (lambda: expected_harm([(0.5, Normal(0, 1))], NumberLoss("excess"), 0), "sum to 0.5"),
        (lambda: expected_harm(Normal(0, 1), NumberLoss("relative"), 0), "row 1 is 0"),
        (lambda: expected_harm(Pareto(0.9, 1), NumberLoss("excess"), 0), "no finite mean"),
        (lambda: expected_harm(Normal(0, 1), NumberLoss("excess"), math.nan), "value is nan"),
        (
            lambda: expected_harm(dc.Belief.discrete(["a"], [1]), NumberLoss("excess"), 0),
            "needs numbers",
        ),
        (
            lambda: expected_harm(
                Pareto(1.5, 1), NumberLoss("written", function=lambda t, y: (y - t) ** 2), 0
            ),
            "does not converge",
        ),
    ],
)
def test_what_is_refused(made, words):
    with pytest.raises(DataError, match=words):
        made()
