"""Section 3 of Dobra, Fienberg & Trottini 2003: users, their losses, and risk and utility."""

import math

import numpy as np
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st

from discreet.decision.law.decide import decide
from discreet.decision.users.measured import data_utility, disclosure_risk
from discreet.decision.users.measures import identified, tightness, true_table
from discreet.decision.users.targets import (
    Target,
    cell_targets,
    function_target,
    table_target,
)
from discreet.decision.users.threshold import Threshold
from discreet.decision.users.users import User, own_loss
from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.posterior.whole_table import Model, TableBelief
from discreet.intruder.tables.count import count
from discreet.release.release import Release
from discreet.risk.release.believed_counts import belief_risk
from discreet.risk.uncertainty import Entropy, Loss, TwoSided
from discreet.risk.uncertainty.named import as_uncertainty
from discreet.table.load import load
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables

TRACT = "Race*Income + Income*Gender"


@pytest.fixture(scope="module")
def tract():
    table = load("example:tract")
    return table, Release.margins(table, TRACT)


@pytest.fixture(scope="module")
def two():
    """Four people in 2 x 2, margins (2, 2) and (2, 2): the example of the discussion."""
    table = Table.of([[1, 1], [1, 1]], A=["a", "b"], B=["c", "d"])
    return table, Release.margins(table, "A + B")


# The three measures of section 4


def test_tightness_is_the_measure_3(tract):
    table, release = tract
    found = disclosure_risk(release, tightness(table))
    assert found.value == decide(table, release).risk["disclosure_risk"] == -1
    listed = TableBelief(release, Model("uniform")).tables
    width = listed.max(0) - listed.min(0)
    truth = table.dense()
    assert found.value == -width[(truth > 0) & (truth < 3)].min()
    assert found.outlooks[0].uncertainty == [width.sum()]


def test_the_true_table_and_one_over_the_number_of_tables(tract):
    """1/59,400 if all tables are alike; 4.199e-6 and 2.3952e-4 under the two models."""
    table, release = tract
    uniform = disclosure_risk(release, true_table(table))
    assert uniform.value == pytest.approx(1 / int(count(release).tables))
    assert uniform.value == pytest.approx(1 / 59_400)
    assert uniform.outlooks[0].uncertainty[0] == pytest.approx(math.log(59_400))
    for model, direct, printed in (
        ("saturated", "saturated", 4.199e-6),
        ("release", TRACT, 2.3952e-4),
    ):
        risk = disclosure_risk(release, true_table(table, model)).value
        assert risk == pytest.approx(belief_risk(table, release, model=direct).true_table)
        assert risk == pytest.approx(printed, rel=2e-4)
        listed = TableBelief(release, Model(model))
        place = (listed.tables == table.dense()).all((1, 2, 3))
        assert listed.mass[place] == pytest.approx(risk)
    gives_up = true_table(table, threshold=math.log(59_400) - 0.01)
    assert disclosure_risk(release, gives_up).value == 0


@pytest.mark.parametrize(("model", "direct"), [("saturated", "saturated"), ("release", TRACT)])
@pytest.mark.parametrize("zeros", [True, False])
def test_identified_is_the_measure_5(tract, model, direct, zeros):
    table, release = tract
    risk = belief_risk(table, release, model=direct, zeros=zeros)
    for sure in (0.0, 0.45, 0.5, 0.56):
        user = identified(table, model, zeros=zeros, threshold=1 - sure)
        assert disclosure_risk(release, user).value == pytest.approx(risk.identified(sure))


def test_three_of_four_are_identified_under_conditional_independence(tract):
    """Table 4: an intruder would correctly infer three of the four small counts."""
    table, release = tract
    assert disclosure_risk(release, identified(table, "release", zeros=False)).value == 3 / 4


