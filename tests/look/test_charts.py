"""Charts say what they show, whatever they are given; colours stay apart for everybody."""

import itertools

import numpy as np
import pandas as pd
import pytest

from charted import rows, size, title, words
from discreet.errors import DisclosureError
from discreet.look.boundscharts import interval_chart
from discreet.look.frontiercharts import release_chart
from discreet.look.palette import DARK, LIGHT
from discreet.look.theme import NARROW
from discreet.look.words import number, percent, plural, span


def frame(n=3, **columns):
    base = {
        "Sex": ["m", "f", "m"] * n, "Age": [f"{i}-{i + 4}" for i in range(3 * n)],
        "count": [1, 2, 1] * n, "lower": [0, 2, 0] * n, "upper": [1, 2, 30] * n,
    }  # fmt: skip
    found = pd.DataFrame(base | columns)
    found["width"] = found["upper"] - found["lower"]
    found["status"] = columns.get("status", "sharp")
    return found


def test_the_title_is_the_finding():
    assert title(interval_chart(frame(), limit=3)) == (
        "6 of 9 small counts can be narrowed to a width of less than 3"
    )
    assert title(interval_chart(frame())) == "3 of 9 small counts can be known exactly"
    assert title(interval_chart(frame().drop(columns="count"))) == (
        "3 of 9 cells can be known exactly"
    )
    wide = frame(lower=[0] * 9, upper=[40] * 9)
    assert title(interval_chart(wide, limit=3)) == "9 small counts keep a width of 3 or more"
    loose = frame(lower=[0] * 9, upper=[40] * 9, status=["outer only"] * 9)
    assert title(interval_chart(loose, limit=3)) == (
        "9 of 9 small counts not proven to keep a width of 3"
    )
    fractions = frame(lower=[0] * 9, upper=[40] * 9, status=["linear"] * 9)
    assert title(interval_chart(fractions, limit=3)) == (
        "9 of 9 small counts not proven to keep a width of 3"
    )
    allowed = interval_chart(fractions, limit=3, proven=[True] * 9)
    assert title(allowed) == "9 small counts keep a width of 3 or more"
    assert title(interval_chart(frame(), title="Mine")) == "Mine"


def test_narrowest_first_and_how_many_are_left_out():
    chart = interval_chart(frame(30), limit=3, most=40, source="Source: a file.")
    shown = rows(chart)
    assert len(shown) == 40
    assert [row["width"] for row in shown] == sorted(row["width"] for row in shown)
    assert "50 more cells, none with a narrower interval, not shown." in words(chart)
    assert "Source: a file." in words(chart)


def test_a_narrow_bar_has_more_than_a_colour():
    chart = interval_chart(frame(), limit=3)
    assert {row["state"] for row in rows(chart)} == {"tight", "kept"}
    assert "M-1,-1L1,1M1,-1L-1,1" in words(chart)
    assert "Cross: upper minus lower is less than 3." in words(chart)


def test_true_counts_only_if_they_are_given():
    assert "Diamond: the true count." in words(interval_chart(frame()))
    hidden = interval_chart(frame().drop(columns="count"))
    assert "Diamond" not in words(hidden)
    assert "diamond" not in words(hidden)


@pytest.mark.parametrize("width", [660, NARROW])
@pytest.mark.parametrize("n", [0, 1, 2])
def test_it_keeps_its_size(n, width, tmp_path):
    long = frame(1, Age=["a very long label, " * 9] * 3).head(n)
    across, down = size(interval_chart(long, limit=3, width=width), tmp_path)
    assert 0.9 * width < across < width + 60
    assert down > 60


def test_cut_labels_keep_their_own_bars(tmp_path):
    same = frame(1, Sex=["x" * 300] * 3)
    assert len({row["row"] for row in rows(interval_chart(same))}) == 3


@pytest.mark.parametrize("label", ["\x1b[31m", "\0", "\ufffe", "a\tb\nc", '"<&>'])
def test_no_label_can_stop_the_drawing(label, tmp_path):
    """A control character in its SVG makes vl-convert abort the whole process."""
    strange = frame(1, Sex=[label] * 3).rename(columns={"Age": label})
    assert size(interval_chart(strange, limit=3, source=label), tmp_path)[1] > 60


