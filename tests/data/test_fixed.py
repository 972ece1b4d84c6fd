"""Fixed width: where fields stand comes from a layout, and nothing is read beside it."""

import gzip

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli.main import main
from discreet.data.layout import Field, read_layout
from discreet.data.sources import open_source
from discreet.errors import DataError
from discreet.look.telling import telling

LAYOUT = "name,start,width\nSex,1,1\nAge,2,3\nTown,5,6\n"
LINES = "1 34Ash   \n2 71Birch \n2  9Zürich\n1 34Ash   \n"
DDI = """<codeBook><dataDscr>
<var name="Sex"><location StartPos="1" EndPos="1" width="1"/><labl>Sex</labl>
<catgry><catValu>1</catValu><labl>male</labl></catgry>
<catgry><catValu>2</catValu><labl>female</labl></catgry></var>
<var name="Age"><location StartPos="2" EndPos="4"/></var>
<var name="Town"><location StartPos="5" width="6"/></var>
<var name="made"><labl>no place in the file</labl></var>
</dataDscr></codeBook>"""
LAYOUTS = {
    "layout.csv": LAYOUT,
    "layout.toml": "Sex = [1, 1]\nAge = { start = 2, width = 3 }\nTown = { start = 5, end = 10 }\n",
    "xml": DDI,
}


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.dat"
    path.write_text(LINES, encoding="utf-8")
    return path


@pytest.mark.parametrize("end", LAYOUTS)
def test_a_layout_beside_the_file(people, end):
    people.with_suffix("." + end).write_text(LAYOUTS[end])
    told = []
    with telling(told.append):
        table = dc.load(people)
    assert table.names == ("Sex", "Age", "Town")
    assert table.variable("Town").categories == ("Ash", "Birch", "Zürich")
    assert table.variable("Age").categories == ("9", "34", "71")
    assert table.margin("Age").dense().tolist() == [1, 2, 1]
    right = ("male", "female") if end == "xml" else ("1", "2")
    assert table.variable("Sex").categories == right
    assert told == [f"'people.dat' was read by the layout 'people.{end}'."]


@pytest.mark.parametrize("suffix", ["dat", "fwf", "asc", "prn", "dat.gz"])
def test_a_layout_that_is_named(tmp_path, suffix):
    (tmp_path / "layout.csv").write_text("Variable;From;To\nSex;1;1\nAge;2;4\n;5;10\n")
    path, content = tmp_path / f"people.{suffix}", LINES.encode("latin-1")
    path.write_bytes(gzip.compress(content) if suffix.endswith("gz") else content)
    source = open_source(f"{path}@{tmp_path}/layout.csv")
    assert source.columns == ("Sex", "Age")
    assert source.records.to_pyarrow()["Age"].to_pylist() == ["34", "71", "9", "34"]
    assert open_source(f"{path}@layout.csv").columns == ("Sex", "Age")


def test_a_file_that_another_library_wrote(tmp_path):
    """Random records, written by str.format of Python and read by pandas too."""
    rng = np.random.default_rng(3)
    frame = pd.DataFrame(
        {"Sex": rng.choice(["f", "m"], 300), "Age": rng.integers(0, 99, 300)}
    ).astype(str)
    path = tmp_path / "x.dat"
    path.write_text("".join(f"{s}{a:>3}\n" for s, a in frame.itertuples(index=False)))
    (tmp_path / "x.layout.csv").write_text("name,start,end\nSex,1,1\nAge,2,4\n")
    other = pd.read_fwf(path, widths=[1, 3], names=["Sex", "Age"], dtype=str)
    found = open_source(path).records.to_pandas()
    assert found.equals(other)
    assert found.equals(frame)


def test_no_layout_says_how_to_write_one(people):
    message = r"write 'people.layout.csv' beside it with the heading name,start,width"
    with pytest.raises(DataError, match=message):
        dc.load(people)


def test_two_layouts_are_asked_about(people):
    for end in ("layout.csv", "layout.toml"):
        people.with_suffix("." + end).write_text(LAYOUTS[end])
    with pytest.raises(DataError, match=r"name one, as in people.dat@people.layout.csv"):
        dc.load(people)


@pytest.mark.parametrize(
    ("content", "message"),
    [
        (
            "1 34Ash   \n2 71Ash\n",
            "line 2 of 'people.dat' has 7 characters where the layout has 10",
        ),
        ("1 34Ash   \n2 71Ash   x\n", "line 2 .* has 11 characters .* by a field without a name"),
        ("1 34Ash   \n\n2 71Ash   \n", "line 2 of 'people.dat' has 0 characters"),
        ("\n \n", "'people.dat' is empty"),
    ],
)
def test_lines_of_another_length_are_refused(people, content, message):
    people.write_text(content)
    people.with_suffix(".layout.csv").write_text(LAYOUT)
    with pytest.raises(DataError, match=message):
        dc.load(people)


def test_empty_lines_at_the_end_and_other_line_ends(people):
    people.with_suffix(".layout.csv").write_text(LAYOUT)
    people.write_bytes((LINES + "\n\n").replace("\n", "\r\n").encode())
    assert dc.load(people).total == 4


LAYOUT_ERRORS = {
    "name,start\nSex,1\n": "needs name, start and width, or name, start and end",
    "name,start,width\nSex,0,1\n": "line 2 .* has the start '0'; give a whole number from 1 on",
    "name,start,width\nSex,one,1\n": "has the start 'one'",
    "name,start,width\nSex,1\n": "line 2 .* has 2 fields where its heading has 3",
    "name,start,end\nSex,3,1\n": "starts at 3 and ends at 1",
    "name,start,width\nSex,1,2\nAge,2,1\n": "'Sex' and 'Age' share character 2",
    "name,start,width\nSex,1,1\nsex,2,1\n": "differ only in capitals",
    "name,start,width\n": "has no line below its heading",
    "name,start,width,decimals\nSex,1,1,2\n": "has decimals, which are not put into numbers",
}


@pytest.mark.parametrize("content", LAYOUT_ERRORS)
def test_layouts_that_cannot_be(people, content):
    people.with_suffix(".layout.csv").write_text(content)
    with pytest.raises(DataError, match=LAYOUT_ERRORS[content]):
        dc.load(people)


def test_a_layout_that_is_not_there(people):
    with pytest.raises(DataError, match=r"there is no layout 'none.csv'; name a .csv, .toml or"):
        dc.load(f"{people}@none.csv")
    people.with_suffix(".layout.toml").write_text("Sex = 3")
    with pytest.raises(DataError, match=r"'Sex' of the layout .* is 3; write \[first, last\]"):
        dc.load(people)


def test_start_and_end_are_the_first_and_last_character(tmp_path):
    path = tmp_path / "x.csv"
    path.write_text("name,start,end,width\nA,2,4,3\n")
    assert read_layout(path).fields == (Field("A", 2, 3),)
    assert read_layout(path).length == 4


def test_assess_reads_fixed_width(people):
    people.with_suffix(".layout.csv").write_text(LAYOUT)
    people.with_name("people.csv").write_text(
        "Sex,Age,Town\n1,34,Ash\n2,71,Birch\n2,9,Zürich\n1,34,Ash\n", encoding="utf-8"
    )
    asked = ["--release", "Sex*Town", "--json"]
    for data in (str(people), f"{people}@people.layout.csv"):
        fixed = CliRunner().invoke(main, ["assess", data, *asked])
        plain = CliRunner().invoke(main, ["assess", str(people.with_name("people.csv")), *asked])
        assert (fixed.exit_code, "Sex*Town" in fixed.stdout) == (plain.exit_code, True)
        assert "by the layout" in fixed.stderr
