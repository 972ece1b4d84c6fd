"""What the API answers, to whom, and how it can be cached, paced and counted."""

import io
import json
import logging
import math
import sys
import threading
import time

import pyarrow.parquet as pq
import pytest
from sqlalchemy.exc import OperationalError

from discreet.decision.law.policy import Policy
from discreet.decision.law.rules import promises
from discreet.server.deciding.slots import until_slot
from discreet.server.ledger.schema import Use
from discreet.table.table import Table
from server.sites import MYOPIC, PASSWORD, world

TRACT = "/api/v1/datasets/tract"
GENDER_INCOME = f"{TRACT}/tables/Gender*Income"


@pytest.fixture
def here(tmp_path):
    with world(tmp_path) as made:
        yield made


@pytest.fixture
def tract(here):
    return here.open()


@pytest.fixture
def approving(here):
    return here.open(changes=MYOPIC | {"server.approval": "always"})


def ask(client, *names, slug="tract"):
    return client.post(f"/api/v1/datasets/{slug}/requests", {"variables": list(names)})


def error(answer, status):
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    assert set(answer.json()["error"]) == {"code", "message", "details"}
    return answer.json()["error"]


# Data sets and status


def test_the_catalogue_leads_to_the_data_set(tract):
    client = tract.client()
    (item,) = client.get("/api/v1/datasets").json()["datasets"]
    view = client.get(item["address"]).json()
    assert [v["name"] for v in view["variables"]] == ["Gender", "Race", "Income"]
    assert view["variables"][0]["categories"] == ["Male", "Female"]
    assert view["rule"] == "myopic"
    assert view["orders"][0] == {"order": 1, "released": 3, "possible": 0, "gone": 0}
    policy = Policy.of(MYOPIC)
    first, rule, *words = view["policy"]
    assert first == "What is out rests on outer bounds, which prove nothing."
    assert rule.startswith("A table is published on request if it is safe")
    assert words[: len(promises(policy))] == promises(policy)
    assert any("must span at least 3," in sentence for sentence in words)
    assert any("No published" in sentence and "from 1 to 2" in sentence for sentence in words)


def test_outer_bounds_are_said_first_wherever_they_were_taken_for_proof(here):
    """In the terms, the answers and the tables; also after the policy asks for proof again."""
    tract = here.open()
    client, custodian = tract.client(), tract.client("custodian")

    def all_that_is_said():
        told = ask(client, "Gender", "Income").json()
        yield client.get(TRACT).json()["policy"][0]
        yield told["message"]
        yield client.get(f"{TRACT}/requests/{told['entry']}").json()["message"]
        yield client.get(f"{TRACT}/status?variables=Gender,Race").json()["message"]
        yield ask(client, "Gender", "Race", "Income").json()["message"]
        yield client.get(GENDER_INCOME).json()["note"]
        yield client.get(f"{GENDER_INCOME}?format=json-stat").json()["note"][0]
        parquet = client.get(f"{GENDER_INCOME}?format=parquet").content
        yield pq.read_schema(io.BytesIO(parquet)).metadata[b"note"].decode()

    first = "What is out rests on outer bounds, which prove nothing."
    assert all(said.startswith(first) for said in all_that_is_said())
    tag = client.get(GENDER_INCOME).headers["ETag"]
    changes = {"bounds.proof": "integer"}
    assert custodian.post(f"{TRACT}/policy", {"changes": changes}).status_code == 200
    assert all(said.startswith(f"Some of w{first[1:]}") for said in all_that_is_said())
    assert client.get(GENDER_INCOME).headers["ETag"] != tag
    assert any("terms were changed" in said for said in client.get(TRACT).json()["policy"])


