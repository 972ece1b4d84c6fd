"""Charts of many intervals at once: each cell's bounds, and how many cells have each width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.charts import CROSS, KEPT, TIGHT, UNPROVEN
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart, finish, upright
from discreet.look.ticks import power_ticks, whole_ticks
from discreet.look.words import number, plural

COLOURS = {KEPT: LIGHT.interval, UNPROVEN: LIGHT.review, TIGHT: LIGHT.fail}
LEFT, HEIGHT = 48, 280
APART = 12  # pixels between two crosses or question marks


def bounds_chart(
    lower: Iterable[int],
    upper: Iterable[int],
    counts: Iterable[int] | None = None,
    *,
    limit: int | None = None,
    proven: Iterable[bool] | None = None,
    by: str = "upper",
    kind: str = "cell",
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The intervals of any number of cells, side by side, on a logarithmic axis with room for 0.

    Cells are in order of their upper bound, or of their width; `kind` is what they are called. Few
    cells have a line each; many have a band, in which neighbours with the same interval and count
    are one mark. Cells narrower than `limit` or not `proven` are marked.
    """
    if by not in ("upper", "width"):
        raise DisclosureError(f"cells are ordered by 'upper' or 'width', not by {by!r}.")
    cells = _cells(lower, upper, counts, limit, proven)
    cells.sort(key=lambda c: (c["upper"] - c["lower"] * (by == "width"), c["lower"], c["count"]))
    notes = [source] if source else []
    if title is None:
        title = _finding(cells, kind, limit)
    if not cells:
        return empty_chart("The list of cells is empty.", title=title, notes=notes, width=width)
    room = width - LEFT - 12
    few = len(cells) * 5 <= room
    drawn = _runs(cells, merge=not few)
    order = "upper bound" if by == "upper" else "width"
    words = f"{kind.capitalize()}s, in the order of their {order}"
    mark = "Line" if few else "Band"
    said = [f"{mark}: the values that fit the release, cells in the order of their {order}."]
    if counts is not None:
        said.append("Dots: the true counts.")
    states = {run["state"] for run in drawn}
    if TIGHT in states:
        said.append(f"Crosses: upper minus lower is less than {number(limit or 0)}.")
    if UNPROVEN in states:
        said.append("Question marks: not proven to be so wide.")
    return finish(
        _band(drawn, len(cells), room, few, counts is not None, words),
        title=title,
        key=" ".join(said),
        notes=notes,
        left=LEFT,
        width=width,
        height=HEIGHT,
    )


