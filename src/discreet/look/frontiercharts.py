"""Charts of a frontier: what it releases, whom it serves, how it was found."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import comb, isclose
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.bars import Bar, Mark, bar_chart, share_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart, finish, upright
from discreet.look.ticks import HALVES, whole_ticks
from discreet.look.words import number, percent, plural

Points = Sequence[tuple[float, float]]
DASHES = ([1, 0], [7, 3], [2, 3], [8, 3, 2, 3])
SHAPES = ("circle", "square", "triangle-up", "cross")
Share = tuple[str, float, float | None]
MOST_LINES, MOST_USERS = 12, 40


def order_chart(
    by_order: Mapping[int, int],
    possible_by_order: Mapping[int, int],
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """Released margins of each order with the percent of all that are possible (Table 1.5)."""
    for order, n in by_order.items():
        if not 0 <= n <= possible_by_order.get(order, 0):
            raise DisclosureError(
                f"{number(n)} margins of {plural(order, 'variable')} are released, but "
                f"{number(possible_by_order.get(order, 0))} are possible."
            )
    notes = [source] if source else []
    released, possible = sum(by_order.values()), sum(possible_by_order.values())
    if title is None:
        share = f" ({percent(released / possible, 2)})" if possible else ""
        title = f"{number(released)} of {plural(possible, 'margin')} are in the release{share}"
    orders = sorted(order for order, n in possible_by_order.items() if n)
    if not orders:
        return empty_chart("There is no margin.", title=title, notes=notes, width=width)
    top = max((order for order, n in by_order.items() if n), default=orders[0])
    if more := [order for order in orders if order > top]:
        notes.insert(0, _none(more, sum(possible_by_order[order] for order in more)))
    shown = {order: possible_by_order[order] for order in orders if order <= top}
    return _orders(by_order, shown, title=title, notes=notes, decimals=2, width=width)


def release_chart(
    by_order: Mapping[int, int],
    variables: int,
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """Margins of a release of each order, as a share of all that are possible."""
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
    shown = {order: comb(variables, order) for order in range(1, variables + 1)}
    return _orders(by_order, shown, title=title, notes=notes, width=width)


def _orders(by_order: Mapping[int, int], possible: Mapping[int, int], **how: Any) -> Any:
    return share_chart(
        [(plural(order, "variable"), by_order.get(order, 0), of) for order, of in possible.items()],
        axis="Share of the margins of that order",
        key="Strong: released, or found by adding up. Faint: all margins of that many variables.",
        confidential=False,
        **how,
    )


def variable_chart(
    names: Sequence[str],
    counts: Sequence[int],
    possible: int,
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """In how many released margins each variable is, most first.

    `possible` is how many margins could have it: 2^(k-1) of k variables.
    """
    rows = sorted(zip(names, counts, strict=True), key=lambda row: -row[1])
    notes = [source] if source else []
    if not rows:
        says = "There is no variable."
        return empty_chart(says, title=title or says, notes=notes, width=width)
    bars = [Bar(name, n, f"{number(n)} ({percent(n / possible, 2)})") for name, n in rows]
    return bar_chart(
        bars,
        title=_reach(rows) if title is None else title,
        axis="Released margins with the variable",
        key=f"Percent: of the {number(possible)} margins that could have the variable.",
        notes=notes,
        ticks=whole_ticks(max(1, rows[0][1]), 5 if width >= PHONE else 3),
        form=",d",
        colour=LIGHT.released,
        confidential=False,
        width=width,
    )


def tradeoff_chart(
    points: Iterable[tuple[str, int, float]],
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """How much can be released at each beta; a point is a method, beta and a number of margins."""
    import altair as alt

    lines: dict[str, list[tuple[int, float]]] = {}
    for method, beta, released in points:
        lines.setdefault(method, []).append((beta, released))
    notes = [source] if source else []
    if not lines:
        says = "No release was searched for."
        return empty_chart(says, title=title or says, notes=notes, width=width)
    ends = {method: sorted(line)[-1] for method, line in lines.items()}
    ranked = sorted(lines, key=lambda method: -ends[method][1])
    labels = {method: f"{method} {number(ends[method][1])}" for method in ranked}
    left, right, height = 56, 24 + 7 * max(map(len, labels.values())), 260
    betas = sorted({beta for line in lines.values() for beta, _ in line})
    highest = max(released for line in lines.values() for _, released in line)
    room = max(width - left - right, 60)
    x = alt.X(
        "beta:Q",
        scale=alt.Scale(domain=[betas[0], betas[-1]], range=[8, room], zero=False),
        axis=alt.Axis(
            title="Width that every small count keeps (beta)",
            values=_thinned(betas, max(2, room // 40)),
            format=",d",
            grid=False,
        ),
    )
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(domain=[0, max(1, highest)], range=[height, 0]),
        axis=upright("Released margins", whole_ticks(int(highest), 5), left=left),
    )
    heights = apart(
        [height * (1 - ends[method][1] / max(highest, 1)) for method in ranked], 16, height
    )
    layers = []
    for place, method in enumerate(ranked):
        rows = [{"beta": beta, "value": released} for beta, released in sorted(lines[method])]
        base = alt.Chart(alt.InlineData(values=rows))
        dash, shape = DASHES[place % len(DASHES)], SHAPES[place % len(SHAPES)]
        layers += [
            base.mark_line(color=LIGHT.released, strokeWidth=2, strokeDash=dash).encode(x=x, y=y),
            base.mark_point(
                shape=shape, size=80, filled=True, opacity=1, fill=LIGHT.released,
                stroke=LIGHT.paper,
            ).encode(x=x, y=y),
            words_at(labels[method], x=room + 12, y=heights[place]),
        ]  # fmt: skip
    return finish(
        layers,
        title=_fall(lines, ranked[0]) if title is None else title,
        key="Margins released, those found by adding up included, by how they were searched for.",
        notes=notes,
        left=left,
        width=width,
        height=height,
        confidential=False,
    )


def trace_chart(
    traces: Sequence[Points] | Mapping[str, Points],
    *,
    unit: str = "step",
    measure: str = "margins",
    at_most: float | None = None,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The best found by step or second, a line a restart; `at_most` is proven.

    `measure` is what the values are: margins, or another noun that has no plural, such as worth.
    The first line of those that reached the most is dark.
    """
    import altair as alt

    if not isinstance(traces, Mapping):
        traces = {str(place): trace for place, trace in enumerate(traces, 1)}
    runs = [sorted(trace) for trace in traces.values() if trace]
    notes = [source] if source else []
    if not runs:
        says = "The search left no trace."
        return empty_chart(says, title=title or says, notes=notes, width=width)
    runs.sort(key=lambda run: -run[-1][1])
    if title is None:
        title = _progress(runs, unit, measure, at_most)
    if len(runs) > MOST_LINES:
        notes.insert(0, f"The best {MOST_LINES} of {plural(len(runs), 'restart')}.")
        runs = runs[:MOST_LINES]
    values = [value for run in runs for _, value in run]
    values += [] if at_most is None else [at_most]
    low, high = min(values), max(values)
    last = max(run[-1][0] for run in runs)
    constant = min((at for run in runs for at, _ in run if at > 0), default=1)
    left, height, aside = 56, 240, 7 * len(_amount(runs[0][-1][1])) // 2 + 8
    x = alt.X(
        "at:Q",
        scale=alt.Scale(
            type="symlog", constant=constant, domain=[0, last or 1],
            range=[0, width - left - aside],
        ),
        axis=alt.Axis(
            title=f"{unit.capitalize()}s of the search (logarithmic)",
            values=_powers(constant, last, 5 if width >= PHONE else 3),
            format=",~r", grid=False,
        ),
    )  # fmt: skip
    low, high = (low - 1, high + 1) if low == high else (low, high)
    ticks = [tick for tick in whole_ticks(int(high), 10) if tick >= low]
    y = alt.Y(
        "value:Q",
        scale=alt.Scale(domain=[low, high], range=[height, 0], zero=False),
        axis=upright(measure.capitalize(), ticks, left=left),
    )
    layers: list[Any] = []
    if at_most is not None:
        limit = alt.Chart(alt.InlineData(values=[{"value": at_most}])).mark_rule(
            color=LIGHT.ink, strokeDash=[4, 3], x=0, x2=width - left - aside
        )
        layers.append(limit.encode(y=y))
    for place, run in reversed(list(enumerate(runs))):
        base = alt.Chart(alt.InlineData(values=[{"at": at, "value": value} for at, value in run]))
        colour = LIGHT.possible if place else LIGHT.released
        line = base.mark_line(interpolate="step-after", strokeWidth=2, color=colour)
        end = alt.Chart(alt.InlineData(values=[{"at": run[-1][0], "value": run[-1][1]}]))
        layers += [
            line.encode(x=x, y=y),
            end.mark_point(filled=True, opacity=1, size=50, fill=colour).encode(x=x, y=y),
        ]
    at, best = runs[0][-1]
    last_point = {"at": at, "value": best, "words": _amount(best)}
    figure = alt.Chart(alt.InlineData(values=[last_point]))
    layers.append(
        figure.mark_text(dy=-13, fontSize=12, fontWeight=600, color=LIGHT.ink).encode(
            x=x, y=y, text="words:N"
        )
    )
    said = [
        "Strong: the search whose result this is." if len(runs) > 1 else "Line: the best so far."
    ]
    if at_most is not None:
        said.append(f"Dashed: no search can exceed {_amount(at_most)}.")
    return finish(
        layers, title=title, key=" ".join(said), notes=notes, left=left, width=width,
        height=height, confidential=False,
    )  # fmt: skip


