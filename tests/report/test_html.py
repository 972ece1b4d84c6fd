"""The HTML report: complete, self-contained, safe and readable by machines for people."""

import re
from html.parser import HTMLParser
from itertools import pairwise

import pytest

from discreet.decision.law.assess import assess
from discreet.decision.law.policy import Policy
from discreet.decision.law.verdict import Verdict
from discreet.errors import OutputError
from discreet.intruder.bounds.result import Status
from discreet.report.html import html_report, write_html
from discreet.report.sheets import small_rows
from discreet.report.words import CONFIDENTIAL, known_words
from discreet.risk.release.attribute import Disclosure
from discreet.table.load import load
from discreet.table.table import Table

VOID = {"meta", "br", "link", "img", "hr", "input", "path", "rect", "line"}


class Page(HTMLParser):
    """Elements, their attributes and text; complains about tags that do not match."""

    def __init__(self, source):
        super().__init__()
        self.open, self.elements, self.words = [], [], []
        self.feed(source)
        self.close()
        assert not self.open

    def handle_starttag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))
        if tag not in VOID:
            self.open.append(tag)

    def handle_startendtag(self, tag, attrs):
        self.elements.append((tag, dict(attrs)))

    def handle_endtag(self, tag):
        if tag not in VOID:
            assert self.open.pop() == tag

    def handle_data(self, data):
        if "style" not in self.open:
            self.words.append(data)

    @property
    def text(self):
        return re.sub(r"\s+", " ", " ".join(self.words))

    def all(self, tag):
        return [attrs for name, attrs in self.elements if name == tag]


@pytest.fixture(scope="module")
def page(tract):
    return Page(html_report(tract))


@pytest.mark.parametrize("name", ["tract", "safe", "blond", "hostile"])
def test_it_asks_nothing_of_the_network(name, request):
    source = html_report(request.getfixturevalue(name))
    page = Page(source)
    assert "http:" not in source
    assert "https:" not in source
    assert "@import" not in source
    assert "url(http" not in source
    for tag, attrs in page.elements:
        assert tag not in {"script", "link", "img", "iframe", "object", "form", "base"}
        assert attrs.get("href", "#").startswith("#")
        assert not {"src", "srcset", "action"} & set(attrs)
        assert not any(key.startswith("on") for key in attrs)
    policies = [m["content"] for m in page.all("meta") if m.get("http-equiv")]
    assert policies == [
        "default-src 'none'; style-src 'unsafe-inline'; base-uri 'none'; form-action 'none'"
    ]


def test_it_says_all_that_an_officer_signs(page, tract):
    text = page.text
    for words in (
        CONFIDENTIAL,
        "FAIL",
        "✗",
        "Do not publish these tables as they are.",
        "A count of 1 in Male, Chinese, up to $10,000",
        "Race by Income",
        "3 × 3 = 9 cells",
        "Merge Race to White; Black or Chinese",
        "Leave out Race*Income, keep Gender*Income + Race",
        "4 of 4 small counts can be narrowed to a width of less than 3",
        "0–1",
        "5 of 7 margins",
        "Categories and their order are public.",
        "small.width",
        "attribute.exclusion",
        tract.provenance.sha256,
        f"discreet {tract.provenance.versions['discreet']}",
        "Prepared by",
        "Approved by",
    ):
        assert words in text


def test_every_policy_key_is_there_with_its_meaning(page, tract):
    for key in tract.policy.to_dict():
        assert key in page.text
    assert "upper minus lower bound that every small count must keep" in page.text


def test_screen_readers_find_their_way(page):
    assert page.all("html") == [{"lang": "en"}]
    levels = [int(tag[1]) for tag, _ in page.elements if re.fullmatch(r"h[1-6]", tag)]
    assert levels[0] == 1
    assert levels.count(1) == 1
    assert all(b - a <= 1 for a, b in pairwise(levels))
    assert len(page.all("caption")) == len(page.all("table")) >= 3
    assert all(th.get("scope") in {"row", "col"} for th in page.all("th"))
    ids = [attrs["id"] for _, attrs in page.elements if "id" in attrs]
    assert len(ids) == len(set(ids))
    for _, attrs in page.elements:
        assert set(attrs.get("aria-labelledby", "").split()) <= set(ids)
        assert attrs.get("href", "#")[1:] in ("", *ids)
    charts = [svg for svg in page.all("svg") if svg.get("role") == "img"]
    assert len(charts) == len(page.all("desc")) == 2


