"""SPSS, Stata and SAS files: labels, missing codes and order are kept; nothing is misread.

.dta is written by pandas, .sav and .xpt byte by byte (tests/filewriters.py), .por by pyreadstat,
which no other library writes; .sas7bdat is written by SAS alone, and only its refusals are tested.
"""

import builtins
import datetime

import numpy as np
import pandas as pd
import pyreadstat
import pytest

import filewriters
from discreet.data.codebook import Codebook
from discreet.data.sources import open_source
from discreet.data.spss import weight_of
from discreet.errors import DataError, WrongKind
from discreet.table.load import load

SEX = {"name": "sex", "label": "Sex of the person", "labels": {2: "woman", 1: "man", 9: "refused"}}
AGE = {"name": "age", "labels": {98: "98 or more", 999: "unknown"}, "missing": range(900, 999)}
TOWN = {"name": "town", "width": 4, "missing": ("zz",), "labels": {"a": "Aa", "zz": "nowhere"}}
ROWS = [(1, 10, "a"), (2, 9, "b"), (9, 98, "zz"), (2, 950, "a"), (None, 999, ""), (1, 9, "b")]


@pytest.fixture
def people(tmp_path):
    """A file of SPSS."""

    def write(variables, rows, name="people.sav", **how):
        path = tmp_path / name
        path.write_bytes(filewriters.sav(variables, rows, **how))
        return path

    return write


@pytest.mark.parametrize("order", ["<", ">"])
def test_labels_missing_codes_and_order_of_spss(people, order):
    path = people([SEX | {"missing": (9,)}, AGE, TOWN], ROWS, order=order)
    source = open_source(path)
    table = load(path, records=True)
    assert table.variable("sex").categories == ("man", "woman", "(missing)")
    assert table.variable("age").categories == ("9", "10", "98 or more", "(missing)")
    assert table.variable("town").categories == ("Aa", "b", "(missing)")
    assert source.codebook.entries["sex"].title == "Sex of the person"
    assert source.records.to_pyarrow()["age"].to_pylist() == [10, 9, 98, None, None, 9]
    (note,) = source.notes
    assert "9 (refused) of 'sex'" in note
    assert "950, 999 (unknown) of 'age'" in note
    assert "zz (nowhere) of 'town'" in note
    assert table.total == 6


def test_labels_of_a_file_are_no_closed_list_but_a_persons_are(people):
    path = people([SEX, AGE], [row[:2] for row in ROWS])
    assert load(path, records=True).variable("age").size == 4
    closed = Codebook.of({"sex": {"labels": {"1": "m", "2": "f"}}})
    with pytest.raises(Exception, match="'9', which the codebook does not list"):
        load(path, codebook=closed, records=True)


def test_a_codebook_names_the_categories_of_a_file_by_label_or_code(people):
    path = people([SEX], [(1,), (2,), (2,)])
    for names in (["woman", "man", "refused"], ["2", "1", "9"]):
        book = Codebook.of({"sex": {"categories": names, "role": "identifying"}})
        table = load(path, codebook=book, records=True)
        assert table.variable("sex").categories == tuple(names)
        assert table.margin(["sex"]).counts.tolist() == [2, 1]


def test_two_codes_with_one_label_stay_two_categories(people):
    other = {"name": "job", "labels": {1: "other", 5: "other ", 7: "6"}}
    path = people([other, {"name": "x"}], [(1, 1), (5, 1), (6, 1), (7, 1), (1, 2)])
    found = load(path, records=True).variable("job").categories
    assert found == ("other (1)", "other (5)", "6", "6 (7)")
    other = {"name": "job", "labels": {1: "other", 2: "other", 3: "other (2)"}}
    path = people([other, {"name": "x"}], [(1, 1), (2, 1), (3, 1), (1, 1)])
    assert len(load(path, records=True).variable("job").categories) == 3


def test_a_label_called_total_stops(people):
    path = people(
        [{"name": "sex", "labels": {1: "m", 3: "Total"}}, {"name": "x"}],
        [(1, 1)] * 3 + [(3, 2)] * 3,
    )
    with pytest.raises(WrongKind, match="'Total' in 'sex'"):
        load(path)


def test_a_file_that_is_weighted_by_counts_is_no_file_of_people(people):
    cells = [SEX, {"name": "ill"}, {"name": "freq", "long": "numberOf"}]
    path = people(cells, [(1, 0, 5), (2, 0, 7), (1, 1, 2), (2, 1, 2)], weight="freq")
    assert weight_of(path) == "numberOf"
    with pytest.raises(WrongKind, match="count='numberOf'"):
        load(path)
    table = load(path, count="numberOf")
    assert (table.total, table.names) == (16, ("sex", "ill"))


