"""Beliefs about numbers in ranges, against quadrature and simulation that share no code."""

import numpy as np
import pytest
from scipy.integrate import quad

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.belief.valued import Piece, Valued, Within, in_numbers


def random_pieces(rng, *, tail=False):
    """Ranges side by side or apart, points among them, uniform or Pareto."""
    count = int(rng.integers(2, 5))
    edges = np.sort(rng.uniform(0.5, 20, 2 * count)).round(3)
    shares = rng.dirichlet(np.ones(count))
    found = []
    for i in range(count):
        low, high = edges[2 * i], edges[2 * i + 1]
        alpha = -1.0 if rng.random() < 0.5 else float(rng.uniform(0.3, 4))
        if rng.random() < 0.25:
            high = low
        found.append((float(shares[i]), Piece(float(low), float(high), alpha)))
    if tail:
        share, piece = found[-1]
        found[-1] = (share, Piece(piece.low, np.inf, float(rng.uniform(3, 6))))
    return found


def expect(pieces, f):
    """By quadrature of the density as it is defined."""
    total = 0.0
    for share, piece in pieces:
        if piece.low == piece.high:
            total += share * f(piece.low)
            continue
        a = piece.low

        def density(x, piece=piece, a=a):
            return (x / a) ** (-piece.alpha - 1)

        norm = quad(density, piece.low, piece.high, limit=200)[0]
        top = quad(lambda x, d=density: d(x) * f(x), piece.low, piece.high, limit=200)[0]
        total += share * top / norm
    return total


@pytest.mark.parametrize("seed", range(12))
def test_moments_are_those_of_quadrature(seed):
    pieces = random_pieces(np.random.default_rng(seed), tail=seed % 3 == 0)
    belief = Valued.of(pieces)
    for power in (1, 2, -1, -2):
        found = expect(pieces, lambda x, k=power: x**k)
        assert belief.moment(power) == pytest.approx(found, rel=1e-7)
    mean = expect(pieces, lambda x: x)
    assert belief.mean == pytest.approx(mean, rel=1e-7)
    assert belief.variance == pytest.approx(expect(pieces, lambda x: (x - mean) ** 2), rel=1e-6)
    values, mass = belief.nodes()
    assert mass.sum() == pytest.approx(1)
    assert mass @ np.sqrt(values) == pytest.approx(expect(pieces, np.sqrt), rel=1e-7)


@pytest.mark.parametrize("seed", range(6))
def test_draws_quantiles_and_probabilities_agree(seed):
    rng = np.random.default_rng(seed)
    belief = Valued.of(random_pieces(rng, tail=seed % 2 == 0))
    draws = belief.sample(100_000, rng)
    for p in (0.05, 0.3, 0.5, 0.8, 0.97):
        q = belief.quantile(p)
        below, at_most = (draws < q - 1e-9).mean(), (draws <= q + 1e-9).mean()
        assert below - 0.006 <= p <= at_most + 0.006
    low, high = belief.quantile(0.2), belief.quantile(0.7)
    inside = ((draws >= low - 1e-9) & (draws <= high + 1e-9)).mean()
    assert belief.probability((low, high)) == pytest.approx(inside, abs=0.007)
    x = belief.quantile(0.6)
    assert belief.shortfall(x) == pytest.approx(np.maximum(x - draws, 0).mean(), rel=0.03, abs=1e-3)


def test_uniform_ranges_may_lie_below_zero():
    belief = Valued.of([(0.5, Piece(-3, 1)), (0.5, Piece(1, 2))])
    assert belief.mean == pytest.approx(0.25)
    assert belief.variance == pytest.approx(0.5 * (16 / 12 + 1.5625) + 0.5 * (1 / 12 + 1.5625))
    assert belief.quantile(0.25) == pytest.approx(-1)


def test_the_picture_is_a_density_that_integrates_to_one():
    belief = Valued.of([(0.5, Piece(1, 1)), (0.3, Piece(2, 4)), (0.2, Piece(4, np.inf, 1.5))])
    assert np.trapezoid(belief.mass, belief.values) == pytest.approx(1, abs=1e-3)
    assert belief.probability(1.0) == 0.5
    assert np.isinf(belief.variance)


def test_what_was_sampled_stays_sampled():
    drawn = Belief.draws(["a", "b", "b", "a", "a"])
    ends = {"a": (0, 5), "b": (5, 9)}
    for way in ("midpoint", "uniform"):
        found = in_numbers(drawn, ends, Within.named(way))
        assert not found.exact
        assert found.effective == pytest.approx(5)
    assert in_numbers(Belief.discrete(["a"], [1.0]), ends, Within.named("uniform")).exact


@pytest.mark.parametrize("text", ["mid", "pareto", "pareto:0", "pareto:x", "uniform:1"])
def test_ways_that_are_none(text):
    with pytest.raises(DataError, match=r"write|alpha"):
        Within.named(text)


def test_an_open_range_needs_an_end_or_a_tail_and_a_tail_a_start():
    belief = Belief.discrete(["a", "b"], [0.5, 0.5])
    for way in ("midpoint", "uniform"):
        with pytest.raises(DataError, match="'b' of 'Pay' has no end"):
            in_numbers(belief, {"a": (0, 5), "b": (5, np.inf)}, Within.named(way), "Pay")
    with pytest.raises(DataError, match="starts at 0"):
        in_numbers(belief, {"a": (0, 5), "b": (5, np.inf)}, Within.named("pareto:2"), "Pay")
    mixed = in_numbers(belief, {"a": (0, 5), "b": (5, np.inf)}, Within.named("uniform+pareto:3"))
    assert mixed.mean == pytest.approx(0.5 * 2.5 + 0.5 * 7.5)
    assert mixed.moment(2) == pytest.approx(0.5 * 25 / 3 + 0.5 * 3 * 25)
    nobody = Belief.discrete(["a", "b"], [1.0, 0.0])
    assert in_numbers(nobody, {"a": (0, 5), "b": (5, np.inf)}, Within()).mean == 2.5
