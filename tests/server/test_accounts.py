"""Accounts, keys and sessions: what is kept of them, who gets in, and what ends them."""

import re
from datetime import UTC, datetime, timedelta
from shutil import copy
from threading import Barrier, Thread

import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner
from sqlalchemy import select, text

from discreet.cli import main
from discreet.server.ledger.database import migrate, open_database
from discreet.server.ledger.schema import ApiKey, Session, User
from discreet.server.people import invitations
from discreet.server.people.accounts import AccountError, Accounts
from discreet.server.people.actors import By

PASSWORD = "four quiet owls at noon"
WEB = By("1", "192.0.2.1")
QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)


class Clock:
    def __init__(self):
        self.time = datetime(2026, 1, 1, tzinfo=UTC)

    def __call__(self):
        return self.time

    def wait(self, hours):
        self.time += timedelta(hours=hours)


@pytest.fixture(scope="module")
def empty(tmp_path_factory):
    """A SQLite file with the schema."""
    file = tmp_path_factory.mktemp("accounts") / "empty.db"
    migrate(f"sqlite:///{file}")
    return file


@pytest.fixture
def sqlite_url(empty, tmp_path):
    copy(empty, tmp_path / "accounts.db")
    return f"sqlite:///{tmp_path}/accounts.db"


@pytest.fixture
def database(request):
    if getattr(request, "param", "sqlite") == "sqlite":
        url = request.getfixturevalue("sqlite_url")
    else:
        url = request.getfixturevalue("new_postgres")()
        migrate(url)
    opened = open_database(url)
    yield opened
    opened.close()


both = pytest.mark.parametrize("database", ["sqlite", "postgres"], indirect=True)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def accounts(database, clock):
    return Accounts(database, hasher=QUICK, clock=clock)


@pytest.fixture
def maria(accounts):
    accounts.create("root", "custodian", PASSWORD)
    return accounts.create("maria", "custodian", PASSWORD)


def rows(accounts, model):
    with accounts.database.read() as session:
        return list(session.scalars(select(model)))


def everything_kept(accounts):
    """All text of the accounts' tables."""
    with accounts.database.read() as session:
        return str(
            [
                session.execute(text(f"SELECT * FROM {table}")).all()
                for table in ("users", "api_keys", "sessions", "tokens", "trail")
            ]
        )


@both
def test_a_password_lets_its_owner_in(accounts, maria):
    found = accounts.authenticate("Maria", PASSWORD)
    assert (found.user_id, found.name, found.role) == (maria.id, "maria", "custodian")
    assert found.actor == str(maria.id)
    assert accounts.authenticate("maria", PASSWORD + "!") is None
    assert accounts.authenticate("nobody", PASSWORD) is None


@both
@pytest.mark.parametrize("name", ["", "\x00", "\ud800", "a'--", "x" * 10_000])
def test_odd_names_and_passwords_are_only_wrong(accounts, maria, name):
    assert accounts.authenticate(name, PASSWORD) is None
    assert accounts.authenticate("maria", name) is None


def test_a_password_is_the_same_however_it_is_typed_and_never_cut(accounts):
    longest = "0123456789" * 100
    accounts.create("maria", "analyst", longest)
    assert accounts.authenticate("maria", longest) is not None
    assert accounts.authenticate("maria", longest + "x") is None
    accounts.create("jose", "analyst", "caf\u00e9 au lait, dear")
    assert accounts.authenticate("jose", "cafe\u0301 au lait, dear") is not None


def test_unknown_names_are_hashed_for_like_known_ones(accounts, maria, monkeypatch):
    """The time of a login is that of its hash, of the same parameters; no name is told by it."""
    seen = []
    verify = PasswordHasher.verify

    def note(self, kept, password):
        seen.append(kept.rpartition("$")[0].rpartition("$")[0])
        return verify(self, kept, password)

    monkeypatch.setattr(PasswordHasher, "verify", note)
    accounts.create("keys-only", "analyst")
    for name in ("maria", "nobody", "keys-only", "\x00"):
        assert accounts.authenticate(name, "a wrong password") is None
    assert len(seen) == 4
    assert len(set(seen)) == 1
    assert seen[0].startswith("$argon2id$")


