"""The page of an error."""

from __future__ import annotations

from fastapi import Request, Response

from discreet.server.pages.accounts import local
from discreet.server.pages.render import page

HEADINGS = {
    400: "This cannot be read",
    401: "Log in first",
    403: "This is not allowed",
    404: "There is nothing here",
    405: "This cannot be done here",
    410: "This was withdrawn",
    413: "This is too large",
    422: "This cannot be answered",
    429: "Too many requests",
}


def error_page(request: Request, status: int, code: str, message: str) -> Response:
    """What a browser shows for an error; nothing is looked up for it."""
    if code == "login_needed" and request.method == "GET":
        back = local(request.url.path)
        return page(request, "login", None, status=status, next=back, error="")
    return page(
        request,
        "error",
        getattr(request.state, "visitor", None),
        status=status,
        heading=HEADINGS.get(status, "Something went wrong"),
        code=code,
        message=message,
        number_of_it=status,
    )
