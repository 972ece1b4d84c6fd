import json
import sqlite3
import stat
import subprocess
import sys
import threading
from contextlib import closing, contextmanager
from pathlib import Path

import numpy as np
import pytest
from click.testing import CliRunner
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st
from sqlalchemy import select, text
from sqlalchemy.exc import DBAPIError

from discreet.cli import main
from discreet.errors import LedgerError, OutputError
from discreet.server.ledger.backup import backup, export, export_all, restore
from discreet.server.ledger.chain import entry_hash, table_hash, verify, verify_all
from discreet.server.ledger.database import migrate, open_database
from discreet.server.ledger.schema import ApiKey, Base, Dataset, Entry, Kind, User, canonical, now
from discreet.server.ledger.store import (
    append,
    counts_of,
    datasets,
    entries,
    entry,
    find_dataset,
    open_dataset,
    publications,
    publish,
    use,
    uses,
    withdraw,
)

VARIABLES = [
    {"name": "Sex", "categories": ["f", "m"]},
    {"name": "Race", "categories": ["white", "black", "chinese"]},
]
COUNTS = np.array([[5, 3, 1], [2, 0, 7]])
MEANING = canonical({"variables": [v | {"role": "identifying"} for v in VARIABLES]})


def open_tract(database, slug="tract", **more):
    with database.begin(None) as session:
        return open_dataset(
            session,
            slug=slug,
            title="A tract",
            fingerprint="f00d",
            policy="[server]\n",
            variables=VARIABLES,
            frontier=[["Sex", "Race"]],
            **{"meaning": MEANING} | more,
        ).id


def fill(database, slug="tract"):
    """A ledger with an entry of each kind that matters."""
    key = open_tract(database, slug)
    with database.begin(key) as session:
        dataset = find_dataset(session, slug)
        both = {"actor": "public", "state": "s1"}
        publish(session, dataset, COUNTS, margin=["Sex", "Race"], why="safe", **both)
        append(session, dataset, kind=Kind.REQUEST, margin=["Race"], outcome="pending", **both)
        second = publish(
            session, dataset, COUNTS.sum(0), margin=["Race"], kind=Kind.APPROVED, about=3, **both
        )
        append(
            session, dataset, kind=Kind.REQUEST, margin=["Sex"], outcome="refused", note="ä", **both
        )
        withdraw(session, dataset, second, actor="1", state="s1", why="a coding error")
        dataset.policy, dataset.policy_version = "[server]\nquota = 3\n", 2
        append(session, dataset, kind=Kind.POLICY, actor="1", state="s2", note="quota")
    return key


def check(database, head=None):
    with database.read() as session:
        key = session.scalar(select(Dataset.id).where(Dataset.slug == "tract"))
        return verify(session, key, head=head)


def problems(database, head=None):
    return [str(problem) for problem in check(database, head).problems]


def change(database, *statements):
    """Raw SQL, as somebody would who can switch the triggers off and on."""
    with database.engine.connect() as connection:
        if database.sqlite:
            connection.exec_driver_sql("ROLLBACK")
            connection.exec_driver_sql("PRAGMA foreign_keys = OFF")
            connection.exec_driver_sql("BEGIN")
            found = "SELECT name, sql FROM sqlite_master WHERE type = 'trigger'"
            triggers = connection.execute(text(found)).all()
            off = [f"DROP TRIGGER {name}" for name, _ in triggers]
            on = [sql for _, sql in triggers]
        else:
            off, on = ["SET session_replication_role = replica"], []
        for statement in [*off, *statements, *on]:
            if isinstance(statement, str):
                connection.exec_driver_sql(statement)
            else:
                connection.execute(*statement)
        connection.commit()
        connection.invalidate()


# Writing


