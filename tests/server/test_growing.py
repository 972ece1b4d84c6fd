"""What a visitor sends costs no more than in proportion to its length: every public route.

Work is processor time of this process, so that a busy machine does not matter much. What costs less
than `CHEAP` at its longest is not looked at more closely; nothing may cost `WORST`. A route that is
new is tried by its parameters; one that takes a body must say here how that grows.
"""

import asyncio
import inspect
import json
import time
from contextlib import contextmanager

import numpy as np
import pytest
from fastapi.routing import iter_route_contexts
from pydantic import BaseModel

from discreet.decision.law.policy import Policy
from discreet.server.api.roles import ROLES
from discreet.server.guards.guard import HEADERS, TARGET
from discreet.table.table import Table
from server.sites import MYOPIC, world

CHEAP = 0.03  # seconds
TWICE, MARGIN = 2.6, 0.02
WORST = 1.5  # seconds
BLOCK = 0.25  # seconds that one step of the event loop may compute
BODY = 64_000
PUBLIC = sorted((*key, roles) for key, roles in ROLES.items() if "public" in roles)
PLACES = {
    "slug": "czech", "margin": "A", "number": "1", "id": "towns.Town", "lang": "en",
    "table": "Town", "name": "page.css", "token": "x",
}  # fmt: skip
IDS = {"/api/v2/codelists/{id}": "agg_czech.A.1"}
EXTRA = ("town_1,", "t*,", "?,", "range(town_1,town_9),", "*a*,", "*a", "top(9),")
MORE = {  # parameters that a handler reads by itself
    "/api/v2/tables/{id}/data": ("valueCodes[Town]", "valuecodes[Town]", "codelist[Town]"),
    "/": ("lang",),
}
PIECES = ("A", "A,", ",", "A,B,", "A:no&", "(,", ",(", "top(1),", "*a", "[", "A*", "A.", "%2A",
          "%2C", "é", "+", "a ", "no,", "?,", "*a*,", "\\")  # fmt: skip


