"""The page on identification: findings first, nothing external, nobody's keys or id."""

import re

import numpy as np
import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.errors import OutputError
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.report import identify_words
from discreet.report.html import html_report, write_html
from discreet.report.identify import MOST_EXPOSED
from discreet.report.words import CONFIDENTIAL
from discreet.risk.linkage.harm import Costs, harm
from discreet.risk.linkage.identification import identify
from discreet.risk.linkage.matching import matching
from paged import check_outline, check_tags

MATRIX = {"Zanzibar": {"Zanzibar": 0.9, "Quito": 0.1}, "Quito": {"Zanzibar": 0.2, "Quito": 0.8}}
KEYS = {
    "income": {"kind": "lognormal", "spread": 0.05},
    "town": {"kind": "category", "matrix": MATRIX},
    "sex <b>": {"kind": "category", "keep": 0.95},
    "weight": {"kind": "normal", "spread": [2, 9], "weights": [0.8, 0.2]},
    "height": {"kind": "normal", "spread": "estimated"},
    "job": {"kind": "unknown"},
}
COSTS = {"FN": 1, "TN": 2, "FF": 10, "FT": 6, "TF": 8, "TT": 5}


def people(n=60, seed=3):
    rng = np.random.default_rng(seed)
    source = pd.DataFrame(
        {
            "person": [f"P{k}" for k in rng.permutation(10_000)[:n]],
            "income": rng.lognormal(10, 1, n).round(3),
            "town": rng.choice(["Zanzibar", "Quito"], n),
            "sex <b>": rng.choice(["femme", "homme"], n),
            "weight": rng.normal(70, 9, n).round(3),
            "height": rng.normal(170, 9, n).round(3),
            "ill": rng.choice(["malade", "saine"], n),
            "region <i>": rng.choice(["<script>alert(1)</script>", "South"], n),
        }
    )
    masked = source.sample(n // 2, random_state=seed).drop(columns="region <i>")
    masked["income"] = (masked["income"] * rng.lognormal(0, 0.05, len(masked))).round(3)
    for name in ("weight", "height"):
        masked[name] = (masked[name] + rng.normal(0, 2, len(masked))).round(3)
    return source, masked


@pytest.fixture(scope="module")
def whole():
    """What the page is given, and the two files."""
    source, masked = people()
    tied = [{"keys": ["income", "height"], "value": 0.25}]
    known = {"population": 70, "losses": {"wrong": 2}, "correlation": tied}
    intruder = Intruder.of({"keys": KEYS} | known)
    costs = Costs.of({"sensitive": "ill", "group": ["region <i>"], "costs": COSTS})
    records = read_records(
        source, masked, intruder, id="person", also=("ill",), groups=costs.groups
    )
    found = identify(records, intruder, act=0.5)
    near = matching(records, intruder, found.data)
    felt = harm(records, found, costs)
    return (found, {"intruder": intruder, "near": near, "felt": felt}), (source, masked)


@pytest.fixture(scope="module")
def unknown():
    """Without an id."""
    source, masked = people()
    intruder = Intruder.of({"keys": KEYS, "present": True})
    return identify(read_records(source, masked, intruder), intruder, act=0.2), intruder


@pytest.fixture(scope="module")
def page(whole):
    found, more = whole[0]
    return html_report(found, **more)


@pytest.fixture(scope="module")
def bare(unknown):
    return html_report(unknown[0], intruder=unknown[1])


def plain(source):
    body = re.sub(r"<style>.*?</style>", "", source, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


@pytest.mark.parametrize("name", ["page", "bare"])
def test_it_asks_nothing_of_the_network(name, request):
    source = request.getfixturevalue(name)
    for word in ("http:", "https:", "@import", "url(http", "src=", "<script", "<link", "<img"):
        assert word not in source
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)', source))
    assert "default-src 'none'; style-src 'unsafe-inline'" in source


@pytest.mark.parametrize("name", ["page", "bare"])
def test_tags_match_and_references_hold(name, request):
    source = request.getfixturevalue(name)
    check_tags(source)
    check_outline(source)


def test_nobodys_keys_or_id_are_in_it(whole, page, bare):
    """Row numbers only; labels of groups are no keys, and what is inferred has counts only."""
    places = r'\s(?:d|transform|[xy][12]?|width|height|viewBox)="[^"]*"'
    text = re.sub(r"(?<=\d),(?=\d)", "", re.sub(places, "", page + bare))
    said = set(re.findall(r"\w+(?:\.\d+)?", text))
    assert "respondents" in said
    for frame in whole[1]:
        for name in ("person", "income", "town", "sex <b>", "weight", "height"):
            assert not said & set(frame[name].astype(str))
    start, end = (page.index(f">{words}</h2>") for words in ("What is inferred", "Harm by group"))
    for label in ("malade", "saine"):
        assert label in page[start:end]
        assert label not in page[:start] + page[end:]


def test_it_says_all_that_an_officer_signs(whole, page):
    found, more = whole[0]
    near, felt = more["near"], more["felt"]
    text = plain(page)
    for words in (
        CONFIDENTIAL,
        "Identification assessment",
        f"{found.linked.sum()} respondents of 60 linked with probability 0.5 or more",
        f"{found.true.acted:g} of 30 released records correctly identified",
        "No limit is set for this risk: a person has to decide.",
        "Keys income, town, sex &lt;b&gt;, weight, height The intruder acts",
        "on links with a probability of 0.5 or more, unless no link is cheaper",
        f"{found.perceived.above} of 60 respondents have a link of 0.5 or more.",
        "best links:",
        f"{near.matched} of 30 released records nearest to their own source record",
        "The most exposed records",
        f"Harm from ill: {felt.total:,.6g}",
        "right record, true inference",
        "region &lt;i&gt; South",
        "all link probabilities exact" if found.links.exact == 1 else "approximate",
        "income: the logarithm of the value with normal noise of standard deviation 0.05.",
        "town: a category that changes with given probabilities.",
        "sex &lt;b&gt;: a category that stays with probability 0.95.",
        "weight: the value with normal noise of standard deviation 2 for 80%, 9 for 20%.",
        "height: the value with normal noise, whose spread is estimated from the files.",
        "job: not known to the intruder.",
        "The noise of income and height has a correlation of 0.25.",
        "a sample of 70 people, of whom 60 are in the source.",
        "The intruder does not know that a respondent was released.",
        "A wrong link costs the intruder 2, a missed one 1",
        "ill is inferred from the linked record.",
        "Approved by",
    ):
        assert words in text, words
    assert "The policy" not in text


def test_the_most_exposed_by_row_number(whole, page):
    found = whole[0][0]
    first = found.most_exposed(1)[0]
    rows = re.findall(r'<tr><th scope="row">(\d+)</th><td>(\d+)</td>', page)
    assert (str(first["row"]), str(first["released_row"])) == rows[0]
    assert len(rows) == MOST_EXPOSED
    assert f"{first['probability']:.4f}" in page
    assert re.search(r"income [\d.]+x", page)


def test_what_is_not_known_is_not_said(bare):
    text = plain(bare)
    assert "True links not known" in text
    assert "The intruder knows that a respondent was released." in text
    assert "The released records are a sample of the source." in text
    for words in ("How often that is right", "correctly identified", "Harm", "nearest"):
        assert words not in text


def test_a_chart_for_pages_and_one_for_phones(page, bare):
    for source, many in ((page, 4), (bare, 1)):
        charts = re.findall(r'<div class="chart (wide|phone)"><svg[^>]*width="([\d.]+)"', source)
        wide = [float(width) for size, width in charts if size == "wide"]
        phone = [float(width) for size, width in charts if size == "phone"]
        assert len(wide) == len(phone) == many
        assert max(phone) < 410 < min(wide)
        assert source.count("<desc") == len(charts)


@pytest.mark.parametrize(
    ("costs", "says"),
    [
        ({"bayes": {"F": {"malade": 9, "saine": 0}, "T": {"malade": 3, "saine": 0}}},
         "Costs are weighted by what is believed of each category."),
        ({"costs": COSTS, "infer": {"malade": 0.5}, "belief": "mixture"},
         "It is inferred if it is believed as much as is given for its category."),
        ({"number": {"cost": "threshold", "limit": 61, "loss": 3}},
         "It costs the respondent 3 if it is believed to be above 61."),
    ],
)  # fmt: skip
def test_every_kind_of_harm_is_explained(costs, says):
    assert says in identify_words.harm_assumed(Costs.of({"sensitive": "ill"} | costs))


def test_the_plots_of_results(whole):
    found, felt = whole[0][0], whole[0][1]["felt"]
    assert "of 60 respondents have a link" in found.plot().description
    assert "best links" in found.plot_reliability().description
    assert sum(n for n, *_ in found.reliability) == (found.links.perceived > 0).sum()
    right = sum(n * share for n, _, share in found.reliability)
    assert right == pytest.approx(found.true.best)
    assert felt.plot().description.startswith(f"Harm of {felt.total:g} to 60 respondents")
    assert felt.plot_groups().description.startswith("Harm a respondent:")
    assert sum(felt.harm_by_outcome.values()) == pytest.approx(felt.total)


def test_from_the_command_line(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    source, masked = people()
    source.to_csv("all people.csv", index=False)
    masked.to_csv("masked.csv", index=False)
    (tmp_path / "in.toml").write_text('[keys.income]\nkind = "lognormal"\nspread = 0.05\n')
    files = ["--source", "all people.csv", "--released", "masked.csv", "--intruder", "in.toml"]
    result = CliRunner().invoke(main, ["identify", *files, "--id", "person", "--html", "out.html"])
    assert result.exit_code == 0, result.output
    assert "Report: out.html" in result.stdout
    page = (tmp_path / "out.html").read_text(encoding="utf-8")
    assert "<title>identification assessment of masked.csv</title>" in page
    assert "Source all people.csv SHA-256" in plain(page)
    assert page.count("SHA-256") == 3
    refused = CliRunner().invoke(main, ["identify", *files, "--html", "nowhere/out.html"])
    assert refused.exit_code == 2
    assert "nowhere" in refused.stderr


def test_writing(tmp_path, unknown):
    write_html(unknown[0], tmp_path / "page.html")
    source = (tmp_path / "page.html").read_text(encoding="utf-8")
    assert source.startswith("<!DOCTYPE html>")
    assert "of records in memory</title>" in source
    with pytest.raises(OutputError, match="nowhere"):
        write_html(unknown[0], tmp_path / "nowhere" / "page.html")
