"""The command line: what it prints, its JSON, its exit codes."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main

TRACT = "Race*Income + Income*Gender"


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def document(*arguments):
    result = run(*arguments, "--json")
    assert result.stderr == ""
    return json.loads(result.stdout)


@pytest.mark.parametrize("method", [[], ["--method", "linear"]])
def test_bounds_of_the_tract_table(method):
    found = document("bounds", "example:tract", "--release", TRACT, "--cells", "all", *method)
    assert found["sharp"] is True
    assert found["method"] == ("linear" if method else "closed form")
    assert len(found["cells"]) == 18
    assert found["cells"][0] == {
        "cell": {"Gender": "Male", "Race": "White", "Income": "up to $10,000"},
        "count": 96,
        "lower": 85,
        "upper": 107,
        "status": "sharp",
        "rung": "integer",
    }


def test_bounds_for_people(tmp_path):
    out = tmp_path / "intervals.csv"
    result = run("bounds", "example:tract", "--release", TRACT, "--out", str(out))
    assert result.exit_code == 0
    assert "Chinese" in result.stdout
    assert out.read_text().count("\n") == 5


@pytest.mark.parametrize(
    ("release", "code", "verdict"),
    [("Gender*Income + Race", 0, "PASS"), (TRACT, 1, "FAIL"), ("Gender*Race*Income", 1, "FAIL")],
)
def test_the_exit_code_is_the_verdict(release, code, verdict):
    result = run("assess", "example:tract", "--release", release, "--json")
    assert result.exit_code == code
    assert json.loads(result.stdout)["verdict"] == verdict


def test_assess_for_people(tmp_path):
    html = tmp_path / "report.html"
    result = run("assess", "example:tract", "--release", TRACT, "--html", str(html))
    assert result.exit_code == 1
    assert "FAIL" in result.stdout
    assert "can be narrowed to 0-1" in " ".join(result.stdout.split())
    assert f"Report: {html}\n" in result.stdout
    assert html.stat().st_size > 10_000


def test_blonds_and_the_group_of_sixty(tmp_path):
    found = document("assess", "example:blond", "--release", "Hair*Income")
    assert found["verdict"] == "FAIL"
    assert {r["rule"]: r["verdict"] for r in found["reasons"]} == {
        "small counts": "PASS",
        "published cells": "PASS",
        "attribute disclosure": "FAIL",
    }
    cells = tmp_path / "cells.csv"
    cells.write_text(
        "A,B,C,n\na,b,c,58\na,b,d,2\ne,b,c,39\ne,b,d,1\na,f,c,20\na,f,d,20\ne,f,c,20\ne,f,d,20\n"
    )
    found = document("assess", str(cells), "--count", "n", "--release", "A*B + B*C")
    (reason,) = [r for r in found["reasons"] if r["rule"] == "attribute disclosure"]
    hit = {
        "cell": {"A": "a", "B": "b", "C": "c"},
        "group": {"A": "a", "B": "b"},
        "size": 60,
        "lower": 57,
        "upper": 60,
    }
    assert hit in reason["cells"]


def test_what_is_out_counts():
    alone = document("assess", "example:tract", "--release", "Race + Income")
    joint = document("assess", "example:tract", "--release", "Race + Income", "--released", TRACT)
    assert (alone["verdict"], joint["verdict"]) == ("PASS", "FAIL")
    assert joint["already_released"] == "Race*Income + Gender*Income"


def test_a_policy_file_and_changes(tmp_path):
    policy = tmp_path / "office.toml"
    result = run("policy", "--set", "small.width=1", "--set", "published.least=0")
    policy.write_text(result.stdout)
    assert (
        document("assess", "example:tract", "--release", TRACT, "--policy", str(policy))["verdict"]
        == "PASS"
    )
    found = document(
        "assess",
        "example:tract",
        "--release",
        TRACT,
        "--policy",
        str(policy),
        "--set",
        "small.width=2",
    )
    assert found["verdict"] == "FAIL"
    assert found["policy"]["small.width"] == 2


def test_records_codebook_and_variables(tmp_path):
    records = tmp_path / "people.csv"
    records.write_text("id,sex,ill\n" + "\n".join(f"{i},{'fm'[i % 2]},{i % 3}" for i in range(90)))
    book = tmp_path / "book.toml"
    book.write_text('[variables.ill]\nrole = "neither"\nlabels = {0 = "no", 1 = "yes", 2 = "?"}\n')
    found = document(
        "bounds",
        str(records),
        "--variables",
        "sex,ill",
        "--codebook",
        str(book),
        "--release",
        "sex + ill",
        "--cells",
        "all",
    )
    assert {c["cell"]["ill"] for c in found["cells"]} == {"no", "yes", "?"}
    assert sum(c["count"] for c in found["cells"]) == 90


def test_a_formula_from_a_file(tmp_path):
    text, frontier = tmp_path / "release.txt", tmp_path / "frontier.json"
    text.write_text(TRACT)
    frontier.write_text(json.dumps({"frontier": [["Race", "Income"], ["Income", "Gender"]]}))
    expected = document("bounds", "example:tract", "--release", TRACT)
    for path in (text, frontier):
        found = document("bounds", "example:tract", "--release", f"@{path}")
        assert [*found.pop("again")["files"]] == [str(path)]
        assert found == {key: value for key, value in expected.items() if key != "again"}


def test_reports_are_compared(tmp_path):
    old, new = tmp_path / "old.json", tmp_path / "new.json"
    for path, release in ((old, TRACT), (new, "Gender*Income + Race")):
        path.write_text(run("assess", "example:tract", "--release", release, "--json").stdout)
    assert "PASS" in run("diff", str(old), str(new)).stdout
    found = document("assess", "example:tract", "--release", TRACT, "--against", str(new))
    assert "comparison" in found
    shown = run("assess", "example:tract", "--release", TRACT, "--against", str(new))
    assert "Against" in shown.stdout


def test_everything_is_exported(tmp_path):
    folder = tmp_path / "out"
    run("assess", "example:tract", "--release", TRACT, "--export", str(folder))
    suffixes = {path.suffix for path in folder.iterdir()}
    assert {".html", ".json", ".png", ".svg", ".csv", ".xlsx"} <= suffixes


def test_examples(monkeypatch):
    monkeypatch.delenv("DISCREET_DATA", raising=False)
    found = {row["name"]: row for row in document("examples")}
    assert list(found) == ["tract", "estates", "czech", "blond", "nltcs"]
    assert found["estates"]["variables"] == ["Region", "Estate"]
    assert found["czech"]["total"] == 1841
    assert found["nltcs"]["total"] is None
    shown = run("examples").stdout
    assert "set DISCREET_DATA" in shown
    assert "Edwards & Havranek" in shown


@pytest.mark.parametrize(
    "command",
    [
        [],
        ["assess"],
        ["bounds"],
        ["diff"],
        ["examples"],
        ["policy"],
        ["count"],
        ["widths"],
        ["frontier"],
    ],
)
def test_help_has_an_example(command):
    result = run(*command, "--help")
    assert result.exit_code == 0
    assert "Example:" in result.stdout


def test_assess_agrees_with_the_frontier_it_came_from(tmp_path):
    policy, found = tmp_path / "office.toml", tmp_path / "frontier.json"
    policy.write_text('name = "office"\n[small]\nwidth = 20\n[attribute]\nexclusion = false\n')
    words = ["--policy", str(policy), "--json"]
    result = CliRunner().invoke(main, ["frontier", "example:czech", "--limit", "30", *words])
    assert result.exit_code == 0
    found.write_text(result.stdout, encoding="utf-8")
    said = json.loads(result.stdout)
    again = CliRunner().invoke(main, ["assess", "example:czech", "--release", f"@{found}", *words])
    assert json.loads(again.stdout)["verdict"] == said["verdict"] == "PASS"
    assert json.loads(again.stdout)["utility"]["released"] == said["released"]


def test_frontier_serves_users_and_keeps_what_is_out(tmp_path):
    asked, page = tmp_path / "requests.csv", tmp_path / "frontier.html"
    asked.write_text("user,margin,count\nAnn,A*B*C*D,3\nBob,C*D*E*F,1\n", encoding="utf-8")
    words = ["frontier", "example:czech", "--beta", "50", "--requests", str(asked)]
    words += ["--released", "E*F", "--never", "A*B*C", "--html", str(page), "--limit", "30"]
    result = CliRunner().invoke(main, [*words, "--json"])
    said = json.loads(result.stdout)
    assert [user["name"] for user in said["users"]] == ["Ann", "Bob"]
    assert said["users"][0]["share"] == 0
    assert any({"E", "F"} <= set(margin) for margin in said["frontier"])
    assert "Ann" in page.read_text(encoding="utf-8")
    wrong = CliRunner().invoke(main, [*words, "--first", "A*B*C"])
    assert wrong.exit_code == 2
    assert "may never go" in wrong.output
