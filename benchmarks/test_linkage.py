"""Links of released records: how far from exact, and up to a million source records.

What the parts cost by released records is drawn in benchmarks/out.
"""

import resource
import time
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from discreet._kernels.linkage import balanced
from discreet.intruder.linkage.blocking import Candidates, Classes
from discreet.intruder.linkage.equation import exact_links, with_replacement_links
from discreet.intruder.linkage.links import solve
from discreet.intruder.linkage.model import Intruder
from discreet.intruder.linkage.records import read_records
from discreet.risk.linkage.identification import identify
from discreet.risk.linkage.matching import matching

CASES = 1_000
NOISE, KEEP, LEVELS = 0.1, 0.95, 5
SIZES = [1_000, 3_000, 10_000, 30_000, 100_000]  # released, of ten times as many
PARTS = {"links": "link probabilities", "matching": "nearest records"}
OUT = Path(__file__).parent / "out"


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


def chain(weights, steps, rng):
    """How often each source holds each record: Metropolis swaps of a whole file's links."""
    from numba import njit

    @njit
    def walk(w, cumulated, who, points, coins):
        many = len(w)
        held, holder, since = np.arange(many), np.arange(many), np.zeros(many)
        counts = np.zeros((many, many))
        for t in range(len(who)):
            a = who[t]
            j, k = min(np.searchsorted(cumulated[a], points[t]), many - 1), held[a]
            b = holder[j]
            if j == k:
                continue
            there, back = w[j, a] + w[k, b], w[k, a] + w[j, b]
            if coins[t] * w[k, a] * w[j, b] * there < w[j, a] * w[k, b] * back:
                for record, source in ((a, k), (b, j)):
                    counts[source, record] += t - since[record]
                    since[record] = t
                held[a], held[b], holder[j], holder[k] = j, k, a, b
        for record in range(many):
            counts[held[record], record] += len(who) - since[record]
        return counts / len(who)

    w = weights / weights.sum(0)
    drawn = rng.integers(0, len(w), steps), rng.random(steps), rng.random(steps)
    return walk(w, np.cumsum(w, 0).T.copy(), *drawn)


def test_a_whole_file_against_a_long_chain():
    """Hard: 300 records, all released and all entangled, which no exact sum reaches."""
    rng = np.random.default_rng(5)
    y = rng.normal(size=(300, 2))
    x = y + 0.15 * rng.normal(size=y.shape)
    densities = np.exp(-((y[:, None] - x) ** 2).sum(2) / 2 / 0.15**2)
    truth = chain(densities, 20_000_000, rng)
    found = solve(whole(densities), exact=0).dense()
    best = found.argmax(1), found.max(1)
    true = truth[np.arange(300), best[0]]
    error = np.abs(found - truth)[truth > 0.02]
    print(
        f"\nmean error {error.mean():.4f}, largest {error.max():.3f}; best links said "
        f"{best[1].mean():.4f}, by the chain {true.mean():.4f}",
        end="",
    )
    assert error.mean() < 0.01
    assert abs(best[1].mean() - true.mean()) < 0.01


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


def measured(released):
    """Seconds of each part, and how right the links are."""
    numbers = {f"n{k}": {"kind": "normal", "spread": NOISE} for k in range(4)}
    labels = {f"c{k}": {"kind": "category", "keep": KEEP} for k in range(4)}
    intruder = Intruder.of({"keys": numbers | labels})
    source, masked = files(np.random.default_rng(0), 10 * released, released)
    start = time.perf_counter()
    records = read_records(source, masked, intruder, id="id")
    found = identify(records, intruder)
    linked = time.perf_counter()
    near = matching(records, intruder, found.data)
    seconds = {"links": linked - start, "matching": time.perf_counter() - linked}
    own = found.links.pairs(records.parents, np.arange(released))
    return found, near, seconds, int((own == 0).sum())


@pytest.mark.large
def test_large_files(claim):
    """Hard: noise of a tenth of a deviation in four numbers and 5% changed in four categories;
    five minutes and 12 GiB on two cores at a million.
    """
    measured(SIZES[0])  # compiles
    rows = []
    for released in SIZES:
        found, near, seconds, lost = measured(released)
        memory = resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 2**20
        p, right, links = found.links.perceived, found.correct, found.links
        middle = (p >= 0.4) & (p <= 0.6)
        print(
            f"\n{released:,} of {10 * released:,}: {seconds['links']:.1f} s to link, "
            f"{seconds['matching']:.1f} s to match, {memory:.1f} GiB; {found}; true "
            f"{found.true.risk:.3f}, matching {near.risk:.3f}; {lost} true pairs lost, "
            f"{links.lost * released:.1f} expected, at most {links.lost_at_most}; said .4 to .6: "
            f"{right[middle].mean():.3f} right of {middle.sum():,}; {links}",
            end="",
        )
        assert lost <= links.lost_at_most
        error = 1 / np.sqrt(middle.sum())
        assert 0.4 - error <= right[middle].mean() <= 0.6 + error
        assert memory < 12
        rows += [{"released": released, "part": k, "seconds": v} for k, v in seconds.items()]
    linked = [(row["released"], row["seconds"]) for row in rows if row["part"] == "links"]
    claim(
        "links", "Probabilities of links, of ten times as many sources", ours=linked[-1][1],
        size=f"{SIZES[-1]:,} released", memory=1024 * memory, growth=linked,
        why="Eight noisy keys; a rival that weighs whole files of links is in another row.",
    )  # fmt: skip
    OUT.mkdir(exist_ok=True)
    cost_chart(rows).save(OUT / "cost-of-links.svg")
    pd.DataFrame(rows).to_csv(OUT / "cost-of-links.csv", index=False, float_format="%.3f")
    assert sum(row["seconds"] for row in rows if row["released"] == SIZES[-1]) < 300


def cost_chart(rows):
    """Seconds of each part on logarithmic axes, a line a part."""
    import altair as alt

    from discreet.look.palette import LIGHT
    from discreet.look.theme import WIDE, finish

    left, right = 60, 150
    xs = alt.Scale(type="log", domain=[SIZES[0], SIZES[-1]], range=[0, WIDE - left - right])
    axis = alt.Axis(title="Released records", values=SIZES, format=",d")
    x = alt.X("released:Q", scale=xs, axis=axis)
    y = alt.Y(
        "seconds:Q",
        scale=alt.Scale(type="log", nice=True),
        axis=alt.Axis(title="Seconds", grid=True, format="~g", values=[0.1, 1, 10, 100, 1000]),
    )
    colours = alt.Scale(domain=list(PARTS), range=[LIGHT.released, LIGHT.muted])
    shade = alt.Color("part:N", legend=None, scale=colours)
    base = alt.Chart(alt.InlineData(values=rows)).encode(x=x, y=y, color=shade)
    ends = [row | {"words": PARTS[row["part"]]} for row in rows if row["released"] == SIZES[-1]]
    words = alt.Chart(alt.InlineData(values=ends)).mark_text(align="left", dx=8, fontSize=12)
    both = sum(row["seconds"] for row in ends)
    return finish(
        [
            base.mark_line(strokeWidth=2),
            base.mark_point(filled=True, size=40, opacity=1),
            words.encode(x=x, y=y, color=shade, text="words:N"),
        ],
        title=f"{SIZES[-1]:,} released records of a million take {both:,.0f} seconds",
        key="Seconds on two cores by released records of ten times as many, logarithmic axes.",
        notes=["Four numbers and four categories with noise; compiled code is in the cache."],
        left=left,
        width=WIDE,
        height=280,
    )
