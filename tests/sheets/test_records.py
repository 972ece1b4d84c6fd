"""Rows of data for sheets: what is read, left out and refused."""

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Codebook
from discreet.errors import DataError
from discreet.sheets.records import Records
from discreet.sheets.sheet import Measure
from discreet.table.load import load
from discreet.table.microdata import Microdata

VALUE = Measure(value="v")


def frame(**columns):
    return pd.DataFrame({"A": ["x", "y", "x"], "v": [1.0, 2.0, 3.0]} | columns)


def read(data, *measures, codebook=None, **options):
    people = Microdata.read(data, records=True, codebook=codebook)
    return Records.read(people, measures=measures or (VALUE,), **options)


def test_columns_of_measures_are_no_variables():
    found = read(frame(o=["p", "q", "p"]), Measure(value="v", holding="o"))
    assert [variable.name for variable in found.variables] == ["A"]
    assert found.numbers["v"].tolist() == [1, 2, 3]
    owners = found.owners["o"]
    assert owners[0] == owners[2] != owners[1]
    assert repr(found) == "Records(3 rows, 3 people, 1 variables)"


@pytest.mark.parametrize(
    "measure",
    [
        Measure(value="w"),
        Measure(value="v", weight="w"),
        Measure(value="v", holding="w"),
        Measure(value="v", shadow="w"),
        Measure(value="v", request="w"),
    ],
)
def test_no_such_column(measure):
    with pytest.raises(DataError, match="no column 'w'; it has A, v"):
        read(frame(), measure)


def test_values_below_zero_are_refused():
    with pytest.raises(DataError, match=r"has the value -2.*gains and losses"):
        read(frame(v=[1.0, -2.0, 3.0]))
    with pytest.raises(DataError, match=r"'w'.* -1"):
        read(frame(w=[1.0, -1.0, 1.0]), Measure(value="v", weight="w"))


def test_text_cannot_be_added_up():
    with pytest.raises(DataError, match=r"'v'.*numbers are to be added up"):
        read(frame(v=["one", "two", "three"]))


def test_missing_values_are_left_out_and_counted():
    found = read(frame(v=[1.0, None, 3.0]))
    assert (len(found), found.dropped, found.table.total) == (2, 1, 2)
    assert found.numbers["v"].tolist() == [1, 3]
    assert found.codes["A"].tolist() == [0, 0]
    endless = read(frame(v=[1.0, np.inf, 3.0]))
    assert endless.dropped == 1


def test_missing_categories_are_one_or_left_out():
    data = frame(A=["x", None, "y"])
    kept = read(data)
    assert (kept.dropped, kept.variables[0].size) == (0, 3)
    left = read(data, codebook=Codebook.of(missing="drop"))
    assert (left.dropped, len(left)) == (1, 2)
    assert left.numbers["v"].tolist() == [1, 3]


def test_a_record_missing_twice_is_left_out_once():
    data = frame(A=["x", None, "y"], v=[1.0, None, 3.0])
    left = read(data, codebook=Codebook.of(missing="drop"))
    assert left.dropped == 1


def test_every_value_missing():
    with pytest.raises(DataError, match="every record"):
        read(frame(v=[None, None, None]).astype({"v": float}))


def test_no_records():
    with pytest.raises(DataError, match="no rows"):
        read(frame().iloc[:0])


def test_who_asks():
    marks = ["yes", "", "1", "0", "No", "FALSE", None, "x", " n "]
    data = pd.DataFrame({"A": ["x"] * 9, "v": [1.0] * 9, "r": marks})
    found = read(data, Measure(value="v", request="r"))
    assert found.asking["r"].tolist() == [m in ("yes", "1", "x") for m in marks]


def test_owners_that_are_not_named_stand_alone():
    data = frame(A=["x"] * 3, o=[None, " ", None])
    owners = read(data, Measure(value="v", holding="o")).owners["o"]
    assert len(set(owners.tolist())) == 3


def test_cells_of_a_table_are_people():
    table = load("example:tract")
    found = Records.of_table(table)
    assert int(found.people.sum()) == table.total == 742
    assert found.variable("Race").name == "Race"
    with pytest.raises(DataError, match="no variable 'Age'"):
        found.variable("Age")


def test_impossible_combinations_come_along():
    data = pd.DataFrame({"A": ["x", "y"], "B": ["p", "q"], "v": [1.0, 2.0]})
    found = read(data, impossible=[{"A": "x", "B": "q"}])
    assert {k: [tuple(c) for c in v] for k, v in found.impossible.items()} == {("A", "B"): [(0, 1)]}
