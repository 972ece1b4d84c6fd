"""`discreet check`: whatever is put back into a published file is found."""

import dataclasses
import json
import zipfile
from itertools import product

import numpy as np
import openpyxl
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli.check import check_command
from discreet.decision.batch.masking import mask
from discreet.decision.law.verdict import Verdict
from discreet.errors import DataError
from discreet.look.pages import PAGES
from discreet.masks.masked import Masked
from discreet.release.printed import Printed
from discreet.report.checked import check, checked_page, values_from
from discreet.report.written import write
from discreet.report.written.documents import as_bytes
from discreet.sheets.grouping import Grouping
from discreet.sheets.reading import formula_sheets
from discreet.sheets.sheet import Measure, Sheet
from discreet.sheets.system import System
from discreet.table.load import load
from paged import check_outline, check_tags
from releasecases import FORMATS, PEOPLE, REGION, SEX, VARIABLES, counts, masked, sums, truth


@pytest.fixture
def out(tmp_path):
    folder = tmp_path / "release"
    write([counts(), sums()], folder, formats=FORMATS, layout="both", decimals=3)
    return folder


def found(folder, kind=None, **options):
    result = check(folder, VARIABLES, truth, **options)
    return [f for f in result.findings if kind in (None, f.kind)]


def rehash(folder, name):
    """As if the writer itself had written it."""
    import hashlib

    path = folder / "manifest.json"
    manifest = json.loads(path.read_text())
    for file in manifest["files"]:
        if file["name"] == name:
            file["sha256"] = hashlib.sha256((folder / name).read_bytes()).hexdigest()
    path.write_bytes(as_bytes(manifest))


def test_a_sound_release_passes(out):
    result = check(out, VARIABLES, truth)
    assert result.verdict is Verdict.PASS
    assert result.findings == ()
    assert (result.files, result.tables, result.hidden) == (19, 4, 6)
    assert result.narrowest == 6  # 8 in A, and as zeros are printed, from 1 to 7 of them are f
    assert len(result.to_frame()) == 0
    assert "PASS release" in repr(result)


def test_without_data_it_is_not_called_safe(out):
    result = check(out, VARIABLES)
    assert result.verdict is Verdict.REVIEW
    assert not result.compared


@pytest.mark.parametrize("rehashed", [False, True])
@pytest.mark.parametrize(
    ("name", "old", "new"),
    [
        ("table-1.csv", "A,f,x", "A,f,1"),
        ("table-1.wide.csv", "A,8,x,x", "A,8,1,x"),
        ("table-1.sdmx.csv", "F: f,,Q,C", "F: f,1,Q,C"),
        ("table-1.sdmx.csv", "F: f,,Q,C", "F: f,1,A,F"),
        ("table-1.jsonstat", "null", "1"),
        ("tables.json", "    8,\n    null", "    8,\n    1"),
        ("table-T.csv", "A,x", "A,10.250"),
    ],
)
def test_a_hidden_value_that_was_put_back(out, name, old, new, rehashed):
    path = out / name
    text = path.read_text()
    assert old in text
    path.write_text(text.replace(old, new, 1), newline="")
    if rehashed:
        rehash(out, name)
    leaks = found(out, "leak")
    assert [(leak.file, leak.cell["Region"]) for leak in leaks] == [(name, "A")]
    assert bool(found(out, "file")) is not rehashed


def test_the_manifest_does_not_vouch_for_itself(out):
    """The value is back in one file, and the manifest does not call it hidden any more."""
    path = out / "table-1.csv"
    path.write_text(path.read_text().replace("A,f,x", "A,f,1"), newline="")
    rehash(out, "table-1.csv")
    manifest = json.loads((out / "manifest.json").read_text())
    del manifest["tables"][0]["hidden"][0]
    (out / "manifest.json").write_text(json.dumps(manifest))
    assert "table-1.csv" in {leak.file for leak in found(out, "leak")}


def changed(out, change):
    path = out / "tables.xlsx"
    book = openpyxl.load_workbook(path)
    change(book)
    book.save(path)


