"""Sums that tell a sensitive category: of all of a group, or that nobody of it has one."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Floats, Ints
from discreet.data.variable import Role, Variable
from discreet.decision.batch.case import SheetCase, system_of
from discreet.decision.law.findings import MOST_NAMED
from discreet.decision.law.policy import Policy
from discreet.decision.law.rules.attribute import NAME, Attribute
from discreet.decision.law.verdict import Reason, Verdict
from discreet.errors import DataError
from discreet.intruder.sums.zeros import always_zero
from discreet.look.words import plural
from discreet.release.printed import Printed
from discreet.sheets.contributions import printed_amounts
from discreet.sheets.parts import Part
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure, Status
from discreet.sheets.system import System
from discreet.table.levels import levels
from discreet.table.words import spoken

Codes = frozenset[int]
NEAR = 1e-9  # of the total


def sums_that_tell(case: SheetCase, printed: Printed) -> list[Reason]:
    """A doubt where printed sums show who has a category that somebody calls sensitive, or has not.

    A sum tells no number of people, so that this is for a person to look at. All printed sums
    together are asked which others are 0: by differences of groups, of filters and of tables.
    """
    own = _Figures.of(case.records, case.cells.measure, printed, case.cells.fine)
    zero, told, settled = _told(case.records, case.policy, case.system, _present(case), [own])
    if not told.any():
        return []
    rows = _shown(case, zero, told)
    show = "show it" if settled else "may show it, which was not settled"
    text = (
        f"{case.named(int(rows[0]))} is of nobody, or of all of its line, and printed sums "
        f"{show} ({plural(len(rows), 'cell')}). Counts of the same people would not pass."
    )
    return [Reason(NAME, Verdict.REVIEW, text, case.listed(rows))]


def measures_that_tell(
    records: Records, policy: Policy, shown: Sequence[tuple[SheetCase, Printed]]
) -> list[Reason]:
    """A doubt where tables of several measures, sums among them, tell that together.

    One measure shows that nobody of a group has this category, another that nobody has that one.
    """
    if len(shown) < 2 or all(case.cells.measure.value is None for case, _ in shown):
        return []
    if not policy.attribute.check or not any(map(_stated, records.variables)):
        return []
    every = [
        (sheet, rows, number)
        for number, (case, _) in enumerate(shown)
        for sheet, rows in zip(case.system.sheets, case.system.places, strict=True)
        if sheet.status is not Status.WATCHED
    ]
    try:
        system = system_of(records, [sheet for sheet, *_ in every], policy, True)
    except DataError as error:
        text = f"what tables of several measures tell together is not judged: {error}"
        return [Reason(NAME, Verdict.REVIEW, text)]
    there, figures = np.zeros(len(records), bool), []
    for number, (case, printed) in enumerate(shown):
        lower, upper = np.zeros(system.cells), np.full(system.cells, np.inf)
        for place, (_, rows, own) in enumerate(every):
            if own == number:
                lower[system.places[place]] = printed.lower[rows]
                upper[system.places[place]] = printed.upper[rows]
        measure, most = case.cells.measure, np.where(system.closed, 0.0, np.inf)
        fine = system.fine(records.codes, printed_amounts(records, measure))
        moved = Printed(system, lower, upper, printed.whole, 0.0, most)
        figures.append(_Figures.of(records, measure, moved, fine))
        there |= ~records.without(measure)
    present = system.fine(records.codes, np.where(there, records.people, 0).astype(float))
    _, told, settled = _told(records, policy, system, present, figures)
    columns = np.flatnonzero(told)
    if not len(columns):
        return []
    labels = [system.column_label(int(column)) for column in columns[:MOST_NAMED]]
    show = "show it together" if settled else "may show it together, which was not settled"
    text = (
        f"{spoken(labels[0], records.variables)} is of nobody, and tables of several measures "
        f"{show} ({plural(len(columns), 'cell')}). Counts of the same people would not pass."
    )
    cells = tuple({"cell": label, "tables": [], "count": 0} for label in labels)
    return [Reason(NAME, Verdict.REVIEW, text, cells)]


@dataclass(frozen=True, eq=False)
class _Figures:
    """What is printed of a measure, its true table, and less than anybody who is there adds."""

    printed: Printed
    fine: Floats
    near: float

    @classmethod
    def of(cls, records: Records, measure: Measure, printed: Printed, fine: Floats) -> _Figures:
        amounts = printed_amounts(records, measure)
        least = float(amounts[amounts > 0].min(initial=np.inf))
        return cls(printed, fine, max(NEAR * float(amounts.sum()), least * (1 - NEAR)))


def _told(
    records: Records,
    policy: Policy,
    system: System,
    present: Floats,
    figures: Sequence[_Figures],
) -> tuple[Bools, Bools, bool]:
    """The fine cells that are 0 by some measure and were asked about, those that tell, and whether
    that is settled: else they may be 0.

    `present` are the contributors of each fine cell, also those with 0.
    """
    zero, doubt, told = np.zeros((3, system.columns), bool)
    filled = np.logical_and.reduce([own.fine > 0 for own in figures])
    asked = [*_asked(records, policy, system, present, filled)] if policy.attribute.check else []
    about = np.logical_or.reduce([zero, *(one.all_lacking for one in asked)])
    if about.any():
        for own in figures:
            found, unsettled = always_zero(own.printed, own.fine, about, own.near)
            zero, doubt = zero | found, doubt | unsettled
        told = np.logical_or.reduce([one.told(zero) for one in asked])
        if doubt.any() and not told.any():
            zero |= doubt
            return zero, np.logical_or.reduce([one.told(zero) for one in asked]), False
    return zero, told, True


@dataclass(frozen=True, eq=False)
class _Asked:
    """One sensitive variable in one part: who has which of its classes, by groups of people.

    `group` and `kind` are those of each fine cell of the part; `lacking` are groups in which nobody
    has some of the classes, so that it would be told if that were known.
    """

    part: Part
    group: Ints
    kind: Ints
    possible: Bools
    lacking: tuple[tuple[Bools, Bools], ...]

    @property
    def all_lacking(self) -> Bools:
        """The fine cells of the system in which nobody is, and this tells something."""
        found = np.zeros(len(self.possible), bool)
        for groups, kinds in self.lacking:
            found[self._own] |= self._cells(groups, kinds)
        return found & self.possible

    def told(self, zero: Bools) -> Bools:
        """Those of them that are 0, and tell."""
        some = _counted(self.group, self.kind, (self.possible & ~zero)[self._own]) > 0
        found = np.zeros(len(zero), bool)
        for groups, kinds in self.lacking:
            known = groups & some.any(1) & ~some[:, kinds].any(1)
            found[self._own] |= self._cells(known, kinds)
        return found & self.possible

    @property
    def _own(self) -> slice:
        return slice(self.part.start, self.part.start + self.part.size)

    def _cells(self, groups: Bools, kinds: Bools) -> Bools:
        return np.asarray(groups[self.group] & kinds[self.kind])


def _stated(variable: Variable) -> bool:
    """Does somebody call it sensitive?"""
    return variable.role.is_sensitive and variable.role is not Role.UNSTATED


def _asked(
    records: Records, policy: Policy, system: System, present: Floats, filled: Bools
) -> Iterator[_Asked]:
    """Of every part and every variable that somebody calls sensitive: what it may tell.

    A group is of one class of each variable that identifies: who is in a larger group that tells
    something is in one that does.
    """
    variables, possible = {v.name: v for v in records.variables}, ~system.closed
    for part in system.parts:
        own = slice(part.start, part.start + part.size)
        codes = _codes(system, part)
        for name in dict.fromkeys(name for axis in codes for name in axis):
            if not _stated(variables[name]):
                continue
            others = {n for n, v in variables.items() if v.role.identifies and n != name}
            group = _places([_classes(axis, others) for axis in codes])
            kind = _places([_classes(axis, {name}) for axis in codes])
            kinds, some = _kinds(codes, name), _sensitive(system, variables[name])
            there = _counted(group, kind, present[own])
            full = _counted(group, kind, filled[own]) > 0
            open_ = _counted(group, kind, possible[own]) > 0
            lacking = tuple(_lacking(policy.attribute, some, kinds, there, full, open_))
            if lacking:
                yield _Asked(part, group, kind, possible, lacking)


def _lacking(
    rule: Attribute,
    sensitive: Iterable[Codes],
    kinds: Sequence[Codes],
    there: Floats,
    filled: Bools,
    open_: Bools,
) -> Iterator[tuple[Bools, Bools]]:
    """Groups, and classes that nobody of them has: all others are sensitive, or these are."""
    people = there.sum(1)
    for codes in sensitive:
        rest = np.array([not kind <= codes for kind in kinds])
        few = there[:, rest].sum(1) <= (1 - rule.share) * people * (1 + NEAR)
        yield from _some(few & (people > 0), rest, filled, open_)
        if rule.exclusion:
            own = np.array([bool(kind & codes) for kind in kinds])
            none = there[:, own].sum(1) == 0
            yield from _some(none & (people > 0), own, filled, open_)


def _some(
    groups: Bools, kinds: Bools, filled: Bools, open_: Bools
) -> Iterator[tuple[Bools, Bools]]:
    """The groups in which a sum of these classes is 0, and might be more."""
    groups = groups & ~filled[:, kinds].any(1) & open_[:, kinds].any(1)
    if groups.any():
        yield groups, kinds


def _sensitive(system: System, variable: Variable) -> set[Codes]:
    """The codes of each sensitive category, of each sensitive group of a hierarchy, and of each
    line of sensitive categories alone."""
    found = {frozenset({int(code)}) for code in variable.sensitive_codes}
    for level, groups in levels(variable):
        telling = {level.categories[code] for code in level.sensitive_codes}
        found |= {frozenset(c for c, g in enumerate(groups) if g == group) for group in telling}
    for sheet in system.sheets:
        if sheet.status is not Status.WATCHED:
            for grouping in (*sheet.groupings, *sheet.where):
                if grouping.name == variable.name:
                    found |= {line.codes for line in grouping.lines}
    every = {*variable.sensitive_codes}
    return {codes for codes in found if codes <= every and len(codes) < variable.size}


Axis = dict[str, list[Codes]]  # of each variable, its codes in each atom


def _codes(system: System, part: Part) -> list[Axis]:
    """The codes of every variable in each atom, by the axes of a part."""
    joined = {one.variable.name: one for one in system.joined}
    found = []
    for name, atoms in zip(part.names, part.atoms, strict=True):
        one = joined.get(name)
        own = {name: np.arange(len(atoms))} if one is None else one.codes
        members = [np.flatnonzero(atoms == atom) for atom in range(int(atoms.max()) + 1)]
        found.append(
            {n: [frozenset(codes[some].tolist()) for some in members] for n, codes in own.items()}
        )
    return found


def _classes(axis: Axis, names: set[str]) -> Ints:
    """The class of each atom of an axis, by the codes of some variables."""
    atoms = [*zip(*axis.values(), strict=True)]
    own = [tuple(c for n, c in zip(axis, codes, strict=True) if n in names) for codes in atoms]
    places = {codes: place for place, codes in enumerate(dict.fromkeys(own))}
    return np.array([places[codes] for codes in own])


def _places(classes: list[Ints]) -> Ints:
    """The class of each fine cell of a part, by those of its atoms."""
    found = np.zeros(1, np.int64)
    for own in classes:
        found = (found[:, None] * (int(own.max()) + 1) + own).ravel()
    return found


def _kinds(codes: list[Axis], name: str) -> list[Codes]:
    """The codes of each class of a variable."""
    return [*dict.fromkeys(next(axis[name] for axis in codes if name in axis))]


def _counted(group: Ints, kind: Ints, amounts: NDArray[np.generic]) -> Floats:
    """Sums of fine cells, groups x kinds."""
    kinds = int(kind.max()) + 1
    shape = int(group.max()) + 1, kinds
    found = np.bincount(group * kinds + kind, amounts.astype(float), shape[0] * kinds)
    return np.asarray(found.reshape(shape))


def _present(case: SheetCase) -> Floats:
    """The contributors of each fine cell, also those with 0."""
    cells, found = case.cells, np.zeros(case.system.columns)
    cell = _cells_of(case)
    found[cell >= 0] = cells.present[cell[cell >= 0]]
    return found


def _cells_of(case: SheetCase) -> Ints:
    """The cell that each fine cell is: a row that it is alone in, or itself; -1 if impossible."""
    cells, possible = case.cells, np.flatnonzero(~case.closed)
    found = np.full(case.system.columns, -1, np.int64)
    sums = case.system.sums[:, possible]
    single = np.flatnonzero(np.diff(sums.indptr) == 1)
    found[possible[sums.indices[sums.indptr[single]]]] = single
    found[cells.open_columns] = cells.printed + np.arange(len(cells.open_columns))
    return found


def _shown(case: SheetCase, zero: Bools, told: Bools) -> Ints:
    """The printed rows of nobody among what is told, and the fine cells that are in none."""
    sums = case.system.sums
    of_nobody = sums @ (~zero & ~case.closed).astype(float) == 0
    rows = of_nobody & (sums @ told.astype(float) > 0) & case.rows_of()
    left = told & (sums[rows].T @ np.ones(int(rows.sum())) == 0)
    return np.unique(np.r_[np.flatnonzero(rows), _cells_of(case)[left]])
