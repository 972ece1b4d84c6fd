"""What no decomposable release can exceed: a limit from counting the wide margins."""

from __future__ import annotations

from collections.abc import Sequence
from math import comb
from typing import TYPE_CHECKING

import numpy as np

from discreet.table.lattice import children

if TYPE_CHECKING:
    from discreet._kernels.watched_counts import Search

MOST_WORK = 100_000_000  # rows counted: some seconds
MOST_WIDE = 40_000
MOST_ORDER = 30


def most_released(search: Search, k: int) -> int | None:
    """A proven limit on the margins of a decomposable release, or None if it takes too long.

    Where it takes too long and the order is limited, the limit is that of any table.

    Adding the variables in perfect order, the one with q neighbours before it brings 2^q margins,
    C(q, j - 1) of order j. A released margin is wide: its least count at a small cell is beta or
    more. So with x_q variables of each q

        sum_q C(q, j - 1) x_q <= the wide margins of order j,
        sum_{q >= j - 1} x_q  <= k - j + 1, and the variables in wide margins of order j,

    and k - j in place of k - j + 1 unless wide margins of order j, linked if they share j - 1
    variables, reach all k: every variable after the first j that has j - 1 neighbours before it
    links its margins to those before.
    """
    from scipy.optimize import Bounds, LinearConstraint, milp

    wide = _wide(search, k)
    if wide is None:
        # no variable has more neighbours before it than there are, or than the order lets it have
        order = search.limits.order
        return sum(1 << min(q, order - 1) for q in range(k)) if order < k else None
    most = len(wide)
    rows, limits = [], []
    for j, sets in enumerate(wide, 1):
        rows.append([comb(q, j - 1) for q in range(most)])
        limits.append(len(sets))
        rows.append([int(q >= j - 1) for q in range(most)])
        covered = np.bitwise_or.reduce(sets)
        limits.append(min(int(covered).bit_count(), k - j + _spans(sets, k)))
    worth = np.array([2.0**q for q in range(most)])
    found = milp(
        -worth,
        constraints=[
            LinearConstraint(np.array(rows, float), ub=np.array(limits, float)),
            LinearConstraint(np.ones((1, most)), k, k),
        ],
        integrality=np.ones(most),
        bounds=Bounds(0, k),
        options={"mip_rel_gap": 0.0},
    )
    return int(-found.mip_dual_bound + 1e-6) if found.success else None


def _wide(search: Search, k: int) -> list[list[int]] | None:
    """All wide sets by order, or None if there are too many."""
    from discreet._kernels.watched_counts import are_wide

    level = [1 << p for p in range(k)]
    wide, tried, total = [level], 0, k
    most = MOST_WORK // max(len(search.rows.counts), 1)
    while len(wide) < search.limits.order:
        known = set(level)
        bigger = [s | 1 << p for s in level for p in range(s.bit_length(), k)]
        bigger = [s for s in bigger if all(child in known for child in children(s))]
        tried += len(bigger)
        if tried > most or total > MOST_WIDE or len(wide) > MOST_ORDER:
            return None
        sets = np.array(bigger, np.int64)
        level = sets[are_wide(search, sets)].tolist()
        if not level:
            break
        wide.append(level)
        total += len(level)
    return wide


def _spans(sets: Sequence[int], k: int) -> bool:
    """Whether sets that are linked by sharing all but one variable reach all variables."""
    root: dict[int, int] = {}
    reach: dict[int, int] = {}

    def find(s: int) -> int:
        while root.setdefault(s, s) != s:
            root[s] = s = root[root[s]]
        return s

    for s in sets:
        parts = {find(child) for child in children(s)}
        union, top = s, parts.pop()
        for part in (top, *parts):
            union |= reach.pop(part, 0)
            root[part] = top
        reach[top] = union
    return any(union == (1 << k) - 1 for union in reach.values())
