"""The best set of whole cells within a limit: brute force, and another solver."""

from itertools import product

import numpy as np
import pytest

from discreet.decision.survey.combine import combine
from discreet.decision.survey.edges import edges
from discreet.decision.survey.knapsack import knapsack
from discreet.decision.survey.plan import plan
from discreet.decision.survey.publish import publish
from discreet.errors import DataError


def draws(rng, kind, n):
    """Unrelated, with whole gains as of records, and with gains close to the weights."""
    if kind == 0:
        return rng.random(n) + 0.01, rng.random(n) + 0.01
    if kind == 1:
        gain = rng.integers(1, 6, n).astype(float)
        return gain, gain * rng.random(n) + 0.001
    weight = rng.integers(1, 5, n).astype(float)
    return weight + rng.integers(0, 2, n), weight


@pytest.mark.parametrize("kind", range(3))
def test_no_set_gains_more(kind):
    rng = np.random.default_rng(kind)
    for _ in range(120):
        gain, weight = draws(rng, kind, int(rng.integers(1, 9)))
        limit = rng.random() * weight.sum() * 1.1
        found = knapsack(gain, weight, limit)
        every = np.array(list(product([0, 1], repeat=len(gain))))
        best = (every @ gain)[every @ weight <= limit].max()
        assert found.proven
        assert found.gain == found.bound == pytest.approx(best, abs=1e-9)
        assert weight @ found.taken <= limit + 1e-12


def test_another_solver_finds_the_same():
    from scipy.optimize import LinearConstraint, milp

    rng = np.random.default_rng(5)
    for _ in range(5):
        gain, weight = draws(rng, 0, 40)
        limit = 0.4 * weight.sum()
        other = milp(
            -gain, integrality=np.ones(40), bounds=(0, 1),
            constraints=LinearConstraint(weight[None], -np.inf, limit),
        )  # fmt: skip
        assert knapsack(gain, weight, limit).gain == pytest.approx(-other.fun, rel=1e-6)


def test_what_is_not_proven_has_a_bound():
    gain, weight = draws(np.random.default_rng(6), 0, 60)
    limit = 0.31 * weight.sum()
    best, early = knapsack(gain, weight, limit), knapsack(gain, weight, limit, most=0)
    assert not early.proven
    assert early.gain <= best.gain <= early.bound
    assert weight @ early.taken <= limit


def cells(rng):
    N = rng.integers(2, 60, 7)
    n = np.array([rng.integers(1, m + 1) for m in N])
    return n, N, np.array([rng.integers(0, k + 1) for k in n])


@pytest.mark.parametrize("seed", range(6))
def test_the_best_plan_within_a_risk_and_for_a_share(seed):
    rng = np.random.default_rng(seed)
    found, target = publish(*cells(rng), alpha=1, beta=3), float(rng.random())
    every = np.array(list(product([0, 1], repeat=len(found))))
    risk, data = every @ found.R1, every @ found.R0
    most = data[risk <= target * found.R1.sum() + 1e-12].max()
    within = edges(found.at(risk=target))
    assert within.best.R0 @ within.best.publish == pytest.approx(most, abs=1e-9)
    assert within.best.risk_taken <= target + 1e-9
    least = risk[data >= target * found.R0.sum() - 1e-9].min()
    enough = edges(found.at(share=target))
    assert enough.best.R1 @ enough.best.publish == pytest.approx(least, abs=1e-9)
    assert enough.best.data_published >= target - 1e-9
    for cut in (within, enough):
        assert cut.proven
    assert within.whole.data_published <= within.best.data_published + 1e-12
    assert within.best.data_published <= within.random.data_published + 1e-9  # the relaxation
    assert enough.random.risk_taken <= enough.best.risk_taken + 1e-9
    assert enough.best.risk_taken <= enough.whole.risk_taken + 1e-12
    assert within.bound == pytest.approx(within.best.data_published)
    assert enough.bound == pytest.approx(enough.best.risk_taken)


def test_a_plan_has_a_best_edge_too():
    """Figure 1's design: the order gives up .3918 of the data, the best set .3915."""
    from scipy.optimize import LinearConstraint, milp

    kinds = [(10, 50, 1 / 3), (10, 200, 1 / 3), (20, 30, 1 / 3)]
    found = edges(plan(kinds, alpha=0.5, beta=1.5, risk=0.2))
    left = [1 - cut.data_published for cut in found.by_edge.values()]
    assert left == pytest.approx([0.391782, 0.391485, 0.384617], abs=1e-6)
    risk, loss = (x * found.best.weight for x in (found.best.R1, found.best.R0))
    other = milp(
        -loss, integrality=np.ones(len(loss)), bounds=(0, 1),
        constraints=LinearConstraint(risk[None], -np.inf, 0.2 * risk.sum()),
    )  # fmt: skip
    assert left[1] == pytest.approx(1 + other.fun / loss.sum(), abs=1e-6)
    assert found.proven


def test_edges_need_a_limit():
    found = publish([3, 3], [8, 8], [1, 2], alpha=1, beta=10)
    with pytest.raises(DataError, match="give a share or a risk"):
        edges(found)
    with pytest.raises(DataError, match="choose whole, random, best"):
        found.at(risk=0.5, edge="wide")


@pytest.mark.parametrize("seed", range(12))
def test_joined_cells_stay_within_the_risk(seed):
    rng = np.random.default_rng(seed)
    target = float(rng.random())
    found = publish(*cells(rng), alpha=1, beta=3, risk=target)
    joined = combine(found)
    pairs = zip(joined.groups, joined.publish, strict=True)
    taken = sum(group.R1 for group, out in pairs if out)
    assert taken <= target * found.R1.sum() * (1 + 1e-9)
    assert sorted(row for group in joined.groups for row in group.rows) == list(range(7))
