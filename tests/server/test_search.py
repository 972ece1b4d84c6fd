"""What is found, in which order, and that only what is public is looked at."""

import time

import numpy as np
import pytest

from discreet.decision.law.policy import Policy
from discreet.table.table import Table
from server.described import open_described
from server.sites import MYOPIC, world
from server.test_pages import HTML, check

PEOPLE = MYOPIC | {"attribute.check": False, "published.least": 0}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    folder = tmp_path_factory.mktemp("search")
    with world(folder, address="https://tables.example") as made:
        out = [["Town", "Sex"], ["Region", "Sex", "Age"]]
        open_described(made.site.counter, folder, Policy.of(PEOPLE), out=out)
        made.open("tract", PEOPLE)
        yield made


def find(site, query, **more):
    answer = site.client().get("/api/v1/search", params={"q": query} | more)
    assert answer.status_code == 200, answer.text
    return answer.json()["hits"]


def first(site, query):
    hit = find(site, query)[0]
    return hit["kind"], hit["dataset"], hit["margin"]


@pytest.mark.parametrize(
    ("query", "best"),
    [
        ("sex age", ("table", "people", ["Sex", "Age"])),
        ("town female", ("table", "people", ["Town", "Sex"])),
        ("Town age", ("possible", "people", ["Town", "Age"])),
        ("birch", ("table", "people", ["Town"])),
        ("under 40", ("table", "people", ["Age"])),
        ("residence", ("table", "people", ["Town"])),
        ("nights", ("table", "people", ["Town"])),
        ("chinese", ("table", "tract", ["Race"])),
        ("people of the bay", ("dataset", "people", [])),
        ("register", ("dataset", "people", [])),
        ("INC", ("table", "tract", ["Income"])),
    ],
)
def test_the_best_hit(site, query, best):
    assert first(site, query) == best


def test_larger_tables_follow(site):
    hits = [(hit["kind"], hit["margin"]) for hit in find(site, "age")]
    assert hits[:2] == [("table", ["Age"]), ("table", ["Region", "Sex", "Age"])]
    assert ("dataset", []) in hits


def test_it_says_where_a_word_was_found(site):
    assert find(site, "cedar")[0]["found"] == [{"variable": "Town", "category": "Cedar Hill"}]


def test_every_word_must_be_found(site):
    assert find(site, "town zebra") == []
    assert find(site, "zebra") == []
    assert find(site, "  ,. ") == []


def test_a_table_of_an_answer_can_be_opened(site):
    client = site.client()
    for hit in find(site, "sex"):
        assert client.get(hit["address"]).status_code == 200


def test_what_comes_out_is_found_at_once(site):
    assert first(site, "gender income")[0] == "possible"
    assert site.site.counter.request("tract", ["Gender", "Income"]).outcome == "granted"
    assert first(site, "gender income") == ("table", "tract", ["Gender", "Income"])


def test_the_page(site):
    client = site.client()
    for query in ("", "age", "<script>", "zebra"):
        page = client.get("/search", params={"q": query}, headers=HTML)
        check(page)
        assert "<script>" not in page.text.replace("<script src", "")
    assert 'href="/d/people/t/Age"' in client.get("/search?q=age", headers=HTML).text
    assert (
        'href="/d/people?v=Town&amp;v=Age"' in client.get("/search?q=town+age", headers=HTML).text
    )
    assert client.get("/search", params={"q": "x" * 201}, headers=HTML).status_code == 422


def test_limits(site):
    assert len(find(site, "s", limit=1)) == 1
    assert site.client().get("/api/v1/search", params={"q": "x", "limit": 0}).status_code == 422
    assert site.client().get("/api/v1/search").status_code == 422


def test_it_is_quick_with_thousands_of_categories(tmp_path):
    with world(tmp_path) as made:
        for place in range(3):
            streets = [f"Street {place} of number {n}" for n in range(2_000)]
            table = Table.of(np.full((2_000, 2), 9), Street=streets, Sex=["f", "m"])
            made.site.counter.open(table, Policy.of(PEOPLE), slug=f"s{place}", apart=True)
        client = made.client()
        client.get("/api/v1/search?q=street")  # reads all words once
        start = time.perf_counter()
        hits = client.get("/api/v1/search", params={"q": "number 1999 street"}).json()["hits"]
        assert time.perf_counter() - start < 20
        assert hits[0]["found"][0]["category"].endswith("number 1999")