def test_a_value_put_back_in_a_workbook(out):
    changed(out, lambda book: book["1"].cell(7, 3, 1))
    assert [leak.file for leak in found(out, "leak")] == ["tables.xlsx"]


@pytest.mark.parametrize("state", ["hidden", "veryHidden"])
def test_a_hidden_sheet(out, state):
    def change(book):
        page = book.create_sheet("backup")
        page.sheet_state = state
        page.append(["A", "f", 1])

    changed(out, change)
    assert any("hidden sheet 'backup'" in f.text for f in found(out, "content"))
    (leak,) = found(out, "leak")
    assert leak.cell == {"Region": "A", "Sex": "f"}


def test_a_hidden_sheet_that_is_a_cross_tab(out):
    def change(book):
        page = book.create_sheet("backup")
        page.sheet_state = "hidden"
        for row in (["", "f", "m"], ["A", 1, 7], ["B", 9, 8]):
            page.append(row)

    changed(out, change)
    cells = {tuple(leak.cell.values()) for leak in found(out, "leak")}
    assert cells == {("A", "f"), ("A", "m"), ("B", "f"), ("B", "m")}


@pytest.mark.parametrize(
    ("change", "said"),
    [
        (lambda book: setattr(book["1"].column_dimensions["F"], "hidden", True), "hidden columns"),
        (lambda book: setattr(book["1"].row_dimensions[7], "hidden", True), "hidden rows"),
        (lambda book: book["1"].cell(7, 9, 1), "cells outside the table"),
        (lambda book: setattr(book["1"]["C7"], "number_format", '"x"'), "shows numbers as"),
        (lambda book: book["1"].cell(30, 1, "A f 1"), "cells outside the table"),
        (lambda book: book["1"].cell(7, 3, "=1+0"), "a formula in C7"),
        (
            lambda book: setattr(book["1"]["C7"], "comment", openpyxl.comments.Comment("1", "me")),
            "the part 'xl/comments/comment1.xml'",
        ),
        (
            lambda book: book.defined_names.add(
                openpyxl.workbook.defined_name.DefinedName("truth", attr_text="1")
            ),
            "defines the name 'truth'",
        ),
        (lambda book: setattr(book["1"].oddHeader.center, "text", "A f 1"), "has a headerFooter"),
    ],
)
def test_what_else_a_workbook_can_hold(out, change, said):
    changed(out, change)
    rehash(out, "tables.xlsx")
    assert any(said in f.text for f in found(out, "content")), found(out, "content")


def test_parts_that_nothing_shows(out):
    path = out / "tables.xlsx"
    with zipfile.ZipFile(path, "a") as book:
        book.writestr("customXml/item1.xml", "<a><b>A</b><b>f</b><b>1</b></a>")
    rehash(out, "tables.xlsx")
    assert any("customXml" in f.text for f in found(out, "content"))
    (leak,) = found(out, "leak")
    assert leak.cell == {"Region": "A", "Sex": "f"}


@pytest.mark.parametrize(
    ("name", "where"),
    [("table-1.jsonstat", ("extension", "true")), ("table-1.jsonstat", ("true",))],
)
def test_more_than_the_format_has(out, name, where):
    content = json.loads((out / name).read_text())
    inner = content
    for key in where[:-1]:
        inner = inner[key]
    inner[where[-1]] = {"A": {"f": 1}}
    (out / name).write_text(json.dumps(content))
    rehash(out, name)
    assert [f.file for f in found(out, "content")] == [name]
    assert [f.file for f in found(out, "leak")] == [name]


def test_a_value_in_a_title(out):
    content = json.loads((out / "table-1.jsonstat").read_text())
    content["label"] = "People (A, f: 1)"
    (out / "table-1.jsonstat").write_text(json.dumps(content))
    rehash(out, "table-1.jsonstat")
    assert [leak.file for leak in found(out, "leak")] == ["table-1.jsonstat"]


def test_a_true_value_in_the_record(out):
    path = out / "manifest.json"
    manifest = json.loads(path.read_text())
    manifest["record"]["largest"] = {"Region": "A", "Sex": "f", "n": 1}
    manifest["truth"] = 1
    path.write_text(json.dumps(manifest))
    assert "manifest.json" in {leak.file for leak in found(out, "leak")}
    assert "manifest.json" in {f.file for f in found(out, "content")}


