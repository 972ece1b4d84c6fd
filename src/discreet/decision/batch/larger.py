"""Measures of which one is never larger than another: what is printed of one limits the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from itertools import combinations

import numpy as np

from discreet.arrays import Floats
from discreet.decision.batch.case import SheetCase
from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import plural
from discreet.release.printed import Printed
from discreet.sheets.contributions import printed_amounts
from discreet.sheets.records import COUNTED, Records
from discreet.sheets.sheet import Status
from discreet.sheets.system import System

NAME = "measures together"
CLOSE = 1e-9
MOST_PARTS = 3
FEW_MEASURES = 12  # among so many, several parts of a whole are looked for
Codes = frozenset[int]
Place = frozenset[tuple[str, Codes]]


def told_by_larger(
    records: Records, shown: Iterable[tuple[SheetCase, Printed]]
) -> Iterator[Reason]:
    """Cells that other measures tell too closely, as these are parts of it, or it of them.

    Exports are part of a turnover: where 2,150 is printed of it, hidden exports are no more, nor
    than what printed domestic sales leave of it.
    """
    shown = [*shown]
    places = [_places(case.system) for case, _ in shown]
    amounts = [printed_amounts(records, case.cells.measure) for case, _ in shown]
    most = MOST_PARTS if len(shown) <= FEW_MEASURES else 1
    for whole in range(len(shown)):
        others = [at for at in range(len(shown)) if at != whole]
        for parts in (p for size in range(1, most + 1) for p in combinations(others, size)):
            some = [shown[at][0] for at in (whole, *parts)]
            if not any(case.demands for case in some) or not _apart(records, some):
                continue
            if (sum(amounts[at] for at in parts) > amounts[whole] + CLOSE).any():
                continue
            found = _told(whole, parts, shown, places)
            if found:
                yield _reason(some, found)


def _apart(records: Records, cases: Sequence[SheetCase]) -> bool:
    """Are they of one weight and different figures, and did nobody say that it is chance?"""
    measures = [case.cells.measure for case in cases]
    names = {one.value or COUNTED for one in measures}
    return (
        len({one.weight for one in measures}) == 1
        and len(names) == len(measures)
        and not any(names <= stated for stated in records.independent)
    )


def _told(
    whole: int,
    parts: Sequence[int],
    shown: Sequence[tuple[SheetCase, Printed]],
    places: Sequence[dict[Place, int]],
) -> list[tuple[SheetCase, int]]:
    """The cells of the whole that its parts tell, and of each part what the others leave."""
    case, printed = shown[whole]
    bottoms = np.zeros(case.system.cells)
    tops = {at: np.full(shown[at][0].system.cells, np.inf) for at in parts}
    for place, row in places[whole].items():
        rows = {at: places[at][place] for at in parts if place in places[at]}
        least = {at: float(shown[at][1].lower[own]) for at, own in rows.items()}
        bottoms[row] = sum(least.values())
        for at, own in rows.items():
            others = sum(low for other, low in least.items() if other != at)
            tops[at][own] = printed.upper[row] - others
    found = [*_beyond(case, bottoms, printed, above=False)]
    for at in parts:
        found += _beyond(shown[at][0], tops[at], shown[at][1], above=True)
    return found


def _reason(cases: Sequence[SheetCase], found: Sequence[tuple[SheetCase, int]]) -> Reason:
    whole, *parts = (str(case.cells.measure) for case in cases)
    case, cell = found[0]
    more = f", and {plural(len(found) - 1, 'more cell')} like it" * (len(found) > 1)
    text = (
        f"In the data, the {' + the '.join(parts)} is never more than the {whole}, so that what is "
        f"printed of one tells the other too closely: {case.named(cell)}{more}. Leave the tables "
        "of one of them out, or merge categories."
    )
    return Reason(NAME, Verdict.REVIEW, text, case.listed(np.array([cell])))


def _beyond(
    case: SheetCase, ends: Floats, printed: Printed, *, above: bool
) -> Iterator[tuple[SheetCase, int]]:
    """The hidden cells that reach less far than a rule asks, by the other measure's ends."""
    for demand in case.demands:
        cells = demand.cells[demand.cells < case.cells.printed]
        asked = (demand.high if above else demand.low)[demand.cells < case.cells.printed]
        near = CLOSE * np.maximum(1.0, np.abs(asked))
        short = ends[cells] < asked - near if above else ends[cells] > asked + near
        for cell in cells[short & printed.hidden[cells]].tolist():
            yield case, int(cell)


def _places(system: System) -> dict[Place, int]:
    """The rows of all cells that a sheet prints, by the categories that they are of."""
    found: dict[Place, int] = {}
    for sheet, rows in zip(system.sheets, system.places, strict=True):
        if sheet.status is not Status.WATCHED:
            groupings = (*sheet.groupings, *sheet.where)
            for at, row in np.ndenumerate(rows.reshape(*rows.shape, *(1 for _ in sheet.where))):
                lines = ((g, g.lines[i].codes) for g, i in zip(groupings, at, strict=True))
                place = ((g.name, codes) for g, codes in lines if len(codes) < g.variable.size)
                found[frozenset(place)] = int(row)
    return found
