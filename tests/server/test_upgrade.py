"""A database of the previous release: brought up to date, nothing is lost, and it goes on."""

import json
import re
import sqlite3
from contextlib import closing
from pathlib import Path

import httpx
import pytest
from alembic import command
from alembic.config import Config
from click.testing import CliRunner
from sqlalchemy import MetaData, create_engine, make_url

from discreet.cli import main
from discreet.decision.law.policy import Policy
from discreet.errors import LedgerError
from discreet.server.deciding.counter import Counter
from discreet.server.ledger import store
from discreet.server.ledger.backup import backup, export_all, restore
from discreet.server.ledger.chain import TAKEN_OVER, verify_all
from discreet.server.ledger.database import MIGRATIONS, migrate, open_database
from discreet.server.ledger.trail import verify_trail
from discreet.server.people.accounts import Accounts
from discreet.server.showing.catalogue import Catalogue, Withdrawn
from discreet.table.load import load
from discreet.table.table import Table
from server.data.make_previous import PASSWORD, SECRET
from server.deployed import discreet, serving, started

PREVIOUS = Path(__file__).parent / "data" / "previous.sql"
TOWNS = {"Sex": ["F", "M"], "Town": ["N", "S"]}
PEOPLE = {
    "people-2025": Table.of([[131, 92], [118, 87]], **TOWNS),
    "people-2026": Table.of([[163, 121], [149, 120]], **TOWNS),
}
SERVERS = 3
LEDGERS = {"tract": 8, "czech": 15, "people-2025": 4, "people-2026": 3}


@pytest.fixture
def old(tmp_path):
    """A file as the previous release wrote it."""
    path = tmp_path / "previous.db"
    with closing(sqlite3.connect(path)) as written:
        written.executescript(PREVIOUS.read_text(encoding="utf-8"))
    return path


@pytest.fixture(params=["migrated", "restored", "restored into PostgreSQL"])
def upgraded(request, old, tmp_path):
    """The way of the operator: `migrate` where it is, or `restore` into a new database."""
    if request.param == "migrated":
        url = f"sqlite:///{old}"
        migrate(url)
    else:
        kind = "new_sqlite" if request.param == "restored" else "new_postgres"
        url = request.getfixturevalue(kind)()
        restore(old, url)
    with closing(open_database(url)) as database:
        yield database


def counter_of(database):
    """With everything that the ledgers know."""
    counter = Counter(database, SECRET.encode())
    for slug in ("tract", "czech"):
        counter.open(load(f"example:{slug}"), Policy(), slug=slug)
    for slug, table in PEOPLE.items():
        counter.open(table, Policy(), slug=slug)
    return counter


def said(old):
    """What was told and kept, as the file has it."""
    with closing(sqlite3.connect(old)) as file:
        return file.execute(
            "SELECT slug, number, at, kind, margin, outcome, why, hash FROM entries "
            "JOIN datasets ON datasets.id = dataset_id ORDER BY dataset_id, number"
        ).fetchall()


def test_it_is_small_and_of_the_previous_schema(old):
    assert PREVIOUS.stat().st_size < 100_000
    with pytest.raises(LedgerError, match=r"has the schema 0001, .* run `discreet ledger mig"):
        open_database(f"sqlite:///{old}")


def test_every_entry_is_there_and_every_ledger_holds(old, upgraded):
    before = said(old)
    with upgraded.read() as session:
        found = verify_all(session)
        assert all(one.holds for one in found)
        assert {one.dataset: one.entries for one in found} == LEDGERS
        assert verify_trail(session).holds
        after = [
            (dataset.slug, e.number, e.at, e.kind, e.margin, e.outcome, e.why, e.hash)
            for dataset in store.datasets(session)
            for e in store.entries(session, dataset)
        ]
    kept = [(*row[:4], None if row[4] is None else json.loads(row[4]), *row[5:]) for row in before]
    assert after == kept
    assert len(after) == sum(LEDGERS.values())