def test_files_that_are_missing_or_not_listed(out):
    (out / "table-1.csv").unlink()
    (out / "deep").mkdir()
    (out / "deep" / "work.csv").write_text("Region;Sex;n\nA;f;1\n")
    said = {f.file: f.text for f in found(out, "file")}
    assert said == {
        "table-1.csv": "it is in the manifest, and is no file of the folder",
        "deep": "it is a folder, and a release has none",
        "deep/work.csv": "it is not in the manifest",
    }
    assert [leak.file for leak in found(out, "leak")] == ["deep/work.csv"]


@pytest.mark.parametrize("name", ["tables.xlsx", "table-1.jsonstat", "table-1.csv"])
def test_rubbish_is_a_finding_and_no_crash(out, name):
    (out / name).write_bytes(b'\xff"PK\x03\x04')
    texts = [f.text for f in found(out, "content")]
    assert any("cannot be read" in text for text in texts)


def test_a_file_that_says_something_else(out):
    path = out / "table-1.wide.csv"
    path.write_text(path.read_text().replace("52,28", "51,28"), newline="")
    assert any("and another file" in f.text for f in found(out, "contradiction"))
    assert any("the data have 52" in f.text for f in found(out, "data"))


def test_a_cell_that_another_table_shows(tmp_path):
    """Hidden in table 1, and printed by a mask that did not know of it."""
    again = masked([Sheet("again", (Grouping.of(SEX), Grouping.only(REGION, ["A"])))], set())
    write([counts(), again], tmp_path / "out")
    cells = {tuple(leak.cell.values()) for leak in found(tmp_path / "out", "leak")}
    assert cells == {("A", "f"), ("A", "m")}


def test_a_hidden_cell_that_follows_by_sums(tmp_path):
    """One gap in a line: the total less the others."""
    one = masked([Sheet("1", (Grouping.of(REGION),))], {("A",)})
    write([one], tmp_path / "out")
    (finding,) = found(tmp_path / "out", "sums")
    assert finding.verdict is Verdict.FAIL
    assert finding.text == "printed cells leave it no other value than 8"


def test_a_hidden_sum_that_follows(tmp_path):
    one = masked([Sheet("1", (Grouping.of(REGION),), sums().system.sheets[0].measure)],
                 {("A",), ("North",)}, whole=False)  # fmt: skip
    write([one], tmp_path / "out", decimals=2)
    assert {finding.cell["Region"] for finding in found(tmp_path / "out", "sums")} == {"A", "North"}


def test_a_release_that_is_out_already(tmp_path):
    """Last year's table of A or C by sex, less this year's C: a hidden cell of A."""
    own = Grouping.cut(REGION, {"A or C": ["A", "C"]}, total=False)
    old = masked([Sheet("1", (own, Grouping.of(SEX)))], set())
    write([old], tmp_path / "old")
    write([counts()], tmp_path / "new")
    assert not found(tmp_path / "new")
    both = found(tmp_path / "new", released=[tmp_path / "old"])
    assert {(f.kind, f.cell["Region"]) for f in both} == {("sums", "A"), ("sums", "B")}
    again = masked([Sheet("1", (Grouping.of(REGION), Grouping.of(SEX)))], set())
    write([again], tmp_path / "all")
    both = found(tmp_path / "new", released=[tmp_path / "all"])
    assert {(f.kind, f.cell["Region"]) for f in both} == {("leak", "A"), ("leak", "B")}


def test_a_width_that_is_asked_for(out):
    assert not found(out, "sums", width=6)
    narrow = found(out, "sums", width=7)
    assert {tuple(f.cell.values()) for f in narrow} >= {("A", "f"), ("A", "m")}


def test_what_nobody_can_be_is_known_to_all(out):
    """Nobody in A is f: then A, m is 8, and the rest follows."""
    sheets = [Sheet("1", (Grouping.of(REGION), Grouping.of(SEX)))]
    write([masked(sheets, {("A", "f"), ("A", "m"), ("B", "f"), ("B", "m")})], out.parent / "b")
    closed = {("Region", "Sex"): [(2, 0)]}
    assert found(out.parent / "b", impossible=closed)  # 6 are printed where nobody can be
    closed = {("Region", "Sex"): [(0, 0)]}
    said = [f.text for f in found(out.parent / "b", impossible=closed)]
    assert any("no other value than" in text or "disagree" in text for text in said)


