"""Sheets by a formula and from a list, of records and of cells."""

import pandas as pd
import pytest

from discreet.errors import DataError, DisclosureError
from discreet.sheets.reading import formula_sheets, read_sheets
from discreet.sheets.sheet import COUNT, Measure
from discreet.table.load import load
from discreet.table.microdata import Microdata


@pytest.fixture
def firms():
    data = pd.DataFrame(
        {
            "S": ["a", "b", "a", "b"],
            "P": ["x", "x", "y", "y"],
            "Q": ["u", "v", "u", "v"],
            "v": [1.0, 2.0, 3.0, 4.0],
            "o": ["i", "i", "j", "k"],
        }
    )
    return Microdata.read(data, records=True)


def test_a_formula_is_its_largest_margins(firms):
    records, sheets = formula_sheets(firms, "S*P + P*Q + S", measure=Measure(value="v"))
    assert sorted(sheet.name for sheet in sheets) == ["P*Q", "S*P"]
    assert all(sheet.measure == Measure(value="v") for sheet in sheets)
    assert [v.name for v in records.variables] == ["S", "P", "Q"]
    assert records.numbers["v"].sum() == 10
    assert all(g.labels[0] == "Total" for sheet in sheets for g in sheet.groupings)


def test_only_the_columns_that_are_needed(firms):
    records, _ = formula_sheets(firms, "S")
    assert [v.name for v in records.variables] == ["S"]
    assert not records.numbers


def test_the_columns_of_a_measure_are_in_no_margin(firms):
    with pytest.raises(DisclosureError, match="'v'"):
        formula_sheets(firms, "S*v", measure=Measure(value="v"))


def test_a_formula_with_a_strange_name(firms):
    with pytest.raises(DisclosureError, match="Z"):
        formula_sheets(firms, "S*Z")


def test_sheets_of_cells():
    records, sheets = formula_sheets(load("example:tract"), "Race*Gender")
    assert [sheet.names for sheet in sheets] == [("Gender", "Race")]
    assert [v.name for v in records.variables] == ["Gender", "Race"]
    assert int(records.people.sum()) == 742


@pytest.mark.parametrize("measure", [Measure(value="v"), Measure(holding="o"), Measure(weight="w")])
def test_cells_have_no_contributors(measure):
    with pytest.raises(DataError, match="one record a row"):
        formula_sheets(load("example:tract"), "Race", measure=measure)


def test_a_list_of_cells_with_a_value(tmp_path):
    path = tmp_path / "tables.txt"
    path.write_text("Race\nGender | value=v", encoding="utf-8")
    with pytest.raises(DataError, match="one record a row"):
        read_sheets(load("example:tract"), path)


def test_a_list_with_measures_of_its_own(firms, tmp_path):
    path = tmp_path / "tables.txt"
    path.write_text("1: S*P\n2: P | value=v, holding=o\n3: S | where Q=u", encoding="utf-8")
    records, sheets = read_sheets(firms, path)
    assert [sheet.measure for sheet in sheets] == [COUNT, Measure(value="v", holding="o"), COUNT]
    assert {v.name for v in records.variables} == {"S", "P", "Q"}
    assert [g.name for g in sheets[2].where] == ["Q"]
    usual = Measure(value="v")
    _, sheets = read_sheets(firms, path, measure=usual)
    assert [sheet.measure for sheet in sheets] == [usual, Measure(value="v", holding="o"), usual]
