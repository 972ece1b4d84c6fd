"""Lists of tables, and published tables read back."""

import numpy as np
import openpyxl
import pandas as pd
import pytest

from discreet.data.codebook import Variable
from discreet.data.hierarchy import Hierarchy
from discreet.errors import CodebookError, DataError
from discreet.sheets.batch import read_batch
from discreet.sheets.columns import read_wide
from discreet.sheets.grouping import Grouping
from discreet.sheets.labels import cut_at, line_of
from discreet.sheets.reading import read_sheets
from discreet.sheets.sheet import Measure, Status
from discreet.table.load import load
from discreet.table.microdata import Microdata

TREE = Hierarchy.of({"A": "North", "B": "North", "C": "South"})
REGION = Variable("Region", ("A", "B", "C"), hierarchy=TREE)
SECTOR = Variable("Sector", ("mines", "mills"))
SEX = Variable("Sex", ("f", "m"))
AGE = Variable("Age", tuple(map(str, range(40, 60))))
VARIABLES = (REGION, SECTOR, SEX, AGE)
COLUMNS = (*(v.name for v in VARIABLES), "Turnover", "w", "owner")


def batch(tmp_path, text, suffix=".txt", columns=COLUMNS):
    path = tmp_path / f"tables{suffix}"
    path.write_text(text, encoding="utf-8")
    return read_batch(path, VARIABLES, columns=columns)


def test_lines_of_text(tmp_path):
    first, second, third, fourth = batch(
        tmp_path,
        """# the year's tables
        1: Region*Sector   # counts
        Region*Sector | value=Turnover, weight=w, holding=owner, where Sex=f, status=out
        7: Sector | where Age=40 or 41, where Region=North, title="Old, and #1", total=no

        `Region` | levels Region=1, name=last
        """,
    )
    assert first.name == "1"
    assert first.shape == (6, 3)
    assert first.status is Status.WANTED
    assert second.name == "2"
    assert second.status is Status.OUT
    assert second.measure == Measure("Turnover", "w", "owner")
    assert second.where[0].labels == ("f",)
    assert second.where[0].lines[0].codes == {0}
    assert third.title == "Old, and #1"
    assert third.shape == (2,)
    assert [g.lines[0].codes for g in third.where] == [{0, 1}, {0, 1}]
    assert fourth.name == "last"
    assert fourth.groupings[0].labels == ("Total", "North", "South")


def test_a_filter_of_a_variable_that_is_also_in_the_lines(tmp_path):
    """Its lines are those within the filter; what holds more is called by what is left of it."""
    (first, second, third) = batch(
        tmp_path,
        """Region*Sector | where Region=A or C, where Sex=f
        Region | where Region=North
        Region | where Region=A
        """,
    )
    assert first.groupings[0].labels == ("A + C", "A", "C")
    assert [sorted(line.codes) for line in first.groupings[0].lines] == [[0, 2], [0], [2]]
    assert [kept.name for kept in first.where] == ["Sex"]
    assert second.groupings[0].labels == ("North", "A", "B")
    assert third.groupings[0].labels == ("A",)


@pytest.mark.parametrize(
    ("line", "said"),
    [
        ("Turnover: Region*Sector", "line 1 of 'tables.txt': 'Turnover' before the colon"),
        ("Regoin*Sector", "did you mean 'Region'?"),
        ("Region | value=Turnovr", "did you mean 'Turnover'?"),
        ("Region | vlaue=Turnover", "did you mean 'value'?"),
        ("Region | where Sex=x", "'Sex' has no category 'x'; there are f, m."),
        ("Region | Sex=f", "there is no option 'Sex'"),
        ("Region | status=outt", "write one of wanted, out"),
        ("Region | value=", "value is empty"),
        ("Region | value=w, value=w", "value is given twice"),
        ("Region | where Sex=f, where Sex=m", "says 'Sex' twice"),
        ("Region | levels Region=two", "is no number"),
        ("Region | total=maybe", "write total=yes or total=no"),
        ("Region**Sex", "has an empty name"),
        ("Region*Region", "has 'Region' twice"),
        ('Region | title="open', "not closed"),
        ("Region | value=w | weight=w", "has two |"),
        ("1: Region\n1: Sex", "line 2 of 'tables.txt': two tables are called '1'"),
        ("# nothing", "lists no table"),
    ],
)
def test_wrong_lines_are_refused_with_their_repair(tmp_path, line, said):
    with pytest.raises(DataError) as error:
        batch(tmp_path, line)
    text = str(error.value)
    assert said in text
    assert "\n" not in text
    assert text.endswith((".", "?"))


