"""Perturbed tables, where the terms offer them."""

from __future__ import annotations

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.api.replies import Number, Slug
from discreet.server.api.roles import ONE, Allowed, documented
from discreet.server.api.tables import CONTENT, JsonStatView, Margin, TableView, raw_margin, sent
from discreet.server.deciding.requests import client_of, leaving
from discreet.server.formats import Format
from discreet.server.guards.guard import limited
from discreet.server.services import services_of
from discreet.server.showing.catalogue import Published
from discreet.server.showing.naming import read_margin
from discreet.server.showing.views import served

router = APIRouter(prefix=f"{ONE}/perturbed", tags=["tables"])


@router.get(
    "/{number}/{margin:path}",
    response_model=TableView | JsonStatView,
    responses={**documented(404, 410), **CONTENT},
    dependencies=[Depends(limited("decisions"))],
)
async def perturbed(
    request: Request,
    who: Allowed,
    slug: Slug,
    number: Number,
    margin: Margin,
    format: Format = Format.JSON,
) -> Response:
    """A perturbed table: no count of the data, and always the same.

    It keeps all that was out after an entry of the ledger; its other counts are drawn by chance.
    """
    services = services_of(request)
    raw, visitor = raw_margin(request, margin), client_of(request)

    def draw() -> Published:
        overview = served(services, slug)
        names = read_margin(overview, raw)
        zeros = services.counter.impossible(slug)
        return services.perturbed.margin(overview, number, names, zeros, visitor=visitor)

    found = await services.visiting.run(
        draw,
        lane="draws",  # one at a time
        key=("perturbed", slug, number, raw),
        left=leaving(request),
        visitor=visitor,
    )
    return await sent(request, found, format)
