"""Linear bounds by projections: against the simplex, against enumeration, and the exact proof."""

import math
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from discreet.intruder.bounds.bounder import bounds
from discreet.intruder.bounds.part import Part
from discreet.intruder.bounds.projection.coordinates import Coordinates, dot, helmert
from discreet.intruder.bounds.projection.lanes import Program as Cost
from discreet.intruder.bounds.projection.projection import Projection
from discreet.intruder.bounds.projection.reach import reach, reach_sums, values
from discreet.intruder.bounds.result import Rung
from discreet.intruder.bounds.work import Work
from discreet.release.release import Release
from discreet.spreading import workers
from oracle import fibre, letters, named, releases, small_tables
from projectioncases import both_ways, random_release


def held_against_simplex(seed: int, most: int, cells: int) -> int:
    """Both ends of small cells by both methods; how many there were."""
    table, release = random_release(seed, most)
    projection, program, open_cells, asked = both_ways(table, release, cells)
    group = open_cells.group(asked.names, asked.codes)
    shape = projection.coordinates.shape
    places = np.ravel_multi_index(tuple(asked.codes.astype(np.int64).T), shape)
    tasks = values(projection, [np.array([place]) for place in places])
    for i, task in enumerate(tasks):
        true = program.optimum(np.flatnonzero(group == i // 2), task.side)[0]
        assert task.bound is not None
        assert task.reached, f"{seed}: {task} did not end"
        assert task.value == pytest.approx(true, abs=1e-4)
        # the proven bound is whole, and never inside the true interval
        if task.side > 0:
            assert math.floor(true + 1e-6) <= task.bound <= true + 1e-3
        else:
            assert true - 1e-3 <= task.bound <= math.ceil(true - 1e-6)
    return len(tasks)


@pytest.mark.parametrize("seed", range(24))
def test_against_the_simplex(seed):
    held_against_simplex(seed, 400, 12)


def test_reach_finds_the_same_whole_ends():
    for seed in range(12):
        table, release = random_release(seed)
        projection, program, open_cells, asked = both_ways(table, release, 20)
        if not len(asked):
            continue
        shape = projection.coordinates.shape
        places = np.ravel_multi_index(tuple(asked.codes.astype(np.int64).T), shape)
        low, high = projection.low.ravel()[places], projection.high.ravel()[places]
        found = reach(projection, places, low, high)
        group = open_cells.group(asked.names, asked.codes)
        for i in range(len(asked)):
            members = np.flatnonzero(group == i)
            least, most = (program.optimum(members, side)[0] for side in (-1, 1))
            assert found.lower[i] == math.ceil(least - 1e-5)
            assert found.upper[i] == math.floor(most + 1e-5)
        assert (found.fit_low == found.lower).all()
        assert (found.fit_high == found.upper).all()
        for beta in (1, 3):
            asked_for = reach(projection, places, low, high, beta)
            wide = found.upper - found.lower >= beta
            assert (asked_for.fit_high - asked_for.fit_low >= beta).tolist() == wide.tolist()
            assert (asked_for.upper - asked_for.lower >= beta).tolist() == wide.tolist()


def test_sums_of_cells():
    for seed in range(8):
        table, release = random_release(seed, 200)
        projection, program, open_cells, _ = both_ways(table, release)
        names = release.names[:2]
        sizes = [v.size for v in release.variables[:2]]
        codes = np.argwhere(np.ones(sizes, bool))
        group = np.indices(projection.coordinates.shape)[:2].reshape(2, -1)
        group = np.ravel_multi_index(tuple(group), sizes)
        total = np.full(len(codes), table.total)
        found = reach_sums(projection, group, total * 0, total)
        members = open_cells.group(names, codes.astype(np.uint8))
        for i in range(len(codes)):
            inside = np.flatnonzero(members == i)
            ends = [program.optimum(inside, side)[0] if len(inside) else 0 for side in (-1, 1)]
            assert found.lower[i] == math.ceil(ends[0] - 1e-5)
            assert found.upper[i] == math.floor(ends[1] + 1e-5)


@settings(max_examples=60)
@given(small_tables(), st.data())
def test_any_force_proves_a_bound_that_holds(array, data):
    """Whatever the iteration suggests, the bound holds for every table that fits."""
    margins = data.draw(releases(array.ndim))
    release = Release.margins(named(array), letters(margins))
    tables = fibre(array, margins)
    order = [i for i, v in enumerate(named(array).names) if v in release.names]
    tables = tables.reshape(len(tables), *array.shape)
    tables = tables.sum(tuple(1 + a for a in range(array.ndim) if a not in order))
    tables = tables.reshape(len(tables), -1)
    shape = [v.size for v in release.variables]
    low = np.zeros(shape, np.int64)
    projection = Projection.of(release, low, low + int(array.sum()))
    rng = np.random.default_rng(data.draw(st.integers(0, 10**6)))
    cell = np.array([int(rng.integers(tables.shape[1]))])
    cost = Cost(cell, np.array([float(rng.choice([-1, 1]))]), low.ravel()[cell], low.ravel()[cell])
    over, under = projection.proven(cost, rng.normal(0, 3, tables.shape[1]))
    least = min(int(value) for value in (tables[:, cell[0]] * cost.cost[0]))
    assert Fraction(over, under) <= least


@settings(max_examples=30)
@given(small_tables(), st.data())
def test_every_table_is_within_linear_bounds(array, data):
    margins = data.draw(releases(array.ndim))
    table = named(array)
    release = Release.margins(table, letters(margins))
    part = Part(release)
    codes = np.argwhere(np.ones([v.size for v in release.variables], bool)).astype(np.uint8)
    found = part.by_projection(release.names, codes, None, 1 << 30)
    tables = fibre(array, margins).reshape(-1, *array.shape)
    gone = tuple(1 + i for i, name in enumerate(table.names) if name not in release.names)
    tables = tables.sum(gone).reshape(len(tables), -1)
    assert (found.lower <= tables.min(0)).all()
    assert (found.upper >= tables.max(0)).all()
    assert (found.fit_low <= tables.min(0)).all()
    assert (found.fit_high >= np.minimum(tables.max(0), found.upper)).all()


def test_coordinates():
    """The products are orthogonal, and those of the margins tell the margins and nothing else."""
    rng = np.random.default_rng(1)
    for size in (1, 2, 3, 5):
        rows = helmert(size)
        assert np.array_equal(rows @ rows.T, np.diag((rows**2).sum(1)))
    coordinates = Coordinates((2, 3, 4), ((0, 1), (2,)))
    table = rng.integers(0, 9, (2, 3, 4))
    kept = coordinates.kept(table.astype(float))
    assert kept.sum(2) == pytest.approx(table.sum(2))
    assert kept.sum((0, 1)) == pytest.approx(table.sum((0, 1)))
    assert coordinates.kept(kept) == pytest.approx(kept)
    assert coordinates.released.sum() == 2 * 3 + 4 - 1
    release = Release.margins(named(table), "A*B + C")
    assert np.array_equal(
        coordinates.told(release), np.where(coordinates.released, coordinates.analysed(table), 0)
    )
    assert dot(np.array([2**60, -3]), np.array([2**30, 5])) == 2**90 - 15


def test_linear_bounds_of_a_release():
    """All 3-way margins of a sparse table: as the simplex has them, and with their rung."""
    rng = np.random.default_rng(5)
    array = np.bincount(rng.choice(512, 500, p=rng.dirichlet(np.full(512, 0.3))), minlength=512)
    table = named(array.reshape([2] * 9))
    release = Release.margins(table, list(combinations(table.names, 3)))
    cells = table.small(2).take(slice(0, 40))
    found = bounds(release, cells, method="linear")
    assert found.method == "linear"
    assert found.proven(Rung.LINEAR).all()
    assert found.rung(10**6) in (Rung.LINEAR, Rung.INTEGER)
    part = Part(release)
    simplex = part.by_programs(release.names, cells.codes, None)
    assert np.array_equal(found.lower, simplex.lower)
    assert np.array_equal(found.upper, simplex.upper)


def test_sums_of_products_are_exact():
    rng = np.random.default_rng(2)
    for _ in range(200):
        left, right = (
            rng.integers(-(2**most), 2**most, 30) for most in rng.integers(1, [62, 58], 2)
        )
        exact = sum(a * b for a, b in zip(left.tolist(), right.tolist(), strict=True))
        assert dot(left, right) == exact
    assert dot(left[:0], right[:0]) == 0


@pytest.mark.parametrize("seed", [5, 6, 10])
def test_limited_work_leaves_the_same_open_on_any_number_of_cores(monkeypatch, seed):
    """What a stream finds serves its own tasks: where work ends, streams are no matter of cores."""
    _, release = random_release(seed)
    for many in ("FALLING", "RISING"):
        monkeypatch.setattr(f"discreet.intruder.bounds.projection.reach.{many}", 2)
    found = []
    for cores in (1, 2, 16):
        with workers(cores):
            projection = Part(release).projection(1 << 30)
            places, low, high = (
                np.arange(projection.low.size),
                *(end.ravel() for end in (projection.low, projection.high)),
            )
            work = Work(150.0 * projection.coordinates.cost * len(places))
            reached = reach(projection, places, low, high, work=work)
            found.append((*reached, work.left, work.short))
    for other in found[1:]:
        assert all(map(np.array_equal, other, found[0]))
