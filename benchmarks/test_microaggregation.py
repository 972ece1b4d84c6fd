"""Microaggregation: losses on public files, and how long large files take.

DISCREET_MDAV is a folder with Tarragona.csv, CASCrefmicrodata.csv and EIA.csv, as R's write.csv
makes them of the data of sdcMicro. Easy where few columns make near boxes of a tree; hard with
many columns, where most boxes are about as far as any other.
"""

import os
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discreet.masks.records.file import RecordFile
from discreet.masks.records.microaggregation import (
    Microaggregate,
    groups_of,
    loss,
    optimal_groups,
    standardised,
)
from discreet.masks.records.rankswap import rearranged

FOLDER = os.environ.get("DISCREET_MDAV")


def loss_of(name, k, without=()):
    path = Path(FOLDER) / f"{name}.csv"
    if not path.exists():
        pytest.skip(f"no {path}")
    values = pd.read_csv(path).select_dtypes("number").drop(columns=list(without)).to_numpy(float)
    return loss(standardised(values), groups_of(values, k))


@pytest.mark.skipif(not FOLDER, reason="DISCREET_MDAV names no folder")
@pytest.mark.parametrize(
    ("name", "k", "figure"),
    [
        ("Tarragona", 3, 16.932588),
        ("CASCrefmicrodata", 3, 5.692186),
        ("CASCrefmicrodata", 5, 9.088435),
        ("CASCrefmicrodata", 10, 14.155930),
    ],
)
def test_losses_of_public_files(name, k, figure):
    """100 SSE / SST with all 13 columns, standardised."""
    assert loss_of(name, k) == pytest.approx(figure, abs=1e-6)


@pytest.mark.skipif(not FOLDER, reason="DISCREET_MDAV names no folder")
def test_loss_of_eia_with_columns_found_by_search():
    """The figure's columns are not stated. All 13 numeric ones give 1.114874.

    Of the 1,092 ways to leave out one to four of them, only those that leave out MONTH, with or
    without the constant YEAR, give .482939: weaker evidence than the other files.
    """
    assert loss_of("EIA", 3) == pytest.approx(1.114874, abs=1e-6)
    assert loss_of("EIA", 3, ("YEAR", "MONTH")) == pytest.approx(0.482939, abs=1e-6)


def by_passes(points, k):
    """MDAV by passes over all that are left, in numpy: the rival."""
    rows, groups, group = np.arange(len(points)), np.zeros(len(points), int), 0

    def form(rows, centre):
        gaps = ((points[rows] - points[centre]) ** 2).sum(1)
        near = rows[np.argpartition(gaps, k - 1)[:k]]
        groups[near] = group
        return rows[~np.isin(rows, near)]

    while len(rows) >= 2 * k:
        two = len(rows) >= 3 * k
        r = rows[((points[rows] - points[rows].mean(0)) ** 2).sum(1).argmax()]
        rows = form(rows, r)
        group += 1
        if two:
            rows = form(rows, rows[((points[rows] - points[r]) ** 2).sum(1).argmax()])
            group += 1
    groups[rows] = group
    return groups


def test_against_passes(claim):
    points = np.random.default_rng(1).normal(size=(8_000, 5))
    groups_of(points[:50], 3)
    start = time.process_time()
    quick = groups_of(points, 3, standardise=False)
    middle = time.process_time()
    slow = by_passes(points, 3)
    end = time.process_time()
    assert (quick == slow).all()
    ratio = (end - middle) / (middle - start)
    print(f"\n8,000 x 5: {middle - start:.2f} s, {ratio:.0f} times as fast as passes in numpy")
    claim(
        "masks of records", "MDAV of 8,000 records with 5 columns", ours=middle - start,
        rival="passes over all records (numpy)", theirs=end - middle, size="groups of 3",
        why="A tree finds the nearest and the farthest; the groups are the same.",
    )  # fmt: skip
    assert ratio > 5


@pytest.mark.parametrize(("many", "columns", "most"), [(10**5, 5, 10), (10**5, 8, 40)])
def test_large_files(many, columns, most):
    values = np.random.default_rng(2).normal(size=(many, columns))
    names = [f"x{c}" for c in range(columns)]
    groups_of(values[:50], 3)
    start = time.process_time()
    groups = groups_of(values, 3)
    took = time.process_time() - start
    assert set(np.bincount(groups)) <= {3, 4, 5}
    file, mask = RecordFile(pd.DataFrame(values, columns=names)), Microaggregate(tuple(names))
    masked = mask.apply(file, np.random.default_rng(1))
    assert mask.broken(file, masked) == []
    print(f"\nMDAV {many:,} x {columns}, k = 3: {took:.2f} processor seconds")
    assert took < most


def test_a_million_on_a_line():
    values = np.random.default_rng(3).lognormal(size=10**6)
    optimal_groups(values[:50], 3)
    start = time.process_time()
    groups = optimal_groups(values, 3)
    took = time.process_time() - start
    assert set(np.bincount(groups)) <= {3, 4, 5}
    print(f"\nunivariate, a million, k = 3: {took:.2f} processor seconds")
    assert took < 5


def test_a_million_ranks():
    rearranged(50, 3, np.random.default_rng(1))
    start = time.process_time()
    found = rearranged(10**6, 50_000, np.random.default_rng(1))
    took = time.process_time() - start
    assert np.abs(found - np.arange(10**6)).max() <= 50_000
    print(f"\nrank swapping, a million, window .05: {took:.2f} processor seconds")
    assert took < 60
