"""What stands before every request: sizes, pace, origin, and strict headers on every answer."""

from __future__ import annotations

import asyncio
from collections.abc import Awaitable, Callable
from ipaddress import IPv4Network, IPv6Address, IPv6Network, ip_address, ip_network
from math import ceil
from typing import Annotated
from urllib.parse import urlsplit

from fastapi import Depends, FastAPI
from starlette.concurrency import run_in_threadpool
from starlette.datastructures import Headers, MutableHeaders
from starlette.requests import Request
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.guards.errors import Refused, contained, error_response, json_error
from discreet.server.guards.rates import OwnRates, Rates, What
from discreet.server.people.identity import SAFE, Visitor, anybody, bearer, cookie_name, identify
from discreet.server.settings import Settings

TARGET = 8_192  # bytes of path and query
HEADERS = 16_384  # bytes of all headers
BODY_SECONDS = 10.0  # for all of a body
UNCOUNTED = ("/healthz", "/readyz", "/static/")

STRICT = {
    "Content-Security-Policy": (
        "default-src 'self'; img-src 'self' data:; style-src 'self'; script-src 'self'; "
        "object-src 'none'; frame-ancestors 'none'; base-uri 'none'; form-action 'self'"
    ),
    "X-Content-Type-Options": "nosniff",
    "X-Frame-Options": "DENY",
    "Referrer-Policy": "same-origin",
    "Permissions-Policy": "camera=(), geolocation=(), microphone=(), payment=(), usb=()",
    "Cross-Origin-Opener-Policy": "same-origin",
    "Cross-Origin-Embedder-Policy": "require-corp",
    "Cross-Origin-Resource-Policy": "same-origin",
}
HSTS = "max-age=31536000; includeSubDomains"


def add_guards(
    app: FastAPI,
    settings: Settings,
    *,
    rates: Rates | None = None,
    body_seconds: float = BODY_SECONDS,
) -> None:
    """All of them, in their order: the last added sees a request first."""
    proxies = Proxies(settings.trusted_proxies)
    app.state.limits = Limits(settings, proxies, rates or OwnRates())
    app.add_middleware(BodyGuard, most=settings.body_bytes, seconds=body_seconds)
    app.add_middleware(RateGuard, limits=app.state.limits, settings=settings)
    app.add_middleware(OriginGuard, address=settings.address)
    app.add_middleware(TargetGuard)
    app.add_middleware(Containment)
    app.add_middleware(StrictHeaders, settings=settings, proxies=proxies)


def limited(what: What) -> Callable[..., Awaitable[None]]:
    """A dependency: not too many of these, by a user; of logins, from an address."""

    async def check(request: Request, found: Annotated[Visitor, Depends(anybody)]) -> None:
        limits: Limits = request.app.state.limits
        await limits.count(what, limits.client(request, None if what == "logins" else found))

    return check


class Proxies:
    """Whose X-Forwarded-... is believed: addresses and networks, by commas; `unix` for a socket."""

    def __init__(self, trusted: str) -> None:
        words = {word.strip() for word in trusted.split(",")} - {""}
        self.unix = "unix" in words
        self.networks: list[IPv4Network | IPv6Network] = [
            ip_network(word, strict=False) for word in words - {"unix"}
        ]

    def trusts(self, peer: str | None) -> bool:
        if peer is None:
            return self.unix
        try:
            address = ip_address(peer)
        except ValueError:
            return False
        return any(address in network for network in self.networks)

    def address(self, scope: Scope) -> str | None:
        """Where a request comes from: the last address that no proxy of ours has."""
        peer = scope["client"][0] if scope.get("client") else None
        said = ",".join(Headers(scope=scope).getlist("x-forwarded-for")).split(",")
        while self.trusts(peer) and said and _is_address(last := said.pop().strip()):
            peer = last
        return peer

    def client(self, scope: Scope) -> str:
        """Who is counted as one."""
        return _client_key(self.address(scope))

    def secure(self, scope: Scope) -> bool:
        """Does the browser speak https?"""
        peer = scope["client"][0] if scope.get("client") else None
        said = Headers(scope=scope).get("x-forwarded-proto") if self.trusts(peer) else None
        return (said or scope["scheme"]) == "https"


