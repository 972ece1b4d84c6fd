"""A company's incidents: binomial, with an insider, and the pair that protects."""

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from discreet.errors import DataError
from discreet.intruder.belief.belief import Belief
from discreet.intruder.predictive.incidence import (
    dominance_bound,
    incidents,
    incidents_before,
    incidents_by_exposure,
    least_companies,
    least_rate,
)


def test_the_belief_is_poisson_given_the_total():
    """Whatever the rate: three companies, four incidents, enumerated."""
    from scipy.stats import poisson

    mass = np.zeros(5)
    for counts in itertools.product(range(5), repeat=3):
        if sum(counts) == 4:
            mass[counts[0]] += np.prod(poisson.pmf(counts, 0.7))
    assert incidents(4, 3).mass == pytest.approx(mass / mass.sum())


@given(st.integers(0, 500), st.integers(2, 40))
def test_the_variance_is_that_of_the_paper(total, companies):
    belief = incidents(total, companies)
    assert belief.variance == pytest.approx(total / companies * (1 - 1 / companies), abs=1e-9)
    assert belief.mean == pytest.approx(total / companies)


@given(st.integers(1, 300), st.integers(3, 30), st.floats(0, 1))
def test_the_dominance_bound_holds_for_every_insider(total, companies, share):
    known = int(share * total)
    variance = incidents(total, companies, insider=[known]).variance
    left = (total - known) / (companies - 1) * (1 - 1 / (companies - 1))
    assert variance == pytest.approx(left, abs=1e-9)
    for least in range(3, companies + 1):
        assert variance >= total / companies * dominance_bound(least, share) - 1e-9


@given(st.floats(0.1, 50), st.floats(1, 1000), st.integers(2, 50))
def test_the_pair_that_protects(limit, exposure, companies):
    rate = least_rate(limit, exposure, companies)
    assert least_companies(limit, exposure, rate) == companies
    for more in (companies, companies + 7):
        assert exposure * rate * 1.1 * (1 - 1 / more) >= limit


def test_companies_of_unlike_exposure_and_millions_of_incidents():
    assert incidents_by_exposure(10, 2, 8).mean == pytest.approx(2.5)
    belief = incidents(5_000_000, 1000)
    assert belief.variance == pytest.approx(5000 * 0.999)
    assert len(belief.values) < 2000
    assert incidents(7, 1).values.tolist() == [7]


def test_before_the_table_counts_are_poisson_mixed_over_the_rate():
    belief = incidents_before(100, Belief.discrete([0.01, 0.03], [0.5, 0.5]))
    assert belief.mean == pytest.approx(2)
    assert belief.variance == pytest.approx(2 + 1)


@pytest.mark.parametrize(
    ("wrong", "message"),
    [
        (lambda: incidents(-1, 4), "incidents is -1"),
        (lambda: incidents(2.5, 4), "whole number"),
        (lambda: incidents(3, 0), "companies is 0"),
        (lambda: incidents(3, 2, insider=[1, 1]), "one must be left"),
        (lambda: incidents(3, 4, insider=[5]), "not so many"),
        (lambda: incidents_by_exposure(3, 5, 4), "own <= all"),
        (lambda: least_companies(5, 10, 0.1), "raise the rate"),
        (lambda: least_rate(5, 0, 3), "above 0"),
        (lambda: dominance_bound(3, 2), "from 0 to 1"),
    ],
)
def test_bad_input(wrong, message):
    with pytest.raises(DataError, match=message):
        wrong()
