"""Cross-tabs are read as the cells that they show."""

import pandas as pd
import pytest

from discreet.data.codebook import Codebook
from discreet.errors import DataError
from discreet.table.load import load
from discreet.table.table import Table


def write(folder, text):
    path = folder / "x.csv"
    path.write_text(text)
    return path


def test_several_columns_down_the_side(tmp_path):
    path = write(tmp_path, "Sex,Town,low,high\nm,Ash,1,2\nm,Birch,3,4\nf,Ash,5,0\n")
    found = Table.read(path, crosstab="Income")
    assert found.names == ("Sex", "Town", "Income")
    assert found.dense().tolist() == [[[5, 0], [0, 0]], [[1, 2], [3, 4]]]


def test_numbers_down_the_side(tmp_path):
    """The first column always is; a second one if the codebook or the variables name it."""
    path = write(tmp_path, "Year,Age,male,female\n1990,1,3,4\n1990,2,5,6\n")
    with pytest.raises(DataError, match="Year=1990, Sex=Age 2 times"):
        load(path, crosstab="Sex")
    asked = load(path, crosstab="Sex", variables=["Age", "Sex"])
    assert asked.dense().tolist() == [[3, 4], [5, 6]]
    book = Codebook.of({"Age": {"labels": {1: "young", 2: "old"}}})
    assert load(path, crosstab="Sex", codebook=book).names == ("Year", "Age", "Sex")


def test_the_codebook_speaks_of_the_new_variable(tmp_path):
    path = write(tmp_path, "Town,low,high\nAsh,1,2\nBirch,3,4\n")
    book = Codebook.of({"Income": {"role": "sensitive", "categories": ["high", "low"]}})
    found = load(path, crosstab="Income", codebook=book)
    assert found.dense().tolist() == [[2, 1], [4, 3]]
    assert found.variable("Income").role == "sensitive"


def test_a_column_called_n(tmp_path):
    path = write(tmp_path, "n,low,high\na,1,2\nb,3,4\n")
    assert load(path, crosstab="n_").names == ("n", "n_")


@pytest.mark.parametrize(
    ("text", "name", "message"),
    [
        (
            "Town,low,high\nAsh,1,\nBirch,3,4\n",
            "I",
            "row 1 of 'x.csv' has the count None in 'high'",
        ),
        ("Town,low,high\nAsh,1,x\nBirch,3,4\n", "I", "'x' in 'high', which is not a number"),
        ("Town,low,high\nAsh,1,2\nAsh,3,4\n", "I", "Town=Ash, I=low 2 times"),
        ("Town,low,Note\nAsh,1,x\nBirch,3,y\n", "I", "'Note' of 'x.csv' stands behind the counts"),
        ("Town,Ill\nAsh,no\nBirch,no\n", "I", "no columns of counts"),
        ("Town,low\n", "I", "no rows"),
        ("Town,low,high\nAsh,1,2\n", "town", "crosstab='town' must be a new name"),
        ("Town,low,high\nAsh,1,2\n", " ", "must be a new name"),
    ],
)
def test_what_is_no_crosstab(tmp_path, text, name, message):
    with pytest.raises(DataError, match=message):
        load(write(tmp_path, text), crosstab=name)


def test_sums_beside_numbers_are_a_crosstab():
    """Years could be people's; a column Total that is the sum of the others could not."""
    frame = pd.DataFrame({"Year": [1990, 1991], "male": [3, 5], "female": [4, 6]})
    assert load(frame).total == 2
    with pytest.raises(DataError, match="is this a cross-tab"):
        load(frame.assign(Total=[7, 11]))
    assert load(frame.assign(Total=[7, 11]), crosstab="Sex", totals="drop").total == 18
