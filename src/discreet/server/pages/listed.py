"""The curated list: what can be asked for, where the policy says that only listed tables can."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response

from discreet.errors import DisclosureError
from discreet.server.deciding.requests import deciding
from discreet.server.deciding.unready import Unready
from discreet.server.pages.render import page
from discreet.server.people.identity import Visitor, needs
from discreet.server.services import Services, services_of
from discreet.server.showing import staff_views, views
from discreet.table.formula import Formula

router = APIRouter()
Here = Annotated[Services, Depends(services_of)]
Staff = Annotated[Visitor, Depends(needs("custodian", "auditor"))]
Custodian = Annotated[Visitor, Depends(needs("custodian"))]
MOST = 1_000  # tables


@router.get("/desk/{slug}/listed")
def listed(request: Request, services: Here, who: Staff, slug: str, done: str = "") -> Response:
    said = "The list is changed." if done == "listed" else ""
    return _listed(request, services, who, slug, said=said)


@router.post("/desk/{slug}/listed")
@deciding
def change(
    request: Request,
    services: Here,
    who: Custodian,
    slug: str,
    margins: Annotated[str, Form(max_length=50_000)] = "",
) -> Response:
    """Replace the list: a table a line, as in a formula."""
    overview = services.catalogue.dataset(slug)
    views.served(services, slug)
    lines = [line.strip() for line in margins.splitlines() if line.strip()]
    try:
        if len(lines) > MOST:
            raise DisclosureError(f"the list has {len(lines):,} tables; {MOST:,} at most.")
        read = [Formula.parse(line, overview.names, files=False) for line in lines]
        sets = [margin for formula in read for margin in formula.margins]
        services.counter.list_margins(slug, sets, who.actor)
    except Unready:
        raise
    except DisclosureError as error:
        return _listed(request, services, who, slug, sent=margins, error=str(error), status=422)
    return RedirectResponse(f"/desk/{slug}/listed?done=listed", 303)


def _listed(
    request: Request,
    services: Services,
    who: Visitor,
    slug: str,
    *,
    sent: str | None = None,
    said: str = "",
    error: str = "",
    status: int = 200,
) -> Response:
    overview = services.catalogue.dataset(slug)
    margins = staff_views.listed_view(services, slug).margins
    lines = [str(Formula.of([margin], overview.names)) for margin in margins or ()]
    return page(
        request,
        "listed",
        who,
        status=status,
        dataset=overview,
        margins=margins,
        text="\n".join(lines) if sent is None else sent,
        said=said,
        error=error,
    )
