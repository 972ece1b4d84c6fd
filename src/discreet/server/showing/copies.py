"""Published tables from copies: what was answered once is answered again, while nothing changed.

Only what everybody gets, without a cookie or a key: so there is nothing secret in what is
compressed. A copy is good for the stamp of its data set (`News`) that was known before it was made.
"""

from __future__ import annotations

import gzip
import re
from collections import OrderedDict
from dataclasses import dataclass
from functools import lru_cache
from hashlib import sha256
from typing import Any

from sqlalchemy.exc import SQLAlchemyError
from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.people.identity import SAFE
from discreet.server.services import Services
from discreet.server.showing.languages import language_of
from discreet.server.showing.news import News, Stamp

TABLES = re.compile(r"/(?:api/v1/datasets/([^/]+)/(?:tables|entries)|d/([^/]+)/[te])/")
API = "/api/"
PRIVATE = {b"cookie", b"authorization", b"content-length", b"transfer-encoding", b"range"}
VARYING = {"accept", "accept-language", "accept-encoding", "cookie", "authorization"}
TEXTS = (b"text/", b"application/json", b"image/svg")  # types that are worth compressing
WORTH = 400  # bytes from which on it is
LEVEL = 6
ZIPPED = b'-gzip"'  # how the tag of what is compressed ends
SMALL = 100_000  # bytes that are compressed without another thread
LARGEST = 8 << 20  # bytes of a copy
MOST = 64 << 20  # bytes of all
Raw = list[tuple[bytes, bytes]]
Asked = dict[bytes, bytes]
Key = tuple[object, ...]


@dataclass(frozen=True)
class Copy:
    """An answer, whole and compressed, and what its use counts as."""

    stamp: Stamp
    headers: Raw
    tag: bytes
    body: bytes
    zipped: bytes | None
    route: Any
    use: tuple[int, str] | None

    @property
    def size(self) -> int:
        return len(self.body) + len(self.zipped or b"") + 2_000


