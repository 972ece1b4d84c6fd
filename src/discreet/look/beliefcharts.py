"""Charts of beliefs: probability bars, densities, many cells at once, what a prior implies."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.look.bars import LETTER, Bar, Mark, Names, RowAxis, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart, finish
from discreet.look.ticks import HALVES, QUARTERS
from discreet.look.words import number, percent, plural, printable

PriorRow = tuple[str, float, float, float, int, int]  # category, low, high, share, least, most
LEAST = 0.0005  # a probability that is still drawn
MOST_CATEGORIES, MOST_TRUE = 30, 25  # rows of a prior, and of all releases


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
        return _no_cell(width)
    names, boxes = Names.of(cells[:most], width, left=width * 2 // 5), []
    columns = len(probabilities[0])
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
    said = " : ".join(
        f"datum.value == {k} ? '{k if k < columns else f'{k} or more'}'" for k in range(columns + 1)
    )
    across = RowAxis.of(
        names, width, domain=(0, columns + 1), right=0, title="Count of the cell",
        values=list(range(columns + 1)), labelExpr=f"{said} : ''", orient="top",
        labelAlign="left", grid=False,
    )  # fmt: skip
    base = alt.Chart(alt.InlineData(values=boxes))
    bar: dict[str, Any] = {"height": 16}
    outline = base.mark_bar(**bar, fill=None, stroke=LIGHT.true, strokeWidth=2)
    layers = [
        across.put(base.mark_bar(**bar, color=LIGHT.wash), "start", "whole"),
        across.put(base.mark_bar(**bar, color=LIGHT.belief, opacity=0.35), "start", "end"),
        across.put(outline, "start", "whole").transform_filter("datum.true"),
        *names.layers(),
    ]
    if (width - names.left) / (columns + 1) >= 34:
        figures = base.mark_text(fontSize=12, color=LIGHT.ink)
        layers.append(across.put(figures, "middle", text="words:N"))
    key = f"{heading + '. ' if heading else ''}Filled: how probable that count is."
    key += " Outlined: the true count." if counts is not None else ""
    title = f"Beliefs about {plural(len(cells), 'cell')}" if title is None else title
    notes = _more(cells, most, source)
    return across.chart(layers, title=title, key=key, notes=notes, foot=16)


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
        return _no_cell(width)
    spans, dots = [], []
    for row, chances in enumerate(probabilities[:most]):
        low, high = min(chances), max(chances)
        words = percent(low) if high - low < LEAST else f"{percent(low)} to {percent(high)}"
        spans.append({"row": row, "low": low, "high": high, "words": words})
        for place, p in enumerate(chances):
            size = 24 + 72 * place / max(1, len(priors) - 1)
            dots.append({"row": row, "p": p, "prior": priors[place], "size": size})
    names = Names.of(cells[:most], width, left=width * 2 // 5)
    across = _shares(names, width, 90, title="Probability")
    base = alt.Chart(alt.InlineData(values=spans))
    dot = alt.Chart(alt.InlineData(values=dots)).mark_point(
        filled=True, opacity=0.75, fill=LIGHT.belief, stroke=LIGHT.paper
    )
    text = base.mark_text(align="left", dx=12, fontSize=12, color=LIGHT.ink)
    layers = [
        across.put(base.mark_rule(color=LIGHT.rule, strokeWidth=3), "low", "high"),
        across.put(dot, "p", size=alt.Size("size:Q", scale=None, legend=None)),
        across.put(text, "high", text="words:N"),
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
    return across.chart(layers, title=title, key=key, notes=_more(cells, most, source))


def prior_chart(
    rows: Sequence[PriorRow],
    *,
    people: int,
    worth: float,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """One row a category: a line over nine tenths of its share, and how many of so many people."""
    import altair as alt

    shown = list(rows)[:MOST_CATEGORIES]
    words = [f"{least} to {most} of {number(people)}" for *_, least, most in shown]
    names = Names.of([printable(row[0]) for row in shown], width)
    drawn = [
        place | {"low": low, "high": high, "share": share, "words": text}
        for place, (_, low, high, share, *_), text in zip(names.rows(), shown, words, strict=True)
    ]
    right = 24 + LETTER * max(map(len, words))
    across = _shares(names, width, right, title="Share", grid=False)
    base, down = alt.Chart(alt.InlineData(values=drawn)), names.down
    line = base.mark_rule(strokeWidth=6, strokeCap="round", yOffset=down, color=LIGHT.interval)
    dot = base.mark_point(size=70, filled=True, opacity=1, yOffset=down, fill=LIGHT.belief)
    text = base.mark_text(align="left", dx=14, yOffset=down, fontSize=12, color=LIGHT.ink)
    layers = [
        across.put(line, "low", "high"),
        across.put(dot, "share"),
        across.put(text, "high", text="words:N"),
        *names.layers(),
    ]
    if title is None:
        best = max(shown, key=lambda row: row[3])
        title = (
            f"The prior counts for {number(float(f'{worth:.4g}'))} people: "
            f"{printable(best[0])} has {percent(best[1])} to {percent(best[2])}"
        )
    key = (
        "Point: the share believed. Line: where it is with probability 90%. Beside it: how many "
        f"of {number(people)} people, with 90%."
    )
    notes = [source] if source else []
    if len(rows) > MOST_CATEGORIES:
        notes.insert(0, f"{len(rows) - MOST_CATEGORIES:,} more categories.")
    return across.chart(layers, title=title, key=key, notes=notes, confidential=False)


def fitted_chart(
    grid: Sequence[float],
    heights: Sequence[float],
    quantiles: Sequence[tuple[float, float, float]],
    *,
    says: str,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The density as an area; a line at each stated quantile, a dashed one where it is fitted."""
    import altair as alt

    rows = [{"x": x, "y": y} for x, y in zip(grid, heights, strict=True)]
    marks = [{"p": percent(p), "stated": s, "fitted": f} for p, s, f in quantiles]
    scale = alt.Scale(domain=[min(grid), max(grid)], zero=False, nice=False)
    axis = alt.Axis(title="Value", tickCount=6, grid=False)

    def at(end: str) -> Any:
        return alt.X(f"{end}:Q", scale=scale, axis=axis)

    area = alt.Chart(alt.InlineData(values=rows)).mark_area(
        color=LIGHT.belief, opacity=0.6, clip=True
    )
    lines = alt.Chart(alt.InlineData(values=marks))
    layers = [
        area.encode(x=at("x"), y=alt.Y("y:Q", axis=None)),
        lines.mark_rule(color=LIGHT.ink).encode(x=at("stated")),
        lines.mark_rule(color=LIGHT.accent, strokeWidth=2, strokeDash=[4, 3]).encode(
            x=at("fitted")
        ),
        lines.mark_text(align="left", dx=4, y=8, fontSize=12, color=LIGHT.ink).encode(
            x=at("stated"), text="p:N"
        ),
    ]
    key = "Area: the density. Line: a stated quantile. Dashed: where it is fitted."
    return finish(
        layers, title=says if title is None else title, key=key,
        notes=[source] if source else [], left=0, width=width, height=180,
        confidential=False,
    )  # fmt: skip


