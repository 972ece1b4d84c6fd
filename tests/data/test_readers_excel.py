"""Workbooks as openpyxl, XlsxWriter, xlwt and odfpy write them; nothing is misread."""

import datetime
import zipfile

import openpyxl
import pandas as pd
import pytest
import xlsxwriter
import xlwt
from odf.opendocument import OpenDocumentSpreadsheet
from odf.table import CoveredTableCell, Table, TableRow
from openpyxl.utils.datetime import CALENDAR_MAC_1904

import filewriters
from discreet.data.sources import open_source
from discreet.data.workbook import check_cells
from discreet.errors import DataError
from discreet.table.load import load

PEOPLE = [["Sex", "Age"], ["f", 30], ["m", 40], ["f", None], ["m", 9]]


@pytest.fixture
def book(tmp_path):
    """A workbook of rows, changed by a function of the workbook and its sheet."""

    def write(rows, change=None):
        made = openpyxl.Workbook()
        sheet = made.active
        for row in rows:
            sheet.append(row)
        if change is not None:
            change(made, sheet)
        made.save(tmp_path / "people.xlsx")
        return tmp_path / "people.xlsx"

    return write


def columns(source):
    return source.records.to_pyarrow().to_pydict()


def second(hidden=False):
    def change(made, sheet):
        more = made.create_sheet("More")
        more.append(["Town"])
        more.append(["a"])
        more.sheet_state = "hidden" if hidden else "visible"

    return change


def test_whole_numbers_dates_and_truth_values(book):
    day, moment = datetime.date(2020, 1, 2), datetime.datetime(2020, 1, 2, 3, 4)
    rows = [["n", "x", "ok", "day", "when", "mixed", "code "]]
    rows += [[1.0, 1.5, True, day, moment, 1, "01"], [10, 2, False, None, day, "1", "1"]]
    rows += [[9, 2, True, datetime.date(2019, 5, 1), day, 2.5, " 01"]]
    source = open_source(book(rows))
    found = columns(source)
    assert found["n"] == [1, 10, 9]
    assert found["x"] == [1.5, 2.0, 2.0]
    assert found["ok"] == [True, False, True]
    assert found["when"][0] == moment
    assert found["mixed"] == ["1", "1", "2.5"]
    assert found["code"] == ["01", "1", "01"]
    table = load(book(rows), records=True)
    assert table.variable("n").categories == ("1", "9", "10")
    assert table.variable("day").categories == ("2019-05-01", "2020-01-02", "(missing)")


def test_dates_that_are_counted_from_1904(book):
    def change(made, sheet):
        made.epoch = CALENDAR_MAC_1904
        sheet["C1"] = "day"
        for row in range(2, 6):
            sheet.cell(row, 3, datetime.date(2020, 1, row))

    assert columns(open_source(book(PEOPLE, change)))["day"][0] == datetime.date(2020, 1, 2)


def test_old_workbooks_and_open_documents(tmp_path):
    frame = pd.DataFrame(PEOPLE[1:], columns=PEOPLE[0])
    for kind, write in ((".xls", filewriters.xls), (".ods", filewriters.ods)):
        path = tmp_path / f"people{kind}"
        write(frame, path)
        assert columns(open_source(path)) == {"Sex": ["f", "m", "f", "m"], "Age": [30, 40, None, 9]}
    assert "errors such as" not in "".join(open_source(tmp_path / "people.ods").notes)
    assert "an error such as #N/A" in open_source(tmp_path / "people.xls").notes[0]


@pytest.mark.parametrize(
    "rows",
    [
        [["People of the town"], [], *PEOPLE],
        [*PEOPLE, [None, None], ["", " "]],
        [[*row, None, "  "] for row in PEOPLE],
        [[], [], *([None, None, *row] for row in PEOPLE)],
    ],
    ids=["title", "empty rows", "empty columns", "in the middle"],
)
def test_what_stands_around_the_table_is_left_out(book, rows):
    assert columns(open_source(book(rows))) == {
        "Sex": ["f", "m", "f", "m"],
        "Age": [30, 40, None, 9],
    }


