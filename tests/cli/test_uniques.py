"""`discreet uniques`: what it says, by row number only, and what it refuses."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main

PEOPLE = """home,sex,age,town,ill,w
1,f,30,Avaler,no,10
1,m,30,Avaler,no,10
2,f,30,Avaler,yes,12
2,m,40,Brund,no,12
3,f,50,Brund,no,5
3,f,50,Brund,yes,5
4,m,,Brund,yes,8
5,m,40,Avaler,no,20
"""
KEYS = ("--keys", "sex,age,town")


@pytest.fixture
def people(tmp_path):
    path = tmp_path / "people.csv"
    path.write_text(PEOPLE)
    return str(path)


def run(*arguments):
    return CliRunner().invoke(main, ["uniques", *map(str, arguments)], env={"COLUMNS": "100"})


def document(*arguments, code=0):
    result = run(*arguments, "--json")
    assert (result.exit_code, result.stderr) == (code, "")
    return json.loads(result.stdout)


def test_what_the_document_has(people):
    """Rows 2, 4, 7 and 8 are alone; row 7 stands for 8 people, the fewest."""
    asked = (*KEYS, "--weights", "w", "--sensitive", "ill", "--household", "home")
    found = document(people, *asked)
    assert [*found] == [
        "verdict", "k", "below_k", "records", "keys", "missing", "anonymity", "risk",
        "to_sign", "population", "special", "diversity", "households",
        "not_computed", "exposed", "again",
    ]  # fmt: skip
    assert found["not_computed"] == {}
    assert found["verdict"] is None
    assert (found["anonymity"]["k"], found["anonymity"]["uniques"]) == (1, 4)
    assert [line["row"] for line in found["exposed"]] == [7, 2, 4, 8, 5, 1]
    assert {*found["exposed"][0]} == {"row", "alike", "risk", "score", "dis"}
    assert found["diversity"]["disclosed"] == 4
    assert found["households"]["households"] == 5
    assert found["population"]["sample_uniques"] == 4
    assert sum(band["number"] for band in found["risk"]["distribution"]) == 8
    dis = {line["row"]: line["dis"] for line in found["exposed"]}
    assert dis[7] == pytest.approx(found["special"]["highest_dis"])
    assert dis[1] == 0


@pytest.mark.parametrize(("k", "code", "verdict"), [(1, 0, "PASS"), (2, 1, "FAIL")])
def test_a_limit_is_a_verdict(people, k, code, verdict):
    found = document(people, *KEYS, "--k", k, code=code)
    assert (found["verdict"], found["k"], found["below_k"]) == (verdict, k, 4 * (k - 1))
    said = run(people, *KEYS, "--k", k)
    assert said.exit_code == code
    assert verdict in said.stdout


def test_missing_values_that_match_anything(people):
    """Row 7 agrees with row 4: two uniques are left."""
    assert document(people, *KEYS, "--missing", "any")["anonymity"]["uniques"] == 2
    said = run(people, *KEYS, "--missing", "any", "--sensitive", "ill").stdout
    assert "a missing value matches anything" in said
    assert "ill: the class says it of 2 records" in said


def test_the_text_names_rows_and_no_values(people):
    asked = (*KEYS, "--weights", "w", "--sensitive", "ill", "--household", "home")
    said = run(people, *asked).stdout
    for words in (
        "4 of 8 records unique in sex, age, town",
        "How many look alike",
        "Most exposed, by row number",
        "Households: 1.328 of 5 would be found",
        "Special uniques: 4 records stand out by 3 keys or fewer",
        "ill: the class says it of 4 records",
    ):
        assert words in said
    assert "Avaler" not in said
    assert "Brund" not in said


def test_a_population_and_a_model(people):
    found = document(people, *KEYS, "--population", 80, "--model", "sex*age + town")
    assert found["population"]["model"] == "log-linear sex*age + town"
    assert found["risk"]["basis"] == "population 80"
    assert document(people, *KEYS, "--largest", 1)["special"]["sets"] == {"1": 1}


def test_examples_and_cells_have_no_rows(tmp_path):
    found = document("example:tract", "--keys", "Gender,Race,Income")
    assert found["records"] == 742
    assert "row" not in found["exposed"][0]
    assert "by row number" not in run("example:tract", "--keys", "Gender,Race,Income").stdout
    path = tmp_path / "cells.csv"
    path.write_text("a,b,n\nx,1,1\nx,2,3\ny,1,2\n")
    assert document(path, "--keys", "a,b", "--count", "n")["anonymity"]["uniques"] == 1


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (("--keys", "sex,agee"), "has no column 'agee'; did you mean 'age'?"),
        ((*KEYS, "--weights", "wt"), "has no column 'wt'"),
        ((*KEYS, "--weights", "ill"), "row 1 of 'people.csv' has the weight 'no' in 'ill'"),
        ((*KEYS, "--population", "5"), "the sample has 8 records, its population 5"),
        ((*KEYS, "--household", "houme"), "did you mean 'home'?"),
        ((*KEYS, "--weights", "w", "--model", "sex*agee"), "agee"),
        ((*KEYS, "--model", "two-way"), "the model 'two-way' is of a population beyond the file"),
        ((*KEYS, "--count", "n"), "has no column 'n'"),
    ],
)
def test_wrong_input_is_one_sentence(people, arguments, said):
    result = run(people, *arguments)
    assert (result.exit_code, result.stdout) == (2, "")
    assert said in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("text", "said"),
    [
        ("x,y\n1,2\n1,2\n", "all records are alike in x, y: constant keys tell nobody apart"),
        ("x,y,w\n1,2,1\n2,2,0.5\n", "row 2 of 'bad.csv' has the weight '0.5' in 'w'"),
        ("x,y,w\n1,2,1\n2,2,\n", "row 2 of 'bad.csv' has no weight in 'w'"),
    ],
)
def test_wrong_records_are_named(tmp_path, text, said):
    path = tmp_path / "bad.csv"
    path.write_text(text)
    weights = ("--weights", "w") if ",w" in text else ()
    result = run(path, "--keys", "x,y", *weights)
    assert result.exit_code == 2
    assert said in result.stderr
