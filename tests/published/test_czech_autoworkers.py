"""Edwards & Havranek 1985: the 2^6 table of Czech car workers, and its known bounds."""

from itertools import combinations

import numpy as np

from discreet import Release, bounds, load
from discreet.errors import DataError

SUBSETS = [s for n in range(1, 7) for s in combinations("ABCDEF", n)]


def test_the_table():
    table = load("example:czech")
    counts = table.all().counts
    assert table.total == 1841
    assert [int((counts == n).sum()) for n in (0, 1, 2)] == [1, 1, 2]


def test_all_four_way_margins():
    """Sharp bounds [0, 10], [0, 9], [0, 9] for the counts of 1, 2, 2."""
    table = load("example:czech")
    small = table.small()
    found = bounds(Release.margins(table, list(combinations("ABCDEF", 4))), small)
    intervals = sorted(zip(small.counts, found.lower, found.upper, strict=True))
    assert intervals == [(1, 0, 10), (2, 0, 9), (2, 0, 9)]
    assert found.sharp


def test_200_random_releases():
    """Closed form = linear program where both apply; the truth is inside; margins only narrow."""
    table, rng = load("example:czech"), np.random.default_rng(1985)
    counts, compared = table.all().counts, 0
    for _ in range(200):
        chosen = rng.choice(len(SUBSETS), rng.integers(1, 6), replace=False)
        margins = [SUBSETS[i] for i in chosen]
        linear = bounds(Release.margins(table, margins), method="linear")
        assert (linear.lower <= counts).all()
        assert (linear.upper >= counts).all()
        try:
            closed = bounds(Release.margins(table, margins), method="closed")
        except DataError:
            pass
        else:
            compared += 1
            assert np.array_equal(closed.lower, linear.lower)
            assert np.array_equal(closed.upper, linear.upper)
        fewer = bounds(Release.margins(table, margins[:-1] or margins))
        assert (fewer.lower <= linear.lower).all()
        assert (fewer.upper >= linear.upper).all()
    assert 50 < compared < 200
