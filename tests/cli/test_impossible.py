"""Two codings of one variable on the command line."""

import json

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli.main import main

RELEASE = ["--release", "Age50*Region + Age51*Region"]


@pytest.fixture
def ages(tmp_path):
    """802 people, one of 50 in each region."""
    rng = np.random.default_rng(1)
    age = np.concatenate([rng.integers(20, 50, 400), rng.integers(51, 80, 400), [50, 50]])
    region = np.concatenate([rng.choice(["N", "S"], 800), ["N", "S"]])
    path = tmp_path / "ages.csv"
    pd.DataFrame(
        {
            "Age50": np.where(age < 50, "<50", "50+"),
            "Age51": np.where(age < 51, "<51", "51+"),
            "Region": region,
        }
    ).to_csv(path, index=False)
    return str(path)


def widths(*words):
    done = CliRunner().invoke(main, ["bounds", *words, *RELEASE, "--json"])
    assert done.exit_code == 0, done.output
    return done.stderr, [cell["upper"] - cell["lower"] for cell in json.loads(done.stdout)["cells"]]


def test_subtraction_gives_those_who_are_50(ages):
    said, found = widths(ages)
    assert found == [0, 0]
    assert "Age50 and Age51 look like codings of one thing" in said


def test_none_switches_it_off_and_a_statement_on(ages):
    said, found = widths(ages, "--impossible", "none")
    assert said == ""
    assert min(found) > 100
    stated = ["--impossible", "none", "--impossible", "Age50=<50, Age51=51+"]
    assert widths(ages, *stated) == ("", [0, 0])


def test_what_people_have_is_not_impossible(ages):
    wrong = ["--impossible", "Age50=<50, Age51=<51"]
    done = CliRunner().invoke(main, ["bounds", ages, *RELEASE, *wrong])
    assert done.exit_code == 2
    assert "400 people have it" in done.stderr


def test_the_server_is_told_in_the_codebook(ages):
    done = CliRunner().invoke(main, ["serve", ages, "--impossible", "none"])
    assert done.exit_code == 2
    assert "say it in the codebook" in done.stderr
