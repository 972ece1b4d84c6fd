"""Started with another codebook, nothing is decided until a custodian accepts the change."""

import json
import re
from contextlib import closing
from dataclasses import replace
from datetime import UTC, datetime

import httpx
import numpy as np
import pytest
from click.testing import CliRunner
from pydantic import SecretStr
from sqlalchemy import select, text

from discreet.cli import main
from discreet.data.hierarchy import Hierarchy
from discreet.data.variable import Role
from discreet.decision.answering import Why
from discreet.decision.answering.gate import NotSafe
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError, LedgerError
from discreet.server.deciding.codebooks import DOUBT
from discreet.server.deciding.counter import Counter
from discreet.server.deciding.unready import Unready
from discreet.server.launch import DataSpec, build_services, prepare
from discreet.server.ledger import store
from discreet.server.ledger.chain import TAKEN_OVER, stored_hash, verify
from discreet.server.ledger.meaning import Meaning, hash_of
from discreet.server.ledger.schema import Kind, Notice, canonical
from discreet.server.notices.notices import collect
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import Catalogue
from discreet.table.table import Table
from server.deployed import serving
from server.sites import world
from server.test_ledger import change

SECRET = b"of these tests, which nobody else has"
RULES = {"server.rule": "myopic", "server.slot": 0.0, "small.width": 0, "published.least": 0}
BLOCKED = "until a custodian accepts the change"
# everybody in Ash has cancer of one kind or another
COUNTS = np.array([[50, 49, 0], [40, 31, 60]])
PEOPLE = Table.of(COUNTS, Town=["Ash", "Birch"], Ill=["lung", "skin", "none"])


def table(role=Role.SENSITIVE, **more):
    """The people, where the role of Ill is one or the other."""
    town, ill = PEOPLE.variables
    return replace(
        PEOPLE,
        variables=(replace(town, role=Role.IDENTIFYING), replace(ill, role=role, **more)),
    )


def policy(**changes):
    return Policy.of(RULES | {key.replace("__", "."): value for key, value in changes.items()})


def opened(database, data, rules=None, slug="people", **more):
    counter = Counter(database, SECRET)
    counter.open(data, rules or policy(), slug=slug, **more)
    return counter


def entries(database, slug="people"):
    with database.read() as session:
        return store.entries(session, store.find_dataset(session, slug))


def verified(database, slug="people"):
    with database.read() as session:
        return verify(session, store.find_dataset(session, slug))


def accept(counter, actor="7", why="asked no more", slug="people"):
    return counter.accept(slug, counter.served[slug].meaning.hash, actor, why)


# What the ledger keeps


def test_the_first_entry_has_the_text_and_every_entry_the_hash(database):
    data = table()
    counter = opened(database, data)
    counter.request("people", ["Town", "Ill"])
    counter.change_policy("people", {"server.max_order": 1}, "7")
    said = Meaning.of(data).text
    found = entries(database)
    assert found[0].terms["meaning"] == said
    assert '"role":"sensitive"' in said
    assert {entry.meaning for entry in found} == {hash_of(said)}
    assert len(found) > 4
    assert verified(database).holds
    assert verified(database).notes == []


def test_the_state_of_an_entry_covers_the_meaning(database):
    """The same data and tables out under another codebook are another state."""
    counter = opened(database, table())
    served = counter.served["people"]
    states = {
        counter._state(served.fingerprint, 1, served.table, (), meaning)
        for meaning in (None, "a", "b")
    }
    assert len(states) == 3


