import os

import numpy as np
import pandas as pd
import pytest
from hypothesis import HealthCheck, assume, given, settings
from hypothesis import strategies as st
from hypothesis.extra import numpy as arrays

from discreet.data.codebook import Codebook
from discreet.errors import DataError, OutputError
from discreet.table.load import load
from discreet.table.table import Table

LABELS = st.text(st.characters(exclude_categories=["C"]), min_size=1).map(str.strip).filter(bool)


@st.composite
def tables(draw):
    shape = draw(arrays.array_shapes(min_dims=1, max_dims=3, min_side=1, max_side=3))
    dense = draw(arrays.arrays(np.int64, shape, elements=st.integers(0, 2**40)))
    assume(dense.any())
    names = draw(
        st.lists(
            LABELS.filter(lambda name: name.lower() != "count"),
            min_size=len(shape),
            max_size=len(shape),
            unique_by=str.lower,
        )
    )
    axes = {
        name: draw(st.lists(LABELS, min_size=size, max_size=size, unique=True))
        for name, size in zip(names, shape, strict=True)
    }
    return Table.of(dense, **axes)


def listed(table):
    return Codebook.of({v.name: {"categories": v.categories} for v in table.variables})


@settings(max_examples=25, suppress_health_check=[HealthCheck.function_scoped_fixture])
@given(tables(), st.booleans())
def test_what_is_written_is_read(tmp_path, table, zeros):
    table.write(tmp_path / "x.parquet", zeros=zeros)
    assert Table.read(tmp_path / "x.parquet", count="count") == table
    table.write(tmp_path / "x.csv", zeros=zeros)
    assert Table.read(tmp_path / "x.csv", count="count", codebook=listed(table)) == table
    assert sorted(os.listdir(tmp_path)) == ["x.csv", "x.parquet"]


def test_a_csv_without_a_codebook_is_sorted(tmp_path):
    table = Table.of([[1, 2], [3, 4]], A=["10", "9"], B=["y", "x"])
    table.write(tmp_path / "x.csv")
    found = Table.read(tmp_path / "x.csv", count="count")
    assert [v.categories for v in found.variables] == [("9", "10"), ("x", "y")]
    assert found.total == table.total


@pytest.fixture
def cells(tmp_path):
    path = tmp_path / "cells.csv"
    path.write_text("Sex,Age,n,w\nf,1,3,.5\nm,1,0,.5\nf,2,4,.5\nm,2,1,.5\n")
    return path


def test_the_count_and_the_weights_are_no_variables(cells):
    table = Table.read(cells, count="n", codebook=Codebook.of(weights="w", sampling_fraction=0.1))
    assert table.names == ("Sex", "Age")
    assert table.dense().tolist() == [[3, 4], [0, 1]]
    assert table.sampling_fraction == 0.1


def test_columns_left_out_are_summed_over(cells):
    assert Table.read(cells, count="n", columns=["Age"]).dense().tolist() == [3, 5]
    assert Table.read(cells, count="n", columns="Age*Sex").names == ("Sex", "Age")
    assert Table.read(cells, count="n", columns="Sex").dense().tolist() == [7, 1]


def test_cells_from_a_frame_or_a_database(cells, tmp_path):
    duckdb = pytest.importorskip("duckdb")
    frame = pd.read_csv(cells)
    with duckdb.connect(tmp_path / "x.duckdb") as connection:
        connection.register("frame", frame)
        connection.execute("CREATE TABLE cells AS FROM frame")
    book = Codebook.of(weights="w")
    expected = Table.read(cells, count="n", codebook=book)
    assert Table.read(frame, count="n", codebook=book) == expected
    url = f"duckdb://{tmp_path}/x.duckdb"
    assert Table.read(url, count="n", codebook=book, table="cells") == expected


def test_cells_with_a_missing_value_may_be_dropped():
    frame = pd.DataFrame({"A": ["x", None, "y"], "n": [3, 4, 5]})
    assert Table.read(frame, count="n").dense().tolist() == [3, 5, 4]
    table = Table.read(frame, count="n", codebook=Codebook.of(missing="drop"))
    assert (table.dense().tolist(), table.dropped) == ([3, 5], 4)


@pytest.mark.parametrize(
    "rows", ["x,1,3\ny,1,2\nx,1,4\n", "x,1,3\n x ,1,4\ny,1,2\n"], ids=["same", "spaces"]
)
def test_a_cell_that_stands_twice(tmp_path, rows):
    (tmp_path / "x.csv").write_text("A,B,n\n" + rows)
    message = r"'x.csv' has the cell A=x, B=1 2 times; add its rows up first, or read the file as"
    with pytest.raises(DataError, match=message):
        Table.read(tmp_path / "x.csv", count="n")


def test_the_cell_that_is_named_is_the_one_that_stands_twice(tmp_path):
    (tmp_path / "x.csv").write_text("A,n\na,1\nb,1\nb,1\nc,1\nc,1\nc,1\n")
    with pytest.raises(DataError, match="A=b 2 times"):
        Table.read(tmp_path / "x.csv", count="n")


def test_a_row_that_stands_twice_is_not_summed_over(tmp_path):
    (tmp_path / "x.csv").write_text("A,B,n\nx,1,3\nx,2,1\nx,1,4\n")
    with pytest.raises(DataError, match=r"'x.csv' has the cell A=x, B=1 2 times; add its rows up"):
        Table.read(tmp_path / "x.csv", count="n", columns=["A"])


@pytest.mark.parametrize(
    ("content", "count", "message"),
    [
        ("A,n\nx,-3\n", "n", "row 1 of 'x.csv' has the count '-3' in 'n', which is negative"),
        (
            "A,n\nx,1\ny,2.5\n",
            "n",
            "row 2 of 'x.csv' has the count '2.5' in 'n', which is not whole",
        ),
        ("A,n\nx,\n", "n", "row 1 of 'x.csv' has the count None in 'n', which is missing"),
        ("A,n\nx,1e30\n", "n", "has the count '1e30' in 'n', which is too large"),
        ("A,n\nx,many\n", "n", "has the count 'many' in 'n', which is not a number"),
        ("A,n\nx,1\n", "N", "'x.csv' has no column 'N'; did you mean 'n'?"),
        ("n\n1\n", "n", "there is no column of 'x.csv' to classify by"),
    ],
)
def test_bad_cells_are_refused_in_one_sentence(tmp_path, content, count, message):
    (tmp_path / "x.csv").write_text(content)
    with pytest.raises(DataError, match=message):
        Table.read(tmp_path / "x.csv", count=count)


@pytest.mark.parametrize("name", ["x.csv", "x.parquet"])
def test_what_cannot_be_written(tmp_path, monkeypatch, name):
    table = load("example:blond")
    with pytest.raises(OutputError, match=r"no/x\..*': no such file or directory; choose a folder"):
        table.write(tmp_path / "no" / name)
    with pytest.raises(OutputError, match=r"end its name in .csv or .parquet"):
        table.write(tmp_path / "x.xlsx")
    with pytest.raises(DataError, match="'Hair' names a variable already; choose another name"):
        table.write(tmp_path / name, count="Hair")
    assert not os.listdir(tmp_path)

    def fill(*_):
        raise OSError(28, "No space left on device")

    (tmp_path / name).write_text("old")
    monkeypatch.setattr("pyarrow.csv.write_csv", fill)
    monkeypatch.setattr("pyarrow.parquet.write_table", fill)
    with pytest.raises(OutputError, match="no space left on device"):
        table.write(tmp_path / name)
    assert os.listdir(tmp_path) == [name]
    assert (tmp_path / name).read_text() == "old"
