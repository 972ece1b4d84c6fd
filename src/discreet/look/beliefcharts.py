"""Charts of beliefs: probability bars, a density, many cells at once; each returns the chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.look.bars import Bar, Mark, Names, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart, finish
from discreet.look.ticks import HALVES, QUARTERS
from discreet.look.words import number, percent, plural, printable

LEAST = 0.0005  # a probability that is still drawn


def belief_chart(
    values: Sequence[Any],
    probabilities: Sequence[float],
    *,
    true: Any = None,
    title: str | None = None,
    source: str | None = None,
    most: int = 30,
    width: int = WIDE,
) -> Any:
    """One bar a value; the true value, if given, has a diamond and its own colour.

    Of more than `most` values the most probable are shown, and the true one.
    """
    rows: list[dict[str, Any]] = [
        {
            "place": place, "value": printable(_shown(value)), "p": float(p),
            "words": percent(float(p)), "true": value == true,
        }
        for place, (value, p) in enumerate(zip(values, probabilities, strict=True))
    ]  # fmt: skip
    notes = [source] if source else []
    guess = max(rows, key=lambda row: row["p"])
    kept = {row["place"] for row in sorted(rows, key=lambda row: -row["p"])[:most]}
    shown = [row for row in rows if row["place"] in kept or row["true"]]
    if len(shown) < len(rows):
        rest = 1 - sum(row["p"] for row in shown)
        notes.insert(0, f"{plural(len(rows) - len(shown), 'more value')}, {percent(rest)} in all.")
    if title is None:
        title = f"The best guess is {guess['value']}, with probability {guess['words']}"
        if true is not None:
            title += ": right" if guess["true"] else f"; it is {_shown(true)}"
    bars = [
        Bar(row["value"], row["p"], row["words"], mark=row["p"] if row["true"] else None,
            colour=LIGHT.true if row["true"] else LIGHT.belief)
        for row in shown
    ]  # fmt: skip
    key = "Bar: what an intruder believes." + (
        " Diamond: the true value." if true is not None else ""
    )
    return bar_chart(
        bars, title=title, axis="Probability", key=key, notes=notes, ticks=QUARTERS, form=".0%",
        mark=Mark(beside=52), width=width,
    )  # fmt: skip


def density_chart(
    points: Sequence[float],
    heights: Sequence[float],
    *,
    true: float | None = None,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """A density as an area; a line at the true value if it is given."""
    import altair as alt

    rows = [{"point": x, "height": y} for x, y in zip(points, heights, strict=True)]
    ends = [min(points), max(points)] + ([] if true is None else [float(true)])
    scale = alt.Scale(domain=[min(ends), max(ends)], zero=False, nice=False)
    x = alt.X(
        "point:Q", sort=None, scale=scale, axis=alt.Axis(title="Value", tickCount=6, grid=False)
    )
    y = alt.Y("height:Q", stack=None, axis=None)
    layers = [
        alt.Chart(alt.InlineData(values=rows))
        .mark_area(color=LIGHT.belief, opacity=0.6, clip=True)
        .encode(x=x, y=y)
    ]
    if true is not None:
        marks = alt.Chart(alt.InlineData(values=[{"point": float(true), "height": 0}]))
        layers.append(marks.mark_rule(color=LIGHT.true, strokeWidth=2).encode(x=x))
        diamond = marks.mark_point(
            shape="diamond", size=90, filled=True, opacity=1, fill=LIGHT.true, stroke=LIGHT.paper
        )
        layers.append(diamond.encode(x=x, y=y))
    if title is None:
        tops = [x for x, y in zip(points, heights, strict=True) if y == max(heights)]
        peak = sum(tops) / len(tops)
        title = f"The most probable value is near {number(float(f'{peak:.3g}'))}"
    key = "Area: what an intruder believes." + (
        " Line: the true value." if true is not None else ""
    )
    return finish(
        layers, title=title, key=key, notes=[source] if source else [], left=0, width=width,
        height=160,
    )  # fmt: skip


def cells_chart(
    cells: Sequence[str],
    probabilities: Sequence[Sequence[float]],
    *,
    counts: Sequence[int] | None = None,
    heading: str = "",
    title: str | None = None,
    source: str | None = None,
    most: int = 40,
    width: int = WIDE,
) -> Any:
    """One row a cell, one column a count from 0 on: a box filled as far as it is probable.

    What the last column adds to less than one is the probability of more.
    """
    import altair as alt

    if not cells:
        return empty_chart("The list of cells is empty.", title="No cell to show", notes=[],
                           width=width)  # fmt: skip
    notes = [source] if source else []
    if len(cells) > most:
        notes.insert(0, f"{plural(len(cells) - most, 'more cell')} not shown.")
    left = width * 2 // 5
    columns = len(probabilities[0])
    step = (width - left) / (columns + 1)
    names, boxes = Names.of(cells[:most], width, left=left), []
    for row, chances in enumerate(probabilities[:most]):
        more = max(0.0, 1 - sum(chances))
        for value, p in enumerate([*chances, more]):
            box: dict[str, Any] = {"row": row, "start": value, "end": value + 0.92 * min(p, 1)}
            known = counts is not None and min(counts[row], columns) == value
            boxes.append(
                box
                | {"whole": value + 0.92, "middle": value + 0.46, "true": known, "p": p}
                | {"words": percent(p) if p >= LEAST else ""}
            )
    scale = alt.Scale(domain=[0, columns + 1], range=[0, width - left])
    said = " : ".join(
        f"datum.value == {k} ? '{k if k < columns else f'{k} or more'}'" for k in range(columns + 1)
    )
    axis = alt.Axis(
        title="Count of the cell", values=list(range(columns + 1)), labelExpr=f"{said} : ''",
        orient="top", labelAlign="left", grid=False,
    )  # fmt: skip
    y = names.place()

    def at(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    base = alt.Chart(alt.InlineData(values=boxes))
    bar: dict[str, Any] = {"height": 16}
    outline = base.mark_bar(**bar, fill=None, stroke=LIGHT.true, strokeWidth=2)
    layers = [
        base.mark_bar(**bar, color=LIGHT.wash).encode(y=y, x=at("start"), x2="whole:Q"),
        base.mark_bar(**bar, color=LIGHT.belief, opacity=0.35).encode(
            y=y, x=at("start"), x2="end:Q"
        ),
        outline.encode(y=y, x=at("start"), x2="whole:Q").transform_filter("datum.true"),
        *names.layers(),
    ]
    if step >= 34:
        figures = base.mark_text(fontSize=12, color=LIGHT.ink)
        layers.append(figures.encode(y=y, x=at("middle"), text="words:N"))
    key = f"{heading + '. ' if heading else ''}Filled: how probable that count is."
    key += " Outlined: the true count." if counts is not None else ""
    return finish(
        layers,
        title=f"Beliefs about {plural(len(cells), 'cell')}" if title is None else title,
        key=key,
        notes=notes,
        left=left,
        width=width,
        height=names.step * len(names.texts),
        foot=16,
    )


def sensitivity_chart(
    cells: Sequence[str],
    priors: Sequence[float],
    probabilities: Sequence[Sequence[float]],
    *,
    true: bool = False,
    heading: str = "",
    title: str | None = None,
    source: str | None = None,
    most: int = 30,
    width: int = WIDE,
) -> Any:
    """One row a cell, one dot a prior: how probable a count is; larger dots are larger priors."""
    import altair as alt

    if not cells:
        return empty_chart("The list of cells is empty.", title="No cell to show", notes=[],
                           width=width)  # fmt: skip
    notes = [source] if source else []
    if len(cells) > most:
        notes.insert(0, f"{plural(len(cells) - most, 'more cell')} not shown.")
    left = width * 2 // 5
    names = Names.of(cells[:most], width, left=left)
    spans, dots = [], []
    for row, chances in enumerate(probabilities[:most]):
        low, high = min(chances), max(chances)
        words = percent(low) if high - low < LEAST else f"{percent(low)} to {percent(high)}"
        spans.append({"row": row, "low": low, "high": high, "words": words})
        for place, p in enumerate(chances):
            size = 24 + 72 * place / max(1, len(priors) - 1)
            dots.append({"row": row, "p": p, "prior": priors[place], "size": size})
    scale = alt.Scale(domain=[0, 1], range=[0, max(width - left - 90, 60)])
    ticks = QUARTERS if width >= PHONE else HALVES
    axis = alt.Axis(title="Probability", format=".0%", values=list(ticks))
    y = names.place()

    def at(field: str) -> Any:
        return alt.X(f"{field}:Q", scale=scale, axis=axis)

    base = alt.Chart(alt.InlineData(values=spans))
    layers = [
        base.mark_rule(color=LIGHT.rule, strokeWidth=3).encode(y=y, x=at("low"), x2="high:Q"),
        alt.Chart(alt.InlineData(values=dots))
        .mark_point(filled=True, opacity=0.75, fill=LIGHT.belief, stroke=LIGHT.paper)
        .encode(y=y, x=at("p"), size=alt.Size("size:Q", scale=None, legend=None)),
        base.mark_text(align="left", dx=12, fontSize=12, color=LIGHT.ink).encode(
            y=y, x=at("high"), text="words:N"
        ),
        *names.layers(),
    ]
    if title is None:
        widest = max(max(chances) - min(chances) for chances in probabilities)
        points = plural(round(100 * widest), "percentage point")
        title = f"Another prior moves a probability by up to {points}"
    what = "the true count" if true else "the best guess under the middle prior"
    said = ", ".join(f"{prior:g}" for prior in priors)
    key = f"{heading + '. ' if heading else ''}Dots: the probability of {what}, under Dirichlet "
    key += f"priors of {said}; the larger the prior, the larger the dot."
    return finish(
        layers, title=title, key=key, notes=notes, left=left, width=width,
        height=names.step * len(names.texts),
    )  # fmt: skip


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, (int, float)) else str(value)
