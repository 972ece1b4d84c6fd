"""Perceived and true identification, matching, inference and harm on files checked by hand."""

from dataclasses import replace
from io import StringIO
from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

from discreet.errors import DataError
from discreet.intruder.linkage.links import link_encoded
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.look.pages import page_of
from discreet.report.identify_words import how_words
from discreet.report.terminal import print_page
from discreet.risk.linkage.harm import OUTCOMES, Costs, harm
from discreet.risk.linkage.identification import identify
from discreet.risk.linkage.inference import (
    belief_about,
    misclassified,
    record_beliefs,
)
from discreet.risk.linkage.matching import matching

EXAMPLES = Path(__file__).parents[3] / "examples" / "linkage"
AGE = Intruder.of({"keys": {"age": {"kind": "normal", "spread": 1}}})
PEOPLE = pd.DataFrame(
    {
        "id": range(1, 10),
        "age": [20.0, 24, 30, 34, 40, 44, 50, 60, 70],
        "ill": ["no", "no", "no", "yes", "yes", "yes", "no", "no", "yes"],
        "debt": [0, 0, 100, 2000, 500, 900, 0, 50, 3000],
        "region": ["North"] * 5 + ["South"] * 4,
    }
)
MASKED = pd.DataFrame(
    {
        "id": [2, 4, 6, 7, 8, 9],
        "age": [20.2, 30.1, 39.9, 50.2, 60.1, 69.8],
        "ill": ["no", "yes", "yes", "no", "yes", "yes"],
        "debt": [0, 2000, 900, 0, 1500, 3000],
    }
)
ALL = {"FN": 1, "TN": 2, "FF": 10, "FT": 6, "TF": 8, "TT": 5}


def case(content, intruder=AGE, act=0.5, **options):
    costs = Costs.of(content)
    also = (costs.sensitive, *costs.predict)
    records = read_records(
        PEOPLE, MASKED, intruder, id="id", also=also, groups=costs.groups, **options
    )
    found = identify(records, intruder, act=act)
    return records, found, harm(records, found, costs)


def test_all_seven_outcomes():
    """4 of 6 released say yes: P = (4/6 - .05) / .9 = .685; yes is believed .976, no .897."""
    content = {"sensitive": "ill", "q": 0.95, "infer": 0.9, "costs": ALL, "group": "region"}
    _, found, felt = case(content)
    assert felt.by_outcome == {"none": 3, **dict.fromkeys(OUTCOMES[1:], 1)}
    assert sum(felt.by_outcome.values()) == len(PEOPLE)
    assert [OUTCOMES[k] for k in felt.outcome] == [
        "FN", "none", "FF", "none", "FT", "none", "TN", "TF", "TT",
    ]  # fmt: skip
    assert felt.total == 32
    assert {row["value"]: row["harm"] for row in felt.by_group()} == {"North": 17, "South": 15}
    assert found.true.acted == 3
    assert found.true.wrong == 3
    assert found.true.risk == 0.5
    assert found.perceived.above == 6
    assert felt.to_frame()["harm"].sum() == 32
    assert repr(found) == "Identification(6 respondents of 9 linked at 0.5 or more)"


@pytest.mark.parametrize(
    ("cost", "total"),
    [
        ({"cost": "excess"}, 1900 + 400 + 1450),
        ({"cost": "overestimate"}, 1900**2 + 400**2 + 1450**2),
        ({"cost": "threshold", "limit": 1000, "loss": 3}, 9),
    ],
)
def test_harm_of_a_number(cost, total):
    for belief in ("record", "mixture"):
        content = {"sensitive": "debt", "number": cost, "belief": belief}
        assert case(content)[2].total == pytest.approx(total, rel=0.01)


def test_two_records_with_one_value_disclose_it():
    """Neither is linked, but both candidates are ill."""
    people = pd.DataFrame({"id": [1, 2, 3], "age": [40.0, 40, 60], "ill": ["yes", "yes", "no"]})
    masked = people.assign(age=[40.1, 39.9, 60.0])
    records = read_records(people, masked, AGE, id="id", also=["ill"])
    found = identify(records, AGE, act=0.9)
    felt = harm(records, found, Costs.of({"sensitive": "ill", "costs": ALL}))
    assert found.linked.tolist() == [False, False, True]
    assert felt.without_link == (2, 2)
    beliefs = record_beliefs(np.array([1, 1, 0]), misclassified(2, 1.0), np.array([[1 / 3, 2 / 3]]))
    belief = belief_about(found.links, 0, beliefs, np.array([1 / 3, 2 / 3]), ["no", "yes"])
    assert belief.probability("yes") > 0.999


def test_losses():
    """Three candidates alike: an intruder who fears a wrong link makes none."""
    people = pd.DataFrame({"id": [1, 2, 3, 4], "age": [40.0, 40.5, 41, 90]})
    masked = people.iloc[:1]
    for wrong, missed, linked in ((1, 1, False), (1, 10, True), (10, 1, False)):
        keys = {"keys": {"age": {"kind": "normal", "spread": 5}}}
        person = Intruder.of({**keys, "losses": {"wrong": wrong, "missed": missed}})
        records = read_records(people, masked, person, id="id")
        assert identify(records, person, act=0.0).linked[0] == linked


