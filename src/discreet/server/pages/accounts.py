"""Logging in and out; users and their keys."""

from __future__ import annotations

from typing import Annotated

from fastapi import APIRouter, Depends, Form, Request
from fastapi.responses import RedirectResponse, Response

from discreet.server.accounts import AccountError
from discreet.server.guard import limited
from discreet.server.identity import (
    Visitor,
    clear_cookie,
    cookie_name,
    needs,
    set_cookie,
    visitor,
)
from discreet.server.pages.render import page
from discreet.server.site import Site, site_of

router = APIRouter()
Here = Annotated[Site, Depends(site_of)]
Someone = Annotated[Visitor, Depends(visitor)]
Custodian = Annotated[Visitor, Depends(needs("custodian"))]
Text = Annotated[str, Form(max_length=1_000)]
WRONG = "The name or the password is wrong."
DONE = {
    "added": "The account is there.",
    "closed": "The account is closed, with its sessions and keys.",
    "opened": "The account is open again; it needs new keys.",
    "password": "The password is changed; whoever was logged in with the old one no longer is.",
    "revoked": "The key is revoked.",
}


@router.get("/login")
def login(request: Request, who: Someone, next: str = "") -> Response:
    return page(request, "login", who, next=local(next), error="")


@router.post("/login", dependencies=[Depends(limited("logins"))])
def log_in(request: Request, site: Here, name: Text, password: Text, next: Text = "") -> Response:
    """Start a session; a wrong name and a wrong password look the same."""
    found = site.accounts.authenticate(name, password)
    if found is None or found.user_id is None:
        return page(request, "login", None, status=401, next=local(next), error=WRONG)
    old = request.cookies.get(cookie_name(site.settings))
    token, _ = site.accounts.start_session(found.user_id, old)
    home = "/desk" if found.role in ("custodian", "auditor") else "/"
    response = RedirectResponse(local(next) or home, 303)
    set_cookie(response, site.settings, token)
    return response


@router.post("/logout")
def log_out(request: Request, site: Here, who: Someone) -> Response:
    token = request.cookies.get(cookie_name(site.settings))
    if token and who.via == "session":
        site.accounts.end_session(token)
    response = RedirectResponse("/", 303)
    clear_cookie(response, site.settings)
    return response


@router.get("/desk/users")
def users(request: Request, site: Here, who: Custodian, done: str = "") -> Response:
    return _users(request, site, who, said=DONE.get(done, ""))


@router.post("/desk/users")
def add_user(
    request: Request, site: Here, who: Custodian, name: Text, role: Text, password: Text = ""
) -> Response:
    try:
        site.accounts.create(name, role, password or None)
    except AccountError as error:
        return _users(request, site, who, error=str(error), status=422)
    return RedirectResponse("/desk/users?done=added", 303)


@router.post("/desk/users/{user_id}/active")
def set_active(
    request: Request, site: Here, who: Custodian, user_id: int, active: Annotated[bool, Form()]
) -> Response:
    try:
        site.accounts.set_active(user_id, active)
    except AccountError as error:
        return _users(request, site, who, error=str(error), status=422)
    return RedirectResponse(f"/desk/users?done={'opened' if active else 'closed'}", 303)


@router.post("/desk/users/{user_id}/password")
def set_password(
    request: Request, site: Here, who: Custodian, user_id: int, password: Text
) -> Response:
    try:
        site.accounts.change_password(user_id, password)
    except AccountError as error:
        return _users(request, site, who, error=str(error), status=422)
    return RedirectResponse("/desk/users?done=password", 303)


@router.post("/desk/users/{user_id}/keys")
def add_key(request: Request, site: Here, who: Custodian, user_id: int, name: Text) -> Response:
    """A new key, on the page that answers and never again."""
    try:
        key = site.accounts.make_key(user_id, name)
    except AccountError as error:
        return _users(request, site, who, error=str(error), status=422)
    return _users(request, site, who, key=key, key_of=site.accounts.user(user_id).name)


@router.post("/desk/keys/{key_id}/revoke")
def revoke(request: Request, site: Here, who: Custodian, key_id: int) -> Response:
    try:
        site.accounts.revoke_key(key_id)
    except AccountError as error:
        return _users(request, site, who, error=str(error), status=422)
    return RedirectResponse("/desk/users?done=revoked", 303)


def _users(
    request: Request,
    site: Site,
    who: Visitor,
    *,
    said: str = "",
    error: str = "",
    key: str = "",
    key_of: str = "",
    status: int = 200,
) -> Response:
    keys = site.accounts.keys()
    return page(
        request,
        "users",
        who,
        status=status,
        users=[
            (user, [k for k in keys if k.user_id == user.id and k.revoked_at is None])
            for user in site.accounts.users()
        ],
        said=said,
        error=error,
        key=key,
        key_of=key_of,
    )


def local(address: str) -> str:
    """An address of this site, or nothing.

    >>> local("/desk/czech"), local("//elsewhere.org"), local("https://elsewhere.org")
    ('/desk/czech', '', '')
    """
    own = address.startswith("/") and not address.startswith(("//", "/\\"))
    return address if own and address.isprintable() else ""
