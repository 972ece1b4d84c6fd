"""Witnesses and proofs against brute force."""

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.data.codebook import Variable
from discreet.errors import DataError, InconsistentRelease
from discreet.intruder.witness.program import Moves
from discreet.intruder.witness.search import Witnesses, witnesses
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables


@given(st.data(), small_tables())
@settings(max_examples=60, deadline=None)
def test_what_is_seen_is_in_the_fibre_and_bounds_of_decomposable_releases_are_attained(data, array):
    margins = data.draw(releases(array.ndim))
    table = named(array)
    release = Release.margins(table, letters(margins))
    found = witnesses(release, table, table.all())
    tables = fibre(array, margins).reshape(-1, array.size)
    for cell in range(array.size):
        assert {found.low[cell], found.high[cell]} <= set(tables[:, cell])
    assert found.tables <= len(tables)
    if release.formula.is_decomposable:
        assert np.array_equal(found.low, tables.min(0))
        assert np.array_equal(found.high, tables.max(0))


def test_most_ends_of_random_releases_are_attained():
    rng = np.random.default_rng(4)
    attained = []
    for _ in range(25):
        array = rng.poisson(0.8, (2, 2, 3))
        if array.sum() == 0:
            continue
        margins = [(0, 1), (0, 2), (1, 2)]
        table = named(array)
        release = Release.margins(table, letters(margins))
        found = witnesses(release, table, table.all())
        tables = fibre(array, margins).reshape(-1, array.size)
        attained += [found.low == tables.min(0), found.high == tables.max(0)]
    assert np.concatenate(attained).mean() > 0.95


@given(st.data(), small_tables(most_people=6))
@settings(max_examples=40, deadline=None)
def test_what_is_known_of_cells_restricts_the_witnesses(data, array):
    margins = data.draw(releases(array.ndim))
    table = named(array)
    cell = tuple(data.draw(st.integers(0, n - 1)) for n in array.shape)
    low = data.draw(st.integers(0, int(array[cell])))
    high = data.draw(st.integers(int(array[cell]), 8))
    labels = dict(zip(table.names, cell, strict=True))
    release = Release.margins(table, letters(margins)).between(labels, low, high)
    found = witnesses(release, table, table.all())
    tables = fibre(array, margins)
    tables = tables[(tables[(slice(None), *cell)] >= low) & (tables[(slice(None), *cell)] <= high)]
    tables = tables.reshape(-1, array.size)
    assert (found.low >= tables.min(0)).all()
    assert (found.high <= tables.max(0)).all()


def test_a_search_stops_at_beta_and_repeats_for_a_seed():
    table = load("example:tract")
    release = Release.margins(table, "Race*Income + Income*Gender")
    cells = table.nonzero()
    first = witnesses(release, table, cells, beta=1, seed=3)
    again = witnesses(release, table, cells, beta=1, seed=3)
    assert np.array_equal(first.low, again.low)
    assert np.array_equal(first.high, again.high)
    assert (first.spread >= 1).all()
    assert first.tables < witnesses(release, table, cells, seed=3).tables
    assert "cells in" in repr(first)
    held = witnesses(release, table, cells, lower=cells.counts, upper=cells.counts)
    assert held.tables == 1


def sparse_table(variables=30, records=300, seed=5):
    """Answers of few hidden classes, nearly every record a cell of its own."""
    rng = np.random.default_rng(seed)
    sizes = rng.integers(2, 4, variables)
    chance = rng.dirichlet(np.full(3, 0.4), (4, variables))
    member = rng.integers(0, 4, records)
    codes = np.empty((records, variables), np.uint8)
    for column, size in enumerate(sizes):
        cuts = np.cumsum(chance[member, column, :size], axis=1)
        draw = rng.random(records) * cuts[:, -1]
        codes[:, column] = (draw[:, None] > cuts[:, :-1]).sum(axis=1)
    axes = [Variable(f"V{i}", tuple(map(str, range(n)))) for i, n in enumerate(sizes)]
    return Table.from_cells(axes, codes, np.ones(records, np.int64))


def test_a_table_too_large_to_be_dense(monkeypatch):
    table = sparse_table()
    names = table.names
    release = Release.margins(table, [names[i : i + 3] for i in range(0, 28, 2)])
    kept = []
    moved = Moves.moved

    def keep(self, *arguments):
        kept.append(moved(self, *arguments))
        return kept[-1]

    monkeypatch.setattr(Moves, "moved", keep)
    cells = table.small().take(slice(20))
    found = witnesses(release, table, cells, beta=1)
    assert (found.spread >= 1).mean() > 0.8
    new = [other for other in kept if other is not None]
    assert new
    for other in new[:5]:
        assert other != table
        assert all(other.margin(margin.names) == margin for margin in release.tables)


def test_a_start_that_does_not_fit_and_cells_of_a_margin_are_refused():
    table = load("example:tract")
    release = Release.margins(table, "Race*Income + Income*Gender")
    wrong = Table(table.variables, table.codes, table.counts + 1)
    with pytest.raises(InconsistentRelease, match="start from"):
        witnesses(release, wrong, table.small())
    with pytest.raises(DataError, match="whole tables"):
        witnesses(release, table, table.margin("Race").all())
    cell = dict(next(iter(table.nonzero())))
    with pytest.raises(InconsistentRelease, match="the release says"):
        witnesses(release.between(cell, 0, 1), table, table.small())
    none = witnesses(release, table, table.small().take(slice(0)))
    assert isinstance(none, Witnesses)
    assert len(none) == 0
