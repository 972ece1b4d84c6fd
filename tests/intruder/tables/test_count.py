"""The number of tables that fit: published counts, brute force, laws, estimates."""

import json
import math
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from clocks import set_clock
from discreet.errors import DataError, InconsistentRelease, SolverError, Stopped
from discreet.intruder.tables.count import count
from discreet.intruder.tables.enumerate import enumerate_tables
from discreet.intruder.tables.result import TableCount
from discreet.intruder.tables.split import merged, open_cells, split
from discreet.intruder.tables.twoway import TwoWay
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table
from oracle import fibre, letters, named, releases, small_tables

FIVE = [
    0,
    1,
    3,
    1,
    0,
    1,
    1,
    1,
    1,
    3,
    1,
    1,
    0,
    0,
    1,
    2,
    1,
    0,
    0,
    0,
    0,
    0,
    1,
    3,
    3,
    2,
    2,
    1,
    2,
    2,
    0,
    4,
]
TINY = small_tables(most_people=5, most_cells=12)


def corner(rows, columns):
    """A table with these row and column sums."""
    table, rows, columns = np.zeros((len(rows), len(columns)), int), list(rows), list(columns)
    for i, j in np.ndindex(table.shape):
        table[i, j] = min(rows[i], columns[j])
        rows[i] -= table[i, j]
        columns[j] -= table[i, j]
    return table


def all_margins(table, order):
    return Release.margins(table, list(combinations(table.names, order)))


def five():
    return named(np.array(FIVE).reshape((2,) * 5))


# Published numbers


def test_the_tract_of_dobra_fienberg_trottini_2003():
    found = count(Release.margins(load("example:tract"), "Race*Income + Income*Gender"))
    assert found.tables == 44 * 45 * 30 == 59_400
    assert found.exact
    assert found.method == "product of 3 two-way counts"


def test_the_table_of_diaconis_gangolli_1995():
    table = named(corner((220, 215, 93, 64), (108, 286, 71, 127)))
    assert count(Release.margins(table, "A + B")).tables == 1_225_914_276_768_514


@pytest.mark.parametrize(("order", "tables"), [(4, 705_884), (5, 2), (6, 1)])
def test_czech_autoworkers(order, tables):
    found = count(all_margins(load("example:czech"), order), exact=True)
    assert found.tables == tables


def test_a_table_where_linear_programs_are_not_sharp():
    assert count(all_margins(five(), 3)).tables == 4
    cells, tables = enumerate_tables(all_margins(five(), 3))
    place = next(k for k, code in enumerate(cells.codes.tolist()) if code == [0, 0, 1, 1, 0])
    assert (tables[:, place] == 1).all()


@pytest.mark.parametrize(
    ("n", "sums"), [(3, (1, 6, 21, 55)), (4, (1, 24, 282, 2008)), (5, (1, 120, 6210, 153040))]
)
def test_magic_squares(n, sums):
    """Square tables whose row and column sums are all r = 0, 1, 2, 3 (Stanley 1973)."""
    for r, tables in enumerate(sums):
        assert count(Release.margins(named(corner((r,) * n, (r,) * n)), "A + B")).tables == tables


def test_eight_by_eight_tables_of_row_and_column_sums_three():
    """OEIS A001500."""
    release = Release.margins(named(3 * np.eye(8, dtype=int)), "A + B")
    assert count(release).tables == 1_579_060_246_400


# Brute force


@given(st.data(), TINY)
@settings(max_examples=120)
def test_counts_are_those_of_brute_force(data, array):
    margins = data.draw(releases(array.ndim))
    found = count(Release.margins(named(array), letters(margins)))
    assert found.exact
    assert found.tables == len(fibre(array, margins))


@given(st.data(), TINY)
@settings(max_examples=80)
def test_enumerated_tables_are_those_of_brute_force(data, array):
    margins = data.draw(releases(array.ndim))
    cells, tables = enumerate_tables(Release.margins(named(array), letters(margins)))
    full = np.zeros((len(tables), *array.shape), int)
    full[(slice(None), *cells.codes.T)] = tables
    expected = fibre(array, margins)
    assert np.array_equal(np.unique(full, axis=0), np.unique(expected, axis=0))
    assert len(tables) == len(expected)