def body(unit, head, tail, length):
    """JSON of so many units."""
    times = max(1, (length - len(head) - len(tail)) // (len(unit) + 1))
    return f"{head}{','.join([unit] * times)}{tail}"


def numbered(unit, head, tail, length):
    """The same with units that all differ."""
    times = max(1, (length - len(head) - len(tail)) // (len(unit) + 5))
    return f"{head}{','.join(unit.replace('#', str(i)) for i in range(times))}{tail}"


def form(unit, length):
    return "&".join([unit] * max(1, length // (len(unit) + 1)))


UNITS = ('"t*"', '"town_1"', '"*#*"', '"n?"', '"range(town_1,town_9)"', '"top(#)"')
SELECTION = '{"selection":[{"variableCode":"Town","valueCodes":['
QUERY = '{"query":[{"code":"Town","selection":{"filter":"all","values":['
JSON = {
    ("POST", "/api/v1/datasets/{slug}/requests"): [
        lambda n: body('"A"', '{"variables":[', "]}", n),
        lambda n: numbered('"A#"', '{"variables":[', "]}", n),
    ],
    ("POST", "/api/v1/login"): [
        lambda n: json.dumps({"name": "a" * 100, "password": "a" * n}),
        lambda n: body("[", "", "", n),
    ],
    ("POST", "/api/v2/tables/{id}/data"): [
        *(
            lambda n, unit=unit: numbered(unit, SELECTION, "]}]}", n)
            for unit in (
                '"town_1"',
                '"*#*"',
                '"n?"',
                '"range(town_1,town_9)"',
                '"top(#)"',
                '"*a*a*a*a*b#"',
            )
        ),
        lambda n: numbered('{"variableCode":"#"}', '{"selection":[', "]}", n),
        lambda n: body('{"variableCode":"Town"}', '{"selection":[', "]}", n),
        lambda n: body('"A"', '{"selection":[],"placement":{"heading":[', "]}}", n),
        lambda n: SELECTION + '"' + "*a" * (n // 2) + '"]}]}',
    ],
    ("POST", "/pxweb/api/v1/{lang}/{slug}/{table}"): [
        *(lambda n, unit=unit: numbered(unit, QUERY, "]}}]}", n) for unit in (*UNITS, '"#"')),
        lambda n: body(
            '{"code":"Town","selection":{"filter":"item","values":["no"]}}', '{"query":[', "]}", n
        ),
        lambda n: body("[", "", "", n),
    ],
}
FORMS = {
    ("POST", "/d/{slug}/ask"): ("v=A", "v=A*B", "x=1"),
    ("POST", "/login"): ("name=a", "name=a&password=b", "next=%2F", "next=//"),
    ("POST", "/login/code"): ("code=1", "next=%2F"),
    ("POST", "/logout"): ("x=1",),
    ("POST", "/invitation/{token}"): ("password=aaaaaa", "password=a&again=b"),
}


@pytest.fixture(scope="module")
def site(tmp_path_factory):
    with world(tmp_path_factory.mktemp("growing")) as made:
        made.open("czech", data="example:czech")
        labels = [f"town {i}" for i in range(600)]
        counts = np.full((600, 2), 20)
        many = Table.of(counts, Town=labels, Sex=["f", "m"])
        made.site.counter.open(many, Policy.of(MYOPIC), slug="towns", actor="tests")
        yield made


@contextmanager
def loop_watched(longest):
    """Notes the most processor time that one step of an event loop took."""
    run = asyncio.events.Handle._run

    def watched(handle):
        before = time.thread_time()
        try:
            return run(handle)
        finally:
            longest.append(time.thread_time() - before)

    asyncio.events.Handle._run = watched
    try:
        yield
    finally:
        asyncio.events.Handle._run = run


def asked(dependant):
    """Of a handler, and of what it depends on."""
    return [*dependant.query_params, *(f for d in dependant.dependencies for f in asked(d))]


def parameters(route):
    """The names of what the address of a route can say behind its `?`."""
    names = []
    dependant = getattr(route, "dependant", None)
    for field in [] if dependant is None else asked(dependant):
        kind = field.field_info.annotation
        if inspect.isclass(kind) and issubclass(kind, BaseModel):
            names += [one.alias or name for name, one in kind.model_fields.items()]
        else:
            names.append(field.alias)
    return [*names, *MORE.get(route.path, ())]


def filled(path, **other):
    if path.startswith("/pxweb/"):
        other = {"slug": "towns"} | other
    places = PLACES | ({"id": IDS[path]} if path in IDS else {}) | other
    for name, value in places.items():
        path = path.replace(f"{{{name}:path}}", value).replace(f"{{{name}}}", value)
    assert "{" not in path, f"say in PLACES what stands for {path}"
    return path


def repeated(unit, length):
    return unit * max(1, length // len(unit))


def requests_of(route, method):
    """Ways to make a request of some length; each with the length it may have at most."""
    path, start = route.path, filled(route.path) + "?"
    for one in parameters(route):
        room = TARGET - len(start)
        for piece in (*PIECES, *(EXTRA if "[" in one else ())):
            sent = piece.replace("&", f"&{one}=").replace("+", "%2B").replace("é", "%C3%A9")
            yield (
                lambda n, one=one, sent=sent: {
                    "url": f"{start}{one}={repeated(sent, n - len(one) - 2)}"
                },
                room,
            )
        for value in ("A", "A:no", "A:1", "*", "no", ""):
            yield (
                lambda n, one=one, value=value: {"url": start + repeated(f"{one}={value}&", n)},
                room,
            )
    for one in PLACES:
        if f"{{{one}}}" in path or f"{{{one}:path}}" in path:
            room = TARGET - len(filled(path))
            for piece in ("A", "A*", "A*B*", "A.", "%2A", "a/", "A%2F", "0", "agg_", "towns."):
                yield (
                    lambda n, one=one, piece=piece: {
                        "url": filled(path, **{one: repeated(piece, n)})
                    },
                    room,
                )
    for header, piece in (("if-none-match", '"a",'), ("accept-language", "de,"), ("cookie", "a;"),
                          ("accept-encoding", "a,"), ("x-forwarded-for", "1,")):  # fmt: skip
        yield (
            lambda n, header=header, piece=piece: {
                "url": filled(path), "headers": {header: repeated(piece, n)}
            },
            HEADERS - 1_000,
        )  # fmt: skip
    if method == "POST":
        key = method, path
        assert key in JSON or key in FORMS, f"say here how the body of {key} grows"
        for made in JSON.get(key, ()):
            yield (
                lambda n, made=made: {
                    "url": filled(path), "content": made(n),
                    "headers": {"content-type": "application/json"},
                },
                BODY,
            )  # fmt: skip
        for unit in FORMS.get(key, ()):
            yield (
                lambda n, unit=unit: {
                    "url": filled(path), "content": form(unit, n),
                    "headers": {"content-type": "application/x-www-form-urlencoded"},
                },
                BODY,
            )  # fmt: skip


def routes(app):
    """Each method and path that the application knows, with what handles it."""
    return {
        (method, context.path): context
        for context in iter_route_contexts(app.routes)
        for method in (context.methods or ()) - {"HEAD"}
    }


def test_every_public_route_is_tried(site):
    every = routes(site.app)
    assert {key for key in every if "public" in ROLES[key]} == {(m, p) for m, p, _ in PUBLIC}


@pytest.mark.parametrize(
    ("method", "path"), [(m, p) for m, p, _ in PUBLIC], ids=[f"{m} {p}" for m, p, _ in PUBLIC]
)
def test_twice_as_long_costs_about_twice_as_much(site, method, path):
    """And no step of the event loop computes long, so that /healthz is answered meanwhile."""
    route = routes(site.app)[method, path]
    client, steps = site.client(), [0.0]

    def cost(sent):
        sent = dict(sent)
        begun = time.process_time()
        with loop_watched(steps):
            got = client.request(method, sent.pop("url"), **sent)
        assert got.status_code < 500, (sent, got.text)
        return time.process_time() - begun

    found = []
    for made, most in requests_of(route, method):
        whole = cost(made(most))
        assert whole < WORST, made(60)
        if whole > CHEAP:
            whole = min([whole, *(cost(made(most)) for _ in range(3))])
            half = min(cost(made(most // 2)) for _ in range(4))
            if whole > CHEAP and whole > TWICE * half + MARGIN:
                found.append((made(60)["url"][:100], made(60).get("content"), half, whole))
    assert not found, found
    assert max(steps) < BLOCK
    assert client.get("/healthz").status_code == 200
