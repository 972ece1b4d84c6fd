"""What stands before a small application: who asks, how much, from where; and what errors say."""

import asyncio
import json
import logging
import socket
import threading
import time
from types import SimpleNamespace
from typing import Annotated

import httpx
import pytest
import uvicorn
from argon2 import PasswordHasher
from fastapi import Body, Depends, FastAPI, Form, Request, Response
from pydantic import BaseModel

from discreet.errors import DisclosureError, InconsistentRelease, LedgerError
from discreet.server.guards.errors import Refused, add_handlers
from discreet.server.guards.guard import STRICT, Proxies, add_guards, limited
from discreet.server.guards.rates import OwnRates
from discreet.server.ledger.database import migrate, open_database
from discreet.server.people.accounts import Accounts
from discreet.server.people.identity import Visitor, clear_cookie, needs, set_cookie, visitor
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import NotPublished, UnknownDataset, Withdrawn

PASSWORD = "four quiet owls at noon"
ROLES = ("analyst", "custodian", "auditor")
SECRET = 31_337  # a count that nobody may see
RAISED = {
    "unknown": UnknownDataset("there is no data set 'x'."),
    "unpublished": NotPublished("A*B is not published."),
    "withdrawn": Withdrawn(["A", "B"], "an error in B", "2026-01-01"),
    "input": DisclosureError("name at least one variable."),
    "engine": InconsistentRelease(f"A has {SECRET} where B allows 4."),
    "ledger": LedgerError(f"the ledger has {SECRET}."),
    "bug": ValueError(f"a count is {SECRET}"),
    "refused": Refused(409, "taken", "taken already.", {"by": "x"}),
}


class Login(BaseModel):
    name: str
    password: str


class Wanted(BaseModel):
    variables: list[str]


def small_app(site, **options):
    """A few routes behind all guards; what a handler sees of a request is told."""
    app = FastAPI()
    app.state.services = site
    app.state.seen = []
    add_handlers(app)
    add_guards(app, site.settings, **options)
    seen = app.state.seen

    @app.get("/api/v1/me")
    def me(found: Annotated[Visitor, Depends(visitor)]):
        return {"name": found.name, "role": found.role, "via": found.via, "csrf": found.csrf}

    @app.post("/api/v1/login", dependencies=[Depends(limited("logins"))])
    def login(request: Request, response: Response, body: Login):
        found = site.accounts.authenticate(body.name, body.password)
        if found is None:
            raise Refused(401, "login_needed", "the name or the password is wrong.")
        old = request.cookies.get("discreet")
        token, csrf = site.accounts.start_session(found.user_id, old)
        set_cookie(response, site.settings, token)
        return {"csrf": csrf}

    @app.post("/api/v1/logout")
    def logout(response: Response, found: Annotated[Visitor, Depends(visitor)]):
        clear_cookie(response, site.settings)

    @app.post("/api/v1/requests", dependencies=[Depends(limited("decisions"))])
    def requests(body: Wanted, found: Annotated[Visitor, Depends(visitor)]):
        seen.append(found.actor)
        return {"actor": found.actor}

    @app.post("/form")
    def form(csrf: Annotated[str, Form()], found: Annotated[Visitor, Depends(visitor)]):
        return {"actor": found.actor}

    @app.post("/undeclared-form")
    async def undeclared(request: Request, found: Annotated[Visitor, Depends(visitor)]):
        return dict(await request.form())

    @app.post("/api/v1/echo")
    def echo(body: Annotated[bytes, Body()]):
        seen.append(len(body))
        return {"bytes": len(body)}

    @app.get("/api/v1/custody")
    def custody(found: Annotated[Visitor, Depends(needs("custodian", "auditor"))]):
        return {"role": found.role}

    @app.get("/api/v1/open")
    def everybody(found: Annotated[Visitor, Depends(needs("public", *ROLES))]):
        return {"role": found.role}

    @app.get("/api/v1/raise/{name}")
    def fail(name: str):
        raise RAISED[name]

    @app.get("/healthz")
    def health():
        return {}

    return app


@pytest.fixture(scope="module")
def database(tmp_path_factory):
    url = f"sqlite:///{tmp_path_factory.mktemp('guard')}/guard.db"
    migrate(url)
    opened = open_database(url)
    yield opened
    opened.close()


