"""Perturbed tables instead of refused ones: from what is out alone, marked, and never counted."""

import csv
import dataclasses
import io
import json

import numpy as np
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook
from sqlalchemy import func, select

from discreet.decision.law.policy import Policy
from discreet.errors import DataError
from discreet.masks.perturb import perturb_release
from discreet.release.release import Release
from discreet.server.formats import Format
from discreet.server.ledger.schema import Entry, Publication
from discreet.server.showing import perturbed
from discreet.server.showing.catalogue import NotPublished
from discreet.server.showing.perturbed import PerturbedTables
from discreet.table.codings import Coding
from discreet.table.load import load
from discreet.table.table import Table
from server.sites import MYOPIC, world
from server.test_pages import HTML

TRACT = "/api/v1/datasets/tract"
ALL = ["Gender", "Race", "Income"]
WHOLE = "*".join(ALL)
PERTURBED = MYOPIC | {"server.perturbed": True}


@pytest.fixture
def tract(tmp_path):
    with world(tmp_path) as made:
        yield made.open("tract", PERTURBED)


def asked(site, names=ALL, slug="tract"):
    return site.client().post(f"/api/v1/datasets/{slug}/requests", {"variables": names}).json()


def array(table):
    return np.array(table["values"]).reshape([len(v["categories"]) for v in table["variables"]])


def test_a_refusal_offers_one_that_keeps_all_that_is_out(tract):
    assert asked(tract, ["Gender", "Income"])["outcome"] == "granted"
    told = asked(tract)
    assert (told["outcome"], told["why"]) == ("refused", "unsafe")
    found = tract.client().get(told["perturbed"]).json()
    counts, truth = array(found), load("example:tract")
    assert (counts.sum(1) == truth.margin("Gender*Income").dense()).all()
    assert (counts.sum((0, 2)) == truth.margin("Race").dense()).all()
    assert (counts != truth.dense()).any()
    assert {frozenset(m) for m in found["perturbed"]["keeps"]} == {
        frozenset({"Gender", "Income"}), frozenset({"Race"}),
    }  # fmt: skip
    assert "no counts of the data" in found["note"]
    assert found["title"].endswith("(perturbed)")
    assert found["source"]["address"] == f"http://test{told['perturbed']}"
    assert "No count of the data" in found["source"]["citation"]


def test_without_the_key_nothing_is_offered(tmp_path):
    with world(tmp_path) as made:
        made.open("tract", MYOPIC)
        assert asked(made)["perturbed"] is None
        found = made.client().get(f"{TRACT}/perturbed/4/{WHOLE}")
        assert (found.status_code, found.json()["error"]["code"]) == (404, "not_published")
    assert not Policy().server.perturbed


def test_the_same_until_something_else_is_released(tract):
    client = tract.client()
    one, again = asked(tract)["perturbed"], asked(tract)["perturbed"]
    assert one == again
    first = client.get(one).json()
    assert client.get(one).json() == first
    assert asked(tract, ["Gender", "Income"])["outcome"] == "granted"
    other = asked(tract)["perturbed"]
    assert other != one
    assert client.get(other).json()["values"] != first["values"]
    assert client.get(one).json() == first  # the old address stays as it was


def test_margins_of_one_draw_agree(tract):
    client = tract.client()
    number = tract.site.perturbed.newest("tract")
    whole = array(client.get(f"{TRACT}/perturbed/{number}/{WHOLE}").json())
    part = client.get(f"{TRACT}/perturbed/{number}/Race*Income").json()
    assert (array(part) == whole.sum(0)).all()


def test_other_data_with_the_same_margins_give_the_same(tmp_path):
    """It depends on the confidential table through what is out, and on nothing else."""
    truth = load("example:tract")
    axes = {v.name: v.categories for v in truth.variables}
    release = Release.margins(truth, "Gender*Income + Race")
    shuffled = perturb_release(release, seed=3).table().dense()
    assert (shuffled != truth.dense()).any()
    found = []
    for number, counts in enumerate((truth.dense(), shuffled)):
        folder = tmp_path / str(number)
        folder.mkdir()
        with world(folder) as made:
            table = Table.of(counts, **axes)
            policy = PERTURBED | {"server.rule": "static"}
            made.site.counter.open(
                table, Policy.of(policy), slug="tract", frontier=[["Gender", "Income"], ["Race"]]
            )
            told = asked(made)
            assert told["why"] == "frontier"
            found.append(made.client().get(told["perturbed"]).json()["values"])
    assert found[0] == found[1]


def test_another_secret_draws_another(tract):
    overview = tract.site.catalogue.dataset("tract")
    number = tract.site.perturbed.newest("tract")
    mine, same, other = (
        PerturbedTables(tract.site.database, key).margin(overview, number, ALL).counts
        for key in (b"secret", b"secret", b"another")
    )
    assert (mine == same).all()
    assert (mine != other).any()


