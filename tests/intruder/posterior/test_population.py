"""Beliefs about the population behind a sample, against every population and every sample."""

import math
from itertools import combinations, pairwise

import numpy as np
import pytest
from scipy.special import gammaln

import discreet as dc
from discreet.errors import DataError
from discreet.intruder.posterior import population
from oracle import named


def spreads(people, cells):
    """Every way to put so many people into cells."""
    for bars in combinations(range(people + cells - 1), cells - 1):
        ends = (-1, *bars, people + cells - 1)
        yield [b - a - 1 for a, b in pairwise(ends)]


def margin(array, kept):
    return array.sum(tuple(axis for axis in range(array.ndim) if axis not in kept))


def log_chance(table, prior, cliques, separators):
    """Of a population: Dirichlet-multinomial margins, and people spread at random within them."""

    def part(kept):
        n, a = margin(table, kept), margin(prior, kept)
        return float((gammaln(n + a) - gammaln(a)).sum())

    rise = sum(map(part, cliques)) - sum(map(part, separators))
    return rise - float(gammaln(table + 1.0).sum())


def enumerated(sample, released, people, prior, cliques, separators):
    """P(N(i) | release) and P(N(i) = 1 | n(i) = 1, release), by adding up all that fits."""
    shape, size = sample.shape, sample.size
    known = [margin(sample, kept) for kept in released]
    fits = []
    for each in spreads(int(sample.sum()), size):
        table = np.array(each).reshape(shape)
        if all((margin(table, k) == m).all() for k, m in zip(released, known, strict=True)):
            fits.append(each)
    found, ones = np.zeros((size, people + 1)), np.zeros((size, 2))
    for each in spreads(people, size):
        weight = math.exp(log_chance(np.array(each).reshape(shape), prior, cliques, separators))
        for drawn in fits:
            chance = weight * math.prod(map(math.comb, each, drawn))
            for cell in range(size):
                found[cell, each[cell]] += chance
                if drawn[cell] == 1:
                    ones[cell] += chance * np.array([1, each[cell] == 1])
    with np.errstate(invalid="ignore"):
        return found / found[0].sum(), ones[:, 1] / ones[:, 0]


RNG = np.random.default_rng(5)
PAIRS = [(0,), (1,)]
CASES = {
    "saturated": ((2, 2), PAIRS, "saturated", 0.5, [(0, 1)], []),
    "numbers": ((2, 3), PAIRS, "saturated", RNG.gamma(2, 0.5, (2, 3)), [(0, 1)], []),
    "uniform": ((2, 2), PAIRS, "uniform", 1.0, [(0, 1)], []),
    "independent": ((2, 2), PAIRS, "A + B", 0.7, PAIRS, [()]),
    "given B": ((2, 2, 2), [(0, 1), (1, 2)], "A*B + B*C", 0.5, [(0, 1), (1, 2)], [(1,)]),
}


@pytest.mark.parametrize("case", CASES)
def test_every_population_and_every_sample(case):
    shape, released, model, prior, cliques, separators = CASES[case]
    sample = RNG.multinomial(3, np.full(math.prod(shape), 1 / math.prod(shape))).reshape(shape)
    table = named(sample)
    people = 7 if sample.size < 8 else 6
    each = np.broadcast_to(prior, shape).astype(float)
    exact, ones = enumerated(sample, released, people, each, cliques, separators)
    release = dc.Release.margins(table, [[table.names[p] for p in kept] for kept in released])
    found = dc.posterior(release, model=model, prior=prior, fraction=3 / people)
    assert found.people == people
    assert found.exact
    assert found.matrix(people) == pytest.approx(exact, abs=1e-12)
    known = ~np.isnan(ones)
    assert found.uniques[known] == pytest.approx(ones[known], abs=1e-12)
    assert found.unique == pytest.approx(exact[:, 1], abs=1e-12)


@pytest.mark.parametrize("model", ["saturated", "A*B + B*C"])
def test_cells_of_a_margin(model):
    sample = np.random.default_rng(6).multinomial(3, np.full(8, 1 / 8)).reshape(2, 2, 2)
    table, people = named(sample), 6
    own = model != "saturated"
    cliques, separators = ([(0, 1), (1, 2)], [(1,)]) if own else ([(0, 1, 2)], [])
    prior = np.full((2, 2, 2), 0.5)
    whole = np.zeros((4, people + 1))  # A and C, over all populations
    fits = [
        np.array(t).reshape(2, 2, 2)
        for t in spreads(3, 8)
        if all(
            (margin(np.array(t).reshape(2, 2, 2), k) == margin(sample, k)).all()
            for k in ((0, 1), (1, 2))
        )
    ]
    for each in spreads(people, 8):
        array = np.array(each).reshape(2, 2, 2)
        weight = math.exp(log_chance(array, prior, cliques, separators))
        ways = sum(math.prod(map(math.comb, each, t.ravel().tolist())) for t in fits)
        for cell, count in enumerate(margin(array, (0, 2)).ravel()):
            whole[cell, count] += weight * ways
    exact = whole / whole[0].sum()
    release = dc.Release.margins(table, "A*B + B*C")
    cells = table.margin("A*C").all()
    found = dc.posterior(release, cells, model=model, fraction=0.5)
    off = 5 * np.stack([found.standard_error(n) for n in range(people + 1)], 1)
    assert (np.abs(found.matrix(people) - exact) <= off + 1e-12).all()
    assert found.exact != own
    assert own == found.method.startswith("sampled, 4,000 draws")


