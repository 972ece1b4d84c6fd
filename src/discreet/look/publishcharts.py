"""The trade-off between what is published and what it risks (Zaslavsky & Horton 1998, Figure 1)."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import pairwise
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.frontiercharts import DASHES, apart, words_at
from discreet.look.palette import LIGHT
from discreet.look.theme import WIDE, finish, upright
from discreet.look.ticks import SHARES
from discreet.look.words import percent

Points = Sequence[tuple[float, float]]
DASHED = ("", " (dashed)", " (dots)", " (dash-dot)")
TARGET = 0.2  # of the risk, in the title if no cut is marked


def curve_chart(
    curves: Mapping[str, Points],
    *,
    at: tuple[float, float] | None = None,
    title: str | None = None,
    source: str | None = None,
    confidential: bool = True,
    width: int = WIDE,
) -> Any:
    """Share of the risk taken against share of the data suppressed, a line an order of cells.

    The first is the order that is judged by; `at` is the cut that was chosen. The dotted line is
    suppression at random. A plan, made before there are data, is not confidential.
    """
    import altair as alt

    if not curves or any(not points for points in curves.values()):
        raise DisclosureError("a trade-off needs at least one curve with points; give one.")
    if len(curves) > len(DASHES):
        raise DisclosureError(f"{len(curves)} curves are too many to tell apart; give 4 or fewer.")
    left, height = 56, 280
    labels = [f"{name}{DASHED[place]}" for place, name in enumerate(curves)]
    right = 24 + 7 * max(map(len, labels)) if len(curves) > 1 else 24
    room = max(width - left - right, 60)
    x = alt.X(
        "loss:Q",
        scale=alt.Scale(domain=[0, 1], range=[0, room]),
        axis=alt.Axis(title="Data suppressed", values=list(SHARES), format=".0%", grid=False),
    )
    axis = upright("Disclosure risk taken", SHARES, left=left)
    axis.format = ".0%"
    y = alt.Y("risk:Q", scale=alt.Scale(domain=[0, 1], range=[height, 0]), axis=axis)
    chance = alt.Chart(alt.InlineData(values=[{"loss": 0, "risk": 1}, {"loss": 1, "risk": 0}]))
    layers = [
        chance.mark_line(color=LIGHT.muted, strokeWidth=1, strokeDash=[1, 3]).encode(x=x, y=y)
    ]
    for place, points in enumerate(curves.values()):
        rows = [{"loss": loss, "risk": risk, "row": k} for k, (risk, loss) in enumerate(points)]
        line = alt.Chart(alt.InlineData(values=rows)).mark_line(
            color=LIGHT.released if place == 0 else LIGHT.muted,
            strokeWidth=2,
            strokeDash=DASHES[place],
        )
        layers.append(line.encode(x=x, y=y, order="row:Q"))
    if at is not None:
        cut = alt.Chart(alt.InlineData(values=[{"loss": at[1], "risk": at[0]}]))
        mark = cut.mark_point(
            size=110, filled=True, opacity=1, fill=LIGHT.released, stroke=LIGHT.paper
        )
        layers.append(mark.encode(x=x, y=y))
    if len(curves) > 1:
        layers += _named(labels, curves.values(), room, height)
    cut_at = at or (TARGET, _loss_at(next(iter(curves.values())), TARGET))
    said = "Line: cells published in the order of risk for loss. Dotted: suppressed at random."
    return finish(
        layers,
        title=_finding(*cut_at) if title is None else title,
        key=f"{said} Dot: the cut." if at is not None else said,
        notes=[source] if source else [],
        left=left,
        width=width,
        height=height,
        confidential=confidential,
    )


def _named(labels: Sequence[str], curves: Iterable[Points], room: int, height: int) -> list[Any]:
    """Names in the order of the curves where a tenth of the data is suppressed."""
    ends = {name: _risk_at(points, 0.1) for name, points in zip(labels, curves, strict=True)}
    ranked = sorted(ends, key=lambda name: -ends[name])
    heights = apart([height * (1 - ends[name]) for name in ranked], 16, height)
    placed = zip(ranked, heights, strict=True)
    return [words_at(name, x=room + 8, y=up) for name, up in placed]


def _risk_at(points: Points, loss: float) -> float:
    """By the line between points; the loss falls along them."""
    ordered = sorted((b, a) for a, b in points)
    return _between(ordered, loss)


def _loss_at(points: Points, risk: float) -> float:
    return _between(sorted(points), risk)


def _between(points: Sequence[tuple[float, float]], at: float) -> float:
    for (x0, y0), (x1, y1) in pairwise(points):
        if x0 <= at <= x1 and x1 > x0:
            return y0 + (y1 - y0) * (at - x0) / (x1 - x0)
    return points[-1][1]


def _finding(risk: float, loss: float) -> str:
    taken, left = percent(risk), percent(loss)
    return f"With {taken} of the disclosure risk, {left} of the data are suppressed"