def test_it_is_not_counted_as_published(tract):
    client, counter = tract.client(), tract.site.counter
    told = asked(tract)
    with tract.site.database.read() as session:
        before = [session.scalar(select(func.count()).select_from(k)) for k in (Entry, Publication)]
    with counter.desk("tract") as desk:
        out = desk.out
    assert client.get(told["perturbed"]).status_code == 200
    with tract.site.database.read() as session:
        after = [session.scalar(select(func.count()).select_from(k)) for k in (Entry, Publication)]
    with counter.desk("tract") as desk:
        assert desk.out == out
    assert after == before
    assert client.get(f"{TRACT}/tables/Gender*Race*Income").status_code == 404
    assert asked(tract)["outcome"] == "refused"


def test_every_format_is_marked(tract):
    client, address = tract.client(), asked(tract)["perturbed"]
    sent = {kind: client.get(f"{address}?format={kind}") for kind in Format}
    assert all(found.status_code == 200 for found in sent.values())
    rows = list(csv.DictReader(io.StringIO(sent[Format.CSV].text)))
    assert list(rows[0]) == [*ALL, "perturbed"]
    assert sum(int(row["perturbed"]) for row in rows) == 742
    assert "perturbed" in sent[Format.CSV].headers["content-disposition"]
    book = load_workbook(io.BytesIO(sent[Format.XLSX].content))
    assert book["Table"].cell(1, 4).value == "perturbed"
    source = [cell.value for row in book["Source"].iter_rows() for cell in row]
    assert any("no counts of the data" in str(text) for text in source)
    assert "Published" not in source
    table = pq.read_table(io.BytesIO(sent[Format.PARQUET].content))
    assert table.column_names[-1] == "perturbed"
    assert "keeps" in json.loads(table.schema.metadata[b"perturbed"])
    stat = json.loads(sent[Format.JSON_STAT].content)
    assert stat["extension"]["perturbed"] is True
    assert "no counts of the data" in stat["note"][0]
    assert "perturbed" in sent[Format.SDMX_CSV].text.splitlines()[1]
    assert "no counts of the data" in sent[Format.PX].text.replace('"\r\n"', "")


def test_the_page_of_a_refusal_says_what_it_is(tract):
    client = tract.client()
    page = client.request("POST", "/d/tract/ask", data={"v": ALL}, headers=HTML).text
    assert "no counts of the data" in page
    assert f"{TRACT}/perturbed/" in page
    german = {**HTML, "Accept-Language": "de"}
    page = client.request("POST", "/d/tract/ask", data={"v": ALL}, headers=german).text
    assert "zufällig gezogen" in page
    assert "drawn by chance" in client.get("/d/tract/about", headers=HTML).text
    assert any("perturbed" in text for text in client.get(TRACT).json()["policy"])


def test_what_was_withdrawn_is_in_no_draw(tract):
    client = tract.client()
    asked(tract, ["Gender", "Income"])
    before = asked(tract)["perturbed"]
    assert client.get(before).status_code == 200
    body = {"reason": "a coding error"}
    gone = tract.client("custodian").post(f"{TRACT}/tables/Gender*Income/withdraw", body)
    assert gone.status_code == 200
    found = client.get(before)
    assert (found.status_code, found.json()["error"]["code"]) == (410, "withdrawn")
    after = client.get(asked(tract)["perturbed"]).json()
    assert sorted(after["perturbed"]["keeps"]) == [["Gender"], ["Income"], ["Race"]]


def test_what_cannot_be_had_is_said(tract):
    client = tract.client()
    number = tract.site.perturbed.newest("tract")
    out = client.get(f"{TRACT}/perturbed/{number}/Race")
    assert out.status_code == 422
    assert "read the table itself" in out.json()["error"]["message"]
    assert client.get(f"{TRACT}/perturbed/1/{WHOLE}").status_code == 404  # the opening
    assert client.get(f"{TRACT}/perturbed/{number + 1}/{WHOLE}").status_code == 404
    assert client.get(f"{TRACT}/perturbed/{number}/Rase").status_code == 422


def test_only_refusals_behind_which_the_data_are_offer_one(tmp_path):
    with world(tmp_path) as made:
        made.open("tract", PERTURBED | {"server.max_order": 2})
        told = asked(made)
        assert (told["why"], told["perturbed"]) == ("order", None)
        assert asked(made, ["Gender"])["perturbed"] is None
        policy = PERTURBED | {"server.rule": "static", "server.cells": 10}
        made.open("czech", policy, "example:czech", frontier=[["A"], ["B"]])
        assert asked(made, ["A", "B", "C"], "czech")["perturbed"] is not None
        assert asked(made, ["A", "B", "C", "D"], "czech")["perturbed"] is None  # 16 cells