def test_a_ledger_holds(database):
    fill(database)
    found = check(database)
    assert found.holds
    assert (found.entries, found.publications, found.head[:2]) == (7, 2, "7:")
    with database.read() as session:
        dataset = find_dataset(session, "tract")
        rows = entries(session, dataset)
        assert [row.number for row in rows] == [1, 2, 3, 4, 5, 6, 7]
        assert [row.previous for row in rows[1:]] == [row.hash for row in rows[:-1]]
        assert all(entry_hash(row, "tract") == row.hash for row in rows)
        assert rows[6].terms["policy"] == dataset.policy
        assert rows[0].terms["policy"] == "[server]\n"
        assert [row.number for row in entries(session, dataset, after=5)] == [6, 7]
        assert entry(session, dataset, 3).outcome == "pending"
        (out,) = publications(session, dataset)
        assert (counts_of(dataset, out) == COUNTS).all()
        both = publications(session, dataset, withdrawn=True)
        assert both[1].withdrawn_why == "a coding error"
        assert rows[0].at.endswith("+00:00")
        assert len(rows[0].at) == len("2026-11-15T16:41:49.000123+00:00")


def test_no_entry_holds_a_count(database):
    """Only the hash of what is published."""
    fill(database)
    with database.read() as session:
        lines = list(export(session, find_dataset(session, "tract")))
    for line in lines:
        if "entry" in json.loads(line):
            assert "counts" not in line


def test_the_counts_behind_a_hash_include_the_categories():
    raw = np.arange(3, dtype="<i8").tobytes()
    renamed = [VARIABLES[0], VARIABLES[1] | {"categories": ["white", "black", "other"]}]
    assert table_hash(VARIABLES, ["Race"], raw) != table_hash(renamed, ["Race"], raw)


def test_the_ledger_is_append_only(database):
    fill(database)
    for statement in (
        "UPDATE entries SET note = 'x' WHERE number = 2",
        "DELETE FROM entries WHERE number = 7",
        "UPDATE publications SET table_hash = 'x'",
        "UPDATE publications SET withdrawn_why = 'x' WHERE entry_number = 4",
        "DELETE FROM publications",
        "DELETE FROM datasets",
    ):
        with database.engine.connect() as connection:
            with pytest.raises(DBAPIError, match="append-only"):
                connection.execute(text(statement))
            connection.rollback()
    assert check(database).holds


def test_postgres_does_not_truncate(database):
    if database.sqlite:
        pytest.skip("SQLite has no TRUNCATE")
    with database.engine.connect() as connection, pytest.raises(DBAPIError, match="append-only"):
        connection.execute(text("TRUNCATE publications, entries, datasets, uses"))


def test_what_fails_leaves_nothing(database):
    key = fill(database)

    def work(session):
        dataset = find_dataset(session, "tract")
        publish(session, dataset, COUNTS.sum(1), margin=["Sex"], actor="public", state="s")
        raise RuntimeError

    with pytest.raises(RuntimeError):
        database.transact(key, work)
    assert check(database).head.startswith("7:")
    assert check(database).holds


def test_wrong_writing_is_refused(database):
    key = fill(database)
    both = {"actor": "public", "state": ""}
    with database.begin(key) as session:
        dataset = find_dataset(session, "tract")
        with pytest.raises(LedgerError, match="is no margin of Sex, Race, in this order"):
            publish(session, dataset, COUNTS.T, margin=["Race", "Sex"], **both)
        with pytest.raises(LedgerError, match=r"have the shape \(3, 2\)"):
            publish(session, dataset, COUNTS.T, margin=["Sex", "Race"], **both)
        with pytest.raises(LedgerError, match="the character 0"):
            append(session, dataset, kind=Kind.REQUEST, note="a\0b", **both)
        with pytest.raises(LedgerError, match="characters that are none"):
            append(session, dataset, kind=Kind.REQUEST, note="\udc80", **both)
        with pytest.raises(ValueError, match="nonsense"):
            append(session, dataset, kind="nonsense", **both)
        gone = publications(session, dataset, withdrawn=True)[1]
        with pytest.raises(LedgerError, match="Race is withdrawn already"):
            withdraw(session, dataset, gone, why="again", **both)
    with pytest.raises(LedgerError, match="a data set 'tract' already"):
        open_tract(database)
    with pytest.raises(LedgerError, match="there is no data set 99"), database.begin(99):
        pass
    assert check(database).holds


