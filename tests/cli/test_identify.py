"""`discreet identify` from files."""

import json
import re

import pytest
from click.testing import CliRunner

from discreet.cli import main

PEOPLE = """id,age,ill,region
1,20,no,North
2,24,no,North
3,30,no,North
4,34,yes,North
5,40,yes,South
6,44,yes,South
7,50,no,South
8,60,no,South
9,70,yes,South
"""
MASKED = """id,age,ill
2,20.2,no
4,30.1,yes
6,39.9,yes
7,50.2,no
8,60.1,yes
9,69.8,yes
"""
INTRUDER = '[keys.age]\nkind = "normal"\nspread = 1.0\n'
HARM = """sensitive = "ill"
q = 0.95
group = ["region"]
[costs]
FN = 1
TN = 2
FF = 10
FT = 6
TF = 8
TT = 5
"""
FILES = {"people.csv": PEOPLE, "masked.csv": MASKED, "intruder.toml": INTRUDER, "harm.toml": HARM}
PLAIN = ["--source", "people.csv", "--released", "masked.csv", "--intruder", "intruder.toml"]


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)

    def running(*arguments, **changed):
        for name, text in FILES.items():
            (tmp_path / name).write_text(changed.get(name.split(".")[0], text))
        return CliRunner().invoke(main, ["identify", *PLAIN, *arguments])

    return running


def test_json(run):
    result = run("--id", "id", "--keys", "age", "--harm", "harm.toml", "--json")
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["perceived"]["linked"] == 6
    assert said["true"]["risk"] == 0.5
    assert said["matching"]["released"] == 6
    assert said["harm"]["total"] == 32
    assert sum(said["harm"]["outcomes"].values()) == 9
    assert said["perceived"]["exact"] == 1
    assert {"row", "released_row", "probability"} <= set(said["perceived"]["most_exposed"][0])


def test_without_an_id(run):
    said = json.loads(run("--json").stdout)
    assert said["true"] is said["matching"] is said["harm"] is None
    assert "true:" not in run().stdout


def test_calibration_and_harmless(run):
    arguments = ["--calibrate", "3", "--harmless", "0.3"]
    said = json.loads(run(*arguments, "--json").stdout)
    assert said["calibration"]["present"] == 18
    assert said["calibration"]["absent"] == 9
    assert len(said["calibration"]["tenths"]) == 10
    assert said["harmless"]["without"] == {"age": pytest.approx(1 / 9)}
    assert 16 < said["harmless"]["times"] < 32
    shown = run(*arguments).stdout
    assert "Calibration by 3 drawn files" in shown
    assert "age not known" in shown
    released = run("--calibrate", "1", masked=PEOPLE)
    assert "no target is absent" in released.stdout
    assert run("--harmless", "2").exit_code == 2


def test_text(run):
    shown = run("--id", "id", "--harm", "harm.toml").stdout
    assert "6 respondents of 9 linked with probability 0.5 or more" in shown
    assert "Harm 32 from ill" in shown
    assert "not identified" in shown
    assert "Harm by group" in shown


@pytest.mark.parametrize(
    ("arguments", "changed", "words"),
    [
        (["--keys", "age,sex"], {}, "does not describe the key 'sex'"),
        ([], {"intruder": INTRUDER.replace("age", "size")}, "has no column 'size'"),
        ([], {"masked": MASKED.replace("20.2", "young")}, "row 1 of 'masked.csv' has 'young'"),
        (["--id", "id"], {"people": PEOPLE.replace("\n9,", "\n8,")}, "not unique"),
        (["--id", "id"], {"masked": MASKED.replace("\n9,", "\n99,")}, "row 6 of 'masked.csv'"),
        (["--id", "id", "--harm", "harm.toml"], {"harm": HARM.replace("TF = 8\n", "")}, "no TF"),
        (["--harm", "harm.toml"], {}, "--harm needs --id"),
        ([], {"people": MASKED[:13], "masked": MASKED}, "no records|cannot read|sample"),
        ([], {"masked": PEOPLE + "10,80,no,North\n"}, "10 records are released of 9"),
        ([], {"intruder": "[keys"}, "'intruder.toml' is not TOML"),
    ],
)
def test_bad_input(run, arguments, changed, words):
    result = run(*arguments, **changed)
    assert result.exit_code == 2
    assert len(result.stderr.strip().splitlines()) == 1
    assert re.search(words, result.stderr), result.stderr


def test_categories_only(run):
    """Without numbers all sources of a combination are as near: one that is alone is matched."""
    people = "id,sex,town\n1,f,a\n2,m,a\n3,f,b\n4,m,b\n5,f,a\n"
    intruder = '[keys.sex]\nkind = "category"\nkeep = 0.9\n[keys.town]\nkind = "category"\n'
    masked = "id,sex,town\n1,f,a\n4,m,b\n2,f,a\n"
    result = run("--id", "id", "--json", people=people, masked=masked, intruder=intruder)
    assert result.exit_code == 0, result.output
    said = json.loads(result.stdout)
    assert said["matching"] == {
        "matched": 1,
        "released": 3,
        "risk": pytest.approx(1 / 3),
        "distance": "absolute",
    }
