"""Combinations that nobody can have: stated, kept by every operation, and found."""

import numpy as np
import pandas as pd
import pytest

from discreet.data.codebook import Codebook, Variable
from discreet.decision.law.decide import decide
from discreet.errors import CodebookError, DataError
from discreet.table.codings import find_codings
from discreet.table.impossible import holds
from discreet.table.load import load
from discreet.table.microdata import Microdata
from discreet.table.table import Table

AGES = (("Age50", "<50"), ("Age51", "51+"))


def ages():
    return Table.of(
        [[[100, 80], [0, 0]], [[1, 1], [90, 70]]],
        Age50=["<50", "50+"], Age51=["<51", "51+"], Region=["N", "S"],
    ).excluding([{"Age51": "51+", "Age50": "<50"}])  # fmt: skip


def people(table):
    """One row a person."""
    frame = table.to_frame()
    return frame.loc[frame.index.repeat(frame["count"])].drop(columns="count").astype(str)


def test_it_is_in_the_order_of_the_axes_sorted_and_once():
    table = ages().excluding([{"Age50": "<50", "Age51": ["51+"]}])
    assert table.impossible == (AGES,)
    assert table == Table.of(table.dense(), **{v.name: v.categories for v in table.variables})
    assert repr(table) == "Table(Age50 2 x Age51 2 x Region 2: 342 in 6 of 8 cells)"


@pytest.mark.parametrize(
    ("stated", "error", "says"),
    [
        ({"Age50": "<50", "Age51": "<51"}, DataError, "Age51=<51 is called impossible, but 180 pe"),
        ({"Age50": "<50"}, DataError, "of one variable"),
        ({"Age50": "<50", "Sex": "m"}, DataError, "'Sex', which is no variable"),
        ({"Age50": "<40", "Age51": "51+"}, CodebookError, "no category '<40'"),
        ("Age50", DataError, "give a category for each variable"),
    ],
)
def test_what_is_wrong_is_named(stated, error, says):
    with pytest.raises(error, match=says):
        ages().excluding([stated])


def test_margins_orders_and_slices_keep_it():
    table = ages()
    assert table.margin("Age50*Age51").impossible == (AGES,)
    assert table.margin("Age50*Region").impossible == ()
    assert table.reorder(["Region", "Age51", "Age50"]).impossible == (AGES[::-1],)
    assert table.slice(Region="N").impossible == (AGES,)
    assert table.slice(Age50="<50").impossible == ()
    assert table.collapse("Region").impossible == (AGES,)


def test_a_slice_keeps_what_it_meets():
    array = np.ones((2, 2, 2), int)
    array[0, 0, 0] = array[1, 1, 1] = 0
    table = Table.of(array, A="ab", B="ab", C="ab")
    table = table.excluding([dict.fromkeys("ABC", "a"), dict.fromkeys("ABC", "b")])
    assert table.slice(A="a").impossible == ((("B", "a"), ("C", "a")),)


def test_a_merged_category_is_impossible_if_all_its_parts_are():
    array = np.array([[5, 0], [5, 0], [5, 7]])
    table = Table.of(array, Age=["child", "teen", "adult"], Married=["no", "yes"])
    table = table.excluding([{"Age": ["child", "teen"], "Married": "yes"}])
    young = table.merge("Age", {"child": "young", "teen": "young"})
    assert young.impossible == ((("Age", "young"), ("Married", "yes")),)
    assert table.merge("Age", {"teen": "older", "adult": "older"}).impossible == (
        (("Age", "child"), ("Married", "yes")),
    )


def test_codings_are_found_in_what_is_read():
    table = Microdata.read(people(ages()), records=True).table()
    assert table.impossible == ()  # nobody stated it
    assert {frozenset(c) for c in table.supposing().impossible} == {frozenset(AGES)}
    assert table.supposing().supposing(()).impossible == ()
    (said,) = table.found
    assert said.startswith(
        "Age50 and Age51 look like codings of one thing: nobody has 1 of their combinations. "
    )
    assert table.margin("Age50*Region").found == ()
    assert table.reorder(["Region", "Age51", "Age50"]).supposing().impossible
    off = Microdata.read(people(ages()), records=True).table(impossible="none")
    assert off.impossible == off.supposing().impossible == ()
    assert "as was stated, it can occur" in off.found[0]


