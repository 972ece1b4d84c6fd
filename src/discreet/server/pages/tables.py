"""The pages of published tables: laid out as the reader wants, drawn, mapped, cited."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Annotated, Any

from fastapi import APIRouter, Query, Request
from fastapi.responses import RedirectResponse, Response

from discreet.server.api.replies import Number
from discreet.server.api.tables import base_address
from discreet.server.formats import Format
from discreet.server.formats.citing import Citing, citation_data, cited_words, permanent
from discreet.server.pages import words
from discreet.server.pages.charts import count_bars, finding
from discreet.server.pages.grid import grid
from discreet.server.pages.layout import Layout, laid_out
from discreet.server.pages.maps import Map, areas_of, draw_map
from discreet.server.pages.pivot import Asked, arrangement, choices, rearranged, turned
from discreet.server.pages.places import Place, levels_of
from discreet.server.pages.public import Someone
from discreet.server.pages.render import Here, page
from discreet.server.people.identity import Visitor
from discreet.server.services import Services
from discreet.server.showing.catalogue import NotPublished, Overview, Published, Withdrawn
from discreet.server.showing.codings import other_codings
from discreet.server.showing.languages import language_of, later, speaking
from discreet.server.showing.naming import chosen, read_levels, read_margin, read_where

router = APIRouter()
How = Annotated[Asked, Query()]
SHOWN = {
    "counts": later("Number in each group"),
    "row": later("Share of the row"),
    "column": later("Share of the column"),
    "total": later("Share of all"),
}


@router.get("/d/{slug}/t/{margin:path}")
def table(
    request: Request, services: Here, who: Someone, slug: str, margin: str, asked: How
) -> Response:
    """A table that is out, or a slice of it."""
    overview = services.catalogue.dataset(slug)
    names = read_margin(overview, _as_sent(request) or margin)
    return _shown(request, services, who, overview, Place(slug), names, asked)


@router.get("/d/{slug}/e/{number}")
def entry(
    request: Request, services: Here, who: Someone, slug: str, number: Number, asked: How
) -> Response:
    """The table of an entry of the ledger, for as long as the ledger lasts."""
    overview = services.catalogue.dataset(slug)
    if not 0 < number < 2**31:
        raise NotPublished(f"entry {number} of {slug} published no table.")
    whole = services.catalogue.entry_margin(slug, number)
    cut = read_where(overview, asked.where)
    names = chosen(overview, asked.v) if asked.v else [n for n in whole if n not in cut]
    return _shown(request, services, who, overview, Place(slug, (number, whole)), names, asked)


def _shown(
    request: Request,
    services: Services,
    who: Visitor,
    overview: Overview,
    place: Place,
    names: Sequence[str],
    asked: Asked,
) -> Response:
    """The table as it is asked for; from the form, the way to its address."""
    if asked.picked is not None or asked.order:
        return RedirectResponse(rearranged(overview, place, names, asked), 303)
    cut, levels = read_where(overview, asked.where), read_levels(overview, asked.level)
    number = None if place.entry is None else place.entry[0]
    try:
        found = services.catalogue.published(overview.slug, names, cut, entry=number).merged(levels)
    except Withdrawn as error:
        view: dict[str, Any] = {"margin": error.margin, "why": error.why, "at": error.at}
        return page(request, "withdrawn", who, status=410, dataset=overview, **view)
    layout = laid_out(found, asked.rows, asked.cols, asked.show, asked.totals != "no")
    with speaking(language_of(request)):
        view = _view(request, services, found, place, layout, asked)
    return page(request, "table", who, dataset=overview, table=found, **view)


def _view(
    request: Request,
    services: Services,
    found: Published,
    place: Place,
    layout: Layout,
    asked: Asked,
) -> dict[str, Any]:
    """All that the page shows of a table."""
    data, names, cut = found.dataset, found.names, found.where
    laid, merged = grid(found, asked.page, layout), levels_of(found)
    arranged = [*merged, *arrangement(found, layout)]
    titles = {name: data.words.title(name) for name in data.names}
    mapped, out = _map(found, asked), services.catalogue.margins(data.slug)
    whole = data.ordered([*names, *cut])
    return {
        "SHOWN": SHOWN,
        "titles": titles,
        "grid": laid,
        "choices": choices(found, layout),
        "form": place.page(whole, {}),
        "form_names": whole if place.entry is not None and place.entry[1] != whole else (),
        "turned": place.page(names, cut, [*merged, *turned(layout)]),
        "chart": count_bars(laid, titles, title=words.titled(data, names)),
        "finding": finding(found),
        "mapped": mapped,
        "map_address": lambda of: place.page(names, cut, [*arranged, *_of(mapped, of)]) + "#map",
        "codings": other_codings(data, out, data.ordered([*names, *cut]) if cut else names),
        "address": base_address(request) + permanent(found),
        "cited": cited_words(found, services.settings.title),
        "citations": [(kind, citation_data(found, kind)) for kind in Citing],
        "downloads": [
            (
                kind.writer.title,
                kind.writer.serves,
                place.data(names, cut, [("format", kind), *merged]),
            )
            for kind in Format
        ],
        "page_address": lambda n: place.page(names, cut, [*arranged, ("page", str(n))]),
    }


def _map(found: Published, asked: Asked) -> Map | None:
    """Of the variable that was asked for, or of the first that has areas."""
    areas = areas_of(found)
    if not areas:
        return None
    variable = asked.map if asked.map in areas else areas[0]
    name, _, category = asked.of.partition(":")
    of = None
    if name in found.names and name != variable:
        of = name, category
        if category not in found.categories[found.names.index(name)]:
            of = None
    return draw_map(found, variable, of, title=words.titled(found.dataset, [variable]))


def _of(mapped: Map | None, of: str) -> list[tuple[str, str]]:
    variable = [] if mapped is None else [("map", mapped.variable)]
    return [*variable, ("of", of)] if of else variable


def _as_sent(request: Request) -> str:
    """The margin with its stars as they were written: a name can hold one, percent-encoded."""
    raw: bytes = request.scope.get("raw_path") or b""
    return raw.decode("ascii", "replace").partition("/t/")[2]
