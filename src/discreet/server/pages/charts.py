"""Charts as SVG for a page: colours by class, a title and a description for screen readers.

Every chart stands next to a table with the same numbers. Each comes twice, for a wide page and for
a phone, where labels stand above their bars.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from zlib import crc32

import numpy as np
from markupsafe import Markup, escape

from discreet.decision.answering.answer import Status
from discreet.look.theme import NARROW, WIDE
from discreet.look.words import plural, printable
from discreet.server.pages.grid import Grid
from discreet.server.pages.words import number, percent
from discreet.server.showing.catalogue import Published
from discreet.server.showing.languages import gettext as _
from discreet.server.showing.languages import ngettext
from discreet.server.showing.shapes import OrderView

BAR, GAP, LINE = 16, 8, 18
LETTER = 6.6  # pixels of a letter of 12
MOST_BARS = 40
PANELS = 8  # columns that are drawn beside each other


@dataclass(frozen=True)
class Drawn:
    """A chart in both widths; `more` rows are not drawn; `summed`: columns were added up."""

    wide: Markup
    phone: Markup
    more: int = 0
    summed: bool = False


@dataclass(frozen=True)
class Scale:
    """The largest value, and how values are written."""

    high: float
    said: Callable[[float], str]

    @property
    def room(self) -> float:
        """Pixels of the longest number."""
        return max(len(self.said(self.high)), 3) * 7.5


def count_bars(table: Grid, titles: Mapping[str, str], *, title: str) -> Drawn:
    """What the cells show as bars from 0: a row of bars for each row, a column for each column.

    Where there are too many columns, the totals of the rows.
    """
    summed = len(table.columns) > PANELS
    most = max(1, MOST_BARS // (1 if summed else len(table.columns)))
    shown, named = table.rows[:most], _ambiguous(table)
    beside = [titles[name] for name in table.beside]
    above = [titles[name] for name in table.above]
    columns = [""]
    said: Callable[[float], str] = table.said
    if summed:
        rows = [(_parts(beside, row.labels, named), [float(row.total)]) for row in shown]
        said = number
    else:
        rows = [
            (
                _parts(beside, row.labels, named),
                [_real(table.value(row, column)) for column in range(len(table.columns))],
            )
            for row in shown
        ]
        columns = [", ".join(_parts(above, labels, named)) for labels, _ in table.columns]
    scale = Scale(max((n for _, values in rows for n in values), default=0), said)
    told = ngettext("%(n)s row of bars; the longest is %(high)s.",
                    "%(n)s rows of bars; the longest is %(high)s.", len(rows))  # fmt: skip
    told %= {"n": number(len(rows)), "high": said(scale.high)}
    told += " " + _("The same numbers are in the table on this page.")
    wide, phone = (draw(rows, columns, scale, title, told) for draw in (_beside, _below))
    return Drawn(wide, phone, table.all_rows - len(rows), summed)


def _real(value: float) -> float:
    return 0.0 if value != value else value


def _ambiguous(table: Grid) -> bool:
    """Does a category belong to several variables, such as yes and no?"""
    own = [{row.labels[place] for row in table.rows} for place in range(len(table.beside))]
    own += [{head.text for head in heads} for heads in table.heads]
    return sum(map(len, own)) > len(set[str]().union(*own))


def _parts(names: Sequence[str], labels: Sequence[str], named: bool) -> tuple[str, ...]:
    pairs = zip(names, labels, strict=True)
    return tuple(f"{name} {label}" if named else label for name, label in pairs)


def fit(parts: Sequence[str], letters: int) -> str:
    """The parts of a label in so many letters: the longest are cut first.

    >>> fit(["District of Carrow", "0 to 9"], 18)
    'District…, 0 to 9'
    """
    room = max(map(len, parts), default=0)
    while room > 3 and len(text := ", ".join(_cut(part, room) for part in parts)) > letters:
        room -= 1
    return text if room > 3 else ", ".join(_cut(part, 3) for part in parts)


def _cut(text: str, letters: int) -> str:
    return text if len(text) <= letters else text[: letters - 1].rstrip() + "…"


Rows = Sequence[tuple[tuple[str, ...], Sequence[float]]]


def _beside(rows: Rows, columns: Sequence[str], scale: Scale, title: str, told: str) -> Markup:
    """Labels on the left, a panel for each column: bars of one column share a start."""
    longest = max((len(", ".join(parts)) for parts, _ in rows), default=0)
    left = min(WIDE * 2 // 5, int(longest * LETTER) + 14)
    each = (WIDE - left) / max(1, len(columns))
    room = each - 14 - scale.room
    head = LINE + 6 if len(columns) > 1 else 0
    drawn = []
    for place, column in enumerate(columns):
        x = left + place * each
        if head:
            drawn.append(_text(x, 12, (column,), "head", (each - 8) * 0.9))
        drawn.append(_line(x, head, head + len(rows) * (BAR + GAP)))
    for i, (parts, counts) in enumerate(rows):
        y = head + GAP / 2 + i * (BAR + GAP)
        drawn.append(_text(left - 10, y + 12.5, parts, "label end", left - 10))
        for place, n in enumerate(counts):
            drawn += _bar(left + place * each, y, n, scale, room)
    return _svg(WIDE, head + len(rows) * (BAR + GAP), title, told, drawn)


def _below(rows: Rows, columns: Sequence[str], scale: Scale, title: str, told: str) -> Markup:
    """Everything under each other: a label, then its bars."""
    longest = max(map(len, columns))
    left = min(NARROW * 2 // 5, int(longest * LETTER) + 14) if longest else 0
    room = NARROW - left - 10 - scale.room
    drawn, y = [], 0.0
    for parts, counts in rows:
        kind = "head" if longest else "label"
        drawn.append(_text(0, y + 12, parts, kind, NARROW * 0.9))
        y += LINE
        begin = y
        for column, n in zip(columns, counts, strict=True):
            if longest:
                drawn.append(_text(left - 8, y + 12.5, (column,), "label end", left - 8))
            drawn += _bar(left, y, n, scale, room)
            y += BAR + 4
        drawn.append(_line(left, begin - 2, y - 2))
        y += GAP
    return _svg(NARROW, y, title, told, drawn)


def space_bars(orders: Sequence[OrderView], *, title: str = "Now") -> Drawn:
    """The query space by order: of all margins with so many variables, which share is what."""
    return Drawn(_space(orders, title, WIDE), _space(orders, title, NARROW))


def _space(orders: Sequence[OrderView], title: str, width: int) -> Markup:
    left, right, head = 28, 22, 26
    room, tall = width - left - right, 26 if len(orders) <= 12 else 18
    drawn = []
    for share in (0, 0.25, 0.5, 0.75, 1):
        x = left + share * room
        drawn.append(_line(x, head - 6, head + len(orders) * tall))
        drawn.append(_text(x, 12, (f"{share:.0%}",), "label quiet middle", 60))
    for place, one in enumerate(orders):
        y = head + place * tall
        drawn.append(_text(left - 8, y + tall / 2 + 2, (str(one.order),), "label end", left))
        drawn += _shares(one, left, y, room, tall)
    told = ", ".join(f"{number(n)} {status}" for status, n in totals(orders).items())
    told += ". The same counts are in the table on this page."
    title += ": shares of released, possible and gone tables by their number of variables"
    return _svg(width, head + len(orders) * tall, title, told, drawn)


def _shares(one: OrderView, x: float, y: float, room: float, tall: float) -> list[Markup]:
    """One order: a bar in three parts, each with its number where there is room."""
    parts = _statuses(one)
    every, drawn = sum(parts.values()), []
    for status, n in parts.items():
        if n:
            wide = n / every * room
            said = f"{plural(one.order, 'variable')}: {number(n)} of {number(every)} {status}"
            drawn.append(_rect(x, y, max(wide, 1.5), tall - 6, status, said))
            if wide > len(number(n)) * 7 + 8:
                middle = x + wide / 2
                drawn.append(
                    _text(middle, y + tall / 2 + 1, (number(n),), f"on-{status} middle", wide)
                )
            x += wide
    return drawn


def totals(orders: Sequence[OrderView]) -> dict[str, int]:
    """How many tables are what."""
    return {status: sum(_statuses(one)[status] for one in orders) for status in Status}


def _statuses(one: OrderView) -> dict[str, int]:
    return {"released": one.released, "possible": one.possible, "gone": one.gone}


def finding(table: Published) -> str:
    """What a chart of counts shows at once."""
    if not table.total:
        return _("There is nobody in this table")
    place = np.unravel_index(int(table.counts.argmax()), table.counts.shape)
    group = ", ".join(
        f"{title} {c[at]}"
        for title, c, at in zip(table.titles, table.categories, place, strict=True)
    )
    n, total = int(table.counts[place]), table.total
    said = {"group": group, "n": number(n), "total": number(total), "share": percent(n / total)}
    return _("The largest group: %(group)s, %(n)s of %(total)s (%(share)s)") % said


def _svg(width: int, height: float, title: str, told: str, drawn: Sequence[Markup]) -> Markup:
    name = f"chart-{crc32(f'{width} {title} {told}'.encode()):x}"
    return Markup(
        '<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" '
        'aria-labelledby="{name}-title {name}-desc"><title id="{name}-title">{title}</title>'
        '<desc id="{name}-desc">{told}</desc>{drawn}</svg>'
    ).format(
        width=width,
        height=round(height),
        name=name,
        title=printable(title),
        told=printable(told),
        drawn=Markup("").join(drawn),
    )


def _bar(x: float, y: float, n: float, scale: Scale, room: float) -> list[Markup]:
    wide = room * n / scale.high if scale.high else 0
    return [
        _rect(x, y, wide, BAR, "released", scale.said(n)),
        _text(x + wide + 5, y + 12.5, (scale.said(n),), "figure", 200),
    ]


def _rect(x: float, y: float, width: float, height: float, kind: str, said: str) -> Markup:
    shape = '<rect class="{}" x="{:.1f}" y="{:.1f}" width="{:.1f}" height="{:.1f}">'
    return Markup(shape + "<title>{}</title></rect>").format(kind, x, y, width, height, said)


def _line(x: float, top: float, bottom: float) -> Markup:
    line = '<line class="axis" x1="{:.1f}" x2="{:.1f}" y1="{:.1f}" y2="{:.1f}"/>'
    return Markup(line).format(x, x, top, bottom)


def _text(x: float, y: float, parts: Sequence[str], kind: str, room: float) -> Markup:
    """Text that is cut to its room; all of it is in its title."""
    whole = printable(", ".join(parts))
    shown = fit([printable(part) for part in parts], max(3, int(room / LETTER)))
    full = Markup("<title>{}</title>").format(whole) if shown != whole else Markup("")
    at = Markup('<text class="{}" x="{:.1f}" y="{:.1f}">').format(kind, x, y)
    return at + full + escape(shown) + Markup("</text>")
