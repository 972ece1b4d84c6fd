"""Files as they are published: what stands in them, and that they can be read back."""

import csv
import dataclasses
import json
import os
import zipfile
from pathlib import Path
from tempfile import TemporaryDirectory

import numpy as np
import openpyxl
import pyjstat.pyjstat
import pytest
from hypothesis import Phase, given, settings
from hypothesis import strategies as st

from discreet.data.codebook import Variable
from discreet.data.files import remove_unfinished
from discreet.data.hierarchy import Hierarchy
from discreet.data.totals import is_total
from discreet.errors import CodebookError, DataError, InconsistentRelease, OutputError
from discreet.masks.masked import Masked
from discreet.release.printed import Printed
from discreet.report.checked import check
from discreet.report.written import write
from discreet.sheets.columns import read_wide
from discreet.sheets.grouping import Grouping
from discreet.sheets.labels import cut_at
from discreet.sheets.released import read_released
from discreet.sheets.sheet import Measure, Sheet, Status
from discreet.sheets.system import System
from releasecases import AGE, FORMATS, REGION, SEX, VARIABLES, counts, sums, truth

QUICK = (Phase.explicit, Phase.reuse, Phase.generate)
WANTED = ["OBS_VALUE", "REGION", "SEX", "OBS_STATUS", "CONF_STATUS"]
LABELS = st.text(
    st.characters(exclude_categories=("Cs", "Cn"), exclude_characters="'"), min_size=1, max_size=8
)


@st.composite
def releases(draw):
    """Tables of up to three variables with any labels; nothing that one format cannot tell."""
    sheets, seen = [], {}
    for number in range(draw(st.integers(1, 3))):
        names = draw(st.lists(st.sampled_from("ABC"), min_size=1, max_size=3, unique=True))
        for name in names:
            if name not in seen:
                given = draw(st.lists(LABELS, min_size=2, max_size=3))
                given = {" ".join(one.split()).replace(": ", " - "): None for one in given}
                kept = [one for one in given if one and not is_total(one)]
                seen[name] = Variable(name, tuple(kept) if len(kept) > 1 else ("one", "other"))
        shown = tuple(Grouping.of(seen[name], total=draw(st.booleans())) for name in names)
        sheets.append(Sheet(f"{number} {draw(LABELS)}", shown, title=draw(LABELS)))
    system = System.of(sheets)
    rng = np.random.default_rng(draw(st.integers(0, 99)))
    codes = {name: rng.integers(0, variable.size, 20) for name, variable in seen.items()}
    values = system.sums @ system.fine(codes, np.ones(20))
    gaps = draw(st.lists(st.booleans(), min_size=system.cells, max_size=system.cells))
    printed = Printed.suppressed(system, values, np.array(gaps))
    shown = np.where(gaps, np.nan, values)
    return tuple(seen.values()), values, Masked(system, shown, "suppression", printed=printed)


@given(releases())
@settings(max_examples=20, deadline=None, phases=QUICK)
def test_any_labels_are_read_back_and_checked(release):
    """Whatever is wrong with such a table is that hidden cells follow, not what files say."""
    variables, values, made = release
    with TemporaryDirectory() as folder:
        write([made], Path(folder) / "out", formats=FORMATS, layout="both")
        out = read_released(Path(folder) / "out", variables)
        for sheet, printed in zip(made.system.sheets, out.values, strict=True):
            np.testing.assert_array_equal(printed, made.shown(sheet))
        result = check(Path(folder) / "out", variables, lambda system: values)
        assert {finding.kind for finding in result.findings} <= {"sums"}, result.findings


def rows(path):
    with open(path, newline="", encoding="utf-8") as file:
        return list(csv.reader(file))


def test_a_folder_in_every_format(tmp_path):
    paths = write([counts(), sums()], tmp_path / "out", formats=FORMATS, layout="both", decimals=1)
    names = sorted(path.name for path in paths)
    assert names == sorted(os.listdir(tmp_path / "out"))
    assert len(names) == 4 * 4 + 3
    assert rows(tmp_path / "out" / "table-1.csv")[:5] == [
        ["Region", "Sex", "count"],
        ["Total", "Total", "52"],
        ["Total", "f", "28"],
        ["Total", "m", "24"],
        ["North", "Total", "25"],
    ]
    assert ["A", "f", "x"] in rows(tmp_path / "out" / "table-1.csv")
    wide = rows(tmp_path / "out" / "table-1.wide.csv")
    assert wide[0] == ["Region \\ Sex", "Total", "f", "m"]
    assert wide[3] == ["A", "8", "x", "x"]
    assert wide[-1] == ["'=D", "16", "12", "4"]
    assert rows(tmp_path / "out" / "table-T.csv") == [
        ["Region", "Turnover"],
        *(["Total", "1033.9"], ["North", "30.8"], ["A", "x"], ["B", "x"]),
        *(["South", "1003.1"], ["C", "1000.0"], ["'=D", "3.1"]),
    ]


