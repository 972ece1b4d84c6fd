"""What a prior implies: intervals of shares, and a density with the stated quantiles."""

from charted import title, words
from discreet.intruder.predictive.elicit import elicit_shares
from discreet.intruder.predictive.quantiles import elicit_quantiles
from discreet.look.theme import NARROW


def test_intervals_of_shares(tmp_path):
    elicited = elicit_shares({"ill": 0.2, "well": 0.8}, worth=20)
    chart = elicited.plot(people=50, source="Mine.")
    assert title(chart) == "The prior counts for 20 people: well has 64% to 92%"
    assert "3 to 19 of 50" in words(chart)
    assert "Mine." in words(chart)
    chart.save(tmp_path / "chart.svg")
    many = elicit_shares({f"c{i}": 1 / 40 for i in range(40)}, worth=20)
    assert "10 more categories." in words(many.plot(width=NARROW))


def test_a_density_and_its_quantiles(tmp_path):
    chart = elicit_quantiles({0.1: 2, 0.5: 4, 0.9: 8}, "gamma").plot()
    assert title(chart).startswith("gamma: shape 3.828, rate 0.8316; the stated quantiles")
    assert "Dashed: where it is fitted." in words(chart)
    chart.save(tmp_path / "chart.svg")