@pytest.fixture(scope="module")
def accounts(database):
    made = Accounts(database, hasher=PasswordHasher(time_cost=1, memory_cost=8, parallelism=1))
    made.create("root", "custodian", PASSWORD)
    for role in ROLES:
        made.create(role, role, PASSWORD)
    return made


@pytest.fixture
def app(accounts):
    def make(body_seconds=10.0, **settings):
        plain = {"cookies_over_http": True, "requests_per_minute": 1000, "logins_per_minute": 1000}
        made = Settings(**(plain | settings))
        site = SimpleNamespace(settings=made, accounts=accounts)
        return small_app(site, body_seconds=body_seconds)

    return make


class Client:
    """httpx over an application; what the application does not catch is raised."""

    def __init__(self, app, runner, address="http://testserver"):
        self.app, self.runner = app, runner
        transport = httpx.ASGITransport(app, raise_app_exceptions=True)
        self.http = httpx.AsyncClient(transport=transport, base_url=address)
        self.cookies = self.http.cookies

    def get(self, path, **sent):
        return self.runner.run(self.http.get(path, **sent))

    def post(self, path, **sent):
        return self.runner.run(self.http.post(path, **sent))

    def delete(self, path):
        return self.runner.run(self.http.delete(path))


@pytest.fixture(scope="module")
def runner():
    with asyncio.Runner() as opened:
        yield opened


@pytest.fixture
def client(app, runner):
    """Makes clients of applications with other settings."""

    def make(at="http://testserver", **settings):
        return Client(app(**settings), runner, at)

    return make


@pytest.fixture
def public(client):
    return client()


def log_in(client, name="custodian"):
    answer = client.post("/api/v1/login", json={"name": name, "password": PASSWORD})
    assert answer.status_code == 200
    return answer.json()["csrf"]


def key_of(accounts, name):
    return {"Authorization": f"Bearer {accounts.make_key(accounts.find(name).id, 'test')}"}


def error(answer, status, code):
    """The one shape of errors."""
    assert answer.status_code == status, answer.text
    assert set(answer.json()) == {"error"}
    found = answer.json()["error"]
    assert set(found) == {"code", "message", "details"}
    assert found["code"] == code
    return found


# Who asks


def test_without_anything_one_is_the_public(public):
    assert public.get("/api/v1/me").json() == {
        "name": "public", "role": "public", "via": None, "csrf": None,
    }  # fmt: skip


def test_a_cookie_is_a_login(public, accounts):
    csrf = log_in(public)
    found = public.get("/api/v1/me").json()
    assert found == {"name": "custodian", "role": "custodian", "via": "session", "csrf": csrf}
    accounts.end_session(public.cookies["discreet"])
    assert public.get("/api/v1/me").json()["role"] == "public"


def test_the_cookie_is_safe(client):
    answer = client(cookies_over_http=False).post(
        "/api/v1/login", json={"name": "custodian", "password": PASSWORD}
    )
    cookie = answer.headers["set-cookie"]
    assert cookie.startswith("__Host-discreet=")
    assert {"Secure", "HttpOnly", "SameSite=lax", "Path=/"} <= set(cookie.split("; "))
    assert "Domain" not in cookie
    assert answer.headers["cache-control"] == "no-store"
    plain = client().post("/api/v1/login", json={"name": "custodian", "password": PASSWORD})
    assert plain.headers["set-cookie"].startswith("discreet=")
    assert "Secure" not in plain.headers["set-cookie"]


def test_a_plain_cookie_is_nobody_where_https_is_demanded(client, accounts):
    token, _ = accounts.start_session(accounts.find("custodian").id)
    strict = client(cookies_over_http=False)
    strict.cookies.set("discreet", token)
    assert strict.get("/api/v1/me").json()["role"] == "public"


def test_a_login_gives_another_session(public):
    csrf = log_in(public)
    first = public.cookies["discreet"]
    answer = public.post(
        "/api/v1/login",
        json={"name": "custodian", "password": PASSWORD},
        headers={"X-CSRF-Token": csrf},
    )
    assert answer.status_code == 200
    assert public.cookies["discreet"] != first
    public.cookies.clear()
    public.cookies.set("discreet", first)
    assert public.get("/api/v1/me").json()["role"] == "public"