@pytest.mark.parametrize("formats", [("csv",), ("json-stat",), FORMATS])
@pytest.mark.parametrize("layout", ["long", "wide", "both"])
def test_what_is_written_is_read_back(tmp_path, formats, layout):
    one, two = counts(), sums()
    write([one, two], tmp_path / "out", formats=formats, layout=layout)
    sheets, values, hidden = read_released(tmp_path / "out", VARIABLES)
    wanted = [*((one, s) for s in one.system.sheets), *((two, s) for s in two.system.sheets)]
    for (mask, sheet), read, printed, gaps in zip(wanted, sheets, values, hidden, strict=True):
        assert (read.name, read.title, read.measure) == (sheet.name, sheet.title, sheet.measure)
        assert read.status is Status.OUT
        for a, b in zip(sheet.groupings + sheet.where, read.groupings + read.where, strict=True):
            assert a.lines == b.lines
            assert a.variable == b.variable
        np.testing.assert_array_equal(printed, mask.shown(sheet))
        np.testing.assert_array_equal(gaps, np.isnan(mask.shown(sheet)))


def test_what_is_out_on_the_rows_of_a_larger_system(tmp_path):
    write([counts()], tmp_path / "out")
    out = read_released(tmp_path / "out", VARIABLES)
    new = Sheet("new", (Grouping.of(AGE), Grouping.of(REGION)))
    system = System.of([new, *out.sheets])
    found = out.on(system)
    shown = ~np.isnan(found)
    np.testing.assert_array_equal(found[shown], truth(system)[shown])
    assert 0 < shown.sum() < system.cells
    other = out._replace(values=(out.values[0] + 1, *out.values[1:]))
    with pytest.raises(InconsistentRelease, match="is out with two values"):
        other.on(system)


def test_other_categories_are_refused(tmp_path):
    write([counts()], tmp_path / "out")
    more = dataclasses.replace(REGION, categories=(*REGION.categories, "E"))
    with pytest.raises(CodebookError, match="but not its category 'E'"):
        read_released(tmp_path / "out", (more, SEX, AGE))
    tree = Hierarchy.of({"A": "North", "B": "North", "C": "North", "=D": "South"})
    with pytest.raises(CodebookError, match="adds up the line 'North'"):
        read_released(tmp_path / "out", (dataclasses.replace(REGION, hierarchy=tree), SEX, AGE))
    with pytest.raises(DataError, match="shows the variable 'Sex'"):
        read_released(tmp_path / "out", (REGION, AGE))


def test_a_changed_file_is_not_read(tmp_path):
    write([counts()], tmp_path / "out")
    path = tmp_path / "out" / "table-1.csv"
    path.write_text(path.read_text().replace("52", "53"))
    with pytest.raises(DataError, match="was changed after it was written"):
        read_released(tmp_path / "out", VARIABLES)


def _unpacked(path):
    if path.suffix != ".xlsx":
        return path.read_bytes()
    with zipfile.ZipFile(path) as book:
        return b"".join(map(book.read, book.namelist()))


def test_nothing_but_what_is_printed(tmp_path):
    """No hidden number, no category that no line names, no column of the data but the measure's."""
    ages = Variable("Age", ("17", "18", "9753197531"))
    cut = Grouping.cut(ages, cut_at(ages, [18]))
    system = System.of([Sheet("1", (cut,))])
    values = np.full(system.cells, 77_777.0)
    values[system.places[0][0]] = np.nan
    made = Masked(system, values, "suppression", said=("88888 were hidden",))
    write([made], tmp_path / "out", formats=FORMATS)
    for path in (tmp_path / "out").iterdir():
        assert b"9753197531" not in _unpacked(path)
        assert b"88888" not in _unpacked(path)
    manifest = json.loads((tmp_path / "out" / "manifest.json").read_bytes())
    assert "categories" not in str(manifest)
    (sheet,), _, _ = read_released(tmp_path / "out", [ages])
    assert [sorted(line.codes) for line in sheet.groupings[0].lines] == [[0, 1, 2], [0], [1, 2]]


def test_the_same_files_each_time(tmp_path):
    for name in ("a", "b"):
        write([counts(), sums()], tmp_path / name, formats=FORMATS, record={"year": 2025})
    for path in (tmp_path / "a").iterdir():
        assert path.read_bytes() == (tmp_path / "b" / path.name).read_bytes()