def test_the_old_policy_is_understood_and_has_the_defaults_of_new_keys(old, upgraded):
    with closing(sqlite3.connect(old)) as file:
        (text,) = file.execute("SELECT policy FROM datasets WHERE slug = 'czech'").fetchone()
    for key in ("approvers", "gate"):
        assert not re.search(rf"^{key} =", text, re.MULTILINE)
    with upgraded.read() as session:
        policy = Policy.loads(store.find_dataset(session, "czech").policy)
    assert (policy.server.rule, policy.server.approval) == ("myopic", "always")
    assert (policy.server.approvers, policy.server.gate) == (1, True)


def test_the_server_goes_on_from_it(upgraded):
    counter, catalogue = counter_of(upgraded), Catalogue(upgraded)
    assert catalogue.published("czech", ["C", "D"]).counts.sum() == 1841
    with pytest.raises(Withdrawn, match="a coding error"):
        catalogue.published("tract", ["Gender", "Income"])
    assert counter.request("tract", ["Race", "Gender"]).outcome == "refused"
    assert counter.request("czech", ["D", "E"]).why == "rejected"
    assert counter.request("czech", ["A", "B"]).why == "out"
    approved = counter.approve("czech", 12, "1", "after the upgrade")
    assert approved.outcome == "granted"
    expected = load("example:czech").margin(["E", "F"]).dense()
    assert (catalogue.published("czech", ["E", "F"]).counts == expected).all()
    assert counter.change_policy("czech", {"server.approvers": 1, "small.width": 4}, "1")
    with upgraded.read() as session:
        assert all(one.holds for one in verify_all(session))


def test_what_the_data_mean_is_taken_over_once_and_said(old, upgraded):
    """The entries before do not say it; they stay as they were, byte for byte."""
    before = said(old)
    with upgraded.read() as session:
        found = verify_all(session)
        assert all(entry.meaning is None for d in store.datasets(session)
                   for entry in store.entries(session, d))  # fmt: skip
    for one in found:
        which = f"entries 1 to {LEDGERS[one.dataset]} do not say what the data meant"
        assert any(note.startswith(which) for note in one.notes)
    for _ in range(2):
        counter_of(upgraded)
    with upgraded.read() as session:
        for dataset in store.datasets(session):
            *kept, taken = store.entries(session, dataset)
            hashes = [row[-1] for row in before if row[0] == dataset.slug]
            assert [entry.hash for entry in kept] == hashes
            assert (taken.kind, taken.terms["meaning"]) == ("taken_over", dataset.meaning)
        for one in verify_all(session):
            assert one.holds
            assert one.notes[0].startswith(f"entries 1 to {LEDGERS[one.dataset]} do not say what")
            assert one.notes[1].endswith(TAKEN_OVER)


def test_the_vintages_are_remembered(upgraded):
    """The old release took them from the command line; the new one from its ledger."""
    counter = Counter(upgraded, SECRET.encode())
    with pytest.raises(LedgerError, match="serve the data of 'people-2025' too"):
        counter.open(PEOPLE["people-2026"], Policy(), slug="people-2026")
    counter = counter_of(upgraded)
    assert counter.request("people-2025", ["Sex", "Town"]).why == "closed"


def test_accounts_and_keys_go_on(upgraded):
    key = re.search(r"^-- key: (\S+)$", PREVIOUS.read_text(encoding="utf-8"), re.MULTILINE)[1]
    accounts = Accounts(upgraded)
    assert accounts.by_key(key).role == "custodian"
    found = accounts.authenticate("otto", PASSWORD, "192.0.2.1")
    assert (found.role, found.guarded) == ("auditor", False)
    made = accounts.create("ada", "analyst", PASSWORD)
    assert made.id == 3, "the numbers go on"
    with upgraded.read() as session:
        assert verify_trail(session).holds


def test_another_secret_is_refused_also_before_the_right_one_is_noted(upgraded):
    counter = Counter(upgraded, b"another one")
    with pytest.raises(LedgerError, match="with the same secret"):
        counter.open(load("example:tract"), Policy(), slug="tract")
    counter_of(upgraded)  # with the right one, which is noted
    counter = Counter(upgraded, b"another one")
    with pytest.raises(LedgerError, match="the secret is not the one"):
        counter.open(load("example:tract"), Policy(), slug="tract")


