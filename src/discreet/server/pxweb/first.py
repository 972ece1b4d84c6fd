"""PxWeb's first API, as far as it reads: what R's pxweb and many scripts speak.

    GET  /pxweb/api/v1/en                    data sets
    GET  /pxweb/api/v1/en/tract              its largest tables that are out
    GET  /pxweb/api/v1/en/tract/Gender.Race  variables and values of one
    POST /pxweb/api/v1/en/tract/Gender.Race  a query, and its data

`?config` at any of them tells the limits.
"""

from __future__ import annotations

import json
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path
from pydantic import BaseModel, Field, ValidationError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from discreet.errors import DisclosureError
from discreet.server.api.replies import Slug
from discreet.server.api.roles import Allowed, documented
from discreet.server.api.tables import base_address
from discreet.server.formats import Written
from discreet.server.formats.plain import json_bytes
from discreet.server.pxweb.cubes import MOST_CELLS, Cube, cube, selected, table_id
from discreet.server.pxweb.selecting import MOST_VALUES, MOST_VARIABLES, check_known
from discreet.server.pxweb.sending import DATA, Output, made, read_levels, written
from discreet.server.pxweb.writing import json_px, json_stat1, moment
from discreet.server.services import services_of
from discreet.server.showing.languages import speaking
from discreet.server.showing.search import search_of

ROOT = "/pxweb/api/v1/{lang}"
router = APIRouter(prefix=ROOT, tags=["PxWeb 1"])
Lang = Annotated[Literal["en", "de"], Path(examples=["en"])]
Table = Annotated[str, Path(max_length=2_000, examples=["Gender.Income"])]
LIST: dict[int | str, dict[str, Any]] = {200: {"description": "A list; with ?config, the limits."}}
OLD = ("json", "json-stat")  # formats of the first API alone
EXAMPLE = {
    "query": [{"code": "Gender", "selection": {"filter": "all", "values": ["*"]}}],
    "response": {"format": "json-stat2"},
}


class Filtered(BaseModel):
    filter: (
        Literal["item", "all", "top"]
        | Annotated[str, Field(pattern=r"^(?i:agg|vs):", max_length=2_000)]
    )
    values: list[Annotated[str, Field(max_length=1_000)]] = Field(max_length=MOST_VALUES)


class Asked(BaseModel):
    code: str = Field(max_length=1_000)
    selection: Filtered


class Wanted(BaseModel):
    format: Literal["json", "json-stat", "json-stat2", "csv", "px", "xlsx", "parquet"] = "px"


class QueryBody(BaseModel):
    query: list[Asked] = Field(default=[], max_length=MOST_VARIABLES)
    response: Wanted = Wanted()


@router.get("", response_model=Any, responses={**documented(), **LIST})
def databases(request: Request, who: Allowed, lang: Lang) -> Response:
    """The data sets."""
    found = services_of(request).catalogue.datasets()
    return _json(request, [{"dbid": data.slug, "text": data.title} for data in found])


@router.get("/{slug}", response_model=Any, responses={**documented(404), **LIST})
def levels(request: Request, who: Allowed, lang: Lang, slug: Slug) -> Response:
    """The largest tables that are out."""
    services = services_of(request)
    when = {names: at for names, _, at in services.catalogue.listed(slug)}
    found = next(i for i in search_of(request).indexes() if i.dataset.slug == slug)
    return _json(
        request,
        [
            {
                "id": table_id(found.dataset, names).removeprefix(f"{slug}."),
                "type": "t",
                "text": " by ".join(map(found.dataset.words.title, names)),
                "updated": moment(when.get(names, "")),
            }
            for names in found.largest
        ],
    )


@router.get("/{slug}/{table}", response_model=Any, responses={**documented(404, 410), **LIST})
def variables(request: Request, who: Allowed, lang: Lang, slug: Slug, table: Table) -> Response:
    """The variables of a table, and their values."""
    found = _cube(request, slug, table)
    names = zip(found.codes, found.table.titles, found.values, found.table.categories, strict=True)
    said = [
        {
            "code": code,
            "text": title,
            "values": list(values),
            "valueTexts": list(labels),
            "elimination": True,
        }
        for code, title, values, labels in names
    ]
    return _json(request, {"title": found.title, "variables": said})


@router.post(
    "/{slug}/{table}",
    response_model=None,
    responses={**documented(404, 410), **DATA},
    openapi_extra={
        "requestBody": {
            "required": True,
            "content": {"application/json": {"schema": {"type": "object"}, "example": EXAMPLE}},
        }
    },
)
async def query(request: Request, who: Allowed, lang: Lang, slug: Slug, table: Table) -> Response:
    """The data of a query, in whatever type its JSON is sent."""
    body, found = await run_in_threadpool(_select, request, slug, table, await request.body())
    services_of(request).uses.add(found.data.id, f"download {body.response.format}")
    base, by = base_address(request), services_of(request).settings.title
    with speaking(lang):
        if body.response.format not in OLD:
            return await written(request, found, Output(body.response.format), language=lang)

        def make() -> Written:
            old = json_px(found) if body.response.format == "json" else json_stat1(found, base, by)
            return Written(json_bytes(old), "application/json")

        return await made(request, found, (body.response.format, lang, base), make)


def _select(request: Request, slug: str, table: str, sent: bytes) -> tuple[QueryBody, Cube]:
    body = _read(sent)
    whole = _cube(request, slug, table)
    check_known([one.code for one in body.query], whole.codes)
    lists = {
        one.code: one.selection.filter.partition(":")[2]
        for one in body.query
        if ":" in one.selection.filter
    }
    merged = read_levels(services_of(request), whole, lists)
    wanted = {one.code: _values(one.selection) for one in body.query}
    return body, selected(whole, wanted, merged) if body.query else whole


def _values(selection: Filtered) -> list[str]:
    if selection.filter == "top":
        return [f"top({selection.values[0] if selection.values else 1})"]
    return selection.values or ["*"]


def _read(body: bytes) -> QueryBody:
    try:
        return QueryBody.model_validate(json.loads(body.decode("utf-8-sig") or "{}"))
    except (ValueError, RecursionError) as error:
        first = error.errors()[0] if isinstance(error, ValidationError) else None
        where = ".".join(map(str, first["loc"]))[:100] if first else "the body"
        said = first["msg"][:200] if first else "it is not JSON"
        raise DisclosureError(f"the query cannot be read: {where}: {said}.") from None


def _cube(request: Request, slug: str, table: str) -> Cube:
    return cube(services_of(request), slug, table.removesuffix(".px").split("."))


def _json(request: Request, said: Any) -> Response:
    """What was asked for, or how much may be asked for."""
    if "config" in request.query_params:
        settings = services_of(request).settings
        said = {
            "maxValues": MOST_CELLS,
            "maxCells": MOST_CELLS,
            "maxCalls": max(1, settings.requests_per_minute),
            "timeWindow": 60,
            "CORS": bool(settings.cors_origins),
        }
    return Response(json_bytes(said), media_type="application/json")
