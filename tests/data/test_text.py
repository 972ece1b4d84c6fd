"""Text as offices have it: compressed, in other encodings, with titles above the header."""

import codecs
import gzip

import pandas as pd
import pyarrow as pa
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli.main import main
from discreet.data.domains import read_domains
from discreet.data.encoding import find_encoding
from discreet.data.sources import open_source
from discreet.errors import DataError
from discreet.look.telling import telling

LINES = "Sex,Town\nmännlich,Zürich\nweiblich,Genève\nmännlich,Zürich\n"
TOWNS = ("Genève", "Zürich")


def read(path):
    """The table, and what was said of the reading."""
    told = []
    with telling(told.append):
        table = dc.load(path)
    return table, told


def zstd(content):
    return pa.compress(content, codec="zstd", asbytes=True)


PACKED = {"gz": gzip.compress, "zst": zstd}


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize(("kind", "mark"), [("csv", ","), ("tsv", "\t"), ("txt", ";")])
def test_compressed_text(tmp_path, packed, kind, mark):
    path = tmp_path / f"people.{kind}.{packed}"
    path.write_bytes(PACKED[packed](LINES.replace(",", mark).encode()))
    table, told = read(path)
    assert table.variable("Town").categories == TOWNS
    assert table.total == 3
    assert told == []


@pytest.mark.parametrize("packed", PACKED)
def test_compressed_and_not_utf8(tmp_path, packed):
    path = tmp_path / f"people.csv.{packed}"
    path.write_bytes(PACKED[packed](LINES.encode("cp1252")))
    table, told = read(path)
    assert table.variable("Town").categories == TOWNS
    assert told[0].startswith(f"'people.csv.{packed}' was read as Windows-1252")
    assert told[0].endswith("; save it as UTF-8 if words look wrong.")


@pytest.mark.parametrize("packed", PACKED)
@pytest.mark.parametrize("damage", ["cut", "none"])
def test_a_damaged_archive_is_one_sentence(tmp_path, packed, damage):
    content = LINES.encode() if damage == "none" else PACKED[packed](LINES.encode() * 99)[:-9]
    path = tmp_path / f"people.csv.{packed}"
    path.write_bytes(content)
    with pytest.raises(DataError, match=r"it is no (gzip|zstd) file, or a damaged one; compress"):
        open_source(path)


@pytest.mark.parametrize(
    ("codec", "said"),
    [
        ("cp1252", "Windows-1252"),
        ("latin-1", "Windows-1252"),
        ("utf-16", "UTF-16"),
        ("utf-16-le", "UTF-16"),
        ("utf-16-be", "UTF-16"),
        ("utf-32", "UTF-32"),
    ],
)
def test_western_encodings(tmp_path, codec, said):
    path = tmp_path / "people.csv"
    path.write_bytes(LINES.encode(codec))
    table, told = read(path)
    assert table.variable("Town").categories == TOWNS
    assert table.margin("Sex").dense().tolist() == [2, 1]
    assert len(told) == 1
    assert told[0].startswith(f"'people.csv' was read as {said}")


def test_utf8_with_and_without_a_mark_says_nothing(tmp_path):
    for mark in (b"", codecs.BOM_UTF8):
        (tmp_path / "people.csv").write_bytes(mark + LINES.encode())
        table, told = read(tmp_path / "people.csv")
        assert (table.names, told) == (("Sex", "Town"), [])


@pytest.mark.parametrize(
    ("text", "codec"),
    [
        ("Woj,Płeć\nŁódź,mężczyzna\nŚląsk,kobieta\n", "cp1250"),
        ("город,пол\nМосква,женский\nТула,мужской\n", "cp1251"),
        ("Πόλη,Φύλο\nΑθήνα,άνδρας\nΠάτρα,γυναίκα\n", "cp1253"),
        ("İl,Cinsiyet\nİstanbul,kadın\nŞanlıurfa,erkek\n", "cp1254"),
        ("市区,性別\n東京,女\n大阪,男\n", "shift_jis"),
        ("price,x\n5 €,“q”\n6 €,“r”\n", "cp1252"),
        ("provincia,año\nLeón,niño\nCádiz,señora\n", "cp1252"),
    ],
)
def test_other_letters_are_weighed(tmp_path, text, codec):
    path = tmp_path / "x.csv"
    path.write_bytes(text.encode(codec))
    with telling(lambda note: None):
        names = open_source(path).columns
    assert names == tuple(text.splitlines()[0].split(","))


def test_the_end_of_a_long_file_counts(tmp_path, monkeypatch):
    """Many pieces of ASCII, and one letter that is not UTF-8 behind them."""
    monkeypatch.setattr("discreet.data.encoding.CHUNK", 1000)
    path = tmp_path / "x.csv"
    path.write_bytes(b"Town,Ill\n" + b"Ash,no\n" * 2000 + b"Gen\xe8ve,no\n")
    table, told = read(path)
    assert table.variable("Town").categories == ("Ash", "Genève")
    assert "Windows-1252" in told[0]