@given(st.data(), small_tables(most_people=6, most_cells=9))
@settings(max_examples=25, deadline=None)
def test_the_measures_against_brute_force(data, array):
    margins = data.draw(releases(array.ndim))
    tables = fibre(array, margins)
    assume(len(tables) <= 2_000)
    table = named(array)
    release = Release.margins(table, letters(margins))
    risks = [disclosure_risk(release, u(table)).value for u in (tightness, true_table)]
    width = (tables.max(0) - tables.min(0))[(array > 0) & (array < 3)]
    assert risks[0] == (-width.min() if width.size else -array.sum())
    assert risks[1] == pytest.approx(1 / len(tables))
    right = shown = 0
    for cell in np.argwhere(array < 3):
        times = np.bincount(tables[(slice(None), *cell)])
        guesses = np.flatnonzero(times == times.max())  # alike probable, so made as often
        right, shown = right + np.mean(guesses == array[tuple(cell)]), shown + 1
    share = right / shown if shown else 0.0
    assert disclosure_risk(release, identified(table, "uniform")).value == pytest.approx(share)


# A loss that a user wrote, and a random threshold


def test_risk_with_a_random_threshold_equals_simulation(tract):
    """(1) against 200,000 thresholds and targets drawn one by one."""
    table, release = tract
    targets = cell_targets(table, table.small(), "release")

    def too_low(estimate, truth):
        return (truth - estimate) * 3 if truth > estimate else (estimate - truth)

    def cost(tries, estimate, truth):
        return 10 - abs(estimate - truth) if tries else -1

    rng = np.random.default_rng(2003)
    shape, scale, chances = 2.0, 0.3, np.array([0.1, 0.2, 0.3, 0.4])

    def survival(u):
        return math.exp(-u / scale) * (1 + u / scale)  # of a gamma threshold, shape 2

    user = User.of(
        "an analyst", targets, loss=too_low, threshold=survival, cost=cost, chances=chances
    )
    exact = disclosure_risk(release, user).value
    best = []
    for target in targets:
        belief = target.believe(release)
        risks = {
            e: sum(p * too_low(e, x) for x, p in zip(belief.values, belief.mass, strict=True))
            for e in belief.values
        }
        estimate = min(risks, key=risks.get)
        best.append((estimate, risks[estimate], target.truth))
    drawn = rng.choice(4, 200_000, p=chances)
    thresholds = rng.gamma(shape, scale, len(drawn))
    went_on = np.array([u for _, u, _ in best])[drawn] <= thresholds
    lost = np.array([[cost(False, e, t), cost(True, e, t)] for e, _, t in best])
    losses = lost[drawn, went_on.astype(int)]
    error = losses.std() / math.sqrt(len(losses))
    assert exact == pytest.approx(losses.mean(), abs=4 * error)
    by_draws = User.of(
        "draws", targets, loss=too_low, threshold=thresholds, cost=cost, chances=chances
    )
    assert disclosure_risk(release, by_draws).value == pytest.approx(exact, abs=0.03)


def test_every_kind_of_threshold():
    assert Threshold.of(0.3).chance(0.1 + 0.2) == 1
    assert Threshold.of(math.inf).chance(math.inf) == 1
    assert Threshold.of([1, 2, 3, 4]).chance(3) == 0.5
    weighted = Belief.draws([1.0, 2.0], weights=[3, 1])
    assert Threshold.of(weighted).chance(1.5) == pytest.approx(0.25)
    assert Threshold.of(Belief.density([0, 1], [1, 1])).chance(0.75) == pytest.approx(0.25)
    assert Threshold.of(lambda u: math.exp(-u)).chance(0) == 1
    assert Threshold.of([1.0, 2.0]).chance(math.inf) == 0
    with pytest.raises(DataError, match="from 0 to 1"):
        Threshold.of(lambda u: 2.0).chance(1)
    with pytest.raises(DataError, match="not a number"):
        Threshold.of(math.nan)


@given(st.lists(st.floats(0, 1), min_size=2, max_size=6))
@settings(max_examples=40, deadline=None)
def test_risk_never_falls_as_thresholds_rise(thresholds):
    table = Table.of([[1, 0, 2], [3, 1, 1]], A=["a", "b"], B=["c", "d", "e"])
    release = Release.margins(table, "A + B")
    risks = [
        disclosure_risk(release, identified(table, "uniform", threshold=t)).value
        for t in sorted(thresholds)
    ]
    assert risks == sorted(risks)


# Losses


