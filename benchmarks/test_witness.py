"""How many small cells are shown, by tables that fit, to vary as far as a policy asks."""

import time
from itertools import combinations

import numpy as np
import pytest

from discreet.intruder.bounds.shuttle import Shuttle
from discreet.intruder.bounds.witness import proven_bounds, witnesses
from discreet.release.release import Release
from discreet.table.load import load

CUT, BETA, NARROW = 4_011, 3, 5
WALKS = {"all small cells": 381, "width at most 5": 1}  # the smallest parity moves, 240m tries


def greedy_list(table, cut):
    """The first margins by critical width; ties to more variables, then to the larger bit set.

    The critical width of a margin: the narrowest Frechet interval of a small cell when the margin
    and every other variable's one-way margin are known.
    """
    k, cells, total = len(table.names), table.small().codes, table.total
    one = np.stack([table.margin([n]).dense()[cells[:, p]] for p, n in enumerate(table.names)])
    widths = {}
    for order in range(1, k + 1):
        for places in combinations(range(k), order):
            inside = table.margin([table.names[p] for p in places]).lookup(cells[:, places])
            rest = [p for p in range(k) if p not in places]
            upper = np.minimum(inside, one[rest].min(0, initial=total))
            lower = np.maximum(inside + one[rest].sum(0) - len(rest) * total, 0)
            widths[places] = int((upper - lower).min())
    key = lambda m: (-widths[m], -len(m), -sum(1 << p for p in m))  # noqa: E731
    return [[table.names[p] for p in m] for m in sorted(widths, key=key)[:cut]]


@pytest.fixture(scope="module")
def disability():
    table = load("example:nltcs")
    return table, Release.margins(table, greedy_list(table, CUT))


def test_small_cells_of_the_disability_table(disability):
    """2,228 small cells under 1,679 maximal margins; ten minutes.

    Easy, because one table speaks for all cells at once; hard, because only 3,152 of 41,388 open
    cells hold anybody, so that whoever leaves a cell needs hundreds of others to move with him.
    """
    table, release = disability
    small = table.small()
    shuttle = Shuttle(release)
    lower, upper = shuttle.bounds(small.names, small.codes)
    begun = time.perf_counter()
    narrow = upper - lower <= NARROW
    found = witnesses(release, table, small, beta=BETA, lower=lower, upper=upper, seconds=300)
    closer = witnesses(
        release,
        table,
        small.take(narrow),
        beta=BETA,
        lower=lower[narrow],
        upper=upper[narrow],
        seconds=180,
    )
    low, high = found.low.copy(), found.high.copy()
    low[narrow] = np.minimum(low[narrow], closer.low)
    high[narrow] = np.maximum(high[narrow], closer.high)
    least, most = proven_bounds(shuttle, small, low=low, high=high, seconds=120)
    print(f"\n{found!r}\n{closer!r}\n{time.perf_counter() - begun:.0f} s with the proofs")
    print(f"{'':16}{'cells':>8}{'sharp':>8}{'seen':>8}{'outer':>8}{'cut':>8}{'walks':>8}")
    sharp, seen = (low == least) & (high == most), high - low >= BETA
    cut = most - least < upper - lower
    for name, group in (("all small cells", upper >= lower), ("width at most 5", narrow)):
        columns = (group, group & sharp, group & seen & ~sharp, group & ~seen & ~sharp, group & cut)
        shown = "".join(f"{int(column.sum()):8,}" for column in columns)
        print(f"{name:16}{shown}{WALKS[name]:8,}")
    assert ((lower <= least) & (least <= low)).all()
    assert ((high <= most) & (most <= upper)).all()
    assert seen.sum() > 1.2 * WALKS["all small cells"]
    assert (seen | cut)[narrow].sum() > 5 * WALKS["width at most 5"]
