"""Lambert 1993, Measures of Disclosure Risk and Harm, JOS 9:313-331."""

import numpy as np
import pandas as pd
import pytest
from scipy.stats import lognorm, norm

from discreet import identify
from discreet.linkage import (
    Intruder,
    exact_links,
    exchangeable_links,
    matching,
    read_records,
    with_replacement_links,
)

SOURCE = [9.8, 10.8, 14.1, 14.6, 14.7, 15.0, 30.0, 40.7, 47.1, 53.2]
TABLE_1 = [
    [0.016, 0.024, 0.065, 0.072, 0.074, 0.078, 0.202, 0.1817, 0.156, 0.130],
    [0.010, 0.017, 0.048, 0.054, 0.056, 0.059, 0.199, 0.205, 0.188, 0.164],
]
RELEASED = np.array([0.05, 0.14, 1.5, 2.4, 3.2, 3.8, 4.6, 8.7, 10.3, 10.7])


def lognormal(x, mu, sigma=1.0):
    return lognorm.pdf(x, sigma, scale=np.exp(mu))


def test_two_records_released():
    """4.1: 7 and 20 are released; .89."""
    links = exact_links([lognormal(np.array([7, 20]), mu) for mu in (0, 2)])
    assert links[0, 0] == pytest.approx(400 / 449, abs=1e-12)
    assert links.max() == pytest.approx(0.89, abs=0.005)


def test_one_record_released():
    """4.1: only 7 is released; .13 for the target and .87 for the other."""
    links = exact_links([[lognormal(7, 0)], [lognormal(7, 2)]])[:, 0]
    assert links == pytest.approx([0.1310370595, 0.8689629405], abs=1e-9)


def test_unknown_respondent():
    """4.2.3: uniform(-4, 4) against normal(0, 1) at -2.25; .80."""
    assert exact_links([[1 / 8], [norm.pdf(-2.25)]])[0, 0] == pytest.approx(0.7975, abs=5e-5)


@pytest.mark.parametrize(
    ("sigma", "expected"),
    [(1.0, (0.8619, 0.1099, 0.02625)), (np.sqrt(0.5), (0.9840, 0.0160, 0.00001))],
)
def test_ten_of_a_hundred(sigma, expected):
    """4.2.4: .86, .11 and .026 with a log-deviation of 1; .5 and .5 combine to .7071."""
    target, others = lognormal(RELEASED, 0, sigma), lognormal(RELEASED, 2, sigma)
    p = exchangeable_links(target / others, 100)
    assert (p[0], p[1], 1 - p.sum()) == pytest.approx(expected, abs=5e-5)
    links = exact_links([target, *[others] * 99])
    assert links[0] == pytest.approx(p, abs=1e-12)
    assert links[1:] == pytest.approx(np.tile((1 - p) / 99, (99, 1)), abs=1e-12)


def test_by_chance():
    """4.2.4: without the target the largest p has mean .05 and quantiles .19 and .41 in 10,000
    samples; exactly .0543, .1929 and .4019.
    """
    x = np.exp(np.random.default_rng(1993).normal(2, 1, (100_000, 10)))
    largest = exchangeable_links(lognormal(x, 0) / lognormal(x, 2), 100).max(1)
    assert largest.mean() == pytest.approx(0.05425, abs=0.001)
    assert np.quantile(largest, [0.95, 0.99]) == pytest.approx([0.1929, 0.4019], abs=0.015)
    assert (largest >= 0.8619).mean() < 0.001


def table_1():
    intruder = Intruder.of({"keys": {"value": {"kind": "lognormal", "spread": 0.5}}})
    source = pd.DataFrame({"id": range(10), "value": SOURCE})
    released = pd.DataFrame({"id": [5, 6], "value": [32.0, 35.0]})
    return read_records(source, released, intruder, id="id"), intruder


def test_table_1():
    """Median y, log-deviation .5, without replacement; the entry (32, 40.7) is .1817, not .183."""
    densities = [lognormal(np.array([32, 35]), np.log(y), 0.5) for y in SOURCE]
    links = exact_links(densities)
    assert links.transpose() == pytest.approx(np.array(TABLE_1), abs=6e-4)
    found = identify(*table_1())
    assert found.links.dense() == pytest.approx(links, abs=1e-12)
    assert abs(with_replacement_links(densities).T - TABLE_1).max() == pytest.approx(
        0.031, abs=1e-3
    )


def test_true_identification_and_matching():
    """Section 5: 15.0 is linked to 32 with .078, which is right; nobody acts on it."""
    records, intruder = table_1()
    found = identify(records, intruder, act=0.5)
    assert found.true.acted == 0
    assert found.true.best == 1
    assert identify(records, intruder, act=0.0).true.risk == 0.5
    assert identify(records, intruder, act=0.078).true.acted == 1
    assert identify(records, intruder, act=0.079).true.acted == 0
    assert matching(records, intruder, found.data).risk == 0.5


def test_indistinguishable_respondents():
    """4.2.1: all alike, the risk is 1 / N; two alike, at most 1 / 2. 4.2.2: so for records."""
    assert exact_links(np.ones((7, 3))) == pytest.approx(np.full((7, 3), 1 / 7))
    rng = np.random.default_rng(0)
    for _ in range(200):
        densities = rng.exponential(size=(5, 3)) ** 4
        densities[1] = densities[0]
        links = exact_links(densities)
        assert links[0].max() <= 0.5 + 1e-12
        assert links[0] == pytest.approx(links[1], abs=1e-12)
        densities[:, 1] = densities[:, 0]
        assert exact_links(densities)[:, :2].max() <= 0.5 + 1e-12