def test_a_wrong_password_is_refused(public):
    wrong = public.post("/api/v1/login", json={"name": "root", "password": "x"})
    unknown = public.post("/api/v1/login", json={"name": "nobody", "password": "x"})
    error(wrong, 401, "login_needed")
    assert wrong.content == unknown.content


def test_a_key_is_its_owner(public, accounts):
    headers = key_of(accounts, "analyst")
    found = public.get("/api/v1/me", headers=headers).json()
    assert (found["name"], found["via"], found["csrf"]) == ("analyst", "key", None)


@pytest.mark.parametrize("key", ["dk_1_x", "", "x", "dk_1_" + "A" * 43])
def test_a_wrong_key_is_refused(public, key):
    answer = public.get("/api/v1/me", headers={"Authorization": f"Bearer {key}"})
    error(answer, 401, "login_needed")
    assert answer.headers["www-authenticate"] == "Bearer"


def test_other_schemes_are_not_ours(public):
    answer = public.get("/api/v1/me", headers={"Authorization": "Basic cHJveHk6eA=="})
    assert answer.json()["role"] == "public"


def test_a_key_goes_before_a_cookie(public, accounts):
    log_in(public)
    headers = key_of(accounts, "analyst")
    assert public.get("/api/v1/me", headers=headers).json()["name"] == "analyst"
    answer = public.get("/api/v1/me", headers={"Authorization": "Bearer dk_1_x"})
    error(answer, 401, "login_needed")


def test_a_key_is_no_cookie(public, accounts):
    key = key_of(accounts, "custodian")["Authorization"].split()[1]
    public.cookies.set("discreet", key)
    assert public.get("/api/v1/me").json()["role"] == "public"


def test_each_role_gets_what_is_its_own(public, accounts):
    error(public.get("/api/v1/custody"), 401, "login_needed")
    for role, allowed in {"analyst": False, "custodian": True, "auditor": True}.items():
        answer = public.get("/api/v1/custody", headers=key_of(accounts, role))
        if allowed:
            assert answer.json() == {"role": role}
        else:
            error(answer, 403, "not_allowed")
        assert public.get("/api/v1/open", headers=key_of(accounts, role)).status_code == 200
    assert public.get("/api/v1/open").json() == {"role": "public"}
    with pytest.raises(ValueError, match="no role 'king'"):
        needs("king")


def test_a_closed_account_is_out_at_once(public, accounts):
    accounts.create("gone", "custodian", PASSWORD)
    headers = key_of(accounts, "gone")
    log_in(public, "gone")
    accounts.set_active(accounts.find("gone").id, False)
    assert public.get("/api/v1/me").json()["role"] == "public"
    error(public.get("/api/v1/custody"), 401, "login_needed")
    error(public.get("/api/v1/me", headers=headers), 401, "login_needed")


# Forged requests


WANTED = {"variables": ["A"]}


def test_a_cookie_alone_changes_nothing(public):
    csrf = log_in(public)
    for sent in ({}, {"X-CSRF-Token": ""}, {"X-CSRF-Token": csrf + "x"}, {"X-CSRF-Token": "é"}):
        headers = {name: value.encode() for name, value in sent.items()}
        error(public.post("/api/v1/requests", json=WANTED, headers=headers), 403, "csrf")
    assert public.app.state.seen == []
    answer = public.post("/api/v1/requests", json=WANTED, headers={"X-CSRF-Token": csrf})
    assert answer.status_code == 200


def test_a_forms_field_serves_as_well(public):
    csrf = log_in(public)
    for path in ("/form", "/undeclared-form"):
        error(public.post(path, data={"csrf": "x"}), 403, "csrf")
        assert public.post(path, data={"csrf": csrf}).status_code == 200
    assert public.post("/undeclared-form", data={"csrf": csrf, "a": "1"}).json()["a"] == "1"
    error(public.post("/undeclared-form", data={"a": "1"}), 403, "csrf")


