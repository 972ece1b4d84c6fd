"""Grade of membership, against all assignments of responses to profiles."""

from itertools import product
from math import lgamma, prod

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.models.compositions import MixedCells, _Half, _rank, compositions
from discreet.models.membership import GradeOfMembership, _Likelihood
from discreet.models.membershipchain import MembershipChain
from discreet.table.table import Table

CASES = [((2, 3, 2), 3), ((3,), 2), ((2, 2, 4, 2), 2), ((3, 1, 2), 4), ((2, 2, 2, 2, 2), 2)]


def table_of(array):
    names = {f"v{axis}": range(size) for axis, size in enumerate(np.shape(array))}
    return Table.of(np.asarray(array, dtype=np.int64), **names)


def parameters(sizes, profiles, seed=0):
    rng = np.random.default_rng(seed)
    responses = np.concatenate([rng.dirichlet(np.ones(n), profiles).T for n in sizes])
    return responses, rng.gamma(1, 1, profiles) + 0.1


def log_weight(z, alpha):
    """ln of the chance that responses have these profiles, memberships integrated out."""
    log = lgamma(sum(alpha)) - lgamma(sum(alpha) + len(z))
    return log + sum(lgamma(a + list(z).count(k)) - lgamma(a) for k, a in enumerate(alpha))


def direct(responses, alpha, sizes):
    """p of every cell: the sum over all J^K assignments."""
    starts = np.cumsum([0, *sizes[:-1]])
    ways = [
        (z, np.exp(log_weight(z, alpha))) for z in product(range(len(alpha)), repeat=len(sizes))
    ]
    return np.array(
        [
            sum(w * prod(responses[s + x, k] for s, x, k in zip(starts, cell, z, strict=True))
                for z, w in ways)
            for cell in product(*map(range, sizes))
        ]
    )  # fmt: skip


def model_of(table, responses, alpha):
    return GradeOfMembership(table, alpha, responses, 0.0, np.zeros(1), np.zeros((1, 4)), True)


@pytest.mark.parametrize(("sizes", "profiles"), CASES)
def test_probabilities_are_sums_over_all_assignments(sizes, profiles):
    """Wherever the responses are cut in two."""
    responses, alpha = parameters(sizes, profiles)
    expected = direct(responses, alpha, sizes)
    for cut in range(len(sizes) + 1):
        mixed = MixedCells(_Half(sizes[:cut], profiles), _Half(sizes[cut:], profiles))
        assert mixed.probabilities(responses, alpha) == pytest.approx(expected, rel=1e-10)
    model = model_of(table_of(np.ones(sizes, int)), responses, alpha)
    assert model.probabilities == pytest.approx(expected, rel=1e-10)
    assert model.probabilities.sum() == pytest.approx(1)
    assert model.parameters == profiles * sum(n - 1 for n in sizes) + profiles


@pytest.mark.parametrize(("sizes", "profiles"), CASES)
def test_likelihood_and_slopes(sizes, profiles):
    responses, alpha = parameters(sizes, profiles, seed=1)
    counts = np.random.default_rng(2).poisson(3, np.prod(sizes)).astype(float)
    cells = np.flatnonzero(counts)
    mixed = MixedCells.of(sizes, profiles, len(cells))

    def value(r, a):
        return counts[cells] @ np.log(direct(r, a, sizes)[cells])

    found, slope, steep = mixed.slopes(responses, alpha, cells, counts[cells])
    assert found == pytest.approx(value(responses, alpha))
    assert found == pytest.approx(mixed.log_likelihood(responses, alpha, cells, counts[cells]))
    rng, step = np.random.default_rng(3), 1e-6
    way, side = rng.normal(size=responses.shape), rng.normal(size=profiles)
    up = value(responses + step * way, alpha + step * side)
    down = value(responses - step * way, alpha - step * side)
    expected = (up - down) / (2 * step)
    assert (slope * way).sum() + steep @ side == pytest.approx(expected, rel=1e-5, abs=1e-4)