def test_any_frame_will_do():
    polars, arrow = pytest.importorskip("polars"), pytest.importorskip("pyarrow")
    expected = rows(interval_chart(frame(), limit=3))
    lists = frame().to_dict("list")
    assert rows(interval_chart(polars.DataFrame(lists), limit=3)) == expected
    assert rows(interval_chart(arrow.table(lists), limit=3)) == expected
    with pytest.raises(DisclosureError, match="'lower'"):
        interval_chart(pd.DataFrame({"a": [1]}))


def test_margins_by_order():
    chart = release_chart({1: 3, 2: 2}, 3)
    assert title(chart) == "5 of 7 possible margins are in the release"
    assert [row["words"] for row in rows(chart)] == [
        "3 of 3 (100%)", "2 of 3 (67%)", "0 of 1 (0%)",
    ]  # fmt: skip
    assert "There is no variable." in words(release_chart({}, 0))
    with pytest.raises(DisclosureError, match="margins of 3 variables"):
        release_chart({1: 4}, 3)


def test_no_menu_that_would_send_counts_away():
    for chart in (interval_chart(frame()), release_chart({1: 3}, 3)):
        assert chart.to_dict()["usermeta"] == {"embedOptions": {"actions": False}}


def test_numbers():
    assert number(1234567) == "1,234,567"
    assert span(0, 1234) == "0–1,234"
    assert span(7, 7) == "7"
    assert [percent(x) for x in (0, 1e-9, 0.5, 0.999999, 1)] == ["0%", "<1%", "50%", ">99%", "100%"]
    assert plural(1, "cell") == "1 cell"


# Machado, Oliveira & Fernandes 2009: how colours look to those who lack a kind of cone.
SIGHT = {
    "all cones": np.eye(3),
    "no L": [[0.152286, 1.052583, -0.204868], [0.114503, 0.786281, 0.099216],
             [-0.003882, -0.048116, 1.051998]],
    "no M": [[0.367322, 0.860646, -0.227968], [0.280085, 0.672501, 0.047413],
             [-0.011820, 0.042940, 0.968881]],
    "no S": [[1.255528, -0.076749, -0.178779], [-0.078411, 0.930809, 0.147602],
             [0.004733, 0.691367, 0.303900]],
}  # fmt: skip
XYZ = np.array([[0.4124, 0.3576, 0.1805], [0.2126, 0.7152, 0.0722], [0.0193, 0.1192, 0.9505]])


def linear(colour):
    c = np.array([int(colour[i : i + 2], 16) for i in (1, 3, 5)]) / 255
    return np.where(c <= 0.04045, c / 12.92, ((c + 0.055) / 1.055) ** 2.4)


def lab(rgb):
    x = XYZ @ np.clip(rgb, 0, 1) / [0.9505, 1, 1.089]
    f = np.where(x > 0.008856, np.cbrt(x), 7.787 * x + 16 / 116)
    return np.array([116 * f[1] - 16, 500 * (f[0] - f[1]), 200 * (f[1] - f[2])])


def contrast(a, b):
    dark, bright = sorted((XYZ[1] @ linear(a), XYZ[1] @ linear(b)))
    return (bright + 0.05) / (dark + 0.05)


GROUPS = [
    ("released", "possible", "gone"),
    ("true", "interval", "belief"),
    ("passed", "review", "fail"),
    ("interval", "review", "fail"),
]


@pytest.mark.parametrize("sight", SIGHT)
@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
@pytest.mark.parametrize("group", GROUPS, ids="-".join)
def test_colours_stay_apart(palette, group, sight):
    seen = [lab(np.asarray(SIGHT[sight]) @ linear(palette[name])) for name in group]
    assert all(np.linalg.norm(a - b) > 14 for a, b in itertools.combinations(seen, 2))


@pytest.mark.parametrize("palette", [LIGHT, DARK], ids=["light", "dark"])
def test_words_can_be_read(palette):
    for meaning in ("ink", "muted", "accent", "PASS", "REVIEW", "FAIL"):
        assert contrast(palette[meaning], palette.paper) >= 4.5
        assert contrast(palette[meaning], palette.wash) >= 4.2
    assert contrast(palette.interval, palette.paper) >= 3
    assert len(set(palette.to_dict().values())) == len(palette.to_dict())
    with pytest.raises(DisclosureError, match="mauve"):
        palette["mauve"]
