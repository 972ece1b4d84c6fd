"""Whether printed sheets protect what they should: decided by tables that exist, or by bounds."""

from __future__ import annotations

import dataclasses
import math
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from discreet.arrays import Bools, Floats, Ints
from discreet.effort import Clock, Effort, Seconds
from discreet.errors import DataError
from discreet.intruder.sums.moves import OUTSIDER, Moves
from discreet.intruder.sums.protection import Protection, target_sums
from discreet.intruder.sums.reduced import reduced
from discreet.intruder.sums.tables import Tables, any_table
from discreet.look.result import Unpublished
from discreet.release.printed import Printed

Stretch = Callable[[Moves, int, int, bool, float], None]
NODES = 100  # of branch and bound, for one end of one target
PROGRAMS = 40  # large integer programs of one audit
NEAR = 1e-6
SMALL = 0.05  # of what is asked


@dataclass(frozen=True, eq=False)
class Audit(Unpublished):
    """`safe`: tables exist that are as far apart as asked; `broken`: no such tables exist.

    What is neither is in doubt. Safe is proven by tables of whole numbers where the sheets count,
    by fractions otherwise, to a millionth of the value. `linear` targets have what is asked over
    fractions, so against an intruder who does not use that people are whole; `whole` ones over
    whole numbers. `low` and `high` were reached by tables of the kind that counts against the
    outsider; all else is against the outsider and every intruder. No table of any kind leaves
    `least` to `most`, against the one who knows most of the target.
    """

    safe: Bools
    broken: Bools
    linear: Bools
    whole: Bools
    low: Floats
    high: Floats
    least: Floats
    most: Floats
    stopped: str | None = None

    @property
    def doubt(self) -> Bools:
        return ~self.safe & ~self.broken

    def __repr__(self) -> str:
        said = f"{int(self.safe.sum()):,} safe, {int(self.broken.sum()):,} broken"
        doubt = int(self.doubt.sum())
        return f"Audit({len(self.safe):,} targets: {said}{f', {doubt:,} in doubt' * (doubt > 0)})"


def audit(
    printed: Printed,
    protection: Protection,
    *,
    values: Floats | None = None,
    fine: Floats | None = None,
    intruders: Iterable[Sequence[int]] = (),
    effort: float = 1.0,
    seconds: Seconds = math.inf,
) -> Audit:
    """Which targets have the protection that is asked for.

    `values` are the true values of all rows, `fine` those of the fine cells, with which the search
    begins. `intruders` know those of these rows, each; a target must hold against all of them but
    those whose own row it is.

    >>> from discreet.data.codebook import Variable
    >>> from discreet.sheets.grouping import Grouping
    >>> from discreet.sheets.sheet import Sheet
    >>> from discreet.sheets.system import System
    >>> sex, town = Variable("Sex", ("f", "m")), Variable("Town", ("A", "B", "C"))
    >>> system = System.of([Sheet("1", (Grouping.of(sex), Grouping.of(town)))])
    >>> values = system.sums @ [1, 7, 5, 6, 4, 9]
    >>> hidden = np.isin(np.arange(system.cells), [5, 6, 9, 10])
    >>> printed = Printed.suppressed(system, values, hidden, floor=1)
    >>> audit(printed, Protection.widths([5], [1], [3]), values=values)
    Audit(1 targets: 1 safe, 0 broken)
    >>> audit(printed, Protection.widths([5], [1], [6]), values=values)
    Audit(1 targets: 0 safe, 1 broken)
    """
    clock = Clock.of(seconds)
    knowing = [np.unique(np.asarray(rows, np.int64)) for rows in intruders]
    if fine is not None:
        sums = printed.system.sums @ fine
        if values is not None and not np.allclose(values, sums, rtol=1e-9, atol=1e-9):
            row = int(np.argmax(np.abs(values - sums)))
            raise DataError(
                f"row {row} is {values[row]:g}, but its fine cells sum to {sums[row]:g}; give one."
            )
        values = sums if values is None else values
    if knowing and values is None:
        raise DataError("intruders know true values; give the values of all rows.")
    knowing = [rows[printed.hidden[rows]] for rows in knowing]
    return _Search(printed, protection, knowing, values, fine, Effort(effort), clock).audit()


class Verdict(NamedTuple):
    """Of one target, against one who looks."""

    safe: bool
    broken: bool
    linear: bool
    ends: tuple[float, float] = (-math.inf, math.inf)  # that bounds show