def test_a_workbook_as_people_read_it(tmp_path):
    path = tmp_path / "tables.xlsx"
    assert write([counts(), sums()], path, decimals=2) == [path]
    book = openpyxl.load_workbook(path)
    assert book.sheetnames == ["Contents", "1", "ages_1", "all", "T"]
    assert all(sheet.sheet_state == "visible" for sheet in book)
    page = book["1"]
    cells = [[cell.value for cell in row] for row in page.iter_rows(min_row=4)]
    assert cells[0] == ["Region", "Total", "f", "m"]
    assert cells[3] == ["A", 8, "x", "x"]
    assert cells[-1] == ["=D", 16, 12, 4]
    assert page["A8"].data_type == "s"
    assert page.cell(11, 1).data_type == "s"  # =D is no formula
    assert page["A5"].font.b
    assert not page["A7"].font.b
    assert [page.cell(row, 1).alignment.indent for row in (5, 6, 7)] == [0, 1, 2]
    assert book["T"]["B5"].number_format == "#,##0.00"
    assert not any(cell.comment for sheet in book for row in sheet.iter_rows() for cell in row)
    said = [[cell.value for cell in row] for row in book["Contents"].iter_rows()]
    assert said[1][:2] == ["1", "People; by region"]
    assert said[-1][0] == "x"


@pytest.mark.filterwarnings("ignore:Shouldn't use:DeprecationWarning")
def test_json_stat_by_another_reader(tmp_path):
    path = tmp_path / "one.jsonstat"
    write([sums()], path)
    frame = pyjstat.pyjstat.Dataset.read(path.read_text()).write("dataframe")
    by_region = dict(zip(frame["Region"], frame["value"], strict=True))
    assert by_region["C"] == 1000
    assert np.isnan(by_region["A"])
    assert json.loads(path.read_text())["status"] == {"2": "x", "3": "x"}
    write([counts()], path)
    several = json.loads(path.read_text())
    assert several["class"] == "collection"
    assert len(several["link"]["item"]) == 3


def test_sdmx_does_not_tell_why_a_cell_is_hidden(tmp_path):
    write([counts()], tmp_path / "out", formats=["sdmx-csv"])
    lines = rows(tmp_path / "out" / "table-1.sdmx.csv")
    assert lines[0][3:] == ["REGION: Region", "SEX: Sex", "OBS_VALUE", "OBS_STATUS", "CONF_STATUS"]
    hidden = [line for line in lines if line[-3] == ""]
    assert len(hidden) == 4
    assert {tuple(line[-2:]) for line in hidden} == {("Q", "C")}
    assert {tuple(line[-2:]) for line in lines[1:] if line[-3]} == {("A", "F")}


def test_sdmx_by_another_reader(tmp_path):
    from pysdmx.io.csv.sdmx20.reader import read

    write([counts()], tmp_path / "out", formats=["sdmx-csv"])
    text = (tmp_path / "out" / "table-1.sdmx.csv").read_text(encoding="utf-8")
    (dataset,) = read(text)
    found = {tuple(row[1:]): row[0] for row in dataset.data[WANTED].itertuples(index=False)}
    assert found["A", "F", "Q", "C"] == ""
    assert found["NORTH", "M", "A", "F"] == "15"
    assert len(found) == 21


def test_all_tables_in_one_csv_and_one_json(tmp_path):
    write([counts(), sums()], tmp_path / "all.csv", decimals=3)
    lines = rows(tmp_path / "all.csv")
    assert lines[0] == ["table", "Region", "Sex", "Age", "value"]
    assert ["ages/1", "", "f", "50 and over", "28"] in lines
    assert ["T", "'=D", "", "", "3.125"] in lines
    write([counts(), sums()], tmp_path / "all.json", record={"year": np.int64(2025)})
    told = json.loads((tmp_path / "all.json").read_bytes())
    assert told["record"] == {"year": 2025}
    assert told["tables"][3]["values"] == [1033.875, 30.75, None, None, 1003.125, 1000.0, 3.125]
    assert told["tables"][0]["parameters"] == {"guarantee": "width"}


def test_a_wide_file_is_a_cross_tab_that_can_be_read(tmp_path):
    write([counts()], tmp_path / "out", layout="wide")
    tree = Hierarchy.of({"A": "North", "B": "North", "C": "South", "'=D": "South"})
    names = Variable("Region", ("A", "B", "C", "'=D"), hierarchy=tree)
    sheet, values = read_wide(tmp_path / "out" / "table-1.wide.csv", (names, SEX))
    made = counts()
    np.testing.assert_array_equal(values, made.shown(made.system.sheets[0]))
    assert [line.codes for line in sheet.groupings[0].lines] == [
        line.codes for line in made.system.sheets[0].groupings[0].lines
    ]