@pytest.mark.parametrize(("number", "parts"), [(0, 3), (4, 1), (3, 2), (5, 4)])
def test_compositions_are_all_and_in_order(number, parts):
    listed = compositions(number, parts)
    brute = [r for r in product(range(number + 1), repeat=parts) if sum(r) == number]
    assert listed.tolist() == [list(row) for row in brute]
    assert _rank(listed).tolist() == list(range(len(listed)))


def test_between_latent_classes_and_independence():
    """Small alpha: everybody in one profile. Large alpha: everybody has the same memberships."""
    sizes, xi = (2, 3, 2), np.array([0.2, 0.5, 0.3])
    responses, _ = parameters(sizes, 3)
    blocks = np.split(responses, [2, 5])
    mixed = MixedCells.of(sizes, 3)
    classes = np.einsum("k,ak,bk,ck->abc", xi, *blocks).ravel()
    assert mixed.probabilities(responses, xi * 1e-7) == pytest.approx(classes, rel=1e-5)
    alike = np.einsum("a,b,c->abc", *(block @ xi for block in blocks)).ravel()
    assert mixed.probabilities(responses, xi * 1e6) == pytest.approx(alike, rel=1e-4)


def test_permutations_permute_the_cells():
    """Of categories, of variables and of profiles."""
    sizes = (3, 2, 4)
    responses, alpha = parameters(sizes, 3)
    cells = MixedCells.of(sizes, 3).probabilities(responses, alpha).reshape(sizes)
    order = [np.random.default_rng(n).permutation(n) for n in sizes]
    rows = np.concatenate([o + s for o, s in zip(order, (0, 3, 5), strict=True)])
    moved = MixedCells.of(sizes, 3).probabilities(responses[rows], alpha)
    assert moved == pytest.approx(cells[np.ix_(*order)].ravel())
    turned = np.concatenate([responses[5:], responses[:3], responses[3:5]])
    moved = MixedCells.of((4, 3, 2), 3).probabilities(turned, alpha)
    assert moved == pytest.approx(cells.transpose(2, 0, 1).ravel())
    moved = MixedCells.of(sizes, 3).probabilities(responses[:, [2, 0, 1]], alpha[[2, 0, 1]])
    assert moved == pytest.approx(cells.ravel())


def test_posterior_mean_against_all_assignments():
    """Three people, two responses, two profiles; alpha by quadrature over its logs."""
    people = [(0, 0), (0, 0), (0, 2)]
    array = np.zeros((2, 3), int)
    for cell in people:
        array[cell] += 1
    log = np.linspace(-12, 4, 161)
    a, b = (x.ravel() for x in np.meshgrid(np.exp(log), np.exp(log)))
    prior = np.exp(-a - b) * a * b
    both = {  # chance that a person's two responses have so many of the first profile, per way
        2: a * (a + 1) / ((a + b) * (a + b + 1)),
        1: a * b / ((a + b) * (a + b + 1)),
        0: b * (b + 1) / ((a + b) * (a + b + 1)),
    }
    ways = list(product((0, 1), repeat=2))
    total, mean = 0.0, np.zeros((2, 3))
    for z in product(ways, repeat=3):
        weight = prior * np.prod([both[way.count(0)] for way in z], axis=0)
        used = [np.zeros((2, size)) for size in (2, 3)]
        for way, cell in zip(z, people, strict=True):
            for j in range(2):
                used[j][way[j], cell[j]] += 1
        fit = sum(lgamma(1 + n) for u in used for n in u.ravel())
        fit -= sum(lgamma(u.shape[1] + n) for u in used for n in u.sum(1))
        rows = [(u + 1) / (u + 1).sum(1, keepdims=True) for u in used]
        total += np.exp(fit) * weight.sum()
        for way in ways:
            chance = np.exp(fit) * (weight * both[way.count(0)]).sum()
            mean += chance * np.outer(rows[0][way[0]], rows[1][way[1]])
    model = model_of(table_of(array), *parameters((2, 3), 2))
    draws = np.array(list(model.posterior(500, np.random.default_rng(1))))
    error = draws.reshape(20, 25, 6).mean(1).std(0, ddof=1) / np.sqrt(20)
    assert (np.abs(draws.mean(0) - (mean / total).ravel()) <= 4 * error).all()


