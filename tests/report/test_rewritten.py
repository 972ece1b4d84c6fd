"""`check` finds whatever a release holds that is in no cell: put into each place of each format."""

import dataclasses
import hashlib
import io
import json
import re
import shutil
import zipfile

import pytest

from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError
from discreet.report.checked import check
from discreet.report.written import write
from discreet.report.written.documents import as_bytes
from discreet.sheets.grouping import Grouping
from releasecases import FORMATS, HIDDEN, VARIABLES, counts, masked, sums, truth

CSV, WIDE, SDMX, SUMS = "table-1.csv", "table-1.wide.csv", "table-1.sdmx.csv", "table-T.csv"
STAT, JSON, BOOK, MANIFEST = "table-1.jsonstat", "tables.json", "tables.xlsx", "manifest.json"
SHEET, STRINGS, STYLES = "xl/worksheets/sheet2.xml", "xl/sharedStrings.xml", "xl/styles.xml"


@pytest.fixture(scope="module")
def sound(tmp_path_factory):
    folder = tmp_path_factory.mktemp("sound") / "release"
    write([counts(), sums()], folder, formats=FORMATS, layout="both", decimals=3)
    return folder


def rehash(folder):
    """As if the writer itself had written what is there."""
    told = json.loads((folder / MANIFEST).read_text())
    for file in told["files"]:
        if (path := folder / file["name"]).is_file():
            file["sha256"] = hashlib.sha256(path.read_bytes()).hexdigest()
    (folder / MANIFEST).write_bytes(as_bytes(told))


def text(old, new):
    def change(data):
        assert old.encode() in data
        return data.replace(old.encode(), new.encode(), 1)

    return change


def rows(change):
    return lambda data: b"\r\n".join(change(data.split(b"\r\n")))


def told(*keys, to):
    """A value of a JSON document."""

    def change(data):
        content = at = json.loads(data)
        for key in keys[:-1]:
            at = at[key]
        at[keys[-1]] = to(at.get(keys[-1]) if isinstance(at, dict) else at[keys[-1]])
        return as_bytes(content)

    return change


def part(name, change):
    """A part of the workbook."""

    def whole(data):
        sink, old = io.BytesIO(), zipfile.ZipFile(io.BytesIO(data))
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as new:
            for info in old.infolist():
                own = old.read(info)
                new.writestr(info, change(own) if info.filename == name else own)
        return sink.getvalue()

    return whole


def packed(change=None, *, comment=b"", order=1):
    def whole(data):
        sink, old = io.BytesIO(), zipfile.ZipFile(io.BytesIO(data))
        with zipfile.ZipFile(sink, "w", zipfile.ZIP_DEFLATED) as new:
            for info in old.infolist()[::order]:
                own = old.read(info)
                if change:
                    change(info)
                new.writestr(info, own)
            new.comment = comment
        return sink.getvalue()

    return whole


def dated(info):
    info.date_time = (2017, 9, 8, 1, 7, 0)


def beside(info):
    info.extra = b"\x01\x79\x02\x00ab"