def test_another_sessions_token_is_wrong(public, accounts):
    _, other = accounts.start_session(accounts.find("custodian").id)
    log_in(public)
    headers = {"X-CSRF-Token": other}
    error(public.post("/api/v1/requests", json=WANTED, headers=headers), 403, "csrf")


def test_keys_and_the_public_need_no_token(public, accounts):
    assert public.post("/api/v1/requests", json=WANTED).json() == {"actor": "public"}
    headers = key_of(accounts, "analyst")
    answer = public.post("/api/v1/requests", json=WANTED, headers=headers)
    assert answer.json() == {"actor": str(accounts.find("analyst").id)}


@pytest.mark.parametrize(
    ("headers", "allowed"),
    [
        ({}, True),
        ({"Sec-Fetch-Site": "same-origin"}, True),
        ({"Sec-Fetch-Site": "none"}, True),
        ({"Sec-Fetch-Site": "cross-site"}, False),
        ({"Sec-Fetch-Site": "same-site"}, False),
        ({"Origin": "http://testserver"}, True),
        ({"Origin": "https://tables.example"}, True),
        ({"Origin": "https://evil.example"}, False),
        ({"Origin": "null"}, False),
    ],
)
def test_another_sites_page_sends_nothing(client, headers, allowed):
    """Also no login: nobody is logged in to an account of somebody else."""
    public = client(address="https://tables.example")
    login = {"name": "custodian", "password": PASSWORD}
    answer = public.post("/api/v1/login", json=login, headers=headers)
    if allowed:
        assert answer.status_code == 200
    else:
        error(answer, 403, "other_site")
        assert "set-cookie" not in answer.headers
    assert public.get("/api/v1/me", headers=headers).status_code == 200


# How much


def test_too_many_requests(client):
    public = client(requests_per_minute=3)
    assert [public.get("/api/v1/me").status_code for _ in range(3)] == [200] * 3
    answer = public.get("/api/v1/me")
    found = error(answer, 429, "too_many_requests")
    assert 1 <= int(answer.headers["retry-after"]) == found["details"]["retry_after"] <= 60
    assert answer.headers["x-content-type-options"] == "nosniff"
    assert public.get("/healthz").status_code == 200


def test_users_are_counted_by_themselves(client, accounts):
    public = client(requests_per_minute=2)
    one, two = key_of(accounts, "analyst"), key_of(accounts, "auditor")
    again = key_of(accounts, "analyst")
    for headers in (one, again):
        assert public.get("/api/v1/me", headers=headers).status_code == 200
    for headers in (one, again):
        error(public.get("/api/v1/me", headers=headers), 429, "too_many_requests")
    assert public.get("/api/v1/me", headers=two).status_code == 200
    assert public.get("/api/v1/me").status_code == 200


def test_made_up_keys_are_counted_by_address(client):
    public = client(requests_per_minute=3)
    sent = [{"Authorization": f"Bearer dk_{n}_{'A' * 43}"} for n in range(1, 5)]
    statuses = [public.get("/api/v1/me", headers=headers).status_code for headers in sent]
    assert statuses == [401, 401, 401, 429]
    cookies = client(requests_per_minute=1)
    for n, status in enumerate([200, 429]):
        cookies.cookies.set("discreet", f"made-up-{n}")
        assert cookies.get("/api/v1/me").status_code == status


def test_decisions_and_logins_have_limits_of_their_own(client, accounts):
    public = client(decisions_per_minute=1, logins_per_minute=1)
    assert public.post("/api/v1/requests", json=WANTED).status_code == 200
    error(public.post("/api/v1/requests", json=WANTED), 429, "too_many_requests")
    headers = key_of(accounts, "analyst")
    assert public.post("/api/v1/requests", json=WANTED, headers=headers).status_code == 200
    login = {"name": "custodian", "password": "wrong"}
    error(public.post("/api/v1/login", json=login), 401, "login_needed")
    error(public.post("/api/v1/login", json=login), 429, "too_many_requests")
    answer = public.post("/api/v1/login", json=login, headers=headers)
    error(answer, 429, "too_many_requests")


