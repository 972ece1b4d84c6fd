"""The style sheet and the script: under addresses that change with them, kept for a year."""

from __future__ import annotations

from functools import cache
from hashlib import sha256
from importlib.resources import files

from fastapi import APIRouter, Request, Response

from discreet.look.palette import DARK, FONT, LIGHT, Palette
from discreet.server.guards.errors import Refused

router = APIRouter()
KINDS = {"site.css": "text/css", "site.js": "text/javascript", "site.svg": "image/svg+xml"}
YEAR = "public, max-age=31536000, immutable"


def asset(name: str) -> str:
    """The address of a file, with the hash of what is in it."""
    stem, _, kind = name.rpartition(".")
    return f"/static/{stem}-{_hash(name)}.{kind}"


@router.get("/static/{name}", include_in_schema=False)
def static(request: Request, name: str) -> Response:
    for known, kind in KINDS.items():
        if name in (known, asset(known).rpartition("/")[2]):
            tag = f'"{_hash(known)}"'
            headers = {"Cache-Control": "no-cache" if name == known else YEAR, "ETag": tag}
            if request.headers.get("if-none-match") == tag:
                return Response(status_code=304, headers=headers)
            return Response(_content(known), media_type=kind, headers=headers)
    raise Refused(404, "not_found", "there is nothing here.")


@cache
def _content(name: str) -> bytes:
    content = files("discreet.server.pages").joinpath("static", name).read_bytes()
    return _colours().encode() + content if name == "site.css" else content


@cache
def _hash(name: str) -> str:
    return sha256(_content(name)).hexdigest()[:16]


def _colours() -> str:
    """The palette as CSS variables: the style sheet names no colour of its own."""
    dark = f"@media screen and (prefers-color-scheme: dark) {{ :root {{ {_variables(DARK)} }} }}"
    return f":root {{ --font: {FONT}; {_variables(LIGHT)} }}\n{dark}\n"


def _variables(palette: Palette) -> str:
    named = [*palette.to_dict().items(), *_shades(palette)]
    return " ".join(f"--{name}: {colour};" for name, colour in named)


def _shades(palette: Palette) -> list[tuple[str, str]]:
    """Colours of a map, from the paper to what is released.

    >>> [colour for _, colour in _shades(LIGHT)]
    ['#dae7f2', '#aac7e0', '#79a7ce', '#4887bc', '#0b5fa5']
    """
    ends = [[int(c[i : i + 2], 16) for i in (1, 3, 5)] for c in (palette.paper, palette.released)]
    mixed = [
        [round(a + (b - a) * share) for a, b in zip(*ends, strict=True)]
        for share in (0.15, 0.35, 0.55, 0.75, 1.0)
    ]
    return [(f"map{i}", "#" + "".join(f"{c:02x}" for c in one)) for i, one in enumerate(mixed)]
