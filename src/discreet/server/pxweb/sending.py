"""A part of a table, as a client selects it, in the format that it wants."""

from __future__ import annotations

from collections.abc import Callable, Hashable, Mapping, Sequence
from enum import StrEnum
from typing import Any

from starlette.concurrency import run_in_threadpool
from starlette.requests import Request
from starlette.responses import Response

from discreet.errors import DisclosureError
from discreet.server.api.tables import base_address, content_key
from discreet.server.deciding.requests import client_of, leaving
from discreet.server.formats import Format, Written, write
from discreet.server.formats.plain import json_bytes
from discreet.server.formats.px import px
from discreet.server.guards.errors import Refused
from discreet.server.pxweb.cubes import CONTENTS, MOST_CELLS, Cube, cube_of, level_of, selected
from discreet.server.pxweb.selecting import check_known, without
from discreet.server.pxweb.writing import csv_px, json_stat2
from discreet.server.services import Services, services_of
from discreet.server.showing.languages import speaking


class Output(StrEnum):
    JSON_STAT2 = "json-stat2"
    CSV = "csv"
    PX = "px"
    XLSX = "xlsx"
    PARQUET = "parquet"


class Option(StrEnum):
    CODES = "UseCodes"
    TEXTS = "UseTexts"
    BOTH = "UseCodesAndTexts"
    TITLE = "IncludeTitle"
    TAB = "SeparatorTab"
    SPACE = "SeparatorSpace"
    SEMICOLON = "SeparatorSemicolon"


DATA: dict[int | str, dict[str, Any]] = {
    200: {
        "description": "The table.",
        "content": {
            "application/json": {"schema": {"type": "object"}},
            "text/csv": {"schema": {"type": "string"}},
            "text/plain": {"schema": {"type": "string"}},
            Format.XLSX.media_type: {"schema": {"type": "string", "format": "binary"}},
            Format.PARQUET.media_type: {"schema": {"type": "string", "format": "binary"}},
        },
    }
}


async def sent(
    request: Request,
    id: str,
    wanted: Mapping[str, list[str]],
    lists: Mapping[str, str],
    output: Output,
    options: Sequence[Option],
    language: str,
    heading: Sequence[str],
    stub: Sequence[str],
) -> Response:
    """What a client selects of a table."""
    services = services_of(request)
    heading, stub = (list(dict.fromkeys(names)) for names in (heading, stub))

    def select() -> Cube:
        whole = cube_of(services, id)
        check_known([*wanted, *lists], [*whole.codes, CONTENTS])
        check_known([*heading, *stub], [*whole.codes, CONTENTS])
        levels = read_levels(services, whole, lists)
        return selected(whole, without(wanted, CONTENTS), levels) if wanted or lists else whole

    found = await run_in_threadpool(select)
    if found.table.counts.size > MOST_CELLS:
        raise Refused(
            403,
            "too_many_cells",
            f"{found.table.counts.size:,} cells are more than {MOST_CELLS:,}; select fewer values.",
        )
    services.uses.add(found.data.id, f"download {output}")
    with speaking(language):
        return await written(request, found, output, options, language, heading, stub)


async def written(
    request: Request,
    found: Cube,
    output: Output,
    options: Sequence[Option] = (),
    language: str = "en",
    heading: Sequence[str] = (),
    stub: Sequence[str] = (),
) -> Response:
    """A table in a format."""
    base, by = base_address(request), services_of(request).settings.title

    def make() -> Written:
        match output:
            case Output.JSON_STAT2:
                body = json_bytes(json_stat2(found, base, by, language))
                return Written(body, "application/json")
            case Output.CSV:
                return Written(csv_px(found, heading, options), Format.CSV.media_type)
            case Output.PX:
                named = dict(zip(found.codes, found.table.names, strict=True))
                rows = [named[code] for code in stub if code in named]
                if heading and not rows:
                    rows = [name for code, name in named.items() if code not in heading]
                body = px(found.table, base, by, stub=rows or None, language=language)
                return Written(body, Format.PX.media_type)
        return write(found.table, Format(output), base, by)

    how = output, language, base, tuple(heading), tuple(stub), tuple(options)
    return await made(request, found, how, make)


async def made(
    request: Request, found: Cube, how: Hashable, make: Callable[[], Written]
) -> Response:
    """What is sent of a table; `how` holds all that it depends on besides."""
    file = await services_of(request).made.file(
        ("PxWeb", content_key(found.table), how),
        make,
        cells=found.table.counts.size,
        visitor=client_of(request),
        left=leaving(request),
    )
    name = file.filename and {"Content-Disposition": f'attachment; filename="{file.filename}"'}
    return Response(file.body, 200, name or {}, file.media_type)


def read_levels(services: Services, whole: Cube, lists: Mapping[str, str]) -> dict[str, int]:
    levels = {}
    for code, id in lists.items():
        data, name, level = level_of(services, id)
        named = dict(zip(whole.codes, whole.table.names, strict=True))
        if data.id != whole.data.id or named.get(code) != name:
            raise DisclosureError(f"the code list {id[:100]!r} is not one of {code}.")
        levels[name] = level
    return levels


def read_options(text: str) -> list[Option]:
    known = {option.value.lower(): option for option in Option}
    asked = split(text)
    for one in asked:
        if one.lower() not in known:
            raise DisclosureError(f"{one[:60]!r} is no option; there are {', '.join(Option)}.")
    return [known[one.lower()] for one in asked]


def split(text: str) -> list[str]:
    return [part.strip() for part in text.split(",") if part.strip()]
