"""Tables with given row and column sums, counted in whole numbers.

Counts are taken modulo primes below 2^31 and put together by the Chinese remainder theorem.
"""

from __future__ import annotations

import math
from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Ints
from discreet.effort import UNLIMITED, Clock
from discreet.intruder.tables.split import System

MOST_ENTRIES = 1 << 24
MOST_SIDE = 12
COUNTING = "counting tables"
AT_ONCE = 20_000_000  # steps between two looks at the clock


@dataclass(frozen=True, eq=False)
class TwoWay:
    """Row sums, column sums, and for each entry how many cells it is (0 to forbid) and its cap."""

    rows: Ints
    columns: Ints
    sizes: Ints
    caps: Ints

    @classmethod
    def of(cls, system: System) -> TwoWay | None:
        """The system as a two-way table, if every entry is in one row and in one column."""
        ends = _two_rows(system)
        side = None if ends is None else _sides(ends, len(system.rows))
        if ends is None or side is None or max(system.sizes) >= 1 << 40:
            return None
        sizes = np.array(system.sizes, np.int64)
        if (system.held & (sizes > 1)).any():
            return None
        low = np.where(sizes == 1, system.low, 0)
        sums = system.floors - np.array([low[row].sum() for row in system.rows])
        place = np.where(side, np.cumsum(side), np.cumsum(~side)) - 1
        turned = side[ends[:, 0]]
        i = place[np.where(turned, ends[:, 1], ends[:, 0])]
        j = place[np.where(turned, ends[:, 0], ends[:, 1])]
        rows, columns = sums[~side], sums[side]
        if len(np.unique(i * len(columns) + j)) < len(i):
            return None
        most = np.minimum(rows[i], columns[j])
        table = np.zeros((2, len(rows), len(columns)), np.int64)
        table[0, i, j] = sizes
        table[1, i, j] = np.where(sizes == 1, np.minimum(most, system.high - low), most)
        return cls(rows, columns, *table)

    @property
    def turned(self) -> TwoWay:
        return TwoWay(self.columns, self.rows, self.sizes.T, self.caps.T)

    def count(self, most: float = math.inf, clock: Clock = UNLIMITED) -> int | None:
        """How many tables have these sums; None if that takes more than `most` steps."""
        ways = [(_layers_cost, _layers), (_halves_cost, _halves)]
        plans = [
            (cost(table), place, table, method)
            for place, (cost, method) in enumerate(ways)
            for table in (self, self.turned)
        ]
        cost, _, table, method = min(plans, key=lambda plan: plan[:2])
        primes = list(_primes(self._bits()))
        if cost * len(primes) >= most:
            return None
        return _chinese([(method(table, prime, clock), prime) for prime in primes])

    def _bits(self) -> float:
        """The binary logarithm of a number that the count cannot exceed."""
        determined = np.zeros(self.sizes.shape, bool)
        determined[np.argmax(self.rows)] = determined[:, np.argmax(self.columns)] = True
        entries = zip(self.sizes.ravel(), self.caps.ravel(), determined.ravel(), strict=True)
        return sum(
            math.log2(math.comb(int(cap) + int(size) - int(fixed), int(cap)))
            for size, cap, fixed in entries
            if size
        )


def _two_rows(system: System) -> Ints | None:
    """The two rows that each column is in."""
    counts = np.bincount(np.concatenate(system.rows), minlength=len(system.sizes))
    if not system.exact_rows.all() or (counts != 2).any():
        return None
    row = np.repeat(np.arange(len(system.rows)), [len(member) for member in system.rows])
    order = np.argsort(np.concatenate(system.rows), kind="stable")
    return row[order].reshape(-1, 2)


def _sides(ends: Ints, rows: int) -> np.ndarray[tuple[int], np.dtype[np.bool_]] | None:
    """The rows parted into two sides such that every column is in one of each."""
    side = np.full(rows, -1)
    side[ends[0, 0]] = 0
    while (side < 0).any():
        for a, b in (ends.T, ends.T[::-1]):
            reached = (side[a] >= 0) & (side[b] < 0)
            side[b[reached]] = 1 - side[a[reached]]
    return None if (side[ends[:, 0]] == side[ends[:, 1]]).any() else side == 1


