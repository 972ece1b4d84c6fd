"""Tables of one measure together, against the data and against each other's sums."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats
from discreet.decision.law.verdict import Verdict
from discreet.effort import Clock, Seconds
from discreet.errors import DisclosureError
from discreet.intruder.sums.below import below_hidden
from discreet.intruder.sums.intervals import Intervals, intervals
from discreet.look.words import number, plural
from discreet.masks.mechanism import Mechanism, mechanism
from discreet.release.printed import Printed
from discreet.report.checking.found import Finding
from discreet.report.checking.tables import NEAR, Judged, Printing
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import System

LOST = 1e-12  # of a sum, in adding up its records in another order


@dataclass(frozen=True, eq=False)
class Joint:
    """The tables of one measure as one system of sums; `truth` are the true values of its rows,
    and `fine` those of its fine cells, where the data are known."""

    system: System
    tables: tuple[Judged, ...]
    truth: Floats | None
    fine: Floats | None = None

    def true_values(self) -> dict[str, Floats]:
        """By table, in its shape."""
        if self.truth is None:
            return {}
        places = zip(self.tables, self.system.places, strict=True)
        return {table.sheet.name: self.truth[rows] for table, rows in places}


def against_data(joint: Joint) -> Iterator[Finding]:
    """Printed cells that are not what the data have, where they should be."""
    for table, rows in zip(joint.tables, joint.system.places, strict=True):
        if joint.truth is None:
            continue
        if not table.said["exact"]:
            shown = ~np.isnan(table.values)
            if table.printings and (table.values[shown] == joint.truth[rows][shown]).all():
                text = "it is called perturbed, and every cell that it shows is the true one"
                yield Finding("data", Verdict.REVIEW, text, "", table.sheet.name)
            for one in table.printings:
                yield from _unlike(table, one, joint.truth[rows])
            continue
        truth = joint.truth[rows]
        for one in table.printings:
            shown = ~np.isnan(one.values)
            exact = table.slack + LOST * np.maximum(1, np.abs(truth))
            near = shown & (np.abs(one.values - truth) <= exact)
            for cell in np.flatnonzero(shown & ~near & ~table.hidden).tolist():
                a, b = one.values.ravel()[cell], truth.ravel()[cell]
                yield Finding(
                    "data", Verdict.FAIL, f"it shows {number(a)}, and the data have {number(b)}",
                    one.file, table.sheet.name, table.sheet.label(cell),
                )  # fmt: skip


def _unlike(table: Judged, one: Printing, truth: Floats) -> Iterator[Finding]:
    """Cells that the mask of a table cannot have made of the data."""
    said = table.said
    base, reach = said["parameters"].get("base"), _reach(table)
    places = np.flatnonzero(~np.isnan(one.values))
    shown, true = one.values.ravel()[places], truth.ravel()[places]
    lost = NEAR * np.maximum(1.0, np.abs(true))
    uneven, far = np.zeros((2, len(places)), bool)
    if said["method"].endswith("rounding") and isinstance(base, int | float) and base > 0:
        uneven = np.abs(shown - base * np.round(shown / base)) > lost
    if reach is not None:
        low, high = reach.ends(shown, whole=bool(said["whole"]))
        far = (true < low - lost) | (true > high + lost)
    for at in np.flatnonzero(uneven | far).tolist():
        text = f"it shows {number(shown[at])}, which {said['method']} does not make of the data"
        if uneven[at]:
            text = f"it shows {number(shown[at])}, which is no multiple of {number(base)}"
        label = table.sheet.label(int(places[at]))
        yield Finding("data", Verdict.FAIL, text, one.file, table.sheet.name, label)


def elsewhere(joint: Joint) -> Iterator[Finding]:
    """Cells that one table hides and another shows of the same people."""
    shown_by: dict[int, str] = {}
    for table, rows in zip(joint.tables, joint.system.places, strict=True):
        open_ = ~np.isnan(table.values) & ~table.hidden & bool(table.said["exact"])
        shown_by |= dict.fromkeys(rows[open_].tolist(), table.sheet.name)
    for table, rows in zip(joint.tables, joint.system.places, strict=True):
        for cell in np.flatnonzero(table.hidden).tolist():
            other = shown_by.get(int(rows.ravel()[cell]))
            if other is not None:
                yield Finding(
                    "leak", Verdict.FAIL, f"it is hidden here, and table {other!r} shows it", "",
                    table.sheet.name, table.sheet.label(cell),
                )  # fmt: skip


def by_sums(
    joint: Joint,
    *,
    width: float | None = None,
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> tuple[list[Finding], float]:
    """Hidden cells that the printed ones pin down or nearly so, and the narrowest width proven.

    Rounded cells, and those perturbed within a known reach, are ranges; what is hidden among them
    is not judged.
    """
    system, found = joint.system, [*_perturbed(joint)]
    lower, upper, targets = _limits(joint)
    if not len(targets):
        return found, math.inf
    whole = all(table.said["whole"] for table in joint.tables)
    if whole:
        lower[targets] = np.maximum(lower[targets], _floor(joint, targets))
    most: Any = np.where(system.closed, 0.0, math.inf) if system.closed.any() else math.inf
    wanted, forgiven = _wanted(joint, targets, width, whole, upper)
    try:
        printed = Printed(system, lower, upper, whole, most=most)
        with np.errstate(invalid="ignore"):  # ends without limit
            known = _known(joint, printed, targets, wanted, effort, Clock.of(seconds))
    except DisclosureError as error:
        found.append(Finding("contradiction", Verdict.FAIL, f"the printed cells disagree: {error}"))
        return found, 0.0
    ends = (known.seen_low, known.seen_high) if whole else (known.fit_low, known.fit_high)
    apart = np.where(ends[1] >= ends[0], ends[1] - ends[0], 0.0)  # in tables that were found
    for place, row in enumerate(targets.tolist()):
        low, high = float(known.lower[place]), float(known.upper[place])
        if high - low < wanted[place] - forgiven[place]:
            verdict = Verdict.FAIL
            text = f"printed cells leave it {_between(low, high, wanted[place])}"
        elif apart[place] < wanted[place] - forgiven[place]:
            verdict = Verdict.REVIEW
            text = f"it is not proven that it can range over {number(wanted[place])}"
        else:
            continue
        sheet, cell = _home(joint, row)
        found.append(Finding("sums", verdict, text, "", sheet.name, sheet.label(cell)))
    if system.outer:
        text = "the tables are too many to be added up as one; what is safe here is so in pairs"
        found.append(Finding("not judged", Verdict.REVIEW, text))
    if known.stopped:
        found.append(Finding("not judged", Verdict.REVIEW, known.stopped))
    return found, float(apart.min())


def _known(
    joint: Joint,
    printed: Printed,
    targets: NDArray[np.int64],
    wanted: Floats,
    effort: float,
    clock: Clock,
) -> Intervals:
    """The intervals; those that tables near the true one show wide enough need no others."""
    fewer = None if joint.fine is None else below_hidden(printed, joint.fine)
    if fewer is None:
        return intervals(printed, targets, effort=effort, seconds=clock)
    first = intervals(fewer, targets, effort=effort, seconds=clock)
    ends = (first.seen_low, first.seen_high) if printed.whole else (first.fit_low, first.fit_high)
    narrow = np.flatnonzero(~(ends[1] - ends[0] >= wanted))
    first.lower[:], first.upper[:] = 0.0, math.inf  # outer bounds of fewer tables are none
    if len(narrow):
        again = intervals(printed, targets[narrow], effort=effort, seconds=clock)
        for field in dataclasses.fields(again):
            values = getattr(again, field.name)
            if isinstance(values, np.ndarray) and len(values) == len(narrow):
                getattr(first, field.name)[narrow] = values
    return first


def _perturbed(joint: Joint) -> Iterator[Finding]:
    hides = any(table.hidden.any() for table in joint.tables)
    for table in joint.tables:
        if table.said["exact"]:
            continue
        if table.hidden.any():
            text = f"{plural(int(table.hidden.sum()), 'cell')} hidden among perturbed ones"
            yield Finding("not judged", Verdict.REVIEW, text, "", table.sheet.name)
        elif hides and _reach(table) is None and not table.said["parameters"].get("silent"):
            text = f"what follows from its {table.said['method']} for hidden cells is not known"
            yield Finding("not judged", Verdict.REVIEW, text, "", table.sheet.name)


def _reach(table: Judged) -> Mechanism | None:
    """How the values shown came from those behind the mask, None if not known."""
    said = table.said
    try:
        return mechanism(said["method"], said["parameters"], whole=bool(said["whole"]))
    except (DisclosureError, KeyError, TypeError, ValueError):
        return None


def _limits(joint: Joint) -> tuple[Floats, Floats, NDArray[np.int64]]:
    """What is printed of each row, from the least to the most it can be, and the hidden rows."""
    system = joint.system
    lower, upper = np.zeros(system.cells), np.full(system.cells, math.inf)
    hidden, told = np.zeros(system.cells, bool), np.zeros(system.cells, bool)
    for table, rows in zip(joint.tables, system.places, strict=True):
        seen = ~np.isnan(table.values)
        at, shown = rows[seen], table.values[seen]
        if not table.said["exact"]:
            if reach := _reach(table):
                low, high = reach.ends(shown, whole=bool(table.said["whole"]))
                lower[at], upper[at] = np.maximum(lower[at], low), np.minimum(upper[at], high)
            continue
        slack = np.full(len(at), table.slack)
        if joint.truth is not None:  # what was rounded to be printed, as it was: no less narrow
            true = np.abs(joint.truth[at] - shown) <= table.near(shown)
            shown, slack = np.where(true, joint.truth[at], shown), np.where(true, 0.0, slack)
        lower[at] = np.maximum(lower[at], shown - slack)
        upper[at] = np.minimum(upper[at], shown + slack)
        hidden[rows[table.hidden]], told[at] = True, True
    return lower, upper, np.flatnonzero(hidden & ~(told & (lower >= upper)))


def _between(low: float, high: float, wanted: float) -> str:
    if high - low < min(wanted, 1) / 2:
        return f"no other value than {number(round(low, 6))}"
    return f"between {number(low)} and {number(high)} only"


def _floor(joint: Joint, targets: NDArray[np.int64]) -> float:
    """1 where zeros are printed and nothing hidden is one: then everybody knows that it is not."""
    exact = (table for table in joint.tables if table.said["exact"])  # a rounded 0 need be none
    zeros = any(bool((table.values == 0).any()) for table in exact)
    known = joint.truth is not None and len(targets) > 0
    return 1.0 if zeros and known and joint.truth[targets].min() >= 1 else 0.0  # type: ignore[index]


def _wanted(
    joint: Joint, targets: NDArray[np.int64], width: float | None, whole: bool, upper: Floats
) -> tuple[Floats, Floats]:
    """How far each must be able to range, and what is forgiven for fractions.

    No `width` is so little that a cell may have one value only.
    """
    asked = 0.0 if width is None else float(width)
    if whole:
        return np.full(len(targets), max(1.0, asked)), np.zeros(len(targets))
    scale = np.full(len(targets), upper[np.isfinite(upper)].max(initial=1.0))
    rounded = 0.0 if joint.truth is not None else max(table.slack for table in joint.tables)
    least = 10 * NEAR * scale + 4 * rounded
    return np.maximum(least, asked), NEAR * scale


def _home(joint: Joint, row: int) -> tuple[Sheet, int]:
    """The first table that hides a row, and the cell there."""
    for table, rows in zip(joint.tables, joint.system.places, strict=True):
        at = np.flatnonzero((rows == row).ravel() & table.hidden.ravel())
        if len(at):
            return table.sheet, int(at[0])
    return joint.system.home(row)
