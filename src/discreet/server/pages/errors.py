"""The page of an error."""

from __future__ import annotations

from urllib.parse import urlencode

from fastapi import Request, Response
from fastapi.responses import RedirectResponse

from discreet.server.pages.login import local, login_page
from discreet.server.pages.render import page
from discreet.server.showing.languages import later

WRONG = later("Something went wrong")
HEADINGS = {
    400: later("This cannot be read"),
    401: later("Log in first"),
    403: later("This is not allowed"),
    404: later("There is nothing here"),
    405: later("This cannot be done here"),
    410: later("This was withdrawn"),
    413: later("This is too large"),
    422: later("This cannot be answered"),
    429: later("Too many requests"),
}

STEPS = {"code_needed": "/login/code", "setup_needed": "/account/second-factor"}


def error_page(request: Request, status: int, code: str, message: str) -> Response:
    """What a browser shows for an error; nothing is looked up for it."""
    if code == "login_needed" and request.method == "GET":
        return login_page(request, None, status=status, next=request.url.path)
    if code in STEPS and request.method == "GET":
        back = urlencode({"next": local(request.url.path)})
        return RedirectResponse(f"{STEPS[code]}?{back}", 303)
    return page(
        request,
        "error",
        getattr(request.state, "visitor", None),
        status=status,
        heading=HEADINGS.get(status, WRONG),
        code=code,
        message=message,
        number_of_it=status,
    )
