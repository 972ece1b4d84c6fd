"""The trail: who did what with accounts, from where; and that nobody changes it unseen."""

import json
from contextlib import closing
from datetime import UTC, datetime, timedelta
from threading import Thread

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner
from sqlalchemy import func, select
from sqlalchemy.exc import DBAPIError

from discreet.cli import main
from discreet.errors import LedgerError
from discreet.server.ledger.backup import backup, export_all, restore
from discreet.server.ledger.database import open_database
from discreet.server.ledger.schema import Mark, Trail
from discreet.server.ledger.trail import Event, append, entries, verify_trail
from discreet.server.people import invitations
from discreet.server.people.accounts import AccountError, Accounts
from discreet.server.people.actors import ALL, EACH, By, operator
from server.sites import MYOPIC, PASSWORD, world
from server.test_ledger import change

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
WEB = By("1", "192.0.2.7")


class Clock:
    def __init__(self):
        self.time = datetime(2026, 1, 1, 12, 0, 5, tzinfo=UTC)

    def __call__(self):
        return self.time

    def wait(self, **more):
        self.time += timedelta(**more)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def accounts(database, clock, monkeypatch):
    monkeypatch.setenv("DISCREET_OPERATOR", "op")
    return Accounts(database, hasher=QUICK, clock=clock)


def trail(database, **more):
    """The entries, the oldest first."""
    with database.read() as session:
        return entries(session, limit=10_000, **more)[::-1]


def said(database, **more):
    return [(e.kind, e.actor, e.about, e.address, e.note) for e in trail(database, **more)]


def check(database, head=None):
    with database.read() as session:
        return verify_trail(session, head=head)


# What is written


def test_every_change_of_an_account_is_an_entry(accounts, database):
    accounts.create("ann", "custodian", PASSWORD)
    bob = accounts.create("bob", "analyst", by=WEB, email="bob@example.org").id
    made = invitations.invite(accounts, bob, WEB)
    invitations.accept(accounts, made.token, PASSWORD, "192.0.2.9")
    token, _ = accounts.start_session(bob, address="192.0.2.9")
    accounts.end_session(token, "192.0.2.9")
    own = By(str(bob), "192.0.2.9")
    accounts.make_key(bob, "nightly", own)
    accounts.revoke_key(1, by=WEB)
    accounts.set_role(bob, "auditor", WEB)
    accounts.set_active(bob, False, WEB)
    accounts.set_active(bob, True, WEB)
    accounts.change_password(bob, PASSWORD + "!", own)
    accounts.set_email(bob, None, own)
    b, me = str(bob), "192.0.2.9"
    assert said(database) == [
        ("created", "operator op", "1", None, "ann, custodian, with a password"),
        ("created", "1", b, "192.0.2.7", "bob, analyst"),
        ("invited", "1", b, "192.0.2.7", None),
        ("invitation_used", b, b, me, "the invitation of entry 3"),
        ("login", b, b, me, None),
        ("logout", b, b, me, None),
        ("key_made", b, b, me, "key 1: nightly"),
        ("key_revoked", "1", b, "192.0.2.7", "key 1: nightly"),
        ("role", "1", b, "192.0.2.7", "from analyst to auditor"),
        ("closed", "1", b, "192.0.2.7", None),
        ("opened", "1", b, "192.0.2.7", None),
        ("password", b, b, me, None),
        ("email", b, b, me, "removed"),
    ]
    assert check(database).holds
    assert trail(database)[0].at == "2026-01-01T12:00:05.000000+00:00"


def test_what_changes_nothing_leaves_no_entry(accounts, database):
    ann = accounts.create("ann", "custodian", PASSWORD).id
    for attempt in (
        lambda: accounts.create("ann", "analyst"),
        lambda: accounts.create("bob", "king"),
        lambda: accounts.set_active(ann, False),
        lambda: accounts.set_role(ann, "auditor"),
        lambda: accounts.change_password(ann, "short"),
        lambda: accounts.set_email(ann, "no address"),
        lambda: accounts.revoke_key(4),
    ):
        with pytest.raises(AccountError):
            attempt()
    accounts.set_role(ann, "custodian")
    accounts.set_active(ann, True)
    accounts.end_session("nobody's")
    assert [e.kind for e in trail(database)] == ["created"]


