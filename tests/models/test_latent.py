"""Latent class models, against direct sums, closed forms and all allocations of a few people."""

from itertools import product
from math import lgamma, prod

import numpy as np
import pytest

from discreet.errors import DataError
from discreet.models.latent import LatentClasses, _Cells, _State
from discreet.table.table import Table


def table_of(array):
    names = {f"v{axis}": range(size) for axis, size in enumerate(np.shape(array))}
    return Table.of(np.asarray(array, dtype=np.int64), **names)


def direct(shares, responses, sizes):
    """p of every cell, by loops."""
    starts = np.cumsum([0, *sizes[:-1]])
    return np.array(
        [
            sum(w * prod(responses[s + x, c] for s, x in zip(starts, cell, strict=True))
                for c, w in enumerate(shares))
            for cell in product(*map(range, sizes))
        ]
    )  # fmt: skip


def random_model(table, classes, rng):
    responses = np.concatenate([rng.dirichlet(np.ones(n), classes).T for n in table.shape])
    shares = rng.dirichlet(np.ones(classes) * 5)
    return LatentClasses(table, shares, responses, np.nan, np.zeros(1), 0, True)


SIZES = [(2, 3, 2), (4,), (2, 2, 2, 2), (3, 1, 5)]


@pytest.mark.parametrize("sizes", SIZES)
def test_probabilities_and_likelihood_are_the_direct_sums(sizes):
    rng = np.random.default_rng(0)
    table = table_of(rng.poisson(4, sizes))
    model = LatentClasses.fit(table, 3, rng=rng, starts=2, trial=20, iterations=50)
    expected = direct(model.shares, model.responses, sizes)
    assert model.probabilities == pytest.approx(expected, rel=1e-9, abs=1e-15)
    counts = table.dense().ravel()
    some = counts > 0
    assert model.log_likelihood == pytest.approx(counts[some] @ np.log(expected[some]))
    assert model.sizes == sizes
    assert model.parameters == 2 + 3 * sum(size - 1 for size in sizes)
    assert (np.diff(model.shares) <= 0).all()


@pytest.mark.parametrize("sizes", SIZES)
def test_a_step_never_lowers_the_likelihood(sizes):
    rng = np.random.default_rng(1)
    state = _State.start(_Cells(table_of(rng.poisson(1, sizes) + rng.poisson(0.2))), 4, rng)
    for _ in range(60):
        after = state.step()
        assert after.log_likelihood >= state.log_likelihood - 1e-9
        state = after


def test_one_class_is_independence():
    array = np.random.default_rng(2).poisson(5, (3, 2, 4))
    model = LatentClasses.fit(table_of(array), 1, rng=np.random.default_rng(0))
    share = array / array.sum()
    margins = [share.sum(tuple(b for b in range(3) if b != axis)) for axis in range(3)]
    expected = np.einsum("i,j,k->ijk", *margins).ravel()
    assert model.probabilities == pytest.approx(expected)
    assert model.converged


def test_classes_that_hold_a_diagonal_fit_it():
    """Two classes reproduce a 2 x 2 table exactly."""
    array = np.array([[30, 5], [10, 55]])
    model = LatentClasses.fit(table_of(array), 2, rng=np.random.default_rng(0), tolerance=1e-9)
    assert model.probabilities == pytest.approx(array.ravel() / 100, abs=1e-4)


def test_permuted_categories_permute_the_cells():
    rng = np.random.default_rng(3)
    table = table_of(rng.poisson(2, (3, 2, 4)))
    model = random_model(table, 3, rng)
    order = [np.random.default_rng(i).permutation(n) for i, n in enumerate(table.shape)]
    rows = np.concatenate([o + s for o, s in zip(order, (0, 3, 5), strict=True)])
    other = LatentClasses(table, model.shares, model.responses[rows], 0.0, np.zeros(1), 0, True)
    moved = model.probabilities.reshape(3, 2, 4)[np.ix_(*order)]
    assert other.probabilities == pytest.approx(moved.ravel())


def test_the_same_seed_gives_the_same_model():
    table = table_of(np.random.default_rng(4).poisson(3, (2, 3, 3)))
    one, two = (LatentClasses.fit(table, 2, rng=np.random.default_rng(9)) for _ in range(2))
    assert np.array_equal(one.responses, two.responses)


def test_posterior_mean_against_all_allocations():
    """Three people, two classes: every allocation has a closed weight and closed means."""
    people = [(0, 0), (0, 0), (0, 2)]
    array = np.zeros((2, 3), int)
    for cell in people:
        array[cell] += 1
    total, mean = 0.0, np.zeros((2, 3))
    for z in product((0, 1), repeat=3):
        n = np.bincount(z, minlength=2)
        used = [np.zeros((2, size)) for size in (2, 3)]
        for c, cell in zip(z, people, strict=True):
            for j in range(2):
                used[j][c, cell[j]] += 1
        log = lgamma(2) - lgamma(2 + 3) + sum(lgamma(1 + k) for k in n)
        for u in used:
            size = u.shape[1]
            log += sum(lgamma(size) - lgamma(size + row.sum()) for row in u)
            log += sum(lgamma(1 + k) for k in u.ravel())
        w = (n + 1) / 5
        rows = [(u + 1) / (u + 1).sum(1, keepdims=True) for u in used]
        total += np.exp(log)
        mean += np.exp(log) * np.einsum("c,ci,cj->ij", w, *rows)
    model = random_model(table_of(array), 2, np.random.default_rng(0))
    draws = np.array(list(model.posterior(1_500, np.random.default_rng(1))))
    batches = draws.reshape(25, 60, 6).mean(1)
    error = batches.std(0, ddof=1) / 5
    assert (np.abs(draws.mean(0) - (mean / total).ravel()) <= 4 * error).all()


def test_posterior_covers_what_was_simulated():
    rng = np.random.default_rng(5)
    sizes = (2, 3, 2, 4, 2)
    truth = random_model(table_of(np.ones(sizes, int)), 2, rng).probabilities
    table = table_of(rng.multinomial(20_000, truth).reshape(sizes))
    model = LatentClasses.fit(table, 2, rng=rng, starts=3)
    draws = np.array(list(model.posterior(150, rng)))
    assert draws.shape == (150, 96)
    assert (draws >= 0).all()
    assert draws.sum(1) == pytest.approx(1)
    z = (draws.mean(0) - truth) / draws.std(0)
    assert np.abs(z).max() < 4.5
    assert 0.2 < np.mean(z**2) < 2.5
    assert np.abs(model.probabilities - truth).max() < 0.01


def test_result_and_refusals():
    table = table_of([[3, 1], [2, 4]])
    model = LatentClasses.fit(table, 2, rng=np.random.default_rng(0), starts=1, iterations=1)
    rows = model.to_frame()
    assert list(rows.columns) == ["class", "share", "variable", "category", "probability"]
    assert rows.groupby(["class", "variable"])["probability"].sum().to_numpy() == pytest.approx(1)
    assert model.to_json()["parameters"] == 5
    rng = np.random.default_rng(0)
    with pytest.raises(DataError, match="0 classes do not fit 10 people"):
        LatentClasses.fit(table, 0, rng=rng)
    with pytest.raises(DataError, match="counts nobody"):
        LatentClasses.fit(table_of([[0, 0]]), 1, rng=rng)
    with pytest.raises(DataError, match="starts is 0"):
        LatentClasses.fit(table, 2, rng=rng, starts=0)
    with pytest.raises(DataError, match="draws is 0"):
        model.posterior(0, rng)
