"""Setting up a second factor: a picture for the app, its first code, codes for recovery."""

from __future__ import annotations

import io
from typing import Annotated

import segno
from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response

from discreet.server.guards.errors import Refused
from discreet.server.guards.guard import limited
from discreet.server.pages.account import Own, own_id
from discreet.server.pages.render import page
from discreet.server.people.accounts import AccountError
from discreet.server.people.actors import By, address_of, by
from discreet.server.people.identity import Visitor, Waiting, anybody, needs, visitor
from discreet.server.people.logins import check_code, factors_of, token_of
from discreet.server.people.second_factor import remove_factor
from discreet.server.services import services_of

PATH = "/account/second-factor"
router = APIRouter(prefix=PATH)
Text = Annotated[str, Form(max_length=100)]


async def setting_up(found: Annotated[Visitor, Depends(anybody)]) -> Visitor:
    """A dependency: an account, also one that must set it up before anything else."""
    if found.waits is not None and found.waits.what == "setup":
        return found
    return await needs("analyst", "custodian", "auditor")(await visitor(found))


Setting = Annotated[Visitor, Depends(setting_up)]


@router.get("")
def begin(request: Request, who: Setting) -> Response:
    return _page(request, who)


@router.post("/offer")
def offer(request: Request, who: Setting) -> Response:
    """A new secret, to be confirmed."""
    try:
        _offered(request, who, new=True)
    except AccountError as error:
        return _page(request, who, error=str(error))
    return RedirectResponse(PATH, 303)


@router.get("/qr.svg")
def picture(request: Request, who: Setting) -> Response:
    """The secret as a picture for an app; of this session, and nobody keeps it."""
    secret = _offered(request, who)
    if secret is None:
        raise Refused(404, "not_found", "nothing is being set up.")
    title = services_of(request).settings.title
    drawn = io.BytesIO()
    code = segno.make(factors_of(request).address(_of(who).name, secret, title), micro=False)
    code.save(drawn, kind="svg", scale=4, border=4, dark="black", light="white")
    headers = {"Cache-Control": "no-store"}
    return Response(drawn.getvalue(), 200, headers, "image/svg+xml")


@router.post("")
def confirm(request: Request, who: Setting, code: Text) -> Response:
    """The first code; what is shown then is shown this once."""
    user_id, token = _of(who).user_id, token_of(request)
    try:
        codes = factors_of(request).confirm(
            user_id, token or "", code, By(str(user_id), address_of(request))
        )
    except AccountError as error:
        return _page(request, who, error=str(error))
    return page(request, "recovery", who, codes=codes)


@router.post("/codes", dependencies=[Depends(limited("logins"))])
def new_codes(request: Request, who: Own, code: Text) -> Response:
    """Other recovery codes, for who has the second factor at hand."""
    check_code(request, own_id(who), code)
    codes = factors_of(request).new_codes(own_id(who), by(request, who))
    return page(request, "recovery", who, codes=codes)


@router.post("/remove", dependencies=[Depends(limited("logins"))])
def remove(request: Request, who: Own, code: Text) -> Response:
    """Do without, for who has it at hand; sessions end."""
    check_code(request, own_id(who), code)
    remove_factor(services_of(request).accounts, own_id(who), by(request, who))
    return RedirectResponse("/login", 303)


def _page(request: Request, who: Visitor, *, error: str = "") -> Response:
    guarded, secret = who.guarded, None
    try:
        secret = None if guarded else _offered(request, who)
    except AccountError as problem:
        error = error or str(problem)
    grouped = " ".join(secret[at : at + 4] for at in range(0, len(secret), 4)) if secret else ""
    return page(request, "second_factor", who, error=error, guarded=guarded, secret=grouped)


def _offered(request: Request, who: Visitor, *, new: bool = False) -> str | None:
    """The secret that is to be confirmed in this session."""
    token, user = token_of(request), _of(who)
    if token is None or who.via != "session":
        raise AccountError("a second factor is set up in a session; log in at /login.")
    account = services_of(request).accounts.user(user.user_id)
    if account.issuer is not None:
        raise AccountError(f"{account.issuer} vouches for this account; set it up there.")
    if new:
        factors_of(request).offer(user.user_id, token)
    return factors_of(request).offered(user.user_id, token)


def _of(who: Visitor) -> Waiting:
    """Whose it will be."""
    return who.waits or Waiting(own_id(who), who.name, who.role, "setup")
