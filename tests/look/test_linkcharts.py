"""Charts of identification and harm say their finding, whatever they are given."""

import pytest

from charted import rows, size, title, words
from discreet.errors import DisclosureError
from discreet.look.linkcharts import group_chart, outcome_chart, reliability_chart, risk_chart
from discreet.look.palette import LIGHT
from discreet.look.theme import NARROW

COUNTS = [900_123, 4000, 800, 300, 120, 60, 22, 9, 0, 1]
BANDS = [(k / 10, (k + 1) / 10, n) for k, n in enumerate(COUNTS)]
FEW = [(0.0, 0.1, 3), (0.4, 0.5, 2), (0.9, 1.0, 6)]
LINKS = [(90, 0.05, 0.06), (8, 0.5, 0.25), (2, 0.9, 1.0)]
SUMS = [("not identified", 3, 0.0), ("right record", 1, 5.0), ("wrong record", 5, 12.5)]
CHARTS = [
    lambda **options: risk_chart(BANDS, act=0.5, above=92, **options),
    lambda **options: risk_chart(FEW, act=0.5, above=6, **options),
    lambda **options: reliability_chart(LINKS, **options),
    lambda **options: outcome_chart(SUMS, **options),
    lambda **options: group_chart(SUMS, **options),
]
NOTHING = [
    lambda **options: risk_chart([(0, 1, 0)], act=0.5, above=0, **options),
    lambda **options: reliability_chart([], **options),
    lambda **options: outcome_chart([], **options),
    lambda **options: group_chart([], **options),
]


@pytest.mark.parametrize(
    ("chart", "says"),
    [
        (risk_chart(BANDS, act=0.5, above=92), "92 of 905,435 respondents have a link of 0.5 or "
         "more"),
        (risk_chart(FEW, act=0.95, above=1), "1 of 11 respondents has a link of 0.95 or more"),
        (reliability_chart(LINKS), "100 best links: 10% expected to be right, 9% are"),
        (reliability_chart([]), "No respondent has a link"),
        (outcome_chart(SUMS), "Harm of 17.5 to 9 respondents, 12.5 of it by wrong record"),
        (outcome_chart(SUMS[:1]), "Harm of 0 to 3 respondents"),
        (group_chart(SUMS), "Harm a respondent: 5 in right record, 0 in not identified"),
        (group_chart(SUMS[:1]), "Every group is harmed alike, by 0 a respondent"),
        (group_chart([]), "There is no group"),
    ],
)  # fmt: skip
def test_the_title_is_the_finding(chart, says):
    assert title(chart) == says


@pytest.mark.parametrize("draw", CHARTS + NOTHING)
def test_title_source_and_menu(draw):
    chart = draw(title="Mine", source="Source: a file.")
    assert title(chart) == "Mine"
    assert "Source: a file." in words(chart)
    assert chart.to_dict()["usermeta"] == {"embedOptions": {"actions": False}}


@pytest.mark.parametrize("width", [660, NARROW])
@pytest.mark.parametrize("draw", CHARTS + NOTHING)
def test_it_keeps_its_size(draw, width, tmp_path):
    across, down = size(draw(width=width), tmp_path)
    assert 0.75 * width < across < width + 60
    assert down > 60


def test_uneven_counts_are_drawn_on_a_logarithmic_scale():
    assert "Respondents (logarithmic)" in words(risk_chart(BANDS, act=0.5, above=92))
    assert "logarithmic" not in words(risk_chart(FEW, act=0.5, above=6))


def test_where_the_intruder_acts_is_marked():
    chart = risk_chart(FEW, act=0.35, above=8)
    assert {"act": 0.35} in [row for data in chart.to_dict()["datasets"].values() for row in data]
    assert "the intruder acts on no link below 0.35" in words(chart)


def test_chance_is_drawn_about_what_is_stated():
    first, second, third = rows(reliability_chart(LINKS))
    assert second["low"] == pytest.approx(0.5 - 1.96 * (0.25 / 8) ** 0.5)
    assert first["low"] < 0.05 < first["high"]
    assert third["high"] == 1
    assert len(rows(reliability_chart([*LINKS, (0, 0.0, 0.0)]))) == 3


def test_groups_by_their_average_and_how_many_are_left_out():
    assert [row["words"] for row in rows(group_chart(SUMS))] == ["5 (1)", "2.5 (5)", "0 (3)"]
    chart = group_chart([(f"region {k}", 2, k) for k in range(42)])
    assert rows(chart)[0]["name"] == "region 41"
    assert "12 more groups, none harmed more." in words(chart)


def test_a_gain_is_drawn_below_0():
    drawn = rows(group_chart([("a", 2, -4.0), ("b", 2, 4.0)]))
    assert [(row["value"], row["end"]) for row in drawn] == [(2, 2), (-2, 0)]


@pytest.mark.parametrize("label", ["\x1b[31m", "\0", "a\tb\nc", '"<&>', "", "long name " * 30])
@pytest.mark.parametrize("draw", [outcome_chart, group_chart])
def test_no_label_can_stop_the_drawing(draw, label, tmp_path):
    assert size(draw([(label, 2, 1.0)], source=label), tmp_path)[1] > 60


def test_colours_have_one_meaning():
    assert LIGHT.belief in words(risk_chart(FEW, act=0.5, above=6))
    assert LIGHT.true in words(reliability_chart(LINKS))


def test_wrong_numbers():
    with pytest.raises(DisclosureError, match="12 of 11 respondents cannot be above"):
        risk_chart(FEW, act=0.5, above=12)
    with pytest.raises(DisclosureError, match="'a' has no respondent"):
        group_chart([("a", 0, 0.0)])
