"""Links of released records: how far from exact, and a million source records."""

import resource
import time

import numpy as np
import pandas as pd
import pytest

from discreet._kernels.linkage import balanced
from discreet.intruder.linkage.candidates import Candidates, Classes
from discreet.intruder.linkage.equation import exact_links, with_replacement_links
from discreet.intruder.linkage.links import solve
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.risk.identification import identify
from discreet.risk.matching import matching

CASES = 1_000
NOISE, KEEP, LEVELS = 0.1, 0.95, 5
SIZES = [(10_000, 1_000), (100_000, 10_000), (1_000_000, 100_000)]


def whole(densities):
    """Every pair a candidate."""
    rows, columns = densities.shape
    one = [Classes(np.arange(k), np.arange(k), np.ones(k, np.int64)) for k in densities.shape]
    starts = np.arange(columns + 1) * rows
    places = np.tile(np.arange(rows), columns)
    return Candidates(*one, starts, places, densities.T.ravel(), np.zeros(columns), 0.0)


def case(rng, kind):
    released = int(rng.integers(2, 14))
    sources = max(released, round(released / rng.choice([0.9, 0.5, 0.1])))
    y = rng.normal(size=(sources, rng.integers(1, 4)))
    if kind == "near-duplicates":
        y[1::2] = y[::2][: sources // 2] + 0.01 * rng.normal(size=y[1::2].shape)
    if kind == "outliers":
        y[0] *= 8
    spread = rng.choice([0.05, 0.2, 0.6])
    x = y[rng.permutation(sources)[:released]]
    x = x + spread * rng.normal(size=x.shape)
    logs = -((y[:, None] - x) ** 2).sum(2) / 2 / spread**2
    return np.exp(np.maximum(logs - logs.max(0), -600))


def test_how_far_from_exact():
    """Hard: more records are entangled than a cluster holds, and 90% are released.

    Clusters of 8 records against 13 that are all entangled; rivals are balancing alone and the
    with-replacement formula of Lambert's section 5.
    """
    rng = np.random.default_rng(7)
    errors = {"clusters": [], "balanced": [], "with replacement": []}
    for number in range(CASES):
        densities = case(rng, ("plain", "near-duplicates", "outliers")[number % 3])
        truth = exact_links(densities)
        scaled = densities.copy()
        balanced(scaled, np.ones(len(scaled)), np.zeros(scaled.shape[1]), 1_000)
        found = solve(whole(densities), exact=0).dense()
        tried = (found, scaled, with_replacement_links(densities))
        for name, links in zip(errors, tried, strict=True):
            errors[name].append(np.abs(links - truth).max())
    for name, sizes in errors.items():
        shown = ", ".join(f"{q:.0%} {np.quantile(sizes, q):.2g}" for q in (0.5, 0.9, 0.99))
        print(f"\n{name}: largest error of a case {shown}, all {max(sizes):.3f}", end="")
    assert np.quantile(errors["clusters"], 0.9) < 0.01
    assert max(errors["clusters"]) < 0.15
    assert np.mean(errors["clusters"]) < np.mean(errors["balanced"]) / 10


def files(rng, sources, released):
    y = rng.multivariate_normal(np.zeros(4), 0.7 * np.eye(4) + 0.3, sources)
    codes = rng.integers(0, LEVELS, (sources, 4))
    chosen = rng.permutation(sources)[:released]
    x = y[chosen] + NOISE * rng.normal(size=(released, 4))
    moved = rng.random((released, 4)) >= KEEP
    seen = (codes[chosen] + moved * rng.integers(1, LEVELS, (released, 4))) % LEVELS

    def table(numbers, labels, rows):
        columns = {f"n{k}": numbers[:, k] for k in range(4)}
        return pd.DataFrame(columns | {f"c{k}": labels[:, k] for k in range(4)} | {"id": rows})

    return table(y, codes, np.arange(sources)), table(x, seen, chosen)


@pytest.mark.parametrize(("sources", "released"), SIZES)
def test_large_files(sources, released):
    """Hard: noise of a tenth of a deviation in four numbers and 5% changed in four categories;
    five minutes and 12 GiB on two cores at a million.
    """
    numbers = {f"n{k}": {"kind": "normal", "spread": NOISE} for k in range(4)}
    labels = {f"c{k}": {"kind": "category", "keep": KEEP} for k in range(4)}
    intruder = Intruder.of({"keys": numbers | labels})
    source, masked = files(np.random.default_rng(0), sources, released)
    start = time.perf_counter()
    records = read_records(source, masked, intruder, id="id")
    found = identify(records, intruder)
    linked = time.perf_counter() - start
    near = matching(records, intruder, found.data)
    seconds = time.perf_counter() - start
    memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
    p, right = found.links.perceived, found.correct
    lost = int((found.links.pairs(records.parents, np.arange(released)) == 0).sum())
    middle = (p >= 0.4) & (p <= 0.6)
    print(
        f"\n{released:,} of {sources:,}: {linked:.1f} s to link, {seconds:.1f} s with matching, "
        f"{memory:.1f} GiB; {found}; true {found.true.risk:.3f}, matching {near.risk:.3f}; "
        f"{lost} true pairs lost, bound {found.links.lost * released:.0f}; said .4 to .6: "
        f"{right[middle].mean():.3f} right of {middle.sum():,}; {found.links}",
        end="",
    )
    bound = found.links.lost * released
    assert lost <= bound + 4 * np.sqrt(bound)
    error = 1 / np.sqrt(middle.sum())
    assert 0.4 - error <= right[middle].mean() <= 0.6 + error
    assert seconds < 300
    assert memory < 12
