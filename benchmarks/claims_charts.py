"""Charts of a run: how many times as quick as each rival, and how time grows with size."""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from claims import Claim, Run

from discreet.look.bars import Names
from discreet.look.palette import LIGHT
from discreet.look.theme import WIDE, finish
from discreet.look.words import plural, rounded

TENS = [10.0**power for power in range(-3, 7)]


def times(ratio: float) -> str:
    """How many times as quick, in two figures.

    >>> times(34.26), times(0.5), times(1234.0)
    ('34', '0.5', '1,200')
    """
    return rounded(ratio, 2)


def short(name: str) -> str:
    """A rival without what is said of it in brackets."""
    return name.partition(" (")[0]


def ratio_chart(run: Run, width: int = WIDE) -> Any:
    """A bar a row from 1 to the ratio, on a logarithmic axis; bars to the left are rivals' wins."""
    import altair as alt

    rows = sorted((row for row in run.claims if row.ratio), key=lambda row: -row.ratio)
    names = Names.of([row.what for row in rows], width)
    right = 24 + 7 * max(len(f"{times(row.ratio)} × {short(row.rival)}") for row in rows)
    low, high = min(0.5, *(row.ratio for row in rows)), max(2.0, *(row.ratio for row in rows))
    scale = alt.Scale(type="log", domain=[low, high], range=[0, width - names.left - right])
    ticks = [tick for tick in TENS if low <= tick <= high]
    axis = alt.Axis(title="Times as quick", values=ticks, format="~r", grid=True)
    data = [
        place | {
            "from": 1.0, "ratio": row.ratio, "words": f"{times(row.ratio)} × {short(row.rival)}",
            "end": max(row.ratio, 1.0), "colour": LIGHT.released if row.ratio >= 1 else LIGHT.fail,
        }
        for place, row in zip(names.rows(), rows, strict=True)
    ]  # fmt: skip
    base, y = alt.Chart(alt.InlineData(values=data)), names.place()

    def at(end: str) -> Any:
        return alt.X(f"{end}:Q", scale=scale, axis=axis)

    shade = alt.Color("colour:N", scale=None, legend=None)
    bar: dict[str, Any] = {"height": 12, "yOffset": names.down, "y2Offset": names.down}
    text = base.mark_text(align="left", dx=8, yOffset=names.down, fontSize=12, color=LIGHT.ink)
    lost = sum(row.ratio < 1 for row in rows)
    return finish(
        [
            base.mark_bar(**bar).encode(y=y, x=at("from"), x2="ratio:Q", color=shade),
            text.encode(y=y, x=at("end"), text="words:N"),
            *names.layers(),
        ],
        title=f"Quicker in {plural(len(rows) - lost, 'row')} of {len(rows)}, slower in {lost}",
        key="The rival's seconds by ours; the axis is logarithmic. Red: the rival is quicker.",
        notes=[f"Same data, answers compared; one run, {run.machine['cores']} cores, {run.date}."],
        left=names.left, width=width, height=names.step * len(rows), confidential=False,
    )  # fmt: skip


def spread_out(places: Sequence[float], least: float) -> list[float]:
    """Places moved as little as keeps them `least` apart, in their order.

    >>> spread_out([0, 1, 30], 12)
    [0, 12, 30]
    """
    order, found, last = sorted(range(len(places)), key=places.__getitem__), {}, -math.inf
    for place in order:
        last = found[place] = max(places[place], last + least)
    return [found[place] for place in range(len(places))]


def growth_chart(rows: Sequence[Claim], width: int = WIDE, height: int = 320) -> Any:
    """A line a row: size and seconds, both by those of its smallest size, logarithmic."""
    import altair as alt

    left, right = 60, 280
    lines = []
    for row in rows:
        size, seconds = min(row.growth)
        points = [(at / size, took / seconds) for at, took in sorted(row.growth)]
        lines.append((row, points))
    far = max(points[-1][0] for _, points in lines)
    most = max(took for _, points in lines for _, took in points)
    least = min(took for _, points in lines for _, took in points)
    high = max(most, far)
    data = [
        {"row": place, "size": size, "seconds": seconds}
        for place, (_, points) in enumerate(lines)
        for size, seconds in points
    ]
    wide, low = width - left - right, min(least, 1.0)

    def up(seconds: float) -> float:
        return height * (1 - math.log(seconds / low) / math.log(high / low))

    ends = spread_out([up(points[-1][1]) for _, points in lines], 15)
    colours = [LIGHT.released, LIGHT.belief, LIGHT.passed, LIGHT.fail, LIGHT.review, LIGHT.interval]
    words = [
        {"row": place, "x": wide + 10, "y": end, "words": row.what if len(row.what) < 42
         else row.what[:40] + "…"}
        for place, ((row, _), end) in enumerate(zip(lines, ends, strict=True))
    ]  # fmt: skip
    xs = alt.Scale(type="log", domain=[1, far], range=[0, wide])
    ys = alt.Scale(type="log", domain=[low, high], range=[height, 0])
    some = [tick for power in range(7) for tick in (10**power, 2 * 10**power, 5 * 10**power)]
    x = alt.X("size:Q", scale=xs, axis=alt.Axis(
        title="Size, by the smallest measured", format="~r",
        values=[t for t in some if t <= far]))  # fmt: skip
    y = alt.Y("seconds:Q", scale=ys, axis=alt.Axis(
        title="Seconds, by those of the smallest", grid=True, format="~r",
        values=[t for t in some if t <= high]))  # fmt: skip
    shade = alt.Color("row:N", legend=None, scale=alt.Scale(
        domain=list(range(len(lines))),
        range=[colours[place % len(colours)] for place in range(len(lines))]))  # fmt: skip
    base = alt.Chart(alt.InlineData(values=data)).encode(x=x, y=y, color=shade)
    ends = [{"size": at, "seconds": at} for at in (1.0, far)]
    straight = alt.Chart(alt.InlineData(values=ends)).mark_line(
        strokeDash=[4, 4], strokeWidth=1, color=LIGHT.muted
    )
    labels = alt.Chart(alt.InlineData(values=words)).mark_text(
        align="left", baseline="middle", fontSize=12
    )
    steep = max(row.power for row in rows)
    return finish(
        [
            straight.encode(x=x, y=y),
            base.mark_line(strokeWidth=2),
            base.mark_point(filled=True, size=40, opacity=1),
            labels.encode(
                x=alt.X("x:Q", scale=None), y=alt.Y("y:Q", scale=None), color=shade, text="words:N"
            ),
        ],
        title=f"The steepest grows as size to the power of {steep:.2g}",
        key="Our seconds against size, both axes logarithmic. Dashed: as fast as size grows.",
        notes=[],
        left=left, width=width, height=height, confidential=False,
    )  # fmt: skip
