"""Beliefs about the cells of a margin, given a release over more: against every table that fits."""

from itertools import combinations, permutations

import numpy as np
import pytest
from scipy.special import gammaln

from discreet.errors import DataError
from discreet.intruder.posterior.average.average import average_posterior
from discreet.intruder.posterior.average.parameters import importance_posterior
from discreet.intruder.posterior.chains.augment import augment_posterior
from discreet.intruder.posterior.chains.augment_walk import walk_posterior
from discreet.intruder.posterior.chains.chains import chain_posterior
from discreet.intruder.posterior.exact import transfer
from discreet.intruder.posterior.exact.decomposable import decomposable_posterior
from discreet.intruder.posterior.exact.fibre import exact_posterior
from discreet.intruder.posterior.posterior import posterior
from discreet.intruder.posterior.weights import CellWeights
from discreet.release.release import Release
from oracle import fibre, letters, named

SHAPES = [(2, 2, 2), (2, 2, 3)]
SUBSETS = [s for n in (1, 2, 3) for s in combinations(range(3), n)]


def dirichlet(n, a):
    return (gammaln(n + a) - gammaln(n + 1) - gammaln(a + 0 * n)).reshape(len(n), -1).sum(1)


def poisson(n):
    return -gammaln(n + 1.0).reshape(len(n), -1).sum(1)


def normal(logs):
    chances = np.exp(logs - logs.max())
    return chances / chances.sum()


def summed(tables, axes):
    """The margin of every table, with its axes in this order."""
    rest = tuple(axis + 1 for axis in range(tables.ndim - 1) if axis not in axes)
    found = tables.sum(rest)
    order = np.argsort(np.argsort(axes))
    return found.transpose(0, *(order + 1)) if len(axes) else found[:, None]


def brute(tables, chances, axes):
    """Cells of the margin x counts."""
    flat = summed(tables, axes).reshape(len(tables), -1)
    return np.stack([chances @ (flat == n) for n in range(int(flat.max()) + 1)], axis=1)


def asked(table, axes):
    return table.margin([table.names[axis] for axis in axes]).all()


def cases(seed, number, people=9, most=6_000):
    """Random tables, releases and the tables that fit; margins with their axes in any order."""
    rng = np.random.default_rng(seed)
    while number:
        shape = SHAPES[rng.integers(2)]
        size = int(np.prod(shape))
        some = rng.integers(2, people if number % 2 else 5)
        array = np.bincount(rng.integers(0, size, some), minlength=size)
        array = array.reshape(shape)
        margins = [SUBSETS[i] for i in rng.choice(len(SUBSETS), rng.integers(1, 4), replace=False)]
        tables = fibre(array, margins)
        if 1 < len(tables) <= most:
            number -= 1
            axes = tuple(rng.permutation(3)[: rng.integers(1, 4)].tolist())
            yield rng, named(array), Release.margins(named(array), letters(margins)), tables, axes


def agrees(found, wanted):
    assert found.matrix(wanted.shape[1] - 1) == pytest.approx(wanted, abs=1e-9)
    assert np.add.reduceat(found.mass, found.starts[:-1]) == pytest.approx(np.ones(len(found)))


@pytest.mark.parametrize("listing", [False, True], ids=["by states", "one by one"])
def test_sums_over_tables_by_brute_force(listing, monkeypatch):
    if listing:
        monkeypatch.setattr(transfer.Transfer, "of", lambda *_, **__: None)
    for rng, table, release, tables, axes in cases(1, 80):
        prior = float(rng.gamma(1) + 0.1)
        many = rng.gamma(1, 1, table.shape) + 0.05
        odd = CellWeights.of(lambda codes, n: -0.3 * n**2 * (1 + codes.sum(1)), "odd")
        at = np.indices(table.shape).sum(0)
        for weights, logs in (
            (CellWeights.dirichlet(prior), dirichlet(tables, prior)),
            (CellWeights.dirichlet(many), dirichlet(tables, many)),
            (CellWeights.uniform(), np.zeros(len(tables))),
            (CellWeights.multinomial(), poisson(tables)),
            (odd, (-0.3 * tables**2 * (1 + at)).reshape(len(tables), -1).sum(1)),
        ):
            chances = normal(logs)
            cells = asked(table, axes)
            found = exact_posterior(release, cells, weights=weights)
            agrees(found, brute(tables, chances, axes))
            assert found.exact
            assert found.tables == len(tables)
            assert found.entropy == pytest.approx(-np.sum(chances * np.log(chances)), abs=1e-9)
            few = cells.take(rng.integers(0, len(cells), 3))  # in any order, twice perhaps
            some = exact_posterior(release, few, weights=weights)
            assert some.probability(1) == pytest.approx(
                found.probability(1)[np.ravel_multi_index(tuple(few.codes.T), few.shape)], abs=1e-12
            )