def test_a_text_that_was_changed_is_found_with_all_hashes_made_anew(database):
    """Hash and text belong together: who rewrites one and its chain must rewrite the other."""
    opened(database, table(), policy(server__one_way=False))
    (entry,) = entries(database)
    terms = entry.terms | {"meaning": Meaning.of(table(Role.NEITHER)).text}
    columns = {column.name: getattr(entry, column.name) for column in entry.__table__.columns}
    both = {"terms": canonical(terms)}
    both |= {"hash": stored_hash(columns | both, "people"), "meaning": terms["meaning"]}
    change(
        database,
        (text("UPDATE entries SET terms = :terms, hash = :hash"), both),
        (text("UPDATE datasets SET meaning = :meaning, head_hash = :hash"), both),
    )
    (problem,) = verified(database).problems
    assert str(problem) == "entry 1: it has not the hash of what the data mean by the last text."


# Another codebook


def test_the_desk_does_not_go_on_with_another_codebook(database):
    """Ill was sensitive: with "neither" Ash's cancer would be granted."""
    opened(database, table())
    counter = opened(database, table(Role.NEITHER))
    assert Catalogue(database).published("people", ["Ill"]).counts.tolist() == [90, 80, 60]
    deciding = {
        "request": lambda: counter.request("people", ["Town", "Ill"]),
        "status": lambda: counter.standing("people", ["Town", "Ill"]),
        "dry run": lambda: counter.dry_run("people", {"small.width": 1}),
        "terms": lambda: counter.change_policy("people", {"small.width": 1}, "7"),
        "list": lambda: counter.list_margins("people", [["Town"]], "7"),
        "cost": lambda: counter.cost("people", ["Town", "Ill"]),
        "approval": lambda: counter.approve("people", 2, "7"),
        "rejection": lambda: counter.reject("people", 2, "7"),
        "desk": lambda: counter.desk("people").__enter__(),
        "zeros of perturbed tables": lambda: counter.impossible("people"),
    }
    before = len(entries(database))
    for what, decide in deciding.items():
        with pytest.raises(Unready, match=BLOCKED) as said:
            decide()
        assert not re.search(r"\d|Ash|lung|sensitive", str(said.value)), what
    assert BLOCKED in counter.trouble()
    assert len(entries(database)) == before


def test_a_table_can_be_withdrawn_meanwhile(database):
    """That makes nothing public, and may be urgent."""
    opened(database, table())
    counter = opened(database, table(Role.NEITHER))
    counter.withdraw("people", ["Ill"], "7", "a coding error")
    assert entries(database)[-1].kind == Kind.WITHDRAWN
    assert entries(database)[-1].meaning == Meaning.of(table()).hash
    assert verified(database).holds
    opened(database, table())


def test_the_codebook_as_it_was_goes_on(database):
    opened(database, table())
    with pytest.raises(Unready, match=BLOCKED):
        opened(database, table(Role.NEITHER)).request("people", ["Town"])
    counter = opened(database, table())
    assert counter.trouble() is None
    assert counter.codebook_change("people").accepted
    assert counter.request("people", ["Town"]).why is Why.OUT
    with pytest.raises(DisclosureError, match="as it was accepted"):
        accept(counter)


def test_an_accepted_codebook_is_an_entry_and_other_workers_learn_it(database):
    old = opened(database, table())
    old.request("people", ["Town", "Ill"])
    new, other = (opened(database, table(Role.NEITHER)) for _ in range(2))
    assert new.codebook_change("people").changes == ["Ill was sensitive, and is neither."]
    with pytest.raises(DisclosureError, match="needs a reason"):
        accept(new, why=" ")
    with pytest.raises(DisclosureError, match="the codebook is another one by now"):
        new.accept("people", Meaning.of(table()).hash, "7", "asked no more")
    assert accept(new)
    entry = entries(database)[-1]
    new_text = Meaning.of(table(Role.NEITHER)).text
    assert (entry.kind, entry.actor, entry.note) == (Kind.CODEBOOK, "7", "asked no more")
    assert (entry.terms["meaning"], entry.meaning) == (new_text, hash_of(new_text))
    for counter in (new, other):
        assert counter.trouble() is None
        assert counter.request("people", ["Town"]).why is Why.OUT
    with pytest.raises(Unready, match=BLOCKED):  # it still has the codebook of then
        old.request("people", ["Town"])
    assert BLOCKED in old.trouble()
    found = verified(database)
    assert found.holds
    (said,) = found.notes
    assert re.fullmatch(
        r"entry \d, [-\d]+, account 7 \(asked no more\): Ill was sensitive, and is neither\.", said
    )


