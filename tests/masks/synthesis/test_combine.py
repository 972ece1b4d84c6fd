"""Combining rules: by hand, and by how often their intervals hold the truth."""

import math

import numpy as np
import pytest
from scipy.stats import t

from discreet.errors import DataError
from discreet.masks.synthesis.combine import combine_copies

REPEATS = 2_000
N = 400


def test_full_by_hand():
    """q = 1, 2, 3; b = 1, u = .5: T = 4/3 - 1/2, r = 8/3, df = 2 (1 - 3/8)^2, and at least 1."""
    found = combine_copies([1, 2, 3], [0.5, 0.5, 0.5], "full")
    assert found.estimate == 2
    assert found.variance == pytest.approx(4 / 3 - 1 / 2)
    assert found.df == max(1, 2 * (1 - 3 / 8) ** 2)
    many = combine_copies([1, 2, 3] * 10, [0.5] * 30, "full")
    b = 20 / 29
    assert many.df == pytest.approx(29 * (1 - 0.5 / (31 / 30 * b)) ** 2)
    half = t.ppf(0.975, many.df) * math.sqrt(many.variance)
    assert many.interval == pytest.approx((2 - half, 2 + half))


def test_a_negative_variance_is_repaired():
    found = combine_copies([1.0, 1.1, 0.9], [0.5, 0.5, 0.5], "full", ratio=2)
    assert found.repaired
    assert found.variance == 1.0
    assert "repaired" in repr(found)


def test_partial_and_large_by_hand():
    found = combine_copies([1, 2, 3], [0.5, 0.5, 0.5], "partial")
    assert found.variance == pytest.approx(0.5 + 1 / 3)
    assert found.df == pytest.approx(2 * (1 + 0.5 * 3) ** 2)
    assert combine_copies([1, 1], [0.5, 0.5], "partial").df == math.inf
    assert combine_copies([2], [0.5], "large").variance == pytest.approx(1.5)
    assert combine_copies([2], [0.5], "large", anew=False).variance == pytest.approx(1.0)
    assert combine_copies([2, 2], [0.5, 0.5], "large", ratio=3).variance == pytest.approx(0.5 * 5)


def proper(rng, m, p=0.3):
    """A sample of N, and m copies of N from its posterior."""
    y = rng.binomial(N, p)
    return rng.binomial(N, rng.beta(y + 0.5, N - y + 0.5, m)) / N


def fixed(rng, m, p=0.3):
    """The same at the fitted parameter."""
    return rng.binomial(N, rng.binomial(N, p) / N, m) / N


def partly(rng, m, p=(0.2, 0.5)):
    """Two groups that are kept; the answers of both are replaced, given the group."""
    n = np.array([N // 4, 3 * N // 4])
    y = rng.binomial(n, p)
    return rng.binomial(n, rng.beta(y + 0.5, n - y + 0.5, (m, 2))).sum(1) / N


@pytest.mark.parametrize(
    ("draw", "truth", "m", "how"),
    [
        (proper, 0.3, 100, {"kind": "full"}),
        (proper, 0.3, 1, {"kind": "large"}),
        (proper, 0.3, 5, {"kind": "large"}),
        (fixed, 0.3, 3, {"kind": "large", "anew": False}),
        (partly, 0.425, 5, {"kind": "partial"}),
    ],
)
def test_intervals_cover(draw, truth, m, how):
    """95% intervals cover in .93 to .97 of repeated samples.

    The rule for full synthesis is for many copies; with 30 it covers in .978, too often.
    """
    rng, hits = np.random.default_rng(7), 0
    for _ in range(REPEATS):
        q = draw(rng, m)
        u = q * (1 - q) / N if draw is not partly else within_groups(q)
        low, high = combine_copies(q, u, **how).interval
        hits += low <= truth <= high
    assert 0.93 <= hits / REPEATS <= 0.97


def within_groups(q):
    """The variance of a stratified mean; the groups' own rates are near .2 and .5."""
    return np.full(len(q), (0.25**2 * 0.16 / (N / 4)) + (0.75**2 * 0.25 / (3 * N / 4)))


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        (([1], [1]), "needs more copies than 1"),
        (([1, 2], [1]), "2 estimates have 1 variances"),
        (([1, 2], [1, 0]), "not above 0"),
        (([1, 2], [1, 1], "half"), "no rule 'half'"),
    ],
)
def test_what_cannot_be_combined_is_refused(arguments, message):
    with pytest.raises(DataError, match=message):
        combine_copies(*arguments)
