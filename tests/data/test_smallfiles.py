"""Small files that people write: what separates fields, which line is wrong, what is said twice."""

import pytest

from discreet.data.settings import Keys
from discreet.data.smallfiles import read_csv, read_json, read_matrix, read_pairs, read_toml
from discreet.errors import CodebookError, DataError


def written(folder, name, content):
    path = folder / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


@pytest.mark.parametrize("between", [",", ";", "\t", "|"])
def test_fields_are_parted_by_what_the_heading_has(tmp_path, between):
    text = f'\ufeff"says, or not"{between}0\r\na{between} 1.5\r\n\r\n{between}\r\nb{between}2\r\n'
    found = read_csv(written(tmp_path, "loss.csv", text))
    assert found.heading == ["says, or not", "0"]
    assert found.lines == [
        ("line 2 of 'loss.csv'", ["a", "1.5"]),
        ("line 5 of 'loss.csv'", ["b", "2"]),
    ]


def test_empty_fields_of_records_are_records(tmp_path):
    path = written(tmp_path, "seen.csv", 'v;w\n""\n\nx\n')
    assert [row for _, row in read_csv(path, between=",", empty=True).lines] == [[""], ["x"]]


def test_the_wrong_line_is_named_where_it_stands(tmp_path):
    path = written(tmp_path, "loss.csv", "says,0,1\n\na,0,1\n\nb,0,x\n")
    with pytest.raises(DataError, match=r"line 5 of 'loss\.csv' has 'x' where a number is needed"):
        read_matrix(path)


@pytest.mark.parametrize(
    ("content", "said"),
    [
        (b"a,\xff\n", "the tree 'it.csv' is not UTF-8; save it as UTF-8."),
        ("\n \n", "the tree 'it.csv' is empty; it needs a heading and at least one line."),
        ("a,b\n", "the tree 'it.csv' has no line below its heading; it needs at least one."),
        (
            "a,b\nc\n",
            "line 2 of the tree 'it.csv' has 1 field where its heading has 2; repair that line.",
        ),
    ],
)
def test_what_is_no_csv_file_is_refused_by_its_name(tmp_path, content, said):
    with pytest.raises(CodebookError) as caught:
        read_csv(written(tmp_path, "it.csv", content), "the tree ", CodebookError)
    assert str(caught.value) == said


def test_names_are_said_once(tmp_path):
    with pytest.raises(DataError, match=r"'p\.json' has 'a' twice, as 1 and 2; keep one"):
        read_json(written(tmp_path, "p.json", '{"a": 1, "a": 2}'))
    with pytest.raises(DataError, match=r"'p\.csv' names 'a' twice; list it once"):
        read_pairs(written(tmp_path, "p.csv", "name,weight\na,1\na,1\n"))


def test_depth_without_end_is_a_sentence(tmp_path):
    with pytest.raises(DataError, match=r"'p\.json' is not JSON: .*; repair that place"):
        read_json(written(tmp_path, "p.json", "[" * 100_000))
    with pytest.raises(DataError, match=r"'p\.toml' is not TOML: .*; repair that place"):
        read_toml(written(tmp_path, "p.toml", "a = " + "[" * 100_000))


@pytest.mark.parametrize(
    ("said", "read", "sentence"),
    [
        (
            {"top": True},
            lambda k: k.whole("top", 3),
            "top of it is True; give a whole number from 0 on.",
        ),
        ({"top": 1}, lambda k: k.flag("top"), "top of it is 1; write true or false."),
        ({"top": ["a"]}, lambda k: k.choice("top", "ab"), "top of it is ['a']; write one of a, b."),
        ({"top": "a"}, lambda k: k.texts("top"), "top of it is 'a'; give a list of texts."),
        ({"top": []}, lambda k: k.tables("top"), "it has no top; write a table [[top]] for each."),
        ({"top": [3]}, lambda k: k.numbers("tops"), "tops of it is None; give a list of numbers."),
        ({}, lambda k: k.column(), "it names no column; write column = NAME."),
        ({"topp": 1}, None, "it has 'topp', which is not known; did you mean 'top'?"),
        (3, None, "it must be a table."),
    ],
)
def test_a_wrong_key_is_a_sentence(said, read, sentence):
    with pytest.raises(DataError) as caught:
        read(Keys(said, {"top"}, "it"))
    assert str(caught.value) == sentence
