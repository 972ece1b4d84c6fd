"""One bar a row, and rows with names: on a page beside the bars, on a phone above them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from typing import Any

from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart, finish, short_lines
from discreet.look.ticks import HALVES, nice_ticks
from discreet.look.words import number, percent

LETTER, LINE = 7, 15  # pixels of a letter, and of a line of them


@dataclass(frozen=True)
class Bar:
    """A row: its name, where its bar ends, and what is written behind it.

    `whole` is where a lighter bar behind it ends, `mark` where a mark stands.
    """

    name: str
    value: float
    words: str
    whole: float | None = None
    mark: float | None = None
    colour: str | None = None


@dataclass(frozen=True)
class Mark:
    """What marks look like; `beside` is how far from their place they stand, in pixels."""

    shape: str = "diamond"
    fill: str = LIGHT.true
    stroke: str = LIGHT.paper
    size: int = 90
    beside: int = 0


@dataclass(frozen=True)
class Names:
    """The names of rows: in a column on the left, or each above its row (`left` is 0)."""

    texts: tuple[str, ...]
    left: int

    @classmethod
    def of(cls, names: Sequence[str], width: int, *, left: int | None = None) -> Names:
        """As much room as they need, at most two fifths; on a phone above if that is too little."""
        if left is None:
            longest, most = max(map(len, names)) * LETTER + LINE, width * 2 // 5
            left = 0 if longest > most and width < PHONE else min(longest, most)
        return cls(tuple(short_lines(name, (left or width) // LETTER) for name in names), left)

    @property
    def step(self) -> int:
        """The height of a row."""
        lines = max(text.count("\n") + 1 for text in self.texts)
        return LINE * lines + (12 if self.left else 27)

    @property
    def down(self) -> int:
        """How far below the middle of its row a bar stands."""
        return 0 if self.left else self.step // 2 - 12

    def rows(self) -> list[dict[str, Any]]:
        """One a row: where it is, its name and how many lines that takes."""
        return [
            {"row": place, "name": text, "lines": text.count("\n") + 1}
            for place, text in enumerate(self.texts)
        ]

    def place(self) -> Any:
        """The vertical place of a row."""
        import altair as alt

        return alt.Y("row:O", scale=alt.Scale(domain=list(range(len(self.texts)))), axis=None)

    def layers(self) -> list[Any]:
        """The names, written."""
        import altair as alt

        rows, found = self.rows(), []
        for lines in {row["lines"] for row in rows}:
            up = 7.5 * (lines - 1) if self.left else LINE * lines + 2 - self.down
            some = [row for row in rows if row["lines"] == lines]
            text = alt.Chart(alt.InlineData(values=some)).mark_text(
                align="left", baseline="middle", lineBreak="\n", lineHeight=LINE, fontSize=12,
                x=-self.left, yOffset=-up, color=LIGHT.ink,
            )  # fmt: skip
            found.append(text.encode(y=self.place(), text="name:N"))
        return found


@dataclass(frozen=True)
class RowAxis:
    """Where marks stand: in the rows of names, and along an axis across all of them."""

    names: Names
    scale: Any
    axis: Any
    width: int

    @classmethod
    def of(
        cls, names: Names, width: int, *, domain: Sequence[float], right: int, **axis: Any
    ) -> RowAxis:
        """With `right` pixels for what is written behind the marks."""
        import altair as alt

        scale = alt.Scale(domain=list(domain), range=[0, max(width - names.left - right, 60)])
        return cls(names, scale, alt.Axis(**axis), width)

    def put(self, mark: Any, start: str, end: str | None = None, **more: Any) -> Any:
        """A mark at a number of its row, or from one to another."""
        import altair as alt

        ends = {} if end is None else {"x2": f"{end}:Q"}
        x = alt.X(f"{start}:Q", scale=self.scale, axis=self.axis)
        return mark.encode(y=self.names.place(), x=x, **ends, **more)

    def chart(self, layers: list[Any], **words: Any) -> Any:
        """The layers with a title, a key and notes."""
        names = self.names
        height = names.step * len(names.texts)
        return finish(layers, left=names.left, width=self.width, height=height, **words)


def bar_chart(
    bars: Sequence[Bar],
    *,
    title: str,
    axis: str,
    key: str,
    notes: Iterable[str] = (),
    ticks: Sequence[float] | None = None,
    form: str = ",~r",
    colour: str = LIGHT.accent,
    light: str = LIGHT.possible,
    mark: Mark | None = None,
    empty: str = "There is nothing to show.",
    confidential: bool = True,
    width: int = WIDE,
) -> Any:
    """Bars from 0 to their values, one below the other.

    `ticks` are those of the axis, from end to end; round numbers if left out.
    """
    import altair as alt

    if not bars:
        return empty_chart(empty, title=title, notes=notes, width=width)
    names, mark = Names.of([bar.name for bar in bars], width), mark or Mark()
    rows = [
        row | _drawn(bar) | {"colour": bar.colour or colour}
        for row, bar in zip(names.rows(), bars, strict=True)
    ]
    ends = [0.0, *(row["value"] for row in rows), *(row["end"] for row in rows)]
    low, high = min(ends), max(ends)
    if ticks is None:
        ticks = nice_ticks(low, high if high > low else 1.0, 5 if width >= PHONE else 2)
    right = 24 + LETTER * max(len(bar.words) for bar in bars)
    right += 24 if mark.beside and any(bar.mark is not None for bar in bars) else 0
    across = RowAxis.of(
        names, width, domain=(min(ticks[0], low), max(ticks[-1], high)), right=right,
        title=axis, values=list(ticks), format=form, grid=False,
    )  # fmt: skip
    down = names.down
    base = alt.Chart(alt.InlineData(values=rows))
    bar: dict[str, Any] = {"height": 14, "yOffset": down, "y2Offset": down}
    layers = []
    if any(each.whole is not None for each in bars):
        layers.append(across.put(base.mark_bar(**bar, color=light), "none", "whole"))
    fill = alt.Color("colour:N", scale=None, legend=None)
    text = base.mark_text(align="left", dx=10, yOffset=down, fontSize=12, color=LIGHT.ink)
    layers += [
        across.put(base.mark_bar(**bar), "none", "value", color=fill),
        across.put(text, "end", text="words:N"),
        *names.layers(),
    ]
    if any(each.mark is not None for each in bars):
        point = base.mark_point(
            shape=mark.shape, size=mark.size, filled=True, opacity=1, strokeWidth=1.5,
            xOffset=mark.beside, yOffset=down, fill=mark.fill, stroke=mark.stroke,
        )  # fmt: skip
        layers.append(across.put(point, "mark").transform_filter("isValid(datum.mark)"))
    return across.chart(layers, title=title, key=key, notes=notes, confidential=confidential)


def share_chart(
    rows: Sequence[tuple[str, int, int]],
    *,
    title: str,
    axis: str,
    key: str,
    notes: Iterable[str] = (),
    decimals: int = 0,
    confidential: bool = True,
    width: int = WIDE,
) -> Any:
    """Bars of how many there are of all that are possible; a row is a name and the two numbers."""
    bars = [
        Bar(name, n / of, f"{number(n)} of {number(of)} ({percent(n / of, decimals)})", whole=1)
        for name, n, of in rows
    ]
    return bar_chart(
        bars, title=title, axis=axis, key=key, notes=notes, ticks=HALVES, form=".0%",
        colour=LIGHT.released, confidential=confidential, width=width,
    )  # fmt: skip


def _drawn(bar: Bar) -> dict[str, Any]:
    """The numbers of a bar, and where its words begin."""
    value = float(bar.value)
    places = [float(end) for end in (bar.whole, bar.mark) if end is not None]
    return {
        "none": 0, "value": value, "whole": bar.whole, "mark": bar.mark, "words": bar.words,
        "end": max(0.0, value, *places),
    }  # fmt: skip