def test_a_number_that_is_a_column_is_not_guessed(tmp_path):
    with pytest.raises(DataError, match="'2020' before the colon is a column, too"):
        batch(tmp_path, "2020: Region", columns=(*COLUMNS, "2020"))


TOML = """
[defaults]
value = "Turnover"
where = {Sex = ["f"]}
[defaults.options]
least = 10

[codings.Age50]
variable = "Age"
cuts = [50]

[codings.Age45]
variable = "Age"
groups = {"young" = ["40", "41", "42", "43", "44"], "45" = ["45"]}
total = false

[[tables]]
name = "a"
variables = "Age50*Region"
levels = {Region = 1}
[tables.options]
decimals = 1

[[tables]]
name = "b"
rows = ["Age45"]
columns = ["Sector"]
where = {}
hidden = {Sector = ["mills"]}
total = {Sector = true}

[[tables]]
variables = ["Region"]
groups = {Region = {"A or B" = ["A", "B"], "B or C" = ["B", "C"]}}
where = {Age50 = ["50 and over"]}
title = "overlapping"
"""


def test_a_misspelt_option_is_not_passed_over(tmp_path):
    with pytest.raises(DataError, match="option 'leest'; there are least and decimals"):
        batch(tmp_path, TOML.replace("least =", "leest ="), ".toml")


def test_toml_with_codings_defaults_and_options(tmp_path):
    first, second, third = batch(tmp_path, TOML, ".toml")
    assert first.groupings[0].labels == ("Total", "under 50", "50 and over")
    assert first.groupings[0].name == "Age"
    assert first.groupings[0].lines[1].codes == set(range(10))
    assert first.options == {"least": 10, "decimals": 1}
    assert first.measure.value == "Turnover"
    assert first.groupings[1].labels == ("Total", "North", "South")
    assert second.groupings[0].labels == ("young", "45")
    assert second.groupings[1].labels == ("Total", "mines")
    assert second.where[0].labels == ("f",)  # joined with the defaults
    assert third.name == "3"
    assert third.title == "overlapping"
    assert third.groupings[0].lines[2].codes == {1, 2}
    assert [g.lines[0].codes for g in third.where] == [{0}, set(range(10, 20))]