def test_zeros_that_are_stated_stay_zero(tmp_path):
    truth = np.random.default_rng(1).poisson(30, (2, 3, 3))
    truth[0, 2], truth[1, 1, 1] = 0, 1
    axes = {"Sex": "fm", "Work": "abc", "Town": "xyz"}
    table = Table.of(truth, **axes).excluding([{"Sex": "f", "Work": "c"}])
    with world(tmp_path) as made:
        made.site.counter.open(table, Policy.of(PERTURBED), slug="tract")
        told = asked(made, list(axes))
        assert told["outcome"] == "refused"
        assert made.site.counter.impossible("tract") == table.impossible
        assert array(made.client().get(told["perturbed"]).json())[0, 2].sum() == 0


def test_why_none_can_be_drawn_is_said_once_it_is_known(tract, monkeypatch):
    calls = []

    def refuse(*_, **__):
        calls.append(1)
        raise DataError("too many cells hang together.")

    monkeypatch.setattr(perturbed, "perturb_release", refuse)
    address = asked(tract)["perturbed"]
    for _ in range(2):
        found = tract.client().get(address)
        assert found.status_code == 404
        assert "too many cells" in found.json()["error"]["message"]
    assert len(calls) == 1


def test_names_with_odd_characters(tmp_path):
    truth = np.random.default_rng(1).poisson(30, (2, 3, 3))
    truth[1, 1, 1] = 1
    table = Table.of(truth, **{"a/b": "fm", "c*d": "abc", "e f": "xyz"})
    with world(tmp_path) as made:
        made.site.counter.open(table, Policy.of(PERTURBED), slug="tract")
        told = asked(made, list(table.names))
        assert told["outcome"] == "refused"
        found = made.client().get(told["perturbed"]).json()
        assert found["margin"] == list(table.names)
        assert found["source"]["address"] == f"http://test{told['perturbed']}"


def test_who_has_many_drawn_displaces_their_own(tract, monkeypatch):
    """Others' are kept: what many addresses of one visitor cost is drawn again for that one."""
    monkeypatch.setattr(perturbed, "KEPT", 3)
    drawn = []

    def draw(release, seed):
        drawn.append(seed)
        return "not here"

    monkeypatch.setattr(perturbed, "_drawn", draw)
    made, overview = tract.site.perturbed, tract.site.catalogue.dataset("tract")

    def ask(number, visitor):
        with pytest.raises(NotPublished):
            made.margin(overview, number, ALL, visitor=visitor)
        return len(drawn)

    assert asked(tract, ["Gender", "Income"])["outcome"] == "granted"
    first, *rest = [2, 3, 4, made.newest("tract")]
    assert ask(first, "ada") == 1
    assert [ask(number, "ben") for number in rest] == [2, 3, 4]
    assert ask(first, "ada") == 4
    assert ask(rest[0], "ben") == 5


def test_what_was_only_found_in_the_data_is_not_used(tract):
    """It would be a function of the data beyond what is out."""
    served = tract.site.counter.served["tract"]
    zero, other = ((("Gender", "Male"), ("Race", "Chinese")), (("Race", "Black"), ("Income", "x")))
    served.table = dataclasses.replace(
        served.table, impossible=(other,), codings=(Coding(("Gender", "Race"), 1, (zero,)),)
    )
    assert tract.site.counter.impossible("tract") == (other,)


def test_downloads_are_told_apart(tract):
    client, address = tract.client(), asked(tract)["perturbed"]
    client.get(f"{address}?format=csv")
    totals = client.get(f"{TRACT}/statistics").json()["totals"]
    assert totals["perturbed csv"] == 1
    assert "download csv" not in totals


def test_an_address_stays_when_another_codebook_is_accepted(tract):
    """Refusals name a new one, where what nobody can have stays empty."""
    client, first = tract.client(), asked(tract)["perturbed"]
    before = client.get(first).json()
    (gender, race), table = (
        tract.site.counter.served["tract"].table.names[:2],
        load("example:tract"),
    )
    nobodys = ((gender, table.variables[0].categories[0]), (race, table.variables[1].categories[1]))
    stricter = dataclasses.replace(table, impossible=(nobodys,))
    tract.site.counter.open(stricter, Policy(), slug="tract")
    change = tract.site.counter.codebook_change("tract")
    assert tract.site.counter.accept("tract", change.hash, "7", "nobody can")
    tract.site.perturbed._drawn.clear()
    assert client.get(first).json()["values"] == before["values"]
    second = asked(tract)["perturbed"]
    assert second != first
    assert array(client.get(second).json())[0, 1].sum() == 0 < array(before)[0, 1].sum()
