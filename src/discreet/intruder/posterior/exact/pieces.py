"""How the sum of some cells of a block is distributed, where published sums tie them together."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.effort import Clock, Effort
from discreet.intruder.posterior.exact.listing import listed
from discreet.intruder.posterior.exact.transfer import MOST_ENTRIES, Transfer
from discreet.intruder.posterior.result import held
from discreet.intruder.tables.split import System
from discreet.table.keys import Codes

Params = NDArray[np.generic]
Weigh = Callable[[Params, int, int], Floats]


@dataclass(frozen=True, eq=False)
class Tied:
    """The cells of a block, and which of its columns each is part of.

    `weigh` gives the log weights of a column with some parameters for the counts between two.
    """

    block: System
    codes: Codes
    column: Ints
    params: Params
    weigh: Weigh

    def sums(
        self, groups: list[Ints], *, limit: int, effort: Effort, clock: Clock
    ) -> list[tuple[int, Floats]]:
        """The least value of each sum of cells, and the probabilities from it on.

        State by state for one sum after the other, or else by one list of all tables.
        """
        found = []
        for group in groups:
            pieces = self._cut([group])
            system, slack = _with_rest(pieces.system, pieces.columns(0))
            transfer = Transfer.of(system, limit=effort.of(MOST_ENTRIES), clock=clock)
            if transfer is None:
                return self._listed(groups, limit=limit, effort=effort, clock=clock)
            _, mass = transfer.distributions([*pieces.logs(self.weigh), np.zeros(slack + 1)])
            found.append((pieces.low(0), mass[-1][::-1]))
        return found

    def _listed(
        self, groups: list[Ints], *, limit: int, effort: Effort, clock: Clock
    ) -> list[tuple[int, Floats]]:
        pieces = self._cut(groups)
        columns = [pieces.columns(group) for group in range(len(groups))]
        _, _, mass = listed(
            pieces.system, pieces.logs(self.weigh), columns, limit=limit, effort=effort, clock=clock
        )
        sums = mass[len(pieces.params) :]
        return [(pieces.low(group), sums[group]) for group in range(len(groups))]

    def _cut(self, groups: list[Ints]) -> Pieces:
        """Columns cut so that each piece lies in one group or in none; groups share no cell."""
        group = np.full(len(self.column), -1)
        for number, members in enumerate(groups):
            group[members] = number
        pairs = np.stack([self.column, group], 1)
        _, first, place, sizes = np.unique(
            pairs, axis=0, return_index=True, return_inverse=True, return_counts=True
        )
        column = self.column[first]
        params = self.params[first]
        whole = np.bincount(column)[column] == 1
        if len(first) < len(self.column):  # cells that are one column have parameters that add up
            params = np.bincount(place.reshape(-1), self.params[:, 0].astype(float))[:, None]
        block = self.block
        rows = [np.flatnonzero(np.isin(column, row)) for row in block.rows]
        torn = np.unique(column[~whole])
        rows += [np.flatnonzero(column == c) for c in torn]
        system = System(
            self.codes[first], tuple(sizes.tolist()), np.where(whole, block.low[column], 0),
            block.high[column], block.held[column], tuple(rows),
            np.append(block.floors, block.low[torn]), np.append(block.ceilings, block.high[torn]),
        )  # fmt: skip
        held(len(groups), 2 * float((system.high - system.low + 1.0).sum()))
        return Pieces(system, params, group[first])


@dataclass(frozen=True, eq=False)
class Pieces:
    """A system of pieces of columns, and the group of each, -1 if in none."""

    system: System
    params: Params
    group: Ints

    def columns(self, group: int) -> Ints:
        return np.flatnonzero(self.group == group)

    def low(self, group: int) -> int:
        return int(self.system.low[self.columns(group)].sum())

    def logs(self, weigh: Weigh) -> list[Floats]:
        ends = zip(self.params, self.system.low, self.system.high, strict=True)
        return [weigh(row, int(low), int(high)) for row, low, high in ends]


def _with_rest(system: System, members: Ints) -> tuple[System, int]:
    """One column more: what the members together leave of the most that they can have."""
    most = int(system.high[members].sum())
    slack = most - int(system.low[members].sum())
    n, width = system.codes.shape
    codes = np.zeros((n + 1, width + 1), system.codes.dtype)
    codes[:n, :width], codes[n, width] = system.codes, 1  # apart from every cell
    return dataclasses.replace(
        system,
        codes=codes,
        sizes=(*system.sizes, 1),
        low=np.append(system.low, 0),
        high=np.append(system.high, slack),
        held=np.append(system.held, False),
        rows=(*system.rows, np.append(members, n)),
        floors=np.append(system.floors, most),
        ceilings=np.append(system.ceilings, most),
    ), slack
