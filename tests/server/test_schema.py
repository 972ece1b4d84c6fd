"""Every route under generated input: nothing fails, and only what is documented comes back."""

from contextlib import suppress

import pytest
import requests
import schemathesis
from hypothesis import HealthCheck, Phase, assume, given, seed, settings
from hypothesis.errors import Unsatisfiable
from schemathesis.checks import not_a_server_error
from schemathesis.specs.openapi.checks import (
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
    status_code_conformance,
)

from discreet.server.api.roles import API, ROLES
from server.sites import MYOPIC, world

CHECKS = [
    not_a_server_error,
    status_code_conformance,
    content_type_conformance,
    response_headers_conformance,
    response_schema_conformance,
]
KNOWN = {
    "slug": "tract",
    "margin": "Gender*Income",
    "id": "tract.Gender.Income",
    "lang": "en",
    "table": "Gender.Income",
}
SERVED = (f"{API}/", "/api/v2/", "/pxweb/", "/healthz", "/readyz", "/metrics")
OPERATIONS = sorted(
    (path.replace(":path", ""), method.lower())
    for method, path in ROLES
    if path.startswith(SERVED) and "openapi" not in path
)


@pytest.fixture(scope="module")
def served(tmp_path_factory):
    with world(tmp_path_factory.mktemp("schema"), logins_per_minute=10**6) as made:
        made.open(changes=MYOPIC | {"server.approval": "always"})
        made.site.counter.request("tract", ["Gender", "Income"])
        yield made


@pytest.fixture(scope="module")
def schema(served):
    return schemathesis.openapi.from_dict(served.app.openapi())


def test_every_operation_is_tried(schema):
    documented = {(path, method) for path in schema for method in schema[path]}
    assert documented == set(OPERATIONS)


@pytest.mark.parametrize(("path", "method"), OPERATIONS)
@pytest.mark.parametrize("mode", list(schemathesis.GenerationMode))
def test_no_input_does_harm(served, schema, path, method, mode):
    operation = schema[path][method]

    @seed(2002)
    @settings(
        max_examples=6,
        deadline=None,
        database=None,
        phases=[Phase.explicit, Phase.generate],
        suppress_health_check=list(HealthCheck),
    )
    @given(operation.as_strategy(generation_mode=mode))
    def try_it(case):
        for known in (False, True):
            if known:
                for name in case.path_parameters or {}:
                    case.path_parameters[name] = KNOWN.get(name, 5)
            for role in ("public", "custodian"):
                case.validate_response(send(served.client(role), case), checks=CHECKS)

    with suppress(Unsatisfiable):  # nothing can be wrong where nothing is sent
        try_it()


def send(client, case):
    """As schemathesis would send it, through the application in this process."""
    prepared = requests.Request(**case.as_transport_kwargs(base_url="http://test")).prepare()
    assume(len(prepared.url) < 60_000)  # the most that httpx sends
    headers = {k: v for k, v in prepared.headers.items() if k.lower() != "authorization"}
    return client.request(prepared.method, prepared.url, headers=headers, content=prepared.body)
