"""What nobody can have, by what is stated and by what follows from it: to say it is no news.

If all towns of a county have no harbour, by what is stated of each, the county has none.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools
from discreet.data.codebook import Variable
from discreet.intruder.bounds.unspoken import tied_by_zeros, without_unspoken
from discreet.release.release import STRUCTURAL, Known, Release
from discreet.table.cells import Cells
from discreet.table.impossible import Combination
from discreet.table.keys import keys
from discreet.table.table import Table


@dataclass(frozen=True, eq=False)
class Nature:
    """What is impossible among some variables, as a release of nothing else."""

    release: Release
    _over: dict[frozenset[str], Release] = field(default_factory=dict, repr=False)

    @classmethod
    def of(cls, table: Table, release: Release | None = None) -> Nature:
        """Of a table, and what a release says to be impossible beside it."""
        cells = dict.fromkeys(table.impossible)
        stated = release.known if release else ()
        cells |= dict.fromkeys(known.cell for known in stated if known.why == STRUCTURAL)
        return cls(Release(table.variables, (), tuple(Known(c, 0, 0, STRUCTURAL) for c in cells)))

    @property
    def impossible(self) -> tuple[Combination, ...]:
        return tuple(sorted(known.cell for known in self.release.known))

    def without(self, name: str) -> Nature | None:
        """What follows for the other variables; None if there is too much to look at."""
        fewer = without_unspoken(self.release, {*self.release.names} - {name})
        return None if fewer is None else Nature(fewer)

    def closed(self, variables: Sequence[Variable], codes: NDArray[np.unsignedinteger]) -> Bools:
        """Which cells, over some of the variables, nobody can be in."""
        names = [variable.name for variable in variables]
        tied = frozenset(names) & tied_by_zeros(self.release)
        if tied not in self._over:
            # where there is too much to look at, only what is stated of these
            self._over[tied] = without_unspoken(self.release, tied) or self.release
        return self._over[tied].closed(codes, names)

    def no_news(self, cells: Cells) -> Bools:
        """Of cells (g, c): the category is impossible in the group, or all others are."""
        if not self.release.known:
            return np.zeros(len(cells), bool)
        size = cells.variables[-1].size
        shape = [variable.size for variable in cells.variables[:-1]]
        # each group is looked at once: by large variables it has many cells
        _, first, group = np.unique(
            keys(cells.codes[:, :-1], shape), return_index=True, return_inverse=True
        )
        every = np.repeat(cells.codes[first], size, axis=0)
        every[:, -1] = np.tile(np.arange(size), len(first))
        grid = self.closed(cells.variables, every).reshape(len(first), size)
        own = grid[group, cells.codes[:, -1]]
        return np.asarray(own | (grid.sum(1) == size - 1)[group] & (size > 1))
