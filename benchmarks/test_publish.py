"""A million domains: fit, risks, order and curve; and do the intervals of the fit cover?

Hard: no two domains have the same n, N and y, and a sum over all values of Y would have half a
million terms each. Easy: a transform needs some 30 to 150
terms, other named losses some hundred.
"""

import time

import numpy as np
import pytest
from scipy import stats

from discreet.decision.survey.cell_losses import disclosure_loss
from discreet.decision.survey.publish import publish
from discreet.intruder.population.sample_cell import PopulationCounts
from discreet.models.domain_shares import fit_beta

DOMAINS, LIMIT = 1_000_000, 30


def drawn(rng, domains, alpha=0.7, beta=30.0):
    N = rng.integers(1, 10**6, domains, endpoint=True)
    n = rng.integers(1, N, endpoint=True)
    return n, N, rng.binomial(n, rng.beta(alpha, beta, domains))


@pytest.mark.parametrize(
    "loss",
    [
        "uniques:10",
        "uniques:10000",
        "gamma-uniques:10:2",
        "threshold:100",
        "threshold:20000",
    ],
)
def test_a_million_domains(loss):
    n, N, y = drawn(np.random.default_rng(1), DOMAINS)
    publish(n[:1000], N[:1000], y[:1000], disclosure=loss)  # compiles
    start = time.perf_counter()
    found = publish(n, N, y, disclosure=loss, risk=0.2)
    curve = found.curve()
    seconds = time.perf_counter() - start
    print(f"\n{loss}: {seconds:.1f} s; {found}; {found.prior}; {curve}", end="")
    assert found.prior.alpha == pytest.approx(0.7, rel=0.02)
    assert found.prior.beta == pytest.approx(30, rel=0.02)
    few = np.random.default_rng(2).choice(DOMAINS, 5)
    for row in few:
        belief = found.counts.belief(int(row))
        values = found.losses[0](y[row], belief.values, n[row], N[row])
        assert found.R1[row] == pytest.approx(float(belief.mass @ values), rel=1e-6, abs=1e-13)
    assert seconds < LIMIT


def test_a_loss_of_ones_own(claim):
    """Panels of few terms against scipy's sum over all values of Y, the rival."""
    n, N, y = drawn(np.random.default_rng(3), 20_000)
    counts = PopulationCounts.of(n=n, N=N, y=y, alpha=0.7, beta=30)
    loss = disclosure_loss(lambda y, Y, n, N: y / (1 + Y / 200) ** 3)
    loss.risk(counts.take(slice(50)))
    start = time.perf_counter()
    found = loss.risk(counts)
    ours = (time.perf_counter() - start) / len(counts)
    start = time.perf_counter()
    for row in range(5):
        Y = np.arange(y[row], y[row] + N[row] - n[row] + 1)
        law = stats.betabinom(N[row] - n[row], 0.7 + y[row], 30 + n[row] - y[row])
        slow = float(law.pmf(Y - y[row]) @ loss(y[row], Y, n[row], N[row]))
        assert found[row] == pytest.approx(slow, rel=1e-6)
    theirs = (time.perf_counter() - start) / 5
    print(f"\n{ours * 1e6:.0f} us a cell, {theirs / ours:,.0f} times as fast as all terms", end="")
    claim(
        "surveys", "Risk of a cell under a loss of one's own", ours=ours,
        rival="scipy (betabinom, all terms)", theirs=theirs, size="up to 10^6 terms",
        why="Panels of few terms instead of a sum over all values, to six digits.",
    )  # fmt: skip
    assert theirs > 50 * ours


@pytest.mark.parametrize(("domains", "alpha", "beta"), [(100, 0.8, 6.0), (500, 2.0, 40.0)])
def test_the_intervals_of_the_fit_cover(domains, alpha, beta):
    """Of 200 simulations, 95% intervals hold the truth in 90 to 99%."""
    inside = {"alpha": 0, "beta": 0, "mean": 0, "size": 0}
    truth = {"alpha": alpha, "beta": beta, "mean": alpha / (alpha + beta), "size": alpha + beta}
    for seed in range(200):
        rng = np.random.default_rng(seed)
        n = rng.integers(5, 120, domains)
        y = rng.binomial(n, rng.beta(alpha, beta, domains))
        ends = fit_beta(y, n).intervals()
        for name, value in truth.items():
            inside[name] += ends[name][0] <= value <= ends[name][1]
    shares = {name: times / 200 for name, times in inside.items()}
    print(f"\n{domains} domains, alpha {alpha}, beta {beta}: {shares}", end="")
    assert all(0.9 <= share <= 0.99 for share in shares.values())
