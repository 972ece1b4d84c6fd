"""Published tables from copies: the same as from the ledger, only quicker, and never too old."""

import asyncio
import gzip

import numpy as np
import pytest
from sqlalchemy.exc import OperationalError

from discreet.decision.law.policy import Policy
from discreet.server.deciding.counter import Counter
from discreet.server.showing import copies, news
from discreet.server.showing.catalogue import Catalogue
from discreet.table.table import Table
from server.sites import MYOPIC, world

TRACT = "/api/v1/datasets/tract"
RACE = f"{TRACT}/tables/Race"
PLAIN = {"Accept-Encoding": "identity"}


@pytest.fixture
def tract(tmp_path):
    with world(tmp_path) as made:
        yield made.open()


@pytest.fixture
def made_anew(monkeypatch):
    """The tables that were read from the ledger."""
    found, published = [], Catalogue.published

    def noted(self, slug, names, *more, **further):
        found.append(tuple(names))
        return published(self, slug, names, *more, **further)

    monkeypatch.setattr(Catalogue, "published", noted)
    return found


def uses(made):
    return made.client().get(f"{TRACT}/statistics").json()["totals"]


def test_a_table_is_read_once(tract, made_anew):
    client = tract.client()
    first = client.get(RACE)
    again = [client.get(RACE) for _ in range(4)]
    assert {answer.content for answer in again} == {first.content}
    for answer in again:
        kept = {k: v for k, v in answer.headers.items() if k != "x-request-id"}
        assert kept == {k: v for k, v in first.headers.items() if k != "x-request-id"}
    assert made_anew == [("Race",)]
    assert uses(tract) == {"download json": 5}


def test_a_copy_is_what_an_account_gets_without_one(tract, made_anew):
    for path in (RACE, f"{RACE}?format=csv", f"{TRACT}/tables/Gender", f"{RACE}?format=parquet"):
        client, analyst = tract.client(), tract.client("analyst")
        first, copy = (client.get(path, headers=PLAIN) for _ in range(2))
        assert first.content == copy.content == analyst.get(path, headers=PLAIN).content
        own = analyst.get(path)
        assert own.headers["cache-control"] == "no-store"
        assert "content-encoding" not in own.headers
        for name in ("etag", "content-type", "content-length", "content-disposition"):
            assert first.headers.get(name) == copy.headers.get(name)
    assert len(made_anew) == 3 * 4  # of accounts there are no copies


def test_pages_have_copies_too(tract):
    client = tract.client()
    first, again = (client.get("/d/tract/t/Race", headers={"Accept": "text/html"}) for _ in "12")
    assert first.content == again.content
    assert "693" in again.text
    assert first.headers["etag"] == again.headers["etag"]
    known = client.get(
        "/d/tract/t/Race", headers={"Accept": "text/html", "If-None-Match": first.headers["etag"]}
    )
    assert (known.status_code, known.content) == (304, b"")
    signed = tract.client("custodian").get("/d/tract/t/Race", headers={"Accept": "text/html"})
    assert signed.headers["cache-control"] == "no-store"
    assert "etag" not in signed.headers


def test_what_an_answer_depends_on_has_copies_of_its_own(tract, made_anew):
    client = tract.client()
    for _ in range(2):
        counts = client.get(RACE).json()["values"]
        assert client.get(f"{RACE}?format=csv").text.startswith("Race,count")
        assert client.get(f"{TRACT}/tables/Gender").json()["values"] != counts
    assert made_anew == [("Race",), ("Race",), ("Gender",)]
    texts = {
        language: client.get(
            "/d/tract/t/Race", headers={"Accept": "text/html", "Accept-Language": language}
        ).text
        for language in ("en", "de", "en", "de")
    }
    assert '<html lang="en"' in texts["en"]
    assert '<html lang="de"' in texts["de"]


# Compression


def test_slices_whose_names_give_the_same_text_are_two(tmp_path):
    """A category holds what stands between two parts of a slice."""
    counts = 50 + np.arange(4 * 60 * 60).reshape(2, 2, 60, 60) % 37
    data = Table.of(counts, A=["x", "x|B=y"], B=["y", "z"], C=range(60), D=range(60))
    with world(tmp_path) as made:
        made.site.counter.open(data, Policy.of(MYOPIC | {"server.cells": 20_000}), slug="people")
        everybody, tables = made.client(), "/api/v1/datasets/people"
        everybody.post(f"{tables}/requests", {"variables": ["A", "B", "C", "D"]})
        for where, cut in (
            ("where=A:x|B%3Dy", counts[1].sum(0)),
            ("where=A:x&where=B:y", counts[0, 0]),
        ):
            told = everybody.get(f"{tables}/tables/C*D?{where}").json()
            assert told["values"] == cut.ravel().tolist()