def test_it_can_be_backed_up_and_restored_after_the_upgrade(upgraded, tmp_path, new_url):
    counter_of(upgraded).request("czech", ["A", "B", "C"])
    backup(upgraded, tmp_path / "after")
    url = new_url()
    restore(tmp_path / "after", url)
    with closing(open_database(url)) as again:
        with upgraded.read() as session, again.read() as other:
            before, after = (list(export_all(one, accounts=True)) for one in (session, other))
        assert before == after
        assert counter_of(again).served.keys() == LEDGERS.keys()


def copied(old, url):
    """The same rows in PostgreSQL, with the schema that the previous release had."""
    config = Config()
    config.set_main_option("script_location", str(MIGRATIONS))
    tables = MetaData()
    source, target = create_engine(f"sqlite:///{old}"), create_engine(psycopg_url(url))
    with source.connect() as read, target.connect() as written:
        config.attributes["connection"] = written
        command.upgrade(config, "0001")
        tables.reflect(
            read, only=lambda name, _: name not in ("alembic_version", "sqlite_sequence")
        )
        for table in tables.sorted_tables:
            if rows := [dict(row._mapping) for row in read.execute(table.select())]:
                written.execute(table.insert(), rows)
        written.commit()
    source.dispose()
    target.dispose()


def psycopg_url(url):
    return make_url(url).set(drivername="postgresql+psycopg")


@pytest.fixture(params=["sqlite", "postgres"])
def old_url(request, old):
    """Of a database as the previous release left it, of either kind."""
    if request.param == "sqlite":
        return f"sqlite:///{old}"
    url = request.getfixturevalue("new_postgres")()
    copied(old, url)
    return url


def test_several_servers_that_start_at_once_upgrade_it_once(old, old_url, tmp_path):
    """Nobody forgot to migrate, and nobody waited for the others; each then serves."""
    before = said(old)
    words = ("example:tract", "--slug", "tract", "--datasets", with_data(tmp_path))
    servers = []
    try:
        for number in range(SERVERS):
            folder = tmp_path / str(number)
            folder.mkdir()
            servers.append(started(folder, *words, database=old_url, secret=SECRET))
        for server in servers:
            server.wait()
        for server in servers:
            asked = {"variables": ["Race", "Gender"]}
            address = f"{server.address}/api/v1/datasets/tract/requests"
            answer = httpx.post(address, json=asked, timeout=60, trust_env=False)
            assert answer.json()["outcome"] == "refused"
    finally:
        ended = [server.stop() for server in servers]
    assert all(ended)
    with closing(open_database(old_url)) as database, database.read() as session:
        assert all(found.holds for found in verify_all(session))
        for slug in ("tract", *PEOPLE):
            entries = store.entries(session, store.find_dataset(session, slug))
            known = [row[-1] for row in before if row[0] == slug]
            assert [entry.hash for entry in entries[: len(known)]] == known
            new = [entry.kind for entry in entries[len(known) :]]
            assert new == ["taken_over"] + ["request"] * SERVERS * (slug == "tract")


def with_data(folder):
    """The vintages as files, and the list of them."""
    specs = folder / "datasets.toml"
    specs.write_text("".join(f'[[datasets]]\nslug = "{slug}"\ndata = "{folder}/{slug}.csv"\n'
                             'count = "n"\n' for slug in PEOPLE))  # fmt: skip
    for slug, table in PEOPLE.items():
        frame = table.to_frame()
        frame.rename(columns={frame.columns[-1]: "n"}).to_csv(folder / f"{slug}.csv", index=False)
    return specs


def test_the_steps_of_the_runbook(old, tmp_path):
    """Stop, back up, install, `migrate`, start; the start migrates too, if it was forgotten."""
    url = f"sqlite:///{old}"
    refused = CliRunner().invoke(main, ["ledger", "verify", "--database", url])
    assert (refused.exit_code, "run `discreet ledger migrate`" in refused.output) == (2, True)
    words = ("example:tract", "--slug", "tract", "--datasets", with_data(tmp_path))
    with serving(tmp_path, *words, database=url, secret=SECRET) as process:
        assert process.stop(), process.log.read_text()
    told = " ".join(discreet("ledger", "verify", database=url).split())
    assert "✓ PASS" in told
    assert "do not say what the data meant: an earlier version wrote that." in told
    assert TAKEN_OVER in told
