"""What every route keeps, whatever is sent and whatever the database does."""

import socket
import sqlite3
import threading
import time

import pytest
import uvicorn
from sqlalchemy import event

from discreet.server.api.roles import ROLES
from discreet.server.app import create_app
from discreet.server.guards.protocol import Protocol
from discreet.server.launch import DataSpec, serve
from discreet.server.settings import Settings
from server.sites import MYOPIC, world
from server.test_roles import BODIES, Filled, sending

HUGE = [2**63, -(2**63) - 1, 10**400]
STAFF = ("custodian", "auditor", "analyst", "public")
EVIL = "evil.example"


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    settings = {"logins_per_minute": 10**6, "address": ""}
    with world(tmp_path_factory.mktemp("hostile"), **settings) as made:
        yield made.open(changes=MYOPIC | {"server.approval": "always"})


def who_may(method, path):
    return next(role for role in STAFF if role in ROLES[method, path])


def filled(path, **more):
    return path.replace(":path", "").format_map(Filled(more))


def send(site, method, path, role=None, headers=None, content=None, query="", **more):
    sent = {} if method == "GET" else sending(path, BODIES.get(path.rpartition("/")[2], {}))
    if content is not None:
        sent = content
    client = site.client(role or who_may(method, path), "192.0.2.7")
    address = filled(path, **more) + query
    return client.request(method, address, headers=headers or {}, **sent)


# Numbers


@pytest.mark.parametrize("number", HUGE, ids=["2^63", "-2^63-1", "10^400"])
@pytest.mark.parametrize(("method", "path"), ROLES, ids=lambda part: part.replace("/api/v1", ""))
def test_a_number_beyond_64_bits_is_wrong_input(site, method, path, number):
    """In each place of the address that takes something, and in each query that is declared."""
    operation = site.app.openapi()["paths"].get(path.replace(":path", ""), {})
    declared = operation.get(method.lower(), {}).get("parameters", [])
    places = [one for one in ("number", "user_id", "key_id") if f"{{{one}}}" in path]
    for place in places:
        answer = send(site, method, path, **{place: str(number)})
        assert 400 <= answer.status_code < 500, (place, answer.text[:200])
    for name in {one["name"] for one in declared if one["in"] == "query"} | {"page", "before"}:
        answer = send(site, method, path, query=f"?{name}={number}")
        assert answer.status_code < 500, (name, answer.text[:200])


@pytest.mark.parametrize("number", HUGE, ids=["2^63", "-2^63-1", "10^400"])
@pytest.mark.parametrize(("method", "path"), [key for key in ROLES if key[0] != "GET"])
def test_a_number_beyond_64_bits_in_a_body_is_wrong_input(site, method, path, number):
    known = BODIES.get(path.rpartition("/")[2], {})
    for name in [*known, "small.width", "server.quota", "code", "version"]:
        said = {"server.quota": number} if name == "changes" else number
        body = {**known, name: said}
        content = (
            {"json": body} if path.startswith("/api/") else {"data": {**body, name: str(said)}}
        )
        answer = send(site, method, path, content=content)
        assert answer.status_code < 500, (name, answer.text[:200])
        if name == "changes":
            assert answer.status_code in (409, 422)  # the policy needs its version, too
    assert site.site.counter.served["tract"].desk.policy.server.quota == 0


# Databases


class Locked:
    """As long as this lasts, another program holds the database: from the n-th statement on."""

    def __init__(self, engine, after):
        self.engine, self.left = engine, after

    def __call__(self, cursor, statement, parameters, context):
        if self.left <= 0:
            raise sqlite3.OperationalError("database is locked")
        self.left -= 1

    def __enter__(self):
        for name in ("do_execute", "do_execute_no_params"):
            event.listen(self.engine, name, self._any)
        return self

    def _any(self, cursor, statement, *rest):
        return self(cursor, statement, None, None)

    def __exit__(self, *_):
        for name in ("do_execute", "do_execute_no_params"):
            event.remove(self.engine, name, self._any)


