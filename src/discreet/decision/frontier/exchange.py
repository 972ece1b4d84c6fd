"""Fewer of some margins for more of others: a search around a set that cannot grow."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Mapping

import numpy as np

from discreet.decision.frontier.brief import Brief
from discreet.decision.frontier.growing import grow
from discreet.decision.frontier.judge import ShuttleJudge
from discreet.effort import UNLIMITED, Clock
from discreet.look.progress import working
from discreet.table.lattice import closure, maximal

SHARED = 1  # by how many variables a margin may miss another that it stands against
MOST_WANTED = 12


def exchange(
    judge: ShuttleJudge,
    brief: Brief,
    failed: Mapping[int, tuple[int, ...]],
    rounds: int,
    seed: int,
    clock: Clock = UNLIMITED,
    tell: Callable[[], object] = lambda: None,
) -> None:
    """Drop the margin that stands against most others, and take in as many of them as can be.

    `failed` has the cells that became too narrow with each margin that is not in. Kept if the set
    is worth at least as much as before; what was dropped is tried again at the end. After so many
    `rounds` the search ends.
    """
    rng, against, tried = np.random.default_rng(seed), dict(failed), Counter[int]()
    with working("exchanging margins"):
        for _ in range(rounds):
            if clock.over():
                break
            top = maximal(judge.sets)
            inside, worth = closure(top), brief.worth(top)
            out = {f: at[0] for f, at in against.items() if at and f not in inside}
            scores = {
                s: sum(weight for _, weight in _opposed(brief, s, out)) / (1 + tried[s]) ** 2
                for s in top
                if not any(s & ~must == 0 for must in brief.must)
            }
            if not scores or max(scores.values()) == 0:
                break
            drop = max(scores, key=lambda s: (scores[s] + 1e-3 * rng.random(), s))
            tried[drop] += 1
            opposed = sorted(_opposed(brief, drop, out), key=lambda pair: -pair[1])
            before = judge.save()
            judge.drop([drop])
            again = grow(judge, [*(f for f, _ in opposed[:MOST_WANTED]), drop])
            if (now := brief.worth(judge.sets)) < worth:
                judge.load(before)
                continue
            against |= again.failed
            if now > worth:
                tell()


def _opposed(brief: Brief, margin: int, out: Mapping[int, int]) -> list[tuple[int, float]]:
    """The margins that are out, and how likely it is that this one stands against them.

    Margins conflict at a cell if they share most variables and few people are there.
    """
    return [
        (f, 1.0 / brief.counts_at_small(margin)[cell])
        for f, cell in out.items()
        if (f & ~margin).bit_count() <= SHARED
    ]
