"""Charts of a release; each takes data, returns the chart and never shows it."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.bars import LETTER, LINE, Bar, Names, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart, finish, short_lines
from discreet.look.ticks import HALVES, whole_ticks
from discreet.look.words import number, percent, plural, printable, span

MEASURES = ("count", "lower", "upper", "width", "status")
LOOSE = ("linear", "outer only")
KEPT, UNPROVEN, TIGHT = "kept", "unproven", "tight"
CROSS = "M-1,-1L1,1M1,-1L-1,1"


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
    cells = _cells(frame, proven)
    cells.sort(key=lambda cell: (cell["width"], cell.get("count", 0)))
    title = _finding(cells, limit) if title is None else title
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
        cell["state"] = _state(cell, limit)
    heading = ", ".join(_labels(frame))
    key = _key(shown, limit)
    return finish(
        _intervals(shown, heading, names, width),
        title=title,
        key=key if names.left else f"{heading}. {key}",
        notes=notes,
        left=names.left,
        width=width,
        height=names.step * len(shown),
    )


def _intervals(cells: list[dict[str, Any]], heading: str, names: Names, width: int) -> list[Any]:
    """Bars with end ticks, true counts, crosses, the interval in figures, names."""
    import altair as alt

    base, left, down = alt.Chart(alt.InlineData(values=cells)), names.left, names.down
    highest = max(max(cell["upper"], cell.get("count", 0)) for cell in cells)
    marked = any(cell["state"] != KEPT for cell in cells)
    aside = 29 if marked else 14
    room = width - left - aside - 8 * max(len(cell["range"]) for cell in cells)
    scale = alt.Scale(domain=[0, max(1, highest)], range=[0, max(room, 60)])
    axis = alt.Axis(
        title="Count of the cell",
        values=whole_ticks(highest, 6 if left else 4),
        format=",d",
        grid=bool(left),
    )
    y = names.place()
    colour = alt.Color(
        "state:N",
        scale=alt.Scale(
            domain=[KEPT, UNPROVEN, TIGHT], range=[LIGHT.interval, LIGHT.review, LIGHT.fail]
        ),
        legend=None,
    )

    def at(end: str) -> Any:
        return alt.X(f"{end}:Q", scale=scale, axis=axis)

    bar: dict[str, Any] = {"height": 9, "yOffset": down, "y2Offset": down}
    layers = [
        base.mark_bar(**bar, color=LIGHT.paper).encode(y=y, x=at("lower"), x2="upper:Q"),
        base.mark_bar(**bar, opacity=0.5).encode(y=y, x=at("lower"), x2="upper:Q", color=colour),
    ]
    for end in ("lower", "upper"):
        ticks = base.mark_tick(size=15, thickness=2, opacity=1, yOffset=down)
        layers.append(ticks.encode(y=y, x=at(end), color=colour))
    if "count" in cells[0]:
        diamond = base.mark_point(
            shape="diamond", size=90, filled=True, opacity=1, yOffset=down,
            fill=LIGHT.true, stroke=LIGHT.paper, strokeWidth=1.5,
        )  # fmt: skip
        layers.append(diamond.encode(y=y, x=at("count")))
    cross = base.mark_point(
        shape=CROSS, size=22, strokeWidth=2, stroke=LIGHT.fail, opacity=1,
        xOffset=18, yOffset=down,
    )  # fmt: skip
    ask = base.mark_text(dx=18, yOffset=down, fontSize=13, fontWeight=700, color=LIGHT.review)
    figures = base.mark_text(align="left", dx=aside, yOffset=down, fontSize=12, color=LIGHT.ink)
    layers += [
        cross.encode(y=y, x=at("upper")).transform_filter(f"datum.state == '{TIGHT}'"),
        ask.encode(y=y, x=at("upper"), text=alt.value("?")).transform_filter(
            f"datum.state == '{UNPROVEN}'"
        ),
        figures.encode(y=y, x=at("upper"), text="range:N"),
        *names.layers(),
    ]
    if left:
        said = short_lines(heading, left // LETTER)
        head = alt.Chart(alt.InlineData(values=[{"heading": said}])).mark_text(
            align="left", baseline="middle", fontSize=12, lineBreak="\n", lineHeight=LINE,
            x=-left, y=-13 - LINE * said.count("\n"), color=LIGHT.muted,
        )  # fmt: skip
        layers.append(head.encode(text="heading:N"))
    return layers


def order_chart(
    by_order: Mapping[int, int],
    variables: int,
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """Released margins of each order, as a share of all that are possible."""
    if any(not 0 <= n <= comb(variables, order) for order, n in by_order.items()):
        raise DisclosureError(
            f"{dict(by_order)} are no numbers of margins of {plural(variables, 'variable')}."
        )
    released, possible = sum(by_order.values()), 2**variables - 1
    if title is None:
        title = f"{number(released)} of {plural(possible, 'possible margin')} are in the release"
    notes = [source] if source else []
    if not variables:
        return empty_chart("There is no variable.", title=title, notes=notes, width=width)
    rows = [
        (plural(order, "variable"), by_order.get(order, 0), comb(variables, order))
        for order in range(1, variables + 1)
    ]
    return share_chart(
        rows,
        title=title,
        axis="Share of the margins of that order",
        key="Strong: released, or found by adding up. Faint: all margins of that many variables.",
        notes=notes,
        confidential=False,
        width=width,
    )


def share_chart(
    rows: Sequence[tuple[str, int, int]],
    *,
    title: str,
    axis: str,
    key: str,
    notes: Iterable[str] = (),
    decimals: int = 0,
    confidential: bool = True,
    width: int = WIDE,
) -> Any:
    """Bars of how many there are of all that are possible; a row is a name and the two numbers."""
    bars = [
        Bar(name, n / of, f"{number(n)} of {number(of)} ({percent(n / of, decimals)})", whole=1)
        for name, n, of in rows
    ]
    return bar_chart(
        bars, title=title, axis=axis, key=key, notes=notes, ticks=HALVES, form=".0%",
        colour=LIGHT.released, confidential=confidential, width=width,
    )  # fmt: skip


# Words and rows


def _columns(frame: Any) -> list[str]:
    return list(getattr(frame, "column_names", frame.columns))


def _labels(frame: Any) -> list[str]:
    return [name for name in _columns(frame) if name not in MEASURES]


def _cells(frame: Any, proven: Iterable[bool] | None) -> list[dict[str, Any]]:
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
    for row, (lower, upper) in enumerate(zip(values["lower"], values["upper"], strict=True)):
        name = printable(", ".join(str(column[row]) for column in labels))
        cell: dict[str, Any] = {
            "name": name or "(all)",
            "row": row,
            "lower": int(lower),
            "upper": int(upper),
        }
        cell["width"] = cell["upper"] - cell["lower"]
        cell["proven"] = sure[row]
        if "count" in values:
            cell["count"] = int(values["count"][row])
        cells.append(cell)
    return cells


def _finding(cells: list[dict[str, Any]], limit: int | None) -> str:
    """The title: how many cells are known exactly, or to less than the limit."""
    kind = "small count" if all(0 < cell.get("count", 0) <= 5 for cell in cells) else "cell"
    if not cells:
        return "No cell to show"
    every = plural(len(cells), kind)
    if limit is None:
        exact = sum(cell["width"] == 0 for cell in cells)
        return f"{number(exact)} of {every} can be known exactly"
    states = [_state(cell, limit) for cell in cells]
    if tight := states.count(TIGHT):
        return f"{number(tight)} of {every} can be narrowed to a width of less than {number(limit)}"
    if unproven := states.count(UNPROVEN):
        return f"{number(unproven)} of {every} not proven to keep a width of {number(limit)}"
    keep = "keeps" if len(cells) == 1 else "keep"
    return f"{every} {keep} a width of {number(limit)} or more"


def _state(cell: dict[str, Any], limit: int | None) -> str:
    if limit is not None and cell["width"] < limit:
        return TIGHT
    return KEPT if cell["proven"] else UNPROVEN


def _key(cells: list[dict[str, Any]], limit: int | None) -> str:
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