def width_histogram(
    widths: Iterable[int],
    *,
    limit: int | None = None,
    most: int | None = None,
    kind: str = "cell",
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """How many cells have each width: `most` bars from the least width on, the rest in words."""
    import altair as alt

    found = Counter(map(int, widths))
    notes = [source] if source else []
    every = sum(found.values())
    if title is None:
        title = _least(found, kind)
    if not found:
        return empty_chart("The list of cells is empty.", title=title, notes=notes, width=width)
    most = most or (20 if width >= PHONE else 10)
    first = min(found) if limit is None else min(*found, limit)
    last = min(first + most - 1, max(found))
    rows: list[dict[str, Any]] = [
        {"width": number(w), "cells": found[w], "words": number(found[w]),
         "state": TIGHT if limit is not None and w < limit else KEPT}
        for w in range(first, last + 1)
    ]  # fmt: skip
    if more := every - sum(row["cells"] for row in rows):
        notes.insert(0, f"And {plural(more, kind)} with a width of {number(last + 1)} or more.")
    room = width - LEFT
    step = room / len(rows)
    fits = all(len(row["words"]) * 7 <= step for row in rows)
    highest = max(row["cells"] for row in rows)
    colour = alt.Color(
        "state:N",
        scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        legend=None,
    )
    x = alt.X(
        "width:N",
        scale=alt.Scale(domain=[row["width"] for row in rows], paddingInner=0.2),
        axis=alt.Axis(title="Width: upper minus lower bound", labelAngle=0, labelOverlap=False),
    )
    axis = upright(f"{kind.capitalize()}s", whole_ticks(highest, 4), left=LEFT)
    scale = alt.Scale(domain=[0, highest])
    base = alt.Chart(alt.InlineData(values=rows))
    y = alt.Y("cells:Q", scale=scale, axis=axis)
    layers = [base.mark_bar(width=min(0.8 * step, 36)).encode(x=x, y=y, color=colour)]
    if fits:
        text = base.mark_text(dy=-8, fontSize=12, color=LIGHT.ink)
        layers.append(text.encode(x=x, y=y, text="words:N"))
    tight = sum(row["cells"] for row in rows if row["state"] == TIGHT)
    key = f"Each bar: how many {kind}s have that width."
    if tight:
        key += f" Red, below {number(limit or 0)}: {plural(tight, kind)}."
    return finish(
        layers, title=title, key=key, notes=notes, left=LEFT, width=width, height=HEIGHT * 2 // 3
    )


def _band(
    drawn: list[dict[str, Any]], n: int, room: int, few: bool, counted: bool, words: str
) -> list[Any]:
    """A line a cell, or a band with its two edges; true counts; marks above the doubtful."""
    import altair as alt

    above = 14 if all(run["state"] == KEPT for run in drawn) else 24
    highest = max(max(run["upper"], run["count"]) for run in drawn)
    scale = alt.Scale(type="symlog", constant=1, domain=[0, max(1, highest)], range=[HEIGHT, 0])
    axis = upright("Count of the cell (logarithmic)", power_ticks(highest), left=LEFT, above=above)
    across = alt.Scale(domain=[0, n], range=[0, room], nice=False)
    places = alt.Axis(title=words, values=whole_ticks(n, 5), format=",d", grid=False)
    colour = alt.Color(
        "state:N",
        scale=alt.Scale(domain=list(COLOURS), range=list(COLOURS.values())),
        legend=None,
    )

    def x(end: str) -> Any:
        return alt.X(f"{end}:Q", scale=across, axis=places)

    def y(end: str) -> Any:
        return alt.Y(f"{end}:Q", scale=scale, axis=axis)

    layers: list[Any] = []
    if few:
        base = alt.Chart(alt.InlineData(values=drawn))
        line = base.mark_rule(strokeWidth=1.5, opacity=1)
        layers.append(line.encode(x=x("middle"), y=y("lower"), y2="upper:Q", color=colour))
        for end in ("lower", "upper"):
            tick = base.mark_tick(orient="horizontal", size=4, thickness=2, opacity=1)
            layers.append(tick.encode(x=x("middle"), y=y(end), color=colour))
        if counted:
            dots = base.mark_point(
                filled=True, opacity=1, size=24, fill=LIGHT.true, strokeWidth=0
            )  # fmt: skip
            layers.append(dots.encode(x=x("middle"), y=y("count")))
    for state in [] if few else [s for s in COLOURS if any(run["state"] == s for run in drawn)]:
        part = alt.Chart(alt.InlineData(values=_outline(drawn, state)))
        fill = part.mark_area(opacity=0.45, color=COLOURS[state])
        layers.append(fill.encode(x=x("at"), y=y("lower"), y2="upper:Q"))
        for end in ("lower", "upper"):
            edge = part.mark_line(strokeWidth=1.5, color=COLOURS[state])
            layers.append(edge.encode(x=x("at"), y=y(end)))
    if counted and not few:
        # as short lines with round ends all dots are one path
        part = alt.Chart(alt.InlineData(values=_outline(drawn)))
        dots = part.mark_line(strokeWidth=2, strokeCap="round", color=LIGHT.true)
        layers.append(dots.encode(x=x("at"), y=y("count")))
    for state in (TIGHT, UNPROVEN):
        if marks := _thinned(drawn, state, n * APART / room):
            over = alt.Chart(alt.InlineData(values=marks))
            mark = (
                over.mark_point(
                    shape=CROSS, size=18, strokeWidth=2, stroke=LIGHT.fail, opacity=1, y=-8
                ).encode(x=x("middle"))
                if state == TIGHT
                else over.mark_text(
                    fontSize=12, fontWeight=700, color=LIGHT.review, y=-8
                ).encode(x=x("middle"), text=alt.value("?"))
            )  # fmt: skip
            layers.append(mark)
    return layers


# Cells, runs of equal cells, and what they say


def _cells(
    lower: Iterable[int],
    upper: Iterable[int],
    counts: Iterable[int] | None,
    limit: int | None,
    proven: Iterable[bool] | None,
) -> list[dict[str, Any]]:
    ends = [(int(low), int(high)) for low, high in zip(lower, upper, strict=True)]
    if crossed := [end for end in ends if end[0] > end[1]]:
        low, high = crossed[0]
        raise DisclosureError(f"the lower bound {number(low)} is above the upper, {number(high)}.")
    true = [0] * len(ends) if counts is None else [int(count) for count in counts]
    sure = [True] * len(ends) if proven is None else [bool(fact) for fact in proven]
    cells = []
    for (low, high), count, fact in zip(ends, true, sure, strict=True):
        state = KEPT if fact else UNPROVEN
        if limit is not None and high - low < limit:
            state = TIGHT
        cells.append({"lower": low, "upper": high, "count": count, "state": state})
    return cells


def _runs(cells: list[dict[str, Any]], *, merge: bool) -> list[dict[str, Any]]:
    """Neighbours that are the same, as one; each with where it begins and ends."""
    runs: list[dict[str, Any]] = []
    for place, cell in enumerate(cells):
        if merge and runs and all(runs[-1][key] == cell[key] for key in cell):
            runs[-1]["to"] = place + 1
        else:
            runs.append(cell | {"from": place, "to": place + 1})
    for run in runs:
        run["middle"] = (run["from"] + run["to"]) / 2
    return runs


def _outline(drawn: list[dict[str, Any]], state: str | None = None) -> list[dict[str, Any]]:
    """Where each run begins and ends, with a gap for every run of another state.

    Without a state there is a gap after each run.
    """
    points: list[dict[str, Any]] = []
    gap = {"lower": None, "upper": None, "count": None}
    for run in drawn:
        if state is None or run["state"] == state:
            ends = {name: run[name] for name in gap}
            points += [{"at": run["from"]} | ends, {"at": run["to"]} | ends]
        if state is None or run["state"] != state:
            points.append({"at": run["to"]} | gap)
    return points


def _thinned(drawn: list[dict[str, Any]], state: str, apart: float) -> list[dict[str, float]]:
    """Where a mark stands above the cells of a state: never closer than `apart`."""
    marks: list[dict[str, float]] = []
    for run in drawn:
        if run["state"] == state and (not marks or run["middle"] - marks[-1]["middle"] >= apart):
            marks.append({"middle": run["middle"]})
    return marks


def _finding(cells: list[dict[str, Any]], kind: str, limit: int | None) -> str:
    """The title: whether the limit is kept, and how wide half of the cells are."""
    if not cells:
        return f"No {kind} to show"
    every, states = plural(len(cells), kind), [cell["state"] for cell in cells]
    if tight := states.count(TIGHT):
        less = f"less than {number(limit or 0)}"
        return f"{number(tight)} of {every} can be narrowed to a width of {less}"
    if limit is not None and (unproven := states.count(UNPROVEN)):
        return f"{number(unproven)} of {every} not proven to keep a width of {number(limit)}"
    widths = sorted(cell["upper"] - cell["lower"] for cell in cells)
    half = number(widths[len(widths) // 2])
    if limit is not None:
        keep = "keeps" if len(cells) == 1 else "keep"
        tail = f"; half keep {half} or more" if len(cells) > 1 else ""
        return f"{every} {keep} a width of {number(limit)} or more{tail}"
    above = sum(cell["lower"] > 0 for cell in cells)
    sure = f"{number(above)} of {every} {'has' if above == 1 else 'have'} a lower bound above 0"
    return f"{sure}; half keep a width of {half} or more"


def _least(found: Counter[int], kind: str) -> str:
    """The title: how many keep the least width, and how wide half of them are."""
    if not found:
        return f"No {kind} to show"
    every = sum(found.values())
    least, n = min(found), found[min(found)]
    half = number(sorted(found.elements())[every // 2])
    keep = "keeps" if n == 1 else "keep"
    tail = f"; half keep {half} or more" if every > 1 else ""
    return f"{number(n)} of {plural(every, kind)} {keep} the least width, {number(least)}{tail}"