class Copies:
    """Answers requests for published tables from copies, the least used of which are dropped."""

    def __init__(self, app: ASGIApp, services: Services, news: News, most: int = MOST) -> None:
        self.app, self.services, self.news, self.most = app, services, news, most
        self.bytes = 0
        self._kept: OrderedDict[Key, Copy] = OrderedDict()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        asked = dict(scope["headers"])
        slug = None if PRIVATE & asked.keys() else _slug(scope)
        if slug is not None and (stamp := await self._stamp(slug)) is not None:
            await self._table(stamp, asked, scope, receive, send)
            return
        safe = scope["method"] in SAFE
        await self.app(scope, receive, send if safe else self._changing(send))
        self._count(scope.get("state", {}).get("use"))

    def _changing(self, send: Send) -> Send:
        """What was changed is seen by whoever asks after it was told."""

        async def told(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.news.forget()
            await send(message)

        return told

    async def _table(
        self, stamp: Stamp, asked: Asked, scope: Scope, receive: Receive, send: Send
    ) -> None:
        path = scope.get("raw_path") or scope["path"].encode()
        key: Key = path, scope["query_string"], *self._readers(scope, asked)
        copy = self._kept.get(key)
        if copy is None or copy.stamp != stamp:
            copy = await self._make(stamp, scope, receive, send)
            if copy is None:
                return
            self._keep(key, copy)
        else:
            self._kept.move_to_end(key)
            scope["route"] = copy.route
        await self._send(copy, asked, send)

    def _readers(self, scope: Scope, asked: Asked) -> Key:
        """What else an answer depends on: of a page, its language and the address of the server."""
        if scope["path"].startswith(API):
            return ()
        here = () if self.services.settings.address else (scope["scheme"], asked.get(b"host"))
        return language_of(Request(scope)), *here

    async def _stamp(self, slug: str) -> Stamp | None:
        try:
            return await self.news.of(slug)
        except SQLAlchemyError:
            return None  # the application says what is wrong

    async def _make(self, stamp: Stamp, scope: Scope, receive: Receive, send: Send) -> Copy | None:
        """The application's answer; sent, if there is to be no copy of it."""
        plain = [(n, v) for n, v in scope["headers"] if n != b"if-none-match"]
        inner, caught = {**scope, "headers": plain}, Caught(send)
        await self.app(inner, receive, caught)
        scope["route"] = inner.get("route")
        use = inner.get("state", {}).get("use")
        if not caught.complete or not _is_public(caught.start):
            self._count(use)
            await caught.release()
            return None
        body, headers = b"".join(caught.parts), caught.start["headers"]
        named = dict(headers)
        zipped = await _compress(body, named.get(b"content-type", b""))
        tag = named.get(b"etag") or b'"' + sha256(body).hexdigest()[:32].encode() + b'"'
        kept = [(n, v) for n, v in headers if n not in (b"content-length", b"etag", b"vary")]
        vary = named.get(b"vary", b"")
        if zipped is not None:
            vary = b", ".join(filter(None, (vary, b"Accept-Encoding")))
        if vary:
            kept.append((b"vary", vary))
        return Copy(stamp, kept, tag, body, zipped, scope["route"], use)

    async def _send(self, copy: Copy, asked: Asked, send: Send) -> None:
        headers = copy.headers.copy()
        zips = copy.zipped is not None and _takes_gzip(asked.get(b"accept-encoding", b""))
        headers.append((b"etag", copy.tag[:-1] + ZIPPED if zips else copy.tag))
        if _is_known(copy.tag, asked.get(b"if-none-match")):
            headers = [(n, v) for n, v in headers if not n.startswith(b"content-")]
            await send({"type": "http.response.start", "status": 304, "headers": headers})
            await send({"type": "http.response.body", "body": b""})
            return
        self._count(copy.use)
        body = copy.zipped if zips and copy.zipped is not None else copy.body
        headers.append((b"content-length", str(len(body)).encode()))
        if zips:
            headers.append((b"content-encoding", b"gzip"))
        await send({"type": "http.response.start", "status": 200, "headers": headers})
        await send({"type": "http.response.body", "body": body})

    def _keep(self, key: Key, copy: Copy) -> None:
        if copy.size > LARGEST:
            return
        old = self._kept.pop(key, None)
        self.bytes += copy.size - (old.size if old is not None else 0)
        self._kept[key] = copy
        while self.bytes > self.most:
            self.bytes -= self._kept.popitem(last=False)[1].size

    def _count(self, use: tuple[int, str] | None) -> None:
        if use is not None:
            self.services.uses.add(*use)


class Caught:
    """An answer held back; if it is too long, let go."""

    def __init__(self, send: Send) -> None:
        self.send = send
        self.start: Message = {}
        self.parts: list[bytes] = []
        self.size = 0
        self.complete = self.gone = False

    async def __call__(self, message: Message) -> None:
        if self.gone:
            await self.send(message)
        elif message["type"] == "http.response.start":
            self.start = message
        else:
            self.parts.append(message.get("body", b""))
            self.size += len(self.parts[-1])
            self.complete = not message.get("more_body", False)
            if self.size > LARGEST:
                await self.release(more=not self.complete)

    async def release(self, more: bool = False) -> None:
        """Send what was held back."""
        if self.gone or not self.start:
            return
        self.gone, self.complete = True, False
        await self.send(self.start)
        body = b"".join(self.parts)
        await self.send({"type": "http.response.body", "body": body, "more_body": more})


def _slug(scope: Scope) -> str | None:
    """Of a published table's data set."""
    found = TABLES.match(scope["path"]) if scope["method"] == "GET" else None
    return None if found is None else found[1] or found[2]


def _is_public(start: Message) -> bool:
    """May everybody have a copy?"""
    headers = dict(start["headers"])
    varies = headers.get(b"vary", b"").decode("latin-1").lower().replace(" ", "").split(",")
    return (
        start["status"] == 200
        and b"set-cookie" not in headers
        and b"content-encoding" not in headers
        and b"no-store" not in headers.get(b"cache-control", b"")
        and {*varies} - {""} <= VARYING
    )


async def _compress(body: bytes, kind: bytes) -> bytes | None:
    if len(body) < WORTH or not kind.startswith(TEXTS):
        return None
    if len(body) <= SMALL:
        zipped = _zip(body)
    else:
        zipped = await run_in_threadpool(_zip, body)
    return zipped if len(zipped) < len(body) else None


def _zip(body: bytes) -> bytes:
    return gzip.compress(body, LEVEL, mtime=0)


@lru_cache(256)
def _takes_gzip(accepted: bytes) -> bool:
    """Does Accept-Encoding name it, and not with q=0?"""
    for part in accepted.decode("latin-1").lower().split(","):
        name, _, weight = part.partition(";")
        if name.strip() in ("gzip", "*"):
            return not re.fullmatch(r"\s*q\s*=\s*0(\.0*)?\s*", weight)
    return False


def _is_known(tag: bytes, sent: bytes | None) -> bool:
    """Does If-None-Match name the tag?"""
    if sent is None:
        return False
    named = [one.strip().removeprefix(b"W/") for one in sent.replace(ZIPPED, b'"').split(b",")]
    return tag.removeprefix(b"W/") in named or b"*" in named