def test_passwords_are_hashed_with_the_parameters_of_rfc_9106(database):
    """The library's defaults: RFC 9106, low memory: 64 MiB, 3 passes, 4 lanes."""
    accounts = Accounts(database)
    accounts.create("maria", "analyst", PASSWORD)
    kept = rows(accounts, User)[0].password_hash
    assert kept.startswith("$argon2id$v=19$m=65536,t=3,p=4$")


def test_an_older_hash_is_renewed_at_login(accounts, maria):
    before = rows(accounts, User)[1].password_hash
    stronger = PasswordHasher(time_cost=2, memory_cost=16, parallelism=1)
    renewed = Accounts(accounts.database, hasher=stronger)
    assert renewed.authenticate("maria", "wrong") is None
    assert rows(accounts, User)[1].password_hash == before
    assert renewed.authenticate("maria", PASSWORD) is not None
    assert "t=2" in next(u.password_hash for u in rows(accounts, User) if u.name == "maria")
    assert renewed.authenticate("maria", PASSWORD) is not None


@pytest.mark.parametrize(
    ("password", "why"),
    [
        ("9 letters", "too short"),
        ("maria-Maria-maria", "too short"),
        ("maria1234567", "without the name"),
        ("abababababababab", "different"),
        ("x" * 1001, "too long"),
    ],
)
def test_weak_passwords_are_refused(accounts, password, why):
    with pytest.raises(AccountError, match=why) as caught:
        accounts.create("maria", "analyst", password)
    assert password not in str(caught.value)
    assert accounts.users() == []


@pytest.mark.parametrize("name", ["", "two words", "-a", "ä", "x" * 65, "a\x00", "<b>"])
def test_odd_names_are_refused(accounts, name):
    with pytest.raises(AccountError, match="cannot be a name"):
        accounts.create(name, "analyst", PASSWORD)


@both
def test_a_name_is_taken_once(accounts, maria):
    with pytest.raises(AccountError, match="'maria' already"):
        accounts.create("MARIA", "analyst", PASSWORD)


def test_there_are_three_roles(accounts, maria):
    for role in ("public", "admin", ""):
        with pytest.raises(AccountError, match="analyst, custodian, auditor"):
            accounts.create("x", role, PASSWORD)
        with pytest.raises(AccountError, match="no role"):
            accounts.set_role(maria.id, role)


@both
def test_no_secret_is_kept(accounts, maria):
    key = accounts.make_key(maria.id, "nightly")
    token, _ = accounts.start_session(maria.id)
    invitation = invitations.invite(accounts, maria.id, WEB).token
    kept = everything_kept(accounts)
    for secret in (PASSWORD, key, key.split("_", 2)[2], token, invitation):
        assert secret not in kept


# Keys


def test_a_key_is_its_owner(accounts, maria):
    key = accounts.make_key(maria.id, "nightly")
    assert re.fullmatch(r"dk_\d+_[\w-]{43}", key)
    found = accounts.by_key(key)
    assert (found.user_id, found.role, found.via, found.csrf) == (
        maria.id,
        "custodian",
        "key",
        None,
    )
    assert [k.name for k in accounts.keys(maria.id)] == ["nightly"]


@both
def test_a_changed_key_is_nobody(accounts, maria):
    key, other = (accounts.make_key(maria.id, name) for name in ("one", "two"))
    number, secret = key.split("_", 2)[1:]
    swapped = f"dk_{other.split('_')[1]}_{secret}"
    last = "A" if secret[-1] != "A" else "B"
    for wrong in (swapped, key[:-1] + last, key + "A", key[:-1], f"dk_{number}_", "dk_", "", "\x00",
                  f"dk_999999999_{secret}", f"dk_{10**30}_{secret}", f" {key}"):  # fmt: skip
        assert accounts.by_key(wrong) is None


