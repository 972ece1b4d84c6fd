import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest
from hypothesis import assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from discreet.data.codebook import Role, Variable
from discreet.errors import CodebookError, DataError, FormulaError
from discreet.table.load import load
from discreet.table.table import Table


@st.composite
def tables(draw, most=4):
    shape = draw(arrays.array_shapes(min_dims=1, max_dims=most, min_side=1, max_side=4))
    dense = draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 3)))
    axes = {f"V{p}": [f"c{k}" for k in reversed(range(size))] for p, size in enumerate(shape)}
    return Table.of(dense, **axes)


@st.composite
def tables_with_names(draw, least=0):
    table = draw(tables())
    names = draw(st.lists(st.sampled_from(table.names), unique=True, min_size=least))
    return table, names


@given(tables_with_names())
def test_a_margin_is_the_sum_over_the_other_axes(case):
    table, names = case
    places = [table.names.index(name) for name in names]
    others = tuple(place for place in range(len(table.names)) if place not in places)
    kept = [name for name in table.names if name in names]
    expected = table.dense().sum(axis=others)
    margin = table.margin(names)
    assert margin.names == tuple(names)
    assert margin.total == table.total
    assert (margin.dense() == expected.transpose([kept.index(name) for name in names])).all()
    assert (margin.counts > 0).all()


