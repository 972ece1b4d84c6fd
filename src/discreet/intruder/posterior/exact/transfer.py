"""Sums over all solutions of a system, column by column, without listing them.

The solutions of the columns up to some point matter to the rest only through what they leave of
the rows that are not yet complete: a state. Forward, the weight of all ways to reach a state;
backward, of all ways to go on from it; together, the distribution of every column.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.effort import UNLIMITED, Clock
from discreet.intruder.tables.split import System

MOST_ENTRIES = 20_000_000
MOST_STARTS = 12
SUMMING = "summing over tables"


@dataclass(frozen=True, eq=False)
class Step:
    """One column: from which state, by which value, to which state; sorted by the latter.

    A value is what the column has above its least one.
    """

    column: int
    source: Ints
    value: Ints
    target: Ints
    states: int

    @property
    def starts(self) -> Ints:
        return np.searchsorted(self.target, np.arange(self.states))


@dataclass(frozen=True, eq=False)
class Transfer:
    """The steps through all columns of a system; the first and the last have a single state."""

    steps: tuple[Step, ...]
    clock: Clock = UNLIMITED

    @classmethod
    def of(
        cls, system: System, *, limit: int = MOST_ENTRIES, clock: Clock = UNLIMITED
    ) -> Transfer | None:
        """None if the states take more than `limit` numbers, or if no solution is left."""
        steps: list[Step] = []
        member = np.zeros((len(system.rows), len(system.sizes)), np.int64)
        for row, columns in enumerate(system.rows):
            member[row, columns] = 1
        order = _order(system, member)
        last = np.where(member[:, order], np.arange(len(order)), -1).max(1)
        floors, ceilings = _needs(system, order)
        sums, active = np.zeros((1, 0), np.int64), np.zeros(0, np.int64)
        for place, column in enumerate(order):
            rows = np.flatnonzero(member[:, column])
            new = np.setdiff1d(rows, active)
            active = np.append(active, new)
            sums = np.pad(sums, ((0, 0), (0, len(new))))
            here = np.flatnonzero(member[active, column])
            floor, ceiling = (ends[place][active[here]] for ends in (floors, ceilings))
            least = (floor - sums[:, here]).max(1, initial=int(system.low[column]))
            most = (ceiling - sums[:, here]).min(1, initial=int(system.high[column]))
            times = np.maximum(most - least + 1, 0)
            limit -= int(times.sum()) * (len(active) + 1)
            if limit < 0 or not times.any():
                return None
            clock.check(SUMMING)
            source = np.repeat(np.arange(len(sums)), times)
            value = np.arange(len(source)) - np.repeat(np.cumsum(times) - times - least, times)
            sums = sums[source]
            sums[:, here] += value[:, None]
            stays = last[active] > place
            sums, target = _distinct(sums[:, stays])
            active = active[stays]
            by = np.argsort(target, kind="stable")
            above = value[by] - system.low[column]
            steps.append(Step(int(column), source[by], above, target[by], len(sums)))
        return cls(_alive(steps), clock)

    def forward(self, logs: Sequence[Floats]) -> list[Floats]:
        """For each state the log weight of all ways to it; the last is that of everything."""
        reached = [np.zeros(1)]
        for step in self.steps:
            self.clock.check(SUMMING)
            terms = reached[-1][step.source] + logs[step.column][step.value]
            reached.append(_log_sums(terms, step.starts, step.target))
        return reached

    def count(self, ways: Sequence[Sequence[int]]) -> int:
        """How many tables; `ways` of each column, how many its values stand for, if not one."""
        reached = np.ones(1, object)
        for step in self.steps:
            self.clock.check(SUMMING)
            terms = reached[step.source]
            if len(ways[step.column]):
                terms = terms * np.array(ways[step.column], object)[step.value]
            reached = np.add.reduceat(terms, step.starts)
        return int(reached[0])

    def distributions(self, logs: Sequence[Floats]) -> tuple[float, list[Floats]]:
        """The log of the total weight, and the probabilities of each column's values."""
        reached = self.forward(logs)
        total = float(reached[-1][0])
        onward, found = np.zeros(1), [np.zeros(0)] * len(self.steps)
        if not np.isfinite(total):
            return total, found
        for step, before in zip(self.steps[::-1], reached[-2::-1], strict=True):
            self.clock.check(SUMMING)
            after = logs[step.column][step.value] + onward[step.target]
            with np.errstate(under="ignore"):
                chances = np.exp(before[step.source] + after - total)
            mass = np.bincount(step.value, chances, len(logs[step.column]))
            found[step.column] = mass / mass.sum()
            by = np.argsort(step.source, kind="stable")
            starts = np.searchsorted(step.source[by], np.arange(len(before)))
            onward = _log_sums(after[by], starts, step.source[by])
        return total, found


