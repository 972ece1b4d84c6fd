"""A chart of who is served by a release; it takes data and returns the chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.charts import PHONE
from discreet.look.palette import LIGHT, number, percent, plural
from discreet.look.theme import WIDE, empty_chart, finish, short_lines

SHOWN = 40  # users; more are counted in a note

Share = tuple[str, float, float | None]


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
    import altair as alt

    for user, *shares in rows:
        if wrong := [s for s in shares if s is not None and not 0 <= s <= 1]:
            raise DisclosureError(f"the share {wrong[0]!r} of {user!r} must be from 0 to 1.")
    title = _finding(rows) if title is None else title
    notes = [source] if source else []
    if not rows:
        return empty_chart("There is no request.", title=title, notes=notes, width=width)
    if len(rows) > SHOWN:
        more = plural(len(rows) - SHOWN, "more user")
        notes.insert(0, f"{more}, none served less, not shown.")
    ordered = sorted(rows, key=lambda row: row[1])[:SHOWN]
    compared = any(first is not None for *_, first in ordered)
    left = min(max(len(name) for name, *_ in ordered) * 7 + 15, width * 2 // 5)
    drawn: list[dict[str, Any]] = [
        {
            "row": place, "name": short_lines(name, left // 7, 1), "none": 0, "all": 1,
            "share": float(share), "first": None if first is None else float(first),
            "words": _words(share, first, wide=width >= PHONE),
        }
        for place, (name, share, first) in enumerate(ordered)
    ]  # fmt: skip
    right = 24 + 7 * max(len(row["words"]) for row in drawn)
    scale = alt.Scale(domain=[0, 1], range=[0, max(width - left - right, 60)])
    axis = alt.Axis(title="Share of the requests", format=".0%", values=[0, 0.5, 1])
    y = alt.Y("row:O", scale=alt.Scale(domain=[row["row"] for row in drawn]), axis=None)
    base = alt.Chart(alt.InlineData(values=drawn))

    def at(end: str) -> Any:
        return alt.X(f"{end}:Q", scale=scale, axis=axis)

    layers = [
        base.mark_bar(height=14, color=LIGHT.possible).encode(y=y, x=at("none"), x2="all:Q"),
        base.mark_bar(height=14, color=LIGHT.released).encode(y=y, x=at("none"), x2="share:Q"),
        base.mark_text(align="left", dx=14, fontSize=12, color=LIGHT.ink).encode(
            y=y, x=at("all"), text="words:N"
        ),
        base.mark_text(align="left", x=-left, fontSize=12, color=LIGHT.ink).encode(
            y=y, text="name:N"
        ),
    ]
    key = "Dark: served by the release. Light: all that the user asked for."
    if compared:
        diamond = base.mark_point(
            shape="diamond", size=90, filled=True, opacity=1,
            fill=LIGHT.paper, stroke=LIGHT.ink, strokeWidth=1.5,
        )  # fmt: skip
        shown = diamond.encode(y=y, x=at("first")).transform_filter("isValid(datum.first)")
        layers.append(shown)
        key += " Diamond: served under first come, first served"
        key += "." if width >= PHONE else ", in brackets."
    return finish(
        layers,
        title=title,
        key=key,
        notes=notes,
        left=left,
        width=width,
        height=26 * len(drawn),
    )


def _words(share: float, first: float | None, *, wide: bool) -> str:
    if first is None:
        return percent(share)
    return f"{percent(share)} ({'first come: ' if wide else ''}{percent(first)})"


def _finding(rows: Sequence[Share]) -> str:
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
