"""The number of subclasses from those that were seen: every sequence, scipy, and simulation."""

import math
from collections import Counter
from itertools import product

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.models.subclasses import _Fit, fit_subclasses


def test_the_likelihood_of_equal_subclasses_is_a_share_of_all_sequences():
    """L(S) is, up to a factor without S, the share of the S^m sequences with these counts."""
    counts = [3, 1, 1]
    fit, shares = _Fit(np.array(counts, float)), {}
    for S in (3, 4, 5, 6):
        hits = sum(
            sorted(Counter(one).values()) == sorted(counts) for one in product(range(S), repeat=5)
        )
        shares[S] = hits / S**5
    for S in (4, 5, 6):
        assert fit.equal(S) - fit.equal(3) == pytest.approx(math.log(shares[S] / shares[3]))


def test_the_likelihood_of_gamma_subclasses():
    """Dirichlet-multinomial of scipy, over the ways to place the seen among all S."""
    from scipy.stats import dirichlet_multinomial

    counts = [4, 2, 1]
    fit = _Fit(np.array(counts, float))

    def direct(S, a):
        padded = counts + [0] * (S - 3)
        ways = math.perm(S, 3)
        return math.log(ways) + dirichlet_multinomial([a] * S, 7).logpmf(padded)

    for S, a in ((3, 0.5), (5, 2.0), (9, 0.1), (20, 30.0)):
        assert fit.gamma(S, a) - fit.gamma(4, 1.0) == pytest.approx(direct(S, a) - direct(4, 1.0))
    assert fit.gamma(9, 1e9) == pytest.approx(fit.equal(9), abs=1e-6)


def most_seen(seen, people, S):
    """P(K <= seen) by inclusion and exclusion, in whole numbers."""
    ways = sum(
        math.comb(S, k) * sum((-1) ** j * math.comb(k, j) * (k - j) ** people for j in range(k + 1))
        for k in range(seen + 1)
    )
    return ways / S**people


@pytest.mark.parametrize("counts", [[3, 2, 2, 1, 1, 1], [9, 4, 3, 2, 1, 1], [2, 1, 1, 1, 1]])
def test_the_interval_holds_every_number_that_fits(counts):
    m, K = sum(counts), len(counts)

    def direct(S):
        return math.log(math.perm(S, K)) - m * math.log(S)

    found = fit_subclasses(counts)
    assert max(range(K, 700), key=direct) == found.S
    inside = [
        S
        for S in range(K, 700)
        if most_seen(K, m, S) >= 0.025 and 1 - most_seen(K - 1, m, S) >= 0.025
    ]
    assert found.interval == (inside[0], inside[-1])
    assert found.loss() == f"uniques:{found.S:g}"


def test_the_ends_of_gamma_sizes():
    """On a grid of both parameters."""
    counts = np.array([12, 9, 5, 5, 3, 2, 2, 1, 1, 1, 1, 1])
    fit, found = _Fit(counts.astype(float)), fit_subclasses(counts)
    shapes = np.exp(np.linspace(-6, 8, 200))
    top = fit.gamma(found.S_gamma, found.a)
    for S in found.gamma_interval:
        if 12 < S < math.inf:
            best = max(fit.gamma(S, a) for a in shapes)
            assert 2 * (top - best) == pytest.approx(3.8415, abs=0.02)
    assert top >= max(fit.gamma(S, a) for S in range(12, 60) for a in shapes[::10])


def test_uneven_subclasses_are_noticed():
    rng = np.random.default_rng(0)
    even = fit_subclasses(rng.multinomial(200, np.ones(10) / 10))
    assert even.S == 10
    assert even.uneven < 3.84
    uneven = fit_subclasses(rng.multinomial(300, rng.dirichlet([0.5] * 60)))
    assert uneven.uneven > 50
    assert uneven.gamma_interval[0] < 60 < uneven.gamma_interval[1]
    assert uneven.interval[1] < 60  # equal subclasses are sure, and wrong
    assert uneven.a_interval[0] < 0.5 < uneven.a_interval[1]


def test_the_interval_covers():
    """Every K that 12 people in 9 equal subclasses can show, by its probability."""
    ends = {k: fit_subclasses([12 - k + 1] + [1] * (k - 1)).interval for k in range(1, 10)}
    chance = {k: most_seen(k, 12, 9) - most_seen(k - 1, 12, 9) for k in ends}
    assert sum(chance.values()) == pytest.approx(1)
    assert sum(p for k, p in chance.items() if ends[k][0] <= 9 <= ends[k][1]) >= 0.95


def test_people_who_are_all_alone():
    found = fit_subclasses([1, 1, 1, 1])
    assert math.inf == found.S == found.interval[1]
    assert found.loss() == "uniques:1000000000"
    assert found.to_json()["S"]["estimate"] is None


def test_a_file_of_counts(tmp_path):
    path = tmp_path / "kinds.csv"
    path.write_text("kind,people\na,3\nb,2\nc,2\nd,1\ne,1\nf,1\nnone,0\n")
    assert fit_subclasses(path).S == fit_subclasses([3, 2, 2, 1, 1, 1]).S == 8


def test_large_counts_are_added_quickly():
    found = fit_subclasses([400_000, 300_000, 250_000, 1, 1])
    assert found.people == 950_002
    assert found.S == 5


@pytest.mark.parametrize(
    ("counts", "says"),
    [
        ([1.5, 2], "counts 1.5 people"),
        ([-1, 2], "from 0 on"),
        ([1], "fewer than two people"),
        ("nowhere.csv", "no file 'nowhere.csv'"),
    ],
)
def test_wrong_counts(counts, says):
    with pytest.raises(DataError, match=says):
        fit_subclasses(counts)
    with pytest.raises(DataError, match="no 'other' subclasses"):
        fit_subclasses([1, 2]).loss("other")
