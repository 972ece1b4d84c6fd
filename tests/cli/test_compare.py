"""`discreet compare`, and `discreet mask` of records, from the command line."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli import main
from maskcases import people

MASKS = """
seed = 3
keys = ["income", "age"]
sensitive = ["ill", "savings", "weight"]

[[masks]]
name = "groups"
method = "microaggregate"
columns = ["income", "age"]
k = 10
few = "blank"

[[masks]]
name = "all"
method = "sample"
share = 1.0

[[users]]
name = "economist"
columns = ["income", "sex"]
least = 0.5
"""


@pytest.fixture
def folder(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    people(200).data.drop(columns="home").to_csv("people.csv", index=False)
    (tmp_path / "masks.toml").write_text(MASKS)
    return tmp_path


def run(*arguments):
    return CliRunner().invoke(main, list(arguments))


def test_a_cache_grows(folder):
    """It is read and written: other masks, another codebook or policy go into the same folder."""
    words = ["compare", "people.csv", "--records", "--masks", "masks.toml", "--cache", "kept"]
    for act in ("0.5", "0.6"):
        done = run(*words, "--set", f"masks.act={act}")
        assert done.exit_code in (0, 1), done.output
    assert len(list((folder / "kept").iterdir())) == 4


def test_compare_chooses_writes_and_shows(folder):
    done = run(
        "compare", "people.csv", "--records", "--masks", "masks.toml", "--set", "masks.limit=0.4",
        "--out", "out.csv", "--html", "page.html", "--intruder", "intruder.toml",
    )  # fmt: skip
    assert done.exit_code == 0, done.output
    assert "PASS" in done.output
    assert "release groups" in done.output
    assert "It serves economist." in done.output
    assert "Written: out.csv" in done.output
    assert len(pd.read_csv("out.csv")) == 200
    assert (folder / "page.html").read_text().startswith("<!DOCTYPE html>")
    found = run(
        "identify", "--source", "people.csv", "--released", "out.csv", "--intruder",
        "intruder.toml", "--records", "--json",
    )  # fmt: skip
    assert found.exit_code == 0, found.output
    assert json.loads(found.output)["perceived"]["average"] <= 0.11


def test_nothing_is_written_above_the_limit(folder):
    done = run("compare", "people.csv", "--records", "--masks", "masks.toml", "--set",
               "masks.limit=0", "--set", "masks.risk=highest", "--out", "out.csv")  # fmt: skip
    assert done.exit_code == 1
    assert "Nothing was written" in done.output
    assert not (folder / "out.csv").exists()


def test_the_document_says_all(folder):
    done = run(
        "compare",
        "people.csv",
        "--records",
        "--masks",
        "masks.toml",
        "--json",
        "--set",
        "masks.limit=0.4",
    )
    document = json.loads(done.output)
    assert document["best"] == "groups"
    assert document["masks"][1]["risks"]["identified"] > 0.9
    assert [step["limit"] for step in document["steps"]] == sorted(
        step["limit"] for step in document["steps"]
    )


def test_one_mask_of_records(folder):
    asked = ("mask", "people.csv", "--records", "--method", "microaggregate", "--keys",
             "income,age", "--with", "columns=income,age", "--with", "k=10", "--with", "few=blank",
             "--seed", "1")  # fmt: skip
    done = run(
        *asked, "--out", "one.csv", "--sensitive", "ill,savings,weight", "--set", "masks.limit=0.4"
    )
    assert done.exit_code == 0, done.output
    released = pd.read_csv("one.csv").groupby(["income", "age"]).size()
    assert released.min() >= 10
    again = run(
        *asked, "--out", "two.csv", "--sensitive", "ill,savings,weight", "--set", "masks.limit=0.4"
    )
    assert again.exit_code == 0
    assert (folder / "one.csv").read_text() == (folder / "two.csv").read_text()


def test_a_mask_that_fails_is_written_by_force_only(folder):
    asked = ("mask", "people.csv", "--records", "--method", "noise", "--keys", "income,age",
             "--with", "columns=income", "--with", "spread=0.01", "--out", "out.csv")  # fmt: skip
    assert run(*asked).exit_code == 1
    assert not (folder / "out.csv").exists()
    assert run(*asked, "--force").exit_code == 1
    assert (folder / "out.csv").exists()


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (
            ("--method", "noise", "--with", "columns=income", "--keys", "age"),
            "noise needs 'spread'",
        ),
        (("--method", "noise", "--with", "spread"), "KEY=VALUE"),
        (("--method", "noise", "--tables", "t.toml"), "--tables is for tables"),
        (("--method", "noise", "--with", "colour=red", "--keys", "age"), "no option 'colour'"),
        (("--method", "round", "--release", "sex", "--keys", "age"), "are of records"),
        (("--method", "sample", "--with", "share=1.0"), "no key is named"),
    ],
)
def test_wrong_input_is_one_sentence(folder, arguments, said):
    done = run("mask", "people.csv", "--records", *arguments)
    assert done.exit_code == 2
    assert said in done.output


def test_what_compare_writes_is_drawn_anew_from_bits_that_nobody_knows(folder):
    """Who tries the seeds of masks files finds the draws that were compared, not the released."""
    asked = ("compare", "people.csv", "--records", "--masks", "masks.toml", "--set",
             "masks.limit=1", "--force")  # fmt: skip
    done = run(*asked, "--out", "one.csv", "--json")
    document = json.loads(done.output)
    assert document["drawn"]["verdict"] == document["verdict"]
    assert "drawn anew for release" in " ".join(document["why"])
    run(*asked, "--out", "two.csv")
    assert (folder / "one.csv").read_text() != (folder / "two.csv").read_text()
    assert "trial" not in json.loads((folder / "one.csv.json").read_text())
    shown = run(*asked)
    assert shown.output.splitlines()[0].split(None, 2)[2].startswith("trial, not for release:")


def test_a_secret_seed_is_in_no_document(folder):
    (folder / "secret.toml").write_text(MASKS.replace("seed = 3", ""))
    asked = ("compare", "people.csv", "--records", "--set", "masks.limit=1", "--json", "--masks")
    secret, given = (json.loads(run(*asked, f"{name}.toml").output) for name in ("secret", "masks"))
    assert (secret["seed"], secret["trial"]) == (None, False)
    assert (given["seed"], given["trial"]) == (3, True)


@pytest.mark.parametrize("words", [("--seed", "4"), ()])
def test_one_mask_from_a_seed_that_is_given_is_a_trial(folder, words):
    done = run(
        "mask", "people.csv", "--records", "--method", "sample", "--with", "share=0.5", "--keys",
        "age", "--set", "masks.limit=1", "--force", "--out", "out.csv", *words,
    )  # fmt: skip
    record = json.loads((folder / "out.csv.json").read_text())
    assert ("trial, not for release" in done.output.splitlines()[0]) == bool(words)
    assert ("trial" in record) == bool(words)
