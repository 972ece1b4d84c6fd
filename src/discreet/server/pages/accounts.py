"""Users: accounts, roles, invitations, keys that are to end; and the trail of what was done."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Form, Query, Request
from fastapi.responses import RedirectResponse, Response

from discreet.server.api.accounts import trail_verification, trail_view
from discreet.server.api.replies import Number
from discreet.server.ledger.trail import Event, TrailVerification
from discreet.server.pages.render import Custodian, Here, Staff, page
from discreet.server.people import invitations
from discreet.server.people.accounts import AccountError, UserView
from discreet.server.people.actors import by
from discreet.server.people.identity import Visitor
from discreet.server.people.invitations import Invitation
from discreet.server.people.logins import InvitationView, hand_over
from discreet.server.services import Services

router = APIRouter()
Text = Annotated[str, Form(max_length=1_000)]
DONE = {
    "closed": "The account is closed, with its sessions and keys.",
    "opened": "The account is open again; it needs new keys.",
    "role": "The role is changed; its sessions and keys are ended.",
    "revoked": "The key is revoked.",
}


@router.get("/desk/users")
def users(request: Request, services: Here, who: Custodian, done: str = "") -> Response:
    return _users(request, services, who, said=DONE.get(done, ""))


@router.post("/desk/users")
def add_user(
    request: Request, services: Here, who: Custodian, name: Text, role: Text, email: Text = ""
) -> Response:
    """A new account, and its invitation, on the page that answers and never again."""
    try:
        made = services.accounts.create(name, role, email=email, by=by(request, who))
        invitation = invitations.invite(services.accounts, made.id, by(request, who))
    except AccountError as error:
        return _users(request, services, who, error=str(error))
    return _invited(request, services, who, made, invitation)


@router.post("/desk/users/{user_id}/invitation")
def invite(request: Request, services: Here, who: Custodian, user_id: Number) -> Response:
    """With it the person sets a password; nobody else learns it."""
    try:
        invitation = invitations.invite(services.accounts, user_id, by(request, who))
    except AccountError as error:
        return _users(request, services, who, error=str(error))
    return _invited(request, services, who, services.accounts.user(user_id), invitation)


@router.post("/desk/users/{user_id}/role")
def set_role(
    request: Request, services: Here, who: Custodian, user_id: Number, role: Text
) -> Response:
    try:
        services.accounts.set_role(user_id, role, by(request, who))
    except AccountError as error:
        return _users(request, services, who, error=str(error))
    return RedirectResponse("/desk/users?done=role", 303)


@router.post("/desk/users/{user_id}/active")
def set_active(
    request: Request,
    services: Here,
    who: Custodian,
    user_id: Number,
    active: Annotated[bool, Form()],
) -> Response:
    try:
        services.accounts.set_active(user_id, active, by(request, who))
    except AccountError as error:
        return _users(request, services, who, error=str(error))
    return RedirectResponse(f"/desk/users?done={'opened' if active else 'closed'}", 303)


@router.post("/desk/keys/{key_id}/revoke")
def revoke(request: Request, services: Here, who: Custodian, key_id: Number) -> Response:
    try:
        services.accounts.revoke_key(key_id, by=by(request, who))
    except AccountError as error:
        return _users(request, services, who, error=str(error))
    return RedirectResponse("/desk/users?done=revoked", 303)


def _invited(
    request: Request, services: Services, who: Visitor, account: UserView, invitation: Invitation
) -> Response:
    told = hand_over(request, account, invitation)
    return _users(request, services, who, invitation=told, invited=account.name)


def _users(
    request: Request,
    services: Services,
    who: Visitor,
    *,
    invitation: InvitationView | None = None,
    invited: str = "",
    **told: Any,
) -> Response:
    keys = services.accounts.keys()
    return page(
        request,
        "users",
        who,
        users=[
            (user, [k for k in keys if k.user_id == user.id and k.revoked_at is None])
            for user in services.accounts.users()
        ],
        waiting=invitations.open_invitations(services.accounts),
        **told,
        invitation=invitation,
        invited=invited,
    )


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
    return _trail(request, services, who, "", "", None, trail_verification(services))


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
