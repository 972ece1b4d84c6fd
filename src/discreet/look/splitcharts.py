"""Charts of what is left to know over what an intruder believed of a hidden category before."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.look.palette import LIGHT
from discreet.look.theme import WIDE, finish, upright
from discreet.look.ticks import nice_ticks

LEFT = 48


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
