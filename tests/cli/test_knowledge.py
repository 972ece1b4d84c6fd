"""`discreet knowledge`: tables, samples, rates, totals."""

import json

import pytest
from click.testing import CliRunner

from discreet.cli import main

ESTATES = ("example:estates", "--target", "Estate")
TOTAL = ("--total", "507.862", "--number", "11", "--minimum", "10")


def run(*arguments):
    return CliRunner().invoke(main, ["knowledge", *map(str, arguments)])


def document(*arguments):
    result = run(*arguments, "--json")
    assert result.stderr == ""
    return result.exit_code, json.loads(result.stdout)


def file(tmp_path, text, name="file.csv"):
    path = tmp_path / name
    path.write_text(text)
    return str(path)


@pytest.mark.parametrize(("limit", "code", "verdict"), [(0.19, 0, "PASS"), (0.25, 1, "FAIL")])
def test_a_table_by_group(limit, code, verdict):
    asked = (*ESTATES, "--group", "Region", "--uncertainty", "largest", "--limit", limit)
    exit_code, found = document(*asked)
    assert (exit_code, found["verdict"]) == (code, verdict)
    assert found["targets"][0]["target"] == "North Central"
    assert found["targets"][0]["knowledge"] == pytest.approx(0.2)
    assert found["targets"][0]["gain"] == pytest.approx(61 / 224 - 0.2)
    said = run(*asked)
    assert said.exit_code == code
    assert verdict in said.stdout
    assert "no category has more than" in said.stdout


def test_a_table_with_a_prior(tmp_path):
    prior = file(tmp_path, "Estate,probability\n10-19,0.5\n20-29,0.25\n30+,0.25\n")
    asked = (*ESTATES, "--prior", prior, "--measure", "gain", "--uncertainty", "largest")
    code, found = document(*asked, "--limit", "0.23")
    assert code == 0
    assert found["targets"][0]["gain"] == pytest.approx(0.5 - 61 / 224)
    assert document(*asked, "--limit", "0.22")[0] == 1
    code, found = document(
        *ESTATES, "--prior", prior, "--sampling-fraction", "0.5", "--limit", "0.3"
    )
    assert found["targets"][0]["knowledge"] == pytest.approx(1 - (163 / 224 + 0.5) / 2)
    assert code == 0
    assert len(found["notes"]) == 2
    weights = file(tmp_path, '[weight]\n"10-19" = 1\n"20-29" = 1\n"30+" = 1\n', "w.toml")
    _, found = document(*ESTATES, "--prior", weights, "--sampling-fraction", "0.5", "--limit", "0")
    p = (163 / 224 + 164 / 227) / 2
    assert found["targets"][0]["posterior"]["probabilities"]["10-19"] == pytest.approx(p)


@pytest.mark.parametrize(
    ("uncertainty", "value"),
    [
        ("entropy", 0.7742764), ("inverse", 61 / 163), ("two-sided:1:1", (61 / 224) ** 2),
        ("weighted:2,1,1", 2 * 61 / 224),
    ],
)  # fmt: skip
def test_uncertainties(uncertainty, value):
    _, found = document(*ESTATES, "--uncertainty", uncertainty, "--limit", "0.1")
    assert found["targets"][0]["knowledge"] == pytest.approx(value, abs=1e-5)
    assert found["rule"].startswith("Release if")


def test_totals(tmp_path):
    code, found = document(*TOTAL, "--alpha", "1.2765", "--limit", "0.25")
    assert code == 0
    (row,) = found["targets"]
    assert row["cv_inverse"] == pytest.approx(0.588755, abs=5e-7)
    assert row["knowledge"] == pytest.approx(0.257407, abs=1e-6)
    assert document(*TOTAL, "--limit", "0.26")[0] == 1
    data = file(tmp_path, "year,value,n\n1977,507.862,11\n1978,300,12\n")
    asked = ("--target", "year", "--total", "value", "--number", "n", "--minimum", "10")
    _, found = document(data, *asked, "--limit", "0.25")
    assert {row["target"] for row in found["targets"]} == {"1977", "1978"}
    prior = file(tmp_path, "alpha,probability\n1.2,0.5\n1.4,0.5\n", "prior.csv")
    _, found = document(*TOTAL, "--prior", prior, "--limit", "0.25")
    assert "alpha" not in found["targets"][0]
    said = run(*TOTAL, "--limit", "0.25").stdout
    assert "Pareto(1.2765), estimated" in said
    assert "19.61" in said


