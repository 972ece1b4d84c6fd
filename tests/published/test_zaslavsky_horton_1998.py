"""Zaslavsky & Horton 1998: Tables 1 and 2, section 4 and Figure 1."""

from itertools import permutations

import numpy as np
import pytest

from discreet.survey import PopulationCounts, disclosure_loss, plan, plan_table, plug_in

LOSS = disclosure_loss("uniques:10")

# y: probabilities, losses, products for Y = 0..8, and R1, as printed
TABLE_1 = {
    0: (
        "0.722 0.212 0.053 0.011 0.002 0.000 0 0 0",
        "0 0 0 0 0 0 0 0 0",
        "0 0 0 0 0 0 0 0 0",
        "0",
    ),
    1: (
        "0 0.510 0.319 0.127 0.036 0.007 0.001 0 0",
        "1 0.905 0.819 0.741 0.670 0.607 0.549 0.497 0.449",  # the last is misprinted 0.407
        "0 0.461 0.261 0.094 0.024 0.004 0 0 0",
        "0.846",
    ),
    2: (
        "0 0 0.350 0.350 0.200 0.077 0.019 0.002 0",
        "2 1.810 1.637 1.482 1.341 1.213 1.098 0.993 0.899",
        "0 0 0.574 0.519 0.269 0.093 0.021 0.002 0",
        "1.479",
    ),
    3: (
        "0 0 0 0.234 0.334 0.257 0.128 0.041 0.007",
        "3 2.715 2.456 2.222 2.011 1.820 1.646 1.490 1.348",
        "0 0 0 0.519 0.671 0.467 0.211 0.061 0.009",
        "1.939",
    ),
}

# n, N, y; P(n,N), P(y|n,N), R1, L0, R1/L0, P R1, P L0, sum of P R1 published, of P L0 suppressed
TABLE_2 = """
3 8 0   0.25 0.769  0.000 0 -     0.000  0.000 0.000  0.409
5 20 0  0.75 0.667  0.000 0 -     0.000  0.000 0.000  0.409
5 20 5  0.75 0.0003 1.783 5 0.357 0.0004 0.001 0.0004 0.408
5 20 4  0.75 0.003  1.726 4 0.432 0.004  0.010 0.005  0.398
5 20 3  0.75 0.018  1.565 3 0.522 0.022  0.041 0.026  0.357
5 20 2  0.75 0.073  1.261 2 0.630 0.069  0.110 0.096  0.247
3 8 3   0.25 0.003  1.939 3 0.646 0.002  0.003 0.097  0.244
3 8 2   0.25 0.035  1.479 2 0.739 0.013  0.017 0.110  0.227
5 20 1  0.75 0.238  0.761 1 0.761 0.136  0.179 0.246  0.048
3 8 1   0.25 0.192  0.846 1 0.846 0.041  0.048 0.287  0.000
"""


def agrees(value, printed):
    """At the printed digits; a bare 0 stands for anything that rounds to it."""
    digits = len(printed.partition(".")[2]) or (3 if printed == "0" else 0)
    return abs(value - float(printed)) <= 0.5 * 10**-digits + 1e-12


@pytest.mark.parametrize("y", TABLE_1)
def test_table_1(y):
    chances, losses, products, risk = TABLE_1[y]
    counts = PopulationCounts.of(n=[3] * 9, N=8, y=y, alpha=1, beta=10)
    Y = np.arange(9)
    found = counts.chance(Y), LOSS(y, Y, 3, 8)
    for values, printed in zip(
        (*found, found[0] * found[1]), (chances, losses, products), strict=True
    ):
        for value, text in zip(values, printed.split(), strict=True):
            assert agrees(value, text)
    assert agrees(LOSS.risk(counts)[0], risk)
    assert counts.belief(0).probability(1) == pytest.approx(found[0][1])


def test_a_misprint_of_table_1():
    """L1(1, 8) is printed 0.407; it is exp(-0.8)."""
    assert float(LOSS(1, 8, 3, 8)) == pytest.approx(0.44932896411722156, rel=1e-12)


@pytest.fixture(scope="module")
def first():
    return plan([(3, 8, 0.25), (5, 20, 0.75)], alpha=1, beta=10)


def test_table_2(first):
    """Its last column is headed as published, but is what lies below the line."""
    table = plan_table(first)
    lines = [line.split() for line in TABLE_2.split("\n") if line]
    assert len(table) == len(lines)
    for place, (n, N, y, *printed) in enumerate(lines):
        row = table.iloc[place]
        assert (row["n"], row["N"], row["y"]) == (int(n), int(N), int(y))
        for value, text in zip(row.iloc[3:], printed, strict=True):
            assert np.isnan(value) if text == "-" else agrees(value, text)
    assert table["suppressed"][0] == pytest.approx(9 / 22, abs=1e-12)


