"""Pages of other sites that may read the public's API, if the operator says so.

Only what everybody may GET, and never with cookies or keys: another site's page learns nothing that
its readers could not open themselves.
"""

from __future__ import annotations

import re
from collections.abc import Iterable

from starlette.datastructures import Headers, MutableHeaders
from starlette.responses import Response
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.api.roles import EVERYBODY, ROLES

PREFIXES = ("/api/", "/pxweb/")
EXPOSED = "ETag, Retry-After, X-Request-ID"
KEPT = "86400"  # seconds that a browser need not ask again


class Cors:
    """Answers browsers that ask whether a page of another site may read."""

    def __init__(self, app: ASGIApp, origins: str) -> None:
        self.app = app
        self.origins = {origin.strip().rstrip("/") for origin in origins.split(",")} - {""}
        self.paths = re.compile("|".join(_pattern(path) for path in _public()))

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        origin = Headers(scope=scope).get("origin") if scope["type"] == "http" else None
        if origin is None or not self._allowed(scope, origin):
            await self.app(scope, receive, send)
            return
        if scope["method"] == "OPTIONS":
            headers = {
                "Access-Control-Allow-Methods": "GET, HEAD",
                "Access-Control-Allow-Headers": "If-None-Match",
                "Access-Control-Max-Age": KEPT,
            }
            answer = Response(None, 204, headers)
            self._allow(answer.headers, origin)
            await answer(scope, receive, send)
            return

        async def allowing(message: Message) -> None:
            if message["type"] == "http.response.start":
                headers = MutableHeaders(scope=message)
                self._allow(headers, origin)
                headers["Cross-Origin-Resource-Policy"] = "cross-origin"
            await send(message)

        await self.app(scope, receive, allowing)

    def _allowed(self, scope: Scope, origin: str) -> bool:
        """A public route, of a site that may, without credentials and without a body."""
        headers = Headers(scope=scope)
        if {"authorization", "cookie", "transfer-encoding"} & set(headers.keys()):
            return False
        asked = headers.get("access-control-request-method", "GET")
        reading = scope["method"] in ("GET", "HEAD") or (
            scope["method"] == "OPTIONS" and asked in ("GET", "HEAD")
        )
        known = "*" in self.origins or origin.rstrip("/") in self.origins
        return reading and known and self.paths.fullmatch(scope["path"]) is not None

    def _allow(self, headers: MutableHeaders, origin: str) -> None:
        anybody = "*" in self.origins
        headers["Access-Control-Allow-Origin"] = "*" if anybody else origin
        headers["Access-Control-Expose-Headers"] = EXPOSED
        if not anybody:
            headers.add_vary_header("Origin")


def _public() -> Iterable[str]:
    """What everybody may read without a page around it, but not who they are."""
    return [
        path
        for (method, path), roles in ROLES.items()
        if method == "GET" and roles == EVERYBODY and path.startswith(PREFIXES)
        and not path.endswith("/me")
    ]  # fmt: skip


def _pattern(path: str) -> str:
    parts = re.split(r"(\{[^}]+\})", path)
    return "".join(
        (".+" if ":path" in part else "[^/]+") if part.startswith("{") else re.escape(part)
        for part in parts
    )
