"""The second factor: what is kept of it, that each code counts once, and what works without it."""

import re
from datetime import UTC, datetime, timedelta
from threading import Barrier, Thread

import pyotp
import pytest
from argon2 import PasswordHasher
from click.testing import CliRunner
from pydantic import SecretStr
from sqlalchemy import text

from discreet.cli import main
from discreet.server.ledger.trail import entries
from discreet.server.people.accounts import AccountError, Accounts
from discreet.server.people.actors import By
from discreet.server.people.second_factor import FREE, Paused, SecondFactors, remove_factor
from server.sites import PASSWORD, Client, world

QUICK = PasswordHasher(time_cost=1, memory_cost=8, parallelism=1)
SECRET = "a secret of the server"


class Clock:
    def __init__(self):
        self.time = datetime(2026, 1, 1, 12, tzinfo=UTC)

    def __call__(self):
        return self.time

    def wait(self, seconds):
        self.time += timedelta(seconds=seconds)


@pytest.fixture
def clock():
    return Clock()


@pytest.fixture
def accounts(database, clock):
    return Accounts(database, hasher=QUICK, clock=clock)


@pytest.fixture
def factors(accounts):
    return SecondFactors(accounts, SECRET)


@pytest.fixture
def ann(accounts):
    return accounts.create("ann", "custodian", PASSWORD).id


def set_up(factors, clock, user_id):
    """An app with the account's secret, and the recovery codes."""
    token, _ = factors.accounts.start_session(user_id)
    factors.offer(user_id, token)
    app = pyotp.TOTP(factors.offered(user_id, token))
    codes = factors.confirm(user_id, token, app.at(clock()), By(str(user_id)))
    return app, codes, token


def test_a_code_counts_once(factors, clock, ann):
    app, _, _ = set_up(factors, clock, ann)
    by = By(str(ann))
    assert not factors.check(ann, app.at(clock()), by), "it confirmed the second factor"
    clock.wait(30)
    code = app.at(clock())
    assert factors.check(ann, f" {code[:3]} {code[3:]}", by)
    assert not factors.check(ann, code, by)


@pytest.mark.parametrize(("off", "right"), [(-61, False), (-30, True), (30, True), (61, False)])
def test_a_clock_may_be_off_by_one_step(factors, clock, ann, off, right):
    app, _, _ = set_up(factors, clock, ann)
    clock.wait(300)
    code = app.at(clock() + timedelta(seconds=off))
    assert factors.check(ann, code, By("x")) == right


def test_an_older_code_is_over_when_a_newer_was_used(factors, clock, ann):
    app, _, _ = set_up(factors, clock, ann)
    clock.wait(300)
    older, newer = app.at(clock()), app.at(clock(), 1)
    assert factors.check(ann, newer, By("x"))
    assert not factors.check(ann, older, By("x"))


