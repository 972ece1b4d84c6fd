"""The best set of cells within a limit: a knapsack, solved to a proof."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from discreet.arrays import Bools, Floats

MOST_STATES = 4_000_000  # looked at, in all
CLOSE = 1e-14


@dataclass(frozen=True, eq=False)
class Packed:
    """Which items are taken, what they gain, and a bound above every other choice.

    `proven` if no other choice gains more: the bound is the gain.
    """

    taken: Bools
    gain: float
    bound: float
    proven: bool


def knapsack(gain: Floats, weight: Floats, limit: float, *, most: int = MOST_STATES) -> Packed:
    """max gain x over x in {0, 1} with weight x <= limit; both are above 0.

    Dynamic programming over the pairs (weight, gain) that no other dominates, from the greedy
    choice outwards: items next to the one that breaks the limit are added or removed first
    (Pisinger 1997). A pair goes on only if the linear bound on what it can still become is above
    the best choice so far; when none does, that choice is proven. The number of pairs is limited.

    >>> found = knapsack(np.array([6.0, 5.0, 5.0]), np.array([3.1, 3.0, 3.0]), 6.0)
    >>> found.taken.tolist(), found.gain, found.proven
    ([False, True, True], 10.0, True)
    """
    order = np.argsort(-gain / weight, kind="stable")
    g, w = gain[order], weight[order]
    sums = np.cumsum(w)
    split = int(np.searchsorted(sums, limit, side="right"))
    taken = np.zeros(len(g), bool)
    taken[:split] = True
    filled = _filled(taken, w, limit)
    best = float(g[filled].sum())
    if split == len(g):
        return _packed(order, filled, gain, best, True)
    search = _Search(g, w, limit, split, best, most)
    bound = search.run()
    found = filled if search.at is None else search.choice(taken)
    return _packed(order, found, gain, max(bound, search.best), bound <= search.best)


def _packed(
    order: NDArray[np.int64], chosen: Bools, gain: Floats, bound: float, proven: bool
) -> Packed:
    taken = np.zeros(len(gain), bool)
    taken[order[chosen]] = True
    total = float(gain[taken].sum())
    return Packed(taken, total, total if proven else max(bound, total), proven)


def _filled(taken: Bools, weight: Floats, limit: float) -> Bools:
    """The greedy choice, and every later item that still fits."""
    found, used = taken.copy(), float(weight[taken].sum())
    for item in np.flatnonzero(~taken):
        if used + weight[item] <= limit:
            found[item] = True
            used += float(weight[item])
    return found


class _Search:
    """Pairs of weight and gain; each step keeps, for every pair, where it came from."""

    def __init__(
        self, gain: Floats, weight: Floats, limit: float, split: int, best: float, most: int
    ) -> None:
        self.gain, self.weight, self.limit, self.best, self.most = gain, weight, limit, best, most
        self.split, self.low, self.high = split, split - 1, split
        self.w = np.array([weight[:split].sum()])
        self.g = np.array([gain[:split].sum()])
        self.steps: list[tuple[int, NDArray[np.int64]]] = []
        self.at: tuple[int, int] | None = None

    def run(self) -> float:
        """A bound above what is left: at most the best if that is proven."""
        seen, add = 0, True
        while len(self.w) and (self.low >= 0 or self.high < len(self.gain)):
            if seen > self.most:
                return float(self._bounds().max())
            add = self.high < len(self.gain) and (add or self.low < 0)
            item = self.high if add else self.low
            self.high, self.low = self.high + add, self.low - (not add)
            self._step(item, 1.0 if add else -1.0)
            seen += len(self.w)
            add = not add
        return self.best

    def _step(self, item: int, sign: float) -> None:
        before = len(self.w)
        w = np.concatenate([self.w, self.w + sign * self.weight[item]])
        g = np.concatenate([self.g, self.g + sign * self.gain[item]])
        order = np.lexsort((-g, w))
        w, g = w[order], g[order]
        top = np.maximum.accumulate(g)
        alive = np.append(True, g[1:] > top[:-1])
        self.w, self.g, came = w[alive], g[alive], order[alive]
        inside = np.flatnonzero(self.w <= self.limit)
        if len(inside) and self.g[inside[-1]] > self.best * (1 + CLOSE):
            self.best, self.at = float(self.g[inside[-1]]), (len(self.steps), -1)
            found = int(inside[-1])
        else:
            found = -1
        keep = self._bounds() > self.best * (1 + CLOSE)
        if found >= 0:
            keep[found] = True
            self.at = (len(self.steps), int(keep[:found].sum()))
        self.w, self.g, came = self.w[keep], self.g[keep], came[keep]
        self.steps.append((item, np.where(came >= before, before - 1 - came, came)))

    def _bounds(self) -> Floats:
        """What each pair can still become, if parts of items could be added or removed."""
        fine = self.high < len(self.gain)
        up = self.gain[self.high] / self.weight[self.high] if fine else 0.0
        down = self.gain[self.low] / self.weight[self.low] if self.low >= 0 else np.inf
        room = self.limit - self.w
        with np.errstate(invalid="ignore"):
            return np.asarray(self.g + np.where(room >= 0, room * up, room * down))

    def choice(self, taken: Bools) -> Bools:
        """Back along the steps; a pair that changed an item is marked below 0."""
        found = taken.copy()
        assert self.at is not None
        step, pair = self.at
        for place in range(step, -1, -1):
            item, came = self.steps[place]
            mark = int(came[pair])
            if mark < 0:
                found[item] = not found[item]
            pair = mark if mark >= 0 else -1 - mark
        return found