def test_linear_bounds_are_said_first_where_they_were_proof_enough(here):
    """Also after the policy asks for whole numbers; what rests on outer bounds is said instead."""
    tract = here.open(changes=MYOPIC | {"bounds.proof": "linear"})
    client, custodian = tract.client(), tract.client("custodian")

    def first():
        told = ask(client, "Gender", "Income").json()
        note = client.get(GENDER_INCOME).json()["note"]
        assert told["message"].startswith(f"{note} ")
        assert client.get(TRACT).json()["policy"][0] == note
        return note

    words = (
        "hat is out rests on linear bounds: tables of fractions reach every width, tables of whole "
        "numbers were not always seen."
    )
    assert first() == f"W{words}"
    for proof, note in (
        ("integer", f"Some of w{words}"),
        ("outer", "What is out rests on outer bounds, which prove nothing."),
    ):
        changes = {"changes": {"bounds.proof": proof}}
        assert custodian.post(f"{TRACT}/policy", changes).status_code == 200
        assert first() == note


def test_a_ledger_of_an_earlier_version_is_read(here, monkeypatch):
    today, gone = Policy.to_toml, ('proof = "outer"', "accept_outer = true")
    with monkeypatch.context() as earlier:
        earlier.setattr(Policy, "to_toml", lambda policy: today(policy).replace(*gone))
        here.open()
    client, custodian = here.client(), here.client("custodian")
    assert client.get(TRACT).json()["policy"][0].endswith("outer bounds, which prove nothing.")
    assert ask(client, "Gender", "Income").json()["outcome"] == "granted"
    keys = custodian.get(f"{TRACT}/policy").json()["keys"]
    assert {"outer"} == {key["value"] for key in keys if key["key"] == "bounds.proof"}
    old = custodian.post(f"{TRACT}/policy", {"changes": {"bounds.accept_outer": True}})
    assert 'write bounds.proof = "outer"' in error(old, old.status_code)["message"]


def test_where_all_is_proven_nothing_is_said_of_outer_bounds(here):
    client = here.open(changes=MYOPIC | {"bounds.proof": "integer"}).client()
    told = ask(client, "Gender", "Income").json()
    assert told["message"] == "The table can be published with all that is out."
    assert client.get(GENDER_INCOME).json()["note"] is None
    assert "note" not in client.get(f"{GENDER_INCOME}?format=json-stat").json()
    assert not any("outer" in sentence for sentence in client.get(TRACT).json()["policy"])


def test_a_request_goes_from_possible_to_released(tract):
    client = tract.client()
    status = client.get(f"{TRACT}/status?variables=Income,Gender").json()
    assert (status["status"], status["candidate"], status["address"]) == ("possible", True, None)
    told = ask(client, "Income", "Gender")
    assert told.status_code == 200
    assert told.json()["outcome"] == "granted"
    assert told.json()["address"] == GENDER_INCOME
    status = client.get(f"{TRACT}/status?variables=Income,Gender").json()
    assert (status["status"], status["why"], status["address"]) == (
        "released",
        "out",
        GENDER_INCOME,
    )
    frontier = client.get(f"{TRACT}/frontier").json()["margins"]
    assert [m["margin"] for m in frontier] == [["Race"], ["Gender", "Income"]]


def test_a_refusal_names_what_is_near(tract):
    told = ask(tract.client(), "Gender", "Race", "Income").json()
    assert (told["outcome"], told["why"], told["address"]) == ("refused", "unsafe", None)
    assert [near["margin"] for near in told["near"]] == [["Gender"], ["Race"], ["Income"]]
    for near in told["near"]:
        assert tract.client().get(near["address"]).status_code == 200


def test_the_static_rule_answers_what_was_chosen(here):
    here.open(changes={"server.rule": "static"}, frontier=[["Gender", "Income"], ["Race"]])
    client = here.client()
    assert client.get(GENDER_INCOME).status_code == 200
    told = ask(client, "Gender", "Race").json()
    assert (told["outcome"], told["why"]) == ("refused", "frontier")
    space = here.client("custodian").get(f"{TRACT}/space").json()
    assert space["orders"][1] == {"order": 2, "released": 1, "possible": 0, "gone": 2}
    assert space["risk_left"] == space["narrowest"] - 3