@given(tables_with_names(), st.data())
def test_a_margin_of_a_margin_is_a_margin(case, data):
    table, names = case
    inner = data.draw(st.permutations(names))[: len(names) // 2]
    assert table.margin(names).margin(inner) == table.margin(inner)


@given(tables_with_names())
def test_to_collapse_is_to_sum(case):
    table, names = case
    axes = tuple(table.names.index(name) for name in names)
    assert (table.collapse(*names).dense() == table.dense().sum(axis=axes)).all()


@given(tables(), st.data())
def test_axes_go_round_and_back(table, data):
    names = data.draw(st.permutations(table.names))
    turned = table.reorder(names)
    assert (turned.dense() == table.dense().transpose([table.names.index(n) for n in names])).all()
    assert turned.reorder(table.names) == table


@given(tables_with_names(least=1), st.data())
def test_a_slice_is_a_row_of_the_array(case, data):
    table, names = case
    chosen = {n: data.draw(st.sampled_from(table.variable(n).categories)) for n in names}
    index = tuple(
        table.variable(n).code(chosen[n]) if n in chosen else slice(None) for n in table.names
    )
    part = table.slice(**chosen)
    assert part.names == tuple(n for n in table.names if n not in chosen)
    assert (part.dense() == table.dense()[index]).all()


@given(tables(), st.data())
def test_merging_categories_keeps_the_totals(table, data):
    name = data.draw(st.sampled_from(table.names))
    variable = table.variable(name)
    size = variable.size
    groups = data.draw(st.lists(st.sampled_from("ghi"), min_size=size, max_size=size))
    merged = table.merge(name, groups)
    assert merged.total == table.total
    assert merged.variable(name).categories == tuple(dict.fromkeys(groups))
    assert merged.collapse(name) == table.collapse(name)
    axis = table.names.index(name)
    for code, group in enumerate(merged.variable(name).categories):
        members = [k for k, g in enumerate(groups) if g == group]
        expected = table.dense().take(members, axis).sum(axis)
        assert (merged.dense().take(code, axis) == expected).all()
    assert table.merge(name, dict(zip(variable.categories, groups, strict=True))) == merged


@given(tables(), st.data())
def test_lookup_equals_indexing(table, data):
    sizes = [st.integers(0, size - 1) for size in table.shape]
    rows = data.draw(st.lists(st.tuples(*sizes), max_size=10))
    codes = np.array(rows, np.uint8).reshape(len(rows), len(table.shape))
    assert table.lookup(codes).tolist() == [int(table.dense()[row]) for row in rows]


@given(tables())
def test_all_cells_small_cells_and_others(table):
    dense = table.dense()
    every = table.all()
    assert len(every) == table.size
    assert every.counts.tolist() == dense.ravel().tolist()
    small = table.small(2)
    assert len(small) == ((dense > 0) & (dense <= 2)).sum()
    assert set(small.counts.tolist()) <= {1, 2}
    assert small.counts.tolist() == table.lookup(small.codes).tolist()
    assert table.nonzero().counts.sum() == table.total == dense.sum()
    assert len(table) == np.count_nonzero(dense)


@settings(max_examples=30)
@given(tables(), st.sampled_from(["pandas", "polars", "arrow"]), st.booleans())
def test_a_frame_has_all_that_the_table_has(table, kind, zeros):
    assume(table.total)
    assert Table.read(table.to_frame(kind, zeros=zeros), count="count") == table


@given(tables(), tables())
def test_equal_tables_have_equal_cells(a, b):
    same = a.names == b.names and a.shape == b.shape and (a.dense() == b.dense()).all()
    assert (a == b) == same
    assert a == Table.from_cells(a.variables, a.codes[::-1], a.counts[::-1])
    assert hash(a) == hash(Table.from_cells(a.variables, a.codes, a.counts))


def test_equality_reads_the_categories():
    a = Table.of([1, 2], A=["x", "y"])
    assert a != Table.of([1, 2], A=["x", "z"])
    assert a != Table.of([1, 2], B=["x", "y"])
    assert a != Table.of([2, 1], A=["x", "y"])
    assert a != "a"


@pytest.fixture
def tract():
    return load("example:tract")


def test_a_margin_by_name_or_formula(tract):
    assert tract.margin("Race") == tract.margin(["Race"])
    assert tract.margin("Race*Gender") == tract.margin(["Gender", "Race"])
    spaced = Table.of([[1, 2]], **{"Age group": ["x"], "A": ["y", "z"]})
    assert spaced.margin("Age group").total == 3


def test_a_variable_may_have_any_name():
    table = Table.of([[1, 2]], array=["x"], self=["y", "z"])
    assert table.slice(self="z").total == 2


def test_what_cannot_be_taken_from_a_table(tract):
    with pytest.raises(DataError, match="has no variable 'Age'; it has Gender, Race, Income"):
        tract.margin(["Age"])
    with pytest.raises(DataError, match="the margin names 'Race' twice; name it once"):
        tract.margin(["Race", "Race"])
    with pytest.raises(FormulaError, match=r"'Race \+ Income' names 2 margins; name one"):
        tract.margin("Race + Income")
    with pytest.raises(FormulaError):
        tract.margin("@/etc/hostname")
    with pytest.raises(DataError, match="has no variable 'Age'"):
        tract.collapse("Age")
    with pytest.raises(
        DataError, match="Race, Income is not an order of Gender, Race, Income; name"
    ):
        tract.reorder(["Race", "Income"])
    with pytest.raises(CodebookError, match="'Race' has no category 'Green'; it has White, Black"):
        tract.slice(Race="Green")
    with pytest.raises(CodebookError, match="'Race' has no category 'Green'"):
        tract.merge("Race", {"Green": "Other"})
    with pytest.raises(CodebookError, match="'Race' has 3 categories but 2 groups"):
        tract.merge("Race", ["a", "b"])
    with pytest.raises(
        DataError, match="there is no frame 'spark'; choose pandas, polars or arrow"
    ):
        tract.to_frame("spark")


@pytest.mark.parametrize(
    ("array", "message"),
    [
        ([[1]], r"an array of shape \(1, 1\) does not fit categories of sizes \(2,\)"),
        ([1, -1], r"a count is -1 \(int\); counts are whole numbers from 0 on"),
        ([1, 0.5], r"a count is 1.0 \(float\)"),
        ([True, False], r"a count is True \(bool\)"),
        ([1, None], r"a count is None \(NoneType\)"),
        (["1", "2"], r"a count is '1' \(str\)"),
        ([2**53, 1], "the counts sum to 9,007,199,254,740,993, which is too large to keep exact"),
        (np.array([2**63, 0], np.uint64), "too large to keep exact"),
        ([2**70, 0], "too large to keep exact"),
    ],
)
def test_what_is_no_table(array, message):
    with pytest.raises(DataError, match=message):
        Table.of(array, A=["x", "y"])


def test_the_largest_table_of_counts_is_exact():
    table = Table.of([[2**53 - 1, 0], [0, 1]], A=["x", "y"], B=["x", "y"])
    assert table.margin("A").counts.tolist() == [2**53 - 1, 1]
    assert table.margin([]).total == 2**53


def test_hierarchies_and_roles_go_with_the_variable(tract):
    race = tract.variable("Race")
    (coarse,) = race.hierarchy.levels(race.categories)
    merged = tract.merge("Race", coarse)
    assert merged.variable("Race").categories == ("White", "Black or Chinese")
    assert merged.variable("Race").role is Role.IDENTIFYING
    assert merged.margin("Race").variable("Race") == merged.variable("Race")


def test_what_was_dropped_is_remembered(tract):
    known = Table.from_cells(
        tract.variables, tract.codes, tract.counts, dropped=7, sampling_fraction=0.5
    )
    made = [known.margin("Race"), known.collapse("Race"), known.slice(Race="White")]
    for table in [*made, known.merge("Race", ["a", "a", "b"]), known.reorder(known.names[::-1])]:
        assert (table.dropped, table.sampling_fraction) == (7, 0.5)


def test_counts_cannot_be_changed(tract):
    with pytest.raises(ValueError, match="read-only"):
        tract.counts[0] = 5
    with pytest.raises(ValueError, match="read-only"):
        tract.codes[0] = 1


def test_how_tables_show(tract):
    assert repr(tract) == "Table(Gender 2 x Race 3 x Income 3: 742 in 16 of 18 cells)"
    assert repr(tract.margin([])) == "Table(total: 742 in 1 of 1 cells)"
    assert repr(tract.small()) == "Cells(4 of Gender x Race x Income)"
    assert f"<code>{tract!r}</code>" in tract._repr_html_()
    assert tract._repr_html_().count("<tr") == 11
    assert "6 more rows" in tract._repr_html_()
    assert Table.of([1], count=["x"])._repr_html_().count("count_") == 1


def test_cells_are_mappings_from_variable_to_category(tract):
    cells = tract.small(1)
    assert next(iter(cells)) == cells.label(0)
    assert set(cells.label(0)) == set(tract.names)
    assert tract.slice(**cells.label(0)).total == 1
    assert (cells.project(["Income"])[:, 0] == cells.codes[:, 2]).all()
    assert cells.shape == tract.shape


def test_frames_of_cells(tract):
    frame = tract.small().to_frame(upper=[9, 9, 9, 9])
    assert isinstance(frame, pd.DataFrame)
    assert list(frame.columns) == ["Gender", "Race", "Income", "count", "upper"]
    assert list(frame["Race"].cat.categories) == ["White", "Black", "Chinese"]
    assert isinstance(tract.to_frame("polars"), pl.DataFrame)
    assert tract.to_frame("polars")["Race"].dtype == pl.Enum(["White", "Black", "Chinese"])
    assert isinstance(tract.to_frame("arrow"), pa.Table)
    assert len(tract.to_frame(zeros=True)) == 18


def test_a_variable_called_count():
    table = Table.of([[1, 2]], count=["x"], B=["y", "z"])
    with pytest.raises(DataError, match="'count' names a variable already; choose another name"):
        table.to_frame()
    frame = table.to_frame(count="n")
    assert list(frame.columns) == ["count", "B", "n"]
    assert Table.read(frame, count="n") == table


def test_a_dense_view_has_a_limit():
    many = Table.from_cells(
        [Variable(f"V{p}", ("a", "b")) for p in range(40)],
        np.ones((1, 40), np.uint8),
        np.ones(1, np.int64),
    )
    with pytest.raises(
        DataError, match="has 1,099,511,627,776 cells, too many to hold at once; take"
    ):
        many.dense()
    with pytest.raises(DataError, match="too many to hold at once"):
        many.to_frame(zeros=True)


def test_xarray_is_optional(tract, monkeypatch):
    monkeypatch.setitem(__import__("sys").modules, "xarray", None)
    with pytest.raises(DataError, match="xarray is not installed; pip install xarray"):
        tract.to_xarray()


def test_an_xarray_has_the_labels(tract):
    pytest.importorskip("xarray", reason="xarray is not installed")
    array = tract.to_xarray()
    assert int(array.sel(Gender="Male").sum()) == tract.slice(Gender="Male").total


@pytest.fixture(scope="module")
def hundreds():
    """300 variables, 2,000 records; the table has some 10^120 cells."""
    rng = np.random.default_rng(300)
    sizes = rng.integers(1, 5, 300)
    codes = np.stack([rng.integers(0, size, 2000) for size in sizes], axis=1).astype(np.uint8)
    codes[1000:] = codes[:1000]
    variables = [Variable(f"V{p}", tuple("abcd"[:size])) for p, size in enumerate(sizes)]
    return Table.from_cells(variables, codes, np.ones(2000, np.int64)), codes


def test_three_hundred_variables_work(hundreds):
    table, codes = hundreds
    assert (len(table), table.total, len(table.names)) == (1000, 2000, 300)
    assert (table.counts == 2).all()
    assert (table.lookup(codes) == 2).all()
    assert (table.lookup(codes[:, ::-1] * 0).sum()) == 0
    margin = table.margin(["V7", "V250"])
    for row, count in zip(margin.codes, margin.counts, strict=True):
        assert count == (codes[:, [7, 250]] == row).all(axis=1).sum()
    assert table.reorder(table.names[::-1]).reorder(table.names) == table
    assert len(table.small()) == 1000
    merged = table.merge("V3", ["a"] * table.variable("V3").size)
    assert merged.total == 2000
    assert "... 296 more ... x V299" in repr(table)
    assert repr(table).endswith(f": 2,000 in 1,000 of 10^{len(str(table.size)) - 1} cells)")
    with pytest.raises(DataError, match="has 300 axes, an array at most 64"):
        table.dense()
    with pytest.raises(DataError, match=r"the table has 10\^\d+ cells, too many to hold at once"):
        table.all()


def test_three_hundred_variables_travel(hundreds, tmp_path):
    table, _ = hundreds
    table.write(tmp_path / "x.parquet")
    assert Table.read(tmp_path / "x.parquet", count="count") == table