@pytest.mark.parametrize(
    ("text", "said"),
    [
        (
            "[[tables]]\nvariable='Region'",
            "'variable', which is not known; did you mean 'variables'",
        ),
        (
            "[[table]]\nvariables='Region'",
            "'table', which is not known; did you mean 'tables'?",
        ),
        ("[defaults]\nname='a'", "has 'name', which is not known"),
        ("[[tables]]\nvariables='Region'\nrows=['Sex']", "take one out"),
        ("[[tables]]\nname='a'", "table 'a' of 'tables.toml' has no variables"),
        ("[[tables]]\nvariables='Region'\nlevels={Region=0}", "whole number from 1 on"),
        ("[[tables]]\nvariables='Region'\nhidden={Region=['D']}", "no line of 'Region'"),
        ("[[tables]]\nvariables='Region'\ntotal='no'", "write true or false"),
        ("[[tables]]\nvariables='Region'\ncuts={Region=[1]}", "'A' is no number"),
        ("[[tables]]\nvariables='Age'\ncuts={Age=[10]}", "no category of 'Age' is under 10"),
        ("[[tables]]\nvariables='Age'\ncuts={Age=[50,45]}", "must be numbers that rise"),
        ("[[tables]]\nvariables='Sex'\ngroups={Age={a=['40']}}", "which the table does not show"),
        ("[[tables]]\nvariables='Age'\ngroups={Age={a=['400']}}", "'Age' has no category '400'"),
        ("[codings.Sex]\nvariable='Age'\n[[tables]]\nvariables='Sex'", "is called like a variable"),
        ("[codings.S2]\nvariable='Sexx'\n[[tables]]\nvariables='Sex'", "did you mean 'Sex'?"),
        ("[[tables]]\nvariables='Age*Age'", "has 'Age' twice"),
        ("[[tables]\n", "is not TOML"),
    ],
)
def test_wrong_toml(tmp_path, text, said):
    with pytest.raises((DataError, CodebookError)) as error:
        batch(tmp_path, text, ".toml")
    assert said in str(error.value)
    assert "\n" not in str(error.value)


def test_two_codings_of_one_variable_in_one_system(tmp_path):
    """Under 50 less under 45: the difference is an atom."""
    from discreet.sheets.system import System

    text = "[[tables]]\nvariables='Age'\ncuts={Age=[50]}\n[[tables]]\nvariables='Age'\n"
    system = System.of(batch(tmp_path, text + "cuts={Age=[45]}", ".toml"))
    assert system.columns == 3
    assert system.cells == 5


def workbook(path, rows):
    book = openpyxl.Workbook()
    for row in rows:
        book.active.append(row)
    book.save(path)
    return path


def test_a_list_in_excel(tmp_path):
    path = workbook(
        tmp_path / "tables.xlsx",
        [
            ["Name", "Title", "Variables", "Value", "Where", "Status", "Levels"],
            [1, "By region", "Region*Sector", "Turnover", "Sex=f, Age=40 or 41", "out", "Region=1"],
            [None] * 7,
            [None, None, "Sex", None, None, None, None],
        ],
    )
    first, second = read_batch(path, VARIABLES, columns=COLUMNS)
    assert first.name == "1"
    assert first.title == "By region"
    assert first.shape == (3, 3)
    assert [len(g.lines[0].codes) for g in first.where] == [1, 2]
    assert first.status is Status.OUT
    assert second.name == "2"


@pytest.mark.parametrize(
    ("rows", "said"),
    [
        ([["variables", "weigth"], ["Sex", "w"]], "did you mean 'weight'?"),
        ([["name"], ["a"]], "has no column variables"),
        ([["variables", "title"], ["Sex", "t"], [None, "u"]], "row 3 of 'tables.xlsx'"),
        ([["variables"], ["Sex*Regionn"]], "row 2 of 'tables.xlsx' has an unknown variable"),
    ],
)
def test_wrong_lists_in_excel(tmp_path, rows, said):
    with pytest.raises(DataError) as error:
        read_batch(workbook(tmp_path / "tables.xlsx", rows), VARIABLES)
    assert said in str(error.value)


@pytest.mark.parametrize("name", ["tables.csv", "tables.txt", "tables.toml", "tables.xlsx"])
def test_what_cannot_be_read(tmp_path, name):
    with pytest.raises(DataError, match=r"cannot read .*tables"):
        read_batch(tmp_path / name, VARIABLES)


def test_cut_labels_mean_what_they_say():
    """Every group of a cut is found again by its label."""
    for label, chosen in cut_at(AGE, [44.5, 50]).items():
        codes = line_of(Grouping.of(AGE), label).codes
        assert [AGE.categories[code] for code in sorted(codes)] == chosen
    assert line_of(Grouping.of(AGE), "old") is None


