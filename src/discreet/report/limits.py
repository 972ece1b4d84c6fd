"""The choice at every risk limit where it changes: a part of pages that choose."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import Any, Protocol

from discreet.look.words import number
from discreet.report.page import HTML, Chart, Rows, Say, Section, Slider

MOST_STOPS = 12


class Chosen(Protocol):
    """What is chosen at a limit, and could be at others."""

    @property
    def limit(self) -> float: ...
    @property
    def best(self) -> str | None: ...
    @property
    def steps(self) -> Sequence[tuple[float, str | None]]: ...
    def at(self, limit: float) -> Any: ...


def limits_section(found: Chosen, *, what: str = "mask") -> Section:
    """The choice at every limit where it changes, and at the one that was asked for."""
    steps = dict(found.steps) | {found.limit: found.best}
    limits = sorted(steps)
    if len(limits) > MOST_STOPS:
        nearest = sorted(limits, key=lambda at: abs(limits.index(at) - limits.index(found.limit)))
        limits = sorted(nearest[:MOST_STOPS])
    stops = []
    for place, limit in enumerate(limits):
        choice = found.at(limit)
        chart = Chart(f"map-{place}", partial(_at, found, limit), f"The map at {_said(limit)}.")
        stops.append((_said(limit), [Say(f"{choice}"), chart]))
    rows = Rows(
        f"From which limit on each {what} is the choice",
        ["limit"],
        [[_said(limit)] for limit in sorted(steps)],
        ["choice"],
        [[steps[limit] or "nothing"] for limit in sorted(steps)],
        every=len(steps),
        words=["choice"],
        short=60,
    )
    slider = Slider("limit", "risk limit", stops, limits.index(found.limit), on=HTML)
    return Section("If the limit were another", [slider, rows])


def _at(found: Chosen, limit: float, **options: Any) -> Any:
    return found.at(limit).plot(**options)


def _said(limit: float) -> str:
    return number(limit) if abs(limit) < float("inf") else f"{limit:g}"