@given(st.data(), TINY)
@settings(max_examples=100)
def test_what_is_known_of_cells_counts(data, array):
    margins = data.draw(releases(array.ndim))
    release = Release.margins(named(array), letters(margins))
    tables = fibre(array, margins)
    for _ in range(data.draw(st.integers(1, 3))):
        cell = {a: data.draw(st.integers(0, n - 1)) for a, n in enumerate(array.shape)}
        for axis in data.draw(st.sets(st.integers(0, array.ndim - 1), max_size=array.ndim - 1)):
            del cell[axis]
        places = tuple(cell.get(a, slice(None)) for a in range(array.ndim))
        value = int(array[places].sum())
        low, high = data.draw(st.integers(0, value)), data.draw(st.integers(value, 6))
        release = release.between({chr(65 + a): code for a, code in cell.items()}, low, high)
        sums = tables[(slice(None), *places)].reshape(len(tables), -1).sum(1)
        tables = tables[(low <= sums) & (sums <= high)]
    assert count(release).tables == len(tables)
    assert len(enumerate_tables(release)[1]) == len(tables)


@given(st.data())
@settings(max_examples=60)
def test_two_way_counts_by_either_method(data):
    """Entries that are several cells, forbidden or capped."""
    shape = data.draw(st.tuples(st.integers(2, 4), st.integers(2, 3)))
    table = np.array(data.draw(st.lists(st.integers(0, 2), min_size=12, max_size=12)))
    table = table[: shape[0] * shape[1]].reshape(shape)
    entry = st.tuples(st.integers(0, 2), st.integers(0, 4))
    drawn = data.draw(st.lists(entry, min_size=table.size, max_size=table.size))
    sizes, caps = np.array(drawn).T.reshape(2, *shape)
    caps = np.where(
        sizes == 1, np.maximum(caps, table), np.minimum.outer(table.sum(1), table.sum(0))
    )
    sizes = np.where(table > 0, np.maximum(sizes, 1), sizes)
    caps = np.where(sizes > 0, caps, 0)
    every = fibre(table, [(0,), (1,)])
    ways = (
        math.prod(
            math.comb(int(x) + int(m) - 1, int(x)) if m else int(x == 0)
            for x, m in zip(t.ravel(), sizes.ravel(), strict=True)
        )
        for t in every[(every <= np.where(sizes > 0, caps, 0)).all((1, 2))]
    )
    two_way = TwoWay(table.sum(1), table.sum(0), sizes, caps)
    assert two_way.count() == two_way.turned.count() == sum(ways)


@given(st.data(), small_tables(most_people=12))
@settings(max_examples=40)
def test_estimates_agree_with_exact_counts(data, array):
    margins = data.draw(releases(array.ndim))
    release = Release.margins(named(array), letters(margins))
    exact = count(release, exact=True)
    found = count(release, exact=False, error=0.05, seed=7)
    assert found.exact == (found.standard_error is None)
    assert abs(found.tables - exact.tables) <= 5 * (found.standard_error or 0) + 1e-9 * exact.tables


# Laws


@given(st.data(), TINY)
@settings(max_examples=60)
def test_another_margin_never_adds_tables(data, array):
    margins = data.draw(releases(array.ndim))
    more = margins + data.draw(releases(array.ndim))
    table = named(array)
    fewer = count(Release.margins(table, letters(more))).tables
    assert 1 <= fewer <= count(Release.margins(table, letters(margins))).tables


@given(st.data(), TINY)
@settings(max_examples=40)
def test_other_labels_and_orders_keep_the_count(data, array):
    margins = letters(data.draw(releases(array.ndim)))
    names = [chr(65 + a) for a in range(array.ndim)]
    codes = [data.draw(st.permutations(range(n))) for n in array.shape]
    axes = data.draw(st.permutations(range(array.ndim)))
    moved = array[np.ix_(*codes)].transpose(axes)
    other = Table.of(moved, **{names[a]: [f"c{c}" for c in codes[a]] for a in axes})
    expected = count(Release.margins(named(array), margins)).tables
    assert count(Release.margins(other, margins)).tables == expected