def test_a_published_cross_tab(tmp_path):
    path = tmp_path / "table.csv"
    path.write_text(
        "Turnover by region\nRegion \\ Sector,Total,mines,mills\n"
        "All,10,4,6\nNorth,7,x,x\n  A,3,..,2\nSource: us\n"
    )
    sheet, values = read_wide(path, VARIABLES, symbols=("x", ".."))
    assert sheet.names == ("Region", "Sector")
    assert sheet.status is Status.OUT
    assert sheet.groupings[0].labels == ("All", "North", "A")
    assert [sorted(line.codes) for line in sheet.groupings[0].lines] == [[0, 1, 2], [0, 1], [0]]
    np.testing.assert_equal(values, [[10, 4, 6], [7, np.nan, np.nan], [3, np.nan, 2]])


def test_a_cross_tab_in_excel_with_named_sides(tmp_path):
    path = workbook(tmp_path / "t.xlsx", [["", "f", "m"], ["A", 1, 2.5], ["Total", 3, "x"]])
    sheet, values = read_wide(path, VARIABLES, down="Region", across="Sex")
    assert sheet.shape == (2, 2)
    np.testing.assert_equal(values, [[1, 2.5], [3, np.nan]])


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("Region,f,m\nA,1,2\n", "name what stands across"),
        ("place,f,m\nA,1,2\n", "no variable; name the variables"),
        ("Region \\ Sexx,f,m\nA,1,2\n", "did you mean 'Sex'?"),
        ("Region \\ Sex,f,m\nD,1,2\n", "the line 'D'"),
        ("Region \\ Sex,f,m\nA,1,..\n", "with symbols"),
        ('Region \\ Sex,f,m\nA,"1,000",2\n', "no plain number"),
        ("Region \\ Sex,f,m\nA,1,\n", "is empty"),
        ("Region \\ Sex,f,m\nA,1,2\nA,1,2\n", "twice"),
        ("Region,Sector \\ Sex,f,m\nA,mines,1,2\nB,mills,1,2\n", "lacks A, mills, f"),
        ("Region \\ Sex,f,m\n", "no lines below"),
    ],
)
def test_wrong_cross_tabs(tmp_path, text, said):
    path = tmp_path / "table.csv"
    path.write_text(text)
    with pytest.raises(DataError) as error:
        read_wide(path, VARIABLES)
    assert said in str(error.value)


def test_a_coding_that_no_table_uses_is_no_unknown_variable(tmp_path):
    path = tmp_path / "tables.toml"
    path.write_text(
        '[codings.Young]\nvariable = "Race"\ngroups = { some = ["Chinese"] }\n'
        '[[tables]]\nvariables = "Gender*Income"\n'
    )
    _, sheets = read_sheets(load("example:tract"), path)
    assert [sheet.names for sheet in sheets] == [("Gender", "Income")]
    path.write_text(path.read_text().replace('"Race"', '"Rase"'))
    with pytest.raises(DataError, match="unknown variable 'Rase'"):
        read_sheets(load("example:tract"), path)


def test_columns_that_tell_nothing_of_each_other_are_named_by_the_list(tmp_path):
    path = tmp_path / "tables.toml"
    text = 'independent = [["Turnover", "count"]]\n[[tables]]\nvariables = "Region"\n'
    path.write_text(f'{text}value = "Turnover"\n')
    frame = pd.DataFrame({"Region": ["A", "B"] * 3, "Turnover": range(6)})
    records, _ = read_sheets(Microdata.read(frame, records=True), path)
    assert records.independent == (frozenset({"Turnover", "count"}),)
    for wrong, said in (
        ('["Turnovr", "count"]', "which no table adds up"),
        ('["a"]', "two columns"),
    ):
        path.write_text(f'{text}value = "Turnover"\n'.replace('["Turnover", "count"]', wrong))
        with pytest.raises(DataError, match=said):
            read_sheets(Microdata.read(frame, records=True), path)
