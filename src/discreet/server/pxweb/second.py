"""PxWebApi 2, as far as it reads: https://github.com/PxTools/PxApiSpecs.

A table's id is that of its data set and a code for each variable, joined by dots. What is listed
are the largest tables that are out; every table within one has an id as well. Errors have the
shape that all errors here have.
"""

from __future__ import annotations

from datetime import UTC, datetime, timedelta
from importlib.metadata import version
from typing import Annotated, Any, Literal

from fastapi import APIRouter, Path, Query
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.api.replies import SAME, tagged, with_tag
from discreet.server.api.roles import Allowed, documented
from discreet.server.api.tables import base_address
from discreet.server.formats.codes import codes
from discreet.server.formats.plain import json_bytes
from discreet.server.pxweb.cubes import MOST_CELLS, codelist_id, cube_of, level_of, table_id
from discreet.server.pxweb.selecting import from_query
from discreet.server.pxweb.sending import DATA, Output, read_options, sent, split
from discreet.server.pxweb.shapes import (
    CodelistView,
    ConfigView,
    LanguageView,
    LinkView,
    PageView,
    PathView,
    Placement,
    SelectionBody,
    TableItem,
    TableResponse,
    TablesView,
    ValueView,
)
from discreet.server.pxweb.writing import json_stat2, moment
from discreet.server.services import services_of
from discreet.server.showing.languages import LANGUAGES, speaking
from discreet.server.showing.search import MOST_WORDS, Hit, search_of, words_in

router = APIRouter(prefix="/api/v2", tags=["PxWebApi 2"])
Lang = Annotated[Literal["en", "de"] | None, Query(description="Of labels.")]
Id = Annotated[str, Path(max_length=2_000, examples=["tract.Gender.Income"])]
PAGE = 20


@router.get("/config", response_model=ConfigView, responses={**documented(), **SAME})
def config(request: Request, who: Allowed) -> Response:
    """What clients must know first."""
    settings = services_of(request).settings
    view = ConfigView(
        apiVersion="2.0.0",
        appVersion=version("discreet"),
        languages=[LanguageView(id=code, label=name) for code, name in LANGUAGES.items()],
        defaultLanguage="en",
        maxDataCells=MOST_CELLS,
        maxCallsPerTimeWindow=max(1, settings.requests_per_minute),
        timeWindow=60,
        license="",
        defaultDataFormat=Output.JSON_STAT2,
        dataFormats=list(Output),
        features=[],
    )
    return tagged(request, view)


