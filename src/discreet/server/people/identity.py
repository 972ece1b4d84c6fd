"""Who a request comes from, and what it may do."""

from __future__ import annotations

import hmac
from collections.abc import Awaitable, Callable
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Annotated, Literal, cast, get_args

from fastapi import Depends
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from discreet.server.guards.errors import Refused

if TYPE_CHECKING:
    from discreet.server.services import Services
    from discreet.server.settings import Settings

RoleName = Literal["public", "analyst", "custodian", "auditor"]
SAFE = frozenset({"GET", "HEAD", "OPTIONS"})
FORM = "application/x-www-form-urlencoded"


@dataclass(frozen=True)
class Waiting:
    """Who has given the password, and must first give a code or set up a second factor."""

    user_id: int
    name: str
    role: RoleName
    what: Literal["code", "setup"]


@dataclass(frozen=True)
class Visitor:
    """Who asks; without a login, the public. `via`: how we know.

    `guarded`: the account has a second factor; `passed`: this session gave it, or whoever vouches
    for the account answers for that. Who still `waits` for it is the public until then.
    """

    user_id: int | None = None
    name: str = "public"
    role: RoleName = "public"
    csrf: str | None = field(default=None, repr=False)
    via: Literal["session", "key"] | None = None
    guarded: bool = False
    passed: bool = False
    waits: Waiting | None = None

    @property
    def actor(self) -> str:
        """As the ledger names them."""
        return "public" if self.user_id is None else str(self.user_id)


PUBLIC = Visitor()


def identify(request: Request) -> Visitor:
    """Who sent a key or a session's cookie. A key goes first; a wrong one is refused.

    Reads the database; kept with the request, for whoever asks next.
    """
    if (known := getattr(request.state, "visitor", None)) is not None:
        return cast(Visitor, known)
    services = cast("Services", request.app.state.services)
    found: Visitor | None
    if (key := bearer(request)) is not None:
        found = None if hasattr(request.state, "wrong_key") else services.accounts.by_key(key)
        if found is None:
            if not hasattr(request.state, "wrong_key"):
                request.state.wrong_key = True
                address = request.app.state.limits.proxies.address(request.scope)
                services.accounts.wrong_key(key, address)
            raise _login_needed("the key is wrong, revoked, or of an account that is closed.")
    else:
        token = request.cookies.get(cookie_name(services.settings))
        found = services.accounts.by_session(token) if token else None
    request.state.visitor = _held(found or PUBLIC, services.settings)
    return cast(Visitor, request.state.visitor)


def _held(found: Visitor, settings: Settings) -> Visitor:
    """A session without its second factor is nobody's."""
    if found.via != "session" or found.user_id is None or found.passed:
        return found
    if not found.guarded and not factor_needed(settings, found.role):
        return found
    what: Literal["code", "setup"] = "code" if found.guarded else "setup"
    waits = Waiting(found.user_id, found.name, found.role, what)
    return Visitor(csrf=found.csrf, via="session", waits=waits)


def factor_needed(settings: Settings, role: RoleName) -> bool:
    """Must accounts of this role have a second factor?"""
    return (
        role
        in {
            "optional": (),
            "staff": ("custodian", "auditor"),
            "all": ("analyst", "custodian", "auditor"),
        }[settings.second_factor]
    )


async def anybody(request: Request) -> Visitor:
    """A dependency: who asks, also who still waits for the second factor.

    What changes something must show that their page asked for it.
    """
    found = await run_in_threadpool(identify, request)
    if found.via == "session" and request.method not in SAFE:
        await _check_csrf(request, found)
    return found


async def visitor(found: Annotated[Visitor, Depends(anybody)]) -> Visitor:
    """A dependency: who asks. Who still waits for the second factor gets nothing else."""
    if found.waits is not None and found.waits.what == "code":
        raise Refused(403, "code_needed", "give the code of your second factor first.")
    if found.waits is not None:
        raise Refused(403, "setup_needed", "set up a second factor for your account first.")
    return found


def needs(*roles: RoleName) -> Callable[..., Awaitable[Visitor]]:
    """A dependency: who asks, if their role is one of these."""
    if odd := set(roles) - set(get_args(RoleName)):
        raise ValueError(f"there is no role {odd.pop()!r}; there are {get_args(RoleName)}.")

    async def allowed(found: Annotated[Visitor, Depends(visitor)]) -> Visitor:
        if found.role in roles:
            return found
        if found.role == "public":
            raise _login_needed("log in, or send a key.")
        raise Refused(403, "not_allowed", f"this is not for the role {found.role}.")

    return allowed


def bearer(request: Request) -> str | None:
    """The key of `Authorization: Bearer KEY`."""
    scheme, _, key = request.headers.get("authorization", "").partition(" ")
    return key.strip() if scheme.lower() == "bearer" else None


def cookie_name(settings: Settings) -> str:
    """Browsers take __Host- only over https, for one host, and from itself."""
    return "discreet" if settings.cookies_over_http else "__Host-discreet"


def set_cookie(
    response: Response,
    settings: Settings,
    token: str,
    *,
    name: str | None = None,
    seconds: int | None = None,
) -> None:
    """What `Accounts.start_session` gave, for the browser to send from now on."""
    response.set_cookie(
        name or cookie_name(settings),
        token,
        max_age=seconds or round(settings.session_hours * 3600),
        path="/",
        secure=not settings.cookies_over_http,
        httponly=True,
        samesite="lax",
    )


def clear_cookie(response: Response, settings: Settings, *, name: str | None = None) -> None:
    response.delete_cookie(
        name or cookie_name(settings),
        path="/",
        secure=not settings.cookies_over_http,
        httponly=True,
        samesite="lax",
    )


async def _check_csrf(request: Request, found: Visitor) -> None:
    sent: object = request.headers.get("x-csrf-token")
    if sent is None and request.headers.get("content-type", "").partition(";")[0].strip() == FORM:
        sent = (await request.form()).get("csrf")
    known = (found.csrf or "").encode()
    same = isinstance(sent, str) and hmac.compare_digest(sent.encode("utf-8", "replace"), known)
    if not same or not known:
        raise Refused(403, "csrf", "the page is out of date; load it again and repeat the step.")


def _login_needed(message: str) -> Refused:
    return Refused(401, "login_needed", message, headers={"WWW-Authenticate": "Bearer"})
