"""Cubes of sibling lines, through any cell of any sheet: the moves that hide a cell."""

from __future__ import annotations

from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np

from discreet.arrays import Bools, Ints
from discreet.sheets.grouping import Grouping
from discreet.sheets.system import System


@dataclass(frozen=True, eq=False)
class Cubes:
    """The steps of every variable, and which lines of which sheet each of them moves.

    A step a * n + b goes from atom a to atom b of n; a = b adds to atom a alone. The product of one
    step of every variable is a change of the whole table, so whatever sheets there are, and
    whatever parts they were cut into, all of them change alike.
    """

    system: System

    @cached_property
    def _variables(self) -> dict[str, list[Grouping]]:
        found: dict[str, list[Grouping]] = {}
        for sheet in self.system.sheets:
            for grouping in (*sheet.groupings, *sheet.where):
                found.setdefault(grouping.name, []).append(grouping)
        return found

    @cached_property
    def _first(self) -> dict[str, Ints]:
        """A category of every atom."""
        return {
            name: np.sort(
                np.unique(np.vstack([g.members for g in groupings]), axis=1, return_index=True)[1]
            )
            for name, groupings in self._variables.items()
        }

    @cached_property
    def layout(self) -> tuple[Any, ...]:
        """What the kernels read: see `rows_of`."""
        names = list(self._variables)
        sizes = np.array([len(self._first[name]) for name in names], np.int64)
        sheet_start, variable, first, stride = [0], [], [], []
        starts, lines, signs = [np.zeros(1, np.int64)], [], []
        known: dict[tuple[str, bytes], int] = {}
        at = 0
        covers = []
        for sheet in self.system.sheets:
            strides = np.cumprod((1, *sheet.shape[::-1]))[::-1][1:].tolist()
            axes = [*zip(sheet.groupings, strides, strict=True), *((g, 0) for g in sheet.where)]
            for grouping, step in axes:
                members = grouping.members[:, self._first[grouping.name]]
                key = grouping.name, members.tobytes()
                if key not in known:
                    known[key] = at
                    begin, line, sign = _entries(members)
                    starts.append(begin + starts[-1][-1])
                    lines.append(line)
                    signs.append(sign)
                    at += len(begin)
                variable.append(names.index(grouping.name))
                first.append(known[key])
                stride.append(int(step))
            sheet_start.append(len(variable))
            covers.append(sum(1 << names.index(g.name) for g, _ in axes))
        cells = [0, *np.cumsum([p.size for p in self.system.places])]
        home, spot = np.zeros((2, self.system.cells), np.int64)
        for s, rows in reversed(list(enumerate(self.system.places))):
            home[rows.ravel()], spot[rows.ravel()] = s, np.arange(rows.size)
        none = [np.zeros(0, np.int64)]
        return (
            len(names), sizes, *_int(sheet_start, variable, first, stride),
            np.concatenate(starts), np.concatenate([*none, *lines]),
            np.concatenate([*none, *signs]), *_int(cells[:-1]),
            np.concatenate([p.ravel() for p in self.system.places]), home, spot, *_int(covers),
        )  # fmt: skip

    def through(self, rows: Ints) -> tuple[Ints, Ints, Ints]:
        """The steps that move each row: where its begin, those of each variable, all together."""
        names = list(self._variables)
        cache: dict[tuple[str, bytes | None], Ints] = {}
        first, starts, options = [0], [], []
        for row in rows.tolist():
            sheet, cell = self.system.home(row)
            at = np.unravel_index(cell, sheet.shape) if sheet.shape else ()
            lines = {g.name: g.members[i] for g, i in zip(sheet.groupings, at, strict=True)}
            lines |= {g.name: g.members[0] for g in sheet.where}
            begin = [0]
            for name in names:
                inside = lines.get(name)
                key = name, None if inside is None else inside.tobytes()
                if key not in cache:
                    atoms = self._first[name]
                    cache[key] = _steps(None if inside is None else inside[atoms], len(atoms))
                options.append(cache[key])
                begin.append(begin[-1] + len(options[-1]))
            starts.append(begin)
            first.append(first[-1] + begin[-1])
        none = np.zeros(0, np.int64)
        return (
            np.array(first[:-1], np.int64),
            np.array(starts, np.int64).reshape(len(rows), len(names) + 1),
            np.concatenate([none, *options]),
        )

    def rows(self, cube: Ints) -> tuple[Ints, Ints]:
        """The rows that a cube moves, and by +1 or -1."""
        from discreet._kernels.suppression import moved

        rows, signs = np.empty(4096, np.int64), np.empty(4096, np.int64)
        found = max(0, moved(cube, self.layout, rows, signs))
        return rows[:found].copy(), signs[:found].copy()


def _int(*lists: Any) -> tuple[Ints, ...]:
    return tuple(np.array(x, np.int64) for x in lists)


def _entries(members: Bools) -> tuple[Ints, Ints, Ints]:
    """Lines and signs of every step: ends in the order of steps."""
    inside = members.astype(np.int64)
    ends, lines, signs = [], [], []
    for a, own in enumerate(inside.T):
        change = own[None] - inside.T  # step to each atom x line
        change[a] = own
        step, line = np.nonzero(change)
        lines.append(line)
        signs.append(change[step, line])
        ends.append(np.bincount(step, minlength=len(change)))
    return np.cumsum(np.concatenate(ends)), np.concatenate(lines), np.concatenate(signs)


def _steps(inside: Bools | None, size: int) -> Ints:
    """From an atom of the line to one outside, or alone."""
    if inside is None:
        return np.arange(size) * (size + 1)
    own, other = np.flatnonzero(inside), np.flatnonzero(~inside)
    pairs = own[:, None] * size + other[None]
    return np.concatenate([own * (size + 1), pairs.ravel()])