@given(
    st.dictionaries(st.integers(0, 9), st.integers(1, 20), min_size=1, max_size=6),
    st.sampled_from(["zero-one", "squared", "absolute", "lengths", "log"]),
    st.randoms(use_true_random=False),
)
@settings(max_examples=80, deadline=None)
def test_no_estimate_beats_the_best_one(weights, name, random):
    values, mass = np.array(list(weights)), np.array(list(weights.values()), float)
    belief, loss = Belief.discrete(values, mass / mass.sum()), as_uncertainty(name)

    def expected(estimate):
        pairs = zip(belief.values, belief.mass, strict=True)
        return sum(p * loss.loss(estimate, x) for x, p in pairs)

    best = loss.best(belief)
    assert expected(best.estimate) == pytest.approx(best.uncertainty, abs=1e-12)
    low, high = sorted((random.uniform(-1, 10), random.uniform(-1, 10)))
    others = [random.uniform(0, 9), random.randint(0, 9)]
    if name == "lengths":
        others = [(low, high), (0, 9)]
    if name == "log":
        tilted = belief.mass * [random.uniform(0.1, 1) for _ in belief.mass]
        others = [Belief.discrete(belief.values, tilted / tilted.sum())]
    for other in others:
        assert expected(other) >= best.uncertainty - 1e-9


def test_losses_of_a_density():
    belief = Belief.density([0, 1, 2], [0, 1, 0])
    assert as_uncertainty("squared").best(belief) == pytest.approx((1, 1 / 6, True))
    assert as_uncertainty("absolute").best(belief) == pytest.approx((1, 1 / 3, True))
    assert as_uncertainty("lengths").best(belief) == ((0, 2), 2, True)
    assert as_uncertainty("log").best(belief).uncertainty == pytest.approx(0.5)
    assert as_uncertainty("log").loss(belief, 0.5) == pytest.approx(math.log(2))
    written = Loss(lambda e, x: abs(e - x)).best(belief)
    assert written.uncertainty == pytest.approx(1 / 3, abs=0.01)
    with pytest.raises(DataError, match="density"):
        as_uncertainty("zero-one").best(belief)


def test_losses_of_a_whole_table(two):
    """Three tables fit; each loss against the list of them."""
    _, release = two
    belief = TableBelief(release, Model("uniform"))
    assert belief.tables.shape == (3, 2, 2)
    assert as_uncertainty("zero-one").best(belief).uncertainty == pytest.approx(2 / 3)
    for name in ("squared", "absolute"):
        best = as_uncertainty(name).best(belief)
        assert best.estimate == pytest.approx(np.ones((2, 2)))
        losses = [as_uncertainty(name).loss(best.estimate, each) for each in belief.tables]
        assert best.uncertainty == pytest.approx(np.mean(losses))
    written = Loss(lambda e, x: float(np.abs(e - x).sum())).best(belief)
    assert written.uncertainty == pytest.approx(as_uncertainty("absolute").best(belief).uncertainty)
    assert written.estimate.tolist() == [[1, 1], [1, 1]]


def test_an_uncertainty_function_is_a_loss(two):
    table, release = two
    cells = cell_targets(table, None, "uniform")
    user = User.of("curious", cells, loss=Entropy(), cost=lambda *_: 1, threshold=1.0)
    assert user.outlook(release).uncertainty == pytest.approx([math.log(3)] * 4)
    assert disclosure_risk(release, user).value == 1


# Targets


def test_a_function_of_the_table_by_brute_force(two):
    """The log odds ratio, all +1/2: -log 25, 0, log 25, each 1/3."""
    table, release = two

    def odds(t):
        (a, b), (c, d) = t + 0.5
        return math.log(a * d / (b * c))

    target = function_target(table, "log odds ratio", odds, "uniform")
    belief = target.believe(release)
    assert belief.values == pytest.approx([-math.log(25), 0, math.log(25)])
    assert belief.mass == pytest.approx([1 / 3] * 3)
    scientist = User.of(
        "scientist", target, loss="squared", cost=own_loss("squared", idle=50), threshold=5
    )
    found = data_utility(release, scientist)
    assert found.outlooks[0].uncertainty[0] == pytest.approx(2 / 3 * math.log(25) ** 2)
    assert found.value == -50
    assert float(data_utility(Release.margins(table, "A*B"), scientist)) == 0


