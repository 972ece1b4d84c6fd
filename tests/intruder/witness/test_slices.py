"""Witnesses inside slices: every count that is claimed is that of a table that fits."""

from itertools import combinations

import numpy as np
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.bounds.part import Proof
from discreet.intruder.bounds.result import Status
from discreet.intruder.witness.slices import slice_witnesses
from discreet.release.release import Release
from oracle import fibre, letters, named, releases, small_tables


@given(st.data(), small_tables())
@settings(max_examples=40)
def test_what_is_seen_is_in_the_fibre(data, array):
    margins = data.draw(releases(array.ndim))
    table = named(array)
    release = Release.margins(table, letters(margins))
    seen = slice_witnesses(release, table, table.all(), beta=100)
    low, high = seen.low, seen.high
    tables = fibre(array, margins).reshape(-1, array.size)
    for cell in range(array.size):
        assert low[cell] in tables[:, cell]
        assert high[cell] in tables[:, cell]
    # a small table is one slice: integer programs settle it
    assert np.array_equal(low, tables.min(0))
    assert np.array_equal(high, tables.max(0))


def test_they_prove_what_the_shuttle_cannot():
    """2^8, all 3-way margins: outer intervals become witnessed."""
    rng = np.random.default_rng(8)
    array = rng.multinomial(1500, rng.dirichlet(np.full(256, 0.5))).reshape((2,) * 8)
    table = named(array)
    release = Release.margins(table, list(combinations("ABCDEFGH", 3)))
    cells = table.small().take(slice(0, 6))
    plain = bounds(release, cells, method="shuttle")
    proven = bounds(release, cells, method="shuttle", proof=Proof(table, 3))
    assert set(plain.status(3)) == {Status.OUTER}
    assert Status.OUTER not in proven.status(3)
    assert (proven.seen_low >= plain.lower).all()
    assert (proven.seen_high <= plain.upper).all()
