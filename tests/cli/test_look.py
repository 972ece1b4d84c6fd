"""`discreet look`: what the program sees, and a codebook that says no more than was seen."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.data.codebook import Codebook, Role
from discreet.table.described import describe
from discreet.table.load import load

PEOPLE = "Sex,Town,Income,Ill\n" + "".join(
    f"{'fm'[k % 2]},{('Ash', 'Birch', 'Cedar')[k % 7 % 3]},{k % 4},{'yes' if k % 9 == 0 else ''}\n"
    for k in range(40)
)
KEYED = "".join(
    f"{'id,hh,wgt' if k == 0 else f'{k},{k // 3},{k}.5'},{line}\n"
    for k, line in enumerate(PEOPLE.splitlines())
)
CELLS = "Sex,Town,n\nm,Ash,12\nm,Birch,2\nf,Ash,15\nf,Birch,9\n"


@pytest.fixture
def look(tmp_path):
    def _look(content, *options):
        path = tmp_path / "x.csv"
        path.write_text(content, encoding="utf-8")
        return CliRunner().invoke(main, ["look", str(path), *options])

    return _look


def seen(result):
    assert result.exit_code == 0, result.output
    return json.loads(result.stdout)


def test_people(look):
    found = seen(look(PEOPLE, "--json"))
    assert (found["kind"], found["rows"], found["people"], found["stops"]) == (
        "records",
        40,
        40,
        [],
    )
    columns = {column["name"]: column for column in found["columns"]}
    assert columns["Sex"]["categories"] == ["f", "m"]
    assert columns["Sex"]["guess"] == "identifying"
    assert columns["Income"]["guess"] == "sensitive"
    assert columns["Ill"]["missing"] == 35
    assert columns["Ill"]["rarest"] == [{"category": "yes", "count": 5}]
    town = [(rare["category"], rare["count"]) for rare in columns["Town"]["rarest"]]
    assert town == [("Cedar", 11), ("Birch", 12), ("Ash", 17)]
    assert {column["role"] for column in found["columns"]} == {"unstated"}


def test_the_page_is_confidential_and_names_guesses(look, tmp_path):
    said = look(KEYED, "--html", str(tmp_path / "x.html"))
    assert said.exit_code == 0
    page = (tmp_path / "x.html").read_text(encoding="utf-8")
    for shown in (said.output, page):
        assert "Confidential" in shown
        assert "Guesses, which decide nothing" in shown
    assert "--without id,hh,wgt" in " ".join(said.output.split())


@pytest.mark.parametrize(
    ("content", "kind", "typed"),
    [
        (CELLS, "perhaps cells", "--count n"),
        ("Town,low,high\nAsh,1,2\nBirch,3,4\n", "perhaps a cross-tab", "--crosstab NAME"),
        (KEYED, "records", "--without id,hh,wgt"),
    ],
)
def test_what_would_stop_is_said_with_what_to_type(look, content, kind, typed):
    found = seen(look(content, "--json"))
    assert found["kind"] == kind
    assert typed in found["stops"][0]


def test_questions_come_one_after_another(look):
    found = seen(look(KEYED.replace("Ash", "Total"), "--json"))
    assert ["--without" in found["stops"][0], "--totals keep" in found["stops"][1]] == [True, True]


def test_cells_and_crosstabs_that_are_said(look):
    found = seen(look(CELLS, "--count", "n", "--json"))
    assert (found["kind"], found["people"], found["stops"]) == ("cells", 38, [])
    assert [column["name"] for column in found["columns"]] == ["Sex", "Town"]
    across = "Town,m,f\nAsh,12,15\nBirch,2,9\n"
    found = seen(look(across, "--crosstab", "Sex", "--json"))
    assert (found["kind"], found["people"], found["stops"]) == ("cross-tab", 38, [])


@pytest.mark.parametrize("content", [PEOPLE, KEYED], ids=["people", "keys"])
def test_the_codebook_comes_back(look, tmp_path, content):
    """Read back, it changes neither the table nor a role, nor what is asked."""
    path, toml = tmp_path / "x.csv", tmp_path / "x.toml"
    assert look(content, "--write", str(toml)).exit_code == 0
    book = Codebook.read(toml)
    assert set(book.entries) == {"Sex", "Town", "Income", "Ill"}
    assert {entry.role for entry in book.entries.values()} == {Role.UNSTATED}
    assert book.weights is None
    without = None if content is PEOPLE else "id,hh,wgt"
    plain, again = load(path, without=without), load(path, codebook=toml, without=without)
    assert plain.variables == again.variables
    assert plain.dense().tolist() == again.dense().tolist()
    assert describe(path, codebook=toml).stops == describe(path).stops


@pytest.mark.parametrize("content", [CELLS, "Town,low,high\nAsh,1,2\nBirch,3,4\n"])
def test_the_codebook_of_a_file_in_question_answers_nothing(look, tmp_path, content):
    toml = tmp_path / "x.toml"
    look(content, "--write", str(toml))
    assert Codebook.read(toml) == Codebook()
    assert describe(tmp_path / "x.csv", codebook=toml).stops == describe(tmp_path / "x.csv").stops


def test_a_codebook_in_toml_whatever_the_names(look, tmp_path):
    toml = tmp_path / "x.toml"
    content = '"a ""b""",é\n"x\\y",ü\n"#1",ü\n"x\\y",ö\n'
    look(content, "--write", str(toml))
    assert list(Codebook.read(toml).entries) == ['a "b"', "é"]
    found = load(tmp_path / "x.csv", codebook=toml)
    assert found.variables[0].categories == ("#1", "x\\y")


def test_an_example_keeps_what_its_codebook_states(tmp_path):
    toml = tmp_path / "tract.toml"
    done = CliRunner().invoke(main, ["look", "example:tract", "--write", str(toml)])
    assert done.exit_code == 0
    assert load("example:tract", codebook=toml).variables == load("example:tract").variables


def test_wrong_input_is_a_sentence(look, tmp_path):
    assert look(PEOPLE, "--write", str(tmp_path / "no" / "x.toml")).exit_code == 2
    wrong = look(PEOPLE, "--without", "Twon")
    assert wrong.exit_code == 2
    assert "did you mean 'Town'?" in wrong.stderr
