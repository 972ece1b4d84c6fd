"""Hidden cells of a row together: their sum is printed, and one owner may be behind all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterator

import numpy as np
from numpy.typing import NDArray

from discreet.decision.batch.case import SheetCase
from discreet.release.printed import Printed
from discreet.sheets.grouping import Grouping, Line
from discreet.sheets.sheet import Sheet, Status

Bools = NDArray[np.bool_]


def with_unions(case: SheetCase, printed: Printed) -> tuple[SheetCase, Printed]:
    """The case with a watched line for the hidden cells of each row, where there are holdings.

    Without owners who are in several cells a sum tells no more of them than each cell does.
    """
    if case.cells.measure.holding is None:
        return case, printed
    real = [sheet for sheet in case.system.sheets if sheet.status is not Status.WATCHED]
    found = [union for sheet in real for union in _unions(case, sheet, printed.hidden)]
    if not found:
        return case, printed
    found = [dataclasses.replace(one, name=f"union {i}") for i, one in enumerate(found, 1)]
    measure, policy = case.cells.measure, case.policy
    other = SheetCase.of(case.records, [*real, *found], measure, policy, case.detail)
    lower, upper = np.zeros(other.cells.printed), np.full(other.cells.printed, np.inf)
    places = dict(zip(other.system.sheets, other.system.places, strict=True))
    spared: set[int] = set()
    for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
        if sheet in real:
            there = places[sheet]
            lower[there], upper[there] = printed.lower[rows], printed.upper[rows]
            spared.update(there[np.isin(rows, [*case.spared])].tolist())
    most = np.where(other.closed, 0.0, np.inf)
    return (
        dataclasses.replace(other, spared=frozenset(spared)),
        Printed(other.system, lower, upper, printed.whole, 0.0, most),
    )


def _unions(case: SheetCase, sheet: Sheet, hidden: Bools) -> Iterator[Sheet]:
    """Of each axis the sets of lines below one that are hidden together, but not all of them."""
    rows = case.system.places[case.system.sheets.index(sheet)]
    for axis, grouping in enumerate(sheet.groupings):
        others = tuple(g for i, g in enumerate(sheet.groupings) if i != axis)
        seen: set[bytes] = set()
        for below in _below(grouping):
            for pattern in np.moveaxis(hidden[rows], axis, -1)[..., below].reshape(-1, len(below)):
                if pattern.tobytes() in seen or not 1 < pattern.sum() < len(below):
                    continue
                seen.add(pattern.tobytes())
                lines = [grouping.lines[i] for i, gone in zip(below, pattern, strict=True) if gone]
                codes = frozenset[int]().union(*(line.codes for line in lines))
                line = Line(" + ".join(line.label for line in lines), codes)
                together = Grouping(grouping.variable, (line,))
                yield dataclasses.replace(
                    sheet, groupings=(*others, together), status=Status.WATCHED
                )


def _below(grouping: Grouping) -> Iterator[list[int]]:
    """The lines that add up to a line, a level below it."""
    for line in grouping.lines:
        below = [
            i
            for i, other in enumerate(grouping.lines)
            if other.codes < line.codes and other.depth == line.depth + 1
        ]
        if sum(len(grouping.lines[i].codes) for i in below) == len(line.codes):
            yield below
