"""What could be released at most: the searches for a frontier under one rule."""

from __future__ import annotations

import time
from collections.abc import Iterable
from dataclasses import dataclass
from typing import Any, Literal, get_args

from discreet.decision.decomposable import decomposable_frontier
from discreet.decision.widths import critical_widths
from discreet.errors import DataError, DisclosureError
from discreet.intruder.bounds.bounder import QUICK, Method, Proof, bounds
from discreet.intruder.bounds.result import Status
from discreet.intruder.bounds.shuttle import Shuttle
from discreet.look.progress import track
from discreet.release.release import Release
from discreet.table.cells import Cells
from discreet.table.formula import Formula
from discreet.table.lattice import bits, closure, count_by_order, maximal
from discreet.table.table import Table

FrontierMethod = Literal["best", "greedy", "decomposable"]
Sets = tuple[int, ...]


@dataclass(frozen=True, eq=False)
class Frontier:
    """A closed set of margins in which every small count keeps the width beta.

    `listed` is where the greedy list was cut; `maximal` says that no single margin can be added, if
    that was found out; `unproven` counts the small cells whose width rests on outer bounds alone.
    """

    formula: Formula
    beta: int
    method: str
    listed: int | None
    min_width: int
    maximal: bool | None
    unproven: int
    seconds: float

    @property
    def by_order(self) -> dict[int, int]:
        return count_by_order(self.formula.sets)

    @property
    def released(self) -> int:
        """How many margins the closed set has."""
        return sum(self.by_order.values())

    @property
    def certified(self) -> bool:
        """Is every width proven by tables, not only by outer bounds?"""
        return self.unproven == 0

    def __repr__(self) -> str:
        return (
            f"Frontier({self.released:,} margins, {len(self.formula):,} maximal: {self.method}, "
            f"min width {self.min_width} at beta {self.beta})"
        )

    def to_json(self) -> dict[str, Any]:
        """The document that `discreet frontier --json` prints."""
        return {
            "released": self.released,
            "listed": self.listed,
            "by_order": {str(order): n for order, n in self.by_order.items()},
            "frontier": [list(margin) for margin in self.formula.margins],
            "min_width": self.min_width,
            "certified": self.certified,
            "unproven": self.unproven,
            "maximal": self.maximal,
            "beta": self.beta,
            "method": self.method,
        }


def frontier(
    table: Table,
    *,
    beta: int = 3,
    small: int = 2,
    method: FrontierMethod = "best",
    seconds: float = 600.0,
    seed: int = 0,
) -> Frontier:
    """A large set of margins that keeps beta at every small count.

    `decomposable`: annealing over decomposable releases. `greedy`: the list of margins by critical
    width, cut where beta breaks (section 1.5 of the 2002 paper). `best`: from the larger of both
    on, every later margin of the list that still keeps beta. Small tables are judged by sharp
    bounds, large ones by the shuttle.

    >>> from discreet.table.load import load
    >>> frontier(load("example:tract"), beta=3)
    Frontier(4 margins, 2 maximal: best, min width 5 at beta 3)
    """
    if method not in get_args(FrontierMethod):
        raise DataError(
            f"there is no method {method!r}; choose {', '.join(get_args(FrontierMethod))}."
        )
    begun, cells = time.monotonic(), table.small(small)
    if not len(cells):
        raise DataError(f"the table has no count of 1 to {small}: every margin keeps any width.")
    sets: Sets = ()
    listed, complete = None, None
    if method != "decomposable":
        ordered = _list(table, beta, small)
        sets = _greedy(table, ordered, cells, beta)
        listed = len(sets)
    if method != "greedy":
        found = decomposable_frontier(
            table, beta=beta, small=small, seed=seed, seconds=min(60.0, seconds / 4)
        )
        if found.released > sum(count_by_order(sets).values()):
            sets = found.formula.sets
    if method == "best":
        end = begun + seconds
        sets, complete = _add_more(table, maximal(sets), ordered, cells, beta, end)
    left = begun + seconds - time.monotonic()
    return _result(table, sets, cells, beta, method, listed, complete, begun, left)


def _list(table: Table, beta: int, small: int) -> Sets:
    """The margins that keep beta by themselves, least problematic first."""
    widths = critical_widths(table, small=small, beta=beta)
    keep = {s for s, w in zip(widths.sets, widths.width, strict=True) if w >= beta}
    if not keep:
        raise DisclosureError(
            f"not even the one-way margins keep a width of {beta} at every small count; "
            "lower beta, or merge categories."
        )
    return tuple(margin for margin in widths.ordered() if margin in keep)


def _greedy(table: Table, ordered: Sets, cells: Cells, beta: int) -> Sets:
    """The longest start of the list that keeps beta, by bisection."""
    low, high = 0, len(ordered)
    while low < high:
        middle = (low + high + 1) // 2
        if _width(table, ordered[:middle], cells) >= beta:
            low = middle
        else:
            high = middle - 1
    return ordered[:low]


def _add_more(
    table: Table, sets: Sets, ordered: Sets, cells: Cells, beta: int, end: float
) -> tuple[Sets, bool]:
    """Every later margin that still keeps beta; and whether none was left to try.

    A margin that fails, fails with all that contain it, since bounds only narrow.
    """
    shuttle = Shuttle(Release.margins(table, _named(table, sets)))
    shuttle.watch(cells)
    chosen, inside = list(sets), closure(sets)
    failed: list[int] = []
    for margin in track(ordered, "margins"):
        if margin in inside or any(small & ~margin == 0 for small in failed):
            continue
        if time.monotonic() > end:
            return tuple(chosen), False
        (names,) = _named(table, [margin])
        held = shuttle.add([table.margin(names)], floor=beta)
        if held and _judge(table, cells) == "auto":
            held = _width(table, [*chosen, margin], cells) >= beta
        if held:
            shuttle.commit()
            chosen.append(margin)
            inside |= closure([margin])
        else:
            shuttle.roll_back()
            failed.append(margin)
    return tuple(chosen), True


def _judge(table: Table, cells: Cells) -> Method:
    """Sharp bounds where they are quick."""
    return "auto" if table.size * len(cells) <= QUICK else "shuttle"


def _width(table: Table, sets: Iterable[int], cells: Cells) -> int:
    release = Release.margins(table, _named(table, maximal(sets)))
    return bounds(release, cells, method=_judge(table, cells)).narrowest or 0


def _named(table: Table, sets: Iterable[int]) -> list[list[str]]:
    return [[table.names[place] for place in bits(s)] for s in sets]


def _result(
    table: Table,
    sets: Sets,
    cells: Cells,
    beta: int,
    method: str,
    listed: int | None,
    complete: bool | None,
    begun: float,
    left: float,
) -> Frontier:
    """The set, its widths evaluated again from scratch, and what tables prove in the time left."""
    formula = Formula(table.names, maximal(sets))
    proof = Proof(table, beta, left) if left > 0 else None
    # a decomposable set has sharp bounds at once, however large the table is
    judge: Method = "auto" if formula.is_decomposable else _judge(table, cells)
    found = bounds(Release.margins(table, formula), cells, method=judge, proof=proof)
    if found.narrowest is None or found.narrowest < beta:
        raise DisclosureError(f"the set keeps {found.narrowest}, not {beta}: its bounds disagree.")
    unproven = found.status(beta).count(Status.OUTER)
    seconds = time.monotonic() - begun
    return Frontier(formula, beta, method, listed, found.narrowest, complete, unproven, seconds)