def test_tables_are_compressed_for_those_who_take_it(tract):
    client, answers = tract.client(), {}
    for accepted in ("identity", "gzip", "br, gzip;q=0.5", "gzip;q=0", "*", ""):
        answers[accepted] = client.get(RACE, headers={"Accept-Encoding": accepted})
    plain = answers["identity"]
    for accepted, answer in answers.items():
        zipped = accepted in ("gzip", "br, gzip;q=0.5", "*")
        assert (answer.headers.get("content-encoding") == "gzip") == zipped, accepted
        assert answer.content == plain.content  # httpx unpacks
        assert "Accept-Encoding" in answer.headers["vary"]
        assert (answer.headers["etag"] == plain.headers["etag"]) == (not zipped)
    packed = int(answers["gzip"].headers["content-length"])
    assert packed < int(plain.headers["content-length"]) == len(plain.content)


def test_what_is_compressed_already_or_small_is_not(tract):
    client = tract.client()
    for path in (f"{RACE}?format=parquet", f"{RACE}?format=csv"):
        answer = client.get(path, headers={"Accept-Encoding": "gzip"})
        assert "content-encoding" not in answer.headers
        assert int(answer.headers["content-length"]) == len(answer.content)


def test_large_answers_are_compressed_whole():
    body = b"1,2,3\n" * 100_000
    assert gzip.decompress(asyncio.run(copies._compress(body, b"text/csv"))) == body


def test_a_tag_is_known_whatever_the_coding(tract, made_anew):
    client = tract.client()
    plain = client.get(RACE, headers=PLAIN).headers["etag"]
    packed = client.get(RACE, headers={"Accept-Encoding": "gzip"}).headers["etag"]
    for tag in (plain, packed, f"W/{plain}", f'"x", {packed}', "*"):
        for coding in ("identity", "gzip"):
            sent = {"If-None-Match": tag, "Accept-Encoding": coding}
            answer = client.get(RACE, headers=sent)
            assert (answer.status_code, answer.content) == (304, b"")
            assert answer.headers["etag"] == (plain if coding == "identity" else packed)
            assert "content-length" not in answer.headers
    assert client.get(RACE, headers={"If-None-Match": '"x"'}).status_code == 200
    assert made_anew == [("Race",)]
    assert uses(tract)["download json"] == 3  # what is not sent is no download


def test_a_known_tag_makes_a_copy_though_nothing_is_sent(tract, made_anew):
    client = tract.client()
    for _ in range(3):
        assert client.get(RACE, headers={"If-None-Match": "*"}).status_code == 304
    assert made_anew == [("Race",)]
    assert uses(tract) == {}


# Never too old


def withdraw(made, margin="Race"):
    path = f"{TRACT}/tables/{margin}/withdraw"
    return made.client("custodian").post(path, {"reason": "a coding error"})


def test_what_is_withdrawn_is_gone_at_once(tract):
    client = tract.client()
    assert [client.get(RACE).status_code for _ in range(2)] == [200, 200]
    assert withdraw(tract).status_code == 200
    for headers in ({}, {"If-None-Match": "*"}, PLAIN):
        answer = client.get(RACE, headers=headers)
        assert (answer.status_code, answer.json()["error"]["code"]) == (410, "withdrawn")


def test_what_another_worker_withdraws_is_gone_within_half_a_second(tract):
    clock = [0.0]
    tract.app.state.news.clock = lambda: clock[0]
    client = tract.client()
    assert client.get(RACE).status_code == 200
    other = Counter(tract.site.database, b"secret")
    other.served = tract.site.counter.served
    other.withdraw("tract", ["Race"], "1", "a coding error")
    clock[0] += news.FRESH + 0.01
    assert client.get(RACE).status_code == 410


