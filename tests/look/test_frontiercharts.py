"""Charts of a frontier: titles state findings, figures are right, phones can show them."""

from math import comb

import numpy as np
import pytest

from charted import title, words
from discreet.decision.frontier.decomposable import decomposable_frontier
from discreet.errors import DisclosureError
from discreet.intruder.bounds.bounder import bounds
from discreet.look.boundscharts import bounds_chart, width_histogram
from discreet.look.frontiercharts import (
    apart,
    order_chart,
    trace_chart,
    tradeoff_chart,
    variable_chart,
)
from discreet.look.palette import LIGHT
from discreet.look.theme import NARROW, WIDE
from discreet.release.release import Release
from discreet.table.load import load

POSSIBLE = {order: comb(16, order) for order in range(1, 17)}
GREEDY = {1: 16, 2: 120, 3: 547, 4: 1566, 5: 1659, 6: 103}
POINTS = [
    ("greedy", 3, 4011), ("greedy", 4, 3663), ("greedy", 5, 3366),
    ("best", 3, 6050), ("best", 5, 4700), ("best", 4, 5250),
    ("decomposable", 3, 479),
]  # fmt: skip
TRACES = [[(0, 319), (1600, 383), (100895, 479)], [(0, 303), (42994, 479)], [(0, 300), (90, 447)]]


def key(chart):
    return " ".join(chart.to_dict()["title"]["subtitle"])


def notes(chart):
    found = [rows[0]["note"] for rows in data(chart) if "note" in rows[0]]
    return " ".join(found).replace("\n", " ")


def data(chart):
    return list(chart.to_dict()["datasets"].values())


def rows(chart, column):
    return next(rows for rows in data(chart) if column in rows[0])


def layers(chart, mark):
    return [layer for layer in chart.to_dict()["layer"] if layer["mark"]["type"] == mark]


def many(n, seed=0):
    rng = np.random.default_rng(seed)
    counts = rng.geometric(0.3, n)
    return np.maximum(counts - 40, 0), counts + rng.geometric(0.02, n) + 2, counts


def drawn(width):
    lower, upper, counts = many(3152)
    return {
        "orders": order_chart(GREEDY, POSSIBLE, width=width),
        "variables": variable_chart(["a name that is long " * 9, "B"], [7, 3], 8, width=width),
        "tradeoff": tradeoff_chart(POINTS, width=width),
        "trace": trace_chart(TRACES, at_most=479, width=width),
        "bounds": bounds_chart(lower, upper, counts, limit=3, width=width),
        "few": bounds_chart(lower[:9], upper[:9], counts[:9], limit=20, width=width),
        "widths": width_histogram(upper - lower, limit=5, width=width),
    }


@pytest.mark.parametrize("width", [WIDE, NARROW])
def test_they_keep_their_width_and_send_nothing_away(width, tmp_path):
    for name, chart in drawn(width).items():
        chart.save(tmp_path / "chart.svg")
        source = (tmp_path / "chart.svg").read_text(encoding="utf-8")
        across, down = map(float, source.split("viewBox=")[1].split('"')[1].split()[2:])
        assert 0.85 * width < across < width + 60, name
        assert 100 < down < 600, name
        assert len(source) < 300_000, name
        assert chart.to_dict()["usermeta"] == {"embedOptions": {"actions": False}}


def test_every_colour_has_a_meaning():
    """The report's dark page replaces the palette's colours, and knows no others."""
    for name, chart in drawn(WIDE).items():
        found = {part[:6] for part in words(chart).split('"#')[1:]}
        assert {f"#{colour}" for colour in found} <= set(LIGHT.to_dict().values()), name


def test_orders_have_the_percent_of_table_1_5():
    """Dobra, Erosheva & Fienberg 2002, Table 1.5, print 3.78% of the 8,008 six-way margins; 103
    are 1.29%."""
    chart = order_chart(GREEDY, POSSIBLE)
    assert title(chart) == "4,011 of 65,535 margins are in the release (6.12%)"
    assert [row["words"] for row in rows(chart, "value")] == [
        "16 of 16 (100%)", "120 of 120 (100%)", "547 of 560 (97.68%)",
        "1,566 of 1,820 (86.04%)", "1,659 of 4,368 (37.98%)", "103 of 8,008 (1.29%)",
    ]  # fmt: skip
    assert notes(chart) == "None of the 50,643 margins of 7 variables or more is released."


