"""Logging in, and accounts with their keys."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import BaseModel, ConfigDict, Field
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.accounts import Account, Key
from discreet.server.api.replies import Number
from discreet.server.api.roles import API, Allowed, documented
from discreet.server.errors import Refused
from discreet.server.guard import limited
from discreet.server.identity import Visitor, clear_cookie, cookie_name, set_cookie
from discreet.server.site import Site, site_of
from discreet.server.views import View

router = APIRouter(prefix=API, tags=["accounts"])
RoleOfAccount = Literal["analyst", "custodian", "auditor"]
Password = Annotated[str, Field(min_length=1, max_length=1_000)]


class Body(BaseModel):
    model_config = ConfigDict(extra="forbid")


class LoginBody(Body):
    name: str = Field(max_length=200)
    password: Password


class PasswordBody(Body):
    old: Password
    new: Password


class UserBody(Body):
    name: str = Field(max_length=64, examples=["ada"])
    role: RoleOfAccount
    password: Password | None = None


class UserChanges(Body):
    role: RoleOfAccount | None = None
    active: bool | None = None
    password: Password | None = None


class KeyBody(Body):
    name: str = Field(min_length=1, max_length=100, examples=["nightly download"])
    user_id: int | None = Field(None, description="Of whom; for custodians. None: your own.")


class MeView(View):
    name: str
    role: Literal["public", "analyst", "custodian", "auditor"]
    csrf: str | None = Field(description="To be sent as X-CSRF-Token with every change.")
    via: Literal["session", "key"] | None


class UserView(View):
    id: int
    name: str
    role: RoleOfAccount
    active: bool
    created_at: str


class UsersView(View):
    users: list[UserView]


class KeyView(View):
    id: int
    user_id: int
    name: str
    created_at: str
    revoked_at: str | None
    last_used_at: str | None


class KeysView(View):
    keys: list[KeyView]


class NewKeyView(View):
    key: str = Field(description="Shown this once.")


@router.post(
    "/login",
    response_model=MeView,
    responses=documented(),
    dependencies=[Depends(limited("logins"))],
)
def login(request: Request, response: Response, who: Allowed, body: LoginBody) -> MeView:
    """Start a session: a cookie, and the token that changes must be sent with."""
    site = site_of(request)
    found = site.accounts.authenticate(body.name, body.password)
    if found is None or found.user_id is None:
        raise Refused(401, "wrong_login", "the name or the password is wrong.")
    token, csrf = site.accounts.start_session(found.user_id, _token(request, site))
    set_cookie(response, site.settings, token)
    return MeView(name=found.name, role=found.role, csrf=csrf, via="session")


@router.post("/logout", status_code=204, responses=documented())
def logout(request: Request, who: Allowed) -> Response:
    """End the session."""
    site, response = site_of(request), Response(status_code=204)
    if token := _token(request, site):
        site.accounts.end_session(token)
    clear_cookie(response, site.settings)
    return response


@router.get("/me", response_model=MeView, responses=documented())
def me(who: Allowed) -> MeView:
    """Who the server takes you for."""
    return MeView(name=who.name, role=who.role, csrf=who.csrf, via=who.via)


@router.post(
    "/me/password",
    status_code=204,
    responses=documented(),
    dependencies=[Depends(limited("logins"))],
)
def change_password(request: Request, who: Allowed, body: PasswordBody) -> Response:
    """A new password; sessions end, keys stay."""
    site = site_of(request)
    if site.accounts.authenticate(who.name, body.old) is None:
        raise Refused(403, "wrong_login", "the old password is wrong.")
    site.accounts.change_password(_own(who), body.new)
    response = Response(status_code=204)
    clear_cookie(response, site.settings)
    return response


@router.get("/keys", response_model=KeysView, responses=documented())
def keys(
    request: Request,
    who: Allowed,
    everybody: Annotated[bool, Query(description="For custodians.")] = False,
) -> KeysView:
    """Your keys."""
    all_of_them = everybody and who.role == "custodian"
    found = site_of(request).accounts.keys(None if all_of_them else _own(who))
    return KeysView(keys=[_key_view(key) for key in found])


@router.post("/keys", status_code=201, response_model=NewKeyView, responses=documented())
def make_key(request: Request, who: Allowed, body: KeyBody) -> NewKeyView:
    """A new key, of yours or, for custodians, of anybody."""
    owner = _own(who) if body.user_id is None else body.user_id
    if owner != who.user_id and who.role != "custodian":
        raise Refused(403, "not_allowed", "only custodians make keys for others.")
    return NewKeyView(key=site_of(request).accounts.make_key(owner, body.name))


@router.delete("/keys/{number}", status_code=204, responses=documented())
def revoke_key(request: Request, who: Allowed, number: Number) -> Response:
    """End a key: your own, or as a custodian anybody's."""
    owner = None if who.role == "custodian" else _own(who)
    site_of(request).accounts.revoke_key(number, owner)
    return Response(status_code=204)


@router.get("/users", response_model=UsersView, responses=documented())
def users(request: Request, who: Allowed) -> UsersView:
    """Every account."""
    return UsersView(users=[_user_view(user) for user in site_of(request).accounts.users()])


@router.post("/users", status_code=201, response_model=UserView, responses=documented())
def create_user(request: Request, who: Allowed, body: UserBody) -> UserView:
    """A new account; without a password it can use keys only."""
    return _user_view(site_of(request).accounts.create(body.name, body.role, body.password))


@router.patch("/users/{number}", response_model=UserView, responses=documented())
def change_user(request: Request, who: Allowed, number: Number, body: UserChanges) -> UserView:
    """Another role or password, or close the account or open it again."""
    accounts = site_of(request).accounts
    accounts.user(number)
    if body.role is not None:
        accounts.set_role(number, body.role)
    if body.password is not None:
        accounts.change_password(number, body.password)
    if body.active is not None:
        accounts.set_active(number, body.active)
    return _user_view(accounts.user(number))


def _token(request: Request, site: Site) -> str | None:
    return request.cookies.get(cookie_name(site.settings))


def _own(who: Visitor) -> int:
    assert who.user_id is not None
    return who.user_id


def _user_view(user: Account) -> UserView:
    return UserView.model_validate(user, from_attributes=True)


def _key_view(key: Key) -> KeyView:
    return KeyView.model_validate(key, from_attributes=True)
