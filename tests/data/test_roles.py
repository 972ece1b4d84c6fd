"""Columns that classify nobody are recognised, and stop; guesses are never facts."""

import sqlite3

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet
import pytest

from discreet.data.codebook import Codebook
from discreet.data.head import LOOK, head_of
from discreet.data.roles import Guess, guess_role, nobodies
from discreet.data.sources import open_source
from discreet.data.telling import tokens
from discreet.errors import DataError, WrongKind
from discreet.table.load import load
from discreet.table.microdata import Microdata

ROWS = 60
RNG = np.random.default_rng(7)
BASE = pd.DataFrame({"Sex": RNG.choice([*"fm"], ROWS), "Town": RNG.choice([*"abc"], ROWS)})


def guessed(values, name):
    source = open_source(pd.DataFrame({name: values}))
    found = guess_role(head_of(source, [name]), name)
    return None if found is None else found.guess


@pytest.mark.parametrize("name", ["weight", "wgt", "PWEIGHT", "w", "final_wgt", "Gewicht", "hrf"])
@pytest.mark.parametrize("kind", [float, str])
def test_weights(name, kind):
    assert guessed([kind(1.25 + k) for k in range(ROWS)], name) is Guess.WEIGHT


def test_large_whole_weights():
    """fnlwgt of the census files."""
    assert guessed([70_000 + 313 * k for k in range(ROWS)], "fnlwgt") is Guess.WEIGHT


@pytest.mark.parametrize(
    "values", [["under", "over"] * 30, [1, 2, 3] * 20, [-1.5, 2.5] * 30], ids=str
)
def test_no_weights(values):
    assert guessed(values, "weight") is None


