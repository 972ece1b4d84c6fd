"""Attribute disclosure while a release grows: the groups that could be disclosed, on a shuttle."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from discreet.intruder.bounds.shuttle import Shuttle
from discreet.risk.attribute import candidates
from discreet.table.lattice import bits
from discreet.table.table import Table

Ints = NDArray[np.int64]


@dataclass(eq=False)
class AttributeWatch:
    """The cells (g, c) that the true counts allow to be disclosed, found once for each group."""

    table: Table
    share: float
    exclusion: bool
    order: int
    identifying: int
    sensitive: dict[int, tuple[int, ...]]
    _cells: dict[int, tuple[Any, Any, Ints]] = field(default_factory=dict)
    _direct: dict[int, bool] = field(default_factory=dict)

    @classmethod
    def of(
        cls, table: Table, *, check: bool, share: float, exclusion: bool, order: int
    ) -> AttributeWatch:
        identifying = sum(1 << p for p, v in enumerate(table.variables) if v.role.identifies)
        sensitive = {p: v.sensitive_codes for p, v in enumerate(table.variables)}
        kept = {p: codes for p, codes in sensitive.items() if codes and check}
        return cls(table, share, exclusion, order, identifying, kept)

    def __bool__(self) -> bool:
        return bool(self.sensitive)

    def inside(self, margin: int) -> bool:
        """Does the margin by itself disclose something?

        Its finest groups say it: if all of a group have a category, so have all of a part of it.
        """
        if margin not in self._direct:
            self._direct[margin] = any(
                len(self._candidates(group, place))
                for place in bits(margin)
                if place in self.sensitive and (group := margin & ~(1 << place) & self.identifying)
            )
        return self._direct[margin]

    def across(self, shuttle: Shuttle, released: Iterable[int]) -> bool:
        """Do the bounds of a closed set of margins disclose something of a group in it?"""
        if not self:
            return False
        groups = {s & self.identifying for s in released} - {0}
        found = [self._places(shuttle, g) for g in groups if g.bit_count() <= self.order]
        if not found:
            return False
        record, lane, least = map(np.concatenate, zip(*found, strict=True))
        lower, upper = shuttle.data[record, 0, lane], shuttle.data[record, 1, lane]
        hit = lower >= least
        return bool((hit | (upper == 0)).any() if self.exclusion else hit.any())

    def _candidates(self, group: int, place: int) -> Any:
        names = [self.table.names[p] for p in bits(group)]
        true = self.table.margin([*names, self.table.names[place]])
        sizes = self.table.margin(names)
        return candidates(true, sizes, self.sensitive[place], self.share, self.exclusion)

    def _places(self, shuttle: Shuttle, group: int) -> tuple[Any, Any, Ints]:
        """Where the cells of a group lie, and the lower bound that discloses each."""
        if group not in self._cells:
            parts = [(np.zeros(0, np.int64),) * 3]
            sizes = self.table.margin([self.table.names[p] for p in bits(group)])
            for place in self.sensitive:
                if not group >> place & 1 and len(cells := self._candidates(group, place)):
                    size = sizes.lookup(cells.codes[:, :-1])
                    least = np.ceil(self.share * size - 1e-9).astype(np.int64)
                    parts.append((*shuttle.places(cells.names, cells.codes), least))
            record, lane, least = map(np.concatenate, zip(*parts, strict=True))
            self._cells[group] = record, lane, least
        return self._cells[group]
