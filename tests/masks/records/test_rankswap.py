"""Rank swapping: values kept, windows kept, and the law that the key says."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest
from scipy.stats import chisquare

from discreet.errors import DataError
from discreet.intruder.linkage.model import Kind
from discreet.masks.records.file import RecordFile
from discreet.masks.records.rankswap import RankSwap, rearranged


def people(seed, n=300):
    rng = np.random.default_rng(seed)
    frame = pd.DataFrame({"age": rng.integers(0, 90, n), "pay": rng.lognormal(3, 1, n)})
    frame.loc[rng.random(n) < 0.2, "pay"] = np.nan
    return RecordFile(frame)


@pytest.mark.parametrize("seed", range(8))
def test_sorted_values_are_the_same_and_ranks_are_near(seed):
    file, mask = people(seed), RankSwap(("age", "pay"), window=0.03)
    masked = mask.apply(file, np.random.default_rng(seed))
    assert mask.broken(file, masked) == []
    for name in ("age", "pay"):
        before, after = file.data[name], masked.data[name]
        assert (before.isna() == after.isna()).all()
        assert before.dtype == after.dtype
        assert sorted(before.dropna()) == sorted(after.dropna())
        key, many = masked.keys[name], before.notna().sum()
        reach = int(0.03 * many)
        assert (key.kind, key.window) == (Kind.RANK, reach / many)
    moved = file.data["pay"].rank() - masked.data["pay"].rank()
    assert 0 < moved.abs().max() <= int(0.03 * moved.notna().sum())


@pytest.mark.parametrize(("many", "reach"), [(5, 1), (5, 2), (6, 1)])
def test_every_rearrangement_is_as_likely(many, reach):
    """All of them listed by brute force."""
    places = range(many)
    all_of_them = [p for p in permutations(places) if all(abs(p[i] - i) <= reach for i in places)]
    rng, draws = np.random.default_rng(3), 30 * len(all_of_them)
    times = dict.fromkeys(all_of_them, 0)
    for _ in range(draws):
        times[tuple(rearranged(many, reach, rng).tolist())] += 1
    assert chisquare(list(times.values())).pvalue > 1e-3


def test_a_window_of_one_rank_moves_as_dominoes_do():
    """Neighbours are swapped or not: a rank stays with probability 1 / sqrt(5)."""
    found = rearranged(200_000, 1, np.random.default_rng(4))
    stays = (found == np.arange(len(found))).mean()
    assert stays == pytest.approx(1 / np.sqrt(5), abs=0.006)


def test_distances_follow_the_law():
    """Uniform over the window, away from both ends."""
    many, reach = 60_000, 600
    found = rearranged(many, reach, np.random.default_rng(5))
    away = np.abs(found - np.arange(many))[2 * reach : -2 * reach]
    law = RankSwap("x", window=0.01)
    file = RecordFile(pd.DataFrame({"x": np.arange(1000.0)}))
    parts = np.array(law.apply(file, np.random.default_rng(1)).keys["x"].law)
    times = np.histogram(away, len(parts), (0, reach + 0.5))[0]
    error = np.sqrt(parts * (1 - parts) * len(away))
    assert np.abs((times - parts * len(away)) / error).max() < 4


def test_the_ends_follow_equation_1():
    """Beliefs near the ends: the band of equal weights with its rows and columns scaled to 1.

    Just cutting the window, which makes the first rank go anywhere within it alike, is wrong by 7%.
    """
    many, reach, draws = 200, 40, 1000
    band = (np.abs(np.subtract.outer(np.arange(many), np.arange(many))) <= reach).astype(float)
    scale = np.ones(many)
    for _ in range(500):
        scale = np.sqrt(scale / (band @ scale))
    links = scale[:, None] * scale * band
    rng, times = np.random.default_rng(6), np.zeros((many, many))
    for _ in range(draws):
        times[np.arange(many), rearranged(many, reach, rng)] += 1

    def first(matrix):  # the 10 lowest records, by where they went
        return matrix[:10].reshape(10, -1, 10).sum((0, 2))

    cut = band / band.sum(1, keepdims=True)
    right, wrong = (np.abs(first(times / draws) - first(m)).sum() / 20 for m in (links, cut))
    assert right < 0.012 < 0.05 < wrong


def test_ties_have_ranks_at_random():
    file = RecordFile(pd.DataFrame({"x": [0] * 50 + [1] * 50}))
    mask = RankSwap("x", window=0.02)
    moved = np.zeros(100)
    for seed in range(120):
        masked = mask.apply(file, np.random.default_rng(seed))
        assert mask.broken(file, masked) == []
        moved += masked.data["x"] != file.data["x"]
    assert chisquare(moved[:50]).pvalue > 1e-3
    assert chisquare(moved[50:]).pvalue > 1e-3


def test_the_promise_is_looked_at():
    file, mask = people(9), RankSwap("age", window=0.02)
    masked = mask.apply(file, np.random.default_rng(1))
    far = masked.data["age"].to_numpy().copy()
    low, high = far.argmin(), far.argmax()
    far[[low, high]] = far[[high, low]]
    for wrong in (
        masked.data.assign(age=far),
        masked.data.assign(age=masked.data["age"].clip(1)),
        masked.data.assign(pay=0.0),
    ):
        assert mask.broken(file, type(masked)(wrong, masked.rows, masked.keys))


@pytest.mark.parametrize("window", [0, 0.003, 1.5, "wide"])
def test_wrong_windows(window):
    with pytest.raises(DataError, match="window"):
        RankSwap("age", window=window).apply(people(1), np.random.default_rng(1))
