"""Logging in and out, from the API and from pages: the password, then the second factor."""

from __future__ import annotations

from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.guards.errors import Refused
from discreet.server.notices.post import Post
from discreet.server.people.accounts import UserView
from discreet.server.people.actors import By, address_of
from discreet.server.people.identity import Visitor, clear_cookie, cookie_name, factor_needed
from discreet.server.people.invitations import Invitation
from discreet.server.people.second_factor import Paused, SecondFactors
from discreet.server.services import services_of
from discreet.server.showing.shapes import View

SETUP = "accounts of this role need a second factor; log in at /login and set one up."


class InvitationView(View):
    link: str | None = Field(description="To hand on; none if it went to the account's e-mail.")
    expires_at: str


def factors_of(request: Request) -> SecondFactors:
    found: SecondFactors = request.app.state.factors
    return found


def token_of(request: Request) -> str | None:
    """What the session's cookie holds."""
    return request.cookies.get(cookie_name(services_of(request).settings))


def log_in(request: Request, name: str, password: str, code: str) -> tuple[Visitor, str, str]:
    """A session in one step: who it is, what the cookie holds, what changes must send."""
    services, address = services_of(request), address_of(request)
    found = services.accounts.authenticate(name, password, address)
    if found is None or found.user_id is None:
        raise Refused(401, "wrong_login", "the name or the password is wrong.")
    if found.guarded:
        if not code:
            raise Refused(401, "code_needed", "send the code of your second factor as `code`.")
        check_code(request, found.user_id, code)
    elif factor_needed(services.settings, found.role):
        raise Refused(403, "setup_needed", SETUP)
    token, csrf = services.accounts.start_session(
        found.user_id, token_of(request), passed=found.guarded, address=address
    )
    return found, token, csrf


def check_code(request: Request, user_id: int, code: str) -> None:
    """The code of the second factor is right, or nothing goes on."""
    try:
        right = factors_of(request).check(user_id, code, By(str(user_id), address_of(request)))
    except Paused as paused:
        wait = {"retry_after": paused.seconds}
        headers = {"Retry-After": str(paused.seconds)}
        raise Refused(429, "too_many_requests", str(paused), wait, headers) from None
    if not right:
        raise Refused(401, "wrong_login", "the code is wrong, or was used already.")


def check_factor(request: Request, who: Visitor) -> None:
    """Keys are made by whoever gave the second factor, where there must be one."""
    if who.passed or not (who.guarded or factor_needed(services_of(request).settings, who.role)):
        return
    raise Refused(
        403, "not_allowed", "a key is made in a session, after the second factor: log in first."
    )


def log_out(request: Request, response: Response) -> None:
    services, token = services_of(request), token_of(request)
    if token is not None:
        services.accounts.end_session(token, address_of(request))
    clear_cookie(response, services.settings)


def hand_over(request: Request, account: UserView, invitation: Invitation) -> InvitationView:
    """An invitation's link: by e-mail, so that nobody else sees it, or else to be handed on."""
    post: Post = request.app.state.post
    base = services_of(request).settings.address.rstrip("/")
    link = f"{base}/invitation/{invitation.token}"
    sent = post.invite(account, invitation, link)
    return InvitationView(link=None if sent else link, expires_at=invitation.expires_at)
