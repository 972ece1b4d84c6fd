"""A look before the count: what is not a file of people is not read as one."""

import sqlite3

import ibis
import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

from discreet.data.codebook import Codebook
from discreet.data.domains import read_domains
from discreet.data.grid import by_chance
from discreet.data.head import LOOK
from discreet.errors import DataError, WrongKind
from discreet.risk.uniques.anonymity import k_anonymity
from discreet.risk.uniques.uniques import uniques
from discreet.table.load import load
from discreet.table.microdata import Microdata

CELLS = pd.DataFrame(
    {"Sex": ["m", "m", "f", "f"], "Town": ["Ash", "Birch"] * 2, "n": [12, 2, 15, 9]}
)
CROSSTAB = pd.DataFrame({"Town": ["Ash", "Birch"], "low": [3, 0], "mid": [4, 2], "high": [5, 1]})


def parquet(frame, folder):
    frame.to_parquet(folder / "x.parquet")
    return {"data": folder / "x.parquet"}


def csv(frame, folder):
    frame.to_csv(folder / "x.csv", index=False)
    return {"data": str(folder / "x.csv")}


def sqlite(frame, folder):
    with sqlite3.connect(folder / "x.db") as connection:
        frame.to_sql("x", connection, index=False)
    connection.close()
    return {"data": f"sqlite:///{folder / 'x.db'}", "table": "x"}


SOURCES = {
    "csv": csv,
    "parquet": parquet,
    "sqlite": sqlite,
    "pandas": lambda frame, _: {"data": frame},
    "polars": lambda frame, _: {"data": pl.from_pandas(frame)},
    "arrow": lambda frame, _: {"data": pa.Table.from_pandas(frame)},
    "ibis": lambda frame, _: {"data": ibis.memtable(frame)},
}


@pytest.fixture(params=SOURCES)
def given(request, tmp_path):
    """A frame as each kind of source."""
    return lambda frame: SOURCES[request.param](frame, tmp_path)


def test_a_forgotten_count_is_asked_for(given):
    """Each cell was one person: 4 people where there are 38."""
    data = given(CELLS)
    with pytest.raises(WrongKind, match=r"'n' looks like a count.*Say count='n', or records=True"):
        load(**data)
    assert load(**data, count="n").total == 38
    assert load(**data, records=True).total == 4


def test_a_crosstab_is_not_people(given):
    data = given(CROSSTAB)
    with pytest.raises(WrongKind, match=r"'low', 'mid', 'high': is this a cross-tab.*crosstab='NA"):
        load(**data)
    found = load(**data, crosstab="Income")
    assert found.dense().tolist() == [[3, 4, 5], [0, 2, 1]]
    assert found.variable("Income").categories == ("low", "mid", "high")
    assert load(**data, records=True).total == 2


def test_the_command_line_names_its_options():
    with pytest.raises(WrongKind) as caught:
        load(CELLS.rename(columns={"n": "COUNT(*)"}))
    assert caught.value.typed.endswith(
        "Say --count 'COUNT(*)', or --records if each row is a person."
    )


@pytest.mark.parametrize(
    "name", ["n", "N", " Count ", "Freq", "frequency", "len", "Anzahl", "count_star()", "effectifs"]
)
def test_names_of_counts(name):
    with pytest.raises(WrongKind, match="looks like a count"):
        Microdata.read(CELLS.rename(columns={"n": name}))


@pytest.mark.parametrize("name", ["value", "persons", "0", "Total"])
def test_names_that_people_have_too_count_if_no_other_column_has_numbers(name):
    cells = CELLS.rename(columns={"n": name})
    with pytest.raises(WrongKind, match="looks like a count"):
        Microdata.read(cells)
    Microdata.read(cells.assign(Age=[34, 71, 68, 9]))


def test_suppressed_counts_are_counts():
    with pytest.raises(WrongKind, match="count='n'"):
        Microdata.read(CELLS.assign(n=["12", "<5", "15", ""]))


def test_columns_that_are_left_out_do_not_hide_cells():
    with pytest.raises(WrongKind, match="looks like a count"):
        load(CELLS, variables=["Sex"])


def test_a_weight_is_no_count():
    people = CELLS.rename(columns={"n": "freq"})
    assert load(people, codebook=Codebook.of(weights="freq")).total == 4
    assert uniques(people, "Sex,Town", weights="freq").classes.records == 4


def test_what_the_codebook_calls_a_variable_is_no_count():
    assert load(CELLS, codebook=Codebook.of({"n": {"role": "sensitive"}})).total == 4


@pytest.mark.parametrize("said", [{"title": "People"}, {"unit": "persons"}, {"role": "neither"}])
def test_what_the_codebook_only_describes_can_be_a_count(said):
    with pytest.raises(WrongKind, match="'n' looks like a count"):
        load(CELLS, codebook=Codebook.of({"n": said}))
    assert load(CELLS, count="n").total == CELLS["n"].sum()


