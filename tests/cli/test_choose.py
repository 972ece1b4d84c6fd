"""`discreet choose` from the command line."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.look.riskutilitychart import text_map

PAIRS = "Race*Income + Income*Gender"
USERS = """
[[users]]
name = "guesser <b>"
measure = "identified"
prior = ["uniform", "release"]

[[users]]
name = "sociologist"
role = "scientist"
target = "Race*Income"
prior = "uniform"
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    (tmp_path / "users.toml").write_text(USERS)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, ["choose", "example:tract", *arguments])


def test_the_answer_with_the_map(folder):
    done = run(
        "--users", "users.toml", "--release", PAIRS, "--release", "Race*Income + Gender",
        "--frontier", "3", "--limit", "0.5", "--html", "page.html",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    lines = done.output.splitlines()
    assert lines[0].startswith("✓ PASS    release ")
    assert "risk across, utility up, : the limit 0.5" in done.output
    assert "frontier 3: Gender*Income + Race" in done.output
    assert "release, worst of 2" in done.output
    source = (folder / "page.html").read_text()
    assert source.startswith("<!DOCTYPE html>")
    assert source.count("<svg") > 1
    assert "guesser &lt;b&gt;" in source
    assert "users.toml" in source


def test_the_document(folder):
    done = run("--users", "users.toml", "--release", PAIRS, "--release", "Gender*Income + Race",
               "--limit", "0.5", "--json")  # fmt: skip
    found = json.loads(done.stdout)
    assert done.exit_code == 0
    assert found["verdict"] == "PASS"
    assert found["best"] == "Gender*Income + Race"
    mask = found["masks"][0]
    assert mask["risk"] == pytest.approx(2 / 3)
    assert mask["intruders"][0]["prior"] == "release"
    assert mask["intruders"][0]["by_prior"] == pytest.approx({"uniform": 7 / 18, "release": 2 / 3})
    assert mask["utility"] == 0
    assert found["steps"][-1]["best"] == mask["name"]
    assert found["users"][0]["name"] == "guesser <b>"


def test_exit_codes(folder):
    assert run("--users", "users.toml", "--release", PAIRS, "--limit", "0.5").exit_code == 1
    assert run("--users", "users.toml", "--release", PAIRS, "--limit", "0.7").exit_code == 0
    for wrong in (
        ["--release", PAIRS, "--limit", "1"],
        ["--users", "none.toml", "--release", PAIRS, "--limit", "1"],
        ["--users", "users.toml", "--limit", "1"],
        ["--users", "users.toml", "--release", "Rase", "--limit", "1"],
        ["--users", "users.toml", "--release", PAIRS, "--release", PAIRS, "--limit", "1"],
        ["--users", "users.toml", "--release", PAIRS],
        ["--users", "users.toml", "--release", PAIRS, "--limit", "nan"],
    ):
        done = run(*wrong)
        assert done.exit_code == 2, done.output
        assert "Traceback" not in done.output
    (folder / "users.toml").write_text(USERS.replace("target", "taget"))
    done = run("--users", "users.toml", "--release", PAIRS, "--limit", "1")
    assert done.exit_code == 2
    assert "'taget', which is not known; did you mean 'target'?" in done.output


def test_what_is_sampled_is_review_with_its_error(folder):
    (folder / "users.toml").write_text('[[users]]\nmeasure = "identified"\nprior = "average"\n')
    done = run("--users", "users.toml", "--release", PAIRS, "--limit", "0.9")
    assert done.exit_code == 1
    assert "? REVIEW" in done.output
    assert "a sample proves nothing" in done.output
    assert "± at most" in done.output


def test_the_example_is_a_users_file(folder):
    done = CliRunner().invoke(main, ["choose", "--example"])
    assert done.exit_code == 0
    (folder / "users.toml").write_text(done.stdout)
    assert run("--users", "users.toml", "--release", PAIRS, "--limit", "1").exit_code == 0


def test_the_map_in_letters():
    lines = text_map([(0, 1), (1, 2), (None, 3), (0.5, float("-inf"))], limit=0.5)
    assert lines[0].rstrip().endswith("2")
    assert lines[8].lstrip().startswith("1 1")
    assert all("3" not in line and "4" not in line for line in lines)
    assert text_map([(None, 1)], limit=1) == ["no release to draw"]
    alone = text_map([(2, 2)], limit=float("inf"))
    assert alone[-1].endswith("utility up")
