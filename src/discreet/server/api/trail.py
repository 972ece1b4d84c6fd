"""The trail of accounts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from starlette.requests import Request

from discreet.server.api.roles import API, Allowed, documented
from discreet.server.ledger.trail import Event
from discreet.server.people.trail_views import (
    TrailVerification,
    TrailView,
    trail_view,
    verification_view,
)
from discreet.server.services import services_of

router = APIRouter(prefix=f"{API}/trail", tags=["accounts"])
Whole = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


@router.get("", response_model=TrailView, responses=documented())
def trail(
    request: Request,
    who: Allowed,
    kind: Event | None = None,
    account: Annotated[Whole, Query(description="Done by it or about it.")] = None,
    before: Whole = None,
) -> TrailView:
    """Who did what with accounts and from where, 200 entries at most."""
    number = None if account is None else str(account)
    return trail_view(services_of(request), kind=kind, account=number, before=before)


@router.get("/verification", response_model=TrailVerification, responses=documented())
def verification(request: Request, who: Allowed) -> TrailVerification:
    """Is the trail as it was written?"""
    return verification_view(services_of(request))
