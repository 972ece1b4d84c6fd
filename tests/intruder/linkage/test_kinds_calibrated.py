"""Links said at .4 to .6 are right in .45 to .55: files masked here, linked by the model."""

from dataclasses import replace

import numpy as np
import pandas as pd
import pytest

from discreet.intruder.linkage.model import Intruder, Key, Kind
from discreet.intruder.linkage.records import read_records
from discreet.risk.linkage.identification import identify

MANY = 3000
LINKS = 2000
NAMES = np.array([f"c{k}" for k in range(7)], object)


def rank_swapped(values, rng, reach, parts):
    """Every record draws its own distance from the histogram of |distance|, within the file."""
    order = np.argsort(values + rng.random(len(values)) * 1e-6)
    rank, size = np.empty(len(values), int), len(values)
    rank[order] = np.arange(size)
    out = np.full(size, -1)
    while (out < 0).any():
        left = np.flatnonzero(out < 0)
        edges = np.linspace(0, reach + 0.5, len(parts) + 1)
        part = rng.choice(len(parts), len(left), p=parts)
        away = rng.uniform(edges[part], edges[part + 1]) * rng.choice([-1, 1], len(left))
        there = rank[left] + np.rint(away).astype(int)
        fits = (there >= 0) & (there < size)
        out[left[fits]] = there[fits]
    return values[order][out]


def exact(rng):
    values = rng.integers(0, 7, MANY).astype(float)
    values[rng.random(MANY) < 0.1] = np.nan
    return values, values, {"kind": Kind.EXACT}


def interval(rng):
    values, cuts = rng.normal(0, 1, MANY), tuple(np.linspace(-1.2, 1.2, 7).tolist())
    labels = tuple(f"from {k}" for k in range(8))
    out = np.array(labels, object)[np.digitize(values, cuts)]
    return values, out, {"kind": Kind.INTERVAL, "cuts": cuts, "labels": labels}


def topcode(rng):
    values = rng.integers(0, 8, MANY)
    out = np.where(values > 6, "6+", values.astype(str))
    return values, out, {"kind": Kind.TOPCODE, "high": 6.0, "labels": ("", "6+")}


def rank(rng):
    values = rng.normal(size=MANY)
    out = rank_swapped(values, rng, 450, (0.7, 0.3))
    return values, out, {"kind": Kind.RANK, "window": 450 / MANY, "law": (0.7, 0.3)}


def rank_heaped(rng):
    """A quarter earn nothing, others in round numbers."""
    values = np.where(rng.random(MANY) < 1 / 4, 0, rng.integers(1, 200, MANY)).astype(float)
    out = rank_swapped(values, rng, 450, (1.0,))
    return values, out, {"kind": Kind.RANK, "window": 450 / MANY}


def suppressed(rng):
    """Rare categories are suppressed most, so that missing tells."""
    values = rng.choice(NAMES, MANY)
    rates = {name: 0.6 if k < 1 else 0.05 for k, name in enumerate(NAMES)}
    hidden = rng.random(MANY) < pd.Series(values).map(rates).to_numpy()
    return values, np.where(hidden, "", values), {"kind": Kind.SUPPRESSED, "suppressed": rates}


def category_suppressed(rng):
    values = rng.choice(NAMES, MANY)
    out = np.where(rng.random(MANY) < 0.8, values, rng.choice(NAMES, MANY))
    out = np.where(rng.random(MANY) < 0.2, "", out)
    return values, out, {"kind": Kind.CATEGORY, "keep": 0.8 + 0.2 / 7, "suppressed": 0.2}


def shared(rng):
    """Groups of 375 by rank have their mean released."""
    values = rng.normal(size=MANY)
    group = np.argsort(np.argsort(values)) // 375
    out = (np.bincount(group, values) / 375)[group]
    return values, out, {"kind": Kind.SHARED, "seen": out.astype(object)}


def swapped(rng):
    """One in five goes to another area."""
    values = rng.choice(NAMES, MANY)
    out = values.copy()
    away = np.flatnonzero(rng.random(MANY) < 0.2)
    out[away] = values[rng.permutation(away)]
    return values, out, {"kind": Kind.SWAPPED, "keep": float((out == values).mean())}


def noise_after_top_code(rng):
    values = rng.normal(size=MANY)
    seen = np.minimum(values, 1.0)
    out = seen + rng.normal(0, 0.3, MANY)
    return values, out, {"kind": Kind.NORMAL, "spread": (0.3,), "seen": seen.astype(object)}


MASKS = [
    exact, interval, topcode, rank, rank_heaped, suppressed, category_suppressed, shared, swapped,
    noise_after_top_code,
]  # fmt: skip


@pytest.mark.slow
@pytest.mark.parametrize("mask", MASKS)
def test_links_are_right_as_often_as_said(mask):
    """Every other file is released whole, the others are samples of two thirds."""
    stated, right = [], []
    for turn in range(12):
        rng = np.random.default_rng(turn)
        values, out, how = mask(rng)
        y = pd.DataFrame({"v": values, "z": rng.normal(0, 1, MANY)})
        rows = rng.permutation(MANY)[: MANY - turn % 2 * MANY // 3]
        x = pd.DataFrame({"v": out[rows], "z": y["z"].to_numpy()[rows]})
        x["z"] += rng.normal(0, 0.003, len(x))
        intruder = Intruder((Key("v", **how), Key("z", Kind.NORMAL, spread=(0.003,))))
        records = replace(read_records(y, x, intruder, records=True), parents=rows)
        found = identify(records, intruder)
        p = found.links.perceived
        some = (p >= 0.4) & (p <= 0.6)
        stated.append(p[some])
        right.append(found.correct[some])
        if sum(map(len, stated)) >= LINKS:
            break
    assert sum(map(len, stated)) >= LINKS
    assert 0.45 < np.concatenate(right).mean() < 0.55
    assert np.concatenate(right).mean() == pytest.approx(np.concatenate(stated).mean(), abs=0.04)
