"""Rows of data for sheets: what is read, left out and refused."""

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Codebook
from discreet.errors import CodebookError, DataError
from discreet.sheets.contributions import Contributions
from discreet.sheets.grouping import Grouping
from discreet.sheets.records import Records
from discreet.sheets.sheet import COUNT, Measure, Sheet
from discreet.sheets.system import System
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


@pytest.mark.parametrize(
    ("texts", "numbers"),
    [
        (["1", "2.5", "3e2"], [1, 2.5, 300]),
        (["1", "2,5", "3,25"], [1, 2.5, 3.25]),
        (["1.000,00", "950", "12,5"], [1000, 950, 12.5]),
        (["1,000.00", "950", "12.5"], [1000, 950, 12.5]),
        (["1 000,00", "2\u202f000 000", "3"], [1000, 2_000_000, 3]),
        (["1'000.00", "2\u2019000", "3"], [1000, 2000, 3]),
        (["1.000.000", "1.000", "3"], [1_000_000, 1000, 3]),
        (["0.125", "1.000", "3"], [0.125, 1, 3]),
        (["1234.567", "1.000", "3"], [1234.567, 1, 3]),
        (["1,000", "1 000,5", "3"], [1, 1000.5, 3]),
        ([" 1 ", "+2", ".5"], [1, 2, 0.5]),
    ],
)
def test_numbers_as_files_write_them(texts, numbers):
    assert read(frame(v=texts)).numbers["v"].tolist() == numbers


@pytest.mark.parametrize(
    ("texts", "said"),
    [
        (["1.000", "950", "2"], r"'1.000', which may be 1 or 1,000, .*decimal = \".\" or"),
        (["1,234", "950", "2"], r"'1,234', which may be 1,234 or 1.234"),
        (["1.5", "1,25", "2"], r"has '1.5' and '1,25', which are written in different ways"),
        (["1,5", "1.000.5", "2"], r"has '1.000.5', and numbers are to be added up"),
        (["1", "NA", "2"], r"has 'NA', .*missing_values = \[\"NA\"\]"),
        (["1", "12%", "2"], r"has '12%'"),
    ],
)
def test_numbers_that_could_be_others_are_asked_about(texts, said):
    with pytest.raises(DataError, match=said):
        read(frame(v=texts))


def test_the_codebook_says_how_numbers_are_written_and_what_is_missing():
    texts = frame(v=["1.000", "NA", "-9"])
    said = {"missing_values": ["NA", -9]}
    german = Codebook.of({"v": {"decimal": ","}}, **said)
    assert read(texts, codebook=german).numbers["v"].tolist() == [1000, 0, 0]
    english = Codebook.of({"v": {"decimal": ".", "blank": 7}}, **said)
    found = read(texts, codebook=english)
    assert (found.numbers["v"].tolist(), dict(found.blank)) == ([1, 7, 7], {})
    numeric = read(frame(v=[1.0, 2.0, -9.0]), codebook=Codebook.of(**said))
    assert numeric.without(VALUE).tolist() == [False, False, True]
    with pytest.raises(DataError, match=r"'1,5', and numbers"):
        read(frame(v=["1,5", "2", "3"]), codebook=Codebook.of({"v": {"decimal": "."}}))
    for wrong in ({"decimal": ";"}, {"blank": -1}, {"blank": "x"}):
        with pytest.raises(CodebookError, match="of 'v' must be"):
            Codebook.of({"v": wrong})


def test_who_has_no_value_is_in_no_sum_and_in_every_count():
    found = read(frame(v=[1.0, None, 3.0]))
    assert (len(found), found.dropped, found.table.total) == (3, 0, 3)
    assert found.numbers["v"].tolist() == [1, 0, 3]
    assert found.without(VALUE).tolist() == [False, True, False]
    assert found.without(COUNT).tolist() == [False, False, False]
    (said,) = found.missing([COUNT, VALUE])
    assert said.startswith("1 record without a number in 'v': left out of the sum of v")
    with pytest.raises(DataError, match="has the value inf, which is no amount"):
        read(frame(v=[1.0, np.inf, 3.0]))
    left = read(frame(v=[1.0, None, 3.0]), codebook=Codebook.of(missing="drop"))
    assert (len(left), left.dropped) == (2, 1)


def test_who_has_no_weight_or_shadow_contributes_nothing():
    """Neither to what is printed nor to how many are behind it."""
    data = frame(w=[2.0, None, 1.0], s=[1.0, 1.0, None])
    for measure, values, number in (
        (Measure(weight="w"), [3, 3, 0], [2, 2, 0]),
        (Measure("v", "w"), [5, 5, 0], [2, 2, 0]),
        (Measure("v", shadow="s"), [3, 1, 2], [2, 1, 1]),
    ):
        found = read(data, measure)
        system = System.of([Sheet("1", (Grouping.of(found.variable("A")),), measure)])
        cells = Contributions.of(system, found, measure)
        assert cells.values[: cells.printed].tolist() == values
        assert cells.number[: cells.printed].tolist() == number


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


def test_an_owner_is_one_however_the_name_is_written():
    """Two letters may be one with its accent, or two; both are read alike."""
    names = [
        "M\u00fcller AG",
        "Mu\u0308ller AG",
        " m\u00fcller  ag",
        "M\u00fcller\u00a0AG",
        "Meier AG",
    ]
    data = pd.DataFrame({"a": ["x"] * 5, "v": [1.0] * 5, "o": names})
    owners = read(data, Measure(value="v", holding="o")).owners["o"]
    assert len(set(owners[:4].tolist())) == 1 != len(set(owners.tolist()))


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