def test_a_survey_weight_is_set_aside_and_said(people):
    rows = [(i % 2 + 1, i % 3, 1.5 + i % 4) for i in range(24)]
    path = people([SEX, {"name": "ill"}, {"name": "w", "long": "wgtPerson"}], rows, weight="w")
    source = open_source(path)
    assert source.codebook.weights == "wgtPerson"
    assert "weighted by 'wgtPerson', which is set aside" in source.notes[-1]
    assert load(path).names == ("sex", "ill")
    book = Codebook.of({"wgtPerson": {"role": "neither"}})
    assert load(path, codebook=book, variables=["sex", "wgtPerson"]).names == ("sex", "wgtPerson")


def test_dates_are_dates_and_those_that_are_missing_codes_are_missing(people):
    days = [datetime.date(2020, 3, 1), datetime.date(2019, 12, 31), datetime.date(1582, 10, 15)]
    seconds = [(day - datetime.date(1582, 10, 14)).days * 86400 for day in days]
    day = {"name": "day", "format": 20, "missing": (86400,)}
    path = people([day, {"name": "x"}], [(each, 1) for each in (*seconds, None)])
    table = load(path, records=True)
    assert table.variable("day").categories == ("2019-12-31", "2020-03-01", "(missing)")
    assert table.margin(["day"]).counts.tolist() == [1, 1, 2]


def test_compressed_and_portable_files_of_spss(tmp_path):
    frame = pd.DataFrame({"SEX": [1.0, 2, 2, 1], "DAY": pd.to_datetime(["2020-02-01"] * 4).date})
    pyreadstat.write_sav(
        frame, tmp_path / "a.zsav", compress=True, variable_value_labels={"SEX": {1: "m"}}
    )
    pyreadstat.write_por(frame, tmp_path / "a.por")
    assert load(tmp_path / "a.zsav", records=True).variable("SEX").categories == ("m", "2")
    table = load(tmp_path / "a.por", records=True)
    assert table.variable("SEX").categories == ("1", "2")
    assert table.variable("DAY").categories == ("2020-02-01",)


def test_stata_as_pandas_writes_it(tmp_path):
    sex = pd.Categorical(["woman", "man", None, "man"], ["man", "woman"], ordered=True)
    age = pd.Series([10, 9, 98, 9], dtype="int16")
    frame = pd.DataFrame(
        {"sex": sex, "age": age, "town": ["ü", "", "b", "ü"], "x": [1.0, np.nan, 2, 2]}
    )
    path = tmp_path / "people.dta"
    frame.to_stata(
        path,
        write_index=False,
        value_labels={"age": {98: "98+"}},
        version=118,
        variable_labels={"age": "Age last birthday"},
    )
    table = load(path, records=True)
    assert table.variable("sex").categories == ("man", "woman", "(missing)")
    assert table.variable("age").categories == ("9", "10", "98+")
    assert table.variable("town").categories == ("b", "ü", "(missing)")
    assert table.variable("x").categories == ("1", "2", "(missing)")
    assert open_source(path).codebook.entries["age"].title == "Age last birthday"


def test_statas_own_missing_values_are_missing_and_said(tmp_path):
    path = tmp_path / "people.dta"
    frame = pd.DataFrame(
        {"sex": pd.Series([1, 2, "a", "b", "a"], dtype=object), "y": [1.0, 2, 1, 2, 1]}
    )
    labels = {"sex": {1: "m", 2: "f", "a": "refused"}}
    pyreadstat.write_dta(
        frame, path, missing_user_values={"sex": ["a", "b"]}, variable_value_labels=labels
    )
    assert load(path, records=True).variable("sex").categories == ("m", "f", "(missing)")
    assert "a (refused), b of 'sex'" in open_source(path).notes[0]


def test_sas_transport_files(tmp_path):
    path = tmp_path / "people.xpt"
    rows = [(1, "ab", -2.5), (2, "c", None), ("A", "", 0.1), (10, "ab", 0.1)]
    path.write_bytes(filewriters.xpt([("SEX", None), ("TOWN", 4), ("X", None)], rows))
    table = load(path, records=True)
    assert table.variable("SEX").categories == ("1", "2", "10", "(missing)")
    assert table.variable("TOWN").categories == ("ab", "c", "(missing)")
    assert table.variable("X").categories == ("-2.5", "0.1", "(missing)")
    path.write_bytes(filewriters.xpt([("SEX", None)], [(1,), (2,)], members=2))
    with pytest.raises(DataError, match="holds 2 tables"):
        load(path)


