"""Classes of priors, ties between estimates, and what is sampled."""

import warnings

import numpy as np
import pytest

from discreet.decision.users.again import drawn_again
from discreet.decision.users.choose import choose
from discreet.decision.users.measured import data_utility, disclosure_risk
from discreet.decision.users.measures import identified, prior_name, true_table
from discreet.decision.users.targets import Target, cell_targets, function_target
from discreet.decision.users.users import User, own_loss
from discreet.errors import ConvergenceWarning, DataError, SolverError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.posterior.whole_table import Model
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table

MODELS = ("uniform", "saturated", "release")


@pytest.fixture(scope="module")
def tract():
    table = load("example:tract")
    return table, Release.margins(table, "Race*Income + Income*Gender")


@pytest.fixture(scope="module")
def two():
    table = Table.of([[1, 1], [1, 1]], A=["a", "b"], B=["c", "d"])
    return table, Release.margins(table, "A + B")


def test_of_a_class_of_priors_the_worst_counts(tract):
    table, release = tract
    for make in (true_table, identified):
        alone = {m: disclosure_risk(release, make(table, m)).value for m in MODELS}
        found = disclosure_risk(release, make(table, MODELS)).outlooks[0]
        assert dict(found.by_prior) == pytest.approx(alone)
        assert found.loss == max(alone.values())
        assert alone[found.prior] == found.loss
    assert "under release" in repr(found)


def test_of_a_scientist_the_worst_prior_is_the_least_utility(tract):
    table, release = tract

    def user(models):
        targets = {model: cell_targets(table, None, model) for model in models}
        return User.of("s", targets, loss="squared", cost=own_loss("squared", idle=9))

    alone = [data_utility(release, user([model])).value for model in MODELS]
    assert data_utility(release, user(MODELS)).value == min(alone)


def test_a_wider_class_never_lowers_the_risk(tract):
    table, release = tract
    risks = [disclosure_risk(release, identified(table, MODELS[:k])).value for k in (1, 2, 3)]
    assert risks == sorted(risks)


def test_priors_by_name():
    assert prior_name("uniform") == "uniform"
    assert prior_name(Model("saturated", 2)) == "saturated:2"
    assert prior_name(Model("release")) == "release"


def test_a_class_is_of_the_same_targets(two):
    table, _ = two
    other = {"uniform": cell_targets(table), "saturated": cell_targets(table)[:2]}
    with pytest.raises(DataError, match="other targets under saturated than under uniform"):
        User.of("x", other, loss="squared", cost=lambda *_: 0)
    with pytest.raises(DataError, match="class of priors is empty"):
        identified(table, [])
    with pytest.raises(DataError, match="no target"):
        User.of("x", {}, loss="squared", cost=lambda *_: 0)


def test_scales_are_checked(two):
    table, release = two
    with pytest.raises(DataError, match="above 0"):
        disclosure_risk(release, identified(table), scales=[0])
    with pytest.raises(DataError):
        disclosure_risk(release, identified(table), scales=[1, 2])


# Ties


def test_tied_guesses_are_made_equally_often(two):
    """Discussion: margins (2, 2) and (2, 2); each count is 0, 1 or 2, a third each."""
    table, release = two
    assert disclosure_risk(release, identified(table, "uniform")).value == pytest.approx(1 / 3)


@pytest.mark.parametrize("loss", ["zero-one", "absolute", lambda e, x: float(e != x)])
def test_the_order_of_values_does_not_matter(loss):
    """Two values, half each: the truth is named half the time, whichever it is."""
    belief = Belief.discrete([0, 1], [0.5, 0.5])
    risks = [
        User.of(
            "x", Target("t", lambda _: belief, truth), loss=loss,
            cost=lambda tries, e, x: float(e == x),
        ).outlook(None).loss
        for truth in (0, 1)
    ]  # fmt: skip
    assert risks == [0.5, 0.5]


# What is sampled


def user_of(belief, truth=1, **more):
    return User.of(
        "x", Target("t", lambda _: belief, truth), loss="zero-one",
        cost=lambda tries, e, x: float(tries and e == x), **more,
    )  # fmt: skip


