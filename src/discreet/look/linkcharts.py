"""Charts of identification and harm; each takes data, returns the chart and never shows it."""

from __future__ import annotations

from collections.abc import Sequence
from math import sqrt
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.bars import Bar, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart, finish, upright
from discreet.look.ticks import SHARES, power_ticks, whole_ticks
from discreet.look.words import number, percent, plural

LEFT, HEIGHT, EDGE = 56, 190, 20
UNEVEN = 30  # times the largest count over the smallest: above, the scale is logarithmic
SHOWN = 30  # groups; more are counted in a note

Band = tuple[float, float, int]
Sum = tuple[str, int, float]


def risk_chart(
    bands: Sequence[Band],
    *,
    act: float,
    above: int,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """How many respondents have a most probable link in each band: from, to, respondents.

    `above` have one of at least `act`, which is marked. `title=""` leaves the title out.
    """
    import altair as alt

    every = sum(n for *_, n in bands)
    if not 0 <= above <= every:
        raise DisclosureError(f"{above} of {every} respondents cannot be above {act:g}.")
    if title is None:
        have = "has" if above == 1 else "have"
        title = f"{number(above)} of {plural(every, 'respondent')} {have} a link of {act:g} or more"
    notes = [source] if source else []
    if not every:
        return empty_chart("There is no respondent.", title=title, notes=notes, width=width)
    counts = [n for *_, n in bands if n]
    uneven = max(counts) > UNEVEN * min(counts)
    rows: list[dict[str, Any]] = [
        {"from": low, "to": high, "middle": (low + high) / 2, "none": 0, "n": n,
         "words": number(n) if n else ""}
        for low, high, n in bands
    ]  # fmt: skip
    room = width - LEFT - EDGE
    scale: dict[str, Any] = {"type": "symlog", "constant": 1} if uneven else {}
    ticks = power_ticks(max(counts)) if uneven else whole_ticks(max(counts), 4)
    y = alt.Y(
        "n:Q",
        scale=alt.Scale(domain=[0, max(counts)], range=[HEIGHT, 0], **scale),
        axis=upright(f"Respondents{' (logarithmic)' * uneven}", ticks, left=LEFT, above=24),
    )

    def at(end: str) -> Any:
        axis = alt.Axis(
            title="Probability of the most probable link",
            values=list(SHARES),
            format=".1f",
            grid=False,
        )
        return alt.X(f"{end}:Q", scale=alt.Scale(domain=[0, 1], range=[0, room]), axis=axis)

    base = alt.Chart(alt.InlineData(values=rows))
    limit = alt.Chart(alt.InlineData(values=[{"act": act}]))
    bars = base.mark_bar(color=LIGHT.belief, stroke=LIGHT.paper, strokeWidth=2)
    layers = [
        bars.encode(x=at("from"), x2="to:Q", y=y, y2="none:Q"),
        limit.mark_rule(color=LIGHT.paper, strokeWidth=4).encode(x=at("act")),
        limit.mark_rule(color=LIGHT.ink, strokeWidth=1.5, strokeDash=[4, 3]).encode(x=at("act")),
    ]
    if max(len(row["words"]) for row in rows) * 7 <= room / len(rows):
        text = base.mark_text(dy=-8, fontSize=12, color=LIGHT.ink)
        layers.append(text.encode(x=at("middle"), y=y, text="words:N"))
    return finish(
        layers,
        title=title,
        key=f"Dashed: the intruder acts on no link below {act:g}.",
        notes=notes,
        left=LEFT,
        width=width,
        height=HEIGHT,
    )


def reliability_chart(
    rows: Sequence[tuple[int, float, float]],
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """How often best links are right, by what is stated of them: links, mean stated, share right.

    The bars are where 95% of such shares lie by chance if what is stated is right.
    """
    import altair as alt

    every = sum(n for n, *_ in rows)
    if title is None:
        title = _held(rows, every)
    notes = [source] if source else []
    if not every:
        return empty_chart("There is no link.", title=title, notes=notes, width=width)
    room, height = width - LEFT - EDGE, 230
    drawn: list[dict[str, Any]] = []
    for n, stated, right in rows:
        if n:
            chance = 1.96 * sqrt(max(0.0, stated * (1 - stated)) / n)
            ends = {"low": max(0.0, stated - chance), "high": min(1.0, stated + chance)}
            drawn.append({"stated": stated, "right": right, "words": number(n)} | ends)
    axis = upright("Share that is right", SHARES, left=LEFT)
    axis.format = ".0%"

    def y(end: str) -> Any:
        return alt.Y(f"{end}:Q", scale=alt.Scale(domain=[0, 1], range=[height, 0]), axis=axis)

    x = alt.X(
        "stated:Q",
        scale=alt.Scale(domain=[0, 1], range=[0, room]),
        axis=alt.Axis(title="Probability stated", values=list(SHARES), format=".0%", grid=False),
    )
    line = alt.Chart(alt.InlineData(values=[{"stated": p, "right": p} for p in (0, 1)]))
    base = alt.Chart(alt.InlineData(values=drawn))
    dots = base.mark_point(
        shape="diamond", size=100, filled=True, opacity=1, fill=LIGHT.true, stroke=LIGHT.paper
    )
    layers = [
        line.mark_line(color=LIGHT.muted, strokeWidth=1, strokeDash=[2, 3]).encode(
            x=x, y=y("right")
        ),
        base.mark_rule(color=LIGHT.belief, strokeWidth=7, opacity=0.45).encode(
            x=x, y=y("low"), y2="high:Q"
        ),
        dots.encode(x=x, y=y("right")),
    ]
    if width >= PHONE:
        before = base.mark_text(align="right", dx=-9, fontSize=12, color=LIGHT.ink)
        behind = base.mark_text(align="left", dx=9, fontSize=12, color=LIGHT.ink)
        for text, where in ((before, ">= 0.5"), (behind, "< 0.5")):
            text = text.encode(x=x, y=y("right"), text="words:N")
            layers.append(text.transform_filter(f"datum.stated {where}"))
    return finish(
        layers,
        title=title,
        key="Diamond: links of a tenth. Dotted: as often right as stated. Bar: 95% by chance."
        + (" Figure: links." if width >= PHONE else ""),
        notes=notes,
        left=LEFT,
        width=width,
        height=height,
    )


def outcome_chart(
    rows: Sequence[Sum],
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The harm of each outcome: its name, respondents and harm."""
    every, total = sum(n for _, n, _ in rows), sum(harm for *_, harm in rows)
    if title is None:
        title = f"Harm of {_amount(total)} to {plural(every, 'respondent')}"
        name, _, most = max(rows, key=lambda row: row[2], default=("", 0, 0.0))
        if most > 0:
            title += f", {_amount(most)} of it by {name}"
    bars = [Bar(name, harm, f"{_amount(harm)} ({number(n)})") for name, n, harm in rows]
    key = "Bar: the sum of harm. In brackets: respondents."
    notes = [source] if source else []
    return bar_chart(bars, title=title, axis="Harm", key=key, notes=notes, width=width)


def group_chart(
    rows: Sequence[Sum],
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The harm to a respondent of each group, most first: its name, respondents and harm."""
    if empty := [name for name, n, _ in rows if n < 1]:
        raise DisclosureError(f"the group {empty[0]!r} has no respondent; leave it out.")
    ranked = sorted(rows, key=lambda row: -row[2] / row[1])
    if title is None:
        title = _spread(ranked)
    notes = [source] if source else []
    if len(ranked) > SHOWN:
        notes.insert(0, f"{plural(len(ranked) - SHOWN, 'more group')}, none harmed more.")
    bars = [
        Bar(name, harm / n, f"{_amount(harm / n, 3)} ({number(n)})")
        for name, n, harm in ranked[:SHOWN]
    ]
    key = "Bar: the average. In brackets: respondents of the group."
    return bar_chart(bars, title=title, axis="Harm a respondent", key=key, notes=notes, width=width)


# Findings


def _held(rows: Sequence[tuple[int, float, float]], every: int) -> str:
    if not every:
        return "No respondent has a link"
    stated, right = (sum(row[0] * row[side] for row in rows) / every for side in (1, 2))
    return (
        f"{plural(every, 'best link')}: {percent(stated)} expected to be right, {percent(right)} "
        f"{'is' if every == 1 else 'are'}"
    )


def _spread(ranked: Sequence[Sum]) -> str:
    """The title: the group that is harmed most, against the one that is harmed least."""
    if not ranked:
        return "There is no group"
    (first, n, most), (last, m, least) = ranked[0], ranked[-1]
    if most / n == least / m:
        return f"Every group is harmed alike, by {_amount(most / n, 3)} a respondent"
    high, low = _amount(most / n, 3), _amount(least / m, 3)
    return f"Harm a respondent: {high} in {first}, {low} in {last}"


def _amount(value: float, figures: int = 6) -> str:
    return number(float(f"{value:.{figures}g}"))
