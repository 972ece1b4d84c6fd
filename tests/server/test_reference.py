"""The API as a page, and who of other sites may read it."""

import re
import shlex
from html import unescape

import pytest

from discreet.server.api.roles import ROLES
from discreet.server.pages.reference import groups_of
from server.sites import MYOPIC, world
from server.test_pages import HTML, check

ELSEWHERE = "https://dashboard.example"
OPEN = (
    "/api/v1/datasets",
    "/api/v1/datasets/tract",
    "/api/v1/datasets/tract/tables/Race",
    "/api/v1/datasets/tract/tables/Race?format=csv",
    "/api/v1/search?q=race",
    "/api/v2/config",
    "/api/v2/tables/tract.Race/data",
    "/pxweb/api/v1/en/tract",
)


@pytest.fixture(scope="module")
def tract(tmp_path_factory):
    with world(tmp_path_factory.mktemp("reference"), address="https://tables.example") as made:
        yield made.open(changes=MYOPIC)


@pytest.fixture(scope="module", params=["list", "*"])
def shared(tmp_path_factory, request):
    """Open to one other site, or to all."""
    origins = "*" if request.param == "*" else f"{ELSEWHERE}/, https://third.example"
    with world(tmp_path_factory.mktemp("shared"), cors_origins=origins) as made:
        made.origins = request.param
        yield made.open(changes=MYOPIC)


def test_every_route_is_on_the_page(tract):
    answer = tract.client().get("/api", headers=HTML)
    check(answer)
    for path, methods in tract.app.openapi()["paths"].items():
        for method in methods:
            assert re.search(rf">{method.upper()}</span> <code>{re.escape(path)}<", answer.text)


def test_a_route_is_described_in_full(tract):
    groups = groups_of(tract.app.openapi(), "https://tables.example")
    found = {(one.method, one.path): one for group in groups for one in group.operations}
    table = found["GET", "/api/v1/datasets/{slug}/tables/{margin}"]
    takes = {field.name: field for field in table.takes}
    assert takes["margin"].required
    assert takes["format"].kind.startswith("csv | xlsx | parquet | json")
    assert takes["format"].default == "json"
    assert takes["where"].kind == "list of text"
    assert "Counts" in {field.name: field.said for field in table.gives}["values"]
    assert "text/csv" in table.types
    assert table.example == "curl 'https://tables.example/api/v1/datasets/tract/tables/Race*Income'"
    assert set(table.roles) == ROLES["GET", "/api/v1/datasets/{slug}/tables/{margin:path}"]
    asked = found["POST", "/api/v1/datasets/{slug}/requests"]
    assert shlex.split(asked.example)[1:3] == ["--json", '{"variables": ["Race", "Income"]}']
    policy = found["POST", "/api/v1/datasets/{slug}/policy"]
    assert "Authorization: Bearer KEY" in policy.example


def test_examples_that_need_no_key_work(tract):
    client = tract.client()
    tract.site.counter.request("tract", ["Race", "Income"])
    page = unescape(client.get("/api", headers=HTML).text)
    tried = 0
    for example in re.findall(r'<code class="example">(.*?)</code>', page):
        words = shlex.split(example)
        if len(words) == 2 and "/requests/" not in words[1] and "/entries/" not in words[1]:
            answer = client.get(words[1].removeprefix("https://tables.example"))
            assert answer.status_code in (200, 401, 404), (example, answer.text)
            tried += answer.status_code == 200
    assert tried > 10


def test_other_sites_may_not_read_unless_it_is_said(tract):
    answer = tract.client().get("/api/v1/datasets", headers={"Origin": ELSEWHERE})
    assert not [name for name in answer.headers if name.startswith("access-control")]


@pytest.mark.parametrize("path", OPEN)
def test_other_sites_read_the_publics_api(shared, path):
    answer = shared.client().get(path, headers={"Origin": ELSEWHERE})
    assert answer.status_code == 200
    allowed = "*" if shared.origins == "*" else ELSEWHERE
    assert answer.headers["access-control-allow-origin"] == allowed
    assert "access-control-allow-credentials" not in answer.headers
    assert answer.headers["cross-origin-resource-policy"] == "cross-origin"
    assert ("origin" in answer.headers["vary"].lower()) == (shared.origins != "*")


@pytest.mark.parametrize(
    "path",
    [
        "/",
        "/d/tract",
        "/login",
        "/api",
        "/metrics",
        "/healthz",
        "/api/v1/me",
        "/api/v1/keys",
        "/api/v1/users",
        "/api/v1/datasets/tract/ledger",
        "/api/v1/datasets/tract/policy",
        "/api/v1/datasets/tract/tables/Race/withdraw",
    ],
)
def test_and_nothing_else(shared, path):
    answer = shared.client(address="192.0.2.1").get(path, headers={"Origin": ELSEWHERE})
    if not path.endswith("/withdraw"):  # GET of it is a table that is not there
        assert "access-control-allow-origin" not in answer.headers


def test_an_error_of_the_api_can_be_read_too(shared):
    answer = shared.client().get(
        "/api/v1/datasets/tract/tables/Race*Income*Gender", headers={"Origin": ELSEWHERE}
    )
    assert answer.status_code == 404
    assert "access-control-allow-origin" in answer.headers


@pytest.mark.parametrize("role", ["analyst", "custodian"])
def test_never_with_a_key(shared, role):
    answer = shared.client(role).get("/api/v1/datasets", headers={"Origin": ELSEWHERE})
    assert answer.status_code == 200
    assert "access-control-allow-origin" not in answer.headers


def test_never_with_a_cookie(shared):
    headers = {"Origin": ELSEWHERE, "Cookie": "discreet=x"}
    answer = shared.client().get("/api/v1/datasets", headers=headers)
    assert "access-control-allow-origin" not in answer.headers


def test_an_unknown_site_may_not_read(shared):
    origin = "https://evil.example"
    answer = shared.client().get("/api/v1/datasets", headers={"Origin": origin})
    assert ("access-control-allow-origin" in answer.headers) == (shared.origins == "*")


@pytest.mark.parametrize(("method", "allowed"), [("GET", True), ("POST", False), ("DELETE", False)])
def test_a_browser_that_asks_first(shared, method, allowed):
    headers = {"Origin": ELSEWHERE, "Access-Control-Request-Method": method}
    answer = shared.client().request(
        "OPTIONS",
        "/api/v1/datasets/tract/requests" if method == "POST" else OPEN[0],
        headers=headers,
    )
    assert (answer.status_code == 204) == allowed
    assert ("access-control-allow-methods" in answer.headers) == allowed
    if allowed:
        assert "authorization" not in answer.headers["access-control-allow-headers"].lower()
