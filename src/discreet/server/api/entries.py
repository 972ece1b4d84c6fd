"""Tables under addresses that last: as an entry of the ledger published them."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.api.replies import Number, Slug
from discreet.server.api.roles import ONE, Allowed, documented
from discreet.server.api.tables import (
    CONTENT,
    JsonStatView,
    Level,
    TableView,
    Where,
    base_address,
    sent,
)
from discreet.server.formats import Citing, Format
from discreet.server.formats.citing import cited
from discreet.server.services import Services, services_of
from discreet.server.showing.catalogue import Published
from discreet.server.showing.naming import chosen, read_levels, read_where

router = APIRouter(prefix=f"{ONE}/entries", tags=["tables"])
SUFFIXES = {Citing.TEXT: "txt", Citing.BIBTEX: "bib", Citing.RIS: "ris"}
MEDIA = {
    Citing.TEXT: "text/plain",
    Citing.BIBTEX: "application/x-bibtex",
    Citing.RIS: "application/x-research-info-systems",
}
Variables = Annotated[
    list[str],
    Query(description="Some of its variables; all, if none is named.", max_length=1_000),
]


@router.get(
    "/{number}",
    response_model=TableView | JsonStatView,
    responses={**documented(404, 410), **CONTENT},
)
async def entry(
    request: Request,
    who: Allowed,
    slug: Slug,
    number: Number,
    format: Format = Format.JSON,
    v: Variables = [],  # noqa: B006
    where: Where = [],  # noqa: B006
    level: Level = [],  # noqa: B006
) -> Response:
    """The table that an entry of the ledger published, always the same, or that it was withdrawn.

    `v`, `where` and `level` show a part of it.
    """
    found = await run_in_threadpool(
        entry_table, services_of(request), slug, number, v, where, level
    )
    return await sent(request, found, format)


@router.get(
    "/{number}/citation",
    response_model=None,
    responses={
        **documented(404, 410),
        200: {
            "description": "The citation.",
            "content": {kind: {"schema": {"type": "string"}} for kind in MEDIA.values()},
        },
    },
)
def citation(
    request: Request,
    who: Allowed,
    slug: Slug,
    number: Number,
    format: Citing = Citing.TEXT,
    v: Variables = [],  # noqa: B006
    where: Where = [],  # noqa: B006
    level: Level = [],  # noqa: B006
) -> Response:
    """How the table is cited: in words, for BibTeX, or for other programs (RIS)."""
    services = services_of(request)
    found = entry_table(services, slug, number, v, where, level)
    text = cited(found, format, base_address(request), services.settings.title)
    name = f"{slug}-{number}.{SUFFIXES[format]}"
    headers = {"Content-Disposition": f'attachment; filename="{name}"'}
    return Response(text, 200, headers, f"{MEDIA[format]}; charset=utf-8")


def entry_table(
    services: Services,
    slug: str,
    number: int,
    names: list[str],
    where: list[str],
    level: list[str],
) -> Published:
    """What an entry published, or a part of it."""
    overview = services.catalogue.dataset(slug)
    cut = read_where(overview, where)
    whole = services.catalogue.entry_margin(slug, number)
    shown = chosen(overview, names) if names else [name for name in whole if name not in cut]
    found = services.catalogue.published(slug, shown, cut, entry=number)
    return found.merged(read_levels(overview, level))