def test_a_minute_moves_and_quiet_clients_are_forgotten():
    now = 1_000.0
    rates = OwnRates(clock=lambda: now)
    for n in range(10):
        assert rates.hit("requests", f"quiet {n}", 1) == 0
    now += 40
    assert [rates.hit("requests", "loud", 2) for _ in range(3)] == [0, 0, 60]
    assert rates.hit("requests", "quiet 1", 1) == 20
    assert rates.hit("decisions", "loud", 2) == 0
    now += 30
    assert rates.hit("requests", "loud", 2) == 30
    assert len(rates) == 2
    now += 30
    assert rates.hit("requests", "loud", 2) == 0
    now -= 3_600
    assert rates.hit("requests", "loud", 1) == 0


@pytest.mark.parametrize(
    ("trusted", "peer", "forwarded", "client"),
    [
        ("", "1.2.3.4", ["6.6.6.6"], "1.2.3.4"),
        ("10.0.0.1", "10.0.0.1", ["6.6.6.6"], "6.6.6.6"),
        ("10.0.0.1", "10.0.0.2", ["6.6.6.6"], "10.0.0.2"),
        ("10.0.0.0/8", "10.0.0.1", ["6.6.6.6, 7.7.7.7"], "7.7.7.7"),
        ("10.0.0.0/8", "10.0.0.1", ["6.6.6.6", "7.7.7.7, 10.9.9.9"], "7.7.7.7"),
        ("10.0.0.0/8", "10.0.0.1", ["7.7.7.7, junk"], "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", [], "10.0.0.1"),
        ("10.0.0.0/8", "10.0.0.1", ["10.0.0.2"], "10.0.0.2"),
        ("unix", None, ["6.6.6.6"], "6.6.6.6"),
        ("", None, ["6.6.6.6"], "None"),
        ("::1", "::1", ["2001:db8::1"], "2001:db8::/64"),
        ("", "2001:db8::ffff:1", [], "2001:db8::/64"),
        ("", "::ffff:1.2.3.4", [], "1.2.3.4"),
    ],
)
def test_where_a_request_comes_from(trusted, peer, forwarded, client):
    headers = [(b"x-forwarded-for", value.encode()) for value in forwarded]
    scope = {"type": "http", "client": peer and (peer, 1), "headers": headers}
    assert Proxies(trusted).client(scope) == client


# How large and how slow


def test_bodies_have_a_limit(client):
    public = client(body_bytes=100)
    assert public.post("/api/v1/echo", content=b"x" * 100).json() == {"bytes": 100}
    answer = public.post("/api/v1/echo", content=b"x" * 101)
    error(answer, 413, "too_large")
    assert answer.headers["connection"] == "close"
    assert answer.headers["x-content-type-options"] == "nosniff"


async def chunks(number):
    for _ in range(number):
        yield b"x" * 50


def test_chunked_bodies_have_the_same_limit(client):
    public = client(body_bytes=100)
    assert public.post("/api/v1/echo", content=chunks(2)).json() == {"bytes": 100}
    error(public.post("/api/v1/echo", content=chunks(3)), 413, "too_large")
    assert public.app.state.seen == [100]


def call(app, chunks, headers=(), pause=0.0, path="/api/v1/echo", query=b""):
    """What an application answers to raw chunks, and how many of them it took."""
    sent, taken = [], 0
    scope = {
        "type": "http", "asgi": {"version": "3.0"}, "http_version": "1.1", "method": "POST",
        "scheme": "http", "path": path, "raw_path": path.encode(), "query_string": query,
        "root_path": "", "headers": [(b"host", b"testserver"), *headers],
        "client": ("1.2.3.4", 1), "server": ("testserver", 80),
    }  # fmt: skip

    async def receive():
        nonlocal taken
        await asyncio.sleep(pause)
        taken += 1
        return next(chunks, {"type": "http.disconnect"})

    async def send(message):
        sent.append(message)

    asyncio.run(app(scope, receive, send))
    return sent, taken


def endless():
    while True:
        yield {"type": "http.request", "body": b"x" * 60, "more_body": True}


def test_an_endless_body_is_not_read_to_its_end(app):
    sent, taken = call(app(body_bytes=100), endless())
    assert sent[0]["status"] == 413
    assert taken == 2


