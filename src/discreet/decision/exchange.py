"""Fewer of some margins for more of others: a search around a set that cannot grow."""

from __future__ import annotations

import time
from collections import Counter
from collections.abc import Callable

import numpy as np

from discreet.decision.brief import Brief
from discreet.decision.judge import ShuttleJudge
from discreet.decision.search import Grown, grow
from discreet.look.progress import working
from discreet.table.lattice import children, closure, maximal

DROPPED = (1, 1, 1, 2, 2, 3)  # how many margins make room
NARROW = 8  # from how many that are narrowest at a cell


def exchange(
    judge: ShuttleJudge,
    brief: Brief,
    failed: Grown,
    end: float,
    seed: int,
    tell: Callable[[], object] = lambda: None,
) -> None:
    """Drop margins that make a cell narrow, and take in those that the cell stood against.

    Kept if the set is worth at least as much as before; what was dropped is tried again at the
    end of each exchange.
    """
    rng = np.random.default_rng(seed)
    against, tried = dict(failed.failed), Counter[int]()
    top, inside, worth = _state(judge, brief)
    with working("exchanging margins"):
        while time.monotonic() < end:
            cells = Counter(
                cell for margin, at in against.items() if margin not in inside for cell in at[:1]
            )
            if not cells:
                break
            cell = min(cells, key=lambda c: (tried[c] - cells[c] / 2, rng.random()))
            tried[cell] += 1
            wanted = [m for m, at in against.items() if m not in inside and at[:1] == (cell,)]
            dropped = _narrowest(brief, top, cell, int(rng.choice(DROPPED)), rng)
            if not dropped:
                continue
            before = judge.save()
            rest = [s for s in top if s not in dropped]
            judge.restart([*rest, *(c for s in dropped for c in children(s) if c)])
            rng.shuffle(wanted)
            again = grow(judge, [*wanted, *dropped], np.inf)
            new_top, new_inside, new_worth = _state(judge, brief)
            if new_worth < worth:
                judge.load(before)
                continue
            against |= again.failed | {s: (cell,) for s in dropped if s not in new_inside}
            top, inside = new_top, new_inside
            if new_worth > worth:
                worth = new_worth
                tell()


def _state(judge: ShuttleJudge, brief: Brief) -> tuple[list[int], set[int], float]:
    top = maximal(judge.sets)
    return list(top), closure(top), brief.worth(top)


def _narrowest(
    brief: Brief, top: list[int], cell: int, many: int, rng: np.random.Generator
) -> list[int]:
    """Some of the maximal margins whose counts at a cell are the least; not what must be in."""
    free = [s for s in top if not any(s & ~must == 0 for must in brief.must)]
    counts = [_count(brief, s, cell) for s in free]
    near = sorted(range(len(free)), key=lambda i: (counts[i], rng.random()))[:NARROW]
    return [free[i] for i in rng.permutation(near)[:many]]


def _count(brief: Brief, margin: int, cell: int) -> int:
    names = [name for name in brief.named([margin])[0] if name in brief.cells.names]
    code = brief.cells.codes[cell : cell + 1, [brief.cells.names.index(n) for n in names]]
    return int(brief.table.margin(names).lookup(code)[0]) if names else brief.table.total
