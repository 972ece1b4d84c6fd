"""Charts of what a release teaches: belief before against belief after."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.look.bars import Bar, Mark, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import WIDE, finish
from discreet.look.ticks import QUARTERS
from discreet.look.words import number, percent, plural, printable

Curve = tuple[Sequence[float], Sequence[float]]
MOST_POINTS = 400


def shares_chart(
    values: Sequence[Any],
    before: Sequence[float] | None,
    after: Sequence[float],
    *,
    label: str = "",
    title: str | None = None,
    source: str | None = None,
    most: int = 30,
    width: int = WIDE,
) -> Any:
    """One row a value: a bar to its probability after the release, a ring at that before it."""
    rows: list[dict[str, Any]] = []
    for place, value in enumerate(values):
        p = float(after[place])
        was = None if before is None else float(before[place])
        words = percent(p) if was is None else f"{percent(p)}, was {percent(was)}"
        text = number(value) if isinstance(value, int | float) else str(value)
        rows.append({"place": place, "value": printable(text), "p": p})
        rows[-1] |= {"was": p if was is None else was, "words": words}
    kept = {row["place"] for row in sorted(rows, key=lambda r: -max(r["p"], r["was"]))[:most]}
    shown = [row for row in rows if row["place"] in kept]
    notes = [source] if source else []
    if len(shown) < len(rows):
        rest = max(0.0, 1 - sum(row["p"] for row in shown))
        notes.insert(0, f"{plural(len(rows) - len(shown), 'more value')}, {percent(rest)} in all.")
    if title is None:
        best = max(rows, key=lambda row: row["p"])
        title = f"{label}: the best guess is {best['value']}, with probability {percent(best['p'])}"
        if before is not None:
            title += (
                f", {percent(best['was'])} before" if best["was"] != best["p"] else ", as before"
            )
    key = "Bar: what is believed after the release." + " Ring: before." * (before is not None)
    bars = [
        Bar(row["value"], row["p"], row["words"], mark=None if before is None else row["was"])
        for row in shown
    ]
    return bar_chart(
        bars, title=title, axis="Probability", key=key, notes=notes, ticks=QUARTERS, form=".0%",
        colour=LIGHT.belief, mark=Mark("circle", LIGHT.paper, LIGHT.interval, 70), width=width,
    )  # fmt: skip


def curves_chart(
    before: Curve | None,
    after: Curve,
    *,
    label: str = "",
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The density after the release as an area, that before it as a line, up to where it ends.

    On a logarithmic axis heights are x f(x), so that areas are probabilities.
    """
    import altair as alt

    low, high = min(after[0]), max(after[0])
    log = low > 0
    rows = _rows(after, low, high, log)
    scale = alt.Scale(domain=[low, high], zero=False, nice=False, type="log" if log else "linear")
    x = alt.X("x:Q", scale=scale, axis=alt.Axis(title="Value", tickCount=6, grid=False))
    y = alt.Y("y:Q", axis=None, stack=None)
    layers = [
        alt.Chart(alt.InlineData(values=rows))
        .mark_area(color=LIGHT.belief, opacity=0.6, clip=True)
        .encode(x=x, y=y)
    ]
    if before is not None:
        line = _rows(before, low, high, log)
        layers.append(
            alt.Chart(alt.InlineData(values=line))
            .mark_line(color=LIGHT.interval, strokeWidth=2, clip=True)
            .encode(x=x, y=y)
        )
    if title is None:
        title = f"{label}: values from {_round(low)} to {_round(high)} are possible"
    key = "Area: what is believed after the release."
    key += " Line: before." if before is not None else ""
    key += " Areas are probabilities; the axis is logarithmic." if log else ""
    return finish(
        layers, title=title, key=key, notes=[source] if source else [], left=0, width=width,
        height=180,
    )  # fmt: skip


def _rows(curve: Curve, low: float, high: float, log: bool) -> list[dict[str, float]]:
    inside = [(x, y) for x, y in zip(*curve, strict=True) if low <= x <= high]
    step = max(1, len(inside) // MOST_POINTS)
    kept = [*inside[:-1:step], *inside[-1:]]
    return [{"x": x, "y": x * y if log else y} for x, y in kept]


def _round(value: float) -> str:
    return number(float(f"{value:.4g}"))
