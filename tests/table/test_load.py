import pandas as pd
import pytest

from discreet.data.codebook import Codebook
from discreet.errors import DataError
from discreet.table.load import load


@pytest.fixture
def frame():
    return pd.DataFrame({"A": ["x", "y"], "n": [3, 4]})


def test_records_or_cells(frame, tmp_path):
    assert load(frame, records=True).names == ("A", "n")
    assert load(frame, count="n").dense().tolist() == [3, 4]
    assert load(frame, variables=["A"], records=True).dense().tolist() == [1, 1]
    frame.to_csv(tmp_path / "x.csv", index=False)
    (tmp_path / "book.toml").write_text('[variables.A]\ncategories = ["y", "x"]\n')
    found = load(str(tmp_path / "x.csv"), count="n", codebook=tmp_path / "book.toml")
    assert found.dense().tolist() == [4, 3]


def test_an_example_brings_its_codebook():
    assert load("example:tract").variable("Gender").categories == ("Male", "Female")
    assert load("example:tract").variable("Income").role == "both"
    plain = load("example:tract", codebook=Codebook())
    assert plain.variable("Gender").categories == ("Female", "Male")
    assert load("example:tract", variables="Race*Gender").names == ("Gender", "Race")


@pytest.mark.parametrize("more", [{"count": "n"}, {"table": "people"}])
def test_an_example_needs_nothing_else(more):
    with pytest.raises(DataError, match="example:tract needs no count column and no table name"):
        load("example:tract", **more)


@pytest.mark.parametrize("more", [{"records": True}, {"crosstab": "X"}, {"totals": "drop"}])
def test_an_example_is_what_it_is(more):
    with pytest.raises(DataError, match="example:tract needs no records, crosstab or totals"):
        load("example:tract", **more)


@pytest.mark.nltcs
def test_a_file_of_records(nltcs):
    assert load("example:nltcs", variables=["eating", "bed"]) == nltcs.margin(["eating", "bed"])