def test_cells_follow_from_the_list_of_tables(tract):
    table, release = tract
    cell = function_target(table, "one cell", lambda t: t[0, 2, 0], "saturated")
    assert cell.believe(release).mass == pytest.approx([0.4994, 0.5006], abs=5e-5)
    same = cell_targets(table, table.small())[0].believe(release)
    assert same.mass == pytest.approx(cell.believe(release).mass)


def test_weights_may_rule_tables_out(two):
    table, release = two
    odd = CellWeights.of(lambda codes, n: np.where(n == 1, 0.0, -np.inf), "ones only")
    user = tightness(table)
    assert disclosure_risk(release, user).value == -2
    target = table_target(table, Model(odd))
    assert target.believe(release).bounds[0].tolist() == [[1, 1], [1, 1]]
    assert disclosure_risk(release, true_table(table, Model(odd))).value == 1


def test_an_agency_that_does_not_know_the_truth(two):
    """The expected loss over the agency's own belief."""
    _, release = two
    own = Belief.discrete([0, 1, 2], [0.5, 0.25, 0.25])
    target = Target("count", lambda _: Belief.discrete([0, 1, 2], [0.2, 0.5, 0.3]), own)
    user = User.of("intruder", target, loss="zero-one", cost=lambda a, e, x: 8 * (e == x))
    assert disclosure_risk(release, user).value == 2


# Several users


def test_the_worst_intruder_and_weighted_scientists(two):
    table, release = two
    low, high = identified(table, "uniform", threshold=0), identified(table, "uniform")
    both = disclosure_risk(release, low, high)
    assert both.value == max(o.loss for o in both.outlooks)
    cells = cell_targets(table, None, "uniform")
    careful, bold = (
        User.of(name, cells, loss="squared", threshold=t, cost=own_loss("squared", idle=3))
        for name, t in (("careful", 0.1), ("bold", 9))
    )
    assert data_utility(release, careful).value == -3
    assert data_utility(release, bold).value == 0
    assert data_utility(release, careful, bold, weights=[0.25, 0.75]).value == -0.75
    assert data_utility(release, careful, bold).value == -1.5
    outlook = both.outlooks[1]
    assert list(outlook.to_frame()["estimate"]) == [0, 0, 0, 0]
    assert outlook.to_json()["exact"] is True
    assert "4 targets" in repr(outlook)
    assert repr(both) == "Measured(0.333333: guesses a cell, guesses a cell)"


def test_wrong_input_is_a_sentence(two, tract):
    table, release = two
    cells = cell_targets(table, None, "uniform")

    def user(**more):
        return User.of("x", cells, **{"loss": "squared", "cost": lambda *_: 0.0} | more)

    with pytest.raises(DataError, match="no uncertainty 'square'; write entropy"):
        user(loss="square")
    with pytest.raises(DataError, match="chances of the targets sum to 2"):
        user(chances=[0.5] * 4)
    with pytest.raises(DataError, match="no target"):
        User.of("x", [], loss="squared", cost=lambda *_: 0)
    with pytest.raises(DataError, match="numbers from 0"):
        user(loss=lambda e, x: -1.0).outlook(release)
    with pytest.raises(DataError, match="numbers from 0"):
        user(loss=lambda e, x: math.nan).outlook(release)
    with pytest.raises(DataError, match="not a number"):
        user(cost=lambda *_: math.nan).outlook(release)
    with pytest.raises(DataError, match="at least one"):
        disclosure_risk(release)
    with pytest.raises(DataError, match="at least one"):
        data_utility(release)
    with pytest.raises(DataError, match="acts"):
        as_uncertainty(Loss(lambda e, x: 1.0, acts=[])).best(Belief.discrete([1], [1]))
    with pytest.raises(DataError, match="the release over Gender"):
        table_target(table).believe(tract[1])
    with pytest.raises(DataError, match="single tables are not weighed"):
        _ = TableBelief(release, Model("average")).tables
    with pytest.raises(DataError, match="more than 2 tables fit"):
        _ = TableBelief(release, Model("uniform", limit=2)).tables
    with pytest.raises(DataError, match="one estimate"):
        TwoSided().loss(0, 0)
