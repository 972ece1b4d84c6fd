"""Areas on a map, coloured by how many they count: SVG of our own, nothing from elsewhere."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass
from itertools import pairwise
from zlib import crc32

from markupsafe import Markup

from discreet.look.words import EN_DASH, printable
from discreet.server.pages.words import number, percent
from discreet.server.showing.areas import Areas
from discreet.server.showing.catalogue import Published
from discreet.server.showing.languages import gettext as _

CLASSES = 5  # of colours, each with as many areas as the others


@dataclass(frozen=True)
class Map:
    """A drawn map, its key from low to high, and categories that have no area.

    `of`: the variable and the category whose shares it shows; none, if it shows counts.
    """

    variable: str
    of: tuple[str, str] | None
    drawn: Markup
    key: tuple[tuple[int, str], ...]
    without: tuple[str, ...]


def areas_of(table: Published) -> list[str]:
    """The variables of a table whose categories are areas; merged ones are none."""
    words = table.dataset.words
    return [
        name
        for name in table.names
        if words.variable(name).map is not None and name not in table.levels
    ]


def draw_map(
    table: Published, variable: str, of: tuple[str, str] | None = None, *, title: str
) -> Map:
    """Counts by area; with `of`, a variable and its category, the share that has it."""
    areas = table.dataset.words.variable(variable).map
    assert areas is not None
    values, said = _values(table, variable, of)
    nobody = _("nobody")
    known = sorted({n for label, n in values.items() if label in areas.paths and n is not None})
    groups = [known[i:j] for i, j in pairwise(_cuts(len(known)))]
    key = [(CLASSES - len(groups) + place, group) for place, group in enumerate(groups)]
    tones: dict[float | None, int] = {n: tone for tone, group in key for n in group}
    drawn = [
        _area(path, tones.get(value), f"{label}: {nobody if value is None else said(value)}")
        for label, value in values.items()
        if (path := areas.paths.get(label)) is not None
    ]
    return Map(
        variable,
        of,
        _svg(areas, title, drawn),
        tuple((tone, _range(said, group)) for tone, group in key),
        tuple(label for label in values if label not in areas.paths),
    )


def _values(
    table: Published, variable: str, of: tuple[str, str] | None
) -> tuple[dict[str, float | None], Callable[[float], str]]:
    """Of each area, and how they are written; of an area without people there is no share."""
    axis = table.names.index(variable)
    labels, counts = table.categories[axis], _by_area(table, axis)
    if of is None:
        return dict(zip(labels, map(float, counts), strict=True)), number
    name, category = of
    place = table.categories[table.names.index(name)].index(category)
    part = _by_area(table.picked({name: [place]}), axis)
    pairs = zip(labels, part, counts, strict=True)
    return {label: n / every if every else None for label, n, every in pairs}, _share


def _share(share: float) -> str:
    return percent(share, 1)


def _by_area(table: Published, axis: int) -> list[int]:
    others = tuple(i for i in range(table.counts.ndim) if i != axis)
    return [int(n) for n in table.counts.sum(others)]


def _cuts(n: int) -> list[int]:
    """Where so many values are cut into classes of about the same size.

    >>> _cuts(3), _cuts(12)
    ([0, 1, 2, 3], [0, 2, 4, 7, 9, 12])
    """
    classes = min(CLASSES, n)
    return [place * n // classes for place in range(classes + 1)] if classes else []


def _range(said: Callable[[float], str], group: Sequence[float]) -> str:
    low, high = said(float(group[0])), said(float(group[-1]))
    return low if low == high else f"{low}{EN_DASH}{high}"


def _area(path: str, tone: int | None, told: str) -> Markup:
    kind = "area none" if tone is None else f"area tone{tone}"
    shape = '<path class="{}" fill-rule="evenodd" vector-effect="non-scaling-stroke" d="{}">'
    return Markup(shape + "<title>{}</title></path>").format(kind, path, printable(told))


def _svg(areas: Areas, title: str, drawn: Sequence[Markup]) -> Markup:
    name = f"map-{crc32(title.encode()):x}"
    told = _("The same numbers are in the table on this page.")
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="-4 -4 {width} {height}" role="img" '
        'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{title}</title>'
        '<desc id="{name}-desc">{told}</desc>{drawn}</svg>'
    ).format(
        width=areas.width + 8,
        height=areas.height + 8,
        name=name,
        title=printable(title),
        told=told,
        drawn=Markup("").join(drawn),
    )
