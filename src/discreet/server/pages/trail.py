"""The trail of accounts, for custodians and auditors."""

from __future__ import annotations

from typing import Annotated
from urllib.parse import urlencode

from fastapi import APIRouter, Query, Request
from fastapi.responses import Response

from discreet.server.api.trail import trail_view, verification_view
from discreet.server.ledger.trail import Event, TrailVerification
from discreet.server.pages.render import Here, Staff, page
from discreet.server.people.identity import Visitor
from discreet.server.services import Services

router = APIRouter()


@router.get("/desk/trail")
def trail(
    request: Request,
    services: Here,
    who: Staff,
    kind: str = "",
    account: str = "",
    before: Annotated[int | None, Query(ge=1, le=2**31 - 1)] = None,
) -> Response:
    return _trail(request, services, who, kind, account, before)


@router.post("/desk/trail/verify")
def verify(request: Request, services: Here, who: Staff) -> Response:
    """Is the trail as it was written?"""
    return _trail(request, services, who, "", "", None, verification_view(services))


def _trail(
    request: Request,
    services: Services,
    who: Visitor,
    kind: str,
    account: str,
    before: int | None,
    checked: TrailVerification | None = None,
) -> Response:
    people = {str(user.id): user.name for user in services.accounts.users()}
    kind = kind if kind in list(Event) else ""
    account = account if account in people else ""
    found = trail_view(services, kind=kind or None, account=account or None, before=before)
    older = {"kind": kind, "account": account, "before": found.before}
    return page(
        request,
        "trail",
        who,
        entries=found.entries,
        older=f"?{urlencode(older)}" if found.before else None,
        kinds=list(Event),
        kind=kind,
        account=account,
        people=people,
        checked=checked,
    )
