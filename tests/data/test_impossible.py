"""What a codebook and a command line say that nobody can be."""

import pandas as pd
import pytest

from discreet.data.codebook import Codebook
from discreet.data.impossible import Impossible
from discreet.errors import CodebookError, DataError
from discreet.table.microdata import Microdata

BOOK = """
impossible = [{ Sex = "male", Births = ["1", "2"] }, { Sex = 1, Pregnant = "yes" }]

[variables.Sex]
labels = { 1 = "male", 2 = "female" }
"""


def frame():
    return pd.DataFrame(
        {"Sex": [1, 2, 2, 2], "Births": [0, 0, 1, 2], "Pregnant": ["no", "no", "yes", "no"]}
    )


def test_a_codebook_says_it_by_label_or_code(tmp_path):
    (tmp_path / "book.toml").write_text(BOOK)
    table = Microdata.read(frame(), codebook=tmp_path / "book.toml", records=True).table()
    assert table.impossible == (
        (("Sex", "male"), ("Births", "1")),
        (("Sex", "male"), ("Births", "2")),
        (("Sex", "male"), ("Pregnant", "yes")),
    )
    some = Microdata.read(frame(), codebook=tmp_path / "book.toml", records=True).table(
        "Sex*Births"
    )
    assert len(some.impossible) == 2


def test_none_finds_nothing():
    assert Codebook.of(impossible="none").impossible == Impossible((), False)
    assert not (Impossible.of("none") + Impossible.of([{"A": 1, "B": 2}])).find


@pytest.mark.parametrize("wrong", ["some", [{"A": 1}], [1], {"A": 1}, 3])
def test_what_is_no_combination_is_named(wrong):
    with pytest.raises(CodebookError, match="two variables or more"):
        Codebook.of(impossible=wrong)


def test_columns_that_are_not_there_are_named():
    book = Codebook.of(impossible=[{"Sex": "1", "Child": "yes"}])
    with pytest.raises(CodebookError, match="'Child', but the data have no such column"):
        Microdata.read(frame(), codebook=book, records=True)
    book = Codebook.of({"Births": {"within": "Town"}})
    with pytest.raises(CodebookError, match="'Town', but the data have no such column"):
        Microdata.read(frame(), codebook=book, records=True)
    with pytest.raises(DataError, match="'Child', but the data have no such column"):
        Microdata.read(frame(), records=True).table(impossible=[{"Sex": "1", "Child": "yes"}])
    with pytest.raises(CodebookError, match="must be the name of another column"):
        Codebook.of({"Births": {"within": "Births"}})


def test_text_of_the_command_line():
    said = Impossible.parse(["Age=under 15, Income=1,000 to 2,000", "A=>=5,B==", " none "])
    assert said.stated == (
        {"Age": ("under 15",), "Income": ("1,000 to 2,000",)},
        {"A": (">=5",), "B": ("=",)},
    )
    assert not said.find
    for wrong in ("Age=1", "Age", "Age=1, Age=2", "=1, B=2"):
        with pytest.raises(CodebookError, match="impossible"):
            Impossible.parse([wrong])
