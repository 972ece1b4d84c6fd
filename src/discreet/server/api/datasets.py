"""What is served, how a margin stands, what is out, how it is used."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.api.replies import SAME, Slug, tagged
from discreet.server.api.roles import API, Allowed, documented
from discreet.server.deciding.requests import describe, look
from discreet.server.services import services_of
from discreet.server.showing.languages import speaking
from discreet.server.showing.shapes import (
    DatasetsView,
    DatasetView,
    FrontierView,
    StatisticsView,
    StatusView,
)
from discreet.server.showing.views import datasets_view, frontier_view, said, statistics_view

router = APIRouter(prefix=f"{API}/datasets", tags=["data sets"])


@router.get("", response_model=DatasetsView, responses={**documented(), **SAME})
def datasets(request: Request, who: Allowed) -> Response:
    """What is served."""
    return tagged(request, datasets_view(services_of(request)))


@router.get("/{slug}", response_model=DatasetView, responses={**documented(404), **SAME})
async def dataset(request: Request, who: Allowed, slug: Slug) -> Response:
    """Variables and categories, the rules in words, and how many tables are out or possible."""
    return tagged(request, await describe(request, slug))


@router.get("/{slug}/status", response_model=StatusView, responses={**documented(404), **SAME})
async def status(
    request: Request,
    who: Allowed,
    slug: Slug,
    variables: Annotated[str, Query(examples=["Race,Income"], max_length=10_000)],
    lang: Annotated[Literal["en", "de"], Query(description="Of the message.")] = "en",
) -> Response:
    """Is the table out, could it be asked for, or is it gone; and what is near it?"""
    services = services_of(request)
    overview = await run_in_threadpool(services.catalogue.dataset, slug)
    view = await look(request, slug, split_names(variables, overview.names))
    with speaking(lang):
        view = view.model_copy(update={"message": said(overview, view.why)})
    return tagged(request, view)


@router.get("/{slug}/frontier", response_model=FrontierView, responses={**documented(404), **SAME})
def frontier(request: Request, who: Allowed, slug: Slug) -> Response:
    """The largest tables that are out: everything within them is out too."""
    return tagged(request, frontier_view(services_of(request), slug))


@router.get(
    "/{slug}/statistics", response_model=StatisticsView, responses={**documented(404), **SAME}
)
def statistics(request: Request, who: Allowed, slug: Slug) -> Response:
    """Requests, grants, refusals and downloads by day."""
    return tagged(request, statistics_view(services_of(request), slug))


def split_names(text: str, known: tuple[str, ...]) -> list[str]:
    """Names from a list with commas, which names may hold too.

    >>> split_names("Income, net,Race", ("Race", "Income, net"))
    ['Income, net', 'Race']
    """
    names, longest = frozenset(known), max((name.count(",") for name in known), default=0)
    parts, found, place = text.split(","), list[str](), 0
    while place < len(parts):
        lengths = range(min(longest + 1, len(parts) - place), 1, -1)
        take = 1
        if parts[place] not in names:
            spelled = (n for n in lengths if ",".join(parts[place : place + n]) in names)
            take = next(spelled, 1)
        found.append(",".join(parts[place : place + take]))
        place += take
    return found
