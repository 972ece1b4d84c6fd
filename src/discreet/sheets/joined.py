"""Variables of which few combinations can occur, as one variable.

A region and its districts, or two codings of one number, say the same thing twice. Tables of either
are then tables of one variable, whose categories are the combinations that can occur.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.data.codebook import Variable
from discreet.errors import DataError
from discreet.sheets.grouping import Grouping, Line
from discreet.sheets.sheet import Sheet

Impossible = Mapping[tuple[str, ...], Any]  # codes of combinations, one a row, by their variables
MOST_TIMES = 2  # combinations of codings, to the categories of all of them
BETWEEN = " & "


@dataclass(frozen=True, eq=False)
class Joined:
    """`variable` has the combinations of several variables that can occur; `codes` are their codes.

    >>> region, town = Variable("Region", ("N", "S")), Variable("Town", ("a", "b", "c"))
    >>> sheets = [Sheet("1", (Grouping.of(region),)), Sheet("2", (Grouping.of(town),))]
    >>> (found,) = joined(sheets, {("Region", "Town"): [(0, 2), (1, 0), (1, 1)]})
    >>> found.variable.name, found.variable.categories
    ('Region & Town', ('N & a', 'N & b', 'S & c'))
    >>> [sorted(line.codes) for line in found.over(Grouping.of(region)).lines]
    [[0, 1, 2], [0, 1], [2]]
    """

    variable: Variable
    parts: tuple[Variable, ...]
    codes: Mapping[str, Ints]

    def over(self, grouping: Grouping) -> Grouping:
        """The lines of one of the variables, as sets of combinations."""
        own = self.codes[grouping.name]
        lines = []
        for line in grouping.lines:
            members = np.flatnonzero(np.isin(own, [*line.codes]))
            lines.append(Line(line.label, frozenset(members.tolist()), line.depth))
        return Grouping(self.variable, tuple(lines))

    def of(self, codes: Mapping[str, NDArray[Any]]) -> Ints:
        """The combination of each row of data."""
        sizes = [variable.size for variable in self.parts]
        known = np.ravel_multi_index([self.codes[v.name] for v in self.parts], sizes)
        keys = np.ravel_multi_index([codes[v.name].astype(np.int64) for v in self.parts], sizes)
        order = np.argsort(known)
        return np.asarray(order[np.searchsorted(known[order], keys)], np.int64)

    def label(self, members: Ints) -> dict[str, frozenset[int]]:
        """The categories of each variable that some combinations have, if not all."""
        found = {v.name: frozenset(self.codes[v.name][members].tolist()) for v in self.parts}
        return {v.name: found[v.name] for v in self.parts if len(found[v.name]) < v.size}


def variables_of(sheets: Iterable[Sheet]) -> dict[str, Variable]:
    """The variables that sheets show, by name."""
    found: dict[str, Variable] = {}
    for sheet in sheets:
        for grouping in (*sheet.groupings, *sheet.where):
            first = found.setdefault(grouping.name, grouping.variable)
            if first.categories != grouping.variable.categories:
                raise DataError(
                    f"two tables disagree on the categories of {grouping.name!r}; give them "
                    "the same codebook."
                )
    return found


def joined(sheets: Sequence[Sheet], impossible: Impossible) -> tuple[Joined, ...]:
    """The codings of one thing among the variables that no sheet shows together."""
    known = variables_of(sheets)
    shown = [{g.name for g in (*sheet.groupings, *sheet.where)} for sheet in sheets]
    alike: dict[frozenset[str], NDArray[np.bool_]] = {}
    for names, combinations in impossible.items():
        if len(names) != 2 or not all(name in known for name in names):
            continue
        a, b = (known[name] for name in names)
        possible = np.ones((a.size, b.size), bool)
        possible[tuple(np.asarray(combinations, int).reshape(-1, 2).T)] = False
        same = a.role.identifies == b.role.identifies
        if same and possible.sum() <= MOST_TIMES * (a.size + b.size):
            alike[frozenset(names)] = possible if names[0] < names[1] else possible.T
    found = []
    for group in _groups(alike):
        if any(len(group & own) > 1 for own in shown):
            continue
        several = {n: c for n, c in impossible.items() if len(n) > 2 and group.issuperset(n)}
        one = _joined([known[name] for name in known if name in group], alike, several)
        if one is not None:
            found.append(one)
    return tuple(found)


def _groups(pairs: Iterable[frozenset[str]]) -> list[set[str]]:
    """Variables that pairs connect."""
    found: list[set[str]] = []
    for pair in pairs:
        group = set(pair).union(*(other for other in found if other & pair))
        found = [other for other in found if not other & pair] + [group]
    return found


def _joined(
    parts: Sequence[Variable], alike: Mapping[frozenset[str], NDArray[np.bool_]],
    several: Impossible,
) -> Joined | None:  # fmt: skip
    """All combinations in which each pair can occur; None if they are many."""
    most = MOST_TIMES * sum(variable.size for variable in parts)
    left, names = [*parts[1:]], [parts[0].name]
    rows = np.arange(parts[0].size)[:, None]
    while left:
        # next to those that are joined already, so that never all pairs are listed
        new = next(v for v in left if any(frozenset((v.name, n)) in alike for n in names))
        left.remove(new)
        fits = np.ones((len(rows), new.size), bool)
        for place, name in enumerate(names):
            possible = alike.get(frozenset((name, new.name)))
            if possible is not None:
                possible = possible if name < new.name else possible.T
                fits &= possible[rows[:, place]]
        at, code = np.nonzero(fits)
        rows, names = np.column_stack([rows[at], code]), [*names, new.name]
        if len(rows) > most * len(names):
            return None
    rows = rows[:, [names.index(v.name) for v in parts]]
    rows = rows[np.lexsort(rows.T[::-1])]
    for about, combinations in several.items():
        own = rows[:, [[v.name for v in parts].index(name) for name in about]]
        shut = {tuple(one) for one in np.asarray(combinations).tolist()}
        rows = rows[[tuple(one) not in shut for one in own.tolist()]]
    labels = [
        BETWEEN.join(v.categories[c] for v, c in zip(parts, row, strict=True)) for row in rows
    ]
    name = BETWEEN.join(v.name for v in parts)
    variable = Variable(name, tuple(_apart(labels)), parts[0].role)
    codes = {v.name: np.ascontiguousarray(rows[:, i]) for i, v in enumerate(parts)}
    return Joined(variable, tuple(parts), codes)


def _apart(labels: Sequence[str]) -> list[str]:
    """Each label once."""
    if len(set(labels)) == len(labels):
        return [*labels]
    return [f"{label} ({number})" for number, label in enumerate(labels, 1)]


def over_joined(sheet: Sheet, found: Iterable[Joined]) -> Sheet:
    """The same sheet over joined variables."""
    by_name = {variable.name: one for one in found for variable in one.parts}
    if not any(g.name in by_name for g in (*sheet.groupings, *sheet.where)):
        return sheet

    def over(groupings: Iterable[Grouping]) -> tuple[Grouping, ...]:
        return tuple(by_name[g.name].over(g) if g.name in by_name else g for g in groupings)

    return dataclasses.replace(sheet, groupings=over(sheet.groupings), where=over(sheet.where))


def over_joined_codes(
    impossible: Impossible, found: Sequence[Joined]
) -> dict[tuple[str, ...], Ints]:
    """Impossible combinations of joined variables; those within one are gone already."""
    kept: dict[tuple[str, ...], Ints] = {}
    for names, combinations in impossible.items():
        rows = np.asarray(combinations, np.int64).reshape(-1, len(names))
        for one in found:
            places = [i for i, name in enumerate(names) if name in one.codes]
            if not places:
                continue
            fits = np.all([one.codes[names[i]] == rows[:, i, None] for i in places], 0)
            row, code = np.nonzero(fits)
            rest = [i for i in range(len(names)) if i not in places]
            rows = np.column_stack([rows[row][:, rest], code])
            names = (*(names[i] for i in rest), one.variable.name)
        if len(names) > 1:
            kept[names] = np.vstack([kept[names], rows]) if names in kept else rows
    return kept