def served_chart(
    rows: Sequence[Share],
    *,
    title: str | None = None,
    source: str | None = None,
    width: int = WIDE,
) -> Any:
    """The share of each user's requests that is served, least served first.

    A row is a user, the share, and the share under first come, first served or None; that one is
    drawn as a diamond. `title=""` leaves the title out.
    """
    for user, *shares in rows:
        if wrong := [s for s in shares if s is not None and not 0 <= s <= 1]:
            raise DisclosureError(f"the share {wrong[0]!r} of {user!r} must be from 0 to 1.")
    title = _served(rows) if title is None else title
    notes = [source] if source else []
    if not rows:
        return empty_chart("There is no request.", title=title, notes=notes, width=width)
    if len(rows) > MOST_USERS:
        more = plural(len(rows) - MOST_USERS, "more user")
        notes.insert(0, f"{more}, none served less, not shown.")
    ordered = sorted(rows, key=lambda row: row[1])[:MOST_USERS]
    key = "Strong: served by the release. Faint: all that the user asked for."
    if any(first is not None for *_, first in ordered):
        key += " Diamond: served under first come, first served"
        key += "." if width >= PHONE else ", in brackets."
    bars = [
        Bar(name, share, _share_words(share, first, wide=width >= PHONE), whole=1, mark=first)
        for name, share, first in ordered
    ]
    return bar_chart(
        bars, title=title, axis="Share of the requests", key=key, notes=notes, ticks=HALVES,
        form=".0%", colour=LIGHT.released, mark=Mark(fill=LIGHT.paper, stroke=LIGHT.ink),
        confidential=False, width=width,
    )  # fmt: skip


