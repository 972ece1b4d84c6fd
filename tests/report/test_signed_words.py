"""Words that an officer signs: what was looked at, which number counts, and no bare codes."""

import io
import itertools

import numpy as np
import pandas as pd
import pytest
from rich.console import Console

import discreet as dc
from discreet.decision.law.findings import narrowed
from discreet.errors import DataError
from discreet.look.pages import page_of
from discreet.report.compare import diff
from discreet.report.html import html_page
from discreet.report.terminal import print_page
from discreet.table.words import spoken


def read(result, width=100, **options):
    """The page of a result as a terminal shows it, on one line."""
    console = Console(file=io.StringIO(), width=width)
    print_page(page_of(result, **options), console)
    return " ".join(console.file.getvalue().split())


@pytest.fixture(scope="module")
def wide():
    """Eight named variables; one count of 1."""
    names = ["Sex", "Age", "Town", "Home", "Work", "School", "Car", "Ill"]
    cells = np.array(list(itertools.product([0, 1], repeat=8)))[::8]
    rows = np.repeat(cells, [1, *[9] * (len(cells) - 1)], axis=0)
    frame = pd.DataFrame(rows, columns=names)
    return dc.load(frame.replace({0: "low", 1: "high"}), records=True)


def test_eight_variables_are_named(wide):
    small = wide.small(1)
    found = dc.bounds(dc.Release.margins(wide, "Sex*Age + Age*Town"), small)
    said = "Sex=low, Age=low, Town=low, Home=low, Work=low, School=low, Car=low, Ill=low"
    assert narrowed(small, found, 0) == f"a count of 1 in {said} can be narrowed to 0-64"
    shown = read(found, width=60, counts=small.counts)
    assert all(part in shown for part in said.split(", "))


def test_three_variables_need_no_names():
    tract = dc.load("example:tract")
    cell = {"Gender": "Male", "Race": "Chinese", "Income": "up to $10,000"}
    assert spoken(cell, tract.variables) == "Male, Chinese, up to $10,000"


@pytest.fixture(scope="module")
def by_role():
    """The whole table has counts of 1; that of what can identify has none."""
    frame = pd.DataFrame({"Sex": ["f"] * 10 + ["m"] * 10, "Ill": ["no"] * 9 + ["yes"] * 11})
    roles = {"Sex": {"role": "identifying"}, "Ill": {"role": "sensitive"}}
    return dc.load(frame, codebook=dc.Codebook.of(roles), records=True)


def test_the_table_that_was_looked_at(by_role):
    found = dc.assess(by_role, "Sex + Ill")
    assert "the table of Sex, which alone can identify, has no count of 1 or 2" in str(found)
    figures = {what: n for n, what in page_of(found).figures}
    assert figures["counts of 1 or 2 in the table of Sex, which alone can identify"] == "0"
    with pytest.raises(DataError, match="the table of Sex, which alone can identify, has no count"):
        dc.frontier(by_role, beta=3)


def test_one_of_two_risks_is_to_be_signed():
    rng = np.random.default_rng(3)
    people = pd.DataFrame(rng.integers(0, 4, (60, 4)), columns=list("abcd"))
    found = dc.uniques(people, "a,b,c,d", population=600)
    signed, by = found.to_sign
    others = found.risk.expected - float(found.risk.risk[found.classes.frequency == 1].sum())
    assert found.risk_by_model == pytest.approx(found.population.tau2 + others)
    assert signed == max(found.risk.expected, found.risk_by_model)
    assert found.to_json()["to_sign"] == {"expected": signed, "by": by}
    said = read(found)
    assert f"Risk to sign: {signed:,.4g} records would be linked" in said
    assert "the larger of two" in said
    alone = dc.uniques(people, "a,b,c,d")
    assert alone.to_sign == (alone.risk.expected, "file")
    assert "the file is taken for the population" in read(alone)


@pytest.fixture(scope="module")
def survey():
    """The class lives in one area, which is suppressed."""
    areas = {"area": ["North", "South", "East", "West"]}
    return dc.publish(
        [20, 20, 20, 20], [90, 90, 90, 90], [0, 0, 0, 1], alpha=0.0622, beta=37.96, columns=areas,
        ratio=0.5,
    )  # fmt: skip


def test_both_shares_of_a_publication(survey):
    assert (int(survey.publish.sum()), survey.data_published) == (3, 0)
    assert read(survey).startswith(
        "Publish 3 of 4 cells, with 0% of the sampled people in the class, at 0%"
    )
    title = survey.plot().to_dict()["title"]
    assert "3 of 4 cells published" in str(title)
    assert "suppressed" not in str(title["text"])


def test_the_share_of_people_and_that_of_the_loss():
    counts = [20, 20, 20, 20], [90, 90, 90, 90], [0, 0, 3, 1]
    found = dc.publish(*counts, alpha=1, beta=9, nonpublication="cells", ratio=1.2)
    share = found.counts.y[found.publish].sum() / 4
    said = f"with {share:.0%} of the sampled people in the class, {found.data_published:.0%} of"
    assert said in read(found)


def test_symbols_of_a_publication_are_explained(survey):
    said = read(survey)
    for words in (
        "R0 and R1: the expected loss of suppressing the cell and of publishing it",
        "E Y of the N are expected to be",
        "around 0.2% (beta distribution with alpha 0.0622 and beta 37.96, given)",
        "alone in one of 10 equally large subclasses (loss uniques:10, equation 2",
        "below 0.5 times that of suppressing",
    ):
        assert words in said
    assert "beta(0.0622" not in said


def test_knowledge_names_what_is_known():
    table = dc.load("example:czech")
    found = dc.knowledge(table, target="F", group=["A", "B"], limit=0.25)
    assert found.about == "F of somebody whose A and B are known"
    assert found.rows[0].label == "A=no, B=no"
    said = read(found)
    assert said.startswith("✗ FAIL F of somebody whose A and B are known: 4 of 4 targets beyond")
    assert "most is known of A=no, B=no: 'negative' with probability 89.1%" in said
    one = dc.knowledge(dc.load("example:estates"), target="Estate", group="Region", limit=0.01)
    assert "all 4 targets within the limit" in read(one)


def test_margins_that_were_lost_are_counted():
    """Brute force: all non-empty sets of variables that lie within a margin."""
    tract = dc.load("example:tract")
    old, new = dc.assess(tract, "Race*Income*Gender"), dc.assess(tract, "Race")
    found = diff(old, new)

    def inside(margins):
        return {
            frozenset(some)
            for margin in margins
            for size in range(1, len(margin) + 1)
            for some in itertools.combinations(margin, size)
        }

    lost = inside([("Race", "Income", "Gender")]) - inside([("Race",)])
    assert found.margins == (0, len(lost)) == (0, 6)
    assert "margins lost: 6 (Gender*Race*Income and what is inside)" in str(found)
    assert found.to_json()["margins"]["number_lost"] == 6


def test_a_page_says_how_it_is_done_again(by_role):
    from dataclasses import replace

    page = replace(page_of(dc.assess(by_role, "Sex")), again={"command": "discreet <b>"})
    assert "<span>discreet</span> <span>&lt;b&gt;</span>" in html_page(page)
    assert "To do this again" not in html_page(replace(page, again=None))