def test_what_is_out_must_pass_with_the_changed_codebook(database):
    """Of what was published when nothing was sensitive everybody in Ash is known to be ill."""
    groups = {"lung": "ill", "skin": "ill"}
    data = table(Role.NEITHER, hierarchy=Hierarchy.of(groups))
    before = opened(database, data)
    assert before.request("people", ["Town", "Ill"]).why is Why.SAFE
    sick = opened(database, table(Role.SENSITIVE, hierarchy=Hierarchy.of(groups)))
    with pytest.raises(NotSafe, match=r"the change cannot be accepted: .*Serve the codebook as it"):
        accept(sick)
    with pytest.raises(Unready, match=BLOCKED) as said:
        sick.request("people", ["Town"])
    assert "Ash" not in str(said.value)
    assert {entry.kind for entry in entries(database)} == {"opened", "published", "request"}


@pytest.mark.parametrize("approved", [True, False])
def test_what_was_approved_in_doubt_does_not_bar_a_changed_codebook(database, approved):
    """It may stay in doubt; what was proven must be proven by the new codebook, too."""
    data = Table.of(np.full((2,) * 3, 40), **{name: [0, 1] for name in "ABC"})
    rules = policy(
        attribute__check=True,
        attribute__order=1,
        server__approval="always",
        server__one_way=False,
        small__width=3,
    )
    counter = opened(database, data, rules)
    for margin in ("AB", "BC") if approved else ("AB",):
        number = counter.request("people", list(margin)).number
        counter.approve("people", number, "7")
    last, *_ = variables = data.variables
    changed = replace(data, variables=(replace(last, role=Role.IDENTIFYING), *variables[1:]))
    counter = opened(database, changed, rules)
    assert (DOUBT in counter.codebook_change("people").changes) == approved
    with database.read() as session:
        cases = counter._all_out(session, store.find_dataset(session, "people"))
    assert [case[-1] for case in cases] == ([False, True] if approved else [False])
    assert accept(counter)
    assert counter.request("people", ["A"]).why is Why.OUT


def test_what_was_approved_in_doubt_bars_a_codebook_by_which_it_fails(database):
    """Nothing was sensitive, and a doubtful table went out; now it is known to tell too much."""
    rules = policy(bounds__proof="integer", server__approval="always", server__one_way=False)
    counter = opened(database, table(Role.NEITHER), rules)
    number = counter.request("people", ["Town", "Ill"]).number
    with pytest.MonkeyPatch.context() as patch:
        answer = counter._answer
        patch.setattr(counter, "_answer", lambda *g: replace(answer(*g), why=Why.DOUBT))
        counter.approve("people", number, "7")
    assert entries(database)[-1].why == Why.ACCEPTED
    sick = Hierarchy.of({"lung": "ill", "skin": "ill"})
    counter = opened(database, table(Role.SENSITIVE, hierarchy=sick), rules)
    with pytest.raises(NotSafe, match="does not keep the policy"):
        accept(counter)


def test_two_custodians_accept_where_two_must(database):
    opened(database, table(), policy(server__approvers=2))
    counter = opened(database, table(Role.NEITHER), policy(server__approvers=2))
    assert not accept(counter, "7")
    assert counter.codebook_change("people").proposed == ["7"]
    with pytest.raises(DisclosureError, match="another custodian must, too"):
        accept(counter, "7")
    with pytest.raises(Unready, match=BLOCKED):
        counter.request("people", ["Town"])
    third = opened(database, table(Role.BOTH), policy(server__approvers=2))
    assert not accept(third, "8"), "of another codebook"
    assert accept(counter, "8")
    assert counter.request("people", ["Town"]).why is Why.OUT
    with database.read() as session:  # a proposed policy is another thing
        assert store.proposals(session, store.find_dataset(session, "people")) == []
    again = opened(database, table(), policy(server__approvers=2))
    assert not accept(again, "8"), "what was proposed before is over"
    assert verified(database).holds