def test_a_wrong_length_does_not_help(app):
    sent, taken = call(app(body_bytes=100), endless(), [(b"content-length", b"10")])
    assert (sent[0]["status"], taken) == (413, 2)
    sent, taken = call(app(body_bytes=100), endless(), [(b"content-length", b"101")])
    assert (sent[0]["status"], taken) == (413, 0)
    sent, taken = call(app(body_bytes=100), endless(), [(b"content-length", b"9" * 5000)])
    assert (sent[0]["status"], taken) == (413, 0)
    for odd in (b"-1", b"1e3", "²".encode("latin-1"), b""):
        sent, taken = call(app(body_bytes=100), endless(), [(b"content-length", odd)])
        assert (sent[0]["status"], taken) == (400, 0)


def test_a_slow_body_is_given_up(app):
    drops = ({"type": "http.request", "body": b"x", "more_body": True} for _ in range(1000))
    sent, taken = call(app(body_seconds=0.2), drops, pause=0.05)
    assert sent[0]["status"] == 408
    assert json.loads(sent[1]["body"])["error"]["code"] == "too_slow"
    assert taken < 10


def test_a_client_that_leaves_does_no_harm(app, caplog):
    made = app()
    call(made, iter([{"type": "http.request", "body": b"x", "more_body": True}]))
    assert made.state.seen == []
    assert "internal" not in caplog.text


def test_long_addresses_and_headers(public):
    assert public.get("/api/v1/me?x=" + "y" * 8_000).status_code == 200
    error(public.get("/api/v1/me?x=" + "y" * 8_200), 414, "too_long")
    error(public.get("/" + "y" * 8_200), 414, "too_long")
    error(public.get("/api/v1/me", headers={"X-Long": "y" * 17_000}), 431, "too_long")


# What answers say


def test_every_answer_has_strict_headers(public):
    for path in ("/api/v1/me", "/nowhere", "/api/v1/raise/bug", "/api/v1/custody"):
        headers = public.get(path).headers
        assert {name: headers[name] for name in STRICT} == STRICT
        assert "strict-transport-security" not in headers
        assert headers["cache-control"] == "no-cache"
        assert {"Cookie", "Authorization"} <= set(headers["vary"].split(", "))
    policy = STRICT["Content-Security-Policy"]
    assert "unsafe" not in policy
    assert "http" not in policy


def test_https_is_for_good(client):
    told = "strict-transport-security"
    proxied = {"X-Forwarded-Proto": "https"}
    assert told in client(at="https://testserver").get("/healthz").headers
    assert told in client(address="https://tables.example").get("/healthz").headers
    trusting = client(trusted_proxies="127.0.0.1")
    assert told in trusting.get("/healthz", headers=proxied).headers
    assert told not in trusting.get("/healthz").headers
    assert told not in client().get("/healthz", headers=proxied).headers


def test_what_somebody_sees_is_not_stored(public, accounts):
    answer = public.get("/api/v1/me", headers=key_of(accounts, "analyst"))
    assert answer.headers["cache-control"] == "no-store"
    log_in(public)
    assert public.get("/api/v1/me").headers["cache-control"] == "no-store"


@pytest.mark.parametrize(
    ("name", "status", "code"),
    [
        ("unknown", 404, "unknown_dataset"),
        ("unpublished", 404, "not_published"),
        ("withdrawn", 410, "withdrawn"),
        ("input", 422, "wrong_input"),
        ("refused", 409, "taken"),
        ("engine", 500, "internal"),
        ("ledger", 500, "internal"),
        ("bug", 500, "internal"),
    ],
)
def test_errors_have_one_shape_and_tell_no_count(public, caplog, name, status, code):
    caplog.set_level(logging.DEBUG)
    answer = public.get(f"/api/v1/raise/{name}")
    error(answer, status, code)
    for told in (answer.text, caplog.text):
        assert str(SECRET) not in told
        assert "Traceback" not in told
    assert ".py" not in answer.text
    if code == "internal":
        assert type(RAISED[name]).__name__ in caplog.text
        assert "test_guard.py" in caplog.text


def test_a_withdrawal_gives_its_reason(public):
    found = error(public.get("/api/v1/raise/withdrawn"), 410, "withdrawn")
    assert found["details"] == {"why": "an error in B", "at": "2026-01-01"}