def test_refusals_leave_copies_and_grants_do_not(tract, made_anew):
    client = tract.client()

    def ask(*names):
        answer = client.post(f"{TRACT}/requests", {"variables": list(names)})
        return answer.json()["outcome"]

    assert client.get(RACE).json()["source"]["entry"] == 3
    assert ask("Gender", "Race", "Income") == "refused"
    assert ask("Race") == "granted"  # it was out
    assert client.get(RACE).status_code == 200
    assert len(made_anew) == 1
    assert ask("Gender", "Income") == "granted"
    assert client.get(RACE).status_code == 200
    assert len(made_anew) == 2


def test_other_terms_are_told_at_once(tract):
    client = tract.client()
    before = client.get(RACE).json()["note"]
    change = {"changes": {"bounds.proof": "linear"}}
    assert tract.client("custodian").post(f"{TRACT}/policy", change).status_code == 200
    assert client.get(RACE).json()["note"] != before


def test_a_database_that_fails_is_not_hidden(tract, monkeypatch):
    client = tract.client()
    assert client.get(RACE).status_code == 200

    def fail(*_):
        raise OperationalError("SELECT", {}, Exception("gone"))

    tract.app.state.news.forget()
    monkeypatch.setattr(type(tract.site.database), "read", fail)
    assert client.get(RACE).status_code == 503


def test_errors_have_no_copies(tract, made_anew):
    client = tract.client()
    for _ in range(2):
        assert client.get(f"{TRACT}/tables/Race*Income").status_code == 404
        assert client.get(f"{RACE}?format=nothing").status_code == 422
        assert client.get("/api/v1/datasets/nothing/tables/Race").status_code == 404
    assert made_anew == [("Race", "Income")] * 2


# What else must hold


def test_copies_are_counted_as_requests(tmp_path):
    with world(tmp_path, requests_per_minute=3) as made:
        client = made.open().client()
        assert [client.get(RACE).status_code for _ in range(4)] == [200, 200, 200, 429]


def test_copies_are_in_the_metrics_and_have_strict_headers(tract):
    client = tract.client()
    answers = [client.get(RACE) for _ in range(3)]
    assert len({answer.headers["x-request-id"] for answer in answers}) == 3
    assert answers[2].headers["content-security-policy"]
    assert answers[2].headers["cache-control"] == "no-cache"
    route = 'route="/api/v1/datasets/{slug}/tables/{margin:path}",status="200"'
    assert f"discreet_http_responses_total{{{route}}} 3.0" in client.get("/metrics").text


def test_head_is_answered_from_a_copy(tract, made_anew):
    client = tract.client()
    get, head = client.get(RACE), client.request("HEAD", RACE)
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["content-length"] == get.headers["content-length"]
    assert made_anew == [("Race",)]


def test_the_least_used_copies_are_dropped(tract, made_anew, monkeypatch):
    client = tract.client()
    client.get("/")  # the middleware is made
    inner = tract.app.middleware_stack
    while not isinstance(inner, copies.Copies):
        inner = inner.app
    inner.most = 8_000
    for name in ("Race", "Gender", "Race", "Income", "Race", "Gender"):
        assert client.get(f"{TRACT}/tables/{name}").status_code == 200
        assert inner.bytes == sum(copy.size for copy in inner._kept.values()) <= 8_000
    assert made_anew == [("Race",), ("Gender",), ("Income",), ("Gender",)]
    monkeypatch.setattr(copies, "LARGEST", 100)
    for _ in range(2):
        assert client.get(f"{RACE}?format=csv&x=1").text.startswith("Race,count")
        assert client.get(f"{RACE}?format=json-stat", headers=PLAIN).json()["class"] == "dataset"
    assert len(made_anew) == 8


def test_a_name_with_a_star_is_another_table_than_two_names(tmp_path, made_anew):
    table = Table.of(
        [[[90, 80], [70, 60]], [[50, 40], [30, 20]]],
        **{"A": ["x", "y"], "B": ["x", "y"], "A*B": ["x", "y"]},
    )
    with world(tmp_path) as made:
        made.site.counter.open(table, Policy.of(MYOPIC), slug="odd")
        client, odd = made.client(), "/api/v1/datasets/odd"
        client.post(f"{odd}/requests", {"variables": ["A", "B"]})
        for _ in range(2):
            both = client.get(f"{odd}/tables/A*B").json()["margin"]
            one = client.get(f"{odd}/tables/A%2AB").json()["margin"]
            assert both == ["A", "B"]
            assert one == ["A*B"]
