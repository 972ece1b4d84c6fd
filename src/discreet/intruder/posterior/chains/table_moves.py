"""How a chain goes from table to table: moves from the formula, circuits, and fills with bounds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Iterator, Sequence
from itertools import combinations, product
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Floats, Ints
from discreet.effort import UNLIMITED, Clock
from discreet.intruder.tables.net import PRIME, Search
from discreet.intruder.tables.proposal import BROAD, EVEN, _moments, _regressions
from discreet.intruder.tables.split import System
from discreet.intruder.witness.walk import unreleased
from discreet.release.release import Release
from discreet.table.keys import Codes, keys, lookup
from discreet.table.lattice import bits

if TYPE_CHECKING:
    from discreet._kernels.chains import Edges, Fills

MOST_MOVES = 20_000
MOST_ENTRIES = 1 << 25
MOST_GAINS = 1 << 22
MOST_COLUMNS = 400  # of a block whose circuits are looked for
LARGEST = 12  # coefficient of a circuit
WAYS = 24
FREEDOM = 6


def cubes(release: Release, system: System, rng: np.random.Generator) -> Ints:
    """Moves with signs by parity on the smallest sets that are not released, one a row.

    A released margin misses a variable of the set, and along that variable the signs cancel.
    """
    shape = release.axes.sizes
    room = min(MOST_MOVES, MOST_ENTRIES // len(system.sizes))
    found = [np.zeros((0, len(system.sizes)), np.int64)]
    sets = [s for s in unreleased(release.formula.sets, len(shape)) if s.bit_count() <= 10]
    for s in sets:
        for pairs in _pairs([shape[v] for v in bits(s)], 1 + room // len(sets), rng):
            found.append(_parity(system.codes, shape, list(bits(s)), pairs))
    moves = np.concatenate(found)
    if len(moves) > room:
        moves = moves[np.sort(rng.choice(len(moves), room, replace=False))]
    return kept(moves, system)


def _pairs(
    sizes: Sequence[int], room: int, rng: np.random.Generator
) -> Iterator[tuple[tuple[int, int], ...]]:
    """Two categories of each variable: all choices, or some if there are too many."""
    listed = [list(combinations(range(size), 2)) for size in sizes]
    if math.prod(map(len, listed)) <= room:
        yield from product(*listed)
        return
    for _ in range(room):
        yield tuple(two[int(rng.integers(len(two)))] for two in listed)


def _parity(
    codes: Codes, shape: tuple[int, ...], axes: list[int], pairs: tuple[tuple[int, int], ...]
) -> Ints:
    base = codes[(codes[:, axes] == [a for a, _ in pairs]).all(1)]
    places, signs = [], []
    for choice in product((0, 1), repeat=len(axes)):
        corner = base.copy()
        corner[:, axes] = [pair[c] for pair, c in zip(pairs, choice, strict=True)]
        places.append(lookup(codes, shape, corner))
        signs.append(1 - 2 * (sum(choice) % 2))
    place = np.stack(places, axis=1)
    place = place[(place >= 0).all(1)]
    moves = np.zeros((len(place), len(codes)), np.int64)
    np.put_along_axis(moves, place, np.array(signs), 1)
    return moves


def kept(moves: Ints, system: System) -> Ints:
    """The moves that keep every published sum."""
    matrix = system.matrix().astype(np.float32)
    fits: NDArray[np.bool_] = (moves.astype(np.float32) @ matrix.T == 0).all(1)
    return moves[fits]


class Kernel:
    """The moves that keep all sums, as a space of real vectors; some columns can be held."""

    def __init__(self, system: System, clock: Clock = UNLIMITED) -> None:
        from scipy.linalg import null_space

        self.system, self.clock = system, clock
        self.basis: Floats = null_space(system.matrix().astype(float), rcond=1e-10)

    @property
    def freedom(self) -> int:
        return int(self.basis.shape[1])

    def hold(self, order: Ints, freedom: int) -> Floats:
        """A basis of what is left when columns in `order` are held, `freedom` numbers or fewer."""
        self.clock.check("looking for moves")
        left = self.basis
        for column in order:
            if left.shape[1] <= freedom:
                break
            row = left[column]
            pivot = int(np.argmax(np.abs(row)))
            if abs(row[pivot]) > 1e-7:
                left = left - np.outer(left[:, pivot] / row[pivot], row)
                left = np.delete(left, pivot, 1)
                left /= np.maximum(np.abs(left).max(0), 1e-12)
        return left

    def circuits(self, count: int, rng: np.random.Generator) -> Ints:
        """Moves that are left when random columns are held, all but one degree of freedom."""
        n, found = len(self.system.sizes), [np.zeros((0, len(self.system.sizes)), np.int64)]
        for _ in range(count if self.freedom else 0):
            vector = self.hold(rng.permutation(n), 1)[:, 0]
            vector = vector / np.abs(vector[np.abs(vector) > 1e-7]).min()
            for times in range(1, 5):
                whole = np.rint(vector * times).astype(np.int64)
                if np.abs(whole - vector * times).max() < 1e-6 and np.abs(whole).max() <= LARGEST:
                    found.append(whole[None] * int(np.sign(whole[np.flatnonzero(whole)[0]])))
                    break
        return kept(np.unique(np.concatenate(found), axis=0), self.system)


def fills(system: System, sizes: Floats, kernel: Kernel | None, rng: np.random.Generator) -> Fills:
    """Ways to draw columns anew within bounds, the first of them all columns.

    `sizes` say how far the counts spread: the parameter of a negative binomial count.
    """
    from discreet._kernels.chains import Fills
    from discreet._kernels.tables import last_free

    search, n = Search.of(system), len(system.sizes)
    width = (search.high - search.low)[:n]
    orders, held = [search.order], [0]
    for open_ in _open_sets(system, kernel, rng) if kernel else ():
        holding = np.setdiff1d(np.arange(n), open_)
        orders.append(np.concatenate([holding, open_[np.argsort(width[open_], kind="stable")]]))
        held.append(len(holding))
    try:
        mean, spread = _moments(dataclasses.replace(system, sizes=tuple(sizes.tolist())))
        even = EVEN
    except np.linalg.LinAlgError:
        mean, spread, even = np.zeros(n), np.zeros((n, n)), 1.0
    found = [_regressions(spread[np.ix_(order, order)]) for order in orders]
    most = max(gains.shape[1] for gains, _ in found)
    gains = np.stack([np.pad(g, ((0, 0), (0, most - g.shape[1]))) for g, _ in found])
    matrix = system.matrix()
    return Fills(
        search.net, search.low, search.high, np.array(orders), np.array(held),
        np.array([int(last_free(matrix[:, order], PRIME)) for order in orders]),
        mean, gains, BROAD * np.array([v for _, v in found]), even,
    )  # fmt: skip


def _open_sets(system: System, kernel: Kernel, rng: np.random.Generator) -> list[Ints]:
    """Columns to draw anew: those of a random part of the table, down to few degrees of freedom."""
    n, found = len(system.sizes), dict[bytes, Ints]()
    room = MOST_GAINS // (n * max(1, kernel.freedom))
    if kernel.freedom < 3:
        return []
    for _ in range(min(WAYS, room)):
        inside = np.ones(n, bool)
        for axis in range(system.codes.shape[1]):
            values = np.unique(system.codes[:, axis])
            if len(values) > 1 and rng.random() < 0.5:
                size = int(rng.integers(1, len(values)))
                inside &= np.isin(system.codes[:, axis], rng.choice(values, size, replace=False))
        outside = rng.permutation(np.flatnonzero(~inside))
        order = np.concatenate([outside, rng.permutation(np.flatnonzero(inside))])
        freedom = int(rng.integers(2, min(FREEDOM, kernel.freedom - 1) + 1))
        left = kernel.hold(order, freedom)
        open_ = np.flatnonzero(np.abs(left).max(1, initial=0) > 1e-7)
        if left.shape[1] == freedom:
            found[open_.tobytes()] = open_
    return list(found.values())


def edges(release: Release, codes: Codes) -> Edges:
    """The primitive moves of a decomposable release (Dobra 2003): along each separator two cells
    with the same value of it exchange what is on one side; in a variable that no margin has,
    anybody can change.
    """
    from discreet._kernels.chains import Edges

    shape = release.axes.sizes
    steps = np.array([math.prod(shape[v + 1 :]) for v in range(len(shape))], np.int64)
    parts = codes.astype(np.int64) * steps
    index = release.axes.place
    covered = {name for table in release.tables for name in table.names}
    side, shared, shift = [], [], []
    tree = release.formula.junction_tree
    for number, (_, _, separator) in enumerate(tree.edges):
        here = _side(tree.edges, number, tree.nodes) - set(separator)
        side.append(parts[:, sorted(index[n] for n in here)].sum(1))
        shared.append(parts[:, sorted(index[n] for n in separator)].sum(1))
        shift.append(False)
    if len(covered) < len(index):
        side.append(np.zeros(len(codes), np.int64))
        shared.append(parts[:, sorted(index[n] for n in covered)].sum(1))
        shift.append(True)
    group = np.array([np.unique(key, return_inverse=True)[1].reshape(-1) for key in shared])
    bounds = np.zeros((len(group), int(group.max(initial=0)) + 2), np.int64)
    for e, row in enumerate(group):
        bounds[e, 1:] = np.cumsum(np.bincount(row, minlength=bounds.shape[1] - 1))
    place = np.full(math.prod(shape), -1, np.int32)
    place[keys(codes, shape)] = np.arange(len(codes))
    total = parts.sum(1)
    return Edges(
        np.array(side), total - np.array(side), group, bounds,
        np.argsort(group, axis=1, kind="stable"), np.array(shift), place,
    )  # fmt: skip


def _side(
    listed: Sequence[tuple[int, int, tuple[str, ...]]],
    without: int,
    nodes: Sequence[tuple[str, ...]],
) -> set[str]:
    """The variables on the far side of an edge of the tree."""
    reached, grown = {listed[without][1]}, True
    while grown:
        more = {
            b for n, (i, j, _) in enumerate(listed) if n != without
            for a, b in ((i, j), (j, i)) if a in reached
        } - reached  # fmt: skip
        reached, grown = reached | more, bool(more)
    return {name for node in reached for name in nodes[node]}