def test_zeros_that_are_printed_say_that_gaps_are_none(tmp_path, monkeypatch):
    """Two gaps that sum to 2 where zeros are shown: both are 1."""
    small = np.array([[1, 1], [9, 8], [0, 5], [12, 4]])
    monkeypatch.setattr("releasecases.PEOPLE", small)
    sheet = Sheet("1", (Grouping.of(REGION, total=False), Grouping.of(SEX)))
    write([masked([sheet], {("A", "f"), ("A", "m"), ("B", "f"), ("B", "m")})], tmp_path / "out")
    assert {tuple(f.cell.values()) for f in found(tmp_path / "out", "sums")} >= {("A", "f")}


@pytest.mark.parametrize("measure", [Measure(), Measure("Turnover")])
def test_a_width_of_0_forgives_no_cell_that_has_one_value_only(tmp_path, measure):
    """One gap in a row that is printed with its total."""
    sheet = Sheet("1", (Grouping.of(REGION), Grouping.of(SEX)), measure)
    write([masked([sheet], {("A", "f")}, whole=measure.value is None)], tmp_path / "out")
    for width in (None, 0.0, 1e-12):
        (gap,) = found(tmp_path / "out", "sums", width=width)
        assert gap.cell == {"Region": "A", "Sex": "f"}


def test_hidden_cells_among_perturbed_ones_are_not_called_safe(tmp_path):
    made = dataclasses.replace(counts(), printed=None)
    write([made], tmp_path / "out")
    result = check(tmp_path / "out", VARIABLES, truth)
    assert result.verdict is Verdict.REVIEW
    assert {f.kind for f in result.findings} == {"data", "not judged"}  # and not perturbed at all


@pytest.mark.parametrize(
    "change",
    [
        lambda told: told["tables"][0].pop("hidden"),
        lambda told: told["tables"][0]["hidden"].append(99),
        lambda told: told["tables"].append(told["tables"][0]),
        lambda told: told["tables"][0]["variables"][0]["lines"][0].pop("depth"),
        lambda told: told["files"][0].update(table="none"),
        lambda told: told.pop("symbol"),
        lambda told: told["tables"][0].update(whole=False),
    ],
)
def test_a_manifest_that_is_not_whole(out, change):
    path = out / "manifest.json"
    told = json.loads(path.read_text())
    change(told)
    path.write_text(json.dumps(told))
    with pytest.raises(DataError, match=r"is incomplete or wrong \("):
        check(out, VARIABLES, truth)


def test_a_table_that_a_file_lacks(out):
    told = json.loads((out / "tables.json").read_text())
    del told["tables"][0]
    (out / "tables.json").write_text(json.dumps(told))
    assert [f.text for f in found(out, "content")] == ["it lacks table '1'"]


def test_a_large_count_that_is_off_by_one(tmp_path, monkeypatch):
    monkeypatch.setattr("releasecases.PEOPLE", PEOPLE + 3_000_000)
    write([masked([Sheet("1", (Grouping.of(REGION),))], set())], tmp_path / "out")
    path = tmp_path / "out" / "table-1.csv"
    path.write_text(path.read_text().replace("6000008", "6000009"), newline="")
    assert [f.cell["Region"] for f in found(tmp_path / "out", "data")] == ["A"]


def test_a_perturbed_table_that_is_not_perturbed(tmp_path):
    made = masked([Sheet("1", (Grouping.of(REGION),))], set())
    write(
        [dataclasses.replace(made, printed=None, method="cell key", parameters={})],
        tmp_path / "out",
    )
    (finding,) = found(tmp_path / "out")
    assert (finding.kind, finding.verdict) == ("data", Verdict.REVIEW)