def test_rates(tmp_path):
    asked = ("--incidents", 12, "--companies", 4, "--exposure", 100)
    code, found = document(*asked, "--limit", "2")
    assert code == 0
    assert found["targets"][0]["knowledge"] == pytest.approx(2.25)
    assert document(*asked, "--insider", 6, "--limit", "2")[0] == 1
    data = file(tmp_path, "size,cases,firms\nsmall,30,5\nlarge,6,5\n")
    code, found = document(
        data, "--target", "size", "--incidents", "cases", "--companies", "firms", "--limit", "2"
    )
    assert code == 1
    assert [row["verdict"] for row in found["targets"]] == ["FAIL", "PASS"]
    assert "incidents x (1 - 1/N) / N" in run(*asked, "--limit", "2").stdout


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ((), "name DATA and its --target"),
        (("example:estates",), "name DATA and its --target"),
        (("example:estates", "--target", "State"), "State"),
        ((*ESTATES, "--group", "State"), "State"),
        ((*ESTATES, "--uncertainty", "entropie"), "no uncertainty 'entropie'"),
        ((*ESTATES, "--uncertainty", "variance"), "'30+' of 'Estate' has no end"),
        (("example:estates", "--target", "Region", "--uncertainty", "variance"), "is a label"),
        ((*ESTATES, "--top", "90"), "about categories, not about their values"),
        ((*ESTATES, "--within", "triangle"), "within is 'triangle'"),
        ((*ESTATES, "--prior-worth", "9"), "give --prior or --prior-from"),
        ((*ESTATES, "--prior-by", "Region"), "columns of --prior-from"),
        ((*TOTAL, "--top", "9"), "--top goes with a table"),
        ((*TOTAL, "--prior-from", "x.csv"), "--prior-from goes with a table"),
        ((*ESTATES, "--measure", "gain"), "needs the prior"),
        ((*ESTATES, "--sampling-fraction", "0"), "sampling fraction is 0"),
        ((*ESTATES, "--sampling-fraction", "nan"), "sampling-fraction is nan"),
        ((*ESTATES, "--prior", "nowhere.csv"), "cannot read 'nowhere.csv'"),
        ((*TOTAL, "--incidents", "3"), "one at a time"),
        (TOTAL[:4], "--minimum is missing"),
        ((*TOTAL, "--group", "Region"), "go with a table"),
        (("--total", "x", "--number", "11", "--minimum", "10"), "'x' where a number"),
        (("--total", "50", "--number", "11", "--minimum", "10"), "sum to more than 110"),
        (("--total", "500", "--number", "1.5", "--minimum", "10"), "--number is 1.5"),
        ((*TOTAL, "--uncertainty", "entropy"), "a density has no entropy"),
        ((*TOTAL, "--alpha", "0"), "alpha is 0"),
        (("--incidents", "3"), "--companies is missing"),
        (("--incidents", "3", "--companies", "2", "--insider", "4"), "not so many"),
        (("--incidents", "3", "--companies", "2", "--uncertainty", "relative"), "0 is among them"),
    ],
)
def test_bad_input(arguments, message):
    result = run(*arguments, "--limit", "0.2")
    assert result.exit_code == 2, result.output
    assert result.stdout == ""
    assert message in result.stderr
    assert result.stderr.count("\n") == 1


@pytest.mark.parametrize(
    ("content", "message"),
    [
        ("Estate,probability\n10-19,0.5\n20-29,0.3\n30+,0.1\n", "sum to 0.9, not to 1"),
        ("Estate,probability\n10-19,0.5\n20-29,0.5\n", "no category '30+'"),
        ("Estate,probability\n10-19,0.5\n20-29,0.5\n30+,0\n", "no probability, but the table"),
        ("Estate,probability\n10-19,0.5\n10-19,0.5\n", "twice"),
        ("Estate,probability\n10-19,half\n", "'half' where a number"),
        ("Estate,chance\n10-19,1\n", "called 'chance'"),
        ("Estate,probability\n10-19,0.5,1\n", "3 fields"),
        ("Estate,probability,n\n10-19,0.5,1\n", "3 columns"),
        ("", "is empty; it needs a heading"),
    ],
)
def test_bad_priors(tmp_path, content, message):
    result = run(*ESTATES, "--prior", file(tmp_path, content), "--limit", "0.2")
    assert result.exit_code == 2
    assert message in result.stderr


