"""deploy/nginx.conf before a real server: TLS, cookies, addresses, and what it keeps out."""

import json
import socket
import ssl
import time

import httpx
import pytest

from discreet.server.settings import Settings
from server.deployed import HOST, discreet, find_nginx, fronted, serving
from server.sites import PASSWORD

FREE = 4  # logins a minute, so that the next is refused


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    find_nginx()
    return tmp_path_factory.mktemp("proxy")


@pytest.fixture(scope="module")
def server(folder):
    database = f"sqlite:///{folder}/site.db"
    settings = {
        "database": database,
        "address": f"https://{HOST}",
        "trusted_proxies": "127.0.0.1",
        "logins_per_minute": FREE,
    }
    words = ("example:tract", "--set", "server.rule=myopic", "--set", "server.slot=0")
    with serving(folder, *words, **settings) as process:
        discreet("accounts", "add", "maria", "--role", "custodian", "--password-stdin",
                 given=f"{PASSWORD}\n", database=database)  # fmt: skip
        yield process


@pytest.fixture(scope="module")
def front(folder, server):
    with fronted(folder, server.port) as running:
        yield running


@pytest.fixture
def client(front):
    with front.client() as http:
        yield http


def test_http_is_sent_to_https(front):
    with httpx.Client(trust_env=False) as http:
        moved = http.get(f"http://127.0.0.1:{front.plain}/d/tract?v=Race", headers={"Host": HOST})
    assert moved.status_code == 301
    assert moved.headers["location"] == f"https://{HOST}/d/tract?v=Race"


def test_the_certificate_is_that_of_the_host_and_old_tls_is_off(front):
    with front.socket() as connection:
        assert connection.version() in ("TLSv1.2", "TLSv1.3")
    old = front.tls()
    old.set_ciphers("ALL:@SECLEVEL=0")
    with pytest.warns(DeprecationWarning, match="TLSv1_1"):
        old.minimum_version = old.maximum_version = ssl.TLSVersion.TLSv1_1
    raw = socket.create_connection(("127.0.0.1", front.port), timeout=10)
    with pytest.raises(ssl.SSLError), old.wrap_socket(raw, server_hostname=HOST):
        pass
    raw.close()


def test_pages_and_tables_come_through_with_their_headers(client):
    page = client.get("/d/tract", headers={"Accept": "text/html"})
    assert page.status_code == 200
    assert page.headers["strict-transport-security"].startswith("max-age=31536000")
    assert page.headers["x-frame-options"] == "DENY"
    assert page.headers["server"] == "nginx", "without its version"
    table = client.get("/api/v1/datasets/tract/tables/Race")
    assert table.json()["total"] == 742
    again = client.get(
        "/api/v1/datasets/tract/tables/Race", headers={"If-None-Match": table.headers["etag"]}
    )
    assert again.status_code == 304
    assert f"https://{HOST}/" in table.json()["source"]["citation"]


def test_a_request_is_decided_through_the_proxy(client):
    sent = {"variables": ["Gender", "Income"]}
    decided = client.post("/api/v1/datasets/tract/requests", json=sent)
    assert decided.status_code == 200
    assert decided.json()["outcome"] in ("granted", "refused")


def test_metrics_stay_inside(client, server):
    for path in ("/metrics", "//metrics", "/%6Detrics", "/./metrics", "/d/../metrics"):
        assert client.get(f"https://{HOST}{path}").status_code == 404, path
    with httpx.Client(trust_env=False) as here:
        assert "discreet_margins" in here.get(f"{server.address}/metrics").text
        forwarded = {"X-Forwarded-For": "192.0.2.1"}
        assert here.get(f"{server.address}/metrics", headers=forwarded).status_code == 401


def test_large_bodies_are_refused_before_the_server(client, server):
    before = server.log.read_text().count("\n")
    most = Settings.model_fields["body_bytes"].default
    refused = client.post("/api/v1/datasets/tract/requests", content=b"x" * (most + 1))
    assert (refused.status_code, refused.headers["content-type"]) == (413, "text/html")
    assert server.log.read_text().count("\n") == before
    read = client.post("/api/v1/datasets/tract/requests", content=b"x" * most)
    assert (read.status_code, read.json()["error"]["code"]) == (422, "wrong_input")


@pytest.mark.parametrize(
    "begun",
    [
        b"",
        f"GET / HTTP/1.1\r\nHost: {HOST}\r\nX-Slow: ".encode(),
        f"POST /login HTTP/1.1\r\nHost: {HOST}\r\nContent-Length: 50\r\n\r\nname=".encode(),
    ],
    ids=["silent", "in the headers", "in the body"],
)
def test_slow_clients_are_cut(front, begun):
    """After 10 s as it is deployed; after 1 s here."""
    with front.socket() as connection:
        connection.sendall(begun)
        start = time.monotonic()
        said = connection.recv(1_000)
        assert said == b"" or b" 408 " in said.splitlines()[0], said
        assert 0.5 < time.monotonic() - start < 10


def test_the_cookie_is_for_this_host_over_tls_only(client):
    sent = {"name": "maria", "password": PASSWORD}
    done = client.post("/api/v1/login", json=sent, headers={"Origin": f"https://{HOST}"})
    assert done.status_code == 200
    cookie = done.headers["set-cookie"]
    assert cookie.startswith("__Host-")
    for word in ("Secure", "HttpOnly", "Path=/"):
        assert word.lower() in cookie.lower()
    assert client.get("/api/v1/me").json()["name"] == "maria"
    elsewhere = client.post("/logout", headers={"Origin": "https://evil.example.org"})
    assert elsewhere.status_code == 403


def test_the_trail_has_the_address_that_the_proxy_saw_and_nobody_invents_one(front, server, folder):
    """What a client says about itself is replaced, so its logins are counted as one."""
    codes = []
    with front.client() as http:
        for n in range(FREE + 2):
            sent = {"name": "maria", "password": "wrong one, and long"}
            invented = {"X-Forwarded-For": f"203.0.113.{n}"}
            codes.append(http.post("/api/v1/login", json=sent, headers=invented).status_code)
    assert codes[-1] == 429
    lines = discreet("ledger", "export", database=f"sqlite:///{folder}/site.db").splitlines()
    trail = [json.loads(line)["trail"] for line in lines if line.startswith('{"trail"')]
    seen = {entry["address"] for entry in trail if entry["address"]}
    assert seen == {"127.0.0.1"}
