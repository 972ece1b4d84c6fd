"""Charts of what a prior implies: the interval of each share, or a density with its quantiles."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.look.bars import Names
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, finish
from discreet.look.ticks import HALVES, QUARTERS
from discreet.look.words import number, percent, printable

Row = tuple[str, float, float, float, int, int]  # category, low, high, share, least, most
LETTER = 7
MOST = 30


def prior_chart(
    rows: Sequence[Row],
    *,
    people: int,
    worth: float,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """One row a category: a line over nine tenths of its share, and how many of so many people."""
    import altair as alt

    shown = list(rows)[:MOST]
    words = [f"{least} to {most} of {number(people)}" for *_, least, most in shown]
    names = Names.of([printable(row[0]) for row in shown], width)
    drawn = [
        place | {"low": low, "high": high, "share": share, "words": text}
        for place, (_, low, high, share, *_), text in zip(names.rows(), shown, words, strict=True)
    ]
    right = 24 + LETTER * max(map(len, words))
    scale = alt.Scale(domain=[0, 1], range=[0, max(width - names.left - right, 60)])
    ticks = QUARTERS if width >= PHONE else HALVES
    axis = alt.Axis(title="Share", values=list(ticks), format=".0%", grid=False)
    base = alt.Chart(alt.InlineData(values=drawn))
    y, down = names.place(), names.down

    def at(end: str) -> Any:
        return alt.X(f"{end}:Q", scale=scale, axis=axis)

    line = base.mark_rule(strokeWidth=6, strokeCap="round", yOffset=down, color=LIGHT.interval)
    dot = base.mark_point(size=70, filled=True, opacity=1, yOffset=down, fill=LIGHT.belief)
    text = base.mark_text(align="left", dx=14, yOffset=down, fontSize=12, color=LIGHT.ink)
    layers = [
        line.encode(y=y, x=at("low"), x2="high:Q"),
        dot.encode(y=y, x=at("share")),
        text.encode(y=y, x=at("high"), text="words:N"),
        *names.layers(),
    ]
    if title is None:
        best = max(shown, key=lambda row: row[3])
        title = (
            f"The prior counts for {number(float(f'{worth:.4g}'))} people: "
            f"{printable(best[0])} has {percent(best[1])} to {percent(best[2])}"
        )
    key = (
        "Point: the share believed. Line: where it is with probability 90%. Beside it: how many "
        f"of {number(people)} people, with 90%."
    )
    notes = [source] if source else []
    if len(rows) > MOST:
        notes.insert(0, f"{len(rows) - MOST:,} more categories.")
    return finish(
        layers, title=title, key=key, notes=notes, left=names.left, width=width,
        height=names.step * len(drawn), confidential=False,
    )  # fmt: skip


def fitted_chart(
    grid: Sequence[float],
    heights: Sequence[float],
    quantiles: Sequence[tuple[float, float, float]],
    *,
    says: str,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The density as an area; a line at each stated quantile, a dashed one where it is fitted."""
    import altair as alt

    rows = [{"x": x, "y": y} for x, y in zip(grid, heights, strict=True)]
    marks = [{"p": percent(p), "stated": s, "fitted": f} for p, s, f in quantiles]
    scale = alt.Scale(domain=[min(grid), max(grid)], zero=False, nice=False)
    axis = alt.Axis(title="Value", tickCount=6, grid=False)

    def at(end: str) -> Any:
        return alt.X(f"{end}:Q", scale=scale, axis=axis)

    area = alt.Chart(alt.InlineData(values=rows)).mark_area(
        color=LIGHT.belief, opacity=0.6, clip=True
    )
    lines = alt.Chart(alt.InlineData(values=marks))
    layers = [
        area.encode(x=at("x"), y=alt.Y("y:Q", axis=None)),
        lines.mark_rule(color=LIGHT.ink).encode(x=at("stated")),
        lines.mark_rule(color=LIGHT.accent, strokeWidth=2, strokeDash=[4, 3]).encode(
            x=at("fitted")
        ),
        lines.mark_text(align="left", dx=4, y=8, fontSize=12, color=LIGHT.ink).encode(
            x=at("stated"), text="p:N"
        ),
    ]
    key = "Area: the density. Line: a stated quantile. Dashed: where it is fitted."
    return finish(
        layers, title=says if title is None else title, key=key,
        notes=[source] if source else [], left=0, width=width, height=180,
        confidential=False,
    )  # fmt: skip