WRITER = """
import sys, threading
from discreet.server.ledger.database import open_database
from discreet.server.ledger.schema import Dataset
from discreet.server.ledger.store import append, publish
database, writer = open_database(sys.argv[1]), sys.argv[2]

def write(thread):
    for turn in range(25):
        for key in map(int, sys.argv[3:]):
            def work(session):
                dataset = session.get(Dataset, key)
                actor = f"{writer}-{thread}-{turn}"
                if turn % 5:
                    append(session, dataset, kind="request", actor=actor, state="")
                else:
                    publish(session, dataset, [turn, 1], margin=["Sex"], actor=actor, state="")
            database.transact(key, work)

threads = [threading.Thread(target=write, args=(n,)) for n in range(2)]
[t.start() for t in threads]
[t.join() for t in threads]
"""


@contextmanager
def writers(url, *keys):
    """Eight writers in four processes, 25 entries each in every data set."""
    started = [
        subprocess.Popen([sys.executable, "-c", WRITER, url, str(n), *map(str, keys)])
        for n in range(4)
    ]
    try:
        yield started
    finally:
        codes = [one.wait(120) for one in started]
    assert codes == [0, 0, 0, 0]


def test_writers_at_once_make_one_chain(url, database):
    keys = [open_tract(database), open_tract(database, "other")]
    with writers(url, *keys):
        pass
    with database.read() as session:
        found = verify_all(session)
        assert [one.problems for one in found] == [[], []]
        assert [(one.entries, one.publications) for one in found] == [(201, 40), (201, 40)]
        for dataset in datasets(session):
            rows = entries(session, dataset)[1:]
            turns = {f"{w}-{t}": [] for w in range(4) for t in range(2)}
            for row in rows:
                writer, _, turn = row.actor.rpartition("-")
                turns[writer].append(int(turn))
            assert all(seen == list(range(25)) for seen in turns.values())


def test_a_reader_sees_one_moment(database):
    key = open_tract(database)
    with database.read() as session:
        before = verify(session, key)
        with database.begin(key) as writing:
            dataset = writing.get(Dataset, key)
            append(writing, dataset, kind=Kind.REQUEST, actor="public", state="")
            assert check(database).entries == 1
        assert verify(session, key) == before
    assert check(database).entries == 2


def test_one_data_set_does_not_wait_for_another_in_postgres(database):
    if database.sqlite:
        pytest.skip("SQLite has one writer")
    one, two = open_tract(database), open_tract(database, "other")
    with database.begin(one) as session:
        append(session, session.get(Dataset, one), kind=Kind.REQUEST, actor="a", state="")
        with database.begin(two) as session2:  # would wait half a minute, and fail
            append(session2, session2.get(Dataset, two), kind=Kind.REQUEST, actor="b", state="")
    with database.read() as session:
        assert [session.get(Dataset, key).head_number for key in (one, two)] == [2, 2]


