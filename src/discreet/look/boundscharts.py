"""Charts of intervals: a row a cell, many cells side by side, how many have each width."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.bars import LETTER, LINE, Names, RowAxis
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart, finish, short_lines, upright
from discreet.look.ticks import power_ticks, whole_ticks
from discreet.look.words import number, plural, printable, span

Cell = dict[str, Any]
MEASURES = ("count", "lower", "upper", "width", "status")
LOOSE = ("linear", "outer only")
KEPT, UNPROVEN, TIGHT = "kept", "unproven", "tight"
CROSS = "M-1,-1L1,1M1,-1L-1,1"
COLOURS = {KEPT: LIGHT.interval, UNPROVEN: LIGHT.review, TIGHT: LIGHT.fail}
LEFT, HEIGHT = 48, 280
APART = 12  # pixels between two crosses or question marks


def interval_chart(
    frame: Any,
    *,
    limit: int | None = None,
    proven: Iterable[bool] | None = None,
    title: str | None = None,
    most: int = 40,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """Feasible intervals of cells, narrowest first: one bar a cell from its lower to its upper.

    `frame` is `CellBounds.to_frame(...)`; true counts in it are drawn as diamonds. Bars narrower
    than `limit` have the colour of FAIL and a cross. `proven` says which are as wide as that; by
    its status if left out, for tables of whole numbers. `title=""` leaves the title out.
    """
    cells = _rows(frame, limit, proven)
    cells.sort(key=lambda cell: (cell["width"], cell.get("count", 0)))
    if title is None:
        small = all(0 < cell.get("count", 0) <= 5 for cell in cells)
        title = _exact(cells, "small count" if small else "cell", limit)
    notes = [source] if source else []
    if not cells:
        return empty_chart("The list of cells is empty.", title=title, notes=notes, width=width)
    if len(cells) > most:
        more = plural(len(cells) - most, "more cell")
        notes.insert(0, f"{more}, none with a narrower interval, not shown.")
    shown = cells[:most]
    names = Names.of(
        [cell["name"] for cell in shown], width, left=0 if width < PHONE else width * 2 // 5
    )
    for place, cell in enumerate(shown):
        cell |= {"row": place, "range": span(cell["lower"], cell["upper"])}
    heading = ", ".join(_labels(frame))
    key = _key(shown, limit)
    key = key if names.left else f"{heading}. {key}"
    return _intervals(shown, heading, names, width, title=title, key=key, notes=notes)


def _intervals(cells: list[Cell], heading: str, names: Names, width: int, **words: Any) -> Any:
    """Bars with end ticks, true counts, crosses, the interval in figures, names."""
    import altair as alt

    base, left, down = alt.Chart(alt.InlineData(values=cells)), names.left, names.down
    highest = max(max(cell["upper"], cell.get("count", 0)) for cell in cells)
    marked = any(cell["state"] != KEPT for cell in cells)
    aside = 29 if marked else 14
    across = RowAxis.of(
        names, width, domain=(0, max(1, highest)),
        right=aside + 8 * max(len(cell["range"]) for cell in cells),
        title="Count of the cell", values=whole_ticks(highest, 6 if left else 4), format=",d",
        grid=bool(left),
    )  # fmt: skip
    colour = _colours()
    bar: dict[str, Any] = {"height": 9, "yOffset": down, "y2Offset": down}
    layers = [
        across.put(base.mark_bar(**bar, color=LIGHT.paper), "lower", "upper"),
        across.put(base.mark_bar(**bar, opacity=0.5), "lower", "upper", color=colour),
    ]
    for end in ("lower", "upper"):
        ticks = base.mark_tick(size=15, thickness=2, opacity=1, yOffset=down)
        layers.append(across.put(ticks, end, color=colour))
    if "count" in cells[0]:
        diamond = base.mark_point(
            shape="diamond", size=90, filled=True, opacity=1, yOffset=down,
            fill=LIGHT.true, stroke=LIGHT.paper, strokeWidth=1.5,
        )  # fmt: skip
        layers.append(across.put(diamond, "count"))
    cross = base.mark_point(
        shape=CROSS, size=22, strokeWidth=2, stroke=LIGHT.fail, opacity=1,
        xOffset=18, yOffset=down,
    )  # fmt: skip
    ask = base.mark_text(dx=18, yOffset=down, fontSize=13, fontWeight=700, color=LIGHT.review)
    figures = base.mark_text(align="left", dx=aside, yOffset=down, fontSize=12, color=LIGHT.ink)
    layers += [
        across.put(cross, "upper").transform_filter(f"datum.state == '{TIGHT}'"),
        across.put(ask, "upper", text=alt.value("?")).transform_filter(
            f"datum.state == '{UNPROVEN}'"
        ),
        across.put(figures, "upper", text="range:N"),
        *names.layers(),
    ]
    if left:
        said = short_lines(heading, left // LETTER)
        head = alt.Chart(alt.InlineData(values=[{"heading": said}])).mark_text(
            align="left", baseline="middle", fontSize=12, lineBreak="\n", lineHeight=LINE,
            x=-left, y=-13 - LINE * said.count("\n"), color=LIGHT.muted,
        )  # fmt: skip
        layers.append(head.encode(text="heading:N"))
    return across.chart(layers, **words)


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
    rows: list[Cell] = [
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
    x = alt.X(
        "width:N",
        scale=alt.Scale(domain=[row["width"] for row in rows], paddingInner=0.2),
        axis=alt.Axis(title="Width: upper minus lower bound", labelAngle=0, labelOverlap=False),
    )
    axis = upright(f"{kind.capitalize()}s", whole_ticks(highest, 4), left=LEFT)
    scale = alt.Scale(domain=[0, highest])
    base = alt.Chart(alt.InlineData(values=rows))
    y = alt.Y("cells:Q", scale=scale, axis=axis)
    layers = [base.mark_bar(width=min(0.8 * step, 36)).encode(x=x, y=y, color=_colours())]
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


def _band(drawn: list[Cell], n: int, room: int, few: bool, counted: bool, words: str) -> list[Any]:
    """A line a cell, or a band with its two edges; true counts; marks above the doubtful."""
    import altair as alt

    above = 14 if all(run["state"] == KEPT for run in drawn) else 24
    highest = max(max(run["upper"], run["count"]) for run in drawn)
    scale = alt.Scale(type="symlog", constant=1, domain=[0, max(1, highest)], range=[HEIGHT, 0])
    axis = upright("Count of the cell (logarithmic)", power_ticks(highest), left=LEFT, above=above)
    across = alt.Scale(domain=[0, n], range=[0, room], nice=False)
    places = alt.Axis(title=words, values=whole_ticks(n, 5), format=",d", grid=False)
    colour = _colours()

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


def _colours() -> Any:
    """The colour of each state."""
    import altair as alt

    scale = alt.Scale(domain=list(COLOURS), range=list(COLOURS.values()))
    return alt.Color("state:N", scale=scale, legend=None)


# Cells, runs of equal cells, and what they say


def _columns(frame: Any) -> list[str]:
    return list(getattr(frame, "column_names", frame.columns))


def _labels(frame: Any) -> list[str]:
    return [name for name in _columns(frame) if name not in MEASURES]


def _rows(frame: Any, limit: int | None, proven: Iterable[bool] | None) -> list[Cell]:
    """The rows of a pandas, polars or Arrow frame: a name and its measures."""
    columns = _columns(frame)
    if lost := [name for name in ("lower", "upper") if name not in columns]:
        raise DisclosureError(
            f"a chart of intervals needs a column {lost[0]!r}; the frame has {', '.join(columns)}."
        )
    values = {name: frame[name] for name in columns}
    values = {n: v.to_pylist() if hasattr(v, "to_pylist") else list(v) for n, v in values.items()}
    labels = [values[name] for name in _labels(frame)]
    sure = [status not in LOOSE for status in values.get("status", ["sharp"] * len(frame))]
    if proven is not None:
        sure = [bool(fact) for fact in proven]
    cells = []
    for row, ends in enumerate(zip(values["lower"], values["upper"], strict=True)):
        name = printable(", ".join(str(column[row]) for column in labels))
        lower, upper = map(int, ends)
        cell: Cell = {"name": name or "(all)", "row": row, "lower": lower, "upper": upper}
        cell |= {"width": upper - lower, "proven": sure[row]}
        cell["state"] = _state(lower, upper, limit, sure[row])
        if "count" in values:
            cell["count"] = int(values["count"][row])
        cells.append(cell)
    return cells


def _state(lower: int, upper: int, limit: int | None, proven: bool) -> str:
    if limit is not None and upper - lower < limit:
        return TIGHT
    return KEPT if proven else UNPROVEN


def _key(cells: list[Cell], limit: int | None) -> str:
    """What the marks mean, of those that are there."""
    states = {cell["state"] for cell in cells}
    said = ["Bar: the values that fit the release."]
    if "count" in cells[0]:
        said.append("Diamond: the true count.")
    if TIGHT in states:
        said.append(f"Cross: upper minus lower is less than {number(limit or 0)}.")
    if UNPROVEN in states:
        said.append("Question mark: the interval may be narrower.")
    return " ".join(said)


def _cells(
    lower: Iterable[int],
    upper: Iterable[int],
    counts: Iterable[int] | None,
    limit: int | None,
    proven: Iterable[bool] | None,
) -> list[Cell]:
    ends = [(int(low), int(high)) for low, high in zip(lower, upper, strict=True)]
    if crossed := [end for end in ends if end[0] > end[1]]:
        low, high = crossed[0]
        raise DisclosureError(f"the lower bound {number(low)} is above the upper, {number(high)}.")
    true = [0] * len(ends) if counts is None else [int(count) for count in counts]
    sure = [True] * len(ends) if proven is None else [bool(fact) for fact in proven]
    cells = []
    for (low, high), count, fact in zip(ends, true, sure, strict=True):
        state = _state(low, high, limit, fact)
        cells.append({"lower": low, "upper": high, "count": count, "state": state})
    return cells


def _runs(cells: list[Cell], *, merge: bool) -> list[Cell]:
    """Neighbours that are the same, as one; each with where it begins and ends."""
    runs: list[Cell] = []
    for place, cell in enumerate(cells):
        if merge and runs and all(runs[-1][key] == cell[key] for key in cell):
            runs[-1]["to"] = place + 1
        else:
            runs.append(cell | {"from": place, "to": place + 1})
    for run in runs:
        run["middle"] = (run["from"] + run["to"]) / 2
    return runs


def _outline(drawn: list[Cell], state: str | None = None) -> list[Cell]:
    """Where each run begins and ends, with a gap for every run of another state.

    Without a state there is a gap after each run.
    """
    points: list[Cell] = []
    gap = {"lower": None, "upper": None, "count": None}
    for run in drawn:
        if state is None or run["state"] == state:
            ends = {name: run[name] for name in gap}
            points += [{"at": run["from"]} | ends, {"at": run["to"]} | ends]
        if state is None or run["state"] != state:
            points.append({"at": run["to"]} | gap)
    return points


def _thinned(drawn: list[Cell], state: str, apart: float) -> list[dict[str, float]]:
    """Where a mark stands above the cells of a state: never closer than `apart`."""
    marks: list[dict[str, float]] = []
    for run in drawn:
        if run["state"] == state and (not marks or run["middle"] - marks[-1]["middle"] >= apart):
            marks.append({"middle": run["middle"]})
    return marks


def _kept(cells: list[Cell], kind: str, limit: int) -> str:
    """Whether the cells keep the limit."""
    every, states = plural(len(cells), kind), [cell["state"] for cell in cells]
    if tight := states.count(TIGHT):
        return f"{number(tight)} of {every} can be narrowed to a width of less than {number(limit)}"
    if unproven := states.count(UNPROVEN):
        return f"{number(unproven)} of {every} not proven to keep a width of {number(limit)}"
    return f"{every} {'keeps' if len(cells) == 1 else 'keep'} a width of {number(limit)} or more"


def _exact(cells: list[Cell], kind: str, limit: int | None) -> str:
    """The title: how many cells are known exactly, or to less than the limit."""
    if not cells:
        return "No cell to show"
    if limit is not None:
        return _kept(cells, kind, limit)
    exact = sum(cell["width"] == 0 for cell in cells)
    return f"{number(exact)} of {plural(len(cells), kind)} can be known exactly"


def _finding(cells: list[Cell], kind: str, limit: int | None) -> str:
    """The title: whether the limit is kept, and how wide half of the cells are."""
    if not cells:
        return f"No {kind} to show"
    every, states = plural(len(cells), kind), {cell["state"] for cell in cells}
    widths = sorted(cell["upper"] - cell["lower"] for cell in cells)
    half = number(widths[len(widths) // 2])
    if limit is not None:
        tail = f"; half keep {half} or more" if len(cells) > 1 and states == {KEPT} else ""
        return f"{_kept(cells, kind, limit)}{tail}"
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
