"""Who may use which route: the one place that says so."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import Depends
from starlette.requests import Request

from discreet.server.people.identity import RoleName, Visitor, needs, visitor
from discreet.server.showing.shapes import ErrorView

Roles = frozenset[RoleName]

EVERYBODY: Roles = frozenset({"public", "analyst", "custodian", "auditor"})
ASKING: Roles = frozenset({"public", "analyst", "custodian"})  # auditors change nothing
ACCOUNTS: Roles = frozenset({"analyst", "custodian", "auditor"})
READING: Roles = frozenset({"custodian", "auditor"})
DECIDING: Roles = frozenset({"custodian"})

API = "/api/v1"
ONE = f"{API}/datasets/{{slug}}"
ROLES: dict[tuple[str, str], Roles] = {
    ("GET", "/healthz"): EVERYBODY,
    ("GET", "/readyz"): EVERYBODY,
    ("GET", "/metrics"): READING,  # and whoever is on the same machine
    ("GET", f"{API}/openapi.json"): EVERYBODY,
    ("GET", f"{API}/datasets"): EVERYBODY,
    ("GET", ONE): EVERYBODY,
    ("GET", f"{ONE}/status"): EVERYBODY,
    ("GET", f"{ONE}/frontier"): EVERYBODY,
    ("GET", f"{ONE}/statistics"): EVERYBODY,
    ("POST", f"{ONE}/requests"): ASKING,
    ("GET", f"{ONE}/requests/{{number}}"): EVERYBODY,  # accounts' requests: their own
    ("GET", f"{ONE}/tables/{{margin:path}}"): EVERYBODY,
    ("GET", f"{ONE}/entries/{{number}}"): EVERYBODY,
    ("GET", f"{ONE}/entries/{{number}}/citation"): EVERYBODY,
    ("GET", f"{ONE}/perturbed/{{number}}/{{margin:path}}"): EVERYBODY,
    ("GET", f"{API}/search"): EVERYBODY,
    ("POST", f"{ONE}/tables/{{margin:path}}/withdraw"): DECIDING,
    ("GET", f"{ONE}/ledger"): READING,
    ("GET", f"{ONE}/ledger/verification"): READING,
    ("GET", f"{ONE}/space"): READING,
    ("GET", f"{ONE}/refusals"): DECIDING,
    ("GET", f"{ONE}/pending"): DECIDING,
    ("POST", f"{ONE}/pending/{{number}}/approve"): DECIDING,
    ("POST", f"{ONE}/pending/{{number}}/reject"): DECIDING,
    ("GET", f"{ONE}/policy"): READING,
    ("POST", f"{ONE}/policy"): DECIDING,
    ("POST", f"{ONE}/policy/dry-run"): DECIDING,
    ("GET", f"{ONE}/codebook"): READING,
    ("POST", f"{ONE}/codebook"): DECIDING,
    ("GET", f"{ONE}/listed"): READING,
    ("POST", f"{ONE}/listed"): DECIDING,
    ("POST", f"{API}/login"): EVERYBODY,
    ("POST", f"{API}/logout"): ACCOUNTS,
    ("GET", f"{API}/me"): EVERYBODY,
    ("POST", f"{API}/me/password"): ACCOUNTS,
    ("POST", f"{API}/me/email"): ACCOUNTS,
    ("GET", f"{API}/keys"): ACCOUNTS,
    ("POST", f"{API}/keys"): ACCOUNTS,
    ("DELETE", f"{API}/keys/{{number}}"): ACCOUNTS,
    ("GET", f"{API}/users"): DECIDING,
    ("POST", f"{API}/users"): DECIDING,
    ("PATCH", f"{API}/users/{{number}}"): DECIDING,
    ("POST", f"{API}/users/{{number}}/invitation"): DECIDING,
    ("GET", f"{API}/trail"): READING,
    ("GET", f"{API}/trail/verification"): READING,
    # As PxWeb
    ("GET", "/api/v2/config"): EVERYBODY,
    ("GET", "/api/v2/tables"): EVERYBODY,
    ("GET", "/api/v2/tables/{id}"): EVERYBODY,
    ("GET", "/api/v2/tables/{id}/metadata"): EVERYBODY,
    ("GET", "/api/v2/tables/{id}/data"): EVERYBODY,
    ("POST", "/api/v2/tables/{id}/data"): EVERYBODY,  # reads
    ("GET", "/api/v2/codelists/{id}"): EVERYBODY,
    ("GET", "/pxweb/api/v1/{lang}"): EVERYBODY,
    ("GET", "/pxweb/api/v1/{lang}/{slug}"): EVERYBODY,
    ("GET", "/pxweb/api/v1/{lang}/{slug}/{table}"): EVERYBODY,
    ("POST", "/pxweb/api/v1/{lang}/{slug}/{table}"): EVERYBODY,  # reads
    # Pages
    ("GET", "/static/{name}"): EVERYBODY,
    ("GET", "/"): EVERYBODY,
    ("GET", "/d/{slug}"): EVERYBODY,
    ("POST", "/d/{slug}/ask"): ASKING,
    ("GET", "/d/{slug}/requests/{number}"): EVERYBODY,
    ("GET", "/d/{slug}/about"): EVERYBODY,
    ("GET", "/d/{slug}/t/{margin:path}"): EVERYBODY,
    ("GET", "/d/{slug}/e/{number}"): EVERYBODY,
    ("GET", "/search"): EVERYBODY,
    ("GET", "/api"): EVERYBODY,
    ("GET", "/login"): EVERYBODY,
    ("POST", "/login"): EVERYBODY,
    ("GET", "/login/openid"): EVERYBODY,
    ("GET", "/login/openid/callback"): EVERYBODY,
    ("GET", "/login/code"): EVERYBODY,
    ("POST", "/login/code"): EVERYBODY,
    ("GET", "/invitation/{token}"): EVERYBODY,  # who has it
    ("POST", "/invitation/{token}"): EVERYBODY,
    ("POST", "/logout"): EVERYBODY,
    ("GET", "/account"): ACCOUNTS,
    ("POST", "/account/password"): ACCOUNTS,
    ("POST", "/account/email"): ACCOUNTS,
    ("GET", "/account/second-factor"): ACCOUNTS,
    ("POST", "/account/second-factor"): ACCOUNTS,
    ("POST", "/account/second-factor/offer"): ACCOUNTS,
    ("GET", "/account/second-factor/qr.svg"): ACCOUNTS,
    ("POST", "/account/second-factor/codes"): ACCOUNTS,
    ("POST", "/account/second-factor/remove"): ACCOUNTS,
    ("POST", "/account/keys"): ACCOUNTS,
    ("POST", "/account/keys/{key_id}/revoke"): ACCOUNTS,
    ("GET", "/desk"): READING,
    ("GET", "/desk/{slug}"): READING,
    ("GET", "/desk/{slug}/pending/{number}"): DECIDING,
    ("POST", "/desk/{slug}/pending/{number}/approve"): DECIDING,
    ("POST", "/desk/{slug}/pending/{number}/reject"): DECIDING,
    ("POST", "/desk/{slug}/withdraw"): DECIDING,
    ("GET", "/desk/{slug}/ledger"): READING,
    ("POST", "/desk/{slug}/ledger/verify"): READING,
    ("GET", "/desk/{slug}/refusals"): DECIDING,
    ("GET", "/desk/{slug}/policy"): READING,
    ("POST", "/desk/{slug}/policy"): DECIDING,
    ("POST", "/desk/{slug}/policy/try"): DECIDING,
    ("GET", "/desk/{slug}/codebook"): READING,
    ("POST", "/desk/{slug}/codebook"): DECIDING,
    ("GET", "/desk/{slug}/listed"): READING,
    ("POST", "/desk/{slug}/listed"): DECIDING,
    ("GET", "/desk/trail"): READING,
    ("POST", "/desk/trail/verify"): READING,
    ("GET", "/desk/users"): DECIDING,
    ("POST", "/desk/users"): DECIDING,
    ("POST", "/desk/users/{user_id}/active"): DECIDING,
    ("POST", "/desk/users/{user_id}/role"): DECIDING,
    ("POST", "/desk/users/{user_id}/invitation"): DECIDING,
    ("POST", "/desk/keys/{key_id}/revoke"): DECIDING,
}

SAID = {
    400: "The request cannot be read.",
    401: "A login or a key is needed, or the key is wrong.",
    403: "The role may not do this, or the CSRF token is missing.",
    404: "There is no such thing.",
    408: "The body came too slowly.",
    410: "The table was withdrawn; the reason is in the message.",
    413: "The body is too large.",
    414: "The address is too long.",
    422: "The request says something that cannot be.",
    429: "Too many requests; Retry-After says when to come again.",
    431: "The headers are too long.",
    503: "Not ready, or too many wait: Retry-After says when to come again.",
}
ALWAYS = (400, 401, 403, 408, 413, 414, 422, 429, 431, 503)


async def allowed(request: Request, found: Annotated[Visitor, Depends(visitor)]) -> Visitor:
    """A dependency of every route of the API: the visitor, if the table above lets them in."""
    roles = ROLES[request.method, request.scope["route"].path]
    return await needs(*sorted(roles))(found)


Allowed = Annotated[Visitor, Depends(allowed)]


def documented(*statuses: int) -> dict[int | str, dict[str, Any]]:
    """The errors of a route, for its documentation."""
    return {
        status: {"model": ErrorView, "description": SAID[status]}
        for status in sorted({*ALWAYS, *statuses})
    }
