"""Refusals say the same of all tables that share what is public, to the last byte."""

import numpy as np
import pytest

from discreet.decision.law.policy import Policy
from server.alike import named, play, public, random_table, sibling
from server.sites import world

WIDTHS = {"attribute.check": False, "published.least": 0, "small.most": 1, "small.width": 1}
LENIENT = WIDTHS | {"server.delta": 0.4, "server.draws": 100, "server.gate": False}
REQUESTS = [3, 7, 12, 15, 5]
FRONTIER = (3, 4, 8)


@pytest.fixture(scope="module", params=["static", "simulatable"])
def rule(request):
    return request.param


@pytest.fixture(scope="module")
def tables(rule):
    """Two that share all that comes out when REQUESTS are made."""
    rng = np.random.default_rng(2)
    one = random_table(rng, (2, 2, 2, 2), 16, 2.0)
    policy = Policy.of({"server.rule": "simulatable"} | LENIENT)
    other = sibling(one, FRONTIER if rule == "static" else play(one, policy, REQUESTS)[1], rng)
    assert one != other
    return one, other


@pytest.fixture(scope="module")
def heard(rule, tables, tmp_path_factory):
    """Of two sites, whose data set has the same name: every answer to every request."""
    policy, found = Policy.of({"server.rule": rule} | LENIENT), []
    for table in tables:
        with world(tmp_path_factory.mktemp("site")) as made:
            frontier = [named(table, s) for s in FRONTIER] if rule == "static" else None
            made.site.counter.open(table, policy, slug="data", frontier=frontier)
            client = made.client()
            found.append([answers(client, named(table, s)) for s in REQUESTS])
    return found


def answers(client, names):
    """A status, a request, a page that asks, and a page that looks."""
    api, listed = "/api/v1/datasets/data", ",".join(names)
    return {
        "status": client.get(f"{api}/status", params={"variables": listed}),
        "request": client.post(f"{api}/requests", json={"variables": names}),
        "asked": client.request("POST", "/d/data/ask", data={"v": names}),
        "looked": client.get("/d/data", params={"v": names}),
    }


@pytest.mark.parametrize("way", ["status", "request", "asked", "looked"])
def test_every_byte_is_the_same(heard, way):
    for one, other in zip(*heard, strict=True):
        assert one[way].status_code == 200
        assert one[way].content == other[way].content
        assert header(one[way]) == header(other[way])


def header(answer):
    """But for what names the very request."""
    return {k: v for k, v in answer.headers.items() if k not in ("date", "x-request-id")}


def test_something_is_refused_and_something_is_granted(heard):
    said = [answer["request"].json()["outcome"] for answer in heard[0]]
    assert set(said) == {"granted", "refused"}


def test_answers_are_a_function_of_what_is_out():
    """32 tables in families that share their one-way margins: the games part where answers do."""
    policy, rng = Policy.of({"server.rule": "simulatable"} | LENIENT), np.random.default_rng(7)
    compared = 0
    for _ in range(8):
        base, told = random_table(rng, (2, 2, 2), int(rng.integers(4, 11)), 2.0), {}
        for table in [base, *(sibling(base, (1, 2, 4), rng) for _ in range(3))]:
            for out, answer in play(table, policy, [3, 6, 7, 5])[0]:
                before, first = told.setdefault(
                    (public(table, out), answer.margin), (table, answer)
                )
                assert first == answer
                compared += before != table
    assert compared > 30
