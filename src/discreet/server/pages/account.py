"""One's own account: the password, the e-mail address and the keys."""

from __future__ import annotations

from typing import Annotated, Any

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response

from discreet.server.api.replies import Number
from discreet.server.api.roles import ACCOUNTS
from discreet.server.guards.guard import limited
from discreet.server.pages.render import Here, page
from discreet.server.people.accounts import AccountError
from discreet.server.people.actors import address_of, by
from discreet.server.people.identity import Visitor, needs, set_cookie
from discreet.server.people.logins import check_factor, factors_of
from discreet.server.services import Services

router = APIRouter()
Own = Annotated[Visitor, Depends(needs(*sorted(ACCOUNTS)))]
Text = Annotated[str, Form(max_length=1_000)]
DONE = {
    "password": "The password is changed; other sessions with the old one are ended.",
    "email": "The e-mail address is changed.",
    "revoked": "The key is revoked.",
    "factor": "The second factor is removed; other sessions are ended.",
}


@router.get("/account")
def account(request: Request, services: Here, who: Own, done: str = "") -> Response:
    return _account(request, services, who, said=DONE.get(done, ""))


@router.post("/account/password", dependencies=[Depends(limited("logins"))])
def change_password(request: Request, services: Here, who: Own, old: Text, new: Text) -> Response:
    """A new password; this session goes on as a new one, others end."""
    try:
        if services.accounts.authenticate(who.name, old, address_of(request)) is None:
            raise AccountError("the old password is wrong.")
        services.accounts.change_password(own_id(who), new, by(request, who))
    except AccountError as error:
        return _account(request, services, who, error=str(error))
    response = RedirectResponse("/account?done=password", 303)
    if who.via == "session":
        token, _ = services.accounts.start_session(own_id(who), passed=who.passed, again=True)
        set_cookie(response, services.settings, token)
    return response


@router.post("/account/email")
def change_email(request: Request, services: Here, who: Own, email: Text = "") -> Response:
    """Where notices go."""
    try:
        services.accounts.set_email(own_id(who), email, by(request, who))
    except AccountError as error:
        return _account(request, services, who, error=str(error))
    return RedirectResponse("/account?done=email", 303)


@router.post("/account/keys")
def add_key(request: Request, services: Here, who: Own, name: Text) -> Response:
    """A new key, on the page that answers and never again."""
    try:
        check_factor(request, who)
        key = services.accounts.make_key(own_id(who), name, by(request, who))
    except AccountError as error:
        return _account(request, services, who, error=str(error))
    return _account(request, services, who, key=key)


@router.post("/account/keys/{key_id}/revoke")
def revoke(request: Request, services: Here, who: Own, key_id: Number) -> Response:
    try:
        services.accounts.revoke_key(key_id, own_id(who), by(request, who))
    except AccountError as error:
        return _account(request, services, who, error=str(error))
    return RedirectResponse("/account?done=revoked", 303)


def _account(
    request: Request,
    services: Services,
    who: Visitor,
    *,
    key: str = "",
    **told: Any,
) -> Response:
    keys = [one for one in services.accounts.keys(own_id(who)) if one.revoked_at is None]
    return page(
        request,
        "account",
        who,
        account=services.accounts.user(own_id(who)),
        codes_left=factors_of(request).codes_left(own_id(who)),
        keys=keys,
        **told,
        key=key,
    )


def own_id(who: Visitor) -> int:
    assert who.user_id is not None  # nobody else is let in
    return who.user_id
