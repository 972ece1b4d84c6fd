"""Charts of critical widths and disclosure scores; each takes data and returns the chart."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from discreet.look.bars import Bar, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, finish
from discreet.look.words import both, number, plural, span

Five = tuple[int, float, float, float, float, float]


def width_chart(
    spreads: Mapping[int, Five],
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """Box plots of the widths of each order, on a logarithmic axis that has room for 0.

    `spreads`: how many margins, least, lower quartile, median, upper quartile, most.
    """
    import altair as alt

    rows: list[dict[str, Any]] = []
    for order, (margins, least, lower, median, upper, most) in spreads.items():
        row = {"least": least, "lower": lower, "median": median, "upper": upper, "most": most}
        words = f"{span(least, most)} ({number(margins)})"
        rows.append(row | {"order": plural(order, "variable"), "words": words})
    left, right = 90, 20 + 7 * max(len(row["words"]) for row in rows)
    highest = max(1, *(five[-1] for five in spreads.values()))
    scale = alt.Scale(
        type="symlog", constant=1, domain=[0, highest], range=[0, max(width - left - right, 60)]
    )
    powers = range(0, len(str(int(highest))), 2 if width < PHONE else 1)
    ticks = [0, *(10**power for power in powers)]
    axis = alt.Axis(title="Critical width (logarithmic)", values=ticks, format=",d")
    names = alt.Axis(title=None, labelAlign="left", labelPadding=left)
    y = alt.Y("order:N", scale=alt.Scale(domain=[row["order"] for row in rows]), axis=names)
    base = alt.Chart(alt.InlineData(values=rows))

    def at(end: str) -> Any:
        return alt.X(f"{end}:Q", scale=scale, axis=axis)

    layers = [
        base.mark_rule(color=LIGHT.interval, strokeWidth=2).encode(y=y, x=at("least"), x2="most:Q"),
        base.mark_bar(height=14, color=LIGHT.paper).encode(y=y, x=at("lower"), x2="upper:Q"),
        base.mark_bar(height=14, color=LIGHT.interval, opacity=0.5).encode(
            y=y, x=at("lower"), x2="upper:Q"
        ),
        *(
            base.mark_tick(size=8, thickness=2, color=LIGHT.interval, opacity=1).encode(
                y=y, x=at(end)
            )
            for end in ("least", "most")
        ),
        base.mark_tick(size=18, thickness=3, color=LIGHT.true, opacity=1).encode(
            y=y, x=at("median")
        ),
        base.mark_text(align="left", dx=10, fontSize=12, color=LIGHT.ink).encode(
            y=y, x=at("most"), text="words:N"
        ),
    ]
    key = (
        "The narrowest width of a small count when a margin and all one-way margins are known. "
        "Box: the middle half of the margins of that many variables. Thick mark: the median. "
        "Figures: narrowest to widest (number of margins)."
    )
    return finish(
        layers,
        title=_fall(spreads) if title is None else title,
        key=key,
        notes=[source] if source else [],
        left=left,
        width=width,
        height=28 * len(rows),
    )


def score_chart(
    rows: Sequence[tuple[str, float, int]],
    groups: Sequence[str],
    *,
    basis: str,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """Scores as bars, lowest first; a row is a name, its score, and its group from 1 on."""
    wide = width >= PHONE
    said = "; ".join(f"group {place}: {words}" for place, words in enumerate(groups, 1))
    bars = [
        Bar(name, score, f"{score:,.2f}, {groups[group - 1] if wide else f'group {group}'}")
        for name, score, group in rows
    ]
    return bar_chart(
        bars,
        title=_foremost(rows, groups) if title is None else title,
        axis="Disclosure score",
        key=f"Score: {basis}. The lower, the more problematic{'' if wide else f' ({said})'}.",
        notes=[source] if source else [],
        colour=LIGHT.interval,
        width=width,
    )


def _fall(spreads: Mapping[int, Five]) -> str:
    """The title: from which order on the typical margin protects no small count."""
    medians = {order: five[3] for order, five in spreads.items()}
    first, last = min(medians), max(medians)
    end = next((order for order in sorted(medians) if medians[order] <= 1), last)
    if end == first:
        return f"The median critical width of margins is {number(medians[first])}"
    ends = [f"{number(medians[o])} with {plural(o, 'variable')}" for o in (first, end)]
    return f"The median critical width falls from {ends[0]} to {ends[1]}"


def _foremost(rows: Sequence[tuple[str, float, int]], groups: Sequence[str]) -> str:
    """The title: which variables are the most problematic."""
    names = [name for name, _, group in rows if group == 1]
    if len(groups) == 1:
        return f"{plural(len(rows), 'variable')}, none more problematic than another"
    if len(names) > 3:
        return f"{number(len(names))} of {plural(len(rows), 'variable')} are {groups[0]}"
    return f"{both(names)} {'is' if len(names) == 1 else 'are'} {groups[0]}"
