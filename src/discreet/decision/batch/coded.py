"""Sheets as a release of margins: what lets the law judge them.

Every partition that a sheet makes of a variable is a variable of its own beside the finest one, and
who is in a class cannot be in a group that it is not part of.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from functools import reduce

import numpy as np

from discreet.arrays import Ints
from discreet.data.codebook import Variable
from discreet.release.printed import Printed
from discreet.release.release import PUBLISHED, Known, Release
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import Sheet
from discreet.sheets.system import atoms_of
from discreet.table.formula import Formula
from discreet.table.table import Table

HIDDEN = "suppressed"
ENDLESS = 1 << 40


@dataclass
class Coded:
    """The confidential table with a variable for each partition, and who is called what there."""

    table: Table
    _finest: Mapping[str, Ints]
    _names: dict[tuple[str, bytes], str] = field(default_factory=dict)

    @classmethod
    def of(cls, records: Records, sheets: Sequence[Sheet]) -> Coded:
        """The finest partition of each variable that any of the sheets shows."""
        shown: dict[str, list[Ints]] = {}
        for sheet in sheets:
            for grouping in (*sheet.groupings, *sheet.where):
                shown.setdefault(grouping.name, []).append(atoms_of(grouping.members))
        finest = {
            name: reduce(lambda a, b: atoms_of(np.array([a, b])), found)
            for name, found in shown.items()
        }
        table = records.table.margin([n for n in records.table.names if n in finest])
        names = {}
        for name, atoms in finest.items():
            variable = table.variable(name)
            if int(atoms.max()) + 1 < variable.size:
                table = table.merge(name, _labels(variable, atoms))
            names[name, atoms.tobytes()] = name
        return cls(table, finest, names)

    def variable(self, variable: Variable, atoms: Ints) -> str:
        """The name of a partition of a variable's categories; added to the table if it is new."""
        key = variable.name, atoms.tobytes()
        if key not in self._names:
            finest = self._finest[variable.name]
            labels = _labels(variable, atoms)
            groups = dict(zip(_labels(variable, finest), labels, strict=True))
            number = sum(name == variable.name for name, _ in self._names)
            merged = f"{variable.name} ({len(set(labels))} groups{', other' * (number > 1)})"
            while merged in self.table.names:
                merged += "'"
            self.table = self.table.beside(variable.name, merged, groups)
            self._names[key] = merged
        return self._names[key]

    def base(self, name: str) -> tuple[str, Ints]:
        """The variable of the table that has the finest classes, and a category of each."""
        return name, np.unique(self._finest[name], return_index=True)[1]

    def margin(self, sheet: Sheet) -> tuple[str, ...]:
        """The margin that tells all that a sheet does, and more if `exact` says so."""
        return tuple(
            self.variable(g.variable, atoms_of(g.members)) for g in (*sheet.groupings, *sheet.where)
        )

    def release(self, printed: Printed, sheets: Sequence[int]) -> tuple[Release, bool]:
        """What is printed of some sheets, as if the total was; and whether it is.

        A sheet that hides nothing is a margin, of others each cell is told.
        """
        known: dict[tuple[tuple[str, str], ...], Known] = {}
        margins, total, single = list[tuple[str, ...]](), False, set[str]()
        for number in sheets:
            sheet, rows = printed.system.sheets[number], printed.system.places[number].ravel()
            single |= {
                self.variable(g.variable, atoms_of(g.members))
                for g in (*sheet.groupings, *sheet.where)
                if g.variable.size == 1
            }
            shown = printed.lower[rows] == printed.upper[rows]
            if shown.all() and exact(sheet):
                margins.append(self.margin(sheet))
                total = True
                continue
            axes = [self._lines(g) for g in (*sheet.groupings, *sheet.where)]
            shape = (*sheet.shape, *(1 for _ in sheet.where))
            for place, row in zip(np.ndindex(shape), rows.tolist(), strict=True):
                pairs = (lines[at] for lines, at in zip(axes, place, strict=True))
                cell = tuple(pair for pair in pairs if pair is not None)
                low, high = printed.lower[row], printed.upper[row]
                if not cell:
                    total |= bool(low == high)
                    continue
                why = PUBLISHED if low == high else HIDDEN
                most = int(min(high, ENDLESS))
                known[cell] = Known(cell, int(np.ceil(low)), most, why)
        margins += [(name,) for name in sorted(single)]  # that all have its only category is told
        wanted = Formula.of([m for m in margins if m], self.table.names)
        tables = [self.table.margin(m) for m in wanted.frontier.margins] if wanted.sets else []
        found = Release(
            self.table.variables, tuple(tables or [self.table.margin(())]), tuple(known.values())
        )
        return found.excluding(self.table), total

    def _lines(self, grouping: Grouping) -> list[tuple[str, str] | None]:
        """Each line as a category of a partition; None for everybody."""
        found: list[tuple[str, str] | None] = []
        levels: dict[int, np.ndarray] = {}
        for depth in {line.depth for line in grouping.lines}:
            rows = [i for i, line in enumerate(grouping.lines) if line.depth == depth]
            levels[depth] = grouping.members[rows]
        for i, line in enumerate(grouping.lines):
            own = grouping.members[i]
            if own.all():
                found.append(None)
                continue
            level = levels[line.depth]
            apart = (level.sum(0) <= 1).all()
            atoms = atoms_of(level if apart else own[None])
            labels = _labels(grouping.variable, atoms)
            found.append((self.variable(grouping.variable, atoms), labels[int(np.argmax(own))]))
        return found


def exact(sheet: Sheet) -> bool:
    """Does a sheet tell its whole margin, no less?"""
    for grouping in sheet.groupings:
        atoms = atoms_of(grouping.members)
        first = np.unique(atoms, return_index=True)[1]
        if np.linalg.matrix_rank(grouping.members[:, first].astype(float)) <= atoms.max():
            return False
    return not sheet.where


def _labels(variable: Variable, atoms: Ints) -> list[str]:
    """The class of each category, called by its members."""
    names = np.array(variable.categories, object)
    called = list[str]()
    for atom in range(int(atoms.max()) + 1):
        name = _called([str(n) for n in names[atoms == atom]])
        while name in called:  # a category may be called like a class of others
            name += "'"
        called.append(name)
    return [called[atom] for atom in atoms.tolist()]


def _called(members: list[str]) -> str:
    if len(members) > 3:
        return f"{members[0]} to {members[-1]} ({len(members)})"
    return " or ".join(members)
