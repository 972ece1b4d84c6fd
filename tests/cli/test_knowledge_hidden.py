"""`discreet knowledge` with --merge and --suppress."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main

ESTATES = ("example:estates", "--target", "Estate")
MERGE = ("--merge", "20+=20-29,30+")


def run(*arguments):
    return CliRunner().invoke(main, ["knowledge", *map(str, arguments)])


def document(*arguments):
    result = run(*arguments, "--json")
    assert result.stderr == ""
    return result.exit_code, json.loads(result.stdout)


def test_for_every_prior():
    code, found = document(*ESTATES, *MERGE, "--limit", 0.25)
    assert (code, found["verdict"], found["priors"]) == (0, "PASS", "every prior")
    code, found = document(*ESTATES, "--merge", "10-29=10-19,20-29", "--limit", 0.25)
    (row,) = found["targets"]
    assert code == 1
    assert row["holds_for"] == "some priors"
    whole = (163 + 31) / 224
    assert row["knowledge"] == pytest.approx(1 - whole)
    assert row["shares"]["10-19"] == pytest.approx([1 - 0.75 / whole, 0.75 / whole], abs=1e-7)


def test_for_a_class_and_for_one_prior(tmp_path):
    asked = (*ESTATES, "--suppress", "10-19", "--limit", 0.25)
    assert document(*asked, "--priors", "10-19=0.3:0.7")[0] == 0
    assert document(*asked, "--priors", "10-19=0.3:0.8")[0] == 1
    assert document(*asked, "--priors", "weights:10-19=1:3,20-29=1,30+=1")[0] == 0
    weights = tmp_path / "weights.csv"
    weights.write_text("Estate,weight\n10-19,1\n20-29,1\n30+,2\n")
    code, found = document(*asked, "--prior", weights)
    assert code == 0
    p = found["targets"][0]["posterior"]["probabilities"]
    assert p["10-19"] == pytest.approx(0.25)
    assert p["20-29"] == pytest.approx(0.75 * 31 / 61)
    code, found = document(*asked, "--prior", weights, "--total-known")
    assert found["targets"][0]["posterior"]["probabilities"]["10-19"] == pytest.approx(163 / 224)
    shares = tmp_path / "shares.csv"
    shares.write_text("Estate,probability\n10-19,0.5\n20-29,0.25\n30+,0.25\n")
    code, found = document(*asked, "--priors", f"mixture:{weights}=0.5,{shares}=0.5")
    assert 0.25 < found["targets"][0]["posterior"]["probabilities"]["10-19"] < 0.5


def test_numbers_and_pages(tmp_path):
    numbers = (*ESTATES, *MERGE, "--uncertainty", "variance", "--top", 50, "--limit", 15)
    code, found = document(*numbers)
    assert code == 0
    p = (163 / 224, 61 / 224)
    assert found["targets"][0]["knowledge"] == pytest.approx(p[0] * p[1] * (25 - 15) ** 2)
    page = tmp_path / "page.html"
    said = run(*ESTATES, *MERGE, "--limit", 0.5, "--html", page)
    assert said.exit_code == 1
    assert "for no prior" in said.stdout
    assert "20-29 and 30+ merged" in page.read_text()


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((*ESTATES, "--priors", "any", "--limit", "0.1"), "go with --merge"),
        ((*ESTATES, "--total-known", "--limit", "0.1"), "go with --merge"),
        ((*ESTATES, *MERGE, "--sampling-fraction", "0.5", "--limit", "0.1"), "does not go"),
        ((*ESTATES, "--merge", "x=10-19,4", "--limit", "0.1"), "'4' is no category"),
        ((*ESTATES, "--merge", "x", "--limit", "0.1"), "'' is no category"),
        ((*ESTATES, "--merge", "x=10-19", "--limit", "0.1"), "merges nothing"),
        ((*ESTATES, *MERGE, "--priors", "10-19", "--limit", "0.1"), "is no bound"),
        ((*ESTATES, *MERGE, "--priors", "mixture:a.csv", "--limit", "0.1"), "no part of a mixture"),
        ((*ESTATES, *MERGE, "--priors", "any", "--prior", "a.csv", "--limit", "0"), "one of the"),
        (("--incidents", 30, "--companies", 5, *MERGE, "--limit", "2"), "go with a table"),
        ((*ESTATES, *MERGE, "--suppress", "10-19", "--limit", "0.1"), "either which"),
    ],
)
def test_bad_input_is_one_sentence(arguments, message):
    result = run(*arguments)
    assert result.exit_code == 2
    assert message in result.stderr
    assert "Traceback" not in result.stderr
