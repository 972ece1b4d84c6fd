"""Chains over models and their clique margins, against every model and every table."""

import warnings
from itertools import combinations, product

import numpy as np
import pytest
from scipy.special import gammaln, logsumexp

import discreet as dc
from discreet.errors import ConvergenceWarning, DataError
from discreet.intruder.posterior.average.average import average_posterior, graph_priors
from discreet.intruder.posterior.average.clique_margins import Chain, Space
from discreet.intruder.posterior.average.model_chains import chain_models
from discreet.models.space import model_priors
from discreet.table.formula import Formula
from discreet.table.graph import Graph
from oracle import fibre, named

CZECH = dc.load("example:czech")


def every_model(array, released, prior):
    """Each chordal graph with its log weight, and the distribution of each cell over all."""
    k, tables = array.ndim, fibre(array, released)
    flat, a = tables.reshape(len(tables), -1), np.broadcast_to(prior, array.shape)
    held = {pair for kept in released for pair in combinations(sorted(kept), 2)}
    edges = list(combinations(range(k), 2))

    def rise(s):
        rest = [p for p in range(k) if not s >> p & 1]
        n = tables.sum(tuple(p + 1 for p in rest)).reshape(len(tables), -1)
        own = a.sum(tuple(rest)).ravel()
        return (gammaln(n + own) - gammaln(own)).sum(1)

    weights, logs = {}, []
    for chosen in product([False, True], repeat=len(edges)):
        joined = {edge for edge, on in zip(edges, chosen, strict=True) if on}
        graph = Graph.of([1 << u | 1 << v for u, v in joined], k)
        if held <= joined and graph.is_chordal:
            tree = graph.junction_tree()
            own = sum(map(rise, tree.nodes)) - sum(map(rise, tree.separators))
            logs.append(own - gammaln(flat + 1.0).sum(1))
            weights[graph] = float(logsumexp(logs[-1]))
    return flat, weights, np.array(logs)


CASES = {
    "a pair": ((3, 2, 2), [(0, 1), (2,)]),
    "wide": ((3, 3, 2), [(0, 2), (1,)]),
    "four": ((2, 2, 2, 2), [(0, 1), (1, 2), (3,)]),
}


@pytest.mark.parametrize(
    ("case", "by"),
    [("a pair", "size"), ("wide", "model"), ("four", "parameters")],
)
def test_every_model_and_every_table(case, by):
    shape, released = CASES[case]
    array = np.random.default_rng(3).poisson(0.7, shape)
    table = named(array)
    release = dc.Release.margins(table, [[table.names[p] for p in kept] for kept in released])
    flat, weights, logs = every_model(array, released, 0.4)
    named_models = [Formula(table.names, graph.cliques()) for graph in weights]
    before = np.log(model_priors(named_models, by, sizes=shape))
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = chain_models(
            release, prior=0.4, log_prior=graph_priors(release, by), standard_error=0.0001,
            effort=0.002, chains=2,
        )  # fmt: skip
    total = np.array(list(weights.values())) + before
    shares = np.exp(total - logsumexp(total))
    seen = {frozenset(model.sets): share for model, share in found.visits.items()}
    for graph, share in zip(weights, shares, strict=True):
        got, off = seen.get(frozenset(graph.cliques()), (0.0, 0.0))
        assert got == pytest.approx(share, abs=6 * max(off, 0.004))
    mixed = np.exp(logsumexp(logs + before[:, None], axis=0) - logsumexp(total))
    for cell, (low, mass) in enumerate(zip(found.low, found.mass, strict=True)):
        worth = np.sqrt(found.convergence.effective[cell])
        for count in range(int(flat.max()) + 1):
            exact = float(mixed @ (flat[:, cell] == count))
            got = mass[count - low] if low <= count < low + len(mass) else 0.0
            assert abs(got - exact) <= 5 * 0.5 / worth


def test_long_lines_are_walked_in_strides():
    """2 x 2 with 4,000 people: under the saturated model, Gamma(n + a) / n! of four cells."""
    array = np.array([[900, 1_200], [400, 1_500]])
    release = dc.Release.margins(named(array), "A + B")
    space = Space(release, np.full((2, 2), 0.5))
    chain = Chain(space, lambda graph: 0.0 if graph.neighbours[0] else -1e9, rng(1))
    chain.fill(1)
    drawn = []
    for _ in range(700):
        for _ in range(2):
            chain.step()
        drawn.append(int(chain.table()[0]))
    n = np.arange(1_301)  # of the first cell
    cells = np.stack([n, 2_100 - n, 1_300 - n, 600 + n])
    logs = (gammaln(cells + 0.5) - gammaln(cells + 1.0)).sum(0)
    mass = np.exp(logs - logsumexp(logs))
    for share in (0.1, 0.5, 0.9):
        at = int(np.searchsorted(np.cumsum(mass), share))
        assert np.mean(np.array(drawn) <= at) == pytest.approx(share, abs=0.08)


def rng(seed):
    return np.random.default_rng(seed)


def test_tables_have_the_margins_that_are_released():
    release = dc.Release.margins(CZECH, "A*C*E + A*D*E + B*C + F")
    chain = Chain(Space(release, np.full(CZECH.shape, 0.5)), None, rng(2))
    chain.fill(0.5)
    for _ in range(20):
        chain.step()
        table = chain.table().reshape(CZECH.shape)
        assert (table >= 0).all()
        for known in release.tables:
            kept = [CZECH.names.index(name) for name in known.names]
            rest = tuple(axis for axis in range(6) if axis not in kept)
            assert (table.sum(rest) == known.dense()).all()


def test_czech_average_mixes():
    """2^6 of 1,841 people, 1,980 models: R-hat below 1.05 with little of the work allowed."""
    release = dc.Release.margins(CZECH, "A*C + B*C + A*D + E + F")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        found = chain_models(release, CZECH.small(), effort=0.01, chains=4, seed=4).convergence
    assert found.r_hat.max() < 1.05
    assert found.effective.min() > 150


def test_a_seed_gives_its_models_again():
    release = dc.Release.margins(CZECH, "A*C*E + A*D*E + B*C + F")
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", ConvergenceWarning)
        one, two = (
            chain_models(release, CZECH.small(), effort=0.001, chains=2, seed=7) for _ in range(2)
        )
    assert one.visits == two.visits
    assert all((a == b).all() for a, b in zip(one.mass, two.mass, strict=True))


def test_priors_of_models_by_a_word_only():
    release = dc.Release.margins(CZECH, "A*C*E + A*D*E + B*C + F")
    with pytest.raises(DataError, match="choose model"):
        average_posterior(release, CZECH.small(), model_prior="edges")
    with pytest.raises(DataError, match="one model"):
        dc.posterior(release, CZECH.small(), model_prior="size")