ATTACKS = {
    "rows in another order": (CSV, rows(lambda x: [x[0], *x[-2:0:-1], b""])),
    "lines across in another order": (WIDE, rows(lambda x: [x[0], *x[-2:0:-1], b""])),
    "other ends of lines": (CSV, lambda data: data.replace(b"\r\n", b"\n")),
    "an empty line": (SUMS, rows(lambda x: [*x[:2], b"", *x[2:]])),
    "a mark of encoding": (CSV, lambda data: b"\xef\xbb\xbf" + data),
    "a quoted label": (CSV, text("A,f,x", '"A",f,x')),
    "a blank behind a value": (SDMX, text("52,A,F", "52,A,F ")),
    "a telling head of values": (CSV, text("Sex,count", "Sex,A f is 1")),
    "a number for a head": (CSV, text("Sex,count", "Sex,17")),
    "a number in another way": (CSV, text("Total,Total,52", "Total,Total,5.2e1")),
    "a count that is nearly whole": (CSV, text("Total,Total,52", "Total,Total,52.0000001")),
    "more decimals": (SUMS, text("1033.875", "1033.8750")),
    "a sum that is nearly so": (SUMS, text("1033.875", "1033.876")),
    "another way to hide": (CSV, text("A,f,x", "A,f,")),
    "a status of its own": (SDMX, text(",Q,C", ",M1,C")),
    "a version of its own": (SDMX, text("(1.0)", "(1.7)")),
    "a code of its own": (SDMX, text("A: A", "A1: A")),
    "a label of a dataset": (STAT, told("label", to=lambda x: "A f is 1")),
    "a status of a dataset": (STAT, text('"x"', '"x1"')),
    "a status of a shown cell": (STAT, told("status", "0", to=lambda x: "17")),
    "a label of a dimension": (STAT, told("dimension", "Sex", "label", to=lambda x: "Sex 1")),
    "a text for a number": (STAT, told("value", 0, to=lambda x: "52")),
    "a point behind a number": (STAT, told("value", 0, to=lambda x: 52.0)),
    "a measure of its own": (STAT, told("extension", "measure", to=lambda x: "count 1")),
    "a key twice": (STAT, text('"version"', '"label": "A f 1",\n "version"')),
    "a letter in another way": (STAT, text("count", "\\u0063ount")),
    "tables in another order": (JSON, told("tables", to=lambda x: x[::-1])),
    "files in a document": (JSON, told("files", to=lambda x: [{"a": 1}])),
    "blanks of a document": (JSON, text("{\n", "{ \n")),
    "a title of a workbook": (BOOK, part("docProps/core.xml", text("Tables", "A f is 1"))),
    "an author": (BOOK, part("docProps/core.xml", text("<dc:creator>", "<dc:creator>A 1"))),
    "a time of making": (BOOK, part("docProps/core.xml", text("2000-01-01", "2001-07-09"))),
    "a company": (BOOK, part("docProps/app.xml", text("<App", "<Company>1</Company><App"))),
    "a name of a sheet": (BOOK, part("xl/workbook.xml", text('name="1"', 'name="A f 1"'))),
    "a hidden sheet": (
        BOOK, part("xl/workbook.xml", text('sheetId="2"', 'sheetId="2" state="hidden"'))),
    "a width of a column": (BOOK, part(SHEET, text('width="', 'width="1'))),
    "a height of a row": (BOOK, part(SHEET, text('<row r="5"', '<row r="5" ht="17"'))),
    "a style of a cell": (BOOK, part(SHEET, lambda x: re.sub(rb'(r="B6" s=)"\d+', rb'\1"1', x))),
    "a colour": (BOOK, part(STYLES, text('<color theme="1"/>', '<color rgb="FF010798"/>'))),
    "a format of numbers": (BOOK, part(STYLES, text("#,##0.000", "#,##0.00"))),
    "a comment of a part": (BOOK, part(SHEET, text("<sheetData>", "<!--1--><sheetData>"))),
    "a text that is read aloud": (BOOK, part(STRINGS, text(
        "</t></si>", '</t><rPh sb="0" eb="1"><t>1</t></rPh></si>'))),
    "a text of another method": (BOOK, part(STRINGS, text("suppression", "suppression 1"))),
    "a colour of a sheet": (BOOK, part(SHEET, text(
        "<dimension", '<sheetPr><tabColor rgb="FF010798"/></sheetPr><dimension'))),
    "a point behind a number of a sheet": (BOOK, part(SHEET, text("<v>52</v>", "<v>52.0</v>"))),
    "a comment of an archive": (BOOK, packed(comment=b"A f is 1")),
    "a time of a part": (BOOK, packed(dated)),
    "bytes beside a part": (BOOK, packed(beside)),
    "parts in another order": (BOOK, packed(order=-1)),
    "bytes behind an archive": (BOOK, lambda data: data + b"A f is 1"),
    "bytes before an archive": (BOOK, lambda data: b"A f is 1" + data),
    "blanks of the manifest": (MANIFEST, text("{\n", "{ \n")),
    "a key of the manifest twice": (MANIFEST, text('"program"', '"symbol": "1",\n "program"')),
    "what hidden cells mean": (MANIFEST, told("symbols", "x", to=lambda x: "1 7 9 8")),
    "a program of its own": (MANIFEST, told("program", to=lambda x: "discreet 1.7.9.8")),
    "a parameter": (MANIFEST, told("tables", 0, "parameters", "q", to=lambda x: "1 7 9 8")),
    "a choice of a method": (
        MANIFEST, told("tables", 0, "parameters", "guarantee", to=lambda x: "1 7 9 8")),
    "a method": (MANIFEST, told("tables", 0, "method", to=lambda x: "suppression 1798")),
    "decimals of counts": (MANIFEST, told("tables", 0, "decimals", to=lambda x: 17)),
    "a depth of a line": (
        MANIFEST, told("tables", 0, "variables", 0, "lines", 2, "depth", to=lambda x: 7)),
    "categories of a line": (
        MANIFEST, told("tables", 0, "variables", 0, "lines", 2, "categories", to=lambda x: ["A"])),
    "hidden cells in another order": (MANIFEST, told("tables", 0, "hidden", to=lambda x: x[::-1])),
    "files in another order": (MANIFEST, told("files", to=lambda x: x[::-1])),
    "a file twice": (MANIFEST, told("files", to=lambda x: [*x, x[0]])),
    "a layout": (MANIFEST, told("files", -1, "layout", to=lambda x: "1 7 9 8")),
    "a layout of all files": (
        MANIFEST, lambda data: re.sub(rb'"layout": ".*?"', b'"layout": "1 7 9 8"', data)),
    "a depth of a filter": (
        MANIFEST, told("tables", 1, "where", 0, "lines", 0, "depth", to=lambda x: 17)),
    "a parameter of another method": (
        MANIFEST, told("tables", 0, "parameters", "base", to=lambda x: 1798)),
}  # fmt: skip


