"""A frontier in a terminal and as a page: findings first, nothing external, nothing dangerous."""

import dataclasses
import io
import re
from itertools import pairwise

import numpy as np
import pytest
from rich.console import Console

from discreet.decision.frontier.frontier import frontier
from discreet.decision.law.policy import Policy
from discreet.errors import OutputError
from discreet.intruder.bounds.result import NONE_HIGH, NONE_LOW
from discreet.report import frontier_words
from discreet.report.assessment import MOST_NAMES
from discreet.report.frontier import MOST_CELLS, frontier_page
from discreet.report.html import html_report, write_html
from discreet.report.terminal import print_page
from discreet.report.words import CONFIDENTIAL
from discreet.table.formula import Formula
from discreet.table.lattice import closure
from discreet.table.load import load
from discreet.table.table import Table
from paged import check_outline, check_tags

SCRIPT = "<script>alert(1)</script>"


@pytest.fixture(scope="module")
def tract():
    """Proven best, few small counts."""
    return frontier(load("example:tract"), beta=3)


@pytest.fixture(scope="module")
def greedy():
    """Users, one of whom asks for what cannot be had."""
    wishes = {"Ann": {"A*B": 3, "D*E": 1}, "Cy <b>": {"A*B*C*D*E*F": 1, "A": 3}}
    return frontier(load("example:czech"), beta=3, method="greedy", weights=wishes)


@pytest.fixture(scope="module")
def hostile():
    """Labels that would do harm; many variables, small counts and maximal margins."""
    counts = np.random.default_rng(5).poisson(6, (4, 3, 3, 2, 2))
    table = Table.of(
        counts,
        **{
            "Region & <b>place</b>": [SCRIPT, 'a"b', "South", "a long name " * 6],
            "=Job": ["=1+1", "@x", "-2"],
            "Escape": ["\x1b[31mred", "[bold]rich[/bold]", "plain"],
            "D": ["0", "1"],
            "E": ["0", "1"],
        },
    )
    return frontier(table, beta=3, small=4, method="decomposable")


@pytest.fixture(scope="module")
def loose(hostile):
    """The same, as if no table had proven anything."""
    case = dataclasses.replace(hostile.decision.case)
    small = hostile.decision.case.small
    n = len(small.cells)
    unseen = dataclasses.replace(
        small.bounds,
        seen_low=np.full(n, NONE_LOW),
        seen_high=np.full(n, NONE_HIGH),
        fit_low=np.full(n, NONE_LOW),
        fit_high=np.full(n, NONE_HIGH),
    )
    case.__dict__["small"] = dataclasses.replace(small, bounds=unseen)
    decision = dataclasses.replace(hostile.decision, case=case)
    return dataclasses.replace(hostile, decision=decision, maximal=True, at_most=9999.0)


@pytest.fixture(scope="module")
def quiet():
    """A table without a small count."""
    policy = Policy.of({"attribute.check": False, "published.least": 0})
    table = Table.of([[10, 20], [30, 40]], A=["a", "b"], B=["c", "d"])
    return frontier(table, policy=policy, method="greedy")


def printed(found, width=80, **options):
    file = io.StringIO()
    console = {key: options.pop(key) for key in ("force_terminal",) if key in options}
    page = frontier_page(found, **options)
    print_page(page, Console(file=file, width=width, highlight=False, **console))
    return file.getvalue()


def plain(source):
    body = re.sub(r"<style>.*?</style>", "", source, flags=re.DOTALL)
    return re.sub(r"\s+", " ", re.sub(r"<[^>]*>", " ", body))


def lines(text):
    return [re.sub(r"\s+", " ", line).strip() for line in text.splitlines()]


# In a terminal


def test_the_verdict_and_the_headline_come_first(tract):
    text = " ".join(printed(tract, width=100).split())
    assert text.startswith(
        "✓ PASS 4 of 7 margins (57.14%) can be released, in 2 maximal margins (policy widths "
        "alone; proven by tables of whole numbers; identifying Gender, Race, Income; sensitive "
        "Income) "
    )
    assert "narrowest width: 5; the policy asks for 3" in text
    assert "proven that no set that keeps the policy has more margins" in text
    assert "the width of every small count is proven by tables" in text


