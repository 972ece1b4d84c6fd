"""Chains in lanes: slides have their exact distribution, whoever runs them."""

import pickle

import numpy as np
import pytest
from numba import njit

from chaincases import MODELS, compare
from discreet._kernels.bundles import WINDOW, Ratios, slide_all
from discreet._kernels.lanes import LANES, give, uniform
from discreet.intruder.posterior.chains import bundles
from discreet.intruder.posterior.chains.chains import _Run, chain_draws
from discreet.intruder.posterior.chains.convergence import judge
from discreet.intruder.posterior.result import chosen
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from discreet.table.load import load
from oracle import named

UNIFORM = CellWeights.uniform()
VALUES = 64
SAID = {"accepted": 1.0, "moves": 1, "seconds": 0.1}


def run_of(formula, weights=UNIFORM, moves="auto"):
    release = Release.margins(load("example:tract"), formula)
    return _Run.of(release, chosen(release, None), weights, None, 2, 7, moves)


def seeds(rng):
    return rng.integers(1, 1 << 64, 4 * LANES, np.uint64, endpoint=False)


@njit
def _numbers(words, out):
    for row in range(len(out)):
        give(out[row], 0, uniform(words))


def test_random_numbers_are_those_of_xoshiro():
    """Blackman & Vigna 2021, written anew with Python's numbers."""
    words = seeds(np.random.default_rng(1))
    state = [[int(words[k * LANES + lane]) for k in range(4)] for lane in range(LANES)]
    out, full = np.empty((50, LANES)), (1 << 64) - 1
    _numbers(words, out)
    for lane, (a, b, c, d) in enumerate(state):
        for row in range(50):
            assert out[row, lane] == ((a + d & full) >> 12) / 2**52
            shifted = b << 17 & full
            c, d = c ^ a, d ^ b
            b, a, c = b ^ c, a ^ d, c ^ shifted
            d = (d << 45 | d >> 19) & full


def transition(weights):
    """P(from i to j) on a line of states, from the words of `slide_all`."""
    n = len(weights)
    found = np.zeros((n, n))
    for i in range(n):
        for before in range(WINDOW):
            inside = range(n)
            if n > WINDOW:
                inside = range(max(0, i - before), min(n, i - before + WINDOW))
            total = sum(weights[j] for j in inside)
            for j in inside:
                share = 0.25 * weights[j] / total
                if j != i:
                    others = total - weights[i]
                    share += 0.75 * weights[j] / others * min(1, others / (total - weights[j]))
                found[i, j] += share / WINDOW
        found[i, i] = 1 - found[i].sum() + found[i, i]
    return found


def a_move(rng, long):
    """A random state, a move with its steps, and weights of its entries."""
    lower, raise_ = rng.integers(1, 4, 2)
    size = int(lower + raise_)
    power, most = (0, 24) if long else (int(rng.integers(2)), 5)
    sizes = np.ones(size, np.int64) if long else rng.integers(1, 3, size)
    state = rng.integers(17 if long else 0, most, size)
    logs = rng.normal(0, 0.3 if long else 1.0, (size, VALUES)).cumsum(1)
    return state, sizes, int(lower), power, logs


def along(state, sizes, lower, power):
    """Every state on the line of a move, where each entry is at least 0."""
    step = sizes * (1 << power) * np.where(np.arange(len(state)) < lower, -1, 1)
    found = [t for t in range(-40, 41) if (state + t * step >= 0).all()]
    return np.array([state + t * step for t in found]), found.index(0)


@pytest.mark.parametrize(("long", "cases"), [(False, 400), (True, 40)], ids=["short", "window"])
def test_slides_have_their_exact_probabilities(long, cases):
    """On random lines: detailed balance of the matrix, and the kernel's steps against it."""
    rng, off, moving = np.random.default_rng(96), [], 0
    for case in range(cases):
        state, sizes, lower, power, logs = a_move(rng, long)
        line, here = along(state, sizes, lower, power)
        assert (line < VALUES).all()
        flat = case % 5 == 0
        logs = 0 * logs if flat else logs
        weights = np.exp(sum(logs[e, line[:, e]] for e in range(len(state))))
        matrix = transition(weights / weights.sum())
        flow = weights[:, None] * matrix
        assert flow == pytest.approx(flow.T, abs=1e-9 * weights.max())
        rise, fall = np.ones((2, power + 1, len(state), VALUES))
        for p in range(power + 1):
            rise[p, :, : -(1 << p)] = np.exp(logs[:, 1 << p :] - logs[:, : -(1 << p)])
            fall[p, :, 1 << p :] = 1 / rise[p, :, : -(1 << p)]
        first = np.arange(len(state)) * VALUES
        ratios = Ratios(first, rise.ravel(), fall.ravel(), len(state) * VALUES, power, flat)
        unit = bool((sizes == 1).all())
        words, room, seen = seeds(rng), np.empty((2 * WINDOW + 1) * LANES), np.zeros(len(line))
        for _ in range(40):
            y = np.repeat(state, LANES).astype(np.int32)
            entries = np.arange(len(state))
            moved = slide_all(
                y, entries, sizes, 0, lower, len(state), unit, power, ratios, words, room
            )
            there = y.reshape(len(state), LANES).T
            place = (line == there[:, None]).all(2)
            assert (place.sum(1) == 1).all()
            assert moved == (there != state).any(1).sum()
            seen += place.sum(0)
        p, n = matrix[here], seen.sum()
        assert not seen[p == 0].any()
        some = n * p * (1 - p) > 4
        off.append(((seen - n * p) / np.sqrt(n * p * (1 - p) + 1e-300))[some])
        moving += len(line) > 1
    far = np.concatenate(off)
    assert moving > cases / 4
    assert np.abs(far).max() < 5
    assert np.sqrt(np.mean(far**2)) == pytest.approx(1, abs=0.1)


