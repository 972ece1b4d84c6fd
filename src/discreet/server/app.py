"""The web application: routes, guards, errors, documentation."""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from functools import partial
from importlib.metadata import version
from typing import Any

from fastapi import FastAPI
from fastapi.openapi.utils import get_openapi
from starlette.concurrency import run_in_threadpool

from discreet.server import pages
from discreet.server.api import (
    accounts,
    custodian,
    datasets,
    entries,
    perturbed,
    requests,
    search,
    tables,
)
from discreet.server.api.roles import API, EVERYBODY, ROLES
from discreet.server.deciding.counter import Counter
from discreet.server.guards.cors import Cors
from discreet.server.guards.errors import add_handlers
from discreet.server.guards.guard import add_guards
from discreet.server.guards.rates import rates_of
from discreet.server.ledger.database import open_database
from discreet.server.notices.post import Post, posting
from discreet.server.operation import health, logs
from discreet.server.operation.ending import DECISIONS, ending_in_time
from discreet.server.operation.upkeep import upkeep
from discreet.server.people.accounts import Accounts
from discreet.server.people.actors import Refusals
from discreet.server.people.identity import cookie_name
from discreet.server.people.openid import Provider
from discreet.server.people.second_factor import SecondFactors
from discreet.server.pxweb import first, second
from discreet.server.services import Services
from discreet.server.settings import Settings
from discreet.server.showing.catalogue import Catalogue
from discreet.server.showing.copies import Copies
from discreet.server.showing.made import SendingCount
from discreet.server.showing.news import News
from discreet.server.showing.search import Search

TAGS = [
    {"name": "data sets", "description": "What is served, how a table stands, what is out."},
    {"name": "tables", "description": "Tables that are out, in every format."},
    {"name": "requests", "description": "Asking for tables that are not out yet."},
    {"name": "custody", "description": "The ledger, pending requests, the policy."},
    {"name": "accounts", "description": "Logins, keys and users."},
    {"name": "operation", "description": "Health and metrics."},
    {"name": "PxWebApi 2", "description": "For clients of PxWebApi 2: what is out, to be read."},
    {"name": "PxWeb 1", "description": "For clients of PxWeb's first API, such as R's pxweb."},
]
ABOUT = """Tables from confidential data, as far as they can be published.

Every error is `{"error": {"code", "message", "details"}}`. Send a key as
`Authorization: Bearer dk_...`; with a session's cookie, every change needs the header
`X-CSRF-Token` that `/api/v1/me` tells."""


def create_app(
    settings: Settings, services: Services | None = None, *, quiet: bool = False
) -> FastAPI:
    """The application; `quiet`: without a log of requests.

    >>> import discreet as dc
    >>> from discreet.server.launch import prepare  # makes the database
    >>> from tempfile import TemporaryDirectory
    >>> with TemporaryDirectory() as folder:
    ...     settings = dc.server.Settings(database=f"sqlite:///{folder}/tables.db", title="Tables")
    ...     app = dc.server.create_app(prepare(settings), quiet=True)
    >>> app.title, app.openapi_url
    ('Tables', '/api/v1/openapi.json')
    """
    if services is None:
        services = empty_site(settings)
    held = services

    @asynccontextmanager
    async def lifespan(app: FastAPI) -> AsyncIterator[None]:
        with logs.logs_of_others(), ending_in_time():
            logs.log().info("started", datasets=len(held.counter.served))
            async with upkeep(works), posting(app.state.post):
                yield
                if not await run_in_threadpool(held.close, DECISIONS):
                    logs.log().warning("stopped while work was going on")
            held.accounts.failures.flush(end=True)
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
    app.state.services, app.state.metrics = services, health.Metrics(services)
    app.state.provider = Provider.of(settings)
    app.state.post = Post(services.accounts, settings)
    app.state.factors = SecondFactors(services.accounts, settings.secret.get_secret_value())
    app.state.search = Search(services.catalogue)
    for part in (
        datasets, search, tables, entries, perturbed, requests, custodian, accounts, health,
        second, first,
    ):  # fmt: skip
        app.include_router(part.router)
    app.include_router(pages.router)
    add_handlers(app)
    app.state.news = News(services.database)
    app.add_middleware(Copies, services=services, news=app.state.news)
    rates = rates_of(
        settings.shared, services.database, settings.secret.get_secret_value().encode()
    )
    add_guards(app, settings, rates=rates)
    app.add_middleware(Refusals, failures=services.accounts.failures)
    if settings.cors_origins:
        app.add_middleware(Cors, origins=settings.cors_origins)
    app.add_middleware(logs.RequestLog, answers=app.state.metrics.answers, quiet=quiet)
    app.add_middleware(logs.HeadAsGet)
    app.add_middleware(SendingCount, sending=services.made.sending)
    _document(app, settings)
    works = {
        partial(services.uses.write, services.database): 1.0,
        app.state.limits.exchange: 1.0,
        app.state.metrics.write: 5.0,
        services.accounts.failures.flush: 60.0,
    }
    return app


def empty_site(settings: Settings) -> Services:
    """Services that show what the ledgers have published, and decide nothing."""
    database = open_database(settings.database)
    counter = Counter(database, settings.secret.get_secret_value().encode())
    accounts = Accounts(database, hours=settings.session_hours)
    return Services(settings, database, counter, Catalogue(database), accounts)


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
