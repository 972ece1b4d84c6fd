"""`discreet posterior`: samples, priors of models, and how much priors matter."""

import json

import pytest
from click.testing import CliRunner

import discreet as dc
from discreet.cli import main

RELEASE = "Race*Income + Income*Gender"


def ask(*words, code=0):
    found = CliRunner().invoke(main, ["posterior", "example:tract", "--release", RELEASE, *words])
    assert found.exit_code == code, found.output
    return found


def document(*words):
    return json.loads(ask(*words, "--json").stdout)


def test_a_sample_shows_both_targets():
    said = ask("--sampling-fraction", "0.1").output
    assert "exact, 59,400 tables" in said
    assert "a sample of 742 of 7,420 people" in said.replace("\n  ", " ")
    found = document("--sampling-fraction", "0.1")
    direct = dc.posterior(
        dc.load("example:tract"), RELEASE, cells=dc.load("example:tract").small(), fraction=0.1
    )
    cell = found["cells"][0]
    assert cell["probabilities"]["1"] == pytest.approx(0.5006, abs=5e-5)
    assert cell["population"]["unique"] == pytest.approx(direct.unique[0])
    assert found["population"]["people"] == 7420
    risk = found["risk"]["population"]
    assert risk["sample_uniques"] == 3
    assert risk["population_uniques"] == pytest.approx(3 * direct.uniques[0])
    assert risk["small"] > risk["population_uniques"]
    assert "population" not in document()


def test_the_codebook_says_that_the_data_are_a_sample(tmp_path):
    (tmp_path / "t.csv").write_text("A,B,n\na,c,1\na,d,4\nb,c,3\nb,d,2\n")
    (tmp_path / "book.toml").write_text("sampling_fraction = 0.25\n")
    words = [
        "posterior", str(tmp_path / "t.csv"), "--count", "n", "--release", "A + B", "--json",
        "--codebook", str(tmp_path / "book.toml"),
    ]  # fmt: skip
    found = json.loads(CliRunner().invoke(main, words).stdout)
    wanted = {"fraction": 0.25, "people": 40, "sampled": 10}
    assert found["population"] == found["population"] | wanted
    other = json.loads(CliRunner().invoke(main, [*words, "--model", "average"]).stdout)
    assert "population" not in other  # whose models are not all believed about


def test_models_with_probabilities_from_a_file(tmp_path):
    path = tmp_path / "models.csv"
    path.write_text(f"model,probability\nRace*Income*Gender,0\n{RELEASE},1\n")
    found = document("--model", "average", "--model-prior", str(path), "--error", "0.02")
    assert [model["weight"] for model in found["models"]] == [0, 1]
    direct = dc.posterior(
        dc.load("example:tract"), RELEASE, cells=dc.load("example:tract").small(), model=RELEASE
    )
    first = found["cells"][0]["probabilities"]
    assert first["0"] == pytest.approx(direct.probability(0)[0], abs=1e-9)


def test_every_parameter_more_halves_the_prior(tmp_path):
    (tmp_path / "t.csv").write_text("A,B,n\na,c,1\na,d,4\nb,c,3\nb,d,2\n")
    words = ["--count", "n", "--release", "A + B", "--model", "average", "--json"]
    for by, chances in (("uniform", [1 / 2, 1 / 2]), ("parameters", [2 / 3, 1 / 3])):
        more = ["posterior", str(tmp_path / "t.csv"), *words, "--model-prior", by]
        found = json.loads(CliRunner().invoke(main, more).stdout)["models"]
        assert [model["prior_probability"] for model in found] == pytest.approx(chances)


def test_how_much_priors_matter():
    """Saturated, prior 1 is uniform: 1 of 3 values of the cell with bounds 0 and 2."""
    found = document("--sensitivity")
    assert found["priors"] == [0.1, 0.25, 0.5, 1, 2]
    cell = found["cells"][1]
    assert [each["probability"] for each in cell["probabilities"]] == pytest.approx(
        [0.0833, 0.1667, 0.25, 0.3333, 0.4], abs=5e-4
    )
    assert (cell["low"], cell["high"]) == pytest.approx((0.0833, 0.4), abs=5e-4)
    assert found["most"] == pytest.approx(0.3166, abs=5e-4)
    assert found["exact"]
    assert "a probability moves by up to 0.317" in ask("--sensitivity").output.replace("\n", " ")


def test_how_much_priors_of_models_matter(tmp_path):
    path = tmp_path / "s.html"
    found = document(
        "--sensitivity",
        "--model",
        "average",
        "--error",
        "0.05",
        "--effort",
        "0.05",
        "--html",
        str(path),
    )
    assert found["model_priors"] == ["model", "size", "parameters"]
    assert not found["exact"]
    weights = {(m["prior"], m["model_prior"], m["model"]): m["weight"] for m in found["models"]}
    assert len(weights) == 5 * 3 * 3
    simple = dc.Formula.parse(RELEASE, ["Gender", "Race", "Income"])
    assert weights[0.5, "parameters", str(simple)] > weights[0.5, "model", str(simple)] > 0
    assert "Models by parameters" in path.read_text()


@pytest.mark.parametrize(
    ("words", "says"),
    [
        (["--model", "average", "--model-prior", "edges"], "choose uniform, size or parameters"),
        (["--model-prior", "size"], "goes with --model average"),
        (["--model", "average", "--model-prior", "no.csv"], "cannot read"),
        (["--sampling-fraction", "2"], "at most 1"),
        (["--sampling-fraction", "0"], "above 0"),
        (["--model", "average", "--sampling-fraction", "0.1"], "choose saturated"),
        (["--sensitivity", "--sampling-fraction", "0.1"], "goes without --sampling-fraction"),
        (["--sensitivity", "--draws", "9"], "goes without --draws"),
    ],
)
def test_wrong_options_are_refused_in_a_sentence(words, says):
    found = ask(*words, code=2)
    assert says in found.stderr
    assert "Traceback" not in found.output