def test_of_a_failed_login_the_name_is_known_only_if_there_is_one(accounts, database):
    ann = accounts.create("ann", "custodian", PASSWORD).id
    assert accounts.authenticate("ann", "wrong", "192.0.2.1") is None
    assert accounts.authenticate("my-password-by-mistake", "wrong", "192.0.2.1") is None
    assert said(database)[1:] == [
        ("login_failed", "public", str(ann), "192.0.2.1", None),
        ("login_failed", "public", None, "192.0.2.1", None),
    ]


def test_a_wrong_key_is_named_only_by_who_had_it(accounts, database):
    ann = accounts.create("ann", "custodian", PASSWORD).id
    key = accounts.make_key(ann, "nightly")
    accounts.revoke_key(1)
    guessed = key[:-1] + ("A" if key[-1] != "A" else "B")
    for tried in (key, guessed, "dk_1_", "\x00\ud800"):
        assert accounts.by_key(tried) is None
        accounts.wrong_key(tried, "192.0.2.1")
    failed = said(database, kind="key_failed")
    assert failed[0] == ("key_failed", "public", str(ann), "192.0.2.1", "key 1: nightly")
    assert [(about, note) for _, _, about, _, note in failed[1:]] == [(None, None)] * 3


def test_odd_text_is_kept_as_text_that_databases_keep(database):
    with database.write() as session:
        append(session, Event.LOGIN, actor="1", note="a\x00b\ud800\n" + "x" * 999)
    (entry,) = trail(database)
    assert entry.note == "a?b??" + "x" * 295
    assert check(database).holds


def test_the_operators_name(monkeypatch):
    import getpass

    for name in ("DISCREET_OPERATOR", "SUDO_USER"):
        monkeypatch.delenv(name, raising=False)
    assert operator() == getpass.getuser()
    monkeypatch.setenv("SUDO_USER", "maria")
    assert operator() == "maria"
    monkeypatch.setenv("DISCREET_OPERATOR", "the night shift\x1b")
    assert operator() == "the night shift"
    monkeypatch.setenv("DISCREET_OPERATOR", "  ")
    assert operator() == "maria"


# Floods


def test_a_flood_is_counted_not_written(accounts, database, clock):
    for _ in range(500):
        accounts.wrong_key("dk_", "192.0.2.1")
    for _ in range(3):
        accounts.wrong_key("dk_", "192.0.2.2")
    assert len(trail(database)) == EACH + 3
    clock.wait(minutes=1)
    accounts.wrong_key("dk_", "192.0.2.3")
    assert len(trail(database)) == EACH + 5
    more = said(database, kind="left_out")
    note = "490 more failures in the minute from 2026-01-01 12:00"
    assert more == [("left_out", "server", None, "192.0.2.1", note)]


def test_a_flood_from_everywhere_is_bounded_and_hides_no_account(accounts, database, clock):
    for number in range(1000):
        accounts.wrong_key("dk_", f"2001:db8::{number:x}")
    assert len(trail(database)) == ALL
    accounts.failures.note(Event.REFUSED, actor="7", address="192.0.2.1", note="GET /desk")
    assert said(database)[-1][:2] == ("refused", "7")
    assert len(accounts.failures._written) == ALL + 1
    clock.wait(minutes=1)
    accounts.failures.flush()
    assert said(database)[-1][3:] == (None, "940 more failures in the minute from 2026-01-01 12:00")


def test_what_was_left_out_is_said_at_the_end(accounts, database, clock):
    for _ in range(EACH + 4):
        accounts.wrong_key("dk_", "192.0.2.1")
    accounts.failures.flush()
    assert said(database, kind="left_out") == []
    accounts.failures.flush(end=True)
    accounts.failures.flush(end=True)
    assert [note[:6] for *_, note in said(database, kind="left_out")] == ["4 more"]