def test_a_pass_needs_no_alternative(safe):
    text = Page(html_report(safe)).text
    assert "These tables may be published under this policy." in text
    assert "What to release instead" not in text


def test_disclosed_groups_have_a_table(blond):
    text = Page(html_report(blond)).text
    assert "Hair: Blond" in text
    assert "all have it" in text
    assert "none has it" in text
    assert "There is no count of 1 or 2 by Hair to narrow down" in text


def test_a_category_of_everybody_is_a_group_with_a_name():
    table = Table.of([[97, 98], [2, 2]], Ill=["no", "yes"], Sex=["m", "f"])
    found = assess(table, "Ill + Sex", Policy.of({"alternatives.seconds": 0.0}))
    assert "the whole table 199 Ill: no 195 at least 195 have it" in Page(html_report(found)).text


def test_a_group_of_unknown_size_is_nearly_all():
    found = Disclosure({"Sex": "m"}, "m", 60, "Ill", "no", 5, 60, counted=False)
    assert known_words(found) == "nearly all have it"


def test_what_the_verdict_rests_on_is_signed(page, tract):
    assert f"{tract.decision.basis[0].upper()}{tract.decision.basis[1:]}." in page.text
    assert f"Signatures FAIL: {tract.decision.basis}." in page.text


def test_the_proof_is_said_in_words(page, safe, fractions, doubtful):
    assert "The policy asks for tables of whole numbers that reach every width." in page.text
    assert "an intruder cannot narrow a count down to less" in Page(html_report(safe)).text
    said = Page(html_report(fractions)).text
    assert "who counts people as whole may narrow a count down to less" in said
    counted = r"\d reached by tables of whole numbers, \d reached by tables of fractions only\."
    assert re.search(rf"Intervals by linear programs: {counted}", said)
    assert "Question mark" not in said
    assert "Question mark" in Page(html_report(doubtful)).text


def test_a_row_has_the_verdict_of_its_rung(fractions, doubtful):
    rows = zip(small_rows(fractions), small_rows(doubtful), strict=True)
    for allowed, asked in rows:
        assert allowed.verdict is Verdict.PASS
        loose = asked.status is Status.LINEAR
        assert asked.verdict is (Verdict.REVIEW if loose else Verdict.PASS)


def test_published_counts_that_are_too_small_have_a_table(page, safe):
    assert "What other rules found" in page.text
    assert "Race*Income Race: Chinese, Income: up to $10,000 1" in page.text
    assert "What other rules found" not in Page(html_report(safe)).text


def test_hostile_labels_are_only_text(hostile):
    source = html_report(hostile)
    assert "<script" not in source
    assert "<b>" not in source
    assert "&lt;script&gt;alert(1)&lt;/script&gt;" in source
    assert "<script>alert(1)</script>" in Page(source).text


def test_long_lists_are_cut_and_say_so(hostile):
    page = Page(html_report(hostile))
    assert len(page.all("tr")) < 400
    assert re.search(r"… and [\d,]+ more cells, in the exported tables", page.text)


def test_so_are_the_cells_of_other_rules(ones):
    found = Page(html_report(ones)).text.partition("What other rules found")[2]
    assert "The first 100 are listed." in found
    assert "… and 50 more cells, in the exported tables" in found


def test_what_was_released_before_is_named(tract):
    both = assess(load("example:tract"), "Race", released="Gender*Income")
    assert "Gender*Income" in Page(html_report(both)).text
    assert "judged together with what is published already" in Page(html_report(both)).text


def test_changes_since_an_earlier_report(tract, safe):
    text = Page(html_report(safe, against=tract.to_json())).text
    assert "Since the earlier report" in text
    assert "Verdict: was FAIL, now PASS" in text
    assert "Since the earlier report" not in Page(html_report(safe)).text


def test_a_table_that_identifies_nobody(tmp_path):
    import dataclasses

    from discreet.data.codebook import Role

    table = Table.of([[1, 2], [3, 4]], A=["a", "b"], B=["c", "d"])
    quiet = tuple(dataclasses.replace(v, role=Role.NEITHER) for v in table.variables)
    found = assess(dataclasses.replace(table, variables=quiet), "A*B")
    text = Page(html_report(found)).text
    assert "PASS" in text
    assert "No variable can identify anybody." in text


def test_writing(tmp_path, tract):
    write_html(tract, tmp_path / "report.html")
    assert (tmp_path / "report.html").read_text(encoding="utf-8").startswith("<!DOCTYPE html>")
    with pytest.raises(OutputError, match="nowhere"):
        write_html(tract, tmp_path / "nowhere" / "report.html")