def grid(*sizes, seed=1):
    """Every combination of categories, with a number that has no telling name."""
    index = np.indices(sizes).reshape(len(sizes), -1)
    frame = pd.DataFrame({f"v{i}": [f"c{c}" for c in codes] for i, codes in enumerate(index)})
    return frame.assign(amount=np.random.default_rng(seed).integers(0, 50, len(frame)))


@pytest.mark.parametrize("sizes", [(3, 3), (2, 3, 3), (2,) * 6, (30, 40, 20)])
def test_a_whole_table_is_cells_whatever_the_count_is_called(sizes):
    with pytest.raises(WrongKind, match=r"'amount' is set aside.*Say count='amount'"):
        load(grid(*sizes))


def test_a_small_whole_table_is_cells():
    """Two men in three towns would be three rows."""
    frame = grid(2, 3).assign(amount=[0, 0, 2, 9, 30, 15])
    with pytest.raises(WrongKind, match="as in a file of cells"):
        load(frame)
    assert load(frame, records=True).total == 6


def test_a_large_file_of_cells_is_found_by_its_head(given):
    data = given(grid(25, 40, 11))
    with pytest.raises(WrongKind, match="count='amount'"):
        Microdata.read(**data)


def test_shares_beside_the_counts_classify_nobody():
    cells = grid(3, 4)
    cells["percent"] = cells["amount"] / cells["amount"].sum() * 100
    with pytest.raises(WrongKind, match="count='amount'"):
        Microdata.read(cells)


def test_the_chance_that_people_are_all_different():
    """364/365 * 363/365 * ...: 23 birthdays, .4927."""
    assert by_chance(23, 365) == pytest.approx(0.4927, abs=1e-4)
    assert by_chance(7, 6) == 0
    assert by_chance(10_000, 10**400) == 1


def test_a_wide_file_of_people():
    rng = np.random.default_rng(5)
    frame = pd.DataFrame({f"q{i}": rng.integers(0, 1_000, 100) for i in range(200)})
    assert load(frame, variables=["q0"]).total == 100


def people(rows, seed=0):
    rng = np.random.default_rng(seed)
    return pd.DataFrame(
        {
            "sex": rng.integers(1, 3, rows),
            "age": rng.integers(0, 95, rows),
            "income": rng.integers(0, 90_000, rows),
            "children": rng.integers(0, 5, rows),
            "town": rng.choice(["Ash", "Birch", "Cedar"], rows),
        }
    )


@pytest.mark.parametrize("rows", [1, 2, 5, 8, 20, 50, 1_000, LOOK + 5])
@pytest.mark.parametrize("seed", range(3))
def test_people_are_read(rows, seed):
    """Also where all of them differ, and numbers come last."""
    frame = people(rows, seed)
    assert load(frame, variables=["sex", "town"]).total == rows
    turned = frame[["town", "sex", "age", "income", "children"]]
    assert load(turned, variables=["sex", "town"], records=rows < 5).total == rows


