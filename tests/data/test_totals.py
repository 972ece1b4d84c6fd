"""Totals among the cells count everybody twice: they are refused, dropped or said to be none."""

import numpy as np
import pandas as pd
import polars as pl
import pytest

from discreet.data.codebook import Codebook
from discreet.data.totals import is_total
from discreet.errors import DataError, WrongKind
from discreet.table.load import load
from discreet.table.microdata import Microdata

BASE = pd.DataFrame(
    {"Sex": ["m", "m", "f", "f"], "Town": ["Ash", "Birch"] * 2, "n": [12, 2, 15, 9]}
)
DENSE = [[15, 9], [12, 2]]


def plus(*rows):
    return pd.concat([BASE, pd.DataFrame(rows, columns=BASE.columns)], ignore_index=True)


WAYS = {
    "grand": plus(("Total", "Total", 38)),
    "one variable": plus(("m", "Gesamt", 14), ("f", "Gesamt", 24)),
    "some": plus(("f", "all", 24)),
    "every": plus(
        ("m", "T", 14), ("f", "T", 24), ("T", "Ash", 27), ("T", "Birch", 11), ("T", "T", 38)
    ),
    "rollup": plus(("m", None, 14), ("f", None, 24), (None, None, 38)),
    "in words": plus(("Total population", "Ash", 27), ("Total population", "Birch", 11)),
    "an order": plus(("Sum", "Ash", 27), ("Sum", "Birch", 11)).astype({"Sex": "category"}),
}


@pytest.mark.parametrize("way", WAYS)
@pytest.mark.parametrize("kind", ["pandas", "polars", "csv", "parquet"])
def test_totals_are_refused_or_dropped(way, kind, tmp_path):
    frame = WAYS[way]
    kinds = {
        "pandas": lambda: frame,
        "polars": lambda: pl.from_pandas(frame),
        "csv": lambda: frame.to_csv(tmp_path / "x.csv", index=False) or tmp_path / "x.csv",
        "parquet": lambda: frame.to_parquet(tmp_path / "x.parquet") or tmp_path / "x.parquet",
    }
    data = kinds[kind]()
    with pytest.raises(WrongKind, match=r"sums of others, such as .* say totals='drop', or totals"):
        load(data, count="n")
    found = load(data, count="n", totals="drop")
    assert found.dense().tolist() == DENSE
    assert load(data, count="n", totals="keep").total == frame["n"].sum()


@pytest.mark.parametrize("way", WAYS)
def test_totals_of_a_variable_that_is_summed_over(way):
    with pytest.raises(WrongKind, match="sums of others"):
        load(WAYS[way], count="n", variables=["Sex"])
    found = load(WAYS[way], count="n", variables=["Sex"], totals="drop")
    assert found.dense().tolist() == [24, 14]


def test_missing_values_dropped_beside_totals():
    frame = plus(("m", None, 5), ("Total", "Ash", 27), ("Total", "Birch", 11), ("Total", None, 5))
    book = Codebook.of(missing="drop")
    found = load(frame, count="n", codebook=book, totals="drop")
    assert found.dense().tolist() == DENSE
    assert found.dropped == 5
    assert load(frame, count="n", codebook=book, totals="drop", variables="Sex").total == 43


def test_totals_that_do_not_add_up_are_never_dropped():
    frame = plus(("Total", "Ash", 26))
    for totals in (None, "drop"):
        with pytest.raises(
            WrongKind,
            match="Sex=Total, Town=Ash of the frame looks like a total, but counts 26 where the "
            "rows it stands for sum to 27: repair it, or say totals='keep'",
        ):
            load(frame, count="n", totals=totals)
    assert load(frame, count="n", totals="keep").total == 64


def test_a_letter_or_a_missing_value_that_is_no_sum_is_a_category():
    assert load(plus(("m", "T", 3), ("f", None, 8)), count="n").total == 49


def test_a_variable_with_nothing_but_a_total():
    """As extracts have: one variable is not classified by."""
    assert load(BASE.assign(Age="Total"), count="n").total == 38


def test_sums_without_a_name():
    """Three cells, each the sum of the others: no chance."""
    towns = [("m", "Cedar", 4), ("f", "Cedar", 6)]
    sums = [("persons", "Ash", 27), ("persons", "Birch", 11), ("persons", "Cedar", 10)]
    with pytest.raises(WrongKind, match="such as Sex=persons, Town=Ash"):
        load(plus(*towns, *sums), count="n")
    assert load(plus(*towns, *sums), count="n", totals="drop").total == 48


@pytest.mark.parametrize("label", ["Woodshire", "Összesen", "Итого", "合計", "Tot.", "Ash+Birch"])
def test_a_sum_in_two_cells(label):
    """Two men would be four."""
    cells = [("m", "Ash", 1), ("m", "Birch", 1), ("f", "Ash", 15), ("f", "Birch", 9)]
    frame = pd.DataFrame([*cells, ("m", label, 2), ("f", label, 24)], columns=["Sex", "Town", "n"])
    with pytest.raises(WrongKind, match="sums of others"):
        load(frame, count="n")
    assert load(frame, count="n", totals="drop").total == 26
    assert load(frame, count="n", totals="keep").total == 52


@pytest.mark.parametrize("seed", range(20))
def test_ordinary_tables_have_no_totals(seed):
    rng = np.random.default_rng(seed)
    shape = (3, 2, 3)
    frame = pd.DataFrame(np.indices(shape).reshape(3, -1).T, columns=list("ABC"))
    frame["n"] = rng.integers(0, 4, len(frame))
    assert load(frame, count="n").total == frame["n"].sum()


def test_nothing_to_drop():
    with pytest.raises(WrongKind, match="no category of the frame is a total"):
        load(BASE, count="n", totals="drop")
    with pytest.raises(DataError, match="totals is 'remove'; choose drop or keep"):
        load(BASE, count="n", totals="remove")


def test_a_crosstab_with_sums():
    frame = pd.DataFrame(
        {"Town": ["Ash", "Birch", "Total"], "m": [12, 2, 14], "f": [15, 9, 24], "All": [27, 11, 38]}
    )
    with pytest.raises(WrongKind, match="is this a cross-tab"):
        load(frame)
    with pytest.raises(WrongKind, match="Town=Total, Sex=m"):
        load(frame, crosstab="Sex")
    assert load(frame, crosstab="Sex", totals="drop").dense().tolist() == [[12, 15], [2, 9]]
    wrong = frame.assign(All=[27, 11, 39])
    with pytest.raises(WrongKind, match="counts 39 where the rows it stands for sum to 38"):
        load(wrong, crosstab="Sex", totals="drop")


def test_a_total_among_people():
    people = pd.DataFrame({"Sex": [*"mmff", "Total"], "Ill": ["no"] * 5})
    with pytest.raises(WrongKind, match="has 'Total' in 'Sex' among people"):
        load(people)
    assert load(people, totals="keep").total == 5
    assert Microdata.read(people).table("Ill").total == 5
    with pytest.raises(WrongKind, match="totals='drop' is for cells"):
        load(people.head(4), totals="drop")


@pytest.mark.parametrize(
    ("label", "said"),
    [
        ("Total", True),
        (" TOTAL: ", True),
        ("_T", True),
        ("Insgesamt", True),
        ("Yhteensä", True),
        ("Totnes", False),
        ("Ballroom", False),
        ("T", False),
    ],
)
def test_names_of_totals(label, said):
    assert is_total(label) is said