def test_orders_variables_cells_and_margins(tract):
    text = lines(printed(tract, width=100))
    for line in (
        "1 3 3 100%",
        "2 1 3 33.33%",
        "3 0 1 0%",
        "Gender 2 50.00%",
        "Race 1 25.00%",
        "Male Chinese up to $10,000 1 0 5 sharp",
        "4 small counts keep a width of 3 or more",
        "2 maximal margins, those of most variables first",
        "Gender*Income",
        "Categories and their order are public.",
    ):
        assert line in text


def test_users_least_served_first(greedy):
    text = lines(printed(greedy, width=100))
    start = text.index("Users: share of what they asked for, least served first")
    assert text[start + 1] == "user missed margins asked for served first come"
    assert text[start + 2] == "Cy <b> A*B*C*D*E*F 2 75% 75%"
    assert text[start + 3].startswith("Ann nothing 2 100%")
    assert "Users" not in printed(dataclasses.replace(greedy, users=(), first_come=()))


@pytest.mark.parametrize("name", ["tract", "greedy", "hostile", "loose", "quiet"])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_it_fits(name, width, request):
    text = printed(request.getfixturevalue(name), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


def test_long_lists_are_cut(hostile):
    cells, margins = len(hostile.decision.case.small.cells), len(hostile.formula)
    text = printed(hostile, width=120, short=1)
    assert f"... and {cells - 1:,} more" in text
    assert f"... and {margins - 1:,} more" in text
    assert "... and" not in printed(hostile, width=120, short=10_000)


def test_labels_are_neither_markup_nor_escapes(hostile):
    text = printed(hostile, width=200, force_terminal=True, short=1000)
    assert "[bold]rich[/bold]" in text
    assert "\x1b[31mred" not in text


def test_what_is_not_proven_is_said(loose):
    text = " ".join(printed(loose, width=200).split())
    n = len(loose.decision.case.small.cells)
    assert f"{n} small counts not proven by tables to keep the width" in text
    assert "none by one more margin, but quite another set may be larger" in text
    assert "has more than 9,999 margins" in text
    unknown = dataclasses.replace(loose, maximal=None, at_most=None)
    assert "it was not found out whether a margin can be added" in printed(unknown, width=200)


def test_no_small_count(quiet):
    text = printed(quiet, width=120)
    assert "There is no count of 1 or 2 to narrow down" in text
    assert "there is no small count" in text


def test_margins_with_each_variable(greedy):
    released = closure(greedy.formula.sets)
    names = greedy.formula.names
    expected = {n: sum(s >> p & 1 for s in released) for p, n in enumerate(names)}
    found = frontier_words.variable_rows(greedy)
    assert dict(found) == expected
    assert all(a[1] >= b[1] for a, b in pairwise(found))


# As a page


@pytest.mark.parametrize("name", ["tract", "greedy", "hostile", "loose", "quiet"])
def test_it_asks_nothing_of_the_network(name, request):
    source = html_report(request.getfixturevalue(name))
    for word in ("http:", "https:", "@import", "url(http", "src=", "<script", "<link", "<img"):
        assert word not in source
    assert all(target.startswith("#") for target in re.findall(r'href="([^"]*)', source))
    assert "default-src 'none'; style-src 'unsafe-inline'" in source


@pytest.mark.parametrize("name", ["tract", "greedy", "hostile", "loose", "quiet"])
def test_tags_match_and_references_hold(name, request):
    source = html_report(request.getfixturevalue(name))
    check_tags(source)
    check_outline(source)


def test_it_says_all_that_an_officer_signs(tract):
    source = html_report(tract)
    text = plain(source)
    for words in (
        CONFIDENTIAL,
        "Release frontier",
        "✓ PASS",
        "These tables may be published under this policy.",
        "4 of 7 margins (57.14%) can be released: 2 maximal margins",
        "Gender by Income",
        "2 × 3 = 6 cells",
        "Gender is in 2 released margins, Race is in 1.",
        "4 small counts keep a width of 3 or more",
        "Male Chinese up to $10,000 1 0–5 5",
        "33.33%",
        "None: it is proven that no set that keeps the policy has more margins",
        "Categories and their order are public.",
        "upper minus lower bound that every small count must keep",
        "SHA-256",
        "Approved by",
    ):
        assert words in text, words
    assert "Who is served" not in text


def test_a_chart_for_pages_and_one_for_phones(hostile):
    source = html_report(hostile)
    charts = re.findall(r'<div class="chart (wide|phone)"><svg[^>]*width="([\d.]+)"', source)
    wide = [float(width) for size, width in charts if size == "wide"]
    phone = [float(width) for size, width in charts if size == "phone"]
    assert len(wide) == len(phone) >= 4
    assert max(phone) < 410 < min(wide)
    assert source.count("<desc") == len(charts)


def test_users_have_a_table(greedy):
    text = plain(html_report(greedy))
    assert "Who is served" in text
    assert "Cy &lt;b&gt; 2 75% 75% A*B*C*D*E*F" in text
    assert "First come, first served" in text
    alone = plain(html_report(dataclasses.replace(greedy, first_come=())))
    assert "First come, first served" not in alone


def test_the_search_is_drawn_if_it_got_better(greedy):
    assert "How it was found" in plain(html_report(greedy))
    better = dataclasses.replace(
        greedy, users=(), first_come=(), trace=((0.5, 20.0), (7.0, 61.0)), at_most=None
    )
    assert "61 margins found after 7 seconds." in plain(html_report(better))
    assert "margins found" not in plain(html_report(dataclasses.replace(greedy, trace=())))


def test_long_lists_are_folded_or_cut(hostile):
    assert "more margins</summary>" not in html_report(hostile)
    sets = tuple(s for s in range(1 << 10) if s.bit_count() == 3)
    wide = Formula(tuple(f"v{p}" for p in range(10)), sets)
    text = plain(html_report(_with_formula(hostile, wide)))
    assert f"{120 - MOST_NAMES} more margins" in text
    assert "v7*v8*v9" in text
    cells = len(hostile.decision.case.small.cells) - MOST_CELLS
    assert cells > 0
    assert f"… and {cells} more cells, in the JSON document." in text


def _with_formula(found, formula):
    """The frontier with other margins, over a table that has their variables."""
    table = Table.of(np.ones((2,) * 10, int), **{name: ["0", "1"] for name in formula.names})
    case = dataclasses.replace(found.decision.case, table=table)
    case.__dict__["small"] = found.decision.case.small
    decision = dataclasses.replace(found.decision, case=case)
    return dataclasses.replace(found, formula=formula, decision=decision)


def test_hostile_labels_are_only_text(hostile):
    source = html_report(hostile)
    assert "<script" not in source
    assert "<b>" not in source
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in source
    assert "Region &amp; &lt;b&gt;place&lt;/b&gt;" in source


def test_doubt_is_said_with_the_verdict(loose):
    source = html_report(loose)
    n = len(loose.decision.case.small.cells)
    assert f"{n} of {n} small counts not proven to keep a width of 3." in plain(source)
    assert "Question marks: not proven to be so wide." in plain(source)


def test_without_small_counts(quiet):
    text = plain(html_report(quiet))
    assert "There is no count of 1 or 2 to narrow down." in text
    assert "3 of 3 margins (100%) can be released" in text


def test_writing(tmp_path, tract):
    data = tmp_path / "people.csv"
    data.write_text("A,B\n", encoding="utf-8")
    write_html(tract, tmp_path / "frontier.html", data=data)
    source = (tmp_path / "frontier.html").read_text(encoding="utf-8")
    assert source.startswith("<!DOCTYPE html>")
    assert "<title>PASS: release frontier of people.csv</title>" in source
    with pytest.raises(OutputError, match="nowhere"):
        write_html(tract, tmp_path / "nowhere" / "frontier.html")
