"""The counts that are asked about, given cell probabilities: exact, block by block."""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise
from typing import Any

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.intruder.posterior.below import Below
from discreet.intruder.posterior.exact.blocks import Blocks
from discreet.intruder.posterior.result import held
from discreet.table.cells import Cells


@dataclass(frozen=True, eq=False)
class Share:
    """What a block adds to some asked cells: the values of cell j, less its lowest, are counted
    from `starts[j]` on by `tables`, values x tables with a one where a table has the value."""

    asked: Ints
    starts: Ints
    tables: Any

    def spread(self, chances: Floats) -> Floats:
        """From rows x tables to rows x values, cell after cell."""
        return np.asarray((self.tables @ chances.T).T)


@dataclass(frozen=True, eq=False)
class Watch:
    """Asked cells, of the table or a margin: `low` is their least count, and the probabilities of
    cell i from it on stand from `starts[i]` on."""

    low: Ints
    starts: Ints
    shares: tuple[Share, ...]
    times: Ints  # how many blocks each cell has a part in

    @classmethod
    def of(cls, blocks: Blocks, cells: Cells) -> Watch:
        below = Below.of(blocks.release.names, blocks.codes, cells)
        settled = np.zeros(len(blocks.codes), np.int64)
        settled[blocks.fixed] = blocks.low[blocks.fixed]
        low = below.sums(settled[None])[0]
        width, times = np.zeros((2, len(cells)), np.int64)
        shares = []
        for block in blocks.blocks:
            place = np.full(len(blocks.codes), -1)
            place[block.cells] = np.arange(len(block.cells))
            inside = below.take(place >= 0, place)
            asked = np.unique(inside.asked)
            if not len(asked):
                shares.append(_share(asked, np.zeros((len(block.tables), 0), np.int64)))
                continue
            values = inside.sums(block.tables)[:, asked]
            low[asked] += values.min(0)
            width[asked] += np.ptp(values, axis=0)
            times[asked] += 1
            held(len(asked), float(np.ptp(values, axis=0).sum()))
            shares.append(_share(asked, values - values.min(0)))
        held(len(cells), float(width.sum()) + len(cells))
        return cls(low, np.append(0, np.cumsum(width + 1)), tuple(shares), times)

    @property
    def width(self) -> int:
        """Numbers that a row takes."""
        return int(self.starts[-1])

    @property
    def joint(self) -> bool:
        """Is a cell a sum over blocks, so that its distribution is no mean of theirs?"""
        return bool((self.times > 1).any())

    def spread(self, chances: list[Floats]) -> Floats:
        """From the probabilities of each block's tables, rows x tables, to rows x values.

        Given the cell probabilities blocks are independent, and a sum over them is a convolution.
        """
        rows = len(chances[0]) if chances else 1
        found = np.zeros((rows, self.width))
        found[:, self.starts[:-1]] = 1.0
        done = np.ones(len(self.low), np.int64)
        for share, each in zip(self.shares, chances, strict=True):
            values = share.spread(each)
            alone = np.repeat(self.times[share.asked] == 1, np.diff(share.starts))
            first = self.starts[share.asked] - share.starts[:-1]
            place = np.arange(values.shape[1]) + np.repeat(first, np.diff(share.starts))
            found[:, place[alone]] = values[:, alone]
            for asked, (a, b) in zip(share.asked, pairwise(share.starts), strict=True):
                if self.times[asked] == 1:
                    continue
                part = found[:, self.starts[asked] : self.starts[asked + 1]]
                part[:, : done[asked] + b - a - 1] = _convolved(
                    part[:, : done[asked]], values[:, a:b]
                )
                done[asked] += b - a - 1
        return found

    def cells(self, values: Floats) -> list[Floats]:
        """The numbers of each asked cell."""
        return [values[a:b] for a, b in pairwise(self.starts)]


def _share(asked: Ints, values: Ints) -> Share:
    from scipy.sparse import csr_array

    n, m = values.shape
    starts = np.append(0, np.cumsum(values.max(0) + 1))
    spots = (values + starts[:-1]).ravel()
    ones = (np.ones(n * m), (spots, np.repeat(np.arange(n), m)))
    return Share(asked, starts, csr_array(ones, shape=(int(starts[-1]), n)))


def _convolved(one: Floats, other: Floats) -> Floats:
    """Row by row."""
    if one.shape[1] > other.shape[1]:
        one, other = other, one
    n = other.shape[1]
    found = np.zeros((len(one), one.shape[1] + n - 1))
    for place in range(one.shape[1]):
        found[:, place : place + n] += one[:, place, None] * other
    return found