def test_folders_of_others_are_left_alone(tmp_path):
    out = tmp_path / "out"
    out.mkdir()
    write([counts()], out)  # empty: taken
    write([sums()], out)  # its own: replaced as a whole
    assert sorted(os.listdir(out)) == ["manifest.json", "table-T.csv"]
    (out / "mine.txt").write_text("keep")
    with pytest.raises(OutputError, match=r"has 'mine.txt' in it"):
        write([counts()], out)
    assert sorted(os.listdir(out)) == ["manifest.json", "mine.txt", "table-T.csv"]
    write([counts()], out, force=True)
    assert "table-T.csv" not in os.listdir(out)
    assert (out / "mine.txt").read_text() == "keep"
    assert sorted(os.listdir(tmp_path)) == ["out"]
    remove_unfinished()
    assert sorted(os.listdir(tmp_path)) == ["out"]


def test_nothing_is_left_of_what_fails(tmp_path):
    made = sums()
    wrong = dataclasses.replace(made, whole=True)
    with pytest.raises(OutputError, match="no whole number"):
        write([counts(), wrong], tmp_path / "out")
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"symbol": "0"}, "could be taken for a cell"),
        ({"symbol": "="}, "could be taken for a cell"),
        ({"symbol": " "}, "could be taken for a cell"),
        ({"layout": "tall"}, "choose long, wide, both"),
        ({"formats": ["xls"]}, "did you mean 'xlsx'?"),
        ({"formats": []}, "no format is named"),
        ({"decimals": -1}, "must be 0 to 15"),
        ({"record": {"seed": 17}}, "'seed' in record is the secret itself"),
        ({"record": {"cell_key": np.arange(3)}}, "is the secret itself"),
        ({"record": {"what": object()}}, "cannot be recorded"),
    ],
)
def test_wrong_options(tmp_path, options, said):
    with pytest.raises(OutputError) as error:
        write([sums()], tmp_path / "out", **options)
    assert said in str(error.value)
    assert os.listdir(tmp_path) == []


@pytest.mark.parametrize("step", ["rename", "write_bytes"])
def test_an_interrupt_leaves_the_old_release(tmp_path, monkeypatch, step):
    """At whichever call it comes."""
    write([sums()], tmp_path / "out")
    plain = getattr(Path, step)
    for stop in range(1, 9):
        calls = iter(range(1, 99))

        def interrupted(self, *given, stop=stop, calls=calls):
            if next(calls) == stop:
                raise KeyboardInterrupt
            return plain(self, *given)

        with monkeypatch.context() as patch:
            patch.setattr(Path, step, interrupted)
            try:
                write([counts()], tmp_path / "out")
            except KeyboardInterrupt:
                assert sorted(os.listdir(tmp_path / "out")) == ["manifest.json", "table-T.csv"]
                assert sorted(os.listdir(tmp_path)) == ["out"]
                continue
        break
    assert stop > 2
    assert "table-1.csv" in os.listdir(tmp_path / "out")


def test_one_csv_of_several_tables_is_long(tmp_path):
    with pytest.raises(OutputError, match="name a folder"):
        write([counts()], tmp_path / "a.csv", layout="wide")
    write([sums()], tmp_path / "a.csv", layout="wide")
    assert rows(tmp_path / "a.csv")[1] == ["Total", "1033.875"]


def test_names_twice_and_nothing_wanted(tmp_path):
    with pytest.raises(OutputError, match="two tables are called"):
        write([counts(), counts()], tmp_path / "out")
    out = Sheet("1", (Grouping.of(SEX),), Measure(), status=Status.OUT)
    system = System.of([out])
    with pytest.raises(OutputError, match="there is no table to write"):
        write([Masked(system, truth(system), "none")], tmp_path / "out")


def test_decimals_of_a_sheet_and_negative_nothing(tmp_path):
    sheet = Sheet("1", (Grouping.of(SEX, total=False),), Measure("v"), options={"decimals": 0})
    system = System.of([sheet])
    write([Masked(system, np.array([-0.4, 2.6]), "noise", whole=False)], tmp_path / "o", decimals=2)
    assert [row[-1] for row in rows(tmp_path / "o" / "table-1.csv")] == ["v", "0", "3"]
    assert json.loads((tmp_path / "o" / "manifest.json").read_text())["tables"][0]["exact"] is False