def test_uses_add_up(database):
    key = open_tract(database)

    def count():
        for _ in range(20):
            with database.write() as session:
                use(session, key, "download")

    threads = [threading.Thread(target=count) for _ in range(4)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    with database.read() as session:
        assert sum(row.n for row in uses(session, session.get(Dataset, key))) == 80


# Verifying

TAMPERED = {
    "changed reason": ["UPDATE entries SET why = 'unsafe' WHERE number = 2"],
    "changed time": ["UPDATE entries SET at = replace(at, '+00', '+01') WHERE number = 5"],
    "new field": ["UPDATE entries SET outcome = '' WHERE number = 1"],
    "removed field": ["UPDATE entries SET note = NULL WHERE number = 5"],
    "space in JSON": ["UPDATE entries SET margin = '[\"Race\" ]' WHERE number = 3"],
    "first deleted": ["DELETE FROM entries WHERE number = 1"],
    "one deleted": ["DELETE FROM entries WHERE number = 3"],
    "tail cut": ["DELETE FROM entries WHERE number = 7"],
    "all deleted": ["DELETE FROM entries", "DELETE FROM publications"],
    "swapped": [
        "UPDATE entries SET number = 99 WHERE number = 3",
        "UPDATE entries SET number = 3 WHERE number = 5",
        "UPDATE entries SET number = 5 WHERE number = 99",
    ],
    "moved to another data set": ["UPDATE entries SET dataset_id = 77 WHERE number = 7"],
    "renamed data set": ["UPDATE datasets SET slug = 'tract', title = 'Another tract'"],
    "changed policy": ["UPDATE datasets SET policy = ''"],
    "changed categories": ["UPDATE datasets SET variables = replace(variables, 'white', 'grey')"],
    "broken JSON": ["UPDATE datasets SET variables = '['"],
    "no frontier": ["UPDATE datasets SET frontier = NULL"],
    "other head": ["UPDATE datasets SET head_hash = 'x'"],
    "changed counts": [
        "UPDATE publications SET counts = (SELECT counts FROM publications WHERE entry_number = 4)"
        " WHERE entry_number = 2"
    ],
    "no counts": ["UPDATE publications SET counts = '' WHERE entry_number = 2"],
    "changed table hash": ["UPDATE publications SET table_hash = 'x' WHERE entry_number = 4"],
    "changed margin": ["UPDATE publications SET margin = '[\"Sex\"]' WHERE entry_number = 4"],
    "deleted publication": ["DELETE FROM publications WHERE entry_number = 2"],
    "moved publication": ["UPDATE publications SET entry_number = 3 WHERE entry_number = 2"],
    "withdrawn without an entry": [
        "UPDATE publications SET withdrawn_at = 'x', withdrawn_why = 'x' WHERE entry_number = 2"
    ],
    "withdrawal undone": [
        "UPDATE publications SET withdrawn_at = NULL, withdrawn_why = NULL WHERE entry_number = 4"
    ],
    "other reason of withdrawal": [
        "UPDATE publications SET withdrawn_why = 'x' WHERE entry_number = 4"
    ],
}


@pytest.mark.parametrize("what", TAMPERED)
def test_a_change_is_found(database, what):
    fill(database)
    change(database)
    assert check(database).holds
    change(database, *TAMPERED[what])
    assert problems(database)


@pytest.mark.parametrize("column", [c.name for c in Entry.__table__.columns])
def test_a_change_of_any_column_is_found(database, column):
    fill(database)
    change(database, "UPDATE entries SET note = note")
    assert check(database).holds
    new = "77" if column in {"dataset_id", "number", "about", "policy_version"} else "'7'"
    change(database, f"UPDATE entries SET {column} = {new} WHERE number = 5")
    assert problems(database)


def test_a_changed_entry_is_named(database):
    fill(database)
    change(database, "UPDATE entries SET actor = '2' WHERE number = 5")
    assert problems(database) == ["entry 5: it was changed: its hash is another."]
    change(database, "DELETE FROM publications WHERE entry_number = 2")
    assert problems(database)[1:] == ["entry 2: its publication is missing."]


def test_a_rewritten_ledger_is_found_by_a_head_from_before(database):
    fill(database)
    head = check(database).head
    assert check(database, head).holds
    change(database, "DELETE FROM entries WHERE number = 7")
    with database.read() as session:
        last = entry(session, find_dataset(session, "tract"), 6)
    change(
        database,
        f"UPDATE datasets SET head_number = 6, head_hash = '{last.hash}', policy_version = 1, "
        "policy = '[server]\n'",
    )
    assert check(database).holds
    assert problems(database, head) == [f"the ledger does not go through {head}."]


def test_missing_triggers_are_found(database):
    fill(database)
    on = "" if database.sqlite else " ON entries"
    with database.engine.connect() as connection:
        connection.execute(text(f"DROP TRIGGER entries_are_not_updated{on}"))
        connection.commit()
    assert problems(database) == ["the database does not see to it that entries are not updated."]
    if not database.sqlite:
        with database.engine.connect() as connection:
            connection.execute(text("ALTER TABLE publications DISABLE TRIGGER ALL"))
            connection.commit()
        assert len(problems(database)) == 4


def test_entries_without_a_data_set_are_found(database):
    fill(database)
    change(database, "DELETE FROM datasets")
    with database.read() as session:
        (found,) = verify_all(session)
    assert not found.holds


def test_text_that_is_none_and_bytes_are_found_in_sqlite(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    migrate(url)
    with closing(open_database(url)) as database:
        fill(database)
        change(database, "UPDATE entries SET note = CAST(x'ff' AS TEXT) WHERE number = 5")
        assert problems(database) == ["entry 5: it was changed: its hash is another."]
        change(database, "UPDATE entries SET note = x'c3a4' WHERE number = 5")
        assert problems(database) == ["entry 5: it was changed: its hash is another."]
        change(database, "UPDATE entries SET number = 'x' WHERE number = 7")
        assert problems(database)


TEXTS = st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]), max_size=8)
STEPS = st.lists(
    st.tuples(
        st.sampled_from(["request", "publish", "withdraw", "policy"]),
        TEXTS,
        st.none() | TEXTS,
        st.none() | st.sampled_from([["Sex"], ["Race"], ["Sex", "Race"]]),
    ),
    max_size=6,
)