def _log_sums(terms: Floats, starts: Ints, group: Ints) -> Floats:
    """log of the sum of exp(terms) in each group."""
    top = np.maximum.reduceat(terms, starts)
    base = np.where(np.isfinite(top), top, 0.0)
    with np.errstate(divide="ignore", under="ignore"):
        return np.asarray(np.log(np.add.reduceat(np.exp(terms - base[group]), starts)) + base)


def _alive(steps: list[Step]) -> tuple[Step, ...]:
    """The steps without the states from which nothing goes on."""
    kept, states = [], np.ones(1, bool)
    sizes = [1, *(step.states for step in steps)]
    for step, size in zip(steps[::-1], sizes[-2::-1], strict=True):
        stays = states[step.target]
        number = np.cumsum(states) - 1
        source = step.source[stays]
        target = number[step.target[stays]]
        kept.append(Step(step.column, source, step.value[stays], target, int(states.sum())))
        states = np.zeros(size, bool)
        states[source] = True
    renumbered: list[Step] = []
    for step in kept[::-1]:
        _, source = np.unique(step.source, return_inverse=True)
        renumbered.append(Step(step.column, source, step.value, step.target, step.states))
    return tuple(renumbered)


def _distinct(sums: Ints) -> tuple[Ints, Ints]:
    """The distinct rows, and which of them each is."""
    spans = sums.max(0) - sums.min(0) + 1
    if np.log2(spans.astype(float)).sum() < 62:
        key = np.zeros(len(sums), np.int64)
        for column in np.flatnonzero(spans > 1):
            key = key * spans[column] + sums[:, column] - sums[:, column].min()
        _, first, place = np.unique(key, return_index=True, return_inverse=True)
        return sums[first], place
    found, place = np.unique(sums, axis=0, return_inverse=True)
    return found, place.reshape(-1)


def _needs(system: System, order: Ints) -> tuple[Ints, Ints]:
    """After each column, between which values the sum of each row so far must lie."""
    n, m = len(order), len(system.rows)
    low, high = np.zeros((2, n + 1, m), np.int64)
    rank = np.empty(n, np.int64)
    rank[order] = np.arange(n)
    for row, columns in enumerate(system.rows):
        low[rank[columns], row] = system.low[columns]
        high[rank[columns], row] = system.high[columns]
    left = [np.cumsum(x[::-1], 0)[::-1][1:] for x in (low, high)]
    return system.floors - left[1], system.ceilings - left[0]


def _order(system: System, member: Ints) -> Ints:
    """An order of columns that completes rows soon: the best of several greedy ones."""
    if not len(member):
        return np.arange(len(system.sizes))
    short = np.argsort(member.sum(1), kind="stable")
    starts = short[: max(1, min(MOST_STARTS, 1_000 // len(short)))]
    rows_of = [np.flatnonzero(column) for column in member.T]
    spans = (system.high - system.low).astype(np.float64)
    shared = (member * spans) @ member.T.astype(np.float64)
    tried = [_greedy(member, rows_of, spans, shared.copy(), int(start)) for start in starts]
    return min(tried, key=lambda found: found[0])[1]


def _greedy(
    member: Ints, rows_of: Sequence[Ints], spans: Floats, shared: Floats, start: int
) -> tuple[float, Ints]:
    """Row after row, always that which leaves the fewest states; and the most there are at once.

    `shared`: the spans of the columns that two rows have in common and that are left.
    """
    whole, seen = member @ spans, np.zeros(len(member))
    left = member.astype(bool)
    done: list[int] = []
    worst, row = 0.0, start
    while left.any():
        columns = np.flatnonzero(left[row])
        for column in columns[np.argsort(spans[columns], kind="stable")]:
            seen += member[:, column] * spans[column]
            worst = max(worst, float(_states(seen, whole)))
            shared[np.ix_(rows_of[column], rows_of[column])] -= spans[column]
        done += columns.tolist()
        left[:, columns] = False
        after = seen + shared
        row = int(np.argmin(np.where(left.any(1), _states(after, whole), np.inf)))
    rest = sorted(set(range(len(spans))) - set(done))
    return worst, np.array(done + rest, np.int64)


def _states(seen: Floats, whole: Floats) -> Floats:
    """The log of how many states the rows may have, of which so much has been seen."""
    return np.asarray(np.log1p(np.maximum(np.minimum(seen, whole - seen), 0)).sum(-1))
