"""Logging in and out, the second factor's code, and the first password by invitation."""

from __future__ import annotations

from typing import Annotated, Any
from urllib.parse import urlencode

from fastapi import APIRouter, Depends, Form, Path, Request
from fastapi.responses import RedirectResponse, Response

from discreet.server.guards.errors import Refused
from discreet.server.guards.guard import limited
from discreet.server.pages.render import Here, page
from discreet.server.people import invitations
from discreet.server.people.accounts import AccountError
from discreet.server.people.actors import address_of
from discreet.server.people.identity import Visitor, Waiting, anybody, factor_needed, set_cookie
from discreet.server.people.logins import check_code, log_out, token_of
from discreet.server.people.openid import Provider
from discreet.server.services import Services

router = APIRouter()
Anybody = Annotated[Visitor, Depends(anybody)]
Text = Annotated[str, Form(max_length=1_000)]
Token = Annotated[str, Path(max_length=100)]
WRONG = "The name or the password is wrong."
SET = "The password is set. Log in with it."
STAFF = ("custodian", "auditor")


@router.get("/login")
def login(request: Request, who: Anybody, next: str = "", done: str = "") -> Response:
    return login_page(request, who, next=next, said=SET if done == "password" else "")


@router.post("/login", dependencies=[Depends(limited("logins"))])
def log_in(
    request: Request, services: Here, name: Text, password: Text, next: Text = ""
) -> Response:
    """Start a session; a wrong name and a wrong password look the same."""
    found = services.accounts.authenticate(name, password, address_of(request))
    if found is None or found.user_id is None:
        return login_page(request, None, status=401, next=next, error=WRONG)
    token, _ = services.accounts.start_session(
        found.user_id, token_of(request), address=address_of(request)
    )
    if found.guarded:
        there = "/login/code" + (f"?{urlencode({'next': local(next)})}" if local(next) else "")
    elif factor_needed(services.settings, found.role):
        there = "/account/second-factor"
    else:
        there = home(found, next)
    return entered(services, there, token)


@router.get("/login/code")
def code(request: Request, who: Anybody, next: str = "") -> Response:
    """The second step: the code of the second factor."""
    if who.waits is None or who.waits.what != "code":
        return RedirectResponse("/login", 303)
    return page(request, "code", who, next=local(next))


@router.post("/login/code", dependencies=[Depends(limited("logins"))])
def give_code(
    request: Request, services: Here, who: Anybody, code: Text, next: Text = ""
) -> Response:
    """The half-open session becomes a new, whole one."""
    if who.waits is None or who.waits.what != "code":
        return RedirectResponse("/login", 303)
    try:
        check_code(request, who.waits.user_id, code)
    except Refused as refused:
        said = refused.message[0].upper() + refused.message[1:]
        answer = page(
            request, "code", who, status=refused.status_code, next=local(next), error=said
        )
        answer.headers.update(refused.headers or {})
        return answer
    token, _ = services.accounts.start_session(
        who.waits.user_id,
        token_of(request),
        passed=True,
        address=address_of(request),
        how="with the second factor",
    )
    return entered(services, home(who.waits, next), token)


@router.post("/logout")
def end(request: Request, who: Anybody) -> Response:
    response = RedirectResponse("/", 303)
    log_out(request, response)
    return response


@router.get("/invitation/{token}")
def invitation(request: Request, services: Here, who: Anybody, token: Token) -> Response:
    """Where an invited person sets the password; to look does not use the invitation up."""
    try:
        account = invitations.invited(services.accounts, token)
    except AccountError as error:
        return _invitation(request, who, error=str(error), status=404)
    return _invitation(request, who, name=account.name)


@router.post("/invitation/{token}", dependencies=[Depends(limited("logins"))])
def accept(
    request: Request, services: Here, who: Anybody, token: Token, password: Text
) -> Response:
    name = ""
    try:
        name = invitations.invited(services.accounts, token).name
        invitations.accept(services.accounts, token, password, address_of(request))
    except AccountError as error:
        return _invitation(request, who, name=name, error=str(error))
    return RedirectResponse("/login?done=password", 303)


def login_page(
    request: Request,
    who: Visitor | None,
    *,
    next: str = "",
    **told: Any,
) -> Response:
    provider: Provider | None = getattr(request.app.state, "provider", None)
    return page(
        request,
        "login",
        who,
        next=local(next),
        provider=None if provider is None else provider.name,
        **told,
    )


def entered(services: Services, there: str, token: str) -> Response:
    response = RedirectResponse(there, 303)
    set_cookie(response, services.settings, token)
    return response


def home(who: Visitor | Waiting, next: str) -> str:
    """Where a login leads."""
    return local(next) or ("/desk" if who.role in STAFF else "/")


def local(address: str) -> str:
    """An address of this services, or nothing.

    >>> local("/desk/czech"), local("//elsewhere.org"), local("https://elsewhere.org")
    ('/desk/czech', '', '')
    """
    own = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if own and address.isprintable() else ""


def _invitation(request: Request, who: Visitor, *, name: str = "", **told: Any) -> Response:
    return page(request, "invitation", who, name=name, **told)