def play(database, steps):
    key = open_tract(database)
    for what, actor, note, margin in steps:
        with database.begin(key) as session:
            dataset = session.get(Dataset, key)
            out = publications(session, dataset)
            both = {"actor": actor, "state": "s"}
            if what == "publish" and margin:
                axis = tuple({0, 1} - {["Sex", "Race"].index(name) for name in margin})
                publish(session, dataset, COUNTS.sum(axis), margin=margin, note=note, **both)
            elif what == "withdraw" and out:
                withdraw(session, dataset, out[0], why=note or "", **both)
            elif what == "policy":
                dataset.policy, dataset.policy_version = actor, dataset.policy_version + 1
                append(session, dataset, kind=Kind.POLICY, note=note, **both)
            else:
                append(session, dataset, kind=Kind.REQUEST, margin=margin, note=note, **both)
    return key


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(steps=STEPS, data=st.data())
def test_law_every_history_holds_and_every_changed_byte_is_found(tmp_path_factory, steps, data):
    url = f"sqlite:///{tmp_path_factory.mktemp('law')}/x.db"
    migrate(url)
    with closing(open_database(url)) as database:
        play(database, steps)
        before = check(database)
        assert before.holds
        number = data.draw(st.integers(1, before.entries))
        column = data.draw(st.sampled_from([c.name for c in Entry.__table__.columns]))
        where = f"FROM entries WHERE number = {number}"
        with database.engine.connect() as connection:
            (old,) = connection.exec_driver_sql(f"SELECT CAST({column} AS BLOB) {where}").one()
        if old:
            place = data.draw(st.integers(0, len(old) - 1))
            byte = data.draw(st.integers(0, 255).filter(lambda b: b != old[place]))
            new = old[:place] + bytes([byte]) + old[place + 1 :]
        else:
            new = data.draw(st.binary(max_size=3).filter(lambda b: b != old))
        change(
            database,
            f"UPDATE entries SET {column} = CAST(x'{new.hex()}' AS TEXT) WHERE number = {number}",
        )
        assert problems(database)


# In and out


def add_accounts(database):
    with database.write() as session:
        session.add(User(id=7, name="ann", role="custodian", active=True, created_at=now()))
        session.flush()
        session.add(ApiKey(user_id=7, name="k", key_hash="h", created_at=now()))
        use(session, 1, "download", 3)


def lines_of(database, **more):
    with database.read() as session:
        return list(export_all(session, **more))


