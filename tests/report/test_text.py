"""An assessment in a terminal: verdict first, never long, never more than its width."""

import io

import numpy as np
import pytest
from rich.console import Console

from discreet.look.pages import page_of
from discreet.report.terminal import print_page


def printed(result, width=80, options=None, **console):
    file = console.pop("file", None) or io.StringIO()
    page = page_of(result, **options or {})
    print_page(page, Console(file=file, width=width, highlight=False, **console))
    file.seek(0)
    return file.read()


def test_the_verdict_comes_first(tract):
    text = printed(tract)
    assert text.startswith("✗ FAIL")
    assert "Race*Income + Gender*Income" in text.splitlines()[0]
    assert "a count of 1 in Male, Chinese, up to $10,000" in text
    assert "✓ PASS    merge Race to White; Black or Chinese" in text
    assert "5 of 7 margins (71%)" in text


@pytest.mark.parametrize("name", ["tract", "safe", "blond", "fractions", "hostile"])
@pytest.mark.parametrize("width", [40, 80, 200])
def test_it_fits(name, width, request):
    text = printed(request.getfixturevalue(name), width=width)
    assert max(map(len, text.splitlines())) <= width
    assert "\x1b" not in text


def test_long_lists_are_cut(hostile):
    text = printed(hostile, width=120)
    left = len(hostile.decision.case.small.cells) - 20
    assert f"... and {left:,} more" in text
    assert len(text.splitlines()) < 120


def test_labels_are_neither_markup_nor_escapes(hostile):
    text = printed(hostile, width=200, force_terminal=True)
    assert "[bold]rich[/bold]" in text
    assert "\x1b[31mred" not in text


def test_colour_only_on_a_terminal(tract):
    assert "\x1b[1;31m✗ FAIL" in printed(tract, force_terminal=True, color_system="standard")


@pytest.mark.parametrize("encoding", ["ascii", "cp1252"])
def test_a_terminal_without_unicode(tract, encoding):
    file = io.TextIOWrapper(io.BytesIO(), encoding=encoding)
    text = printed(tract, file=file)
    assert text.startswith("x FAIL")
    assert "0-1" in text


def test_disclosed_groups(blond):
    text = printed(blond)
    assert "2 groups with a disclosed category" in text
    assert "all of the 4 in Blond have Income High" in text


def test_what_a_verdict_rests_on_is_said_if_it_is_not_whole_tables(fractions, doubtful, safe):
    text = " ".join(printed(fractions, width=100).split())
    assert text.startswith("✓ PASS")
    assert "by linear bounds, which tables of fractions reach" in text
    assert "but some of them hold fractions of people." in text
    assert "9 small counts keep a width of 1 or more" in text
    text = " ".join(printed(doubtful, width=100).split())
    assert text.startswith("? REVIEW")
    assert "The policy asks for tables of whole numbers that reach every width." in text
    assert "of 9 small counts not proven to keep a width of 1" in text
    assert "every width" not in printed(safe)


def test_linear_bounds_say_so(doubtful):
    bounds = doubtful.decision.case.small.bounds
    text = printed(bounds, options={"beta": 1})
    assert "linear, linear, narrowest" in text.splitlines()[0]


def test_bounds(tract):
    small = tract.decision.case.small
    text = printed(small.bounds, options={"counts": small.cells.counts})
    assert text.startswith("4 cells over Gender, Race, Income: closed form, sharp")
    assert "count" in text
    hidden = printed(small.bounds)
    assert "count" not in hidden
    assert "exact: tables of whole numbers" in hidden
    first = hidden.partition("status")[2].splitlines()[1]
    assert "0–1" in first


def test_bounds_are_cut_and_may_be_none(hostile, blond):
    small = hostile.decision.case.small
    text = printed(small.bounds, options={"counts": small.cells.counts})
    assert f"... and {len(small.bounds) - 20:,} more" in text
    none = blond.decision.case.small.bounds
    empty = printed(none, options={"counts": np.zeros(0, int)})
    assert empty.startswith("0 cells")