def _layers_cost(table: TwoWay) -> float:
    states = float(np.prod(np.sort(table.columns)[:-1] + 1.0))
    if states * (float(table.rows.max()) + 1) > MOST_ENTRIES:
        return math.inf
    passes = np.minimum(table.sizes, table.caps + 1).sum(1) + 1
    return float((states * (table.rows + 1.0) * passes).sum())


def _layers(table: TwoWay, prime: int, clock: Clock) -> int:
    """Row by row: in how many ways each vector of column sums is reached.

    The largest column is left out, since the total determines it.
    """
    from discreet._kernels.twoway import close, spread, spread_by

    order = np.argsort(table.columns, kind="stable")
    kept, rest = order[:-1], order[-1]
    shape = (table.columns[kept] + 1).tolist()
    ways = np.zeros(math.prod(shape), np.int64)
    ways[0] = 1
    for i, total in enumerate(table.rows.tolist()):
        layers = np.zeros((len(ways), total + 1), np.int64)
        layers[:, 0] = ways
        for place, j in enumerate(kept):
            clock.check(COUNTING)
            size, cap = int(table.sizes[i, j]), int(table.caps[i, j])
            axes = (math.prod(shape[:place]), shape[place], math.prod(shape[place + 1 :]))
            view = layers.reshape(*axes, total + 1)
            if size > cap + 1:
                spread_by(view, _weights(size, cap, prime), prime)
            else:
                for _ in range(size):
                    spread(view, cap, prime)
        left = _weights(int(table.sizes[i, rest]), int(table.caps[i, rest]), prime)
        weights = np.zeros(total + 1, np.int64)
        weights[: len(left)] = left[: total + 1]
        ways = close(layers, weights[::-1].copy(), prime)
    return int(ways[-1])


def _weights(size: int, cap: int, prime: int) -> Ints:
    """In how many ways `size` cells sum to 0..cap."""
    return np.array([math.comb(x + size - 1, x) % prime if size else 1 for x in range(cap + 1)])


def _halves_cost(table: TwoWay) -> float:
    if len(table.columns) > 4 or len(table.rows) > MOST_SIDE or table.sizes.max() > 1:
        return math.inf
    states = float(np.prod(np.sort(table.rows)[:-1] + 1.0))
    return 2.0 * states * (1 << len(table.rows))


def _halves(table: TwoWay, prime: int, clock: Clock) -> int:
    """Four columns as two pairs: over the row sums of a pair, the product of what both can be."""
    from discreet._kernels.twoway import halves

    order = np.argsort(-table.rows, kind="stable")
    n, short = len(order), 4 - len(table.columns)
    caps = np.pad(table.caps[order], ((0, 0), (0, short)))
    columns = np.pad(table.columns, (0, short))
    simplex = [math.comb(x + n - 1, n - 1) % prime for x in range(int(table.rows.sum()) + 1)]
    rows = np.ascontiguousarray(table.rows[order])
    sums, steps = np.zeros(n, np.int64), max(1, AT_ONCE >> n)
    total, done = 0, False
    while not done:
        clock.check(COUNTING)
        more, done = halves(rows, caps, columns, np.array(simplex), prime, sums, steps)
        total += more
    return total % prime


def _primes(bits: float) -> Iterator[int]:
    """The largest primes below 2^31, until their product has more than `bits` bits."""
    candidate = 1 << 31
    while bits >= 0:
        candidate -= 1
        if candidate % 2 and all(candidate % d for d in range(3, math.isqrt(candidate) + 1, 2)):
            bits -= math.log2(candidate)
            yield candidate


def _chinese(residues: list[tuple[int, int]]) -> int:
    """The smallest number with these residues."""
    number, modulus = 0, 1
    for residue, prime in residues:
        number += modulus * ((residue - number) * pow(modulus, -1, prime) % prime)
        modulus *= prime
    return number
