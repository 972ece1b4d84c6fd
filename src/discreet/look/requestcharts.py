"""A chart of who is served by a release; it takes data and returns the chart."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from discreet.errors import DisclosureError
from discreet.look.bars import Bar, Mark, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import PHONE, WIDE, empty_chart
from discreet.look.ticks import HALVES
from discreet.look.words import number, percent, plural

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
    key = "Strong: served by the release. Faint: all that the user asked for."
    if any(first is not None for *_, first in ordered):
        key += " Diamond: served under first come, first served"
        key += "." if width >= PHONE else ", in brackets."
    bars = [
        Bar(name, share, _words(share, first, wide=width >= PHONE), whole=1, mark=first)
        for name, share, first in ordered
    ]
    return bar_chart(
        bars, title=title, axis="Share of the requests", key=key, notes=notes, ticks=HALVES,
        form=".0%", colour=LIGHT.released, mark=Mark(fill=LIGHT.paper, stroke=LIGHT.ink),
        confidential=False, width=width,
    )  # fmt: skip


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
