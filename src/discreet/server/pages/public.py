"""What everybody can see and do: pick variables, ask, read tables."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Query, Request
from fastapi.responses import Response
from starlette.concurrency import run_in_threadpool

from discreet.server.api.replies import Number
from discreet.server.api.roles import ASKING
from discreet.server.deciding import requests
from discreet.server.guards.errors import Refused
from discreet.server.guards.guard import limited
from discreet.server.pages.render import Here, page
from discreet.server.people.identity import Visitor, needs, visitor
from discreet.server.showing import views
from discreet.server.showing.search import search_of

router = APIRouter()
Someone = Annotated[Visitor, Depends(visitor)]
Asking = Annotated[Visitor, Depends(needs(*sorted(ASKING)))]
HITS = 40  # that are shown


@router.get("/")
def datasets(request: Request, services: Here, who: Someone) -> Response:
    """Every data set, with how many tables of it are out."""
    found = [
        (d, len(views.frontier_view(services, d.slug).margins))
        for d in services.catalogue.datasets()
    ]
    return page(request, "datasets", who, datasets=found)


@router.get("/d/{slug}")
async def dataset(
    request: Request,
    services: Here,
    who: Someone,
    slug: str,
    v: Annotated[list[str] | None, Query(max_length=1_000)] = None,
) -> Response:
    """Pick variables; with some picked, how their table stands."""
    chosen = list(dict.fromkeys(v or ()))
    answer = await requests.look(request, slug, chosen) if chosen else None

    def work() -> Response:
        return page(
            request,
            "dataset",
            who,
            dataset=services.catalogue.dataset(slug),
            chosen=chosen,
            answer=answer,
            released=[m.margin for m in views.frontier_view(services, slug).margins],
        )

    return await run_in_threadpool(work)


@router.post("/d/{slug}/ask", dependencies=[Depends(limited("decisions"))])
async def ask(
    request: Request,
    services: Here,
    who: Asking,
    slug: str,
    v: Annotated[list[str], Form(max_length=1_000)],
) -> Response:
    """Ask for a table, and what came of it."""
    told = await requests.ask(request, slug, list(dict.fromkeys(v)), who)
    overview = await run_in_threadpool(services.catalogue.dataset, slug)
    near, offered = [near.margin for near in told.near], told.instead
    return page(request, "asked", who, dataset=overview, told=told, near=near, instead=offered)


@router.get("/d/{slug}/requests/{number}")
def ticket(request: Request, services: Here, who: Someone, slug: str, number: Number) -> Response:
    """What came of a request."""
    overview = services.catalogue.dataset(slug)
    staff = who.role in ("custodian", "auditor")
    found = views.ticket_view(services, slug, number, None if staff else who.actor)
    if found is None:
        raise Refused(404, "not_found", f"there is no request {number}.")
    return page(request, "asked", who, dataset=overview, told=found, near=[], instead=[])


@router.get("/d/{slug}/about")
def about(request: Request, services: Here, who: Someone, slug: str) -> Response:
    """How those who are counted are protected."""
    overview = services.catalogue.dataset(slug)
    return page(request, "about", who, dataset=overview, policy=overview.policy)


@router.get("/search")
def search(
    request: Request,
    who: Someone,
    q: Annotated[str, Query(max_length=200)] = "",
) -> Response:
    """Data sets, variables and tables that have the words."""
    hits = search_of(request).find(q)
    return page(request, "search", who, q=q, hits=hits[:HITS], total=len(hits))
