import pytest

from discreet.data.examples import EXAMPLES, find_example
from discreet.errors import DataError
from discreet.table.load import load


@pytest.mark.parametrize(
    ("name", "names", "shape", "total"),
    [
        ("tract", ("Gender", "Race", "Income"), (2, 3, 3), 742),
        ("estates", ("Region", "Estate"), (4, 3), None),
        ("czech", tuple("ABCDEF"), (2,) * 6, 1841),
        ("blond", ("Hair", "Income"), (3, 2), 20),
    ],
)
def test_the_examples_that_ship(name, names, shape, total):
    table = load(f"example:{name}")
    assert (table.names, table.shape) == (names, shape)
    assert total is None or table.total == total


def test_the_czech_table_has_its_small_cells():
    """Edwards & Havranek 1985: one count of 1, two of 2, one 0."""
    table = load("example:czech")
    assert sorted(table.small().counts.tolist()) == [1, 2, 2]
    assert table.size - len(table) == 1


def test_the_town_of_blonds():
    """Dobra, Fienberg & Trottini 2003, Table 1 of the discussion."""
    assert load("example:blond").dense().tolist() == [[4, 4], [4, 4], [4, 0]]


def test_the_nltcs_table(nltcs):
    """Dobra, Erosheva & Fienberg 2002, section 1.2."""
    assert (len(nltcs.names), nltcs.total, nltcs.size) == (16, 21_574, 2**16)
    assert nltcs.size - len(nltcs) == 62_384
    assert (nltcs.counts == 1).sum() == 1_729
    assert (nltcs.counts == 2).sum() == 499
    assert nltcs.counts.max() == 3_853
    assert not nltcs.codes[nltcs.counts.argmax()].any()


def test_every_example_says_where_it_comes_from():
    for example in EXAMPLES:
        assert find_example(f"example:{example.name}") is find_example(example.name) is example
        assert example.source[-4:].isdigit()


def test_an_example_that_there_is_not():
    with pytest.raises(DataError, match="there is no example 'tracts'; there are tract, estates"):
        find_example("example:tracts")


def test_an_example_that_does_not_ship(monkeypatch, tmp_path):
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    with pytest.raises(DataError, match=r"set DISCREET_DATA to the folder .* \(it is not set\)"):
        load("example:nltcs")
    monkeypatch.setenv("DISCREET_DATA", str(tmp_path))
    with pytest.raises(DataError, match=r"has no nltcs.csv\)"):
        load("example:nltcs")