def test_ties_are_shared():
    people = pd.DataFrame({"id": [1, 2], "age": [40.0, 40.0], "sex": ["f", "m"]})
    records = read_records(
        people,
        people,
        AGE.of({"keys": {"age": {"kind": "normal", "spread": 1}, "sex": {"kind": "unknown"}}}),
        id="id",
    )
    with pytest.raises(DataError, match="constant"):
        identify(records, AGE)
    people = pd.DataFrame({"id": [1, 2, 3], "age": [40.0, 40.0, 50.0]})
    records = read_records(people, people, AGE, id="id")
    found = identify(records, AGE)
    assert found.true.best == pytest.approx(2)
    assert matching(records, AGE, found.data).matched == 1


def test_who_is_exposed_and_why():
    person = Intruder.of(
        {"keys": {"age": {"kind": "normal", "spread": 1}, "ill": {"kind": "category", "keep": 0.9}}}
    )
    records = read_records(PEOPLE, MASKED, person, id="id")
    rows = identify(records, person).most_exposed(3)
    assert [row["probability"] for row in rows] == sorted(
        (r["probability"] for r in rows), reverse=True
    )
    assert {row["row"] for row in rows} == {7, 8, 9}
    assert next(iter(rows[0]["because"])) == "age"
    assert rows[0]["true"] is True


def test_matching_by_distance():
    person = Intruder.of(
        {"keys": {"age": {"kind": "normal", "spread": 1}, "ill": {"kind": "category", "keep": 0.9}}}
    )
    records = read_records(PEOPLE, MASKED, person, id="id")
    data = identify(records, person).data
    y, x = PEOPLE["age"].to_numpy() / PEOPLE["age"].std(ddof=0), MASKED["age"].to_numpy()
    x = x / PEOPLE["age"].std(ddof=0)
    differ = PEOPLE["ill"].to_numpy()[:, None] != MASKED["ill"].to_numpy()
    for name, power in (("absolute", 1), ("squared", 2)):
        away = np.abs(y[:, None] - x) ** power + differ
        hits = (away.argmin(0) == records.parents).sum()
        assert matching(records, person, data, distance=name).matched == hits
    with pytest.raises(DataError, match="'city'"):
        matching(records, person, data, distance="city")


def test_examples_are_read():
    for name in ("harm", "harm_bayes", "harm_number"):
        assert Costs.read(EXAMPLES / f"{name}.toml").sensitive


BAD = [
    ({"costs": ALL}, "names no column"),
    ({"sensitive": "ill"}, "needs one of"),
    ({"sensitive": "ill", "costs": {k: v for k, v in ALL.items() if k != "TF"}}, "no TF"),
    ({"sensitive": "ill", "costs": {**ALL, "TX": 1}}, "'TX'"),
    ({"sensitive": "ill", "costs": {**ALL, "TF": "much"}}, "'much'"),
    ({"sensitive": "ill", "costs": ALL, "q": 2}, "q of .* is 2"),
    ({"sensitive": "ill", "costs": ALL, "belief": "firm"}, "'firm'"),
    ({"sensitive": "debt", "number": {"cost": "threshold", "limit": 1}}, "no loss"),
    ({"sensitive": "debt", "number": {"cost": "cubed"}}, "'cubed'"),
    ({"sensitive": "ill", "bayes": {"F": {"yes": 1}}}, "no T"),
]


@pytest.mark.parametrize(("content", "words"), BAD)
def test_harm_that_is_refused(content, words):
    with pytest.raises(DataError, match=words):
        Costs.of(content)


def test_what_is_approximate_is_said():
    """Twenty records of a population are too many for one sum; of the source alone they are not."""
    y = pd.DataFrame({"age": np.arange(40) * 100.0})
    for population, said in ((None, "probabilities exact"), (50, "probabilities approximate; two")):
        person = replace(AGE, population=population)
        found = identify(read_records(y, y.iloc[::2], person), person)
        assert said in how_words(found)


def test_what_pruning_loses_is_said():
    """.003 of 6 pairs are expected to be lost: two with probability below e^2 .0015^2 = .00002."""
    found = identify(read_records(PEOPLE, MASKED, AGE), AGE)
    assert found.to_json()["perceived"]["pruned_at_most"] == 0
    pruned = replace(found, links=link_encoded(found.data, AGE, dense=0))
    said = pruned.to_json()["perceived"]
    assert said["pruned_expected"] * 6 == pytest.approx(0.003, rel=0.01)
    assert said["pruned_at_most"] == 1
    assert said["exact"] == 0
    console = Console(file=StringIO(), width=100)
    print_page(page_of(pruned), console)
    shown = "pruning loses at most 1 true pair (99.9%), 0.003 expected"
    assert shown in console.file.getvalue()
