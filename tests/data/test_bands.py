"""Numbers with hundreds of values: asked about, or banded; counts held against numpy."""

import itertools
import sqlite3
from contextlib import closing

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli.main import main
from discreet.data.bands import Bands, parse_bands
from discreet.data.values import read_label
from discreet.errors import CodebookError, DataError, WrongKind
from discreet.look.telling import telling

N = 2000


@pytest.fixture
def people():
    rng = np.random.default_rng(5)
    return pd.DataFrame({"Sex": rng.choice(["f", "m"], N), "Income": rng.integers(0, 90_000, N)})


def told(read):
    notes = []
    with telling(notes.append):
        return read(), notes


def test_hundreds_of_numbers_are_asked_about(people):
    with pytest.raises(WrongKind) as caught:
        dc.load(people)
    for said in ("bands={'Income': 10000}", "without='Income'", "bands={'Income': 'none'}"):
        assert said in str(caught.value)
    assert "--band Income=10000" in caught.value.typed


def test_each_way_out_is_one(people):
    assert dc.load(people, without="Income").names == ("Sex",)
    assert dc.load(people, bands={"Income": "none"}).variable("Income").size > 100
    assert dc.load(people, variables=["Sex", "Income"]).variable("Income").size > 100
    assert dc.load(people, bands={"Income": 10_000}).variable("Income").size == 9


def test_a_role_alone_does_not_make_categories_of_numbers(people):
    book = dc.codebooks.Codebook.of({"Income": {"role": "sensitive"}})
    with pytest.raises(WrongKind, match="different numbers"):
        dc.load(people, codebook=book)


@pytest.mark.parametrize("width", [5_000, 10_000, 33_333, 0.5])
def test_bands_of_one_width_count_as_numpy_does(people, width):
    if width < 1:
        people["Income"] = people["Income"] / 10_000
    table, notes = told(lambda: dc.load(people, bands={"Income": width}))
    places = np.floor(people["Income"] / width).astype(int)
    right = np.bincount(places - places.min())
    assert table.margin("Income").dense().tolist() == right.tolist()
    assert len(notes) == 1
    assert "bands" in notes[0]


@pytest.mark.parametrize("cuts", [[0, 10_000, 50_000], [20_000], [10_000, 100_000]])
def test_cut_points_count_as_numpy_does(people, cuts):
    table = dc.load(people, bands={"Income": cuts})
    places = np.digitize(people["Income"], cuts)
    counts = np.bincount(places, minlength=len(cuts) + 1)
    inner = counts[1:-1].tolist()
    right = [*([counts[0]] if counts[0] else []), *inner, *([counts[-1]] if counts[-1] else [])]
    assert table.margin("Income").dense().tolist() == right


def test_bands_with_about_equal_numbers(people):
    table = dc.load(people, bands={"Income": "quantiles:4"})
    counts = table.margin("Income").dense()
    assert len(counts) == 4
    assert abs(counts - N / 4).max() < 0.05 * N
    cuts = [read_label(c)[0][0] for c in table.variable("Income").categories[1:]]
    assert all(cut % 100 == 0 for cut in cuts)  # round: nobody's own number


@pytest.mark.parametrize("bands", [10_000, [500, 20_000, 70_000], "quantiles:6", 7.5])
def test_labels_say_where_a_band_begins_and_ends(people, bands):
    if bands == 7.5:
        people["Income"] = people["Income"] % 100 - 20
    variable = dc.load(people, bands={"Income": bands}).variable("Income")
    ranges = [read_label(category)[0] for category in variable.categories]
    assert all(a[1] == b[0] for a, b in itertools.pairwise(ranges))
    values = dc.uncertainty.Values.of(variable)
    assert [values.ranges[c] for c in variable.categories] == ranges
    for low, high in ranges:
        assert low < high


def test_numbers_on_a_cut_belong_above_it():
    values = [0.1, 0.2, 0.3, 0.7, 0.30000000000000004, 0.6] * 30
    frame = pd.DataFrame({"x": values, "a": [*"uv"] * 90})
    counts = dc.load(frame, bands={"x": 0.1}).margin("x").dense().tolist()
    assert counts == [30, 30, 60, 0, 0, 30, 30]


