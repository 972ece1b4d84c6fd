"""Fewer of some margins for more of others: a search around a set that cannot grow."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np
from numpy.typing import NDArray

from discreet.decision.brief import Brief
from discreet.decision.judge import ShuttleJudge
from discreet.decision.search import grow
from discreet.look.progress import working
from discreet.table.lattice import closure, maximal

SHARED = 1  # by how many variables a margin may miss another that it stands against
MOST_WANTED = 12


def exchange(
    judge: ShuttleJudge,
    brief: Brief,
    failed: Mapping[int, tuple[int, ...]],
    end: float,
    seed: int,
    tell: Callable[[], object] = lambda: None,
) -> None:
    """Drop the margin that stands against most others, and take in as many of them as can be.

    `failed` has the cells that became too narrow with each margin that is not in. Kept if the set
    is worth at least as much as before; what was dropped is tried again at the end.
    """
    rng, against, tried = np.random.default_rng(seed), dict(failed), Counter[int]()
    counts = _Counts(brief)
    with working("exchanging margins"):
        while time.monotonic() < end:
            top = maximal(judge.sets)
            inside, worth = closure(top), brief.worth(top)
            out = {f: at[0] for f, at in against.items() if at and f not in inside}
            scores = {
                s: sum(weight for _, weight in _opposed(counts, s, out)) / (1 + tried[s]) ** 2
                for s in top
                if not any(s & ~must == 0 for must in brief.must)
            }
            if not scores or max(scores.values()) == 0:
                break
            drop = max(scores, key=lambda s: (scores[s] + 1e-3 * rng.random(), s))
            tried[drop] += 1
            opposed = sorted(_opposed(counts, drop, out), key=lambda pair: -pair[1])
            before = judge.save()
            judge.drop([drop])
            again = grow(judge, [*(f for f, _ in opposed[:MOST_WANTED]), drop], np.inf)
            if (now := brief.worth(judge.sets)) < worth:
                judge.load(before)
                continue
            against |= again.failed
            if now > worth:
                tell()


def _opposed(counts: _Counts, margin: int, out: Mapping[int, int]) -> list[tuple[int, float]]:
    """The margins that are out, and how likely it is that this one stands against them.

    Margins conflict at a cell if they share most variables and few people are there.
    """
    return [
        (f, 1.0 / counts.at(margin)[cell])
        for f, cell in out.items()
        if (f & ~margin).bit_count() <= SHARED
    ]


class _Counts:
    """The counts of margins at the small cells."""

    def __init__(self, brief: Brief) -> None:
        self.brief, self._known = brief, dict[int, NDArray[np.int64]]()

    def at(self, margin: int) -> NDArray[np.int64]:
        if margin not in self._known:
            cells, table = self.brief.cells, self.brief.table
            names = [name for name in self.brief.named([margin])[0] if name in cells.names]
            codes = cells.codes[:, [cells.names.index(name) for name in names]]
            self._known[margin] = table.margin(names).lookup(codes)
        return self._known[margin]
