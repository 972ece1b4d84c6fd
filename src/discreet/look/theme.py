"""The look of every chart: title with the finding, key below it, notes at the foot."""

from __future__ import annotations

import textwrap
from collections.abc import Iterable
from typing import Any

from discreet.look.notebook import chart_class
from discreet.look.palette import DARK, FONT, LIGHT
from discreet.look.words import printable

WIDE, NARROW = 660, 340  # pixels of a whole chart: on a page, on a phone
PHONE = 480  # narrower charts are for phones
LINE = 16
CONFIDENTIAL = "Confidential: from unpublished counts."


def finish(
    layers: list[Any],
    *,
    title: str,
    key: str,
    notes: Iterable[str],
    left: int,
    width: int,
    height: Any,
    foot: int = 48,
    confidential: bool = True,
) -> Any:
    """The layers as one chart with its words; `left` pixels of `width` are for row labels.

    What holds unpublished counts, or was worked out from them, is `confidential` and says so.
    """
    import altair as alt

    title, key = printable(title), printable(key)
    marked = wrap(CONFIDENTIAL, width, 12, bold=True) if confidential else []
    written = [line for note in notes for line in wrap(note, width, 12)]
    below = foot + LINE * len(marked)
    layers = [*layers, *_foot(marked, left, foot, LIGHT.ink, bold=True)]
    layers += _foot(written, left, below, LIGHT.muted)
    said = wrap(key, width, 12)
    head = alt.Title(text=wrap(title, width, 15, bold=True), subtitle=said)
    if not title:
        head = alt.Title(
            text=said, fontSize=12, fontWeight=400, lineHeight=LINE, color=LIGHT.muted
        )  # fmt: skip
    return (
        chart_class()(layer=layers)  # shown without any network
        .properties(
            width=width - left,
            height=height,
            title=head,
            description=title,
            background=LIGHT.paper,
            padding=12,
            # the menu of vega-embed would send unpublished counts to a web page
            usermeta={"embedOptions": {"actions": False}},
        )
        .configure(**config())
    )


def _foot(lines: list[str], left: int, down: int, colour: str, *, bold: bool = False) -> list[Any]:
    """Lines below a chart, so far down."""
    import altair as alt

    if not lines:
        return []
    text = alt.Chart(alt.InlineData(values=[{"note": "\n".join(lines)}])).mark_text(
        align="left", baseline="top", lineBreak="\n", lineHeight=LINE, fontSize=12,
        fontWeight="bold" if bold else "normal", color=colour, clip=False, x=-left,
        y=alt.ExprRef(f"height + {down}"),
    )  # fmt: skip
    return [text.encode(text="note:N")]


def dark_style() -> str:
    """CSS that gives a chart, drawn in light colours, those of a dark screen."""
    light, dark = LIGHT.to_dict(), DARK.to_dict()
    said = [
        f'[{part}="{colour}"] {{ {part}: {dark[name]}; }}'
        for name, colour in light.items()
        for part in ("fill", "stroke")
    ]
    return f"@media screen and (prefers-color-scheme: dark) {{ {' '.join(said)} }}"


def config() -> dict[str, Any]:
    """Vega-Lite configuration: system fonts, quiet axes, left-aligned titles."""
    return {
        "font": FONT,
        "view": {"stroke": None},
        "title": {
            "anchor": "start", "frame": "bounds", "offset": 18,
            "color": LIGHT.ink, "fontSize": 15, "fontWeight": 600, "lineHeight": 20,
            "subtitleColor": LIGHT.muted, "subtitleFontSize": 12, "subtitlePadding": 6,
            "subtitleLineHeight": LINE,
        },
        "axis": {
            "labelColor": LIGHT.ink, "labelFontSize": 12,
            "titleColor": LIGHT.muted, "titleFontSize": 12, "titleFontWeight": 400,
            "domain": False, "ticks": False, "gridColor": LIGHT.rule,
        },
        "axisX": {"labelColor": LIGHT.muted, "titleAnchor": "start", "titlePadding": 8,
                  "labelPadding": 6, "labelFlush": False},
        "axisY": {"grid": False},
    }  # fmt: skip


def upright(title: str, ticks: Iterable[float], *, left: int, above: int = 14) -> Any:
    """A vertical axis with its title above it, so that the title costs no width."""
    import altair as alt

    return alt.Axis(
        title=title, titleAngle=0, titleAlign="left", titleAnchor="end", titleX=-left,
        titleY=-above, labelAlign="left", labelPadding=left, values=list(ticks), format=",~r",
        grid=True,
    )  # fmt: skip


def empty_chart(says: str, *, title: str, notes: Iterable[str], width: int) -> Any:
    """A chart of the usual width that says why it shows nothing."""
    import altair as alt

    words = (
        alt.Chart(alt.InlineData(values=[{"says": says}]))
        .mark_text(align="left", fontSize=13, color=LIGHT.muted, x=0, y=8)
        .encode(text="says:N")
    )
    return finish(
        [words], title=title, key="", notes=notes, left=0, width=width, height=20, foot=16,
        confidential=False,
    )  # fmt: skip


def wrap(text: str, width: int, size: int, *, bold: bool = False) -> list[str]:
    """The text in lines of about `width` pixels at a font size."""
    return textwrap.wrap(printable(text), max(12, int(width / (size * (0.58 if bold else 0.53)))))


def short_lines(text: str, letters: int, lines: int = 2) -> str:
    """The text in a few short lines; what does not fit ends in an ellipsis."""
    return "\n".join(
        textwrap.wrap(printable(text), letters, max_lines=lines, placeholder=" \u2026")
    )