def test_sums_that_take_a_part_of_what_the_release_holds_together(monkeypatch):
    """C is in no margin: of each A*B, the cells of A*C take one of three."""
    array = np.array([[[1, 0, 1], [0, 1, 0]], [[0, 1, 0], [1, 0, 0]]])
    table, tables = named(array), fibre(array, [(0,), (1,)])
    release, prior = Release.margins(table, "A + B"), np.linspace(0.2, 2, 12).reshape(2, 2, 3)
    for listing in (False, True):
        if listing:
            monkeypatch.setattr(transfer.Transfer, "of", lambda *_, **__: None)
        for axes in permutations(range(3), 2):
            found = exact_posterior(
                release, asked(table, axes), weights=CellWeights.dirichlet(prior)
            )
            agrees(found, brute(tables, normal(dirichlet(tables, prior)), axes))


def test_known_cells_restrict_the_tables():
    for rng, table, release, tables, axes in cases(2, 25):
        cell = rng.integers(0, table.shape)
        count = int(table.dense()[tuple(cell)])
        told = release.between({chr(65 + a): int(c) for a, c in enumerate(cell)}, 0, count + 1)
        kept = tables[tables[(slice(None), *cell)] <= count + 1]
        found = exact_posterior(told, asked(table, axes))
        agrees(found, brute(kept, normal(dirichlet(kept, 0.5)), axes))


def test_leaving_out_a_variable_is_another_belief():
    """Half of a person in each of four cells is not half a person in each of two."""
    table = named(np.array([[[1, 1], [0, 2]], [[2, 0], [1, 1]]]))
    whole = exact_posterior(Release.margins(table, "A + B"), table.margin("A*B").all())
    alone = Release.margins(table.margin("A*B"), "A + B")
    assert whole.matrix() == pytest.approx(
        exact_posterior(alone, weights=CellWeights.dirichlet(1)).matrix()
    )
    assert np.abs(whole.matrix() - exact_posterior(alone).matrix()).max() > 0.01


def test_chains_by_brute_force():
    off = []
    for case, (_, table, release, tables, axes) in enumerate(cases(3, 12)):
        wanted = brute(tables, normal(dirichlet(tables, 0.5)), axes)
        cells = asked(table, axes)
        found = chain_posterior(release, cells, draws=2_000, seed=case)
        seen = found.matrix(wanted.shape[1] - 1)
        assert not seen[wanted == 0].any()
        worth = np.broadcast_to(found.effective, len(cells))[:, None]
        error = np.sqrt(np.maximum(wanted * (1 - wanted), 1 / worth) / worth)
        off.append(((seen - wanted) / error).ravel())
    assert np.abs(np.concatenate(off)).max() < 4


def test_decomposable_releases_by_brute_force():
    closed = several = 0
    for _, table, release, tables, axes in cases(4, 60, people=12):
        formula = release.formula
        if not formula.is_decomposable or not all(formula.contains([n]) for n in "ABC"):
            continue
        wanted = brute(tables, normal(poisson(tables)), axes)
        found = posterior(release, asked(table, axes), model=str(formula))
        agrees(found, wanted)
        closed += found.method == "exact, closed form"
        several += found.method == "exact, sum over tables"
        chances = normal(poisson(tables))
        true = int(np.flatnonzero((tables == table.dense()).all((1, 2, 3)))[0])
        assert found.probability_of(table) == pytest.approx(chances[true])
        drawn = decomposable_posterior(release, asked(table, axes), draws=4_000, seed=5)
        error = np.sqrt(np.maximum(wanted * (1 - wanted), 1 / 4_000) / 4_000)
        assert (np.abs(drawn.matrix(wanted.shape[1] - 1) - wanted) <= 4.5 * error).all()
    assert closed > 5
    # a separator that is not asked by ties the others
    table = named(np.arange(12).reshape(2, 2, 3) % 4)
    release = Release.margins(table, "A*C + B*C")
    tables = fibre(table.dense(), [(0, 2), (1, 2)])
    found = posterior(release, asked(table, (1, 0)), model="A*C + B*C")
    assert found.method == "exact, sum over tables"
    agrees(found, brute(tables, normal(poisson(tables)), (1, 0)))


