"""Markov chains for the posterior: right, connected, and how fast beside a full Markov basis."""

import math
import time
from importlib import import_module
from itertools import combinations

import numpy as np
import pytest
from numba import njit

from chaincases import MODELS, PAIRS, compare, random_release, reached
from discreet._kernels.chains import Edges
from discreet.intruder.posterior.chains.chains import _Run, chain_draws, chain_posterior
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
    found = len(minimal_basis(shape, PAIRS, degree, effort=10))
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


@njit(cache=True, nogil=True)
def metropolis(x, low, moves, kind, logs, wanted, steps, rng, out):
    """The rival: one step forward or back along a random move, accepted by the ratio of weights."""
    starts, cells, signs = moves
    for row in range(out.shape[0]):
        for _ in range(steps):
            m = int(rng.random() * (starts.size - 1))
            sign = 1 if rng.random() < 0.5 else -1
            log, fits = 0.0, True
            for i in range(starts[m], starts[m + 1]):
                c = cells[i]
                new = x[c] + sign * signs[i]
                if new < low[c]:
                    fits = False
                    break
                log += logs[kind[c], new] - logs[kind[c], x[c]]
            if fits and (log >= 0 or rng.random() < math.exp(log)):
                for i in range(starts[m], starts[m + 1]):
                    x[cells[i]] += sign * signs[i]
        for i in range(wanted.size):
            out[row, i] = x[wanted[i]]


@njit(cache=True, nogil=True)
def metropolis_on_edges(x, low, edges, kind, logs, wanted, steps, rng, out):
    """The same along separators, each move made when it is tried (Dobra 2003)."""
    cells, signs = np.empty(4, np.int64), np.array([-1, -1, 1, 1])
    for row in range(out.shape[0]):
        for _ in range(steps):
            e = int(rng.random() * edges.shift.size)
            i = int(rng.random() * low.size)
            g = edges.group[e, i]
            first, end = edges.bounds[e, g], edges.bounds[e, g + 1]
            j = edges.members[e, first + int(rng.random() * (end - first))]
            cells[0], cells[1] = i, j
            cells[2] = edges.place[edges.side[e, i] + edges.rest[e, j]]
            cells[3] = edges.place[edges.side[e, j] + edges.rest[e, i]]
            if i == j or cells[2] < 0 or cells[3] < 0 or cells[2] == i or cells[2] == j:
                continue
            log, fits = 0.0, x[i] > low[i] and x[j] > low[j]
            if fits:
                for k in range(4):
                    c = cells[k]
                    log += logs[kind[c], x[c] + signs[k]] - logs[kind[c], x[c]]
                if log >= 0 or rng.random() < math.exp(log):
                    for k in range(4):
                        x[cells[k]] += signs[k]
        for i in range(wanted.size):
            out[row, i] = x[wanted[i]]


def effective(draws):
    """Bulk and tail effective sample sizes of the worst cell, of chains x draws x cells."""
    array_stats = import_module("arviz_stats.base").array_stats
    found = []
    for cell in np.flatnonzero(np.ptp(draws.reshape(-1, draws.shape[2]), axis=0)):
        series = draws[:, :, cell].astype(np.float64)
        bulk = array_stats.ess(series, method="bulk")
        found.append((bulk, array_stats.ess(series, method="tail", prob=(0.05, 0.95))))
    return np.nanmin(found, axis=0)