@pytest.mark.parametrize(
    "formula", ["Race*Income + Gender", "Race*Income + Income*Gender + Race*Gender"]
)
def test_the_same_draws_in_parts_and_elsewhere(formula):
    whole, parts = run_of(formula).parts[0], run_of(formula).parts[0]
    whole.wanted = parts.wanted = np.arange(5)
    expected = whole.run(1, 12)
    begun = parts.run(1, 5)
    other = pickle.loads(pickle.dumps(parts))
    other.resume(1, pickle.loads(pickle.dumps(parts.state(1))))
    assert np.array_equal(np.concatenate([begun, other.run(1, 7)]), expected)
    assert len(np.unique(expected.reshape(12, LANES, 5)[-1], axis=0)) > 1


@pytest.mark.parametrize("weights", [UNIFORM, *MODELS], ids=lambda weights: weights.name)
def test_sums_and_cells_known_as_a_range(weights):
    """Their upper ends are entries of their own: of three cells and of a sum of two."""
    array = np.array([[[2, 1], [0, 1]], [[1, 0], [2, 1]]])
    release = Release.margins(named(array), "A*B + C")
    release = release.between({"A": 0, "C": 1}, 1, 2).between({"A": 1, "B": 1, "C": 0}, 1, 2)
    part = _Run.of(release, chosen(release, None), weights, None, 2, 0, "auto").parts[0]
    assert part.lane.under.tolist() == [1, 3, 6, 8]
    drawn, far = compare(release, weights, draws=4_000, seed=3)
    sums, cell = drawn.counts[:, :, [1, 3]].sum(2), drawn.counts[:, :, 6]
    assert (np.unique(sums).tolist(), np.unique(cell).tolist()) == ([1, 2], [1, 2])
    assert np.abs(far).max() < 5


def test_weights_too_many_for_lanes_are_walked_one_by_one(monkeypatch):
    release = Release.margins(load("example:tract"), "Race*Income + Income*Gender + Race*Gender")
    monkeypatch.setattr(bundles, "MOST_RATIOS", 0)
    alone = chain_draws(release, weights=MODELS[0], draws=500)
    assert alone.counts.shape[1] == 500
    monkeypatch.undo()
    lanes = chain_draws(release, weights=MODELS[0], draws=500)
    assert lanes.counts.shape[1] == 512
    assert alone.counts.mean((0, 1)) == pytest.approx(lanes.counts.mean((0, 1)), abs=1)


def test_lanes_that_stay_where_they_are_have_not_converged():
    """Each chain has the same lanes, so that the chains agree; but no lane moves."""
    lanes = np.arange(LANES, dtype=np.int32) % 4
    counts = np.tile(lanes, (4, 100, 1)).reshape(4, 100 * LANES, 1)
    found = judge(counts, requested=None, lanes=LANES, **SAID)
    assert found.r_hat[0] < 1.01
    assert found.bulk[0] < 100
    assert not found.converged
    assert found.effective[0] < 100
    assert "are effective, fewer than 400" in found.problems[0]


def test_lanes_count_as_chains():
    """Independent draws are all effective; lanes that repeat themselves are not."""
    rng = np.random.default_rng(5)
    counts = rng.integers(0, 4, (4, 50, LANES, 1)).astype(np.int32)
    found = judge(counts.reshape(4, -1, 1), requested=None, lanes=LANES, **SAID)
    assert found.converged
    assert found.bulk[0] == pytest.approx(4 * 50 * LANES, rel=0.2)
    slow = np.repeat(counts[:, :10], 5, axis=1).reshape(4, -1, 1)
    found = judge(slow, requested=None, lanes=LANES, **SAID)
    assert found.bulk[0] < 0.4 * 4 * 50 * LANES
