"""Every report says how it is done again."""

import json
import re

import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.cli.again import command_line

PEOPLE = "home,sex,age,ill,w\n" + "".join(
    f"{row // 3},{'fm'[row % 2]},{30 + row % 4},{'no' if row % 5 else 'yes'},{10 + row % 3}\n"
    for row in range(60)
)


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "people.csv").write_text(PEOPLE)
    (tmp_path / "book.toml").write_text('[variables.ill]\nrole = "sensitive"\n')
    return tmp_path


def run(*arguments):
    result = CliRunner().invoke(main, arguments, catch_exceptions=False)
    assert result.exit_code in (0, 1), result.stderr
    return result.stdout


def typed(page):
    """The command as somebody would copy it; its words are kept whole on a phone."""
    return re.sub("</?span>", "", page.read_text())


def test_the_columns_files_and_version_that_were_used(folder):
    words = ("uniques", "people.csv", "--keys", "sex,age", "--weights", "w", "--household", "home")
    words += ("--sensitive", "ill", "--codebook", "book.toml")
    found = json.loads(run(*words, "--json"))["again"]
    assert found["command"] == f"discreet {' '.join(words)} --json"
    assert found["options"] == {
        "data": "people.csv", "keys": "sex,age", "weights": "w", "sensitive": "ill",
        "household": "home", "missing": "own", "largest": 3, "codebook": "book.toml",
    }  # fmt: skip
    assert found["version"]
    assert len(found["files"]["book.toml"]) == 64
    run(*words, "--html", "page.html")
    page = (folder / "page.html").read_text()
    assert "To do this again" in page
    command = "discreet uniques people.csv --keys sex,age --weights w --household home"
    assert command in typed(folder / "page.html")
    assert "<dt>household</dt><dd>home</dd>" in page
    assert found["files"]["book.toml"] in page


def test_what_was_not_typed_is_listed_too(folder):
    found = json.loads(run("count", "example:tract", "--release", "Race + Income", "--json"))
    assert "seed" in found["again"]["options"]
    assert "effort" in found["again"]["options"]
    assert found["again"]["command"].endswith("--release 'Race + Income' --json")


@pytest.mark.parametrize(
    "words",
    [
        ("assess", "example:tract", "--release", "Race*Income"),
        ("bounds", "example:tract", "--release", "Race*Income"),
        ("widths", "example:tract"),
        ("knowledge", "example:estates", "--target", "Estate", "--limit", "0.2"),
        ("posterior", "example:tract", "--release", "Race + Income + Gender"),
        ("publish", "--plan", "3:8:1", "--alpha", "1", "--beta", "10"),
        ("diff", "old.json", "old.json"),
    ],
    ids=lambda words: words[0],
)
def test_each_command_says_it(folder, words):
    (folder / "old.json").write_text(run(*ASSESS, "--json"))
    found = json.loads(run(*words, "--json"))
    assert found["again"]["command"].startswith(f"discreet {words[0]} {words[1]}")


ASSESS = ("assess", "example:tract", "--release", "Race")


def test_no_password_and_no_secret():
    """A seed of a mask is on the confidential page only."""
    typed = ["assess", "postgresql://ann:pass@host/db?sslpassword=x", "--release", "A*B"]
    assert command_line(typed) == "discreet assess postgresql://host/db --release 'A*B'"
    assert command_line(["mask", "--secret=many letters"]) == "discreet mask --secret=..."
    assert command_line(["mask", "--secret", "many letters", "-h"]).endswith("--secret ... -h")


def test_a_masks_document_does_not_tell_its_seed(folder):
    words = ("mask", "example:tract", "--release", "Race*Income", "--method", "round")
    words += ("--seed", "4711", "--html", "page.html")
    assert "4711" not in run(*words, "--json")
    assert "--seed 4711" in typed(folder / "page.html")


def test_from_python_the_script_can_be_named(tmp_path):
    import discreet as dc

    widths = dc.widths(dc.load("example:tract"))
    widths.to_html(tmp_path / "page.html", again="python widths.py")
    assert "python widths.py" in typed(tmp_path / "page.html")
