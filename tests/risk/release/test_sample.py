"""Verdicts on a sample: small counts that are not small in the population need no guard."""

import dataclasses

import numpy as np
import pytest

from discreet.decision.frontier.frontier import frontier
from discreet.decision.law.decide import decide
from discreet.decision.law.policy import Policy
from discreet.errors import DataError
from discreet.intruder.population.population import population_beliefs
from discreet.risk.release.sample import watched
from discreet.table.table import Table

ALONE = {"attribute.check": False, "published.least": 0}
SAMPLE = ALONE | {"sample.check": True}


def sample(fraction, mean, shape=3.0, seed=0, cells=(12, 12, 2)):
    """A Bernoulli sample of a population with gamma-Poisson counts."""
    rng = np.random.default_rng(seed)
    population = rng.poisson(rng.gamma(shape, mean / shape, cells))
    counts = rng.binomial(population, fraction)
    axes = {name: [str(i) for i in range(n)] for name, n in zip("ABC", cells, strict=True)}
    table = Table.of(counts, **axes)
    return dataclasses.replace(table, sampling_fraction=fraction), population


def test_small_counts_of_a_large_population_need_no_guard():
    table, population = sample(0.01, 300, seed=2)
    assert len(table.small())
    assert decide(table, "A*B*C", Policy.of(ALONE)).verdict == "FAIL"
    decision = decide(table, "A*B*C", Policy.of(SAMPLE))
    assert decision.verdict == "PASS"
    assert "0 may be small in the population" in decision.reasons[0].text
    assert population.min() > 2
    assert any("negative-binomial model" in text for text in decision.assumptions)
    found = frontier(table, policy=Policy.of(SAMPLE), seconds=30)
    assert found.released == 7


def test_small_counts_of_a_small_population_are_guarded():
    table, population = sample(0.5, 3, shape=1.0, seed=1)
    found = watched(table, 2, chance=0.05, model="negative-binomial")
    assert found.agrees
    assert 0 < len(found.cells) <= found.every
    beliefs = population_beliefs(table, table.small(), fraction=0.5)
    small = (beliefs.at_most(2) >= 0.05).sum()
    assert len(found.cells) == small
    decision = decide(table, "A*B*C", Policy.of(SAMPLE))
    assert decision.verdict == "FAIL"
    codes = table.small().codes
    assert (population[tuple(codes.T)] <= 2).any()


def test_a_model_that_fails_its_rehearsal_guards_all():
    rng = np.random.default_rng(2)
    counts = rng.poisson(np.exp(rng.normal(-1, 2.5, (40, 50))))
    axes = {"A": [str(i) for i in range(40)], "B": [str(i) for i in range(50)]}
    table = dataclasses.replace(Table.of(counts, **axes), sampling_fraction=0.1)
    found = watched(table, 2, chance=0.05, model="A + B")
    assert not found.agrees
    assert len(found.cells) == found.every == len(table.small())
    policy = Policy.of(SAMPLE | {"sample.model": "A + B"})
    assert (
        "the model of the population does not hold"
        in decide(table, "A + B", policy).reasons[0].text
    )


@pytest.mark.parametrize("counts", [[[1, 40], [50, 60]], [[1, 0], [0, 0]]])
def test_a_model_that_cannot_be_rehearsed_guards_all(counts):
    """The sample of the sample has no unique, or nobody at all."""
    table = Table.of(counts, A=["a", "b"], B=["u", "v"])
    table = dataclasses.replace(table, sampling_fraction=0.1)
    found = watched(table, 2, chance=0.05, model="negative-binomial")
    assert (found.agrees, found.checked, found.doubt) == (False, False, "could not be checked")
    assert len(found.cells) == found.every == 1
    decision = decide(table, "A*B", Policy.of(SAMPLE))
    assert decision.verdict == "FAIL"


def test_a_sample_without_a_fraction_is_refused():
    table, _ = sample(0.5, 3)
    whole = dataclasses.replace(table, sampling_fraction=None)
    with pytest.raises(DataError, match="no sampling fraction"):
        decide(whole, "A + B", Policy.of(SAMPLE))
