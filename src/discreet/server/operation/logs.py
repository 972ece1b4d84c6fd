"""Logs: lines of JSON on standard error, without a count, a margin or what was typed."""

from __future__ import annotations

import json
import logging
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any
from uuid import uuid4

import structlog
from prometheus_client import Counter
from starlette.datastructures import MutableHeaders
from starlette.types import ASGIApp, Message, Receive, Scope, Send

from discreet.server.ledger.schema import now

OTHERS = ("discreet.server", "uvicorn.error")


def log() -> Any:
    return structlog.wrap_logger(
        structlog.PrintLogger(sys.stderr),
        processors=[
            structlog.processors.add_log_level,
            structlog.processors.TimeStamper(fmt="iso", utc=True),
            structlog.processors.JSONRenderer(),
        ],
    )


class RequestLog:
    """One line a request, with a number that the response has too."""

    def __init__(self, app: ASGIApp, answers: Counter, quiet: bool = False) -> None:
        self.app, self.answers, self.quiet = app, answers, quiet

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http":
            await self.app(scope, receive, send)
            return
        start, number, status = time.monotonic(), uuid4().hex, 500

        async def marked(message: Message) -> None:
            nonlocal status
            if message["type"] == "http.response.start":
                status = message["status"]
                MutableHeaders(scope=message)["X-Request-ID"] = number
            await send(message)

        try:
            await self.app(scope, receive, marked)
        finally:
            route = getattr(scope.get("route"), "path", "none")
            self.answers.labels(route, str(status)).inc()
            if not self.quiet:
                log().info(
                    "request",
                    method=scope["method"],
                    route=route,
                    status=status,
                    seconds=round(time.monotonic() - start, 2),
                    request=number,
                )


class HeadAsGet:
    """HEAD gets what GET gets, without the body."""

    def __init__(self, app: ASGIApp) -> None:
        self.app = app

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        if scope["type"] != "http" or scope["method"] != "HEAD":
            await self.app(scope, receive, send)
            return

        async def bare(message: Message) -> None:
            if message["type"] == "http.response.body":
                message = {**message, "body": b""}
            await send(message)

        await self.app({**scope, "method": "GET"}, receive, bare)


class Lines(logging.Formatter):
    """What others log, without the words of exceptions."""

    def format(self, record: logging.LogRecord) -> str:
        line = {"event": record.getMessage(), "level": record.levelname.lower(), "timestamp": now()}
        if record.exc_info and record.exc_info[0] is not None:
            line["error"] = record.exc_info[0].__name__
        return json.dumps(line)


@contextmanager
def logs_of_others() -> Iterator[None]:
    """As long as this lasts, what libraries log comes as lines too."""
    handler = logging.StreamHandler(sys.stderr)
    handler.setFormatter(Lines())
    loggers = [logging.getLogger(name) for name in OTHERS]
    before = [(one.handlers, one.propagate, one.level) for one in loggers]
    for one in loggers:
        one.handlers, one.propagate = [handler], False
        one.setLevel(logging.INFO)
    try:
        yield
    finally:
        for one, (handlers, propagate, level) in zip(loggers, before, strict=True):
            one.handlers, one.propagate = handlers, propagate
            one.setLevel(level)
