"""The web application: routes, guards, errors, documentation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi

from discreet.server import logs, operation, pages
from discreet.server.accounts import Accounts
from discreet.server.api import accounts, custodian, datasets, requests, tables
from discreet.server.api.roles import API, EVERYBODY, ROLES
from discreet.server.catalogue import Catalogue
from discreet.server.counter import Counter
from discreet.server.errors import add_handlers
from discreet.server.guard import add_guards
from discreet.server.identity import cookie_name
from discreet.server.ledger.database import open_database
from discreet.server.settings import Settings
from discreet.server.site import Site

TAGS = [
    {"name": "data sets", "description": "What is served, how a table stands, what is out."},
    {"name": "tables", "description": "Tables that are out: JSON, CSV, Parquet, JSON-stat 2.0."},
    {"name": "requests", "description": "Asking for tables that are not out yet."},
    {"name": "custody", "description": "The ledger, pending requests, the policy."},
    {"name": "accounts", "description": "Logins, keys and users."},
    {"name": "operation", "description": "Health and metrics."},
]
ABOUT = """Tables from confidential data, as far as they can be published.

Every error is `{"error": {"code", "message", "details"}}`. Send a key as
`Authorization: Bearer dk_...`; with a session's cookie, every change needs the header
`X-CSRF-Token` that `/api/v1/me` tells."""


def create_app(settings: Settings, site: Site | None = None, *, quiet: bool = False) -> FastAPI:
    """The application of a site; `quiet`: without a log of requests."""
    if site is None:
        site = empty_site(settings)
    held = site

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with logs.logs_of_others():
            logs.log().info("started", datasets=len(held.counter.served))
            yield
            held.database.close()
            logs.log().info("stopped")

    app = FastAPI(
        title=settings.title,
        version=version("discreet"),
        description=ABOUT,
        openapi_tags=TAGS,
        openapi_url=f"{API}/openapi.json",
        docs_url=None,  # they would load scripts from elsewhere
        redoc_url=None,
        lifespan=lifespan,
        redirect_slashes=False,
    )
    app.state.site, app.state.metrics = site, operation.Metrics()
    for part in (datasets, tables, requests, custodian, accounts, operation):
        app.include_router(part.router)
    app.include_router(pages.router)
    add_handlers(app)
    add_guards(app, settings)
    app.add_middleware(logs.RequestLog, answers=app.state.metrics.answers, quiet=quiet)
    app.add_middleware(logs.HeadAsGet)
    _document(app, settings)
    return app


def empty_site(settings: Settings) -> Site:
    """A site that serves what its ledgers have published, and decides nothing."""
    database = open_database(settings.database)
    counter = Counter(database, settings.secret.get_secret_value().encode())
    accounts = Accounts(database, hours=settings.session_hours)
    return Site(settings, database, counter, Catalogue(database), accounts)


def _document(app: FastAPI, settings: Settings) -> None:
    """OpenAPI, with who may use each route."""

    def openapi() -> dict[str, Any]:
        if app.openapi_schema is None:
            schema = get_openapi(
                title=app.title,
                version=app.version,
                description=app.description,
                routes=app.routes,
                tags=app.openapi_tags,
            )
            schema["components"]["securitySchemes"] = {
                "key": {"type": "http", "scheme": "bearer"},
                "session": {"type": "apiKey", "in": "cookie", "name": cookie_name(settings)},
            }
            for (method, path), roles in ROLES.items():
                operation = schema["paths"].get(path.replace(":path", ""), {}).get(method.lower())
                if operation is not None:
                    operation["x-roles"] = sorted(roles)
                    if roles != EVERYBODY:
                        anybody: list[dict[str, list[str]]] = [{}] if "public" in roles else []
                        operation["security"] = [*anybody, {"key": []}, {"session": []}]
            app.openapi_schema = schema
        return app.openapi_schema

    app.openapi = openapi  # type: ignore[method-assign]