def test_a_merged_title_is_said(book):
    path = book([["Whole town", None], *PEOPLE], lambda made, sheet: sheet.merge_cells("A1:B1"))
    source = open_source(path)
    assert columns(source)["Age"] == [30, 40, None, 9]
    assert source.notes[0].endswith("of 'people.xlsx' are taken as a title: 'Whole town'.")


REFUSED = {
    "a title right above": ([["People"], *PEOPLE], "no name for column B: is it a title"),
    "two titles": ([["People", "2020"], [], *PEOPLE], "row 2 .* is empty"),
    "a column without a name": ([["Sex", None], *PEOPLE[1:]], "no name for column B"),
    "a note below": ([*PEOPLE, ["Source: the office"]], "a note below the table"),
    "a note further below": ([*PEOPLE, [], ["Source"]], "row 6 .* is empty and others follow"),
    "two tables below each other": ([*PEOPLE, [], *PEOPLE], "is empty and others follow"),
    "a header that stands twice": ([*PEOPLE, *PEOPLE], "'Sex' stands over a column .* and in it"),
    "no header": (PEOPLE[1:], "'f' stands over a column .* and in it"),
    "two tables side by side": ([[*row, None, *row] for row in PEOPLE], "no name for column C"),
    "a column twice": ([[*row, *row] for row in PEOPLE], "two columns named 'Sex'"),
    "no records": (PEOPLE[:1], "has no rows"),
    "nothing": ([], "is empty"),
    "an error in words": ([*PEOPLE, ["#DIV/0!", 1]], r"cell A6 .* is (the|an) error"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_what_could_be_misread_is_refused(book, case):
    rows, reason = REFUSED[case]
    with pytest.raises(DataError, match=reason) as caught:
        open_source(book(rows))
    assert "\n" not in str(caught.value)


def test_merged_cells_are_refused(book):
    path = book(PEOPLE, lambda made, sheet: sheet.merge_cells("A2:A3"))
    with pytest.raises(DataError, match=r"cells A2 to A3 of sheet 'Sheet' .* are merged"):
        open_source(path)


def test_merged_cells_of_other_kinds_are_refused(tmp_path):
    old = xlwt.Workbook()
    sheet = old.add_sheet("S")
    sheet.write(0, 0, "Sex")
    sheet.write_merge(1, 2, 0, 0, "f")
    old.save(str(tmp_path / "a.xls"))
    document, table = OpenDocumentSpreadsheet(), Table(name="S & T")
    for cells in (["Sex"], ["f"], [None]):
        row = TableRow()
        span = {"numberrowsspanned": 2, "numbercolumnsspanned": 1} if cells == ["f"] else {}
        row.addElement(filewriters.ods_cell(cells[0], **span) if cells[0] else CoveredTableCell())
        table.addElement(row)
    document.spreadsheet.addElement(table)
    document.save(str(tmp_path / "a.ods"))
    for name in ("a.xls", "a.ods"):
        with pytest.raises(DataError, match="merged"):
            open_source(tmp_path / name)


def test_errors_and_formulas_without_a_value_are_refused(tmp_path, book):
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as made:
        sheet = made.add_worksheet("S")
        sheet.write_column(0, 0, ["Age", 30, 40])
        sheet.write_formula(3, 0, "=NA()", value="#N/A")
    with pytest.raises(DataError, match=r"cell A4 of sheet 'S' of 'x.xlsx' is an error"):
        open_source(tmp_path / "x.xlsx")
    with xlsxwriter.Workbook(tmp_path / "y.xlsx") as made:  # saves 0 for a value to come
        sheet = made.add_worksheet("S")
        sheet.write_column(0, 0, ["Age", 30, 40])
        sheet.write_formula(3, 0, "=A2+A3")
    path = book(PEOPLE, lambda made, sheet: sheet.__setitem__("B4", "=B2+B3"))
    for unsaved in (tmp_path / "y.xlsx", path):
        with pytest.raises(DataError, match="formulas whose values were not saved"):
            open_source(unsaved)


def test_formulas_that_were_computed_are_read(tmp_path):
    """As Excel saves them, an empty text among them."""
    path = tmp_path / "x.xlsx"
    with xlsxwriter.Workbook(path) as made:
        sheet = made.add_worksheet("S")
        sheet.write_column(0, 0, ["Age", 30, 40])
        sheet.write_formula(3, 0, "=A2+A3", value=70)
        sheet.write_column(0, 1, ["Sex", "f", "m"])
        sheet.write_formula(3, 1, '=IF(A2=1,"m","")', value="")
    parts = {}
    with zipfile.ZipFile(path) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    sheet = "xl/worksheets/sheet1.xml"
    parts[sheet] = parts[sheet].replace(b'<c r="B4">', b'<c r="B4" t="str">')
    parts["xl/workbook.xml"] = parts["xl/workbook.xml"].replace(b' fullCalcOnLoad="1"', b"")
    with zipfile.ZipFile(path, "w") as archive:
        for name, content in parts.items():
            archive.writestr(name, content)
    assert columns(open_source(path)) == {"Age": [30, 40, 70], "Sex": ["f", "m", None]}


def test_the_sheet_is_named_or_the_only_one(book):
    path = book(PEOPLE, second())
    with pytest.raises(DataError, match="has the sheets 'Sheet', 'More'; name one by --table"):
        open_source(path)
    assert columns(open_source(path, table="More")) == {"Town": ["a"]}
    assert columns(open_source(path, table="sheet"))["Age"] == [30, 40, None, 9]
    with pytest.raises(DataError, match="has no sheet 'Other'; it has 'Sheet', 'More'"):
        open_source(path, table="Other")
    alone = open_source(book(PEOPLE, lambda made, sheet: made.create_sheet("Empty")))
    assert columns(alone)["Age"] == [30, 40, None, 9]


def test_hidden_sheets_and_rows_are_said(book):
    source = open_source(book(PEOPLE, second(hidden=True)))
    assert source.notes == ("'people.xlsx' has hidden sheets, which are not read: 'More'.",)
    hide = lambda made, sheet: setattr(sheet.row_dimensions[3], "hidden", True)  # noqa: E731
    source = open_source(book(PEOPLE, hide))
    assert len(columns(source)["Sex"]) == 4
    assert "has hidden rows, which are read" in source.notes[0]


def test_what_a_cell_of_a_large_sheet_says_is_seen_across_pieces(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.data.workbook.CHUNK", 100)
    with xlsxwriter.Workbook(tmp_path / "x.xlsx") as made:
        sheet = made.add_worksheet("S")
        sheet.write_column(0, 0, range(40))
        sheet.write_formula(40, 0, "=NA()", value="#N/A")
    with pytest.raises(DataError, match="cell A41"):
        check_cells(tmp_path / "x.xlsx", "S", "it")


def test_totals_and_cells_of_a_workbook(book):
    rows = [["Sex", "Ill", "n"], ["f", "no", 5], ["f", "yes", 3], ["m", "no", 7], ["m", "yes", 2]]
    assert load(book(rows), count="n").total == 17
    rows += [["Total", "no", 12], ["Total", "yes", 5]]
    with pytest.raises(DataError, match="sums of others"):
        load(book(rows), count="n")
    with pytest.raises(DataError, match="count='n'"):
        load(book(rows))


def test_what_is_no_workbook_is_refused_in_a_sentence(tmp_path):
    (tmp_path / "people.xls").write_text("<table><tr><td>Sex</td></tr></table>")
    with pytest.raises(DataError, match="no workbook, or a damaged one"):
        open_source(tmp_path / "people.xls")
