"""A table in every format is the same table."""

import csv
import io
import json
import re
import tempfile
import unicodedata
from dataclasses import replace

import numpy as np
import openpyxl
import pyarrow.parquet as pq
import pytest
from hypothesis import given, settings
from pyjstat import pyjstat
from pysdmx.io.csv.sdmx20.reader import read as read_sdmx

from discreet.data.describing import About
from discreet.decision.law.policy import Policy
from discreet.errors import DisclosureError
from discreet.server.formats import Citing, Format, as_json, as_json_stat, write
from discreet.server.formats.citing import cited
from discreet.server.formats.safe import csv_line, no_formula
from discreet.server.showing.catalogue import Overview, Published
from discreet.server.showing.describe import VariableWords, Words
from server.loopback import quiet_import
from server.showntables import plain_tables, tables

pyaxis = quiet_import()


@pytest.fixture
def published():
    variables = (("Race", ("White", "Black")), ("Age group", ("young", "old")))
    overview = Overview(1, "s", "T", "2026", variables, Policy(), 1, 5, False, None)
    return Published(overview, ("Race", "Age group"), np.array([[1, 2], [3, 4]]), 4, "2026", "h")


def cells(table):
    """Labels and counts, the last variable running fastest."""
    found = []
    for place in np.ndindex(*table.counts.shape):
        labels = [c[i] for c, i in zip(table.categories, place, strict=True)]
        found.append((labels, int(table.counts[place])))
    return found


@pytest.mark.filterwarnings("ignore:Shouldn't use this:DeprecationWarning:pyjstat")  # says itself
@given(tables())
@settings(max_examples=60, deadline=None)
def test_json_stat_is_read_back_by_pyjstat(table):
    text = write(table, Format.JSON_STAT).body.decode()
    dataset = pyjstat.Dataset.read(text)
    frame = dataset.write("dataframe")
    assert list(frame.columns) == [*table.names, "value"]
    rows = [(list(row[:-1]), int(row[-1])) for row in frame.itertuples(index=False, name=None)]
    assert rows == cells(table)
    assert dataset["id"] == list(table.names)
    assert dataset["size"] == list(table.counts.shape)


def test_json_stat_keeps_what_it_must(published):
    found = as_json_stat(published, "https://office.example")
    assert (found["version"], found["class"]) == ("2.0", "dataset")
    assert found["updated"] == published.at
    assert "https://office.example/d/s/e/4" in found["source"]


@given(tables())
@settings(max_examples=60, deadline=None)
def test_csv_is_read_back_and_starts_no_formula(table):
    written = write(table, Format.CSV)
    head, *rows = csv.reader(io.StringIO(written.body.decode(), newline=""))
    assert [no_formula(name) for name in table.names] == head[:-1]
    assert [(row[:-1], int(row[-1])) for row in rows] == [
        ([no_formula(label) for label in labels], count) for labels, count in cells(table)
    ]
    assert not any(is_risky(field) for r in (head, *rows) for field in r)


def is_risky(field):
    """Written anew: the first character that shows, after normal forms, is a sign."""
    if field[:1] in ("\t", "\r", "\n"):
        return True
    bare = "".join(c for c in field if unicodedata.category(c)[0] not in "ZC").lstrip()
    return unicodedata.normalize("NFKC", bare)[:1] in ("=", "+", "-", "@", "\u2212") and bool(bare)


SIGNS = {
    "plain": "=+-@",
    "full-width": "\uff1d\uff0b\uff0d\uff20",
    "small": "\ufe66\ufe62\ufe63\ufe6b",
    "superscript": "\u207c\u207a\u207b",
    "subscript": "\u208c\u208a\u208b",
    "mathematics": "\u2212\ufb29\u02d7\u02d6",
    "heavy": "\u2795\u2796\U0001f7f0",
    "hyphens": "\u30a0\u2e40\u2043",
}
HIDDEN = {
    "blank": " ",
    "no-break": "\u00a0",
    "ideographic": "\u3000",
    "zero-width": "\u200b",
    "joiner": "\u200d",
    "word joiner": "\u2060",
    "byte order": "\ufeff",
    "right to left": "\u200f\u202e\u2067",
    "soft hyphen": "\u00ad",
    "bell": "\x07",
    "unit separator": "\x1f",
    "line": "\u2028\u2029\u0085\x0b\x0c",
    "tab": "\t",
    "carriage return": "\r",
    "new line": "\n",
    "filler": "\u3164\u2800",
}


@pytest.mark.parametrize("sign", [c for group in SIGNS.values() for c in group], ids=ascii)
@pytest.mark.parametrize("before", ["", *HIDDEN.values(), "".join(HIDDEN.values())], ids=ascii)
def test_no_sign_of_any_script_begins_a_field(sign, before):
    """Names, categories and the head; a spreadsheet shows the apostrophe's field as text."""
    text = f"{before}{sign}cmd|' /C calc'!A0"
    assert no_formula(text) == f"'{text}"
    overview = Overview(1, "s", "T", "", ((text, (text, "b")),), Policy(), 1, 1, False, None)
    table = Published(overview, (text,), np.array([1, 2]), 1, "", "h")
    head, first, _ = csv.reader(io.StringIO(write(table, Format.CSV).body.decode(), newline=""))
    assert head == [f"'{text}", "count"]
    assert first == [f"'{text}", "1"]


