"""What is offered instead of a refused table can be asked for, and costs no decision to find."""

import pytest

from discreet.decision.answering.desk import Desk
from discreet.decision.answering.space import within
from discreet.decision.law.policy import Policy
from discreet.server.showing.instead import MOST, instead
from discreet.table.load import load
from server.sites import MYOPIC, world
from server.test_pages import HTML

CZECH = "/api/v1/datasets/czech"
EVERYTHING = list("ABCDEF")


@pytest.fixture
def czech(tmp_path):
    with world(tmp_path) as made:
        yield made.open("czech", MYOPIC, "example:czech")


def test_a_refusal_offers_what_can_be_asked_for(czech):
    client = czech.client()
    told = client.post(f"{CZECH}/requests", {"variables": EVERYTHING}).json()
    assert told["outcome"] == "refused"
    assert 0 < len(told["instead"]) <= MOST
    for one in told["instead"]:
        assert set(one["margin"]) < set(EVERYTHING)
        status = client.get(one["address"]).json()
        assert status["margin"] == one["margin"]
        assert status["status"] in ("possible", "gone")
        assert status["status"] == "possible" or not one["known"]


def test_what_is_known_to_be_gone_is_not_offered(czech):
    client = czech.client()
    offered = client.post(f"{CZECH}/requests", {"variables": EVERYTHING}).json()["instead"]
    for one in offered:
        client.get(one["address"])  # now it is known
    again = client.get(f"{CZECH}/status", params={"variables": ",".join(EVERYTHING)}).json()
    for one in again["instead"]:
        status = client.get(one["address"]).json()["status"]
        assert status == "possible" or not one["known"]
    gone = [o["margin"] for o in offered if client.get(o["address"]).json()["status"] == "gone"]
    assert not [o for o in again["instead"] if o["margin"] in gone]


def test_nothing_is_offered_where_nothing_can_be_asked(tmp_path):
    with world(tmp_path) as made:
        made.open("tract", {"server.rule": "static"}, frontier=[["Race"], ["Income"]])
        client = made.client()
        told = client.post("/api/v1/datasets/tract/requests", {"variables": ["Race", "Income"]})
        assert told.json()["outcome"] == "refused"
        assert told.json()["instead"] == []
        assert [n["margin"] for n in told.json()["near"]] == [["Race"], ["Income"]]


def test_nothing_is_offered_beside_what_is_out_or_possible(czech):
    client = czech.client()
    assert client.get(f"{CZECH}/status?variables=A").json()["instead"] == []
    assert client.get(f"{CZECH}/status?variables=A,B").json()["instead"] == []


def test_the_public_rules_bar_what_they_bar(tmp_path):
    with world(tmp_path) as made:
        made.open("czech", MYOPIC | {"server.max_order": 2}, "example:czech")
        found = made.client().get(f"{CZECH}/status?variables=A,B,C").json()
        assert found["why"] == "order"
        assert sorted(o["margin"] for o in found["instead"]) == [["A", "B"], ["A", "C"], ["B", "C"]]


def test_a_large_step_is_led_down(tmp_path):
    with world(tmp_path) as made:
        made.open("czech", MYOPIC | {"server.step_variables": 1}, "example:czech")
        found = made.client().get(f"{CZECH}/status?variables=A,B,C").json()
        assert (found["status"], found["candidate"], found["why"]) == ("possible", False, "step")
        assert {len(one["margin"]) for one in found["instead"]} == {2}


def test_nothing_is_offered_of_closed_data(czech):
    czech.site.counter.close("czech", "1", "done")
    told = czech.client().post(f"{CZECH}/requests", {"variables": EVERYTHING}).json()
    assert (told["why"], told["instead"]) == ("closed", [])


def test_the_pages_show_it(czech):
    client = czech.client()
    asked = client.request("POST", "/d/czech/ask", data={"v": EVERYTHING}, headers=HTML).text
    assert "You could ask for" in asked
    picked = client.get("/d/czech?" + "&".join(f"v={v}" for v in EVERYTHING), headers=HTML).text
    assert 'class="offers">' in picked
    assert "not looked at yet" in picked


def test_no_trial_is_made_for_it():
    """The desk is not asked to judge; not even for a table of many variables."""
    desk = Desk(load("example:czech"), Policy.of(MYOPIC))
    calls = []
    desk.space.trial = lambda margins: calls.append(margins) or True
    found = instead(desk, 0b111111)
    assert not calls
    assert len(found) == MOST
    assert all(not within(margin, desk.out) and not known for margin, known in found)


def test_what_is_known_to_be_possible_comes_first():
    desk = Desk(load("example:czech"), Policy.of(MYOPIC))
    assert desk.standing(0b000111).status == "possible"
    found = instead(desk, 0b111111)
    assert found[0] == (0b000111, True)
    assert not any(known for _, known in found[1:])


def test_after_a_survey_all_is_known_the_largest_first():
    desk = Desk(load("example:czech"), Policy.of(MYOPIC))
    desk.space.survey()
    found = instead(desk, 0b111111)
    assert found
    assert all(known for _, known in found)
    sizes = [margin.bit_count() for margin, _ in found]
    assert sizes == sorted(sizes, reverse=True)
