"""Beliefs of large groups: near the exact sum, whoever is alike, whatever is pruned."""

from itertools import permutations

import numpy as np
import pandas as pd
import pytest

from discreet._kernels.linkage import one_column
from discreet.intruder.linkage.blocking import Candidates, Classes
from discreet.intruder.linkage.equation import exact_links
from discreet.intruder.linkage.links import link, solve
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records


def candidates(densities, sources=None, released=None):
    """Every pair, of classes of so many copies."""
    rows, columns = densities.shape
    ends = []
    for many, times in ((rows, sources), (columns, released)):
        copies = np.ones(many, np.int64) if times is None else np.asarray(times)
        of = np.repeat(np.arange(many), copies)
        ends.append(Classes(np.searchsorted(of, np.arange(many)), of, copies))
    places = np.tile(np.arange(rows), columns)
    starts = np.arange(columns + 1) * rows
    return Candidates(*ends, starts, places, densities.T.ravel(), np.zeros(columns), 0.0)


def normal(rng, sources, released, dims, spread):
    y = rng.normal(size=(sources, dims))
    x = y[:released] + spread * rng.normal(size=(released, dims))
    return np.exp(-((y[:, None] - x) ** 2).sum(2) / 2 / spread**2)


def pram(rng, sources, released):
    found = np.ones((sources, released))
    for many in (4, 6, 3):
        y = rng.integers(0, many, sources)
        x = np.where(rng.random(released) < 0.5, y[:released], rng.integers(0, many, released))
        found *= np.where(y[:, None] == x, 0.5 + 0.5 / many, 0.5 / many)
    return found


def ranks(rng, many):
    found = np.ones((many, many))
    for _ in range(3):
        y = rng.permutation(many)
        x = np.clip(y + rng.integers(-4, 5, many), 0, many - 1)
        found *= np.where(abs(y[:, None] - x) <= 4, 1.0, 1e-3)
    return found


# mean error of links above .02, worst error, and how much less is believed than true
HARD = {
    "a line": (lambda rng: normal(rng, 14, 14, 1, 0.15), 0.002, 0.05, 0.002),
    "a plane": (lambda rng: normal(rng, 14, 14, 2, 0.5), 0.003, 0.05, 0.002),
    "a sample": (lambda rng: normal(rng, 26, 13, 2, 0.5), 0.001, 0.03, 0.001),
    "categories": (lambda rng: pram(rng, 14, 14), 0.003, 0.04, 0.001),
    "ranks": (lambda rng: ranks(rng, 14), 0.01, 0.15, 0.003),
}


@pytest.mark.parametrize("kind", HARD)
def test_beliefs_are_near_the_exact_sum(kind):
    """More records are entangled than a cluster holds; nothing is believed safer by much."""
    make, mean, worst, safer = HARD[kind]
    rng = np.random.default_rng(11)
    errors, lows = [], []
    for _ in range(6):
        densities = make(rng)
        truth = exact_links(densities)
        found = solve(candidates(densities), exact=0)
        assert found.exact == 0
        away = found.dense() - truth
        errors.append(np.abs(away)[truth > 0.02])
        lows.append((away * truth).sum() / truth.sum())
    assert np.concatenate(errors).mean() < mean
    assert np.concatenate(errors).max() < worst
    assert np.mean(lows) > -safer


@pytest.mark.parametrize("strangers", [0, 6])
@pytest.mark.parametrize("seed", range(3))
def test_copies_are_records(seed, strangers):
    """A class of copies against the same records one by one, and both against the exact sum."""
    rng = np.random.default_rng(seed)
    densities = np.exp(-rng.exponential(2, (6, 5)))
    sources, released = rng.integers(1, 4, 6), rng.integers(1, 3, 5)
    every = np.repeat(np.repeat(densities, sources, 0), released, 1)
    truth = exact_links(every, population=len(every) + strangers) if strangers else None
    truth = exact_links(every) if truth is None else truth
    for found in (candidates(densities, sources, released), candidates(every)):
        links = solve(found, strangers=strangers, exact=0, columns=3).dense()
        assert links == pytest.approx(truth, abs=0.02)


def test_two_look_alikes_are_not_told_apart():
    """Beliefs alone settle a pair one way or the other; 6 of 8 records are such pairs."""
    y = np.repeat([0.0, 10.0, 20.0], 2) + np.tile([0, 0.1], 3)
    y = np.append(y, [30.0, 33.0])
    densities = np.exp(-((y[:, None] - y) ** 2) / 2)
    found = solve(candidates(densities), exact=0, columns=2).dense()
    assert found == pytest.approx(exact_links(densities), abs=1e-3)


@pytest.mark.parametrize("strangers", [0.0, 1.0, 4.0])
def test_one_column_of_the_permanent(strangers):
    """Against all ways to give four records to five rows, to strangers and to outsiders."""
    rng = np.random.default_rng(3)
    weights, null = rng.random((5, 4)), rng.random(5)
    outside, strange = rng.random(4), rng.random(4) * bool(strangers)
    truth = np.zeros(6)
    extra = int(strangers)
    names = [*range(5), *[5] * extra, *[6] * 4]
    for way in set(permutations(range(len(names)), 4)):
        who = [names[k] for k in way]
        if any(names[k] == 6 and k != 5 + extra + place for place, k in enumerate(way)):
            continue  # an outsider of one's own
        value = np.prod([null[j] for j in range(5) if j not in who])
        for i, j in enumerate(who):
            value *= weights[j, i] if j < 5 else strange[i] / strangers if j == 5 else outside[i]
        truth[min(who[0], 5)] += value
    links, whole = one_column(weights, null, outside, strange, strangers)
    assert links / whole == pytest.approx(truth[:5] / truth.sum(), abs=1e-12)


def whole_file(rng, many):
    y = pd.DataFrame({"a": rng.integers(0, 12, many), "b": rng.integers(0, 12, many)}).astype(str)
    x = y.copy()
    for name in y:
        moved = rng.random(many) > 0.6
        x.loc[moved, name] = rng.integers(0, 12, moved.sum()).astype(str)
    return y, x


def test_everybody_is_released_also_if_pruned():
    """Who is left out of the candidates is a source all the same: few links are null."""
    y, x = whole_file(np.random.default_rng(2), 400)
    keys = {name: {"kind": "category", "keep": 0.6 + 0.4 / 12} for name in "ab"}
    intruder = Intruder.of({"keys": keys, "top": 60})
    links = link(read_records(y, x, intruder), intruder, dense=0)
    assert 0.001 < links.left_out < 0.2
    assert links.null.mean() < 2 * links.lost


def test_threads_change_nothing(monkeypatch):
    from numba import get_num_threads, set_num_threads

    from discreet.intruder.linkage import solving

    monkeypatch.setattr(solving, "FEW", 0)
    found = candidates(normal(np.random.default_rng(1), 80, 60, 2, 0.3))
    before, answers = get_num_threads(), []
    for many in (1, before):
        set_num_threads(many)
        answers.append(solve(found).chances)
    set_num_threads(before)
    assert (answers[0] == answers[1]).all()
