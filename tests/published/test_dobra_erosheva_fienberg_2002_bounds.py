"""Dobra, Erosheva & Fienberg 2002: bounds on the NLTCS table, decomposable and greedy."""

import numpy as np
import pytest

from discreet import Release, bounds
from discreet.frontiers import Shuttle
from discreet.table.lattice import bits

FRONTIER_3 = (
    "5*10*12*13*14*15*16 + 5*10*11*14*15*16 + 9*10*12*13*14*15 + 6*10*12*13*15*16 + "
    "4*10*12*13*14*15 + 4*8*10*12*13*14 + 3*4*12*13*14*15 + 3*4*7*12*13*15 + 2*12*13*14*15*16 + "
    "1*9*12*13*14*15"
)


def margins(table, text):
    return [[table.names[int(n) - 1] for n in term.split("*")] for term in text.split(" + ")]


@pytest.fixture(scope="module")
def greedy(nltcs):
    """The release of the first 4,011 margins of the paper's list."""
    found = widths(nltcs)
    order = sorted(found, key=lambda s: (-found[s], -s.bit_count(), -s))
    return order, Release.margins(nltcs, named(nltcs, order[:4011]))


def named(table, sets):
    return [[table.names[place] for place in bits(s)] for s in sets]


def widths(table):
    """Definition 1.2 for every margin, from the dense table of all sums."""
    k, n = len(table.names), table.total
    sums = table.dense()
    for axis in range(k):
        sums = np.concatenate([sums, sums.sum(axis, keepdims=True)], axis)
    flat = sums.ravel()
    steps = 3 ** np.arange(k - 1, -1, -1)
    codes = table.small().codes.astype(np.int64)
    ones = flat[(codes - 2) * steps + (3**k - 1)]
    widths = {}
    for s in range(1, 1 << k):
        inside = np.array([s >> p & 1 for p in range(k)], bool)
        count = flat[(np.where(inside, codes, 2) * steps).sum(1)]
        rest = ones[:, ~inside]
        upper = np.minimum(count, rest.min(1, initial=n))
        lower = np.maximum(0, count + (rest - n).sum(1))
        widths[s] = int((upper - lower).min())
    return widths


def test_the_decomposable_frontier_for_beta_3(nltcs):
    """Minimum width 3; over the non-zero cells the widths sum to 345,534; one lower bound, 667."""
    found = bounds(Release.margins(nltcs, margins(nltcs, FRONTIER_3)), nltcs.nonzero())
    small = nltcs.counts <= 2
    assert found.method == "closed form"
    assert found.width[small].min() == 3
    assert found.width.sum() == 345_534
    assert found.lower[found.lower > 0].tolist() == [667]
    assert [int((found.upper == n).sum()) for n in (3, 4, 5, 6)] == [11, 36, 27, 55]


def test_the_greedy_release_for_beta_3(nltcs, greedy):
    """Widths sum to 249,759 over ALL cells (the paper says non-zero), 54,561 over those."""
    order, release = greedy
    shuttle = Shuttle(release)
    lower, upper = (side[(slice(0, 2),) * 16].astype(np.int64) for side in shuttle.arrays())
    counts = nltcs.dense()
    width = upper - lower
    assert release.formula.by_order() == {1: 16, 2: 120, 3: 547, 4: 1569, 5: 1659, 6: 103}
    assert width.sum() == 249_759
    assert width[counts > 0].sum() == 54_561
    assert (lower >= 1).sum() == 22
    small = (counts == 1) | (counts == 2)
    assert width[small].min() == 3
    assert ((counts == 1) & (width == 3)).sum() == 14
    assert ((counts == 2) & (width == 4)).sum() == 2
    assert (small & (width <= 5)).sum() == 242
    assert ((counts == 0) & (upper == 0)).sum() == 24_148
    cells = nltcs.small()
    shuttle.watch(cells)
    before = shuttle.data.copy()
    (next_margin,) = named(nltcs, order[4011:4012])
    assert not shuttle.add([nltcs.margin(next_margin)], floor=3)
    shuttle.roll_back()
    assert np.array_equal(shuttle.data, before)