def test_half_utf8_is_refused_with_its_lines(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("Town\nZürich\n".encode() + b"Gen\xe8ve\n")
    with pytest.raises(DataError, match=r"line 3 is not UTF-8 and line 2 is; save all of it as"):
        open_source(path)


def test_letters_cut_by_a_piece_are_whole(tmp_path, monkeypatch):
    monkeypatch.setattr("discreet.data.encoding.CHUNK", 100)
    path = tmp_path / "x.csv"
    for shift in range(3):
        start = b"Town\n" + b"x" * (94 - shift)
        path.write_bytes(start + "é\n€\n".encode())
        assert find_encoding(path, "it").is_utf8


def test_what_fits_as_well_is_named(tmp_path):
    path = tmp_path / "x.csv"
    path.write_bytes("Město,Pohlaví\nPříbram,žena\nČáslav,muž\n".encode("cp1250"))
    told = []
    with telling(told.append):
        open_source(path)
    assert "Windows-1252, though Windows-1250" in told[0]


def test_a_byte_that_cannot_be_read_is_no_letter(tmp_path):
    """Windows-1252 has no 0x81; it stands far behind the letters that were weighed."""
    path = tmp_path / "x.csv"
    path.write_bytes(b"Town\n" + b"Gen\xe8ve N\xeemes L\xe9on\n" * 6000 + b"A\x81sh\n")
    with pytest.raises(DataError, match="it is not UTF-8, and its encoding is not clear; save it"):
        open_source(path)


def test_names_are_trimmed_and_so_are_counts(tmp_path):
    (tmp_path / "x.csv").write_text(" Sex , Town,n \nf, Ash , 12 \nm,Ash,3\nf,Birch, 4\n")
    table = dc.load(tmp_path / "x.csv", count="n")
    assert table.names == ("Sex", "Town")
    assert table.variable("Town").categories == ("Ash", "Birch")
    assert table.margin("Sex").dense().tolist() == [16, 3]


TITLES = {
    "title.csv": ("Table 1: people\nSex,Town\nf,Ash\nm,Ash\n", "1 field where the lines below"),
    "blank.csv": ("People of Ash\n\nSex\nf\nm\n", "'People of Ash', looks like a title"),
    "hash.csv": ("# made today, twice\nf,Ash\nm,Ash\n", "looks like a title or a comment"),
    "rownames.csv": ("Sex,Town\n1,f,Ash\n2,m,Ash\n3,f,Birch\n", "2 fields where the lines below"),
    "headless.csv": ("1,34,2\n2,71,1\n2,68,1\n", "holds numbers where the names of the columns"),
    "other.csv": ("People, by sex, age\nSex;Age\nf;1\nm;2\n", "line 2 has 1 field where"),
}


@pytest.mark.parametrize("name", TITLES)
def test_what_stands_above_the_header_is_refused(tmp_path, name):
    content, message = TITLES[name]
    (tmp_path / name).write_text(content)
    with pytest.raises(DataError, match=message) as caught:
        dc.load(tmp_path / name)
    assert "\n" not in str(caught.value)


def test_a_form_feed_ends_no_line(tmp_path):
    (tmp_path / "x.csv").write_text("a\x0cb,c\n1,2\n1,3\n")
    assert open_source(tmp_path / "x.csv").columns == ("a\x0cb", "c")


def test_decimal_commas_are_never_other_numbers(tmp_path):
    """A semicolon between fields and a comma in numbers: read right, or refused."""
    path = tmp_path / "towns.csv"
    path.write_text("town;n;N;y\nA;3;8,5;1\nB;5;20;2\n")
    with pytest.raises(DataError, match=r"row 1 .* has '8,5' in 'N'; give a number, with a point"):
        read_domains(path, sample_size="n", population="N", cell_count="y")
    path.write_text("town;sex;w\n" + "A;f;1,5\nA;m;2,5\n" * 5)
    result = CliRunner().invoke(
        main, ["uniques", str(path), "--keys", "town,sex", "--weights", "w"]
    )
    assert result.exit_code == 2
    assert "1,5" in result.output


def test_capitals_alone_in_latin_letters(tmp_path):
    path = tmp_path / "towns.csv"
    path.write_bytes("Ort;n;N;y\nZürich;3;8;1\nGenf;5;20;2\n".encode("cp1252"))
    told = []
    with telling(told.append):
        found = read_domains(path, sample_size="n", population="N", cell_count="y")
    assert found.columns["Ort"] == ["Zürich", "Genf"]
    assert found.N.tolist() == [8, 20]
    assert "Windows-1252" in told[0]


@pytest.mark.parametrize("kind", ["csv.gz", "csv.zst", "latin", "utf16"])
def test_assess_reads_them_alike(tmp_path, kind):
    frame = pd.DataFrame({"Sex": ["f", "m"] * 20, "Ort": ["Zürich", "Genf", "Genf", "Genf"] * 10})
    plain = frame.to_csv(index=False)
    content = {
        "csv.gz": gzip.compress(plain.encode()),
        "csv.zst": zstd(plain.encode()),
        "latin": plain.encode("latin-1"),
        "utf16": plain.encode("utf-16"),
    }[kind]
    (tmp_path / "plain.csv").write_text(plain, encoding="utf-8")
    path = tmp_path / (f"people.{kind}" if "." in kind else "people.csv")
    path.write_bytes(content)
    asked = ["--release", "Sex*Ort", "--json"]
    first, second = (
        CliRunner().invoke(main, ["assess", str(data), *asked])
        for data in (tmp_path / "plain.csv", path)
    )
    assert first.exit_code == second.exit_code
    assert '"Sex*Ort"' in second.stdout
    assert ("was read as" in second.stderr) == ("." not in kind)
