"""Answers that a cache may keep, and ask about."""

from __future__ import annotations

from hashlib import sha256
from typing import Annotated, Any

from fastapi import Path
from pydantic import AfterValidator, BaseModel
from starlette.requests import Request
from starlette.responses import Response

Slug = Annotated[str, Path(pattern=r"^[\w.-]+$", max_length=100, examples=["tract"])]
SAME: dict[int | str, dict[str, Any]] = {304: {"description": "As the ETag that was sent."}}
Number = Annotated[int, Path(ge=1, le=2**31 - 1)]


def _kept(text: str) -> str:
    if "\0" in text or any("\ud800" <= c <= "\udfff" for c in text):
        raise ValueError("has characters that are none")
    return text


Text = Annotated[str, AfterValidator(_kept)]


def tagged(request: Request, view: BaseModel) -> Response:
    """A view with an ETag; 304 without it if the sender has it."""
    body = view.model_dump_json().encode()
    return with_tag(request, body, "application/json", sha256(body).hexdigest()[:32])


def with_tag(
    request: Request, body: bytes, media_type: str, tag: str, filename: str | None = None
) -> Response:
    headers = {"ETag": f'"{tag}"', "Cache-Control": "no-cache"}
    if known(request, tag):
        return Response(None, 304, headers)
    if filename is not None:
        headers["Content-Disposition"] = f'attachment; filename="{filename}"'
    return Response(body, 200, headers, media_type)


def known(request: Request, tag: str) -> bool:
    """Does If-None-Match name the tag?"""
    sent = [part.strip().removeprefix("W/") for part in request.headers.getlist("if-none-match")]
    listed = [one.strip().removeprefix("W/") for part in sent for one in part.split(",")]
    return f'"{tag}"' in listed or "*" in listed
