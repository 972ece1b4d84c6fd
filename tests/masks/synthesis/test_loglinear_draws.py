"""Draws of log-linear models against conjugacy, importance sampling and proportional fitting."""

import math
from itertools import combinations, product

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.masks.synthesis.graphical import AveragedCells, Scores, graphical
from discreet.models.bayes import bipf
from discreet.models.decomposed import LogLinearCells
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from discreet.table.load import load
from discreet.table.table import Table

COUNTS = np.array([[[5, 2], [0, 3]], [[1, 4], [7, 0]]])
SMALL = Table.of(COUNTS, A="xy", B="xy", C="xy")
PAIRS = "A*B + B*C + A*C"


def drawn(model, draws=4_000, seed=1):
    return np.array(list(model.posterior(draws, np.random.default_rng(seed))))


def within(found, exact, draws):
    """Means of draws agree with exact values, within five standard errors."""
    return (np.abs(found.mean(0) - exact) <= 5 * found.std(0) / math.sqrt(draws) + 1e-12).all()


@pytest.mark.parametrize("weight", [1.0, 8.0])
def test_hyper_dirichlet_moments(weight):
    """A*B + B*C: (a, b) is Dirichlet, c given b another one, independent of it."""
    model = LogLinearCells.fit(SMALL, "A*B + B*C", weight=weight)
    assert model.exact
    ab = COUNTS.sum(2) + weight / 4
    bc = COUNTS.sum(0) + weight / 4
    total = ab.sum()
    first, second = np.zeros((2, 2, 2)), np.zeros((2, 2, 2))
    for a, b, c in product(range(2), repeat=3):
        rest = bc[b].sum()
        first[a, b, c] = ab[a, b] / total * bc[b, c] / rest
        second[a, b, c] = (
            ab[a, b] * (ab[a, b] + 1) / total / (total + 1)
            * bc[b, c] * (bc[b, c] + 1) / rest / (rest + 1)
        )  # fmt: skip
    draws = drawn(model)
    assert within(draws, first.ravel(), len(draws))
    assert within(draws**2, second.ravel(), len(draws))
    assert np.allclose(model.predictive(1, np.random.default_rng(0)), first.ravel(), atol=1e-12)


def test_chains_against_importance_sampling():
    """No three-way interaction: the density prod theta^a in the six log-linear parameters."""
    weight = 8.0
    model = LogLinearCells.fit(SMALL, PAIRS, weight=weight)
    assert not model.exact
    cells = np.array(list(product([-1, 1], repeat=3)), float)
    terms = [cells[:, list(s)].prod(1) for k in (1, 2) for s in combinations(range(3), k)]
    design, a = np.array(terms).T, COUNTS.ravel() + weight / 8

    def log_density(u):
        logs = u @ design.T
        return (logs - np.logaddexp.reduce(logs, 1)[:, None]) @ a

    mode = np.zeros(6)
    for _ in range(50):  # Newton
        p = np.exp(design @ mode)
        p /= p.sum()
        slope = design.T @ (a - a.sum() * p)
        curve = a.sum() * (design.T * p) @ design - a.sum() * np.outer(design.T @ p, design.T @ p)
        mode = mode + np.linalg.solve(curve, slope)
    rng = np.random.default_rng(2)
    root, df, n = np.linalg.cholesky(np.linalg.inv(curve)), 5, 100_000
    t = rng.standard_normal((n, 6)) / np.sqrt(rng.chisquare(df, (n, 1)) / df)
    logs = log_density(mode + t @ root.T) + (df + 6) / 2 * np.log1p((t**2).sum(1) / df)
    weights = np.exp(logs - logs.max())
    theta = np.exp((mode + t @ root.T) @ design.T)
    theta /= theta.sum(1, keepdims=True)
    weights /= weights.sum()
    mean = weights @ theta
    spread = np.sqrt(weights @ (theta - mean) ** 2)
    draws = drawn(model, 1_500)
    assert np.abs((draws.mean(0) - mean) / spread).max() < 0.12
    assert np.abs(draws.std(0) / spread - 1).max() < 0.1


