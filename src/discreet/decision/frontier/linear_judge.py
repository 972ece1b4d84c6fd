"""Sets of margins whose small counts keep their width by linear bounds, grown block by block."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from typing import Any

import numpy as np

from discreet.arrays import Ints
from discreet.decision.frontier.brief import Brief
from discreet.decision.frontier.growing import ANEW, Grown
from discreet.decision.frontier.judge import ShuttleJudge
from discreet.decision.law.verdict import Verdict
from discreet.effort import UNLIMITED, Clock
from discreet.intruder.bounds.part import MOST_PROJECTED
from discreet.intruder.bounds.projection.projection import Projection
from discreet.intruder.bounds.projection.reach import Linear, Warm, reach
from discreet.look.progress import working
from discreet.release.release import Release
from discreet.table.lattice import closure, maximal

STEPS = 4_000  # for one cell, in a trial of many
ROUNDS = 8  # of leaving out margins of a block
GROWN = 600_000_000  # numbers of tables looked at to grow a set: four blocks of 2^16 cells
FIRST_BLOCK, LEAST_BLOCK = 400, 25


class LinearJudge:
    """The shuttle as a filter, then linear bounds of what it passes, from where they last ended.

    What passes with a set passes with every part of it, so that after a failure only the cells that
    failed are looked at again.
    """

    def __init__(self, brief: Brief, quick: ShuttleJudge | None = None) -> None:
        self.brief, self.quick = brief, quick or ShuttleJudge(brief)
        self.beta = brief.policy.small.width
        self.projection: Projection | None = None
        self.warm, self.clock = Warm(), UNLIMITED
        self.blocked: Ints = np.zeros(0, np.int64)
        shape = brief.table.shape
        codes = brief.cells.codes.astype(np.int64)
        self.places = np.ravel_multi_index(tuple(codes.T), shape) if len(codes) else codes[:, 0]

    @property
    def sets(self) -> list[int]:
        return self.quick.sets

    @sets.setter
    def sets(self, sets: list[int]) -> None:
        self.quick.sets = sets

    def alone(self, margin: int) -> bool:
        return self.quick.alone(margin)

    def restart(self, sets: Iterable[int]) -> bool:
        before = (self.quick.shuttle, self.quick.sets, self.projection)
        held = self.quick.restart(sets)
        if held:
            self.projection, self.warm = None, Warm()
            if len(self.places) and not sharp(self.brief.release(self.quick.sets)):
                found = self._reach(self._settled(), np.arange(len(self.places)))
                held = bool(found.keep(self.beta).all())
        if not held:
            self.quick.shuttle, self.quick.sets, self.projection = before
        return held

    def add(self, margins: Sequence[int]) -> bool:
        if self.quick.shuttle is None and not self.restart(()):
            return False
        return len(self.take(margins, whole=True)) > 0

    def _settled(self) -> Projection:
        """Of what is in."""
        if self.projection is None:
            self.projection = Projection.of(self.brief.release(self.sets), *self._box())
        return self.projection

    def verdict(self, release: Release) -> Verdict:
        """On a release that the shuttle has passed, and still holds."""
        if not len(self.places) or sharp(release):
            return Verdict.PASS
        low, high = self._box()
        if self.projection is None:
            self.projection = Projection.of(release, low, high)
        else:
            self.projection = self.projection.moved(release, low, high)
        found = self._reach(self.projection, np.arange(len(self.places)))
        if (found.upper - found.lower < self.beta).any():
            return Verdict.FAIL
        return Verdict.PASS if found.keep(self.beta).all() else Verdict.REVIEW

    def take(
        self,
        margins: Sequence[int],
        *,
        whole: bool = False,
        failed: Grown | None = None,
        clock: Clock = UNLIMITED,
    ) -> list[int]:
        """Take in the margins, or, unless they go `whole`, those that do not stand in the way.

        If the clock stops it, those that were seen not to.
        """
        self.clock = clock
        try:
            return self._take(margins, whole, failed)
        finally:
            self.clock = UNLIMITED

    def _take(self, margins: Sequence[int], whole: bool, failed: Grown | None) -> list[int]:
        self._settled()
        before = self.quick.save()
        block = self._filtered(margins, failed)
        held = len(block) == len(margins) or not whole
        if held and block:
            grown = self._grown(block, *self._box())
            short, forces = self._short(grown, np.arange(len(self.places)))
            self.blocked = short
            held = not len(short) or not whole
            if held and len(short):
                block = self._without_culprits(block, grown, short, forces, failed)
                self.quick.load(before)
                block = self._filtered(block, None)
                grown = self._grown(block, *self._box())
        if held and block:
            self.projection = grown
            return block
        self.quick.load(before)
        return []

    def _without_culprits(
        self,
        block: list[int],
        grown: Projection,
        short: Ints,
        forces: dict[int, Any],
        failed: Grown | None,
    ) -> list[int]:
        """Leave out what narrows the cells, until they are wide enough; else all of it.

        The box of what was in before serves: it follows from the margins, and only saves steps.
        """
        assert self.projection is not None
        old = self.projection
        for _ in range(ROUNDS):
            if not len(short) or not block:
                return block
            for margin, cells in self._culprits(grown, block, short, forces).items():
                block = [m for m in block if m != margin]
                if failed is not None:
                    failed.failed[margin] = cells
            if block:
                grown = self._grown(block, old.low, old.high)
                short, forces = self._short(grown, short)
        return [] if len(short) else block

    def _filtered(self, margins: Sequence[int], failed: Grown | None) -> list[int]:
        """What the shuttle lets pass: all at once, or one by one."""
        many = len(margins) > ANEW
        if self.quick.restart([*self.sets, *margins]) if many else self.quick.add(margins):
            return list(margins)
        taken = []
        for margin in margins if len(margins) > 1 else ():
            if self.quick.add([margin]):
                taken.append(margin)
            elif failed is not None:
                failed.failed[margin] = tuple(self.quick.blocked.tolist())
        return taken

    def _box(self) -> tuple[Ints, Ints]:
        assert self.quick.shuttle is not None
        cells = tuple(slice(size) for size in self.brief.table.shape)
        low, high = self.quick.shuttle.arrays()
        return low[cells].astype(np.int64), high[cells].astype(np.int64)

    def _grown(self, margins: Sequence[int], low: Ints, high: Ints) -> Projection:
        assert self.projection is not None
        if not margins:
            return self.projection
        top = maximal(margins)
        tables = [self.brief.table.margin(names) for names in self.brief.named(top)]
        return self.projection.grown(tables, self.brief.table.names, low, high)

    def _reach(self, projection: Projection, rows: Ints) -> Linear:
        cells = self.places[rows]
        low, high = projection.low.ravel()[cells], projection.high.ravel()[cells]
        return reach(
            projection, cells, low, high, self.beta, steps=STEPS, warm=self.warm, clock=self.clock
        )

    def _short(self, projection: Projection, rows: Ints) -> tuple[Ints, dict[int, Any]]:
        """The cells that are not seen to keep the width, and what stands in the way."""
        found = self._reach(projection, rows)
        short = np.flatnonzero(~found.keep(self.beta))
        return rows[short], {int(rows[row]): force for row, force in found.forces.items()}

    def _culprits(
        self, projection: Projection, block: Sequence[int], short: Ints, forces: dict[int, Any]
    ) -> dict[int, tuple[int, ...]]:
        """Of each cell that is too narrow, the new margin that says most about it."""
        assert self.projection is not None
        margins = self.projection.coordinates.margins
        known = closure(sum(1 << axis for axis in margin) for margin in margins)
        found: dict[int, list[int]] = {}
        coordinates = projection.coordinates
        for cell in short.tolist():
            scores = dict.fromkeys(block, 0.0)
            if cell in forces:
                parts = coordinates.analysed(forces[cell].reshape(coordinates.shape))
                weights = np.where(coordinates.released, parts / coordinates.norms, 0.0)
                for axes, size in coordinates.by_margin(weights).items():
                    if axes not in known:
                        for margin in block:
                            scores[margin] += size if axes & ~margin == 0 else 0.0
            worst = max(block, key=lambda m: (scores[m], m.bit_count(), m))
            found.setdefault(worst, []).append(cell)
        return {margin: tuple(cells) for margin, cells in found.items()}


def sharp(release: Release) -> bool:
    """Do tables reach the shuttle's bounds? Of a decomposable set, with nothing else known
    (Theorem 1 of the 2002 paper).
    """
    return release.formula.is_decomposable and not release.known


def projectable(brief: Brief) -> bool:
    """Can its widths be followed by projections: whole cells of a table that fits in memory?"""
    whole = brief.cells.names == brief.table.names
    return whole and brief.table.size <= MOST_PROJECTED and brief.policy.bounds.method == "auto"


def grow_blocks(
    judge: LinearJudge,
    ordered: Iterable[int],
    clock: Clock = UNLIMITED,
    tell: Callable[[], object] = lambda: None,
    *,
    most: int = GROWN,
) -> Grown:
    """Take in margins of the list, many at a time, for as long as linear bounds hold.

    `most` numbers of tables are looked at: each block asks for a table a guarded cell.
    """
    grown, inside = Grown(), closure(judge.sets)
    todo = [margin for margin in reversed(list(ordered)) if margin not in inside]
    size = FIRST_BLOCK
    with working("growing by linear bounds"):
        while todo:
            if most <= 0 or clock.over():
                grown.complete = False
                break
            block: list[int] = []
            while todo and len(block) < size:
                margin = todo.pop()
                above = any(small & ~margin == 0 for small in grown.failed)
                if margin not in inside and not above:
                    block.append(margin)
            before, most = len(grown.failed), most - len(judge.places) * judge.brief.table.size
            taken = judge.take(block, failed=grown, clock=clock) if block else []
            inside |= closure(taken)
            tell()
            if len(grown.failed) > before + len(block) // 4:
                size = max(LEAST_BLOCK, size // 2)
            if not taken and len(block) > LEAST_BLOCK:  # once more, in smaller blocks
                todo += [m for m in reversed(block) if m not in grown.failed]
                size = max(LEAST_BLOCK, len(block) // 2)
    # what was blamed may have come in with a larger margin
    grown.failed = {m: cells for m, cells in grown.failed.items() if m not in inside}
    return grown
