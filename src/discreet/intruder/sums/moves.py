"""Tables near a first one: how far a target goes, with as few other cells moved as can be."""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from functools import cached_property
from typing import NamedTuple

import numpy as np

from discreet.arrays import Floats, Ints
from discreet.intruder.sums.ends import Ends
from discreet.solver import Ended, Limit, Program, Sums

NEAR = 1e-6
NEARBY = ((1,), (1, 2))  # rows that a column shares with those before, step by step
COMBINED = 12  # moves of one target, one after the other
ENDLESS = 1e6  # times a move is made that has no end
OUTSIDER = -1


class Reached(NamedTuple):
    """A target's ends along one move, and who would notice it."""

    low: float
    high: float
    whole: bool
    noticed: frozenset[int]


class Step(NamedTuple):
    """A move of whole numbers: what it adds to columns, rows and targets."""

    columns: Ints
    change: Floats
    rows: Ints
    sums: Floats
    targets: dict[int, float]
    noticed: frozenset[int]


class Moves:
    """Moves z = p - n of one component: first + z is a table, and |z| is small.

        min cost (p + n),  p, n >= 0,  first + p - n in the component,  target >= level

    Each program begins at z = 0, which is best but for the target, so it takes few steps; and as
    few cells move, the solution is mostly one of whole numbers and touches few other secrets.
    `known[i]` are the targets that intruder i knows: he notices a move that changes one.
    """

    def __init__(
        self, ends: Ends, known: Mapping[int, Sequence[int]], limit: Callable[[], Limit]
    ) -> None:
        self.ends, self.known, self._limit = ends, known, limit
        first = ends.whole_base if ends.whole else ends.base
        assert first is not None
        self.first, shares = first, ends.component.shares
        self.at: Floats = shares @ first
        self.reached: list[list[Reached]] = [[] for _ in ends.component.targets]
        self.outer: dict[tuple[int, int, bool], float] = {}
        self._steps: list[list[Step]] = [[] for _ in ends.component.targets]
        self._last: dict[tuple[int, int, bool], Floats] = {}
        self._sums = ends.component.matrix @ first
        one = (np.diff(shares.indptr) == 1) & (shares.data[shares.indptr[:-1]] == 1.0)
        self._column = np.where(one, shares.indices[shares.indptr[:-1]], -1)
        self._row = ends.component.matrix.shape[0] + np.cumsum(~one) - 1
        self._noticing: dict[int, list[int]] = {}
        for intruder, targets in known.items():
            for target in targets:
                self._noticing.setdefault(target, []).append(intruder)

    def reach(self, target: int, intruder: int, whole: bool) -> tuple[float, float]:
        """The ends in tables that the intruder cannot tell from the first."""
        low = high = float(self.at[target])
        for one in self.reached[target]:
            if intruder not in one.noticed and (one.whole or not whole):
                low, high = min(low, one.low), max(high, one.high)
        return low, high

    def noticing(self, target: int) -> set[int]:
        """Intruders who would notice some move of a target."""
        return {who for one in self.reached[target] for who in one.noticed}

    def stretch(self, target: int, intruder: int, up: bool, far: float) -> None:
        """Finds tables so far from the first, or as far as they go, which `outer` then knows."""
        if (target, intruder, up) in self.outer or self._try(target, intruder, up, far):
            return
        if not self.ends.whole:
            self._furthest(target, intruder, up)
            return
        low, high = self.reach(target, intruder, whole=False)
        near = math.floor(abs((high if up else low) - self.at[target]) + NEAR)
        past = math.ceil(far - NEAR)
        while past - near > 1:  # near is possible, past is not
            middle = (near + past) // 2
            possible = self._try(target, intruder, up, middle)
            near, past = (middle, past) if possible else (near, middle)
        self._bound(target, intruder, up, near)

    def stretch_near(self, target: int, intruder: int, up: bool, far: float) -> None:
        """The same in whole numbers, among cells around the last table of fractions."""
        move = self._last.get((target, intruder, up))
        if move is not None:
            for shared in NEARBY:
                if self._round(move, target, intruder, up, far, shared):
                    break

    def stretch_whole(self, target: int, intruder: int, up: bool, far: float) -> None:
        """The same by an integer program, within its limit."""
        if not self._set(self._integer, target, intruder, up, far):
            return
        found = self._integer.solve(self._limit())
        self._unset(self._integer, target, intruder)
        if found.values is not None:
            self._note(self._difference(found.values))
        elif found.ended is Ended.IMPOSSIBLE:
            self._bound(target, intruder, up, math.ceil(far - NEAR) - 1)

    def combine(self, target: int, intruder: int, up: bool, far: float) -> None:
        """Moves that were found before, one after the other, each as often as it can be made."""
        component, steps = self.ends.component, self._steps[target]
        x, sums, gone = self.first.copy(), self._sums.copy(), 0.0
        for step in steps[-COMBINED:][::-1]:
            if intruder in step.noticed:
                continue
            by = step.targets[target]
            sign = 1.0 if (by > 0) == up else -1.0
            parts = (
                (
                    sign * step.change,
                    x[step.columns],
                    step.columns,
                    component.lower,
                    component.upper,
                ),
                (sign * step.sums, sums[step.rows], step.rows, component.floor, component.ceiling),
            )
            times = math.ceil((far - gone) / abs(by) - NEAR)
            for change, at, where, low, high in parts:
                room = np.where(change > 0, high[where] - at, at - low[where])
                times = min(times, int(np.floor(room / np.abs(change)).min(initial=times)))
            if times > 0:
                x[step.columns] += times * sign * step.change
                sums[step.rows] += times * sign * step.sums
                gone += times * abs(by)
                if gone >= far:
                    break
        if gone:
            self._show(x)

    def _show(self, table: Floats) -> None:
        """Notes what one table of whole numbers shows."""
        if not self.ends.check(table, 0.0):
            return
        change = self.ends.component.shares @ (table - self.first)
        touched = np.flatnonzero(change).tolist()
        noticed = self._noticed(touched)
        for target in touched:
            low, high = sorted((0.0, float(change[target])))
            at = float(self.at[target])
            self.reached[target].append(Reached(at + low, at + high, True, noticed))

    def _noticed(self, touched: list[int]) -> frozenset[int]:
        return frozenset(i for t in touched for i in self._noticing.get(t, ()))

    def _bound(self, target: int, intruder: int, up: bool, far: float) -> None:
        end = float(self.at[target]) + (far if up else -far)
        old = self.outer.get((target, intruder, up), end)
        self.outer[target, intruder, up] = min(old, end) if up else max(old, end)

    def _try(self, target: int, intruder: int, up: bool, far: float) -> bool:
        """Is a table of fractions so far from the first? Notes what it shows."""
        program = self._program
        if not self._set(program, target, intruder, up, far):
            return False
        program.forget()
        found = program.solve(self._limit())
        if found.values is not None:
            move = self._difference(found.values)
            if not self._note(move) and self.ends.whole:
                self._round(move, target, intruder, up, far, (2,))
                self._last[target, intruder, up] = move
        self._unset(program, target, intruder)
        return found.ended is not Ended.IMPOSSIBLE

    def _round(
        self,
        move: Floats,
        target: int,
        intruder: int,
        up: bool,
        far: float,
        shared: tuple[int, ...],
    ) -> bool:
        """A move of whole numbers among cells that share rows with one of fractions."""
        from scipy.sparse import hstack, vstack

        matrix, shares = self.ends.component.matrix, self.ends.component.shares
        touched = np.abs(move) > NEAR
        for least in shared:
            rows = (np.abs(matrix) @ touched) > 0
            touched |= (rows @ np.abs(matrix)) >= least
        columns = np.flatnonzero(touched)
        near = matrix[:, columns]
        own = np.flatnonzero(np.diff(near.indptr))
        held = [*self.known.get(intruder, ())]
        extra = shares[[target, *held]][:, columns]
        both = vstack([near[own], extra], format="csr")
        free, zero = math.inf, np.zeros(len(held))
        at = self._sums[own]
        component = self.ends.component
        low = np.r_[component.floor[own] - at, far if up else -free, zero]
        high = np.r_[component.ceiling[own] - at, free if up else -far, zero]
        places = np.r_[columns, columns + len(self.first)]
        program = Program(
            len(places),
            Sums.of(hstack([both, -both], format="csr"), low, high),
            cost=self._costs[places],
            upper=self._upper[places],
            gap=ENDLESS,
        )
        program.whole(np.arange(len(places)))
        found = program.solve(self._limit())
        if found.values is None:
            return False
        change = np.zeros(len(self.first))
        change[columns] = found.values[: len(columns)] - found.values[len(columns) :]
        return self._note(change)

    def _furthest(self, target: int, intruder: int, up: bool) -> None:
        """The end of fractions."""
        program = self._program
        if not self._set(program, target, intruder, up, 0.0):
            self._bound(target, intruder, up, 0.0)
            return
        shares = self.ends.component.shares[target]
        price = np.zeros(len(self.first))
        price[shares.indices] = -shares.data if up else shares.data
        program.price(np.arange(program.columns), np.r_[price, -price])
        program.forget()
        found = program.solve(self._limit())
        if found.values is not None:
            self._note(self._difference(found.values))
        if found.ended in (Ended.BEST, Ended.ENDLESS):
            self._bound(target, intruder, up, -found.bound * self.ends.unit)
        program.price(np.arange(program.columns), self._costs)
        self._unset(program, target, intruder)

    def _difference(self, solution: Floats) -> Floats:
        size = len(self.first)
        return (solution[:size] - solution[size:]) * self.ends.unit

    def _note(self, move: Floats) -> bool:
        """What a move shows of every target, as often as it can be made; true if it is whole."""
        ends, unit = self.ends, self.ends.unit
        nearest = np.round(move)
        whole = ends.whole and np.abs(move - nearest).max(initial=0.0) < NEAR
        if whole:
            move = nearest / max(1, np.gcd.reduce(np.abs(nearest).astype(np.int64)))
        back, forth = -self._times(-move, whole), self._times(move, whole)
        for times in (back, forth):
            table = self.first + times * move
            if not (ends.check(table, 0.0) if whole else ends.fits(table)):
                return False
        change = ends.component.shares @ move
        touched = np.flatnonzero(np.abs(change) > (0.5 if whole else 1e-7 * unit)).tolist()
        noticed = self._noticed(touched)
        for target in touched:
            low, high = sorted(self.at[target] + change[target] * np.array([back, forth]))
            self.reached[target].append(Reached(float(low), float(high), bool(whole), noticed))
        if whole:
            columns, sums = np.flatnonzero(move), ends.component.matrix @ move
            rows, by = np.flatnonzero(sums), {t: float(change[t]) for t in touched}
            step = Step(columns, move[columns], rows, sums[rows], by, noticed)
            for target in touched:
                self._steps[target].append(step)
        return bool(whole)

    def _times(self, move: Floats, whole: bool) -> float:
        """How often a move can be made."""
        component, near = self.ends.component, 0.0 if whole else NEAR * self.ends.unit
        parts = (
            (move, self.first, component.lower, component.upper),
            (component.matrix @ move, self._sums, component.floor, component.ceiling),
        )
        most = ENDLESS if whole else 1.0  # fractions are only as exact as they were solved
        for change, at, low, high in parts:
            for moves, room in ((change > near, high - at), (change < -near, at - low)):
                times = np.maximum(room[moves], 0.0) / np.abs(change[moves])
                most = min(most, float(times.min(initial=math.inf)))
        return math.floor(most + NEAR) if whole else most

    def _set(self, program: Program, target: int, intruder: int, up: bool, far: float) -> bool:
        """Pulls the target, holds what the intruder knows; false if that cannot be."""
        held, far, size = self.known.get(intruder, ()), far / self.ends.unit, len(self.first)
        column = int(self._column[target])
        if target in held or (column >= 0 and column in self._column[list(held)]):
            return False
        if column >= 0:
            place = column if up else column + size
            if far > self._upper[place] + 1e-9:
                return False
            room = np.zeros(2)
            room[0 if up else 1] = self._upper[place]
            least = np.zeros(2)
            least[0 if up else 1] = min(far, self._upper[place])
            program.bound([column, column + size], least, room)
        else:
            ends = (far, math.inf) if up else (-math.inf, -far)
            program.range(int(self._row[target]), *ends)
        for other in held:
            self._range(program, other, free=False)
        return True

    def _unset(self, program: Program, target: int, intruder: int) -> None:
        for other in (target, *self.known.get(intruder, ())):
            self._range(program, other, free=True)

    def _range(self, program: Program, target: int, *, free: bool) -> None:
        column = int(self._column[target])
        if column >= 0:
            pair = np.array([column, column + len(self.first)])
            program.bound(pair, np.zeros(2), self._upper[pair] if free else np.zeros(2))
        else:
            end = math.inf if free else 0.0
            program.range(int(self._row[target]), -end, end)

    @cached_property
    def _upper(self) -> Floats:
        component, unit = self.ends.component, self.ends.unit
        return np.asarray(
            np.r_[component.upper - self.first, self.first - component.lower] / unit, np.float64
        )

    @cached_property
    def _program(self) -> Program:
        return self._make(presolve=False)

    @cached_property
    def _integer(self) -> Program:
        program = self._make(presolve=True, gap=ENDLESS)  # the first solution will do
        program.whole(np.arange(program.columns))
        return program

    def _make(self, *, presolve: bool, gap: float = 0.0) -> Program:
        from scipy.sparse import csr_matrix, hstack, vstack

        component, unit = self.ends.component, self.ends.unit
        targets = component.shares[self._column < 0]
        rows = csr_matrix(vstack([component.matrix, targets], format="csr"))
        both = csr_matrix(hstack([rows, -rows], format="csr"))
        at, free = self._sums, np.full(targets.shape[0], math.inf)
        low, high = np.r_[component.floor - at, -free], np.r_[component.ceiling - at, free]
        return Program(
            both.shape[1],
            Sums.of(both, low / unit, high / unit),
            cost=self._costs,
            upper=np.maximum(self._upper, 0.0),
            presolve=presolve,
            gap=gap,
        )

    @cached_property
    def _costs(self) -> Floats:
        """About 1, all different, so that the nearest table is one."""
        return 1.0 + 0.01 * np.random.default_rng(0).random(2 * len(self.first))
