"""The greedy frontier: the list of margins by critical width, cut where beta breaks."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any

from discreet.decision.widths import critical_widths
from discreet.errors import DisclosureError
from discreet.intruder.bounds.shuttle import Shuttle
from discreet.look.progress import track
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.lattice import bits, closure, count_by_order, maximal
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class GreedyFrontier:
    """A closed set of margins that keeps beta by shuttle bounds, and where its list was cut."""

    formula: Formula
    beta: int
    listed: int
    min_width: int
    maximal: bool
    seconds: float

    @property
    def by_order(self) -> dict[int, int]:
        return count_by_order(self.formula.sets)

    @property
    def released(self) -> int:
        """How many margins the closed set has."""
        return sum(self.by_order.values())

    def __repr__(self) -> str:
        cut = f", list cut after {self.listed:,}" if self.listed else ""
        return (
            f"GreedyFrontier({self.released:,} margins, {len(self.formula):,} maximal, "
            f"min width {self.min_width} >= {self.beta}{cut})"
        )

    def to_json(self) -> dict[str, Any]:
        return {
            "released": self.released,
            "listed": self.listed,
            "by_order": {str(order): n for order, n in self.by_order.items()},
            "frontier": [list(margin) for margin in self.formula.margins],
            "min_width": self.min_width,
            "beta": self.beta,
            "maximal": self.maximal,
        }


def greedy_frontier(table: Table, *, beta: int = 3, small: int = 2) -> GreedyFrontier:
    """The longest start of the list that keeps beta (section 1.5 of the 2002 paper), by bisection.

    The release is closed under sub-margins, so the closed set can have more margins than the list.
    """
    begun = time.monotonic()
    listed, cells = _list(table, beta, small), table.small(small)
    low, high = 0, len(listed)
    while low < high:
        middle = (low + high + 1) // 2
        if _width(table, listed[:middle], cells) >= beta:
            low = middle
        else:
            high = middle - 1
    chosen = listed[:low]
    return _result(table, chosen, cells, beta, low, False, begun)


def full_pass(
    table: Table,
    frontier: GreedyFrontier,
    *,
    small: int = 2,
    seconds: float = 600.0,
) -> GreedyFrontier:
    """The same set with every later margin of the list added that still keeps beta.

    A margin that fails, fails with all that contain it, since bounds only narrow; so the pass is
    complete, and its end is maximal: no single margin can be added.
    """
    begun = time.monotonic()
    cells = table.small(small)
    shuttle = Shuttle(Release.margins(table, _named(table, frontier.formula.sets)))
    shuttle.watch(cells)
    chosen, failed = list(frontier.formula.sets), _Held()
    inside = closure(chosen)
    done = True
    for margin in track(_list(table, frontier.beta, small), "margins"):
        if margin in inside or failed.within(margin):
            continue
        if time.monotonic() > begun + seconds:
            done = False
            break
        (names,) = _named(table, [margin])
        if shuttle.add([table.margin(names)], floor=frontier.beta):
            shuttle.commit()
            chosen.append(margin)
            inside |= closure([margin])
        else:
            shuttle.roll_back()
            failed.add(margin)
    return _result(table, chosen, cells, frontier.beta, frontier.listed, done, begun)


class _Held:
    """Sets, and whether one of them is within another set."""

    def __init__(self) -> None:
        self.sets: list[int] = []

    def add(self, margin: int) -> None:
        self.sets.append(margin)

    def within(self, margin: int) -> bool:
        return any(small & ~margin == 0 for small in self.sets)


def _list(table: Table, beta: int, small: int) -> tuple[int, ...]:
    """The margins that keep beta by themselves, least problematic first."""
    widths = critical_widths(table, small=small, beta=beta)
    keep = {s for s, w in zip(widths.sets, widths.width, strict=True) if w >= beta}
    if not keep:
        raise DisclosureError(
            f"not even the one-way margins keep a width of {beta} at every small count; "
            "lower beta, or merge categories."
        )
    return tuple(margin for margin in widths.ordered() if margin in keep)


def _width(table: Table, sets: Iterable[int], cells: Cells) -> int:
    release = Release.margins(table, _named(table, maximal(sets)))
    lower, upper = Shuttle(release).bounds(cells.names, cells.codes)
    return int((upper - lower).min())


def _named(table: Table, sets: Iterable[int]) -> list[list[str]]:
    return [[table.names[place] for place in bits(s)] for s in sets]


def _result(
    table: Table,
    sets: Iterable[int],
    cells: Cells,
    beta: int,
    listed: int,
    complete: bool,
    begun: float,
) -> GreedyFrontier:
    """The set, with its narrowest width evaluated from scratch."""
    frontier = maximal(sets)
    width = _width(table, frontier, cells) if frontier else table.total
    if width < beta:
        raise DisclosureError(f"the set keeps {width}, not {beta}; its bounds disagree.")
    formula = Formula(table.names, frontier)
    return GreedyFrontier(formula, beta, listed, width, complete, time.monotonic() - begun)