def test_two_who_use_a_code_at_once(factors, clock, ann):
    """It counts for one of them, on both kinds of database."""
    app, _, _ = set_up(factors, clock, ann)
    clock.wait(30)
    code, start, right = app.at(clock()), Barrier(2), []

    def use():
        start.wait()
        right.append(factors.check(ann, code, By("x")))

    threads = [Thread(target=use) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert sorted(right) == [False, True]


def test_a_recovery_code_counts_once(factors, clock, ann, accounts):
    _, codes, _ = set_up(factors, clock, ann)
    assert len(set(codes)) == 10
    assert all(re.fullmatch(r"([a-z2-7]{4}-){3}[a-z2-7]{4}", code) for code in codes)
    assert factors.check(ann, codes[3].upper(), By(str(ann)))
    assert not factors.check(ann, codes[3], By(str(ann)))
    assert factors.codes_left(ann) == 9
    bob = accounts.create("bob", "analyst", PASSWORD).id
    set_up(factors, clock, bob)
    assert not factors.check(bob, codes[4], By(str(bob))), "another's"
    new = factors.new_codes(ann, By(str(ann)))
    assert not factors.check(ann, codes[4], By(str(ann)))
    assert factors.check(ann, new[0], By(str(ann)))


def test_wrong_codes_in_a_row_make_pauses_that_grow(factors, clock, ann):
    app, _, _ = set_up(factors, clock, ann)
    clock.wait(300)
    for _ in range(FREE):
        assert not factors.check(ann, "no code", By("x"))
    with pytest.raises(Paused, match="wait 60 s"):
        factors.check(ann, app.at(clock()), By("x"))
    pauses = []
    for _ in range(9):
        clock.wait(pauses[-1] if pauses else 60)
        assert not factors.check(ann, "no code", By("x"))
        with pytest.raises(Paused) as caught:
            factors.check(ann, app.at(clock()), By("x"))
        pauses.append(caught.value.seconds)
    assert pauses == [120, 240, 480, 960, 1920, 3600, 3600, 3600, 3600]
    clock.wait(3600)
    assert factors.check(ann, app.at(clock()), By("x"))
    clock.wait(30)
    assert not factors.check(ann, "no code", By("x"))
    assert factors.check(ann, app.at(clock()), By("x")), "the count began anew"


def test_odd_codes_are_only_wrong(factors, clock, ann):
    set_up(factors, clock, ann)
    for code in ("", " ", "\x00", "\ud800", "１２３４５６", "x" * 10_000):
        assert not factors.check(ann, code, By("x"))
        clock.wait(7200)


def test_the_first_code_must_be_right(factors, clock, ann, accounts):
    token, _ = accounts.start_session(ann)
    with pytest.raises(AccountError, match="nothing to confirm"):
        factors.confirm(ann, token, "no code", By("x"))
    factors.offer(ann, token)
    app = pyotp.TOTP(factors.offered(ann, token))
    with pytest.raises(AccountError, match="the code is wrong"):
        factors.confirm(ann, token, app.at(clock(), 9), By("x"))
    assert not accounts.user(ann).second_factor
    other, _ = accounts.start_session(ann)
    assert factors.offered(ann, other) is None, "of another session"
    factors.confirm(ann, token, app.at(clock()), By("x"))
    assert accounts.by_session(other) is None
    assert accounts.by_session(token).passed
    factors.offer(ann, token)
    with pytest.raises(AccountError, match="remove it first"):
        factors.confirm(ann, token, app.at(clock()), By("x"))


def test_no_secret_is_kept_in_the_open(factors, clock, ann, accounts):
    app, codes, token = set_up(factors, clock, ann)
    other, _ = accounts.start_session(ann)
    factors.offer(ann, token)
    offered = factors.offered(ann, token)
    with accounts.database.read() as session:
        kept = str(
            [
                session.execute(text(f"SELECT * FROM {table}")).all()
                for table in ("users", "sessions", "tokens", "trail")
            ]
        )
    for secret in (app.secret, offered, *codes, *(code.replace("-", "") for code in codes), other):
        assert secret not in kept


def test_another_servers_secret_or_another_accounts_row_does_not_open_it(factors, clock, ann):
    app, _, _ = set_up(factors, clock, ann)
    clock.wait(60)
    with pytest.raises(AccountError, match="another DISCREET_SECRET"):
        SecondFactors(factors.accounts, "another").check(ann, app.at(clock()), By("x"))
    bob = factors.accounts.create("bob", "analyst", PASSWORD).id
    with factors.database.write() as session:
        moved = "UPDATE users SET second_factor = (SELECT second_factor FROM users WHERE id = :ann)"
        session.execute(text(f"{moved} WHERE id = :bob"), {"ann": ann, "bob": bob})
    with pytest.raises(AccountError, match="cannot be read"):
        factors.check(bob, app.at(clock()), By("x"))
    with pytest.raises(AccountError, match="set DISCREET_SECRET"):
        SecondFactors(factors.accounts, "").offer(ann, factors.accounts.start_session(ann)[0])


def test_removing_it_ends_sessions_and_codes(factors, clock, ann, accounts):
    _, codes, token = set_up(factors, clock, ann)
    remove_factor(accounts, ann, By("operator x"))
    assert accounts.by_session(token) is None
    assert not accounts.user(ann).second_factor
    assert not factors.check(ann, codes[0], By("x"))
    with pytest.raises(AccountError, match="no second factor"):
        remove_factor(accounts, ann, By("operator x"))


def test_the_trail_of_a_second_factor(factors, clock, ann, accounts):
    _, codes, _ = set_up(factors, clock, ann)
    by = By(str(ann), "192.0.2.1")
    factors.check(ann, "no code", by)
    factors.check(ann, codes[0], by)
    factors.new_codes(ann, by)
    remove_factor(accounts, ann, By("operator x"))
    with accounts.database.read() as session:
        found = [(e.kind, e.actor) for e in entries(session, limit=100)][::-1]
    me = str(ann)
    assert found[1:] == [
        ("login", me),
        ("factor_set", me),
        ("code_failed", me),
        ("recovery_used", me),
        ("recovery_codes", me),
        ("factor_removed", "operator x"),
    ]


def test_a_half_open_session_ends_after_ten_minutes(factors, clock, ann, accounts):
    set_up(factors, clock, ann)
    token, _ = accounts.start_session(ann)
    for _ in range(3):
        clock.wait(190)
        found = accounts.by_session(token)
        assert (found.guarded, found.passed) == (True, False)
    clock.wait(31)
    assert accounts.by_session(token) is None


# Over the web


@pytest.fixture
def here(tmp_path, request):
    policy = getattr(request, "param", "optional")
    with world(
        tmp_path, secret=SecretStr(SECRET), second_factor=policy, logins_per_minute=10**6
    ) as made:
        made.clock = made.site.accounts.clock = made.site.accounts.failures.clock = Clock()
        yield made


class Person:
    """A browser with cookies, and perhaps an app for codes."""

    def __init__(self, here, name):
        self.client = Client(here.app, here.runner)
        self.client.http.headers["accept"] = "text/html"
        self.here, self.name, self.csrf, self.app = here, name, "", None

    def get(self, path):
        return self._seen(self.client.get(path))

    def post(self, path, **data):
        sent = self.client.request("POST", path, data={"csrf": self.csrf, **data})
        return self._seen(sent)

    def log_in(self, **more):
        return self.post("/login", name=self.name, password=PASSWORD, **more)

    def code(self):
        self.here.clock.wait(30)
        return self.app.at(self.here.clock())

    def set_up(self):
        assert self.post("/account/second-factor/offer").status_code == 303
        html = self.get("/account/second-factor").text
        self.app = pyotp.TOTP(re.search(r'class="secret">([A-Z2-7 ]+)<', html)[1].replace(" ", ""))
        done = self.post("/account/second-factor", code=self.code())
        return re.findall(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}", done.text)

    def _seen(self, answer):
        if found := re.search(r'name="csrf" value="([^"]+)"', answer.text):
            self.csrf = found[1]
        return answer


@pytest.fixture
def custodian(here):
    found = Person(here, "custodian1")
    found.log_in()
    found.get("/account")
    return found


def test_a_login_in_two_steps(here, custodian):
    codes = custodian.set_up()
    assert len(codes) == 10
    assert custodian.get("/desk").status_code == 200, "this session gave it"
    again = Person(here, "custodian1")
    first = again.log_in(next="/desk/users")
    assert first.headers["location"] == "/login/code?next=%2Fdesk%2Fusers"
    half = again.client.http.cookies["discreet"]
    for path in ("/desk", "/desk/users", "/account", "/account/second-factor", "/"):
        asked = again.get(path)
        assert (asked.status_code, asked.headers["location"][:11]) == (303, "/login/code"), path
    for path in ("/api/v1/me", "/api/v1/users", "/api/v1/keys"):
        assert again.get(path).json()["error"]["code"] == "code_needed", path
    again.get("/login/code")
    assert again.post("/account/keys", name="x").status_code == 403
    assert again.post("/account/second-factor/offer").status_code == 403
    wrong = again.post("/login/code", code="no code")
    assert wrong.status_code == 401
    assert "The code is wrong" in wrong.text
    again.app = custodian.app
    done = again.post("/login/code", code=again.code(), next="/desk/users")
    assert done.headers["location"] == "/desk/users"
    assert again.client.http.cookies["discreet"] != half
    assert again.get("/desk/users").status_code == 200
    old = Person(here, "custodian1")
    old.client.http.cookies.set("discreet", half)
    assert old.get("/desk").status_code == 401, "the half-open session is over"


def test_a_recovery_code_at_login(here, custodian):
    codes = custodian.set_up()
    again = Person(here, "custodian1")
    again.log_in()
    again.get("/login/code")
    assert again.post("/login/code", code=codes[0]).headers["location"] == "/desk"
    assert "9 recovery codes are left" in again.get("/account").text


def test_the_code_page_without_a_password_goes_to_the_login(here):
    nobody = Person(here, "custodian1")
    assert nobody.get("/login/code").headers["location"] == "/login"
    assert nobody.post("/login/code", code="no code").headers["location"] == "/login"


def test_a_half_open_session_can_be_left(here, custodian):
    custodian.set_up()
    again = Person(here, "custodian1")
    again.log_in()
    again.get("/login/code")
    assert again.post("/logout").headers["location"] == "/"
    assert again.get("/").status_code == 200
    assert again.log_in().headers["location"] == "/login/code"
    again.get("/login")
    assert again.log_in().headers["location"] == "/login/code", "from half open to half open"


def test_too_many_wrong_codes_say_when_to_come_again(here, custodian):
    custodian.set_up()
    again = Person(here, "custodian1")
    again.log_in()
    again.get("/login/code")
    for _ in range(FREE):
        assert again.post("/login/code", code="no code").status_code == 401
    again.app = custodian.app
    paused = again.post("/login/code", code=again.code())
    assert paused.status_code == 429
    assert paused.headers["retry-after"] == "30"


def test_the_api_takes_the_code(here, custodian):
    custodian.set_up()
    client, login = here.client(), {"name": "custodian1", "password": PASSWORD}
    needed = client.post("/api/v1/login", login)
    assert (needed.status_code, needed.json()["error"]["code"]) == (401, "code_needed")
    assert "set-cookie" not in needed.headers
    wrong = client.post("/api/v1/login", login | {"code": "no code"})
    assert (wrong.status_code, wrong.json()["error"]["code"]) == (401, "wrong_login")
    told = client.post("/api/v1/login", login | {"code": custodian.code()})
    assert told.json()["role"] == "custodian"
    assert client.get("/api/v1/users").status_code == 200
    wrong = login | {"password": "x", "code": custodian.code()}
    no_password = here.client().post("/api/v1/login", wrong)
    assert no_password.json()["error"]["code"] == "wrong_login"


def test_the_picture_says_what_the_app_needs(here, custodian):
    custodian.post("/account/second-factor/offer")
    html = custodian.get("/account/second-factor").text
    assert '<img class="qr" src="/account/second-factor/qr.svg"' in html
    drawn = custodian.get("/account/second-factor/qr.svg")
    assert drawn.headers["content-type"] == "image/svg+xml"
    assert drawn.headers["cache-control"] == "no-store"
    assert drawn.text.startswith("<?xml")
    assert "style" not in drawn.text
    assert "<script" not in drawn.text
    secret = re.search(r'class="secret">([A-Z2-7 ]+)<', html)[1].replace(" ", "")
    address = here.app.state.factors.address("custodian1", secret, "Table server")
    assert (
        address == f"otpauth://totp/Table%20server:custodian1?secret={secret}&issuer=Table%20server"
    )
    assert Person(here, "x").get("/account/second-factor/qr.svg").status_code == 401
    assert custodian.get("/account/second-factor").headers["cache-control"] == "no-store"


def test_it_is_removed_and_renewed_with_a_code(here, custodian):
    codes = custodian.set_up()
    page = custodian.get("/account")
    assert "10 recovery codes are left" in page.text
    assert custodian.post("/account/second-factor/codes", code="no code").status_code == 401
    new = custodian.post("/account/second-factor/codes", code=custodian.code()).text
    assert codes[0] not in new
    assert len(re.findall(r"(?:[a-z2-7]{4}-){3}[a-z2-7]{4}", new)) == 10
    custodian.get("/account")
    assert custodian.post("/account/second-factor/remove", code="no code").status_code == 401
    removed = custodian.post("/account/second-factor/remove", code=custodian.code())
    assert removed.status_code == 303
    assert custodian.get("/desk").status_code == 401, "sessions ended"
    custodian.get("/login")
    assert custodian.log_in().headers["location"] == "/desk"


def test_a_new_password_keeps_the_second_factor(here, custodian):
    custodian.set_up()
    custodian.get("/account")
    sent = {"old": PASSWORD, "new": PASSWORD + "!"}
    assert custodian.post("/account/password", **sent).status_code == 303
    assert custodian.get("/desk").status_code == 200, "the session goes on"
    again = Person(here, "custodian1")
    answer = again.post("/login", name="custodian1", password=PASSWORD + "!")
    assert answer.headers["location"] == "/login/code"


@pytest.mark.parametrize("here", ["staff", "all"], indirect=True)
def test_who_must_sets_it_up_before_anything_else(here):
    custodian = Person(here, "custodian1")
    assert custodian.log_in().headers["location"] == "/account/second-factor"
    for path in ("/desk", "/account", "/"):
        asked = custodian.get(path)
        assert asked.status_code == 303
        assert asked.headers["location"].startswith("/account/second-factor?")
    assert custodian.get("/api/v1/users").json()["error"]["code"] == "setup_needed"
    login = {"name": "custodian1", "password": PASSWORD}
    refused = here.client().post("/api/v1/login", login)
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "setup_needed")
    assert custodian.get("/account/second-factor").status_code == 200
    custodian.set_up()
    assert custodian.get("/desk").status_code == 200
    analyst = Person(here, "analyst1")
    everybody = here.settings.second_factor == "all"
    assert analyst.log_in().headers["location"] == ("/account/second-factor" if everybody else "/")