@router.get("/tables", response_model=TablesView, responses={**documented(), **SAME})
def tables(
    request: Request,
    who: Allowed,
    lang: Lang = None,
    query: Annotated[str, Query(max_length=200)] = "",
    past_days: Annotated[int | None, Query(alias="pastDays", ge=1, le=100_000)] = None,
    closed: Annotated[bool, Query(alias="includeDiscontinued")] = False,
    number: Annotated[int, Query(alias="pageNumber", ge=1, le=1_000_000)] = 1,
    size: Annotated[int, Query(alias="pageSize", ge=1, le=100_000)] = PAGE,
) -> Response:
    """The largest tables that are out; the best first, if words are looked for."""
    services, base = services_of(request), base_address(request)
    since = "" if past_days is None else (datetime.now(UTC) - timedelta(past_days)).isoformat()
    words, found = words_in(query)[:MOST_WORDS], list[tuple[Hit, str]]()
    for index in search_of(request).indexes():
        if closed or not index.dataset.closed:
            when = {names: at for names, _, at in services.catalogue.listed(index.dataset.slug)}
            hits = [(hit, when.get(hit.names, "")) for hit in index.tables(words)]
            found += [(hit, at) for hit, at in hits if at >= since]
    if words:
        found.sort(key=lambda one: -one[0].score)
    shown = found[(number - 1) * size : number * size]
    language = lang or "en"
    view = TablesView(
        language=language,
        tables=[_item(hit, at, base, language) for hit, at in shown],
        page=PageView(
            pageNumber=number,
            pageSize=size,
            totalElements=len(found),
            totalPages=max(1, -(-len(found) // size)),
            links=[],
        ),
        links=[LinkView(rel="self", hreflang=language, href=f"{base}/api/v2/tables")],
    )
    return tagged(request, view)


@router.get(
    "/tables/{id}", response_model=TableResponse, responses={**documented(404, 410), **SAME}
)
def table(request: Request, who: Allowed, id: Id, lang: Lang = None) -> Response:
    """A table in a few words."""
    found, language = cube_of(services_of(request), id), lang or "en"
    hit = Hit("table", found.data, found.table.names, (), 0.0)
    item = _item(hit, found.table.at, base_address(request), language)
    return tagged(request, TableResponse(**item.model_dump(), language=language))


@router.get("/tables/{id}/metadata", response_model=dict[str, Any], responses=documented(404, 410))
def metadata(request: Request, who: Allowed, id: Id, lang: Lang = None) -> Response:
    """The variables of a table and their values, as JSON-stat 2.0 without numbers."""
    found, base = cube_of(services_of(request), id), base_address(request)
    language = lang or "en"
    with speaking(language):
        said = json_stat2(found, base, services_of(request).settings.title, language, values=False)
    said["href"] = f"{base}/api/v2/tables/{found.id}/metadata"
    said["link"] = {"data": [{"type": "application/json", "href": _data(base, found.id)}]}
    return with_tag(
        request, json_bytes(said), "application/json", f"{found.table.hash}-m{language}"
    )


@router.get("/tables/{id}/data", response_model=None, responses={**documented(404, 410), **DATA})
async def data(
    request: Request,
    who: Allowed,
    id: Id,
    lang: Lang = None,
    output: Annotated[Output, Query(alias="outputFormat")] = Output.JSON_STAT2,
    options: Annotated[str, Query(alias="outputFormatParams", max_length=200)] = "",
    heading: Annotated[str, Query(max_length=2_000)] = "",
    stub: Annotated[str, Query(max_length=2_000)] = "",
) -> Response:
    """A table, or a part of it: `valueCodes[VARIABLE]=CODE,CODE` picks values, `*` all of them.

    A variable that is not named is summed over; if none is named, all of the table comes.
    """
    pairs = request.query_params.multi_items()
    wanted, lists = from_query(pairs, "valuecodes"), from_query(pairs, "codelist")
    chosen = {name: values[0] for name, values in lists.items() if values}
    return await sent(
        request, id, wanted, chosen, output, read_options(options), lang or "en",
        split(heading), split(stub),
    )  # fmt: skip


@router.post("/tables/{id}/data", response_model=None, responses={**documented(404, 410), **DATA})
async def data_by_post(
    request: Request,
    who: Allowed,
    id: Id,
    body: SelectionBody,
    lang: Lang = None,
    output: Annotated[Output, Query(alias="outputFormat")] = Output.JSON_STAT2,
    options: Annotated[str, Query(alias="outputFormatParams", max_length=200)] = "",
) -> Response:
    """The same, with the selection in the body."""
    wanted = {one.variableCode: one.valueCodes or ["*"] for one in body.selection}
    chosen = {one.variableCode: one.codelist for one in body.selection if one.codelist}
    placed = body.placement or Placement()
    return await sent(
        request, id, wanted, chosen, output, read_options(options), lang or "en",
        placed.heading, placed.stub,
    )  # fmt: skip


@router.get("/codelists/{id}", response_model=CodelistView, responses={**documented(404), **SAME})
def codelist(request: Request, who: Allowed, id: Id, lang: Lang = None) -> Response:
    """A coarser coding of a variable: its groups, and the values of each."""
    found, name, level = level_of(services_of(request), id)
    groups, base, language = found.grouping(name, level), base_address(request), lang or "en"
    named: dict[str, list[str]] = {group: [] for group in groups}
    for code, group in zip(codes(found.categories(name)), groups, strict=True):
        named[group].append(code)
    view = CodelistView(
        id=codelist_id(found, name, level),
        label=found.words.title(name),
        language=language,
        languages=list(LANGUAGES),
        type="Aggregation",
        values=[
            ValueView(code=code, label=group, valueMap=values)
            for code, (group, values) in zip(codes(named), named.items(), strict=True)
        ],
        links=[LinkView(rel="self", hreflang=language, href=f"{base}/api/v2/codelists/{id}")],
    )
    return tagged(request, view)


def _item(hit: Hit, at: str, base: str, language: str) -> TableItem:
    data, id = hit.dataset, table_id(hit.dataset, hit.names)
    titles = [data.words.title(name) for name in hit.names]
    period = data.words.about.period or ""
    href = f"{base}/api/v2/tables/{id}"
    return TableItem(
        id=id,
        label=f"{data.title}: {' by '.join(titles)}",
        description=data.words.about.universe or "",
        updated=moment(at),
        firstPeriod=period,
        lastPeriod=period,
        category="public",
        variableNames=titles,
        discontinued=data.closed,
        source=data.words.about.source or "",
        paths=[[PathView(id=data.slug, label=data.title)]],
        links=[
            LinkView(rel="self", hreflang=language, href=href),
            LinkView(rel="metadata", hreflang=language, href=f"{href}/metadata"),
            LinkView(rel="data", hreflang=language, href=f"{href}/data"),
        ],
    )


def _data(base: str, id: str) -> str:
    return f"{base}/api/v2/tables/{id}/data"