def test_orders_that_are_all_or_nothing():
    assert notes(order_chart({1: 2}, {1: 2, 2: 1}, source="Me.")) == (
        "The margin of 2 variables is not released. Me."
    )
    assert "note" not in words(order_chart({1: 2, 2: 1}, {1: 2, 2: 1}))
    assert len(rows(order_chart({}, {1: 2, 2: 1}), "value")) == 1
    assert "There is no margin." in words(order_chart({}, {}))
    for wrong in ({1: 3}, {4: 1}):
        with pytest.raises(DisclosureError, match="are possible"):
            order_chart(wrong, {1: 2, 2: 1})


def test_variables_most_first():
    chart = variable_chart(["A", "B", "C"], [3, 4, 2], 4)
    assert title(chart) == "B is in 4 released margins, C is in 2"
    found = [(row["name"], row["words"]) for row in rows(chart, "value")]
    assert found == [("B", "4 (100%)"), ("A", "3 (75.00%)"), ("C", "2 (50.00%)")]
    assert "of the 4 margins that could have the variable" in key(chart)
    tied = variable_chart(["A", "B", "C"], [1, 4, 1], 4)
    assert title(tied) == "B is in 4 released margins, 2 variables are in 1"
    assert title(variable_chart(["A", "B"], [2, 2], 2)) == "Every variable is in 2 released margins"
    assert "There is no variable." in words(variable_chart([], [], 1))


def test_a_wider_interval_has_a_price():
    chart = tradeoff_chart(POINTS)
    assert title(chart) == "To keep a width of 5 instead of 3 costs 1,350 of 6,050 margins"
    lines = layers(chart, "line")
    assert len(lines) == 3
    assert len({str(line["mark"]["strokeDash"]) for line in lines}) == 3
    best = rows(chart, "beta")
    assert [row["beta"] for row in best] == [3, 4, 5]
    labels = [rows[0]["text"] for rows in data(chart) if "text" in rows[0]]
    assert labels == ["best 4,700", "greedy 3,366", "decomposable 479"]
    assert title(tradeoff_chart(POINTS[-1:])) == "At beta 3, decomposable releases 479 margins"
    flat = tradeoff_chart([("best", 3, 9), ("best", 4, 9)])
    assert (
        title(flat) == "To keep a width of 4 instead of 3 costs nothing: 9 margins can be released"
    )
    assert "No release was searched for." in words(tradeoff_chart([]))


def test_labels_do_not_lie_on_each_other():
    assert apart([10, 12, 200], 16, 260) == [10, 26, 200]
    assert apart([250, 255, 259], 16, 260) == [228, 244, 260]


def test_restarts():
    chart = trace_chart(TRACES, at_most=479)
    assert title(chart) == "2 of 3 restarts found 479 margins, proven to be the most"
    assert "no search can exceed 479" in key(chart)
    lines = layers(chart, "line")
    assert [line["mark"]["color"] for line in lines].count(LIGHT.released) == 1
    assert len(lines) == 3
    assert title(trace_chart(TRACES)) == "2 of 3 restarts found 479 margins"
    assert "Dashed" not in key(trace_chart(TRACES))
    crowd = trace_chart(TRACES * 10)
    assert len(layers(crowd, "line")) == 12
    assert title(crowd) == "20 of 30 restarts found 479 margins"
    assert notes(crowd) == "The best 12 of 30 restarts."


def test_one_search():
    anytime = [(0.4, 479), (33.2, 6011)]
    assert title(trace_chart([anytime], unit="second")) == "6,011 margins found after 33 seconds"
    early = trace_chart({"best": [(0.4, 479)]}, unit="second", measure="worth")
    assert title(early) == "A worth of 479 found in less than a second"
    assert title(trace_chart([[(0, 4)]])) == "4 margins found at the start"
    assert "The search left no trace." in words(trace_chart([[]]))


def test_a_search_draws_itself():
    found = decomposable_frontier(load("example:czech"), beta=3, restarts=2)
    chart = found.plot()
    assert title(chart) == "2 of 2 restarts found 47 margins, proven to be the most"
    assert len(layers(chart, "line")) == 2
    weighted = decomposable_frontier(load("example:tract"), beta=3, restarts=1, weights={5: 2.5})
    assert title(weighted.plot()).startswith("A worth of ")
    assert title(found.plot(title="Mine")) == "Mine"