def test_text_in_another_encoding_than_claimed_is_read_and_said(people):
    path = people(
        [{"name": "town", "width": 8}, SEX], [("Köln", 1), ("Bonn", 2)], encoding="latin-1"
    )
    content = path.read_bytes().replace(b"\x07latin-1", b"").replace(b"latin-1", b"UTF-8  ")
    path.write_bytes(content)
    source = open_source(path)
    assert source.records.to_pyarrow()["town"].to_pylist() == ["Köln", "Bonn"]
    assert "Windows-1252" in source.notes[0]


def test_what_is_cut_off_is_refused(people, tmp_path):
    path = people([SEX, AGE], [(1, 2), (2, 3)])
    path.write_bytes(path.read_bytes()[:-9])
    with pytest.raises(DataError, match=r"cannot read 'people.sav': .*write it again\.$"):
        load(path)
    frame = pd.DataFrame({"a": range(50)})
    frame.to_stata(tmp_path / "a.dta", write_index=False)
    (tmp_path / "a.dta").write_bytes((tmp_path / "a.dta").read_bytes()[:-150])
    with pytest.raises(DataError, match=r"cannot read 'a.dta'"):
        load(tmp_path / "a.dta")


def test_without_the_package_a_sentence_says_what_to_install(people, monkeypatch):
    path = people([SEX], [(1,), (2,)])
    real = builtins.__import__

    def missing(name, *rest):
        if name == "pyreadstat":
            raise ImportError(name)
        return real(name, *rest)

    monkeypatch.setattr(builtins, "__import__", missing)
    with pytest.raises(DataError, match=r"pip install 'discreet\[formats\]'"):
        open_source(path)


def test_names_that_differ_in_capitals_only_are_refused_or_told_apart(people):
    from discreet.data.domains import read_domains

    variables = [
        {"name": "N1", "long": "n"},
        {"name": "N2", "long": "N"},
        {"name": "y", "long": "y"},
        {"name": "area", "labels": {1: "north", 2: "south"}},
    ]
    path = people(variables, [(3, 8, 1, 1), (5, 20, 2, 2)])
    with pytest.raises(DataError, match="differ only in capitals"):
        load(path, records=True)
    found = read_domains(path, sample_size="n", population="N", cell_count="y")
    assert (found.n.tolist(), found.N.tolist()) == ([3, 5], [8, 20])


def test_domains_are_counted_by_labels(people):
    from discreet.data.domains import read_domains

    area = {"name": "area", "labels": {1: "north", 2: "south"}}
    ill = {"name": "ill", "labels": {1: "yes", 2: "no"}}
    rows = [(1, 1, 9), (1, 2, 9), (2, 1, 8), (2, 1, 8)]
    path = people([area, ill, {"name": "pop"}], rows)
    for said in ("ill=yes", "ill=1"):
        found = read_domains(
            path, sample_size=None, population="pop", cell_count=said, domain="area", records=True
        )
        assert found.columns["area"] == ["north", "south"]
        assert found.y.tolist() == [1, 2]


def test_who_links_records_never_takes_a_missing_code_for_a_number(people):
    import discreet as dc

    variables = [{"name": "id"}, {"name": "age", "labels": {999: "unknown"}, "missing": (999,)}]
    first = people(variables, [(1, 30), (2, 999), (3, 50)], "a.sav")
    second = people(variables, [(1, 31), (2, 999), (3, 49)], "b.sav")
    intruder = dc.linkage.Intruder.of({"keys": {"age": {"kind": "normal", "spread": 2}}})
    found = dc.linkage.read_records(first, second, intruder, id="id")
    assert found.source["age"].to_pylist() == [30, None, 50]
    assert found.released["age"].to_pylist() == [31, None, 49]


def test_who_links_records_refuses_codes_that_mean_something_else(people, tmp_path):
    import discreet as dc

    intruder = dc.linkage.Intruder.of({"keys": {"sex": {"kind": "exact"}}})
    first = people([{"name": "id"}, {"name": "sex", "labels": {1: "m", 2: "f"}}], [(1, 1), (2, 2)])
    swapped = [{"name": "id"}, {"name": "sex", "labels": {1: "f", 2: "m"}}]
    second = people(swapped, [(1, 2), (2, 1)], "b.sav")
    with pytest.raises(DataError, match=r"'[12]' of 'sex' is '[mf]' in 'people.sav' and '[mf]'"):
        dc.linkage.read_records(first, second, intruder, id="id")
    (tmp_path / "c.csv").write_text("id,sex\n1,m\n2,f\n")
    with pytest.raises(DataError, match=r"in codes in 'people.sav' and in labels such as 'f'"):
        dc.linkage.read_records(first, tmp_path / "c.csv", intruder, id="id")
