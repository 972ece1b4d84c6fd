"""Searching all data sets."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.api.replies import SAME, tagged
from discreet.server.api.roles import API, Allowed, documented
from discreet.server.showing.naming import dataset_address, table_address
from discreet.server.showing.search import Hit, search_of
from discreet.server.showing.shapes import Names, View

router = APIRouter(prefix=f"{API}/search", tags=["data sets"])


class FoundView(View):
    variable: str
    category: str = Field(description="Empty if it was the variable that was found.")


class HitView(View):
    kind: Literal["dataset", "table", "possible"] = Field(
        description="A data set; a table that is out; variables that fit, of a table that is not."
    )
    dataset: str
    title: str
    margin: Names
    found: list[FoundView]
    score: float
    address: str


class SearchView(View):
    query: str
    total: int
    hits: list[HitView]


@router.get("", response_model=SearchView, responses={**documented(), **SAME})
def search(
    request: Request,
    who: Allowed,
    q: Annotated[str, Query(max_length=200, examples=["income women"])],
    limit: Annotated[int, Query(ge=1, le=100)] = 20,
) -> Response:
    """Variables, categories, titles and descriptions of all data sets; the best first."""
    hits = search_of(request).find(q)
    view = SearchView(query=q, total=len(hits), hits=[_view(hit) for hit in hits[:limit]])
    return tagged(request, view)


def _view(hit: Hit) -> HitView:
    slug = hit.dataset.slug
    return HitView(
        kind=hit.kind,
        dataset=slug,
        title=hit.dataset.title,
        margin=list(hit.names),
        found=[FoundView(variable=name, category=label) for name, label in hit.found],
        score=round(hit.score, 3),
        address=table_address(slug, hit.names) if hit.kind == "table" else dataset_address(slug),
    )