def together_chart(
    rows: Sequence[tuple[str, float, float]],
    *,
    act: float,
    title: str,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """A bar a cell: its name, the probability from all releases, and the highest from one."""
    ranked, most = sorted(rows, key=lambda row: -row[1])[:MOST_TRUE], MOST_TRUE
    notes = [f"The {most} most probable of {len(rows):,} cells."] if len(rows) > most else []
    notes += [source] if source else []
    return bar_chart(
        [Bar(name, every, percent(every), mark=one) for name, every, one in ranked],
        title=title,
        axis="Probability of the true count",
        key=f"Bar: from all releases. Diamond: from the one that tells most. Stated from "
        f"{percent(act)} on.",
        notes=notes,
        ticks=QUARTERS,
        form=".0%",
        empty="There is no small count.",
        width=width,
    )


# What charts of rows share


def _shares(names: Names, width: int, right: int, **axis: Any) -> RowAxis:
    ticks = QUARTERS if width >= PHONE else HALVES
    return RowAxis.of(
        names, width, domain=(0, 1), right=right, values=list(ticks), format=".0%", **axis
    )


def _no_cell(width: int) -> Any:
    says = "The list of cells is empty."
    return empty_chart(says, title="No cell to show", notes=[], width=width)


def _more(cells: Sequence[str], most: int, source: str | None) -> list[str]:
    """How many cells are left out, and the source."""
    more = [f"{plural(len(cells) - most, 'more cell')} not shown."] if len(cells) > most else []
    return more + ([source] if source else [])


def _shown(value: Any) -> str:
    return number(value) if isinstance(value, (int, float)) else str(value)
