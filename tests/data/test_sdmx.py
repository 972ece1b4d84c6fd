"""SDMX structures: read as codebooks, written for tables; pysdmx is on the other side."""

import sys

import pandas as pd
import pysdmx.io
import pysdmx.model as sdmx
import pytest
from click.testing import CliRunner
from pysdmx.io.format import Format

import discreet as dc
from discreet.cli.main import main
from discreet.data.sdmx import write_sdmx
from discreet.errors import CodebookError, OutputError

FORMATS = {
    "xml": Format.STRUCTURE_SDMX_ML_2_1,
    "3.xml": Format.STRUCTURE_SDMX_ML_3_0,
    "json": Format.STRUCTURE_SDMX_JSON_2_0_0,
}
CODES = {
    "SEX": [("F", "Women"), ("M", "Men"), ("_T", "Total")],
    "AGE": [("Y_LT5", "under 5"), ("Y5T9", "5-9"), ("Y10T14", "10-14")],
}


def structure(codes=CODES):
    """As an agency writes it."""

    def reference(name):
        return sdmx.ItemReference(
            sdmx_type="Concept", agency="ASH", id="CS", version="1.0", item_id=name
        )

    lists = [
        sdmx.Codelist(
            f"CL_{name}",
            name=name,
            agency="ASH",
            version="1.0",
            items=[sdmx.Code(code, name=text) for code, text in listed],
        )
        for name, listed in codes.items()
    ]
    concepts = sdmx.ConceptScheme(
        "CS",
        name="Concepts",
        agency="ASH",
        version="1.0",
        items=[sdmx.Concept(name, name=name.title()) for name in [*codes, "OBS_VALUE"]],
    )
    urn = "urn:sdmx:org.sdmx.infomodel.codelist.Codelist=ASH:CL_{}(1.0)"
    parts = [
        sdmx.Component(
            name,
            required=True,
            role=sdmx.Role.DIMENSION,
            concept=reference(name),
            local_dtype=sdmx.DataType.STRING,
            local_enum_ref=urn.format(name),
        )
        for name in codes
    ]
    parts.append(
        sdmx.Component(
            "OBS_VALUE",
            required=True,
            role=sdmx.Role.MEASURE,
            concept=reference("OBS_VALUE"),
            local_dtype=sdmx.DataType.INTEGER,
        )
    )
    made = sdmx.DataStructureDefinition(
        id="DSD", name="D", agency="ASH", version="1.0", components=sdmx.Components(parts)
    )
    return [*lists, concepts, made]


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    frame = pd.DataFrame({"SEX": [*"FMFMFU"] * 2, "AGE": ["Y10T14", "Y5T9", "Y_LT5"] * 4})
    frame.to_csv(path, index=False)
    return path


@pytest.mark.parametrize("end", FORMATS)
def test_code_lists_give_labels_and_order(people, end):
    book = people.with_suffix("." + end)
    pysdmx.io.write_sdmx(structure(), FORMATS[end], output_path=book)
    table = dc.load(people, codebook=book)
    assert table.variable("SEX").categories == ("Women", "Men", "U")  # no Total, a code more
    assert table.variable("AGE").categories == ("under 5", "5-9", "10-14")
    assert dc.codebooks.Codebook.read(book).entry("SEX").title == "Sex"


@pytest.mark.parametrize("end", ["xml", "json"])
def test_a_structure_is_written_and_read_back(tmp_path, end):
    frame = pd.DataFrame({"Age group": ["0-4", "5-9", "10+", "Ä&<b>"] * 3, "1st": ["x", "y"] * 6})
    table, path = dc.load(frame), tmp_path / f"dsd.{end}"
    dc.codebooks.write_sdmx(table, path)
    message = pysdmx.io.read_sdmx(path, validate=end == "xml")  # against the schema of SDMX
    (made,) = message.get_data_structure_definitions()
    assert [part.id for part in made.components] == ["AGE_GROUP", "V_1ST", "OBS_VALUE"]
    lists = {each.name: [code.name for code in each] for each in message.get_codelists()}
    assert lists == {v.name: list(v.categories) for v in table.variables}
    book = dc.codebooks.Codebook.read(path)
    for variable in table.variables:
        assert tuple(book.entry(variable.name).labels.values()) == variable.categories
    again = dc.load(frame, codebook=path)
    assert again.variables == table.variables


def test_no_count_is_written(tmp_path):
    table = dc.load(pd.DataFrame({"a": ["x", "y"], "n": [54321, 98765]}), count="n")
    dc.codebooks.write_sdmx(table, tmp_path / "dsd.xml")
    assert "54321" not in (tmp_path / "dsd.xml").read_text()


def test_refusals(people, tmp_path):
    cases = {
        "x.json": ("{}", "'x.json' is no SDMX structure"),
        "y.json": ("[1", "'y.json' is no SDMX structure"),
        "z.xml": ('<!DOCTYPE a [<!ENTITY b "c">]><Structure>&b;</Structure>', "declares entities"),
    }
    for name, (content, message) in cases.items():
        (tmp_path / name).write_text(content)
        with pytest.raises(CodebookError, match=message) as caught:
            dc.load(people, codebook=tmp_path / name)
        assert "\n" not in str(caught.value)
    with pytest.raises(CodebookError, match="no such file; check the path"):
        dc.load(people, codebook=tmp_path / "none.json")
    with pytest.raises(OutputError, match=r"end its name in .xml or .json"):
        write_sdmx(dc.load("example:tract"), tmp_path / "x.csv")


def test_a_file_of_lists_alone_has_no_structure(people):
    book = people.with_suffix(".xml")
    pysdmx.io.write_sdmx(structure()[:2], FORMATS["xml"], output_path=book)
    with pytest.raises(CodebookError, match=r"must hold one data structure .*; it has none"):
        dc.load(people, codebook=book)


def test_without_pysdmx_it_says_what_to_install(people, tmp_path, monkeypatch):
    (tmp_path / "x.json").write_text("{}")
    monkeypatch.setitem(sys.modules, "pysdmx.io", None)
    with pytest.raises(CodebookError, match=r"SDMX needs pysdmx; pip install 'discreet\[sdmx\]'"):
        dc.codebooks.Codebook.read(tmp_path / "x.json")
    with pytest.raises(OutputError, match=r"pip install 'discreet\[sdmx\]'"):
        write_sdmx(dc.load("example:tract"), tmp_path / "t.xml")


def test_assess_with_sdmx(people):
    book = people.with_suffix(".json")
    pysdmx.io.write_sdmx(structure(), FORMATS["json"], output_path=book)
    result = CliRunner().invoke(
        main, ["assess", str(people), "--codebook", str(book), "--release", "SEX"]
    )
    assert result.exit_code in (0, 1, 3)
    assert "over SEX, AGE" in result.stdout