def test_what_is_stated_is_not_found():
    stated = [{"Age50": "<50", "Age51": "51+"}]
    table = load(people(ages()), records=True, impossible=stated)
    assert len(table.impossible) == 1
    assert table.found == ()
    cells = ages().to_frame()
    assert len(Table.read(cells, count="count", impossible=stated).impossible) == 1


def test_a_merge_recounts_what_was_found():
    array = np.diag([50, 60, 70, 80])
    frame = people(Table.of(array, Fine="abcd", Other="wxyz"))
    table = Microdata.read(frame, records=True).table()
    assert table.codings[0].impossible == len(table.supposing().impossible) == 12
    merged = table.merge("Fine", {"a": "ab", "b": "ab"})
    assert merged.codings[0].impossible == len(merged.supposing().impossible) == 8
    stated = table.excluding([{"Fine": "a", "Other": ["x", "y"]}])
    assert (len(stated.impossible), stated.codings[0].impossible) == (2, 10)
    assert len(stated.supposing().impossible) == 12
    assert table.merge("Fine", dict.fromkeys("abcd", "all")).found == ()


def variables(*sizes):
    return tuple(Variable(chr(65 + i), tuple(map(str, range(n)))) for i, n in enumerate(sizes))


@pytest.mark.parametrize(("people", "categories"), [(300, 300), (500, 400), (2_000, 300)])
def test_independent_variables_are_no_codings(people, categories):
    """Of many categories with a person each, most pairs are empty by chance."""
    codes = np.random.default_rng(0).integers(0, categories, (people, 2)).astype(np.uint16)
    both = variables(categories, categories)
    assert find_codings(both, codes, np.ones(people, np.int64)) == ()


def test_few_people_are_no_codings():
    codes = np.array([[0, 0], [1, 0], [1, 1]], np.uint8)
    assert find_codings(variables(2, 2), codes, np.array([8, 2, 9])) == ()
    assert find_codings(variables(2, 2), codes, np.array([80, 2, 90]))


@pytest.mark.parametrize("name", ["tract", "czech", "blond", "estates"])
def test_examples_have_no_codings(name):
    assert load(f"example:{name}").codings == ()


def test_too_many_combinations_are_said(monkeypatch):
    monkeypatch.setattr("discreet.table.codings.MOST_FOUND", 0)
    table = Microdata.read(people(ages()), records=True).table()
    assert table.impossible == ()
    assert "too many to be judged with" in table.found[0]


def towns():
    return pd.DataFrame(
        {"Town": ["Ash", "Ash", "Birch", None, None], "Region": ["N", "N", "S", "N", "S"]}
    )


def test_a_variable_within_another():
    book = Codebook.of({"Town": {"within": "Region", "categories": ["Ash", "Birch", "Cedar"]}})
    table = Microdata.read(towns(), codebook=book, records=True).table()
    assert table.impossible == (
        (("Town", "Ash"), ("Region", "S")),
        (("Town", "Birch"), ("Region", "N")),
    )
    assert table.found == ()
    assert table.nestings == table.margin("Town*Region").nestings == (("Town", "Region"),)
    assert Microdata.read(towns(), codebook=book, records=True).table("Town").impossible == ()


def test_a_category_within_two_is_named():
    frame = pd.concat([towns(), pd.DataFrame({"Town": ["Ash"], "Region": ["S"]})])
    book = Codebook.of({"Town": {"within": "Region"}})
    with pytest.raises(DataError, match="Town=Ash is in Region=N and in Region=S"):
        Microdata.read(frame.reset_index(drop=True), codebook=book, records=True).table()


