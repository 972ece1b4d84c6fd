"""What everybody can see and do: pick variables, ask, read tables."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated

from fastapi import APIRouter, BackgroundTasks, Depends, Form, Query, Request
from fastapi.responses import RedirectResponse, Response
from starlette.concurrency import run_in_threadpool

from discreet.server import asking, views
from discreet.server.api.roles import ASKING
from discreet.server.catalogue import Overview, Published, Withdrawn
from discreet.server.errors import Refused
from discreet.server.guard import limited
from discreet.server.identity import Visitor, needs, visitor
from discreet.server.pages import words
from discreet.server.pages.charts import count_bars, finding
from discreet.server.pages.grid import Grid, grid
from discreet.server.pages.render import page, table_address
from discreet.server.site import Site, site_of

router = APIRouter()
Here = Annotated[Site, Depends(site_of)]
Someone = Annotated[Visitor, Depends(visitor)]
Asking = Annotated[Visitor, Depends(needs(*sorted(ASKING)))]


@router.get("/")
def datasets(request: Request, site: Here, who: Someone) -> Response:
    """Every data set, with how many tables of it are out."""
    found = [(d, len(views.frontier_view(site, d.slug).margins)) for d in site.catalogue.datasets()]
    return page(request, "datasets", who, datasets=found)


@router.get("/d/{slug}")
async def dataset(
    request: Request,
    site: Here,
    who: Someone,
    slug: str,
    v: Annotated[list[str] | None, Query(max_length=1_000)] = None,
) -> Response:
    """Pick variables; with some picked, how their table stands."""
    chosen = list(dict.fromkeys(v or ()))
    answer = await asking.look(request, slug, chosen) if chosen else None

    def work() -> Response:
        return page(
            request,
            "dataset",
            who,
            dataset=site.catalogue.dataset(slug),
            chosen=chosen,
            answer=answer,
            released=[m.margin for m in views.frontier_view(site, slug).margins],
        )

    return await run_in_threadpool(work)


@router.post("/d/{slug}/ask", dependencies=[Depends(limited("decisions"))])
async def ask(
    request: Request,
    site: Here,
    who: Asking,
    slug: str,
    v: Annotated[list[str], Form(max_length=1_000)],
    later: BackgroundTasks,
) -> Response:
    """Ask for a table, and what came of it."""
    told = await asking.ask(request, slug, list(dict.fromkeys(v)), who, later)
    overview = await run_in_threadpool(site.catalogue.dataset, slug)
    near = [near.margin for near in told.near]
    response = page(request, "asked", who, dataset=overview, told=told, near=near)
    response.background = later
    return response


@router.get("/d/{slug}/requests/{number}")
def ticket(request: Request, site: Here, who: Someone, slug: str, number: int) -> Response:
    """What came of a request."""
    overview = site.catalogue.dataset(slug)
    staff = who.role in ("custodian", "auditor")
    found = views.ticket_view(site, slug, number, None if staff else who.actor)
    if found is None:
        raise Refused(404, "not_found", f"there is no request {number}.")
    return page(request, "asked", who, dataset=overview, told=found, near=[])


@router.get("/d/{slug}/about")
def about(request: Request, site: Here, who: Someone, slug: str) -> Response:
    """How those who are counted are protected."""
    overview = site.catalogue.dataset(slug)
    return page(request, "about", who, dataset=overview, policy=overview.policy)


@router.get("/d/{slug}/t/{margin:path}")
def table(
    request: Request,
    site: Here,
    who: Someone,
    slug: str,
    margin: str,
    where: Annotated[list[str] | None, Query(max_length=1_000)] = None,
    picked: Annotated[list[str] | None, Query(alias="is", max_length=1_000)] = None,
    rows: Annotated[int, Query(alias="page", ge=1, le=1_000_000)] = 1,
) -> Response:
    """A table that is out, or a slice of it."""
    overview = site.catalogue.dataset(slug)
    names = views.read_margin(overview, _as_sent(request) or margin)
    if picked is not None:
        return _slice(overview, names, picked)
    cut = views.read_where(overview, where or ())
    try:
        found = site.catalogue.published(slug, names, cut)
    except Withdrawn as error:
        view = {"margin": error.margin, "why": error.why, "at": error.at}
        return page(request, "withdrawn", who, status=410, dataset=overview, **view)
    return _table(request, site, who, found, grid(found, rows))


def _table(request: Request, site: Site, who: Visitor, found: Published, laid: Grid) -> Response:
    overview, cut = found.dataset, found.where
    here = table_address(overview.slug, found.names, cut.items())

    def page_address(number: int) -> str:
        return f"{here}{'&' if cut else '?'}page={number}"

    return page(
        request,
        "table",
        who,
        dataset=overview,
        table=found,
        whole=overview.ordered([*found.names, *cut]),
        grid=laid,
        chart=count_bars(laid, title=f"Bars: {words.by(found.names)}"),
        finding=finding(found),
        address=_base(request, site) + here,
        page_address=page_address,
    )


def _slice(overview: Overview, names: Sequence[str], picked: Sequence[str]) -> Response:
    """From the form, where every variable has a choice, to the slice's own address."""
    where = views.read_where(overview, [part for part in picked if part])
    left = [name for name in names if name not in where]
    if not left:
        raise Refused(422, "wrong_input", "leave at least one variable whole.")
    return RedirectResponse(table_address(overview.slug, left, where.items()), 303)


def _as_sent(request: Request) -> str:
    """The margin with its stars as they were written: a name can hold one, percent-encoded."""
    raw: bytes = request.scope.get("raw_path") or b""
    return raw.decode("ascii", "replace").partition("/t/")[2]


def _base(request: Request, site: Site) -> str:
    return site.settings.address.rstrip("/") or str(request.base_url).rstrip("/")
