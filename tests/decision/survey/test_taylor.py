"""The second-order approximation of the risk, and where it fails."""

import numpy as np
import pytest

from discreet.decision.survey.cell_losses import disclosure_loss
from discreet.decision.survey.plan import plan
from discreet.decision.survey.publish import publish
from discreet.decision.survey.taylor import inverted, taylor

LOSSES = ["uniques:10", "gamma-uniques:10:2", "known-sample:10", lambda y, Y, n, N: y * 0.9**Y]


def by_hand(y, n, N, alpha, beta, loss):
    """Mean and variance over the beta-binomial of scipy, the second derivative by differences."""
    from scipy.stats import betabinom

    law = betabinom(N - n, alpha + y, beta + n - y)
    mean, h = y + law.mean(), 1e-3
    bend = (loss(y, mean - h) - 2 * loss(y, mean) + loss(y, mean + h)) / h**2
    t = np.arange(N - n + 1)
    return loss(y, mean) + bend * law.var() / 2, float(law.pmf(t) @ loss(y, y + t))


@pytest.mark.parametrize("loss", LOSSES, ids=lambda loss: loss if isinstance(loss, str) else "own")
def test_the_approximation_by_hand(loss):
    named = disclosure_loss(loss)
    n, N, y = [3, 10, 10, 20, 5], [8, 50, 200, 30, 5], [1, 2, 1, 4, 2]
    found = publish(n, N, y, alpha=0.5, beta=1.5, disclosure=loss)
    close = taylor(found)
    for row in range(5):
        second, exact = by_hand(
            y[row], n[row], N[row], 0.5, 1.5,
            lambda y, Y, row=row: named(y, Y, n[row], N[row]),
        )  # fmt: skip
        assert close.approximate[row] == pytest.approx(float(second), rel=1e-4)
        assert close.error[row] == pytest.approx(float(second) / exact - 1, abs=2e-4)


def test_subclasses_of_given_sizes_bend_too(tmp_path):
    path = tmp_path / "sizes.csv"
    path.write_text("size\n0.5\n0.3\n0.2\n")
    loss, p = disclosure_loss(f"subclasses:{path}"), np.array([0.5, 0.3, 0.2])
    expected = 2 * p**3 @ np.exp(-p * 7.5)
    assert loss.curvature(np.array([2]), np.array([7.5]), 3, 9) == pytest.approx([expected])


def test_where_it_changes_the_decision():
    """A wide belief: the third order is missed, and a cell between the two ratios flips."""
    cells = ([10, 10], [400, 50], [2, 1])
    found = publish(*cells, alpha=0.5, beta=1.5)
    close = taylor(found)
    assert close.error[0] == pytest.approx(-0.8603, abs=1e-4)
    between = (close.approximate[0] + found.R1[0]) / 2 / found.R0[0]
    cut = taylor(found.at(ratio=between))
    assert cut.decided.tolist() == [True, False]
    assert cut.words(0) == "decision"
    assert cut.to_json()["decision"] == 1
    assert "changes the decision of 1" in repr(cut)


def test_the_order_of_a_very_unbalanced_design():
    """Section 3: where Var Y is no function of E Y, the order by the approximation is another."""
    design = [(10, 50, 1 / 3), (10, 200, 1 / 3), (20, 30, 1 / 3)]
    close = taylor(plan(design, alpha=0.5, beta=1.5, risk=0.2))
    rank = close.publication.rank
    other = close.approximate / np.where(close.publication.R0 > 0, close.publication.R0, 1)
    other[close.publication.R0 == 0] = -1
    expected = [
        any((a - b) * (c - d) < -1e-15 for b, d in zip(rank, other, strict=True))
        for a, c in zip(rank, other, strict=True)
    ]
    assert close.misordered.tolist() == expected
    assert close.misordered.sum() == 7


def test_a_step_has_no_second_derivative():
    found = taylor(publish([10], [400], [2], alpha=0.5, beta=1.5, disclosure="threshold:60"))
    assert found.approximate.tolist() == [0.0]
    assert found.error.tolist() == [-1.0]


def test_pairs_that_are_the_other_way_round():
    rng = np.random.default_rng(2)
    for _ in range(60):
        a, b = rng.integers(0, 5, (2, 8)).astype(float)
        pairs = [(a[i] - a[j]) * (b[i] - b[j]) < 0 for i in range(8) for j in range(8)]
        expected = np.array(pairs).reshape(8, 8).any(1)
        assert inverted(a, b).tolist() == expected.tolist()