@pytest.mark.parametrize("after", [0, 1, 2, 4, 8])
@pytest.mark.parametrize(("method", "path"), ROLES, ids=lambda part: part.replace("/api/v1", ""))
def test_no_error_of_the_database_is_a_500(site, method, path, after):
    for role in {who_may(method, path), "custodian"}:
        with Locked(site.site.database.engine, after):
            answer = send(site, method, path, role=role)
        assert answer.status_code != 500, answer.text[:300]
        if answer.status_code == 503 and answer.headers["content-type"] == "application/json":
            assert set(answer.json()["error"]) == {"code", "message", "details"}


def test_a_key_while_the_ledger_is_held_by_another_program(site):
    with Locked(site.site.database.engine, 0):
        answer = site.client("custodian").get("/api/v1/me")
    assert answer.status_code == 503
    assert answer.json()["error"]["code"] == "not_ready"
    assert "another program holds the ledger" in answer.json()["error"]["message"]


# Hosts


@pytest.mark.parametrize(("method", "path"), ROLES, ids=lambda part: part.replace("/api/v1", ""))
def test_no_answer_repeats_the_host_that_was_sent(site, method, path):
    for name in ("Host", "X-Forwarded-Host", "Forwarded"):
        value = f"host={EVIL}" if name == "Forwarded" else EVIL
        answer = send(site, method, path, headers={name: value, "Accept": "text/html"})
        assert EVIL not in answer.text
        assert EVIL not in str(answer.headers)


# Two ends of a body


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    """An address where the whole application is served."""
    with world(tmp_path_factory.mktemp("served"), cors_origins="*") as made:
        made.open()
        app = create_app(made.settings, made.site, quiet=True)
        listening = socket.create_server(("127.0.0.1", 0))
        config = uvicorn.Config(app, log_config=None, proxy_headers=False, http=Protocol)
        server = uvicorn.Server(config)
        thread = threading.Thread(target=server.run, kwargs={"sockets": [listening]})
        thread.start()
        while not server.started:
            time.sleep(0.01)
        yield listening.getsockname()
        server.should_exit = True
        thread.join()
        listening.close()


def talk(address, sent):
    with socket.create_connection(address, timeout=5) as connection:
        connection.sendall(sent)
        heard = b""
        try:
            while piece := connection.recv(65536):
                heard += piece
        except (ConnectionResetError, TimeoutError):
            pass
        return heard


@pytest.mark.parametrize("target", ["/healthz", "/", "/api/v1/datasets", "/static/site.css", "/x"])
@pytest.mark.parametrize("method", ["GET", "HEAD", "POST", "OPTIONS"])
def test_a_body_with_two_ends_is_answered_once(served, method, target):
    second = b"GET /healthz HTTP/1.1\r\nHost: x\r\n\r\n"
    both = b"Content-Length: %d\r\nTransfer-Encoding: chunked\r\n" % len(b"0\r\n\r\n" + second)
    more = b"Origin: https://a.example\r\nAccess-Control-Request-Method: GET\r\n"
    first = f"{method} {target} HTTP/1.1\r\nHost: x\r\n".encode()
    heard = talk(served, first + more + both + b"\r\n0\r\n\r\n" + second)
    assert heard.count(b"HTTP/1.1 ") == 1
    assert heard.startswith(b"HTTP/1.1 400")
    assert b"connection: close" in heard.lower()


@pytest.mark.parametrize(
    "long",
    [
        b"GET /healthz HTTP/1.1\r\nHost: here\r\n" + b"a:\r\n" * 200 + b"\r\n",
        b"POST /login HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
        + b"1\r\n \r\n" * 1_001,
    ],
    ids=["headers", "pieces"],
)
def test_what_is_short_to_send_and_long_to_read_is_not_read(served, long):
    """Nor does it count what an earlier request of the connection had."""
    before = b"POST /healthz HTTP/1.1\r\nHost: here\r\nTransfer-Encoding: chunked\r\n\r\n"
    before += b"1\r\n \r\n" * 800 + b"0\r\n\r\n"
    told = talk(served, before * 2 + long)
    assert told.count(b"HTTP/1.1 405") == 2
    assert told.count(b"HTTP/1.1 400") == 1


def test_a_server_reads_like_this(tmp_path, monkeypatch):
    said = {}
    monkeypatch.setattr("uvicorn.run", lambda app, **options: said.update(options))
    settings = Settings(database=f"sqlite:///{tmp_path}/site.db")
    serve(settings, [DataSpec("tract", "example:tract", set=("server.rule=myopic",))])
    assert said["http"] is Protocol