def test_few_cells_have_a_line_each():
    chart = bounds_chart([0, 0, 2], [9, 3, 4], [1, 2, 3], limit=3)
    assert title(chart) == "1 of 3 cells can be narrowed to a width of less than 3"
    cells = rows(chart, "upper")
    assert [cell["upper"] for cell in cells] == [3, 4, 9]
    assert [cell["state"] for cell in cells] == ["kept", "tight", "kept"]
    assert len(layers(chart, "rule")) == 1
    assert "Crosses: upper minus lower is less than 3." in key(chart)
    assert "Dots: the true counts." in key(chart)
    assert "Dots" not in key(bounds_chart([0], [9]))
    widest = bounds_chart([0, 0, 2], [9, 3, 4], by="width")
    assert [cell["upper"] for cell in rows(widest, "upper")] == [4, 3, 9]


def test_many_cells_are_a_band_that_loses_none():
    lower, upper, counts = many(3152)
    chart = bounds_chart(lower, upper, counts)
    assert not layers(chart, "rule")
    (area,) = layers(chart, "area")
    outline = chart.to_dict()["datasets"][area["data"]["name"]]
    starts, ends = outline[::2], outline[1::2]
    assert [point["at"] for point in starts[1:]] == [point["at"] for point in ends[:-1]]
    spread = sum(
        (b["at"] - a["at"]) * (a["upper"] - a["lower"]) for a, b in zip(starts, ends, strict=True)
    )
    assert spread == (upper - lower).sum()
    assert ends[-1]["at"] == 3152
    assert len(outline) < 2 * 3152


def test_the_doubtful_are_marked_by_more_than_a_colour():
    lower, upper, counts = many(400)
    proven = np.arange(400) % 2 == 0
    chart = bounds_chart(lower, upper, counts, limit=3, proven=proven, kind="small count")
    assert title(chart) == "200 of 400 small counts not proven to keep a width of 3"
    assert "Question marks: not proven to be so wide." in key(chart)
    marks = next(rows for rows in data(chart) if set(rows[0]) == {"middle"})
    assert 20 < len(marks) < 60
    assert np.diff([mark["middle"] for mark in marks]).min() >= 400 * 12 / WIDE
    assert len(layers(chart, "area")) == 2


def test_bounds_in_words():
    assert title(bounds_chart([0, 0], [9, 5], limit=3)) == (
        "2 cells keep a width of 3 or more; half keep 9 or more"
    )
    assert title(bounds_chart([0, 1], [9, 5])) == (
        "1 of 2 cells has a lower bound above 0; half keep a width of 9 or more"
    )
    assert "The list of cells is empty." in words(bounds_chart([], [], []))
    assert title(bounds_chart([], [])) == "No cell to show"
    with pytest.raises(DisclosureError, match="not by 'count'"):
        bounds_chart([0], [1], by="count")
    with pytest.raises(DisclosureError, match="lower bound 2 is above the upper, 1"):
        bounds_chart([2], [1])


def test_widths_up_to_a_value_and_more():
    chart = width_histogram([3, 3, 5, 40, 41], limit=4, most=4)
    assert title(chart) == "2 of 5 cells keep the least width, 3; half keep 5 or more"
    found = [(row["width"], row["cells"], row["state"]) for row in rows(chart, "cells")]
    assert found == [("3", 2, "tight"), ("4", 0, "kept"), ("5", 1, "kept"), ("6", 0, "kept")]
    marked = "Confidential: from unpublished counts."
    assert notes(chart) == f"{marked} And 2 cells with a width of 7 or more."
    assert " Red, below 4: 2 cells." in key(chart)
    assert title(width_histogram([7])) == "1 of 1 cell keeps the least width, 7"
    assert "The list of cells is empty." in words(width_histogram([]))
    assert len(rows(width_histogram(range(100), width=NARROW), "cells")) == 10


def test_bounds_draw_every_cell():
    table = load("example:czech")
    cells = table.small(10**6)
    found = bounds(Release.margins(table, "A*B + C*D*E*F"), cells)
    chart = found.plot(counts=cells.counts, every=True)
    assert len(rows(chart, "upper")) == len(cells) > 40
    assert f"of {len(cells)} cells" in title(chart)