@pytest.mark.parametrize("kind", ["controlled", "conventional", "random"])
@pytest.mark.parametrize("value", ["1", "40"])
def test_a_cell_that_its_rounding_does_not_make(tmp_path, kind, value):
    """The true count among rounded ones, or a multiple that is too far from it."""
    records, sheets = formula_sheets(load("example:tract"), "Race*Gender")
    mask(records, sheets, method="round", base=5, kind=kind).write(tmp_path / "out")

    def said():
        return check(tmp_path / "out", records.variables, values_from(records)).findings

    assert said() == ()
    path = tmp_path / "out" / "table-Gender_Race.csv"
    *lines, last, end = path.read_text().split("\n")
    path.write_text("\n".join([*lines, ",".join([*last.split(",")[:2], value]), end]), newline="")
    rehash(tmp_path / "out", path.name)
    assert {f.verdict for f in said() if f.kind == "data"} == {Verdict.FAIL}


def test_a_folder_without_a_manifest(tmp_path):
    with pytest.raises(DataError, match=r"has no manifest.json"):
        check(tmp_path, VARIABLES)


def enumerated(table, hidden):
    """Every table of whole numbers with these row and column sums and shown cells, one by one."""
    places = list(zip(*np.nonzero(hidden), strict=True))
    least = 1 if (table[~hidden] == 0).any() and (table[hidden] > 0).all() else 0
    most = [min(table[i].sum(), table[:, j].sum()) for i, j in places]
    for values in product(*(range(least, top + 1) for top in most)):
        other = table.copy()
        other[hidden] = values
        if (other.sum(0) == table.sum(0)).all() and (other.sum(1) == table.sum(1)).all():
            yield other


@pytest.mark.parametrize("seed", range(12))
def test_what_follows_by_sums_is_what_enumeration_says(tmp_path, monkeypatch, seed):
    rng = np.random.default_rng(seed)
    table = rng.integers(0, 4, (4, 2))
    hidden = rng.random((4, 2)) < 0.6
    monkeypatch.setattr("releasecases.PEOPLE", table)
    flat = dataclasses.replace(REGION, hierarchy=None)
    hides = {(REGION.categories[i], SEX.categories[j]) for i, j in np.argwhere(hidden)}
    write([masked([Sheet("1", (Grouping.of(flat), Grouping.of(SEX)))], hides)], tmp_path / "out")
    fits = np.array([*enumerated(table, hidden)])
    pinned = hidden & (fits.min(0) == fits.max(0))
    said = {tuple(f.cell.values()): f.verdict for f in found(tmp_path / "out", "sums")}
    wanted = {(REGION.categories[i], SEX.categories[j]) for i, j in np.argwhere(pinned)}
    assert {cell for cell, verdict in said.items() if verdict is Verdict.FAIL} == wanted


def test_random_single_leaks_are_all_found(tmp_path):
    """Each hidden cell of a release, put back in the long file, one by one."""
    write([counts()], tmp_path / "out")
    path = tmp_path / "out" / "table-1.csv"
    before = path.read_bytes()
    hidden = [line for line in before.decode().splitlines() if line.endswith(",x")]
    assert len(hidden) == 4
    for line in hidden:
        region, sex, _ = line.split(",")
        value = PEOPLE[REGION.code(region), SEX.code(sex)]
        path.write_bytes(before.replace(line.encode(), f"{region},{sex},{value}".encode()))
        rehash(tmp_path / "out", "table-1.csv")
        (leak,) = found(tmp_path / "out", "leak")
        assert tuple(leak.cell.values()) == (region, sex)


@pytest.fixture
def people(tmp_path):
    """The records behind the small release."""
    rows = [
        (REGION.categories[r], SEX.categories[s], "50")
        for r in range(4) for s in range(2) for _ in range(PEOPLE[r, s])
    ]  # fmt: skip
    path = tmp_path / "people.csv"
    frame = pd.DataFrame(rows, columns=["Region", "Sex", "Age"])
    frame.to_csv(path, index=False)
    book = tmp_path / "book.toml"
    book.write_text(
        '[variables.Region]\ncategories = ["A", "B", "C", "=D"]\n'
        '[variables.Region.hierarchy]\nA = "North"\nB = "North"\nC = "South"\n"=D" = "South"\n'
        '[variables.Age]\ncategories = ["48", "49", "50", "51", "52"]\n'
    )
    return [str(path), "--codebook", str(book)]