def test_the_use_of_a_key_is_noted_seldom(accounts, maria, clock):
    key = accounts.make_key(maria.id, "nightly")
    assert rows(accounts, ApiKey)[0].last_used_at is None
    noted = []
    for hours in (0.1, 0.1, 2):
        clock.wait(hours)
        accounts.by_key(key)
        noted.append(rows(accounts, ApiKey)[0].last_used_at)
    assert noted[0] == noted[1] < noted[2]


def test_a_revoked_key_is_nobody(accounts, maria):
    key = accounts.make_key(maria.id, "nightly")
    number = accounts.keys(maria.id)[0].id
    with pytest.raises(AccountError, match="no key"):
        accounts.revoke_key(number, user_id=maria.id + 1)
    assert accounts.by_key(key) is not None
    accounts.revoke_key(number, user_id=maria.id)
    assert accounts.by_key(key) is None
    for missing in (0, -1, 10**6, 10**30):
        with pytest.raises(AccountError, match="no key"):
            accounts.revoke_key(missing)


# Sessions


@both
def test_a_session_is_its_owner_until_it_ends(accounts, maria):
    token, csrf = accounts.start_session(maria.id)
    assert len(token) == len(csrf) == 43
    found = accounts.by_session(token)
    assert (found.user_id, found.csrf, found.via) == (maria.id, csrf, "session")
    assert csrf not in repr(found)
    accounts.end_session(token)
    assert accounts.by_session(token) is None
    assert accounts.by_session("") is None


def test_a_login_replaces_the_session_before(accounts, maria):
    old, _ = accounts.start_session(maria.id)
    new, _ = accounts.start_session(maria.id, old=old)
    assert old != new
    assert accounts.by_session(old) is None
    assert accounts.by_session(new) is not None


def test_an_unused_session_ends_after_an_hour(accounts, maria, clock):
    token, _ = accounts.start_session(maria.id)
    clock.wait(0.9)
    assert accounts.by_session(token) is not None
    clock.wait(0.9)
    assert accounts.by_session(token) is not None
    clock.wait(1.01)
    assert accounts.by_session(token) is None


def test_a_used_session_ends_after_eight_hours(accounts, maria, clock):
    token, _ = accounts.start_session(maria.id)
    for _ in range(15):
        clock.wait(0.5)
        assert accounts.by_session(token) is not None
    clock.wait(0.5)
    assert accounts.by_session(token) is None


def test_sessions_that_are_over_are_forgotten(accounts, maria, clock):
    accounts.start_session(maria.id)
    clock.wait(9)
    accounts.start_session(maria.id)
    assert len(rows(accounts, Session)) == 1


def test_a_new_password_ends_sessions(accounts, maria):
    token, _ = accounts.start_session(maria.id)
    key = accounts.make_key(maria.id, "nightly")
    with pytest.raises(AccountError):
        accounts.change_password(maria.id, "maria")
    assert accounts.by_session(token) is not None
    accounts.change_password(maria.id, "another of my secrets")
    assert accounts.by_session(token) is None
    assert accounts.authenticate("maria", PASSWORD) is None
    assert accounts.authenticate("maria", "another of my secrets") is not None
    assert accounts.by_key(key) is not None


# Invitations


