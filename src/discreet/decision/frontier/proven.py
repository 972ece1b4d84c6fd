"""The best set of margins, proven: an integer program whose constraints are found as it goes."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass

import numpy as np

from discreet import solver
from discreet.decision.frontier.brief import Brief, Sets
from discreet.decision.frontier.judge import WholeJudge
from discreet.effort import UNLIMITED, Clock
from discreet.errors import SolverError
from discreet.look.progress import working
from discreet.solver import Limit
from discreet.table.lattice import children, closure, maximal

MOST_MARGINS = 1_023
NODES = 100_000  # of one program over all margins


@dataclass(frozen=True)
class Best:
    """The best set found, and what no set can exceed."""

    sets: Sets
    at_most: float


def best_set(
    judge: WholeJudge,
    brief: Brief,
    judged: int,
    clock: Clock = UNLIMITED,
    tell: Callable[[], object] = lambda: None,
) -> Best:
    """The closed set of most worth that keeps the policy.

    Max sum of w_m x_m over margins m, with x_m <= x_c for every child c. A solution that breaks the
    policy holds a least set F that breaks it, and sum of x_m over F <= |F| - 1 cuts it off, with
    all that contain F. Ends when a solution keeps the policy: nothing better exists; or after so
    many sets were `judged`.
    """
    program = _Program(brief, judge)
    best = tuple(judge.sets)
    if not program.margins:
        return Best(best, brief.worth(best))
    with working("looking for the best set"):
        before = judge.asked
        while judge.asked < before + judged and not clock.over():
            found, at_most = program.solve(Limit(nodes=NODES, seconds=clock.left))
            if brief.worth(best) >= at_most - 1e-6:
                return Best(best, brief.worth(best))
            if found is None:
                return Best(best, at_most)
            if judge.restart(found):
                tell()
                return Best(found, brief.worth(found))
            program.cut(_least(judge, found, brief.must))
    return Best(best, program.at_most)


class _Program:
    def __init__(self, brief: Brief, judge: WholeJudge) -> None:
        alone = {s for s in brief.candidates if judge.keeps([s])}
        must = closure(brief.must) if brief.must else set()
        may = sorted(s for s in alone | must if all(c in alone | must for c in children(s) if c))
        self.margins, self.column = may, {s: i for i, s in enumerate(may)}
        worth = np.array([brief.value.get(s, 1.0) for s in may])
        least = np.array([float(s in must) for s in may])
        self.model = solver.Program(len(may), cost=-worth, lower=least, upper=1.0, gap=1e-6)
        self.model.whole(np.arange(len(may)))
        for s in may:
            for child in children(s):
                if child:
                    self._row([s, child], [1.0, -1.0], 0.0)
        self.at_most = float(worth.sum())

    def _row(self, sets: list[int], values: list[float], most: float) -> None:
        self.model.row([self.column[s] for s in sets], values, most=most)

    def cut(self, least: Sets) -> None:
        self._row(list(least), [1.0] * len(least), len(least) - 1.0)

    def solve(self, limit: Limit) -> tuple[Sets | None, float]:
        """The best set that no cut forbids (None if the limit is met), and what it is at most."""
        found = self.model.solve(limit)
        if found.ended is solver.Ended.LIMIT:
            return None, self.at_most
        if found.values is None:
            raise SolverError("the search for the best set failed; choose the method greedy.")
        self.at_most = -found.bound
        chosen = found.values > 0.5
        return maximal(s for s, x in zip(self.margins, chosen, strict=True) if x), self.at_most


def _least(judge: WholeJudge, sets: Iterable[int], must: Sets) -> Sets:
    """Margins that together break the policy, and of which none can be left out or made smaller."""
    kept = list(maximal(sets))
    for margin in list(kept):
        rest = [s for s in kept if s != margin]
        if not judge.keeps(rest):
            kept = rest
    at = 0
    while at < len(kept):
        margin, rest = kept[at], kept[:at] + kept[at + 1 :]
        for child in children(margin):
            smaller = [*rest, child] if child else rest
            if not judge.keeps(smaller):
                kept = list(smaller)
                at = -1
                break
        at += 1
    return tuple(s for s in kept if not any(s & ~m == 0 for m in must))