@pytest.mark.parametrize("here", ["staff"], indirect=True)
def test_keys_are_made_after_the_second_factor_where_it_must_be(here):
    by_key = here.client("custodian")
    assert by_key.get("/api/v1/users").status_code == 200, "keys are not affected"
    refused = by_key.post("/api/v1/keys", {"name": "one more"})
    assert (refused.status_code, refused.json()["error"]["code"]) == (403, "not_allowed")
    assert here.client("analyst").post("/api/v1/keys", {"name": "one more"}).status_code == 201
    custodian = Person(here, "custodian1")
    custodian.log_in()
    custodian.get("/account/second-factor")
    custodian.set_up()
    custodian.get("/account")
    made = custodian.post("/account/keys", name="nightly")
    assert re.search(r"dk_\d+_[\w-]{43}", made.text)


def test_a_key_of_a_guarded_account_makes_no_key(here, custodian):
    custodian.set_up()
    refused = here.client("custodian").post("/api/v1/keys", {"name": "one more"})
    assert refused.status_code == 403


def test_the_command_removes_it(here, custodian, monkeypatch):
    custodian.set_up()
    url = ["--database", here.settings.database]
    monkeypatch.setenv("DISCREET_OPERATOR", "op")
    assert "second factor" in CliRunner().invoke(main, ["accounts", "list", *url]).output
    done = CliRunner().invoke(main, ["accounts", "no-factor", "custodian1", *url])
    assert done.exit_code == 0, done.output
    again = CliRunner().invoke(main, ["accounts", "no-factor", "custodian1", *url])
    assert again.exit_code == 2
    assert "custodian1 has no second factor" in again.output
    custodian.get("/login")
    assert custodian.log_in().headers["location"] == "/desk"