@both
def test_an_invited_person_sets_the_password_once(accounts, maria):
    ann = accounts.create("ann", "analyst")
    made = invitations.invite(accounts, ann.id, WEB)
    assert invitations.open_invitations(accounts) == {ann.id: made.expires_at}
    assert invitations.invited(accounts, made.token).name == "ann"
    with pytest.raises(AccountError, match="too short"):
        invitations.accept(accounts, made.token, "short", None)
    invitations.accept(accounts, made.token, PASSWORD, "192.0.2.9")
    assert accounts.authenticate("ann", PASSWORD) is not None
    assert invitations.open_invitations(accounts) == {}
    for attempt in (
        lambda: invitations.invited(accounts, made.token),
        lambda: invitations.accept(accounts, made.token, PASSWORD + "!", None),
    ):
        with pytest.raises(AccountError, match="was used"):
            attempt()


def test_an_invitation_ends(accounts, maria, clock):
    ann = accounts.create("ann", "analyst")
    old = invitations.invite(accounts, ann.id, WEB)
    clock.wait(71.9)
    assert invitations.invited(accounts, old.token).id == ann.id
    clock.wait(0.2)
    second = invitations.invite(accounts, ann.id, WEB)
    third = invitations.invite(accounts, ann.id, WEB)
    for gone in (old.token, second.token, "", "\x00", third.token + "A"):
        with pytest.raises(AccountError, match="ask for a new one"):
            invitations.accept(accounts, gone, PASSWORD, None)
    accounts.set_active(ann.id, False)
    with pytest.raises(AccountError, match="ask for a new one"):
        invitations.accept(accounts, third.token, PASSWORD, None)
    with pytest.raises(AccountError, match="closed"):
        invitations.invite(accounts, ann.id, WEB)


def test_an_invitation_to_a_new_password_ends_sessions_when_it_is_used(accounts, maria):
    token, _ = accounts.start_session(maria.id)
    made = invitations.invite(accounts, maria.id, WEB)
    assert accounts.by_session(token) is not None
    assert accounts.authenticate("maria", PASSWORD) is not None
    invitations.accept(accounts, made.token, "another of my secrets", None)
    assert accounts.by_session(token) is None
    assert accounts.authenticate("maria", PASSWORD) is None