def test_an_older_vintage_with_another_codebook_stops_the_newer(database):
    """They are judged together."""

    def serve(first):
        counter = opened(database, first, slug="v1")
        counter.open(later, policy(), slug="v2", previous="v1")
        return counter

    later = replace(table(), counts=PEOPLE.counts + 20)
    serve(table())
    counter = serve(table(Role.NEITHER))
    with pytest.raises(Unready, match=f"'v1' was changed: .*{BLOCKED}"):
        counter.request("v2", ["Town"])
    assert counter.waits_for("v2") == "v1"
    with pytest.raises(LedgerError, match="'v1' was changed"):
        counter.open(
            replace(table(), counts=PEOPLE.counts + 50), policy(), slug="v3", previous="v2"
        )
    assert accept(counter, slug="v1")
    assert counter.request("v2", ["Town"]).why is Why.OUT
    alone = Counter(database, SECRET)
    alone.open(table(Role.SENSITIVE), policy(), slug="v1")
    with pytest.raises(LedgerError, match="serve the data of 'v2' too"):
        accept(alone, slug="v1")


def test_a_decision_does_not_outlive_the_codebook_of_another_vintage(database, monkeypatch):
    """Between thinking and keeping, another worker learns that the older vintage means more."""
    later = replace(table(), counts=PEOPLE.counts + 20)
    old, new = Counter(database, SECRET), Counter(database, SECRET)
    for counter, role in ((old, Role.SENSITIVE), (new, Role.NEITHER)):
        counter.open(table(role), policy(), slug="v1")
        counter.open(later, policy(), slug="v2", previous="v1")
    think = old._think

    def slowly(served, work):
        thought = think(served, work)
        if not new.codebook_change("v1").accepted:
            assert accept(new, slug="v1")
        return thought

    monkeypatch.setattr(old, "_think", slowly)
    before = len(entries(database, "v2"))
    with pytest.raises(Unready, match=f"'v1' was changed: .*{BLOCKED}"):
        old.request("v2", ["Town"])
    assert len(entries(database, "v2")) == before


def test_words_and_levels_come_with_an_accepted_codebook(database):
    """What the codebook merges is shown, and judged, from the acceptance on."""
    rules = policy(attribute__check=False)
    was = {"variables": {"Ill": {"title": "Illness"}}}
    is_ = {"variables": {"Ill": {"levels": [["ill", "ill", "none"]]}}}
    opened(database, table(), rules, about=was)
    catalogue = Catalogue(database)
    assert catalogue.dataset("people").words.title("Ill") == "Illness"
    merged = table(hierarchy=Hierarchy.of({"lung": "ill", "skin": "ill"}))
    counter = opened(database, merged, rules, about=is_)
    assert not catalogue.dataset("people").words.variable("Ill").levels
    assert accept(counter)
    assert catalogue.dataset("people").words.variable("Ill").levels == (("ill", "ill", "none"),)
    assert verified(database).holds


def test_readers_do_not_keep_what_another_codebook_merged(database):
    """Groups of the same names, of other categories: what a reader has is not taken for the new."""
    rules = policy(attribute__check=False)
    levels = [["a", "a", "b"], ["a", "b", "b"]], [["Ill", "Ill"], ["Illness", "Ill"]]
    tags = []
    for groups, title in zip(*levels, strict=True):
        data = table(
            hierarchy=Hierarchy.of(dict(zip(("lung", "skin", "none"), groups, strict=True)))
        )
        words = {"variables": {"Ill": {"levels": [groups], "title": title[0]}}}
        counter = opened(database, data, rules, about=words)
        if tags:
            assert accept(counter)
        found = Catalogue(database).published("people", ["Ill"])
        tags += [found.hash, found.merged({"Ill": 1}).hash]
    assert len(set(tags)) == 4


