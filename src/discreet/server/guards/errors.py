"""What goes wrong, in one shape: {"error": {"code", "message", "details"}}.

An error never holds a count of the confidential table, nor where in the program it came from.
"""

from __future__ import annotations

import json
import logging
import traceback
from collections.abc import Mapping
from http import HTTPStatus
from typing import Any

from fastapi import FastAPI
from fastapi.exceptions import RequestValidationError
from sqlalchemy.exc import DBAPIError, SQLAlchemyError
from starlette.exceptions import HTTPException
from starlette.requests import Request
from starlette.responses import Response

from discreet.errors import DisclosureError, FormulaError, PolicyError
from discreet.server.deciding.unready import Unready, unready
from discreet.server.ledger.schema import Damaged
from discreet.server.showing.catalogue import NotPublished, UnknownDataset, Withdrawn

LOG = logging.getLogger("discreet.server")
API = "/api/"
LONGEST = 500  # characters of a message
MOST = 20  # wrong fields that are named

# What our own errors are; others of the server's are wrong input.
KNOWN: dict[type[Exception], tuple[int, str]] = {
    UnknownDataset: (404, "unknown_dataset"),
    NotPublished: (404, "not_published"),
    Withdrawn: (410, "withdrawn"),
    Unready: (503, "not_ready"),
    Damaged: (503, "not_ready"),
}
# What Starlette and FastAPI refuse by themselves.
PLAIN = {
    400: ("wrong_input", "the request cannot be read."),
    401: ("login_needed", "log in, or send a key."),
    403: ("not_allowed", "this is not allowed."),
    404: ("not_found", "there is nothing at this address."),
    405: ("wrong_method", "this address does not know the method."),
    406: ("wrong_format", "there is no such format."),
    413: ("too_large", "the body is too large."),
    415: ("wrong_format", "the body has a type that is not read here."),
    422: ("wrong_input", "the request cannot be read."),
}
INTERNAL = "something went wrong here; it is in the log."


class Refused(HTTPException):
    """Any answer that is an error, said by the server."""

    def __init__(
        self,
        status: int,
        code: str,
        message: str,
        details: Mapping[str, Any] | None = None,
        headers: Mapping[str, str] | None = None,
    ) -> None:
        super().__init__(status, message, headers)
        self.code, self.message, self.details = code, message, details


def add_handlers(app: FastAPI) -> None:
    """Every error of the application in the one shape."""
    app.add_exception_handler(HTTPException, _http)
    app.add_exception_handler(RequestValidationError, _validation)
    app.add_exception_handler(DisclosureError, _disclosure)
    app.add_exception_handler(SQLAlchemyError, _database)
    app.add_exception_handler(Exception, _internal)


def error_response(request: Request, error: Refused) -> Response:
    """JSON; a page for a browser that is not at the API."""
    if wants_page(request):
        from discreet.server.pages import error_page

        message = _clean(error.message)
        page: Response = error_page(request, error.status_code, error.code, message)
        page.headers.update(error.headers or {})
        return page
    return json_error(error)


def json_error(error: Refused) -> Response:
    """In ASCII, because names that were sent can be no Unicode."""
    said = {"code": error.code, "message": _clean(error.message), "details": error.details}
    headers = dict(error.headers or {})
    return Response(json.dumps({"error": said}), error.status_code, headers, "application/json")


def wants_page(request: Request) -> bool:
    """Is it a browser that shows a page?"""
    return not request.url.path.startswith(API) and "text/html" in request.headers.get("accept", "")


def internal(error: Exception) -> Refused:
    """Log the kind and the place of an error, not its words: they can hold counts."""
    places = [f"{f.filename}:{f.lineno}" for f in traceback.extract_tb(error.__traceback__)[-8:]]
    LOG.error("internal error: %s at %s", type(error).__name__, " > ".join(places))
    return Refused(500, "internal", INTERNAL)


def database_failed(error: SQLAlchemyError) -> Refused:
    """The database cannot be read or written: nothing was told."""
    LOG.error(
        "the database failed: %s",
        type(error.orig if isinstance(error, DBAPIError) else error).__name__,
    )
    status, code = KNOWN[Unready]
    return Refused(status, code, str(unready(error)))


def contained(error: Exception) -> Refused:
    """What is told of an error that no handler has seen."""
    if isinstance(error, SQLAlchemyError):
        return database_failed(error)
    return internal(error)


def _http(request: Request, error: Exception) -> Response:
    if isinstance(error, Refused):
        return error_response(request, error)
    assert isinstance(error, HTTPException)
    status = error.status_code
    code, message = PLAIN.get(status, (f"http_{status}", f"{HTTPStatus(status).phrase.lower()}."))
    return error_response(request, Refused(status, code, message, headers=error.headers))


def _validation(request: Request, error: Exception) -> Response:
    """Which fields are wrong and how; never what was sent, which can be a password."""
    assert isinstance(error, RequestValidationError)
    fields = [
        {"field": ".".join(map(str, one["loc"]))[:100], "message": one["msg"][:LONGEST]}
        for one in error.errors()[:MOST]
    ]
    first = f"{fields[0]['field']}: {fields[0]['message']}" if fields else PLAIN[422][1]
    return error_response(request, Refused(422, "wrong_input", first, {"fields": fields}))


def _disclosure(request: Request, error: Exception) -> Response:
    """Errors of the server and of what people write; the engine's can hold counts."""
    kind = type(error)
    ours = kind.__module__.startswith("discreet.server.")
    if not (ours or kind is DisclosureError or isinstance(error, FormulaError | PolicyError)):
        return error_response(request, internal(error))
    status, code = KNOWN.get(kind, (422, "wrong_input"))
    withdrawn = {"why": error.why, "at": error.at} if isinstance(error, Withdrawn) else None
    return error_response(request, Refused(status, code, str(error), withdrawn))


def _database(request: Request, error: Exception) -> Response:
    assert isinstance(error, SQLAlchemyError)
    return error_response(request, database_failed(error))


def _internal(request: Request, error: Exception) -> Response:
    return error_response(request, internal(error))


def _clean(message: str) -> str:
    return message.encode("utf-8", "replace").decode()[:LONGEST]