def race(release, cells, weights, *, moves="dynamic", basis=False, most=400):
    """Bulk and tail effective draws a processor second: ours, the rival's; ours per draw.

    Each at its best spacing, chain by chain in turns in one process; fills are in our time. The
    rival has the Markov basis, for nothing, or else our moves.
    """
    cells = chosen(release, cells)
    ours = _Run.of(release, cells, weights, None, 2, 0, moves).parts[0]
    walker = ours.walker
    if basis:
        walker = _Run.of(release, cells, weights, None, 2, 0, "basis").parts[0].walker
    on_edges = isinstance(walker.how, Edges)
    step, how = metropolis, (*(() if on_edges else walker.how[0]),)
    if on_edges:
        step, how = metropolis_on_edges, walker.how
    space, wanted, n = walker.space, ours.wanted, max(16, walker.space.columns)
    slides, refills, best = ours.slides, ours.refills, [np.zeros(2), np.zeros(2)]
    for faster, apart in ((8, 1 / 2), (4, 1), (2, 4), (1, 16)):
        ours.slides, ours.refills = max(1, slides // faster), refills / faster
        seconds, kept = np.zeros(2), ([], [])
        rows = int(np.clip(3e7 / (n * apart), 500, 16 * most))
        for chain in range(2):
            x, rng = walker.states[chain].copy(), np.random.default_rng(chain)
            out = np.empty((rows, len(wanted)), np.int64)
            given = x, space.low, how, space.kind, space.logs, wanted, int(n * apart), rng
            ours.run(chain, 50)
            step(*given, out[: rows // 10])
            start = time.thread_time()
            drawn = ours.run(chain, most)
            middle = time.thread_time()
            step(*given, out)
            seconds += middle - start, time.thread_time() - middle
            kept[0].append(drawn.reshape(most, ours.lanes, -1).swapaxes(0, 1))
            kept[1].append(out[None])
        for k in range(2):
            worth = effective(np.concatenate(kept[k])) / seconds[k]
            best[k] = max(best[k], worth, key=lambda rate: rate[0])
    return best


def told(name, weights, ours, theirs, least):
    ratio = ours / theirs
    print(
        f"\n{name}, {weights.name}: {ours[0]:,.0f} effective draws a second, Metropolis "
        f"{theirs[0]:,.0f}; ratio {ratio[0]:.1f} in bulk (above {least}), {ratio[1]:.1f} in tails"
    )
    assert ratio[0] > least
    return 10_000 / ours[0], 10_000 / theirs[0]


SATURATED, OWN = CellWeights.dirichlet(), CellWeights.multinomial()
KINDS = {"uniform": UNIFORM, "saturated": SATURATED, "own": OWN}
LEAST = {"uniform": 1, "saturated": 1, "own": 0.7}  # where fills are needed, and single steps do


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("mean", [1, 2, 5, 50])
@pytest.mark.parametrize("shape", [(3, 3, 3), (3, 4, 4)], ids=str)
def test_effective_samples_per_second(shape, mean, kind, claim):
    """All pairs of small tables, against Metropolis on the minimal basis.

    Easy, because sixteen lanes try a move at once and each goes as far as it likes; hard, because
    most moves meet an empty cell, and the rival, whose basis comes for nothing here, needs no
    fills.
    """
    table = named(np.random.default_rng(4068).poisson(mean, shape))
    found = race(Release.margins(table, letters(PAIRS)), None, KINDS[kind], basis=True)
    ours, theirs = told(f"{shape}, mean count {mean}", KINDS[kind], *found, 1)
    if mean == 1 and shape == (3, 4, 4):
        claim(
            "chains",
            f"10,000 effective draws, 3 x 4 x 4 with all pairs, mean count 1, {kind} weights",
            ours=ours, rival="Metropolis on the minimal basis (numba)", theirs=theirs,
            size="48 cells", why="sixteen lanes a move, and only moves that a formula gives",
        )  # fmt: skip


CZECH = {
    "all pairs": list(combinations("ABCDEF", 2)),
    "all triples": list(combinations("ABCDEF", 3)),
    "all fours": list(combinations("ABCDEF", 4)),
    "decomposable": "A*C*E + A*D*E + B*C + F",
}


@pytest.mark.parametrize("kind", KINDS)
@pytest.mark.parametrize("released", CZECH)
def test_small_cells_of_two_to_the_six(released, kind, claim):
    """The small cells of the Czech table, of 1,841 people, against Metropolis on the same moves.

    Easy for the rival under the model of the release, where counts hardly leave the middle of
    their lines: single steps are as good as drawing from all of it, and 16 places of a line are
    weighed for one step. Profile of our time, a lane: 12 ns a slide without weights, 28 to 47 ns
    with them, and .2 to 1 ms a fill, which takes 10 to 45% and alone makes sure that every table
    is reached; the rival has none.
    """
    table = load("example:czech")
    release = Release.margins(table, CZECH[released])
    moves = "auto" if released == "decomposable" else "dynamic"
    found = race(release, table.small(), KINDS[kind], moves=moves)
    ours, theirs = told(f"Czech, {released}", KINDS[kind], *found, LEAST[kind])
    if kind != "uniform" and released in ("all pairs", "decomposable"):
        claim(
            "chains", f"10,000 effective draws, small Czech cells, {released}, {kind} weights",
            ours=ours, rival="Metropolis on the same moves (numba)", theirs=theirs,
            size="64 cells", why="long lines are weighed to their ends, and fills take their time",
        )  # fmt: skip


@pytest.mark.parametrize("kind", KINDS)
def test_small_cells_of_the_tract_table(kind, claim):
    """18 cells, 15 moves: easy for both, a few steps are enough; fills are what costs."""
    table = load("example:tract")
    release = Release.margins(table, "Race*Income + Income*Gender + Race*Gender")
    found = race(release, table.small(), KINDS[kind], basis=True)
    ours, theirs = told("tract, all pairs", KINDS[kind], *found, LEAST[kind])
    if kind == "saturated":
        claim(
            "chains", "10,000 effective draws of the small cells of the tract table, all pairs",
            ours=ours, rival="Metropolis on the minimal basis (numba)", theirs=theirs,
            size="18 cells", why="15 moves reach everything in a few steps, whoever takes them",
        )  # fmt: skip


def test_small_cells_of_two_to_the_ten(nltcs, claim):
    """Ten variables of the NLTCS in a tree of pairs, under the saturated model.

    Easy, because moves are made when tried; hard, because 1,024 cells are mostly empty and most
    moves meet one that is.
    """
    table = nltcs.margin(list(nltcs.names[:10]))
    pairs = [nltcs.names[i : i + 2] for i in range(9)]
    release = Release.margins(table, [list(pair) for pair in pairs])
    found = race(release, table.small().take(np.arange(50)), SATURATED, moves="auto")
    ours, theirs = told("2^10 of the NLTCS", SATURATED, *found, 1)
    claim(
        "chains", "10,000 effective draws of small cells, ten variables of the NLTCS, nine pairs",
        ours=ours, rival="Metropolis along separators (numba)", theirs=theirs,
        size="1,024 cells",
        why="sixteen lanes a move; few draws of the rival are effective, so that its time is rough",
    )  # fmt: skip


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
