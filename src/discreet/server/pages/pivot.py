"""Rearranging a table by a form: which variables stand where, what is cut, merged and shown.

The form names every variable in its order, with its place, its category and its level; the answer
is the address of the table that was meant, which says only what is not the usual.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Annotated

from pydantic import BaseModel, Field

from discreet.errors import DisclosureError
from discreet.server.pages.layout import Layout, Show, usual, usual_of
from discreet.server.pages.places import Place
from discreet.server.showing.catalogue import Overview, Published
from discreet.server.showing.naming import read_levels, read_where

MOST = 200  # of what a list in an address names
Texts = Annotated[list[str], Field(max_length=MOST)]
ROWS, COLUMNS = "rows", "cols"
Pairs = list[tuple[str, str]]


class Asked(BaseModel):
    """How a table is to be shown; `order`, `at`, `is` and `up` come from the form."""

    where: Texts = []
    level: Texts = []
    v: Texts = []
    rows: Texts = []
    cols: Texts = []
    show: Show = Show.COUNTS
    totals: str = ""
    page: int = Field(1, ge=1, le=1_000_000)
    map: str = ""
    of: str = ""
    order: Texts = []
    at: Texts = []
    picked: Texts | None = Field(None, alias="is")
    up: str = ""


@dataclass(frozen=True)
class Choice:
    """A variable in the form: where it stands, what it is cut to, how far it is merged."""

    name: str
    place: str
    category: str
    categories: tuple[str, ...]
    level: int
    levels: tuple[tuple[str, ...], ...]


def choices(table: Published, layout: Layout) -> list[Choice]:
    """Every variable of the table, in the order in which they stand; then those that are cut."""
    data = table.dataset
    placed = [(name, ROWS) for name in layout.rows] + [(name, COLUMNS) for name in layout.columns]
    return [
        Choice(
            name,
            place,
            table.where.get(name, ""),
            data.categories(name),
            table.levels.get(name, 0),
            tuple(tuple(dict.fromkeys(level)) for level in data.words.variable(name).levels),
        )
        for name, place in [*placed, *((name, "") for name in table.where)]
    ]


def arrangement(table: Published, layout: Layout) -> Pairs:
    """A layout in an address; the usual one needs no words."""
    plain, said = usual_of(table), Pairs()
    if (layout.rows, layout.columns) != (plain.rows, plain.columns):
        said += [(ROWS, name) for name in layout.rows]
        said += [(COLUMNS, name) for name in layout.columns]
    return said + _shown(layout.show, layout.totals)


def turned(layout: Layout) -> Pairs:
    """With rows and columns exchanged."""
    rows, columns = layout.columns or layout.rows, layout.rows if layout.columns else ()
    said = [(ROWS, name) for name in rows] + [(COLUMNS, name) for name in columns]
    swapped = {Show.ROW: Show.COLUMN, Show.COLUMN: Show.ROW}
    return said + _shown(swapped.get(layout.show, layout.show), layout.totals)


def rearranged(overview: Overview, place: Place, names: Sequence[str], asked: Asked) -> str:
    """From the form to the address of what was meant."""
    where = read_where(overview, [part for part in asked.picked or () if part])
    left = [name for name in names if name not in where]
    if not left:
        raise DisclosureError("leave at least one variable whole.")
    levels = {k: v for k, v in read_levels(overview, asked.level).items() if k in left}
    more: Pairs = [("level", f"{name}:{level}") for name, level in levels.items()]
    if asked.order:
        if not _is_usual(overview, asked):
            named, at = dict.fromkeys(asked.order), set(asked.at)
            order = _moved([name for name in named if name in left], asked.up)
            above = {name for name in order if f"{COLUMNS}:{name}" in at}
            more += [(ROWS, name) for name in order if name not in above]
            more += [(COLUMNS, name) for name in order if name in above]
        more += _shown(asked.show, bool(asked.totals))
    return place.page(left, where, more)


def _is_usual(overview: Overview, asked: Asked) -> bool:
    """Did the form leave the variables where they stand if nobody moves them?"""
    at = set(asked.at)
    rows, columns = (
        tuple(name for name in asked.order if f"{where}:{name}" in at) for where in (ROWS, COLUMNS)
    )
    placed = {*rows, *columns}
    names = [name for name in overview.names if name in placed]
    plain = usual(names, [len(overview.categories(name)) for name in names])
    return not asked.up and (rows, columns) == (plain.rows, plain.columns)


def _moved(order: list[str], up: str) -> list[str]:
    """With one variable one place further to the front."""
    if up in order and (at := order.index(up)) > 0:
        order[at - 1], order[at] = order[at], order[at - 1]
    return order


def _shown(show: Show, totals: bool) -> Pairs:
    said = [] if show is Show.COUNTS else [("show", show.value)]
    return said if totals else [*said, ("totals", "no")]