class _Search:
    """Each target against each who could tell the tables apart that were found so far."""

    def __init__(
        self,
        printed: Printed,
        protection: Protection,
        knowing: list[Ints],
        values: Floats | None,
        fine: Floats | None,
        effort: Effort,
        clock: Clock,
    ) -> None:
        self.printed, self.protection, self.knowing = printed, protection, knowing
        self.values, self.effort, self.clock = values, effort, clock
        self.fine, self.programs = fine, effort.of(PROGRAMS)
        first = fine
        if first is None and values is not None:
            first = any_table(dataclasses.replace(printed, lower=values, upper=values), clock)
        watched = np.unique(np.concatenate(knowing)) if knowing else np.zeros(0, np.int64)
        rows = np.r_[protection.rows, watched]
        small = reduced(printed, target_sums(printed.system, rows))
        self.tables = Tables(small, clock, effort.of(NODES), first)
        self.ready = self.tables.seen if printed.whole else self.tables.fit
        self.parts: list[list[tuple[Moves, int]]] = [[] for _ in rows]
        self.owners: dict[int, set[int]] = {}
        self.split: set[int] = set()
        if self.ready:
            self._divide({row: len(protection) + i for i, row in enumerate(watched.tolist())})

    def _divide(self, place: dict[int, int]) -> None:
        """The targets' parts in each component, and what each intruder knows there."""
        for who, rows in enumerate(self.knowing):
            for row in rows.tolist():
                self.owners.setdefault(row, set()).add(who)
        knowers = {place[row]: sorted(who) for row, who in self.owners.items()}
        for ends in self.tables.ends:
            local = ends.component.targets.tolist()
            known: dict[int, list[int]] = {}
            for i, target in enumerate(local):
                for who in knowers.get(target, ()):
                    known.setdefault(who, []).append(i)
            moves = Moves(ends, known, lambda: self.tables.limit)
            for i, target in enumerate(local):
                self.parts[target].append((moves, i))
        # what several components share is held in each of them: more than the intruder knows
        for target, owners in knowers.items():
            if len(self.parts[target]) > 1:
                self.split.update(owners)

    def audit(self) -> Audit:
        size = len(self.protection)
        verdicts = [
            self._judge(target) if self.ready else Verdict(False, False, False)
            for target in range(size)
        ]
        marks = [(one.safe, one.broken, one.linear) for one in verdicts]
        safe, broken, linear = np.array(marks, bool).reshape(size, 3).T.copy()
        least, most = np.array([one.ends for one in verdicts]).reshape(size, 2).T.copy()
        low, high = np.full(size, math.inf), np.full(size, -math.inf)
        if self.printed.system.outer:  # what fits it need not be a table
            safe[:] = linear[:] = False
        elif self.ready:
            reached = [self._reach(t, OUTSIDER, self.printed.whole) for t in range(size)]
            low, high = np.array(reached).reshape(size, 2).T
        whole = safe if self.printed.whole else np.zeros(size, bool)
        stopped = self.clock.sentence("some targets are in doubt", "Allow more seconds.")
        return Audit(safe, broken, linear, whole, low, high, least, most, stopped)

    def _judge(self, target: int) -> Verdict:
        """Against the outsider, then against whoever would notice the tables that were found."""
        verdict = self._settle(target, OUTSIDER)
        done = self.owners.get(int(self.protection.rows[target]), set()).copy()
        while not verdict.broken and (who := self._doubter(target, done)) is not None:
            if self.clock.over():
                return verdict._replace(safe=False, linear=False)
            one = self._settle(target, who)
            if who in self.split and not one.safe:
                one = self._alone(target, who)
            done.add(who)
            verdict = Verdict(
                verdict.safe and one.safe, one.broken, verdict.linear and one.linear, one.ends
            )
        return verdict

    def _doubter(self, target: int, done: set[int]) -> int | None:
        """An intruder against whom no tables were found that are far enough apart."""
        noticing = {who for moves, i in self.parts[target] for who in moves.noticing(i)}
        for who in sorted(noticing - done):
            if not self._given(target, *self._reach(target, who, self.printed.whole)):
                return who
        return None

    def _alone(self, target: int, who: int) -> Verdict:
        """The publication as this intruder sees it, for itself."""
        assert self.values is not None
        rows = self.knowing[who]
        view = self.printed.knowing(rows, self.values[rows])
        asked = self.protection.take(np.array([target]))
        return _Search(view, asked, [], self.values, self.fine, self.effort, self.clock)._judge(0)

    def _settle(self, target: int, who: int) -> Verdict:
        """Linear programs, then integer ones where whole numbers are still in doubt."""
        asked, whole = self.protection, self.printed.whole
        steps = (Moves.combine, Moves.stretch, Moves.stretch_near, Moves.stretch_whole)
        for step in steps if whole else (Moves.stretch,):
            beyond = 0.0 if whole else max(0.0, -self._lost(target))
            for goal in range(4):
                low, high = self._reach(target, who, whole)
                if self._given(target, low, high):
                    return Verdict(True, False, True)
                if self.clock.over():
                    break
                levels = (
                    asked.high[target] + beyond,
                    asked.low[target] - beyond,
                    low + asked.width[target] + beyond,
                    high - asked.width[target] - beyond,
                )
                self._pull(step, target, who, goal % 2 == 0, float(levels[goal]))
            if self._broken(target, who):
                return Verdict(False, True, False, self._ends(target, who))
        safe = self._given(target, *self._reach(target, who, whole))
        linear = self._given(target, *self._reach(target, who, False), NEAR)
        return Verdict(safe, self._broken(target, who), linear, self._ends(target, who))

    def _pull(self, step: Stretch, target: int, who: int, up: bool, level: float) -> None:
        """Its parts, one after the other, until the target is at the level."""
        whole = step is Moves.stretch_whole
        for moves, i in self.parts[target]:
            while (far := self._far(target, who, up, level, moves, i)) is not None:
                end = moves.outer.get((i, who, up), math.inf if up else -math.inf)
                before = moves.reach(i, who, self.printed.whole)
                far = min(far, abs(end - moves.at[i]))
                if far <= abs(before[up] - moves.at[i]) or (whole and self.programs <= 0):
                    break
                self.programs -= whole
                step(moves, i, who, up, far)
                after = moves.outer.get((i, who, up), end)
                if not whole or (moves.reach(i, who, True) == before and after == end):
                    break

    def _far(
        self, target: int, who: int, up: bool, level: float, moves: Moves, i: int
    ) -> float | None:
        """How far from its first value a part must go for its target to be at the level."""
        whole = self.printed.whole
        missing = (level - self._reach(target, who, whole)[up]) * (1 if up else -1)
        if missing <= 0:
            return None
        return abs(moves.reach(i, who, whole)[up] - float(moves.at[i])) + missing

    def _reach(self, target: int, who: int, whole: bool) -> tuple[float, float]:
        low = high = float(self.tables.reduced.constant[target])
        for moves, i in self.parts[target]:
            ends = moves.reach(i, who, whole)
            low, high = low + ends[0], high + ends[1]
        return low, high

    def _lost(self, target: int) -> float:
        """What sums of fractions may be off by, if that is little beside what is asked; else less
        than 0: tables must reach so much further.
        """
        asked, lost = self.protection, 10 * self.tables.reduced.slack
        most = max(abs(asked.high[target]), abs(asked.low[target]), asked.width[target])
        wide = max(asked.high[target] - asked.low[target], asked.width[target])
        return -lost if lost > SMALL * wide > 0 else max(NEAR * most, lost)

    def _given(self, target: int, low: float, high: float, slack: float = 0.0) -> bool:
        asked = self.protection
        slack = slack if self.printed.whole else self._lost(target)
        wide = asked.width[target] <= 0 or high - low >= asked.width[target] - slack
        reach = low <= asked.low[target] + slack and high >= asked.high[target] - slack
        return bool(wide and reach)

    def _broken(self, target: int, who: int) -> bool:
        """Do bounds show that no tables are as far apart as asked?"""
        low, high = self._ends(target, who)
        lost = 0.0 if self.printed.whole else 2 * max(0.0, -self._lost(target))
        return not self._given(target, low - lost, high + lost, NEAR)

    def _ends(self, target: int, who: int) -> tuple[float, float]:
        """Bounds that no table leaves."""
        low = high = float(self.tables.reduced.constant[target])
        for moves, i in self.parts[target]:
            falls = [moves.outer.get((i, one, False), -math.inf) for one in (who, OUTSIDER)]
            rises = [moves.outer.get((i, one, True), math.inf) for one in (who, OUTSIDER)]
            low += max(moves.ends.lower[i], *falls)
            high += min(moves.ends.upper[i], *rises)
        return low, high
