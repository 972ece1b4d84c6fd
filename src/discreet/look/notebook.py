"""What a notebook shows: one short piece of HTML that takes its colours from the page, or an SVG.

Nothing is fetched: a chart is drawn here, and no script leaves with unpublished counts in it.
"""

from __future__ import annotations

import numbers
from collections.abc import Iterable, Mapping
from functools import cache
from html import escape
from typing import Any, NamedTuple

from discreet.look.palette import LIGHT
from discreet.look.words import plural, printable, shortened

MOST, WIDEST = 10, 12  # rows and columns that are shown
LINE, CELL = 400, 160  # letters
CONFIDENTIAL = "Confidential: made from unpublished data."
NO_FORMULAS = "tex2jax_ignore mathjax_ignore"  # else a notebook sets what is between two $
SYMBOLS = {"PASS": "✓", "REVIEW": "?", "FAIL": "✗"}


class Rows(NamedTuple):
    """The first rows by column, and how many rows there are."""

    columns: Mapping[str, Any]  # a sequence each
    of: int


class Item(NamedTuple):
    """A sentence, with the verdict of what it speaks of where it has one."""

    text: str
    verdict: str = ""


def card(
    line: str, *, verdict: str = "", items: Iterable[Item] = (), rows: Rows | None, note: str = ""
) -> str:
    """The verdict and the line, the sentences, the first rows, and what to keep in mind.

    >>> card("Decision(PASS: ...)", verdict="PASS", rows=None).count("✓ PASS")
    1
    """
    said = [f"<p>{badge(verdict)}<code>{clean(line, LINE)}</code></p>"]
    if listed := [f"<li>{badge(item.verdict)}{clean(item.text)}</li>" for item in items]:
        said.append(f"<ul>{''.join(listed)}</ul>")
    if rows is not None:
        said.append(_table(rows))
    if note:
        said.append(f"<p><em>{clean(note)}</em></p>")
    return f'<div class="{NO_FORMULAS}">{"".join(said)}</div>'


def badge(verdict: str) -> str:
    """A verdict on its colour, to be read on light and dark pages alike."""
    if verdict not in SYMBOLS:
        return ""
    style = f"background:{LIGHT[verdict]};color:#fff;padding:1px 6px;border-radius:3px"
    return f'<strong style="{style}">{SYMBOLS[verdict]} {verdict}</strong> '


def clean(text: str, letters: int = 2000) -> str:
    """A text of anybody's, as HTML on one line."""
    return escape(shortened(printable(text), letters))


def _table(rows: Rows) -> str:
    names = list(rows.columns)[:WIDEST]
    columns = [list(rows.columns[name])[:MOST] for name in names]
    shown = max(map(len, columns), default=0)
    right = [all(_is_number(value) for value in column) for column in columns]
    head = "".join(_cell("th", str(name), r) for name, r in zip(names, right, strict=True))
    body = [
        "".join(_cell("td", _text(value), r) for value, r in zip(row, right, strict=True))
        for row in zip(*columns, strict=True)
    ]
    lines = "".join(f"<tr>{row}</tr>" for row in body)
    table = f"<table><thead><tr>{head}</tr></thead><tbody>{lines}</tbody></table>"
    left = [
        plural(rows.of - shown, "more row") if rows.of > shown else "",
        plural(len(rows.columns) - len(names), "more column")
        if len(rows.columns) > len(names)
        else "",
    ]
    more = " and ".join(filter(None, left))
    return f"{table}<p>{more}: see to_frame().</p>" if more else table


def _cell(tag: str, text: str, right: bool) -> str:
    return f'<{tag} style="text-align:{"right" if right else "left"}">{clean(text, CELL)}</{tag}>'


def _is_number(value: object) -> bool:
    return value is None or (isinstance(value, numbers.Real) and not isinstance(value, bool))


def _text(value: object) -> str:
    """A value as it is read; a missing one is empty."""
    if value is None or (isinstance(value, float) and value != value):
        return ""
    if isinstance(value, numbers.Real) and not isinstance(value, numbers.Integral):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 1e15 else f"{number:.6g}"
    if isinstance(value, Mapping):
        return ", ".join(map(str, value.values()))
    return str(value)


@cache
def chart_class() -> Any:
    """A layered chart of altair's that a notebook shows as a picture, without any network."""
    import altair as alt

    class Chart(alt.LayerChart):
        def _repr_mimebundle_(self, *_: object, **__: object) -> dict[str, str]:
            return {"image/svg+xml": svg(self), "text/plain": repr(self)}

        def __repr__(self) -> str:
            return f"Chart({printable(str(self.description))})"

    return Chart


def svg(chart: Any) -> str:
    """The chart as a picture, at most as wide as the page."""
    import io

    buffer = io.StringIO()
    chart.save(buffer, format="svg")
    return buffer.getvalue().replace("<svg ", '<svg style="max-width:100%;height:auto" ', 1)
