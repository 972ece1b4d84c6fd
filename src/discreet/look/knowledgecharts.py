"""Charts of what a release teaches, and of what is left to know: by prior, and by rule."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.look.bars import Bar, Mark, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import WIDE, finish, upright
from discreet.look.ticks import QUARTERS, nice_ticks
from discreet.look.words import number, percent, plural, printable, sentence

Curve = tuple[Sequence[float], Sequence[float]]
Spans = Sequence[tuple[float, float]]
LEFT = 48
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


def split_chart(
    curve: Sequence[tuple[float, float]],
    limit: float,
    *,
    name: str,
    label: str = "",
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """Uncertainty over the prior share of a category; the limit as a line across."""
    import altair as alt

    rows = [{"share": share, "u": u} for share, u in curve]
    ticks = nice_ticks(0.0, max(limit, *(u for _, u in curve)) or 1.0, 4)
    scale = alt.Scale(domain=[0, ticks[-1]], nice=False)
    x = alt.X(
        "share:Q",
        scale=alt.Scale(domain=[0, 1], range=[0, width - LEFT - 16], nice=False),
        axis=alt.Axis(title=f"Prior share of {name}", format=".0%", tickCount=5, grid=False),
    )
    y = alt.Y("u:Q", scale=scale, axis=upright("Uncertainty left", ticks, left=LEFT))
    line = (
        alt.Chart(alt.InlineData(values=rows))
        .mark_line(color=LIGHT.belief, strokeWidth=2)
        .encode(x=x, y=y)
    )
    across = (
        alt.Chart(alt.InlineData(values=[{"u": limit}]))
        .mark_rule(color=LIGHT.ink, strokeDash=[4, 3], x=0, x2=width - LEFT - 16)
        .encode(y=y)
    )
    if title is None:
        enough = sum(u >= limit - 1e-12 for _, u in curve) / len(curve)
        said = "for every" if enough == 1 else "for no" if not enough else "for some"
        title = f"{label}: enough is left to know {said} prior share of {name}"
    return finish(
        [line, across], title=title, key="Dashed: the limit.", notes=[source] if source else [],
        left=LEFT, width=width, height=200,
    )  # fmt: skip


def alphas_chart(
    curve: Sequence[tuple[float, float]],
    limit: float,
    beyond: Spans,
    *,
    measure: str,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The uncertainty left by alpha, the limit as a rule; alphas beyond it lie on grey."""
    import altair as alt

    low, high = curve[0][0], curve[-1][0]
    across = width - LEFT - 16
    axis = alt.Axis(title="alpha of the Pareto prior", tickCount=across // 80, grid=False)
    scale = alt.Scale(domain=[low, high], range=[0, across], type="log", nice=False)
    x = alt.X("alpha:Q", scale=scale, axis=axis)
    ticks = nice_ticks(0.0, max(limit, *(height for _, height in curve)), 5)
    up = alt.Scale(domain=[0, ticks[-1]], nice=False)
    y = alt.Y("left:Q", scale=up, axis=upright(sentence(measure), ticks, left=LEFT))
    rows = [{"alpha": alpha, "left": height} for alpha, height in curve]
    spans = [{"alpha": a, "end": b} for a, b in beyond]
    layers = [
        alt.Chart(alt.InlineData(values=spans))
        .mark_rect(color=LIGHT.rule, opacity=0.6)
        .encode(x=x, x2="end:Q"),
        alt.Chart(alt.InlineData(values=rows)).mark_line(color=LIGHT.belief).encode(x=x, y=y),
        alt.Chart(alt.InlineData(values=[{"left": limit}]))
        .mark_rule(color=LIGHT.fail, strokeDash=[4, 3], x=0, x2=across)
        .encode(y=y),
    ]
    if title is None:
        title = "Every alpha searched is within the limit"
        if beyond:
            said = " and ".join(f"{a:.4g} to {b:.4g}" for a, b in beyond)
            title = f"Beyond the limit: alpha from {said}"
    key = "Line: what is left to know once the total is out. Dashes: the limit. Grey: beyond it."
    notes = [source] if source else []
    return finish(layers, title=title, key=key, notes=notes, left=LEFT, width=width, height=200)


def rules_chart(
    rows: Sequence[tuple[str, float, float, bool]],
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """One row a rule: a bar to the largest error of the best guess, a mark at what is asked."""
    bars = [
        Bar(
            name, left, f"{left:.1%}, asked {limit:.1%}", mark=limit,
            colour=LIGHT.passed if within else LIGHT.fail,
        )
        for name, left, limit, within in rows
    ]  # fmt: skip
    if title is None:
        broken = sum(not within for *_, within in rows)
        title = f"{broken:,} of {plural(len(rows), 'rule')} broken"
    key = "Bar: how wrong the intruder's best guess may be. Mark: the least that is asked."
    return bar_chart(
        bars, title=title, axis="Relative error", key=key, notes=[source] if source else [],
        form=".0%", mark=Mark(), width=width,
    )  # fmt: skip


def _rows(curve: Curve, low: float, high: float, log: bool) -> list[dict[str, float]]:
    inside = [(x, y) for x, y in zip(*curve, strict=True) if low <= x <= high]
    step = max(1, len(inside) // MOST_POINTS)
    kept = [*inside[:-1:step], *inside[-1:]]
    return [{"x": x, "y": x * y if log else y} for x, y in kept]


def _round(value: float) -> str:
    return number(float(f"{value:.4g}"))
