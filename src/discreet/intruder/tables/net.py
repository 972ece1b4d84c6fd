"""Sums of cells that are tied to each other, so that narrowing one narrows the others."""

from __future__ import annotations

import math
from collections.abc import Iterable
from dataclasses import dataclass
from itertools import combinations, pairwise
from typing import TYPE_CHECKING

import numpy as np

from discreet.arrays import Ints
from discreet.errors import InconsistentRelease
from discreet.intruder.tables.split import NOTHING_FITS, System

if TYPE_CHECKING:
    from discreet._kernels.tables import Net

MOST_NODES = 8_000
PRIME = 2_147_483_647


def row_net(system: System) -> tuple[Net, Ints, Ints]:
    """The columns and the rows."""
    n = len(system.sizes)
    relations = [(n + place, row) for place, row in enumerate(system.rows)]
    low, high = np.append(system.low, system.floors), np.append(system.high, system.ceilings)
    return _net(relations, len(low), n), low, high


def partial_net(system: System) -> tuple[Net, Ints, Ints]:
    """The columns, the rows and every partial sum over variables, released or not.

    The sum of cells over some variables is the sum of the sums over one variable fewer; bounds
    pass up and down between them (the shuttle; Buzzigoli & Giusti 1999).
    """
    n, width = len(system.sizes), system.codes.shape[1]
    inverses = [np.unique(system.codes[:, v], return_inverse=True)[1] for v in range(width)]
    shape = [int(inverse.max(initial=0)) + 1 for inverse in inverses]
    varying = [v for v in range(width) if shape[v] > 1]
    if math.prod(shape[v] + 1 for v in varying) > MOST_NODES or not varying:
        return row_net(system)
    nodes = {np.array([c]).tobytes(): c for c in range(n)}
    at = {}
    for kept in (s for r in range(len(varying) + 1) for s in combinations(varying, r)):
        key = np.zeros(n, np.int64)
        for v in kept:
            key = key * shape[v] + inverses[v]
        at[kept] = _groups(key, nodes)
    relations: set[tuple[int, tuple[int, ...]]] = set()
    for kept, parent in at.items():
        for v in set(varying) - set(kept):
            child = at[tuple(sorted((*kept, v)))]
            relations |= _children(parent, child)
    listed = [(top, np.array(below)) for top, below in sorted(relations)]
    for row in system.rows:
        if row.tobytes() not in nodes:
            nodes[row.tobytes()] = len(nodes)
            listed.append((nodes[row.tobytes()], row))
    low, high = np.zeros(len(nodes), np.int64), np.full(len(nodes), system.high.sum())
    low[:n], high[:n] = system.low, system.high
    for row, floor, ceiling in zip(system.rows, system.floors, system.ceilings, strict=True):
        node = nodes[row.tobytes()]
        low[node], high[node] = max(low[node], floor), min(high[node], ceiling)
    return _net(listed, len(nodes), n), low, high


def _groups(key: Ints, nodes: dict[bytes, int]) -> Ints:
    """For each column the node of all columns with its key; new nodes are added."""
    order = np.argsort(key, kind="stable")
    cuts = np.flatnonzero(np.diff(key[order])) + 1
    place = np.empty(len(key), np.int64)
    for group in np.split(order, cuts):
        place[group] = nodes.setdefault(group.tobytes(), len(nodes))
    return place


def _children(parent: Ints, child: Ints) -> set[tuple[int, tuple[int, ...]]]:
    pairs = np.unique(np.stack([parent, child], axis=1), axis=0)
    tops, starts = np.unique(pairs[:, 0], return_index=True)
    parts = np.split(pairs[:, 1], starts[1:])
    return {
        (int(top), tuple(part.tolist()))
        for top, part in zip(tops, parts, strict=True)
        if len(part) > 1
    }


def _net(relations: Iterable[tuple[int, Ints]], nodes: int, columns: int) -> Net:
    from discreet._kernels.tables import Net

    listed = [np.append(top, below) for top, below in relations]
    starts = np.cumsum([0, *(len(relation) for relation in listed)])
    members = np.concatenate([*listed, np.zeros(0, np.int64)]).astype(np.int64)
    relation = np.repeat(np.arange(len(listed)), np.diff(starts))
    order = np.argsort(members, kind="stable")
    places = np.searchsorted(members[order], np.arange(nodes + 1))
    return Net(starts, members, places, relation[order], columns)


@dataclass(frozen=True, eq=False)
class Search:
    """A net with its bounds settled, and the order to fix its columns in.

    Narrow columns first: fewer values to try, and hardly any dead ends. Place `last` of the order
    is the last column that those before it do not determine.
    """

    net: Net
    low: Ints
    high: Ints
    order: Ints
    last: int

    @classmethod
    def of(cls, system: System, *, partial: bool = True) -> Search:
        """With every partial sum, or quicker and looser with the published ones only."""
        from discreet._kernels.tables import last_free, settle

        net, low, high = partial_net(system) if partial else row_net(system)
        if not settle(net, low, high):
            raise InconsistentRelease(NOTHING_FITS)
        width = (high - low)[: net.columns]
        order = np.argsort(width, kind="stable")
        last = int(last_free(system.matrix()[:, order], PRIME))
        return cls(_open_part(net, low, high), low, high, order, last)


def _open_part(net: Net, low: Ints, high: Ints) -> Net:
    """The relations that still say something."""
    cut = [net.members[a:b] for a, b in pairwise(net.starts)]
    alive = [(int(part[0]), part[1:]) for part in cut if (low[part] < high[part]).any()]
    return _net(alive, len(low), net.columns)
