"""The choice of a mask: the rule of the reply in Dobra, Fienberg & Trottini 2003."""

import json
import math

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.decision.users.choose import choose
from discreet.decision.users.measured import Measured
from discreet.decision.users.measures import identified, tightness, true_table
from discreet.decision.users.outlook import Outlook
from discreet.errors import DataError, SolverError
from discreet.look.theme import NARROW
from discreet.release.release import Release
from discreet.table.load import load

FORMULAS = (
    "Race + Income + Gender",
    "Race + Income*Gender",
    "Race*Income + Gender",
    "Race*Income + Income*Gender",
)

numbers = st.one_of(st.integers(-3, 3), st.floats(-1e6, 1e6))
points = st.lists(st.tuples(numbers, numbers), max_size=8)


def chosen(pairs, limit):
    masks = {str(place): pair for place, pair in enumerate(pairs)}
    return choose(masks, risk=lambda p: p[0], utility=lambda p: p[1], limit=limit)


@pytest.fixture(scope="module")
def tract():
    return load("example:tract")


def test_more_margins_until_the_limit(tract):
    """The narrowest small count keeps a width of 5 with one-way margins, 1 with Race*Income."""
    masks = {formula: Release.margins(tract, formula) for formula in FORMULAS}
    choice = choose(masks, risk=tightness(tract), limit=-2)
    assert choice.best == "Race + Income*Gender"
    assert [mask.risk for mask in choice.masks] == [-5, -5, -1, -1]
    assert [mask.utility for mask in choice.masks] == [3, 4, 4, 5]
    assert [mask.name for mask in choice.efficient] == [FORMULAS[1], FORMULAS[3]]
    assert repr(choice) == "Choice(Race + Income*Gender: 2 of 4 masks within -2)"
    assert "release Race + Income*Gender; 2 of 4 masks keep the risk limit -2" in str(choice)
    assert choose(masks, risk=tightness(tract), limit=-1).best == FORMULAS[3]
    nothing = choose(masks, risk=tightness(tract), limit=-6)
    assert nothing.best is None
    assert nothing.verdict == "FAIL"
    assert "release nothing" in str(nothing)


def test_of_several_intruders_the_worst_counts(tract):
    masks = [Release.margins(tract, formula) for formula in FORMULAS[2:]]
    guesser = identified(tract, "release")
    choice = choose(masks, risk=[guesser, true_table(tract, "release")], limit=0.4)
    assert choice.masks[0].risk == pytest.approx(1 / 3)
    assert choice.masks[1].risk == pytest.approx(2 / 3)
    assert choice.best == "Race*Income + Gender"


def test_meeks_example_of_equal_utility_takes_the_lower_risk():
    choice = chosen([(0.3, 5), (0.1, 5), (0.2, 5), (0.0, 4), (0.9, 9)], 0.5)
    assert choice.best == "1"
    frame = choice.to_frame()
    assert frame["chosen"].tolist() == [False, True, False, False, False]
    assert frame["within"].tolist() == [True, True, True, True, False]


def test_the_json():
    found = json.loads(json.dumps(chosen([(0.1, 1), (0.7, 2), (math.inf, 3)], 0.5).to_json()))
    assert found["best"] == "0"
    shown = {key: found["masks"][1][key] for key in ("name", "risk", "utility", "verdict")}
    assert shown == {"name": "1", "risk": 0.7, "utility": 2.0, "verdict": "FAIL"}
    assert found["steps"] == [
        {"limit": 0.1, "best": "0"}, {"limit": 0.7, "best": "1"}, {"limit": None, "best": "2"},
    ]  # fmt: skip
    assert found["masks"][2]["risk"] is None
    assert found["efficient"] == ["0", "1", "2"]


def test_doubt_is_review():
    """A risk that is not known is never chosen; one by a sample is, with REVIEW."""
    sampled = Outlook("x", ("t",), *(None,) * 6, exact=False)
    masks = {"unknown": None, "sampled": Measured(0.1, (sampled,)), "exact": 0.1}
    choice = choose(masks, risk=lambda m: m, utility=lambda m: 2 if m != 0.1 else 1, limit=0.5)
    assert choice.best == "sampled"
    assert choice.verdict == "REVIEW"
    assert [mask.verdict for mask in choice.masks] == ["REVIEW", "REVIEW", "PASS"]
    assert [mask.within for mask in choice.masks] == [False, True, True]

    def unsolved(_):
        raise SolverError("out of time")

    assert choose({"a": 1}, risk=unsolved, utility=float, limit=math.inf).best is None
    assert repr(chosen([(1, -math.inf)], math.inf)) == "Choice(0: 1 of 1 mask within inf)"


@given(points, numbers)
@settings(max_examples=150, deadline=None)
def test_the_rule_by_brute_force(pairs, limit):
    choice = chosen(pairs, limit)
    within = [pair for pair in pairs if pair[0] <= limit]
    if not within:
        assert choice.best is None
        return
    risk, utility = pairs[int(choice.best)]
    assert risk <= limit
    most = max(worth for _, worth in within)
    assert utility == pytest.approx(most, rel=1e-8)
    assert risk <= min(r for r, worth in within if worth == most)


@given(points, numbers, st.data())
@settings(max_examples=150, deadline=None)
def test_a_dominated_mask_changes_nothing(pairs, limit, data):
    if not pairs:
        return
    risk, utility = data.draw(st.sampled_from(pairs))
    more, less = data.draw(st.tuples(st.floats(0, 5), st.floats(0, 5)))
    added = [*pairs, (risk + more, utility - less)]
    assert chosen(added, limit).best == chosen(pairs, limit).best


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 4)), min_size=1, max_size=8))
@settings(max_examples=100, deadline=None)
def test_the_efficient_masks_are_what_some_limit_chooses(pairs):
    best = {chosen(pairs, limit).best for limit in range(-1, 5)} - {None}
    assert {mask.name for mask in chosen(pairs, 0).efficient} == best


def test_the_map(tmp_path):
    choice = chosen([(0.1, 5), (0.1, 5), (0.7, 9), (math.inf, 3)], 0.5)
    for width in (660, NARROW):
        chart = choice.plot(width=width, source="Source: a test.")
        chart.save(tmp_path / "map.svg")
        said = json.dumps(chart.to_dict())
        assert "1 0: risk 0.1, utility 5, PASS." in said
        assert "4 3: risk unlimited, utility 3, FAIL." in said
        assert "1, 2" in said
    title = " ".join(choice.plot().to_dict()["title"]["text"])
    assert title == "Within the limit 0 is worth most, 5, at a risk of 0.1"
    empty = " ".join(chosen([], 1).plot().to_dict()["title"]["text"])
    assert empty == "No mask keeps the risk limit 1: release nothing"
    many = chosen([(k, k) for k in range(20)], 10).plot(title="")
    assert "8 more masks without a number" in json.dumps(many.to_dict())


def test_wrong_input_is_a_sentence(tract):
    one = Release.margins(tract, FORMULAS[0])
    with pytest.raises(DataError, match="two masks release"):
        choose([one, one], risk=lambda _: 0, limit=1)
    with pytest.raises(DataError, match="risk limit is not a number"):
        choose([one], risk=lambda _: 0, limit=math.nan)
    with pytest.raises(DataError, match="give numbers"):
        choose([one], risk=lambda _: math.nan, limit=1)
    with pytest.raises(DataError, match="give numbers"):
        choose([one], risk=lambda _: 0, utility=lambda _: None, limit=1)
