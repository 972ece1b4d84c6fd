"""What is inferred, as it is said: by category, of a number, and the model."""

import json

import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.linkage import Costs
from discreet.report.identify_words import harm_assumed

PEOPLE = pd.DataFrame(
    {
        "id": range(1, 9),
        "age": [20.0, 30, 40, 50, 60, 70, 80, 90],
        "debt": [10, 40, 0, 80, 20, 60, 90, 30],
        "ill": ["no", "yes"] * 4,
        "stigma": [1, 2, 3, 4, 5, 6, 7, 8],
    }
)
COSTS = "FN = 1\nTN = 2\nFF = 10\nFT = 6\nTF = 8\n"


@pytest.fixture
def run(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    PEOPLE.to_csv("people.csv", index=False)
    PEOPLE.drop(columns="stigma").to_csv("masked.csv", index=False)
    (tmp_path / "knows.toml").write_text('[keys.age]\nkind = "normal"\nspread = 1.0\n')

    def running(harm, *arguments):
        (tmp_path / "harm.toml").write_text(harm)
        files = ["--source", "people.csv", "--released", "masked.csv", "--id", "id"]
        asked = ["identify", *files, "--intruder", "knows.toml", "--harm", "harm.toml"]
        return CliRunner().invoke(main, [*asked, *arguments])

    return running


def test_a_category_with_own_costs_and_a_model(run):
    """All eight are found, and each costs what stands in the column: 1 + ... + 8."""
    harm = f'sensitive = "ill"\nq = 0.95\npredict = ["debt"]\n[costs]\n{COSTS}'
    harm += 'TT = { column = "stigma" }\n'
    result = run(harm)
    assert result.exit_code == 0, result.output
    for words in ("by stigma", "What is inferred", "How it is predicted", "debt", "constant"):
        assert words in result.stdout
    said = json.loads(run(harm, "--json").stdout)["harm"]
    table = {row["value"]: row["inferred"] for row in said["values"]}
    assert sum(table.values()) == said["inferences"]["right"] + said["inferences"]["wrong"]
    easy = harm.replace("q = 0.95", "q = 1.0")
    assert json.loads(run(easy, "--json").stdout)["harm"]["total"] == 36


def test_a_number_with_errors(run):
    harm = 'sensitive = "debt"\n[number]\ncost = "squared"\nspread = 5\n'
    shown = run(harm).stdout
    said = json.loads(run(harm, "--json").stdout)["harm"]
    assert f"expected harm: {said['total']:,.6g}, over all that is believed" in shown
    assert f"harm of estimates: {said['of_estimates']:,.6g}" in shown
    spread = 25 * said["model"]["residual"] ** 2 / (25 + said["model"]["residual"] ** 2)
    assert said["total"] - said["of_estimates"] == pytest.approx(8 * spread)  # bias and variance
    assert said["perceived"] == pytest.approx(8 * spread)
    relative = harm.replace("squared", "relative")
    PEOPLE.assign(debt=PEOPLE["debt"] + 5).to_csv("people.csv", index=False)
    assert "as the intruder sees it: infinite" in run(relative).stdout
    assert json.loads(run(relative, "--json").stdout)["harm"]["perceived"] is None


@pytest.mark.parametrize(
    ("harm", "words"),
    [
        ('[number]\ncost = "squared"\nspred = 5\n', "'spred', which is not known; did you"),
        ('[number]\ncost = "squared"\n[number.F]\ncost = "cubed"\n', "'cubed'; write one of"),
        ('times = { column = "shame" }\n[number]\ncost = "squared"\n', "no column 'shame'"),
        ('times = { column = "ill" }\n[number]\ncost = "squared"\n', "'no' in 'ill', where a"),
        ('[number]\ncost = "relative"\n', "row 3 is 0"),
    ],
)
def test_one_sentence_and_no_traceback(run, harm, words):
    result = run(f'sensitive = "debt"\n{harm}')
    assert result.exit_code == 2
    assert words in result.stderr
    assert "Traceback" not in result.stderr


@pytest.mark.parametrize(
    ("table", "says"),
    [
        ({"cost": "absolute"}, "what it is off by."),
        ({"cost": "relative"}, "the square of what it is off by, as a share of the true value."),
        ({"cost": "inside", "low": 1, "high": 9, "loss": 2}, "2 if it is believed to be in 1 to 9"),
        ({"cost": "inside", "within": 3, "loss": 2}, "in the true value -+ 3."),
        (
            {"cost": "outside", "share": 0.1, "loss": 2},
            "not believed to be in the true value -+",
        ),
        (
            {"cost": "threshold", "limit": {"column": "own"}, "loss": 1},
            "above what own says.",
        ),
        ({"cost": "written", "points": [[0, 1], [5, 2]]}, "by a line through 2 points of what it"),
        ({"cost": "excess", "F": {"cost": "squared"}}, "After a wrong link it costs the square of"),
        ({"cost": "excess", "log_spread": 0.2}, "Its logarithm is released with a normal error"),
        ({"cost": "excess", "near": 4}, "An estimate within 4 of the true value"),
    ],
)
def test_every_cost_is_explained(table, says):
    assert says in " ".join(harm_assumed(Costs.of({"sensitive": "debt", "number": table})))
    more = Costs.of({"sensitive": "debt", "number": table, "times": {"column": "own"}})
    assert "multiplied by what own says of a respondent." in " ".join(harm_assumed(more))
