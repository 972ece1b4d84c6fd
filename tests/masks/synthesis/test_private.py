"""Differentially private tables: the law of the noise, what is kept, and what can be believed."""

import math

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.masks.synthesis import geometric
from discreet.masks.synthesis.geometric import (
    count_mass,
    log_law,
    private_noise,
    seeded_noise,
    variance,
)
from discreet.masks.synthesis.private import private_table
from discreet.table.load import load
from discreet.table.table import Table

TRACT = load("example:tract")


def test_the_variance_at_epsilon_1():
    assert variance(1.0) == pytest.approx(1.8413, abs=5e-5)
    z = np.arange(-200, 201)
    law = np.exp(log_law(z, 1.0))
    assert law.sum() == pytest.approx(1)
    assert (law * z**2).sum() == pytest.approx(variance(1.0))


@pytest.mark.parametrize("scale", [0.5, 1.0, 3.0])
def test_seeded_noise_has_the_law(scale):
    n = 100_000
    noise = seeded_noise(np.zeros(n, np.int64), scale, np.random.default_rng(1))
    for z in range(-4, 5):
        p = math.exp(log_law(z, scale))
        assert abs((noise == z).mean() - p) < 4.5 * math.sqrt(p / n)
    assert noise.var() == pytest.approx(variance(scale), rel=0.03)


def test_noise_of_opendp_has_the_law():
    """Not seedable: bounds that hold but once in millions of runs."""
    pytest.importorskip("opendp")
    n = 20_000
    noise = private_noise(np.zeros(n, np.int64), 1.0)
    for z in (-2, -1, 0, 1, 2):
        p = math.exp(log_law(z, 1.0))
        assert abs((noise == z).mean() - p) < 6 * math.sqrt(p / n)
    shifted = private_noise(np.full((2, 3), 1_000), 1.0)
    assert shifted.shape == (2, 3)
    assert np.abs(shifted - 1_000).max() < 60


def test_without_opendp_the_extra_is_named(monkeypatch):
    def missing(name, *_):
        raise ImportError(name)

    monkeypatch.setattr(geometric, "import_module", missing)
    with pytest.raises(DataError, match=r"pip install 'discreet\[privacy\]'"):
        private_table(TRACT, 1.0)
    assert private_table(TRACT, 1.0, rng=np.random.default_rng(1)).source.endswith(
        "not for release"
    )


def test_privacy_of_neighbours():
    """One person more changes the chance of any noisy table by at most exp(epsilon)."""
    epsilon, k = 0.7, 3
    scale = k / epsilon
    seen = np.arange(-20, 30)
    worst = np.abs(log_law(seen - 4, scale) - log_law(seen - 5, scale)).max()
    assert k * worst == pytest.approx(epsilon)
    made = private_table(
        TRACT, epsilon, margins="Race + Income + Gender", rng=np.random.default_rng(1)
    )
    assert made.scale == pytest.approx(scale)


@pytest.mark.parametrize("noisy", [-3, 0, 1, 7])
def test_beliefs_by_simulation(noisy):
    """Counts from a prior, with noise: the true counts of those that came out as `noisy`."""
    rng, prior = np.random.default_rng(3), np.array([0.4, 0.3, 0.1, 0.1, 0.1])
    n = rng.choice(5, 400_000, p=prior)
    seen = seeded_noise(n, 1.0, rng)
    truths, mass = n[seen == noisy], count_mass(noisy, 1.0, prior)
    assert len(truths) > 500
    for value in range(5):
        p = mass[value]
        assert abs((truths == value).mean() - p) < 4.5 * math.sqrt(p * (1 - p) / len(truths))


def test_beliefs_about_cells():
    made = private_table(TRACT, 2.0, rng=np.random.default_rng(1))
    belief = made.belief(TRACT.small())
    sums = np.add.reduceat(belief.mass, belief.starts[:-1])
    assert np.allclose(sums, 1)
    for row, code in enumerate(TRACT.small().codes):
        noisy = int(made.noisy[0][tuple(code)])
        mass = count_mass(noisy, 2.0)
        assert belief.probability(1)[row] == pytest.approx(mass[1])
    with pytest.raises(DataError, match="whole table"):
        private_table(TRACT, 1, margins="Race", rng=np.random.default_rng(1)).belief(TRACT.small())


def test_clipped_is_a_table():
    made = private_table(TRACT, 0.3, rng=np.random.default_rng(2))
    assert (made.noisy[0] < 0).any()
    assert made.clipped().dense().min() == 0
    assert (made.clipped().dense() == np.maximum(made.noisy[0], 0)).all()


def test_the_fit_has_consistent_margins_and_is_nearest():
    """Against a general solver of the same least squares."""
    from scipy.optimize import nnls

    rng = np.random.default_rng(4)
    table = Table.of(rng.poisson(8, (2, 3, 2)), A="xy", B="xyz", C="xy")
    made = private_table(table, 1.0, margins="A*B + B*C", rng=rng)
    fitted = made.fitted
    assert fitted.min() >= 0
    assert fitted.sum() == pytest.approx(made.total)
    rows, wanted = [], []
    for place in range(12):
        unit = np.zeros(12)
        unit[place] = 1
        cube = unit.reshape(2, 3, 2)
        rows.append(np.concatenate([cube.sum(2).ravel(), cube.sum(0).ravel(), [1e3]]))
    design = np.array(rows).T
    wanted = np.concatenate([made.noisy[0].ravel(), made.noisy[1].ravel(), [1e3 * made.total]])
    _, best = nnls(design, wanted)
    off = np.concatenate([
        (fitted.sum(2) - made.noisy[0]).ravel(), (fitted.sum(0) - made.noisy[1]).ravel()
    ])  # fmt: skip
    assert np.linalg.norm(off) == pytest.approx(best, rel=1e-3)
    logs = np.log(np.maximum(fitted, 1e-300))
    interaction = logs[0, :, 0] - logs[0, :, 1] - logs[1, :, 0] + logs[1, :, 1]
    assert np.abs(interaction).max() < 1e-6  # A and C independent given B


def test_much_epsilon_gives_the_model_itself():
    made = private_table(
        TRACT, 1e4, margins="Race*Income + Income*Gender", rng=np.random.default_rng(1)
    )
    assert made.total == TRACT.total
    for names, counts in zip(made.margins, made.noisy, strict=True):
        assert (counts == TRACT.margin(names).dense()).all()
    fitted = made.fitted
    assert np.abs(fitted.sum(0) - TRACT.margin("Race*Income").dense()).max() < 0.05
    assert made.draw(np.random.default_rng(1)).total == TRACT.total


@pytest.mark.parametrize("epsilon", [0, -1, math.inf, math.nan])
def test_epsilon_is_above_0(epsilon):
    with pytest.raises(DataError, match="epsilon is"):
        private_table(TRACT, epsilon)


def test_it_says_how_it_was_made():
    made = private_table(TRACT, 1, margins="Race + Income", rng=np.random.default_rng(1))
    said = made.to_json()
    assert said["for_release"] is False
    assert said["scale"] == 2
    assert len(made.to_frame()) == 6
