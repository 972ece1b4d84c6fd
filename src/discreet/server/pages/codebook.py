"""A changed codebook: what it says otherwise of the data, and its acceptance."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response

from discreet.errors import DisclosureError
from discreet.server.deciding.requests import deciding
from discreet.server.deciding.unready import Unready
from discreet.server.pages.custodian import people_of
from discreet.server.pages.render import page
from discreet.server.people.identity import Visitor, needs
from discreet.server.services import Services, services_of
from discreet.server.showing import staff_views, views

router = APIRouter()
Here = Annotated[Services, Depends(services_of)]
Staff = Annotated[Visitor, Depends(needs("custodian", "auditor"))]
Custodian = Annotated[Visitor, Depends(needs("custodian"))]
DONE = {
    "accepted": "The change is accepted.",
    "proposed": "Your acceptance is kept; another custodian must accept it, too.",
}


@router.get("/desk/{slug}/codebook")
def codebook(request: Request, services: Here, who: Staff, slug: str, done: str = "") -> Response:
    return _codebook(request, services, who, slug, said=DONE.get(done, ""))


@router.post("/desk/{slug}/codebook")
@deciding
def accept(
    request: Request,
    services: Here,
    who: Custodian,
    slug: str,
    hash: Annotated[str, Form(max_length=64)] = "",
    reason: Annotated[str, Form(max_length=1_000)] = "",
) -> Response:
    """Accept what it says, if all that is out passes the policy so."""
    services.catalogue.dataset(slug)
    views.served(services, slug)
    try:
        done = services.counter.accept(slug, hash, who.actor, reason.strip())
    except Unready:
        raise
    except DisclosureError as error:
        return _codebook(request, services, who, slug, error=str(error), status=422)
    told = "accepted" if done else "proposed"
    return RedirectResponse(f"/desk/{slug}/codebook?done={told}", 303)


def _codebook(
    request: Request,
    services: Services,
    who: Visitor,
    slug: str,
    *,
    said: str = "",
    error: str = "",
    status: int = 200,
) -> Response:
    return page(
        request,
        "codebook",
        who,
        status=status,
        dataset=services.catalogue.dataset(slug),
        found=staff_views.codebook_view(services, slug),
        people=people_of(services),
        said=said,
        error=error,
    )