@given(st.data(), TINY)
@settings(max_examples=60)
def test_enumerated_tables_differ_and_have_every_margin(data, array):
    release = Release.margins(named(array), letters(data.draw(releases(array.ndim))))
    cells, tables = enumerate_tables(release)
    assert len(np.unique(tables, axis=0)) == len(tables) == count(release).tables
    for counts in tables[:: max(1, len(tables) // 20)]:
        table = Table.from_cells(cells.variables, cells.codes, counts)
        assert all(table.margin(margin.names) == margin for margin in release.tables)


# Structure


def test_a_variable_in_no_margin_multiplies():
    """Each of the 12 and 8 people is in one of three towns: C(14, 2) x C(10, 2)."""
    income = named(np.array([[12, 0, 0], [5, 2, 1]]))
    found = count(Release.margins(income, "A"))
    assert found.tables == math.comb(14, 2) * math.comb(10, 2)
    assert found.method == "closed form"


def test_sixty_variables_of_which_two_are_released():
    rng = np.random.default_rng(1)
    names = [f"V{place}" for place in range(60)]
    codes = np.unique(rng.integers(0, 2, (50, 60)).astype(np.uint8), axis=0)
    variables = [Table.of([1, 1], **{name: "ab"}).variables[0] for name in names]
    table = Table.from_cells(variables, codes, np.ones(len(codes), np.int64))
    sums = table.margin(["V0"]).counts.tolist()
    found = count(Release.margins(table, "V0"))
    assert found.tables == math.prod(math.comb(n + 2**59 - 1, n) for n in sums)
    both = count(Release.margins(table, "V0 + V1"))
    assert both.log10 < count(Release.margins(table, "V0")).log10
    guess = count(Release.margins(table, "V0 + V1"), exact=False, seed=1)
    assert abs(guess.log10 - both.log10) < 0.1


def test_parts_are_multiplied_whatever_their_method():
    """Two strata: one leaves a 2x2x2 table without its three-way margin, one is empty."""
    array = np.stack([np.arange(1, 9).reshape(2, 2, 2), np.zeros((2, 2, 2), int)])
    release = Release.margins(named(array), "A*B*C + A*B*D + A*C*D")
    assert count(release).tables == len(fibre(array, [(0, 1, 2), (0, 1, 3), (0, 2, 3)]))


def test_long_lines_are_not_walked_step_by_step():
    """A 2x2x2 table has one degree of freedom: a billion tables, counted by their ends."""
    array = np.full((2, 2, 2), 10**9)
    assert count(Release.margins(named(array), "A*B + B*C + A*C")).tables == 2 * 10**9 + 1


def test_nobody():
    release = Release.margins(named(np.zeros((2, 2), int)), "A + B")
    assert count(release).tables == 1
    assert enumerate_tables(release)[1].shape == (1, 0)


# Estimates


@pytest.mark.slow
def test_twenty_estimates_of_the_czech_count():
    """Within three standard errors of 705,884 in at least 19 of 20, and unbiased over all."""
    release = all_margins(load("example:czech"), 4)
    found = [count(release, exact=False, draws=1_000, seed=seed) for seed in range(20)]
    errors = [(c.tables - 705_884) / c.standard_error for c in found]
    assert sum(abs(z) <= 3 for z in errors) >= 19
    assert max(c.relative_error for c in found) < 0.1
    assert abs(np.mean(errors)) < 3 / math.sqrt(20)


def test_the_estimate_of_the_table_of_diaconis_gangolli_1995():
    release = Release.margins(named(corner((220, 215, 93, 64), (108, 286, 71, 127))), "A + B")
    found = count(release, exact=False, seed=5)
    assert found.relative_error < 0.02
    assert abs(found.tables - 1_225_914_276_768_514) < 4 * found.standard_error


def test_a_seed_gives_its_estimate_again():
    release = all_margins(load("example:tract"), 1)
    again = [count(release, exact=False, seed=3, draws=500) for _ in range(2)]
    assert again[0] == again[1] != count(release, exact=False, seed=4, draws=500)


def test_what_takes_too_long_is_estimated_or_refused():
    release = all_margins(load("example:czech"), 3)
    found = count(release, effort=0.1)
    assert not found.exact
    assert found.method == "sequential importance sampling"
    assert 23 < found.log10 < 25
    with pytest.raises(SolverError, match="allow more effort"):
        count(release, exact=True, effort=0.01)
    with pytest.raises(SolverError, match="not all could be listed; allow more effort"):
        enumerate_tables(release, limit=10**9, effort=1e-4)
    with pytest.raises(DataError, match="more than 1,000 tables fit"):
        enumerate_tables(all_margins(load("example:czech"), 4), limit=1_000)


@pytest.mark.parametrize("step", [0.0, 1e6])
def test_the_clock_does_not_choose_how_to_count(step, monkeypatch):
    """On a machine that is busy, or one that is infinitely quick."""
    set_clock(monkeypatch, step)
    found = count(all_margins(load("example:czech"), 4))
    assert (found.tables, found.exact, found.stopped) == (705_884, True, None)
    drawn = count(all_margins(load("example:tract"), 1), exact=False, seed=3, draws=500)
    assert (drawn.draws, drawn.stopped) == (500, None)


def test_who_is_stopped_while_counting_says_so(monkeypatch):
    release = all_margins(load("example:czech"), 3)
    whole = count(release, effort=0.1)
    set_clock(monkeypatch, 1.0)
    with pytest.raises(Stopped, match="seconds while listing tables, before"):
        count(release, effort=0.1, seconds=1.5)
    found = count(release, effort=0.1, exact=False, seconds=28)
    assert 16 <= found.draws < whole.draws
    assert found.stopped.startswith("stopped by the limit of")
    assert f"{found.draws:,} tables were drawn. Allow more seconds." in found.stopped
    assert repr(found).endswith("draws, stopped)")
    assert found.to_json()["stopped"] == found.stopped
    with pytest.raises(Stopped, match="listing tables"):
        enumerate_tables(all_margins(load("example:czech"), 4), limit=10**6, seconds=5)
    two_way = Release.margins(named(np.full((4, 4), 3)), "A + B")
    with pytest.raises(Stopped, match="counting tables"):
        count(two_way, seconds=2)


def test_too_many_cells_are_refused():
    release = Release.margins(named(np.ones((40, 40, 2), int)), "A*B + B*C + A*C")
    with pytest.raises(SolverError, match="hang together"):
        count(release)
    wide = Release.margins(
        named(np.ones((2,) * 16, int)), list(combinations(letters([range(16)])[0], 3))
    )
    with pytest.raises(SolverError, match="65,536 cells by 560 margins"):
        count(wide)


# Wrong input and results


def test_contradictions_are_refused():
    release = Release.margins(named(np.array([[2, 0], [0, 2]])), "A + B")
    clash = release.insider({"A": 0, "B": 0}, 2).insider({"A": 0, "B": 1}, 2)
    for question in (count, enumerate_tables):
        with pytest.raises(InconsistentRelease, match="no table fits"):
            question(clash)
    only_fractions = all_margins(five(), 3).publish(
        dict(zip("ABCDE", [0, 0, 1, 1, 0], strict=True)), 0
    )
    for question in (count, enumerate_tables):
        with pytest.raises(InconsistentRelease, match="no table fits"):
            question(only_fractions)


@pytest.mark.parametrize("wrong", [{"draws": 0}, {"error": -1}])
def test_limits_that_make_no_sense_are_refused(wrong):
    with pytest.raises(DataError, match="above 0"):
        count(Release.margins(named(np.ones((2, 2), int)), "A"), **wrong)


def test_results_print_and_export():
    found = count(Release.margins(load("example:tract"), "Race*Income + Income*Gender"))
    assert repr(found) == "TableCount(59,400 tables: product of 3 two-way counts)"
    assert json.loads(json.dumps(found.to_json())) == {
        "tables": "59400",
        "exact": True,
        "standard_error": None,
        "log10": math.log10(59_400),
        "method": "product of 3 two-way counts",
        "stopped": None,
    }
    guess = TableCount.estimate(math.log(2e6), 0.015, "a guess", draws=9_000, effective=700.0)
    assert repr(guess) == (
        "TableCount(about 2e+06 tables, give or take 1.5%: a guess, 9,000 draws)"
    )
    assert guess.to_json()["tables"] == pytest.approx(2e6)
    assert guess.to_json()["standard_error"] == pytest.approx(3e4)


def test_numbers_beyond_floats_and_beyond_pythons_digits():
    found = TableCount(7**10_000, True, "closed form")
    assert found.to_json()["tables"].startswith("9558728856")
    assert len(found.to_json()["tables"]) == 8_451
    assert str(found) == "10^8,450.98 tables"
    guess = TableCount.estimate(1e5, 0.1, "a guess", draws=100, effective=20.0)
    assert guess.log10 == pytest.approx(1e5 / math.log(10))
    assert guess.relative_error == pytest.approx(0.1, rel=1e-6)
    assert not guess.reliable
    assert json.dumps(guess.to_json())
    assert "not reliable" in str(guess)


def test_blocks_are_what_no_sum_ties_together():
    release = Release.margins(load("example:tract"), "Race*Income + Income*Gender")
    assert len(split(merged(*open_cells(release))).blocks) == 3