@pytest.mark.parametrize(
    ("names", "said"),
    [
        (["Race", "Rase"], "no variable 'Rase'; it has Gender, Race, Income"),
        (["Race", "Race"], "'Race' is named twice"),
        ([], "at least 1"),
        (["\ud800"], "no variable"),
        (["x" * 5_000], "no variable 'xxx"),
        (["Race"] * 1_000, "named twice"),
    ],
)
def test_wrong_variables_are_refused_clearly(tract, names, said):
    answer = tract.client().request(
        "POST",
        f"{TRACT}/requests",
        content=json.dumps({"variables": names}),
        headers={"Content-Type": "application/json"},
    )
    found = error(answer, 422)
    assert found["code"] == "wrong_input"
    assert said in found["message"]
    assert len(found["message"]) <= 500


def test_ten_thousand_variables_are_refused_at_once(tract):
    start = time.monotonic()
    error(ask(tract.client(), *(f"v{n}" for n in range(5_000))), 422)
    error(ask(tract.client(), *(f"variable {n}" for n in range(10_000))), 413)
    assert time.monotonic() - start < 30


@pytest.mark.parametrize("body", [b"{", b"", b"\xff\xfe", b"[]", b'{"variables": 3}', b"null"])
def test_broken_bodies_are_errors_in_the_one_shape(tract, body):
    headers = {"Content-Type": "application/json"}
    answer = tract.client().request("POST", f"{TRACT}/requests", content=body, headers=headers)
    assert answer.status_code in (400, 422)
    assert error(answer, answer.status_code)["code"] == "wrong_input"


def test_what_is_not_there(tract):
    client = tract.client()
    assert error(client.get("/api/v1/datasets/other"), 404)["code"] == "unknown_dataset"
    assert error(client.get(GENDER_INCOME), 404)["code"] == "not_published"
    assert error(client.get("/api/v1/nothing"), 404)["code"] == "not_found"
    assert error(client.request("PUT", TRACT), 405)["code"] == "wrong_method"
    assert error(client.get(f"{TRACT}/requests/1"), 404)["code"] == "not_found"


# Tables


def test_a_table_in_every_format(tract):
    client = tract.client()
    found = client.get(f"{TRACT}/tables/Race")
    assert found.headers["content-type"] == "application/json"
    assert found.json()["values"] == [693, 44, 5]
    assert found.json()["total"] == 742
    entry = found.json()["source"]["entry"]
    assert f"http://test/d/tract/e/{entry}" in found.json()["source"]["citation"]
    text = client.get(f"{TRACT}/tables/Race?format=csv")
    assert text.headers["content-type"] == "text/csv; charset=utf-8"
    assert text.headers["content-disposition"] == 'attachment; filename="tract-Race.csv"'
    assert text.text == "Race,count\r\nWhite,693\r\nBlack,44\r\nChinese,5\r\n"
    columns = client.get(f"{TRACT}/tables/Race?format=parquet")
    assert columns.headers["content-type"] == "application/vnd.apache.parquet"
    assert pq.read_table(io.BytesIO(columns.content))["count"].to_pylist() == [693, 44, 5]
    assert client.get(f"{TRACT}/tables/Race?format=json-stat").json()["value"] == [693, 44, 5]
    error(client.get(f"{TRACT}/tables/Race?format=xls"), 422)


