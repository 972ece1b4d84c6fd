"""Harm by hand: Bayesian, of numbers that are too uncertain to be inferred, and of null links."""

import itertools

import numpy as np
import pandas as pd
import pytest
from scipy.stats import norm

from discreet.errors import DataError
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.risk.linkage.harm import OUTCOMES, Costs, harm
from discreet.risk.linkage.identification import identify

AGE = {"keys": {"age": {"kind": "normal", "spread": 1}}}
NUMBER = {"cost": "excess", "widest": 100, "FN": 1, "TN": 2}


def felt(people, masked, content, act=0.5):
    person, costs = Intruder.of(AGE), Costs.of(content)
    records = read_records(people, masked, person, id="id", also=[costs.sensitive])
    return harm(records, identify(records, person, act=act), costs)


def test_bayesian_harm():
    """4 of 6 released say yes, right with .95: P = (4/6 - .05) / .9 = 37/54. Of a record that says
    yes, yes is believed .95 37 / (.95 37 + .05 17) = .9763889, of one that says no
    .05 37 / (.05 37 + .95 17) = .1027778.

    Rows 1, 3, 5 are linked to the records of 2, 4, 6, which say no, yes, yes:
        .8972222 c_F0 + .1027778 c_F1 = .8972222 + 1.0277778 = 1.925
        .0236111 c_F0 + .9763889 c_F1 = .0236111 + 9.7638889 = 9.7875, twice
    Rows 7, 8, 9 to their own, which say no, yes, yes:
        .8972222 c_T0 + .1027778 c_T1 = 1.7944444 + .5138889 = 2.3083333
        .0236111 c_T0 + .9763889 c_T1 =  .0472222 + 4.8819444 = 4.9291667, twice
    """
    people = pd.DataFrame({"id": range(1, 10), "age": [20.0, 24, 30, 34, 40, 44, 50, 60, 70]})
    people["ill"] = ["no", "no", "no", "yes", "yes", "yes", "no", "no", "yes"]
    masked = pd.DataFrame({"id": [2, 4, 6, 7, 8, 9], "age": [20.2, 30.1, 39.9, 50.2, 60.1, 69.8]})
    masked["ill"] = ["no", "yes", "yes", "no", "yes", "yes"]
    costs = {"F": {"no": 1, "yes": 10}, "T": {"no": 2, "yes": 5}}
    found = felt(people, masked, {"sensitive": "ill", "q": 0.95, "bayes": costs})
    by_hand = [1.925, 0, 9.7875, 0, 9.7875, 0, 2.3083333, 4.9291667, 4.9291667]
    assert found.harm == pytest.approx(by_hand, abs=1e-5)
    assert found.total == pytest.approx(33.6666667, abs=1e-5)
    del costs["T"]["no"]
    with pytest.raises(DataError, match=r"T in \[bayes\] has no cost for 'no'"):
        felt(people, masked, {"sensitive": "ill", "q": 0.95, "bayes": costs})


def test_a_number_that_is_too_uncertain_is_not_inferred():
    """Rows 1 and 2 are each either of two records, 0 or 1000: mean 500, spread 500. Both are
    linked to the first, rightly and wrongly. Row 3 is known: 700, of 600."""
    people = pd.DataFrame({"id": [1, 2, 3], "age": [40.0, 40, 60], "debt": [0, 1000, 600]})
    masked = people.assign(debt=[0, 1000, 700])
    content = {"sensitive": "debt", "belief": "mixture", "number": NUMBER}
    found = felt(people, masked, content)
    assert [OUTCOMES[k] for k in found.outcome] == ["TN", "FN", "TF"]
    assert found.harm == pytest.approx([2, 1, 100])
    content["number"] = {**NUMBER, "widest": 501}
    found = felt(people, masked, content)
    assert [OUTCOMES[k] for k in found.outcome] == ["TF", "FF", "TF"]
    assert found.harm == pytest.approx([500, 0, 100])
    content["number"] = {"cost": "threshold", "limit": 400, "loss": 7, **NUMBER} | {
        "cost": "threshold"
    }
    assert felt(people, masked, content).harm == pytest.approx([2, 1, 7])
    content["number"] = {"cost": "excess"}
    assert felt(people, masked, content).harm == pytest.approx([500, 0, 100])


