"""Whether tables of one measure tell of another: sums of parts, counts and weights, equal amounts.

Each measure is judged by itself, so whatever ties measures together leaves a doubt, unless a person
says that it is no rule (`independent` in a list of tables).
"""

from __future__ import annotations

from collections.abc import Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import combinations, product

import numpy as np
from numpy.typing import NDArray

from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.words import both
from discreet.sheets.joined import variables_of
from discreet.sheets.records import COUNTED, Records
from discreet.sheets.sheet import Measure, Sheet

Floats = NDArray[np.float64]
NAME = "measures together"
MOST_TERMS = 4
MOST_MEASURES = 16  # of which all equations are sought
HOLDS = 0.95  # of the records: an equation with few errors is one
DECIMALS = range(7)
CLOSE = 1e-9
SMALL = 0.1
NAMED = 3  # equations that a reason spells out


@dataclass(frozen=True)
class Tie:
    """Measures that tell of each other, in words; `always`: also where no cell is guarded."""

    measures: tuple[Measure, ...]
    text: str
    always: bool = False

    @property
    def columns(self) -> frozenset[str]:
        return frozenset(name for one in self.measures for name in _columns(one))


def doubts(records: Records, sheets: Sequence[Sheet], guarded: Collection[Measure]) -> list[Reason]:
    """A reason to look for every tie that nobody called none.

    `guarded` are measures with cells that are hidden, or that nobody may work out.
    """
    found = []
    for tie in ties(records, sheets):
        if any(tie.columns <= stated for stated in records.independent):
            continue
        if tie.always or any(_plain(one) in map(_plain, guarded) for one in tie.measures):
            found.append(tie)
    if not found:
        return []
    said = " ".join(tie.text for tie in found[:NAMED])
    more = f" There are {len(found) - NAMED:,} more such ties." if len(found) > NAMED else ""
    names = ", ".join(f'"{name}"' for name in sorted(found[0].columns))
    text = (
        f"{said}{more} What they tell together of a guarded cell is not judged. Leave the tables "
        f"of one of them out; or, if it is chance, say independent = [[{names}]] in the list of "
        "tables, and check --independent with the same names."
    )
    return [Reason(NAME, Verdict.REVIEW, text)]


def said_of(records: Records) -> Iterator[str]:
    """What a person said of measures, for the assumptions."""
    for names in records.independent:
        yield f"As was stated, tables of {both(sorted(names))} tell nothing of each other."


def ties(records: Records, sheets: Iterable[Sheet]) -> Iterator[Tie]:
    """Measures of the sheets that tell of each other."""
    sheets = tuple(sheets)
    measures = [*dict.fromkeys(_plain(sheet.measure) for sheet in sheets)]
    if len(measures) < 2:
        return
    amounts = {one: _amounts(records, one) for one in measures}
    yield from _weights(measures)
    blank = {one: records.without(one) for one in measures}
    yield from _equations(measures, amounts, blank)
    yield from _of_counts(records, sheets, measures)


def _weights(measures: Sequence[Measure]) -> Iterator[Tie]:
    """The same amounts with several weights, or with one and none."""
    for one, other in combinations(measures, 2):
        if one.value == other.value:
            text = (
                f"Tables show the {one} and the {other}: where the weights in a cell are equal, "
                "one follows from the other."
            )
            yield Tie((one, other), text)


def _equations(
    measures: Sequence[Measure],
    amounts: dict[Measure, Floats],
    blank: dict[Measure, NDArray[np.bool_]],
) -> Iterator[Tie]:
    """Sums, differences, multiples and other linear combinations of up to four measures."""
    chosen = measures[:MOST_MEASURES]
    units = {one: _unit(amounts[one]) for one in chosen}
    found: list[frozenset[Measure]] = []
    for number in range(2, MOST_TERMS + 1):
        for some in combinations(chosen, number):
            if any(known <= set(some) for known in found):
                continue
            whole = ~np.any([blank[one] for one in some], axis=0)
            columns = np.column_stack([amounts[one][whole] for one in some])
            near = _near(columns, max(units[one] for one in some))
            signs = _signs(columns, near)
            if signs is not None:
                found.append(frozenset(some))
                yield Tie(some, f"In the data, {_spelled(some, signs)}.")
            elif _dependent(columns, near):
                found.append(frozenset(some))
                names = both([*map(str, some)])
                text = f"In the data, {names} are multiples, or one follows from the others."
                yield Tie(some, text)


