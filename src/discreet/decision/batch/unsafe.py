"""Every unsafe cell of a batch: by which rule, on its own or for others, what it needs and has."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from functools import cached_property
from itertools import islice
from typing import TYPE_CHECKING, ClassVar

import numpy as np

from discreet.decision.law.verdict import Reason, Verdict
from discreet.look.result import Shown

if TYPE_CHECKING:
    from discreet.decision.batch.demands import Demand
    from discreet.decision.batch.reasons import Looked

PRIMARY, SECONDARY = "primary", "secondary"


@dataclass(frozen=True)
class UnsafeCell:
    """A cell that a rule guards, or that is hidden for the sake of such a one.

    `kind` is primary where the rule forbids a printed cell itself, and secondary where others are
    the reason: it follows from them, or is hidden for them. Confidential: `has` tells its value.
    """

    tables: tuple[str, ...]
    cell: Mapping[str, str]
    rule: str
    kind: str
    verdict: Verdict
    needs: str
    has: str
    contributors: int | None = None


@dataclass(frozen=True)
class _Place:
    """Where an unsafe cell stands: in what was looked at, and in the demand on it."""

    verdict: Verdict
    kind: str
    looked: Looked
    cell: int
    demand: Demand | None = None
    at: int = 0


@dataclass(frozen=True, eq=False, repr=False)
class UnsafeCells(Shown):
    """Those of all measures, the gravest first; a cell stands once for each rule.

    `hiding`: the tables have gaps, and the list has every gap, also where all is well.
    """

    looks: tuple[Looked, ...]
    reasons: tuple[Reason, ...]
    hiding: bool = False
    _unpublished: ClassVar[bool] = True

    def __repr__(self) -> str:
        return (
            f"UnsafeCells({self.number(PRIMARY):,} primary, {self.number(SECONDARY):,} secondary)"
        )

    def __len__(self) -> int:
        return len(self._places) + len(self._by_law)

    def number(self, kind: str) -> int:
        """How many are primary, or secondary."""
        own = sum(place.kind == kind for place in self._places)
        return own + (len(self._by_law) if kind == SECONDARY else 0)

    def __iter__(self) -> Iterator[UnsafeCell]:
        grave = sorted(self._by_law, key=lambda one: -one.verdict.rank)
        yield from (one for one in grave if one.verdict is Verdict.FAIL)
        yield from map(_cell, self._places)
        yield from (one for one in grave if one.verdict is not Verdict.FAIL)

    def first(self, most: int) -> list[UnsafeCell]:
        return list(islice(self, most))

    def to_json(self) -> dict[str, int]:
        """How many there are; the cells themselves go to a file that a person names."""
        numbers = {kind: self.number(kind) for kind in (PRIMARY, SECONDARY)}
        return {"cells": len(self), **numbers}

    @property
    def complete(self) -> bool:
        """Were cells looked for that follow from others, also where printed ones fail already?"""
        return all(looked.searched or not len(looked.targets) for looked in self.looks)

    @cached_property
    def _places(self) -> list[_Place]:
        found = [place for looked in self.looks for place in self._of(looked)]
        return sorted(found, key=lambda place: (-place.verdict.rank, place.kind))

    def _of(self, looked: Looked) -> Iterator[_Place]:
        case = looked.case
        rows = np.zeros(len(looked.shown), bool)
        rows[: case.cells.printed] = case.rows_of()
        guarded = np.zeros(len(rows), bool)
        for demand in case.demands:
            guarded[demand.cells] = True
            for at, cell in enumerate(demand.cells.tolist()):
                kind = PRIMARY if rows[cell] else SECONDARY
                if looked.shown[cell]:
                    verdict = Verdict.FAIL
                elif not looked.searched:
                    continue
                elif looked.broken[cell]:
                    verdict = Verdict.FAIL
                elif not looked.proven[cell]:
                    verdict = Verdict.REVIEW
                else:
                    verdict = Verdict.PASS
                if verdict is not Verdict.PASS or (self.hiding and rows[cell]):
                    yield _Place(verdict, kind, looked, cell, demand, at)
        if self.hiding:
            for cell in np.flatnonzero(rows & ~looked.shown & ~guarded).tolist():
                yield _Place(Verdict.PASS, SECONDARY, looked, cell)

    @cached_property
    def _by_law(self) -> list[UnsafeCell]:
        """What rules found that look at all tables at once, or as if everybody knew more."""
        found = []
        seen = {(one.demand.rule, one.verdict) for one in self._places if one.demand is not None}
        for reason in self.reasons:
            if reason.verdict is Verdict.PASS:
                continue
            for said in reason.cells:
                known = "tables" in said and (reason.rule, reason.verdict) in seen
                if known or "cell" not in said:
                    continue
                low, high = said.get("lower"), said.get("upper")
                has = "" if low is None or high is None else f"{low:,.6g} to {high:,.6g}"
                one = (reason.rule, SECONDARY, reason.verdict, "hidden", has)
                tables = tuple(said.get("tables", ()))
                found.append(UnsafeCell(tables, said["cell"], *one, said.get("count")))
        return found


def _cell(place: _Place) -> UnsafeCell:
    case, cell, demand = place.looked.case, place.cell, place.demand
    value = float(case.cells.values[cell])
    if place.looked.shown[cell]:
        has = f"printed: {value:,.6g}"
    elif demand is None:
        has = f"hidden: {value:,.6g}"
    else:
        low, high = place.looked.ends(cell)
        has = f"{value:,.6g}, from {low:,.6g} to {high:,.6g} for an intruder"
    rule, needs = "hidden for others", "nothing of its own"
    if demand is not None:
        rule, needs = f"{demand.rule}: {demand.why}", _needs(demand, place.at, value)
    label, tables = case.cells.label(cell), tuple(case.tables(cell))
    number = int(case.cells.number[cell])
    return UnsafeCell(tables, label, rule, place.kind, place.verdict, needs, has, number)


def _needs(demand: Demand, at: int, value: float) -> str:
    """That it is hidden, and how far it must be open."""
    low, high, width = (float(x[at]) for x in (demand.low, demand.high, demand.width))
    said = []
    if low < value or high > value:
        said.append(f"open from {min(low, value):,.6g} to {max(high, value):,.6g}")
    if width > 0:
        said.append(f"{width:,.6g} wide")
    return ", ".join(["hidden", *said])


def unsafe_cells(
    looks: Iterable[Looked], reasons: Iterable[Reason], *, hiding: bool = False
) -> UnsafeCells:
    """Of what was looked at for a verdict, and the reasons of it."""
    return UnsafeCells(tuple(looks), tuple(reasons), hiding)
