"""Asking for tables."""

from __future__ import annotations

from typing import Any

from fastapi import APIRouter, Depends
from starlette.requests import Request
from starlette.responses import Response

from discreet.decision.answering.answer import Outcome
from discreet.server.api.replies import Number, Slug
from discreet.server.api.roles import ONE, Allowed, documented
from discreet.server.deciding.requests import ask
from discreet.server.guards.errors import Refused
from discreet.server.guards.guard import limited
from discreet.server.services import services_of
from discreet.server.showing.shapes import DecisionView, RequestBody, TicketView
from discreet.server.showing.views import ticket_view

router = APIRouter(prefix=f"{ONE}/requests", tags=["requests"])
PENDING: dict[int | str, dict[str, Any]] = {
    202: {"model": DecisionView, "description": "A custodian decides; ask again at the ticket."}
}


@router.post(
    "",
    response_model=DecisionView,
    responses={**documented(404), **PENDING},
    dependencies=[Depends(limited("decisions"))],
)
async def request_table(request: Request, who: Allowed, slug: Slug, body: RequestBody) -> Response:
    """Ask for a table: it is granted, refused, or put before a custodian."""
    view = await ask(request, slug, body.variables, who)
    status = 202 if view.outcome is Outcome.PENDING else 200
    return Response(view.model_dump_json(), status, None, "application/json")


@router.get("/{number}", response_model=TicketView, responses=documented(404))
def ticket(request: Request, who: Allowed, slug: Slug, number: Number) -> TicketView:
    """What came of a request: of an account's, for itself, custodians and auditors."""
    everybodys = who.role in ("custodian", "auditor")
    view = ticket_view(services_of(request), slug, number, None if everybodys else who.actor)
    if view is None:
        raise Refused(404, "not_found", f"there is no request {number}.")
    return view
