"""What the data mean is one text, and what changed in it is said."""

from dataclasses import replace

import numpy as np
import pytest

from discreet.data.codebook import Codebook
from discreet.data.hierarchy import Hierarchy
from discreet.data.reading import Reading
from discreet.data.variable import Role
from discreet.server.ledger.meaning import MOST_LISTED, OTHER, Meaning
from discreet.table.load import load, read
from discreet.table.table import Table

TREE = {"lung": "cancer", "skin": "cancer"}
PEOPLE = Table.of(
    np.full((2, 3, 2), 40), Sex=["f", "m"], Ill=["lung", "skin", "none"], Births=["0", "1"]
)


def with_variable(table, name, **changes):
    return replace(
        table,
        variables=tuple(replace(v, **changes) if v.name == name else v for v in table.variables),
    )


def changed(old, new, **more):
    return Meaning.of(old).differences(Meaning.of(new, **more))


def test_every_part_of_a_meaning_has_its_sentence():
    sensitive = with_variable(PEOPLE, "Ill", role=Role.SENSITIVE)
    assert changed(sensitive, with_variable(PEOPLE, "Ill", role=Role.NEITHER)) == (
        "Ill was sensitive, and is neither.",
    )
    some = with_variable(sensitive, "Ill", sensitive=("lung",))
    assert changed(sensitive, some) == ("Sensitive of Ill was every category, and is lung.",)
    tree = with_variable(PEOPLE, "Ill", hierarchy=Hierarchy.of(TREE))
    assert changed(PEOPLE, tree) == ("The categories of Ill are merged now.",)
    other = with_variable(PEOPLE, "Ill", hierarchy=Hierarchy.of({"lung": "cancer"}))
    assert changed(tree, other) == ("skin of Ill was in cancer, and is in no group.",)
    values = with_variable(PEOPLE, "Births", values=(("0", 0.0, 0.0), ("1", 1.0, np.inf)))
    assert changed(PEOPLE, values) == (
        "The numbers that categories of Births stand for changed: 0, 1.",
    )
    assert changed(replace(PEOPLE, nestings=(("Town", "Region"),)), PEOPLE) == (
        "Town lies within Region no more.",
    )
    empty = Table.of([[40, 40], [40, 0]], Sex=["f", "m"], Births=["0", "1"])
    stated = empty.excluding([{"Sex": "m", "Births": "1"}])
    assert changed(stated, empty) == ("Sex=m, Births=1 is impossible no more.",)
    assert changed(empty, stated) == ("Sex=m, Births=1 is impossible now.",)
    assert changed(PEOPLE, replace(PEOPLE, sampling_fraction=0.1)) == (
        "sampling_fraction was not said, and is 0.1.",
    )
    book = Codebook.of({}, weights="w", missing="drop", missing_values=["9", "8"])
    assert changed(PEOPLE, PEOPLE, book=book, count="n") == (
        "count was not said, and is n.",
        "missing was not said, and is drop.",
        "missing_values was not said, and is 8, 9.",
        "weights was not said, and is w.",
    )


def test_a_vintage_of_the_codebook_is_a_part_of_it():
    book = Codebook.of(previous={"variables": {"Age50": "Age51"}})
    (said,) = changed(PEOPLE, PEOPLE, book=book)
    assert said.startswith("previous was not said, and is")
    assert '"Age50":"Age51"' in said


def test_the_order_in_which_a_codebook_was_written_is_no_change():
    one = with_variable(PEOPLE, "Ill", role=Role.BOTH, sensitive=("lung", "skin"),
                        hierarchy=Hierarchy.of(TREE))  # fmt: skip
    two = with_variable(PEOPLE, "Ill", role=Role.BOTH, sensitive=("skin", "lung"),
                        hierarchy=Hierarchy.of(dict(reversed(TREE.items()))))  # fmt: skip
    assert Meaning.of(one) == Meaning.of(two)
    assert changed(one, two) == ()


def test_a_denied_coding_is_a_part_of_it(tmp_path):
    """ "Those that look so can occur" makes verdicts milder or stricter, and is no role."""
    rows = ["Age50,Age51,n", "a,x,200", "b,y,200", "c,z,150"]
    (tmp_path / "ages.csv").write_text("\n".join(rows))
    said = [
        read(tmp_path / "ages.csv", Reading.of({"count": "n", "impossible": impossible}))
        for impossible in (None, "none")
    ]
    assert all(table.codings for table in said)
    assert changed(*said) == ("Combinations that nobody has in the data can occur.",)
    assert changed(*said[::-1]) == (
        "Combinations that nobody has in the data are not said to occur any more.",
    )


def test_very_many_combinations_are_kept_as_a_hash():
    """A text stays small, and one combination more or less is still another meaning."""
    side = int(MOST_LISTED**0.5) + 2
    table = Table.of(np.diag(np.full(side, 9)), A=range(side), B=range(side))
    all_ = [{"A": i, "B": [j for j in range(side) if j != i]} for i in range(side)]
    most = table.excluding(all_)
    fewer = table.excluding([*all_[:-1], {"A": side - 1, "B": list(range(1, side - 1))}])
    assert len(Meaning.of(most).text) < 5_000
    (said,) = changed(most, fewer)
    assert said.startswith("Of A and B other combinations are impossible: 2,")


def test_what_has_no_sentence_is_still_said():
    """Of a later version, say."""
    one, two = Meaning('{"impossible":[],"x":1}'), Meaning('{"impossible":[],"x":2}')
    assert one.differences(two) == ("x was 1, and is 2.",)
    assert Meaning("{}").differences(Meaning('{"within":[]}')) == (OTHER,)


@pytest.mark.parametrize(
    "name", ["tract", "czech", "blond", pytest.param("nltcs", marks=pytest.mark.nltcs)]
)
def test_a_meaning_is_the_same_each_time(name):
    one, two = (Meaning.of(load(f"example:{name}")) for _ in range(2))
    assert one == two
    assert one.hash == two.hash
