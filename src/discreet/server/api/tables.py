"""Published tables, and their withdrawal."""

from __future__ import annotations

import re
from collections.abc import Hashable
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from pydantic import Field
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.api.replies import Slug, Text, known, with_tag
from discreet.server.api.roles import ONE, Allowed, documented
from discreet.server.deciding.requests import client_of, deciding, leaving
from discreet.server.formats import Format, write
from discreet.server.services import services_of
from discreet.server.showing.catalogue import Published
from discreet.server.showing.naming import read_levels, read_margin, read_where
from discreet.server.showing.shapes import AboutView, Body, NamedView, Names, View
from discreet.server.showing.views import served

router = APIRouter(prefix=f"{ONE}/tables", tags=["tables"])
MARGIN = re.compile(r"/datasets/[^/]+/(?:tables|perturbed/\d+)/(.+?)(?:/withdraw)?$")
Margin = Annotated[
    str,
    Path(
        description="Names of variables joined by `*`, each percent-encoded.",
        examples=["Race*Income"],
        max_length=10_000,
    ),
]


class SourceView(View):
    dataset: str
    entry: int
    at: str
    citation: str
    address: str


class TableVariableView(NamedView):
    level: int = Field(description="How far its categories are merged; 0 is not at all.")


class PerturbedView(View):
    """The table is no count of the data: its other counts were drawn by chance."""

    keeps: list[Names] = Field(description="The margins that are those of the data.")


class TableView(View):
    note: str | None = Field(
        description="Said if linear or outer bounds were proof enough, or if it is perturbed."
    )
    perturbed: PerturbedView | None = Field(description="None if the counts are those of the data.")
    dataset: str
    title: str
    margin: Names
    where: dict[str, str]
    variables: list[TableVariableView]
    values: list[int] = Field(description="Counts, the last variable running fastest.")
    total: int
    source: SourceView
    about: AboutView


class JsonStatView(View):
    """JSON-stat 2.0."""

    version: Literal["2.0"]
    kind: Literal["dataset"] = Field(alias="class")
    note: list[str] = Field([], description="Said if linear or outer bounds were proof enough.")
    label: str
    source: str
    updated: str
    role: dict[str, list[str]] = Field({}, description="Which variables are areas.")
    id: list[str]
    size: list[int]
    dimension: dict[str, Any]
    value: list[int]
    extension: dict[str, Any]


Where = Annotated[list[str], Query(examples=[["Race:White"]], max_length=1_000)]
Level = Annotated[list[str], Query(examples=[["Race:1"]], max_length=1_000)]


class WithdrawBody(Body):
    reason: Text = Field(min_length=1, max_length=2_000, examples=["a coding error in Income"])


class WithdrawnView(View):
    entry: int
    at: str
    margin: Names
    reason: str


CONTENT: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The table.",
        "content": {
            kind.media_type.partition(";")[0]: {
                "schema": {"type": "string"} | ({"format": "binary"} if kind.writer.binary else {})
            }
            for kind in Format
            if kind.media_type != "application/json"
        },
    },
    304: {"description": "As the ETag that was sent."},
}


@router.post("/{margin:path}/withdraw", response_model=WithdrawnView, responses=documented(404))
@deciding
def withdraw(
    request: Request, who: Allowed, slug: Slug, margin: Margin, body: WithdrawBody
) -> WithdrawnView:
    """Serve a table no more, for a reason that everybody is told. What is out stays counted."""
    services = services_of(request)
    names = read_margin(services.catalogue.dataset(slug), raw_margin(request, margin))
    served(services, slug)
    entry = services.counter.withdraw(slug, names, who.actor, body.reason)
    return WithdrawnView(entry=entry.number, at=entry.at, margin=list(names), reason=body.reason)


@router.get(
    "/{margin:path}",
    response_model=TableView | JsonStatView,
    responses={**documented(404, 410), **CONTENT},
)
async def table(
    request: Request,
    who: Allowed,
    slug: Slug,
    margin: Margin,
    format: Format = Format.JSON,
    where: Where = [],  # noqa: B006
    level: Level = [],  # noqa: B006
) -> Response:
    """A table that is out, or follows from one that is.

    `where` cuts it to one category each; `level` adds categories up, as the codebook's hierarchies
    have them.
    """
    services = services_of(request)

    def read() -> Published:
        overview = services.catalogue.dataset(slug)
        names = read_margin(overview, raw_margin(request, margin))
        found = services.catalogue.published(slug, names, read_where(overview, where))
        return found.merged(read_levels(overview, level))

    return await sent(request, await run_in_threadpool(read), format)


async def sent(request: Request, found: Published, format: Format) -> Response:
    """The table in a format; 304 if the sender has it."""
    services = services_of(request)
    tag = f"{found.hash}-{format}"
    if known(request, tag):
        return with_tag(request, b"", "", tag)
    base = base_address(request)
    written = await services.made.file(
        (content_key(found), format, base),
        lambda: write(found, format, base, services.settings.title),
        cells=found.counts.size,
        visitor=client_of(request),
        left=leaving(request),
    )
    what = "download" if found.perturbed is None else "perturbed"
    request.state.use = found.dataset.id, f"{what} {format}"  # for `Copies` to count
    return with_tag(request, written.body, written.media_type, tag, written.filename)


def content_key(found: Published) -> Hashable:
    """All that a file of the table says."""
    levels, where = tuple(found.levels.items()), tuple(found.where.items())
    return (
        (found.dataset.slug, found.hash, found.names, found.categories, levels, where),
        found.dataset.says,
    )


def raw_margin(request: Request, decoded: str) -> str:
    """The margin as it was sent, so that a star in a name is told from one between names."""
    found = MARGIN.search(request.scope.get("raw_path", b"").decode("latin-1"))
    return decoded if found is None else found[1]


def base_address(request: Request) -> str:
    """What people type to get here, as far as the operator said it: a Host header can be any."""
    settings = services_of(request).settings
    host = f"[{settings.host}]" if ":" in settings.host else settings.host
    return settings.address.rstrip("/") or f"http://{host}:{settings.port}"
