"""Attribute disclosure while a release grows: the groups that could be disclosed, on a shuttle."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field
from functools import cached_property

import numpy as np

from discreet.arrays import Ints
from discreet.intruder.bounds.shuttle.shuttle import Shuttle
from discreet.risk.release.groups import candidates, pairs
from discreet.risk.release.nature import Nature
from discreet.table.cells import Cells
from discreet.table.lattice import bits, closure
from discreet.table.levels import levels
from discreet.table.table import Table

Places = tuple[Ints, Ints, Ints, Ints]  # record and lane of the cell, of its group


@dataclass(eq=False)
class AttributeWatch:
    """The cells (g, c) that the true counts allow to be disclosed, found once."""

    outer = True

    table: Table
    share: float
    exclusion: bool
    order: int
    _places: Places | None = None
    _direct: dict[int, bool] = field(default_factory=dict)

    @cached_property
    def _nature(self) -> Nature:
        return Nature.of(self.table)

    def inside(self, margin: int) -> bool:
        """Does the margin by itself disclose something?"""
        if margin not in self._direct:
            variables = self.table.variables
            mask = margin & self.table.axes.identifying
            self._direct[margin] = any(
                len(self._candidates(tuple(bits(group)), place))
                for place in bits(margin)
                if variables[place].sensitive_codes
                for group in self._finest(mask & ~(1 << place))
            )
        return self._direct[margin]

    def _finest(self, mask: int) -> Iterable[int]:
        """If all of a group have a category, so have all of a part of it: unless by nature."""
        return closure([mask]) | {0} if self.table.impossible else (mask,)

    def across(self, shuttle: Shuttle, sets: Sequence[int]) -> bool:
        """Do the bounds disclose something of a group: lower(g, c) >= share upper(g)?"""
        record, lane, group_record, group_lane = self._found(shuttle)
        lower, upper = shuttle.data[record, 0, lane], shuttle.data[record, 1, lane]
        most = shuttle.data[group_record, 1, group_lane]
        hit = (lower >= self.share * most - 1e-9) & (most > 0)
        return bool((hit | (upper == 0)).any() if self.exclusion else hit.any())

    def unsure(self, sets: Sequence[int]) -> bool:
        """Has a margin a group by so many variables that it is not checked across margins, or a
        variable whose levels are not looked at?"""
        identifying = self.table.axes.identifying
        return any((s & identifying).bit_count() > self.order or s & self._merged for s in sets)

    @cached_property
    def _merged(self) -> int:
        """The variables that have levels."""
        return sum(1 << p for p, v in enumerate(self.table.variables) if any(levels(v)))

    def _candidates(self, group: Sequence[int], place: int) -> Cells:
        names, variable = [self.table.names[p] for p in group], self.table.variables[place]
        sizes, true = self.table.margin(names), self.table.margin([*names, variable.name])
        codes = variable.sensitive_codes
        return candidates(self._nature, true, sizes, codes, self.share, self.exclusion)

    def _found(self, shuttle: Shuttle) -> Places:
        """Where the cells of all groups lie, and the groups."""
        if self._places is None:
            none = np.zeros(0, np.int64)
            parts: list[Places] = [(none, none, none, none)]
            places = self.table.axes.place
            every = tuple(1 << place for place in places.values())
            for names, variable in pairs(self.table, every, self.order):
                if variable.size == 1:  # told by margins that have it, and by no others
                    continue
                cells = self._candidates([places[n] for n in names], places[variable.name])
                if len(cells):
                    own = shuttle.places(cells.names, cells.codes)
                    group = shuttle.places(cells.names[:-1], cells.codes[:, :-1])
                    parts.append((*own, *group))
            a, b, c, d = map(np.concatenate, zip(*parts, strict=True))
            self._places = a, b, c, d
        return self._places
