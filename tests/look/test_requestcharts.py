"""The chart of served users says its finding, whatever it is given."""

import pytest

from charted import rows, size, title, words
from discreet.errors import DisclosureError
from discreet.look.frontiercharts import served_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import NARROW

ROWS = [("Health", 0.9, 1.0), ("Schools", 0.459, 0.2), ("Press", 1.0, None)]


@pytest.mark.parametrize(
    ("shares", "says"),
    [
        ([("a", 0.459, None), ("b", 1, None)],
         "The least served user gets 46% of what was asked for"),
        ([("a", 0.29, 0.1), ("b", 1, 1)],
         "The least served user gets 29% of what was asked for; first come, first served: 10%"),
        ([("a", 1, None), ("b", 1, None)], "Every user gets all that was asked for"),
        ([("a", 0, 0), ("b", 1, 0)],
         "1 of 2 users get nothing that they asked for; first come, first served: 2"),
        ([("a", 0.002, None), ("b", 1, None)],
         "The least served user gets <1% of what was asked for"),
        ([("a", 0.5, 0.25)], "50% of the requests are served; first come, first served: 25%"),
        ([], "Nobody asks for a margin"),
    ],
)  # fmt: skip
def test_the_title_is_the_finding(shares, says):
    assert title(served_chart(shares)) == says
    assert title(served_chart(shares, title="Mine")) == "Mine"


def test_least_served_first_with_words_beside_the_bars():
    chart = served_chart(ROWS, source="Source: a poll.")
    assert [row["name"] for row in rows(chart)] == ["Schools", "Health", "Press"]
    assert [row["words"] for row in rows(chart)] == [
        "46% (first come: 20%)", "90% (first come: 100%)", "100%",
    ]  # fmt: skip
    assert "Source: a poll." in words(chart)
    assert LIGHT.released in words(chart)
    assert next(row["words"] for row in rows(served_chart(ROWS, width=NARROW))) == "46% (20%)"


def test_first_come_only_if_it_is_given():
    assert "Diamond" in words(served_chart(ROWS))
    alone = served_chart([(user, share, None) for user, share, _ in ROWS])
    assert "iamond" not in words(alone)


def test_many_users_are_counted():
    chart = served_chart([(f"user {i}", i / 100, None) for i in range(100)])
    assert len(rows(chart)) == 40
    assert "60 more users, none served less, not shown." in words(chart)


@pytest.mark.parametrize("width", [660, NARROW])
@pytest.mark.parametrize("n", [0, 1, 3])
def test_it_keeps_its_size(n, width, tmp_path):
    long = [("a very long name " * 9 + user, share, first) for user, share, first in ROWS[:n]]
    for shares in (ROWS[:n], long):
        across, down = size(served_chart(shares, width=width), tmp_path)
        assert 0.9 * width < across < width + 60
        assert down > 60


def test_cut_names_keep_their_own_bars():
    same = [("x" * 300, share, first) for _, share, first in ROWS]
    assert len({row["row"] for row in rows(served_chart(same))}) == 3


@pytest.mark.parametrize("label", ["\x1b[31m", "\0", "\ufffe", "a\tb\nc", '"<&>', ""])
def test_no_label_can_stop_the_drawing(label, tmp_path):
    assert size(served_chart([(label, 0.5, 0.1)], source=label), tmp_path)[1] > 60


@pytest.mark.parametrize("share", [-0.1, 1.01, float("nan")])
def test_a_share_is_from_0_to_1(share):
    with pytest.raises(DisclosureError, match=r"of 'Ann' must be from 0 to 1"):
        served_chart([("Ann", 0.5, share)])


def test_no_menu_that_would_send_shares_away():
    assert served_chart(ROWS).to_dict()["usermeta"] == {"embedOptions": {"actions": False}}