def test_a_slice_is_of_a_margin_that_is_out(tract):
    client = tract.client()
    error(client.get(f"{TRACT}/tables/Income?where=Gender:Male"), 404)
    ask(client, "Gender", "Income")
    whole = client.get(GENDER_INCOME).json()["values"]
    cut = client.get(f"{TRACT}/tables/Income", params={"where": "Gender:Male"}).json()
    assert cut["values"] == whole[: len(whole) // 2]
    assert cut["margin"] == ["Income"]
    assert cut["where"] == {"Gender": "Male"}
    assert client.get(cut["source"]["address"]).json() == cut
    for wrong in ("Gender:Mal", "Sex:Male", "Gender", "Race:White"):
        answer = client.get(f"{TRACT}/tables/Income", params={"where": wrong})
        assert answer.status_code == (404 if wrong == "Race:White" else 422)


def test_the_order_of_variables_in_an_address_is_free(tract):
    client = tract.client()
    ask(client, "Gender", "Income")
    found = client.get(f"{TRACT}/tables/Income*Gender")
    assert found.json() == client.get(GENDER_INCOME).json()
    assert found.headers["etag"] == client.get(GENDER_INCOME).headers["etag"]
    assert client.get(f"{TRACT}/tables/Gender%2AIncome").json() == found.json()
    error(client.get(f"{TRACT}/tables/Race*Race"), 422)


def test_odd_names_have_addresses(here):
    odd = {"a*b": ["x:y", "z"], "a/b": ["ü", "%2F"], "c,d": ["=1", "?&#"], "a": ["1", "2"]}
    table = Table.of([[[[9, 8], [7, 6]], [[5, 9], [9, 9]]]] * 2, **odd)
    here.site.counter.open(
        table, Policy.of({"server.rule": "static"}), slug="odd", frontier=[list(odd)]
    )
    client = here.client()
    base = "/api/v1/datasets/odd"
    for names in (["a*b", "a"], ["a/b", "c,d"], list(odd)):
        status = client.get(f"{base}/status", params={"variables": ",".join(names)}).json()
        found = client.get(status["address"]).json()
        assert set(found["margin"]) == set(names)
        assert found["total"] == table.total
    cut = client.get(f"{base}/tables/a", params={"where": ["a*b:x:y", "a/b:%2F"]}).json()
    assert cut["where"] == {"a*b": "x:y", "a/b": "%2F"}
    assert client.get(cut["source"]["address"]).json() == cut


def test_a_withdrawn_table_is_gone_with_its_reason(tract):
    public, custodian = tract.client(), tract.client("custodian")
    ask(public, "Gender", "Income")
    reason = {"reason": "a coding error"}
    assert custodian.post(f"{GENDER_INCOME}/withdraw", reason).json()["reason"] == "a coding error"
    found = error(public.get(GENDER_INCOME), 410)
    assert found["code"] == "withdrawn"
    assert "a coding error" in found["message"]
    told = ask(public, "Gender", "Income").json()
    assert (told["why"], told["address"]) == ("withdrawn", None)
    status = public.get(f"{TRACT}/status?variables=Gender,Income").json()
    assert (status["status"], status["why"], status["address"]) == ("released", "withdrawn", None)
    error(custodian.post(f"{GENDER_INCOME}/withdraw", reason), 422)
    assert public.get(f"{TRACT}/tables/Gender").status_code == 200


# Caches


@pytest.mark.parametrize("path", ["", "/status?variables=Race", "/tables/Race", "/frontier"])
def test_what_has_not_changed_is_not_sent_again(tract, path):
    client = tract.client()
    first = client.get(TRACT + path)
    assert first.headers["cache-control"] == "no-cache"
    tag = first.headers["etag"]
    for sent in (tag, f'"other", W/{tag}', "*"):
        again = client.get(TRACT + path, headers={"If-None-Match": sent})
        assert (again.status_code, again.content) == (304, b"")
        assert again.headers["etag"] == tag
    assert client.get(TRACT + path, headers={"If-None-Match": '"other"'}).content == first.content


def test_a_tag_changes_with_what_it_stands_for(tract):
    client = tract.client()
    paths = ["", "/status?variables=Gender,Income", "/frontier"]
    before = [client.get(TRACT + path).headers["etag"] for path in paths]
    ask(client, "Gender", "Income")
    after = [client.get(TRACT + path).headers["etag"] for path in paths]
    assert all(a != b for a, b in zip(before, after, strict=True))
    formats = {client.get(f"{GENDER_INCOME}?format={f}").headers["etag"] for f in ("csv", "json")}
    assert len(formats) == 2


def test_nobody_keeps_what_a_login_shows(tract):
    for role, path in [("auditor", "/ledger"), ("custodian", "/policy"), ("analyst", "")]:
        answer = tract.client(role).get(TRACT + path)
        assert answer.headers["cache-control"] == "no-store"


# Custodians


def test_a_pending_request_is_approved(approving):
    analyst, custodian = approving.client("analyst"), approving.client("custodian")
    told = ask(analyst, "Gender", "Income")
    assert told.status_code == 202
    ticket = told.json()["ticket"]
    assert analyst.get(ticket).json()["outcome"] == "pending"
    error(approving.client().get(ticket), 404)
    (waiting,) = custodian.get(f"{TRACT}/pending").json()["pending"]
    assert waiting["margin"] == ["Gender", "Income"]
    assert waiting["actor"] == str(approving.users["analyst"])
    assert waiting["cost"] is None
    (waiting,) = custodian.get(f"{TRACT}/pending?cost=1").json()["pending"]
    assert waiting["cost"]["narrowest"] >= 3
    number = waiting["number"]
    approved = custodian.post(f"{TRACT}/pending/{number}/approve", {"note": "fine"}).json()
    assert approved["address"] == GENDER_INCOME
    assert analyst.get(ticket).json()["outcome"] == "granted"
    assert analyst.get(ticket).json()["address"] == GENDER_INCOME
    error(custodian.post(f"{TRACT}/pending/{number}/approve"), 422)
    assert custodian.get(f"{TRACT}/pending").json()["pending"] == []


def test_a_pending_request_is_rejected(approving):
    public, custodian = approving.client(), approving.client("custodian")
    told = ask(public, "Gender", "Income").json()
    custodian.post(f"{TRACT}/pending/{told['entry']}/reject", {"note": "no"})
    ticket = public.get(told["ticket"]).json()
    assert (ticket["outcome"], ticket["why"]) == ("refused", "rejected")
    assert ask(public, "Gender", "Income").json()["why"] == "rejected"
    error(public.get(GENDER_INCOME), 404)


def test_narrow_cells_are_for_custodians(tract):
    custodian = tract.client("custodian").get(f"{TRACT}/space").json()
    auditor = tract.client("auditor").get(f"{TRACT}/space").json()
    assert custodian["orders"] == auditor["orders"]
    assert custodian["narrowest"] == custodian["cells"][0]["width"]
    assert custodian["risk_left"] == custodian["narrowest"] - custodian["beta"]
    assert set(custodian["cells"][0]["cell"]) == {"Gender", "Race", "Income"}
    assert auditor["narrowest"] is auditor["risk_left"] is auditor["cells"] is None


def test_what_refusals_tell(here):
    here.open(data="example:blond", slug="blond", changes=MYOPIC)
    names = list(here.site.catalogue.dataset("blond").names)
    custodian = here.client("custodian")
    before = custodian.get("/api/v1/datasets/blond/refusals").json()
    assert (before["refused"], before["told"], before["not_computed"]) == ([], None, None)
    assert ask(here.client(), *names, slug="blond").json()["outcome"] == "refused"
    after = custodian.get("/api/v1/datasets/blond/refusals").json()
    assert after["refused"] == [names]
    assert "learns from each" in after["warning"]
    assert after["told"]["nats"] >= 0 or after["not_computed"]


def test_refusals_of_the_static_rule_tell_nothing(here):
    here.open(changes={"server.rule": "static"}, frontier=[["Gender"]])
    ask(here.client(), "Race")
    view = here.client("custodian").get(f"{TRACT}/refusals").json()
    assert "tell nothing" in view["warning"]
    assert view["told"] is None


def test_the_policy_is_tried_and_then_changed(tract):
    custodian = tract.client("custodian")
    changes = {"changes": {"small.width": 700}}
    dry = custodian.post(f"{TRACT}/policy/dry-run", changes).json()
    assert dry["keeps"] is False
    assert dry["after"][1]["possible"] == 0
    assert tract.site.catalogue.dataset("tract").policy_version == 1
    changed = custodian.post(f"{TRACT}/policy", {**changes, "note": "stricter"}).json()
    values = {key["key"]: key["value"] for key in changed["keys"]}
    assert (changed["version"], values["small.width"]) == (2, 700)
    assert ask(tract.client(), "Gender", "Income").json()["why"] == "unsafe"


@pytest.mark.parametrize(
    ("changes", "said"),
    [
        ({"small.widht": 3}, "did you mean small.width"),
        ({"small.width": "wide"}, "must be a whole number"),
        ({"server.rule": "static"}, "needs a frontier"),
    ],
)
def test_a_wrong_policy_changes_nothing(tract, changes, said):
    custodian = tract.client("custodian")
    for path in ("policy", "policy/dry-run"):
        found = error(custodian.post(f"{TRACT}/{path}", {"changes": changes}), 422)
        assert said in found["message"]
    assert tract.site.catalogue.dataset("tract").policy_version == 1
    assert ask(tract.client(), "Gender", "Income").json()["outcome"] == "granted"


def test_only_listed_tables_can_be_asked_for(here):
    here.open(changes=MYOPIC | {"server.curated": True}, listed=[["Gender", "Race"]])
    public, custodian = here.client(), here.client("custodian")
    assert ask(public, "Gender", "Income").json()["why"] == "unlisted"
    assert custodian.get(f"{TRACT}/listed").json()["margins"] == [["Gender", "Race"]]
    told = custodian.post(f"{TRACT}/listed", {"margins": [["Income", "Gender"]]}).json()
    assert told["margins"] == [["Gender", "Income"]]
    assert ask(public, "Gender", "Income").json()["outcome"] == "granted"
    error(custodian.post(f"{TRACT}/listed", {"margins": [["Rase"]]}), 422)
    error(custodian.post(f"{TRACT}/listed", {"margins": [[]]}), 422)


def test_the_ledger_is_read_and_verified(tract):
    ask(tract.client(), "Gender", "Income")
    auditor = tract.client("auditor")
    ledger = auditor.get(f"{TRACT}/ledger?after=4").json()
    assert [entry["margin"] for entry in ledger["entries"]] == [["Gender", "Income"]]
    assert ledger["entries"][0]["outcome"] == "granted"
    found = auditor.get(f"{TRACT}/ledger/verification").json()
    assert (found["holds"], found["entries"]) == (True, 5)


# Accounts


def test_a_session_needs_its_token_for_changes(tract):
    client = tract.client()
    wrong = client.post("/api/v1/login", {"name": "custodian1", "password": "wrong"})
    assert error(wrong, 401)["code"] == "wrong_login"
    told = client.post("/api/v1/login", {"name": "custodian1", "password": PASSWORD})
    assert told.json()["role"] == "custodian"
    token = {"X-CSRF-Token": told.json()["csrf"]}
    assert client.get("/api/v1/me").json()["csrf"] == told.json()["csrf"]
    body = {"changes": {"small.width": 4}}
    assert error(client.post(f"{TRACT}/policy", body), 403)["code"] == "csrf"
    assert client.post(f"{TRACT}/policy", body, headers=token).status_code == 200
    assert client.post("/api/v1/logout", headers=token).status_code == 204
    assert client.get("/api/v1/me").json()["role"] == "public"


def test_users_and_their_keys(tract):
    custodian = tract.client("custodian")
    made = custodian.post("/api/v1/users", {"name": "Ada", "role": "analyst"})
    assert made.status_code == 201
    ada = made.json()["id"]
    assert "argon2" not in json.dumps(custodian.get("/api/v1/users").json())
    error(custodian.post("/api/v1/users", {"name": "ada", "role": "analyst"}), 422)
    error(custodian.post("/api/v1/users", {"name": "bob", "role": "king"}), 422)
    key = tract.client("analyst").post("/api/v1/keys", {"name": "mine"}).json()["key"]
    bearer = {"Authorization": f"Bearer {key}"}
    public = tract.client()
    assert public.get("/api/v1/me", headers=bearer).json()["name"] == "analyst1"
    mine = tract.client("analyst").get("/api/v1/keys").json()["keys"]
    assert key not in json.dumps(mine)
    number = mine[-1]["id"]
    error(tract.client("auditor").request("DELETE", f"/api/v1/keys/{number}"), 422)
    assert tract.client("analyst").request("DELETE", f"/api/v1/keys/{number}").status_code == 204
    error(public.get("/api/v1/me", headers=bearer), 401)
    everybodys = custodian.get("/api/v1/keys?everybody=true").json()["keys"]
    assert len(everybodys) > len(custodian.get("/api/v1/keys").json()["keys"])
    changed = custodian.request("PATCH", f"/api/v1/users/{ada}", json={"active": False}).json()
    assert changed["active"] is False
    own = tract.users["custodian"]
    error(custodian.request("PATCH", f"/api/v1/users/{own}", json={"active": False}), 422)


def test_a_password_is_changed_with_the_old_one(tract):
    analyst = tract.client("analyst")
    new = "another long one 5"
    path = "/api/v1/me/password"
    assert error(analyst.post(path, {"old": "wrong", "new": new}), 403)["code"] == "wrong_login"
    assert analyst.post(path, {"old": PASSWORD, "new": new}).status_code == 204
    login = {"name": "analyst1", "password": new}
    assert tract.client().post("/api/v1/login", login).status_code == 200


def test_a_quota_needs_an_account(here):
    here.open(
        changes=MYOPIC
        | {"server.quota": 1, "small.width": 0, "attribute.check": False, "published.least": 0}
    )
    found = error(ask(here.client(), "Gender", "Income"), 401)
    assert found["code"] == "login_needed"
    assert "an account is needed" in found["message"]
    analyst = here.client("analyst")
    assert ask(analyst, "Gender", "Income").json()["outcome"] == "granted"
    assert ask(analyst, "Gender", "Race").json()["why"] == "quota"
    assert here.client().get(GENDER_INCOME).status_code == 200


# Pace, statistics, operation


@pytest.mark.parametrize(
    "send",
    [
        lambda client: ask(client, "Gender", "Income"),
        lambda client: ask(client, "Race"),
        lambda client: ask(client, "Gender", "Race", "Income"),
        lambda client: client.get(f"{TRACT}/status?variables=Gender,Race"),
        lambda client: client.get(TRACT),
    ],
)
def test_decisions_by_the_data_leave_after_a_slot_or_a_doubling(here, send, monkeypatch):
    here.open(changes=MYOPIC | {"server.slot": 0.3})
    waits = []

    def noted(passed, slot):
        waits.append((passed, slot, until_slot(passed, slot)))
        return waits[-1][2]

    monkeypatch.setattr("discreet.server.deciding.slots.until_slot", noted)
    start = time.monotonic()
    assert send(here.client()).status_code == 200
    assert time.monotonic() - start >= 0.3
    ((passed, slot, wait),) = waits
    assert slot == 0.3
    doublings = math.log2((passed + wait) / slot)
    assert doublings == pytest.approx(round(doublings), abs=1e-9)
    here.client().get(f"{TRACT}/tables/Race")
    assert len(waits) == 1


def test_uses_are_counted(tract):
    client = tract.client()
    ask(client, "Gender", "Income")
    ask(client, "Gender", "Race", "Income")
    for kind in ("csv", "csv", "json"):
        client.get(f"{GENDER_INCOME}?format={kind}")
    totals = client.get(f"{TRACT}/statistics").json()["totals"]
    assert totals == {
        "requests": 2, "grants": 1, "refusals": 1, "download csv": 2, "download json": 1
    }  # fmt: skip


def test_an_answer_does_not_wait_for_its_count(tract, monkeypatch):
    def broken(*_):
        raise OperationalError("insert", {}, Exception("disk full"))

    monkeypatch.setattr("discreet.server.ledger.store.use", broken)
    assert ask(tract.client(), "Gender", "Income").json()["outcome"] == "granted"
    assert tract.client().get(GENDER_INCOME).status_code == 200
    with tract.site.database.read() as session:
        assert session.query(Use).count() == 0


def test_metrics_are_for_this_machine_and_for_staff(tract):
    ask(tract.client(), "Gender", "Income")
    text = tract.client().get("/metrics").text
    assert 'discreet_decisions_total{dataset="tract",outcome="granted"} 1.0' in text
    assert 'discreet_margins{dataset="tract",status="released"} 4.0' in text
    assert "Gender" not in text
    far = "192.0.2.7"
    error(tract.client(address=far).get("/metrics"), 401)
    error(tract.client("analyst", far).get("/metrics"), 403)
    assert tract.client("auditor", far).get("/metrics").status_code == 200
    error(tract.client().get("/metrics", headers={"X-Forwarded-For": far}), 401)


def test_ready_only_with_data_and_a_database(here, monkeypatch):
    client = here.client()
    assert client.get("/healthz").json() == {"status": "up"}
    assert error(client.get("/readyz"), 503)["code"] == "not_ready"
    here.open()
    assert client.get("/readyz").status_code == 200


def test_head_is_get_without_the_body(tract):
    head, get = (tract.client().request(m, f"{TRACT}/tables/Race") for m in ("HEAD", "GET"))
    assert (head.status_code, head.content) == (200, b"")
    assert head.headers["etag"] == get.headers["etag"]
    assert head.headers["content-length"] == get.headers["content-length"]


def test_the_log_tells_routes_and_no_values(here, capsys):
    from discreet.server.app import create_app

    here.open()
    here.app = create_app(here.settings, here.site)
    asked = (f"{TRACT}/tables/Race?where=Gender:Male", f"{TRACT}/tables/Race")
    numbers = [here.client().get(path).headers["x-request-id"] for path in asked]
    every = [json.loads(line) for line in capsys.readouterr().err.splitlines()]
    # a server of another test may write between them
    lines = [line for line in every if line.get("request") in numbers]
    assert [line["status"] for line in lines] == [404, 200]
    assert lines[1]["route"] == "/api/v1/datasets/{slug}/tables/{margin:path}"
    assert [line["request"] for line in lines] == numbers
    assert not any("Race" in json.dumps(line) or "Male" in json.dumps(line) for line in lines)


class OwnLines(io.StringIO):
    """What this thread writes; a server of another test may write too."""

    def __init__(self):
        super().__init__()
        self.thread = threading.current_thread()

    def write(self, text):
        return super().write(text if threading.current_thread() is self.thread else "")


def test_a_stop_closes_the_database(here, monkeypatch):
    closed, written = [], OwnLines()
    monkeypatch.setattr(sys, "stderr", written)
    here.open()
    pool = here.site.database.engine.pool

    async def live():
        async with here.app.router.lifespan_context(here.app):
            logging.getLogger("uvicorn.error").info("hello")
            closed.append(pool is here.site.database.engine.pool)
        closed.append(pool is here.site.database.engine.pool)

    here.runner.run(live())
    assert closed == [True, False]
    assert [json.loads(line)["event"] for line in written.getvalue().splitlines()] == [
        "started", "hello", "stopped"
    ]  # fmt: skip


def test_the_documentation_has_examples_and_roles(tract):
    schema = tract.client().get("/api/v1/openapi.json").json()
    assert schema["info"]["version"]
    for path, methods in schema["paths"].items():
        for method, operation in methods.items():
            assert operation["tags"], path
            assert operation["x-roles"], (method, path)
            assert operation.get("description"), (method, path)
            assert {"401", "403", "422"} <= set(operation["responses"]) or "z" in path
    text = json.dumps(schema)
    assert "Race*Income" in text
    assert "ErrorView" in text


def test_a_ticket_says_when_the_request_came(here, monkeypatch):
    """When it was decided would tell how long that took."""
    here.open(changes=MYOPIC | {"server.approval": "always"})
    came = "2026-01-01T00:00:00.000000+00:00"
    monkeypatch.setattr("discreet.server.deciding.requests.now", lambda: came)
    ticket = ask(here.client(), "Gender", "Income").json()["ticket"]
    assert here.client().get(ticket).json()["at"] == came
