"""Beliefs about the small cells of the NLTCS table under the paper's frontier for beta = 3."""

import time

import numpy as np
import pytest

from discreet.data.examples import find_example
from discreet.errors import DataError
from discreet.intruder.posterior.exact.decomposable import decomposable_posterior
from discreet.release.release import Release
from discreet.table.load import load
from discreet.table.table import Table

# Dobra, Erosheva & Fienberg 2002, (1.5)
BETA_3 = [
    [5, 10, 12, 13, 14, 15, 16], [5, 10, 11, 14, 15, 16], [9, 10, 12, 13, 14, 15],
    [6, 10, 12, 13, 15, 16], [4, 10, 12, 13, 14, 15], [4, 8, 10, 12, 13, 14],
    [3, 4, 12, 13, 14, 15], [3, 4, 7, 12, 13, 15], [2, 12, 13, 14, 15, 16],
    [1, 9, 12, 13, 14, 15],
]  # fmt: skip
DRAWS = 10_000


@pytest.fixture(scope="module")
def table():
    try:
        find_example("nltcs").path  # noqa: B018
    except DataError as error:
        pytest.skip(str(error))
    return load("example:nltcs")


def by_shuffles(release, rng):
    """The rival: one table by sorting all people by separator value, in random order, in numpy."""
    tree = release.formula.junction_tree
    people = {}
    for j, names in enumerate(tree.nodes):
        clique = release.table(names)
        codes = np.repeat(clique.codes, clique.counts, 0).astype(np.int64)
        shared = tree.edges[j - 1][2] if j else ()
        radix = 2 ** np.arange(len(shared))
        mine = codes[:, [names.index(name) for name in shared]] @ radix
        ours = sum((people[name] * r for name, r in zip(shared, radix, strict=True)), 0 * mine)
        here = np.lexsort((rng.random(len(mine)), mine))
        there = np.argsort(ours, kind="stable")
        for place, name in enumerate(names):
            if name not in people:
                people[name] = np.empty(len(mine), np.int64)
                people[name][there] = codes[here, place]
    return np.stack([people[name] for name in release.names], axis=1)


def test_ten_thousand_tables(table, claim):
    """Easy, because a table is a random matching of people along the junction tree, with no chain;
    hard, because each of the 21,574 people is matched nine times for every draw.
    """
    release = Release.margins(table, [[table.names[p - 1] for p in m] for m in BETA_3])
    small = table.small()
    decomposable_posterior(release, small, draws=2)  # compiles
    start = time.perf_counter()
    drawn = decomposable_posterior(release, small, draws=DRAWS, seed=2003)
    ours = time.perf_counter() - start
    start = time.perf_counter()
    closed = decomposable_posterior(release, small)
    exact = time.perf_counter() - start
    start, rng = time.perf_counter(), np.random.default_rng(1)
    for _ in range(20):
        codes = by_shuffles(release, rng)
    theirs = (time.perf_counter() - start) / 20 * DRAWS
    rival = Table.from_cells(table.variables, codes.astype(np.uint8), np.ones(len(codes), np.int64))
    assert all(rival.margin(t.names) == t for t in release.tables)
    p = closed.matrix(20)
    known = p * (1 - p) * DRAWS > 5
    off = (drawn.matrix(20) - p)[known] / np.sqrt(p * (1 - p) / DRAWS)[known]
    right = int((closed.guess == small.counts).sum())
    print(
        f"\n{len(small):,} small cells, {DRAWS:,} draws: {ours:.1f} s (under 120), closed form "
        f"{exact:.2f} s, numpy shuffles {theirs:.0f} s (from 20 draws); ratio {theirs / ours:.0f}; "
        f"root mean square of {len(off):,} errors {np.sqrt(np.mean(off**2)):.3f} standard errors, "
        f"largest {np.abs(off).max():.1f}; {right} counts guessed right; log probability of the "
        f"true table {closed.whole.log_probability(table):,.0f}, of a typical one "
        f"{-closed.entropy:,.0f}: the model fits badly"
    )
    claim(
        "beliefs", "10,000 tables drawn under the paper's decomposable frontier", ours=ours,
        rival="shuffles of all people (numpy, from 20 draws)", theirs=theirs,
        size="2^16 cells", why="People are matched along the junction tree; numpy sorts them.",
    )  # fmt: skip
    assert ours < 120
    assert np.sqrt(np.mean(off**2)) == pytest.approx(1, abs=0.03)
    assert np.abs(off).max() < 5.5
    assert closed.whole.log_probability(table) < -closed.entropy - 1_000
