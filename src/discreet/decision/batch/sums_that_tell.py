"""Sums that tell a sensitive category: of all of a group, or that nobody of it has one."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.data.variable import Role, Variable
from discreet.decision.batch.case import SheetCase
from discreet.decision.law.rules.attribute import NAME
from discreet.decision.law.verdict import Reason, Verdict
from discreet.intruder.sums.zeros import always_zero
from discreet.look.words import plural
from discreet.release.printed import Printed
from discreet.sheets.contributions import printed_amounts
from discreet.sheets.parts import Part
from discreet.sheets.sheet import Status
from discreet.table.levels import levels

Bools = NDArray[np.bool_]
Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Codes = frozenset[int]
NEAR = 1e-9  # of the largest sum


def sums_that_tell(case: SheetCase, printed: Printed) -> list[Reason]:
    """A doubt where printed sums show who has a category that somebody calls sensitive, or has not.

    A sum tells no number of people, so that this is for a person to look at. All printed sums
    together are asked which others are 0: by differences of groups, of filters and of tables.
    """
    asked = [*_asked(case)] if case.policy.attribute.check else []
    about = np.zeros(case.system.columns, bool)
    for one in asked:
        about |= one.all_lacking
    if not about.any():
        return []
    amounts = printed_amounts(case.records, case.cells.measure)
    least = float(amounts[amounts > 0].min(initial=np.inf))  # less than that is nobody
    near = max(NEAR * float(case.values.max(initial=1.0)), least * (1 - NEAR))
    zero = always_zero(printed, case.cells.fine, about, near)
    told = np.zeros(len(zero), bool)
    for one in asked:
        told |= one.told(zero)
    if not told.any():
        return []
    rows = _shown(case, zero, told)
    text = (
        f"{case.named(int(rows[0]))} is of nobody, or of all of its line, and printed sums "
        f"show it ({plural(len(rows), 'cell')}). Counts of the same people would not pass."
    )
    return [Reason(NAME, Verdict.REVIEW, text, case.listed(rows))]


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


def _asked(case: SheetCase) -> Iterator[_Asked]:
    """Of every part and every variable that somebody calls sensitive: what it may tell.

    A group is of one class of each variable that identifies: who is in a larger group that tells
    something is in one that does.
    """
    variables = {variable.name: variable for variable in case.records.variables}
    present, possible = _present(case), ~case.closed
    for part in case.system.parts:
        own = slice(part.start, part.start + part.size)
        codes = _codes(case, part)
        for name in dict.fromkeys(name for axis in codes for name in axis):
            variable = variables[name]
            if not variable.role.is_sensitive or variable.role is Role.UNSTATED:
                continue
            others = {n for n, v in variables.items() if v.role.identifies and n != name}
            group = _places([_classes(axis, others) for axis in codes])
            kind = _places([_classes(axis, {name}) for axis in codes])
            kinds = _kinds(codes, name)
            there = _counted(group, kind, present[own])
            filled = _counted(group, kind, case.cells.fine[own]) > 0
            open_ = _counted(group, kind, possible[own]) > 0
            lacking = tuple(_lacking(case, variable, kinds, there, filled, open_))
            if lacking:
                yield _Asked(part, group, kind, possible, lacking)


def _lacking(
    case: SheetCase,
    variable: Variable,
    kinds: list[Codes],
    there: Floats,
    filled: Bools,
    open_: Bools,
) -> Iterator[tuple[Bools, Bools]]:
    """Groups, and classes that nobody of them has: all others are sensitive, or these are."""
    rule = case.policy.attribute
    people = there.sum(1)
    for codes in _sensitive(case, variable):
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


def _sensitive(case: SheetCase, variable: Variable) -> set[Codes]:
    """The codes of each sensitive category, of each sensitive group of a hierarchy, and of each
    line of sensitive categories alone."""
    found = {frozenset({int(code)}) for code in variable.sensitive_codes}
    for level, groups in levels(variable):
        telling = {level.categories[code] for code in level.sensitive_codes}
        found |= {frozenset(c for c, g in enumerate(groups) if g == group) for group in telling}
    for sheet in case.system.sheets:
        if sheet.status is not Status.WATCHED:
            for grouping in (*sheet.groupings, *sheet.where):
                if grouping.name == variable.name:
                    found |= {line.codes for line in grouping.lines}
    every = {*variable.sensitive_codes}
    return {codes for codes in found if codes <= every and len(codes) < variable.size}


Axis = dict[str, list[Codes]]  # of each variable, its codes in each atom


def _codes(case: SheetCase, part: Part) -> list[Axis]:
    """The codes of every variable in each atom, by the axes of a part."""
    joined = {one.variable.name: one for one in case.system.joined}
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