@both
def test_two_who_use_an_invitation_at_once(accounts, maria):
    """One of them has set the password."""
    ann, start, won = accounts.create("ann", "analyst"), Barrier(2), []
    made = invitations.invite(accounts, ann.id, WEB)

    def use(password):
        start.wait()
        try:
            invitations.accept(accounts, made.token, password, None)
            won.append(password)
        except AccountError:
            pass

    threads = [Thread(target=use, args=(f"{PASSWORD} {n}",)) for n in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(won) == 1
    assert accounts.authenticate("ann", won[0]) is not None


@pytest.mark.parametrize(
    "email", ["ann", "ann@", "@x", "a b@x.org", "ann@x.org\nBcc: b@x.org", "ä@x"]
)
def test_odd_email_addresses_are_refused(accounts, maria, email):
    with pytest.raises(AccountError, match="no e-mail address"):
        accounts.set_email(maria.id, email)
    assert accounts.user(maria.id).email is None


# The end of an account


@both
def test_a_closed_account_loses_everything_at_once(accounts, maria):
    token, _ = accounts.start_session(maria.id)
    key = accounts.make_key(maria.id, "nightly")
    accounts.set_active(maria.id, False)
    assert accounts.by_session(token) is None
    assert accounts.by_key(key) is None
    assert accounts.authenticate("maria", PASSWORD) is None
    for attempt in (accounts.start_session, lambda user: accounts.make_key(user, "x")):
        with pytest.raises(AccountError, match="closed"):
            attempt(maria.id)
    accounts.set_active(maria.id, True)
    assert accounts.by_session(token) is None
    assert accounts.by_key(key) is None
    assert accounts.authenticate("maria", PASSWORD) is not None


def test_a_flag_in_the_database_is_enough(accounts, maria):
    token, _ = accounts.start_session(maria.id)
    key = accounts.make_key(maria.id, "nightly")
    with accounts.database.write() as session:
        session.get_one(User, maria.id).active = False
    assert accounts.by_session(token) is None
    assert accounts.by_key(key) is None


def test_another_role_ends_sessions_and_keys(accounts, maria):
    token, _ = accounts.start_session(maria.id)
    key = accounts.make_key(maria.id, "nightly")
    accounts.set_role(maria.id, "custodian")
    assert accounts.by_key(key) is not None
    accounts.set_role(maria.id, "auditor")
    assert accounts.by_session(token) is None
    assert accounts.by_key(key) is None
    assert accounts.user(maria.id).role == "auditor"


def test_the_last_custodian_stays(accounts, maria):
    root = accounts.find("root")
    accounts.set_role(root.id, "analyst")
    for attempt in (
        lambda: accounts.set_active(maria.id, False),
        lambda: accounts.set_role(maria.id, "auditor"),
    ):
        with pytest.raises(AccountError, match="last custodian"):
            attempt()
    assert accounts.user(maria.id).role == "custodian"
    assert accounts.user(maria.id).active


@both
def test_two_custodians_who_close_each_other_at_once(accounts, maria):
    """One of them stays."""
    root, start, refused = accounts.find("root"), Barrier(2), []

    def close(user_id):
        start.wait()
        try:
            accounts.set_active(user_id, False)
        except AccountError:
            refused.append(user_id)

    threads = [Thread(target=close, args=(one.id,)) for one in (root, maria)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert len(refused) == 1
    assert [user.id for user in accounts.users() if user.active] == refused


@both
def test_an_account_that_is_not_there(accounts):
    for user_id in (0, -1, 7, 10**30):
        with pytest.raises(AccountError, match="no account"):
            accounts.user(user_id)
    with pytest.raises(AccountError, match="no account"):
        accounts.find("nobody")


# The command


@pytest.fixture
def command(sqlite_url, monkeypatch):
    monkeypatch.setenv("DISCREET_DATABASE", sqlite_url)
    monkeypatch.setattr("discreet.server.people.accounts.PasswordHasher", lambda: QUICK)

    def run(line, typed=None):
        return CliRunner().invoke(main, ["accounts", *line.split()], input=typed)

    return run


def test_the_first_custodian(command, database):
    made = command("add maria --role custodian", f"{PASSWORD}\n{PASSWORD}\n")
    assert made.exit_code == 0
    assert PASSWORD not in made.output
    assert Accounts(database, hasher=QUICK).authenticate("maria", PASSWORD).role == "custodian"


def test_the_commands_of_accounts(command):
    assert "no account" in command("list").output
    for name in ("maria", "root"):
        made = command(f"add {name} --role custodian --password-stdin", PASSWORD + "\n")
        assert made.exit_code == 0
    key = command("key maria --name nightly").stdout.strip()
    assert key.startswith("dk_1_")
    listed = command("list").output
    assert "key 1: nightly" in listed
    assert key not in listed
    document = command("list --json").stdout
    assert key not in document
    assert "hash" not in document
    assert "argon2" not in document
    for line, said in [
        ("revoke 1", "revoked"),
        ("role maria auditor", "maria is auditor"),
        ("deactivate maria", "closed"),
        ("activate maria", "open"),
    ]:
        done = command(line)
        assert done.exit_code == 0
        assert said in done.output
    assert command("password maria --password-stdin", "quite another secret\n").exit_code == 0


@pytest.mark.parametrize(
    ("line", "typed", "said"),
    [
        ("add maria --role analyst --password-stdin", "short\n", "too short"),
        ("add maria --role analyst --password-stdin", "", "too short"),
        ("add maria --role king --password-stdin", PASSWORD, "king"),
        ("key nobody --name x", None, "no account 'nobody'"),
        ("revoke 9", None, "no key 9"),
        ("list --database sqlite:///not-there.db", None, "no database"),
    ],
)
def test_what_the_command_refuses(command, line, typed, said):
    result = command(line, typed)
    assert result.exit_code == 2
    assert said in result.output
    assert "Traceback" not in result.output
