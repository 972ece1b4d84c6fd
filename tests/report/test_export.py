"""Everything as files: whole, readable, and harmless in a spreadsheet."""

import csv
import json
import struct

import openpyxl
import pytest

from discreet.decision.law.findings import MOST_NAMED
from discreet.errors import OutputError
from discreet.report.export import export, save_chart, save_frame
from discreet.report.sheets import sheets

TABLES = ["reasons", "cells", "groups", "utility", "alternatives", "policy"]
FOUND = "published-cells"  # what a rule without a part of its own found


def read_csv(path):
    with open(path, encoding="utf-8", newline="") as file:
        return list(csv.reader(file))


def png_size(path):
    content = path.read_bytes()
    assert content.startswith(b"\x89PNG\r\n\x1a\n")
    return struct.unpack(">II", content[16:24])


@pytest.fixture(scope="module")
def folder(tract, tmp_path_factory):
    folder = tmp_path_factory.mktemp("export") / "deep" / "folder"
    written = export(tract, folder)
    assert sorted(written) == sorted(folder.iterdir())
    return folder


def test_what_is_written(folder):
    names = {path.name for path in folder.iterdir()}
    assert names == {
        "report.html", "report.json", "tables.xlsx", "CONFIDENTIAL.txt",
        "intervals.png", "intervals.svg", "orders.png", "orders.svg",
        *(f"{name}.csv" for name in [*TABLES, FOUND]),
    }  # fmt: skip


def test_the_json_is_the_assessment(folder, tract):
    document = json.loads((folder / "report.json").read_text(encoding="utf-8"))
    assert document.pop("confidential").startswith("Confidential")
    assert document == tract.to_json()


def test_what_holds_counts_says_that_it_is_confidential(folder, tmp_path, tract):
    """In the file where its kind has room for a word, and beside it for CSV files and pictures."""
    written = {path.name for path in folder.iterdir()} - {"CONFIDENTIAL.txt"}
    notice = (folder / "CONFIDENTIAL.txt").read_text(encoding="utf-8")
    assert notice.startswith("Confidential")
    assert {*notice.splitlines()} & written == written - {"orders.png", "orders.svg"}
    for name in ("report.html", "report.json", "intervals.svg"):
        assert "Confidential" in (folder / name).read_text(encoding="utf-8")
    assert "Confidential" not in (folder / "orders.svg").read_text(encoding="utf-8")
    book = openpyxl.load_workbook(folder / "tables.xlsx", read_only=True)
    assert all(sheet["A2"].value.startswith("Confidential") for sheet in book)
    book.close()
    for suffix in (".svg", ".html", ".json"):
        save_chart(tract.plot(), tmp_path / f"chart{suffix}")
        assert "Confidential" in (tmp_path / f"chart{suffix}").read_text(encoding="utf-8")


@pytest.mark.parametrize("name", ["intervals", "orders"])
def test_charts_are_pictures(folder, name):
    width, height = png_size(folder / f"{name}.png")
    assert 1000 < width < 1800
    assert 300 < height < 1500
    assert (folder / f"{name}.svg").read_text(encoding="utf-8").lstrip().startswith("<svg")


def test_tables_as_csv(folder):
    rows = read_csv(folder / "cells.csv")
    assert rows[0][:4] == ["Gender", "Race", "Income", "count"]
    assert rows[1][2:7] == ["up to $10,000", "1", "0", "1", "1"]
    assert read_csv(folder / "policy.csv")[2][:2] == ["small.width", "3"]
    assert read_csv(folder / "utility.csv")[1] == ["1", "3", "3", "1.0"]
    assert read_csv(folder / f"{FOUND}.csv")[:2] == [
        ["table", "cell", "count"],
        ["Race*Income", "Race: Chinese, Income: up to $10,000", "1"],
    ]


def test_tables_in_excel(folder, tract):
    book = openpyxl.load_workbook(folder / "tables.xlsx")
    assert book.sheetnames == ["verdict", *TABLES, FOUND]
    assert book["verdict"]["B5"].value == "FAIL"
    cells = book["cells"]
    assert [cell.value for cell in cells[4]][:4] == ["Gender", "Race", "Income", "count"]
    assert [cell.value for cell in cells[5]][2:7] == ["up to $10,000", 1, 0, 1, 1]
    assert cells["A2"].value.startswith("Confidential")
    book.close()


def test_labels_never_become_formulas(hostile, tmp_path):
    export(hostile, tmp_path)
    rows = read_csv(tmp_path / "cells.csv")
    assert rows[0][1] == "'=Job"
    assert {row[1] for row in rows[1:]} == {"'=1+1", "'@x", "'-2"}
    book = openpyxl.load_workbook(tmp_path / "tables.xlsx")
    kinds = {cell.data_type for row in book["cells"].iter_rows() for cell in row if cell.value}
    assert "f" not in kinds
    assert {row[1].value for row in book["cells"].iter_rows(min_row=5)} == {"=1+1", "@x", "-2"}
    book.close()


def test_numbers_keep_their_sign(tmp_path, tract):
    frame = tract.decision.case.small.bounds.to_frame()
    frame["lower"] = -1
    save_frame(frame, tmp_path / "bounds.csv")
    assert read_csv(tmp_path / "bounds.csv")[1][3] == "-1"


def test_frames_as_parquet(tmp_path, tract):
    import pandas as pd

    frame = tract.decision.case.small.bounds.to_frame()
    save_frame(frame, tmp_path / "bounds.parquet")
    pd.testing.assert_frame_equal(pd.read_parquet(tmp_path / "bounds.parquet"), frame)
    with pytest.raises(OutputError, match="xls"):
        save_frame(frame, tmp_path / "bounds.xls")


def test_a_page_with_a_chart_needs_no_network(tmp_path, tract):
    small = tract.decision.case.small
    save_chart(small.bounds.plot(), tmp_path / "chart.html")
    page = (tmp_path / "chart.html").read_text(encoding="utf-8")
    assert "<script src" not in page
    assert "<link" not in page
    assert '"actions": false' in page


def test_charts_as_json_and_in_no_other_way(tmp_path, tract):
    chart = tract.decision.case.small.bounds.plot()
    save_chart(chart, tmp_path / "chart.json")
    assert "layer" in json.loads((tmp_path / "chart.json").read_text())
    with pytest.raises(OutputError, match=r"\.gif"):
        save_chart(chart, tmp_path / "chart.gif")
    assert [path.name for path in tmp_path.iterdir()] == ["chart.json"]


def test_places_that_cannot_be_written(tmp_path, tract):
    (tmp_path / "file").write_text("here first")
    with pytest.raises(OutputError, match="file"):
        export(tract, tmp_path / "file")
    with pytest.raises(OutputError, match="nowhere"):
        save_chart(tract.decision.case.small.bounds.plot(), tmp_path / "nowhere" / "a.svg")


def test_empty_tables_keep_their_columns(blond, safe):
    for assessment in (blond, safe):
        for sheet in sheets(assessment):
            assert sheet.columns
            assert all(len(row) == len(sheet.columns) for row in sheet.rows)


def test_a_list_that_is_cut_says_so(ones):
    (found,) = (sheet for sheet in sheets(ones) if sheet.name == FOUND)
    assert len(found.rows) == MOST_NAMED
    assert "119 more cells like it" in found.shows
    assert found.shows.endswith(" The first 100 are listed.")