def test_section_4(first):
    """P L0 of the fifth line is printed .75 x .018, without its factor 3."""
    row = plan_table(first).iloc[4]
    assert row["P(y | n, N)"] == pytest.approx(0.018315018315018316)
    assert row["P R1"] == pytest.approx(0.02150342032847978)
    assert row["P R0"] == pytest.approx(0.04120879120879121)
    assert row["published"] == pytest.approx(0.026260101077960032)
    assert row["suppressed"] == pytest.approx(0.3566433566433566)


def test_the_plug_in_rule_has_the_same_order(first):
    some = first.counts.y > 0
    guess = np.exp(-first.counts.mean / 10)[some]
    assert np.argsort(guess).tolist() == np.argsort(first.ratio[some]).tolist()
    assert plug_in(first.at(ratio=0.7)).differs("combined").tolist() == []


def test_the_exact_chance_to_be_unique():
    """(1 - 1/S)^(Y - 1) in place of exp(-Y / S), by a loss of one's own."""
    counts = PopulationCounts.of(n=3, N=8, y=[1, 2, 3], alpha=1, beta=10)
    exact = disclosure_loss(lambda y, Y, n, N: y * 0.9 ** (Y - 1))
    expected = [0.9313581862745097, 1.6171127710084034, 2.105149851680672]
    assert exact.risk(counts) == pytest.approx(expected, rel=1e-12)


def test_gamma_subclasses():
    loss = disclosure_loss("gamma-uniques:10:2")
    assert float(loss(1, 7, 10, 50)) == pytest.approx(0.4064421074023268, rel=1e-12)


@pytest.fixture(scope="module")
def second():
    return second_example([(10, 50), (10, 200), (20, 30)])


def second_example(sizes, **losses):
    return plan([(n, N, 1 / 3) for n, N in sizes], alpha=0.5, beta=1.5, **losses)


@pytest.fixture(scope="module")
def others(second):
    return {
        "L0 = 1": second.under(nonpublication="cells"),
        "L1 = y exp(-Y)": second.under(disclosure="uniques:1"),
    }


def test_figure_1_with_one_cell_at_random(second, others):
    found = second.regret(others, risk=0.2)
    expected = [0.384616678992607, 0.5301593276565508, 0.43711845151310785]
    assert found["suppressed"].tolist() == pytest.approx(expected, rel=1e-9)
    cut = second.at(risk=0.2, edge="random")
    assert cut.risk_taken == pytest.approx(0.2, rel=1e-12)
    assert 1 - cut.data_published == pytest.approx(0.384616678992607, rel=1e-9)


def test_figure_1_with_whole_configurations(second, others):
    found = second.regret(others, risk=0.2, edge="whole")
    assert found["suppressed"].round(3).tolist() == [0.392, 0.55, 0.441]
    cut = second.at(risk=0.2)
    assert cut.risk_taken <= 0.2
    assert round(1 - cut.data_published, 3) == 0.392


def test_figure_1_with_a_loss_of_the_sample_alone(second):
    """Printed -exp(y/10), read exp(-y/10): the domains tie at every y, and 71% is a tie order."""
    other = second.under(disclosure="known-sample:10")
    together = second.curve(by=other).loss_at(0.2)
    assert together == pytest.approx(0.696070343005708, rel=1e-9)
    found = []
    for sizes in permutations([(10, 50), (10, 200), (20, 30)]):
        right = second_example(sizes)
        wrong = second_example(sizes, disclosure="known-sample:10")
        found.append(right.curve(by=wrong, ties="listed").loss_at(0.2))
    assert min(found) == pytest.approx(0.6915460490599811, rel=1e-9)
    assert max(found) == pytest.approx(0.7227317326107663, rel=1e-9)
    assert np.mean(found) == pytest.approx(0.7071388908353736, rel=1e-9)


RISKS = [0.05, 0.1, 0.2, 0.3, 0.4, 0.5, 0.6, 0.7, 0.8, 0.9]
BEST = [
    0.61250487, 0.51291326, 0.38461668, 0.29408931, 0.22405438, 0.16861131, 0.12285435,
    0.08424165, 0.05168401, 0.0234038,
]  # fmt: skip
CELLS = [
    0.64937461, 0.58820479, 0.53015933, 0.48817263, 0.39204912, 0.29765696, 0.20717489,
    0.1593214, 0.10864817, 0.0487501,
]  # fmt: skip
SAMPLE = [
    0.88578163, 0.81621191, 0.69607034, 0.5385766, 0.40616845, 0.29785577, 0.2099426,
    0.13900456, 0.08170313, 0.03544926,
]  # fmt: skip
ONE = [
    0.70934656, 0.58632144, 0.43711845, 0.322643, 0.25191073, 0.18567688, 0.13466143,
    0.09841392, 0.05276337, 0.0234038,
]  # fmt: skip


def test_the_curves_of_figure_1(second, others):
    orders = [second, *others.values(), second.under(disclosure="known-sample:10")]
    for order, expected in zip(orders, (BEST, CELLS, ONE, SAMPLE), strict=True):
        curve = second.curve(by=order)
        assert [curve.loss_at(risk) for risk in RISKS] == pytest.approx(expected, abs=1e-7)