def test_what_starlette_refuses_has_the_shape_too(public):
    error(public.get("/nowhere"), 404, "not_found")
    answer = public.delete("/api/v1/me")
    error(answer, 405, "wrong_method")
    assert answer.headers["allow"] == "GET"


@pytest.mark.parametrize(
    "body",
    [
        b"{", b"", b"null", b"[]", b'{"variables": 1}', b"[" * 60_000, b"\xff\xfe",
        b'{"variables": ["\\ud800", 1]}', b'{"\\ud800": 1}',
    ],
)  # fmt: skip
def test_broken_json_is_wrong_input(public, body):
    answer = public.post(
        "/api/v1/requests", content=body, headers={"Content-Type": "application/json"}
    )
    error(answer, 400 if answer.status_code == 400 else 422, "wrong_input")


def test_what_was_sent_is_not_said_again(public):
    """It can be a password in the wrong field."""
    sent = {"name": ["hunter2 hunter2"], "password": {"hunter2": "hunter2"}}
    answer = public.post("/api/v1/login", json=sent)
    found = error(answer, 422, "wrong_input")
    assert "hunter2" not in answer.text
    assert [one["field"] for one in found["details"]["fields"]] == ["body.name", "body.password"]


def test_messages_are_short_and_can_be_written(public, monkeypatch):
    monkeypatch.setitem(RAISED, "odd", DisclosureError("\ud800<b>" + "x" * 10_000))
    found = error(public.get("/api/v1/raise/odd"), 422, "wrong_input")
    assert len(found["message"]) == 500


def test_browsers_get_a_page(public, monkeypatch):
    def page(request, status, code, message):
        return Response(f"{status} {code}: {message}", status, media_type="text/html")

    monkeypatch.setattr("discreet.server.pages.error_page", page)
    browser = {"Accept": "text/html,*/*"}
    answer = public.get("/nowhere", headers=browser)
    assert answer.text == "404 not_found: there is nothing at this address."
    assert answer.headers["content-security-policy"]
    error(public.get("/api/v1/x", headers=browser), 404, "not_found")


def test_a_broken_page_of_an_error_is_an_error(public, monkeypatch):
    def broken(*_):
        raise ValueError(SECRET)

    monkeypatch.setattr("discreet.server.pages.error_page", broken)
    error(public.get("/nowhere", headers={"Accept": "text/html"}), 500, "internal")


# A real server


@pytest.fixture
def served(app):
    """An address where the application is served."""
    made = app(body_seconds=0.3)
    listening = socket.create_server(("127.0.0.1", 0))
    server = uvicorn.Server(uvicorn.Config(made, log_config=None, proxy_headers=False))
    thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
    thread.start()
    while not server.started:
        time.sleep(0.01)
    yield listening.getsockname()
    server.should_exit = True
    thread.join()
    listening.close()


def talk(address, *pieces, pause=0.0):
    """What comes back until the server hangs up, or refuses to hear more."""
    with socket.create_connection(address, timeout=5) as connection:
        try:
            for piece in pieces:
                connection.sendall(piece)
                time.sleep(pause)
        except (BrokenPipeError, ConnectionResetError):
            pass
        heard = b""
        try:
            while piece := connection.recv(65536):
                heard += piece
        except ConnectionResetError:
            pass
        return heard


POST = b"POST /api/v1/echo HTTP/1.1\r\nHost: x\r\n"


def test_a_real_server_survives_large_and_slow_bodies(served):
    large = talk(served, POST + b"Content-Length: 20000000\r\n\r\n")
    assert large.startswith(b"HTTP/1.1 413")
    chunk = b"%x\r\n%s\r\n" % (60_000, b"x" * 60_000)
    talk(served, POST + b"Transfer-Encoding: chunked\r\n\r\n", *[chunk] * 340)
    started = time.monotonic()
    slow = talk(served, POST + b"Content-Length: 10\r\n\r\n", *[b"x"] * 4, pause=0.1)
    assert slow.startswith(b"HTTP/1.1 408")
    assert time.monotonic() - started < 20
    fine = talk(served, POST + b"Content-Length: 1\r\nConnection: close\r\n\r\nx")
    assert fine.startswith(b"HTTP/1.1 200")
