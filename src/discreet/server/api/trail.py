"""The trail of accounts."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Query
from pydantic import Field
from starlette.requests import Request

from discreet.server.api.roles import API, Allowed, documented
from discreet.server.ledger.trail import Event, TrailVerification, entries, verify_trail
from discreet.server.services import Services, services_of
from discreet.server.showing.shapes import View

router = APIRouter(prefix=f"{API}/trail", tags=["accounts"])
MOST = 200  # entries at once
Whole = Annotated[int | None, Query(ge=1, le=2**31 - 1)]


class TrailEntry(View):
    number: int
    at: str
    kind: str
    actor: str = Field(description="An account's number, public, server, or operator and a name.")
    about: str | None = Field(description="The account that it is about.")
    address: str | None
    note: str | None
    hash: str


class TrailView(View):
    entries: list[TrailEntry] = Field(description="The newest first.")
    before: int | None = Field(description="To ask for those before; none: there are no more.")


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


def trail_view(
    services: Services,
    *,
    kind: str | None = None,
    account: str | None = None,
    before: int | None = None,
) -> TrailView:
    with services.database.read() as session:
        found = entries(session, kind=kind, account=account, before=before, limit=MOST + 1)
    more = len(found) > MOST
    return TrailView(
        entries=[TrailEntry.model_validate(one) for one in found[:MOST]],
        before=found[MOST - 1].number if more else None,
    )


def verification_view(services: Services) -> TrailVerification:
    with services.database.read() as session:
        return verify_trail(session)