CODED = {
    "impossible": [
        {"Age50": "<50", "Age": ["50", "51+"]}, {"Age50": "50+", "Age": "<50"},
        {"Age51": "51+", "Age": ["<50", "50"]}, {"Age51": "<51", "Age": "51+"},
    ]
}  # fmt: skip
FINE = pd.DataFrame(
    {
        "Age50": ["<50", "50+", "50+"] * 2,
        "Age": ["<50", "50", "51+"] * 2,
        "Age51": ["<51", "<51", "51+"] * 2,
        "Region": ["N"] * 3 + ["S"] * 3,
        "n": [9, 1, 8, 7, 1, 9],
    }
)


def persons(cells):
    return cells.loc[cells.index.repeat(cells["n"])].drop(columns="n").reset_index(drop=True)


def test_what_is_stated_through_a_column_stays_when_the_column_goes():
    """Whoever is 50 follows by subtraction whether Age is in the table or not: it was PASS."""
    book, release = Codebook.of(**CODED), "Age50*Region + Age51*Region"
    table = load(FINE, count="n", codebook=book)
    kept = ["Age50", "Age51", "Region"]
    people = Microdata.read(persons(FINE), codebook=book)
    for fewer in (
        table.collapse("Age"),
        table.margin(kept),
        table.collapse("Age").reorder(["Region", "Age50", "Age51"]),
        load(FINE, count="n", codebook=book, without=["Age"]),
        load(FINE, count="n", codebook=book, variables=kept),
        people.table(kept),
        Microdata.read(persons(FINE), codebook=book, without=["Age"]).table(),
    ):
        assert fewer.impossible == (AGES,)
        assert decide(fewer, release).verdict == "FAIL"
    assert table.margin(["Age51", "Age50"]).impossible == (AGES[::-1],)
    assert table.margin("Age50*Region").impossible == ()
    assert table.slice(Age="50").impossible == ()
    assert decide(table, release).verdict == "FAIL"


def test_columns_within_one_that_is_left_out_stay_tied():
    book = Codebook.of({name: {"within": "Region"} for name in ("Town", "Post")})
    cells = {"Town": ["a", "a", "b"], "Post": ["p", "q", "r"], "Region": ["N", "N", "S"]}
    frame = pd.DataFrame(cells | {"n": [4, 5, 6]})
    whole = load(frame, count="n", codebook=book)
    stated = tuple((("Town", t), ("Post", p)) for t, p in ("ar", "bp", "bq"))
    assert whole.collapse("Region").impossible == stated
    assert load(frame, count="n", codebook=book, without=["Region"]).impossible == stated
    lost = frame.assign(Region=["N", None, "S"])  # somebody's region is not known
    assert load(lost, count="n", codebook=book, without=["Region"]).impossible == ()


@pytest.mark.parametrize("seed", range(30))
def test_pairs_through_others_are_those_of_which_nobody_could_be(seed):
    """Against every cell of a small table with a line of ties, or a star of them."""
    rng = np.random.default_rng(seed)
    names = dict(zip("ABCD", ([f"{n}{i}" for i in range(3)] for n in "abcd"), strict=True))
    table = Table.of(np.zeros((3, 3, 3, 3), int), **names)
    pairs = [("A", "B"), ("B", "C"), ("C", "D")] if seed % 2 else [("A", "B"), ("B", "C")]
    stated = [
        {one: names[one][i], other: names[other][j]}
        for one, other in pairs
        for i, j in np.argwhere(rng.random((3, 3)) < 0.5)
    ]
    whole = table.excluding(stated)
    kept = ["A", "D"] if seed % 2 else ["A", "C"]
    codes = np.indices(table.shape).reshape(4, -1).T
    can = np.zeros((3, 3), bool)
    open_ones = codes[~holds(whole.ruled_out, whole.variables, codes)]
    can[tuple(open_ones[:, ["ABCD".index(name) for name in kept]].T)] = True
    first, second = kept
    wanted = {((first, names[first][i]), (second, names[second][j])) for i, j in np.argwhere(~can)}
    assert {*whole.margin(kept).impossible} == wanted