@pytest.mark.parametrize("start", ["\t", "\r", "\n", "\r\n"], ids=ascii)
def test_a_field_that_breaks_the_line_is_text(start):
    assert no_formula(f"{start}a") == f"'{start}a"


@pytest.mark.parametrize("text", ["a", "5", "1-2", "a=b", "", "é", "(x)", "<5", "Ω", "'=1"])
def test_other_text_stays_as_it_is(text):
    assert no_formula(text) == text


def test_a_field_cannot_be_split_where_semicolons_separate():
    assert csv_line(["a;=1", "b|=1", "c\t=1", 3]) == '"a;=1","b|=1","c\t=1",3\r\n'


@given(tables())
@settings(max_examples=30, deadline=None)
def test_parquet_is_read_back(table):
    found = pq.read_table(io.BytesIO(write(table, Format.PARQUET).body))
    assert json.loads(found.schema.metadata[b"source"])["entry"] == table.entry
    columns = [column.to_pylist() for column in found.columns]
    assert [(list(row[:-1]), row[-1]) for row in zip(*columns, strict=True)] == cells(table)


@given(tables())
@settings(max_examples=30, deadline=None)
def test_json_is_read_back(table):
    found = json.loads(write(table, Format.JSON).body)
    assert found["values"] == [count for _, count in cells(table)]
    assert found["total"] == table.total
    assert [v["name"] for v in found["variables"]] == list(table.names)
    assert [tuple(v["categories"]) for v in found["variables"]] == list(table.categories)


@given(tables())
@settings(max_examples=30, deadline=None)
def test_xlsx_is_read_back_as_text_without_apostrophes(table):
    """Formulas stay text; controls that XML cannot hold are written in its escapes."""
    book = openpyxl.load_workbook(io.BytesIO(write(table, Format.XLSX).body))
    head, *rows = book["Table"].iter_rows()
    assert [unescaped(cell) for cell in head[:-1]] == [ended(name) for name in table.names]
    assert all(cell.data_type in ("s", "inlineStr", "n") for row in rows for cell in row)
    found = [([unescaped(cell) for cell in row[:-1]], row[-1].value) for row in rows]
    assert found == [([ended(label) for label in labels], n) for labels, n in cells(table)]
    assert not any(cell.data_type == "f" for sheet in book for row in sheet for cell in row)


def unescaped(cell):
    found = cell.value
    assert found is None or isinstance(found, str), repr(found)
    pattern = r"_x([0-9A-Fa-f]{4})_"
    return re.sub(pattern, lambda match: chr(int(match[1], 16)), found or "")


def ended(text):
    """As XML hands new lines on."""
    return re.sub(r"_x([0-9A-Fa-f]{4})_", lambda match: chr(int(match[1], 16)), text)


@given(tables())
@settings(max_examples=30, deadline=None)
def test_sdmx_csv_is_read_back_by_pysdmx(table):
    (found,) = read_sdmx(write(table, Format.SDMX_CSV).body.decode())
    assert found.structure == f"Dataflow=DISCREET:S({table.entry}.0)"
    assert found.data["OBS_VALUE"].astype(int).tolist() == [n for _, n in cells(table)]
    assert len(found.data.columns) == len(table.names) + 1
    dimensions = found.data.drop(columns="OBS_VALUE")
    assert all(re.fullmatch(r"[A-Z0-9_]+", name) for name in dimensions.columns)
    assert len(dimensions.drop_duplicates()) == table.counts.size


def test_sdmx_csv_has_codes_and_labels(published):
    head, first, *_ = write(published, Format.SDMX_CSV).body.decode().splitlines()
    assert head == "STRUCTURE,STRUCTURE_ID,ACTION,RACE: Race,AGE_GROUP: Age group,OBS_VALUE"
    assert first == "dataflow,DISCREET:S(4.0): T,I,WHITE: White,YOUNG: young,1"


@given(plain_tables())
@settings(max_examples=60, deadline=None)
def test_px_is_read_back_by_pyaxis(table):
    with tempfile.NamedTemporaryFile(suffix=".px") as file:
        file.write(write(table, Format.PX).body)
        file.flush()
        found = pyaxis.parse(file.name, encoding="utf-8")
    frame = found["DATA"]
    assert list(frame.columns) == [*table.names, "DATA"]
    rows = [(list(row[:-1]), int(row[-1])) for row in frame.itertuples(index=False, name=None)]
    assert rows == cells(table)
    assert found["METADATA"]["LANGUAGE"] == ["en"]


def test_px_has_short_lines_and_no_quotes_inside():
    many = tuple(f'category "{i}" of many' for i in range(200))
    overview = Overview(1, "s", "T", "", (("A", many),), Policy(), 1, 1, False, None)
    text = write(Published(overview, ("A",), np.arange(200), 1, "", "h"), Format.PX).body.decode()
    assert max(map(len, text.splitlines())) <= 256
    assert "\"category '5' of many\"" in text
    assert text.endswith("199;\r\n")