# Of an earlier version


def without_meaning(database):
    """A ledger as an earlier version has written it."""
    from discreet.server.ledger import chain

    counter = Counter(database, SECRET)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(chain, "NEWER", ("about",))
        patch.setattr(store, "meaning_of", lambda dataset: None)
        state = counter._state
        patch.setattr(counter, "_state", lambda *said: state(*said[:4], None))
        served = lambda *_: None  # noqa: E731 it was served without a look at the codebook
        patch.setattr(counter, "_waits_for", served)
        counter.open(table(), policy(), slug="people")
        counter.request("people", ["Town", "Ill"])
    change(database, "UPDATE datasets SET meaning = NULL")


def test_an_old_ledger_takes_over_what_is_served_and_says_so(database):
    without_meaning(database)
    before = entries(database)
    assert {entry.meaning for entry in before} == {None}
    found = verified(database)
    assert found.holds
    (note,) = found.notes
    assert note.startswith(f"entries 1 to {len(before)} do not say what the data meant")
    counter = opened(database, table(Role.NEITHER), actor="operator maria")
    opened(database, table(Role.NEITHER))
    *kept, taken = entries(database)
    assert [entry.hash for entry in kept] == [entry.hash for entry in before]
    assert (taken.kind, taken.actor) == (Kind.TAKEN_OVER, "operator maria")
    assert taken.meaning == Meaning.of(table(Role.NEITHER)).hash
    found = verified(database)
    assert found.holds
    assert found.notes[1].endswith(f"operator maria: {TAKEN_OVER}")
    assert counter.request("people", ["Town"]).why is Why.OUT
    with pytest.raises(Unready, match=BLOCKED):
        opened(database, table()).request("people", ["Town"])


# Through HTTP


@pytest.fixture
def here(tmp_path, new_url):
    with world(tmp_path, database=new_url()) as made:
        made.site.counter.open(table(), policy(), slug="people")
        yield made


def restarted(here, role=Role.NEITHER):
    here.site.counter.open(table(role), policy(), slug="people")


def test_the_public_waits_and_reads(here):
    restarted(here)
    public, at = here.client(), "/api/v1/datasets/people"
    for answer in (
        public.get(at),
        public.get(f"{at}/status?variables=Town,Ill"),
        public.post(f"{at}/requests", {"variables": ["Town", "Ill"]}),
        public.get("/readyz"),
        here.client("custodian").post(f"{at}/policy", {"changes": {"small.width": 1}}),
        here.client("custodian").post(f"{at}/policy/dry-run", {"changes": {"small.width": 1}}),
        here.client("custodian").get(f"{at}/space"),
    ):
        assert answer.status_code == 503
        said = answer.json()["error"]
        assert said["code"] == "not_ready"
        assert BLOCKED in said["message"]
        assert not re.search(r"\d|Ash|lung|neither", said["message"])
    page = public.get("/d/people?v=Town&v=Ill", headers={"Accept": "text/html"})
    assert page.status_code == 503
    assert BLOCKED in page.text
    for path in ("/healthz", f"{at}/tables/Ill", f"{at}/frontier", "/d/people/t/Ill", "/d/people"):
        assert public.get(path).status_code == 200, path


