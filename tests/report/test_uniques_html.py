"""The page on records that stand out: findings first, nothing external, nobody's keys."""

import re

import pandas as pd
import pytest
from click.testing import CliRunner

from discreet.cli import main
from discreet.report.html import html_report
from discreet.report.words import CONFIDENTIAL
from discreet.risk.uniques.uniques import uniques
from paged import check_tags

PEOPLE = pd.DataFrame(
    {
        "home": [1, 1, 2, 2, 3, 3, 4, 5],
        "sex": ["femme", "homme", "femme", "homme", "femme", "femme", "homme", "homme"],
        "born": [1930, 1930, 1930, 1940, 1950, 1950, None, 1940],
        "<b>town": [*["Avaler"] * 3, *["Brund"] * 4, "Avaler"],
        "ill": ["non", "non", "oui", "non", "non", "oui", "oui", "non"],
        "w": [10, 10, 12, 12, 5, 5, 8, 20],
    }
)
KEYS = "sex,born,<b>town"


def plain(source):
    body = re.sub(r"<style>.*?</style>", "", source, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


@pytest.fixture(scope="module")
def found():
    return uniques(PEOPLE, KEYS, weights="w", sensitive="ill", household="home")


@pytest.fixture(scope="module")
def page(found):
    return html_report(found, k=2)


def test_it_says_all_that_an_officer_signs(page):
    text = plain(page)
    for words in (
        CONFIDENTIAL,
        "✗ FAIL",
        "4 of 8 records in classes below 2.",
        "4 of 8 records unique in sex, born, &lt;b&gt;town.",
        "Keys sex, born, &lt;b&gt;town",
        "2 for each record, itself included",
        "4 of 8 records are unique.",
        "would be linked to the right person",
        "Special uniques: 4 records stand out by 3 keys or fewer.",
        "Households: 1.328 of 5 would be found.",
        "Ill: the class says it of 4 records.",
        "7 1 0.2971",
        "A missing value is a category of its own.",
        "Weights sum to 82.",
        "Approved by",
    ):
        assert words in text, words


def test_it_is_well_formed_and_asks_nothing_of_the_network(page):
    for word in ("http:", "https:", "@import", "src=", "<script", "<link", "<img", "<b>"):
        assert word not in page
    check_tags(page)
    assert page.count("<desc") == 4


def test_nobodys_keys_are_in_it(page):
    said = set(re.findall(r"\w+", plain(page)))
    for name in ("sex", "born", "<b>town", "ill"):
        values = PEOPLE[name].dropna()
        assert not said & {str(int(v)) if name == "born" else v for v in values}


def test_from_the_command_line(tmp_path):
    PEOPLE.to_csv(tmp_path / "people.csv", index=False)
    out = tmp_path / "out.html"
    asked = ["uniques", str(tmp_path / "people.csv"), "--keys", "sex", "--html"]
    result = CliRunner().invoke(main, [*asked, str(out)])
    assert result.exit_code == 0, result.output
    assert "Report:" in result.stdout
    page = out.read_text(encoding="utf-8")
    assert "<title>uniqueness assessment of people.csv</title>" in page
    assert "No limit is set: a person has to decide." in page
    assert "0 of 8 records unique in sex" in page
    refused = CliRunner().invoke(main, [*asked, str(tmp_path / "nowhere" / "out.html")])
    assert refused.exit_code == 2