def test_who_may_not_be_released_may_have_any_value():
    """Rows 1 and 2 share one record, 1000: released or not with 1/2 each, and then 1000 or 0. Mean
    500 + 250, variance 750,000 - 750^2 = 433.01^2."""
    people = pd.DataFrame({"id": [1, 2, 3], "age": [40.0, 40, 60], "debt": [0, 0, 0]})
    masked = pd.DataFrame({"id": [1, 3], "age": [40.0, 60], "debt": [1000, 0]})
    content = {"sensitive": "debt", "belief": "mixture", "number": {**NUMBER, "widest": 433.1}}
    assert felt(people, masked, content).harm == pytest.approx([750, 750, 0])
    content["number"] = {**NUMBER, "widest": 433.0}
    assert felt(people, masked, content).harm == pytest.approx([2, 1, 0])


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"number": NUMBER}, 'write belief = "mixture"'),
        ({"belief": "mixture", "number": {"cost": "excess", "widest": 9, "FN": 1}}, "has no TN"),
        ({"belief": "mixture", "number": {"cost": "excess", "TN": 1}}, "has TN, but a number"),
        ({"belief": "mixture", "number": {**NUMBER, "widest": 0}}, "widest in .* is 0"),
        ({"belief": "mixture", "number": {**NUMBER, "TF": 1}}, "'TF'"),
    ],
)
def test_cut_offs_that_are_refused(content, words):
    with pytest.raises(DataError, match=words):
        Costs.of({"sensitive": "debt", **content})


# Losses of a wrong link and of a missed one


@pytest.mark.parametrize(
    ("wrong", "missed", "linked"),
    [
        (1, 1, [True, False]),  # .2 < .8 and .8 > .2
        (10, 1, [False, False]),  # 2 > .8 and 8 > .2: fears a wrong link
        (1, 10, [True, True]),  # .2 < 8 and .8 < 2: seeks publicity
        (4.01, 1, [False, False]),  # .802 > .8
        (3.99, 1, [True, False]),  # .798 < .8
    ],
)
def test_the_decision_is_the_one_of_least_expected_loss(wrong, missed, linked):
    """A woman and a man, and one record that says f, kept with .8. It is hers with .8, his with .2.
    A link costs wrong (1 - p), none missed p: he who is not released is not missed."""
    people = pd.DataFrame({"id": [1, 2], "sex": ["f", "m"]})
    keys = {"keys": {"sex": {"kind": "category", "keep": 0.8}}}
    person = Intruder.of({**keys, "losses": {"wrong": wrong, "missed": missed}})
    records = read_records(people, people.iloc[:1], person, id="id")
    found = identify(records, person, act=0.0)
    assert found.links.perceived == pytest.approx([0.8, 0.2])
    assert found.linked.tolist() == linked


@pytest.mark.parametrize("seed", range(5))
def test_no_other_decision_has_a_smaller_expected_loss(seed):
    """Three released of four, all ways to assign them."""
    rng = np.random.default_rng(seed)
    people = pd.DataFrame({"id": range(4), "age": rng.normal(40, 2, 4)})
    masked = people.iloc[:3].assign(age=rng.normal(40, 2, 3))
    density = norm.pdf(masked["age"].to_numpy() - people["age"].to_numpy()[:, None])
    chance = np.zeros((4, 3))
    for who in itertools.permutations(range(4), 3):
        chance[who, range(3)] += np.prod(density[who, range(3)])
    chance /= chance[:, 0].sum()
    for wrong, missed in ((1, 1), (5, 1), (1, 5), (1, 0)):
        person = Intruder.of({**AGE, "losses": {"wrong": wrong, "missed": missed}})
        found = identify(read_records(people, masked, person, id="id"), person, act=0.0)
        loss = np.column_stack([wrong * (1 - chance), missed * chance.sum(1)])
        least = loss.argmin(1)
        assert found.linked.tolist() == (least < 3).tolist()
        assert (found.links.best == least)[found.linked].all()