@pytest.fixture(scope="module")
def simulated():
    """6,000 people of two profiles, five variables: the truth and the fit."""
    rng = np.random.default_rng(7)
    sizes, alpha = (2, 3, 2, 2, 3, 2), np.array([0.5, 0.3])
    responses = np.concatenate(
        [np.array([[0.9, 0.1], [0.1, 0.9]]) if n == 2 else
         np.array([[0.7, 0.1], [0.2, 0.2], [0.1, 0.7]]) for n in sizes]
    )  # fmt: skip
    truth = direct(responses, alpha, sizes)
    table = table_of(rng.multinomial(6_000, truth).reshape(sizes))
    return truth, responses, alpha, GradeOfMembership.fit(
        table, 2, rng=rng, chains=2, warmup=50, draws=60
    )  # fmt: skip


def test_the_fit_recovers_what_was_simulated(simulated):
    truth, responses, alpha, model = simulated
    assert model.converged
    assert np.ptp(model.maxima) < 0.05
    assert model.r_hat < 1.1
    assert model.effective > 20
    counts = model.table.dense().ravel()
    best = counts[counts > 0] @ np.log(truth[counts > 0])
    assert best < model.log_likelihood < best + 20
    assert (model.draws < model.log_likelihood).all()
    assert np.abs(model.responses - responses).max() < 0.06
    assert model.alpha == pytest.approx(alpha, rel=0.25)


def test_posterior_covers_what_was_simulated(simulated):
    truth, _, _, model = simulated
    draws = np.array(list(model.posterior(80, np.random.default_rng(0))))
    assert (draws > 0).all()
    assert draws.sum(1) == pytest.approx(1)
    z = (draws.mean(0) - truth) / draws.std(0)
    assert np.abs(z).max() < 4.5
    assert 0.2 < np.mean(z**2) < 2.5
    counts = model.table.dense().ravel()
    logs = np.log(draws[:, counts > 0]) @ counts[counts > 0]
    assert abs(logs.mean() - model.draws.mean()) < 3


def test_climbing_never_goes_down():
    rng = np.random.default_rng(8)
    table = table_of(rng.poisson(3, (2, 3, 2, 2)))
    likelihood = _Likelihood.of(table, 3)
    responses, alpha = parameters(table.shape, 3)
    values = [likelihood.climb(responses, alpha, steps).log_likelihood for steps in (1, 3, 10, 40)]
    assert likelihood(responses, alpha) < values[0]
    assert (np.diff(values) >= 0).all()


def test_a_chain_keeps_its_books():
    """Counts of profiles are those of the assignments, after every kind of move."""
    table = table_of(np.random.default_rng(9).poisson(2, (2, 3, 2)))
    chain = MembershipChain.start(table, 4, np.random.default_rng(0))
    for _ in range(20):
        chain.sweep()
    counted = np.stack([(chain.profile == k).sum(1) for k in range(4)], 1)
    assert np.array_equal(counted, chain.counts)
    assert len(chain.places) == table.total
    assert (chain.alpha > 0).all()


def test_the_same_seed_gives_the_same_model():
    table = table_of(np.random.default_rng(4).poisson(3, (2, 3, 3)))
    one, two = (
        GradeOfMembership.fit(
            table, 2, rng=np.random.default_rng(9), chains=2, warmup=5, climb=20, draws=4
        )
        for _ in range(2)
    )
    assert np.array_equal(one.responses, two.responses)
    assert np.array_equal(one.draws, two.draws)


def test_result_and_refusals(simulated):
    model = simulated[-1]
    rows = model.to_frame()
    assert list(rows.columns) == ["profile", "share", "variable", "category", "probability"]
    sums = rows.groupby(["profile", "variable"])["probability"].sum()
    assert sums.to_numpy() == pytest.approx(1)
    said = model.to_json()
    assert said["maxima"] == model.maxima.tolist()
    assert said["draws"] == 120
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="1 profiles do not fit 6,000 people"):
        GradeOfMembership.fit(model.table, 1, rng=rng)
    with pytest.raises(DataError, match="draws is 3; give at least 4"):
        GradeOfMembership.fit(model.table, 2, rng=rng, draws=3)
    with pytest.raises(DataError, match="fewer profiles"):
        MixedCells.of((2,) * 20, 9)