def test_an_answer_goes_out_though_the_trail_cannot_be_written(accounts, database, capsys):
    with database.engine.connect() as connection:
        connection.exec_driver_sql("ALTER TABLE trail RENAME TO elsewhere")
        connection.commit()
    accounts.wrong_key("dk_", "192.0.2.1")
    assert "trail not written" in capsys.readouterr().err


# The chain


@pytest.fixture
def five(database):
    """A trail of five entries."""
    for number in range(5):
        with database.write() as session:
            append(session, Event.LOGIN, actor=str(number), about=str(number), address="192.0.2.1")
    return database


def test_the_chain_holds_and_ends_at_its_mark(five):
    found = check(five)
    assert (found.holds, found.entries) == (True, 5)
    with five.read() as session:
        assert session.get_one(Mark, "trail").value == found.head
    assert check(five, head=found.head).holds
    assert check(five, head="0:" + "0" * 64).holds


@pytest.mark.parametrize(
    ("statement", "what"),
    [
        ("UPDATE trail SET actor = '9' WHERE number = 3", "entry 3: it was changed"),
        ("UPDATE trail SET address = NULL WHERE number = 5", "entry 5: it was changed"),
        ("DELETE FROM trail WHERE number = 2", "entry 2: there is 3 instead"),
        ("DELETE FROM trail WHERE number = 5", "the trail ends at entry 4; it should at 5"),
        ("DELETE FROM trail", "the trail ends at entry 0; it should at 5"),
        ("DELETE FROM marks", "the trail ends at entry 5; it should at nowhere"),
        ("UPDATE marks SET value = '5:' || value", "the trail ends at entry 5"),
        ("UPDATE trail SET previous = hash WHERE number = 4", "entry 4: it does not follow"),
    ],
)
def test_whatever_is_changed_is_found(five, statement, what):
    change(five, statement)
    found = check(five)
    assert not found.holds
    assert any(what in str(problem) for problem in found.problems)


def test_a_trail_that_was_written_anew_is_found_by_an_old_head(five):
    head = check(five).head
    change(five, "DELETE FROM trail", "DELETE FROM marks")
    with five.write() as session:
        append(session, Event.LOGIN, actor="9")
    assert check(five).holds
    (problem,) = check(five, head=head).problems
    assert "does not go through" in str(problem)


@pytest.mark.parametrize("statement", ["UPDATE trail SET actor = 'x'", "DELETE FROM trail"])
def test_the_database_refuses_changes(five, statement):
    with five.engine.connect() as connection, pytest.raises(DBAPIError, match="append-only"):
        connection.exec_driver_sql(statement)


def test_a_missing_trigger_is_found(five):
    on = "" if five.sqlite else " ON trail"
    with five.engine.connect() as connection:
        connection.exec_driver_sql(f"DROP TRIGGER trail_is_not_deleted{on}")
        connection.commit()
    (problem,) = check(five).problems
    assert "trail is not deleted" in str(problem)


