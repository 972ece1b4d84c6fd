"""Logging in, accounts with their keys, and the trail of what was done with them."""

from __future__ import annotations

from typing import Annotated, Literal

from fastapi import APIRouter, Depends, Query
from pydantic import Field
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.api.replies import Number
from discreet.server.api.roles import API, Allowed, documented
from discreet.server.guards.errors import Refused
from discreet.server.guards.guard import limited
from discreet.server.ledger.trail import Event, TrailVerification, entries, verify_trail
from discreet.server.people import invitations, logins
from discreet.server.people.accounts import KeyView, RoleOfAccount, UserView
from discreet.server.people.actors import address_of, by
from discreet.server.people.identity import Visitor, clear_cookie, set_cookie
from discreet.server.people.logins import InvitationView
from discreet.server.services import Services, services_of
from discreet.server.showing.shapes import Body, View

router = APIRouter(prefix=API, tags=["accounts"])
Whole = Annotated[int | None, Query(ge=1, le=2**31 - 1)]
MOST = 200  # entries of the trail at once
Password = Annotated[str, Field(min_length=1, max_length=1_000)]
Email = Annotated[str, Field(max_length=254, examples=["ada@example.org"])]


class LoginBody(Body):
    name: str = Field(max_length=200)
    password: Password
    code: str = Field("", max_length=40, description="Of the second factor, or for recovery.")


class PasswordBody(Body):
    old: Password
    new: Password


class UserBody(Body):
    name: str = Field(max_length=64, examples=["ada"])
    role: RoleOfAccount
    email: Email | None = None


class UserChanges(Body):
    role: RoleOfAccount | None = None
    active: bool | None = None


class EmailBody(Body):
    email: Email | None = Field(description="Where notices go; none: there are none.")


class KeyBody(Body):
    name: str = Field(min_length=1, max_length=100, examples=["nightly download"])


class MeView(View):
    name: str
    role: Literal["public", "analyst", "custodian", "auditor"]
    csrf: str | None = Field(description="To be sent as X-CSRF-Token with every change.")
    via: Literal["session", "key"] | None


class NewUserView(UserView):
    invitation: InvitationView


class UsersView(View):
    users: list[UserView]


class KeysView(View):
    keys: list[KeyView]


class NewKeyView(View):
    key: str = Field(description="Shown this once.")


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


@router.post(
    "/login",
    response_model=MeView,
    responses=documented(),
    dependencies=[Depends(limited("logins"))],
)
def login(request: Request, response: Response, who: Allowed, body: LoginBody) -> MeView:
    """Start a session: a cookie, and the token that changes must be sent with."""
    found, token, csrf = logins.log_in(request, body.name, body.password, body.code)
    set_cookie(response, services_of(request).settings, token)
    return MeView(name=found.name, role=found.role, csrf=csrf, via="session")


@router.post("/logout", status_code=204, responses=documented())
def logout(request: Request, who: Allowed) -> Response:
    """End the session."""
    response = Response(status_code=204)
    logins.log_out(request, response)
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
    services = services_of(request)
    if services.accounts.authenticate(who.name, body.old, address_of(request)) is None:
        request.state.noted = True  # in the trail, by what was tried
        raise Refused(403, "wrong_login", "the old password is wrong.")
    services.accounts.change_password(_own(who), body.new, by(request, who))
    response = Response(status_code=204)
    clear_cookie(response, services.settings)
    return response


@router.post("/me/email", status_code=204, responses=documented())
def change_email(request: Request, who: Allowed, body: EmailBody) -> Response:
    """Where notices about your requests go."""
    services_of(request).accounts.set_email(_own(who), body.email, by(request, who))
    return Response(status_code=204)


@router.get("/keys", response_model=KeysView, responses=documented())
def keys(
    request: Request,
    who: Allowed,
    everybody: Annotated[bool, Query(description="For custodians.")] = False,
) -> KeysView:
    """Your keys."""
    all_of_them = everybody and who.role == "custodian"
    found = services_of(request).accounts.keys(None if all_of_them else _own(who))
    return KeysView(keys=found)


@router.post("/keys", status_code=201, response_model=NewKeyView, responses=documented())
def make_key(request: Request, who: Allowed, body: KeyBody) -> NewKeyView:
    """A new key of yours."""
    logins.check_factor(request, who)
    made = services_of(request).accounts.make_key(_own(who), body.name, by(request, who))
    return NewKeyView(key=made)


@router.delete("/keys/{number}", status_code=204, responses=documented())
def revoke_key(request: Request, who: Allowed, number: Number) -> Response:
    """End a key: your own, or as a custodian anybody's."""
    owner = None if who.role == "custodian" else _own(who)
    services_of(request).accounts.revoke_key(number, owner, by(request, who))
    return Response(status_code=204)


@router.get("/users", response_model=UsersView, responses=documented())
def users(request: Request, who: Allowed) -> UsersView:
    """Every account."""
    return UsersView(users=services_of(request).accounts.users())


@router.post("/users", status_code=201, response_model=NewUserView, responses=documented())
def create_user(request: Request, who: Allowed, body: UserBody) -> NewUserView:
    """A new account, and the invitation with which its owner sets the password."""
    accounts, actor = services_of(request).accounts, by(request, who)
    made = accounts.create(body.name, body.role, email=body.email, by=actor)
    invitation = invitations.invite(accounts, made.id, actor)
    told = logins.hand_over(request, made, invitation)
    return NewUserView(**made.model_dump(), invitation=told)


@router.post(
    "/users/{number}/invitation",
    status_code=201,
    response_model=InvitationView,
    responses=documented(),
)
def invite_user(request: Request, who: Allowed, number: Number) -> InvitationView:
    """A new invitation, for who has no password yet or has lost it."""
    accounts = services_of(request).accounts
    made = invitations.invite(accounts, number, by(request, who))
    return logins.hand_over(request, accounts.user(number), made)


@router.patch("/users/{number}", response_model=UserView, responses=documented())
def change_user(request: Request, who: Allowed, number: Number, body: UserChanges) -> UserView:
    """Another role, or close the account or open it again."""
    accounts, actor = services_of(request).accounts, by(request, who)
    accounts.user(number)
    if body.role is not None:
        accounts.set_role(number, body.role, actor)
    if body.active is not None:
        accounts.set_active(number, body.active, actor)
    return accounts.user(number)


@router.get("/trail", response_model=TrailView, responses=documented())
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


@router.get("/trail/verification", response_model=TrailVerification, responses=documented())
def verification(request: Request, who: Allowed) -> TrailVerification:
    """Is the trail as it was written?"""
    return trail_verification(services_of(request))


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


def trail_verification(services: Services) -> TrailVerification:
    with services.database.read() as session:
        return verify_trail(session)


def _own(who: Visitor) -> int:
    assert who.user_id is not None
    return who.user_id
