"""Labels that a reader cannot tell apart are one question, whatever reads them."""

import unicodedata

import pandas as pd
import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli.main import main
from discreet.errors import DataError

SAID = "differ only by Unicode form, blanks or case"
PAIRS = {
    "case": ("Ash", "ASH"),
    "blanks": ("Ash Hill", "Ash  Hill"),
    "another blank": ("Ash Hill", "Ash\u00a0Hill"),
    "Unicode form": ("\u00c4sch", unicodedata.normalize("NFD", "\u00c4sch")),
    "case beyond ASCII": ("\u00c4sch", "\u00e4sch"),
    "sharp s": ("Stra\u00dfe", "STRASSE"),
    "unseen": ("Ash", "A\u200bsh"),
    "all of it": ("\u00c4sch Au", unicodedata.normalize("NFD", "\u00e4SCH  au")),
}
DIFFERENT = [("Ash", "Ash."), ("A1", "A2"), ("\u00c4sch", "Asch"), ("1", "1.0"), ("a-b", "a b")]


def people(first, second):
    towns = [first] * 6 + [second] * 5 + ["Birch"] * 7
    ill = ["yes", "no"] * 9
    return pd.DataFrame({"Town": towns, "Ill": ill, "Age": [30 + n // 4 for n in range(18)]})


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_labels_that_look_alike_are_asked_about(pair):
    with pytest.raises(DataError, match=SAID) as caught:
        dc.load(people(*pair), records=True)
    first, second = str(caught.value).split(" has ")[1].split(", which")[0].split(" and ")
    assert first != second
    cells = people(*pair).groupby(["Town", "Ill"]).size().reset_index(name="n")
    with pytest.raises(DataError, match=SAID):
        dc.load(cells, count="n")


@pytest.mark.parametrize("pair", DIFFERENT)
def test_others_are_not(pair):
    assert len(dc.load(people(*pair), records=True).variables[0].categories) == 3


@pytest.mark.parametrize("pair", PAIRS.values(), ids=PAIRS)
def test_a_codebook_that_lists_both_says_that_they_are_two(pair):
    book = dc.codebooks.Codebook.of({"Town": {"categories": [*pair, "Birch"]}})
    table = dc.load(people(*pair), records=True, codebook=book)
    assert table.variables[0].categories == (*pair, "Birch")
    one = {"categories": {pair[0]: "Ash", pair[1]: "Ash", "Birch": "Birch"}}
    table = dc.load(people(*pair), records=True, codebook=dc.codebooks.Codebook.of({"Town": one}))
    assert table.total == 18


@pytest.mark.parametrize(
    "words",
    [
        ["assess", "--release", "Town"],
        ["bounds", "--release", "Town"],
        ["count", "--release", "Town"],
        ["widths"],
        ["frontier"],
        ["posterior", "--release", "Town", "--cell", "Town=Birch,Ill=yes"],
        ["uniques", "--keys", "Town,Ill"],
        ["mask", "--tables", "tables.toml", "--method", "suppress", "--out", "there"],
        ["mask", "--method", "blank", "--keys", "Town,Ill", "--with", "k=2", "--out", "x.csv"],
        ["assess", "--tables", "tables.toml"],
        ["serve", "--set", "server.rule=myopic"],
        ["look"],
    ],
    ids=" ".join,
)
def test_every_command_asks(words, tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people("Ash", "ASH").drop(columns="Age").to_csv("people.csv", index=False)
    (tmp_path / "tables.toml").write_text('[[tables]]\nname = "T"\nrows = ["Town"]\n')
    found = CliRunner().invoke(main, [words[0], "people.csv", "--records", *words[1:]])
    said = "cannot be served as they are" if words[0] == "serve" else "differ only by"
    assert said in " ".join(found.output.split()), found.output
    assert found.exit_code == (0 if words == ["look"] else 2)


def test_two_files_that_are_matched_are_asked_about_together(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people("Ash", "Elm").assign(id=range(18)).to_csv("source.csv", index=False)
    people("ASH", "Elm").assign(id=range(18)).to_csv("released.csv", index=False)
    (tmp_path / "i.toml").write_text('[keys.Town]\nkind = "category"\nkeep = 0.9\n')
    words = "identify --source source.csv --released released.csv --intruder i.toml --id id"
    found = CliRunner().invoke(main, words.split())
    assert found.exit_code == 2, found.output
    assert "differ only by" in found.output


@pytest.mark.parametrize(
    "hierarchy",
    [
        {"lung": "cancer", "Skin": "cancer"},
        {"lung": "cancer", "skinn": "cancer"},
        {"lung": "cancer", " skin": "cancer"},
        {"lung": "cancer", "skin": "Cancer"},
        {"lung": "canc\u00e9r", "skin": "cance\u0301r"},
        {"lung": "a", "skin": "b", "a": "cancer", "B": "cancer"},
        {"lung": "cancer", "07": "cancer"},
    ],
    ids=str,
)
def test_a_hierarchy_writes_each_name_in_one_way(hierarchy):
    """All in Ash have cancer: a slip in the hierarchy would hide that, and PASS."""
    cells = {("Ash", "lung"): 50, ("Ash", "skin"): 49, ("Ash", "7"): 0, ("Birch", "lung"): 40,
             ("Birch", "skin"): 30, ("Birch", "7"): 60}  # fmt: skip
    frame = pd.DataFrame([cell for cell, n in cells.items() for _ in range(n)])
    frame = frame.set_axis(["Town", "Diag"], axis=1)
    plain = {"lung": "cancer", "skin": "cancer", "seven": "rest"}  # nobody has the last here
    roles = {"Town": {"role": "identifying"}}
    book = dc.Codebook.of(roles | {"Diag": {"role": "sensitive", "hierarchy": plain}})
    policy = dc.Policy().set(["attribute.exclusion=false"])
    assert str(dc.decide(dc.load(frame, codebook=book), "Town*Diag", policy).verdict) == "FAIL"
    book = dc.Codebook.of(roles | {"Diag": {"role": "sensitive", "hierarchy": hierarchy}})
    with pytest.raises(dc.DisclosureError, match="the hierarchy of 'Diag'"):
        dc.load(frame, codebook=book)