# Axes and labels


def words_at(text: str, **place: Any) -> Any:
    import altair as alt

    data = alt.InlineData(values=[{"text": text}])
    mark = alt.Chart(data).mark_text(align="left", fontSize=12, color=LIGHT.ink, **place)
    return mark.encode(text="text:N")


def apart(heights: list[float], gap: int, most: int) -> list[float]:
    """Heights in ascending order, moved as little as keeps them `gap` apart."""
    placed: list[float] = []
    for height in heights:
        placed.append(max(height, placed[-1] + gap) if placed else height)
    over = max(0.0, placed[-1] - most)
    for place in range(len(placed) - 1, -1, -1):
        limit = placed[place + 1] - gap if place + 1 < len(placed) else most
        placed[place] = min(placed[place], limit) if over else placed[place]
    return placed


def _thinned(values: list[int], most: int) -> list[int]:
    return values[:: -(-len(values) // most)]


def _powers(least: float, highest: float, most: int) -> list[float]:
    """Powers of ten from about `least` to `highest`, and 0."""
    powers = [10.0**power for power in range(-3, 16) if least / 2 <= 10.0**power <= highest]
    return [0.0, *powers[:: max(1, -(-len(powers) // most))]]


def _share_words(share: float, first: float | None, *, wide: bool) -> str:
    if first is None:
        return percent(share)
    return f"{percent(share)} ({'first come: ' if wide else ''}{percent(first)})"


# Findings


def _none(orders: Sequence[int], margins: int) -> str:
    """Which higher orders are not released."""
    above = plural(orders[0], "variable") + (" or more" if len(orders) > 1 else "")
    if margins == 1:
        return f"The margin of {above} is not released."
    return f"None of the {number(margins)} margins of {above} is released."


def _reach(rows: Sequence[tuple[str, int]]) -> str:
    """The title: which variable can be had the most, and which the least."""
    (most, n), (least, few) = rows[0], rows[-1]
    if n == few:
        return f"Every variable is in {plural(n, 'released margin')}"
    tied = [name for name, count in rows if count == few]
    last = least if len(tied) == 1 else f"{plural(len(tied), 'variable')}"
    verb = "is" if len(tied) == 1 else "are"
    first = plural(n, "released margin")
    return f"{most} is in {first}, {last} {verb} in {number(few)}"


def _served(rows: Sequence[Share]) -> str:
    """The title: what the least served user gets."""
    if not rows:
        return "Nobody asks for a margin"
    shares = [share for _, share, _ in rows]
    firsts = [first for *_, first in rows if first is not None]
    least = min(shares)
    none = shares.count(0)
    if len(rows) == 1:
        found = f"{percent(least)} of the requests are served"
    elif least == 1:
        found = "Every user gets all that was asked for"
    elif none:
        found = f"{number(none)} of {plural(len(rows), 'user')} get nothing that they asked for"
    else:
        found = f"The least served user gets {percent(least)} of what was asked for"
    if len(firsts) < len(rows):
        return found
    if none and len(rows) > 1:
        return f"{found}; first come, first served: {number(firsts.count(0))}"
    return f"{found}; first come, first served: {percent(min(firsts))}"


def _fall(lines: Mapping[str, list[tuple[int, float]]], method: str) -> str:
    """The title: what a wider interval costs."""
    line = sorted(lines[method])
    (low, first), (high, last) = line[0], line[-1]
    if low == high:
        return f"At beta {number(low)}, {method} releases {plural(int(last), 'margin')}"
    keep = f"To keep a width of {number(high)} instead of {number(low)} costs"
    if last >= first:
        return f"{keep} nothing: {plural(int(last), 'margin')} can be released"
    return f"{keep} {number(first - last)} of {plural(int(first), 'margin')}"


def _amount(value: float) -> str:
    """A value in as many figures as are read.

    >>> _amount(12345.678), _amount(0.625)
    ('12,346', '0.62')
    """
    return number(round(value) if abs(value) >= 100 else round(value, 2))


def _reached(run: Points) -> float:
    return next(at for at, value in run if value == run[-1][1])


def _progress(runs: list[Any], unit: str, measure: str, at_most: float | None) -> str:
    """The title: what was reached, by how many, and whether more is possible."""
    best = runs[0][-1][1]
    many = f"a {measure} of {_amount(best)}"
    if measure == "margins":
        many = plural(round(best), "margin")
    sure = at_most is not None and isclose(at_most, best, rel_tol=1e-9)
    proven = ", proven to be the most" if sure else ""
    if len(runs) == 1:
        at = _reached(runs[0])
        after = f"in less than a {unit}" if at else "at the start"
        after = f"after {plural(round(at), unit)}" if at >= 1 else after
        return f"{many[0].upper()}{many[1:]} found {after}{proven}"
    reached = sum(isclose(run[-1][1], best, rel_tol=1e-9) for run in runs)
    return f"{number(reached)} of {plural(len(runs), 'restart')} found {many}{proven}"