def test_the_standard_error_is_that_of_drawing_again():
    """A guess that flips when the belief is drawn again; checked by 4,000 beliefs drawn by hand."""
    belief = Belief.discrete([0, 1], [0.49, 0.51], effective=400)
    outlook = user_of(belief).outlook(None)
    assert not outlook.exact
    rng = np.random.default_rng(3)
    flips = (rng.binomial(400, 0.51, 4_000) > 200).std()
    assert outlook.standard_error == pytest.approx(flips, rel=0.35)
    sure = Belief.discrete([0, 1], [0.1, 0.9], effective=10_000)
    assert user_of(sure).outlook(None).standard_error == 0
    draws = Belief.draws([0] * 40 + [1] * 60)
    assert np.mean([b.mean for b in drawn_again(draws)]) == pytest.approx(0.6, abs=0.03)


def test_errors_of_several_targets_are_bounded_by_their_sum():
    belief = Belief.discrete([0, 1], [0.5, 0.5], effective=100)
    targets = [Target(str(k), lambda _: belief, 1) for k in range(4)]
    one = user_of(belief).outlook(None).standard_error
    many = User.of("x", targets, loss="zero-one", cost=lambda t, e, x: float(e == x)).outlook(None)
    assert many.standard_error == pytest.approx(one)
    found = disclosure_risk(None, user_of(belief), user_of(belief), scales=[1, 3])
    assert found.standard_error == pytest.approx(3 * one)


def test_a_sample_within_the_limit_is_review():
    belief = Belief.discrete([0, 1], [0.9, 0.1], effective=100)
    choice = choose({"a": None}, risk=user_of(belief), utility=lambda _: 1, limit=0.5)
    assert choice.verdict == "REVIEW"
    assert "by a sample" in str(choice)
    assert choice.to_json()["masks"][0]["exact"] is False


def test_chains_that_did_not_converge_are_noted():
    def believe(_):
        warnings.warn("R-hat is 2", ConvergenceWarning, stacklevel=2)
        return Belief.discrete([0, 1], [0.9, 0.1], effective=100)

    user = User.of("x", Target("t", believe, 1), loss="zero-one", cost=lambda *_: 0)
    choice = choose({"a": None}, risk=user, utility=lambda _: 1, limit=0.5)
    assert choice.masks[0].notes == ("R-hat is 2",)
    assert choice.verdict == "REVIEW"

    def odd(_):
        warnings.warn("something else", UserWarning, stacklevel=2)
        return 0.0

    with pytest.warns(UserWarning, match="something else"):
        choose({"a": None}, risk=odd, utility=lambda _: 1, limit=0.5)


# What cannot be worked out


def test_what_cannot_be_weighed_is_not_chosen(tract):
    """More than 50 tables fit the margin of one variable, too many to list here."""
    table, _ = tract
    odds = function_target(table, "odds", lambda t: t[0, 0, 0] / 9, Model("uniform", limit=50))
    scientist = User.of("s", odds, loss="squared", cost=own_loss("squared", idle=0))
    masks = {f: Release.margins(table, f) for f in ("Race", "Race*Income*Gender")}
    choice = choose(masks, risk=identified(table), utility=scientist, limit=0.5)
    assert choice.best is None
    assert choice.verdict == "REVIEW"
    assert "of a utility that is not known" in str(choice)
    assert "more than 50 tables fit Race" in choice.masks[0].why
    better = choose(masks, risk=identified(table), utility=scientist, limit=1)
    assert better.best == "Race*Income*Gender"
    assert "the highest utility that is known" in str(better)
    assert [mask.name for mask in better.efficient] == ["Race*Income*Gender"]
    with pytest.raises(DataError, match="more than 50 tables fit"):
        choose({"Race": masks["Race"]}, risk=identified(table), utility=scientist, limit=1)


def test_a_risk_that_no_solver_finds_is_not_known(tract):
    release = tract[1]

    def unsolved(_):
        raise SolverError("out of time")

    user = User.of("x", Target("t", unsolved, 1), loss="zero-one", cost=lambda *_: 0)
    choice = choose({"a": release}, risk=user, limit=9)
    assert choice.masks[0].risk is None
    assert choice.masks[0].verdict == "REVIEW"
    assert choice.best is None


def test_the_choice_at_another_limit(tract):
    table, _ = tract
    masks = [Release.margins(table, f) for f in ("Race + Gender", "Race*Income + Income*Gender")]
    choice = choose(masks, risk=identified(table, "release"), limit=0.3)
    assert choice.best == "Race + Gender"
    for limit, best in choice.steps:
        assert choice.at(limit).best == best
    assert [best for _, best in choice.steps] == [str(mask.formula) for mask in masks]