def under_decomposable(tables, cliques, separators, prior):
    """log P(table) under a hyper-Dirichlet prior, up to a constant (Dawid & Lauritzen 1993)."""
    size, log = int(np.prod(tables.shape[1:])), poisson(tables)
    for axes, sign in [*((c, 1) for c in cliques), *((s, -1) for s in separators)]:
        n = summed(tables, axes).reshape(len(tables), -1)
        a = prior * size / n.shape[1]
        log = log + sign * (gammaln(n + a) - gammaln(a)).sum(1)
    return log


@pytest.mark.parametrize("way", [importance_posterior, augment_posterior, walk_posterior])
@pytest.mark.parametrize("axes", [(0, 1), (1,), (2, 0)])
def test_models_between_by_brute_force(way, axes):
    """A*B + B*C after A + B*C: the cells of a margin lie in several blocks."""
    array = np.array([[[1, 2, 1], [0, 1, 1]], [[2, 0, 1], [1, 1, 2]]])
    table = named(array)
    release, model = Release.margins(table, "A + B*C"), "A*B + B*C"
    tables = fibre(array, [(0,), (1, 2)])
    logs = under_decomposable(tables, [(0, 1), (1, 2)], [(1,)], 0.5)
    wanted = brute(tables, normal(logs), axes)
    found = way(release, model, asked(table, axes), standard_error=0.01)
    seen = found.matrix(wanted.shape[1] - 1)
    errors = np.stack([found.standard_error(n) for n in range(wanted.shape[1])], 1)
    assert (np.abs(seen - wanted) <= 4 * errors + 1e-9).all()
    assert errors.max() < 0.02


def test_sums_over_blocks_given_the_parameters():
    """A*C and B*C are released: for each C a block, and a cell of A*B is in all of them."""
    rng = np.random.default_rng(7)
    array = rng.integers(0, 4, (2, 2, 3))
    table, axes = named(array), (0, 1)
    release, model = Release.margins(table, "A*C + B*C"), "A*B + B*C + A*C"
    cells = asked(table, axes)
    one = importance_posterior(release, model, cells, standard_error=0.004)
    for other in (
        augment_posterior(release, model, cells, standard_error=0.004),
        walk_posterior(release, model, cells, standard_error=0.01),
    ):
        for count in range(8):
            error = np.hypot(one.standard_error(count), other.standard_error(count))
            off = np.abs(one.probability(count) - other.probability(count))
            assert (off <= 4.5 * error + 1e-9).all()
    tables = fibre(array, [(0, 2), (1, 2)])
    flat = summed(tables, axes).reshape(len(tables), -1)
    assert (one.low >= flat.min(0)).all()
    assert one.whole.log_probability(table) < 0


def test_the_average_is_that_of_its_models():
    array = np.array([[[1, 2], [0, 1]], [[2, 0], [1, 1]]])
    table, axes = named(array), (0, 1)
    release = Release.margins(table, "A*C + B*C")
    tables = fibre(array, [(0, 2), (1, 2)])
    parts = {
        "A*C + B*C": under_decomposable(tables, [(0, 2), (1, 2)], [(2,)], 0.5),
        "A*B*C": under_decomposable(tables, [(0, 1, 2)], [], 0.5),
    }
    shares = np.array([np.exp(np.logaddexp.reduce(logs)) for logs in parts.values()])
    shares = shares / shares.sum()
    found = average_posterior(release, asked(table, axes), models=list(parts))
    assert [model.weight for model in found.models] == pytest.approx(shares, abs=1e-3)
    chances = sum(s * normal(logs) for s, logs in zip(shares, parts.values(), strict=True))
    wanted = brute(tables, chances, axes)
    assert found.matrix(wanted.shape[1] - 1) == pytest.approx(wanted, abs=2e-3)


def test_released_margins_are_certain_and_axes_may_stand_in_any_order():
    array = np.random.default_rng(8).integers(0, 4, (2, 3, 2))
    table = named(array)
    release = Release.margins(table, "A*B + C")
    tables = fibre(array, [(0, 1), (2,)])
    for axes in permutations(range(3), 2):
        for model, logs in (("saturated", dirichlet(tables, 0.5)), ("A*B + C", poisson(tables))):
            cells = asked(table, axes)
            found = posterior(release, cells, model=model)
            agrees(found, brute(tables, normal(logs), axes))
            if set(axes) == {0, 1}:
                assert found.probability(cells.counts) == pytest.approx(np.ones(len(cells)))


def test_cells_of_other_variables_are_refused():
    table = named(np.ones((2, 2), int))
    release = Release.margins(table.margin("A"), "A")
    with pytest.raises(DataError, match="the cells have 'B' with 2 categories"):
        exact_posterior(release, table.all())