@pytest.mark.parametrize("into", ["sqlite", "postgres"])
def test_an_export_comes_back_the_same(database, into, request, tmp_path):
    fill(database)
    open_tract(database, "vintage", previous=1)
    add_accounts(database)
    lines = lines_of(database, accounts=True)
    assert lines_of(database) == [x for x in lines if '{"u' not in x and '{"api' not in x]
    (tmp_path / "export.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
    url = request.getfixturevalue(f"new_{into}")()
    found = restore(tmp_path / "export.jsonl", url)
    assert [(one.dataset, one.holds) for one in found] == [("tract", True), ("vintage", True)]
    with closing(open_database(url)) as other:
        assert lines_of(other, accounts=True) == lines
        with other.write() as session:  # numbers go on where they were
            session.add(User(name="bob", role="analyst", active=True, created_at=now()))
            session.flush()
            assert session.scalar(select(User.id).where(User.name == "bob")) == 8
        with other.begin(1) as session:
            append(session, session.get(Dataset, 1), kind=Kind.REQUEST, actor="8", state="")
        assert check(other).holds
    with pytest.raises(LedgerError, match="is not empty; restore into a new database"):
        restore(tmp_path / "export.jsonl", url)


def test_a_backup_comes_back_the_same(database, tmp_path, new_url):
    fill(database)
    add_accounts(database)
    file = tmp_path / "backup"
    backup(database, file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    with pytest.raises(OutputError, match="exists already"):
        backup(database, file)
    with pytest.raises(OutputError, match="cannot write"):
        backup(database, tmp_path / "none" / "backup")
    url = new_url()
    assert [one.dataset for one in restore(file, url)] == ["tract"]
    with closing(open_database(url)) as other:
        assert lines_of(other, accounts=True) == lines_of(database, accounts=True)


def test_a_backup_while_others_write_is_one_moment(url, database, tmp_path, new_url):
    key = open_tract(database)
    sizes = []
    with writers(url, key) as started:
        while any(one.poll() is None for one in started):
            file = tmp_path / f"backup-{len(sizes)}"
            backup(database, file)
            sizes.append(file)
    counts = [restore(file, new_url())[0].entries for file in sizes[:: max(1, len(sizes) // 6)]]
    assert counts == sorted(counts)
    assert any(1 < count < 201 for count in counts)


@pytest.mark.parametrize(
    ("edit", "said"),
    [
        (lambda lines: lines[:-1], "its publication is missing"),
        (lambda lines: [x.replace("quota", "quote") for x in lines], "tract does not hold"),
        (lambda lines: lines[1:], "line 1 is no line"),
        (lambda lines: [*lines, "{"], "line 11 is no line"),
        (lambda lines: [*lines, '{"cake": {}}'], "line 11 is no line"),
        (lambda lines: [*lines, lines[1]], "line 11 is no line"),
        (lambda lines: [x.replace('"previous":null', '"previous":"x"') for x in lines], "vintage"),
    ],
)
def test_a_broken_export_is_refused(database, edit, said, tmp_path):
    fill(database)
    file = tmp_path / "export.jsonl"
    file.write_text("\n".join(edit(lines_of(database))), encoding="utf-8")
    url = f"sqlite:///{tmp_path}/other.db"
    with pytest.raises(LedgerError, match=said):
        restore(file, url)
    with closing(open_database(url)) as other:
        assert lines_of(other) == []


def test_a_tampered_backup_is_refused(tmp_path):
    url = f"sqlite:///{tmp_path}/x.db"
    migrate(url)
    with closing(open_database(url)) as database:
        fill(database)
        change(database, "UPDATE entries SET actor = '2' WHERE number = 5")
        backup(database, tmp_path / "b.db")
    with pytest.raises(LedgerError, match="tract does not hold: entry 5: it was changed"):
        restore(tmp_path / "b.db", f"sqlite:///{tmp_path}/y.db")


# The database


def test_the_migrations_make_the_schema(url, database):
    from alembic.autogenerate import compare_metadata
    from alembic.migration import MigrationContext

    migrate(url)
    with database.engine.connect() as connection:
        context = MigrationContext.configure(connection, opts={"compare_type": True})
        assert compare_metadata(context, Base.metadata) == []


def test_migrating_at_once_is_done_once(new_url):
    url = new_url()
    again = "import sys; from discreet.server.ledger.database import migrate; migrate(sys.argv[1])"
    started = [subprocess.Popen([sys.executable, "-c", again, url]) for _ in range(3)]
    assert [one.wait(600) for one in started] == [0, 0, 0]
    open_database(url).close()


def test_a_database_without_the_schema_is_not_opened(new_url, tmp_path):
    url = new_url()
    if url.startswith("sqlite"):
        with pytest.raises(LedgerError, match="there is no database"):
            open_database(url)
        sqlite3.connect(url.removeprefix("sqlite:///")).close()
    with pytest.raises(LedgerError, match="run `discreet ledger migrate`"):
        open_database(url)


def test_a_wrong_address_is_said_without_the_password():
    with pytest.raises(LedgerError) as error:
        open_database("postgresql://ann:secret@127.0.0.1:1/none")
    assert "secret" not in str(error.value)
    with pytest.raises(LedgerError, match="write sqlite:///FILE or postgresql"):
        open_database("mysql://localhost/x")
    with pytest.raises(LedgerError, match="in memory would be lost"):
        migrate("sqlite://")
    with pytest.raises(LedgerError, match="cannot write"):
        migrate("sqlite:////none/x.db")


def test_the_file_is_for_its_owner_only(tmp_path):
    migrate(f"sqlite:///{tmp_path}/x.db")
    assert stat.S_IMODE((tmp_path / "x.db").stat().st_mode) == 0o600


# The command


def run(*words):
    return CliRunner().invoke(main, ["ledger", *map(str, words)])


def test_the_command_verifies(url, database):
    fill(database)
    found = run("verify", "--database", url)
    assert found.exit_code == 0
    assert "✓ PASS    tract: 7 entries, 2 tables" in found.stdout
    head = found.stdout.split("head ")[1].strip()
    document = json.loads(run("verify", "--database", url, "--json").stdout)
    assert document["holds"]
    assert document["ledgers"][0]["head"] == head
    one = ("verify", "--database", url, "--dataset", "tract", "--head")
    assert run(*one, head).exit_code == 0
    assert run(*one, f"7:{'0' * 64}").exit_code == 1
    change(database, "UPDATE entries SET actor = '2' WHERE number = 5")
    found = run("verify", "--database", url)
    assert found.exit_code == 1
    assert "✗ FAIL" in found.stdout
    assert "entry 5: it was changed" in found.stdout
    found = run("verify", "--database", url, "--json")
    assert found.exit_code == 1
    assert json.loads(found.stdout)["ledgers"][0]["problems"][0]["entry"] == 5


def test_the_command_exports_backs_up_and_restores(url, database, tmp_path, new_url):
    fill(database)
    exported = run("export", "--database", url)
    assert exported.stdout == run("export", "--database", url, "--dataset", "tract").stdout
    (tmp_path / "x.jsonl").write_text(exported.stdout, encoding="utf-8")
    assert run("backup", tmp_path / "b", "--database", url).exit_code == 0
    for file in ("x.jsonl", "b"):
        other = new_url()
        found = run("restore", tmp_path / file, "--database", other, "--json")
        assert json.loads(found.stdout)["holds"]
        assert run("export", "--database", other).stdout == exported.stdout


def test_the_command_says_what_is_wrong(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    assert "there is no database 'discreet.db'" in run("verify").stderr
    assert run("migrate").exit_code == 0
    assert "has no data set" in run("verify").stdout
    assert "no data set 'x'; there is none" in run("verify", "--dataset", "x").stderr
    assert "name its --dataset" in run("verify", "--head", "1:x").stderr
    assert run("restore", "none.db").exit_code == 2
    monkeypatch.setenv("DISCREET_DATABASE", "sqlite:///other.db")
    assert "other.db" in run("verify").stderr
    assert Path("discreet.db").exists()
