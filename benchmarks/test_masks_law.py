"""Calibration of every mask: links said at .4 to .6, at least 2,000 of each, and the chart."""

import os

import numpy as np
import pytest

from maskcases import calibrated, every_case

FILES, LEAST = 80, 2_000
FOUND: dict[str, list[tuple[float, float, int]]] = {}


@pytest.mark.parametrize(("name", "options", "keys"), every_case())
def test_links_said_at_a_half_are_right_in_half(name, options, keys, request):
    stated, right = calibrated(name, options, keys, least=LEAST, files=FILES)
    some = (stated >= 0.4) & (stated <= 0.6)
    many = int(some.sum())
    said, hit = stated[some].mean(), right[some].mean()
    print(f"\n{request.node.callspec.id}: {many:,} links said {said:.3f}, right {hit:.3f}")
    tenth = np.minimum((stated * 10).astype(int), 9)
    FOUND[request.node.callspec.id] = [
        (float(stated[tenth == t].mean()), float(right[tenth == t].mean()), int((tenth == t).sum()))
        for t in range(10)
        if (tenth == t).sum() >= 100
    ]
    assert many >= LEAST
    assert 0.45 <= hit <= 0.55


def test_the_chart_for_the_docs():
    """Written where DISCREET_CHARTS says."""
    from discreet.look.linkcharts import reliability_chart

    assert FOUND
    pooled = []
    for t in range(10):
        rows = [row for rows in FOUND.values() for row in rows if int(min(row[0] * 10, 9)) == t]
        many = sum(n for _, _, n in rows)
        if many:
            pooled.append(
                (many, sum(a * n for a, _, n in rows) / many, sum(b * n for _, b, n in rows) / many)
            )
    chart = reliability_chart(pooled)
    if folder := os.environ.get("DISCREET_CHARTS"):
        chart.save(f"{folder}/calibration.svg")
    assert all(abs(said - right) < 0.05 for _, said, right in pooled)