def test_a_custodian_accepts_by_the_api(here):
    restarted(here)
    at = "/api/v1/datasets/people/codebook"
    seen = here.client("auditor").get(at).json()
    assert not seen["accepted"]
    assert seen["changes"] == ["Ill was sensitive, and is neither."]
    sent = {"hash": seen["hash"], "reason": "asked no more"}
    for role in ("public", "analyst", "auditor"):
        assert here.client(role).post(at, sent).status_code in (401, 403)
    custodian = here.client("custodian")
    assert custodian.post(at, sent | {"hash": "0"}).status_code == 422
    assert custodian.post(at, sent | {"reason": ""}).status_code == 422
    assert custodian.post(at, sent).json()["accepted"]
    assert here.client().get("/readyz").json() == {"status": "ready"}
    granted = here.client().post("/api/v1/datasets/people/requests", {"variables": ["Town", "Ill"]})
    assert granted.json()["outcome"] == "granted"
    kept = custodian.get("/api/v1/datasets/people/ledger").json()["entries"]
    assert [e["note"] for e in kept if e["kind"] == "codebook"] == ["asked no more"]
    (note,) = custodian.get("/api/v1/datasets/people/ledger/verification").json()["notes"]
    assert "Ill was sensitive, and is neither." in note


def test_a_custodian_accepts_on_the_page(here):
    restarted(here)
    custodian = here.client("custodian")
    assert "The codebook changed" in custodian.get("/desk").text
    assert custodian.get("/desk/people").headers["location"] == "/desk/people/codebook"
    page = custodian.get("/desk/people/codebook").text
    assert "<li>Ill was sensitive, and is neither.</li>" in page
    assert "Accept the change" not in here.client("auditor").get("/desk/people/codebook").text
    hash_ = re.search(r'name="hash" value="(\w+)"', page)[1]
    sent = {"hash": hash_, "reason": "  "}
    refused = custodian.request("POST", "/desk/people/codebook", data=sent)
    assert refused.status_code == 422
    assert "needs a reason" in refused.text
    done = custodian.request("POST", "/desk/people/codebook", data=sent | {"reason": "no more"})
    assert done.headers["location"] == "/desk/people/codebook?done=accepted"
    assert "The change is accepted." in custodian.get(done.headers["location"]).text
    assert custodian.get("/desk/people").status_code == 200
    assert "codebook changed" not in custodian.get("/desk").text
    checked = custodian.request("POST", "/desk/people/ledger/verify", data={})
    assert "Ill was sensitive, and is neither." in checked.text


def test_why_it_cannot_be_accepted_is_for_the_custodian_alone(here):
    restarted(here)
    custodian, at = here.client("custodian"), "/api/v1/datasets/people"
    hash_ = custodian.get(f"{at}/codebook").json()["hash"]
    custodian.post(f"{at}/codebook", {"hash": hash_, "reason": "no more"})
    here.client().post(f"{at}/requests", {"variables": ["Town", "Ill"]})
    here.site.counter.open(
        table(hierarchy=Hierarchy.of({"lung": "ill", "skin": "ill"})), policy(), slug="people"
    )
    sent = {"hash": custodian.get(f"{at}/codebook").json()["hash"], "reason": "back"}
    refused = custodian.post(f"{at}/codebook", sent)
    assert refused.status_code == 422
    assert "cannot be accepted" in refused.json()["error"]["message"]
    told = here.client().post(f"{at}/requests", {"variables": ["Town"]})
    assert told.status_code == 503
    assert "Ash" not in told.text


def test_the_other_custodians_are_told_where_two_must_accept(here):
    here.site.counter.change_policy("people", {"server.approvers": 2}, "7")
    collect(here.site.database, mail=False, hook=True, address="http://test", now=datetime.now(UTC))
    restarted(here)
    assert not accept(here.site.counter, str(here.users["custodian"]))
    collect(here.site.database, mail=False, hook=True, address="http://test", now=datetime.now(UTC))
    with here.site.database.read() as session:
        (notice,) = session.scalars(select(Notice))
    assert notice.content["event"] == "codebook"
    assert notice.content["address"] == "http://test/desk/people/codebook"


# By the command line


