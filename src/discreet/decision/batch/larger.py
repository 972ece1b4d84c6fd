"""Measures of which one is never larger than another: what is printed of one limits the other."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from itertools import permutations

import numpy as np
from numpy.typing import NDArray

from discreet.decision.batch.case import SheetCase
from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import plural
from discreet.release.printed import Printed
from discreet.sheets.contributions import printed_amounts
from discreet.sheets.records import Records
from discreet.sheets.sheet import Status
from discreet.sheets.system import System

Floats = NDArray[np.float64]
NAME = "measures together"
CLOSE = 1e-9
Codes = frozenset[int]
Place = frozenset[tuple[str, Codes]]


def told_by_larger(
    records: Records, shown: Iterable[tuple[SheetCase, Printed]]
) -> Iterator[Reason]:
    """Cells that another measure tells too closely, as it is as large or larger in all records.

    Exports are part of a turnover: where 2,150 is printed of it, hidden exports are no more.
    """
    for (small, of_small), (large, of_large) in permutations(shown, 2):
        if not (small.demands or large.demands) or not _never_larger(records, small, large):
            continue
        names = {small.cells.measure.value or "", large.cells.measure.value or ""}
        if any(names <= stated for stated in records.independent):
            continue
        tops, bottoms = _at(small.system, large.system, of_large.upper, of_small.lower)
        found = [
            *_beyond(small, tops, of_small, above=True),
            *_beyond(large, bottoms, of_large, above=False),
        ]
        if found:
            case, cell = found[0]
            more = f", and {plural(len(found) - 1, 'more cell')} like it" * (len(found) > 1)
            text = (
                f"In the data, the {small.cells.measure} is never more than the "
                f"{large.cells.measure}, so that what is printed of one tells the other too "
                f"closely: {case.named(cell)}{more}. Leave the tables of one of them out, or merge "
                "categories."
            )
            yield Reason(NAME, Verdict.REVIEW, text, case.listed(np.array([cell])))


def _never_larger(records: Records, small: SheetCase, large: SheetCase) -> bool:
    one, other = small.cells.measure, large.cells.measure
    if one.weight != other.weight or one.printed == other.printed:
        return False
    return bool((printed_amounts(records, one) <= printed_amounts(records, other) + CLOSE).all())


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


def _at(small: System, large: System, upper: Floats, lower: Floats) -> tuple[Floats, Floats]:
    """What the larger measure has at most in the cells of the smaller one, and this at least in
    those of the larger one.
    """
    tops, bottoms = np.full(small.cells, np.inf), np.zeros(large.cells)
    theirs = _places(large)
    for place, row in _places(small).items():
        if place in theirs:
            tops[row], bottoms[theirs[place]] = upper[theirs[place]], lower[row]
    return tops, bottoms


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
