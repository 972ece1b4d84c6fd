"""Charts of totals: what is left to know by the prior's alpha, and by each rule's intruder."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.look.bars import Bar, Mark, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import WIDE, finish, upright
from discreet.look.ticks import nice_ticks
from discreet.look.words import plural, sentence

Spans = Sequence[tuple[float, float]]
LEFT = 48


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