@pytest.mark.parametrize(
    ("write", "mark", "scale"),
    [
        (lambda x: f"{x / 8:.3f}".replace(".", ","), ";", 8),
        (lambda x: f"{x:,}", ";", 1),
        (lambda x: f" {x} ", ",", 1),
        (lambda x: f"{x:.5e}", ",", 1),
    ],
    ids=["decimal comma", "thousands", "blanks", "exponents"],
)
def test_numbers_as_files_write_them(tmp_path, people, write, mark, scale):
    people.assign(Income=[write(x) for x in people["Income"]]).to_csv(
        tmp_path / "x.csv", sep=mark, index=False
    )
    with pytest.raises(WrongKind, match="different numbers"):
        dc.load(tmp_path / "x.csv")
    table = dc.load(tmp_path / "x.csv", bands={"Income": 1_000})
    right = np.bincount((people["Income"] / scale // 1_000).astype(int))
    assert table.margin("Income").dense().tolist() == right.tolist()


def test_missing_values_and_codes_stay_apart(people):
    people = people.astype({"Income": str})
    people.loc[:9, "Income"] = "-9"
    people.loc[10:14, "Income"] = ""
    people.loc[15:17, "Income"] = "refused"
    book = dc.codebooks.Codebook.of({"Income": {"bands": [10_000, 50_000]}}, missing_values=["-9"])
    table = dc.load(people, codebook=book)
    assert table.variable("Income").categories == (
        *("under 10,000", "10,000 to under 50,000", "50,000 or more"),
        *("refused", "(missing)"),
    )
    assert table.margin("Income").dense()[3:].tolist() == [3, 15]


def test_a_labelled_code_is_no_number(people):
    people.loc[:4, "Income"] = 999_999
    book = dc.codebooks.Codebook.of(
        {"Income": {"labels": {"999999": "no answer"}, "open": True, "bands": 30_000}}
    )
    table = dc.load(people, codebook=book)
    assert table.variable("Income").categories[-1] == "no answer"
    assert table.margin("Income").dense()[-1] == 5
    assert table.variable("Income").size == 4


def test_codes_are_no_numbers():
    """Postcodes begin with zeros."""
    codes = [f"{x:05}" for x in range(800, 950)] * 3
    frame = pd.DataFrame({"post": codes, "a": [*"uvw"] * 150})
    assert dc.load(frame, records=True).variable("post").size == 150


def test_cells_are_not_banded():
    frame = pd.DataFrame({"x": range(150), "n": [1, 2] * 75})
    assert dc.load(frame, count="n").variable("x").size == 150
    with pytest.raises(DataError, match="bands are for records"):
        dc.load(frame, count="n", bands={"x": 10})
    book = dc.codebooks.Codebook.of({"x": {"bands": 10}})
    with pytest.raises(DataError, match="bands of 'x' are for records"):
        dc.load(frame, count="n", codebook=book)


@pytest.mark.parametrize(
    ("said", "message"),
    [
        (0, "give a width above 0"),
        (-5, "give a width above 0"),
        ("many", "give a width, cut points"),
        ([3, 2], "give rising cut points"),
        ([2, 2], "give rising cut points"),
        ([], "give rising cut points"),
        ("quantiles:1", "give 2 to 100"),
        (True, "give a width, cut points"),
        (None, "give a width, cut points"),
        (float("nan"), "give a width, cut points"),
    ],
)
def test_bands_that_cannot_be(said, message):
    with pytest.raises(CodebookError, match=message):
        Bands.of(said, "Income")


def test_words_for_bands(people):
    assert parse_bands(["a=b=5"]) == {"a=b": Bands.of(5, "")}
    assert parse_bands(["a=18,"])["a"] == Bands.of([18], "")
    for text in ("a", "=5", "a="):
        with pytest.raises(DataError, match="has no bands; write NAME=10000"):
            parse_bands([text])
    with pytest.raises(DataError, match="names 'a' twice"):
        parse_bands(["a=1", "a=2"])
    with pytest.raises(DataError, match=r"the frame has no column 'Wage' to band"):
        dc.load(people, bands={"Wage": 5})
    with pytest.raises(DataError, match="has no numbers"):
        dc.load(people, bands={"Sex": 5})
    with pytest.raises(DataError, match=r"make .* categories of 'Income'"):
        dc.load(people, bands={"Income": 1})


def test_assess_asks_and_bands(tmp_path, people):
    people.to_csv(tmp_path / "people.csv", index=False)
    asked = ["assess", str(tmp_path / "people.csv"), "--release", "Sex"]
    stopped = CliRunner().invoke(main, asked)
    assert stopped.exit_code == 2
    assert "--band Income=10000" in stopped.output
    banded = CliRunner().invoke(main, [*asked, "--band", "Income=30000"])
    assert banded.exit_code == 0
    assert "'Income' of 'people.csv' is read in 3 bands, 30,000 wide." in banded.stderr
    assert CliRunner().invoke(main, [*asked, "--without", "Income"]).exit_code == 0


def test_bands_of_a_database_without_nan(tmp_path):
    ages = pd.DataFrame({"Age": [5.0, 25.5, 25.0, None]})
    with closing(sqlite3.connect(tmp_path / "x.db")) as connection:
        ages.to_sql("t", connection, index=False)
    found = dc.load(f"sqlite:///{tmp_path}/x.db", table="t", bands={"Age": [20, 40]})
    assert found.variables[0].categories == ("under 20", "20 to under 40", "(missing)")
    assert found.dense().tolist() == [1, 2, 1]
