"""Markov chains for the posterior: right, connected, and how fast beside a full Markov basis."""

import time
from itertools import combinations

import numpy as np
import pytest

from chaincases import MODELS, PAIRS, compare, random_release, reached
from discreet.intruder.posterior.chains.chains import _Run, chain_draws, chain_posterior
from discreet.intruder.posterior.chains.convergence import judge
from discreet.intruder.posterior.chains.markov_bases import minimal_basis
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.result import chosen
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.load import load
from oracle import letters, named

UNIFORM = CellWeights.uniform()
CASES = 100


def test_a_hundred_releases_against_enumeration():
    """Easy, because at most 300 tables fit; hard, because half of the releases have no moves that
    are known to connect them, and every single table must be seen."""
    rng, far, reach, tables = np.random.default_rng(100), [], 0, 0
    start = time.perf_counter()
    for case in range(CASES):
        release = random_release(rng, decomposable=case % 2 == 0)
        moves = "dynamic" if case % 4 == 2 else "auto"
        drawn, off = compare(release, UNIFORM, draws=4_000, seed=case, moves=moves)
        seen, fit = reached(release, drawn)
        reach, tables = reach + (seen == fit), tables + fit
        far.append(off)
        far.append(compare(release, MODELS[case % 3], draws=2_000, seed=case, moves=moves)[1])
    off = np.concatenate(far)
    print(
        f"\n{CASES} releases with {tables:,} tables, {reach} of {CASES} with every table seen; "
        f"{len(off):,} probabilities off by {np.sqrt(np.mean(off**2)):.2f} standard errors, at "
        f"most {np.abs(off).max():.1f} (below 5); {time.perf_counter() - start:.0f} s"
    )
    assert reach == CASES
    assert np.abs(off).max() < 5
    assert np.sqrt(np.mean(off**2)) < 1.1


@pytest.mark.parametrize(
    ("shape", "degree", "moves"),
    [((3, 3, 3), 7, 81), ((3, 3, 4), 8, 450), ((3, 4, 4), 10, 4_068)],
    ids=str,
)
def test_minimal_bases(shape, degree, moves):
    """Aoki & Takemura 2003. Easy, because a move is small; hard, because of 67,578 candidates of
    ten people only 864 are needed."""
    start = time.perf_counter()
    found = len(minimal_basis(shape, PAIRS, degree))
    print(f"\n{shape}: {found:,} moves (is {moves:,}), {time.perf_counter() - start:.1f} s")
    assert found == moves


def test_the_same_fibres_as_the_full_basis():
    """3 x 3 x 3, few people: easy, because there are few tables; hard, because moves of six people
    are needed where no smaller one fits."""
    rng, cases, tables = np.random.default_rng(81), 0, 0
    while cases < 50:
        array = np.bincount(rng.integers(0, 27, rng.integers(6, 40)), minlength=27)
        release = Release.margins(named(array.reshape(3, 3, 3)), letters(PAIRS))
        fit = exact_posterior(release).tables
        if not 2 <= fit <= 500:
            continue
        seen = []
        for moves in ("basis", "dynamic"):
            drawn = chain_draws(release, weights=UNIFORM, draws=4_000, moves=moves)
            seen.append(np.unique(drawn.counts.reshape(-1, 27), axis=0))
        assert np.array_equal(*seen)
        assert len(seen[0]) == fit
        cases, tables = cases + 1, tables + fit
    print(f"\n{cases} tables of 3 x 3 x 3: all of {tables:,} tables by both")


def effective_per_second(release, weights, moves, *, plain=False, slides, draws=10_000):
    """Of the worst cell, by its bulk effective sample size."""
    run = _Run.of(release, chosen(release, None), weights, None, 2, 0, moves)
    for part in run.parts:
        part.plain = plain
        part.refills *= slides / part.slides
        part.slides = slides
        part.run(0, 0)
    run.advance(500)
    run.forget()
    start = time.process_time()
    run.advance(draws)
    seconds = time.process_time() - start
    found = judge(
        run.counts, requested=None, accepted=run.accepted, moves=run.moves, seconds=seconds
    )
    return found.worst["bulk"] / seconds


@pytest.mark.parametrize("shape", [(3, 3, 3), (3, 4, 4)], ids=str)
@pytest.mark.parametrize("mean", [1, 5, 50])
@pytest.mark.parametrize("weights", [UNIFORM, CellWeights.multinomial()], ids=["uniform", "1/n!"])
def test_effective_samples_per_second(shape, mean, weights):
    """Against a plain Metropolis chain on the minimal basis, each at the best of three spacings.

    Easy, because slides go as far as the table lets them; hard, because fills, which make a basis
    unnecessary, cost as much as a hundred slides, and the rival's basis comes for nothing here.
    """
    table = named(np.random.default_rng(4068).poisson(mean, shape))
    release = Release.margins(table, letters(PAIRS))
    size = table.size
    ours = [
        effective_per_second(release, weights, "dynamic", slides=s * size // 2) for s in (1, 2, 4)
    ]
    theirs = [
        effective_per_second(release, weights, "basis", plain=True, slides=s * size)
        for s in (1, 4, 16)
    ]
    ratio = max(ours) / max(theirs)
    print(
        f"\n{shape}, mean count {mean}, {weights.name}: {max(ours):,.0f} effective draws a second, "
        f"Metropolis on the basis {max(theirs):,.0f}; ratio {ratio:.1f} (above 0.3)"
    )
    assert ratio > 0.3


def test_small_cells_of_the_czech_table():
    """All 4-way margins. Easy, because seven numbers determine the table; hard, because the moves
    of the formula alone are slow: circuits and fills go between."""
    table = load("example:czech")
    release = Release.margins(table, list(combinations("ABCDEF", 4)))
    chain_posterior(release, table.small(), weights=UNIFORM)  # compiles
    start = time.perf_counter()
    exact = exact_posterior(release, table.small(), weights=UNIFORM)
    summed = time.perf_counter() - start
    assert exact.tables == 705_884
    start, off = time.perf_counter(), []
    for seed in range(10):
        found = chain_posterior(
            release, table.small(), weights=UNIFORM, standard_error=0.004, seed=seed
        )
        assert found.convergence.converged
        p, worth = exact.matrix(10), found.convergence.effective[:, None]
        some = p * (1 - p) * worth > 5
        error = np.sqrt(p * (1 - p) / worth)
        off.append((found.matrix(10) - p)[some] / error[some])
    seconds, off = (time.perf_counter() - start) / 10, np.concatenate(off)
    print(
        f"\n705,884 tables: {summed:.1f} s exactly, {seconds:.1f} s by chains with errors of at "
        f"most .004; ratio {summed / seconds:.0f}; off by {np.sqrt(np.mean(off**2)):.2f} standard "
        f"errors, at most {np.abs(off).max():.1f} (below 5)"
    )
    assert np.abs(off).max() < 5
