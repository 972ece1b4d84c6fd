"""Every route, every role: let in or not, as roles.py says."""

import pytest
from fastapi.routing import iter_route_contexts

from discreet.server.api.roles import ROLES
from server.sites import MYOPIC, world

EVERY_ROLE = ("public", "analyst", "custodian", "auditor")
BODIES = {
    "requests": {"variables": ["Race"]},
    "withdraw": {"reason": "wrong"},
    "approve": {"note": ""},
    "reject": {"note": ""},
    "policy": {"changes": {"small.width": 3}},
    "listed": {"margins": [["Race"]]},
    "dry-run": {"changes": {"small.width": 3}},
    "login": {"name": "nobody", "password": "wrong"},
    "password": {"old": "wrong", "new": "wrong"},
    "keys": {"name": "one more"},
    "users": {"name": "no name!", "role": "analyst"},
}
REFUSED_BY_ROLE = {"login_needed", "not_allowed"}


@pytest.fixture(scope="module")
def everybody(tmp_path_factory):
    with world(tmp_path_factory.mktemp("roles"), logins_per_minute=10**6) as made:
        yield made.open(changes=MYOPIC | {"server.approval": "always"})


def routes(app):
    """Each method and path that the application knows."""
    return {
        (method, context.path)
        for context in iter_route_contexts(app.routes)
        for method in (context.methods or ()) - {"HEAD"}
    }


def test_every_route_has_its_roles(everybody):
    assert routes(everybody.app) - set(ROLES) == set()
    assert routes(everybody.app) == set(ROLES)


@pytest.mark.parametrize(("method", "path"), ROLES, ids=lambda part: part.replace("/api/v1", ""))
def test_who_is_let_in(everybody, method, path):
    assert (method, path) in routes(everybody.app)
    address = path.replace(":path", "").format_map(Filled()) + (
        "?variables=Race" if path.endswith("/status") else ""
    )
    body = BODIES.get(path.rpartition("/")[2], {})
    for role in EVERY_ROLE:
        sent = {} if method == "GET" else sending(path, body)
        client = everybody.client(role, "192.0.2.1")
        answer = client.request(method, address, **sent)
        let_in = answer.status_code not in (401, 403) or code(answer) not in REFUSED_BY_ROLE
        assert let_in == (role in ROLES[method, path]), (
            role,
            answer.status_code,
            answer.text[:300],
        )
        if not let_in:
            assert answer.status_code == (401 if role == "public" else 403)
            assert "set-cookie" not in answer.headers


class Filled(dict):
    """Values for the parameters of a path."""

    def __missing__(self, name):
        return {"slug": "tract", "margin": "Race"}.get(name, "2147483647")


def sending(path, body):
    return {"json": body} if path.startswith("/api/") else {"data": body}


def code(answer):
    kind = answer.headers.get("content-type", "")
    return answer.json()["error"]["code"] if kind.startswith("application/json") else ""
