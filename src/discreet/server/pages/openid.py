"""Logging in with who vouches for accounts: there, and back."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Query, Request
from fastapi.responses import RedirectResponse, Response

from discreet.server.guards.errors import Refused
from discreet.server.guards.guard import limited
from discreet.server.ledger.trail import Event
from discreet.server.pages.login import entered, home, local, login_page
from discreet.server.pages.render import Here
from discreet.server.people.actors import address_of
from discreet.server.people.identity import Visitor, anybody, clear_cookie, cookie_name, set_cookie
from discreet.server.people.logins import token_of
from discreet.server.people.openid import CALLBACK, LIFE, OpenIDError, Provider
from discreet.server.people.subjects import account_of
from discreet.server.services import Services
from discreet.server.settings import Settings

router = APIRouter()
Anybody = Annotated[Visitor, Depends(anybody)]
Word = Annotated[str, Query(max_length=4_000)]
NO_ROLE = "You are known, but have no role here. Ask whoever gives roles for the table server."
REFUSED = "The login was broken off."


def provider_of(request: Request) -> Provider:
    found: Provider | None = request.app.state.provider
    if found is None:
        raise Refused(404, "not_found", "there is no login elsewhere.")
    return found


Elsewhere = Annotated[Provider, Depends(provider_of)]


@router.get("/login/openid", dependencies=[Depends(limited("logins"))])
def there(
    request: Request, services: Here, provider: Elsewhere, who: Anybody, next: Word = ""
) -> Response:
    """Off to the provider; what this browser must show when it comes back goes into a cookie."""
    try:
        address, kept = provider.begin(services.accounts, local(next))
    except OpenIDError as error:
        return _failed(request, services, who, error)
    response = RedirectResponse(address, 303)
    seconds = round(LIFE.total_seconds())
    set_cookie(response, services.settings, kept, name=_cookie(services.settings), seconds=seconds)
    return response


@router.get(CALLBACK)
def back(
    request: Request,
    services: Here,
    provider: Elsewhere,
    who: Anybody,
    state: Word = "",
    code: Word = "",
    error: Word = "",
    iss: Word = "",
) -> Response:
    """A session for whom the provider vouches, in the role that it says."""
    kept = request.cookies.get(_cookie(services.settings), "")
    try:
        next = provider.returned(services.accounts, state, kept)
        if error or not code:
            raise OpenIDError(REFUSED, "the provider said no")
        if iss and iss != provider.issuer:
            raise OpenIDError(REFUSED, "an answer of another issuer")
        found = provider.vouches(code, kept, services.accounts.clock())
    except OpenIDError as problem:
        return _failed(request, services, who, problem)
    user_id = account_of(services.accounts, provider.issuer, found, address_of(request))
    if user_id is None:
        return _failed(request, services, who, OpenIDError(NO_ROLE, "no role, or a closed account"))
    token, _ = services.accounts.start_session(
        user_id,
        token_of(request),
        passed=True,
        address=address_of(request),
        how=f"by {provider.issuer}",
    )
    account = services.accounts.user(user_id)
    response = entered(services, home(Visitor(user_id, account.name, account.role), next), token)
    clear_cookie(response, services.settings, name=_cookie(services.settings))
    return response


def _failed(request: Request, services: Services, who: Visitor, error: OpenIDError) -> Response:
    services.accounts.failures.note(
        Event.LOGIN_FAILED, address=address_of(request), note=f"OpenID: {error.why}"
    )
    said = str(error)[0].upper() + str(error)[1:]
    response = login_page(request, who, status=401, error=said)
    clear_cookie(response, services.settings, name=_cookie(services.settings))
    return response


def _cookie(settings: Settings) -> str:
    return f"{cookie_name(settings)}-openid"
