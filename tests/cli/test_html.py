"""Every command with a result writes its page, and prints the same as without."""

import re
from html import unescape

import pytest
from click.testing import CliRunner

from discreet.cli import main
from paged import check_outline, check_tags

RELEASE = ["--release", "Race*Income + Income*Gender"]
AREAS = "area,n,N,y\nA,3,8,1\nB,3,8,2\nC,5,20,1\nD,9,90,0\nE,12,40,4\n"
PEOPLE = "id,age,sex\n1,20,f\n2,30,m\n3,40,f\n4,50,m\n5,51,f\n"
KEYS = '[keys.age]\nkind = "normal"\nspread = 2\n'
COMMANDS = {
    "assess": ["example:tract", *RELEASE],
    "bounds": ["example:tract", *RELEASE],
    "check": ["release", "--against", "example:tract"],
    "count": ["example:tract", *RELEASE],
    "diff": ["old.json", "new.json"],
    "frontier": ["example:tract", "--beta", "3"],
    "identify": ["--source", "people.csv", "--released", "people.csv", "--intruder", "in.toml"],
    "knowledge": ["example:estates", "--target", "Estate", "--limit", "0.25"],
    "mask": ["example:tract", *RELEASE],
    "posterior": ["example:tract", *RELEASE],
    "publish": ["areas.csv", "--sample-size", "n", "--population", "N", "--cell-count", "y"],
    "uniques": ["people.csv", "--keys", "age,sex"],
    "widths": ["example:tract"],
}


@pytest.fixture(scope="module")
def folder(tmp_path_factory):
    """The files that the commands read."""
    found = tmp_path_factory.mktemp("files")
    for name, text in (("areas.csv", AREAS), ("people.csv", PEOPLE), ("in.toml", KEYS)):
        (found / name).write_text(text, encoding="utf-8")
    for name, release in (("old.json", "Race*Income"), ("new.json", "Race")):
        asked = ["assess", "example:tract", "--release", release, "--json"]
        (found / name).write_text(CliRunner().invoke(main, asked).stdout, encoding="utf-8")
    asked = ["mask", "example:tract", *RELEASE, "--out", str(found / "release")]
    assert CliRunner().invoke(main, asked).exit_code == 0
    return found


@pytest.fixture(autouse=True)
def _there(folder, monkeypatch):
    monkeypatch.chdir(folder)


def words(text):
    return re.sub(r"\s+", " ", text)


@pytest.mark.parametrize("name", COMMANDS)
def test_it_writes_one_file_that_asks_nothing_of_the_network(name, folder):
    before = CliRunner().invoke(main, [name, *COMMANDS[name]])
    result = CliRunner().invoke(main, [name, *COMMANDS[name], "--html", f"{name}.html"])
    assert result.exit_code == before.exit_code, result.output
    assert result.stdout.endswith(f"Report: {name}.html\n")
    if name != "frontier":  # which says how long it took
        assert result.stdout == f"{before.stdout}Report: {name}.html\n"
    source = (folder / f"{name}.html").read_text(encoding="utf-8")
    check_tags(source)
    check_outline(source)
    for word in ("http:", "https:", "@import", "src=", "<script", "<link", "<img"):
        assert word not in source


@pytest.mark.parametrize("name", sorted({*COMMANDS} - {"assess", "frontier"}))
def test_the_headline_is_the_same_in_both(name, folder):
    """Those of assessments and frontiers have the verdict there, and the formula below."""
    result = CliRunner().invoke(main, [name, *COMMANDS[name], "--html", f"{name}.html"])
    source = (folder / f"{name}.html").read_text(encoding="utf-8")
    text = words(unescape(re.sub(r"<[^>]*>", " ", source)))
    first = words(result.stdout.splitlines()[0])
    first = re.sub(r"^\S (PASS|REVIEW|FAIL) ", "", first)
    assert first[1:] in text


@pytest.mark.parametrize("name", COMMANDS)
def test_what_cannot_be_written_is_refused_before_the_work(name):
    result = CliRunner().invoke(main, [name, *COMMANDS[name], "--html", "nowhere/out.html"])
    assert result.exit_code == 2
    assert "nowhere" in result.stderr


@pytest.mark.parametrize("name", COMMANDS)
def test_json_and_the_page_at_once(name, folder):
    out = folder / f"{name}-json.html"
    result = CliRunner().invoke(main, [name, *COMMANDS[name], "--json", "--html", str(out)])
    assert result.stdout.startswith("{")
    assert result.stdout.endswith("}\n")
    assert out.read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