@pytest.mark.parametrize(
    "key",
    [
        {"id": [f"P{i:03}" for i in range(50)]},
        {"id": range(1, 51)},
        {"home": [i // 3 for i in range(50)], "person": [i % 3 for i in range(50)]},
    ],
    ids=["codes", "numbers", "two keys"],
)
def test_people_with_keys_are_read(key):
    frame = pd.concat([pd.DataFrame(key), people(50).drop(columns="town")], axis=1)
    assert load(frame, variables=["sex"]).total == 50


def test_households_are_read():
    """Home and person tell all rows apart, as no chance does."""
    rng = np.random.default_rng(3)
    sizes = rng.integers(1, 6, 3_000)
    home = np.repeat(np.arange(3_000), sizes)
    person = np.concatenate([np.arange(size) for size in sizes])
    frame = pd.DataFrame({"home": home, "person": person}).assign(
        sex=rng.choice(["f", "m"], len(home)), age=rng.integers(0, 90, len(home))
    )
    assert load(frame, variables=["sex"]).total == len(home)


def test_a_constant_count_of_one_is_people():
    assert load(people(50).assign(count=1), variables=["sex"]).total == 50


def test_a_count_among_people_who_are_alike():
    """n children, or cells by a month that is gone, in most of which there is nobody."""
    frame = pd.DataFrame({"sex": [*"ffmm"], "n": [0, 2, 1, 1]})
    with pytest.raises(WrongKind, match="'n' of the frame is called like a count, and rows"):
        load(frame)
    with pytest.raises(WrongKind, match="add them up"):
        load(pd.DataFrame({"sex": [*"fffmm"], "n": [0, 2, 1, 1, 0]}))
    assert load(frame, records=True).total == 4
    assert load(frame.rename(columns={"n": "children"})).total == 4


@pytest.mark.parametrize("said", ["n={}", "{} persons", "{}*", "{:04d}"])
def test_counts_with_words_beside_them_are_counts(said):
    with pytest.raises(WrongKind, match="'n' looks like a count"):
        load(CELLS.assign(n=CELLS["n"].map(said.format)))


def test_people_who_are_alike_further_down():
    frame = pd.DataFrame({"zip": [*range(LOOK + 1), 1], "n": [*[1, 2] * (LOOK // 2), 1, 2]})
    with pytest.raises(WrongKind, match="called like a count"):
        Microdata.read(frame)
    assert len(Microdata.read(frame.rename(columns={"n": "rooms"}))) == LOOK + 2


@pytest.mark.nltcs
def test_the_nltcs_is_people(nltcs):
    assert nltcs.total == 21_574


def test_a_column_that_cannot_be_read_is_left_to_the_count():
    frame = people(20).assign(tags=[[1]] * 20)
    assert load(frame, variables=["sex"]).total == 20


@pytest.mark.parametrize(
    "frame",
    [
        CELLS.groupby(["Sex", "Town"]).sum(),
        CELLS.groupby("Sex")["n"].sum().to_frame(),
        CELLS.groupby("Sex")[["n"]].sum().assign(m=1),
    ],
    ids=["two keys", "one key", "one key, two columns"],
)
def test_an_index_of_categories_is_not_lost(frame):
    """It becomes columns, and what stands beside it is looked at."""
    with pytest.raises(WrongKind, match=r"'n' looks like a count.*count='n'"):
        load(frame)
    assert load(frame, count="n", without="m" if "m" in frame else None).total == 38


def test_a_pandas_crosstab():
    frame = pd.crosstab(pd.Series([*"aab"], name="Town"), pd.Series([*"xyx"], name="Ill"))
    for found in (load(frame), load(frame.reset_index(), crosstab="Ill")):
        assert found.names == ("Town", "Ill")
        assert found.dense().tolist() == [[1, 1], [1, 0]]


def test_who_stands_out_among_cells():
    with pytest.raises(WrongKind, match="count='n'"):
        uniques(CELLS, "Sex,Town")
    with pytest.raises(WrongKind, match="count='n'"):
        k_anonymity(CELLS, "Sex,Town")
    assert uniques(CELLS, "Sex,Town", count="n").classes.records == 38
    assert uniques(CROSSTAB, "Town", crosstab="Income").classes.records == 15
    assert uniques(CELLS, "Sex,Town", sensitive="n", records=True).classes.records == 4


def test_domains_counted_from_cells():
    cells = CELLS.assign(people=[100, 200, 100, 200])
    asked = {"sample_size": None, "population": "people", "cell_count": "Sex=m", "domain": "Town"}
    with pytest.raises(WrongKind, match="count='n'"):
        read_domains(cells, **asked)
    assert read_domains(cells, **asked, records=True).n.tolist() == [2, 2]


def test_a_codebook_says_what_domains_are_called():
    """And which of them is a total."""
    people = pd.DataFrame({"town": [1, 1, 2, 9], "ill": [0, 1, 1, 1], "people": 100})
    asked = {"sample_size": None, "population": "people", "cell_count": "ill", "domain": "town"}
    book = Codebook.of({"town": {"labels": {1: "Ash", 2: "Birch", 9: "Cedar"}}})
    assert read_domains(people, codebook=book, **asked).columns["town"] == ["Ash", "Birch", "Cedar"]
    book = Codebook.of({"town": {"labels": {1: "Ash", 2: "Birch", 9: "Total"}}})
    with pytest.raises(WrongKind, match="'Total' in 'town' among people"):
        read_domains(people, codebook=book, **asked)
    domains = people[1:].assign(sample=10)
    by_row = {"sample_size": "sample", "population": "people", "cell_count": "ill"}
    with pytest.raises(DataError, match="'Total' in 'town' among the domains"):
        read_domains(domains, codebook=book, **by_row)


def test_one_thing_is_said():
    with pytest.raises(DataError, match="records=True says that each row is a person, count='n'"):
        load(CELLS, count="n", records=True)
    with pytest.raises(DataError, match="count='n' is for cells and crosstab='X'"):
        load(CELLS, count="n", crosstab="X")


def test_columns_called_by_letters_are_no_counts():
    """N after M is a variable; N beside Town and Sex is a number."""
    rows = [[a, b, n] for a in "xy" for b in "uv" for n in (0, 1, 2)] * 2
    letters = pd.DataFrame(rows, columns=["L", "M", "N"])
    assert Microdata.read(letters).table().total == 24
    with pytest.raises(WrongKind, match="called like a count"):
        Microdata.read(letters.rename(columns={"L": "Town", "M": "Sex"}))
