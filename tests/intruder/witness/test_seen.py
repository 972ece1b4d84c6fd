"""Tables found from one that fits: each fits, what they reach can be reached, always the same."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.intruder.bounds.bounder import Bounder, bounds
from discreet.intruder.bounds.part import Proof
from discreet.intruder.witness.seen import MOST_CELLS, Seen
from discreet.release.release import Release
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables


@given(st.data(), small_tables())
@settings(max_examples=60)
def test_every_table_fits_and_what_is_reached_is_in_some_table(data, array):
    margins = data.draw(releases(array.ndim))
    table = named(array)
    seen = Seen.of(Release.margins(table, letters(margins)), table)
    tables = fibre(array, margins).reshape(-1, array.size)
    cost = np.array(
        data.draw(st.lists(st.integers(-3, 3), min_size=array.size, max_size=array.size))
    )
    least = int((tables @ cost).min())
    assert not seen.reach(cost, least - 1, 2)
    seen.reach(cost, least, 2)
    listed = {tuple(row) for row in tables.tolist()}
    assert all(tuple(row) in listed for row in seen.tables.tolist())
    low, high = seen.ends(table.names, table.all().codes)
    assert (tables.min(0) <= low).all()
    assert (high <= tables.max(0)).all()


def test_nobody_is_moved_to_where_nobody_can_be():
    rng = np.random.default_rng(3)
    array = rng.multinomial(60, rng.dirichlet(np.ones(16))).reshape(2, 2, 2, 2)
    array[0, 1] = 0
    table = named(array).excluding([{"A": 0, "B": 1}])
    release = Release.margins(table, "A*C + B*D + C*D")
    seen = Seen.of(release, table)
    empty = seen.inside(("A", "B"), np.array([0, 1]))
    assert len(seen.tables) > 50
    assert not seen.tables[:, empty].any()
    assert not seen.reach(-empty.astype(np.int64), -1, 3)
    assert not seen.tables[:, empty].any()


def hard(people=200, seed=12):
    """2^8 with few people and many margins of four variables: no small move is possible."""
    rng = np.random.default_rng([seed, people])
    shares = np.ones(1)
    for _ in range(8):
        shares = np.multiply.outer(shares, rng.dirichlet([5.0, 5.0]))
    table = named(rng.multinomial(people, shares.ravel()).reshape((2,) * 8))
    sets = (43, 45, 71, 106, 149, 172, 177, 178, 226, 228, 22, 56, 84, 152)
    names = [[table.names[p] for p in range(8) if s >> p & 1] for s in sets]
    return table, Release.margins(table, names)


def test_walks_below_zero_reach_what_small_moves_do_not():
    table, release = hard()
    seen, cells = Seen.of(release, table), table.small()
    low, high = seen.ends(cells.names, cells.codes)
    narrow = np.flatnonzero(high - low < 3)
    assert len(narrow) > 5
    rest = cells.take(narrow)
    true = bounds(release, rest, proof=Proof(table))
    reached = 0
    for row, code in enumerate(rest.codes):
        cost = seen.inside(rest.names, code).astype(np.int64)
        goal = min(int(low[narrow[row]]) + 3, int(true.upper[row]))
        reached += seen.reach(-cost, -goal, 3)
    assert reached >= len(narrow) - 2
    for margin in release.tables:
        axes = [release.names.index(name) for name in margin.names]
        others = tuple(1 + a for a in range(8) if a not in axes)
        sums = seen.tables.reshape(-1, *(2,) * 8).sum(others)
        assert (sums == margin.dense()).all()


def test_the_same_tables_are_found_again():
    table, release = hard()
    one, other = Seen.of(release, table), Seen.of(release, table)
    cost = one.inside(("A",), np.array([1])).astype(np.int64) * 0
    cost[np.flatnonzero(table.dense().ravel() == 1)[0]] = -1
    assert one.reach(cost, -3, 3) is other.reach(cost, -3, 3)
    assert np.array_equal(one.tables, other.tables)


def test_where_none_are_looked_for():
    table = named(np.full((2, 2), 3))
    release = Release.margins(table, "A + B")
    other = named(np.array([[9, 0], [0, 0]]))
    assert Seen.of(release, table) is not None
    assert Seen.of(release, other) is None  # does not fit
    assert Seen.of(release.between({"A": 0, "B": 0}, 1, 5), table) is None
    large = named(np.ones((MOST_CELLS + 1, 2), int))
    assert Seen.of(Release.margins(large, "A + B"), large) is None
    nobody = Table.of([[0, 0], [0, 0]], A="ab", B="cd")
    assert len(Seen.of(Release.margins(nobody, "A + B"), nobody).tables) == 1


@pytest.mark.parametrize("seed", range(6))
def test_sharp_intervals_are_the_same_with_and_without_tables(seed):
    """Tables prove ends; they never move them."""
    rng = np.random.default_rng(seed)
    array = rng.multinomial(120, rng.dirichlet(np.full(64, 0.6))).reshape((2,) * 6)
    table = named(array)
    release = Release.margins(table, "A*B*C + C*D + D*E + E*F + A*F + B*E")
    cells = table.small()
    alone = Bounder(release, method="integer").bounds(cells)
    proven = Bounder(release).bounds(cells, Proof(table))
    assert alone.sharp
    assert proven.sharp
    assert np.array_equal(alone.lower, proven.lower)
    assert np.array_equal(alone.upper, proven.upper)
