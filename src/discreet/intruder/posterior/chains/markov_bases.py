"""Minimal Markov bases of small tables, by our own enumeration.

Moves of each degree are listed from single cells on. Tables with the same margins that share a
person hang together by moves of lower degree; the moves that the basis needs join the components
that are left (Takemura & Aoki 2004; Charalambous, Katsabekis & Thoma 2007). Those of 3 x 3 x 3
and 3 x 4 x 4 with all two-way margins have 81 and 4,068 moves (Aoki & Takemura 2003).
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from functools import lru_cache

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Ints
from discreet.effort import Effort
from discreet.errors import DataError

MOST_CELLS = 64
FIRST_ROOM = 1 << 12
MOST_STEPS = 1_000_000_000  # of the search for moves; a basis that is known takes fewer
JOIN_STEPS = 500_000  # that joining the tables of one sum takes, beside those for each table
# no-three-way interaction: the largest degree that the minimal basis needs
DEGREES: dict[tuple[int, ...], int] = {(2, 2, 2): 4, (3, 3, 3): 6, (3, 3, 4): 8, (3, 4, 4): 10}


def minimal_basis(
    shape: Iterable[int], margins: Iterable[Iterable[int]], degree: int, *, effort: float = 1.0
) -> Ints:
    """The moves of a minimal Markov basis up to `degree` people, one a row, up to sign.

    `margins` are tuples of axes. Up to the largest degree that is needed, this is the basis.
    Refused if it takes more than `effort` times the usual work.

    >>> minimal_basis((2, 3), [(0,), (1,)], 2)
    array([[ 1, -1,  0, -1,  1,  0],
           [ 1,  0, -1, -1,  0,  1],
           [ 0,  1, -1,  0, -1,  1]])
    """
    shape = tuple(shape)
    if np.prod(shape) > MOST_CELLS:
        raise DataError(
            f"a table of {np.prod(shape)} cells has too many moves to list; use moves='dynamic'."
        )
    most = Effort(effort).of(MOST_STEPS)
    return _minimal(shape, tuple(tuple(m) for m in margins), degree, most).copy()


@dataclass
class _Steps:
    """How much work is left of a search for moves."""

    left: int
    cells: int
    people: int = 0

    def take(self, steps: int) -> None:
        self.left -= steps
        if self.left < 0:
            raise DataError(
                f"a table of {self.cells} cells has too many moves of {self.people} people to "
                "list; ask for moves of fewer people, allow more effort, or take chains with "
                "moves='dynamic', which need no basis."
            )


@lru_cache(maxsize=8)
def _minimal(
    shape: tuple[int, ...], margins: tuple[tuple[int, ...], ...], degree: int, most: int
) -> Ints:
    lines, members = _lines(shape, margins)
    known, steps = np.zeros((0, len(lines)), np.int64), _Steps(most, len(lines))
    for steps.people in range(1, degree + 1):
        moves = _moves(lines, members, steps)
        steps.take(len(moves) * int(np.count_nonzero(known)))
        moves = moves[_needed(moves, known)]
        chosen = _joining(moves, lines, steps)
        known = np.concatenate([known, chosen])
    return known


def _lines(shape: tuple[int, ...], margins: tuple[tuple[int, ...], ...]) -> tuple[Ints, Ints]:
    """The sums of each cell, and the cells of each sum (the last one repeated to fill the row)."""
    codes = np.indices(shape).reshape(len(shape), -1)
    lines, start = [], 0
    for axes in margins:
        key = np.ravel_multi_index(tuple(codes[list(axes)]), [shape[a] for a in axes])
        lines.append(start + key)
        start += int(np.prod([shape[a] for a in axes]))
    found = np.stack(lines, axis=1).astype(np.int64)
    listed = [np.flatnonzero((found == row).any(1)) for row in range(start)]
    width = max(map(len, listed))
    if any(len(cells) < width for cells in listed):
        # a repeated cell is only tried twice
        listed = [np.append(cells, np.repeat(cells[-1], width - len(cells))) for cells in listed]
    return found, np.array(listed, np.int64)


def _moves(lines: Ints, members: Ints, steps: _Steps) -> Ints:
    """All primitive moves of so many people, and some others; the first entry is positive."""
    from discreet._kernels.graver import primitives

    found = [np.zeros((0, len(lines)), np.int8)]
    room = FIRST_ROOM
    for first in range(len(lines)):
        while True:
            listed = np.empty((room, len(lines)), np.int8)
            norm = 2 * steps.people
            number, took = primitives(lines, members, first, norm, listed, steps.left)
            steps.take(took)
            if number >= 0:
                break
            room *= 4
        found.append(np.unique(listed[:number], axis=0))
    return np.concatenate(found).astype(np.int64)


def _needed(moves: Ints, known: Ints) -> NDArray[np.bool_]:
    """Without those that a known move shortens at once."""
    from discreet._kernels.graver import shortened

    keep = np.ones(len(moves), bool)
    if len(known):
        row, cell = np.nonzero(known)
        starts = np.searchsorted(row, np.arange(len(known) + 1))
        shortened(moves, known[row, cell], starts, cell, keep)
    return keep


def _joining(moves: Ints, lines: Ints, steps: _Steps) -> Ints:
    """One move for each join of two components of tables with the same sums."""
    from scipy.sparse import coo_array
    from scipy.sparse.csgraph import connected_components

    chosen, done = [np.zeros((0, len(lines)), np.int64)], set[bytes]()
    for move in moves:
        sums = np.bincount(lines.ravel(), np.repeat(np.maximum(move, 0), lines.shape[1]))
        if sums.tobytes() in done:
            continue
        done.add(sums.tobytes())
        tables = fibre(lines, sums.astype(np.int64))
        steps.take(JOIN_STEPS + tables.size * len(tables))
        shared = coo_array((tables > 0).astype(np.int64) @ (tables.T > 0))
        number, label = connected_components(shared, directed=False)
        heads = tables[[int(np.argmax(label == part)) for part in range(number)]]
        joins = heads[1:] - heads[0]
        first = np.take_along_axis(joins, (joins != 0).argmax(1)[:, None], 1)
        chosen.append(joins * np.sign(first))
    return np.concatenate(chosen)


def fibre(lines: Ints, sums: Ints) -> Ints:
    """All tables with the given sums, one a row; for sums of a few people."""
    last = np.zeros(len(sums), np.int64)
    for k in range(lines.shape[1]):
        np.maximum.at(last, lines[:, k], np.arange(len(lines)))
    tables, left = np.zeros((1, len(lines)), np.int64), sums[None]
    for cell, row in enumerate(lines):
        most = left[:, row].min(1)
        closing = row[last[row] == cell]
        times = most + 1
        place = np.repeat(np.arange(len(tables)), times)
        value = np.arange(len(place)) - np.repeat(np.cumsum(times) - times, times)
        tables, left = tables[place], left[place]
        tables[:, cell] = value
        left[:, row] -= value[:, None]
        fits = (left[:, closing] == 0).all(1)
        tables, left = tables[fits], left[fits]
    return tables
