"""Hidden cells of a line together: their sum is told, and one owner may be behind all of them."""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from itertools import combinations

import numpy as np

from discreet.arrays import Bools, Floats
from discreet.data.codebook import Variable
from discreet.decision.batch.case import SheetCase
from discreet.release.printed import Printed
from discreet.sheets.contributions import KEPT, printed_amounts
from discreet.sheets.grouping import Grouping, Line
from discreet.sheets.joined import over_joined
from discreet.sheets.sheet import Measure, Sheet, Status

Codes = frozenset[int]
FEW = 5  # lines of one owner, of which every set is looked at
Place = frozenset[tuple[str, Codes]]  # of each variable that is not summed over, some categories


def with_unions(case: SheetCase, printed: Printed) -> tuple[SheetCase, Printed]:
    """The case with a watched line for what printed lines leave of each other, where there are
    holdings.

    Without owners who are in several cells a sum tells no more of them than each cell does.
    """
    if case.cells.measure.holding is None:
        return case, printed
    real = [sheet for sheet in case.system.sheets if sheet.status is not Status.WATCHED]
    cells = _PrintedCells.of(case, real, printed.hidden)
    left = [(name, others, own) for name, others, lines in cells.lines() for own in _left(lines)]
    if (printed.hidden & np.isfinite(printed.upper)).any():  # ranges add up like values
        left += _owned(cells, case)
    found = [*_unions(cells, left, case.cells.measure)]
    if not found:
        return case, printed
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


@dataclass
class _PrintedCells:
    """The cells that any sheet prints: which are hidden, and what their lines are called."""

    hidden: dict[Place, bool] = field(default_factory=dict)
    variables: dict[str, Variable] = field(default_factory=dict)
    labels: dict[tuple[str, Codes], str] = field(default_factory=dict)

    @classmethod
    def of(cls, case: SheetCase, sheets: Iterable[Sheet], hidden: Bools) -> _PrintedCells:
        found, wanted = cls(), {*sheets}
        for sheet, rows in zip(case.system.sheets, case.system.places, strict=True):
            if sheet not in wanted:
                continue
            plain = over_joined(sheet, case.system.joined)
            groupings = (*plain.groupings, *plain.where)
            for grouping in groupings:
                found.variables[grouping.name] = grouping.variable
                for line in grouping.lines:
                    found.labels.setdefault((grouping.name, line.codes), line.label)
            for at, row in np.ndenumerate(rows.reshape(*rows.shape, *(1 for _ in plain.where))):
                lines = (g.lines[i].codes for g, i in zip(groupings, at, strict=True))
                place = zip(groupings, lines, strict=True)
                some = ((g.name, codes) for g, codes in place if len(codes) < g.variable.size)
                found.hidden[frozenset(some)] = bool(hidden[row])
        return found

    def lines(self) -> Iterator[tuple[str, Place, Mapping[Codes, bool]]]:
        """A variable, a place of the others, and all lines of it there that some sheet has."""
        found: dict[tuple[str, Place], dict[Codes, bool]] = {}
        for place, gone in self.hidden.items():
            for pair in place:
                found.setdefault((pair[0], place - {pair}), {})[pair[1]] = gone
        for (name, others), own in found.items():
            if others in self.hidden:
                own[frozenset(range(self.variables[name].size))] = self.hidden[others]
            yield name, others, own

    def grouping(self, name: str, own: Iterable[Codes]) -> Grouping:
        """A line of each set of categories; two tables may call different ones alike."""
        lines: dict[str, Line] = {}
        for codes in own:
            categories = (self.variables[name].categories[code] for code in sorted(codes))
            label = self.labels.get((name, codes)) or " + ".join(categories)
            while label in lines:
                label += "'"
            lines[label] = Line(label, codes)
        return Grouping(self.variables[name], tuple(lines.values()))


def _owned(cells: _PrintedCells, case: SheetCase) -> Iterator[tuple[str, Place, Codes]]:
    """Lines of a place together that one owner has the most of, in two of them or more."""
    records, measure = case.records, case.cells.measure
    amounts = printed_amounts(records, measure)
    codes = case.system.codes_of(records.codes)
    for name, others, lines in cells.lines():
        there = amounts > 0
        for other, own in others:
            there &= np.isin(codes[other], [*own])
        apart = [one for one in lines if not any(other < one for other in lines)]
        _, owner = np.unique(records.owners[str(measure.holding)][there], return_inverse=True)
        shares = np.zeros((int(owner.max(initial=-1)) + 1, len(apart)))
        for place, line in enumerate(apart):
            within = np.isin(codes[name][there], [*line])
            np.add.at(shares[:, place], owner[within], amounts[there][within])
        for some in _of_one_owner(shares):
            union = frozenset[int]().union(*(apart[place] for place in some))
            if union not in lines:
                yield name, others, union


def _of_one_owner(shares: Floats) -> Iterator[tuple[int, ...]]:
    """The lines in which one owner has the most of all: all sets of a few, else the largest.

    Only who is among the largest of a line can have so much that the others do not hide it.
    """
    largest = np.unique(np.argsort(-shares, axis=0)[:KEPT])
    found: dict[tuple[int, ...], None] = {}
    for own in largest[(shares[largest] > 0).sum(1) > 1].tolist():
        ranked = [at for at in np.argsort(-shares[own]).tolist() if shares[own, at] > 0]
        few = ranked[:FEW]
        sets = [some for size in range(2, len(few) + 1) for some in combinations(few, size)]
        sets += [tuple(ranked[:size]) for size in range(FEW + 1, len(ranked) + 1)]
        for some in sets:
            together = shares[:, some].sum(1)
            if together[own] >= together.max():
                found[tuple(sorted(some))] = None
    yield from found


def _unions(
    cells: _PrintedCells, left: Iterable[tuple[str, Place, Codes]], measure: Measure
) -> Iterator[Sheet]:
    """A sheet for each sum of lines of a variable in a place of others, if no sheet has it."""
    found: dict[tuple[str, Codes, tuple[str, ...]], dict[str, dict[Codes, None]]] = {}
    for name, others, own in left:
        names = tuple(sorted(other for other, _ in others))
        shown = found.setdefault((name, own, names), {other: {} for other in names})
        for other, codes in others:
            shown[other][codes] = None
    for number, ((name, own, _), shown) in enumerate(found.items(), 1):
        groupings = [cells.grouping(other, own) for other, own in shown.items()]
        groupings.append(cells.grouping(name, [own]))
        yield Sheet(f"union {number}", tuple(groupings), measure, status=Status.WATCHED)


def _left(lines: Mapping[Codes, bool]) -> Iterator[Codes]:
    """What is left of each line without the largest lines within it that are not hidden.

    Of own groups that overlap only some can be taken away together: each is once the first.
    """
    shown = sorted((codes for codes, gone in lines.items() if not gone), key=len, reverse=True)
    for whole in lines:
        within = [codes for codes in shown if codes < whole]
        crossing = [one for one in within if any(_cross(one, other) for other in within)]
        orders = [within, *([first, *within] for first in crossing)]
        found = dict.fromkeys(_without(whole, order) for order in orders)
        yield from (left for left in found if left and left != whole and left not in lines)


def _cross(one: Codes, other: Codes) -> bool:
    """Have two lines something in common, and each something of its own?"""
    return bool(one & other) and not one <= other and not other <= one


def _without(whole: Codes, lines: Iterable[Codes]) -> Codes:
    """One line after the other taken away, if it is still there whole."""
    for codes in lines:
        if codes <= whole:
            whole -= codes
    return whole