class Limits:
    """How much each client may do in a minute."""

    def __init__(self, settings: Settings, proxies: Proxies, rates: Rates) -> None:
        self.proxies, self.rates = proxies, rates
        self.most: dict[What, int] = {
            "requests": settings.requests_per_minute,
            "decisions": settings.decisions_per_minute,
            "logins": settings.logins_per_minute,
        }

    def client(self, request: Request, found: Visitor | None) -> str:
        """Who is counted: a user, or else an address."""
        if found is not None and found.user_id is not None:
            return f"user {found.user_id}"
        return self.proxies.client(request.scope)

    async def count(self, what: What, client: str) -> None:
        """One more; too many are refused."""
        if what in self.rates.quick:
            wait = self.rates.hit(what, client, self.most[what])
        else:
            wait = await run_in_threadpool(self.rates.hit, what, client, self.most[what])
        if wait:
            seconds = max(1, ceil(wait))
            raise Refused(
                429,
                "too_many_requests",
                f"too many {what} within a minute; wait {seconds} s.",
                {"retry_after": seconds},
                {"Retry-After": str(seconds)},
            )

    def exchange(self) -> None:
        """With other workers; what is known to a tenth of the limit is known well enough."""
        self.rates.exchange(self.most["requests"] // 10)


class Guard:
    """A middleware that can refuse a request before the application has it."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] == "http":
            try:
                receive = await self.check(Request(scope, receive), receive)
            except Refused as refused:
                await error_response(Request(scope), refused)(scope, receive, send)
                return
        await self.app(scope, receive, send)

    async def check(self, request: Request, receive: Receive) -> Receive:
        """How the application receives the body, if it may."""
        raise NotImplementedError


class TargetGuard(Guard):
    """Addresses and headers of a sensible length, and one end of the body."""

    async def check(self, request: Request, receive: Receive) -> Receive:
        scope = request.scope
        if {"content-length", "transfer-encoding"} <= set(request.headers.keys()):
            two = "the request has both Content-Length and Transfer-Encoding; send one of them."
            raise _closing(400, "wrong_input", two)
        raw: bytes = scope.get("raw_path") or scope["path"].encode()
        if len(raw) + len(scope["query_string"]) > TARGET:
            raise _closing(414, "too_long", f"the address has more than {TARGET:,} bytes.")
        if sum(len(name) + len(value) for name, value in scope["headers"]) > HEADERS:
            raise _closing(431, "too_long", f"the headers have more than {HEADERS:,} bytes.")
        return receive


class OriginGuard(Guard):
    """What changes something is not sent by another site's page; a key shows that it is not."""

    def __init__(self, app: ASGIApp, address: str = "") -> None:
        super().__init__(app)
        self.host = urlsplit(address).netloc

    async def check(self, request: Request, receive: Receive) -> Receive:
        if request.method in SAFE or bearer(request) is not None:
            return receive
        site, origin = request.headers.get("sec-fetch-site"), request.headers.get("origin")
        ours = {request.headers.get("host", ""), self.host} - {""}
        if site is not None:
            foreign = site not in ("same-origin", "none")
        else:
            foreign = origin is not None and urlsplit(origin).netloc not in ours
        if foreign:
            raise Refused(403, "other_site", "this was sent by a page of another site.")
        return receive


class RateGuard(Guard):
    """Not too many requests of one client."""

    def __init__(self, app: ASGIApp, limits: Limits, settings: Settings) -> None:
        super().__init__(app)
        self.limits, self.cookie = limits, cookie_name(settings)

    async def check(self, request: Request, receive: Receive) -> Receive:
        if not request.url.path.startswith(UNCOUNTED):
            client = self.limits.client(request, await self._visitor(request))
            await self.limits.count("requests", client)
        return receive

    async def _visitor(self, request: Request) -> Visitor | None:
        """Only who is known has a count of their own; a wrong key is refused later."""
        if bearer(request) is None and self.cookie not in request.cookies:
            return None
        try:
            return await run_in_threadpool(identify, request)
        except Refused:
            return None


class BodyGuard(Guard):
    """The body, read before the application starts: not too large, not too slow."""

    def __init__(self, app: ASGIApp, most: int, seconds: float) -> None:
        super().__init__(app)
        self.most, self.seconds = most, seconds

    async def check(self, request: Request, receive: Receive) -> Receive:
        said = request.headers.get("content-length", "0")
        if not (said.isascii() and said.isdigit()):
            raise _closing(400, "wrong_input", "the Content-Length is no number.")
        if len(said) > 18 or int(said) > self.most:
            raise self._too_large()
        try:
            async with asyncio.timeout(self.seconds):
                messages = await self._read(receive)
        except TimeoutError:
            late = f"the body took longer than {self.seconds:g} s."
            raise _closing(408, "too_slow", late) from None

        async def again() -> Message:
            return messages.pop(0) if messages else await receive()

        return again

    async def _read(self, receive: Receive) -> list[Message]:
        parts = bytearray()
        while True:
            message = await receive()
            if message["type"] != "http.request":
                return [message]  # the client left
            parts += message.get("body", b"")
            if len(parts) > self.most:
                raise self._too_large()
            if not message.get("more_body", False):
                return [{"type": "http.request", "body": bytes(parts), "more_body": False}]

    def _too_large(self) -> Refused:
        return _closing(413, "too_large", f"the body has more than {self.most:,} bytes.")


class Containment:
    """No error leaves the application: not its words to the log, nor its place to the client."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        started = False

        async def note(message: Message) -> None:
            nonlocal started
            started = True
            await send(message)

        try:
            await self.app(scope, receive, note)
        except Exception as error:  # noqa: BLE001 whatever it is
            refused = contained(error)
            if started:
                return  # the connection is closed before the end, so that it is seen
            await _last_words(Request(scope), refused)(scope, receive, send)


class StrictHeaders:
    """What browsers may do with an answer: as little as possible."""

    def __init__(self, app: ASGIApp, settings: Settings, proxies: Proxies) -> None:
        self.app, self.settings, self.proxies = app, settings, proxies
        self.cookie = cookie_name(settings)

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return

        async def strictly(message: Message) -> None:
            if message["type"] == "http.response.start":
                self._add(MutableHeaders(scope=message), scope)
            await send(message)

        await self.app(scope, receive, strictly)

    def _add(self, headers: MutableHeaders, scope: Scope) -> None:
        headers.update(STRICT)
        if self.proxies.secure(scope) or self.settings.address.startswith("https:"):
            headers["Strict-Transport-Security"] = HSTS
        request = Request(scope)
        known = bearer(request) is not None or self.cookie in request.cookies
        if "set-cookie" in headers or (known and not scope["path"].startswith("/static/")):
            headers["Cache-Control"] = "no-store"
        headers.setdefault("Cache-Control", "no-cache")
        for name in ("Cookie", "Authorization"):
            headers.add_vary_header(name)


def _last_words(request: Request, refused: Refused) -> Response:
    try:
        return error_response(request, refused)
    except Exception:  # noqa: BLE001 the page of the error has one
        return json_error(refused)


def _closing(status: int, code: str, message: str) -> Refused:
    """The rest of the request is not read."""
    return Refused(status, code, message, headers={"Connection": "close"})


def _is_address(text: str) -> bool:
    try:
        ip_address(text)
    except ValueError:
        return False
    return True


def _client_key(peer: str | None) -> str:
    """An address; of IPv6 the network, of which one client has all addresses."""
    if peer is None or not _is_address(peer):
        return str(peer)
    address = ip_address(peer)
    if isinstance(address, IPv6Address):
        if address.ipv4_mapped is not None:
            return str(address.ipv4_mapped)
        return str(ip_network((int(address) >> 64 << 64, 64)))
    return str(address)
