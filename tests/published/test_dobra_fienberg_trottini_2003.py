"""Dobra, Fienberg & Trottini 2003: Table 1, equation (3), and the discussion's town of blonds."""

import numpy as np
import pytest

from discreet import Release, Verdict, bounds, decide, load

TABLE_1 = [
    [(96, 85, 107), (72, 64, 80), (161, 158, 169)],
    [(10, 0, 21), (7, 0, 14), (6, 0, 9)],
    [(1, 0, 1), (1, 0, 2), (2, 0, 2)],
    [(186, 175, 197), (127, 119, 135), (51, 43, 54)],
    [(11, 0, 21), (7, 0, 14), (3, 0, 9)],
    [(0, 0, 1), (1, 0, 2), (0, 0, 2)],
]


@pytest.mark.parametrize("method", ["auto", "closed", "linear"])
def test_table_1_counts_and_bounds(method):
    table = load("example:tract")
    release = Release.margins(table, "Race*Income + Income*Gender")
    found = bounds(release, method=method)
    printed = np.array(TABLE_1).reshape(18, 3)
    assert np.array_equal(table.all().counts, printed[:, 0])
    assert np.array_equal(found.lower, printed[:, 1])
    assert np.array_equal(found.upper, printed[:, 2])
    assert found.sharp
    assert found.method == ("linear" if method == "linear" else "closed form")


def test_tightness_of_bounds_equation_3():
    """DR = -min width over the counts of 1 and 2."""
    decision = decide(load("example:tract"), "Race*Income + Income*Gender")
    assert decision.risk["disclosure_risk"] == -1
    assert decision.risk["small_cells"] == 4


def test_blonds_are_disclosed_without_a_small_count():
    decision = decide(load("example:blond"), "Hair*Income")
    assert decision.verdict is Verdict.FAIL
    rules = {reason.rule: reason for reason in decision.reasons}
    assert rules["small counts"].verdict is Verdict.PASS
    assert "all of the 4 in Blond have Income High" in rules["attribute disclosure"].text