def test_a_variable_called_count_keeps_its_column():
    overview = Overview(1, "s", "T", "", (("count", ("a", "b")),), Policy(), 1, 1, False, None)
    table = Published(overview, ("count",), np.array([1, 2]), 1, "", "h")
    assert write(table, Format.CSV).body == b"count,count_\r\na,1\r\nb,2\r\n"


def test_file_names_are_plain(published):
    assert write(published, Format.CSV).filename == "s-Race-Age_group.csv"
    assert write(published, Format.JSON).filename is None


DESCRIBED = Words(
    About("Adults", ("One note.", "=HYPERLINK(1)"), "Census", "2026", "office@example.org", "CC0"),
    {
        "Race": VariableWords("Race of a person", "As they say.", None, None, (("W", "other"),)),
        "Age group": VariableWords(unit="years"),
    },
)


@pytest.fixture
def described(published):
    return replace(published, dataset=replace(published.dataset, words=DESCRIBED))


def test_descriptions_are_in_every_format_that_can_hold_them(described):
    found = as_json(described)
    assert found["about"]["universe"] == "Adults"
    assert found["variables"][0]["title"] == "Race of a person"
    assert found["variables"][1]["unit"] == "years"
    stat = as_json_stat(described)
    assert stat["note"] == ["One note.", "=HYPERLINK(1)"]
    assert stat["dimension"]["Race"]["label"] == "Race of a person"
    assert stat["dimension"]["Race"]["note"] == ["As they say."]
    assert stat["extension"]["about"]["licence"] == "CC0"
    metadata = pq.read_table(io.BytesIO(write(described, Format.PARQUET).body)).schema.metadata
    assert json.loads(metadata[b"about"])["source"] == "Census"
    assert json.loads(metadata[b"variables"])[0]["description"] == "As they say."
    sheet = openpyxl.load_workbook(io.BytesIO(write(described, Format.XLSX).body))["Source"]
    facts = [(row[0].value, row[1].value, row[1].data_type) for row in sheet.iter_rows()]
    assert ("Universe", "Adults", "s") in facts
    assert ("Note", "=HYPERLINK(1)", "s") in facts
    assert ("Race", "Race of a person. As they say.", "s") in facts
    assert [name for name, *_ in facts].count("Terms") >= 2
    px = write(described, Format.PX).body.decode()
    assert 'CONTACT="office@example.org"' in px
    assert 'VALUES("Race of a person")="White","Black"' in px


def test_a_workbook_is_the_same_each_time(described):
    assert write(described, Format.XLSX) == write(described, Format.XLSX)


def test_a_workbook_has_no_more_rows_than_a_sheet(published):
    huge = replace(published, counts=np.zeros((2, 600_000), np.int64))
    with pytest.raises(DisclosureError, match=r"1,200,000 cells, more than .* take csv or parq"):
        write(huge, Format.XLSX)


def test_merged_categories_add_up(described):
    merged = described.merged({"Race": 1})
    assert merged.categories == (("W", "other"), ("young", "old"))
    assert merged.counts.tolist() == [[1, 2], [3, 4]]
    both = replace(described.dataset, words=Words(DESCRIBED.about, {
        "Age group": VariableWords(levels=(("all", "all"),)),
    }))  # fmt: skip
    summed = replace(described, dataset=both).merged({"Age group": 1})
    assert summed.counts.tolist() == [[3], [7]]
    assert summed.total == described.total
    assert len({merged.hash, summed.hash, described.hash}) == 3
    assert "level=Race%3A1" in as_json(merged)["source"]["address"]
    for wrong in (0, 2):
        with pytest.raises(DisclosureError, match=f"Race has no level {wrong}; it has 1 to 1"):
            described.merged({"Race": wrong})


def test_some_categories_of_a_table(described):
    part = described.picked({"Race": [1], "Age group": [1, 0]})
    assert part.categories == (("Black",), ("old", "young"))
    assert part.counts.tolist() == [[4, 3]]


def test_citations(described):
    part = replace(described, where={"Sex": "m"}, part=True)
    text = cited(part, Citing.TEXT, "https://office.example", "Office & Sons")
    assert text == (
        "Office & Sons: T: Race of a person by Age group, Sex m. Entry 4 of the ledger s, 2026. "
        "https://office.example/d/s/e/4?v=Race&v=Age+group&where=Sex%3Am\n"
    )
    bibtex = cited(described, Citing.BIBTEX, "https://office.example", "Office & Sons_{1}")
    assert bibtex.startswith("@misc{s-4,\n  title = {{T: Race of a person by Age group}},\n")
    assert r"author = {{Office \& Sons\_\{1\}}}" in bibtex
    assert "url = {https://office.example/d/s/e/4}" in bibtex
    assert bibtex.count("{") == bibtex.count("}")
    ris = cited(described, Citing.RIS, "https://office.example", "Office")
    assert ris.startswith("TY  - DATA\r\nTI  - T: Race")
    assert ris.endswith("ER  - \r\n")
    assert "UR  - https://office.example/d/s/e/4\r\n" in ris
