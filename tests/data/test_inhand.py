"""`load` takes whatever a person has in hand."""

import io
from pathlib import Path

import duckdb
import numpy as np
import pandas as pd
import polars as pl
import pytest
import xarray as xr

from discreet.errors import DataError, WrongKind
from discreet.table.load import load
from discreet.table.microdata import Microdata

PEOPLE = pd.DataFrame(
    {"Sex": [*"fmfmf"], "Ill": ["no", "no", "yes", "no", "no"], "Town": [*"abaab"]}
)
TRUE = load(PEOPLE)
BY_TWO = TRUE.margin("Sex*Ill").dense().tolist()
COUNTS = {"Sex": ["f", "m"], "Ill": ["no", "yes"]}

CELLS = {
    "crosstab": lambda: pd.crosstab(PEOPLE.Sex, PEOPLE.Ill),
    "pivot": lambda: PEOPLE.pivot_table(
        index="Sex", columns="Ill", values="Town", aggfunc="count", fill_value=0
    ),
    "unstack": lambda: PEOPLE.groupby(["Sex", "Ill"]).size().unstack(fill_value=0),
    "size": lambda: PEOPLE.groupby(["Sex", "Ill"]).size(),
    "value_counts": lambda: PEOPLE[["Sex", "Ill"]].value_counts(),
    "xarray": lambda: xr.DataArray(BY_TWO, dims=["Sex", "Ill"], coords=COUNTS),
    "categories": lambda: pd.crosstab(PEOPLE.Sex.astype("category"), PEOPLE.Ill.astype("category")),
}


@pytest.mark.parametrize("name", CELLS)
def test_cells_by_construction(name):
    found = load(CELLS[name]())
    assert found.names == ("Sex", "Ill")
    assert found.dense().tolist() == BY_TWO


@pytest.mark.parametrize(
    ("rows", "columns"), [(["Sex", "Town"], ["Ill"]), (["Sex"], ["Ill", "Town"])]
)
def test_crosstabs_of_several_levels(rows, columns):
    made = pd.crosstab([PEOPLE[name] for name in rows], [PEOPLE[name] for name in columns])
    found = load(made)
    assert found.names == (*rows, *columns)
    places = [found.names.index(name) for name in TRUE.names]
    assert found.dense().transpose(places).tolist() == TRUE.dense().tolist()


def test_margins_of_a_crosstab_are_asked_about():
    made = pd.crosstab(PEOPLE.Sex, PEOPLE.Ill, margins=True)
    with pytest.raises(WrongKind, match=r"sums of others.*totals='drop'"):
        load(made)
    assert load(made, totals="drop").dense().tolist() == BY_TWO


def test_the_order_of_a_categorical_is_kept():
    town = pd.Categorical(PEOPLE["Town"], ["b", "a", "c"])
    found = load(pd.crosstab(PEOPLE.Sex, pd.Series(town, name="Town")))
    assert found.variable("Town").categories == ("b", "a", "c")
    indexed = load(PEOPLE.assign(Town=town).set_index("Town"))
    assert indexed.variable("Town").categories == ("b", "a", "c")
    assert indexed.total == 5


ROWS = {
    "dictionary": lambda: PEOPLE.to_dict("list"),
    "rows": lambda: PEOPLE.to_dict("records"),
    "record array": lambda: PEOPLE.to_records(index=False),
    "structured": lambda: np.array(
        [tuple(row) for row in PEOPLE.to_numpy()], [(name, "U3") for name in PEOPLE]
    ),
    "polars": lambda: pl.from_pandas(PEOPLE),
    "lazy": lambda: pl.from_pandas(PEOPLE).lazy(),
    "duckdb": lambda: duckdb.from_df(PEOPLE),
    "bytes": lambda: io.BytesIO(PEOPLE.to_csv(index=False).encode()),
    "text": lambda: io.StringIO(PEOPLE.to_csv(index=False)),
    "parquet": lambda: io.BytesIO(PEOPLE.to_parquet()),
    "index of names": lambda: PEOPLE.set_index(pd.Index([*"vwxyz"], name="id")),
    "table": lambda: TRUE,
}


@pytest.mark.parametrize("name", ROWS)
def test_people(name):
    found = load(ROWS[name]())
    assert found.names == TRUE.names
    assert found.dense().tolist() == TRUE.dense().tolist()


def test_an_open_file(tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    for mode in ("r", "rb"):
        with open(tmp_path / "people.csv", mode) as file:
            assert load(file).total == 5
    assert load(Path(tmp_path / "people.csv")).total == 5


def test_one_column():
    assert load(PEOPLE["Sex"]).dense().tolist() == [3, 2]
    assert load(pl.Series("Sex", [*"fmf"])).dense().tolist() == [2, 1]
    assert load(PEOPLE["Sex"].value_counts()).margin("Sex").total == 5


def test_a_margin_of_a_table():
    assert load(TRUE, variables="Sex*Ill").dense().tolist() == BY_TWO
    assert load(TRUE, variables=["Sex"]).names == ("Sex",)
    with pytest.raises(DataError, match="is read already"):
        load(TRUE, count="n")


REFUSED = {
    "array": (lambda: np.ones((2, 2)), "needs names: write dc.Table.of"),
    "shares": (lambda: pd.crosstab(PEOPLE.Sex, PEOPLE.Ill, normalize=True), "counts nobody"),
    "empty cells": (
        lambda: PEOPLE.pivot_table(index="Sex", columns="Ill", values="Town", aggfunc="count"),
        r"fillna\(0\) if nobody is there",
    ),
    "no names": (
        lambda: pd.DataFrame({"low": [3, 0], "high": [1, 2]}, index=["Ash", "Birch"]),
        r"rename_axis\('Town'\)",
    ),
    "sums": (
        lambda: PEOPLE.assign(pay=7).groupby(["Sex", "Ill"])["pay"].sum(),
        "is that a count. Say count='pay'",
    ),
    "counts by cell": (lambda: {("f", "no"): 2}, "names of columns and lists of values"),
    "lengths": (lambda: {"a": [1, 2], "b": [1]}, "lists of one length"),
    "nothing": (dict, "is empty"),
    "axes": (lambda: xr.DataArray([[1, 2]], dims=["a", "b"]), "'a' of the array has no categories"),
    "one name": (lambda: pd.crosstab(PEOPLE.Sex, PEOPLE.Sex), "share a name"),
    "a number": (lambda: 3, "cannot read records from a int"),
}


@pytest.mark.parametrize("name", REFUSED)
def test_what_is_not_clear_is_asked_about(name):
    make, message = REFUSED[name]
    with pytest.raises(DataError, match=message) as caught:
        load(make())
    assert "\n" not in str(caught.value)


def test_records_are_not_read_from_counts():
    with pytest.raises(DataError, match="here each row must be a person"):
        Microdata.read(pd.crosstab(PEOPLE.Sex, PEOPLE.Ill))
    with pytest.raises(DataError, match="leave out records"):
        load(pd.crosstab(PEOPLE.Sex, PEOPLE.Ill), records=True)
