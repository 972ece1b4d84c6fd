"""Sums by classes of the value itself: a class says what each of its contributors has at least."""

from __future__ import annotations

from collections.abc import Iterable, Iterator

import numpy as np

from discreet.arrays import Floats
from discreet.data.codebook import Variable
from discreet.decision.batch.case import SheetCase
from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import plural
from discreet.release.printed import Printed
from discreet.sheets.records import Records
from discreet.sheets.sheet import Status

NAME = "classes of the value"
CLOSE = 1e-9
EACH = 3  # records a class, on average; with fewer any variable looks like classes


def told_by_classes(
    records: Records, shown: Iterable[tuple[SheetCase, Printed]]
) -> Iterator[Reason]:
    """Hidden sums that the class of their contributors tells too closely.

    Two firms of 250 employees and more have 500 at least, if it is known that they are two. The
    largest class has no upper end.
    """
    shown = [*shown]
    counted = any(case.cells.measure.value is None for case, _ in shown)
    for case, printed in shown:
        if case.cells.measure.value is None or not case.demands:
            continue
        for name, variable in case.system.variables.items():
            stated = {name, case.cells.measure.value}
            if name not in records.codes or any(stated <= own for own in records.independent):
                continue
            if (ends := _classes(records, case, variable)) is None:
                continue
            if found := _beyond(records, case, printed, name, *ends, counted):
                more = f", and {plural(len(found) - 1, 'more cell')} like it" * (len(found) > 1)
                text = (
                    f"In the data, {name} are classes of {case.cells.measure.value}, and those of "
                    f"{case.named(found[0])} tell it too closely{more}. Leave {name} out of the "
                    "table, or merge its classes."
                )
                yield Reason(NAME, Verdict.REVIEW, text, case.listed(np.array(found)))


def _classes(records: Records, case: SheetCase, variable: Variable) -> tuple[Floats, Floats] | None:
    """What somebody in each category has at least and at most, if no two of them overlap."""
    measure = case.cells.measure
    values = records.numbers[str(measure.value)]
    there = ~records.without(measure) & (values > 0)
    codes = np.asarray(records.codes[variable.name], np.int64)
    low, high = np.full(variable.size, np.inf), np.full(variable.size, -np.inf)
    np.minimum.at(low, codes[there], values[there])
    np.maximum.at(high, codes[there], values[there])
    some = np.flatnonzero(np.isfinite(low))
    some = some[np.argsort(low[some])]
    if len(some) < 2 or there.sum() < EACH * len(some) or (high[some[:-1]] >= low[some[1:]]).any():
        return None
    high[some[-1]] = np.inf
    return low, high


def _beyond(
    records: Records,
    case: SheetCase,
    printed: Printed,
    name: str,
    low: Floats,
    high: Floats,
    counted: bool,
) -> list[int]:
    """The hidden cells of some classes alone that these leave less open than a rule asks."""
    measure, cells = case.cells.measure, case.cells
    least, most = np.zeros(cells.printed), np.full(cells.printed, np.inf)
    weight = records.numbers[measure.weight] if measure.weight else np.ones(len(records))
    value = records.numbers[str(measure.value)]
    there = ~records.without(measure) & (value > 0)
    system = case.system
    number = system.sums @ system.fine(records.codes, np.where(there, weight, 0.0))
    for sheet, rows in zip(system.sheets, system.places, strict=True):
        if sheet.status is Status.WATCHED:
            continue
        for axis, grouping in enumerate((*sheet.groupings, *sheet.where)):
            if grouping.name != name:
                continue
            for place, line in enumerate(grouping.lines):
                codes = [*line.codes]
                own = rows.take([place], axis).ravel() if axis < rows.ndim else rows.ravel()
                if len(codes) == grouping.variable.size and axis < rows.ndim:
                    continue
                known = number[own] if counted else np.minimum(number[own], 1.0)
                floor, ceiling = low[codes].min(), high[codes].max()
                least[own] = np.maximum(least[own], np.where(known > 0, known * floor, 0.0))
                if counted or measure.weight:
                    most[own] = np.minimum(most[own], number[own] * ceiling)
    found: dict[int, None] = {}
    for demand in case.demands:
        inner = demand.cells < cells.printed
        own = demand.cells[inner]
        near = CLOSE * np.maximum(1.0, cells.values[own])
        short = (least[own] > demand.low[inner] + near) | (most[own] < demand.high[inner] - near)
        found |= dict.fromkeys(own[short & printed.hidden[own] & (number[own] > 0)].tolist())
    return [*found]