@pytest.mark.parametrize("formats", [FORMATS, ("csv",)], ids=["all", "csv"])
def test_whatever_is_in_no_cell_is_found(sound, tmp_path, formats):
    few = tmp_path / "few"
    write([counts(), sums()], few, formats=formats, layout="both", decimals=3)
    missed = []
    for name, (file, change) in ATTACKS.items():
        if not (few / file).is_file():
            continue
        folder = tmp_path / "release"
        shutil.rmtree(folder, ignore_errors=True)
        shutil.copytree(few, folder)
        (folder / file).write_bytes(change((folder / file).read_bytes()))
        if file != MANIFEST:
            rehash(folder)
        try:
            result = check(folder, VARIABLES, truth)
        except DataError as error:
            if file != MANIFEST or "and must be" not in str(error):
                missed.append(name)
            continue
        if result.verdict is Verdict.PASS or file not in {one.file for one in result.findings}:
            missed.append(name)
    assert missed == []


TABLE = ("tables", 0)
LINE = (*TABLE, "variables", 0, "lines", 1)
WRONG = {
    (*TABLE, "exact"): ["A f is 1", 1, None],
    (*TABLE, "whole"): ["A f is 1", 0],
    (*TABLE, "decimals"): [True, 1.5, -400],
    (*TABLE, "hidden"): [["5"], [True], [-1]],
    (*TABLE, "title"): [17, "\ud800"],
    (*TABLE, "variables"): [[], {}],
    (*TABLE, "measure"): [{"value": ""}, {"holding": 17}, {"note": "A f is 1"}],
    (*TABLE, "parameters"): [{"guarantee": 1}, [], {"q": float("nan")}, {"q": 1e400}],
    (*TABLE, "variables", 0, "covers"): ["A f is 1"],
    (*LINE, "depth"): ["2", 1.5, True],
    (*LINE, "adds"): ["A f is 1"],
    (*LINE, "categories"): ["A", [1], []],
    ("symbols",): [{"x": 1}],
    ("record",): ["A f is 1", json.loads("[" * 50 + "]" * 50)],
    ("files", 0, "name"): ["", "\0", "y" * 300],
    ("files", 0, "layout"): [None, "A f is 1"],
    ("files", 0, "sha256"): ["A f is 1"],
}


def test_a_value_of_another_kind_is_wrong_input(tmp_path):
    """Also where only CSV is written, in which no other file says the same."""
    write([counts(), sums()], tmp_path / "out", decimals=3)
    path = tmp_path / "out" / MANIFEST
    whole = json.loads(path.read_text())
    for place, values in WRONG.items():
        for value in values:
            at = changed = json.loads(json.dumps(whole))
            for key in place[:-1]:
                at = at[key]
            at[place[-1]] = value
            path.write_text(json.dumps(changed))
            with pytest.raises(DataError, match=r"is incomplete or wrong|is not JSON"):
                check(tmp_path / "out", VARIABLES, truth)


def test_an_empty_folder_and_a_file_with_telling_names(sound, tmp_path):
    folder = tmp_path / "release"
    shutil.copytree(sound, folder)
    (folder / "A f is 1").mkdir()
    (folder / CSV).rename(folder / "table-A-1.csv")
    content = json.loads((folder / MANIFEST).read_text())
    next(file for file in content["files"] if file["name"] == CSV)["name"] = "table-A-1.csv"
    (folder / MANIFEST).write_bytes(as_bytes(content))
    said = {one.text for one in check(folder, VARIABLES, truth).findings}
    assert "it is a folder, and a release has none" in said
    assert "files[0].name is 'table-A-1.csv', and would be 'table-1.csv'" in said


def test_lines_in_the_order_of_their_true_size(tmp_path):
    """Also where the manifest and all files say so together."""
    region = counts().system.sheets[0].groupings[0]
    total, north, a, b, south, c, d = region.lines
    turned = Grouping(region.variable, (total, north, b, a, south, c, d))
    first = counts().system.sheets[0]
    sheet = dataclasses.replace(first, groupings=(turned, first.groupings[1]))
    write([masked([sheet], HIDDEN)], tmp_path / "out", formats=FORMATS)
    (finding,) = check(tmp_path / "out", VARIABLES, truth).findings
    assert finding.verdict is Verdict.REVIEW
    assert "stand in the order of their true size" in finding.text


def test_what_people_wrote_is_listed_for_a_person(sound):
    texts = check(sound, VARIABLES, truth).texts
    assert {"symbol: x", "table 1: People; by region", "Region: not =D"} <= {*texts}
    assert "holding: owner" in texts  # without records nobody knows whether there is one
