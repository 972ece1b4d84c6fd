"""Microaggregation against a slow one that shares no code, and against brute force on a line."""

import numpy as np
import pandas as pd
import pytest

from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.microaggregation import (
    Microaggregate,
    Univariate,
    groups_of,
    loss,
    optimal_groups,
)

RNG = np.random.default_rng(1)


def slow_mdav(points, k):
    """MDAV-generic, word by word."""
    left, groups = list(range(len(points))), []

    def gap(i, p):
        total = 0.0
        for a, b in zip(points[i], p, strict=True):
            total += (a - b) * (a - b)
        return total

    def form(centre):
        nearest = sorted(left, key=lambda i: (gap(i, points[centre]), i))[:k]
        groups.append(nearest)
        for i in nearest:
            left.remove(i)

    while len(left) >= 2 * k:
        two = len(left) >= 3 * k
        middle = np.mean([points[i] for i in left], axis=0)
        r = max(left, key=lambda i: (gap(i, middle), -i))
        form(r)
        if two:
            form(max(left, key=lambda i: (gap(i, points[r]), -i)))
    groups.append(left)
    return {frozenset(group) for group in groups}


def as_sets(groups):
    return {frozenset(np.flatnonzero(groups == one).tolist()) for one in np.unique(groups)}


@pytest.mark.parametrize("seed", range(40))
def test_groups_are_those_of_mdav(seed):
    """Also with ties, which go to the lowest row."""
    rng = np.random.default_rng(seed)
    k, columns = int(rng.integers(2, 6)), int(rng.integers(1, 5))
    many = int(rng.integers(k, 90))
    points = rng.normal(size=(many, columns))
    if seed % 2:
        points = rng.integers(0, 4, (many, columns)).astype(float)
    groups = groups_of(points, k, standardise=False)
    assert as_sets(groups) == slow_mdav(points, k)
    sizes = np.bincount(groups)
    assert sizes.min() >= k
    assert sizes.max() <= 2 * k - 1


def test_groups_of_a_larger_file():
    """Deep enough a tree for boxes to shrink and whole branches to be empty."""
    points = np.random.default_rng(2).normal(size=(500, 3))
    assert as_sets(groups_of(points, 3, standardise=False)) == slow_mdav(points, 3)


def test_standardised_loss():
    rng = np.random.default_rng(3)
    values = rng.normal(size=(80, 3)) * [1, 50, 0.01] + [0, 1000, 3]
    groups = groups_of(values, 4)
    points = (values - values.mean(0)) / values.std(0)
    assert as_sets(groups) == slow_mdav(points, 4)
    inside = sum(((points[list(g)] - points[list(g)].mean(0)) ** 2).sum() for g in as_sets(groups))
    assert loss(points, groups) == pytest.approx(100 * inside / points.size, rel=1e-9)


def people(seed, n=120, missing=0.0, **more):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame(
        {"age": rng.integers(0, 90, n), "pay": rng.lognormal(9, 1, n), "w": rng.integers(1, 9, n)}
    )
    frame.loc[rng.random(n) < missing, "pay"] = np.nan
    frame["home"] = rng.integers(0, n // 2, n)
    return RecordFile(frame, **more)


MASKS = [
    cls("age" if one else ("age", "pay"), k=k, release=release)
    for cls in (Microaggregate, Univariate)
    for one in (0, 1)
    for k in (2, 5)
    for release in ("mean", "median")
]


@pytest.mark.parametrize("weight", [None, "w"])
@pytest.mark.parametrize("mask", MASKS, ids=repr)
def test_the_promise_is_kept(mask, weight):
    file = people(4, missing=0.2, weight=weight, household="home")
    masked = mask.apply(file, RNG)
    assert mask.broken(file, masked) == []
    names = ["age"] if mask.columns == "age" else ["age", "pay"]
    combined = [names] if mask.name == "microaggregate" else [[name] for name in names]
    for these in combined:
        counted = masked.data[these].dropna(how="all").value_counts(dropna=False)
        assert counted.min() >= mask.k
    for name in names:
        there = file.data[name].notna()
        assert (there == masked.data[name].notna()).all()
        weights = file.data["w"][there] if weight else np.ones(there.sum())
        before, after = (
            np.average(d[name][there], weights=weights) for d in (file.data, masked.data)
        )
        if mask.release == "mean":
            assert after == pytest.approx(before, rel=1e-9)
        key = masked.keys[name]
        assert key.kind is Kind.SHARED
        assert (key.seen == RecordFile(masked.data).labels(name)).all()


def test_few_records_that_lack_the_same():
    file = people(5)
    file.data.loc[[3, 8], "pay"] = np.nan
    mask = Microaggregate(("age", "pay"), k=3)
    with pytest.raises(DataError, match=r"2 records lack pay alone.*few = .blank."):
        mask.apply(file, RNG)
    mask = Microaggregate(("age", "pay"), k=3, few="blank")
    masked = mask.apply(file, RNG)
    assert masked.data.loc[[3, 8], ["age", "pay"]].isna().all(axis=None)
    assert masked.keys["age"].seen[3] == ""
    assert mask.broken(file, masked) == []


def test_the_promise_is_looked_at():
    file = people(6)
    for mask in (Microaggregate(("age", "pay"), k=3), Univariate(("age", "pay"), k=3)):
        masked = mask.apply(file, RNG)
        moved = masked.data["pay"].copy()
        moved.iloc[0] += 1
        for wrong in (
            masked.data.assign(pay=file.data["pay"]),
            masked.data.assign(pay=masked.data["pay"] * 1.01),
            masked.data.assign(pay=moved),
            masked.data.assign(w=1),
        ):
            assert mask.broken(file, type(masked)(wrong, masked.rows, masked.keys))


@pytest.mark.parametrize("seed", range(40))
def test_groups_on_a_line_are_optimal(seed):
    """Brute force over all ways to cut the sorted values."""
    rng = np.random.default_rng(seed)
    k = int(rng.integers(1, 5))
    values = rng.integers(0, 20, int(rng.integers(k, 15))).astype(float)
    if seed % 2:
        values = rng.lognormal(0, 1, len(values)) + 1e6
    line = np.sort(values)

    def best(start):
        rest = len(line) - start
        if rest == 0:
            return 0.0
        cuts = [size for size in range(k, rest + 1) if rest - size == 0 or rest - size >= k]
        return min(
            ((line[start : start + s] - line[start : start + s].mean()) ** 2).sum()
            + best(start + s)
            for s in cuts
        )

    groups = optimal_groups(values, k)
    found = sum(
        ((values[groups == g] - values[groups == g].mean()) ** 2).sum() for g in set(groups)
    )
    assert found == pytest.approx(best(0), rel=1e-9, abs=1e-9)
    assert np.bincount(groups).min() >= k


@pytest.mark.parametrize("cls", [Microaggregate, Univariate])
@pytest.mark.parametrize(
    ("options", "said"),
    [
        ({"k": 1}, "k of"),
        ({"k": 500}, "up|to 120"),
        ({"k": 2.5}, "2.5"),
        ({"release": "mode"}, "mode"),
    ],
)
def test_wrong_options(cls, options, said):
    with pytest.raises(DataError, match=said):
        cls("age", **options).apply(people(1), RNG)
