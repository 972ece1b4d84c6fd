"""The shapes of PxWebApi 2, as the standard spells them."""

# ruff: noqa: N815

from __future__ import annotations

from typing import Annotated, Any, Literal

from pydantic import BaseModel, Field

from discreet.server.pxweb.selecting import MOST_VALUES, MOST_VARIABLES
from discreet.server.showing.shapes import View


class LinkView(View):
    rel: str
    hreflang: str
    href: str


class LanguageView(View):
    id: str
    label: str


class ConfigView(View):
    apiVersion: str
    appVersion: str
    languages: list[LanguageView]
    defaultLanguage: str
    maxDataCells: int
    maxCallsPerTimeWindow: int
    timeWindow: int
    license: str
    defaultDataFormat: str
    dataFormats: list[str]
    features: list[dict[str, Any]]


class PathView(View):
    id: str
    label: str


class TableItem(View):
    id: str
    label: str
    description: str
    updated: str
    firstPeriod: str
    lastPeriod: str
    category: Literal["public"]
    variableNames: list[str]
    discontinued: bool
    source: str
    paths: list[list[PathView]]
    links: list[LinkView]


class TableResponse(TableItem):
    language: str


class PageView(View):
    pageNumber: int
    pageSize: int
    totalElements: int
    totalPages: int
    links: list[LinkView]


class TablesView(View):
    language: str
    tables: list[TableItem]
    page: PageView
    links: list[LinkView]


class ValueView(View):
    code: str
    label: str
    valueMap: list[str]


class CodelistView(View):
    id: str
    label: str
    language: str
    languages: list[str]
    type: Literal["Aggregation"]
    values: list[ValueView]
    links: list[LinkView]


class Chosen(BaseModel):
    variableCode: str = Field(max_length=1_000)
    valueCodes: list[Annotated[str, Field(max_length=1_000)]] = Field(
        default=[], max_length=MOST_VALUES
    )
    codelist: str | None = Field(None, max_length=2_000)


class Placement(BaseModel):
    heading: list[str] = Field(default=[], max_length=MOST_VARIABLES)
    stub: list[str] = Field(default=[], max_length=MOST_VARIABLES)


class SelectionBody(BaseModel):
    selection: list[Chosen] = Field(default=[], max_length=MOST_VARIABLES)
    placement: Placement | None = None