def test_many_who_write_at_once_make_one_chain(database, accounts):
    def create(writer):
        for number in range(10):
            accounts.create(f"u{writer}-{number}", "analyst")

    threads = [Thread(target=create, args=(writer,)) for writer in range(8)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    found = check(database)
    assert (found.holds, found.entries) == (True, 80)


# Backup, export, the commands


def test_the_trail_goes_through_backup_and_restore(five, tmp_path, new_url):
    backup(five, tmp_path / "backup")
    url = new_url()
    restore(tmp_path / "backup", url)
    with closing(open_database(url)) as other:
        assert check(other) == check(five)
        with other.write() as session:
            append(session, Event.LOGIN, actor="9")
        assert check(other, head=check(five).head).holds


def test_an_export_has_the_trail_and_an_older_one_has_none(five, tmp_path, new_url):
    with five.read() as session:
        lines = list(export_all(session))
    assert [next(iter(json.loads(line))) for line in lines] == ["trail"] * 5 + ["mark"]
    for name, kept, holds in (("whole", lines, 5), ("older", [], 0)):
        (tmp_path / name).write_text("".join(f"{line}\n" for line in kept))
        url = new_url()
        restore(tmp_path / name, url)
        with closing(open_database(url)) as other:
            assert check(other).entries == holds


def test_a_changed_export_is_refused(five, tmp_path, new_url):
    with five.read() as session:
        lines = list(export_all(session))
    (tmp_path / "changed").write_text("\n".join(line.replace('"3"', '"4"') for line in lines))
    with pytest.raises(LedgerError, match="the trail of accounts does not hold: entry"):
        restore(tmp_path / "changed", new_url())


@pytest.fixture
def command(new_sqlite, monkeypatch):
    from discreet.server.ledger.database import migrate

    url = new_sqlite()
    migrate(url)
    monkeypatch.setenv("DISCREET_DATABASE", url)
    monkeypatch.setenv("DISCREET_OPERATOR", "the night shift")
    monkeypatch.setattr("discreet.server.people.accounts.PasswordHasher", lambda: QUICK)

    def run(*line, typed=None):
        return CliRunner().invoke(main, line, input=typed)

    run.url = url
    return run


def test_the_command_line_says_who_ran_it(command):
    typed = f"{PASSWORD}\n"
    command("accounts", "add", "ann", "--role", "custodian", "--password-stdin", typed=typed)
    command("accounts", "password", "ann", "--password-stdin", typed=f"{PASSWORD}!\n")
    command("accounts", "key", "ann", "--name", "nightly")
    command("accounts", "revoke", "1")
    command("accounts", "email", "ann", "ann@example.org")
    with closing(open_database(command.url)) as opened:
        found = said(opened)
    assert [(kind, actor) for kind, actor, *_ in found] == [
        (kind, "operator the night shift")
        for kind in ("created", "password", "key_made", "key_revoked", "email")
    ]


def test_verify_looks_at_the_trail_too(command):
    assert command("ledger", "verify").output == "The database has no data set.\n"
    typed = f"{PASSWORD}\n"
    command("accounts", "add", "ann", "--role", "custodian", "--password-stdin", typed=typed)
    found = command("ledger", "verify")
    assert found.exit_code == 0
    assert "trail of accounts: 1 entry" in found.output
    document = json.loads(command("ledger", "verify", "--json").output)
    assert document["holds"]
    assert document["ledgers"] == []
    assert document["trail"]["holds"]
    assert document["trail"]["entries"] == 1
    head = document["trail"]["head"]
    assert command("ledger", "verify", "--trail", head).exit_code == 0
    assert command("ledger", "verify", "--trail", "1:" + "0" * 64).exit_code == 1
    with closing(open_database(command.url)) as opened:
        change(opened, "UPDATE trail SET note = 'nothing'")
    found = command("ledger", "verify")
    assert found.exit_code == 1
    assert "entry 1: it was changed" in found.output
    document = json.loads(command("ledger", "verify", "--json").output)
    assert not document["holds"]
    assert document["trail"]["problems"] == [
        {"entry": 1, "what": "it was changed: its hash is another."}
    ]


# The API and the page


@pytest.fixture
def here(tmp_path):
    with world(tmp_path, logins_per_minute=10**6) as made:
        yield made


def test_logins_and_refusals_have_an_address(here):
    public, analyst = here.client(address="192.0.2.5"), here.client("analyst", "192.0.2.6")
    wrong = {"name": "custodian1", "password": "wrong"}
    assert public.post("/api/v1/login", wrong).status_code == 401
    right = {"name": "custodian1", "password": PASSWORD}
    csrf = public.post("/api/v1/login", right).json()["csrf"]
    assert public.post("/api/v1/logout", headers={"X-CSRF-Token": csrf}).status_code == 204
    assert analyst.get("/api/v1/users").status_code == 403
    assert analyst.get("/desk/users").status_code == 403
    key = {"Authorization": "Bearer dk_1_no"}
    assert here.client(address="192.0.2.8").get("/api/v1/me", headers=key).status_code == 401
    assert public.get("/api/v1/users").status_code == 401
    custodian, ann = str(here.users["custodian"]), str(here.users["analyst"])
    found = [one for one in said(here.site.database) if one[3] is not None]
    assert found == [
        ("login_failed", "public", custodian, "192.0.2.5", None),
        ("login", custodian, custodian, "192.0.2.5", None),
        ("logout", custodian, custodian, "192.0.2.5", None),
        ("refused", ann, None, "192.0.2.6", "GET /api/v1/users"),
        ("refused", ann, None, "192.0.2.6", "GET /desk/users"),
        ("key_failed", "public", None, "192.0.2.8", None),
    ]


def test_a_wrong_old_password_is_one_entry(here):
    analyst = here.client("analyst", "192.0.2.6")
    body = {"old": "wrong", "new": PASSWORD + "!"}
    assert analyst.post("/api/v1/me/password", body).status_code == 403
    found = [one[0] for one in said(here.site.database) if one[3] == "192.0.2.6"]
    assert found == ["login_failed"]


def test_a_forged_request_of_an_account_is_in_the_trail(here):
    client = here.client(address="192.0.2.5")
    client.post("/api/v1/login", {"name": "custodian1", "password": PASSWORD})
    assert client.post("/api/v1/users", {"name": "eve", "role": "custodian"}).status_code == 403
    sent = {"Origin": "https://evil.example.org"}
    assert client.post("/api/v1/users", {}, headers=sent).status_code == 403
    custodian = str(here.users["custodian"])
    refused = said(here.site.database, kind="refused")
    assert refused[0] == ("refused", custodian, None, "192.0.2.5", "POST /api/v1/users")


def test_the_trail_over_the_api(here):
    auditor = here.client("auditor")
    for number in range(230):
        with here.site.database.write() as session:
            append(session, Event.LOGIN, actor="2", about="2", note=str(number))
    first = auditor.get("/api/v1/trail").json()
    assert len(first["entries"]) == 200
    assert first["entries"][0]["note"] == "229"
    second = auditor.get(f"/api/v1/trail?before={first['before']}").json()
    with here.site.database.read() as session:
        assert (
            len(second["entries"]) == session.scalar(select(func.count()).select_from(Trail)) - 200
        )
    assert second["before"] is None
    kinds = {one["kind"] for one in auditor.get("/api/v1/trail?kind=key_made").json()["entries"]}
    assert kinds == {"key_made"}
    of_one = auditor.get("/api/v1/trail?account=1").json()["entries"]
    assert {one["about"] for one in of_one} == {"1"}
    assert auditor.get("/api/v1/trail?kind=nothing").status_code == 422
    checked = auditor.get("/api/v1/trail/verification").json()
    assert checked["holds"]
    assert checked["entries"] == 236
    assert here.client("analyst").get("/api/v1/trail").status_code == 403


def test_the_page_of_the_trail(here):
    auditor = here.client("auditor")
    html = auditor.get("/desk/trail?kind=key_made").text
    assert "key 1: tests" in html
    assert "custodian, with a password" not in html
    assert "The trail holds." in auditor.post("/desk/trail/verify").text
    for number in range(230):
        with here.site.database.write() as session:
            append(session, Event.LOGIN, actor="2", about="2", note=f"<b>{number}")
    html = auditor.get("/desk/trail?kind=login").text
    assert "&lt;b&gt;229" in html
    assert "<b>" not in html
    assert 'rel="next" href="?kind=login&amp;account=&amp;before=' in html


# Nobody acts as another


def test_no_route_makes_a_key_or_a_password_for_another(here):
    custodian, ann = here.client("custodian"), here.users["analyst"]
    for path in (f"/desk/users/{ann}/keys", f"/desk/users/{ann}/password"):
        sent = {"name": "x", "password": PASSWORD + "!"}
        assert custodian.request("POST", path, data=sent).status_code in (404, 405)
    made = custodian.post("/api/v1/keys", {"name": "x", "user_id": ann})
    assert made.status_code == 422
    user = f"/api/v1/users/{ann}"
    changed = custodian.request("PATCH", user, json={"password": PASSWORD + "!"})
    assert changed.status_code == 422
    new = {"name": "eve", "role": "analyst", "password": PASSWORD}
    assert custodian.post("/api/v1/users", new).status_code == 422
    assert here.site.accounts.authenticate("analyst1", PASSWORD) is not None


def test_opening_the_site_again_goes_on_with_the_chain(here):
    here.open(changes=MYOPIC)
    assert check(here.site.database).holds