def test_limits_that_are_none(tmp_path):
    assert run(*ESTATES).exit_code == 2
    assert "limit is nan" in run(*ESTATES, "--limit", "nan").stderr
    assert "limit is -1" in run(*ESTATES, "--limit", "-1").stderr
    broken = file(tmp_path, "{", "prior.json")
    assert "'prior.json' is not JSON" in run(*ESTATES, "--limit", 0, "--prior", broken).stderr
    flat = file(tmp_path, '{"10-19": 0.5, "20-29": 0.25, "30+": 0.25}', "flat.json")
    assert run(*ESTATES, "--limit", 0, "--prior", flat).exit_code == 0


LAST = "Year,Estate,n\n80,10-19,50\n80,20-29,30\n80,30+,5\n81,10-19,90\n81,20-29,12\n81,30+,18\n"


def test_categories_that_are_numbers(tmp_path):
    asked = (*ESTATES, "--uncertainty", "variance", "--limit", "300")
    code, found = document(*asked, "--group", "Region", "--top", 100, "--within", "uniform")
    assert code == 1
    assert found["targets"][0]["knowledge"] == pytest.approx(246.05655, abs=1e-4)
    assert found["about"].endswith("each category uniform within its range")
    assert found["notes"][0].endswith("30+ is 30 to 100.")
    values = file(tmp_path, "Estate,value\n10-19,12\n20-29,23\n30+,70\n")
    p = [163 / 224, 31 / 224, 30 / 224]
    mean = p[0] * 12 + p[1] * 23 + p[2] * 70
    expected = p[0] * 144 + p[1] * 529 + p[2] * 4900 - mean**2
    code, found = document(*asked, "--values", values)
    assert (code, found["targets"][0]["knowledge"]) == (0, pytest.approx(expected))
    code, found = document(*ESTATES, "--uncertainty", "relative", "--within", "pareto:1.2765",
                           "--limit", 0.1)  # fmt: skip
    assert code == 0
    assert "Pareto(1.2765)" in found["about"]


def test_a_prior_from_comparable_data(tmp_path):
    last = file(tmp_path, LAST)
    asked = (*ESTATES, "--limit", "0.2", "--prior-from", last, "--prior-count", "n")
    code, found = document(*asked, "--sampling-fraction", 0.5)
    assert code == 0
    assert found["elicited"]["worth"] == 205
    q = (163 + 140) / (224 + 205)
    assert found["targets"][0]["knowledge"] == pytest.approx(1 - 0.5 * 163 / 224 - 0.5 * q)
    code, found = document(*asked, "--prior-worth", 20)
    assert found["elicited"]["categories"][0]["weight"] == pytest.approx(20 * 140 / 205)
    code, found = document(*asked, "--prior-by", "Year")
    assert 0 < found["elicited"]["worth"] < 205
    assert found["elicited"]["worth_error"] > 0
    out = tmp_path / "page.html"
    shown = run(*asked, "--prior-by", "Year", "--html", out)
    assert "What was believed before" in shown.stdout
    assert "of 100 people" in shown.stdout
    assert "What was believed before" in out.read_text()


def test_shares_worth_so_many_and_quantiles(tmp_path):
    shares = file(tmp_path, "Estate,probability\n10-19,0.5\n20-29,0.3\n30+,0.2\n")
    code, found = document(*ESTATES, "--prior", shares, "--prior-worth", 30, "--limit", 0.1)
    assert found["elicited"]["worth"] == pytest.approx(30)
    stated = file(tmp_path, "probability,quantile\n0.1,0.02\n0.5,0.05\n0.9,0.1\n")
    rates = ("--incidents", 30, "--companies", 5, "--exposure", 100, "--measure", "gain")
    code, found = document(*rates, "--prior", stated, "--limit", 3)
    assert code == 1
    assert found["elicited"]["family"] == "gamma"
    code, found = document(*rates, "--prior", stated, "--limit", 3, "--prior-family", "lognormal")
    assert found["elicited"]["family"] == "lognormal"


@pytest.mark.parametrize(
    ("more", "message"),
    [
        (("--prior", "x.csv"), "give one"),
        (("--prior-by", "Town"), "no column 'Town'"),
        (("--prior-worth", "0"), "prior-worth"),
    ],
)
def test_bad_comparable_data(tmp_path, more, message):
    asked = (*ESTATES, "--limit", "0.2", "--prior-from", file(tmp_path, LAST), "--prior-count", "n")
    result = run(*asked, *more)
    assert result.exit_code == 2
    assert message in result.stderr
    odd = file(tmp_path, LAST.replace("30+", "40+"), "odd.csv")
    result = run(*ESTATES, "--limit", "0.2", "--prior-from", odd, "--prior-count", "n")
    assert "'40+', which is no category of 'Estate'" in result.stderr