def _near(columns: Floats, unit: float) -> float:
    """What rounding may have lost; nothing where amounts are not far larger than their unit."""
    lost, size = columns.shape[1] / 2 * unit, np.abs(columns)
    usual = min(float(np.median(own[own > 0])) if own.any() else 0.0 for own in size.T)
    return (lost if lost <= SMALL * usual else 0.0) + CLOSE * float(size.max(initial=0.0))


def _signs(columns: Floats, near: float) -> tuple[int, ...] | None:
    """+1 and -1 with which the columns add up to 0 in nearly all records."""
    if not (np.abs(columns).max(0, initial=0.0) > 0).all():
        return None
    there = (columns != 0).any(1)
    for rest in product((1, -1), repeat=columns.shape[1] - 1):
        signs = (1, *rest)
        if -1 in rest and (np.abs(columns @ signs) <= near)[there].mean() >= HOLDS:
            return signs
    return None


def _dependent(columns: Floats, near: float) -> bool:
    """Does the last column follow from the others by some coefficients, all of them needed?"""
    scale = np.abs(columns).max(0, initial=0.0)
    if not (scale > 0).all() or len(columns) <= 2 * columns.shape[1]:
        return False
    *_, factors = np.linalg.svd(columns / scale, full_matrices=False)
    found = factors[-1] / scale
    if (np.abs(factors[-1]) < 1e-6).any():
        return False
    found = found / np.abs(found).max()
    return bool((np.abs(columns @ found) <= near * columns.shape[1]).all())


def _spelled(some: Sequence[Measure], signs: Sequence[int]) -> str:
    """`the sum of Turnover is that of Domestic and that of Export together`."""
    left = [str(one) for one, sign in zip(some, signs, strict=True) if sign > 0]
    right = [str(one) for one, sign in zip(some, signs, strict=True) if sign < 0]
    if len(right) == 1 and len(left) > 1:
        left, right = right, left
    return f"the {' + the '.join(left)} = the {' + the '.join(right)}"


def _of_counts(
    records: Records, sheets: Sequence[Sheet], measures: Sequence[Measure]
) -> Iterator[Tie]:
    """Sums of amounts that are the same for everybody of a kind, beside counts of these people."""
    for one, other in product(measures, repeat=2):
        if one.value is None or other.value is not None or one.weight != other.weight:
            continue
        values = records.numbers[one.value][~records.without(one)]
        some = np.unique(values)
        if len(some) == 2:
            text = (
                f"{one.value} is {some[0]:g} or {some[1]:g} for everybody, so its sum and the "
                "count tell how many have each."
            )
            yield Tie((one, other), text, always=True)
        elif (name := _fixed_by(records, sheets, one)) is not None:
            text = (
                f"{one.value} is the same for all of a category of {name}, so its sum is a count."
            )
            yield Tie((one, other), text)


def _fixed_by(records: Records, sheets: Sequence[Sheet], measure: Measure) -> str | None:
    """A variable in each category of which all have one value."""
    there = ~records.without(measure)
    values = records.numbers[str(measure.value)][there]
    for name, variable in variables_of(sheets).items():
        codes = np.asarray(records.codes[name], np.int64)[there]
        people = np.bincount(codes, minlength=variable.size)
        low, high = np.full(variable.size, np.inf), np.full(variable.size, -np.inf)
        np.minimum.at(low, codes, values)
        np.maximum.at(high, codes, values)
        if 2 * (people > 0).sum() <= len(values) and (low[people > 0] == high[people > 0]).all():
            return name
    return None


def _unit(values: Floats) -> float:
    """The step in which values are given; 0 for fractions."""
    for decimals in DECIMALS:
        if np.allclose(values * 10**decimals, np.round(values * 10**decimals), rtol=0, atol=1e-6):
            return float(10.0**-decimals)
    return 0.0


def _amounts(records: Records, measure: Measure) -> Floats:
    amount = records.people.astype(float)
    if measure.value is not None:
        amount = records.numbers[measure.value]
    return amount * records.numbers[measure.weight] if measure.weight else amount


def _plain(measure: Measure) -> Measure:
    return Measure(measure.value, measure.weight)


def _columns(measure: Measure) -> Iterator[str]:
    yield measure.value or COUNTED
    if measure.weight:
        yield measure.weight