def test_the_whole_population_is_the_sample():
    table = dc.load("example:tract")
    for model in ("saturated", "Race*Income + Income*Gender"):
        found = dc.posterior(table, "Race*Income + Income*Gender", model=model, fraction=1)
        assert found.matrix(200) == pytest.approx(found.sample.matrix(200), abs=1e-12)
        assert (found.uniques == 1).all()


def test_a_smaller_share_makes_uniques_safer():
    """Section 6: "as the sampling fraction gets smaller we expect disclosure risk to go down"."""
    table = dc.load("example:tract")
    risks = [
        dc.posterior(
            table, "Race*Income + Income*Gender", cells=table.small(), fraction=fraction
        ).uniques.max()
        for fraction in (1, 0.5, 0.1, 0.01)
    ]
    assert risks == sorted(risks, reverse=True)
    assert risks[-1] < 0.002 < risks[-2]


def test_drawn_probabilities_agree_with_the_sums(monkeypatch):
    """The same beliefs where the sums are too long, within their standard errors."""
    table = dc.load("example:tract")
    asked = {"cells": table.small(), "model": "Race*Income + Income*Gender", "fraction": 0.5}
    exact = dc.posterior(table, "Race*Income + Income*Gender", **asked)
    monkeypatch.setattr(population, "MOST_SUMMED", 0)
    drawn = dc.posterior(table, "Race*Income + Income*Gender", **asked)
    assert exact.exact
    assert not drawn.exact
    assert drawn.method.startswith("sampled")
    for count in range(6):
        off = np.abs(drawn.probability(count) - exact.probability(count))
        assert (off <= 5 * drawn.standard_error(count)).all()
        assert (drawn.standard_error(count) < 0.01).all()


def test_beliefs_of_chains_keep_their_errors():
    table = dc.load("example:tract")
    asked = {"cells": table.small(), "fraction": 0.25}
    exact = dc.posterior(table, "Race*Income + Income*Gender", **asked)
    found = dc.posterior(
        table, "Race*Income + Income*Gender", method="chains", standard_error=0.01, **asked
    )
    assert not found.exact
    for count in range(4):
        off = np.abs(found.probability(count) - exact.probability(count))
        assert (off <= 5 * found.standard_error(count) + 1e-4).all()


def test_who_knows_the_sample_knows_more():
    table = dc.load("example:tract")
    found = dc.posterior(table, "Race*Income + Income*Gender", cells=table.small(), fraction=0.1)
    given = found.given(table.small().counts)
    ones = table.small().counts == 1
    assert given.unique[ones] == pytest.approx(found.uniques[ones], abs=1e-10)
    assert (given.unique[~ones] == 0).all()
    some = found.take([2, 0])
    assert some.unique == pytest.approx(found.unique[[2, 0]])
    assert some.sample.guess.tolist() == found.sample.guess[[2, 0]].tolist()
    assert some.given(1).unique == pytest.approx(found.uniques[[2, 0]])
    document = found.to_json(table.small().counts)
    assert document["population"]["people"] == 7420
    first = document["cells"][0]
    assert first["population"]["unique"] == pytest.approx(found.unique[0])
    assert first["probabilities"]["1"] == pytest.approx(found.sample.probability(1)[0])


@pytest.mark.parametrize(
    ("fraction", "model", "says"),
    [
        (0, "saturated", "above 0"),
        (1.5, "saturated", "at most 1"),
        (math.nan, "saturated", "above 0"),
        (1e-13, "saturated", "more people"),
        (0.5, "average", "choose saturated"),
        (0.5, "Race*Income + Income*Gender + Race*Gender", "choose saturated"),
    ],
)
def test_what_cannot_be_believed_is_refused(fraction, model, says):
    table = dc.load("example:tract")
    with pytest.raises(DataError, match=says):
        dc.posterior(table, "Race*Income + Income*Gender", model=model, fraction=fraction)


def test_cells_that_are_known_to_be_empty_are_refused():
    release = dc.Release.margins(named(np.array([[0, 2], [1, 3]])), "A + B")
    with pytest.raises(DataError, match="known to be empty"):
        dc.posterior(release.publish({"A": 0, "B": 0}, 0), fraction=0.5)
    known = release.publish({"A": 1, "B": 0}, 1)
    found = dc.posterior(known, fraction=0.5)
    assert found.sample.matrix(3).tolist() == np.eye(4)[[0, 2, 1, 3]].tolist()