def test_parts_glued_are_the_model_drawn_as_a_whole():
    """A triangle, an edge and a triangle of pairs: parts apart, or one chain of all cells."""
    table = load("example:czech")
    formula = "A*B + B*C + A*C + C*D + D*E + D*F + E*F"
    model = LogLinearCells.fit(table, formula, weight=64)
    assert [len(part.places) for part in model.fitted.parts] == [3, 2, 3]
    draws = drawn(model, 600)
    whole, rng = np.ones((600, *table.shape)), np.random.default_rng(5)
    margins = [tuple("ABCDEF".index(n) for n in pair.split("*")) for pair in formula.split(" + ")]
    for _ in range(40):
        whole = bipf(whole, table.dense() + 1.0, margins, rng)
    flat = whole.reshape(600, -1)
    error = np.sqrt((flat.var(0) + draws.var(0)) / 600)
    assert np.abs((flat.mean(0) - draws.mean(0)) / error).max() < 4
    assert np.abs(flat.std(0) / draws.std(0) - 1).max() < 0.2


@pytest.mark.parametrize("formula", ["A*B", "A + B + C", PAIRS, "A*B*C", "B"])
def test_draws_are_probabilities_within_the_model(formula):
    model = LogLinearCells.fit(SMALL, formula)
    for p in model.posterior(5, np.random.default_rng(3)):
        assert p.shape == (8,)
        assert p.min() >= 0
        assert p.sum() == pytest.approx(1, abs=1e-12)
    three = np.log(p.reshape(2, 2, 2))
    ratio = three[0] - three[1]
    if formula != "A*B*C":
        assert ratio[0, 0] - ratio[0, 1] - ratio[1, 0] + ratio[1, 1] == pytest.approx(0, abs=1e-6)
    assert model.probabilities.sum() == pytest.approx(1)


def test_the_same_seed_draws_the_same():
    model = LogLinearCells.fit(SMALL, PAIRS)
    assert (drawn(model, 3, seed=4) == drawn(model, 3, seed=4)).all()


def test_a_prior_of_nobody_is_refused():
    with pytest.raises(DataError, match="weighs 0 people"):
        LogLinearCells.fit(SMALL, PAIRS, weight=0)


# Models chosen by their posterior


def log_marginal(counts, names, weight):
    """Of records one by one: Polya's urn in the cells of the margin."""
    kept = ["ABC".index(n) for n in names]
    margin = counts.sum(tuple(a for a in range(3) if a not in kept))
    each, seen, log = weight / margin.size, 0, 0.0
    for n in margin.ravel():
        for k in range(n):
            log += math.log((each + k) / (weight + seen))
            seen += 1
    return log


def test_scores_are_polyas_urns():
    scores = Scores(SMALL, 3.0)
    chain = Graph.of([0b011, 0b110], 3)
    exact = (
        log_marginal(COUNTS, "AB", 3.0) + log_marginal(COUNTS, "BC", 3.0)
        - log_marginal(COUNTS, "B", 3.0)
    )  # fmt: skip
    assert scores.of(chain) == pytest.approx(exact)
    edge = Graph.of([0b011, 0b100], 3)
    assert scores.gain(edge, chain) == pytest.approx(scores.of(chain) - scores.of(edge))
    assert scores.gain(chain, edge) == pytest.approx(scores.of(edge) - scores.of(chain))


def test_the_best_of_three_variables_and_its_share():
    """All eight graphs of three variables are decomposable: the average is over all of them."""
    found = AveragedCells.fit(SMALL, score=4.0, rng=np.random.default_rng(1))
    scores = Scores(SMALL, 4.0)
    edges = [0b011, 0b101, 0b110]
    graphs = [
        Graph.of([*(s for s, on in zip(edges, chosen, strict=True) if on), 1, 2, 4], 3)
        for chosen in product([0, 1], repeat=3)
    ]
    logs = np.array([scores.of(graph) for graph in graphs])
    exact = np.exp(logs - logs.max())
    exact /= exact.sum()
    by = dict(zip((Formula("ABC", g.cliques()).sets for g in graphs), exact, strict=True))
    assert len(found.formulas) == 8
    assert [by[f.sets] for f in found.formulas] == pytest.approx(found.shares.tolist())
    best = graphical(SMALL, score=4.0)
    assert by[best.formula.sets] == pytest.approx(exact.max())
    assert found.predictive(1, np.random.default_rng(0)).sum() == pytest.approx(1)
    draws = drawn(found, 4_000)
    assert within(draws, found.predictive(1, np.random.default_rng(0)), 4_000)
    assert found.log_likelihood == pytest.approx(
        float((COUNTS.ravel() * np.log(np.maximum(found.probabilities, 1e-300))).sum())
    )


def test_the_known_models_of_czech():
    """Madigan & Raftery 1994 find A*C*E, A*D*E and B*C in the most probable models."""
    assert {"A*C*E", "A*D*E", "B*C"} <= set(
        str(graphical(load("example:czech")).formula).split(" + ")
    )