@pytest.fixture(autouse=True)
def page(monkeypatch):
    monkeypatch.setitem(PAGES, "Checked", "discreet.report.checked:checked_page")


def test_the_command(tmp_path, people):
    folder = tmp_path / "release"
    write([counts()], folder, formats=FORMATS)
    html = str(tmp_path / "check.html")
    run = CliRunner().invoke(
        check_command, [str(folder), "--against", *people, "--html", html, "--impossible", "none"]
    )
    assert run.exit_code == 0, run.output
    assert "PASS" in run.output
    source = (tmp_path / "check.html").read_text(encoding="utf-8")
    assert "Check of a release" in source
    check_tags(source)
    check_outline(source)
    path = folder / "table-1.csv"
    path.write_text(path.read_text().replace("A,f,x", "A,f,1"), newline="")
    run = CliRunner().invoke(check_command, [str(folder), "--against", *people, "--json"])
    assert run.exit_code == 1
    told = json.loads(run.stdout)
    assert told["verdict"] == "FAIL"
    assert {f["kind"] for f in told["findings"]} == {"file", "leak", "sums"}
    assert all("\n" not in f["text"] for f in told["findings"])


def test_the_command_with_sums(tmp_path):
    """Records with a column that is added up; the data are those of `sums`."""
    folder = tmp_path / "release"
    write([sums()], folder, decimals=3)
    path = tmp_path / "firms.csv"
    path.write_text("Region,Turnover,owner\nA,10.25,a\nB,20.5,b\nC,1000,c\n=D,3.125,d\n")
    book = tmp_path / "book.toml"
    book.write_text(
        '[variables.Region.hierarchy]\nA = "North"\nB = "North"\nC = "South"\n"=D" = "South"\n'
    )
    command = [str(folder), "--against", str(path), "--codebook", str(book), "--json"]
    run = CliRunner().invoke(check_command, command)
    assert run.exit_code == 0, run.output
    assert json.loads(run.stdout)["narrowest"] > 30
    run = CliRunner().invoke(check_command, [*command, "--count", "Turnover"])
    assert isinstance(run.exception, DataError)


@pytest.mark.parametrize("role", ["value", "weight", "shadow", "holding", "request"])
def test_a_column_that_the_data_have_not(tmp_path, role):
    firms = pd.DataFrame({"Region": [*"AABB"], "Turnover": [1.0, 2.0, 3.0, 4.0]})
    records, sheets = formula_sheets(firms, "Region", measure=Measure("Turnover"))
    system = System.of(sheets)
    values = values_from(records)(system)[: system.cells]
    printed = Printed.exact(system, values, whole=False)
    write([Masked(system, values, "suppression", {}, printed, False)], tmp_path / "out")
    path = tmp_path / "out" / "manifest.json"
    told = json.loads(path.read_text())
    told["tables"][0]["measure"][role] = "A is 3"
    path.write_text(json.dumps(told))
    for also in ({}, {"records": records}):
        if also or role in ("value", "weight"):
            with pytest.raises(DataError, match=f"has the {role} 'A is 3'"):
                check(tmp_path / "out", records.variables, values_from(records), **also)
        else:
            result = check(tmp_path / "out", records.variables, values_from(records))
            assert f"{role}: A is 3" in result.texts


def test_the_page_names_file_table_and_cell(out):
    path = out / "table-1.csv"
    path.write_text(path.read_text().replace("A,f,x", "A,f,1"), newline="")
    shown = checked_page(check(out, VARIABLES, truth))
    assert shown.verdict is Verdict.FAIL
    rows = shown.sections[0].parts[0].rows
    assert any(about == "table-1.csv / table 1 / A, f" for _, about, _ in rows)


def test_a_system_is_judged_once_a_measure(out):
    asked = []

    def values(system: System):
        asked.append({sheet.measure.value for sheet in system.sheets})
        return truth(system)

    check(out, VARIABLES, values)
    assert asked == [{None}, {"Turnover"}]