@pytest.mark.parametrize(
    "name", ["hh", "hhid", "household", "HouseholdID", "haushalt", "family_no"]
)
def test_households(name):
    assert guessed([k // 3 for k in range(ROWS)], name) is Guess.HOUSEHOLD


def test_households_by_their_numbers_alone():
    assert guessed([5 + k // 3 for k in range(900)], "v1") is Guess.HOUSEHOLD
    assert guessed(sorted(RNG.integers(18, 90, 900)), "v1") is None


@pytest.mark.parametrize("name", ["household size", "family type", "home town", "hh_income"])
def test_no_households(name):
    assert guessed([k % 25 for k in range(ROWS)], name) is not Guess.HOUSEHOLD


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (range(ROWS), "id"),
        (range(3), "id"),
        ([f"P{k:03}" for k in range(ROWS)], "anything"),
        (range(17, 17 + ROWS), "anything"),
        (RNG.permutation(np.arange(10**8, 10**8 + 31 * ROWS, 31)), "anything"),
        ([f"{k}@x.org" for k in range(4)], "contact"),
        ([f"Ann {k}" for k in range(5)], "Name"),
        ([f"030 {k:05}" for k in range(ROWS)], "phone"),
        ([f"{k % 57}" for k in range(ROWS)], "ssn"),
    ],
    ids=str,
)
def test_identifiers(values, name):
    assert guessed(list(values), name) is Guess.IDENTIFIER


@pytest.mark.parametrize(
    ("values", "name"),
    [
        (range(0, 90 * ROWS, 90), "income"),
        (["a", "b"] * 30, "id"),
        ([f"1980-01-{k:02}" for k in range(1, 31)], "date"),
        (["Ann", "Ben", "Ann", "Ann"] * 5, "name"),
        ([f"{k}-{k + 4}" for k in range(0, 100, 5)], "age"),
        ([True, False], "id"),
    ],
    ids=str,
)
def test_no_identifiers(values, name):
    assert guessed(list(values), name) in (None, Guess.IDENTIFYING, Guess.SENSITIVE)


def test_free_text():
    said = [f"she told us about case {k} at length" for k in range(ROWS)]
    assert guessed(said, "v9") is Guess.TEXT
    assert guessed(["too late", "not at home", "moved away"], "Remarks") is Guess.TEXT
    assert guessed(["owns it with a mortgage on it", "rents it from the council"] * 9, "v9") is None


def test_roles_by_name():
    assert guessed(["f", "m"], "Sex") is Guess.IDENTIFYING
    assert guessed(["low", "high"], "Income") is Guess.SENSITIVE
    assert guessed(["none", "other"], "Religion") is Guess.BOTH
    assert guessed(["x", "y"], "v1") is None
    assert tokens("ageGroup") == {"age", "group", "agegroup"}


SOURCES = {
    "pandas": lambda frame, _: {"data": frame},
    "polars": lambda frame, _: {"data": pl.from_pandas(frame)},
    "arrow": lambda frame, _: {"data": pa.Table.from_pandas(frame)},
    "csv": lambda frame, at: frame.to_csv(at / "x.csv", index=False) or {"data": at / "x.csv"},
    "parquet": lambda frame, at: frame.to_parquet(at / "x.pq") or {"data": at / "x.pq"},
    "sqlite": lambda frame, at: sqlite(frame, at),
}


def sqlite(frame, folder):
    connection = sqlite3.connect(folder / "x.db")
    frame.to_sql("x", connection, index=False)
    connection.close()
    return {"data": f"sqlite:///{folder / 'x.db'}", "table": "x"}


@pytest.mark.parametrize("kind", SOURCES)
def test_every_source_stops_and_is_mended(kind, tmp_path):
    frame = BASE.assign(id=range(ROWS), wgt=np.arange(ROWS) + 0.5)
    data = SOURCES[kind](frame, tmp_path)
    with pytest.raises(WrongKind, match=r"say without=\['id', 'wgt'\], or variables=\['A', 'B'\]"):
        load(**data)
    assert load(**data, without="id,wgt").names == ("Sex", "Town")
    assert load(**data, without=["id", "wgt"]).total == ROWS
    assert load(**data, variables=["Sex", "id"]).shape == (2, ROWS)


def test_what_a_person_speaks_of_is_accepted():
    frame = BASE.assign(id=range(ROWS))
    book = Codebook.of({"id": {"role": "identifying"}})
    assert load(frame, codebook=book).names == ("Sex", "Town", "id")
    weighed = BASE.assign(wgt=np.arange(ROWS) + 0.5)
    assert load(weighed, codebook=Codebook.of(weights="wgt")).names == ("Sex", "Town")


def test_records_does_not_make_an_identifier_a_variable():
    with pytest.raises(WrongKind, match="classifies nobody"):
        load(BASE.assign(id=range(ROWS)), records=True)


def test_what_a_file_says_of_itself_accepts_nothing():
    from dataclasses import replace

    source = open_source(BASE.assign(id=range(ROWS)))
    said = replace(source, codebook=Codebook.of({"id": {"title": "Number"}}))
    with pytest.raises(WrongKind, match="classifies nobody"):
        load(said)


def test_a_count_that_is_left_out_is_still_a_count():
    cells = pd.DataFrame({"Sex": [*"mmff"], "Town": [*"abab"], "n": [12, 2, 15, 9]})
    with pytest.raises(WrongKind, match="'n' looks like a count"):
        load(cells, without="n")


def test_an_identifier_left_out_shows_people_who_are_alike():
    frame = pd.DataFrame({"id": range(8), "sex": [*"ffmm"] * 2, "kids": [0, 2, 1, 1] * 2})
    assert load(frame, without="id").total == 8


def test_cells_keep_no_row_numbers():
    cells = pd.DataFrame({"id": range(4), "Sex": [*"mmff"], "Town": [*"abab"], "n": [12, 2, 15, 9]})
    with pytest.raises(WrongKind, match=r"'id'.*classifies nobody"):
        load(cells, count="n")
    assert load(cells, count="n", without="id").names == ("Sex", "Town")
    areas = pd.DataFrame({"area_id": range(30), "n": range(5, 35)})
    assert load(areas, count="n").shape == (30,)


def test_columns_that_are_not_there():
    with pytest.raises(DataError, match="has no column 'Twn'; did you mean 'Town'"):
        load(BASE, without="Twn")
    with pytest.raises(DataError, match="no column of the frame is left to classify by"):
        load(BASE, without="Sex,Town")
    with pytest.raises(DataError, match="'Sex' is named, and left out"):
        load(BASE, without="Sex", variables=["Sex"])


def test_all_rows_decide_where_the_first_are_not_all():
    """Codes that differ in the first rows only are categories."""
    code = [f"c{k:05}z" for k in range(LOOK + 1)]
    frame = pd.DataFrame({"code": code * 3, "Sex": [*"fmm"] * (LOOK + 1)})
    assert nobodies(open_source(frame), ["code", "Sex"]) == []
    own = pd.DataFrame({"code": [f"c{k:06}z" for k in range(3 * LOOK)], "Sex": [*"fmm"] * LOOK})
    assert [guess.column for guess in nobodies(open_source(own), ["code", "Sex"])] == ["code"]


def test_large_data_are_looked_at_by_their_first_rows_and_a_query(tmp_path):
    rows = 200_000
    pa.parquet.write_table(
        pa.table({"id": np.arange(rows), "Sex": np.arange(rows) % 2, "Age": np.arange(rows) % 90}),
        tmp_path / "x.parquet",
    )
    people = Microdata.read(tmp_path / "x.parquet")
    assert [g.column for g in nobodies(people.source, people.columns)] == ["id"]
