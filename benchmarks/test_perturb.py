"""10,000 perturbed tables: every margin, and the model's probabilities over the whole fibre.

Easy where the model is decomposable (random matching) or its tables can be summed over; hard where
margins overlap in a circle and only chains are left. The chi-square tests compare draws with the
probabilities of all tables that fit, listed by brute force.
"""

import math
import time

import numpy as np
import pytest
from scipy.stats import chi2

from discreet.errors import DataError
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.intruder.tables.enumerate import enumerate_tables
from discreet.masks.perturb import drawing, perturb
from discreet.release.release import Release
from discreet.table.formula import Formula
from discreet.table.load import load
from discreet.table.table import Table

DRAWS = 10_000
CZECH = "ABCDEF"
PAIRS = [[a, b] for a in CZECH for b in CZECH if a < b]


def drawn(table, formula, **more):
    """The draws, with the processor seconds they took; every margin of every draw is checked."""
    start = time.process_time()
    found = perturb(table, formula, draws=DRAWS, seed=20, **more)
    took = time.process_time() - start
    for t in found.release.tables:
        places = found.release.axes.places(t.names)
        key = found.codes[:, places] @ np.cumprod([1, *t.shape[:-1]])
        truth = np.zeros(math.prod(t.shape), int)
        np.add.at(truth, t.codes @ np.cumprod([1, *t.shape[:-1]]), t.counts)
        for cell in range(len(truth)):
            assert (found.counts[:, key == cell].sum(1) == truth[cell]).all()
    return found, took


def means_agree(counts, exact, worth=DRAWS):
    error = counts.std(0) / np.sqrt(worth)
    return (np.abs(counts.mean(0) - exact) <= 4 * error + 1e-9).all()


@pytest.mark.parametrize(
    ("example", "formula"),
    [
        ("tract", "Race*Income + Income*Gender"),
        ("tract", "Race*Income + Income*Gender + Race*Gender"),
        ("czech", "A*B*C + B*D + D*E + E*F"),
        ("czech", "A*C*D*E + A*B*C*E + B*F"),
    ],
)
def test_exact_draws(example, formula):
    found, took = drawn(load(f"example:{example}"), formula)
    assert found.exact
    known = posterior(found.release, model=found.release.formula)
    assert known.exact
    dense = np.array([t.dense().ravel() for t in found.tables()])
    assert means_agree(dense, known.mean)
    print(f"{example} {formula}: {found.method}, {took:.2f} s of {DRAWS:,} draws")


@pytest.mark.parametrize(
    "formula", ["Race*Income + Income*Gender + Race*Gender", "Race*Income + Income*Gender"]
)
def test_chi_square_over_the_fibre(formula):
    table = load("example:tract")
    release = Release.margins(table, formula)
    cells, tables = enumerate_tables(release, limit=200_000)
    logs = -np.array([sum(map(math.lgamma, row)) for row in (tables + 1).tolist()])
    chances = np.exp(logs - logs.max())
    chances /= chances.sum()
    found, took = drawn(table, formula)
    place = {row.tobytes(): i for i, row in enumerate(tables.astype(np.int64))}
    seen = np.zeros(len(tables))
    for t in found.tables():
        seen[place[t.lookup(cells.codes).astype(np.int64).tobytes()]] += 1
    often = DRAWS * chances >= 5
    o = np.append(seen[often], seen[~often].sum())
    e = np.append(DRAWS * chances[often], DRAWS * chances[~often].sum())
    p = chi2.sf(((o - e) ** 2 / e)[e > 0].sum(), (e > 0).sum() - 1)
    print(f"{formula}: {len(tables):,} tables, {often.sum():,} often, p = {p:.3f}, {took:.2f} s")
    assert p > 1e-4


def test_chains_against_the_exact_expectations(monkeypatch):
    """Chains where exact beliefs are known: their errors are those that they say."""
    table, formula = load("example:tract"), "Race*Income + Income*Gender + Race*Gender"

    def refused(*_):
        raise DataError("too many")

    monkeypatch.setattr(drawing, "exact_draws", refused)
    found, took = drawn(table, formula)
    assert found.convergence.converged
    exact = exact_posterior(found.release, weights=CellWeights.multinomial()).mean
    worth = np.minimum(found.convergence.bulk, DRAWS)
    assert means_agree(found.counts, exact, worth)
    print(f"{found.method}, {took:.2f} s")


def test_all_pairs_of_czech():
    """15 overlapping margins of 64 cells: chains, compared with a second run of them."""
    found, took = drawn(load("example:czech"), PAIRS)
    assert found.convergence.worst["r_hat"] <= 1.01
    again = perturb(load("example:czech"), PAIRS, draws=DRAWS, seed=21)
    worth = [np.minimum(f.convergence.bulk, DRAWS) for f in (found, again)]
    error = np.sqrt(sum(f.counts.var(0) / w for f, w in zip((found, again), worth, strict=True)))
    assert (np.abs(found.counts.mean(0) - again.counts.mean(0)) <= 4 * error + 1e-9).all()
    print(f"{found.method}, {took:.2f} s")


def test_a_larger_table():
    """8 x 6 x 5 cells with all pairs."""
    array = np.random.default_rng(1).poisson(2, (8, 6, 5))
    table = Table.of(array, A=range(8), B=range(6), C=range(5))
    found, took = drawn(table, "A*B + A*C + B*C")
    assert found.convergence.worst["r_hat"] <= 1.01
    print(f"{found.method}, {took:.2f} s")


def test_nltcs(nltcs):
    """65,536 cells, 21,574 people, a decomposable release: exact."""
    windows = [nltcs.names[i : i + 4] for i in range(13)]
    start = time.process_time()
    found = perturb(nltcs, Formula.of(windows, nltcs.names), draws=20, seed=1)
    took = time.process_time() - start
    assert found.exact
    for t in found.tables():
        assert all(t.margin(w) == nltcs.margin(w) for w in windows)
    print(f"{found.method}, {took:.2f} s of 20 draws")
