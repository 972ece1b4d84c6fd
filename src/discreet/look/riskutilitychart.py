"""The risk-utility map, drawn and in letters: what each mask risks and is worth (Duncan et al.
2001).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.palette import LIGHT
from discreet.look.theme import WIDE, empty_chart, finish, upright
from discreet.look.ticks import nice_ticks
from discreet.look.words import number, plural

SHOWN = 12  # masks with a number; the others are dots
STATES = ("PASS", "REVIEW", "FAIL")
LETTERS, LINES = 56, 9  # of the map for a terminal
MARKS = "123456789abcdefghijklmnopqrstuvwxyz"
SHAPES = {"PASS": "circle", "REVIEW": "triangle-up", "FAIL": "cross"}

Row = tuple[str, float | None, float, str]


def map_chart(
    rows: Sequence[Row],
    *,
    limit: float,
    best: str | None = None,
    efficient: Sequence[str] = (),
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """Risk against utility, a point a mask; a row is a name, risk, utility and verdict.

    The dashed line is the risk limit, the thin one joins the `efficient` masks. A mask whose risk
    or utility is no finite number is told, not drawn. `title=""` leaves the title out.
    """
    import altair as alt

    if wrong := [row for row in rows if row[3] not in STATES]:
        raise DisclosureError(f"{wrong[0][3]!r} is no verdict; it is one of {', '.join(STATES)}.")
    title = _finding(rows, limit, best) if title is None else title
    ranked = sorted(rows, key=lambda row: (row[0] != best, STATES.index(row[3]), -row[2]))
    numbered = {row[0]: place for place, row in enumerate(ranked[:SHOWN], 1)}
    notes = [_line(place, row) for place, row in enumerate(ranked[:SHOWN], 1)]
    if len(ranked) > SHOWN:
        notes.append(f"{plural(len(ranked) - SHOWN, 'more mask')} without a number.")
    if source:
        notes.append(source)
    places = {
        name: (float(risk), float(worth))
        for name, risk, worth, _ in ranked
        if risk is not None and math.isfinite(risk) and math.isfinite(worth)
    }
    if not places:
        return empty_chart("No mask to draw.", title=title, notes=notes, width=width)
    left, right, height = 56, 24, 260
    risks = [risk for risk, _ in places.values()] + ([limit] if math.isfinite(limit) else [])
    across = nice_ticks(min(risks), max(risks), 5)
    up = nice_ticks(min(u for _, u in places.values()), max(u for _, u in places.values()), 5)
    x = alt.X(
        "risk:Q",
        scale=alt.Scale(domain=[across[0], across[-1]], range=[0, max(width - left - right, 60)]),
        axis=alt.Axis(title="Disclosure risk", values=across, format=_format(across), grid=False),
    )
    axis = upright("Data utility", up, left=left)
    axis.format = _format(up)
    y = alt.Y("utility:Q", scale=alt.Scale(domain=[up[0], up[-1]], range=[height, 0]), axis=axis)
    layers = []
    if math.isfinite(limit):
        at = alt.Chart(alt.InlineData(values=[{"risk": limit}]))
        layers.append(at.mark_rule(color=LIGHT.muted, strokeDash=[5, 4]).encode(x=x))
    if line := [places[name] for name in efficient if name in places]:
        ends = [{"risk": r, "utility": u, "row": k} for k, (r, u) in enumerate(line)]
        joined = alt.Chart(alt.InlineData(values=ends)).mark_line(
            color=LIGHT.released, strokeWidth=1.5, interpolate="step-after"
        )
        layers.append(joined.encode(x=x, y=y, order="row:Q"))
    for name, risk, worth, verdict in reversed(ranked):
        if name not in places:
            continue
        colour = LIGHT.released if name == best else LIGHT[verdict]
        point = alt.Chart(
            alt.InlineData(values=[{"risk": risk, "utility": worth, "name": name}])
        ).mark_point(
            shape=SHAPES[verdict], size=180 if name == best else 110, filled=True, opacity=1,
            fill=colour, stroke=LIGHT.paper,
        )  # fmt: skip
        layers.append(point.encode(x=x, y=y, tooltip=["name:N", "risk:Q", "utility:Q"]))
    layers.append(_numbers(places, numbered, x, y))
    return finish(
        layers,
        title=title,
        key="Large dot: the choice. Circle: within the risk limit (dashed line). Triangle: not "
        "proven to be. Cross: above it. Line: the best for each limit.",
        notes=notes,
        left=left,
        width=width,
        height=height,
    )


def text_map(points: Sequence[tuple[float | None, float]], *, limit: float) -> list[str]:
    """Risk across, utility up; points are numbered in their order, those beyond 35 are dots.

    The colons are the risk limit; what is no finite number is left out; points in one place show
    the first.

    >>> for line in text_map([(0.1, 4), (0.4, 9)], limit=0.2)[-4:]:
    ...     print(line)
      4 1                  :
        +-------------------------------------------------------
        0.1                                                  0.4
        risk across, utility up, : the limit 0.2
    """
    known = [
        (place, float(risk), worth)
        for place, (risk, worth) in enumerate(points)
        if risk is not None and math.isfinite(risk) and math.isfinite(worth)
    ]
    if not known:
        return ["no release to draw"]
    risks = [risk for _, risk, _ in known] + ([limit] if math.isfinite(limit) else [])
    worths = [worth for _, _, worth in known]
    low, high, least, most = min(risks), max(risks), min(worths), max(worths)
    grid = [[" "] * LETTERS for _ in range(LINES)]
    if math.isfinite(limit):
        for row in grid:
            row[_step(limit, low, high, LETTERS)] = ":"
    for place, risk, worth in reversed(known):
        mark = MARKS[place] if place < len(MARKS) else "."
        grid[LINES - 1 - _step(worth, least, most, LINES)][_step(risk, low, high, LETTERS)] = mark
    top, bottom = number(most), number(least)
    edge = max(len(top), len(bottom), 3)
    sides = [top, *[""] * (LINES - 2), bottom]
    lines = [
        f"{side:>{edge}} {''.join(row)}".rstrip() for side, row in zip(sides, grid, strict=True)
    ]
    left, right = number(low), number(high)
    gap = " " * (edge + 1)
    lines.append(f"{gap}+{'-' * (LETTERS - 1)}")
    lines.append(gap + (left if low == high else f"{left}{right:>{LETTERS - len(left)}}"))
    shown = f", : the limit {number(limit)}" if math.isfinite(limit) else ""
    return [*lines, f"{gap}risk across, utility up{shown}"]


def _step(value: float, low: float, high: float, steps: int) -> int:
    return 0 if high == low else round((value - low) / (high - low) * (steps - 1))


def _numbers(
    places: dict[str, tuple[float, float]], numbered: dict[str, int], x: Any, y: Any
) -> Any:
    """The numbers of the masks beside their points; masks in one place share a label."""
    import altair as alt

    said: dict[tuple[float, float], list[str]] = {}
    for name, at in places.items():
        if name in numbered:
            said.setdefault(at, []).append(str(numbered[name]))
    rows = [
        {"risk": risk, "utility": worth, "words": ", ".join(words)}
        for (risk, worth), words in said.items()
    ]
    base = alt.Chart(alt.InlineData(values=rows))
    words = base.mark_text(align="left", dx=10, dy=-10, fontSize=12, color=LIGHT.ink)
    return words.encode(x=x, y=y, text="words:N")


def _line(place: int, row: Row) -> str:
    name, risk, worth, verdict = row
    known = "not known" if risk is None else _value(risk)
    return f"{place} {name}: risk {known}, utility {_value(worth)}, {verdict}."


def _value(value: float) -> str:
    return number(value) if math.isfinite(value) else ("unlimited" if value > 0 else "-unlimited")


def _finding(rows: Sequence[Row], limit: float, best: str | None) -> str:
    if best is None:
        return f"No mask keeps the risk limit {_value(limit)}: release nothing"
    risk, worth = next((risk, worth) for name, risk, worth, _ in rows if name == best)
    taken = "an unknown risk" if risk is None else f"a risk of {_value(risk)}"
    return f"Within the limit {best} is worth most, {_value(worth)}, at {taken}"


def _format(ticks: Sequence[float]) -> str:
    """As many figures as tell the ticks apart."""
    largest = max(map(abs, ticks))
    return ",~f" if 1e-3 <= largest < 1e9 else "~e"
