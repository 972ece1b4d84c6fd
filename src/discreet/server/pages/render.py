"""Pages from templates: everything is escaped, nothing is inline."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import Annotated, Any
from urllib.parse import quote, urlencode

from fastapi import Depends, Request
from fastapi.responses import HTMLResponse
from jinja2 import Environment, PackageLoader, StrictUndefined

from discreet.look.words import plural
from discreet.server.pages import words
from discreet.server.pages.assets import asset
from discreet.server.people.identity import Visitor, needs
from discreet.server.services import Services, services_of
from discreet.server.showing.languages import (
    COOKIE,
    ENGLISH,
    LANGUAGES,
    gettext,
    language_of,
    ngettext,
    speaking,
)
from discreet.server.showing.naming import margin_path

Here = Annotated[Services, Depends(services_of)]
Staff = Annotated[Visitor, Depends(needs("custodian", "auditor"))]
Custodian = Annotated[Visitor, Depends(needs("custodian"))]
PUBLIC = {  # templates in every language; the others are for staff, in English
    "about", "asked", "dataset", "datasets", "error", "reference", "search", "table", "withdrawn",
}  # fmt: skip
YEAR = 365 * 24 * 3600


def page(
    request: Request,
    template: str,
    visitor: Visitor | None,
    *,
    said: str = "",
    error: str = "",
    status: int | None = None,
    **view: Any,
) -> HTMLResponse:
    """A page with the frame that all have; nobody keeps a copy of what a login shows.

    `said`: what was done; `error`: why it was not, with status 422 if no other is named. The
    public's pages are in the reader's language, which is kept if they chose it here.
    """
    settings, public = services_of(request).settings, template in PUBLIC
    language = language_of(request) if public else ENGLISH
    with speaking(language):
        html = (
            environment()
            .get_template(f"{template}.html.j2")
            .render(
                settings=settings,
                visitor=visitor,
                language=language,
                languages=_other_languages(request, language) if public else [],
                said=said,
                error=error,
                **view,
            )
        )
    response = HTMLResponse(html, status or (422 if error else 200))
    response.headers["Cache-Control"] = "no-store" if visitor and visitor.via else "no-cache"
    response.headers["Content-Language"] = language
    if public:
        response.headers.add_vary_header("Accept-Language")
        if request.query_params.get("lang") == language:
            secure = not settings.cookies_over_http
            response.set_cookie(
                COOKIE, language, max_age=YEAR, secure=secure, httponly=True, samesite="lax"
            )
    return response


def _other_languages(request: Request, language: str) -> list[tuple[str, str, str]]:
    """What else the page can be read in: code, name and address."""
    kept = [(k, v) for k, v in request.query_params.multi_items() if k != "lang"]
    path = request.url.path if request.method in ("GET", "HEAD") else "/"
    return [
        (code, name, f"{quote(path, safe='/*~')}?{urlencode([*kept, ('lang', code)])}")
        for code, name in LANGUAGES.items()
        if code != language
    ]


@cache
def environment() -> Environment:
    made = Environment(
        loader=PackageLoader("discreet.server.pages"),
        autoescape=True,
        undefined=StrictUndefined,
        trim_blocks=True,
        lstrip_blocks=True,
        extensions=["jinja2.ext.i18n"],
    )
    made.policies["ext.i18n.trimmed"] = True
    made.install_gettext_callables(gettext, ngettext, newstyle=True)  # type: ignore[attr-defined]
    for name in ("number", "percent", "date", "moment", "sentence"):
        made.filters[name] = getattr(words, name)
    made.globals |= {
        "plural": plural,
        "asset": asset,
        "pick_address": pick_address,
        "table_address": table_address,
        "download_address": download_address,
        "margin_path": margin_path,
        "say": words,
    }
    return made


def pick_address(slug: str, names: Iterable[str] = ()) -> str:
    """Where variables are picked.

    >>> pick_address("czech", ["A", "B"])
    '/d/czech?v=A&v=B'
    """
    query = urlencode([("v", name) for name in names])
    return f"/d/{quote(slug, safe='')}" + (f"?{query}" if query else "")


def table_address(slug: str, names: Iterable[str], where: Iterable[tuple[str, str]] = ()) -> str:
    """A table's permanent address.

    >>> table_address("czech", ["A", "Age group"], [("B", "yes")])
    '/d/czech/t/A*Age%20group?where=B%3Ayes'
    """
    return f"/d/{quote(slug, safe='')}/t/{margin_path(names)}" + _query(where)


def download_address(
    slug: str, names: Iterable[str], where: Iterable[tuple[str, str]], kind: str
) -> str:
    base = f"/api/v1/datasets/{quote(slug, safe='')}/tables/{margin_path(names)}"
    return base + _query(where, ("format", kind))


def _query(where: Iterable[tuple[str, str]], *more: tuple[str, str]) -> str:
    query = urlencode([*more, *(("where", f"{name}:{value}") for name, value in where)])
    return f"?{query}" if query else ""
