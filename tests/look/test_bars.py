"""One bar chart: names beside the bars on a page, above them on a phone."""

import pytest

from charted import rows, size, words
from discreet.look.bars import Bar, Mark, Names, bar_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import NARROW, WIDE

LONG = "a rather long name of a group that does not fit"
SAID = {"title": "Found", "axis": "Harm", "key": "Bar: harm."}


def test_names_take_as_much_room_as_they_need_and_at_most_two_fifths():
    assert Names.of(["Ann", "Bo"], WIDE).left == 3 * 7 + 15
    assert Names.of(["Ann", LONG], WIDE).left == WIDE * 2 // 5
    assert Names.of(["Ann", "Bo"], NARROW).left == 3 * 7 + 15


def test_on_a_phone_long_names_stand_above_their_bars():
    names = Names.of(["Ann", LONG], NARROW)
    assert names.left == 0
    assert names.down > 0
    assert names.texts == ("Ann", LONG)
    assert Names.of(["Ann", LONG], WIDE).texts[1].count("\n") == 1


@pytest.mark.parametrize("width", [NARROW, WIDE])
@pytest.mark.parametrize("name", ["Ann", LONG])
def test_it_fits(width, name, tmp_path):
    bars = [Bar(name, 12.5, "12.5 of 100 (13%)", whole=20, mark=25), Bar("Bo", -3, "-3")]
    wide, _ = size(bar_chart(bars, **SAID, mark=Mark(beside=52), width=width), tmp_path)
    assert wide <= width + 40


def test_what_is_drawn():
    bars = [Bar("Ann", 12.5, "12.5", whole=20), Bar("Bo", 4, "4", mark=25, colour=LIGHT.true)]
    found = rows(bar_chart(bars, **SAID, colour=LIGHT.belief))
    assert [row["end"] for row in found] == [20, 25]
    assert [row["colour"] for row in found] == [LIGHT.belief, LIGHT.true]
    assert "Bar: harm." in words(bar_chart(bars, **SAID))
    assert "There is nothing to show." in words(bar_chart([], **SAID))