def test_a_started_server_waits_and_its_journal_holds_no_cell(tmp_path):
    data, book = tmp_path / "people.csv", tmp_path / "book.toml"
    frame = PEOPLE.to_frame(zeros=True)
    frame.rename(columns={frame.columns[-1]: "n"}).to_csv(data, index=False)
    words = [data, "--count", "n", "--codebook", book]
    words += [word for key, value in RULES.items() for word in ("--set", f"{key}={value}")]
    settings = {"database": f"sqlite:///{tmp_path}/people.db", "secret": SECRET.decode()}
    for role in ("sensitive", "neither"):
        book.write_text(f'[variables.Ill]\nrole = "{role}"\n')
        with serving(tmp_path, *words, until="/healthz", **settings) as process:
            at = f"http://127.0.0.1:{process.port}"
            ready = httpx.get(f"{at}/readyz").status_code
            assert httpx.get(f"{at}/api/v1/datasets/people/tables/Ill").status_code == 200
            assert process.stop()
            journal = process.log.read_text()
        assert ready == (200 if role == "sensitive" else 503)
        assert ("codebook differs" in journal) == (role == "neither")
        assert not re.search("Ash|lung|sensitive", journal)


def test_the_operator_accepts_by_the_command_line(tmp_path, new_url, monkeypatch):
    """Data and codebook are those of the start; the change is shown before it is accepted."""
    url, data, book = new_url(), tmp_path / "people.csv", tmp_path / "book.toml"
    monkeypatch.setenv("DISCREET_SECRET", SECRET.decode())
    monkeypatch.setenv("DISCREET_OPERATOR", "otto")
    frame = PEOPLE.to_frame(zeros=True)
    frame.rename(columns={frame.columns[-1]: "n"}).to_csv(data, index=False)
    rules = tuple(f"{key}={json.dumps(value)}" for key, value in RULES.items())
    rules = tuple(rule.replace('"', "") for rule in rules)

    def start(role):
        book.write_text(
            f'[variables.Town]\nrole = "identifying"\n[variables.Ill]\nrole = "{role}"\n'
        )
        spec = DataSpec("people", str(data), count="n", codebook=str(book), set=rules)
        settings = Settings(database=url, secret=SecretStr(SECRET.decode()))
        return build_services(prepare(settings), [spec])

    def run(*words):
        words = ("ledger", "accept", data, "--count", "n", "--codebook", book, "--database", url,
                 *words)  # fmt: skip
        return CliRunner().invoke(main, list(map(str, words)))

    with closing(start("sensitive").database):
        assert run().exit_code == 0
        assert run().output == "The codebook of people is as it was accepted.\n"
    site = start("neither")
    with closing(site.database):
        with pytest.raises(Unready, match=BLOCKED):
            site.counter.request("people", ["Town"])
        seen = run()
        assert seen.exit_code == 1
        assert seen.output.startswith("Ill was sensitive, and is neither.\nnot accepted yet")
        assert run("--name", "Maria Ebert").exit_code == 2
        assert run("--slug", "others", "--name", "M", "--reason", "r").exit_code == 2
        assert len(entries(site.database)) == 3, "nothing was written"
        done = run("--name", "Maria Ebert", "--reason", "asked no more", "--json")
        assert done.exit_code == 0, done.output
        assert json.loads(done.output) == {
            "dataset": "people",
            "changes": ["Ill was sensitive, and is neither."],
            "accepted": True,
        }
        assert site.counter.request("people", ["Town"]).why is Why.OUT, "the server learns it"
        entry = entries(site.database)[3]
        assert (entry.actor, entry.note) == ("Maria Ebert, by operator otto", "asked no more")
    shown = CliRunner().invoke(main, ["ledger", "verify", "--database", url])
    assert shown.exit_code == 0
    said = " ".join(shown.output.split())
    assert (
        "Maria Ebert, by operator otto (asked no more): Ill was sensitive, and is neither." in said
    )
